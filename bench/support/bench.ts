import type { Figure } from './figure.ts'

/** What a benchmark is given: how long it may go on, and where its leftovers are cleared. */
export interface Scale {
  /** Takes down servers and folders, also when the run is broken off. */
  stack: AsyncDisposableStack
  /** Measured turns of each runner. */
  rounds: number
  /** Milliseconds of load in one turn. */
  ms: number
  /** Jobs of other tenants in `list`. */
  crowd: number
  /** Delayed jobs in `fire`. */
  due: number
  /** Stored of each in `idle`, messages in `ingest`, tokens in `introspect`. */
  stored: number
  /** How long `rest` rests. */
  minutes: number
  /** A remark below the table. */
  note: (text: string) => void
}

export type Bench = (scale: Scale) => Promise<Figure[]>
