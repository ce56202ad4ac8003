import { unavailable } from '../../../platform/errors.ts'
import { createWaitingList, type WaitingList } from './waiting-list.ts'

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
  refuse: () => void
}

interface Tenant {
  id: string
  waiting: WaitingList<Job>
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
 * Where the queue of a tenant is full, the client with the most jobs in it is refused with
 * `unavailable`. All queues together are bounded, too: the longest then loses its last job.
 */
export function createHashQueue({ workers, places }: { workers: number; places: number }) {
  const tenants = new Map<string, Tenant>()
  const mostCostly = Math.max(1, workers - 1)
  const mostCostlyOfOne = Math.max(1, workers - 2)
  const atWork = { all: 0, costly: 0, heavy: 0 }
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
    else await wait(tenant, { client, cost })
    return tenant
  }

  const newTenant = (id: string): Tenant => ({
    id,
    waiting: createWaitingList(places),
    atWork: 0,
    costlyAtWork: 0,
    turn: ++turns,
  })

  const wait = (tenant: Tenant, job: Pick<Job, 'client' | 'cost'>): Promise<void> =>
    new Promise((begin, reject) => {
      const refuse = () => reject(tooMany())
      if (!hasRoom(tenant) || !tenant.waiting.add({ ...job, begin, refuse })) return refuse()
      tenants.set(tenant.id, tenant)
    })

  /** Where all together are too many, the longest queue gives way to one that is shorter. */
  function hasRoom({ waiting }: Tenant): boolean {
    const all = [...tenants.values()]
    const total = all.reduce((sum, tenant) => sum + tenant.waiting.length(), 0)
    if (total < places * FULL_QUEUES) return true
    const [longest] = all.sort((a, b) => b.waiting.length() - a.waiting.length())
    if (!longest || longest.waiting.length() <= waiting.length() + 1) return false
    longest.waiting.dropLast()
    return true
  }

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
    const job = first?.waiting.take(({ cost }) => mayBegin(first, cost))
    if (!first || !job) return
    begin(first, job.cost)
    job.begin()
  }

  const hasRunnable = (tenant: Tenant): boolean =>
    tenant.waiting.has(({ cost }) => mayBegin(tenant, cost))

  function forgetIfIdle({ id, atWork, waiting }: Tenant) {
    if (atWork === 0 && waiting.length() === 0) tenants.delete(id)
  }

  return { run, tenants: () => tenants.size }
}

const byTurn = (a: Tenant, b: Tenant): number => a.atWork - b.atWork || a.turn - b.turn

const tooMany = () =>
  unavailable('too many passwords are being checked; try again in a few seconds')
