import { createBuckets } from '../platform/buckets.ts'
import { type Charge, type KeyCaller, type KeyHolder, keyActor } from '../platform/caller.ts'
import type { Clock } from '../platform/clock.ts'
import type { KeyEngine } from '../platform/engines.ts'
import { rateLimited } from '../platform/errors.ts'
import type { Metering } from '../platform/metering/index.ts'
import type { Siblings } from '../platform/siblings.ts'
import { rateLimitHeaders } from './rate-limit.ts'

export type RequestContexts = ReturnType<typeof createRequestContexts>

/** The time in which another process notices a change. Nothing is checked again before it has passed. */
const FRESH_MS = 1000

/** The state of a request with a valid key. A type, because macros accept no interface. */
export type RequestContext = {
  caller: KeyCaller
  /** The body exactly as sent, for handlers that pass it on; empty if there is none. */
  bodyText: string
}

/** Limits each key's rate, charges requests to tenants, adds the remaining quota to responses. */
export function createRequestContexts(parts: {
  clock: Clock
  metering: Metering
  perMinute: number
  siblings: Siblings
}) {
  const { clock, metering, perMinute, siblings } = parts
  const contexts = new WeakMap<Request, RequestContext>()
  const burst = createBuckets({
    clock,
    perMinute,
    nameOf: (keyId) => keyId,
    shared: { siblings, limit: 'requests of a key' },
  })

  const of = (request: Request): RequestContext | undefined => contexts.get(request)

  /** Opens the context of a request, once however often it is called. Throws `rate_limited`. */
  function open(request: Request, holder: KeyHolder, engine: KeyEngine): RequestContext {
    const known = contexts.get(request)
    if (known) return known
    const context = {
      caller: callerOf(holder, { engine, charge: metering.newCharge() }),
      bodyText: '',
    }
    contexts.set(request, context)
    const waitMs = burst.take(holder.keyId)
    if (waitMs > 0)
      throw rateLimited(`more than ${perMinute} requests a minute with this key`, {
        retryAfterMs: waitMs,
      })
    return context
  }

  /** The returned function says whether what was just checked may be outdated. */
  function startAging(): () => boolean {
    const since = clock.monotonic()
    return () => clock.monotonic() - since > FRESH_MS
  }

  /** Updates the caller to the current state of its key; the request stays charged as before. */
  function renew(request: Request, holder: KeyHolder) {
    const context = contexts.get(request)
    if (context) context.caller = callerOf(holder, context.caller)
  }

  /** Counts the answered request and adds the rate limit headers. */
  function close(request: Request, status: number, headers: Record<string, unknown>) {
    const caller = contexts.get(request)?.caller
    if (!caller) return
    metering.answered(caller, status)
    const { left, fullInMs } = burst.levelOf(caller.keyId)
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

const callerOf = (
  holder: KeyHolder,
  { engine, charge }: { engine: KeyEngine; charge: Charge },
): KeyCaller => ({ ...holder, engine, charge, actor: keyActor(holder) })
