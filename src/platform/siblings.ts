import type { Fence } from './fence.ts'
import type { Family } from './metrics/family.ts'
import type { Metrics } from './metrics/index.ts'
import type { PairState } from './replication/pair.ts'
import type { SharedMemory } from './shared-memory.ts'

/** What one process tells the others: where they may find work or news at once. */
export type Topic = `due:${string}` | 'login'

/** The processes of one server, which share its port, its limits and its metrics. */
export interface Siblings {
  /** How many processes the server has, including this one. */
  readonly count: number
  /** Memory that all of them see; undefined in a server of one process. */
  readonly memory: SharedMemory | undefined
  /** Of a server that shares its data with others: the lease it serves with. */
  readonly tenure: { generation: number; fence: Pick<Fence, 'isOpen' | 'isPublished'> } | undefined
  /** The other servers that share the data, as last seen; undefined without any. */
  pair(): PairState | undefined
  /** Tells the other processes. Not reliable: they find everything in the database later. */
  tell(topic: Topic, about?: string): void
  /** Calls `listener` whenever another process tells of `topic`. */
  on(topic: Topic, listener: (about: string) => void): void
  /** Answers the scrapes of other processes with `families`. */
  onScrape(families: () => Family[]): void
  /** The metrics of all processes as text, read by this one. */
  render(metrics: Metrics): Promise<string> | string
}

/** A server of one process. */
export const ALONE: Siblings = {
  count: 1,
  memory: undefined,
  tenure: undefined,
  pair: () => undefined,
  tell: () => {},
  on: () => {},
  onScrape: () => {},
  render: (metrics) => metrics.render(),
}

/**
 * The part of a limit of the whole server that one process may use. It is rounded up, so that a
 * process has at least 1: a limit smaller than the number of processes is as large as that number.
 */
export const partOf = (limit: number, { count }: Pick<Siblings, 'count'>): number =>
  Math.ceil(limit / count)
