import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ROLES, type Role } from '../../src/console/operators/rights.ts'
import {
  newOperator,
  type Operator,
  type OperatorSession,
  sessionClient,
} from '../support/operator.ts'
import { startTarget } from '../support/target.ts'
import {
  BY_KEY,
  BY_SESSION,
  bootDashboard,
  type Fixture,
  hasBody,
  nameOf,
  type Route,
  type Tenant,
} from './dashboard-fixture.ts'

const ACTOR = { kind: 'cli', source: 'test' } as const

let fixture: Fixture
let acme: Tenant
let other: Tenant
beforeAll(async () => {
  fixture = await bootDashboard()
  acme = await fixture.app.tenant('Acme')
  other = await fixture.app.tenant('Other')
})
afterAll(() => fixture.end())

const operatorIn = (roles: Record<string, Role>) => newOperator(fixture.app, { roles })
const ownerOfAcme = () => operatorIn({ [acme.id]: 'owner' })

/** Every route refuses these headers with this status and these words, and does nothing. */
async function expectRefused(headers: Record<string, string>, status: number, words: string) {
  const before = fixture.stored()
  for (const route of fixture.routes) {
    const answer = await fixture.send(BY_SESSION, route, { headers })
    expect({ route: nameOf(route), ...answer }).toMatchObject({
      status,
      body: { error: expect.stringContaining(words) },
    })
    expect(Object.keys(answer.body)).toEqual(['error'])
    expect(answer.headers.get('x-request-id')).toStartWith('req_')
    expect(answer.headers.has('ratelimit')).toBe(false)
  }
  expect(fixture.stored()).toEqual(before)
}

async function expectGood(cookie: string) {
  const api = sessionClient(fixture.app, cookie)
  expect(await api.get(`${BY_SESSION}/jobs`)).toMatchObject({ status: 200 })
}

const otherDigit = (token: string) => token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')

describe('every route answers 401', () => {
  const NONE = 'missing session'
  const ENDED = 'its session has ended'

  test('without a cookie', () => expectRefused({}, 401, NONE))

  test('to a key, which is for the other routes', async () => {
    await expectRefused({ authorization: `Bearer ${acme.secret}` }, 401, NONE)
    await expectRefused({ cookie: `identity_session=${acme.secret}` }, 401, ENDED)
  })

  test.each(['', 'x', 'gat_st_', 'gat_st_short', '"'])('to the cookie %j', (value) =>
    expectRefused({ cookie: `identity_session=${value}` }, 401, ENDED),
  )

  test('to a good token in a cookie of another name, or in a header', async () => {
    const { token } = await (await ownerOfAcme()).signIn()

    await expectRefused({ cookie: `session=${token}` }, 401, NONE)
    await expectRefused({ 'x-session-token': token }, 401, NONE)
    await expectRefused({ authorization: `Bearer ${token}` }, 401, NONE)
  })

  test('to a token with a wrong check digit', async () => {
    const { cookie } = await (await ownerOfAcme()).signIn()

    await expectRefused({ cookie: otherDigit(cookie) }, 401, ENDED)
  })

  test('to a session of a person of the tenant, who is no operator', async () => {
    const { gate, db } = fixture.app
    const token = await db.commit(() => {
      const person = gate.people.addByThemselves(acme.id, { email: 'ada@example.com' }, 'password')
      return gate.sessions.open(person, {
        assuranceLevel: 'aal1',
        methods: [{ method: 'password', aal: 'aal1' }],
        ipAddress: null,
        userAgent: null,
      }).token
    })

    await expectRefused({ cookie: `identity_session=${token}` }, 401, ENDED)
  })

  test('once the session was ended, and leaves others of the operator alone', async () => {
    const operator = await ownerOfAcme()
    const [first, second] = [await operator.signIn(), await operator.signIn()]
    await expectGood(first.cookie)

    await first.end()

    await expectRefused(first.headers, 401, ENDED)
    await expectGood(second.cookie)
  })

  test('once all sessions were ended', async () => {
    const operator = await ownerOfAcme()
    const { cookie } = await operator.signIn()
    await expectGood(cookie)

    await operator.endSessions()

    await expectRefused({ cookie }, 401, ENDED)
    await expectGood((await operator.signIn()).cookie)
  })

  test('to an operator who was deactivated', async () => {
    const operator = await ownerOfAcme()
    const { cookie } = await operator.signIn()
    await expectGood(cookie)

    await operator.deactivate()

    await expectRefused({ cookie }, 401, ENDED)
  })

  test('to an operator who was deleted', async () => {
    const operator = await ownerOfAcme()
    const { cookie } = await operator.signIn()
    await expectGood(cookie)

    await operator.remove()

    await expectRefused({ cookie }, 401, ENDED)
  })

  test('to a session that owes a second factor, until that was shown', async () => {
    const operator = await ownerOfAcme()
    const { id, cookie } = await operator.signIn()
    await expectGood(cookie)

    await operator.enrol()
    await expectRefused({ cookie }, 401, 'two-factor authentication')

    await operator.showSecondFactor(id)
    await expectGood(cookie)
  })

  test('to a session past its time, and not before', async () => {
    await using own = await bootDashboard({ flags: { 'gate-session-lifetime': '1h' } })
    const tenant = await own.app.tenant('Acme')
    const operator = await newOperator(own.app, { roles: { [tenant.id]: 'viewer' } })
    const { api } = await operator.signIn()

    await own.app.clock.advance(60 * 60_000 - 1)
    expect(await api.get(`${BY_SESSION}/jobs`)).toMatchObject({ status: 200 })
    await own.app.clock.advance(1)
    expect(await api.get(`${BY_SESSION}/jobs`)).toMatchObject({ status: 401 })
  })
})

