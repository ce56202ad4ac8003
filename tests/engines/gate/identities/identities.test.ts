import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import { IDENTITIES, type Json, mintToken, SESSIONS } from '../fixture.ts'
import {
  ACTOR,
  auditOf,
  bootPeople,
  DAY,
  type Fixture,
  ID,
  ofBytes,
  personPath,
  rowsOf,
  START,
  tablesWith,
  told,
  UNKNOWN_ID,
} from './people.ts'

/** One fixture for all that look at nobody but the people whom they create. */
let fixture: Fixture
beforeAll(async () => {
  fixture = await bootPeople()
})
afterAll(() => fixture.end())

const withPassword = (config: Json) => ({ credentials: { password: { config } } })

const configOf = ({ id }: { id: string }): Json => {
  const row = rowsOf(fixture.app, 'gate_credentials').find(({ identity_id }) => identity_id === id)
  return row && JSON.parse(row.config)
}

describe('an identity', () => {
  test('needs no more than a schema and an address', async () => {
    const { headers, ...answer } = await fixture.api.post(IDENTITIES, {
      schema_id: 'user',
      traits: { email: 'ada@example.com' },
    })

    const { id, verifiable_addresses } = answer.body
    const address = { id: verifiable_addresses[0].id, value: 'ada@example.com', via: 'email' }
    const times = { created_at: START, updated_at: START }
    expect(answer).toEqual({
      status: 201,
      body: {
        id: ID,
        schema_id: 'user',
        schema_url: 'http://127.0.0.1:8420/public/gate/schemas/user',
        state: 'active',
        state_changed_at: START,
        traits: { email: 'ada@example.com', tenant_id: fixture.acme.id },
        verifiable_addresses: [
          { ...address, verified: false, status: 'pending', verified_at: null, ...times },
        ],
        recovery_addresses: [{ ...address, ...times }],
        metadata_public: {},
        credentials: {},
        ...times,
      },
    })
    expect(headers.get('location')).toBe(personPath({ id }))
  })

  test('can be created with everything there is', async () => {
    const created = await fixture.createIdentity({
      traits: {
        email: 'grace@example.com',
        custom_data: { rank: 'admiral', ships: [1, { n: 2 }] },
      },
      state: 'inactive',
      metadata_public: { roles: ['admin'], nothing: null },
      verifiable_addresses: [{ value: 'Grace@Example.com', verified: true }],
      ...withPassword({ password: 'correct horse' }),
    })

    expect(created).toMatchObject({
      state: 'inactive',
      state_changed_at: START,
      traits: {
        email: 'grace@example.com',
        custom_data: { rank: 'admiral', ships: [1, { n: 2 }] },
        tenant_id: fixture.acme.id,
      },
      metadata_public: { roles: ['admin'], nothing: null },
      verifiable_addresses: [{ verified: true, status: 'completed', verified_at: START }],
      credentials: {
        password: {
          type: 'password',
          identifiers: ['grace@example.com'],
          version: 0,
          created_at: START,
          updated_at: START,
        },
      },
    })
  })

  test('is read as it was answered when it was created', async () => {
    const created = await fixture.createIdentity({
      traits: { custom_data: { b: 1, a: [null, true, 1.5e-7, 'ü😀'] } },
      metadata_public: { constructor: { prototype: 1 }, '': '', 'a/b~c': -0.5 },
      ...withPassword({ password: 'x' }),
    })

    const read = await fixture.readIdentity(created)

    expect(read).toEqual(created)
    expect(JSON.stringify(read)).toBe(JSON.stringify(created))
  })

  test('has a schema that anybody can read', async () => {
    const { schema_url } = await fixture.createIdentity()

    const { status, body } = await fixture.app.raw(new URL(schema_url).pathname)

    expect(status).toBe(200)
    expect(body.properties.traits).toMatchObject({
      required: ['email'],
      properties: { email: { format: 'email' }, custom_data: { type: 'object' } },
    })
  })

  test('cannot choose its tenant, its id or its times', async () => {
    const other = await fixture.party()
    const chosen = {
      id: UNKNOWN_ID,
      created_at: '2020-01-01T00:00:00.000Z',
      state_changed_at: '2020-01-01T00:00:00.000Z',
      tenant_id: other.id,
      recovery_addresses: [{ value: 'mallory@example.com' }],
    }

    const created = await fixture.createIdentity({ traits: { tenant_id: other.id }, ...chosen })

    expect(created.id).not.toBe(UNKNOWN_ID)
    expect(created).toMatchObject({ created_at: START, state_changed_at: START })
    expect(created.traits.tenant_id).toBe(fixture.acme.id)
    expect(created.recovery_addresses).toEqual([
      expect.objectContaining({ value: created.traits.email }),
    ])
    expect(await other.api.get(IDENTITIES)).toMatchObject({ body: { data: [] } })
  })

  test('of a tenant is the same for its live and its test keys', async () => {
    const sandbox = fixture.speak((await fixture.acme.key('gate', 'test')).key)

    const created = await sandbox.createIdentity()

    expect(await fixture.readIdentity(created)).toEqual(created)
  })

  test('is told to webhooks and noted in the audit log, which learns no address', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    await other.createWebhook(target.url)

    const { id } = await other.createIdentity({ traits: { email: 'Tell@Example.com' } })
    await rest(fixture.app)

    expect(told(target)).toEqual([
      {
        event_id: ID,
        event_type: 'identity.created',
        tenant_id: other.id,
        created_at: START,
        data: { identity_id: id, payload: { email: 'tell@example.com', method: 'password' } },
      },
    ])
    expect(auditOf(fixture.app, `identity:${id}`)).toEqual([
      { action: 'identity.created', actor_kind: 'key', actor_id: expect.any(String), detail: {} },
    ])
    expect(tablesWith(fixture.app, 'tell@example.com')).not.toHaveProperty('audit_log')
  })
})

