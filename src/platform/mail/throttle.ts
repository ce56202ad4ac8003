import { MINUTE_MS } from '../durations.ts'
import { WITHHELD } from './post.ts'
import type { RecipientHash } from './recipient-hash.ts'
import type { Store } from './store/index.ts'

/** Whether another mail may be sent to an address, or when. */
export type Allowance = { allowed: true } | { allowed: false; retryAfterMs: number }

/** Maximum number of mails per period: enough if one gets lost, too few to flood a mailbox. */
const LIMITS = [
  { most: 1, withinMs: MINUTE_MS / 2 },
  { most: 5, withinMs: 60 * MINUTE_MS },
]
/** How long a mail counts. */
export const COUNTED_MS = Math.max(...LIMITS.map(({ withinMs }) => withinMs))
const MAX = Math.max(...LIMITS.map(({ most }) => most))

/** The same where everybody may ask. Beyond the hour's mails there is still one in a while. */
const GAP = { most: 1, withinMs: MINUTE_MS / 2 }
const HOURLY = { most: 8, withinMs: 60 * MINUTE_MS }
const STEADY = { most: 1, withinMs: 7.5 * MINUTE_MS }

/** Limit of all kinds together. It indicates abuse, so no time to retry is given. */
const MAX_TOTAL = 10

/**
 * Limits how often an address receives mails on behalf of one tenant; withheld mails count as well.
 * Must be checked in the commit that posts, so that concurrent requests do not get the same
 * allowance. Addresses are compared literally, so callers have to normalize them.
 */
export function createThrottle(parts: { store: Store; hashOf: RecipientHash }) {
  const { store, hashOf } = parts

  /**
   * Of one kind, or of whatever kind the mails are. What strangers can ask for is counted by its
   * kind: else their being put off would tell them of mails that only those get who are known here.
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

  /**
   * For mails that strangers can request as well: eight per hour, and then one whenever the newest
   * is 7.5 minutes old. A stranger who uses them up cannot delay the owner of the address for
   * longer than that.
   */
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

  /** Whether so many mails went to an address within the hour that it is to be left alone. */
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