test('a session is no key', async () => {
  const { cookie, token } = await (await ownerOfAcme()).signIn()

  for (const route of fixture.routes)
    for (const [name, value] of [
      ['cookie', cookie],
      ['authorization', `Bearer ${token}`],
    ] as const) {
      const answer = await fixture.send(BY_KEY, route, { headers: { [name]: value } })
      expect([nameOf(route), answer.status]).toEqual([nameOf(route), 401])
    }
})

describe('every route answers 403', () => {
  const INSTANCE = 'switch to a tenant first'
  const NOWHERE = "you don't have access to the selected tenant"

  test('to an admin account that belongs to no tenant', async () => {
    const { cookie } = await (await newOperator(fixture.app, { isAdmin: true })).signIn()

    await expectRefused({ cookie }, 403, INSTANCE)
  })

  test('to an admin who acts for the installation, and not in the tenant', async () => {
    const roles = { [acme.id]: 'owner' } as const
    const session = await (await newOperator(fixture.app, { isAdmin: true, roles })).signIn()
    await expectGood(session.cookie)

    await session.actIn(null)
    await expectRefused(session.headers, 403, INSTANCE)

    await session.actIn(acme.id)
    await expectGood(session.cookie)
  })

  test('to an admin who chose a tenant of others', async () => {
    const session = await (await newOperator(fixture.app, { isAdmin: true })).signIn()
    await session.actIn(acme.id)

    await expectRefused(session.headers, 403, NOWHERE)
  })

  test('to whoever has no part any more in the tenant they chose, though they have one elsewhere', async () => {
    const other = await fixture.app.tenant('Other')
    const operator = await operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })
    const session = await operator.signIn()
    await session.actIn(acme.id)
    await expectGood(session.cookie)

    await operator.leave(acme.id)
    await expectRefused(session.headers, 403, NOWHERE)
    await session.actIn(other.id)
    await expectGood(session.cookie)
  })

  test('to an operator who belongs to no tenant, or no longer', async () => {
    await expectRefused((await (await operatorIn({})).signIn()).headers, 403, NOWHERE)

    const operator = await ownerOfAcme()
    const { cookie } = await operator.signIn()
    await expectGood(cookie)
    await operator.leave(acme.id)
    await expectRefused({ cookie }, 403, NOWHERE)
  })
})

test('a program that names a tenant gets 409 from every route while its session acts in another', async () => {
  const session = await (await operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })).signIn()
  await session.actIn(other.id)
  for (const route of fixture.routes) {
    const statusFor = async ({ id: meant }: Tenant) => {
      const headers = { ...session.headers, 'gatehouse-tenant': meant }
      const id = await fixture.jobFor(route, other)
      return (await fixture.send(BY_SESSION, route, { headers, id })).status
    }
    const status = await statusFor(other)
    expect([nameOf(route), status < 300, await statusFor(acme)]).toEqual([nameOf(route), true, 409])
  }
})

/** What each role may call; a route that is not named here follows from its method. */
const EVERYBODY: readonly Role[] = ROLES
const CALLERS: Record<string, readonly Role[]> = { 'POST /jobs/preview': EVERYBODY }
const BY_METHOD: Record<string, readonly Role[]> = {
  GET: EVERYBODY,
  POST: ['owner', 'member'],
  PATCH: ['owner', 'member'],
  DELETE: ['owner'],
}
const callersOf = (route: Route) => CALLERS[nameOf(route)] ?? BY_METHOD[route.method] ?? []

