import type { Family } from '../platform/metrics/family.ts'
import type { PairState } from '../platform/replication/pair.ts'
import type { Topic } from '../platform/siblings.ts'

/** What the supervisor gives a process when it starts it, as JSON in `WORKER_VARIABLE`. */
export interface Role {
  /** From 1 to `count`. Its successor after a crash or reload has the same. */
  number: number
  count: number
  port: number
  /** When it was started, by the monotonic clock of the supervisor. */
  startedMs: number
  /** Whether the installation has just been started, so that its first steps are shown. */
  isFirst: boolean
  /** Of the lease that the server holds, if it is one of several of which only the holder may serve. */
  generation?: number | undefined
}

/** The descriptor of the shared memory in a process that a supervisor started. */
export const MEMORY_FD = 3

export interface Told {
  is: 'told'
  topic: Topic
  about: string
}

export type FromWorker =
  | Told
  | { is: 'ready' }
  /** A scrape has reached this process, which has these metrics. */
  | { is: 'scrape'; id: number; families: Family[] }
  /** The answer to `collect`, and the last word of a process that ends. */
  | { is: 'families'; families: Family[] }

export type ToWorker =
  | Told
  /** Finish the requests and end. With `withAll`, no other process takes over. */
  | { is: 'stop'; withAll: boolean }
  /** Exit immediately. */
  | { is: 'end' }
  | { is: 'collect' }
  /** What the server knows of those that share its data. */
  | { is: 'pair'; state: PairState }
  /** The metrics of all processes, as text. */
  | { is: 'scraped'; id: number; text: string }
