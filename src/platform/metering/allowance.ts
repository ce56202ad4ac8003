import type { Config } from '../../config/index.ts'
import type { Plan } from '../tenants.ts'

/** What a tenant has agreed to; without a cap of its own the default one applies. */
export interface Terms {
  plan: Plan
  spendCapCents: number | null
}

/** Counts of a month: all requests, and those among them that cost something. */
export interface Counted {
  requests: number
  billed: number
}

export interface Limits {
  /** Requests that cost nothing; infinitely many on an unlimited plan. */
  included: number
  /** Requests beyond them that the spend cap pays for; none where there is no price. */
  payable: number
  /** In whole cents; null where nothing is ever charged. */
  spendCapCents: number | null
}

type Price = Pick<Config['metering'], 'overagePriceCents' | 'overagePer'>

export type Allowance = ReturnType<typeof createAllowance>

/**
 * The arithmetic of plans. Money is whole cents, and the products of prices and counts are too
 * large for a double, so that they are integers without bound.
 */
export function createAllowance(config: Config['metering']) {
  const { freeRequests, defaultSpendCapCents } = config

  function limitsOf({ plan, spendCapCents }: Terms): Limits {
    if (plan === 'unlimited') return UNLIMITED
    if (plan === 'free') return { included: freeRequests, payable: 0, spendCapCents: null }
    const cap = spendCapCents ?? defaultSpendCapCents
    return { included: freeRequests, payable: requestsFor(cap, config), spendCapCents: cap }
  }

  /**
   * What `more` requests make of a month: the free ones first, then those that are paid for. Those
   * that are taken back, below zero, are the last, so that none stays billed.
   */
  function after({ requests, billed }: Counted, more: number, limits: Limits): Counted {
    if (more < 0) return { requests: requests + more, billed: Math.max(billed + more, 0) }
    const beyond = more - Math.min(more, Math.max(limits.included - requests, 0))
    const paid = Math.min(beyond, Math.max(limits.payable - billed, 0))
    return { requests: requests + more, billed: billed + paid }
  }

  /** How many more requests may make something new. */
  const left = ({ requests, billed }: Counted, { included, payable }: Limits): number =>
    Math.max(included - requests, 0) + Math.max(payable - billed, 0)

  /** A cent that is only begun is not charged. */
  const costOf = ({ billed }: Counted): number => centsFor(billed, config)

  return { limitsOf, after, left, costOf }
}

const UNLIMITED: Limits = { included: Number.POSITIVE_INFINITY, payable: 0, spendCapCents: null }

/** As many as cost no more than `cents`. */
function requestsFor(cents: number, { overagePriceCents, overagePer }: Price): number {
  if (overagePriceCents === 0) return Number.POSITIVE_INFINITY
  return quotient(cents, overagePer, overagePriceCents)
}

const centsFor = (requests: number, { overagePriceCents, overagePer }: Price): number =>
  quotient(requests, overagePriceCents, overagePer)

/** Of a product, rounded down. Integers without bound are slow, and seldom needed. */
function quotient(a: number, b: number, divisor: number): number {
  const product = a * b
  if (Number.isSafeInteger(product)) return (product - (product % divisor)) / divisor
  return Number((BigInt(a) * BigInt(b)) / BigInt(divisor))
}
