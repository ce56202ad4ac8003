import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Answer } from '../../support/app.ts'
import { testConfig } from '../../support/config.ts'
import { IDENTITIES, type Json, SESSIONS } from './fixture.ts'
import { bootPeople, type Fixture, nested, personPath, rowsOf } from './identities/people.ts'

const { maxBodyBytes } = testConfig().server

/** One fixture for all: what is refused leaves it as it was. */
let fixture: Fixture
let person: Json
beforeAll(async () => {
  fixture = await bootPeople()
  person = await fixture.createIdentity({
    traits: { email: 'ada@example.com', custom_data: { a: 1 } },
    metadata_public: { b: 2 },
  })
})
afterAll(() => fixture.end())

/** A refusal whose sentence names field and rule, and nothing changed. */
async function expectRefused(asked: Promise<Answer>, status: number, rule: string) {
  const { status: got, body } = await asked
  expect({ status: got, body }).toEqual({ status, body: { error: expect.stringContaining(rule) } })
  expect(body.error).not.toMatch(/^([\w.]+): \1: /)
  expect((await fixture.api.get(IDENTITIES)).body.data).toEqual([person])
  expect(
    rowsOf(fixture.app, 'audit_log').filter(({ action }) => /^identity/.test(action)),
  ).toHaveLength(1)
  expect(rowsOf(fixture.app, 'messages')).toHaveLength(1)
}

const GOOD = { schema_id: 'user', traits: { email: 'new@example.com' } }
const withTraits = (traits: Json) => ({ ...GOOD, traits: { ...GOOD.traits, ...traits } })
const withPassword = (config: Json) => ({ ...GOOD, credentials: { password: { config } } })

const OBJECT = 'must be a JSON object'
const ADDRESS = 'traits.email: must be an email address'
const PASSWORD = 'credentials.password.config'
const LENGTH = `${PASSWORD}.password: must have 1 to 1024 characters`
const EITHER = `${PASSWORD}: must have either password or hashed_password`
const HASH = `${PASSWORD}.hashed_password`

const SCHEMA: [Json, string][] = [
  [{ traits: GOOD.traits }, 'schema_id: is required and must be "user"'],
  [{ ...GOOD, schema_id: null }, 'schema_id: must be "user"'],
  [{ ...GOOD, schema_id: '' }, 'schema_id: must be "user"'],
  [{ ...GOOD, schema_id: 'User' }, 'schema_id: must be "user"'],
  [{ ...GOOD, schema_id: 'operator' }, 'schema_id: must be "user"'],
  [{ ...GOOD, schema_id: ['user'] }, 'schema_id: must be "user"'],
]

const TRAITS: [Json, string][] = [
  [{ schema_id: 'user' }, `traits: is required and must be a JSON object`],
  [{ ...GOOD, traits: null }, `traits: ${OBJECT}`],
  [{ ...GOOD, traits: [] }, `traits: ${OBJECT}`],
  [{ ...GOOD, traits: 'new@example.com' }, `traits: ${OBJECT}`],
  [{ ...GOOD, traits: {} }, 'traits.email: is required and must be an email address'],
  [withTraits({ email: null }), ADDRESS],
  [withTraits({ email: 5 }), ADDRESS],
  [withTraits({ email: ['new@example.com'] }), ADDRESS],
  [withTraits({ custom_data: null }), `traits.custom_data: ${OBJECT}`],
  [withTraits({ custom_data: [] }), `traits.custom_data: ${OBJECT}`],
  [withTraits({ custom_data: 'x' }), `traits.custom_data: ${OBJECT}`],
  [
    withTraits({ name: 'Ada' }),
    'traits.name: is not a known trait. Put your own fields in traits.custom_data',
  ],
  [
    withTraits({ Email: 'new@example.com' }),
    'traits.Email: is not a known trait. Put your own fields in traits.custom_data',
  ],
  [
    withTraits({ metadata_public: {} }),
    'traits.metadata_public: is not a known trait. Put your own fields in traits.custom_data',
  ],
  [
    withTraits({ constructor: {} }),
    'traits.constructor: is not a known trait. Put your own fields in traits.custom_data',
  ],
  [
    withTraits({ '': 1 }),
    'traits.: is not a known trait. Put your own fields in traits.custom_data',
  ],
  [
    withTraits({ ['x'.repeat(5000)]: 1 }),
    `traits.${'x'.repeat(100)}: is not a known trait. Put your own fields in traits.custom_data`,
  ],
]