describe('an address', () => {
  test.each([
    ['capitals', 'Ada.1@EXAMPLE.com', 'ada.1@example.com'],
    ['blanks around it', ' \tada.2@example.com\r\n', 'ada.2@example.com'],
    ['no-break blanks', '\u00a0ada.3@example.com\u3000', 'ada.3@example.com'],
    ['letters in two pieces', 'jose\u0301@example.com', 'jos\u00e9@example.com'],
    ['capitals that are one letter only in small', 'H\u0331@example.com', '\u1e96@example.com'],
    ['a sign for a letter', '\u212belvin.\u212a@example.com', '\u00e5elvin.k@example.com'],
    ['a domain of other letters', 'ada@M\u00dcNCHEN.example', 'ada@m\u00fcnchen.example'],
    ['a domain of other letters in ASCII', 'ada@XN--GRN-IOA.example', 'ada@gr\u00fcn.example'],
    ['a domain with another dot', 'dot@example\u3002com', 'dot@example.com'],
    [
      'another small sigma',
      '\u03bf\u03b4\u03cc\u03c2@example.com',
      '\u03bf\u03b4\u03cc\u03c3@example.com',
    ],
    [
      'a domain of another small sigma',
      'ada@\u03b2\u03cc\u03bb\u03bf\u03c2.com',
      'ada@\u03b2\u03cc\u03bb\u03bf\u03c2.com',
    ],
    ['the same domain in ASCII', 'bob@xn--nxasmm1c.com', 'bob@\u03b2\u03cc\u03bb\u03bf\u03c2.com'],
    ['other scripts', '用户@例子.广告', '用户@例子.广告'],
    ['tags and signs', "o'neil+a/b=c{1}|d~@example.com", "o'neil+a/b=c{1}|d~@example.com"],
    ['a domain without dots', 'root@localhost', 'root@localhost'],
    [
      '254 characters',
      `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.eeeeee`,
      `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.eeeeee`,
    ],
  ])('with %s is kept, shown and found in one spelling', async (_, sent, kept) => {
    const created = await fixture.createIdentity({
      traits: { email: sent },
      verifiable_addresses: [{ value: sent, verified: true }],
      ...withPassword({
        hashed_password: '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e',
      }),
    })

    expect(created).toMatchObject({
      traits: { email: kept },
      verifiable_addresses: [{ value: kept, verified: true }],
      recovery_addresses: [{ value: kept }],
      credentials: { password: { identifiers: [kept] } },
    })
    for (const spelling of [sent, kept, kept.normalize('NFD')]) {
      const found = await fixture.api.get(`${IDENTITIES}?email=${encodeURIComponent(spelling)}`)
      expect(found.body.data).toEqual([created])
    }
  })

  test.each([
    ['as it is', 'twice@example.com'],
    ['in capitals', 'TWICE@example.com'],
    ['with blanks', ' twice@example.com '],
  ])('that somebody has, %s, is a conflict, and nothing is kept', async (_, email) => {
    const other = await fixture.party()
    const first = await other.createIdentity({ traits: { email: 'twice@example.com' } })

    const answer = await other.api.post(IDENTITIES, { schema_id: 'user', traits: { email } })

    expect(answer).toMatchObject({
      status: 409,
      body: { error: 'traits.email: is the address of another identity' },
    })
    expect((await other.api.get(IDENTITIES)).body.data).toEqual([first])
  })

  test('can be one person at each of two tenants', async () => {
    const other = await fixture.party()
    const traits = { email: 'both@example.com' }

    const mine = await fixture.createIdentity({ traits })
    const theirs = await other.createIdentity({ traits })

    expect(theirs.id).not.toBe(mine.id)
    expect(await fixture.readIdentity(mine)).toEqual(mine)
    expect(await other.readIdentity(theirs)).toEqual(theirs)
  })

  test('that many ask for at the same time is given to one of them', async () => {
    await using target = await startTarget()
    const other = await fixture.party()
    await other.createWebhook(target.url)
    const body = {
      schema_id: 'user',
      traits: { email: 'race@example.com' },
      ...withPassword({ password: 'x' }),
    }

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => other.api.post(IDENTITIES, body)),
    )
    await rest(fixture.app)

    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    expect(told(target)).toHaveLength(1)
    const ofTenant = ({ tenant_id }: Json) => tenant_id === other.id
    expect(rowsOf(fixture.app, 'gate_credentials').filter(ofTenant)).toHaveLength(1)
    expect(rowsOf(fixture.app, 'gate_addresses').filter(ofTenant)).toHaveLength(1)
  })
})

