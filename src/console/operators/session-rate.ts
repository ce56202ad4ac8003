import { createBuckets } from '../../platform/buckets.ts'
import type { Clock } from '../../platform/clock.ts'
import { rateLimited } from '../../platform/errors.ts'

export type SessionRate = ReturnType<typeof createSessionRate>

/**
 * How fast one session may go, at pages and as a program alike. A request counts once, however
 * often it is asked who sent it.
 */
export function createSessionRate({ clock, perMinute }: { clock: Clock; perMinute: number }) {
  // Ids of sessions are ours, and short.
  const buckets = createBuckets({ clock, perMinute, nameOf: (id) => id })
  const counted = new WeakSet<Request>()

  /** Throws `rateLimited`. */
  return (request: Request, sessionId: string) => {
    if (counted.has(request)) return
    counted.add(request)
    const waitMs = buckets.take(sessionId)
    if (waitMs > 0)
      throw rateLimited(`more than ${perMinute} requests a minute with this session`, {
        retryAfterMs: waitMs,
      })
  }
}
