import { Elysia } from 'elysia'
import { LoginsPage } from '../../../../views/console/pages/passepartout/logins/list.tsx'
import { LoginPage } from '../../../../views/console/pages/passepartout/logins/login.tsx'
import { LoginUserPage } from '../../../../views/console/pages/passepartout/logins/user.tsx'
import { LoginUsersPage } from '../../../../views/console/pages/passepartout/logins/users.tsx'
import { pagesAlong } from '../../../../views/console/trail.ts'
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
import { crumbTo, type Frames } from '../../frame.ts'
import type { ConsoleKit, TenantVisit } from '../../kit.ts'
import { may } from '../../operators/rights.ts'
import { environmentOf } from '../../scope.ts'

const ON_A_PAGE = 50

/** Sign-ins by messenger and their users. */
export function loginPages(parts: {
  kit: ConsoleKit
  frames: Frames
  passepartout: Pick<Passepartout, 'records' | 'people'>
  clock: Clock
  callerOf: CallerOf
}) {
  const { kit, frames, clock, callerOf } = parts
  const { records, people } = parts.passepartout

  const ownerOf = ({ tenant, request }: Visit) => ({
    tenantId: tenant.tenantId,
    environment: environmentOf(request),
  })

  function list(visit: Visit): Response {
    const { request, visitor, query } = visit
    const owner = ownerOf(visit)
    const state = LOGIN_STATES.find((one) => one === query.state)
    const listed = records.list(owner, { state, cursor: query.cursor, limit: ON_A_PAGE })
    return frames.page({
      request,
      visitor,
      title: 'Logins',
      active: 'logins',
      hasEnvironments: true,
      children: LoginsPage({
        base: frames.base(),
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
    { cursor, trail }: Visit['query'],
  ) =>
    pagesAlong({ cursor: cursor || undefined, trail }, next, (place) =>
      url(frames.base(), path, { ...filter, ...place }),
    )

  function show({ request, visitor, tenant, params, query }: Visit): Response {
    const login = records.get(tenant.tenantId, params.id)
    const link = query.link && records.linkOf(tenant.tenantId, login.id, query.link)
    return frames.page({
      request,
      visitor,
      title: 'Sign-in',
      active: 'logins',
      above: [crumbTo(frames.base(), 'logins')],
      children: LoginPage({
        base: frames.base(),
        login,
        user: userOf(tenant.tenantId, login),
        invitation: link ? { link, qrCode: qrCode(link) } : undefined,
        here: url(frames.base(), `/console/logins/${login.id}`, { link: query.link }),
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

  function listUsers(visit: Visit): Response {
    const { request, visitor, query } = visit
    const owner = ownerOf(visit)
    const search = query.q?.trim() ?? ''
    const listed = records.people(owner, {
      ...(search !== '' && { search }),
      cursor: query.cursor,
      limit: ON_A_PAGE,
    })
    return frames.page({
      request,
      visitor,
      title: 'Users',
      active: 'logins',
      hasEnvironments: true,
      flash: query.done === 'deleted' ? DELETED : undefined,
      above: [crumbTo(frames.base(), 'logins')],
      children: LoginUsersPage({
        base: frames.base(),
        environment: owner.environment,
        users: listed.data,
        search,
        isFirst: query.cursor === undefined,
        pages: pagesOf('/console/logins/users', { q: search }, listed, query),
        now: clock.now(),
      }),
    })
  }

  const crumbToUsers = () => ({ label: 'Users', href: url(frames.base(), '/console/logins/users') })

  function showUser({ request, visitor, tenant, params }: Visit): Response {
    const user = records.person(tenant.tenantId, params.id)
    return frames.page({
      request,
      visitor,
      title: user.first_name,
      active: 'logins',
      above: [crumbTo(frames.base(), 'logins'), crumbToUsers()],
      children: LoginUserPage({
        base: frames.base(),
        user,
        logins: records.ofPerson(tenant.tenantId, user.id),
        mayDelete: may(tenant.role, 'delete'),
        now: clock.now(),
      }),
    })
  }

  async function removeUser(visit: Visit): Promise<Response> {
    const { id, environment } = records.person(visit.tenant.tenantId, visit.params.id)
    await people.remove(callerOf(visit, 'passepartout', environment), id)
    return frames.go('/console/logins/users?done=deleted')
  }

  return new Elysia({ name: 'login pages', prefix: '/console/logins', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(asked(visit)), { right: 'read' })
    .get('/users', (visit) => listUsers(asked(visit)), { right: 'read' })
    .get('/users/:id', (visit) => showUser(asked(visit)), { right: 'read' })
    .post('/users/:id/delete', (visit) => removeUser(asked(visit)), { right: 'delete' })
    .get('/:id', (visit) => show(asked(visit)), { right: 'read' })
}

type Visit = TenantVisit & {
  request: Request
  params: { id: string }
  query: Record<string, string | undefined>
}

/** Fills in empty parameters for routes without them. */
const asked = (visit: TenantVisit & { request: Request; params: object }): Visit => ({
  ...visit,
  params: { id: '', ...visit.params },
  query: Object.fromEntries(new URL(visit.request.url).searchParams),
})

const DELETED = { tone: 'good', text: 'User deleted and tokens revoked.' } as const