/** As other programs made them; what they verify is looked at where hashes are read. */
const HASHES = [
  [
    'argon2id',
    '$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4',
  ],
  [
    'argon2i',
    '$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8',
  ],
  ['bcrypt $2a$', '$2a$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'],
  ['bcrypt $2b$', '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'],
  ['bcrypt $2y$', '$2y$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'],
  [
    'scrypt',
    '$scrypt$ln=10,r=8,p=2$++++AAECAwQFBgcICQoLDA$aV5O9DfB8duSXAzWS71zk8x3GmKmY1RYxHVR2XCELT8',
  ],
  ['PBKDF2 over SHA-1', '$pbkdf2-sha1$i=4096,l=20$c2FsdA$SwB5AbdlSJq+rUnZJvch0GWkKcE'],
  [
    'PBKDF2 over SHA-256',
    '$pbkdf2-sha256$i=1000,l=32$++++AAECAwQFBgcICQoLDA$RyvK75pftgqWrBW5Mg1NvBeLGxvym2f98TEI2ufzroU',
  ],
  [
    'PBKDF2 over SHA-512',
    '$pbkdf2-sha512$1000$....AAECAwQFBgcICQoLDA$0cft7LEpIuvYd9JFeDBtPlf0OuaFEc46dlFjp.R2DTwmgG78FToVMhz7MMuxib96dx/I4rre/6EyCkxvDescJQ',
  ],
  [
    'PBKDF2 of Django',
    'pbkdf2_sha256$1000$seasalt22charsXYZ12345$1k6fV0t68ctnXFOsQpAe45fuqAHd5ImXB2GkIPmLd2o=',
  ],
] as const

