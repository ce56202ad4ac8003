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
type Route = { method: string; path: string; name: string }

const app = await useApp({
  flags: { 'server-base-url': `${OWN_ORIGIN}/installation`, 'metering-free-requests': '100' },
})
const target = startTarget()
afterAll(target.stop)
const { url } = target
const job = { name: 'report', schedule: '0 3 * * *', url }
const delayed = { name: 'reminder', run_at: '2027-01-01T00:00:00.000Z', url }
const monitor = { name: 'backup', period_seconds: 60 }
const BODIES: Record<string, object> = {
  'POST /jobs': job,
  'POST /jobs/preview': { schedule: '0 3 * * *', url },
  'PATCH /jobs/:job_id': { name: 'renamed' },
  'POST /delayed': delayed,
  'POST /monitors': monitor,
  'PATCH /monitors/:monitor_id': { name: 'renamed' },
}
const [acme, other] = [await app.tenant('Acme'), await app.tenant('Other')]
const all = await app.app.routes()
const routesUnder = (prefix: string): Route[] =>
  all
    .filter(({ path }) => path.startsWith(`${prefix}/`))
    .map(({ method, path }) => ({ method, path: path.slice(prefix.length) }))
    .map(({ method, path }) => ({ method, path, name: `${method} ${path}` }))
const routes = routesUnder(BY_KEY)
/** For what a check before all routes decides: one that reads and one that writes. */
const TWO = routes.filter(({ name }) => ['GET /jobs', 'POST /jobs'].includes(name))
const hasBody = ({ method }: Route) => method === 'POST' || method === 'PATCH'
const written = () => writtenIn(app)

/** The parameter of a path. */
const ID = /:(job_id|monitor_id)/

async function jobFor({ path }: Route, { api }: Tenant): Promise<string> {
  if (!ID.test(path)) return UNKNOWN_ID
  const kind = path.split('/')[1] as 'jobs' | 'delayed' | 'monitors'
  const fields = { jobs: job, delayed, monitors: monitor }[kind]
  return (await api.post(`${BY_KEY}/${kind}`, fields)).body.id
}

