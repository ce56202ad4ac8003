import type { DueLimits, Lane } from './queue.ts'

/** How much more may be under way, in all and for whom. */
export function createCapacity<Item extends Lane>(limits: DueLimits) {
  const underWay = new Set<Item>()
  const perTenant = new Tally()
  const perTarget = new Tally()
  const perLane = new Tally()

  /** What even the last to come may have under way, where anything is free at all. */
  const fewestOfTenant = Math.min(MIN_PER_TENANT, Math.ceil(limits.total / 16))

  /** Into so many parts the room of a tenant is shared out; a tenant with one lane needs no more. */
  const partsOfTenant = Math.min(MAX_PARTS_OF_TENANT, Math.ceil(limits.perTenant / limits.perLane))

  const room = () => limits.total - underWay.size

  /**
   * A part of what is free that leaves some to those who come next, and so on: however many hold
   * on to theirs, because their targets never answer, there is room for one whose target does.
   */
  const fairShare = (free: number, parts: number, fewest: number): number =>
    limits.isShared ? Math.max(Math.floor(free / parts), fewest) : free

  /** Of what is free, one tenant never takes more than half, so that the next finds some. */
  const tenantRoom = ({ tenant }: Lane): number => {
    const used = perTenant.of(tenant)
    return Math.min(limits.perTenant, fairShare(room() + used, 2, fewestOfTenant)) - used
  }

  /** Nor does one lane take more than its part, an eighth at least, of what its tenant could have. */
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

/** Where much may be under way: less where that is little. */
const MIN_PER_TENANT = 8

const MAX_PARTS_OF_TENANT = 8

const nameOf = ({ tenant, target }: Lane) => `${tenant} ${target}`

/** Counts by name that keep no zeros. */
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