describe('a password', () => {
  test.each(HASHES)('can be brought along as a hash of %s', async (_, hash) => {
    const created = await fixture.createIdentity(withPassword({ hashed_password: hash }))

    expect(created.credentials).toEqual({
      password: {
        type: 'password',
        identifiers: [created.traits.email],
        version: 0,
        created_at: START,
        updated_at: START,
      },
    })
    expect(configOf(created)).toEqual({ hashed_password: hash })
  })

  test.each([
    ['one character', 'x'],
    ['1024 characters', 'x'.repeat(1024)],
    ['1024 characters of two halves each', '😀'.repeat(1024)],
    ['blanks', '  '],
    ['the address itself', 'same@example.com'],
  ])('of %s is kept as an argon2id hash', async (_, password) => {
    const created = await fixture.createIdentity(withPassword({ password }))

    const { hashed_password } = configOf(created)
    expect(hashed_password).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(await Bun.password.verify(password, hashed_password)).toBe(true)
    expect(await Bun.password.verify(`${password}!`, hashed_password)).toBe(false)
  })

  test.each([
    ['nothing about credentials', {}],
    ['no kind of credential', { credentials: {} }],
  ])('need not be: %s', async (_, fields) => {
    const created = await fixture.createIdentity(fields)

    expect(created.credentials).toEqual({})
    expect(configOf(created)).toBeUndefined()
  })
})

test('what a password is made of is in no answer, no line of the log and no webhook', async () => {
  await using own = await bootPeople()
  await using target = await startTarget()
  await own.createWebhook(target.url)
  const [, hash] = HASHES[0]
  const answers: Json[] = []
  const asked = async (answer: Promise<Json>) => {
    const { status, body } = await answer
    answers.push(status, body)
    return body
  }
  const post = (email: string, config: Json) =>
    asked(
      own.api.post(IDENTITIES, { schema_id: 'user', traits: { email }, ...withPassword(config) }),
    )

  const typed = await post('typed@example.com', { password: 'Tr0ub4dor&3' })
  const imported = await post('imported@example.com', { hashed_password: hash })
  await post('typed@example.com', { password: 'Tr0ub4dor&3' })
  await post('bad@example.com', { hashed_password: `${hash}!` })
  await post('both@example.com', { password: 'Tr0ub4dor&3', hashed_password: hash })
  for (const person of [typed, imported]) {
    const { token } = await own.openSession(person)
    await asked(own.api.get(personPath(person)))
    await asked(own.api.get(personPath(person, '/metadata')))
    await asked(own.api.get(personPath(person, '/sessions')))
    await asked(own.api.post(personPath(person, '/resend-verification')))
    await asked(own.whoami(token))
    for (const from of ['/credentials', '/credentials/password/config/hashed_password'])
      await asked(own.patch(person, [{ op: 'copy', from, path: '/metadata_public/x' }]))
    await asked(own.patch(person, [{ op: 'add', path: '/metadata_public/x', value: 1 }]))
    await asked(own.api.patch(personPath(person, '/state'), { state: 'inactive' }))
  }
  await asked(own.api.get(IDENTITIES))
  await asked(own.api.get(`${IDENTITIES}?email=typed@example.com`))
  await asked(own.api.get(`${IDENTITIES}?search=imported`))
  await rest(own.app)
  expect(answers.filter((one) => one === 400)).toHaveLength(6)
  expect(told(target)).toHaveLength(4)

  const stored = rowsOf(own.app, 'gate_credentials').map(({ config }) => JSON.parse(config))
  const secrets = stored.flatMap(({ hashed_password }) => [
    hashed_password,
    ...hashed_password.split('$').filter((part: string) => part.length > 8),
  ])
  const seen = JSON.stringify([answers, own.app.log, target.requests.map(({ body }) => body)])
  expect(seen).toContain('typed@example.com')
  expect(secrets.length).toBeGreaterThan(5)
  const known = ['Tr0ub4dor', '$argon2', ...secrets].filter((secret) => seen.includes(secret))
  expect(known).toEqual([])
})