const EMAILS = [
  '',
  ' ',
  'x',
  '@',
  'x@',
  '@example.com',
  'x@@example.com',
  'x@y@example.com',
  'x y@example.com',
  'x@exa mple.com',
  'x@example..com',
  'x@.example.com',
  'x@example.com.',
  'x@-example.com',
  'x@example-.com',
  'x@exam_ple.com',
  'x@[127.0.0.1]',
  '"x"@example.com',
  'x(y)@example.com',
  'x,y@example.com',
  'x;y@example.com',
  '<x@example.com>',
  'Ada <x@example.com>',
  'mailto:x@example.com',
  'x\u0000@example.com',
  'x\n@example.com',
  'x@example.com\r\nBcc: y@example.com',
  'x\u200b@example.com',
  'x\u202e@example.com',
  'x@xn--.com',
  'x@\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com',
  '😀@example.com',
  `${'x'.repeat(65)}@example.com`,
  `x@${'y'.repeat(64)}.com`,
]

const CREDENTIALS: [Json, string][] = [
  [{ ...GOOD, credentials: null }, `credentials: ${OBJECT}`],
  [{ ...GOOD, credentials: [] }, `credentials: ${OBJECT}`],
  [{ ...GOOD, credentials: 'secret' }, `credentials: ${OBJECT}`],
  [{ ...GOOD, credentials: { password: null } }, `credentials.password: ${OBJECT}`],
  [{ ...GOOD, credentials: { password: 'secret' } }, `credentials.password: ${OBJECT}`],
  [
    { ...GOOD, credentials: { password: {} } },
    `${PASSWORD}: is required and must be a JSON object`,
  ],
  [{ ...GOOD, credentials: { password: { password: 'secret' } } }, `${PASSWORD}: is required`],
  ...['oidc', 'totp', 'lookup_secret', 'code', 'webauthn', 'passkey', 'Password', ''].map(
    (kind): [Json, string] => [
      { ...GOOD, credentials: { [kind]: { config: {} } } },
      `credentials.${kind}: cannot be set; only credentials.password can`,
    ],
  ),
  [
    { ...GOOD, credentials: { password: { config: { password: 'secret' } }, totp: {} } },
    'credentials.totp: cannot be set; only credentials.password can',
  ],
  [withPassword(null), `${PASSWORD}: ${OBJECT}`],
  [withPassword([]), `${PASSWORD}: ${OBJECT}`],
  [withPassword({}), EITHER],
  [withPassword({ password: 'secret', hashed_password: '$2b$04$x' }), EITHER],
  [withPassword({ password: null }), `${PASSWORD}.password: must be a string`],
  [withPassword({ password: 12345678 }), `${PASSWORD}.password: must be a string`],
  [withPassword({ password: ['secret'] }), `${PASSWORD}.password: must be a string`],
  [withPassword({ password: '' }), LENGTH],
  [withPassword({ password: 'x'.repeat(1025) }), LENGTH],
  [withPassword({ password: '😀'.repeat(1025) }), LENGTH],
  [withPassword({ hashed_password: null }), `${HASH}: must be a string`],
  [withPassword({ hashed_password: '' }), `${HASH}: must be a hash of argon2id`],
  [withPassword({ hashed_password: 'secret' }), `${HASH}: must be a hash of argon2id`],
  [
    withPassword({ hashed_password: '5f4dcc3b5aa765d61d8327deb882cf99' }),
    `${HASH}: must be a hash`,
  ],
  [withPassword({ hashed_password: '$1$salt$qJH7.N4xYta3aEG/dfqo/0' }), `${HASH}: must be a hash`],
  [withPassword({ hashed_password: '$6$salt$x' }), `${HASH}: must be a hash`],
  [
    withPassword({ hashed_password: '$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$x' }),
    `${HASH}: must be argon2`,
  ],
  [
    withPassword({
      hashed_password: '$2b$31$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e',
    }),
    `${HASH}: must have a number from 4 to 16 as the cost of bcrypt`,
  ],
  [withPassword({ hashed_password: '$2b$04$short' }), `${HASH}: must be bcrypt`],
  [
    withPassword({ hashed_password: '$scrypt$ln=30,r=8,p=1$c29tZXNhbHQ$x' }),
    `${HASH}: must have a number from 1 to 17 as ln of scrypt`,
  ],
  [
    withPassword({ hashed_password: '$pbkdf2-md5$i=1000$c29tZXNhbHQ$x' }),
    `${HASH}: must be PBKDF2`,
  ],
  [
    withPassword({ hashed_password: `$argon2id$${'x'.repeat(600)}` }),
    `${HASH}: must have at most 512 characters`,
  ],
]

