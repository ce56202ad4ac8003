import { MINUTE_MS } from '../durations.ts'
import { WITHHELD } from './post.ts'
import type { RecipientHash } from './recipient-hash.ts'
import type { Store } from './store/index.ts'

/** Whether another mail may be sent to an address now, or in how many milliseconds. */
export type Allowance = { allowed: true } | { allowed: false; retryAfterMs: number }

/** The maximum numbers of mails per period: enough if one gets lost, too few to flood a mailbox. */
const LIMITS = [
  { most: 1, withinMs: MINUTE_MS / 2 },
  { most: 5, withinMs: 60 * MINUTE_MS },
]
/** How long a mail counts against the limits. */
export const COUNTED_MS = Math.max(...LIMITS.map(({ withinMs }) => withinMs))
const MAX = Math.max(...LIMITS.map(({ most }) => most))

/** Limits for mails that anyone can request; `STEADY` allows more after `HOURLY` is used up. */
const GAP = { most: 1, withinMs: MINUTE_MS / 2 }
const HOURLY = { most: 8, withinMs: 60 * MINUTE_MS }
const STEADY = { most: 1, withinMs: 7.5 * MINUTE_MS }

/** For all kinds of mail together; reaching it indicates abuse, so no retry time is given. */
const MAX_TOTAL = 10

/**
 * Limits mails per tenant and address, including withheld ones. Must be checked in the commit that
 * posts, so that concurrent requests share no allowance. Callers must normalize addresses.
 */
export function createThrottle(parts: { store: Store; hashOf: RecipientHash }) {
  const { store, hashOf } = parts

  /**
   * Mails that anyone can request are counted by kind; otherwise a refusal would reveal that the
   * address has received other mails, which only known users get.
   */
  function allowance(
    tenantId: string | null,
    recipient: string,
    now: number,
    kind?: string,
  ): Allowance {
    const of = { kind: kind ?? null, since: now - COUNTED_MS, now }
    const times = store.mails.recent(hashOf(tenantId, recipient), of, MAX)
    const retryAfterMs = Math.max(...LIMITS.map((limit) => waitFor(limit, times, now)))
    return retryAfterMs > 0 ? { allowed: false, retryAfterMs } : { allowed: true }
  }

  /** Eight per hour, then one per 7.5 minutes, the longest that a stranger can delay the owner. */
  function sharedAllowance(
    tenantId: string | null,
    recipient: string,
    now: number,
    kind: string,
  ): Allowance {
    const of = { kind, since: now - COUNTED_MS, now }
    const times = store.mails.recent(hashOf(tenantId, recipient), of, HOURLY.most)
    const turnMs = Math.min(waitFor(HOURLY, times, now), waitFor(STEADY, times, now))
    const retryAfterMs = Math.max(waitFor(GAP, times, now), turnMs)
    return retryAfterMs > 0 ? { allowed: false, retryAfterMs } : { allowed: true }
  }

  /** Whether an address has received the maximum of mails within the last hour. */
  function isPestered(tenantId: string | null, recipient: string, now: number): boolean {
    const within = { except: WITHHELD, since: now - COUNTED_MS, now }
    return store.mails.countSent(hashOf(tenantId, recipient), within, MAX_TOTAL) >= MAX_TOTAL
  }

  return { allowance, sharedAllowance, isPestered }
}

function waitFor({ most, withinMs }: (typeof LIMITS)[number], times: number[], now: number) {
  const oldest = times[most - 1]
  return oldest === undefined ? 0 : oldest + withinMs - now
}
