import { cookieBaseOf, cookieIn, createCookie, setCookie } from '../../http/cookies.ts'
import { createBuckets } from '../../platform/buckets.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Siblings } from '../../platform/siblings.ts'

/** Name of the cookie with the session for `/dashboard`. */
export const SESSION_COOKIE = 'identity_session'
const DASHBOARD = '/dashboard/clockwork'

export type SessionCookie = ReturnType<typeof createSessionCookie>

/**
 * The cookies that keep an operator signed in. Over http there is one, `identity_session`. Over
 * https the console keeps the session under a name that sibling domains cannot set, and
 * `identity_session` is sent only to the routes under `/dashboard`, where programs use it.
 */
export function createSessionCookie({ baseUrl }: { baseUrl: () => string }) {
  const login = createCookie({ name: 'gatehouse_login', baseUrl })
  const session = createCookie({ name: SESSION_COOKIE, baseUrl })

  function withDashboard(own: string, value: string, attributes = ''): string[] {
    const { base, isSecure } = cookieBaseOf(baseUrl())
    if (!isSecure) return [own]
    const options = { path: `${base}${DASHBOARD}`, isSecure }
    return [own, `${setCookie(SESSION_COOKIE, value, options)}${attributes}`]
  }

  return {
    /** Ties a sign-in to the browser that began it. */
    signInState: login.set,
    signInStateIn: login.in,
    sessionCookies: (token: string): string[] => withDashboard(session.set(token), token),
    expiredCookies: (): string[] => withDashboard(session.end(), '', '; Max-Age=0'),
    /** The session of a request to the console. */
    tokenIn: session.in,
    /** The session of a request to `/dashboard`; the console's own cookie comes first. */
    dashboardTokenIn: (request: Request): string | undefined =>
      session.in(request) ?? cookieIn(request, SESSION_COOKIE),
  }
}

export type SessionRate = ReturnType<typeof createSessionRate>

/** Rate limit of a session, for pages and API requests. Each request counts once. */
export function createSessionRate(parts: { clock: Clock; perMinute: number; siblings: Siblings }) {
  const { clock, perMinute, siblings } = parts
  // Session IDs are short, so they need no hashing.
  const buckets = createBuckets({
    clock,
    perMinute,
    nameOf: (id) => id,
    shared: { siblings, limit: 'requests of a session' },
  })
  const counted = new WeakSet<Request>()

  /** Throws `rate_limited`. */
  return (request: Request, sessionId: string) => {
    if (counted.has(request)) return
    counted.add(request)
    buckets.admit(sessionId, `more than ${perMinute} requests a minute with this session`)
  }
}
