import { expect, test } from 'bun:test'
import { normaliseEmail } from '../../../../src/engines/gate/identities/email.ts'
import { checkTraits } from '../../../../src/engines/gate/identities/traits.ts'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import {
  ACTOR,
  auditOf,
  ID,
  IDENTITIES,
  type Json,
  ofBytes,
  personPath,
  plain,
  rowsOf,
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

test('A new identity needs only a schema and an address, and chooses neither id nor tenant', async () => {
  const acme = await gate.newTenant()
  const email = 'ada@example.com'
  const past = '2020-01-01T00:00:00.000Z'
  const answer = await acme.api.post(IDENTITIES, {
    ...{ id: UNKNOWN_ID, created_at: past, state_changed_at: past, tenant_id: 'other' },
    ...{ schema_id: 'user', traits: { email, tenant_id: 'other' } },
    recovery_addresses: [{ value: 'mallory@example.com' }],
  })
  const { id, verifiable_addresses, schema_url } = answer.body
  const address = { id: verifiable_addresses[0].id, value: email, via: 'email' }
  const times = { created_at: gate.now(), updated_at: gate.now() }
  const unverified = { verified: false, status: 'pending', verified_at: null }
  expect(answer).toMatchObject({ status: 201 })
  expect(id).not.toBe(UNKNOWN_ID)
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
  expect(auditOf(gate.app, `identity:${id}`)).toEqual([
    { action: 'identity.created', actor_kind: 'key', actor_id: acme.keyId, detail: {} },
  ])
  expect(tablesWith(gate.app, email)).not.toHaveProperty('audit_log')
})

test('An identity with all fields is read as it was created, by both environments', async () => {
  const acme = await gate.newTenant()
  const email = 'José@München.example'
  const custom_data = { b: 1, a: [null, true, 1.5e-7, 'ü😀', { n: 2 }] }
  const metadata_public = { constructor: { prototype: 1 }, '': '', 'a/b~c': -0.5, n: null }
  const sandbox = gate.withKey((await acme.newKey('gate', 'test')).key)
  const created = await sandbox.createIdentity({
    traits: { email, custom_data },
    state: 'inactive',
    metadata_public,
    verifiable_addresses: [{ value: 'jose\u0301@xn--mnchen-3ya.example', verified: true }],
    ...withPassword({ hashed_password: BCRYPT }),
  })
  const value = email.toLowerCase()
  const times = { created_at: gate.now(), updated_at: gate.now() }
  const verified = { verified: true, status: 'completed', verified_at: gate.now() }
  expect(created).toMatchObject({
    ...{ state: 'inactive', traits: { email: value, custom_data, tenant_id: acme.id } },
    ...{ metadata_public, recovery_addresses: [{ value }] },
    verifiable_addresses: [{ value, ...verified }],
    credentials: { password: { type: 'password', identifiers: [value], version: 0, ...times } },
  })
  expect(JSON.stringify(await acme.readIdentity(created))).toBe(JSON.stringify(created))
})

const LONGEST = `${'a'.repeat(64)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.eeeeee`

test.each([
  ['capitals', 'Ada.1@EXAMPLE.com', 'ada.1@example.com'],
  ['spaces around it', ' \t\u00a0ada.2@example.com\u3000\r\n', 'ada.2@example.com'],
  ['decomposed letters', 'jose\u0301@example.com', 'jos\u00e9@example.com'],
  ['capitals that compose in lower case', 'H\u0331@example.com', '\u1e96@example.com'],
  ['two code points', 'H\u0331A\u030a\u0130\u0317@a.b', '\u1e96\u00e5i\u0317\u0307@a.b'],
  ['letter-like signs', '\u212belvin.\u212a@example.com', '\u00e5elvin.k@example.com'],
  ['a domain in Punycode', 'ada@XN--GRN-IOA.example', 'ada@gr\u00fcn.example'],
  ['an ideographic dot', 'dot@example\u3002com', 'dot@example.com'],
  ['a final sigma', '\u03bf\u03c2@example.com', '\u03bf\u03c3@example.com'],
  ['a domain with a final sigma', 'a@\u03b2\u03cc\u03c2.com', 'a@\u03b2\u03cc\u03c2.com'],
  ['the same in Punycode', 'bob@xn--nxasmm1c.com', 'bob@\u03b2\u03cc\u03bb\u03bf\u03c2.com'],
  ['other scripts', '用户@例子.广告', '用户@例子.广告'],
  ['tags and signs', "o'neil+a/b=c{1}|d~@localhost", "o'neil+a/b=c{1}|d~@localhost"],
  ['254 bytes', LONGEST, LONGEST],
])('An address with %s is normalized', (_, text, email) => {
  for (const spelling of [text, email, email.normalize('NFD')])
    expect(normaliseEmail(spelling, 'email')).toBe(email)
})

test.each([
  ...['', ' ', 'x', '@', 'x@', '@example.com', 'x@@example.com', 'x@y@example.com'],
  ...['x@exa mple.com', 'x@example..com', 'x@.example.com', 'x@example.com.', 'x@-example.com'],
  ...['x@example-.com', 'x@exam_ple.com', 'x@[127.0.0.1]', '"x"@example.com', 'x(y)@example.com'],
  ...['x,y@example.com', 'x;y@example.com', 'Ada <x@example.com>', 'mailto:x@example.com'],
  ...['x\u0000@example.com', 'x\u200b@example.com', 'x@example.com\r\nBcc: y@example.com'],
  ...['x\u202e@example.com', 'x@xn--.com', 'x@\u0646\u0627\u0645\u0647\u200c\u0627\u06cc.com'],
  ...['😀@example.com', `${'x'.repeat(65)}@example.com`, `x@${'y'.repeat(64)}.com`],
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
  for (const password of ['  ', '😀'.repeat(1024)]) {
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
  await using target = startTarget()
  const acme = await gate.newTenant()
  await acme.createWebhook(target.url)
  const begun = gate.app.log.length
  const answers: Json[] = []
  const asked = async (answer: Promise<Json>) => {
    const { status, body } = await answer
    answers.push(status, body)
    return body
  }
  const post = (email: string, config: Json) =>
    asked(acme.api.post(IDENTITIES, creation(email, withPassword(config))))
  const person = await post('typed@example.com', { password: 'Tr0ub4dor&3' })
  const imported = await post('imported@example.com', { hashed_password: BCRYPT })
  await post('typed@example.com', { hashed_password: BCRYPT })
  await post('bad@example.com', { hashed_password: `${BCRYPT}!` })
  await post('both@example.com', { password: 'Tr0ub4dor&3', hashed_password: BCRYPT })
  const { token } = await acme.openSession(person)
  for (const tail of ['', '/metadata', '/sessions'])
    await asked(acme.api.get(personPath(person, tail)))
  await asked(acme.whoami(token))
  for (const from of ['/credentials', '/credentials/password/config/hashed_password'])
    await asked(acme.patch(person, [{ op: 'copy', from, path: '/metadata_public/x' }]))
  await asked(acme.api.patch(personPath(person, '/state'), { state: 'inactive' }))
  for (const query of ['', '?email=typed@example.com', '?search=imported'])
    await asked(acme.api.get(IDENTITIES + query))
  await rest(gate.app)

  const hashes = [person, imported].map((one) => configOf(one).hashed_password.split('$'))
  const secrets = hashes.flat().filter((part) => part.length > 8)
  const log = gate.app.log.slice(begun)
  const seen = JSON.stringify([answers, log, target.requests.map(({ body }) => body)])
  expect(seen).toContain('typed@example.com')
  expect(secrets.length).toBeGreaterThan(1)
  const leaked = ['Tr0ub4dor', '$argon2', ...secrets].filter((secret) => seen.includes(secret))
  expect(leaked).toEqual([])
  expect(log.filter((line) => line.includes(IDENTITIES)).length).toBeGreaterThan(10)
  expect(log.filter((line) => /typed|imported/.test(line))).toEqual([])
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

test('A suspended tenant learns what is wrong with a request, but not that an address is taken', async () => {
  const late = await gate.newTenant()
  const asleep = await late.createIdentity({ state: 'inactive' })
  const active = await late.createIdentity()
  const foreign = await gate.createIdentity()
  const { tenants } = gate.app.platform
  const post = (body: Json) => late.api.post(IDENTITIES, body)
  for (const [reason, error] of [
    ['billing', 'the account is suspended'],
    ['renewal', 'the renewal is unpaid'],
  ] as const) {
    await tenants.suspend(ACTOR, late.id, reason)
    for (const email of ['new@example.com', asleep.traits.email])
      expect(await post(creation(email))).toMatchObject({ status: 402, body: { error } })
    for (const config of [{ hashed_password: 'x' }, { password: '' }, {}]) {
      const answer = await post(creation('new@example.com', withPassword(config)))
      expect(answer).toMatchObject({ status: 400 })
    }
    for (const [id, status] of [
      [foreign.id, 403],
      [UNKNOWN_ID, 404],
      [asleep.id, 400],
      [active.id, 402],
    ]) {
      const resent = await late.api.post(personPath({ id }, '/resend-verification'))
      expect(resent).toMatchObject({ status })
    }
    await tenants.resume(ACTOR, late.id)
  }
  expect(gate.app.mail.outbox.list({ tenantId: late.id }, { limit: 1 }).data).toEqual([])
  expect(await post(creation('new@example.com'))).toMatchObject({ status: 201 })
})

// What is wrong by type, bounds or absence is in tests/contract/bodies.test.ts.
test('An identity is refused by the name of the field that is wrong', async () => {
  const acme = await gate.newTenant()
  const email = 'new@example.com'
  const withTraits = (traits: Json) => ({ traits: { email, ...traits } })
  const withAddress = (address: Json) => ({ verifiable_addresses: [address] })
  const CONFIG = 'credentials.password.config'
  for (const [field, fields] of <[string, Json][]>[
    ['schema_id', { schema_id: 'User' }],
    ['schema_id', { schema_id: 'operator' }],
    ['traits.email', withTraits({ email: 'x@example.com\r\nBcc: y@example.com' })],
    ['traits.name', withTraits({ name: 'Ada' })],
    ['traits.Email', withTraits({ Email: email })],
    ['traits.constructor', withTraits({ constructor: {} })],
    ['traits.', withTraits({ '': 1 })],
    [`traits.${'x'.repeat(100)}`, withTraits({ ['x'.repeat(5000)]: 1 })],
    ...['oidc', 'totp', 'code', 'Password', ''].map((kind): [string, Json] => [
      `credentials.${kind}`,
      { credentials: { [kind]: { config: {} } } },
    ]),
    [CONFIG, withPassword({})],
    [CONFIG, withPassword({ password: 'secret', hashed_password: BCRYPT })],
    [`${CONFIG}.password`, withPassword({ password: '' })],
    [`${CONFIG}.password`, withPassword({ password: '😀'.repeat(1025) })],
    [`${CONFIG}.hashed_password`, withPassword({ hashed_password: 'secret' })],
    ['verifiable_addresses.0.value', withAddress({})],
    ['verifiable_addresses.0.verified', withAddress({ value: email, verified: 'yes' })],
    ['verifiable_addresses.value', withAddress({ value: 'x' })],
    ['verifiable_addresses.value', withAddress({ value: 'other@example.com', verified: true })],
  ]) {
    const answer = await acme.api.post(IDENTITIES, creation(email, fields))
    expect(answer, JSON.stringify(fields).slice(0, 200)).toMatchObject({ status: 400 })
    expect(answer.body.error).toStartWith(field)
  }
  expect((await acme.api.get(IDENTITIES)).body.data).toEqual([])
})

const NEW = '{"schema_id":"user","traits":{"email":"new@example.com"'

/** Every field that takes JSON of a tenant: its name in errors, its route and the body around it. */
test.each([
  ['metadata_public', 'POST', '', (value: string) => `${NEW}},"metadata_public":{"x":${value}}}`],
  ['traits.custom_data', 'POST', '', (value: string) => `${NEW},"custom_data":{"x":${value}}}}`],
  ['metadata_public', 'PATCH', '/metadata', (value: string) => `{"x":${value}}`],
  [
    'value',
    'PATCH',
    '',
    (value: string) => `[{"op":"add","path":"/metadata_public/x","value":{"x":${value}}}]`,
  ],
])(
  'Values that JavaScript changes are refused in %s of %s',
  async (field, method, tail, around) => {
    const acme = await gate.newTenant()
    const identity = await acme.createIdentity()
    const headers = { authorization: `Bearer ${acme.key}`, 'content-type': 'application/json' }
    for (const [value, place] of [
      ['9007199254740992', '.x'],
      ['-1e400', '.x'],
      ['{"__proto__":{"polluted":1}}', '.x.__proto__'],
      ['{"a":[{"\\u005f_proto__":1}]}', '.x.a.0.__proto__'],
    ] as const) {
      const path = method === 'POST' ? IDENTITIES : personPath(identity, tail)
      const answer = await gate.app.raw(path, { method, headers, body: around(value) })
      expect(answer, value).toMatchObject({ status: 400 })
      expect(answer.body.error, value).toContain(`${field}${place}: `)
    }
    expect(await acme.readIdentity(identity)).toEqual(identity)
    expect(({} as Json).polluted).toBeUndefined()
  },
)

test('A member __proto__ is not inherited from', async () => {
  for (const body of [
    `${NEW}},"__proto__":{"state":"inactive"}}`,
    `${NEW}},"credentials":{"__proto__":{"password":{"config":{"password":"x"}}}}}`,
    '{"schema_id":"user","traits":{"__proto__":{"email":"proto@example.com"}}}',
  ]) {
    const { key } = await gate.newTenant()
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const answer = await gate.app.raw(IDENTITIES, { method: 'POST', headers, body })
    if (answer.status === 400) expect(answer.body.error).not.toContain('proto@')
    else expect(answer.body).toMatchObject({ state: 'active', credentials: {} })
    expect(({} as Json).state).toBeUndefined()
  }
})
