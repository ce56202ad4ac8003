import { afterAll, expect, test } from 'bun:test'
import { ROLES, type Role } from '../../src/console/operators/rights.ts'
import { notePeer } from '../../src/http/peers.ts'
import { type Answer, bootTestApp, type TestApp, useApp } from '../support/app.ts'
import {
  newOperator,
  type Operator,
  type OperatorSession,
  sessionClient,
} from '../support/operator.ts'
import { startTarget } from '../support/target.ts'
import { countRequests } from '../support/usage.ts'
import { HOUR, SYSTEM, UNKNOWN_ID, written as writtenIn } from './fixture.ts'

const BY_KEY = '/v1/clockwork'
const BY_SESSION = '/dashboard/clockwork'
const OWN_ORIGIN = 'https://console.example'

type Tenant = Awaited<ReturnType<TestApp['tenant']>>
type Headers = Record<string, string>
type Given = { id?: string; body?: string }

/** A route of clockwork, without its prefix. */
interface Route {
  method: string
  path: string
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`
const hasBody = ({ method }: Route) => method === 'POST' || method === 'PATCH'

const app = await useApp({
  flags: { 'server-base-url': `${OWN_ORIGIN}/installation`, 'metering-free-requests': '100' },
})
const target = startTarget()
afterAll(target.stop)
const { url } = target
const job = { name: 'report', schedule: '0 3 * * *', url }
const delayed = { name: 'reminder', run_at: '2027-01-01T00:00:00.000Z', url }
const BODIES: Record<string, object> = {
  'POST /jobs': job,
  'POST /jobs/preview': { schedule: '0 3 * * *', url },
  'PATCH /jobs/:job_id': { name: 'renamed' },
  'POST /delayed': delayed,
}
const [acme, other] = [await app.tenant('Acme'), await app.tenant('Other')]
const routesUnder = (prefix: string): Route[] =>
  app.app.routes
    .filter(({ path }) => path.startsWith(`${prefix}/`))
    .map(({ method, path }) => ({ method, path: path.slice(prefix.length) }))
const routes = routesUnder(BY_KEY)
const written = () => writtenIn(app)

/** A new job of the tenant for the route to act on. */
async function jobFor({ path }: Route, { api }: Tenant): Promise<string> {
  if (!path.includes(':job_id')) return UNKNOWN_ID
  const [kind, fields] = path.startsWith('/delayed') ? ['delayed', delayed] : ['jobs', job]
  return (await api.post(`${BY_KEY}/${kind}`, fields)).body.id
}

/** Sends a request to a route, about an unknown job and with a valid body unless given. */
function send(prefix: string, route: Route, headers: Headers, given: Given = {}): Promise<Answer> {
  const { id = UNKNOWN_ID, body = JSON.stringify(BODIES[nameOf(route)] ?? {}) } = given
  return app.raw(prefix + route.path.replace(':job_id', id), {
    method: route.method,
    headers: { ...headers, ...(hasBody(route) && { 'content-type': 'application/json' }) },
    ...(hasBody(route) && { body }),
  })
}

const operatorIn = (roles: Record<string, Role>) => newOperator(app, { roles })
const ownerOfAcme = () => operatorIn({ [acme.id]: 'owner' })
const ownerOfBoth = () => operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })
const statusWith = async (cookie: string) =>
  (await sessionClient(app, cookie).get(`${BY_SESSION}/jobs`)).status

/** The routes that do not answer these headers with this status, or do something. */
async function expectRefused(headers: Headers, status: number, words: string, some = routes) {
  const before = written()
  for (const route of some) {
    const answer = await send(BY_SESSION, route, headers)
    const body = { error: expect.stringContaining(words) }
    expect({ route: nameOf(route), ...answer }).toMatchObject({ status, body })
    expect(answer.headers.has('ratelimit')).toBe(false)
  }
  expect(written()).toBe(before)
}

/** For what a check before all routes decides: one that reads and one that writes. */
const TWO = routes.filter((route) => ['GET /jobs', 'POST /jobs'].includes(nameOf(route)))

test.each<[string, Given]>([
  ['valid', {}],
  ['about an unknown job', { id: UNKNOWN_ID }],
  ['with wrong fields', { body: '{"name":5,"schedule":5,"url":5,"run_at":5}' }],
])('Routes for sessions answer a request %s as they answer a key', async (name, request) => {
  expect(routes.length).toBeGreaterThanOrEqual(13)
  expect(routesUnder(BY_SESSION)).toEqual(routes)
  /** Everything except ids and rate limits. */
  const comparable = ({ status, body, headers }: Answer) => ({
    status,
    body: JSON.stringify(body).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id'),
    headers: [...headers.keys()].filter((name) => !name.startsWith('ratelimit')).sort(),
  })
  const { headers } = await (await operatorIn({ [other.id]: 'owner' })).signIn()
  for (const route of routes) {
    const idOf = async (tenant: Tenant) => request.id ?? (await jobFor(route, tenant))
    const key = { authorization: `Bearer ${acme.secret}` }
    const expected = await send(BY_KEY, route, key, { ...request, id: await idOf(acme) })
    const answer = await send(BY_SESSION, route, headers, { ...request, id: await idOf(other) })
    expect([nameOf(route), comparable(answer)]).toEqual([nameOf(route), comparable(expected)])
    if (name === 'valid') expect(answer.status, nameOf(route)).toBeLessThan(300)
    expect(answer.headers.has('ratelimit-policy')).toBe(false)
  }
})

test('A session acts on the jobs of its tenant; a request that names another one gets 409', async () => {
  const operator = await ownerOfBoth()
  const [first, second] = [await operator.signIn(), await operator.signIn()]
  await first.actIn(acme.id)
  await second.actIn(other.id)
  const made = await first.api.post(`${BY_SESSION}/jobs`, job)
  const elsewhere = await second.api.post(`${BY_SESSION}/jobs`, job)
  expect([made.body.tenant_id, elsewhere.body.tenant_id]).toEqual([acme.id, other.id])
  const { id } = made.body
  await acme.api.patch(`${BY_KEY}/jobs/${id}`, { is_active: false })
  expect((await first.api.get(`${BY_SESSION}/jobs/${id}`)).body.is_active).toBe(false)
  const before = written()
  for (const route of routes.filter(({ path }) => path.includes(':job_id'))) {
    const { status } = await send(BY_SESSION, route, second.headers, { id })
    expect([nameOf(route), status]).toEqual([nameOf(route), 404])
  }
  const naming = (meant: Tenant) => ({ ...second.headers, 'gatehouse-tenant': meant.id })
  await expectRefused(naming(acme), 409, '')
  expect(written()).toBe(before)
  for (const route of TWO)
    expect((await send(BY_SESSION, route, naming(other))).status).toBeLessThan(300)
})

test('Routes for sessions are in the API document with the session cookie', async () => {
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

const ENDED = 'its session has ended'

test('Every route answers 401 without the cookie of an operator, and keys are no sessions', async () => {
  const { token, cookie } = await (await ownerOfAcme()).signIn()
  const flipped = cookie.slice(0, -1) + (cookie.endsWith('0') ? '1' : '0')
  const user = await app.db.commit(() => {
    const user = app.gate.people.addByThemselves(acme.id, { email: 'a@example.com' }, 'password')
    const methods = [{ method: 'password', aal: 'aal1' as const }]
    const device = { ipAddress: null, userAgent: null }
    return app.gate.sessions.open(user, { assuranceLevel: 'aal1', methods, ...device }).token
  })
  await expectRefused({}, 401, 'missing session')
  for (const headers of [
    { authorization: `Bearer ${acme.secret}` },
    { authorization: `Bearer ${token}` },
    { cookie: `session=${token}` },
    { 'x-session-token': token },
  ] as Headers[])
    await expectRefused(headers, 401, 'missing session', TWO)
  for (const value of ['', 'x', 'gat_st_', 'gat_st_short', '"', acme.secret, user])
    await expectRefused({ cookie: `identity_session=${value}` }, 401, ENDED, TWO)
  await expectRefused({ cookie: flipped }, 401, ENDED)
  for (const headers of [{ cookie }, { authorization: `Bearer ${token}` }] as Headers[])
    for (const route of routes)
      expect([nameOf(route), (await send(BY_KEY, route, headers)).status]).toEqual([
        nameOf(route),
        401,
      ])
})

test.each<[string, (operator: Operator, session: OperatorSession) => Promise<unknown>]>([
  ['the session was ended', (_, { end }) => end()],
  ['all sessions were ended', ({ endSessions }) => endSessions()],
  ['the operator was deactivated', ({ deactivate }) => deactivate()],
  ['the operator was deleted', ({ remove }) => remove()],
])('Every route answers 401 once %s', async (how, end) => {
  const operator = await ownerOfAcme()
  const [session, another] = [await operator.signIn(), await operator.signIn()]
  expect(await statusWith(session.cookie)).toBe(200)
  await end(operator, session)
  await expectRefused(session.headers, 401, ENDED, TWO)
  expect(await statusWith(another.cookie)).toBe(how === 'the session was ended' ? 200 : 401)
})

test('Every route answers 401 until the second factor was given, and when the session expired', async () => {
  const operator = await ownerOfAcme()
  const { id, cookie } = await operator.signIn()
  await operator.enrol()
  await expectRefused({ cookie }, 401, 'two-factor authentication')
  await operator.showSecondFactor(id)
  expect(await statusWith(cookie)).toBe(200)
  await using own = await bootTestApp({ flags: { 'gate-session-lifetime': '1h' } })
  const roles = { [(await own.tenant()).id]: 'viewer' } as const
  const { api } = await (await newOperator(own, { roles })).signIn()
  const status = async () => (await api.get(`${BY_SESSION}/jobs`)).status
  own.clock.jump(HOUR - 1)
  expect(await status()).toBe(200)
  own.clock.jump(1)
  expect(await status()).toBe(401)
})

test('Every route answers 403 to admins outside their tenants, and to who left or never had one', async () => {
  const roles = { [acme.id]: 'owner' } as const
  const both = await (await newOperator(app, { isAdmin: true, roles })).signIn()
  const admin = await (await newOperator(app, { isAdmin: true })).signIn()
  expect(await statusWith(both.cookie)).toBe(200)
  await both.actIn(null)
  await expectRefused(both.headers, 403, 'switch to a tenant first')
  await expectRefused(admin.headers, 403, 'switch to a tenant first', TWO)
  const NO_ACCESS = "you don't have access to the selected tenant"
  await admin.actIn(acme.id)
  await expectRefused(admin.headers, 403, NO_ACCESS)
  const operator = await ownerOfBoth()
  const session = await operator.signIn()
  await session.actIn(acme.id)
  expect(await statusWith(session.cookie)).toBe(200)
  await operator.leave(acme.id)
  await expectRefused(session.headers, 403, NO_ACCESS)
  await session.actIn(other.id)
  expect(await statusWith(session.cookie)).toBe(200)
  await operator.leave(other.id)
  await expectRefused(session.headers, 403, NO_ACCESS, TWO)
  await expectRefused((await (await operatorIn({})).signIn()).headers, 403, NO_ACCESS, TWO)
})

const BY_METHOD: Record<string, readonly Role[]> = {
  GET: ROLES,
  POST: ['owner', 'member'],
  PATCH: ['owner', 'member'],
  DELETE: ['owner'],
}
const rolesFor = (route: Route) =>
  nameOf(route) === 'POST /jobs/preview' ? ROLES : (BY_METHOD[route.method] ?? [])

test.each(ROLES)('A %s may use only the routes of the role', async (role) => {
  const session = await (await operatorIn({ [acme.id]: role, [other.id]: 'owner' })).signIn()
  await session.actIn(acme.id)
  for (const route of routes) {
    const id = await jobFor(route, acme)
    const before = written()
    const { status, body } = await send(BY_SESSION, route, session.headers, { id })
    if (rolesFor(route).includes(role)) expect(status, nameOf(route)).toBeLessThan(300)
    else {
      expect([nameOf(route), status, written()]).toEqual([nameOf(route), 403, before])
      expect(body.error).toStartWith(`a ${role} cannot `)
    }
  }
})

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
    () => suspend(SYSTEM, tenant.id, 'billing'),
    () => resume(SYSTEM, tenant.id),
  ]) {
    await change()
    statuses.push((await api.post(`${BY_SESSION}/jobs`, job)).status)
  }
  expect(statuses).toEqual([201, 403, 201, 402, 201])
})

test('Secret headers of jobs are masked for viewers, also in responses that repeat them', async () => {
  target.answers(
    ({ headers }) => new Response(`sent: ${headers.get('authorization')}, or secret-123`),
  )
  const { api, id: tenantId } = await app.tenant()
  const headers = { Authorization: 'Bearer secret-123', 'X-Team': 'orders' }
  const run_at = new Date(app.clock.now() + 60_000).toISOString()
  const made = await api.post(`${BY_KEY}/jobs`, { ...job, headers })
  const later = await api.post(`${BY_KEY}/delayed`, { ...delayed, run_at, headers })
  await api.post(`${BY_KEY}/jobs/${made.body.id}/run`)
  await app.clock.advance(120_000)
  await app.clock.settled()
  const ids: Record<string, string> = { jobs: made.body.id, delayed: later.body.id }
  const reads = routes
    .filter(({ method }) => method === 'GET')
    .map(({ path }) => path.replace(':job_id', ids[path.split('/')[1] ?? ''] ?? ''))
  expect(reads).toHaveLength(6)
  for (const role of ROLES) {
    const session = await (await operatorIn({ [tenantId]: role })).signIn()
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
      // Over https, pages want another cookie.
      const headers = { cookie: `__Secure-${session.cookie}` }
      const page = String((await app.raw(`/console/${kind}/${id}`, { headers })).body)
      expect([role, page.includes('secret-123')]).toEqual([role, role !== 'viewer'])
      for (const words of ['orders', 'sent: ']) expect(page).toContain(words)
    }
  }
})

test('The caller is checked before the body', async () => {
  const stranger = await (await operatorIn({})).signIn()
  const viewer = await (await operatorIn({ [acme.id]: 'viewer' })).signIn()
  for (const body of ['{', 'x'.repeat(2_000_000), '{"name":5}'])
    for (const route of routes.filter(hasBody)) {
      const statusFor = async (headers: Headers) =>
        (await send(BY_SESSION, route, headers, { body })).status
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
])('The caller is checked again after a slow body, during which %s', async (_, status, lose) => {
  const operator = await ownerOfBoth()
  const session = await operator.signIn()
  await session.actIn(acme.id)
  const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const bytes = new TextEncoder().encode(JSON.stringify(job))
  const headers = { ...session.headers, 'content-type': 'application/json' }
  const jobs = () =>
    app.clockwork.jobs.list(acme.id).length + app.clockwork.jobs.list(other.id).length
  const before = jobs()
  const request = new Request(`http://localhost${BY_SESSION}/jobs`, {
    method: 'POST',
    headers,
    body,
  })
  const answer = app.app.handle(request)
  await writer.write(bytes.subarray(0, 9))
  await app.clock.advance(1500)
  await lose(session, operator)
  await writer.write(bytes.subarray(9))
  await writer.close()
  expect([(await answer).status, jobs()]).toEqual([status, before])
})

