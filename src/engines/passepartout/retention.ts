import type { RetentionRule } from '../../platform/retention.ts'
import { UPDATES_KEPT_MS } from './limits.ts'
import type { Store } from './store/index.ts'
import type { Throttle } from './throttle.ts'

/** Retention rules of the engine. */
export const passepartoutRetention = (
  { attempts, tokens, updates }: Store,
  kept: { loginsMs: number; expiredMs: number },
  { windowMs }: Pick<Throttle, 'windowMs'>,
): RetentionRule[] => {
  // Attempts are kept at least as long as the cool-down needs them.
  const loginsMs = Math.max(kept.loginsMs, windowMs)
  return [
    { name: 'copies of login tokens', deleteSlice: attempts.forgetTokens },
    {
      name: 'login attempts',
      deleteSlice: (now, limit) => attempts.removeExpired(now - loginsMs, limit),
    },
    {
      name: 'login tokens',
      deleteSlice: (now, limit) => tokens.removeExpired(now - kept.expiredMs, limit),
    },
    {
      name: 'messenger updates',
      deleteSlice: (now, limit) => updates.removeBefore(now - UPDATES_KEPT_MS, limit),
    },
  ]
}
