import { Elysia } from 'elysia'
import { rawText } from '../../../views/ui/form/field.tsx'
import type { GateOperators } from '../../engines/gate/operators/index.ts'
import type { Fields } from '../../http/body.ts'
import { createCookie } from '../../http/cookies.ts'
import type { Clock } from '../../platform/clock.ts'
import { isSame, mintSecret } from '../../platform/crypto.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { invalid } from '../../platform/errors.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { submitted, trimmedText } from '../form.ts'
import { type Layout, THEME_COOKIE } from '../layout.ts'
import type { ConsoleMiddleware } from '../middleware.ts'
import type { Operator } from '../operators/current-operator.ts'
import type { Device, OpenedSession } from '../operators/entry.ts'
import type { Operators } from '../operators/index.ts'
import { createSessionCookie } from '../operators/session-cookie.ts'
import { ownPath } from '../own-path.ts'
import { SECURED_PATH } from './account.tsx'
import {
  ACCOUNT_FIELD,
  InvitationPage,
  LinkPage,
  NotSetUpPage,
  SetUpPage,
  UsedUpPage,
} from './entry-views.tsx'

const WELCOME_PATH = '/console/welcome'

/** Names of fields in the engine, and in these forms. */
const NAMES = {
  'traits.email': 'email',
  'traits.display_name': 'name',
  password: 'password',
  name: 'tenant',
}

