import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ROLES } from '../../../src/console/operators/rights.ts'
import { SCOPE_FIELD } from '../../../views/console/scope.tsx'
import { newOperator } from '../../support/operator.ts'
import { type AdminFixture, bootAdmin, browserOf, NOBODYS } from './admin-fixture.ts'

const ROUTES = [
  'GET /console/admin/configuration',
  'GET /console/admin/health',
  'GET /console/admin/mail',
  'GET /console/admin/mail/:id',
  'GET /console/admin/operators',
  'GET /console/admin/operators/:id',
  'GET /console/admin/tenants',
  'GET /console/admin/tenants/:id',
  'GET /console/admin/tenants/new',
  'POST /console/admin/health/back-up',
  'POST /console/admin/mail/:id/delete',
  'POST /console/admin/mail/:id/send',
  'POST /console/admin/operators/:id/deactivate',
  'POST /console/admin/operators/:id/give-admin',
  'POST /console/admin/operators/:id/login-link',
  'POST /console/admin/operators/:id/reactivate',
  'POST /console/admin/operators/:id/sign-out',
  'POST /console/admin/operators/:id/take-admin',
  'POST /console/admin/tenants',
  'POST /console/admin/tenants/:id/change',
  'POST /console/admin/tenants/:id/resume',
  'POST /console/admin/tenants/:id/suspend',
]

let fixture: AdminFixture
beforeAll(async () => {
  fixture = await bootAdmin()
})
afterAll(() => fixture.app.stop())

const routes = () =>
  fixture.app.app.routes
    .filter(({ path }) => path.startsWith('/console/admin/'))
    .map(({ method, path }) => ({ method, path: path.replace(':id', NOBODYS) }))

/** The status of every route, to somebody whose forms name the `scope`, or where they act. */
async function statuses(headers: Record<string, string>, scope?: string): Promise<Set<number>> {
  const { open, send } = browserOf(fixture.app, { headers })
  const answers = routes().map(({ method, path }) =>
    method === 'GET' ? open(path) : send(path, scope === undefined ? {} : { [SCOPE_FIELD]: scope }),
  )
  return new Set((await Promise.all(answers)).map(({ status }) => status))
}

describe('pages of the installation', () => {
  test('are these, and no others', () => {
    const paths = routes().map(({ method, path }) => `${method} ${path.replace(NOBODYS, ':id')}`)
    expect(paths.toSorted()).toEqual(ROUTES)
  })

  test('answer whoever acts for the installation', async () => {
    const pages = routes().filter(({ path, method }) => method === 'GET' && !path.includes(NOBODYS))
    for (const { path } of pages)
      expect([path, (await fixture.open(path)).status]).toEqual([path, 200])
  })

  test('answer 404 to ids that are nobody’s', async () => {
    const pages = routes().filter(({ path }) => path.includes(NOBODYS))
    const fields = { name: 'Acme', plan: 'free', reason: 'billing' }
    for (const { method, path } of pages) {
      const answer = method === 'GET' ? await fixture.open(path) : await fixture.send(path, fields)
      expect([path, answer.status]).toEqual([path, 404])
    }
  })

  test.each(ROLES)('answer 403 to the %s of a tenant', async (role) => {
    const { id } = await fixture.app.tenant()
    const session = await (await newOperator(fixture.app, { roles: { [id]: role } })).signIn()
    expect(await statuses(session.headers)).toEqual(new Set([403]))
    expect(await statuses(session.headers, 'installation')).toEqual(new Set([403]))
  })

  test('answer 403 to an admin who acts in a tenant', async () => {
    const { id } = await fixture.app.tenant()
    const operator = await newOperator(fixture.app, { isAdmin: true, roles: { [id]: 'owner' } })
    const session = await operator.signIn()
    await session.actIn(id)
    expect(await statuses(session.headers)).toEqual(new Set([403]))
  })

  test('answer 403 to somebody who belongs nowhere, and 401 to a stranger', async () => {
    const session = await (await newOperator(fixture.app)).signIn()
    expect(await statuses(session.headers)).toEqual(new Set([403]))
    expect(await statuses({})).toEqual(new Set([401]))
  })

  test('refuse forms that come from another site', async () => {
    const headers = { ...fixture.session.headers, 'sec-fetch-site': 'cross-site' }
    const { send } = browserOf(fixture.app, { headers })
    const before = fixture.app.platform.tenants.list()
    const answer = await send('/console/admin/tenants', { name: 'Evil', plan: 'unlimited' })
    expect(answer.status).toBe(403)
    expect(fixture.app.platform.tenants.list()).toEqual(before)
  })
})
