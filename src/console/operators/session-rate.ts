import { createBuckets } from '../../platform/buckets.ts'
import type { Clock } from '../../platform/clock.ts'
import { rateLimited } from '../../platform/errors.ts'

export type SessionRate = ReturnType<typeof createSessionRate>

/** Rate limit of a session, for pages and API requests. Each request counts once. */
export function createSessionRate({ clock, perMinute }: { clock: Clock; perMinute: number }) {
  // Session IDs are short, so they need no hashing.
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