const ADDRESSES = 'verifiable_addresses'
const OTHERS: [Json, string][] = [
  [{ ...GOOD, state: null }, 'state: must be one of active, inactive'],
  [{ ...GOOD, state: '' }, 'state: must be one of active, inactive'],
  [{ ...GOOD, state: 'ACTIVE' }, 'state: must be one of active, inactive'],
  [{ ...GOOD, state: true }, 'state: must be one of active, inactive'],
  [{ ...GOOD, metadata_public: null }, `metadata_public: ${OBJECT}`],
  [{ ...GOOD, metadata_public: [] }, `metadata_public: ${OBJECT}`],
  [{ ...GOOD, metadata_public: '{}' }, `metadata_public: ${OBJECT}`],
  [{ ...GOOD, [ADDRESSES]: {} }, `${ADDRESSES}: must be a list of at most 1 address`],
  [
    { ...GOOD, [ADDRESSES]: [{ value: 'new@example.com' }, { value: 'new@example.com' }] },
    `${ADDRESSES}: must be a list of at most 1 address`,
  ],
  [
    { ...GOOD, [ADDRESSES]: [{}] },
    `${ADDRESSES}.0.value: is required and must be an email address`,
  ],
  [{ ...GOOD, [ADDRESSES]: [{ value: 5 }] }, `${ADDRESSES}.0.value: must be an email address`],
  [
    { ...GOOD, [ADDRESSES]: [{ value: 'new@example.com', verified: 'yes' }] },
    `${ADDRESSES}.0.verified: must be true or false`,
  ],
  [{ ...GOOD, [ADDRESSES]: [{ value: 'x' }] }, `${ADDRESSES}.value: must be an email address`],
  [
    { ...GOOD, [ADDRESSES]: [{ value: 'other@example.com', verified: true }] },
    `${ADDRESSES}.value: must be the address in traits.email`,
  ],
]

const named = (cases: [Json, string][]) =>
  cases.map(([body, rule]) => [JSON.stringify(body).slice(0, 120), body, rule] as const)

describe('nobody is created', () => {
  test.each(named([...SCHEMA, ...TRAITS, ...CREDENTIALS, ...OTHERS]))('of %s', (_, body, rule) =>
    expectRefused(fixture.api.post(IDENTITIES, body), 400, rule),
  )

  test.each(EMAILS)('with the address %j', (email) =>
    expectRefused(fixture.api.post(IDENTITIES, withTraits({ email })), 400, ADDRESS),
  )

  test('with an address of more than 254 bytes', () => {
    const label = 'd'.repeat(62)
    const email = `${'x'.repeat(64)}@${label}.${label}.${label}.d`
    expect(Buffer.byteLength(email)).toBe(255)
    const body = withTraits({ email })
    return expectRefused(
      fixture.api.post(IDENTITIES, body),
      400,
      'traits.email: must have at most 254 bytes',
    )
  })
})

