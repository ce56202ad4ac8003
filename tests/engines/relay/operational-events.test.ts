import { expect, test } from 'bun:test'
import { createSelfTest } from '../../../src/delivery/self-test.ts'
import { type Json, leapTo, type Party, refusal, useRelay, WITHOUT_RETRIES } from './fixture.ts'
import { count, DELIVERIES, EVENT_TYPES, expectDescribedType, HOUR, MINUTE } from './support.ts'

/** The first failure opens the breaker. */
const fragile = await useRelay({ flags: { 'relay-breaker-failures': '1' } })
/** Each failed attempt exhausts its delivery, and the breaker never opens. */
const final = await useRelay({
  flags: { ...WITHOUT_RETRIES.flags, 'relay-breaker-failures': '1000' },
})

const ALL = ['endpoint.*', 'message.exhausted', 'job.*']

/** A tenant whose receiver answers by path: 200 unless a test says otherwise. */
async function pathsOf(relay: Party) {
  const statuses: Record<string, number | (() => number)> = {}
  relay.target.answers(({ path }) => {
    const status = statuses[path] ?? 200
    return new Response('', { status: typeof status === 'function' ? status() : status })
  })
  return {
    ...relay,
    statuses,
    endpointAt: (path: string, event_types: string[] | null, more: Json = {}): Promise<Json> =>
      relay.createEndpoint({ url: new URL(path, relay.target.url).href, event_types, ...more }),
    /** `[type, payload]` of the operational events that arrived at a path. */
    toldAt: (path: string): [string, Json][] =>
      relay.target.requests
        .filter((request) => request.path === path)
        .map(({ body }) => JSON.parse(body))
        .filter(({ data }) => 'url' in data)
        .map(({ type, data }) => [type, data]),
    /** Goes past the pause of a breaker. */
    afterPause: async (endpoint: Json) => {
      const { open_until } = await relay.healthOf(endpoint)
      await leapTo(relay.app, Date.parse(open_until))
    },
    operational: () =>
      count(relay.app, `messages where about is not null and tenant_id = '${relay.id}'`),
  }
}

test('An endpoint that fails, is disabled and resumed is told of once per transition', async () => {
  const relay = await pathsOf(await fragile.newTenant())
  const { statuses, afterPause, toldAt } = relay
  await relay.endpointAt('/ops', ALL)
  const { id } = await relay.endpointAt('/secret?token=1', null, { description: 'Shop' })
  statuses['/secret?token=1'] = 500
  await relay.deliver()
  await afterPause({ id })
  await afterPause({ id })
  statuses['/secret?token=1'] = 200
  await afterPause({ id })
  await relay.deliver()
  statuses['/secret?token=1'] = 410
  await relay.deliver()
  statuses['/secret?token=1'] = 200
  await relay.change({ id }, { active: true })
  await relay.rest()
  const told = toldAt('/ops')
  const url = expect.stringMatching(new RegExp(`/console/${relay.id}/live/endpoints/${id}$`))
  const common = { endpoint_id: id, kind: 'endpoint', name: 'Shop', at: expect.any(String), url }
  expect(told).toEqual([
    ['endpoint.failing', { ...common, attempts: 1, error_code: 'status', response_status: 500 }],
    ['endpoint.recovered', { ...common, previous_state: 'failing' }],
    [
      'endpoint.disabled',
      { ...common, disabled_reason: 'gone', attempts: 0, error_code: 'gone', response_status: 410 },
    ],
    ['endpoint.recovered', { ...common, previous_state: 'disabled' }],
  ])
  for (const [type, payload] of told) expectDescribedType(type, payload)
  expect(JSON.stringify(told)).not.toContain('token')
})

test('Failed deliveries are told once per endpoint and hour, with the number since', async () => {
  const relay = await pathsOf(await final.newTenant())
  const { statuses, toldAt } = relay
  await relay.endpointAt('/ops', ALL)
  const [one, other] = [
    await relay.endpointAt('/one', ['a']),
    await relay.endpointAt('/other', ['b']),
  ]
  Object.assign(statuses, { '/one': 500, '/other': 404 })
  for (const event_type of ['a', 'a', 'a', 'b']) await relay.deliver({ event_type })
  await relay.leap(HOUR)
  const last = await relay.deliver({ event_type: 'a' })
  const seen = toldAt('/ops').map(([, { endpoint_id, count }]) => [endpoint_id, count])
  expect(seen).toEqual([
    [one.id, 1],
    [other.id, 1],
    [one.id, 3],
  ])
  const [type, payload] = toldAt('/ops').at(-1) ?? ['', {}]
  const { id: delivery_id } = await relay.deliveryOf(last)
  expect(payload).toMatchObject({ message_id: last.id, event_type: 'a', delivery_id, attempts: 1 })
  expect(payload.url).toEndWith(`/console/${relay.id}/live/deliveries/${delivery_id}`)
  expectDescribedType(type, payload)
})

test('An endpoint is not told of itself, nor is one with the same URL, not even by a replay', async () => {
  const relay = await pathsOf(await final.newTenant())
  const { statuses } = relay
  const all = [...ALL, 'user.*']
  const failing = await relay.endpointAt('/a', all)
  const same = await relay.endpointAt('/a#same', ALL)
  const other = await relay.endpointAt('/ops', ALL)
  statuses['/a'] = 500
  await relay.deliver()
  const [message] = await relay.listMessages('?event_type=message.exhausted')
  const { endpoints } = await relay.readMessage(message)
  const verdicts = endpoints.map(({ endpoint_id, verdict }: Json) => [endpoint_id, verdict])
  expect(Object.fromEntries(verdicts)).toEqual({
    [failing.id]: 'own',
    [same.id]: 'own',
    [other.id]: 'succeeded',
  })
  const since = relay.at(0)
  const counts = [failing, same, other].map((to) => relay.dryRun(to, { since, which: 'all' }))
  expect(await Promise.all(counts)).toEqual([1, 0, 1])
})

