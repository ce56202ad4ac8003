import { MINUTE_MS } from '../durations.ts'
import { WITHHELD } from './post.ts'
import type { RecipientHash } from './recipient-hash.ts'
import type { Store } from './store/index.ts'

/** Whether an address may be written to now, or when it may again. */
export type Allowance = { allowed: true } | { allowed: false; retryAfterMs: number }

/** So many mails in so long: enough for whoever lost one, too few to pester anybody. */
const LIMITS = [
  { most: 1, withinMs: MINUTE_MS / 2 },
  { most: 5, withinMs: 60 * MINUTE_MS },
]
/** How long a mail counts. */
export const COUNTED_MS = Math.max(...LIMITS.map(({ withinMs }) => withinMs))
const MOST = Math.max(...LIMITS.map(({ most }) => most))

/** The same where everybody may ask. Beyond the hour's mails there is still one in a while. */
const GAP = { most: 1, withinMs: MINUTE_MS / 2 }
const HOURLY = { most: 8, withinMs: 60 * MINUTE_MS }
const STEADY = { most: 1, withinMs: 7.5 * MINUTE_MS }

/** Of all kinds together: somebody else is at it, and nobody is told to wait. */
const MOST_OF_ALL = 10

/**
 * How often an address is written to on behalf of one tenant; withheld mails count like all
 * others. To be asked in the commit that posts, so that no two askers get the same allowance.
 * Addresses are compared letter by letter: callers write each in one way, such as lower case.
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
    const times = store.mails.recent(hashOf(tenantId, recipient), of, MOST)
    const retryAfterMs = Math.max(...LIMITS.map((limit) => waitFor(limit, times, now)))
    return retryAfterMs > 0 ? { allowed: false, retryAfterMs } : { allowed: true }
  }

  /**
   * For mails that strangers can ask for as well as the owner of the address: eight an hour, and
   * beyond these one whenever the newest is 7.5 minutes old. Whoever uses them up cannot keep the
   * owner waiting for longer than that.
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
    return store.mails.countSent(hashOf(tenantId, recipient), within, MOST_OF_ALL) >= MOST_OF_ALL
  }

  return { allowance, sharedAllowance, isPestered }
}

function waitFor({ most, withinMs }: (typeof LIMITS)[number], times: number[], now: number) {
  const oldest = times[most - 1]
  return oldest === undefined ? 0 : oldest + withinMs - now
}