test('What operators do is in the audit log with their address', async () => {
  const owner = await ownerOfAcme()
  const { headers, api } = await owner.signIn()
  const request = new Request(`http://localhost${BY_SESSION}/jobs`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(job),
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

test('Operators use no requests of the month, and create nothing once it is used up or unpaid', async () => {
  const { tenants, metering } = app.platform
  const creates = (route: Route) => /^POST \/(jobs|delayed|jobs\/:job_id\/run)$/.test(nameOf(route))
  for (const [refusal, apply] of [
    [429, (id: string) => countRequests(app, id, 100)],
    [402, (id: string) => tenants.suspend(SYSTEM, id, 'billing')],
    [402, (id: string) => tenants.suspend(SYSTEM, id, 'renewal')],
  ] as const) {
    const tenant = await app.tenant('Metered', 'free')
    const { headers } = await (await operatorIn({ [tenant.id]: 'owner' })).signIn()
    const ids = new Map<Route, string>()
    for (const route of routes) ids.set(route, await jobFor(route, tenant))
    const { requests } = await metering.usageOf(tenant.id)
    for (const route of routes) await send(BY_SESSION, route, headers)
    expect((await metering.usageOf(tenant.id)).requests).toBe(requests)
    if (refusal === 429) app.db.client.run('DELETE FROM usage_months')
    await apply(tenant.id)
    for (const [route, id] of ids) {
      const { status } = await send(BY_SESSION, route, headers, { id })
      const isRight = creates(route) ? status === refusal : status < 300
      expect([refusal, nameOf(route), isRight ? 'as told' : status]).toEqual([
        refusal,
        nameOf(route),
        'as told',
      ])
    }
  }
})

test('Requests of our own pages are done', async () => {
  const { cookie } = await (await ownerOfAcme()).signIn()
  for (const from of [
    {},
    { 'sec-fetch-site': 'same-origin', origin: OWN_ORIGIN },
    // Behind a proxy that changes the name.
    { 'sec-fetch-site': 'same-origin', origin: 'https://inside.example' },
    { origin: OWN_ORIGIN },
    { 'sec-fetch-site': 'none' },
    { 'sec-fetch-site': 'none', origin: OWN_ORIGIN },
  ] as Headers[]) {
    const { status } = await send(
      BY_SESSION,
      { method: 'POST', path: '/jobs' },
      { cookie, ...from },
    )
    expect([from, status]).toEqual([from, 201])
  }
})

const FOREIGN: Headers[] = [
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

test('Requests of other sites change nothing', async () => {
  const { cookie } = await (await ownerOfAcme()).signIn()
  await statusWith(cookie)
  for (const [n, from] of FOREIGN.entries())
    for (const route of n === 0 ? routes : TWO) {
      const isRead = route.method === 'GET'
      const id = await jobFor(route, acme)
      const before = written()
      const answer = await send(BY_SESSION, route, { cookie, ...from }, { id })
      expect([from, nameOf(route), answer.status]).toEqual([
        from,
        nameOf(route),
        isRead ? 200 : 403,
      ])
      if (isRead) {
        expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-origin')
        expect(answer.headers.has('access-control-allow-origin')).toBe(false)
      } else expect(answer.body.error).toMatch(/^(Sec-Fetch-Site|Origin): /)
      const signedOut = await send(BY_SESSION, route, from)
      expect([signedOut.status, written()]).toEqual([401, before])
    }
  const headers = { cookie, origin: 'http://192.168.1.5:8080' }
  const { body } = await send(BY_SESSION, { method: 'POST', path: '/jobs' }, headers)
  expect(body.error).toStartWith(`Origin: must be ${OWN_ORIGIN}, `)
})
