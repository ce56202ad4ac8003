import type { Config } from '../../config/index.ts'
import type { Plan } from '../tenants.ts'

/** The terms of a tenant; the default spend cap applies if it has none of its own. */
export interface Terms {
  plan: Plan
  spendCapCents: number | null
}

/** An exact cost, so that no fraction of a cent is lost or charged twice when the price changes. */
export interface Cost {
  costCents: number
  /** The fraction of the next cent, as `costRest` / `costPer`. */
  costRest: number
  costPer: number
}

/** The counts of a month so far: all requests, the billed ones among them, and their cost. */
export type Counted = { requests: number; billed: number } & Cost

export const NOTHING: Counted = { requests: 0, billed: 0, costCents: 0, costRest: 0, costPer: 1 }

export interface Limits {
  /** The number of free requests; infinite on an unlimited plan. */
  included: number
  /** Further requests that the spend cap covers; infinite at a price of zero, 0 unless metered. */
  payable: number
  /** In whole cents; null if the plan never charges. */
  spendCapCents: number | null
}

export type Allowance = ReturnType<typeof createAllowance>

/**
 * Money is in whole cents; a fraction of a cent is not charged yet. A new price applies only to
 * later requests, but the spend cap applies to the whole month.
 */
export function createAllowance(config: Config['metering']) {
  const { freeRequests, defaultSpendCapCents, overagePriceCents: price, overagePer: per } = config

  function limitsOf({ plan, spendCapCents }: Terms, counted: Counted): Limits {
    if (plan === 'unlimited') return UNLIMITED
    if (plan === 'free') return { included: freeRequests, payable: 0, spendCapCents: null }
    const cap = spendCapCents ?? defaultSpendCapCents
    const payable = counted.billed + affordable(cap, counted)
    return { included: freeRequests, payable, spendCapCents: cap }
  }

  /** The number of further requests that the rest of `cap` covers. */
  function affordable(cap: number, cost: Cost): number {
    if (price === 0) return Number.POSITIVE_INFINITY
    if (cap < cost.costCents) return 0
    return Math.max(divide(cap - cost.costCents, per, -restOf(cost), price).whole, 0)
  }

  /** The fraction of the next cent in units of the current price, rounded down. */
  const restOf = ({ costRest, costPer }: Cost): number =>
    costPer === per ? costRest : divide(costRest, per, 0, costPer).whole

  /** Free requests are used first. Negative numbers take requests back, billed ones first. */
  function after(counted: Counted, more: number, terms: Terms): Counted {
    const { requests, billed } = counted
    const paid = more < 0 ? Math.max(more, -billed) : paidOf(counted, more, terms)
    return { requests: requests + more, billed: billed + paid, ...charged(counted, paid) }
  }

  function paidOf(counted: Counted, more: number, terms: Terms): number {
    const { included, payable } = limitsOf(terms, counted)
    const beyond = more - Math.min(more, Math.max(included - counted.requests, 0))
    return Math.min(beyond, Math.max(payable - counted.billed, 0))
  }

  /** The cost after more billed requests; unchanged, including the fraction, if there are none. */
  function charged(cost: Cost, requests: number): Cost {
    const { costCents, costRest, costPer } = cost
    if (requests === 0) return { costCents, costRest, costPer }
    const { whole, rest } = divide(requests, price, restOf(cost), per)
    return { costCents: Math.max(costCents + whole, 0), costRest: rest, costPer: per }
  }

  /** The number of further requests that can create something. */
  function left(counted: Counted, terms: Terms): number {
    const { included, payable } = limitsOf(terms, counted)
    return Math.max(included - counted.requests, 0) + Math.max(payable - counted.billed, 0)
  }

  return { limitsOf, after, left }
}

const UNLIMITED: Limits = { included: Number.POSITIVE_INFINITY, payable: 0, spendCapCents: null }

/** `(a * b + plus) / divisor`, rounded down; uses slower big integers only if necessary. */
function divide(a: number, b: number, plus: number, divisor: number) {
  const sum = a * b + plus
  if (Number.isSafeInteger(sum)) {
    const rest = ((sum % divisor) + divisor) % divisor
    return { whole: (sum - rest) / divisor, rest }
  }
  const [exact, by] = [BigInt(a) * BigInt(b) + BigInt(plus), BigInt(divisor)]
  const rest = ((exact % by) + by) % by
  return { whole: Number((exact - rest) / by), rest: Number(rest) }
}
