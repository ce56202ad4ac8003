import { describe, expect, test } from 'bun:test'
import { ENGINE_SCOPES, ENGINES, type Engine, KEY_ENGINES } from '../../src/platform/engines.ts'
import type { Answer } from '../support/app.ts'
import { expectRefused, MARK, populate, UNKNOWN_ID, useContract } from './fixture.ts'
import { inOrder, type Operation, objectsIn } from './operations.ts'

const ACTOR = { kind: 'cli', source: 'test' } as const
const HOUR = 3_600_000

const contract = await useContract()
const { app, operations, send } = contract
const acme = await contract.tenant('Acme')
const ids = await populate(contract, acme)
const before = contract.rows(acme.id)
const ofTenants = operations.filter(({ engine }) => engine !== 'installation')

// The address of the example is taken, so that each request with it is answered alike.
const create = operations.find(({ name }) => name === 'POST /v1/installation/operators')
await send(create as Operation, `Bearer ${await acme.keyOf('installation')}`)

const keyFor = async ({ engine }: Operation) => `Bearer ${await acme.keyOf(engine)}`
const namesObjects = ({ path }: Operation) => path.includes('{')
/** The contract tells identities and sessions of another tenant apart from unknown ones. */
const isToldApart = ({ path }: Operation) => /identities\/\{|sessions\/\{/.test(path)
/** Users of the messenger login are in the environment of the key; those of gate have none. */
const hasEnvironments = ({ engine }: Operation) => engine === 'relay'

/** A key that names an environment it wasn't issued for. Those of jobs and the installation have none. */
const renamed = (key: string) =>
  key.replace('_live_', '_test_').replace(/_(clockwork|installation)_/, '_$1_live_sk_')

/** Asks every operation as `ask` does, expects the status, and that nothing of Acme has changed. */
async function expectAllRefused(
  ask: (operation: Operation) => Promise<Answer>,
  status: number | ((operation: Operation) => number),
  asked = operations,
) {
  for (const operation of asked) {
    const expected = typeof status === 'number' ? status : status(operation)
    expectRefused(operation.name, await ask(operation), expected)
  }
  expect(contract.rows(acme.id)).toEqual(before)
}

test('The fixture has an object of every kind that paths name', () => {
  const named = new Set(operations.flatMap(({ path }) => objectsIn(path)))
  expect(Object.keys(ids).toSorted()).toEqual([...named].toSorted())
})

test('Every route of an engine takes a key, except those that are meant for browsers', async () => {
  const withKey = new Set(operations.map(({ name }) => name))
  const others = (await app.app.routes())
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    .filter((name) => / \/(v1|access)\//.test(name) && !withKey.has(name))
  expect(others.toSorted()).toEqual([
    'GET /v1/gate/sessions/whoami',
    'POST /v1/gate/tokens',
    'POST /v1/passepartout/telegram/{bot_id}',
  ])
})

describe('Every operation answers 401', () => {
  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'garbage',
    'Basic dXNlcjpwYXNz',
    'Bearer garbage',
    'Bearer svc_gate_live_sk_',
    `Bearer svc_relay_prod_sk_${'0'.repeat(43)}`,
    'Bearer "; drop table api_keys',
  ])('to the credential %j', (credential) =>
    expectAllRefused((operation) => send(operation, credential, { ids }), 401),
  )

  test.each([
    ['mistyped', (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
    ['cut', (key: string) => key.slice(0, -1)],
    ['renamed to another environment', renamed],
  ])('to a key that is %s', (_, changed) =>
    expectAllRefused(
      async (operation) => send(operation, changed(await keyFor(operation)), { ids }),
      401,
    ),
  )

  test('to a revoked key, and to a rotated one after its grace period', async () => {
    const other = await contract.tenant('Rotating')
    for (const engine of KEY_ENGINES) {
      const all = operations.filter((operation) => operation.engine === engine)
      const [revoked, rotated] = [await other.newKey(engine), await other.newKey(engine)]
      const list = all.find(
        ({ method, path }) => method === 'GET' && !path.includes('{'),
      ) as Operation
      await app.platform.keys.rotate(ACTOR, rotated.id, HOUR)
      app.clock.jump(HOUR - 1)
      for (const { key } of [revoked, rotated])
        expect((await send(list, `Bearer ${key}`)).status, list.name).not.toBe(401)
      await app.platform.keys.revoke(ACTOR, revoked.id)
      app.clock.jump(1)
      for (const { key } of [revoked, rotated])
        for (const operation of all)
          expectRefused(operation.name, await send(operation, `Bearer ${key}`, { ids }), 401)
    }
  })
})

describe('Every operation answers 403', () => {
  test.each([...KEY_ENGINES])('to a key of %s, unless it is of that engine', async (engine) => {
    const others = operations.filter((operation) => operation.engine !== engine)
    for (const environment of ['live', 'test'] as const) {
      const key = `Bearer ${await acme.keyOf(engine, environment)}`
      await expectAllRefused((operation) => send(operation, key, { ids }), 403, others)
    }
  })

  test.each([...KEY_ENGINES])('to a key of %s without its scopes', async (engine) => {
    const own = operations.filter((operation) => operation.engine === engine)
    const { key } = await acme.newKey(engine, undefined, ['reports:read'])
    await expectAllRefused((operation) => send(operation, `Bearer ${key}`, { ids }), 403, own)
  })
})

test.each<[Engine[]]>([[['gate', 'clockwork']], [['passepartout', 'relay']]])(
  'A key of %j works as one of each, and answers 403 elsewhere',
  async (engines) => {
    const [one, other] = [await contract.tenant('Several'), await contract.tenant('Single')]
    const { key } = await app.platform.keys.issue(ACTOR, { tenantId: one.id, engines })
    for (const operation of operations) {
      const { status } = await send(operation, `Bearer ${key}`)
      const isOwn = engines.some((engine) => engine === operation.engine)
      const { status: single } = await send(
        operation,
        `Bearer ${await other.keyOf(operation.engine)}`,
      )
      expect([operation.name, status]).toEqual([operation.name, isOwn ? single : 403])
    }
  },
)

const SCOPES = KEY_ENGINES.flatMap((engine) =>
  ENGINE_SCOPES[engine].map((scope) => [engine, scope] as const),
)

test.each(SCOPES)('A key of %s with %s alone works where that is enough', async (engine, scope) => {
  const own = operations.filter((operation) => operation.engine === engine)
  const [one, other] = [await contract.tenant('One scope'), await contract.tenant('All scopes')]
  const { key } = await one.newKey(engine, undefined, [scope])
  for (const operation of own) {
    const { status } = await send(operation, `Bearer ${key}`)
    const withAll = await send(operation, `Bearer ${await other.keyOf(engine)}`)
    const expected = operation.scopes.includes(scope) ? withAll.status : 403
    expect([operation.name, status]).toEqual([operation.name, expected])
  }
})

describe('The credential is checked before the request', () => {
  const withBody = operations.filter(({ schema }) => schema)
  test.each([
    ['malformed', '{', {}],
    ['of another type', 'a=b', { 'content-type': 'text/plain' }],
    ['too large', 'x'.repeat(2_000_000), {}],
    ['of wrong fields', '{"name":5,"schema_id":5,"event_type":5}', {}],
  ])('and so before a body that is %s', async (_, body, headers) => {
    const foreign = async ({ engine }: Operation) =>
      `Bearer ${await acme.keyOf(engine === 'relay' ? 'gate' : 'relay')}`
    await expectAllRefused(
      (operation) => send(operation, undefined, { body, headers }),
      401,
      withBody,
    )
    await expectAllRefused(
      async (operation) => send(operation, await foreign(operation), { body, headers }),
      403,
      withBody,
    )
  })

  test('and so before a wrong query', async () => {
    const withQuery = operations.filter(({ method, query }) => method === 'GET' && query.length > 0)
    const query = '?limit=0&cursor=x&status=x&state=x&aal=x&wait=x'
    await expectAllRefused(
      (operation) => send(operation, undefined, { ids, query }),
      401,
      withQuery,
    )
  })

  test('and its scope before a suspension', async () => {
    const other = await contract.tenant('Suspended early')
    await app.platform.tenants.suspend(ACTOR, other.id, 'billing')
    for (const engine of ENGINES) {
      const { key } = await other.newKey(engine, undefined, ['reports:read'])
      for (const operation of operations.filter((each) => each.engine === engine))
        expectRefused(operation.name, await send(operation, `Bearer ${key}`), 403)
    }
  })
})

describe('Objects of another tenant', () => {
  const byId = ofTenants.filter(namesObjects)

  test.each(['live', 'test'] as const)(
    "don't exist for its %s keys; identities and sessions answer 403",
    async (environment) => {
      const other = await contract.tenant('Other')
      await expectAllRefused(
        async (operation) =>
          send(operation, `Bearer ${await other.keyOf(operation.engine, environment)}`, { ids }),
        (operation) => (isToldApart(operation) ? 403 : 404),
        byId,
      )
    },
  )

  test('are in no list', async () => {
    const other = await contract.tenant('Curious')
    const lists = ofTenants.filter(({ method, path }) => method === 'GET' && !path.includes('{'))
    for (const operation of lists)
      for (const query of ['', ...filtersOf(operation)])
        for (const environment of ['live', 'test'] as const) {
          const key = await other.keyOf(operation.engine, environment)
          const { body } = await send(operation, `Bearer ${key}`, { query })
          expect(JSON.stringify(body), operation.name + query).not.toContain(MARK)
          if (query !== '' && body.data) expect(body.data, operation.name + query).toEqual([])
        }
  })
})

/** Queries that find something of Acme for a key of Acme. */
function filtersOf({ query }: Operation): string[] {
  const values: Record<string, string> = {
    email: `${MARK}1@example.com`,
    search: MARK,
    subject: MARK,
    event_type: `${MARK}.n1`,
    endpoint_id: ids['/v1/relay/endpoints/{endpoint_id}'] as string,
  }
  return query.filter((name) => name in values).map((name) => `?${name}=${values[name]}`)
}

test('Objects of the live environment are unknown to a test key', async () => {
  await expectAllRefused(
    async (operation) =>
      send(operation, `Bearer ${await acme.keyOf(operation.engine, 'test')}`, { ids }),
    404,
    operations.filter((operation) => namesObjects(operation) && hasEnvironments(operation)),
  )
})

test('Users of the test bot are unknown to a live key', async () => {
  await expectAllRefused(
    async (operation) => send(operation, await keyFor(operation), { ids }),
    404,
    operations.filter(({ path, engine }) => engine === 'passepartout' && path.includes('{')),
  )
})

describe('An id that is none answers 404', () => {
  const byId = operations.filter(({ path }) => path.includes('{') && !path.includes('{type}'))
  const everywhere = (change: (id: string) => string) =>
    Object.fromEntries(Object.entries(ids).map(([object, id]) => [object, change(id)]))

  test.each([
    ['an unknown id', () => UNKNOWN_ID],
    ['a word', () => 'nothing'],
    ['NUL', () => '%00'],
    ['a broken escape', () => '%zz'],
    ['half a character', () => '%c3'],
    ['SQL', () => "'%20or%201=1--"],
    ['a path', () => '..%2F..%2Fidentities'],
    ['a long text', () => 'x'.repeat(5000)],
    ['a wildcard', () => '*'],
    ['a name of JavaScript', () => '__proto__'],
    ['an id in capitals', (id: string) => id.toUpperCase()],
    ['an id with a space before it', (id: string) => `%20${id}`],
    ['an id with a space behind it', (id: string) => `${id}%20`],
    ['an id with NUL behind it', (id: string) => `${id}%00`],
    ['a cut id', (id: string) => id.slice(0, -1)],
  ])('%s', (_, change) =>
    expectAllRefused(
      async (operation) => send(operation, await keyFor(operation), { ids: everywhere(change) }),
      404,
      byId,
    ),
  )

  test('an id of another kind of object', () => {
    const kinds = Object.keys(ids).filter((object) => !/type\}|name\}/.test(object))
    const shifted = Object.fromEntries(
      kinds.map((object, at) => [object, ids[kinds[(at + 1) % kinds.length] as string] as string]),
    )
    return expectAllRefused(
      async (operation) => send(operation, await keyFor(operation), { ids: shifted }),
      404,
      byId.filter(({ path }) => !path.includes('{name}')),
    )
  })
})

test('All keys of a tenant and environment see the same', async () => {
  for (const operation of operations.filter(
    ({ method, path }) => method === 'GET' && !path.includes('/auth/'),
  )) {
    if (operation.query.includes('nonce')) continue
    const environment = operation.engine === 'passepartout' ? 'test' : 'live'
    const { key } = await acme.newKey(
      operation.engine,
      operation.engine === 'clockwork' ? undefined : environment,
    )
    const [one, two] = [
      `Bearer ${await acme.keyOf(operation.engine, environment)}`,
      `Bearer ${key}`,
    ]
    const first = await send(operation, one, { ids })
    expect(first.status, operation.name).toBeLessThan(400)
    expect((await send(operation, two, { ids })).body, operation.name).toEqual(first.body)
  }
})

test('The scheme of the credential is read in any case', async () => {
  const list = operations.find(({ name }) => name === 'GET /v1/relay/messages') as Operation
  for (const scheme of ['bearer', 'BEARER', 'Bearer '])
    expect((await send(list, `${scheme} ${await acme.keyOf('relay')}`)).status).toBe(200)
})

test('A suspended tenant can read and delete, but not create or run anything', async () => {
  const other = await contract.tenant('Suspended')
  const own = await populate(contract, other)
  await app.platform.tenants.suspend(ACTOR, other.id, 'billing')
  // These ask for a flow or a session first.
  const asked = operations.filter(
    ({ path }) => !/auth\/(settings|.*submit)|\/installation\//.test(path),
  )
  for (const operation of inOrder(asked)) {
    const key = `Bearer ${await other.keyOf(operation.engine)}`
    const { status } = await send(operation, key, { ids: own })
    const isRefused = operation.statuses.includes(402)
    expect([operation.name, status === 402]).toEqual([operation.name, isRefused])
  }
})

describe('What a body or query of another tenant names', () => {
  /** A key of Acme, and one of another tenant. */
  async function speakers(engine: 'gate' | 'passepartout') {
    const other = await contract.tenant('Stranger')
    const own = app.client(await acme.keyOf(engine, 'test'))
    return { own, foreign: app.client(await other.keyOf(engine, 'test')) }
  }

  test('is unknown if it is a flow', async () => {
    const { own, foreign } = await speakers('gate')
    for (const kind of ['recovery', 'verification']) {
      const { id: flow } = (await own.get(`/v1/gate/auth/${kind}`)).body
      const submitted = { flow, method: 'code', email: 'ada@example.com' }
      expect(await foreign.post(`/v1/gate/auth/${kind}/submit`, submitted)).toMatchObject({
        status: 404,
        body: { id: 'flow_not_found' },
      })
    }
  })

  test('is inactive if it is an access token, and stays valid', async () => {
    const { own, foreign } = await speakers('gate')
    const request = { api_key: await acme.keyOf('gate', 'test'), subject: MARK }
    const { access_token } = (await own.post('/v1/gate/tokens', request)).body
    const introspect = (api = own) => api.post('/v1/gate/tokens/introspect', { access_token })
    expect((await introspect(foreign)).body).toEqual({ active: false })
    await foreign.post('/v1/gate/tokens/revoke', { access_token })
    expect((await introspect()).body).toMatchObject({ active: true })
  })

  test('is unknown if it is a messenger login, also to the other environment', async () => {
    const { own, foreign } = await speakers('passepartout')
    const { nonce } = (await own.post('/v1/passepartout/login/start', {})).body
    const live = app.client(await acme.keyOf('passepartout'))
    for (const api of [foreign, live])
      expect(await api.get(`/v1/passepartout/login/status?nonce=${nonce}`)).toMatchObject({
        status: 404,
      })
    expect((await own.get(`/v1/passepartout/login/status?nonce=${nonce}`)).status).toBe(200)
  })
})
