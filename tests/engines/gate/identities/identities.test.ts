import { expect, test } from 'bun:test'
import { normaliseEmail } from '../../../../src/engines/gate/identities/email.ts'
import { checkTraits } from '../../../../src/engines/gate/identities/traits.ts'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import {
  ACTOR,
  auditOf,
  bootGate,
  DAY,
  ID,
  IDENTITIES,
  type Json,
  mintToken,
  ofBytes,
  personPath,
  plain,
  rowsOf,
  SESSIONS,
  type Tenant,
  tablesWith,
  told,
  UNKNOWN_ID,
  useGate,
} from '../fixture.ts'
import { ruleOf } from './documents/support.ts'

const gate = await useGate()

const BCRYPT = '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'

const withPassword = (config: Json) => ({ credentials: { password: { config } } })
const creation = (email: string, fields: Json = {}) => ({
  schema_id: 'user',
  traits: { email },
  ...fields,
})

const configOf = ({ id }: { id: string }): Json => {
  const row = rowsOf(gate.app, 'gate_credentials').find(({ identity_id }) => identity_id === id)
  return row && JSON.parse(row.config)
}

test('A new identity needs only a schema and an address', async () => {
  const acme = await gate.newTenant()
  const email = 'ada@example.com'
  const answer = await acme.api.post(IDENTITIES, creation(email))
  const { id, verifiable_addresses, schema_url } = answer.body
  const address = { id: verifiable_addresses[0].id, value: email, via: 'email' }
  const times = { created_at: gate.now(), updated_at: gate.now() }
  const unverified = { verified: false, status: 'pending', verified_at: null }
  expect(answer).toMatchObject({ status: 201 })
  expect(answer.headers.get('location')).toBe(personPath({ id }))
  expect(answer.body).toEqual({
    ...{ id: ID, schema_id: 'user', state: 'active', state_changed_at: gate.now(), ...times },
    schema_url: 'http://127.0.0.1:8420/public/gate/schemas/user',
    traits: { email, tenant_id: acme.id },
    verifiable_addresses: [{ ...address, ...unverified, ...times }],
    recovery_addresses: [{ ...address, ...times }],
    ...{ metadata_public: {}, credentials: {} },
  })
  const { status, body } = await gate.app.raw(new URL(schema_url).pathname)
  expect(status).toBe(200)
  expect(body.properties.traits).toMatchObject({
    required: ['email'],
    properties: { email: { format: 'email' }, custom_data: { type: 'object' } },
  })
})

test('An identity with all fields is read as it was created, long after, by both environments', async () => {
  await using own = await bootGate()
  const acme = await own.newTenant()
  const email = 'José@München.example'
  const custom_data = { b: 1, a: [null, true, 1.5e-7, 'ü😀', { n: 2 }] }
  const metadata_public = { constructor: { prototype: 1 }, '': '', 'a/b~c': -0.5, n: null }
  const sandbox = own.withKey((await acme.newKey('gate', 'test')).key)
  const created = await sandbox.createIdentity({
    traits: { email, custom_data },
    state: 'inactive',
    metadata_public,
    verifiable_addresses: [{ value: 'jose\u0301@xn--mnchen-3ya.example', verified: true }],
    ...withPassword({ hashed_password: BCRYPT }),
  })
  const value = email.toLowerCase()
  const times = { created_at: own.now(), updated_at: own.now() }
  const verified = { verified: true, status: 'completed', verified_at: own.now() }
  expect(created).toMatchObject({
    ...{ state: 'inactive', traits: { email: value, custom_data, tenant_id: acme.id } },
    ...{ metadata_public, recovery_addresses: [{ value }] },
    verifiable_addresses: [{ value, ...verified }],
    credentials: { password: { type: 'password', identifiers: [value], version: 0, ...times } },
  })
  own.clock.jump(400 * DAY)
  await own.app.platform.retention.sweep()
  expect(JSON.stringify(await acme.readIdentity(created))).toBe(JSON.stringify(created))
})

