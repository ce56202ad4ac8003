import { afterAll, describe, expect, test } from 'bun:test'
import { ROLES, type Role } from '../../src/console/operators/rights.ts'
import { notePeer } from '../../src/http/peers.ts'
import type { Tenants } from '../../src/platform/tenants.ts'
import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'
import {
  newOperator,
  type Operator,
  type OperatorSession,
  sessionClient,
} from '../support/operator.ts'
import { startTarget } from '../support/target.ts'
import { HOUR, UNKNOWN_ID } from './fixture.ts'

const BY_KEY = '/v1/clockwork'
const BY_SESSION = '/dashboard/clockwork'
const OWN_ORIGIN = 'https://console.example'
const ACTOR = { kind: 'cli', source: 'test' } as const

type Tenant = Awaited<ReturnType<TestApp['tenant']>>

/** A route of clockwork, without its prefix. */
interface Route {
  method: string
  path: string
}

interface Request {
  headers: Record<string, string>
  id?: string
  body?: string
  type?: string
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const hasBody = ({ method }: Route) => method === 'POST' || method === 'PATCH'

/** The application with two tenants, and what each route needs to succeed. */
async function bootDashboard(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const target = startTarget()
  const { url } = target
  const job = { name: 'report', schedule: '0 3 * * *', url }
  const delayed = { name: 'reminder', run_at: '2026-03-01T23:00:00.000Z', url }
  const bodies: Record<string, object> = {
    'POST /jobs': job,
    'POST /jobs/preview': { schedule: '0 3 * * *', url },
    'PATCH /jobs/:job_id': { name: 'renamed' },
    'POST /delayed': delayed,
  }
  const routesUnder = (prefix: string): Route[] =>
    app.app.routes
      .filter(({ path }) => path.startsWith(`${prefix}/`))
      .map(({ method, path }) => ({ method, path: path.slice(prefix.length) }))

  /** A new job of the tenant for the route to act on. */
  async function jobFor({ path }: Route, { api }: Tenant): Promise<string> {
    const isDelayed = path.startsWith('/delayed')
    const [kind, fields] = isDelayed ? ['delayed', delayed] : ['jobs', job]
    return (await api.post(`${BY_KEY}/${kind}`, fields)).body.id
  }

  function send(prefix: string, route: Route, request: Request): Promise<Answer> {
    const { headers, id = UNKNOWN_ID, type = 'application/json' } = request
    const { body = JSON.stringify(bodies[nameOf(route)] ?? {}) } = request
    return app.raw(prefix + route.path.replace(':job_id', id), {
      method: route.method,
      headers: { ...headers, ...(hasBody(route) && { 'content-type': type }) },
      ...(hasBody(route) && { body }),
    })
  }

  const stop = async () => {
    await target.stop()
    await app.stop()
  }
  return {
    app,
    target,
    job,
    delayed,
    acme: await app.tenant('Acme'),
    other: await app.tenant('Other'),
    routes: routesUnder(BY_KEY),
    sessionRoutes: routesUnder(BY_SESSION),
    jobFor,
    send,
    /** Number of rows that were written so far. */
    written: () => app.db.client.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

const fixture = await bootDashboard({ flags: { 'server-base-url': `${OWN_ORIGIN}/installation` } })
afterAll(fixture.stop)
const { app, acme, other, routes, send, jobFor, written } = fixture

const operatorIn = (roles: Record<string, Role>) => newOperator(app, { roles })
const ownerOfAcme = () => operatorIn({ [acme.id]: 'owner' })

const statusWith = async (cookie: string) =>
  (await sessionClient(app, cookie).get(`${BY_SESSION}/jobs`)).status

/** Every route answers these headers with this status, and does nothing. */
async function expectRefused(headers: Record<string, string>, status: number, words: string) {
  const before = written()
  for (const route of routes) {
    const answer = await send(BY_SESSION, route, { headers })
    expect({ route: nameOf(route), ...answer }).toMatchObject({
      status,
      body: { error: expect.stringContaining(words) },
    })
    expect(answer.headers.has('ratelimit')).toBe(false)
  }
  expect(written()).toBe(before)
}

describe('Routes for sessions', () => {
  test('are those for keys', () => {
    expect(routes.length).toBeGreaterThanOrEqual(13)
    expect(fixture.sessionRoutes).toEqual(routes)
  })

  /** What has to be equal: everything except ids and rate limits. */
  const comparable = ({ status, body, headers }: Answer) => ({
    status,
    body: JSON.stringify(body).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id'),
    headers: [...headers.keys()].filter((name) => !name.startsWith('ratelimit')).sort(),
  })

  test.each<[string, Omit<Request, 'headers'>]>([
    ['valid', {}],
    ['about an unknown job', { id: UNKNOWN_ID }],
    ['about no id', { id: 'x' }],
    ['with wrong fields', { body: '{"name":5,"schedule":5,"url":5,"run_at":5}' }],
    ['with broken JSON', { body: '{' }],
    ['with an array', { body: '[]' }],
    ['of another type', { body: 'name=report', type: 'application/x-www-form-urlencoded' }],
    ['with half a character', { body: '{"name":"\\ud800"}' }],
    ['with too much', { body: JSON.stringify({ name: 'x'.repeat(2_000_000) }) }],
    ['with nothing', { body: '' }],
  ])('answer a request %s as they answer a key', async (name, request) => {
    const { headers } = await (await operatorIn({ [other.id]: 'owner' })).signIn()
    const authorization = `Bearer ${acme.secret}`
    for (const route of routes) {
      const idOf = async (tenant: Tenant) => request.id ?? (await jobFor(route, tenant))
      const byKey = { headers: { authorization }, ...request, id: await idOf(acme) }
      const bySession = { headers, ...request, id: await idOf(other) }
      const answer = await send(BY_SESSION, route, bySession)
      const expected = comparable(await send(BY_KEY, route, byKey))
      expect({ route: nameOf(route), ...comparable(answer) }).toEqual({
        route: nameOf(route),
        ...expected,
      })
      if (name === 'valid') expect(answer.status, nameOf(route)).toBeLessThan(300)
    }
  })

  test('act on the jobs of the tenant in which the session acts', async () => {
    const operator = await operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })
    const [first, second] = [await operator.signIn(), await operator.signIn()]
    const create = ({ api }: typeof first) => api.post(`${BY_SESSION}/jobs`, fixture.job)
    await first.actIn(acme.id)
    await second.actIn(other.id)
    const [made, elsewhere] = [await create(first), await create(second)]
    expect([made.body.tenant_id, elsewhere.body.tenant_id]).toEqual([acme.id, other.id])
    const path = `/jobs/${made.body.id}`
    await acme.api.patch(BY_KEY + path, { is_active: false })
    expect((await first.api.get(BY_SESSION + path)).body).toMatchObject({ is_active: false })

    const before = written()
    for (const route of routes.filter(({ path }) => path.includes(':job_id'))) {
      const { status } = await send(BY_SESSION, route, {
        headers: second.headers,
        id: made.body.id,
      })
      expect([nameOf(route), status]).toEqual([nameOf(route), 404])
    }
    expect(written()).toBe(before)
  })

  test('are in the API document with the session cookie', async () => {
    const { body } = await app.raw('/openapi.json')
    const session = { type: 'apiKey', in: 'cookie', name: 'identity_session' }
    expect(body.components.securitySchemes).toMatchObject({ session })
    const withoutWords = (responses: object) =>
      JSON.stringify(responses, (name, value) => (name === 'description' ? '' : value))
    for (const { method, path } of routes) {
      const of = (prefix: string) =>
        body.paths[(prefix + path).replace(':job_id', '{job_id}')][method.toLowerCase()]
      expect(of(BY_KEY).security).toEqual([{ apiKey: ['clockwork'] }])
      expect(of(BY_SESSION)).toMatchObject({ tags: ['clockwork'], security: [{ session: [] }] })
      expect(withoutWords(of(BY_SESSION).responses)).toEqual(withoutWords(of(BY_KEY).responses))
      expect(JSON.stringify(of(BY_SESSION).responses)).not.toContain('API key')
    }
  })
})

describe('Every route answers 401', () => {
  const NONE = 'missing session'
  const ENDED = 'its session has ended'

  test('without the cookie', async () => {
    const { token } = await (await ownerOfAcme()).signIn()
    const { cookie } = await (await ownerOfAcme()).signIn()
    const flipped = cookie.slice(0, -1) + (cookie.endsWith('0') ? '1' : '0')
    const wrong = ['', 'x', 'gat_st_', 'gat_st_short', '"', acme.secret]
    await expectRefused({}, 401, NONE)
    await expectRefused({ authorization: `Bearer ${acme.secret}` }, 401, NONE)
    await expectRefused({ authorization: `Bearer ${token}` }, 401, NONE)
    await expectRefused({ cookie: `session=${token}` }, 401, NONE)
    await expectRefused({ 'x-session-token': token }, 401, NONE)
    for (const value of wrong)
      await expectRefused({ cookie: `identity_session=${value}` }, 401, ENDED)
    await expectRefused({ cookie: flipped }, 401, ENDED)
  })

  test('to a session of a user of the tenant', async () => {
    const token = await app.db.commit(() => {
      const user = app.gate.people.addByThemselves(acme.id, { email: 'a@example.com' }, 'password')
      const methods = [{ method: 'password', aal: 'aal1' as const }]
      const device = { ipAddress: null, userAgent: null }
      return app.gate.sessions.open(user, { assuranceLevel: 'aal1', methods, ...device }).token
    })
    await expectRefused({ cookie: `identity_session=${token}` }, 401, ENDED)
  })

  test.each<[string, (operator: Operator, session: OperatorSession) => Promise<unknown>]>([
    ['the session was ended', (_, { end }) => end()],
    ['all sessions were ended', ({ endSessions }) => endSessions()],
    ['the operator was deactivated', ({ deactivate }) => deactivate()],
    ['the operator was deleted', ({ remove }) => remove()],
  ])('once %s', async (how, end) => {
    const operator = await ownerOfAcme()
    const [session, another] = [await operator.signIn(), await operator.signIn()]
    expect(await statusWith(session.cookie)).toBe(200)
    await end(operator, session)
    await expectRefused(session.headers, 401, ENDED)
    const isOne = how === 'the session was ended'
    expect(await statusWith(another.cookie)).toBe(isOne ? 200 : 401)
  })

  test('until the second factor was given', async () => {
    const operator = await ownerOfAcme()
    const { id, cookie } = await operator.signIn()
    await operator.enrol()
    await expectRefused({ cookie }, 401, 'two-factor authentication')
    await operator.showSecondFactor(id)
    expect(await statusWith(cookie)).toBe(200)
  })

  test('to an expired session', async () => {
    await using own = await bootDashboard({ flags: { 'gate-session-lifetime': '1h' } })
    const operator = await newOperator(own.app, { roles: { [own.acme.id]: 'viewer' } })
    const { api } = await operator.signIn()
    const status = async () => (await api.get(`${BY_SESSION}/jobs`)).status
    await own.app.clock.advance(HOUR - 1)
    expect(await status()).toBe(200)
    await own.app.clock.advance(1)
    expect(await status()).toBe(401)
  })
})

test('A session is no key', async () => {
  const { cookie, token } = await (await ownerOfAcme()).signIn()
  for (const route of routes)
    for (const [name, value] of Object.entries({ cookie, authorization: `Bearer ${token}` })) {
      const { status } = await send(BY_KEY, route, { headers: { [name]: value } })
      expect([nameOf(route), status]).toEqual([nameOf(route), 401])
    }
})

describe('Every route answers 403', () => {
  const INSTALLATION = 'switch to a tenant first'
  const NO_ACCESS = "you don't have access to the selected tenant"

  test('to admins outside their tenants', async () => {
    const roles = { [acme.id]: 'owner' } as const
    const both = await (await newOperator(app, { isAdmin: true, roles })).signIn()
    const admin = await (await newOperator(app, { isAdmin: true })).signIn()
    expect(await statusWith(both.cookie)).toBe(200)
    await both.actIn(null)
    for (const { headers } of [both, admin]) await expectRefused(headers, 403, INSTALLATION)
    await admin.actIn(acme.id)
    await expectRefused(admin.headers, 403, NO_ACCESS)
  })

  test('to operators who left the tenant, or never had one', async () => {
    const operator = await operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })
    const session = await operator.signIn()
    await session.actIn(acme.id)
    expect(await statusWith(session.cookie)).toBe(200)
    await operator.leave(acme.id)
    await expectRefused(session.headers, 403, NO_ACCESS)
    await session.actIn(other.id)
    expect(await statusWith(session.cookie)).toBe(200)
    await operator.leave(other.id)
    await expectRefused(session.headers, 403, NO_ACCESS)
    await expectRefused((await (await operatorIn({})).signIn()).headers, 403, NO_ACCESS)
  })
})

