import { Elysia } from 'elysia'
import {
  ACCOUNT_SECTIONS,
  AccountPage,
  type SessionRow,
} from '../../../views/console/pages/account.tsx'
import type { GateOperators } from '../../engines/gate/operators/index.ts'
import type { Session } from '../../engines/gate/sessions/model.ts'
import type { Fields } from '../../http/body.ts'
import type { Clock } from '../../platform/clock.ts'
import { deviceOf } from '../../platform/device.ts'
import type { Mail } from '../../platform/mail/index.ts'
import { flashOf } from '../flash.ts'
import { trimmedText } from '../form.ts'
import type { Layout } from '../layout.ts'
import type { ConsoleMiddleware, OperatorContext } from '../middleware.ts'
import type { Operators } from '../operators/index.ts'
import { createSessionCookie } from '../operators/session-cookie.ts'

/** Account page after an unverified account was secured. */
export const SECURED_PATH = '/console/account?done=secured'

type Context = OperatorContext & { request: Request }

/** Account of the signed-in operator: profile, sign-in methods, sessions and tenants. */
export function accountPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  gateOperators: GateOperators
  operators: Pick<Operators, 'signUp'>
  mail: Pick<Mail, 'hasServer'>
  clock: Clock
  baseUrl: () => string
}) {
  const { middleware, layout, gateOperators, operators, mail, clock, baseUrl } = parts
  const cookie = createSessionCookie({ baseUrl })

  function show({ request, operator }: Context, done = ''): Response {
    const children = AccountPage({
      base: layout.base(),
      operator,
      isVerified: gateOperators.operatorList.isVerified(operator.id),
      hasMail: mail.hasServer,
      signInMethods: gateOperators.signInMethodsOf(operator.id),
      sessions: sessionsOf(operator),
      now: clock.now(),
    })
    return layout.page({
      request,
      operator,
      title: 'Account',
      flash: flashOf(FLASHES, done),
      children,
    })
  }

  /** The current session first, then newest first. */
  const sessionsOf = ({ id, sessionId }: Context['operator']): SessionRow[] =>
    gateOperators.sessions
      .list(id)
      .map((session) => sessionRowOf(session, sessionId))
      .toSorted((a, b) => Number(b.isThis) - Number(a.isThis))

  /** Redirects to the hosted settings page, at the requested section. */
  async function settings({ request }: Context, fields: Fields): Promise<Response> {
    const section = ACCOUNT_SECTIONS.find((one) => one === trimmedText(fields, 'section'))
    const page = await gateOperators.begin({
      kind: 'settings',
      returnTo: `${baseUrl()}/console/account`,
      sessionToken: cookie.tokenIn(request),
    })
    const location = section === undefined ? page : `${page}#section-${section}`
    return new Response(null, { status: 303, headers: { location } })
  }

  /** Redirects to the hosted verification page, which emails a code. */
  async function verify({ operator }: Context): Promise<Response> {
    const back = operators.signUp.isWaiting(operator.id) ? '/console/enter' : '/console/account'
    const returnTo = `${baseUrl()}${back}`
    const location = await gateOperators.begin({ kind: 'verification', returnTo })
    return new Response(null, { status: 303, headers: { location } })
  }

  async function end({ operator, actor }: Context, sessionId: string): Promise<Response> {
    await gateOperators.sessions.end(actor, { operatorId: operator.id, sessionId })
    return sessionId === operator.sessionId
      ? layout.go('/console/login', cookie.expiredCookies())
      : layout.go('/console/account?done=ended')
  }

  async function endOthers({ operator, actor }: Context): Promise<Response> {
    const { id: operatorId, sessionId: keptSessionId } = operator
    await gateOperators.sessions.endOthers(actor, { operatorId, keptSessionId })
    return layout.go('/console/account?done=others')
  }

  return new Elysia({ name: 'account pages', prefix: '/console/account', detail: { hide: true } })
    .use(middleware)
    .get('', ({ query, ...context }) => show(context, query.done), { operator: 'unscoped' })
    .post('/settings', (context) => settings(context, (context.body ?? {}) as Fields), {
      operator: 'unscoped',
    })
    .post('/end-others', (context) => endOthers(context), { operator: 'unscoped' })
    .post('/sessions/:id/end', ({ params, ...context }) => end(context, params.id), {
      operator: 'unscoped',
    })
    .post('/verify', (context) => verify(context), { operator: 'unscoped' })
}

function sessionRowOf(session: Session, ownId: string): SessionRow {
  const [device] = session.devices
  const known = deviceOf(device?.user_agent ?? null)
  return {
    id: session.id,
    isThis: session.id === ownId,
    device: [known?.browser, known?.system].filter(Boolean).join(' on ') || undefined,
    address: device?.ip_address ?? undefined,
    methods: session.authentication_methods.map(({ method, provider }) => provider ?? method),
    since: Date.parse(session.issued_at),
    until: Date.parse(session.expires_at),
  }
}

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  ended: { tone: 'good', text: 'Session signed out.' },
  others: { tone: 'good', text: 'Other sessions signed out.' },
  secured: {
    tone: 'good',
    text:
      'The email address of this account was not verified, so any earlier password, two-factor ' +
      'authentication, social login and session was removed. Set a new password.',
  },
  left: { tone: 'good', text: 'You left the team.' },
}
