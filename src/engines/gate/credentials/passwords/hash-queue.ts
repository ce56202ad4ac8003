import { unavailable } from '../../../../platform/errors.ts'
import { createWaitingList, type WaitingList } from './waiting-list.ts'

/** The party that requests a password to be hashed or checked. */
export interface Requester {
  tenantId: string
  /** Such as an IP address; undefined for a server that acts for many users. */
  client?: string | undefined
}

/**
 * The cost of a job: `ordinary` is up to a hash at the configured cost, `costly` up to ten times
 * that, and `heavy` takes seconds and up to a gigabyte.
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
  /** When its last job ended or it arrived; orders tenants with equally many running jobs. */
  turn: number
}

/** The queues of all tenants together may hold this many times the capacity of one. */
const FULL_QUEUES = 20

/**
 * Shares a few workers fairly among tenants, so that one tenant delays another by no more than an
 * ordinary job. Each tenant has a queue of `capacity`; a free worker serves the tenant
 * with the fewest running jobs, in turns among equals. One worker never takes costly jobs, because
 * they occupy it for long; with more than two workers, a tenant also leaves one of the others to
 * other tenants. Heavy jobs run one at a time. If a tenant's queue is full, the client with the
 * most jobs in it is rejected with `unavailable`. The total of all queues is limited as well: the
 * longest queue then loses its last job.
 */
export function createHashQueue({ workers, capacity }: { workers: number; capacity: number }) {
  const tenants = new Map<string, Tenant>()
  const mostCostly = Math.max(1, workers - 1)
  const mostCostlyOfOne = Math.max(1, workers - 2)
  const atWork = { all: 0, costly: 0, heavy: 0 }
  let turns = 0

  /** Runs `work` once a worker is free. Rejects with `unavailable` if the queue is full. */
  async function run<T>(requester: Requester, cost: Cost, work: () => Promise<T>): Promise<T> {
    const tenant = await enter(requester, cost)
    try {
      return await work()
    } finally {
      leave(tenant, cost)
    }
  }

  async function enter({ tenantId, client }: Requester, cost: Cost): Promise<Tenant> {
    const tenant = tenants.get(tenantId) ?? newTenant(tenantId)
    if (atWork.all < workers && mayBegin(tenant, cost)) begin(tenant, cost)
    else await wait(tenant, { client, cost })
    return tenant
  }

  const newTenant = (id: string): Tenant => ({
    id,
    waiting: createWaitingList(capacity),
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

  /** If the total limit is reached, the longest queue gives way to a shorter one. */
  function hasRoom({ waiting }: Tenant): boolean {
    const all = [...tenants.values()]
    const total = all.reduce((sum, tenant) => sum + tenant.waiting.length(), 0)
    if (total < capacity * FULL_QUEUES) return true
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

  /** The job still counts for its tenant while the next one is chosen. */
  function leave(tenant: Tenant, cost: Cost) {
    count(tenant, cost, -1)
    tenant.turn = ++turns
    serveNext()
    tenant.atWork--
    forgetIfIdle(tenant)
  }

  /** Starts another job whenever one ends, so that no worker is idle while a job could use it. */
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