test('A request that names another tenant than that of the session gets 409', async () => {
  const session = await (await operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })).signIn()
  await session.actIn(other.id)
  for (const route of routes)
    for (const [{ id: meant }, isRight] of [
      [other, true],
      [acme, false],
    ] as const) {
      const headers = { ...session.headers, 'gatehouse-tenant': meant }
      const { status } = await send(BY_SESSION, route, { headers, id: await jobFor(route, other) })
      expect([nameOf(route), isRight ? status < 300 : status === 409]).toEqual([
        nameOf(route),
        true,
      ])
    }
})

const BY_METHOD: Record<string, readonly Role[]> = {
  GET: ROLES,
  POST: ['owner', 'member'],
  PATCH: ['owner', 'member'],
  DELETE: ['owner'],
}
const rolesFor = (route: Route) =>
  nameOf(route) === 'POST /jobs/preview' ? ROLES : (BY_METHOD[route.method] ?? [])

test.each(ROLES)(
  'A %s may use the routes of the role, whatever the role elsewhere',
  async (role) => {
    const session = await (await operatorIn({ [acme.id]: role, [other.id]: 'owner' })).signIn()
    await session.actIn(acme.id)
    for (const route of routes) {
      const id = await jobFor(route, acme)
      const before = written()
      const { status, body } = await send(BY_SESSION, route, { headers: session.headers, id })
      if (rolesFor(route).includes(role)) expect(status, nameOf(route)).toBeLessThan(300)
      else {
        expect([nameOf(route), status]).toEqual([nameOf(route), 403])
        expect(body.error).toStartWith(`a ${role} cannot `)
        expect(written()).toBe(before)
      }
    }
  },
)