test('An identity cannot choose its tenant, id, times or recovery addresses', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const past = '2020-01-01T00:00:00.000Z'
  const created = await acme.createIdentity({
    ...{ id: UNKNOWN_ID, created_at: past, state_changed_at: past, tenant_id: other.id },
    traits: { tenant_id: other.id },
    recovery_addresses: [{ value: 'mallory@example.com' }],
  })
  expect(created.id).not.toBe(UNKNOWN_ID)
  expect(created).toMatchObject({
    ...{ created_at: gate.now(), state_changed_at: gate.now(), traits: { tenant_id: acme.id } },
    recovery_addresses: [{ value: created.traits.email }],
  })
  expect(await other.api.get(IDENTITIES)).toMatchObject({ body: { data: [] } })
})

test('A creation is in webhooks and the audit log, which contains no address', async () => {
  await using target = await startTarget()
  const acme = await gate.newTenant()
  await acme.createWebhook(target.url)
  const { id } = await acme.createIdentity({ traits: { email: 'Tell@Example.com' } })
  await rest(gate.app)
  const payload = { email: 'tell@example.com', method: 'password' }
  expect(told(target)).toMatchObject([
    { event_type: 'identity.created', data: { identity_id: id, payload } },
  ])
  expect(auditOf(gate.app, `identity:${id}`)).toEqual([
    { action: 'identity.created', actor_kind: 'key', actor_id: acme.keyId, detail: {} },
  ])
  expect(tablesWith(gate.app, 'tell@example.com')).not.toHaveProperty('audit_log')
})