test('no address is in a line of the log, however it was asked about', async () => {
  await using own = await bootPeople()
  const person = await own.createIdentity({ traits: { email: 'logged@example.com' } })
  await own.api.get(`${IDENTITIES}?email=logged@example.com`)
  await own.api.get(`${IDENTITIES}?search=logged@`)
  await own.api.post(IDENTITIES, { schema_id: 'user', traits: { email: 'logged@example.com' } })
  await own.api.post(personPath(person, '/resend-verification'))
  await own.api.delete(personPath(person))
  await rest(own.app)

  const lines = own.app.log.filter((line) => line.includes(IDENTITIES))
  expect(lines).toHaveLength(6)
  expect(own.app.log.filter((line) => line.includes('logged'))).toEqual([])
})

describe('what is kept of a person', () => {
  test.each([
    ['traits.custom_data', (custom_data: Json) => ({ traits: { custom_data } })],
    ['metadata_public', (metadata_public: Json) => ({ metadata_public })],
  ])('may take 64 KiB as %s, and not a byte more', async (field, fieldsWith) => {
    const full = await fixture.createIdentity(fieldsWith(ofBytes(65_536)))
    const { traits, ...others } = fieldsWith(ofBytes(65_537)) as Json
    const answer = await fixture.api.post(IDENTITIES, {
      schema_id: 'user',
      traits: { email: 'large@example.com', ...traits },
      ...others,
    })

    expect(await fixture.readIdentity(full)).toMatchObject(fieldsWith(ofBytes(65_536)))
    expect(answer).toMatchObject({
      status: 400,
      body: { error: `${field}: must be at most 65536 bytes as JSON` },
    })
  })

  test('is measured in bytes of UTF-8', async () => {
    const answer = await fixture.api.post(IDENTITIES, {
      schema_id: 'user',
      traits: { email: 'large@example.com' },
      metadata_public: { a: 'ü'.repeat(32_765) },
    })

    expect(answer).toMatchObject({ status: 400 })
    await fixture.createIdentity({ metadata_public: { a: 'ü'.repeat(32_764) } })
  })
})

/** Every route about a person, with a body that it takes. */
const ROUTES: readonly (readonly ['get' | 'post' | 'patch' | 'delete', string, Json?])[] = [
  ['get', ''],
  ['patch', '', [{ op: 'replace', path: '/traits/email', value: 'stray@example.com' }]],
  ['delete', ''],
  ['patch', '/state', { state: 'inactive' }],
  ['get', '/metadata'],
  ['patch', '/metadata', { stray: true }],
  ['get', '/sessions'],
  ['delete', '/sessions'],
  ['post', '/resend-verification'],
]

describe('a person of another tenant is out of reach, and nobody is nowhere', () => {
  test.each(ROUTES.map((route) => [`${route[0]} /identities/{id}${route[1]}`, route] as const))(
    '%s',
    async (_, [method, tail, body]) => {
      const owner = await fixture.party()
      const person = await owner.createIdentity()
      const { token } = await owner.openSession(person)
      const path = (id: string) => `${IDENTITIES}/${id}${tail}`

      expect(await fixture.api[method](path(person.id), body)).toMatchObject({
        status: 403,
        body: { error: 'the identity belongs to another tenant' },
      })
      for (const id of [UNKNOWN_ID, 'x', '%00'])
        expect(await fixture.api[method](path(id), body)).toMatchObject({
          status: 404,
          body: { error: 'identity not found' },
        })

      expect(await owner.readIdentity(person)).toEqual(person)
      expect(await owner.whoami(token)).toMatchObject({ status: 200 })
    },
  )

  test('whatever else is wrong with a change', async () => {
    const person = await (await fixture.party()).createIdentity()
    const answer = await fixture.patch(person, [{ op: 'no such thing' }])

    expect(answer).toMatchObject({ status: 403 })
  })
})