test('A changed role or tenant status counts immediately', async () => {
  const tenant = await app.tenant('Late payer')
  const operator = await operatorIn({ [tenant.id]: 'owner' })
  const { api } = await operator.signIn()
  const { suspend, resume } = app.platform.tenants
  const statuses: number[] = []
  for (const change of [
    () => {},
    () => operator.setRole(tenant.id, 'viewer'),
    () => operator.setRole(tenant.id, 'member'),
    () => suspend(ACTOR, tenant.id, 'billing'),
    () => resume(ACTOR, tenant.id),
  ]) {
    await change()
    statuses.push((await api.post(`${BY_SESSION}/jobs`, fixture.job)).status)
  }
  expect(statuses).toEqual([201, 403, 201, 402, 201])
})

describe('Secret headers of jobs', () => {
  test('are masked for viewers, by routes and on pages, also in responses that repeat them', async () => {
    await using own = await bootDashboard()
    own.target.answers(
      ({ headers }) => new Response(`sent: ${headers.get('authorization')}, or secret-123`),
    )
    const { api, id: tenantId } = own.acme
    const headers = { Authorization: 'Bearer secret-123', 'X-Team': 'orders' }
    const job = await api.post(`${BY_KEY}/jobs`, { ...own.job, headers })
    const delayed = await api.post(`${BY_KEY}/delayed`, { ...own.delayed, headers })
    await api.post(`${BY_KEY}/jobs/${job.body.id}/run`)
    await own.app.clock.advanceTo(Date.parse(own.delayed.run_at))
    await own.app.clock.settled()
    const ids: Record<string, string> = { jobs: job.body.id, delayed: delayed.body.id }
    const reads = own.routes
      .filter(({ method }) => method === 'GET')
      .map(({ path }) => path.replace(':job_id', ids[path.split('/')[1] ?? ''] ?? ''))
    expect(reads).toHaveLength(6)
    for (const role of ROLES) {
      const session = await (await newOperator(own.app, { roles: { [tenantId]: role } })).signIn()
      for (const path of reads) {
        const seen = JSON.stringify((await session.api.get(BY_SESSION + path)).body)
        const whole = JSON.stringify((await api.get(BY_KEY + path)).body)
        expect(whole).toContain('secret-123')
        expect([role, path, seen.includes('secret-123')]).toEqual([role, path, role !== 'viewer'])
        if (role !== 'viewer') expect(seen).toBe(whole)
        else if (!path.endsWith('/executions'))
          expect(seen).toBe(whole.replaceAll('"Bearer secret-123"', '"********"'))
      }
      for (const [kind, id] of Object.entries(ids)) {
        const page = String((await session.api.get(`/console/${kind}/${id}`)).body)
        expect([role, page.includes('secret-123')]).toEqual([role, role !== 'viewer'])
        for (const words of ['orders', 'sent: ']) expect(page).toContain(words)
      }
    }
  })
})

