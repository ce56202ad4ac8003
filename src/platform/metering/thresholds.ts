import type { Counted, Limits } from './allowance.ts'

export const MEASURES = ['allowance', 'spend_cap'] as const
/** The measures for notices: free requests, or the spend cap for requests beyond them. */
export type Measure = (typeof MEASURES)[number]

/** The shares at which notices are sent, in percent. */
const SHARES = [100, 80, 50] as const
export type Share = (typeof SHARES)[number]

/** The highest share of each measure for which a notice was sent in a month; 0 for none. */
export type NotifiedShares = Record<Measure, Share | 0>

export interface Crossing {
  measure: Measure
  percent: Share
  /** A number of requests: the allowance, or what the spend cap covers. */
  used: number
  limit: number
}

/** The highest share reached per measure; without a limit, that of the last notice. */
export const reached = (
  { requests, billed }: Counted,
  limits: Limits,
  notified: NotifiedShares,
): NotifiedShares => ({
  allowance: shareOf(requests, limits.included) ?? notified.allowance,
  spend_cap: shareOf(billed, limits.payable) ?? notified.spend_cap,
})

/**
 * The share of a limit that is used; undefined if the limit is zero or infinite, because the first
 * request would already reach it.
 */
function shareOf(used: number, limit: number): Share | 0 | undefined {
  if (limit === 0 || !Number.isFinite(limit)) return undefined
  return SHARES.find((share) => used * 100 >= limit * share) ?? 0
}

/** The notices to send; if several shares were passed, only the highest. */
export function crossings(counted: Counted, limits: Limits, notified: NotifiedShares): Crossing[] {
  const now = reached(counted, limits, notified)
  const usedOf = { allowance: counted.requests, spend_cap: counted.billed }
  const limitOf = { allowance: limits.included, spend_cap: limits.payable }
  return MEASURES.flatMap((measure) => {
    const percent = now[measure]
    if (percent === 0 || percent <= notified[measure]) return []
    return [{ measure, percent, used: usedOf[measure], limit: limitOf[measure] }]
  })
}