describe('a tenant in arrears', () => {
  test.each([
    ['billing', 'the account is suspended'],
    ['renewal', 'the renewal is unpaid'],
  ] as const)(
    'for %s creates nobody and mails nobody, and can do all else',
    async (reason, error) => {
      await using target = await startTarget()
      const late = await fixture.party()
      await late.createWebhook(target.url)
      const person = await late.createIdentity()
      const { token, session } = await late.openSession(person)
      const { access_token } = await mintToken(fixture.app, late.key, { subject: person.id })
      await fixture.app.platform.tenants.suspend(ACTOR, late.id, reason)
      const body = { schema_id: 'user', traits: { email: 'new@example.com' } }

      expect(await late.api.post(IDENTITIES, body)).toMatchObject({ status: 402, body: { error } })

      expect(await late.whoami(token)).toMatchObject({ status: 200 })
      const introspect = await late.api.post('/v1/gate/tokens/introspect', { access_token })
      expect(introspect).toMatchObject({ status: 200, body: { active: true } })
      expect(await late.api.get(IDENTITIES)).toMatchObject({ status: 200 })
      expect(await late.api.delete(`${SESSIONS}/${session.id}`)).toMatchObject({ status: 204 })
      for (const [method, tail, body] of ROUTES.toSorted(lastOfAll)) {
        const { status } = await late.api[method](personPath(person, tail), body)
        if (tail === '/resend-verification') expect(status).toBe(402)
        else expect([200, 204]).toContain(status)
      }
      expect(fixture.app.mail.outbox.list({ tenantId: late.id }, { limit: 1 })).toEqual([])
      await rest(fixture.app)
      expect(told(target).map(({ event_type }) => event_type)).toContain('identity.deleted')

      await fixture.app.platform.tenants.resume(ACTOR, late.id)
      expect(await late.api.post(IDENTITIES, body)).toMatchObject({ status: 201 })
    },
  )

  test('hears what is wrong with a body before what is wrong with the account', async () => {
    const late = await fixture.party()
    await fixture.app.platform.tenants.suspend(ACTOR, late.id, 'billing')

    for (const config of [{ hashed_password: 'x' }, { password: '' }, {}])
      expect(
        await late.api.post(IDENTITIES, {
          schema_id: 'user',
          traits: { email: 'new@example.com' },
          ...withPassword(config),
        }),
      ).toMatchObject({ status: 400 })
  })

  test('hears who can be written to before that nobody is', async () => {
    const late = await fixture.party()
    const asleep = await late.createIdentity({ state: 'inactive' })
    const foreign = await fixture.createIdentity()
    await fixture.app.platform.tenants.suspend(ACTOR, late.id, 'billing')
    const resend = (id: string) => late.api.post(personPath({ id }, '/resend-verification'))

    expect(await resend(foreign.id)).toMatchObject({ status: 403 })
    expect(await resend(UNKNOWN_ID)).toMatchObject({ status: 404 })
    expect(await resend(asleep.id)).toMatchObject({ status: 400 })
  })

  test('hears that the account is in arrears before that an address is taken', async () => {
    const late = await fixture.party()
    const { traits } = await late.createIdentity()
    await fixture.app.platform.tenants.suspend(ACTOR, late.id, 'billing')

    const answer = await late.api.post(IDENTITIES, { schema_id: 'user', traits })

    expect(answer).toMatchObject({ status: 402 })
  })
})

/** A person can be verified while active, and deleted once. */
const lastOfAll = ([one, path]: Json, [other, otherPath]: Json): number =>
  Number(one === 'delete') - Number(other === 'delete') ||
  Number(path === '/state') - Number(otherPath === '/state') ||
  otherPath.length - path.length

test('what is wrong with a password is said before that an address is taken', async () => {
  const { traits } = await fixture.createIdentity()

  const answer = await fixture.api.post(IDENTITIES, {
    schema_id: 'user',
    traits,
    ...withPassword({ hashed_password: 'plain' }),
  })

  expect(answer).toMatchObject({ status: 400 })
})

test('an identity and all it has can be read long after', async () => {
  await using own = await bootPeople()
  const created = await own.createIdentity(withPassword({ hashed_password: HASHES[0][1] }))

  own.clock.jump(400 * DAY)
  await own.app.platform.retention.sweep()

  expect(await own.readIdentity(created)).toEqual(created)
})