/** Set-up, sign-in, sign-out, sign-in links, invitations and switching of tenants. */
export function entryPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  gateOperators: GateOperators
  operators: Operators
  tenants: Tenants
  clock: Clock
  baseUrl: () => string
  deviceOf: (request: Request) => Device
}) {
  const { middleware, layout, gateOperators, operators, tenants, clock, baseUrl, deviceOf } = parts
  const { entry, links, invitations, memberships, currentOperator, scopes } = operators
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

  function setUpPage(token: string): Response {
    if (!links.isForSetUp(token)) return usedUp('set-up link', SET_UP_AGAIN)
    return layout.html(
      SetUpPage({ base: layout.base(), action: `${layout.base()}/setup/${token}` }),
    )
  }

  async function setUp(token: string, fields: Fields, request: Request): Promise<Response> {
    if (!links.isForSetUp(token)) return usedUp('set-up link', SET_UP_AGAIN)
    const newcomer = newcomerIn(fields)
    const tenantName = trimmedText(fields, 'tenant')
    const { value, errors } = await submitted(
      () => entry.setUp(token, { ...newcomer, tenantName }, deviceOf(request)),
      NAMES,
    )
    if (value !== undefined) return layout.go('/console/first-key', cookie.sessionCookies(value))
    const values = { name: newcomer.displayName, email: newcomer.email, tenant: tenantName }
    const form = { base: layout.base(), action: `${layout.base()}/setup/${token}` }
    return layout.html(SetUpPage({ ...form, values: values, errors }), 422)
  }

  const linkPage = (token: string): Response =>
    links.peek(token)?.operatorId
      ? layout.html(
          LinkPage({ base: layout.base(), action: `${layout.base()}/console/link/${token}` }),
        )
      : usedUp('link', LINK_AGAIN)

  async function signIn(token: string, request: Request): Promise<Response> {
    if (!links.peek(token)?.operatorId) return usedUp('link', LINK_AGAIN)
    const { session, isSecured } = await entry.signIn(token, deviceOf(request))
    return layout.go(isSecured ? SECURED_PATH : '/console/account', cookie.sessionCookies(session))
  }

  function invitationPage(
    token: string,
    request: Request,
    of: {
      values?: Record<string, string>
      errors?: Parameters<typeof InvitationPage>[0]['errors']
    } = {},
  ): Response {
    const invitation = invitations.peek(token)
    if (!invitation) return usedUp('invitation', INVITE_AGAIN)
    const { email, role, tenantId } = invitation
    const operator = currentOperator.ifAny(request)
    const page = InvitationPage({
      ...of,
      base: layout.base(),
      action: `${layout.base()}${invitationPath(token)}`,
      tenantName: tenants.find(tenantId).name,
      role,
      email,
      ...(operator && {
        operator: {
          id: operator.id,
          email: operator.email,
          issue: entry.acceptanceIssue(invitation, operator.id),
        },
      }),
      loginHref: `${layout.base()}${loginPath(token)}`,
    })
    return layout.html(page, of.errors ? 422 : 200)
  }

  async function accept(token: string, fields: Fields, request: Request): Promise<Response> {
    if (!invitations.peek(token)) return usedUp('invitation', INVITE_AGAIN)
    const operator = currentOperator.ifAny(request)
    if (trimmedText(fields, ACCOUNT_FIELD) !== (operator?.id ?? ''))
      return invitationPage(token, request, { errors: [OTHER_ACCOUNT] })
    if (operator) {
      const { tenantId, renewed } = await entry.join(token, operator.id, deviceOf(request))
      return renewed ? renew(operator, tenantId, renewed) : joined(operator, tenantId)
    }
    const { displayName, password } = newcomerIn(fields)
    const { value, errors } = await submitted(
      () => entry.joinAsNewcomer(token, { displayName, password }, deviceOf(request)),
      NAMES,
    )
    if (errors) return invitationPage(token, request, { values: { name: displayName }, errors })
    return value === undefined
      ? layout.go(loginPath(token))
      : layout.go('/console', cookie.sessionCookies(value))
  }

  /** Keeps the current tenant in the session that replaces all earlier ones. */
  async function renew(operator: Operator, joinedId: string, { token, session }: OpenedSession) {
    const { scope } = operator
    const tenantId = scope?.kind === 'instance' ? null : (scope?.tenantId ?? joinedId)
    await scopes.choose({ ...operator, sessionId: session.id }, tenantId)
    return layout.go(SECURED_PATH, cookie.sessionCookies(token))
  }

  async function joined(operator: Operator, tenantId: string): Promise<Response> {
    await scopes.choose(operator, tenantId)
    return layout.go('/console')
  }

  const usedUp = (what: string, next: string): Response =>
    layout.html(UsedUpPage({ base: layout.base(), what, next }), 404)

  return new Elysia({ name: 'entry pages', detail: { hide: true } })
    .use(middleware)
    .get('/setup/:token', ({ params }) => setUpPage(params.token), { anonymous: true })
    .post(
      '/setup/:token',
      ({ params, body, request }) => setUp(params.token, body as Fields, request),
      { anonymous: true },
    )
    .get('/console/login', ({ query, request }) => login(query.to ?? '', request), {
      anonymous: true,
    })
    .get('/console/enter', ({ query, request }) => enter(query, request), { anonymous: true })
    .get('/console/link/:token', ({ params }) => linkPage(params.token), { anonymous: true })
    .post('/console/link/:token', ({ params, request }) => signIn(params.token, request), {
      anonymous: true,
    })
    .get(
      '/console/invitation/:token',
      ({ params, request }) => invitationPage(params.token, request),
      { anonymous: true },
    )
    .post(
      '/console/invitation/:token',
      ({ params, body, request }) => accept(params.token, body as Fields, request),
      { anonymous: true },
    )
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

  function newcomerIn(fields: Fields) {
    return {
      displayName: trimmedText(fields, 'name'),
      email: trimmedText(fields, 'email'),
      password: rawText(fields, 'password') ?? '',
    }
  }
}

/** Time in which a new tenant leads to the welcome page. */
const JUST_NOW_MS = MINUTE_MS

const invitationPath = (token: string): string => `/console/invitation/${token}`

const loginPath = (token: string): string =>
  `/console/login?${new URLSearchParams({ to: invitationPath(token) })}`

const OTHER_ACCOUNT = {
  message: 'You signed in or out in another tab. Check the account below, then try again.',
}

const THEMES = new Set(['light', 'dark', 'system'])

const SET_UP_AGAIN =
  'The server writes a new link to its log at each start, until the set-up is complete.'
const LINK_AGAIN =
  'Ask the administrator of the server for a new one: gatehouse operator login-link --email …'
const INVITE_AGAIN = 'Ask for a new invitation.'
