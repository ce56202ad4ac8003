import { Elysia } from 'elysia'
import { pagerLinks } from '../../../../views/console/list-position.ts'
import { LoginsPage } from '../../../../views/console/pages/passepartout/logins/list.tsx'
import { LoginPage } from '../../../../views/console/pages/passepartout/logins/login.tsx'
import { LoginUserPage } from '../../../../views/console/pages/passepartout/logins/user.tsx'
import { LoginUsersPage } from '../../../../views/console/pages/passepartout/logins/users.tsx'
import { url } from '../../../../views/console/url.ts'
import { qrCode } from '../../../engines/gate/credentials/second-factor/qr-code.ts'
import {
  LOGIN_STATES,
  type LoginRecord,
  type Passepartout,
  type PersonRecord,
} from '../../../engines/passepartout/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Page } from '../../../platform/cursor.ts'
import { AppError } from '../../../platform/errors.ts'
import type { CallerOf } from '../../callers.ts'
import { crumbTo, type Layout } from '../../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../../middleware.ts'
import { may } from '../../operators/rights.ts'
import { environmentOf } from '../../scope.ts'

const ON_A_PAGE = 50

/** Sign-ins by messenger and their users. */
export function loginPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  passepartout: Pick<Passepartout, 'records' | 'people'>
  clock: Clock
  callerOf: CallerOf
}) {
  const { middleware, layout, clock, callerOf } = parts
  const { records, people } = parts.passepartout

  const ownerOf = ({ tenant, request }: Context) => ({
    tenantId: tenant.tenantId,
    environment: environmentOf(request),
  })

  function list(context: Context): Response {
    const { request, operator, query } = context
    const owner = ownerOf(context)
    const state = LOGIN_STATES.find((one) => one === query.state)
    const listed = records.list(owner, { state, cursor: query.cursor, limit: ON_A_PAGE })
    return layout.page({
      request,
      operator,
      title: 'Logins',
      active: 'logins',
      hasEnvironments: true,
      children: LoginsPage({
        base: layout.base(),
        environment: owner.environment,
        logins: listed.data,
        hours: records.lastDay(owner),
        state,
        pages: pagesOf('/console/logins', { state }, listed, query),
        now: clock.now(),
      }),
    })
  }

  const pagesOf = (
    path: string,
    filter: Record<string, string | undefined>,
    { next_cursor: next }: Page<unknown>,
    { cursor, trail }: Context['query'],
  ) =>
    pagerLinks({ cursor: cursor || undefined, trail }, next, (position) =>
      url(layout.base(), path, { ...filter, ...position }),
    )

  function show({ request, operator, tenant, params, query }: Context): Response {
    const login = records.get(tenant.tenantId, params.id)
    const link = query.link && records.linkOf(tenant.tenantId, login.id, query.link)
    return layout.page({
      request,
      operator,
      title: 'Sign-in',
      active: 'logins',
      above: [crumbTo(layout.base(), 'logins')],
      children: LoginPage({
        base: layout.base(),
        login,
        user: userOf(tenant.tenantId, login),
        invitation: link ? { link, qrCode: qrCode(link) } : undefined,
        here: url(layout.base(), `/console/logins/${login.id}`, { link: query.link }),
        now: clock.now(),
      }),
    })
  }

  /** Undefined for deleted users. */
  function userOf(tenantId: string, { user_id: id }: LoginRecord): PersonRecord | undefined {
    if (id === null) return undefined
    try {
      return records.person(tenantId, id)
    } catch (error) {
      if (error instanceof AppError && error.kind === 'not_found') return undefined
      throw error
    }
  }

  function listUsers(context: Context): Response {
    const { request, operator, query } = context
    const owner = ownerOf(context)
    const search = query.q?.trim() ?? ''
    const listed = records.people(owner, {
      ...(search !== '' && { search }),
      cursor: query.cursor,
      limit: ON_A_PAGE,
    })
    return layout.page({
      request,
      operator,
      title: 'Users',
      active: 'logins',
      hasEnvironments: true,
      flash: query.done === 'deleted' ? DELETED : undefined,
      above: [crumbTo(layout.base(), 'logins')],
      children: LoginUsersPage({
        base: layout.base(),
        environment: owner.environment,
        users: listed.data,
        search,
        isFirst: query.cursor === undefined,
        pages: pagesOf('/console/logins/users', { q: search }, listed, query),
        now: clock.now(),
      }),
    })
  }

  const crumbToUsers = () => ({ label: 'Users', href: url(layout.base(), '/console/logins/users') })

  function showUser({ request, operator, tenant, params }: Context): Response {
    const user = records.person(tenant.tenantId, params.id)
    return layout.page({
      request,
      operator,
      title: user.first_name,
      active: 'logins',
      above: [crumbTo(layout.base(), 'logins'), crumbToUsers()],
      children: LoginUserPage({
        base: layout.base(),
        user,
        logins: records.ofPerson(tenant.tenantId, user.id),
        mayDelete: may(tenant.role, 'delete'),
        now: clock.now(),
      }),
    })
  }

  async function removeUser(context: Context): Promise<Response> {
    const { id, environment } = records.person(context.tenant.tenantId, context.params.id)
    await people.remove(callerOf(context, 'passepartout', environment), id)
    return layout.go('/console/logins/users?done=deleted')
  }

  return new Elysia({ name: 'login pages', prefix: '/console/logins', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(contextOf(context)), { right: 'read' })
    .get('/users', (context) => listUsers(contextOf(context)), { right: 'read' })
    .get('/users/:id', (context) => showUser(contextOf(context)), { right: 'read' })
    .post('/users/:id/delete', (context) => removeUser(contextOf(context)), { right: 'delete' })
    .get('/:id', (context) => show(contextOf(context)), { right: 'read' })
}

type Context = TenantContext & {
  request: Request
  params: { id: string }
  query: Record<string, string | undefined>
}

/** Fills in empty parameters for routes without them. */
const contextOf = (context: TenantContext & { request: Request; params: object }): Context => ({
  ...context,
  params: { id: '', ...context.params },
  query: Object.fromEntries(new URL(context.request.url).searchParams),
})

const DELETED = { tone: 'good', text: 'User deleted and tokens revoked.' } as const
