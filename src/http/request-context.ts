import { createBuckets } from '../platform/buckets.ts'
import type { Charge } from '../platform/caller.ts'
import { type KeyCaller, type KeyHolder, keyActor } from '../platform/caller.ts'
import type { Clock } from '../platform/clock.ts'
import { rateLimited } from '../platform/errors.ts'
import type { Metering } from '../platform/metering/index.ts'
import { rateLimitHeaders } from './rate-limit.ts'

export type RequestContexts = ReturnType<typeof createRequestContexts>

/** As long as others may take to learn of a change: until then, nothing is asked twice. */
const FRESH_MS = 1000

/** What is known of a request whose key is good; the access macro takes no interface. */
export type RequestContext = {
  caller: KeyCaller
  /** The body as it was spelled, for handlers that pass it on; empty when there is none. */
  bodyText: string
}

/**
 * Requests with a good key, from the key to the answer: none comes faster than its key may, each
 * that is let in is charged to its tenant, and the answer says how much is left.
 */
export function createRequestContexts(parts: {
  clock: Clock
  metering: Metering
  perMinute: number
}) {
  const { clock, metering, perMinute } = parts
  const contexts = new WeakMap<Request, RequestContext>()
  const burst = createBuckets({ clock, perMinute, nameOf: (keyId) => keyId })

  const of = (request: Request): RequestContext | undefined => contexts.get(request)

  /** Once a request, however often it is asked for. Throws `rate_limited`. */
  function open(request: Request, holder: KeyHolder): RequestContext {
    const known = contexts.get(request)
    if (known) return known
    const visit = { caller: callerOf(holder, metering.newCharge()), bodyText: '' }
    contexts.set(request, visit)
    const waitMs = burst.take(holder.keyId)
    if (waitMs > 0)
      throw rateLimited(`more than ${perMinute} requests a minute with this key`, {
        retryAfterMs: waitMs,
      })
    return visit
  }

  /** Answers, whenever it is called, whether what was known of a key just now may be outdated. */
  function startAging(): () => boolean {
    const since = clock.monotonic()
    return () => clock.monotonic() - since > FRESH_MS
  }

  /** The caller is from now on what the holder of its key has become, charged as before. */
  function renew(request: Request, holder: KeyHolder) {
    const visit = contexts.get(request)
    if (visit) visit.caller = callerOf(holder, visit.caller.charge)
  }

  /** The request has its answer: its place in the count, and what the headers say of the rest. */
  function close(request: Request, status: number, headers: Record<string, unknown>) {
    const caller = contexts.get(request)?.caller
    if (!caller) return
    metering.answered(caller, status)
    const { left, fullInMs } = burst.look(caller.keyId)
    const { policy, limit } = rateLimitHeaders({
      now: clock.now(),
      day: caller.charge.day,
      month: metering.quotaOf(caller),
      burst: { limit: perMinute, left, fullInMs },
    })
    headers['ratelimit-policy'] = policy
    headers.ratelimit = limit
  }

  return { of, open, startAging, renew, close }
}

const callerOf = (holder: KeyHolder, charge: Charge): KeyCaller => ({
  ...holder,
  charge,
  actor: keyActor(holder),
})
