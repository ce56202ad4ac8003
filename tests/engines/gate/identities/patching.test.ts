import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import { IDENTITIES, type Json } from '../fixture.ts'
import {
  auditOf,
  bootPeople,
  type Fixture,
  later,
  MINUTE,
  ofBytes,
  personPath,
  START,
  told,
} from './people.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await bootPeople()
})
afterAll(() => fixture.end())

/** The two places of a person that are all the tenant's. */
const FREE = ['traits.custom_data', 'metadata_public'] as const
type Free = (typeof FREE)[number]

const pathOf = (place: Free) => `/${place.replace('.', '/')}`
const partOf = (place: Free, { traits, metadata_public }: Json) =>
  place === 'metadata_public' ? metadata_public : traits.custom_data
const holding = (place: Free, value: Json) =>
  place === 'metadata_public' ? { metadata_public: value } : { traits: { custom_data: value } }

async function patched(person: Json, ...operations: Json[]): Promise<Json> {
  const answer = await fixture.patch(person, operations)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

/** Refused with these words, and the person as before. */
async function expectRefused(person: Json, operations: Json, error: unknown, status = 400) {
  const before = await fixture.readIdentity(person)
  const answer = await fixture.patch(person, operations)
  expect({ status: answer.status, body: answer.body }).toEqual({ status, body: { error } } as Json)
  expect(await fixture.readIdentity(person)).toEqual(before)
}

/** What was there, what is done with it below the place, and what becomes of it. */
const OPERATIONS: [string, Json, Json[], Json][] = [
  [
    'adds a member',
    { a: 1 },
    [{ op: 'add', path: '/b', value: { c: [] } }],
    { a: 1, b: { c: [] } },
  ],
  ['adds null', {}, [{ op: 'add', path: '/a', value: null }], { a: null }],
  ['adds over a member', { a: 1 }, [{ op: 'add', path: '/a', value: 2 }], { a: 2 }],
  ['adds into an array', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
  ['adds to the front', { a: [1] }, [{ op: 'add', path: '/a/0', value: 0 }], { a: [0, 1] }],
  [
    'adds to the end by its index',
    { a: [1] },
    [{ op: 'add', path: '/a/1', value: 2 }],
    { a: [1, 2] },
  ],
  ['adds to the end by -', { a: [] }, [{ op: 'add', path: '/a/-', value: [1] }], { a: [[1]] }],
  ['adds under an empty name', {}, [{ op: 'add', path: '/', value: 1 }], { '': 1 }],
  ['adds under - in an object', {}, [{ op: 'add', path: '/-', value: 1 }], { '-': 1 }],
  ['adds under an index in an object', {}, [{ op: 'add', path: '/0', value: 1 }], { 0: 1 }],
  ['reads ~1 as /', { 'a/b': 1 }, [{ op: 'replace', path: '/a~1b', value: 2 }], { 'a/b': 2 }],
  ['reads ~0 as ~', { 'a~b': 1 }, [{ op: 'replace', path: '/a~0b', value: 2 }], { 'a~b': 2 }],
  ['reads ~01 as ~1', { '~1': 1 }, [{ op: 'remove', path: '/~01' }], {}],
  [
    'takes signs in names as they are',
    { '%2F "{x}': 1 },
    [{ op: 'remove', path: '/%2F "{x}' }],
    {},
  ],
  ['removes a member', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
  ['removes from an array', { a: [1, 2, 3] }, [{ op: 'remove', path: '/a/1' }], { a: [1, 3] }],
  ['removes null', { a: null }, [{ op: 'remove', path: '/a' }], {}],
  [
    'replaces a value of any kind',
    { a: { b: 1 } },
    [{ op: 'replace', path: '/a', value: 'x' }],
    { a: 'x' },
  ],
  [
    'replaces in an array',
    { a: [1, 2] },
    [{ op: 'replace', path: '/a/1', value: null }],
    { a: [1, null] },
  ],
  ['moves', { a: { b: 1 } }, [{ op: 'move', from: '/a/b', path: '/c' }], { a: {}, c: 1 }],
  [
    'moves within an array',
    { a: [1, 2, 3] },
    [{ op: 'move', from: '/a/0', path: '/a/2' }],
    { a: [2, 3, 1] },
  ],
  ['moves to where it is', { a: 1 }, [{ op: 'move', from: '/a', path: '/a' }], { a: 1 }],
  [
    'copies, apart from then on',
    { a: [1] },
    [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/-', value: 2 },
    ],
    { a: [1], b: [1, 2] },
  ],
  [
    'tests, whatever the order of members',
    { a: { b: 1, c: [null] } },
    [
      { op: 'test', path: '/a', value: { c: [null], b: 1.0 } },
      { op: 'add', path: '/ok', value: true },
    ],
    { a: { b: 1, c: [null] }, ok: true },
  ],
  [
    'sees what earlier operations did',
    {},
    [
      { op: 'add', path: '/a', value: {} },
      { op: 'add', path: '/a/b', value: 1 },
      { op: 'test', path: '/a/b', value: 1 },
      { op: 'move', from: '/a/b', path: '/b' },
      { op: 'remove', path: '/a' },
    ],
    { b: 1 },
  ],
  [
    'ignores members that it does not know',
    {},
    [{ op: 'add', path: '/a', value: 1, from: 7, note: 'x' }],
    { a: 1 },
  ],
]

describe.each(FREE)('in %s a patch', (place) => {
  test.each(OPERATIONS)('%s', async (_, before, operations, after) => {
    const person = await fixture.createIdentity(holding(place, before))
    const below = (pointer: unknown) =>
      typeof pointer === 'string' ? pathOf(place) + pointer : pointer

    const answered = await patched(
      person,
      ...operations.map((one) => ({
        ...one,
        path: below(one.path),
        ...('from' in one && { from: below(one.from) }),
      })),
    )

    expect(partOf(place, answered)).toEqual(after)
    const untouched = (identity: Json) => ({ ...identity, ...holding(place, null), traits: null })
    expect(untouched(answered)).toEqual(untouched(person))
    expect(await fixture.readIdentity(person)).toEqual(answered)
  })
})

test('what is moved or copied may go from one part of a person to another', async () => {
  const person = await fixture.createIdentity({
    traits: { custom_data: { plan: 'pro', old: true } },
    metadata_public: { roles: ['admin'] },
  })

  const { traits, metadata_public } = await patched(
    person,
    { op: 'move', from: '/traits/custom_data/plan', path: '/metadata_public/plan' },
    { op: 'copy', from: '/metadata_public/roles/0', path: '/traits/custom_data/role' },
    { op: 'copy', from: '/traits/email', path: '/metadata_public/first_email' },
    { op: 'copy', from: '/state', path: '/metadata_public/first_state' },
  )

  expect(traits.custom_data).toEqual({ old: true, role: 'admin' })
  expect(metadata_public).toEqual({
    roles: ['admin'],
    plan: 'pro',
    first_email: person.traits.email,
    first_state: 'active',
  })
})

describe('a part', () => {
  test('that there is not can be added, and taken out again', async () => {
    const person = await fixture.createIdentity()

    const added = await patched(person, { op: 'add', path: '/traits/custom_data', value: { a: 1 } })
    expect(added.traits.custom_data).toEqual({ a: 1 })

    const removed = await patched(person, { op: 'remove', path: '/traits/custom_data' })
    expect(removed.traits).not.toHaveProperty('custom_data')
  })

  test('of metadata is empty when it is taken out', async () => {
    const person = await fixture.createIdentity({ metadata_public: { a: 1 } })

    const { metadata_public } = await patched(person, { op: 'remove', path: '/metadata_public' })

    expect(metadata_public).toEqual({})
  })

  test('of traits can be replaced as a whole, and stays of its tenant', async () => {
    const other = await fixture.party()
    const person = await fixture.createIdentity({ traits: { custom_data: { a: 1 } } })
    const value = { email: 'Whole@Example.com', tenant_id: other.id }

    const { traits } = await patched(person, { op: 'replace', path: '/traits', value })

    expect(traits).toEqual({ email: 'whole@example.com', tenant_id: fixture.acme.id })
  })
})

const TWO = [
  { op: 'replace', path: '/traits/email', value: 'half@example.com' },
  { op: 'add', path: '/metadata_public/half', value: true },
  { op: 'replace', path: '/state', value: 'inactive' },
]

describe('an operation that cannot be carried out is named, and none of them is', () => {
  let person: Json
  beforeAll(async () => {
    person = await fixture.createIdentity({
      traits: { custom_data: { list: [1], text: 'x' } },
      metadata_public: { a: { b: 1 } },
    })
  })

  test.each([
    ['that is no object', 'x', ': must be a JSON object'],
    [
      'without op',
      { path: '/state' },
      ': op: must be one of add, remove, replace, move, copy, test',
    ],
    [
      'in capitals',
      { op: 'ADD', path: '/x' },
      ': op: must be one of add, remove, replace, move, copy, test',
    ],
    ['without a path', { op: 'remove' }, ': path: is required and must be a JSON Pointer'],
    [
      'with a path that is no text',
      { op: 'remove', path: ['state'] },
      ': path: is required and must be a JSON Pointer',
    ],
    [
      'without a slash',
      { op: 'remove', path: 'state' },
      ' (remove state): path: must be a JSON Pointer (RFC 6901)',
    ],
    [
      'with a stray tilde',
      { op: 'remove', path: '/a~2' },
      ' (remove /a~2): path: must be a JSON Pointer (RFC 6901)',
    ],
    [
      'as a fragment',
      { op: 'remove', path: '#/state' },
      ' (remove #/state): path: must be a JSON Pointer (RFC 6901)',
    ],
    [
      'without a value',
      { op: 'add', path: '/metadata_public/x' },
      ' (add /metadata_public/x): value: is required',
    ],
    [
      'without from',
      { op: 'move', path: '/metadata_public/x' },
      ' (move /metadata_public/x): from: is required and must be a JSON Pointer',
    ],
    [
      'below a parent there is not',
      { op: 'add', path: '/metadata_public/x/y', value: 1 },
      ' (add /metadata_public/x/y): /metadata_public/x does not exist',
    ],
    [
      'below custom data there is not',
      { op: 'add', path: '/traits/none/y', value: 1 },
      ' (add /traits/none/y): /traits/none does not exist',
    ],
    [
      'below a text',
      { op: 'add', path: '/traits/custom_data/text/y', value: 1 },
      ' (add /traits/custom_data/text/y): /traits/custom_data/text is neither an object nor an array',
    ],
    [
      'that removes nothing',
      { op: 'remove', path: '/metadata_public/x' },
      ' (remove /metadata_public/x): /metadata_public/x does not exist',
    ],
    [
      'that replaces nothing',
      { op: 'replace', path: '/metadata_public/x', value: 1 },
      ' (replace /metadata_public/x): /metadata_public/x does not exist',
    ],
    [
      'that tests nothing',
      { op: 'test', path: '/metadata_public/x', value: null },
      ' (test /metadata_public/x): /metadata_public/x does not exist',
    ],
    [
      'that tests for another value',
      { op: 'test', path: '/metadata_public/a', value: { b: '1' } },
      ' (test /metadata_public/a): the value is different',
    ],
    [
      'that copies nothing',
      { op: 'copy', path: '/metadata_public/x', from: '/metadata_public/y' },
      ' (copy /metadata_public/x from /metadata_public/y): /metadata_public/y does not exist',
    ],
    [
      'that moves into itself',
      { op: 'move', path: '/metadata_public/a/b/c', from: '/metadata_public/a' },
      ' (move /metadata_public/a/b/c from /metadata_public/a): a value cannot be moved into itself',
    ],
    [
      'beyond the end of an array',
      { op: 'add', path: '/traits/custom_data/list/2', value: 1 },
      ' (add /traits/custom_data/list/2): index 2 is beyond the end of an array of 1',
    ],
    [
      'at an index with a zero before it',
      { op: 'replace', path: '/traits/custom_data/list/00', value: 1 },
      ' (replace /traits/custom_data/list/00): "00" is not an array index',
    ],
    [
      'at the place after the last',
      { op: 'remove', path: '/traits/custom_data/list/-' },
      ' (remove /traits/custom_data/list/-): - does not exist: it is the position after the last item of an array',
    ],
    [
      'on what arrays have by nature',
      { op: 'replace', path: '/traits/custom_data/list/length', value: 0 },
      ' (replace /traits/custom_data/list/length): "length" is not an array index',
    ],
    [
      'on what objects have by nature',
      { op: 'test', path: '/metadata_public/constructor', value: {} },
      ' (test /metadata_public/constructor): /metadata_public/constructor does not exist',
    ],
  ])('%s', async (_, operation: Json, words) => {
    const rest = { op: 'add', path: '/metadata_public/after', value: 1 }
    await expectRefused(person, [...TWO, operation, rest], `operation 3${words}`)
  })

  test.each([
    [
      'a number that would lose digits',
      '9007199254740993',
      'value: would lose digits as a number; send it as a string',
    ],
    [
      'a number that is too large',
      '{"a":[1e400]}',
      'value.a.0: is too large for a number; send it as a string',
    ],
    [
      'a member named __proto__',
      '{"a":{"__proto__":{}}}',
      'value.a.__proto__: is a reserved member name',
    ],
  ])('with %s', async (_, value, words) => {
    const before = await fixture.readIdentity(person)
    const text = `[{"op":"add","path":"/metadata_public/x","value":${value}}]`

    const { status, body } = await fixture.spelled('patch', personPath(person), text)

    expect({ status, body }).toEqual({
      status: 400,
      body: { error: `operation 0 (add /metadata_public/x): ${words}` },
    })
    expect(await fixture.readIdentity(person)).toEqual(before)
  })
})

/** Each operation with the pointer in each of its places. */
const everywhere = (pointer: string): Json[] => [
  { op: 'add', path: pointer, value: 'x' },
  { op: 'remove', path: pointer },
  { op: 'replace', path: pointer, value: 'x' },
  { op: 'test', path: pointer, value: 'x' },
  { op: 'move', path: pointer, from: '/metadata_public/a' },
  { op: 'copy', path: pointer, from: '/metadata_public/a' },
  { op: 'move', path: '/metadata_public/x', from: pointer },
  { op: 'copy', path: '/metadata_public/x', from: pointer },
]

describe('nothing else of a person can be changed, looked at or copied out', () => {
  let person: Json
  beforeAll(async () => {
    person = await fixture.createIdentity({
      metadata_public: { a: 1 },
      credentials: { password: { config: { password: 'x' } } },
    })
  })

  test.each([
    ['/id', '/id cannot be patched'],
    ['/schema_id', '/schema_id cannot be patched'],
    ['/schema_url', '/schema_url cannot be patched'],
    ['/credentials', '/credentials cannot be patched'],
    ['/credentials/password/config/hashed_password', '/credentials cannot be patched'],
    ['/credentials/password/identifiers/0', '/credentials cannot be patched'],
    ['/verifiable_addresses/0/verified', '/verifiable_addresses cannot be patched'],
    ['/recovery_addresses', '/recovery_addresses cannot be patched'],
    ['/state_changed_at', '/state_changed_at cannot be patched'],
    ['/created_at', '/created_at cannot be patched'],
    ['/updated_at', '/updated_at cannot be patched'],
    ['/traits/tenant_id', '/traits/tenant_id cannot be patched'],
    ['/tenant_id', '/tenant_id cannot be patched'],
    ['/session_generation', '/session_generation cannot be patched'],
    ['/TRAITS/email', '/TRAITS cannot be patched'],
    ['/traits~1tenant_id', '/traits~1tenant_id cannot be patched'],
    ['/', '/ cannot be patched'],
    ['', 'the whole document cannot be patched'],
    ['/metadata_public/__proto__', '__proto__ is a reserved member name'],
    ['/metadata_public/__proto__/x', '__proto__ is a reserved member name'],
    ['/__proto__/traits', '__proto__ is a reserved member name'],
  ])('%j', async (pointer, words) => {
    for (const operation of everywhere(pointer)) {
      const from = 'from' in operation ? ` from ${operation.from}` : ''
      const named = `operation 0 (${operation.op} ${operation.path || '""'}${from})`
      await expectRefused(person, [operation], `${named}: ${words}`)
    }
  })

  test('a prototype', () => {
    expect(({} as Json).x).toBeUndefined()
  })

  test.each([
    [
      'no address',
      [{ op: 'remove', path: '/traits/email' }],
      'traits.email: is required and must be a string',
    ],
    [
      'an address that is none',
      [{ op: 'replace', path: '/traits/email', value: 'x' }],
      'traits.email: must be an email address',
    ],
    [
      'an address that is no text',
      [{ op: 'replace', path: '/traits/email', value: 5 }],
      'traits.email: is required and must be a string',
    ],
    [
      'a trait of another name',
      [{ op: 'add', path: '/traits/name', value: 'x' }],
      'traits.name: is not a known trait. Put your own fields in traits.custom_data',
    ],
    [
      'no traits',
      [{ op: 'remove', path: '/traits' }],
      'traits: is required and must be a JSON object',
    ],
    [
      'traits that are no object',
      [{ op: 'replace', path: '/traits', value: [] }],
      'traits: is required and must be a JSON object',
    ],
    [
      'custom data that is no object',
      [{ op: 'add', path: '/traits/custom_data', value: null }],
      'traits.custom_data: must be a JSON object',
    ],
    [
      'metadata that is no object',
      [{ op: 'replace', path: '/metadata_public', value: [1] }],
      'metadata_public: must be a JSON object',
    ],
    ['no state', [{ op: 'remove', path: '/state' }], 'state: must be one of active, inactive'],
    [
      'a state there is not',
      [{ op: 'replace', path: '/state', value: 'deleted' }],
      'state: must be one of active, inactive',
    ],
    [
      'too much metadata',
      [{ op: 'add', path: '/metadata_public', value: ofBytes(65_537) }],
      'metadata_public: must be at most 65536 bytes as JSON',
    ],
    [
      'too much custom data',
      [{ op: 'add', path: '/traits/custom_data', value: ofBytes(65_537) }],
      'traits.custom_data: must be at most 65536 bytes as JSON',
    ],
  ])('so as to leave %s', (_, operations, words) => expectRefused(person, operations, words))

  test('beyond 200 operations in one patch', async () => {
    const operations = Array(201).fill({ op: 'test', path: '/state', value: 'active' })
    await expectRefused(person, operations, 'body: must be an array of up to 200 operations')
    await patched(person, ...operations.slice(1))
  })
})

describe('a new address', () => {
  test('is normalised, not verified, and what the password goes by', async () => {
    const person = await fixture.createIdentity({
      traits: { email: 'old@example.com' },
      verifiable_addresses: [{ value: 'old@example.com', verified: true }],
      credentials: { password: { config: { password: 'x' } } },
    })
    const [old] = person.verifiable_addresses
    expect(old.verified).toBe(true)
    fixture.clock.jump(MINUTE)

    const changed = await patched(person, {
      op: 'replace',
      path: '/traits/email',
      value: ' New@EXAMPLE.com ',
    })

    const updated_at = new Date(fixture.clock.now()).toISOString()
    const [address] = changed.verifiable_addresses
    expect(address).toEqual({
      ...{ id: address.id, value: 'new@example.com', via: 'email' },
      ...{ verified: false, status: 'pending', verified_at: null },
      ...{ created_at: updated_at, updated_at },
    })
    expect(address.id).not.toBe(old.id)
    expect(changed).toMatchObject({
      traits: { email: 'new@example.com' },
      recovery_addresses: [{ id: address.id, value: 'new@example.com' }],
      credentials: { password: { identifiers: ['new@example.com'] } },
      updated_at,
    })
    const found = async (email: string) =>
      (await fixture.api.get(`${IDENTITIES}?email=${email}`)).body.data
    expect(await found('new@example.com')).toEqual([changed])
    expect(await found('old@example.com')).toEqual([])
    await fixture.createIdentity({ traits: { email: 'old@example.com' } })
  })

  test('that is the old one in another spelling changes nothing', async () => {
    const person = await fixture.createIdentity({
      traits: { email: 'spelling@example.com' },
      verifiable_addresses: [{ value: 'spelling@example.com', verified: true }],
    })

    const changed = await patched(person, {
      op: 'replace',
      path: '/traits/email',
      value: 'SPELLING@example.com',
    })

    expect(changed).toEqual(person)
  })

  test('of whatever letters is not taken for a new one when something else is changed', async () => {
    const person = await fixture.createIdentity({
      traits: { email: 'H\u0331A\u030a\u0130\u0317@example.com' },
      verifiable_addresses: [{ value: 'H\u0331A\u030a\u0130\u0317@example.com', verified: true }],
    })

    const changed = await patched(person, { op: 'add', path: '/metadata_public/x', value: 1 })

    expect(changed).toMatchObject({ verifiable_addresses: person.verifiable_addresses })
  })

  test('in a script with two small sigmas is not taken for a new one, either', async () => {
    const person = await fixture.createIdentity({
      traits: { email: 'patch@xn--nxasmm1c.com' },
      verifiable_addresses: [{ value: 'patch@xn--nxasmm1c.com', verified: true }],
    })

    const changed = await patched(person, { op: 'add', path: '/metadata_public/x', value: 1 })

    expect(changed).toMatchObject({
      traits: person.traits,
      verifiable_addresses: person.verifiable_addresses,
    })
  })

  test('that somebody else has is a conflict, and nothing of the patch is kept', async () => {
    const { traits } = await fixture.createIdentity()
    const person = await fixture.createIdentity()
    const operations = [
      { op: 'add', path: '/metadata_public/half', value: true },
      { op: 'replace', path: '/traits/email', value: traits.email.toUpperCase() },
    ]

    await expectRefused(person, operations, 'traits.email: is the address of another identity', 409)
  })

  test('can be one that somebody has at another tenant', async () => {
    const { traits } = await (await fixture.party()).createIdentity()
    const person = await fixture.createIdentity()

    const operation = { op: 'replace', path: '/traits/email', value: traits.email }

    expect((await patched(person, operation)).traits.email).toBe(traits.email)
  })

  test('that two ask for at the same time is given to one of them', async () => {
    const pair = [await fixture.createIdentity(), await fixture.createIdentity()]
    const operations = [{ op: 'replace', path: '/traits/email', value: 'wanted@example.com' }]

    const answers = await Promise.all(pair.map((person) => fixture.patch(person, operations)))

    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('a patch of the state', () => {
  test('ends sessions and is told once, like a change of the state itself', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    const person = await other.createIdentity()
    const { token } = await other.openSession(person)
    await other.createWebhook(target.url)

    const answer = await other.patch(person, [
      { op: 'replace', path: '/state', value: 'inactive' },
      { op: 'replace', path: '/state', value: 'active' },
      { op: 'replace', path: '/state', value: 'inactive' },
      { op: 'add', path: '/metadata_public/why', value: 'left' },
    ])
    await rest(fixture.app)

    expect(answer).toMatchObject({ status: 200, body: { state: 'inactive' } })
    expect(told(target)).toEqual([
      expect.objectContaining({
        event_type: 'identity.state_changed',
        data: { identity_id: person.id, payload: { state: 'inactive' } },
      }),
    ])
    expect(await other.whoami(token)).toMatchObject({ status: 401 })
    expect(auditOf(fixture.app, `identity:${person.id}`).slice(1)).toEqual([
      expect.objectContaining({
        action: 'identity.updated',
        detail: { fields: ['metadata_public'] },
      }),
      expect.objectContaining({
        action: 'identity.state_changed',
        actor_kind: 'key',
        detail: { state: 'inactive' },
      }),
    ])
  })

  test('there and back again ends no session, and webhooks are told the state', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    const person = await other.createIdentity()
    const { token } = await other.openSession(person)
    await other.createWebhook(target.url)

    const answer = await other.patch(person, [
      { op: 'replace', path: '/state', value: 'inactive' },
      { op: 'replace', path: '/state', value: 'active' },
    ])
    await rest(fixture.app)

    expect(answer.body).toEqual(person)
    expect(told(target)).toMatchObject([{ data: { payload: { state: 'active' } } }])
    expect(await other.whoami(token)).toMatchObject({ status: 200 })
  })
})

describe('a patch', () => {
  test.each([
    'application/json-patch+json',
    'application/json',
    'application/json-patch+json; charset=utf-8',
  ])('may come as %s', async (type) => {
    const person = await fixture.createIdentity()
    const text = '[{"op":"add","path":"/metadata_public/x","value":1}]'

    const answer = await fixture.spelled('patch', personPath(person), text, {
      'content-type': type,
    })

    expect(answer).toMatchObject({ status: 200, body: { metadata_public: { x: 1 } } })
  })

  test.each([
    ['an object', '{"op":"remove","path":"/state"}'],
    ['null', 'null'],
    ['nothing', ''],
    ['a text', '"[]"'],
  ])('cannot be %s', async (_, text) => {
    const person = await fixture.createIdentity()

    const answer = await fixture.spelled('patch', personPath(person), text)

    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'body: must be a JSON Patch: a list of operations' },
    })
  })

  test('leaves its mark on updated_at and in the audit log, by the names of fields alone', async () => {
    const own = await bootPeople()
    await using _ = own
    const person = await own.createIdentity({ traits: { email: 'first@example.com' } })
    own.clock.jump(MINUTE)

    const { body } = await own.patch(person, [
      { op: 'replace', path: '/traits/email', value: 'second@example.com' },
      { op: 'add', path: '/traits/custom_data', value: { nick: 'sec' } },
      { op: 'add', path: '/metadata_public/secret', value: 'sauce' },
    ])

    expect(body).toMatchObject({ created_at: START, updated_at: later(MINUTE) })
    expect(body.state_changed_at).toBe(START)
    const rows = auditOf(own.app, `identity:${person.id}`)
    expect(rows.map(({ action, detail }) => [action, detail])).toEqual([
      ['identity.created', {}],
      ['identity.updated', { fields: ['traits', 'metadata_public'] }],
    ])
  })

  test.each<[string, Json[]]>([
    ['is empty', []],
    [
      'sets what there is',
      [
        { op: 'test', path: '/metadata_public/a', value: 1 },
        { op: 'replace', path: '/metadata_public/a', value: 1 },
      ],
    ],
    ['tests the state', [{ op: 'test', path: '/state', value: 'active' }]],
  ])('that %s changes nothing, tells no webhook, and answers 200', async (_, operations) => {
    const own = await bootPeople()
    await using __ = own
    await using target = await startTarget()
    const person = await own.createIdentity({
      traits: { email: 'same@example.com', custom_data: { b: 1, a: 2 } },
      metadata_public: { a: 1 },
    })
    await own.createWebhook(target.url)
    own.clock.jump(MINUTE)

    const { status, body } = await own.patch(person, operations)
    await rest(own.app)

    expect({ status, body }).toEqual({ status: 200, body: person })
    expect(auditOf(own.app, `identity:${person.id}`)).toHaveLength(1)
    expect(told(target)).toEqual([])
  })

  test('one of many at a time, each sees what those before it did', async () => {
    const person = await fixture.createIdentity({ metadata_public: { list: [] } })
    const add = (n: number) =>
      fixture.patch(person, [{ op: 'add', path: '/metadata_public/list/-', value: n }])

    await Promise.all(Array.from({ length: 20 }, (_, n) => add(n)))

    const { metadata_public } = await fixture.readIdentity(person)
    expect(metadata_public.list.toSorted((a: number, b: number) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    )
  })

  test('can edit what fills its 64 KiB', async () => {
    const person = await fixture.createIdentity({
      traits: { custom_data: ofBytes(65_536) },
      metadata_public: ofBytes(65_536),
    })
    const value = `${ofBytes(65_536).a.slice(1)}y`

    const changed = await patched(
      person,
      { op: 'replace', path: '/traits/custom_data/a', value },
      { op: 'remove', path: '/metadata_public/a' },
      { op: 'copy', from: '/state', path: '/metadata_public/b' },
    )

    expect(changed.traits.custom_data).toEqual({ a: value })
    expect(changed.metadata_public).toEqual({ b: 'active' })
  })
})
