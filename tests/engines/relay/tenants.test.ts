import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Answer } from '../../support/app.ts'
import {
  ACTOR,
  DELIVERIES,
  ENDPOINTS,
  EVENT_TYPES,
  expectDescribed,
  HOUR,
  MESSAGES,
  UNKNOWN_ID,
} from './support.ts'
import { bootRelay, type Party, type Relay } from './tenants-fixture.ts'

const [SEND, READ, MANAGE] = ['relay:send', 'relay:read', 'relay:endpoints'] as const

const GOOD_MESSAGE = { event_type: 'stray', payload: {} }
const GOOD_ENDPOINT = { url: 'http://127.0.0.1:9/stray' }
const LAST_DAY = { since: '2026-02-28T12:00:00Z', dry_run: true }

/**
 * Every route: what is asked, the scopes of which any will do, and a body that it would take.
 * `:m`, `:e`, `:d` and `:t` stand where the ids of a message, an endpoint and a delivery and the
 * name of an event type go.
 */
const ROUTES = [
  ['POST', MESSAGES, [SEND], GOOD_MESSAGE],
  ['GET', MESSAGES, [READ]],
  ['GET', `${MESSAGES}/:m`, [READ, MANAGE]],
  ['GET', `${MESSAGES}/:m/deliveries`, [READ, MANAGE]],
  ['POST', ENDPOINTS, [MANAGE], GOOD_ENDPOINT],
  ['GET', ENDPOINTS, [MANAGE]],
  ['GET', `${ENDPOINTS}/:e`, [MANAGE]],
  ['PATCH', `${ENDPOINTS}/:e`, [MANAGE], { description: 'stray' }],
  ['DELETE', `${ENDPOINTS}/:e`, [MANAGE]],
  ['POST', `${ENDPOINTS}/:e/rotate-secret`, [MANAGE], {}],
  ['POST', `${ENDPOINTS}/:e/test`, [MANAGE], {}],
  ['POST', `${ENDPOINTS}/:e/replay`, [MANAGE], LAST_DAY],
  ['GET', `${ENDPOINTS}/:e/stats`, [MANAGE]],
  ['GET', DELIVERIES, [READ, MANAGE]],
  ['GET', `${DELIVERIES}/:d`, [READ, MANAGE]],
  ['POST', `${DELIVERIES}/:d/resend`, [MANAGE]],
  ['POST', `${DELIVERIES}/:d/cancel`, [MANAGE]],
  ['GET', EVENT_TYPES, [READ, MANAGE]],
  ['GET', `${EVENT_TYPES}/:t`, [READ, MANAGE]],
] as const satisfies readonly (readonly [string, string, readonly string[], unknown?])[]

type Route = (typeof ROUTES)[number]

/** What stands in the places of a path. */
interface Ids {
  m: string
  e: string
  d: string
  t: string
}

const nameOf = ([method, path]: Route) => `${method} ${path}`
const BY_ID = ROUTES.filter(([, path]) => path.includes(':'))

const pathOf = (path: string, ids: Ids) =>
  path.replace(/:([medt])/, (_, place: keyof Ids) => ids[place])

/** One fixture for all: what is refused leaves it as it was. */
let relay: Relay
let mine: Ids
let before: unknown
beforeAll(async () => {
  relay = await bootRelay()
  mine = await fill(relay.acme)
  before = await everythingOf(relay.acme)
  relay.target.requests.splice(0)
})
afterAll(() => relay.end())

/** One of everything that can be read by id, in the live environment. */
async function fill({ live }: Party): Promise<Ids> {
  const { id: e } = await live.createEndpoint()
  const { id: m } = await live.send({ event_type: 'secret.event', idempotency_key: 'k' })
  await relay.delivered()
  const [{ id: d }] = (await live.read(`${MESSAGES}/${m}/deliveries`)).data
  return { m, e, d, t: 'secret.event' }
}

/** All that the API shows of a tenant. */
async function everythingOf({ live, test }: Party) {
  const shown = []
  for (const api of [live, test])
    for (const path of [MESSAGES, ENDPOINTS, DELIVERIES, EVENT_TYPES])
      shown.push(await api.read(path))
  return shown
}

async function expectUntouched() {
  expect(await everythingOf(relay.acme)).toEqual(before as never)
  expect(relay.target.requests).toEqual([])
}