describe.each(ROLES)('a %s', (role) => {
  test('gets through where the role has the right, and is told of the role elsewhere', async () => {
    const { cookie } = await (await operatorIn({ [acme.id]: role })).signIn()

    for (const route of fixture.routes) {
      const id = await fixture.jobFor(route, acme)
      const before = fixture.stored()
      const answer = await fixture.send(BY_SESSION, route, { headers: { cookie }, id })
      const seen = { route: nameOf(route), status: answer.status }
      if (callersOf(route).includes(role)) {
        expect(seen.status, seen.route).toBeLessThan(300)
        continue
      }
      expect(seen).toEqual({ ...seen, status: 403 })
      expect(answer.body.error).toStartWith(`a ${role} cannot `)
      expect(fixture.stored()).toEqual(before)
    }
  })

  test('has no more rights here for being an owner elsewhere', async () => {
    const session = await (await operatorIn({ [acme.id]: role, [other.id]: 'owner' })).signIn()
    await session.actIn(acme.id)

    for (const route of fixture.routes) {
      const id = await fixture.jobFor(route, acme)
      const { status } = await fixture.send(BY_SESSION, route, { headers: session.headers, id })
      const isGood = callersOf(route).includes(role)
      expect([nameOf(route), status < 300, status === 403]).toEqual([
        nameOf(route),
        isGood,
        !isGood,
      ])
    }
  })
})

describe('what changes meanwhile counts at once', () => {
  test('a role', async () => {
    const operator = await ownerOfAcme()
    const { api } = await operator.signIn()
    const create = () => api.post(`${BY_SESSION}/jobs`, fixture.job)
    expect(await create()).toMatchObject({ status: 201 })

    await operator.setRole(acme.id, 'viewer')
    expect(await create()).toMatchObject({ status: 403 })
    await operator.setRole(acme.id, 'member')
    expect(await create()).toMatchObject({ status: 201 })
  })

  test('the standing of the tenant', async () => {
    const tenant = await fixture.app.tenant('Late payer')
    const { api } = await (await operatorIn({ [tenant.id]: 'owner' })).signIn()
    const create = () => api.post(`${BY_SESSION}/jobs`, fixture.job)
    expect(await create()).toMatchObject({ status: 201 })

    await fixture.app.platform.tenants.suspend(ACTOR, tenant.id, 'billing')
    expect(await create()).toMatchObject({ status: 402 })
    await fixture.app.platform.tenants.resume(ACTOR, tenant.id)
    expect(await create()).toMatchObject({ status: 201 })
  })

  test('the place, for the session in which it was chosen and no other', async () => {
    const operator = await operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })
    const [first, second] = [await operator.signIn(), await operator.signIn()]
    const tenantOf = async ({ api }: typeof first) =>
      (await api.post(`${BY_SESSION}/jobs`, fixture.job)).body.tenant_id
    await first.actIn(acme.id)

    await second.actIn(other.id)

    expect([await tenantOf(first), await tenantOf(second)]).toEqual([acme.id, other.id])
  })
})

