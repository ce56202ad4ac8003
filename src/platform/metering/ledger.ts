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

/** A tenant has used up a share of what its month holds. */
export type Notice = Crossing & Month & { costCents: number }

type Recorded = Counted & Month

/**
 * Adds counts to those in the database. It is here, where the sums of all processes are known and
 * nobody else writes, that a request is found to cost something, and that a share is passed.
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

  /** Within a commit. A tenant that is gone has no ledger. */
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
    // Each by the terms under which it came.
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
   * Says what was told, and tells it. Also what was not: where a limit was raised, the way up to that
   * one is told again, and what nobody could be told is told the next time.
   */
  function tellOf(whose: Month, counted: Counted, terms: Terms, told: Told) {
    const limits = allowance.limitsOf(terms, counted)
    const now = reached(counted, limits, told)
    for (const crossing of crossings(counted, limits, told))
      if (!isTold({ ...crossing, ...whose, costCents: counted.costCents }))
        now[crossing.measure] = told[crossing.measure]
    return now
  }

  /** All of it or nothing: what keeps somebody from being told must not keep requests from counting. */
  function isTold(notice: Notice): boolean {
    try {
      inSavepoint(() => tell(notice))
      return true
    } catch (error) {
      // Nothing of this commit is left to go on with.
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