describe('a person stays in the state they are in', () => {
  const RULE = 'state: must be one of active, inactive'
  test.each([
    [{}, 'state: is required and must be one of active, inactive'],
    [{ state: null }, RULE],
    [{ state: '' }, RULE],
    [{ state: 'Inactive' }, RULE],
    [{ state: 'deleted' }, RULE],
    [{ state: false }, RULE],
    [{ state: ['inactive'] }, RULE],
    [[{ state: 'inactive' }], `body: ${OBJECT}`],
    ['inactive', `body: ${OBJECT}`],
    [null, `body: ${OBJECT}`],
  ] as [Json, string][])('for %j', (body, rule) =>
    expectRefused(fixture.api.patch(personPath(person, '/state'), body), 400, rule),
  )
})

const NEW = '{"schema_id":"user","traits":{"email":"new@example.com"'

/** Every way in for a value of the tenant's own: its name in messages, and the body around it. */
const WAYS_IN = [
  {
    by: 'the metadata of a new person',
    method: 'post',
    path: () => IDENTITIES,
    field: 'metadata_public',
    around: (value: string) => `${NEW}},"metadata_public":{"x":${value}}}`,
  },
  {
    by: 'the custom data of a new person',
    method: 'post',
    path: () => IDENTITIES,
    field: 'traits.custom_data',
    around: (value: string) => `${NEW},"custom_data":{"x":${value}}}}`,
  },
  {
    by: 'a JSON Patch',
    method: 'patch',
    path: () => personPath(person),
    field: 'value',
    around: (value: string) => `[{"op":"add","path":"/metadata_public/x","value":{"x":${value}}}]`,
  },
  {
    by: 'a merge patch',
    method: 'patch',
    path: () => personPath(person, '/metadata'),
    field: 'metadata_public',
    around: (value: string) => `{"x":${value}}`,
  },
] as const

describe.each(WAYS_IN)('by way of $by', ({ method, path, field, around }) => {
  const send = (value: string) => fixture.spelled(method, path(), around(value))

  test.each([
    '9007199254740992',
    '9007199254740993',
    '-9007199254740993',
    '123456789012345678901234567890',
    '1e20',
  ])('%s, which loses digits, is refused', (value) =>
    expectRefused(
      send(value),
      400,
      `${field}.x: would lose digits as a number; send it as a string`,
    ),
  )

  test.each(['1e309', '-1e400'])('%s, which is too large, is refused', (value) =>
    expectRefused(send(value), 400, `${field}.x: is too large for a number; send it as a string`),
  )

  test.each([
    ['{"__proto__":{"polluted":1}}', '.x.__proto__'],
    ['{"a":[{"\\u005f_proto__":1}]}', '.x.a.0.__proto__'],
  ])('%s, which is what copies inherit from, is refused', async (value, where) => {
    await expectRefused(send(value), 400, `${field}${where}: is a reserved member name`)
    expect(({} as Json).polluted).toBeUndefined()
  })

  test('half a surrogate pair is refused', () =>
    expectRefused(send('"\\ud83d"'), 400, 'body: must not contain half a surrogate pair'))

  test('what is nested too deep is refused', () =>
    expectRefused(
      send(JSON.stringify(nested(64))),
      400,
      'body: must not be nested deeper than 64 levels',
    ))
})

test.each([
  [
    'in the body of a new person',
    '{"schema_id":"user","traits":{"email":"new@example.com"},"__proto__":{"state":"inactive"}}',
  ],
  [
    'in credentials',
    '{"schema_id":"user","traits":{"email":"proto@example.com"},"credentials":{"__proto__":{"password":{"config":{"password":"x"}}}}}',
  ],
  ['in traits', '{"schema_id":"user","traits":{"__proto__":{"email":"proto@example.com"}}}'],
])('a member __proto__ %s gives nothing to inherit', async (_, text) => {
  await using own = await bootPeople()

  const { status, body } = await own.spelled('post', IDENTITIES, text)

  if (status === 201) expect(body).toMatchObject({ state: 'active', credentials: {} })
  else expect(status).toBe(400)
  expect(({} as Json).state).toBeUndefined()
  expect(JSON.stringify(body)).not.toContain('proto@')
})

