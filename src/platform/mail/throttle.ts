import type { RecipientHash } from './recipient-hash.ts'
import type { Store } from './store/index.ts'

/** Whether an address may be written to now, or when it may again. */
export type Allowance = { allowed: true } | { allowed: false; retryAfterMs: number }

const MINUTE = 60_000

/** So many mails in so long: enough for whoever lost one, too few to pester anybody. */
const LIMITS = [
  { most: 1, withinMs: MINUTE / 2 },
  { most: 5, withinMs: 60 * MINUTE },
]
/** How long a mail counts. */
export const COUNTED_MS = Math.max(...LIMITS.map(({ withinMs }) => withinMs))
const MOST = Math.max(...LIMITS.map(({ most }) => most))

/**
 * How often an address is written to on behalf of one tenant, of whatever kind the mails are. To
 * be asked in the commit that posts, so that no two askers get the same allowance. Addresses are
 * compared letter by letter: callers write each in one way, such as lower case.
 */
export function createThrottle(parts: { store: Store; hashOf: RecipientHash }) {
  const { store, hashOf } = parts

  return function allowance(tenantId: string | null, recipient: string, now: number): Allowance {
    const since = now - COUNTED_MS
    const times = store.mails.recent(hashOf(tenantId, recipient), { since, now }, MOST)
    const retryAfterMs = Math.max(...LIMITS.map((limit) => waitFor(limit, times, now)))
    return retryAfterMs > 0 ? { allowed: false, retryAfterMs } : { allowed: true }
  }
}

function waitFor({ most, withinMs }: (typeof LIMITS)[number], times: number[], now: number) {
  const oldest = times[most - 1]
  return oldest === undefined ? 0 : oldest + withinMs - now
}