const LONGEST = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.eeeeee`

test.each([
  ['capitals', 'Ada.1@EXAMPLE.com', 'ada.1@example.com'],
  ['spaces around it', ' \tada.2@example.com\r\n', 'ada.2@example.com'],
  ['no-break spaces', '\u00a0ada.3@example.com\u3000', 'ada.3@example.com'],
  ['decomposed letters', 'jose\u0301@example.com', 'jos\u00e9@example.com'],
  ['capitals that compose in lower case', 'H\u0331@example.com', '\u1e96@example.com'],
  ['two code points', 'H\u0331A\u030a\u0130\u0317@a.b', '\u1e96\u00e5i\u0317\u0307@a.b'],
  ['letter-like signs', '\u212belvin.\u212a@example.com', '\u00e5elvin.k@example.com'],
  ['a domain of other letters', 'ada@M\u00dcNCHEN.example', 'ada@m\u00fcnchen.example'],
  ['a domain in Punycode', 'ada@XN--GRN-IOA.example', 'ada@gr\u00fcn.example'],
  ['an ideographic dot', 'dot@example\u3002com', 'dot@example.com'],
  ['a final sigma', '\u03bf\u03c2@example.com', '\u03bf\u03c3@example.com'],
  ['a domain with a final sigma', 'a@\u03b2\u03cc\u03c2.com', 'a@\u03b2\u03cc\u03c2.com'],
  ['the same in Punycode', 'bob@xn--nxasmm1c.com', 'bob@\u03b2\u03cc\u03bb\u03bf\u03c2.com'],
  ['other scripts', '用户@例子.广告', '用户@例子.广告'],
  ['tags and signs', "o'neil+a/b=c{1}|d~@example.com", "o'neil+a/b=c{1}|d~@example.com"],
  ['no dot in the domain', 'root@localhost', 'root@localhost'],
  ['254 bytes', LONGEST, LONGEST],
])('An address with %s is normalized', (_, text, email) => {
  for (const spelling of [text, email, email.normalize('NFD')])
    expect(normaliseEmail(spelling, 'email')).toBe(email)
})

test.each([
  ...[
    '',
    ' ',
    'x',
    '@',
    'x@',
    '@example.com',
    'x@@example.com',
    'x@y@example.com',
    'x y@example.com',
  ],
  ...['x@exa mple.com', 'x@example..com', 'x@.example.com', 'x@example.com.', 'x@-example.com'],
  ...['x@example-.com', 'x@exam_ple.com', 'x@[127.0.0.1]', '"x"@example.com', 'x(y)@example.com'],
  ...['x,y@example.com', 'x;y@example.com', '<x@example.com>', 'Ada <x@example.com>'],
  ...['mailto:x@example.com', 'x\u0000@example.com', 'x\n@example.com', 'x\u200b@example.com'],
  ...['x@example.com\r\nBcc: y@example.com', 'x\u202e@example.com', 'x@xn--.com'],
  ...['x@\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com', '😀@example.com'],
  ...[`${'x'.repeat(65)}@example.com`, `x@${'y'.repeat(64)}.com`],
])('The address %j is refused', (email) => {
  expect(ruleOf(() => normaliseEmail(email, 'email'))).toBe('email format')
})

test('An address may have a soft hyphen in the domain, and 254 bytes', () => {
  expect(ruleOf(() => normaliseEmail('a@b\u00ad.c', 'email'))).toBeUndefined()
  expect(ruleOf(() => normaliseEmail(`a${LONGEST}`, 'email'))).toBe('email too_long')
})

test('An operator has a name and a language, and a blank name is removed', () => {
  const checked = (traits: Json) => checkTraits({ email: 'a@b.c', ...traits }, 'operator')
  const rule = (traits: Json) => ruleOf(() => checked(traits))
  const ada = { email: 'a@b.c', display_name: 'Ada', locale: 'de' }
  expect<Json>(checked({ ...ada, display_name: ' Ada ', tenant_id: 'x' })).toEqual(ada)
  expect(checked({ display_name: '  ' }).display_name).toBeUndefined()
  expect(checked({ display_name: '😀'.repeat(200) }).display_name).toBe('😀'.repeat(200))
  expect(rule({ display_name: '😀'.repeat(201) })).toBe('traits.display_name too_long')
  for (const display_name of [1, null, 'a\nb', 'a\u202eb', '\ud800'])
    expect(rule({ display_name })).toBe('traits.display_name characters')
  for (const locale of [1, 'EN', 'eng', '']) expect(rule({ locale })).toBe('traits.locale format')
  expect(rule({ custom_data: {} })).toBe('traits.custom_data unknown')
})

test('An address belongs to one identity per tenant, in every spelling and at once', async () => {
  await using target = await startTarget()
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  await acme.createWebhook(target.url)
  const body = creation('race@example.com', withPassword({ hashed_password: BCRYPT }))
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => acme.api.post(IDENTITIES, body)))
  await rest(gate.app)
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  expect(told(target)).toHaveLength(1)
  for (const table of ['gate_credentials', 'gate_addresses']) {
    const own = rowsOf(gate.app, table).filter(({ tenant_id }) => tenant_id === acme.id)
    expect(own).toHaveLength(1)
  }
  const taken = plain(409, 'traits.email')
  expect(await acme.api.post(IDENTITIES, creation(' RACE@example.com '))).toMatchObject(taken)
  const { data } = (await acme.api.get(IDENTITIES)).body
  expect(data).toHaveLength(1)
  const theirs = await other.createIdentity({ traits: body.traits })
  expect(await acme.readIdentity(data[0])).toEqual(data[0])
  expect(await other.readIdentity(theirs)).toEqual(theirs)
  const bad = { ...body, ...withPassword({ hashed_password: 'plain' }) }
  expect(await acme.api.post(IDENTITIES, bad)).toMatchObject({ status: 400 })
})

test('A password is optional, stored as an argon2id hash, or imported as a hash', async () => {
  for (const password of ['x', '😀'.repeat(1024), '  ']) {
    const { hashed_password } = configOf(await gate.createIdentity(withPassword({ password })))
    expect(hashed_password).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$')
    expect(await Bun.password.verify(password, hashed_password)).toBe(true)
  }
  const imported = await gate.createIdentity(withPassword({ hashed_password: BCRYPT }))
  expect(configOf(imported)).toEqual({ hashed_password: BCRYPT })
  for (const fields of [{}, { credentials: {} }]) {
    const created = await gate.createIdentity(fields)
    expect([created.credentials, configOf(created)]).toEqual([{}, undefined])
  }
})

test('Neither passwords nor hashes are in an answer, log line or webhook, nor addresses in the log', async () => {
  await using own = await bootGate()
  await using target = await startTarget()
  const acme = await own.newTenant()
  await acme.createWebhook(target.url)
  const answers: Json[] = []
  const asked = async (answer: Promise<Json>) => {
    const { status, body } = await answer
    answers.push(status, body)
    return body
  }
  const post = (email: string, config: Json) =>
    asked(acme.api.post(IDENTITIES, creation(email, withPassword(config))))
  const typed = await post('typed@example.com', { password: 'Tr0ub4dor&3' })
  const imported = await post('imported@example.com', { hashed_password: BCRYPT })
  await post('typed@example.com', { hashed_password: BCRYPT })
  await post('bad@example.com', { hashed_password: `${BCRYPT}!` })
  await post('both@example.com', { password: 'Tr0ub4dor&3', hashed_password: BCRYPT })
  for (const person of [typed, imported]) {
    const { token } = await acme.openSession(person)
    for (const tail of ['', '/metadata', '/sessions'])
      await asked(acme.api.get(personPath(person, tail)))
    await asked(acme.api.post(personPath(person, '/resend-verification')))
    await asked(acme.whoami(token))
    for (const from of ['/credentials', '/credentials/password/config/hashed_password'])
      await asked(acme.patch(person, [{ op: 'copy', from, path: '/metadata_public/x' }]))
    await asked(acme.api.patch(personPath(person, '/state'), { state: 'inactive' }))
  }
  for (const query of ['', '?email=typed@example.com', '?search=imported'])
    await asked(acme.api.get(IDENTITIES + query))
  await asked(acme.api.delete(personPath(typed)))
  await rest(own.app)
  expect(answers.filter((one) => one === 400)).toHaveLength(6)
  expect(told(target)).toHaveLength(5)

  const stored = rowsOf(own.app, 'gate_credentials').map(({ config }) => JSON.parse(config))
  const secrets = stored.flatMap(({ hashed_password }) =>
    hashed_password.split('$').filter((part: string) => part.length > 8),
  )
  const seen = JSON.stringify([answers, own.app.log, target.requests.map(({ body }) => body)])
  expect(seen).toContain('typed@example.com')
  expect(secrets).not.toEqual([])
  const leaked = ['Tr0ub4dor', '$argon2', ...secrets].filter((secret) => seen.includes(secret))
  expect(leaked).toEqual([])
  expect(own.app.log.filter((line) => line.includes(IDENTITIES)).length).toBeGreaterThan(15)
  expect(own.app.log.filter((line) => /typed|imported/.test(line))).toEqual([])
})

test.each([
  ['traits.custom_data', (custom_data: Json) => ({ traits: { custom_data } })],
  ['metadata_public', (metadata_public: Json) => ({ metadata_public })],
])('%s may take 64 KiB as JSON in UTF-8', async (field, fieldsWith) => {
  const full = await gate.createIdentity(fieldsWith({ a: 'ü'.repeat(32_764) }))
  expect(await gate.readIdentity(full)).toMatchObject(fieldsWith({ a: 'ü'.repeat(32_764) }))
  for (const value of [ofBytes(65_537), { a: 'ü'.repeat(32_765) }]) {
    const { traits, ...others } = fieldsWith(value) as Json
    const body = { schema_id: 'user', traits: { email: 'l@example.com', ...traits }, ...others }
    expect(await gate.api.post(IDENTITIES, body)).toMatchObject(plain(400, field))
  }
})

/** Every route of an identity, with a valid body; the one that deletes it is the last. */
const ROUTES: readonly (readonly ['get' | 'post' | 'patch' | 'delete', string, Json?])[] = [
  ['get', ''],
  ['patch', '', [{ op: 'replace', path: '/traits/email', value: 'stray@example.com' }]],
  ['get', '/metadata'],
  ['patch', '/metadata', { stray: true }],
  ['get', '/sessions'],
  ['delete', '/sessions'],
  ['post', '/resend-verification'],
  ['patch', '/state', { state: 'inactive' }],
  ['delete', ''],
]

test("Another tenant's identity can't be reached, and an unknown one isn't found", async () => {
  const [acme, owner] = [await gate.newTenant(), await gate.newTenant()]
  const person = await owner.createIdentity()
  const { token } = await owner.openSession(person)
  for (const [method, tail, body] of ROUTES)
    for (const [id, expected] of [
      [person.id, 403],
      [UNKNOWN_ID, 404],
      ['x', 404],
      ['%00', 404],
    ]) {
      const { status } = await acme.api[method](personPath({ id }, tail), body)
      expect([tail, id, status]).toEqual([tail, id, expected])
    }
  for (const operations of [
    [],
    [{ op: 'unknown' }],
    [{ op: 'test', path: '/traits/email', value: 1 }],
  ])
    expect(await acme.patch(person, operations)).toMatchObject({ status: 403 })
  expect(await owner.readIdentity(person)).toEqual(person)
  expect(await owner.whoami(token)).toMatchObject({ status: 200 })
})

const suspend = ({ id }: Tenant, reason: 'billing' | 'renewal' = 'billing') =>
  gate.app.platform.tenants.suspend(ACTOR, id, reason)

test.each([
  ['billing', 'the account is suspended'],
  ['renewal', 'the renewal is unpaid'],
] as const)(
  'A tenant suspended for %s creates no identity and sends no mail, but can do all else',
  async (reason, error) => {
    await using target = await startTarget()
    const late = await gate.newTenant()
    await late.createWebhook(target.url)
    const person = await late.createIdentity()
    const { token, session } = await late.openSession(person)
    const { access_token } = await mintToken(gate.app, late.key, { subject: person.id })
    await suspend(late, reason)
    const post = () => late.api.post(IDENTITIES, creation('new@example.com'))
    expect(await post()).toMatchObject({ status: 402, body: { error } })
    for (const { status } of [
      await late.whoami(token),
      await late.api.get(IDENTITIES),
      await late.api.post('/v1/gate/tokens/introspect', { access_token }),
      await late.api.delete(`${SESSIONS}/${session.id}`),
    ])
      expect([200, 204]).toContain(status)
    for (const [method, tail, body] of ROUTES) {
      const { status } = await late.api[method](personPath(person, tail), body)
      if (tail === '/resend-verification') expect(status).toBe(402)
      else expect([200, 204]).toContain(status)
    }
    expect(gate.app.mail.outbox.list({ tenantId: late.id }, { limit: 1 })).toEqual([])
    await rest(gate.app)
    expect(told(target).map(({ event_type }) => event_type)).toContain('identity.deleted')
    await gate.app.platform.tenants.resume(ACTOR, late.id)
    expect(await post()).toMatchObject({ status: 201 })
  },
)

test('A suspended tenant learns what is wrong with a request, but not that an address is taken', async () => {
  const late = await gate.newTenant()
  const asleep = await late.createIdentity({ state: 'inactive' })
  const foreign = await gate.createIdentity()
  await suspend(late)
  const post = async (body: Json) => (await late.api.post(IDENTITIES, body)).status
  for (const config of [{ hashed_password: 'x' }, { password: '' }, {}])
    expect(await post(creation('new@example.com', withPassword(config)))).toBe(400)
  expect(await post(creation(asleep.traits.email))).toBe(402)
  for (const [id, status] of [
    [foreign.id, 403],
    [UNKNOWN_ID, 404],
    [asleep.id, 400],
  ]) {
    const resent = await late.api.post(personPath({ id }, '/resend-verification'))
    expect(resent).toMatchObject({ status })
  }
})
