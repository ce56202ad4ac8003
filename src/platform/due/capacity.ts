import { partOf, type Siblings } from '../siblings.ts'
import type { DueLimits, Lane } from './queue.ts'

/**
 * What each process of a server may have in progress, so that together they keep to `limits`. As
 * `partOf` rounds up, together they can exceed one by less than the number of processes.
 */
export const shareOf = (limits: DueLimits, siblings: Pick<Siblings, 'count'>): DueLimits => ({
  ...limits,
  total: partOf(limits.total, siblings),
  perTenant: partOf(limits.perTenant, siblings),
  perTarget: partOf(limits.perTarget, siblings),
  perLane: partOf(limits.perLane, siblings),
})

/** Tracks the items in progress and how many more a tenant, target or lane may start. */
export function createCapacity<Item extends Lane>(limits: DueLimits) {
  const underWay = new Set<Item>()
  const perTenant = new Tally()
  const perTarget = new Tally()
  const perLane = new Tally()

  /** The minimum for each tenant as long as any capacity is free. */
  const fewestOfTenant = Math.min(MIN_PER_TENANT, Math.ceil(limits.total / 16))

  /** The number of parts of a tenant's capacity; a tenant with one lane needs one. */
  const partsOfTenant = Math.min(MAX_PARTS_OF_TENANT, Math.ceil(limits.perTenant / limits.perLane))

  const room = () => limits.total - underWay.size

  /** Leaves some for the next; however many targets hang, an item for a working one can start. */
  const fairShare = (free: number, parts: number, fewest: number): number =>
    limits.isShared ? Math.max(Math.floor(free / parts), fewest) : free

  /** The free capacity for a tenant: at most half, so that other tenants get some. */
  const tenantRoom = ({ tenant }: Lane): number => {
    const used = perTenant.of(tenant)
    return Math.min(limits.perTenant, fairShare(room() + used, 2, fewestOfTenant)) - used
  }

  /** The free capacity for a lane: its part of what the tenant could use, at least an eighth. */
  const laneRoom = (lane: Lane): number => {
    const used = perLane.of(nameOf(lane))
    return Math.min(limits.perLane, fairShare(tenantRoom(lane) + used, partsOfTenant, 1)) - used
  }

  const roomFor = (lane: Lane): number =>
    Math.min(room(), tenantRoom(lane), limits.perTarget - perTarget.of(lane.target), laneRoom(lane))

  function enter(item: Item) {
    underWay.add(item)
    count(item, 1)
  }

  function leave(item: Item) {
    underWay.delete(item)
    count(item, -1)
  }

  function count(lane: Lane, n: number) {
    perTenant.add(lane.tenant, n)
    perTarget.add(lane.target, n)
    perLane.add(nameOf(lane), n)
  }

  return { room, tenantRoom, roomFor, enter, leave, used: () => underWay.size }
}

/** The minimum per tenant with a high total limit; it is lower with a small one. */
const MIN_PER_TENANT = 8

const MAX_PARTS_OF_TENANT = 8

const nameOf = ({ tenant, target }: Lane) => `${tenant} ${target}`

/** Counts by name that removes entries at zero. */
class Tally {
  readonly #counts = new Map<string, number>()

  of(name: string): number {
    return this.#counts.get(name) ?? 0
  }

  add(name: string, n: number) {
    const count = this.of(name) + n
    if (count === 0) this.#counts.delete(name)
    else this.#counts.set(name, count)
  }
}