test('The subject of an event is looked up once, however many endpoints subscribe', () => {
  let lookups = 0
  const ofTenant = () => ({ url: `https://a.example/${++lookups}` })
  const test = createSelfTest({ store: { endpoints: { ofTenant } } as never })('acme', {
    about: 'endpoint:1',
  })
  const results = [1, 2, 3].map((n) =>
    test({ id: `${n}`, url: `https://a.example/${n - 1}` }, 'matches'),
  )
  expect([results, lookups]).toEqual([['own', 'own', 'matches'], 1])
})

test('A delivery of an operational event is the reason of no other one', async () => {
  const relay = await pathsOf(await final.newTenant())
  const { statuses, toldAt } = relay
  await relay.endpointAt('/a', ['user.*'])
  await relay.endpointAt('/ops', ALL)
  await relay.endpointAt('/more', ALL)
  Object.assign(statuses, { '/a': 500, '/ops': 500 })
  await relay.deliver()
  expect(toldAt('/more').map(([type]) => type)).toEqual(['message.exhausted'])
  statuses['/ops'] = 410
  await relay.leap(HOUR)
  await relay.deliver()
  expect(toldAt('/more').map(([type]) => type)).toEqual(['message.exhausted', 'message.exhausted'])
  expect(relay.operational()).toBe(2)
})

test('Endpoints that tell of each other and come and go don’t go on forever', async () => {
  const relay = await pathsOf(await fragile.newTenant())
  const { statuses, leap, operational } = relay
  for (const path of ['/a', '/b', '/c']) {
    let calls = 0
    statuses[path] = () => (calls++ % 2 === 0 ? 500 : 200)
    await relay.endpointAt(path, [...ALL, 'user.*'])
  }
  await relay.deliver()
  const turn = async () => {
    for (let n = 0; n < 8; n++) await leap(10 * MINUTE)
    return operational()
  }
  const all = await turn()
  expect(all).toBeGreaterThan(3)
  expect(await turn()).toBe(all)
  expect(Object.keys(await relay.tally())).toEqual(['succeeded'])
})

test('A failure that operational events found first is told with the next message, and their success ends it', async () => {
  const relay = await pathsOf(await fragile.newTenant())
  const { statuses, toldAt } = relay
  const mixed = await relay.endpointAt('/mixed', [...ALL, 'b'])
  await relay.endpointAt('/a', ['a'])
  await relay.endpointAt('/ops', ALL)
  Object.assign(statuses, { '/a': 500, '/mixed': 500 })
  await relay.deliver({ event_type: 'a' })
  const about = () => toldAt('/ops').filter(([, { endpoint_id }]) => endpoint_id === mixed.id)
  expect(about()).toEqual([])
  const message = await relay.deliver({ event_type: 'b' })
  for (let n = 0; n < 4; n++) await relay.afterPause(mixed)
  expect(about().map(([type]) => type)).toEqual(['endpoint.failing'])
  const { id } = await relay.deliveryOf(message, mixed)
  await relay.api.post(`${DELIVERIES}/${id}/cancel`)
  statuses['/mixed'] = 200
  await relay.afterPause(mixed)
  expect(about().map(([type]) => type)).toEqual(['endpoint.failing', 'endpoint.recovered'])
})

test.each([[null], [['*']], [['monitor.*', 'user.*']]])(
  'Nothing is stored for endpoints that list %j',
  async (types) => {
    const relay = await pathsOf(await fragile.newTenant())
    await relay.endpointAt('/a', types)
    await relay.endpointAt('/b', types)
    relay.statuses['/a'] = 410
    await relay.deliver()
    expect(relay.operational()).toBe(0)
    expect((await relay.listMessages()).length).toBe(1)
  },
)

test('A webhook of user events that fails is told of as one', async () => {
  const relay = await pathsOf(await final.newTenant())
  await relay.endpointAt('/ops', ALL)
  const gate = relay.app.client((await relay.newKey('gate', 'live')).key)
  const url = new URL('/users', relay.target.url).href
  const { body } = await gate.post('/v1/gate/settings/webhooks', {
    url,
    events: ['identity.created'],
  })
  relay.statuses['/users'] = 500
  await gate.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email: 'ada@example.com' },
  })
  for (let n = 0; n < 4; n++) await relay.leap(4000)
  const [[type, payload]] = relay.toldAt('/ops') as [[string, Json]]
  expect(payload).toMatchObject({
    kind: 'webhook',
    endpoint_id: body.id,
    event_type: 'identity.created',
    attempts: 3,
  })
  expect(payload.url).toEndWith(`/webhooks/${body.id}/deliveries/${payload.delivery_id}`)
  expectDescribedType(type, payload)
})

test('A tenant’s own messages of a built-in type go to all endpoints and don’t change its schema', async () => {
  const relay = await pathsOf(await fragile.newTenant())
  const path = `${EVENT_TYPES}/job.failed`
  await relay.endpointAt('/a', null)
  const before = await relay.read(path)
  expect(before).toMatchObject({ built_in: true, count: 0, first_seen_at: null, drift: [] })
  for (const payload of [{ n: 1 }, { n: 'x' }])
    await relay.deliver({ event_type: 'job.failed', payload })
  expect(relay.target.requests.length).toBe(2)
  const { schema, sample } = before
  const after = { count: 2, breaking_changes: 0, drift: [], schema, sample }
  expect(await relay.read(path)).toMatchObject(after)
  const sandbox = await relay.sandbox()
  expect(await sandbox.api.get(path)).toMatchObject(refusal(404, 'not_found'))
})
