import { unavailable } from '../../../platform/errors.ts'

/** Who wants a password hashed or checked. */
export interface Asker {
  tenantId: string
  /** One of the tenant's clients, such as an address; undefined for a server that asks for many. */
  client?: string | undefined
}

/**
 * What a job takes: `ordinary` is no more than a hash at the configured cost, `costly` may be ten
 * times that, and `heavy` takes seconds and up to a gigabyte.
 */
export type Cost = 'ordinary' | 'costly' | 'heavy'

interface Job {
  client: string | undefined
  cost: Cost
  begin: () => void
  refuse: (error: Error) => void
}

interface Tenant {
  id: string
  waiting: Job[]
  atWork: number
  costlyAtWork: number
  /** When a job of it ended last, or it came: orders tenants that have equally many at work. */
  turn: number
}

/** All tenants together have so many times the places of one. */
const FULL_QUEUES = 20

/**
 * Shares a few workers among tenants, so that one tenant keeps another one waiting no longer than an
 * ordinary job takes. Each has a queue of its own with so many `places`; a free worker goes to the
 * tenant with the fewest jobs at work, and in turns among those with equally many.
 *
 * A costly job keeps its worker for long, so one worker never takes any; where there are more than
 * two, a tenant leaves one of the others to other tenants. Heavy ones are worked on one at a time.
 *
 * A tenant whose queue is full is refused with `unavailable`. Its costly jobs, and those of one
 * client, have half of the places. All queues together are bounded, too: the longest then loses the
 * job that came last.
 */
export function createHashQueue({ workers, places }: { workers: number; places: number }) {
  const tenants = new Map<string, Tenant>()
  const share = Math.ceil(places / 2)
  const mostCostly = Math.max(1, workers - 1)
  const mostCostlyOfOne = Math.max(1, workers - 2)
  const atWork = { all: 0, costly: 0, heavy: 0 }
  let waiting = 0
  let turns = 0

  /** Does `work` when it has a worker. Rejects with `unavailable` when it cannot wait for one. */
  async function run<T>(asker: Asker, cost: Cost, work: () => Promise<T>): Promise<T> {
    const tenant = await enter(asker, cost)
    try {
      return await work()
    } finally {
      leave(tenant, cost)
    }
  }

  async function enter({ tenantId, client }: Asker, cost: Cost): Promise<Tenant> {
    const tenant = tenants.get(tenantId) ?? newTenant(tenantId)
    if (atWork.all < workers && mayBegin(tenant, cost)) begin(tenant, cost)
    else {
      requirePlace(tenant, { client, cost })
      waiting++
      await new Promise<void>((begin, refuse) => {
        tenants.set(tenantId, tenant)
        tenant.waiting.push({ client, cost, begin, refuse })
      })
    }
    return tenant
  }

  const newTenant = (id: string): Tenant => ({
    id,
    waiting: [],
    atWork: 0,
    costlyAtWork: 0,
    turn: ++turns,
  })

  function mayBegin(tenant: Tenant, cost: Cost): boolean {
    if (cost === 'ordinary') return true
    if (cost === 'heavy' && atWork.heavy > 0) return false
    return atWork.costly < mostCostly && tenant.costlyAtWork < mostCostlyOfOne
  }

  function begin(tenant: Tenant, cost: Cost) {
    tenants.set(tenant.id, tenant)
    tenant.atWork++
    count(tenant, cost, 1)
  }

  function count(tenant: Tenant, cost: Cost, change: 1 | -1) {
    atWork.all += change
    if (cost === 'ordinary') return
    atWork.costly += change
    tenant.costlyAtWork += change
    if (cost === 'heavy') atWork.heavy += change
  }

  function requirePlace(tenant: Tenant, { client, cost }: Pick<Job, 'client' | 'cost'>) {
    const own = tenant.waiting
    const ofClient = client === undefined ? [] : own.filter((job) => job.client === client)
    const costly = cost === 'ordinary' ? [] : own.filter((job) => job.cost !== 'ordinary')
    if (own.length >= places || ofClient.length >= share || costly.length >= share) throw tooMany()
    if (waiting >= places * FULL_QUEUES) shortenLongest(own.length)
  }

  /** With none that is longer, the newcomer is the one to go. */
  function shortenLongest(length: number) {
    const [longest] = [...tenants.values()].sort((a, b) => b.waiting.length - a.waiting.length)
    if (!longest || longest.waiting.length <= length) throw tooMany()
    longest.waiting.pop()?.refuse(tooMany())
    waiting--
    forgetIfIdle(longest)
  }

  /** While the next is chosen the job still counts for its tenant, which has just had its turn. */
  function leave(tenant: Tenant, cost: Cost) {
    count(tenant, cost, -1)
    tenant.turn = ++turns
    serveNext()
    tenant.atWork--
    forgetIfIdle(tenant)
  }

  /** What ends lets one job begin: a worker is never free while a job could have it. */
  function serveNext() {
    const [first] = [...tenants.values()].filter(hasRunnable).sort(byTurn)
    if (!first) return
    const index = first.waiting.findIndex(({ cost }) => mayBegin(first, cost))
    const [job] = first.waiting.splice(index, 1)
    if (!job) return
    waiting--
    begin(first, job.cost)
    job.begin()
  }

  const hasRunnable = (tenant: Tenant): boolean =>
    tenant.waiting.some(({ cost }) => mayBegin(tenant, cost))

  function forgetIfIdle({ id, atWork, waiting }: Tenant) {
    if (atWork === 0 && waiting.length === 0) tenants.delete(id)
  }

  return { run, tenants: () => tenants.size }
}

const byTurn = (a: Tenant, b: Tenant): number => a.atWork - b.atWork || a.turn - b.turn

const tooMany = () =>
  unavailable('too many passwords are being checked at once, try again in a few seconds')