describe('who calls comes before what is sent', () => {
  const BAD = [
    ['malformed', '{', 'application/json'],
    ['of another type', 'a=b', 'text/plain'],
    ['too large', 'x'.repeat(2_000_000), 'application/json'],
    ['of wrong fields', '{"name":5}', 'application/json'],
  ] as const

  test('viewers read jobs with secret headers masked, by routes as on pages; others read them whole', async () => {
    const headers = { Authorization: 'Bearer secret', 'X-Team': 'orders' }
    const { api } = acme
    const job = await api.post('/v1/clockwork/jobs', { ...fixture.job, headers })
    const delayed = await api.post('/v1/clockwork/delayed', { ...fixture.delayed, headers })
    const ids: Record<string, string> = { jobs: job.body.id, delayed: delayed.body.id }
    // Every route that answers with jobs, so that a new one is covered without being named here.
    const routes = fixture.routes
      .filter(({ method, path }) => method === 'GET' && !path.endsWith('/executions'))
      .map(({ path }) => path.replace(':job_id', ids[path.split('/')[1] ?? ''] ?? ''))
    expect(routes).toHaveLength(4)

    for (const role of ROLES) {
      const session = await (await operatorIn({ [acme.id]: role })).signIn()
      const byRoute = routes.map((path) => [`${BY_SESSION}${path}`, `${BY_KEY}${path}`] as const)
      for (const [path, sameByKey] of byRoute) {
        const seen = JSON.stringify((await session.api.get(path)).body)
        const whole = JSON.stringify((await api.get(sameByKey)).body)
        expect(whole).toContain('"Bearer secret"')
        const masked = whole.replaceAll('"Bearer secret"', '"********"')
        expect([role, path, seen]).toEqual([role, path, role === 'viewer' ? masked : whole])
      }
      for (const kind of ['jobs', 'delayed']) {
        const page = String((await session.api.get(`/console/${kind}/${ids[kind]}`)).body)
        expect([role, kind, page.includes('Bearer secret')]).toEqual([
          role,
          kind,
          role !== 'viewer',
        ])
        expect(page).toContain('orders')
      }
    }
  })

  test('viewers read no secret header in an answer that repeats it either', async () => {
    await using own = await bootDashboard()
    await using target = startTarget(
      ({ headers }) => new Response(`sent: ${headers.get('authorization')}, or secret-123`),
    )
    const tenant = await own.app.tenant()
    const { api } = tenant
    const request = { url: target.url, headers: { Authorization: 'Bearer secret-123' } }
    const job = await api.post('/v1/clockwork/jobs', { ...own.job, ...request })
    const delayed = await api.post('/v1/clockwork/delayed', { ...own.delayed, ...request })
    await api.post(`/v1/clockwork/jobs/${job.body.id}/run`)
    await own.app.clock.advanceTo(Date.parse(own.delayed.run_at))
    await own.app.clock.settled()

    for (const role of ROLES) {
      const operator = await newOperator(own.app, { roles: { [tenant.id]: role } })
      const session = await operator.signIn()
      for (const of of [`jobs/${job.body.id}`, `delayed/${delayed.body.id}`])
        for (const path of [`${BY_SESSION}/${of}/executions`, `/console/${of}`]) {
          const seen = JSON.stringify((await session.api.get(path)).body)
          expect(seen).toContain('sent: ')
          expect([role, path, seen.includes('secret-123')]).toEqual([role, path, role !== 'viewer'])
        }
    }
  })

  test.each(BAD)('401 and 403 come before a body that is %s', async (_, body, type) => {
    const nobody = await (await operatorIn({})).signIn()
    const viewer = await (await operatorIn({ [acme.id]: 'viewer' })).signIn()

    for (const route of fixture.routes.filter(hasBody)) {
      const statusFor = async (headers: Record<string, string>) =>
        (await fixture.send(BY_SESSION, route, { headers, body, type })).status
      expect(await statusFor({}), nameOf(route)).toBe(401)
      expect(await statusFor(nobody.headers), nameOf(route)).toBe(403)
      if (!callersOf(route).includes('viewer'))
        expect(await statusFor(viewer.headers), nameOf(route)).toBe(403)
    }
  })

  const lost = [
    ['the session ends', 401, ({ end }) => end()],
    ['the operator leaves', 403, (_, { leave }) => leave(acme.id)],
    ['the role is taken away', 403, (_, { setRole }) => setRole(acme.id, 'viewer')],
    ['the session switches to another tenant', 409, ({ actIn }) => actIn(other.id)],
  ] satisfies [string, number, (session: OperatorSession, operator: Operator) => Promise<unknown>][]

  test.each(lost)(
    'what is lost while the body is on its way is lost: %s',
    async (_, status, lose) => {
      const operator = await operatorIn({ [acme.id]: 'owner', [other.id]: 'owner' })
      const session = await operator.signIn()
      await session.actIn(acme.id)
      const { readable: body, writable } = new TransformStream<Uint8Array, Uint8Array>()
      const writer = writable.getWriter()
      const bytes = new TextEncoder().encode(JSON.stringify(fixture.job))
      const headers = { ...session.headers, 'content-type': 'application/json' }
      const request = new Request(`http://localhost${BY_SESSION}/jobs`, {
        method: 'POST',
        headers,
        body,
      })
      const before = fixture.stored()

      const answer = fixture.app.app.handle(request)
      await writer.write(bytes.subarray(0, 9))
      await fixture.app.clock.advance(1500)
      await lose(session, operator)
      await writer.write(bytes.subarray(9))
      await writer.close()

      expect((await answer).status).toBe(status)
      expect(fixture.stored()).toEqual(before)
    },
  )
})
