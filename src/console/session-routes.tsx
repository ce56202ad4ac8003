import { Elysia } from 'elysia'
import { PlainLayout } from '../../views/layout/plain-layout.tsx'
import type { Fields } from '../http/body.ts'
import { createCookie } from '../http/cookies.ts'
import { isSame, mintSecret } from '../platform/crypto.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import { invalid } from '../platform/errors.ts'
import { trimmedText } from './form.ts'
import { THEME_COOKIE } from './layout.ts'
import { createSessionCookie } from './operators/session-cookie.ts'
import type { Services } from './services.ts'

const WELCOME_PATH = '/console/welcome'

/** Signing in and out on the hosted pages, and what a session remembers: its tenant and the theme. */
export function sessionRoutes(services: Services) {
  const { middleware, layout, gateOperators, operators, tenants, clock, baseUrl, deviceOf } =
    services
  const { memberships, currentOperator, scopes } = operators
  const cookie = createSessionCookie({ baseUrl })
  const themeCookie = createCookie({ name: THEME_COOKIE, baseUrl })

  /** Redirects to the hosted login page for operators, which returns to `/console/enter`. */
  async function login(to: string, request: Request): Promise<Response> {
    if (!operators.isSetUp()) return layout.html(NotSetUpPage({ base: layout.base() }), 503)
    const state = mintSecret()
    const returnTo = `${baseUrl()}/console/enter?${new URLSearchParams({ to: ownPath(to), state })}`
    const { ipAddress } = deviceOf(request)
    const page = await gateOperators.begin({ kind: 'login', returnTo, ipAddress })
    const headers = { location: page, 'set-cookie': cookie.signInState(state) }
    return new Response(null, { status: 303, headers })
  }

  /** Completes a sign-in, only in the browser that began it: otherwise a link could sign a user in as someone else. */
  async function enter(
    { flow, code, state = '', to = '' }: Record<string, string | undefined>,
    request: Request,
  ) {
    if (flow === undefined || code === undefined) return goOn(to, request)
    const expected = cookie.signInStateIn(request)
    if (expected === undefined || !isSame(expected, state)) return layout.go('/console/login')
    const { token, session } = await gateOperators.exchange({ flow, code })
    return layout.go(onwardFor(session.identity.id, to), cookie.sessionCookies(token))
  }

  /** Continues after a page that creates no session, such as email verification. */
  function goOn(to: string, request: Request): Response {
    const operator = currentOperator.ifAny(request)
    return layout.go(operator ? onwardFor(operator.id, to) : '/console/login')
  }

  const onwardFor = (operatorId: string, to: string): string => {
    const path = ownPath(to)
    return path === '/console' && hasNewTenant(operatorId) ? WELCOME_PATH : path
  }

  /** Whether the operator's only membership is a tenant that was just created. */
  function hasNewTenant(operatorId: string): boolean {
    const [own, ...others] = memberships.of(operatorId)
    if (own?.role !== 'owner' || others.length > 0) return false
    return clock.now() - Date.parse(tenants.find(own.tenantId).created_at) <= JUST_NOW_MS
  }

  return new Elysia({ name: 'session routes', detail: { hide: true } })
    .use(middleware)
    .get('/console/login', ({ query, request }) => login(query.to ?? '', request), {
      anonymous: true,
    })
    .get('/console/enter', ({ query, request }) => enter(query, request), { anonymous: true })
    .post(
      '/console/sign-out',
      async ({ operator, actor }) => {
        const { id: operatorId, sessionId } = operator
        await gateOperators.sessions.end(actor, { operatorId, sessionId })
        return layout.go('/console/login', cookie.expiredCookies())
      },
      { operator: true },
    )
    .post(
      '/console/switch',
      async ({ operator, body }) => {
        const scope = trimmedText(body as Fields, 'to')
        await scopes.choose(operator, scope === 'installation' ? null : scope)
        return layout.go('/console')
      },
      { operator: true },
    )
    .post(
      '/console/theme',
      ({ body }) => {
        const fields = body as Fields
        const theme = trimmedText(fields, 'theme')
        if (!THEMES.has(theme))
          throw invalid('must be light, dark or system', { field: 'theme', rule: 'choice' })
        return layout.go(ownPath(trimmedText(fields, 'return_to')), [themeCookie.keep(theme)])
      },
      { operator: true },
    )
}

/** Time in which a new tenant leads to the welcome page. */
const JUST_NOW_MS = MINUTE_MS

const THEMES = new Set(['light', 'dark', 'system'])

/** Shown until the installation has an admin. */
const NotSetUpPage = ({ base }: { base: string }) => (
  <PlainLayout
    base={base}
    windowTitle="Not set up"
    title="Not set up yet"
    intro="This installation has no admin yet."
  >
    <p>
      The server writes a set-up link to its log at each start. The link is valid for 30 minutes. In
      Docker: <code>docker compose logs gatehouse</code>; with systemd:{' '}
      <code>journalctl -u gatehouse</code>.
    </p>
    <p class="hint">
      Or create an operator on the command line:{' '}
      <code>gatehouse operator create --email … --admin</code>
    </p>
  </PlainLayout>
)

/** Returns `to` if it is a path of the console, otherwise the overview. `to` is untrusted. */
const ownPath = (to: string): string => (isOwnPath(to) ? to : '/console')

/** Whether an address is a path of the console with allowed characters only. */
export const isOwnPath = (to: string): boolean =>
  /^\/console(\/[\w./?=&%+-]*|\?[\w./?=&%+-]*)?$/.test(to) && !to.includes('//') && staysIn(to)

/** Browsers resolve dots, even encoded ones, which could lead to another app on the same host. */
const staysIn = (to: string): boolean =>
  /^\/console(\/|$)/.test(new URL(to, 'http://localhost').pathname)
