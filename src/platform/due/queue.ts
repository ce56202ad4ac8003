/** The queue of one tenant's work for one target, such as a host or an endpoint. */
export interface Lane {
  tenant: string
  target: string
}

/** The right of one process to work on an item until a given time. */
export interface Lease {
  owner: string
  /** Milliseconds since the epoch. */
  until: number
}

/** The maximum numbers of items in progress in this process. */
export interface DueLimits {
  total: number
  perTenant: number
  perTarget: number
  /** For one tenant at one target; lower than `perTarget`, it leaves capacity for other tenants. */
  perLane: number
  /** The less capacity is free, the less of it a tenant or lane gets. */
  isShared?: boolean
}

/**
 * An item waits until it is due, becomes ready in its lane, and then is leased, performed and
 * settled. All methods except `perform` are synchronous SQL; those that write run inside a commit.
 */
export interface DueQueue<Item extends Lane, Outcome> {
  /** The name in logs and metrics. */
  name: string
  limits: DueLimits
  /** Maximum duration of `perform`, in milliseconds. */
  longestMs: number
  /** When the next waiting item is due; undefined if none is waiting. Only reads. */
  nextDueAt(): number | undefined
  /** Makes a slice of the items due by `now` ready. Returns true if there may be more. */
  promote(now: number): boolean
  /** The first lane after `after`, or of all, with ready items; the order is fixed. */
  nextLane(after: Lane | undefined): Lane | undefined
  /** Leases up to `limit` ready items of a lane, oldest first, by a conditional update. */
  claim(lane: Lane, limit: number, lease: Lease): Item[]
  /** Does the work and resolves with its outcome, even if `signal` aborts it. */
  perform(item: Item, signal: AbortSignal): Promise<Outcome>
  /** The outcome to store if `perform` throws, so that no item stays leased. */
  broken(item: Item, error: unknown): Outcome
  /** Does nothing if the lease was taken over. Returns when the item is due again, if it is. */
  settle(item: Item, outcome: Outcome): number | undefined
  /** Whether `reclaim` would find leases. Only reads. */
  hasLost(holders: Holders): boolean
  /** Takes back a slice of the lost leases and counts each as a failed attempt. */
  reclaim(holders: Holders): void
}

/**
 * A lease is lost if its owner is dead, or if it expired and belongs to another process. Expired
 * leases of this process stay valid, because a clock jump must not take work from its worker.
 */
export interface Holders {
  self: string
  alive: string[]
  now: number
}