describe('The caller is checked', () => {
  test.each([
    ['malformed', '{', 'application/json'],
    ['of another type', 'a=b', 'text/plain'],
    ['too large', 'x'.repeat(2_000_000), 'application/json'],
    ['of wrong fields', '{"name":5}', 'application/json'],
  ])('before a body that is %s', async (_, body, type) => {
    const stranger = await (await operatorIn({})).signIn()
    const viewer = await (await operatorIn({ [acme.id]: 'viewer' })).signIn()
    for (const route of routes.filter(hasBody)) {
      const statusFor = async (headers: Record<string, string>) =>
        (await send(BY_SESSION, route, { headers, body, type })).status
      expect([await statusFor({}), await statusFor(stranger.headers)]).toEqual([401, 403])
      if (!rolesFor(route).includes('viewer'))
        expect(await statusFor(viewer.headers), nameOf(route)).toBe(403)
    }
  })

  test.each<[string, number, (s: OperatorSession, operator: Operator) => Promise<unknown>]>([
    ['the session ends', 401, ({ end }) => end()],
    ['the operator leaves', 403, (_, { leave }) => leave(acme.id)],
    ['the role is taken away', 403, (_, { setRole }) => setRole(acme.id, 'viewer')],
    ['the session switches to another tenant', 409, ({ actIn }) => actIn(other.id)],
  ])('again after a slow body, during which %s', async (_, status, lose) => {
    const operator = await operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })
    const session = await operator.signIn()
    await session.actIn(acme.id)
    const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const bytes = new TextEncoder().encode(JSON.stringify(fixture.job))
    const headers = { ...session.headers, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body }
    const jobs = () =>
      app.clockwork.jobs.list(acme.id).length + app.clockwork.jobs.list(other.id).length
    const before = jobs()
    const answer = app.app.handle(
      new globalThis.Request(`http://localhost${BY_SESSION}/jobs`, init),
    )
    await writer.write(bytes.subarray(0, 9))
    await app.clock.advance(1500)
    await lose(session, operator)
    await writer.write(bytes.subarray(9))
    await writer.close()
    expect((await answer).status).toBe(status)
    expect(jobs()).toBe(before)
  })
})

