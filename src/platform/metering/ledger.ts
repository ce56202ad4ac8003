import type { Database } from 'bun:sqlite'
import type { Audit } from '../audit/index.ts'
import type { Log } from '../log.ts'
import { type Allowance, type Counted, NOTHING, type Terms } from './allowance.ts'
import type { Count } from './counts.ts'
import { monthOf } from './months.ts'
import type { MonthRow, Store } from './store.ts'
import { type Crossing, crossings, type NotifiedShares, reached } from './thresholds.ts'

interface Month {
  tenantId: string
  month: string
}

/** A tenant has reached a share of its allowance or spend cap. */
export type Notice = Crossing & Month & { costCents: number }

type Recorded = Counted & Month

/** Decides on billing and notices, because only the commit knows the sums of all processes. */
export function createLedger(parts: {
  store: Store
  audit: Audit
  allowance: Allowance
  log: Log
  client: Database
}) {
  const { store, audit, allowance, log, client } = parts
  const inSavepoint = client.transaction((work: () => void) => work())
  const listeners: ((notice: Notice) => void)[] = []

  /** Adds counts inside a commit. Ignores tenants that no longer exist. */
  function write(batch: readonly Count[]): Recorded[] {
    const months = Map.groupBy(batch, ({ tenantId, day }) => `${tenantId} ${monthOf(day)}`)
    return [...months.values()].flatMap((counts) => {
      const [{ tenantId, day }] = counts as [Count, ...Count[]]
      const terms = store.terms(tenantId)
      if (!terms) return []
      for (const { terms: _, ...count } of counts) store.addToDay(count)
      return [advance({ tenantId, month: monthOf(day) }, terms, counts)]
    })
  }

  function advance(whose: Month, terms: Terms, counts: readonly Count[]): Recorded {
    const before = store.month(whose.tenantId, whose.month) ?? { ...whose, ...BLANK }
    // Each count uses the terms under which its requests were made.
    const counted = counts.reduce<Counted>(
      (sum, { requests, terms }) => allowance.after(sum, requests, terms),
      before,
    )
    const notified = tellOf(whose, counted, terms, notifiedOf(before))
    const [allowanceNotified, spendCapNotified] = [notified.allowance, notified.spend_cap]
    store.saveMonth({ ...before, ...counted, allowanceNotified, spendCapNotified })
    return { ...whose, ...counted }
  }

  /**
   * Returns the highest share for which a notice was sent. After a limit was raised, lower shares
   * are sent again when they are reached; failed notices are sent next time.
   */
  function tellOf(whose: Month, counted: Counted, terms: Terms, notified: NotifiedShares) {
    const limits = allowance.limitsOf(terms, counted)
    const now = reached(counted, limits, notified)
    for (const crossing of crossings(counted, limits, notified))
      if (!isPublished({ ...crossing, ...whose, costCents: counted.costCents }))
        now[crossing.measure] = notified[crossing.measure]
    return now
  }

  /** Uses a savepoint, because a failed notice must not prevent counting. */
  function isPublished(notice: Notice): boolean {
    try {
      inSavepoint(() => tell(notice))
      return true
    } catch (error) {
      // The database has rolled back the whole commit.
      if (!client.inTransaction) throw error
      const { tenantId, measure, percent } = notice
      log.error('usage event failed', { tenantId, measure, percent, error: String(error) })
      return false
    }
  }

  function tell(notice: Notice) {
    const { tenantId, month, measure, percent, used, limit } = notice
    audit.record({
      tenantId,
      actor: { kind: 'system' },
      action: 'usage.threshold',
      object: `tenant:${tenantId}`,
      detail: { month, measure, percent, used, limit },
    })
    for (const listener of listeners) listener(notice)
  }

  return { write, onNotice: (listener: (notice: Notice) => void) => void listeners.push(listener) }
}

const BLANK = { ...NOTHING, allowanceNotified: 0, spendCapNotified: 0 }

const notifiedOf = ({ allowanceNotified, spendCapNotified }: MonthRow): NotifiedShares => ({
  allowance: allowanceNotified as NotifiedShares['allowance'],
  spend_cap: spendCapNotified as NotifiedShares['spend_cap'],
})