const BODIES: [string, 'post' | 'patch', () => string][] = [
  ['a new person', 'post', () => IDENTITIES],
  ['a JSON Patch', 'patch', () => personPath(person)],
  ['a change of state', 'patch', () => personPath(person, '/state')],
  ['a merge patch', 'patch', () => personPath(person, '/metadata')],
  ['a resend', 'post', () => personPath(person, '/resend-verification')],
]

describe.each(BODIES)('the body of %s', (_, method, path) => {
  const spelled = (body: BodyInit, type?: Record<string, string>) =>
    fixture.spelled(method, path(), body, type)

  test.each(['{', '{"a":}', "{'a':1}", '{"a":1,}', 'NaN', '{"a":1}x', '[1', '"'])(
    'cannot be %j',
    (text) => expectRefused(spelled(text), 400, 'body: must be JSON'),
  )

  test('cannot be anything but UTF-8', () =>
    expectRefused(spelled(new Uint8Array([0x22, 0xff, 0x22])), 400, 'body: must be UTF-8'))

  test('cannot be nested a hundred thousand levels deep', () =>
    expectRefused(
      spelled('['.repeat(100_000)),
      400,
      'body: must not be nested deeper than 64 levels',
    ))

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'json', ''])(
    'cannot be declared as %j',
    (type) =>
      expectRefused(
        spelled('{}', { 'content-type': type }),
        415,
        'Content-Type: must be application/json',
      ),
  )

  test('cannot be compressed', () =>
    expectRefused(
      spelled('{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
      415,
      'Content-Encoding: must not be set',
    ))

  test('cannot be larger than server.max_body', () =>
    expectRefused(
      spelled(`"${'x'.repeat(maxBodyBytes)}"`),
      413,
      `body: must be at most ${maxBodyBytes} bytes`,
    ))
})

describe('a body that has to be an object', () => {
  test.each(['[]', 'null', '""', '1', 'true', ''])('is not %j', async (text) => {
    await expectRefused(fixture.spelled('post', IDENTITIES, text), 400, `body: ${OBJECT}`)
    for (const tail of ['/state', '/metadata'])
      await expectRefused(
        fixture.spelled('patch', personPath(person, tail), text),
        400,
        `body: ${OBJECT}`,
      )
  })
})

describe('a method that a path does not have', () => {
  test.each([
    ['PUT', '', 'GET, POST'],
    ['DELETE', '', 'GET, POST'],
    ['PUT', '/x', 'GET, PATCH, DELETE'],
    ['POST', '/x', 'GET, PATCH, DELETE'],
    ['GET', '/x/state', 'PATCH'],
    ['PUT', '/x/metadata', 'GET, PATCH'],
    ['POST', '/x/sessions', 'GET, DELETE'],
    ['GET', '/x/resend-verification', 'POST'],
  ])('%s /identities%s answers 405 and says which it has', async (method, tail, allowed) => {
    const headers = { authorization: `Bearer ${fixture.key}` }
    const answer = await fixture.app.raw(IDENTITIES + tail, { method, headers })

    expect(answer).toMatchObject({
      status: 405,
      body: { error: `${method} is not allowed here; use ${allowed}` },
    })
    expect(answer.headers.get('allow')).toBe(allowed)
  })

  test.each(['/v1/gate/identity', `${IDENTITIES}/x/y`, `${SESSIONS}/x/y`])(
    'and %s is no route at all',
    async (path) => {
      expect(await fixture.app.raw(path)).toMatchObject({
        status: 404,
        body: { error: `no such route: GET ${path}` },
      })
    },
  )
})
