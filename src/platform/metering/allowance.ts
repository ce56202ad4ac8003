import type { Config } from '../../config/index.ts'
import type { Plan } from '../tenants.ts'

/** What a tenant has agreed to; without a cap of its own the default one applies. */
export interface Terms {
  plan: Plan
  spendCapCents: number | null
}

/** Exact, so that no fraction of a cent is lost or charged twice when the price changes. */
export interface Cost {
  costCents: number
  /** What there is of the next cent, in parts of which `costPer` make one. */
  costRest: number
  costPer: number
}

/** A month so far: all requests, those among them that cost something, and what they cost. */
export type Counted = { requests: number; billed: number } & Cost

export const NOTHING: Counted = { requests: 0, billed: 0, costCents: 0, costRest: 0, costPer: 1 }

export interface Limits {
  /** Requests that cost nothing; infinitely many on an unlimited plan. */
  included: number
  /** Requests beyond them that the spend cap pays for; none where there is no price. */
  payable: number
  /** In whole cents; null where nothing is ever charged. */
  spendCapCents: number | null
}

export type Allowance = ReturnType<typeof createAllowance>

/**
 * The arithmetic of plans. Money is whole cents, a cent that is only begun is not charged, and what
 * was charged stays charged: a new price is that of the requests from then on, and the cap bounds
 * all of the month.
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

  /** How many more requests cost no more than what is left of `cap`. */
  function affordable(cap: number, cost: Cost): number {
    if (price === 0) return Number.POSITIVE_INFINITY
    if (cap < cost.costCents) return 0
    return Math.max(divide(cap - cost.costCents, per, -restOf(cost), price).whole, 0)
  }

  /** In parts of a cent as the price of today has them; less than one of them is let go. */
  const restOf = ({ costRest, costPer }: Cost): number =>
    costPer === per ? costRest : divide(costRest, per, 0, costPer).whole

  /**
   * What `more` requests make of a month: the free ones first, then those that are paid for. Those
   * that are taken back, below zero, are the last, so that none stays billed.
   */
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

  /** A month in which nothing is charged keeps what it has, to the last part of a cent. */
  function charged(cost: Cost, requests: number): Cost {
    const { costCents, costRest, costPer } = cost
    if (requests === 0) return { costCents, costRest, costPer }
    const { whole, rest } = divide(requests, price, restOf(cost), per)
    return { costCents: Math.max(costCents + whole, 0), costRest: rest, costPer: per }
  }

  /** How many more requests may make something new. */
  function left(counted: Counted, terms: Terms): number {
    const { included, payable } = limitsOf(terms, counted)
    return Math.max(included - counted.requests, 0) + Math.max(payable - counted.billed, 0)
  }

  return { limitsOf, after, left }
}

const UNLIMITED: Limits = { included: Number.POSITIVE_INFINITY, payable: 0, spendCapCents: null }

/** `a * b + plus` by `divisor`, rounded down. Integers without bound are slow, and seldom needed. */
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