async function ask(
  route: Route,
  credential: string | undefined,
  ids = mine,
  sent: { body?: string; type?: string } = {},
) {
  const [method, path, , json] = route
  const { body = json && JSON.stringify(json), type = 'application/json' } = sent
  const where = pathOf(path, ids)
  const answer = await relay.app.raw(where, {
    method,
    headers: {
      ...(credential !== undefined && { authorization: credential }),
      ...(body !== undefined && { 'content-type': type }),
    },
    ...(body !== undefined && method !== 'GET' && { body }),
  })
  const described = path.replace(/:[medt]/, 'x')
  expectDescribed(relay.document, method.toLowerCase(), described, answer)
  return answer
}

function expectError(route: Route, answer: Answer, status: number, code: string, words: string) {
  expect({ route: nameOf(route), status: answer.status, body: answer.body }).toEqual({
    route: nameOf(route),
    status,
    body: {
      error: {
        code,
        message: expect.stringContaining(words),
        request_id: answer.headers.get('x-request-id'),
      },
    },
  })
  expect(answer.headers.get('www-authenticate')).toBe(status === 401 ? 'Bearer' : null)
}

async function expectAllRefused(
  credential: string | undefined,
  status: 401 | 403,
  words: string,
  sent: { body?: string; type?: string } = {},
) {
  const code = status === 401 ? 'unauthenticated' : 'forbidden'
  for (const route of ROUTES)
    expectError(route, await ask(route, credential, mine, sent), status, code, words)
  await expectUntouched()
}

const bearer = (key: string) => `Bearer ${key}`

