import type { DueLimits, Lane } from './due-queue.ts'

/** How much more may be under way, in all and for whom. */
export function createCapacity<Item extends Lane>(limits: DueLimits) {
  const underWay = new Set<Item>()
  const perTenant = new Tally()
  const perTarget = new Tally()
  const perLane = new Tally()

  const room = () => limits.total - underWay.size

  const tenantRoom = ({ tenant }: Lane) => limits.perTenant - perTenant.of(tenant)

  const roomFor = (lane: Lane): number =>
    Math.min(
      room(),
      tenantRoom(lane),
      limits.perTarget - perTarget.of(lane.target),
      limits.perLane - perLane.of(nameOf(lane)),
    )

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
