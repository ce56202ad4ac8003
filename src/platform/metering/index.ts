import type { Config } from '../../config/index.ts'
import { DatabaseLostError, isStoredAnyway } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Audit } from '../audit/index.ts'
import type { Caller, Charge, KeyCaller } from '../caller.ts'
import { type Clock, sleep } from '../clock.ts'
import { ENGINES } from '../engines.ts'
import { fail, notFound } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/index.ts'
import { createReadCache } from '../read-cache.ts'
import { type RetentionRule, SLICE } from '../retention.ts'
import { type Counted, createAllowance, NOTHING, type Terms } from './allowance.ts'
import { type Count, createCounts } from './counts.ts'
import { createLedger, type Notice } from './ledger.ts'
import { dayOf, endOfMonth, monthOf } from './months.ts'
import { requireActiveTenant, usedUp } from './refusals.ts'
import { createStore } from './store.ts'
import { createUsage } from './usage.ts'

export type Metering = ReturnType<typeof createMetering>
export type { Notice } from './ledger.ts'
export type { Nearness, Tariff, Usage, UsageOfMonth } from './usage.ts'

/** The interval between writes. Including the commit, the database is less than a second behind. */
const FLUSH_MS = 500

/** Share of the remaining quota above which counts are stored at once for other processes. */
const SCARCE = 1 / 10
const REMEMBERED_MONTHS = 1000

/** The quota for the month in response headers, in whole requests. */
export interface Quota {
  limit: number
  left: number
}

/** Requests that are unauthenticated, refused or failed because of the server are free. */
const isCounted = (status: number): boolean =>
  status < 500 && status !== 401 && status !== 402 && status !== 403 && status !== 429

/**
 * Counts requests with an API key per tenant and month (UTC) over all engines, and applies plans
 * and limits (docs/metering.md). Counts are kept in memory and added to the database at least once
 * a second, so that those of several processes add up; a process that is killed loses the last
 * second. Within one process, two requests never use the same remaining request.
 */
