import type { Counted, Limits } from './allowance.ts'

export const MEASURES = ['allowance', 'spend_cap'] as const
/** What is nearly used up: requests that cost nothing, or what may be spent beyond them. */
export type Measure = (typeof MEASURES)[number]

/** Shares at which people are told, in percent. */
const SHARES = [100, 80, 50] as const
export type Share = (typeof SHARES)[number]

/** The highest share of each that was told in a month; 0 for none. */
export type Told = Record<Measure, Share | 0>

export interface Crossing {
  measure: Measure
  percent: Share
  /** Requests, of the allowance or of those that the cap pays for. */
  used: number
  limit: number
}

/**
 * Where a month stands: a share is reached when as many requests are used up. What has no limit for
 * now, on another plan, stays as it was told.
 */
export const reached = ({ requests, billed }: Counted, limits: Limits, told: Told): Told => ({
  allowance: shareOf(requests, limits.included) ?? told.allowance,
  spend_cap: shareOf(billed, limits.payable) ?? told.spend_cap,
})

/** None of an allowance of nothing, which is no news at the first request. */
function shareOf(used: number, limit: number): Share | 0 | undefined {
  if (limit === 0 || !Number.isFinite(limit)) return undefined
  return SHARES.find((share) => used * 100 >= limit * share) ?? 0
}

/** What is to be told: of several shares passed at once the highest. */
export function crossings(counted: Counted, limits: Limits, told: Told): Crossing[] {
  const now = reached(counted, limits, told)
  const usedOf = { allowance: counted.requests, spend_cap: counted.billed }
  const limitOf = { allowance: limits.included, spend_cap: limits.payable }
  return MEASURES.flatMap((measure) => {
    const percent = now[measure]
    if (percent === 0 || percent <= told[measure]) return []
    return [{ measure, percent, used: usedOf[measure], limit: limitOf[measure] }]
  })
}
