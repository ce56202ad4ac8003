/** The line an item stands in: work of one tenant for one target (a host, an endpoint). */
export interface Lane {
  tenant: string
  target: string
}

/** Proof of who works on an item, and until when nobody else may. */
export interface Lease {
  owner: string
  /** Milliseconds since the epoch. */
  until: number
}

/** How much may be under way at once in this process. */
export interface DueLimits {
  total: number
  perTenant: number
  perTarget: number
  /** Of one tenant at one target: less than `perTarget` leaves room there for others. */
  perLane: number
  /** No one takes all that is left: the fuller it gets, the less each may have. */
  isShared?: boolean
}

/**
 * Work that is kept in the database until it is done. An item waits for its time, then
 * stands ready in its lane, then is leased, performed and settled. All methods but
 * `perform` are synchronous SQL; those that write run inside a commit.
 */
export interface DueQueue<Item extends Lane, Outcome> {
  /** For logs and metrics. */
  name: string
  limits: DueLimits
  /** Longest time that `perform` can take, in milliseconds. */
  longestMs: number
  /** When the first waiting item comes due; undefined when none waits. Reads only. */
  nextDueAt(): number | undefined
  /** Puts a slice of what is due by `now` in line. True when there may be more. */
  promote(now: number): boolean
  /** First lane, in a fixed order, behind `after` (or of all) in which something is ready. */
  nextLane(after: Lane | undefined): Lane | undefined
  /** Leases up to `limit` ready items of a lane, oldest first, by conditional update. */
  claim(lane: Lane, limit: number, lease: Lease): Item[]
  /** Does the work. Resolves with what came of it, also when `signal` cut it short. */
  perform(item: Item, signal: AbortSignal): Promise<Outcome>
  /** What to store when `perform` itself broke, so that no item stays leased. */
  broken(item: Item, error: unknown): Outcome
  /**
   * Stores the outcome, unless the lease has passed to somebody else. Returns the time from
   * which the item waits again, if it does.
   */
  settle(item: Item, outcome: Outcome): number | undefined
  /** True when `reclaim` would find something. Reads only. */
  hasLost(holders: Holders): boolean
  /** Takes back a slice of the leases of the lost, each counted as a failed try. */
  reclaim(holders: Holders): void
}

/**
 * Who may still hold a lease at `now`. Lost is a lease whose owner is not alive, or which has
 * run out, unless it is our own: a jump of the clock must not take work from its worker.
 */
export interface Holders {
  self: string
  alive: string[]
  now: number
}
