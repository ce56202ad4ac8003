import { DAY_MS, HOUR_MS } from '../platform/durations.ts'
import { FIRST_ATTEMPTS } from './limits.ts'
import type { HealthRow } from './store/health.ts'

/** How calls to an endpoint have been going. */
export type Health = Omit<HealthRow, 'endpointId' | 'tenantId' | 'isReleasing'>

export interface BreakerRules {
  /** Failures in a row that open the breaker. */
  breakerFailures: number
}

const FIRST_PAUSE_MS = 30_000
export const MAX_PAUSE_MS = 600_000

/** An endpoint is given up when nothing has succeeded for so long … */
const GIVEN_UP_AFTER_MS = 5 * DAY_MS
/** … and it was really tried: so many failures, over so long. */
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

/** True while no attempt is to be made. */
export const isOpen = ({ openUntil }: Health): boolean => openUntil !== null

/**
 * A success closes the breaker, and each one more doubles what may be under way, until it is
 * back at the usual number: whoever has just come up is not run over by what has piled up.
 */
export function afterSuccess(health: Health): Health {
  const window = isOpen(health) ? 1 : grown(health.window)
  return { ...HEALTHY, window, trips: window === null ? 0 : health.trips }
}

const grown = (window: number | null): number | null =>
  window === null || window * 2 >= FIRST_ATTEMPTS.perTarget ? null : window * 2

/** Each time that it opens without a full recovery in between, it stays open twice as long. */
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

/**
 * The pause is over: one attempt at a time. The failures are still too many in a row, so that
 * one more opens the breaker again.
 */
export const halfOpen = (health: Health): Health => ({ ...health, openUntil: null, window: 1 })

/** Whether an endpoint has failed for so long that it is to be disabled. */
export function isHopeless(
  { failingSince, failedAttempts }: Health,
  now: number,
  /** Of the last success, or of the creation when there was none. */
  lastGoodAt: () => number,
): boolean {
  return (
    failingSince !== null &&
    failedAttempts >= GIVEN_UP_FAILURES &&
    now - failingSince >= GIVEN_UP_SPAN_MS &&
    now - lastGoodAt() >= GIVEN_UP_AFTER_MS
  )
}
