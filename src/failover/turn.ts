import type { Fence } from '../platform/fence.ts'
import type { Log } from '../platform/log.ts'
import type { StoredLease } from '../platform/replication/lease.ts'
import type { PairState, SharedFolder } from '../platform/replication/pair.ts'
import type { openServerState } from './data-directory.ts'
import type { Litestream } from './litestream.ts'
import type { Taken } from './tenure.ts'
import type { WarmCopy } from './warm-copy.ts'

/** Hands `master.key` from server to server. */
export interface Keys {
  /** Whether the servers have something that seals it. */
  canSeal: boolean
  /** Stores it for the others, or gets it from the active server. */
  store: () => Promise<void>
  fetch: () => Promise<void>
}

/** A turn as the active server. */
export interface Turn {
  taken: Taken
  /** The lease before. */
  before: StoredLease | undefined
  /** Where the data comes from: this server's own database, or the copy of another one's. */
  from: 'own' | 'copy'
}

/** The processes that serve while this server is active. */
export interface Serving {
  /** Resolves with false if they can't start. */
  isUp: Promise<boolean>
  /** Lets them finish their requests. Returns whether all went well. */
  stop: () => Promise<boolean>
  /** Kills them. */
  destroy: () => Promise<void>
  /** Tells them of the other servers. */
  tell: (state: PairState) => void
}

/** How a turn as the active server ended. */
export type Ending = 'lost' | 'released' | 'stopped' | 'failed'

/** What a turn works with. */
export interface TurnParts {
  dataDir: string
  folder: SharedFolder
  keys: Keys
  state: ReturnType<typeof openServerState>
  copy: WarmCopy
  litestream: Litestream
  fence: Fence
  log: Log
  /** Frees the port and starts the processes. */
  startServing: (generation: number) => Serving
  /** Resolves when this server has to end. */
  stopAsked: Promise<void>
}