export function createMetering(parts: {
  db: Db
  clock: Clock
  log: Log
  audit: Audit
  metrics: Metrics
  config: Config['metering']
}) {
  const { db, clock, log, audit, metrics, config } = parts
  const store = createStore(db)
  const allowance = createAllowance(config)
  const ledger = createLedger({ store, audit, allowance, log, client: db.client })
  const recorded = createReadCache<Counted>(db, REMEMBERED_MONTHS)
  const counts = createCounts()
  const usage = createUsage({ store, clock, allowance, config, flush })
  const requests = metrics.counter(
    'requests_metered_total',
    'Requests with a key that count toward the monthly allowance.',
  )
  const byEngine = new Map(ENGINES.map((engine) => [engine, requests.with({ engine })]))
  let cancelFlush: (() => void) | undefined
  let flushing = Promise.resolve()
  let isFailing = false

  const newCharge = (): Charge => ({ day: dayOf(clock.now()), state: 'open', isScarce: false })

  /**
   * Reserves quota until the response; given back if that isn't counted. Throws `payment_required`
   * for a tenant in arrears, and `rate_limited` until next month if the quota is used up.
   */
  function reserve(caller: Caller) {
    const { tenantId, charge } = caller
    requireActiveTenant(caller.tenantStatus)
    if (!charge) return void requireRoom(tenantId, caller, dayOf(clock.now()))
    if (charge.state !== 'open') return
    // Reading a long body can take until the next month.
    const day = dayOf(clock.now())
    const free = requireRoom(tenantId, caller, day)
    charge.day = day
    charge.state = 'reserved'
    counts.reserve(tenantId, day)
    charge.isScarce = counts.held(tenantId, day) > free * SCARCE
  }

  /** Like `reserve`, for work without an API key, such as following a link on a page. */
  function admit(tenantId: string) {
    const terms = store.terms(tenantId) ?? fail(notFound('tenant not found'))
    requireActiveTenant(terms.status)
    requireRoom(tenantId, terms, dayOf(clock.now()))
  }

  /** Returns the remaining quota. Throws `rate_limited` if it is used up. */
  function requireRoom(tenantId: string, terms: Terms, day: string): number {
    if (terms.plan === 'unlimited') return Number.POSITIVE_INFINITY
    const free = leftOf(tenantId, terms, day) - counts.reserved(tenantId, day)
    if (free <= 0) throw usedUp(terms, endOfMonth(monthOf(day)) - clock.now())
    return free
  }

  function leftOf(tenantId: string, terms: Terms, day: string): number {
    return allowance.left(countedIn(tenantId, terms, day), terms)
  }

  /** The counts of a month, including those that this process hasn't stored yet. */
  const countedIn = (tenantId: string, terms: Terms, day: string): Counted =>
    allowance.after(recordedIn(tenantId, day), counts.unflushed(tenantId, day), terms)

  function recordedIn(tenantId: string, day: string): Counted {
    const month = monthOf(day)
    const name = `${tenantId} ${month}`
    return recorded.get(name) ?? recorded.set(name, store.month(tenantId, month) ?? NOTHING)
  }

  /** If it is called twice for a request, the last status counts. Requests for the installation are free. */
  function answered(caller: KeyCaller, status: number) {
    const { tenantId, engine, environment, charge } = caller
    if (engine === 'installation') return
    const { day, state } = charge
    if (state === 'reserved') counts.release(tenantId, day)
    const isNew = isCounted(status)
    charge.state = isNew ? 'counted' : 'uncounted'
    if (isNew === (state === 'counted')) return
    const terms = { plan: caller.plan, spendCapCents: caller.spendCapCents }
    const key = { tenantId, day, engine, environment: environment ?? 'live' }
    counts.add({ ...key, terms, requests: isNew ? 1 : -1 })
    if (isNew) byEngine.get(engine)?.add()
    if (charge.isScarce) void flush()
    else flushLater()
  }

  function flushLater() {
    cancelFlush ??= clock.after(FLUSH_MS, () => void flush())
  }

  /** The quota of the caller's tenant; undefined if the plan has no limit. */
  function quotaOf(caller: KeyCaller): Quota | undefined {
    if (caller.plan === 'unlimited') return undefined
    const counted = countedIn(caller.tenantId, caller, caller.charge.day)
    const { included, payable } = allowance.limitsOf(caller, counted)
    const limit = included + payable
    if (!Number.isFinite(limit)) return undefined
    return { limit, left: allowance.left(counted, caller) }
  }

  /** Tries again later if storage fails. Waiting for a flush includes the one in progress. */
  function flush(): Promise<void> {
    cancelFlush?.()
    cancelFlush = undefined
    flushing = flushing.then(flushAll)
    return flushing
  }

  /** Stores one slice per commit, because requests wait for each commit. */
  async function flushAll() {
    for (let batch = counts.take(SLICE); batch.length > 0; batch = counts.take(SLICE))
      if (!(await flushSlice(batch))) return flushLater()
  }

  async function flushSlice(batch: Count[]): Promise<boolean> {
    let isWritten = false
    try {
      await db.commit(() => {
        const months = ledger.write(batch)
        // Runs inside the commit, so that these requests are never seen twice or not at all.
        counts.settled(batch)
        isWritten = true
        for (const { tenantId, month, ...counted } of months)
          recorded.set(`${tenantId} ${month}`, counted)
      })
      isFailing = false
      return true
    } catch (error) {
      recorded.forget()
      const isLost = error instanceof DatabaseLostError
      // These counts are stored and would be counted twice if the database comes back.
      if (!isStoredAnyway(error)) counts.putBack(batch, isWritten)
      if (isLost) return false
      if (!isFailing) log.error('usage could not be stored', { error: String(error) })
      isFailing = true
      return false
    }
  }

  /** Call it after the last response. Returns the number of requests lost after `graceMs`. */
  async function stop(graceMs: number): Promise<number> {
    const end = clock.monotonic() + graceMs
    await flush()
    while (counts.size() > 0 && clock.monotonic() < end) {
      await sleep(clock, FLUSH_MS)
      await flush()
    }
    cancelFlush?.()
    const lost = counts.size()
    if (lost > 0) log.error('usage was not stored', { requests: lost })
    return lost
  }

  const retention = (keptMs: number): RetentionRule[] => [
    {
      name: 'usage by day',
      deleteSlice: (now, limit) => store.removeDays(dayOf(now - keptMs), limit),
    },
    {
      name: 'usage by month',
      deleteSlice: (now, limit) => store.removeMonths(monthOf(dayOf(now - keptMs)), limit),
    },
  ]

  /** `listener` runs in the commit in which a tenant reaches a share of allowance or spend cap. */
  const onNotice = (listener: (notice: Notice) => void) => ledger.onNotice(listener)

  return {
    newCharge,
    reserve,
    admit,
    answered,
    quotaOf,
    flush,
    stop,
    retention,
    onNotice,
    ...usage,
  }
}

/** For commands beside a server, which can be half a second ahead of the database. */
export function createOfflineUsage(parts: { db: Db; clock: Clock; config: Config['metering'] }) {
  const { db, clock, config } = parts
  const allowance = createAllowance(config)
  return createUsage({ store: createStore(db), clock, allowance, config, flush: async () => {} })
}
