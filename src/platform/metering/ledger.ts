import type { Database } from 'bun:sqlite'
import type { Audit } from '../audit/index.ts'
import type { Log } from '../log.ts'
import { type Allowance, type Counted, NOTHING, type Terms } from './allowance.ts'
import type { Count } from './counts.ts'
import { monthOf } from './months.ts'
import type { MonthRow, Store } from './store.ts'
import { type Crossing, crossings, reached, type Told } from './thresholds.ts'

interface Month {
  tenantId: string
  month: string
}

/** A tenant has reached a share of its allowance or spend cap. */
export type Notice = Crossing & Month & { costCents: number }

type Recorded = Counted & Month

/**
 * Adds counts to the database. Billing and notices are decided here, because only the commit knows
 * the sums of all processes.
 */
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
    const told = tellOf(whose, counted, terms, toldOf(before))
    const [allowanceTold, spendCapTold] = [told.allowance, told.spend_cap]
    store.saveMonth({ ...before, ...counted, allowanceTold, spendCapTold })
    return { ...whose, ...counted }
  }

  /**
   * Sends notices for the shares that were reached, and returns the highest share that was sent.
   * After a limit was raised, lower shares are sent again when they are reached again; notices that
   * failed are sent next time.
   */
  function tellOf(whose: Month, counted: Counted, terms: Terms, told: Told) {
    const limits = allowance.limitsOf(terms, counted)
    const now = reached(counted, limits, told)
    for (const crossing of crossings(counted, limits, told))
      if (!isTold({ ...crossing, ...whose, costCents: counted.costCents }))
        now[crossing.measure] = told[crossing.measure]
    return now
  }

  /**
   * Sends a notice in a savepoint; false if that failed, because a failed notice must not prevent
   * counting.
   */
  function isTold(notice: Notice): boolean {
    try {
      inSavepoint(() => tell(notice))
      return true
    } catch (error) {
      // The database has rolled back the whole commit.
      if (!client.inTransaction) throw error
      const { tenantId, measure, percent } = notice
      log.error('usage notice failed', { tenantId, measure, percent, error: String(error) })
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

const BLANK = { ...NOTHING, allowanceTold: 0, spendCapTold: 0 }

const toldOf = ({ allowanceTold, spendCapTold }: MonthRow): Told => ({
  allowance: allowanceTold as Told['allowance'],
  spend_cap: spendCapTold as Told['spend_cap'],
})
