import type { Config } from '../../config/index.ts'
import { DatabaseLostError } from '../../db/errors.ts'
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
import { requireGoodStanding, usedUp } from './refusals.ts'
import { createStore } from './store.ts'
import { createUsage } from './usage.ts'

export type Metering = ReturnType<typeof createMetering>
export type { Notice } from './ledger.ts'
export type { Nearness, Tariff, Usage, UsageOfMonth } from './usage.ts'

/** How far what is on disk may be behind: with the commit itself, less than a second. */
const FLUSH_MS = 500

/** Once a process holds more than this share of what is left, the others are to know at once. */
const SCARCE = 1 / 10
const REMEMBERED_MONTHS = 1000

/** What the caller's answers say of the month: whole requests. */
export interface Quota {
  limit: number
  left: number
}

/** Answers that cost nothing: who was not let in, turned away, or let down by us. */
const isCounted = (status: number): boolean =>
  status < 500 && status !== 401 && status !== 402 && status !== 403 && status !== 429

/**
 * Requests with a key, counted for each tenant and month of UTC over all engines, and what the
 * plan makes of them (docs/metering.md). Counts are in memory first and added to the database at
 * least once a second, so that those of several processes add up; a process that is killed loses
 * the last second. Within one process no two requests get the same last place.
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
  let isInTrouble = false

  const newCharge = (): Charge => ({ day: dayOf(clock.now()), state: 'open', isScarce: false })

  /**
   * For work that makes something new. Throws `payment_required` for a tenant in arrears, and
   * `rate_limited` until the next month where nothing is left of this one. What is left is this
   * request's from then on, until its answer; a request that is not counted takes none of it.
   */
  function reserve(caller: Caller) {
    const { tenantId, charge } = caller
    requireGoodStanding(caller.tenantStatus)
    if (!charge) return void requireRoom(tenantId, caller, dayOf(clock.now()))
    if (charge.state !== 'open') return
    // A long body may have taken it into the next month.
    const day = dayOf(clock.now())
    const free = requireRoom(tenantId, caller, day)
    charge.day = day
    charge.state = 'reserved'
    counts.reserve(tenantId, day)
    charge.isScarce = counts.held(tenantId, day) > free * SCARCE
  }

  /** The same for work that nobody's key pays for, such as a link from one page to the next. */
  function admit(tenantId: string) {
    const terms = store.terms(tenantId) ?? fail(notFound('tenant not found'))
    requireGoodStanding(terms.status)
    requireRoom(tenantId, terms, dayOf(clock.now()))
  }

  /** How many more there is room for. */
  function requireRoom(tenantId: string, terms: Terms, day: string): number {
    if (terms.plan === 'unlimited') return Number.POSITIVE_INFINITY
    const free = leftOf(tenantId, terms, day) - counts.reserved(tenantId, day)
    if (free <= 0) throw usedUp(terms, endOfMonth(monthOf(day)) - clock.now())
    return free
  }

  function leftOf(tenantId: string, terms: Terms, day: string): number {
    return allowance.left(countedIn(tenantId, terms, day), terms)
  }

  /** With what this process has yet to store. */
  const countedIn = (tenantId: string, terms: Terms, day: string): Counted =>
    allowance.after(recordedIn(tenantId, day), counts.unflushed(tenantId, day), terms)

  function recordedIn(tenantId: string, day: string): Counted {
    const month = monthOf(day)
    const name = `${tenantId} ${month}`
    return recorded.get(name) ?? recorded.set(name, store.month(tenantId, month) ?? NOTHING)
  }

  /** The request has its answer. Told twice of one, the last status is what counts. */
  function answered(caller: KeyCaller, status: number) {
    const { tenantId, engine, environment, charge } = caller
    const { day, state } = charge
    if (state === 'reserved') counts.release(tenantId, day)
    const isNew = isCounted(status)
    charge.state = isNew ? 'counted' : 'uncounted'
    if (isNew === (state === 'counted')) return
    const terms = { plan: caller.plan, spendCapCents: caller.spendCapCents }
    const place = { tenantId, day, engine, environment: environment ?? 'live' }
    counts.add({ ...place, terms, requests: isNew ? 1 : -1 })
    if (isNew) byEngine.get(engine)?.add()
    if (charge.isScarce) void flush()
    else flushLater()
  }

  function flushLater() {
    cancelFlush ??= clock.after(FLUSH_MS, () => void flush())
  }

  /** Nothing where the plan sets no end. */
  function quotaOf(caller: KeyCaller): Quota | undefined {
    if (caller.plan === 'unlimited') return undefined
    const counted = countedIn(caller.tenantId, caller, caller.charge.day)
    const { included, payable } = allowance.limitsOf(caller, counted)
    const limit = included + payable
    if (!Number.isFinite(limit)) return undefined
    return { limit, left: allowance.left(counted, caller) }
  }

  /**
   * Puts on disk what was counted so far; later, where the disk does not take it. One at a time, so
   * that whoever waits for one waits for what was under way, too.
   */
  function flush(): Promise<void> {
    cancelFlush?.()
    cancelFlush = undefined
    flushing = flushing.then(flushAll)
    return flushing
  }

  /** A slice a commit, as requests wait for each. */
  async function flushAll() {
    for (let batch = counts.take(SLICE); batch.length > 0; batch = counts.take(SLICE))
      if (!(await flushSlice(batch))) return flushLater()
  }

  async function flushSlice(batch: Count[]): Promise<boolean> {
    let isWritten = false
    try {
      await db.commit(() => {
        const months = ledger.write(batch)
        // Within the commit, so that nothing sees these requests twice, or not at all.
        counts.settled(batch)
        isWritten = true
        for (const { tenantId, month, ...counted } of months)
          recorded.set(`${tenantId} ${month}`, counted)
      })
      isInTrouble = false
      return true
    } catch (error) {
      recorded.forget()
      const isLost = error instanceof DatabaseLostError
      // What comes back with the database must not be counted again.
      if (!(isLost && error.isStored)) counts.putBack(batch, isWritten)
      if (isLost) return false
      if (!isInTrouble) log.error('usage could not be stored', { error: String(error) })
      isInTrouble = true
      return false
    }
  }

  /**
   * After the last answer. What the disk does not take within `graceMs` is lost: the log says so,
   * and this how many requests it was.
   */
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

  /** Calls `listener` within the commit in which a tenant has used up a share of its month. */
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

/** What was used, for a command beside a server: that may be half a second ahead of the database. */
export function createUsageOffice(parts: { db: Db; clock: Clock; config: Config['metering'] }) {
  const { db, clock, config } = parts
  const allowance = createAllowance(config)
  return createUsage({ store: createStore(db), clock, allowance, config, flush: async () => {} })
}
