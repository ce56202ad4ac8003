import { DAY_MS, HOUR_MS } from '../platform/durations.ts'
import { FIRST_ATTEMPTS } from './limits.ts'
import type { HealthRow } from './store/health.ts'

/** The recent success and failure of calls to an endpoint. */
export type Health = Omit<HealthRow, 'endpointId' | 'tenantId' | 'isReleasing'>

export interface BreakerRules {
  /** Consecutive failures that open the breaker. */
  breakerFailures: number
}

const FIRST_PAUSE_MS = 30_000
export const MAX_PAUSE_MS = 600_000

/** An endpoint is disabled after this long without a success … */
const GIVEN_UP_AFTER_MS = 5 * DAY_MS
/** … and only after this many failed attempts over this long. */
const GIVEN_UP_FAILURES = 20
const GIVEN_UP_SPAN_MS = 12 * HOUR_MS

export const HEALTHY: Health = {
  failures: 0,
  openUntil: null,
  trips: 0,
  window: null,
  failingSince: null,
  failedAttempts: 0,
}

/** Whether the breaker is open, so that no attempt may be made. */
export const isOpen = ({ openUntil }: Health): boolean => openUntil !== null

/**
 * The first success closes the breaker; each further one doubles the concurrent attempts up to the
 * usual limit, so that a backlog doesn't overload an endpoint that has just recovered.
 */
export function afterSuccess(health: Health): Health {
  const window = isOpen(health) ? 1 : grown(health.window)
  return { ...HEALTHY, window, trips: window === null ? 0 : health.trips }
}

const grown = (window: number | null): number | null =>
  window === null || window * 2 >= FIRST_ATTEMPTS.perTarget ? null : window * 2

/** Each opening of the breaker without a full recovery in between lasts twice as long. */
export function afterFailure(health: Health, now: number, rules: BreakerRules): Health {
  const counted = {
    ...health,
    failures: health.failures + 1,
    failingSince: health.failingSince ?? now,
    failedAttempts: health.failedAttempts + 1,
  }
  if (isOpen(health) || counted.failures < rules.breakerFailures) return counted
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** health.trips, MAX_PAUSE_MS)
  return { ...counted, openUntil: now + pause, trips: health.trips + 1, window: 1 }
}

/** After the pause: one attempt at a time. The failure count stays, so one more opens it again. */
export const halfOpen = (health: Health): Health => ({ ...health, openUntil: null, window: 1 })

/** Whether an endpoint has failed for so long that it should be disabled. */
export function isHopeless(
  { failingSince, failedAttempts }: Health,
  now: number,
  /** Time of the last success, or of the creation if there was none. */
  lastGoodAt: () => number,
): boolean {
  return (
    failingSince !== null &&
    failedAttempts >= GIVEN_UP_FAILURES &&
    now - failingSince >= GIVEN_UP_SPAN_MS &&
    now - lastGoodAt() >= GIVEN_UP_AFTER_MS
  )
}