describe('What operators do', () => {
  test('counts no requests of the month', async () => {
    await using own = await bootDashboard()
    const { id, api } = await own.app.tenant('Metered', 'free')
    const { headers } = await (await newOperator(own.app, { roles: { [id]: 'owner' } })).signIn()
    for (const route of own.routes) {
      const answer = await own.send(BY_SESSION, route, { headers })
      expect(answer.headers.has('ratelimit-policy')).toBe(false)
    }
    const requests = async () => (await own.app.platform.metering.usageOf(id)).requests
    expect(await requests()).toBe(0)
    await api.get(`${BY_KEY}/jobs`)
    expect(await requests()).toBe(1)
  })

  test('is in the audit log with their address', async () => {
    const owner = await ownerOfAcme()
    const { headers, api } = await owner.signIn()
    const request = new globalThis.Request(`http://localhost${BY_SESSION}/jobs`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(fixture.job),
    })
    notePeer(request, { requestIP: () => ({ address: '192.0.2.7' }) })
    const { id } = await (await app.app.handle(request)).json()
    await api.patch(`${BY_SESSION}/jobs/${id}`, { name: 'other' })
    await api.post(`${BY_SESSION}/jobs/${id}/run`)
    await api.delete(`${BY_SESSION}/jobs/${id}`)
    const { entries } = app.platform.audit.list({ tenantId: acme.id, object: id, limit: 10 })
    const operator = { kind: 'operator', id: owner.id } as const
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['job.deleted', operator],
      ['job.run', operator],
      ['job.updated', operator],
      ['job.created', { ...operator, source: '192.0.2.7' }],
    ])
  })

  test.each<[string, number, (tenants: Tenants, id: string) => unknown]>([
    ['an exhausted allowance', 429, ({ change }, id) => change(ACTOR, id, { plan: 'free' })],
    ['an open bill', 402, ({ suspend }, id) => suspend(ACTOR, id, 'billing')],
    ['an unpaid renewal', 402, ({ suspend }, id) => suspend(ACTOR, id, 'renewal')],
  ])('creates nothing with %s', async (_, refusal, apply) => {
    await using own = await bootDashboard({ flags: { 'metering-free-requests': '0' } })
    const { id } = own.acme
    const { headers } = await (await newOperator(own.app, { roles: { [id]: 'owner' } })).signIn()
    const ids = new Map<Route, string>()
    for (const route of own.routes) ids.set(route, await own.jobFor(route, own.acme))
    await apply(own.app.platform.tenants, id)
    for (const [route, id] of ids) {
      const { status } = await own.send(BY_SESSION, route, { headers, id })
      const isNew = /^POST \/(jobs|delayed|jobs\/:job_id\/run)$/.test(nameOf(route))
      expect([nameOf(route), isNew ? status : status < 300]).toEqual([
        nameOf(route),
        isNew ? refusal : true,
      ])
    }
  })
})

