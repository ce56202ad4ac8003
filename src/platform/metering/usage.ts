import type { Config } from '../../config/index.ts'
import { type Clock, isoTime } from '../clock.ts'
import { fail, invalid, notFound } from '../errors.ts'
import type { Plan } from '../tenants.ts'
import { type Allowance, NOTHING } from './allowance.ts'
import { dayOf, endOfMonth, isMonth, monthOf } from './months.ts'
import type { DayRow, Store } from './store.ts'
import { type NotifiedShares, reached } from './thresholds.ts'

/** The form that the command line and the console show; money is in whole cents. */
export interface Usage {
  month: string
  plan: Plan
  requests: number
  /** The number of free requests; null on an unlimited plan. */
  included_requests: number | null
  /** Requests beyond the free ones, which are billed. */
  billed_requests: number
  cost_cents: number
  spend_cap_cents: number | null
  /** The number of further requests that can create something; null if there is no limit. */
  left_requests: number | null
  /** The highest shares, in percent, for which a notice was sent. */
  notified: { allowance: number; spend_cap: number }
  resets_at: string
  days: Pick<DayRow, 'day' | 'engine' | 'environment' | 'requests'>[]
}

/** A month in a list of months. */
export type UsageOfMonth = Pick<Usage, 'month' | 'requests' | 'billed_requests' | 'cost_cents'>

/** The shares of the limits that a tenant has reached this month. */
export interface Nearness {
  plan: Plan
  reached: NotifiedShares
  /** The number of further requests that can create something; null if there is no limit. */
  left_requests: number | null
  resets_at: string
}

/** The price of requests beyond the free ones: `price_cents` for every `per` requests. */
export interface Tariff {
  free_requests: number
  price_cents: number
  per: number
  /** For tenants without a spend cap of their own. */
  default_spend_cap_cents: number
}

/** Reports the usage of tenants. */
export function createUsage(parts: {
  store: Store
  clock: Clock
  allowance: Allowance
  config: Config['metering']
  /** Stores the counts of this process first. */
  flush: () => Promise<void>
}) {
  const { store, clock, allowance, config, flush } = parts

  /** The usage of the current month, or of one such as `2026-01`, under the current terms. */
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
      notified: { allowance: row?.allowanceNotified ?? 0, spend_cap: row?.spendCapNotified ?? 0 },
      resets_at: isoTime(endOfMonth(month)),
      days: store.days(tenantId, `${month}-01`, `${month}-31`).map(presentDay),
    }
  }

  /** All stored months, oldest first. */
  const months = (tenantId: string): UsageOfMonth[] =>
    store
      .months(tenantId)
      .map(({ month, requests, billed, costCents }) => ({
        month,
        requests,
        billed_requests: billed,
        cost_cents: costCents,
      }))

  /** For every page: two queries, no flush. Uses current terms, so a raised cap applies at once. */
  function nearnessOf(tenantId: string): Nearness {
    const month = monthOf(dayOf(clock.now()))
    const terms = store.terms(tenantId) ?? fail(notFound('tenant not found'))
    const counted = store.month(tenantId, month) ?? NOTHING
    return {
      plan: terms.plan,
      reached: reached(counted, allowance.limitsOf(terms, counted), NOTHING_NOTIFIED),
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

const NOTHING_NOTIFIED: NotifiedShares = { allowance: 0, spend_cap: 0 }

const finite = (count: number): number | null => (Number.isFinite(count) ? count : null)

const presentDay = ({ day, engine, environment, requests }: DayRow) => ({
  day,
  engine,
  environment,
  requests,
})
