import type { Config } from '../../config/index.ts'
import { type Clock, isoTime } from '../clock.ts'
import { fail, invalid, notFound } from '../errors.ts'
import type { Plan } from '../tenants.ts'
import { type Allowance, NOTHING } from './allowance.ts'
import { dayOf, endOfMonth, isMonth, monthOf } from './months.ts'
import type { DayRow, Store } from './store.ts'
import { reached, type Told } from './thresholds.ts'

/** A month of a tenant, as the command line and the console show it. Money is in whole cents. */
export interface Usage {
  month: string
  plan: Plan
  requests: number
  /** Requests that cost nothing; null on an unlimited plan. */
  included_requests: number | null
  /** Requests beyond them, each at the price. */
  billed_requests: number
  cost_cents: number
  spend_cap_cents: number | null
  /** How many more may make something new; null where there is no end. */
  left_requests: number | null
  /** Highest share that was told, in percent: of the allowance, and of the spend cap. */
  told: { allowance: number; spend_cap: number }
  resets_at: string
  days: Pick<DayRow, 'day' | 'engine' | 'environment' | 'requests'>[]
}

/** The same in short. */
export type UsageOfMonth = Pick<Usage, 'month' | 'requests' | 'billed_requests' | 'cost_cents'>

/** How near a tenant is to the end of its month, in shares that people are told of. */
export interface Nearness {
  plan: Plan
  reached: Told
  /** How many more may make something new; null where there is no end. */
  left_requests: number | null
  resets_at: string
}

/** What requests beyond the free ones cost: `price_cents` for `per` of them. */
export interface Tariff {
  free_requests: number
  price_cents: number
  per: number
  /** For whoever has set no cap. */
  default_spend_cap_cents: number
}

/** What tenants have used, for people to look at. */
export function createUsage(parts: {
  store: Store
  clock: Clock
  allowance: Allowance
  config: Config['metering']
  /** Brings what this process has counted into the database first. */
  flush: () => Promise<void>
}) {
  const { store, clock, allowance, config, flush } = parts

  /** This month, or one as `2026-01`; judged by the terms of today. */
  async function usageOf(tenantId: string, month = monthOf(dayOf(clock.now()))): Promise<Usage> {
    if (!isMonth(month))
      throw invalid('must be a month like 2026-01', { field: 'month', rule: 'format' })
    await flush()
    const terms = store.terms(tenantId) ?? fail(notFound('tenant not found'))
    const row = store.month(tenantId, month)
    const counted = row ?? NOTHING
    const limits = allowance.limitsOf(terms, counted)
    return {
      month,
      plan: terms.plan,
      requests: counted.requests,
      included_requests: finite(limits.included),
      billed_requests: counted.billed,
      cost_cents: counted.costCents,
      spend_cap_cents: limits.spendCapCents,
      left_requests: finite(allowance.left(counted, terms)),
      told: { allowance: row?.allowanceTold ?? 0, spend_cap: row?.spendCapTold ?? 0 },
      resets_at: isoTime(endOfMonth(month)),
      days: store.days(tenantId, `${month}-01`, `${month}-31`).map(presentDay),
    }
  }

  /** All that is kept, the oldest first. */
  const months = (tenantId: string): UsageOfMonth[] =>
    store.months(tenantId).map(({ month, requests, billed, costCents }) => ({
      month,
      requests,
      billed_requests: billed,
      cost_cents: costCents,
    }))

  /**
   * For every page that a tenant looks at: two rows, and nothing is stored first, so it is behind by
   * as much as the database is. By the terms of this moment, so that a raised cap is news at once.
   */
  function nearnessOf(tenantId: string): Nearness {
    const month = monthOf(dayOf(clock.now()))
    const terms = store.terms(tenantId) ?? fail(notFound('tenant not found'))
    const counted = store.month(tenantId, month) ?? NOTHING
    return {
      plan: terms.plan,
      reached: reached(counted, allowance.limitsOf(terms, counted), NOTHING_TOLD),
      left_requests: finite(allowance.left(counted, terms)),
      resets_at: isoTime(endOfMonth(month)),
    }
  }

  const tariff: Tariff = {
    free_requests: config.freeRequests,
    price_cents: config.overagePriceCents,
    per: config.overagePer,
    default_spend_cap_cents: config.defaultSpendCapCents,
  }

  return { usageOf, months, nearnessOf, tariff }
}

const NOTHING_TOLD: Told = { allowance: 0, spend_cap: 0 }

const finite = (count: number): number | null => (Number.isFinite(count) ? count : null)

const presentDay = ({ day, engine, environment, requests }: DayRow) => ({
  day,
  engine,
  environment,
  requests,
})