test('the table has every route that there is', () => {
  const served = relay.app.app.routes
    .filter(({ path }) => path.startsWith('/v1/relay'))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:\w+/g, ':x')}`)
  const listed = ROUTES.map((route) => nameOf(route).replaceAll(/:\w+/g, ':x'))

  expect(listed.toSorted()).toEqual(served.toSorted())
})

describe('every route answers 401', () => {
  test('without a credential', () => expectAllRefused(undefined, 401, 'missing API key'))

  test.each([
    '',
    'Bearer',
    'Bearer ',
    'garbage',
    'Basic dXNlcjpwYXNz',
    'Bearer garbage',
    'Bearer svc_relay_live_sk_',
    'Bearer svc_relay_live_sk_short',
    'Bearer svc_relay_prod_sk_0000000000000000000000000000000000000000000',
  ])('to %j', (credential) => expectAllRefused(credential, 401, 'API key'))

  test('to a key with a wrong check digit, of the other environment, or cut', async () => {
    const { liveKey } = relay.acme
    const wrong = liveKey.slice(0, -1) + (liveKey.endsWith('0') ? '1' : '0')
    for (const key of [wrong, liveKey.replace('_live_', '_test_'), liveKey.slice(0, -1)])
      await expectAllRefused(bearer(key), 401, 'invalid or revoked')
  })

  test('to a well-formed key that nobody was given', async () => {
    await using other = await bootRelay()
    expect(other.acme.liveKey).toMatch(/^svc_relay_live_sk_[0-9A-Za-z]{43}$/)
    expect(other.acme.testKey).toMatch(/^svc_relay_test_sk_[0-9A-Za-z]{43}$/)
    await expectAllRefused(bearer(other.acme.liveKey), 401, 'invalid or revoked')
  })

  test('to a revoked key', async () => {
    const { id, key } = await relay.acme.key('relay', 'live')
    expect(await ask(ROUTES[1], bearer(key))).toMatchObject({ status: 200 })

    await relay.app.platform.keys.revoke(ACTOR, id)

    await expectAllRefused(bearer(key), 401, 'invalid or revoked')
  })

  test('to a rotated key once its grace has passed, and not before', async () => {
    const { id, key } = await relay.acme.key('relay', 'live')
    const { key: successor } = await relay.app.platform.keys.rotate(ACTOR, id, HOUR)
    relay.clock.jump(HOUR - 1)
    expect(await ask(ROUTES[1], bearer(key))).toMatchObject({ status: 200 })

    relay.clock.jump(1)

    await expectAllRefused(bearer(key), 401, 'invalid or revoked')
    expect(await ask(ROUTES[1], bearer(successor))).toMatchObject({ status: 200 })
  })
})

describe('every route answers 403', () => {
  test.each(['gate', 'passepartout'] as const)('to a key of %s', async (engine) => {
    for (const environment of ['live', 'test'] as const) {
      const { key } = await relay.acme.key(engine, environment)
      await expectAllRefused(bearer(key), 403, `this is a ${engine} key; the route needs a relay`)
    }
  })

  test('to a key of clockwork', async () => {
    const { key } = await relay.acme.key('clockwork')
    await expectAllRefused(bearer(key), 403, 'this is a clockwork key; the route needs a relay')
  })

  test('to a key without any scope of the engine', async () => {
    const { key } = await relay.acme.key('relay', 'live', ['reports:read'])
    await expectAllRefused(bearer(key), 403, 'the key lacks the scope relay:')
  })
})

describe('a key with one scope', () => {
  test.each([SEND, READ, MANAGE])(
    '%s gets through where that suffices, and nowhere else',
    async (scope) => {
      await using own = await bootRelay()
      const { key } = await own.acme.key('relay', 'live', [scope])
      const nowhere = { m: UNKNOWN_ID, e: UNKNOWN_ID, d: UNKNOWN_ID, t: 'nothing' }
      let admitted = 0

      for (const route of ROUTES) {
        const [method, path, scopes, json] = route
        const headers = {
          authorization: bearer(key),
          ...(json && { 'content-type': 'application/json' }),
        }
        const body = json && JSON.stringify(json)
        const answer = await own.app.raw(pathOf(path, nowhere), { method, headers, body })
        const isEnough = (scopes as readonly string[]).includes(scope)
        if (isEnough) {
          admitted++
          expect([200, 201, 202, 404], nameOf(route)).toContain(answer.status)
        } else {
          const words = `the key lacks the scope ${scopes.join(' or ')}`
          expectError(route, answer, 403, 'forbidden', words)
        }
      }

      expect(admitted).toBe({ [SEND]: 1, [READ]: 7, [MANAGE]: 17 }[scope] as number)
    },
  )
})

describe('who calls comes before what is sent', () => {
  const BAD = [
    ['malformed', '{', 'application/json'],
    ['of another type', 'a=b', 'text/plain'],
    ['too large', 'x'.repeat(2_000_000), 'application/json'],
    ['of wrong fields', '{"event_type":5}', 'application/json'],
  ] as const

  test.each(BAD)('401 comes before a body that is %s', (_, body, type) =>
    expectAllRefused(undefined, 401, 'missing API key', { body, type }),
  )

  test.each(BAD)('403 comes before a body that is %s', async (_, body, type) => {
    const { key } = await relay.acme.key('gate', 'live')
    await expectAllRefused(bearer(key), 403, 'this is a gate key', { body, type })
  })

  test('401 and 403 come before a query that is wrong', async () => {
    const { key } = await relay.acme.key('gate', 'live')
    for (const path of [MESSAGES, ENDPOINTS, DELIVERIES, EVENT_TYPES]) {
      const query = `${path}?limit=0&cursor=x&status=x`
      expect(await relay.app.raw(query)).toMatchObject({ status: 401 })
      const headers = { authorization: bearer(key) }
      expect(await relay.app.raw(query, { headers })).toMatchObject({ status: 403 })
    }
  })

  test('and before whether the tenant is suspended', async () => {
    const other = await relay.party('Suspended')
    const { key } = await other.key('relay', 'live', [READ])
    await relay.app.platform.tenants.suspend(ACTOR, other.id, 'billing')

    expect(await ask(ROUTES[0], bearer(key))).toMatchObject({ status: 403 })
    expect(await ask(ROUTES[0], bearer(other.liveKey))).toMatchObject({ status: 402 })
  })
})

describe('what is not there answers 404 on every route that names it', () => {
  const expectMissing = async (key: string, ids: Ids) => {
    for (const route of BY_ID) {
      const answer = await ask(route, bearer(key), ids)
      expectError(route, answer, 404, 'not_found', ' not found')
    }
    await expectUntouched()
  }

  const everywhere = (id: string): Ids => ({ m: id, e: id, d: id, t: id })

  test('what is of another tenant, live', async () => {
    const other = await relay.party('Other')
    await expectMissing(other.liveKey, mine)
    expect(await everythingOf(other)).toEqual(Array(8).fill(EMPTY))
  })

  test('what is of another tenant, with a test key', async () => {
    const other = await relay.party('Other')
    await expectMissing(other.testKey, mine)
    expect(await everythingOf(other)).toEqual(Array(8).fill(EMPTY))
  })

  test('what is of the other environment', () => expectMissing(relay.acme.testKey, mine))

  test.each([
    ['an id that nobody was given', UNKNOWN_ID],
    ['a word', 'nothing'],
    ['NUL', '%00'],
    ['a broken escape', '%zz'],
    ['half a letter', '%c3'],
    ['a lone percent sign', '%'],
    ['SQL', "'%20or%201=1--"],
    ['a way up', '..%2F..%2Fmessages'],
    ['a long text', 'x'.repeat(5000)],
    ['space', '%20'],
    ['a wildcard', '*'],
    ['a name of JavaScript', '__proto__'],
  ])('%s', async (_, id) => {
    for (const key of [relay.acme.liveKey, relay.acme.testKey])
      await expectMissing(key, everywhere(id))
  })

  test('an id with something before or behind it, or in capitals', async () => {
    const changed = (change: (id: string) => string): Ids => ({
      m: change(mine.m),
      e: change(mine.e),
      d: change(mine.d),
      t: change(mine.t),
    })
    for (const change of [
      (id: string) => `${id}%20`,
      (id: string) => `%20${id}`,
      (id: string) => `${id}%00`,
      (id: string) => `${id}%0A`,
      (id: string) => id.toUpperCase(),
      (id: string) => id.slice(0, -1),
    ])
      await expectMissing(relay.acme.liveKey, changed(change))
  })

  test('the id of one thing where that of another goes', async () => {
    const { m, e, d } = mine
    await expectMissing(relay.acme.liveKey, { m: e, e: d, d: m, t: m })
    await expectMissing(relay.acme.liveKey, { m: d, e: m, d: e, t: e })
  })

  test('what was deleted', async () => {
    await using own = await bootRelay()
    const { id } = await own.createEndpoint()
    expect(await own.delete(`${ENDPOINTS}/${id}`)).toMatchObject({ status: 204 })

    for (const [method, path, , json] of BY_ID.filter(([, path]) => path.includes(':e'))) {
      const ask = own[method.toLowerCase() as 'get']
      const answer = await ask(path.replace(':e', id), json)
      expect([method, path, answer.status]).toEqual([method, path, 404])
    }
  })
})

const FOREIGN_CURSOR = {
  status: 400,
  body: { error: { code: 'invalid_request', message: expect.stringContaining('cursor') } },
}

const EMPTY = { data: [], has_more: false, next_cursor: null }

describe('live and test never mix', () => {
  test('each shows its own messages, endpoints, deliveries and event types', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    const [liveEndpoint, testEndpoint] = [await live.createEndpoint(), await test.createEndpoint()]
    const liveMessage = await live.send({ event_type: 'live.one' })
    const testMessage = await test.send({ event_type: 'test.one' })
    await own.delivered()

    const idsOf = async (api: typeof live, path: string) =>
      (await api.listAll(path)).map(({ id, name }) => id ?? name)
    expect(await idsOf(live, MESSAGES)).toEqual([liveMessage.id])
    expect(await idsOf(test, MESSAGES)).toEqual([testMessage.id])
    expect(await idsOf(live, ENDPOINTS)).toEqual([liveEndpoint.id])
    expect(await idsOf(test, ENDPOINTS)).toEqual([testEndpoint.id])
    expect(await idsOf(live, EVENT_TYPES)).toEqual(['live.one'])
    expect(await idsOf(test, EVENT_TYPES)).toEqual(['test.one'])
    const deliveries = await live.listAll(DELIVERIES)
    expect(deliveries).toMatchObject([
      { message_id: liveMessage.id, endpoint_id: liveEndpoint.id, status: 'succeeded' },
    ])
    expect(await test.listAll(DELIVERIES)).toEqual([])
    expect(own.target.requests).toHaveLength(1)
  })

  test('a type filter finds nothing of the other', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    await live.send({ event_type: 'same' })
    const inTest = await test.send({ event_type: 'same' })

    expect((await test.read(`${MESSAGES}?event_type=same`)).data).toEqual([inTest])
  })

  test('the verdicts of a message name endpoints of its own environment only', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    const [inLive, inTest] = [await live.createEndpoint(), await test.createEndpoint()]
    const [one, other] = [await live.send(), await test.send()]

    expect((await live.read(`${MESSAGES}/${one.id}`)).endpoints).toMatchObject([
      { endpoint_id: inLive.id },
    ])
    expect((await test.read(`${MESSAGES}/${other.id}`)).endpoints).toMatchObject([
      { endpoint_id: inTest.id, verdict: 'sandbox' },
    ])
  })

  test('a cursor of the one is none of the other', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    for (let n = 0; n < 4; n++) {
      await live.send({ event_type: `t${n}` })
      await test.send({ event_type: `t${n}` })
      await live.createEndpoint()
      await test.createEndpoint()
    }
    for (const path of [MESSAGES, ENDPOINTS]) {
      const { next_cursor } = await live.read(`${path}?limit=2`)
      expect(await test.get(`${path}?cursor=${next_cursor}`)).toMatchObject(FOREIGN_CURSOR)
    }
  })

  test('an endpoint of a test key gets its test event, and nothing else', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    const endpoint = await test.createEndpoint()
    await test.send()
    await live.send()
    await own.delivered()
    expect(own.target.requests).toEqual([])

    const { succeeded } = (await test.post(`${ENDPOINTS}/${endpoint.id}/test`)).body

    expect(succeeded).toBe(true)
    expect(own.target.requests).toHaveLength(1)
    expect(await test.listAll(DELIVERIES)).toEqual([])
  })

  test('a test key has nothing to replay, and says so', async () => {
    await using own = await bootRelay()
    const { test } = own.acme
    const { id } = await test.createEndpoint()
    await test.send()

    const answer = await test.post(`${ENDPOINTS}/${id}/replay`, { ...LAST_DAY, dry_run: false })
    await own.delivered()

    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toContain('test key')
    expect(own.target.requests).toEqual([])
  })
})

describe('tenants never mix', () => {
  test('each shows its own, types and payloads of the same name included', async () => {
    await using own = await bootRelay()
    const other = await own.party('Other')
    await own.createEndpoint()
    const [a, b] = [
      await own.send({ payload: { a: 1 } }),
      await other.live.send({ payload: { b: 1 } }),
    ]
    await own.delivered()

    expect(await own.listAll(MESSAGES)).toEqual([a])
    expect(await other.live.listAll(MESSAGES)).toEqual([b])
    expect(await other.live.listAll(DELIVERIES)).toEqual([])
    expect(await other.live.listAll(ENDPOINTS)).toEqual([])
    expect((await own.read(`${EVENT_TYPES}/user.created`)).sample).toEqual({ a: 1 })
    expect((await other.live.read(`${EVENT_TYPES}/user.created`)).sample).toEqual({ b: 1 })
    expect(own.target.requests).toHaveLength(1)
  })

  test('an event goes to the endpoints of its own tenant only', async () => {
    await using own = await bootRelay()
    const other = await own.party('Other')
    await own.createEndpoint()
    const theirs = await other.live.createEndpoint()

    const { id } = await other.live.send()
    await own.delivered()

    expect(own.target.requests).toHaveLength(1)
    expect(own.target.requests[0]?.headers.get('webhook-id')).toBe(id)
    expect((await other.live.read(`${MESSAGES}/${id}`)).endpoints).toMatchObject([
      { endpoint_id: theirs.id, verdict: 'succeeded' },
    ])
  })

  test('deliveries asked for by the endpoint of another tenant are none', async () => {
    const other = await relay.party('Curious')
    expect(await other.live.read(`${DELIVERIES}?endpoint_id=${mine.e}`)).toEqual(EMPTY)
    expect(await relay.acme.test.read(`${DELIVERIES}?endpoint_id=${mine.e}`)).toEqual(EMPTY)
    expect((await relay.acme.live.read(`${DELIVERIES}?endpoint_id=${mine.e}`)).data).toHaveLength(1)
  })

  test('a cursor of one tenant is none of another', async () => {
    await using own = await bootRelay()
    const other = await own.party('Other')
    for (let n = 0; n < 4; n++) {
      await other.live.send()
      await own.send()
    }
    const { next_cursor } = await own.read(`${MESSAGES}?limit=1`)

    expect(await other.live.get(`${MESSAGES}?cursor=${next_cursor}`)).toMatchObject(FOREIGN_CURSOR)
  })
})

test('all keys of a tenant and environment see the same', async () => {
  const { key } = await relay.acme.key('relay', 'live')
  const second = relay.speak(key)

  for (const path of [MESSAGES, ENDPOINTS, DELIVERIES, EVENT_TYPES])
    expect(await second.read(path)).toEqual(await relay.acme.live.read(path))
})

test('the scheme of the credential is read in any case', async () => {
  for (const scheme of ['bearer', 'BEARER', 'Bearer '])
    expect(await ask(ROUTES[1], `${scheme} ${relay.acme.liveKey}`)).toMatchObject({ status: 200 })
})