describe('Requests from browsers', () => {
  const OURS: Record<string, string>[] = [
    {},
    { 'sec-fetch-site': 'same-origin', origin: OWN_ORIGIN },
    // Behind a proxy that changes the name.
    { 'sec-fetch-site': 'same-origin', origin: 'https://inside.example' },
    { origin: OWN_ORIGIN },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'none', origin: OWN_ORIGIN },
  ]
  const FOREIGN: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site', origin: OWN_ORIGIN },
    { 'sec-fetch-site': 'same-site', origin: 'https://other.example' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'beside-us', origin: OWN_ORIGIN },
    { 'sec-fetch-site': '' },
    { 'sec-fetch-site': 'none', origin: 'https://evil.example' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://console.example' },
    { origin: 'https://console.example:8443' },
    { origin: 'https://console.example.evil.example' },
    { origin: '' },
  ]
  const isRead = ({ method }: Route) => method === 'GET'

  test.each(OURS)('of our own pages are done (%j)', async (from) => {
    const { cookie } = await (await ownerOfAcme()).signIn()
    for (const route of routes) {
      const id = await jobFor(route, acme)
      const { status } = await send(BY_SESSION, route, { headers: { cookie, ...from }, id })
      expect(status, nameOf(route)).toBeLessThan(300)
    }
  })

  test.each(FOREIGN)('of other sites change nothing (%j)', async (from) => {
    const { cookie } = await (await ownerOfAcme()).signIn()
    await send(BY_SESSION, { method: 'GET', path: '/jobs' }, { headers: { cookie } })
    for (const route of routes) {
      const id = await jobFor(route, acme)
      const before = written()
      const answer = await send(BY_SESSION, route, { headers: { cookie, ...from }, id })
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), isRead(route) ? 200 : 403])
      if (isRead(route)) {
        expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
        expect(answer.headers.has('access-control-allow-origin')).toBe(false)
      } else expect(answer.body.error).toMatch(/^(Sec-Fetch-Site|Origin): /)
      expect(written()).toBe(before)
      const signedOut = await send(BY_SESSION, route, { headers: { ...from } })
      expect([nameOf(route), signedOut.status]).toEqual([nameOf(route), 401])
    }
  })

  test('of other sites are accepted with a key, which no browser adds by itself', async () => {
    for (const route of routes) {
      const headers = { authorization: `Bearer ${acme.secret}`, ...FOREIGN[0] }
      const { status } = await send(BY_KEY, route, { headers, id: await jobFor(route, acme) })
      expect(status, nameOf(route)).toBeLessThan(300)
    }
  })

  test('are told the right origin', async () => {
    const { cookie } = await (await ownerOfAcme()).signIn()
    const headers = { cookie, origin: 'http://192.168.1.5:8080' }
    const { body } = await send(BY_SESSION, { method: 'POST', path: '/jobs' }, { headers })
    expect(body.error).toStartWith(`Origin: must be ${OWN_ORIGIN}, `)
  })
})
