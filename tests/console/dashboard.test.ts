import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { notePeer } from '../../src/http/peers.ts'
import type { Tenants } from '../../src/platform/tenants.ts'
import type { Answer } from '../support/app.ts'
import { newOperator, type Operator, type OperatorSession } from '../support/operator.ts'
import {
  BY_KEY,
  BY_SESSION,
  bootDashboard,
  type Fixture,
  NOBODYS,
  nameOf,
  type Route,
  routesUnder,
  type Tenant,
} from './dashboard-fixture.ts'

const ACTOR = { kind: 'cli', source: 'test' } as const
const ADDRESS = '192.0.2.7'

/** Twins: one is called by its key, the other by a session of its owner. */
let fixture: Fixture
let keyed: Tenant
let watched: Tenant
let owner: Operator
let session: OperatorSession
let byKey: Record<string, string>
let bySession: Record<string, string>
beforeAll(async () => {
  fixture = await bootDashboard()
  keyed = await fixture.app.tenant('Keyed')
  watched = await fixture.app.tenant('Watched')
  owner = await newOperator(fixture.app, { roles: { [watched.id]: 'owner' } })
  session = await owner.signIn()
  byKey = { authorization: `Bearer ${keyed.secret}` }
  bySession = { cookie: session.cookie }
})
afterAll(() => fixture.end())

const WRONG = JSON.stringify({ name: 5, schedule: 5, url: 5, run_at: 5 })

/** What may be sent on any route, and comes to the same by both ways. */
const SENDINGS: Record<string, { id?: string; body?: string; type?: string }> = {
  'as it should be': {},
  'about a job that nobody has': { id: NOBODYS },
  'about something that is no id': { id: 'x' },
  'with wrong fields': { body: WRONG },
  'with broken JSON': { body: '{' },
  'with no object': { body: '[]' },
  'with another type': { body: 'name=report', type: 'application/x-www-form-urlencoded' },
  'with half a character': { body: '{"name":"\\ud800"}' },
  'with too much': { body: JSON.stringify({ name: 'x'.repeat(2_000_000) }) },
  'with nothing': { body: '' },
}

/** All that has to be equal; ids differ, as do the places of requests in a count. */
const comparable = ({ status, body, headers }: Answer) => ({
  status,
  body: JSON.parse(
    JSON.stringify(body).replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'id'),
  ),
  headers: [...headers.keys()].filter((name) => !name.startsWith('ratelimit')).sort(),
})

/** The same by both ways, each for its own tenant. */
async function both(route: Route, sending: (typeof SENDINGS)[string] = {}) {
  const needsJob = route.path.includes(':job_id') && sending.id === undefined
  const idIn = async (tenant: Tenant) =>
    needsJob ? { id: await fixture.jobFor(route, tenant) } : {}
  const keyId = await idIn(keyed)
  const sessionId = await idIn(watched)
  return {
    key: await fixture.send(BY_KEY, route, { headers: byKey, ...sending, ...keyId }),
    session: await fixture.send(BY_SESSION, route, {
      headers: bySession,
      ...sending,
      ...sessionId,
    }),
  }
}

test('sessions have the routes that keys have, and no others', () => {
  const { app, routes } = fixture

  expect(routes.length).toBeGreaterThanOrEqual(13)
  expect(routesUnder(app, BY_SESSION).map(nameOf)).toEqual(routes.map(nameOf))
})

for (const [name, sending] of Object.entries(SENDINGS))
  test(`every route answers a session as it answers a key: ${name}`, async () => {
    for (const route of fixture.routes) {
      const { key, session } = await both(route, sending)
      expect({ route: nameOf(route), ...comparable(session) }).toEqual({
        route: nameOf(route),
        ...comparable(key),
      })
      if (name === 'as it should be') expect(session.status, nameOf(route)).toBeLessThan(300)
    }
  })

test('so does what is no route at all', async () => {
  const missing = [
    ['PUT', '/jobs'],
    ['GET', '/nothing'],
    ['DELETE', '/jobs'],
  ] as const
  for (const [method, path] of missing) {
    const key = await fixture.send(BY_KEY, { method, path }, { headers: byKey })
    const session = await fixture.send(BY_SESSION, { method, path }, { headers: bySession })
    const asKey = JSON.parse(JSON.stringify(session.body).replaceAll(BY_SESSION, BY_KEY))
    expect([method, path, session.status, asKey]).toEqual([method, path, key.status, key.body])
    expect(session.headers.get('allow')).toBe(key.headers.get('allow'))
  }
})

test('both ways lead to the same jobs of a tenant', async () => {
  const made = await session.api.post(`${BY_SESSION}/jobs`, { ...fixture.job, name: 'by hand' })
  expect(made).toMatchObject({ status: 201, body: { tenant_id: watched.id, name: 'by hand' } })

  const path = `/jobs/${made.body.id}`
  expect((await watched.api.get(BY_KEY + path)).body).toMatchObject(made.body)
  await watched.api.patch(BY_KEY + path, { is_active: false })
  expect((await session.api.get(BY_SESSION + path)).body).toMatchObject({ is_active: false })
})