/** Sends a request to a route, about an unknown job and with a valid body unless given. */
function send(
  prefix: string,
  route: Route,
  headers: Headers,
  { id = UNKNOWN_ID, body = JSON.stringify(BODIES[route.name] ?? {}) } = {},
): Promise<Answer> {
  return app.raw(prefix + route.path.replace(ID, id), {
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

/** Every route answers these headers with this status, and changes nothing. */
async function expectRefused(headers: Headers, status: number, words: string, some = routes) {
  const before = written()
  for (const route of some) {
    const answer = await send(BY_SESSION, route, headers)
    const body = { error: expect.stringContaining(words) }
    expect({ route: route.name, ...answer }).toMatchObject({ status, body })
    expect(answer.headers.has('ratelimit')).toBe(false)
  }
  expect(written()).toBe(before)
}

test('Routes for sessions answer valid, wrong and lost requests as they answer a key', async () => {
  expect(routes.length).toBeGreaterThanOrEqual(13)
  expect(routesUnder(BY_SESSION)).toEqual(routes)
  const comparable = ({ status, body, headers }: Answer) => ({
    status,
    body: JSON.stringify(body).replaceAll(
      /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|whsec_[\w+/=]+|(?<=\/(?:ping|badge)\/)\w+/g,
      'id',
    ),
    headers: [...headers.keys()].filter((name) => !name.startsWith('ratelimit')).sort(),
  })
  const { headers } = await (await operatorIn({ [other.id]: 'owner' })).signIn()
  const key = { authorization: `Bearer ${acme.secret}` }
  const isValid = {}
  for (const request of [
    isValid,
    { id: UNKNOWN_ID },
    { body: '{"name":5,"schedule":5,"url":5,"run_at":5}' },
  ])
    for (const route of routes) {
      const [id, ownId] = [await jobFor(route, acme), await jobFor(route, other)]
      const expected = await send(BY_KEY, route, key, { id, ...request })
      const answer = await send(BY_SESSION, route, headers, { id: ownId, ...request })
      expect([route.name, comparable(answer)]).toEqual([route.name, comparable(expected)])
      if (request === isValid) expect(answer.status, route.name).toBeLessThan(300)
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
  for (const route of routes.filter(({ path }) => ID.test(path)))
    expect(await send(BY_SESSION, route, second.headers, { id })).toMatchObject({ status: 404 })
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
    JSON.stringify(responses, (name, value) => (/^(description|error)$/.test(name) ? '' : value))
  for (const { method, path } of routes) {
    const of = (prefix: string) =>
      body.paths[(prefix + path).replace(ID, '{$1}')][method.toLowerCase()]
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
    const device = { ipAddress: null, userAgent: null }
    const opened = { assuranceLevel: 'aal1' as const, methods: [], ...device }
    return app.gate.sessions.open(user, opened).token
  })
  await expectRefused({}, 401, 'missing session')
  const byToken = { authorization: `Bearer ${token}` }
  for (const headers of [
    { authorization: `Bearer ${acme.secret}` },
    byToken,
    { cookie: `session=${token}` },
    { 'x-session-token': token },
  ] as Headers[])
    await expectRefused(headers, 401, 'missing session', TWO)
  for (const value of ['', 'x', 'gat_st_', 'gat_st_short', '"', acme.secret, user])
    await expectRefused({ cookie: `identity_session=${value}` }, 401, ENDED, TWO)
  await expectRefused({ cookie: flipped }, 401, ENDED)
  for (const headers of [{ cookie }, byToken] as Headers[])
    for (const route of routes)
      expect(await send(BY_KEY, route, headers)).toMatchObject({ status: 401 })
})

test.each<[string, number, (operator: Operator, session: OperatorSession) => Promise<unknown>]>([
  ['the session was ended', 200, (_, { end }) => end()],
  ['all sessions were ended', 401, ({ endSessions }) => endSessions()],
  ['the operator was deactivated', 401, ({ deactivate }) => deactivate()],
  ['the operator was deleted', 401, ({ remove }) => remove()],
])('Every route answers 401 once %s', async (_, statusOfOthers, end) => {
  const operator = await ownerOfAcme()
  const [session, another] = [await operator.signIn(), await operator.signIn()]
  expect(await statusWith(session.cookie)).toBe(200)
  await end(operator, session)
  await expectRefused(session.headers, 401, ENDED, TWO)
  expect(await statusWith(another.cookie)).toBe(statusOfOthers)
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

test('Every route answers 403 to admins outside their tenants, and to those who left or never had one', async () => {
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
  for (const { id } of [acme, other]) {
    await session.actIn(id)
    expect(await statusWith(session.cookie)).toBe(200)
    await operator.leave(id)
    await expectRefused(session.headers, 403, NO_ACCESS, TWO)
  }
  await expectRefused((await (await operatorIn({})).signIn()).headers, 403, NO_ACCESS, TWO)
})

const BY_METHOD: Record<string, readonly Role[]> = {
  GET: ROLES,
  POST: ['owner', 'member'],
  PATCH: ['owner', 'member'],
  DELETE: ['owner'],
}
const rolesFor = ({ name, method }: Route) =>
  name === 'POST /jobs/preview' ? ROLES : (BY_METHOD[method] ?? [])

test.each(ROLES)('A %s may use only the routes of the role', async (role) => {
  const session = await (await operatorIn({ [acme.id]: role, [other.id]: 'owner' })).signIn()
  await session.actIn(acme.id)
  for (const route of routes) {
    const id = await jobFor(route, acme)
    const before = written()
    const { status, body } = await send(BY_SESSION, route, session.headers, { id })
    if (rolesFor(route).includes(role)) expect(status, route.name).toBeLessThan(300)
    else {
      expect([route.name, status, written()]).toEqual([route.name, 403, before])
      expect(body.error).toStartWith(`a ${role} cannot `)
    }
  }
})

const SIGNING = '/signing-secret'

test('Secret headers of jobs and their signing secret are masked for viewers, also in responses that repeat them', async () => {
  target.answers(
    ({ headers }) => new Response(`sent: ${headers.get('authorization')}, or secret-123`),
  )
  const { api, id: tenantId } = await app.tenant()
  const headers = { Authorization: 'Bearer secret-123', 'X-Team': 'orders' }
  const run_at = new Date(app.clock.now() + 60_000).toISOString()
  const made = await api.post(`${BY_KEY}/jobs`, { ...job, headers, signed: true })
  const later = await api.post(`${BY_KEY}/delayed`, { ...delayed, run_at, headers })
  await api.post(`${BY_KEY}/jobs/${made.body.id}/run`)
  await app.clock.advance(120_000)
  await app.clock.settled()
  const ids: Record<string, string> = { jobs: made.body.id, delayed: later.body.id }
  const reads = routes
    .filter(({ method, path }) => method === 'GET' && path !== SIGNING)
    .filter(({ path }) => !path.startsWith('/monitors'))
    .map(({ path }) => path.replace(ID, ids[path.split('/')[1] ?? ''] ?? ''))
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
    const { secret } = (await session.api.get(BY_SESSION + SIGNING)).body
    const known = (await api.get(BY_KEY + SIGNING)).body.secret
    expect([role, secret]).toEqual([role, role === 'viewer' ? '********' : known])
    for (const [kind, id] of Object.entries(ids)) {
      // Over https, pages want another cookie.
      const headers = { cookie: `__Secure-${session.cookie}` }
      const page = String((await app.raw(`/console/${tenantId}/${kind}/${id}`, { headers })).body)
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
        expect(await statusFor(viewer.headers), route.name).toBe(403)
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
  const before = written()
  const answer = app.raw(`${BY_SESSION}/jobs`, { method: 'POST', headers, body })
  await writer.write(bytes.subarray(0, 9))
  await app.clock.advance(1500)
  await lose(session, operator)
  const changed = written()
  await writer.write(bytes.subarray(9))
  await writer.close()
  expect([(await answer).status, written()]).toEqual([status, changed])
  expect(changed).toBeGreaterThan(before)
})

test('What operators do is in the audit log with their address', async () => {
  const owner = await ownerOfAcme()
  const { headers, api } = await owner.signIn()
  const { id } = (await api.post(`${BY_SESSION}/jobs`, job)).body
  await api.patch(`${BY_SESSION}/jobs/${id}`, { name: 'other' })
  await api.post(`${BY_SESSION}/jobs/${id}/run`)
  const request = new Request(`http://localhost${BY_SESSION}/jobs/${id}`, {
    method: 'DELETE',
    headers,
  })
  notePeer(request, { requestIP: () => ({ address: '192.0.2.7' }) })
  await app.app.fetch(request)
  const { entries } = app.platform.audit.list({ tenantId: acme.id, object: id, limit: 10 })
  const actor = { kind: 'operator', id: owner.id } as const
  expect(entries).toMatchObject([
    { action: 'job.deleted', actor: { ...actor, source: '192.0.2.7' } },
    { action: 'job.run', actor },
    { action: 'job.updated', actor },
    { action: 'job.created', actor },
  ])
})

test('Operators use no requests of the month, and create nothing once it is used up or unpaid', async () => {
  const { tenants, metering } = app.platform
  const creates = /^POST \/(jobs|delayed|monitors|jobs\/:job_id\/run)$/
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
      if (creates.test(route.name)) expect([route.name, status]).toEqual([route.name, refusal])
      else expect(status, route.name).toBeLessThan(300)
    }
  }
})

/** What browsers say about the page that sends a request, and whether it is one of ours. */
const SENDERS: [Headers, boolean][] = [
  [{}, true],
  [{ 'sec-fetch-site': 'same-origin', origin: OWN_ORIGIN }, true],
  // Behind a proxy that changes the name.
  [{ 'sec-fetch-site': 'same-origin', origin: 'https://inside.example' }, true],
  [{ origin: OWN_ORIGIN }, true],
  [{ 'sec-fetch-site': 'none' }, true],
  [{ 'sec-fetch-site': 'none', origin: OWN_ORIGIN }, true],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, false],
  [{ 'sec-fetch-site': 'cross-site', origin: OWN_ORIGIN }, false],
  [{ 'sec-fetch-site': 'same-site' }, false],
  [{ 'sec-fetch-site': 'beside-us', origin: OWN_ORIGIN }, false],
  [{ 'sec-fetch-site': '' }, false],
  [{ 'sec-fetch-site': 'none', origin: 'https://evil.example' }, false],
  [{ origin: 'https://evil.example' }, false],
  [{ origin: 'null' }, false],
  [{ origin: 'http://console.example' }, false],
  [{ origin: 'https://console.example:8443' }, false],
  [{ origin: 'https://console.example.evil.example' }, false],
  [{ origin: '' }, false],
]

test('Requests of our own pages are done; those of other sites change nothing', async () => {
  const { cookie } = await (await ownerOfAcme()).signIn()
  const [, post] = TWO as [Route, Route]
  await statusWith(cookie)
  for (const [from, isOurs] of SENDERS) {
    const before = written()
    const { status, body } = await send(BY_SESSION, post, { cookie, ...from })
    expect([from, status]).toEqual([from, isOurs ? 201 : 403])
    if (isOurs) continue
    expect(body.error).toMatch(/^(Sec-Fetch-Site|Origin): /)
    expect([(await send(BY_SESSION, post, from)).status, written()]).toEqual([401, before])
  }
  const from = { cookie, 'sec-fetch-site': 'cross-site' }
  for (const route of routes) {
    const id = await jobFor(route, acme)
    const { status, headers } = await send(BY_SESSION, route, from, { id })
    expect([route.name, status]).toEqual([route.name, route.method === 'GET' ? 200 : 403])
    if (status === 403) continue
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.has('access-control-allow-origin')).toBe(false)
  }
  const { body } = await send(BY_SESSION, post, { cookie, origin: 'http://192.168.1.5:8080' })
  expect(body.error).toStartWith(`Origin: must be ${OWN_ORIGIN}, `)
})
