import type { RetentionRule } from '../../platform/retention.ts'
import { UPDATES_KEPT_MS } from './limits.ts'
import type { Patience } from './patience.ts'
import type { Store } from './store/index.ts'

/** What of the engine goes, and when. */
export const passepartoutRetention = (
  { attempts, tokens, updates }: Store,
  kept: { loginsMs: number; expiredMs: number },
  { lookBackMs }: Pick<Patience, 'lookBackMs'>,
): RetentionRule[] => {
  // Whoever is to be left in peace is known by what they were asked of late.
  const loginsMs = Math.max(kept.loginsMs, lookBackMs)
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