test('another tenant has its jobs for itself', async () => {
  const routes = fixture.routes.filter(({ path }) => path.includes(':job_id'))
  const ids = await Promise.all(routes.map((route) => fixture.jobFor(route, keyed)))
  const before = fixture.stored()

  for (const [at, route] of routes.entries()) {
    const answer = await fixture.send(BY_SESSION, route, { headers: bySession, id: ids[at] })
    expect({ route: nameOf(route), ...answer }).toMatchObject({
      status: 404,
      body: { error: 'job not found' },
    })
  }
  for (const kind of ['jobs', 'delayed'])
    for (const job of (await session.api.get(`${BY_SESSION}/${kind}`)).body)
      expect(ids).not.toContain(job.id)
  expect(fixture.stored()).toEqual(before)
})

describe('what operators do', () => {
  test('is no request of the month, and no header tells of one', async () => {
    await using own = await bootDashboard()
    const tenant = await own.app.tenant('Acme', 'free')
    const { cookie, api } = await (
      await newOperator(own.app, { roles: { [tenant.id]: 'owner' } })
    ).signIn()
    const requests = async () => (await own.app.platform.metering.usageOf(tenant.id)).requests

    for (const route of own.routes) {
      const { headers } = await own.send(BY_SESSION, route, { headers: { cookie } })
      expect(headers.has('ratelimit')).toBe(false)
      expect(headers.has('ratelimit-policy')).toBe(false)
    }

    expect(await requests()).toBe(0)
    await tenant.api.get(`${BY_KEY}/jobs`)
    expect(await requests()).toBe(1)
    await api.get(`${BY_SESSION}/jobs`)
    expect(await requests()).toBe(1)
  })

  test('stands in the audit log under their name, with where they were', async () => {
    const request = new Request(`http://localhost${BY_SESSION}/jobs`, {
      method: 'POST',
      headers: { ...bySession, 'content-type': 'application/json' },
      body: JSON.stringify(fixture.job),
    })
    notePeer(request, { requestIP: () => ({ address: ADDRESS }) })
    const { id } = await (await fixture.app.app.handle(request)).json()
    await session.api.patch(`${BY_SESSION}/jobs/${id}`, { name: 'other' })
    await session.api.post(`${BY_SESSION}/jobs/${id}/run`)
    await session.api.delete(`${BY_SESSION}/jobs/${id}`)

    const { entries } = fixture.app.platform.audit.list({
      tenantId: watched.id,
      object: id,
      limit: 10,
    })
    const operator = { kind: 'operator', id: owner.id } as const
    expect(entries.map(({ action, actor }) => [action, actor])).toEqual([
      ['job.deleted', operator],
      ['job.run', operator],
      ['job.updated', operator],
      ['job.created', { ...operator, source: ADDRESS }],
    ])
  })
})

describe('terms of the tenant hold by both ways', () => {
  const NEW = ['POST /jobs', 'POST /delayed', 'POST /jobs/:job_id/run']
  const spent = { 'metering-free-requests': '0' }

  const terms = [
    [
      'a month that is used up',
      429,
      spent,
      ({ change }, id) => change(ACTOR, id, { plan: 'free' }),
    ],
    ['an open bill', 402, {}, ({ suspend }, id) => suspend(ACTOR, id, 'billing')],
    ['an unpaid renewal', 402, {}, ({ suspend }, id) => suspend(ACTOR, id, 'renewal')],
  ] satisfies [string, number, Record<string, string>, (tenants: Tenants, id: string) => unknown][]

  test.each(terms)('%s refuses what is new with %d', async (_, refusal, flags, apply) => {
    await using own = await bootDashboard({ flags })
    const tenant = await own.app.tenant('Acme')
    const operator = await newOperator(own.app, { roles: { [tenant.id]: 'owner' } })
    const { cookie } = await operator.signIn()
    const idsOf = new Map<Route, [string, string]>()
    for (const route of own.routes)
      idsOf.set(route, [await own.jobFor(route, tenant), await own.jobFor(route, tenant)])

    await apply(own.app.platform.tenants, tenant.id)

    for (const [route, [first, second]] of idsOf) {
      const authorization = `Bearer ${tenant.secret}`
      const key = await own.send(BY_KEY, route, { headers: { authorization }, id: first })
      const session = await own.send(BY_SESSION, route, { headers: { cookie }, id: second })
      const isNew = NEW.includes(nameOf(route))
      expect([nameOf(route), session.status]).toEqual([nameOf(route), isNew ? refusal : key.status])
      if (isNew) expect(comparable(session)).toEqual(comparable(key))
      else expect(session.status, nameOf(route)).toBeLessThan(300)
    }
  })
})

test('the API document shows both, each with what it asks for', async () => {
  const { body } = await fixture.app.raw('/openapi.json')

  expect(body.components.securitySchemes).toMatchObject({
    session: { type: 'apiKey', in: 'cookie', name: 'identity_session' },
  })
  for (const { method, path } of fixture.routes) {
    const of = (prefix: string) =>
      body.paths[(prefix + path).replace(':job_id', '{job_id}')][method.toLowerCase()]
    expect(of(BY_KEY).security).toEqual([{ apiKey: ['clockwork'] }])
    expect(of(BY_SESSION)).toMatchObject({ tags: ['clockwork'], security: [{ session: [] }] })
    const [session, key] = [of(BY_SESSION).responses, of(BY_KEY).responses]
    expect(Object.keys(session)).toEqual(Object.keys(key))
    expect(withoutWords(session)).toEqual(withoutWords(key))
    expect(JSON.stringify(session)).not.toContain('API key')
  }
})

/** What a refusal is called depends on what one has shown; what it looks like does not. */
const withoutWords = (responses: object): unknown =>
  JSON.parse(JSON.stringify(responses, (name, value) => (name === 'description' ? '' : value)))
