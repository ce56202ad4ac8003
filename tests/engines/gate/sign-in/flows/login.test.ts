import { expect, spyOn, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { count, DAY, ID, IDENTITIES, type Json, MINUTE, plain, rowsOf } from '../../fixture.ts'
import { ADA, BOB } from './acts.ts'
import { blurred, idsIn, isoAt, PEER, pretendPeers } from './checked.ts'
import { FLOW_MS, MAIL_GAP_MS, type Tenant, useFlows } from './code-fixture.ts'
import { messageIds, PASSWORD } from './fixture.ts'
import { holdPasswords, untilIt } from './held-passwords.ts'

const flows = await useFlows()
const { clock, app } = flows

const LOGIN = { method: 'password', identifier: ADA, password: PASSWORD }
const WRONG = [422, 4000006]
const INACTIVE = [422, 4010011]

async function withAda(fields: Json = {}) {
  const acme = await flows.newTenant()
  return { acme, ada: await acme.person(ADA, fields) }
}

const hashOf = (identity: Json): string =>
  JSON.parse(
    rowsOf(app, 'gate_credentials').find(
      ({ identity_id, type }) => identity_id === identity.id && type === 'password',
    ).config,
  ).hashed_password

test('The right password opens a session, whose token is shown this once', async () => {
  const { acme, ada } = await withAda()
  const now = isoAt(clock.now())
  const body = await acme.signIn(ADA)
  const { credentials: _, ...identity } = await acme.readIdentity(ada)
  const { session_token: token, session } = body
  expect(token).toMatch(/^gat_st_[0-9A-Za-z]{43}$/)
  expect(body).toStrictEqual({
    session_token: token,
    session: {
      id: ID,
      token,
      active: true,
      issued_at: now,
      expires_at: isoAt(clock.now() + DAY),
      authenticated_at: now,
      authenticator_assurance_level: 'aal1',
      authentication_methods: [{ method: 'password', aal: 'aal1', completed_at: now }],
      devices: [{ id: session.id, ip_address: null, user_agent: null, location: null }],
      identity,
    },
    continue_with: [{ action: 'set_ory_session_token', ory_session_token: token }],
  })
  const { token: _token, ...shown } = session
  expect((await acme.whoami(token)).body).toEqual(shown)
  const { identity: _identity, ...listed } = shown
  expect(await acme.sessionsOf(ada)).toEqual([listed])
  expect((await acme.signIn(ADA)).session_token).not.toBe(token)
  expect(await acme.sessionsOf(ada)).toHaveLength(2)
})

test('The address may have any spelling, and the form may lack its method', async () => {
  const acme = await flows.newTenant()
  for (const [email, spelled] of [
    ['two@bücher.example', ' Two@xn--bcher-kva.example\n'],
    ['σίσυφος@example.com', 'ΣΊΣΥΦΟΣ@example.com'],
  ] as const) {
    const { id } = await acme.person(email)
    expect((await acme.signIn(spelled)).session.identity.id).toBe(id)
  }
  await acme.person(ADA)
  const fields = { identifier: ADA, password: PASSWORD }
  await acme.sendWell(await acme.start('login'), fields)
  const byOldName = { ...LOGIN, identifier: undefined, password_identifier: ADA }
  await acme.sendWell(await acme.start('login'), byOldName)
})

/** A text of this many characters, without repetitions. */
const ofCharacters = (count: number, sign: string) =>
  [...Array.from({ length: count }, (_, at) => `${at}${sign}`).join('')].slice(0, count).join('')

test('A password is the one that was set in its tenant, and any other text is wrong', async () => {
  const [acme, globex] = [await flows.newTenant(), await flows.newTenant()]
  const odd = ['"\\/\u0001\u2028 <script>', ofCharacters(1024, 'x'), ofCharacters(1024, '🐎')]
  for (const [at, password] of odd.entries()) {
    await acme.register(`odd-${at}@example.com`, password)
    await acme.signIn(`odd-${at}@example.com`, password)
  }
  const password = 'pässwörter sind lang'
  const here = await acme.register(ADA, password)
  await globex.register(ADA, 'the other one 22')
  const near = [`${password} `, password.padEnd(2000, 'x'), password.normalize('NFD')]
  for (const wrong of [...near, password.toUpperCase(), 'the other one 22'])
    expect(idsIn(await acme.tryPassword(ADA, wrong))).toEqual(WRONG)
  expect((await acme.signIn(ADA, password)).session.identity.id).toBe(here.identity.id)
})

test('An inactive person is told so with the right password alone, until active again', async () => {
  const { acme, ada } = await withAda({ state: 'inactive' })
  const flow = await acme.start('login')
  expect(idsIn(await acme.send(flow, { ...LOGIN, password: 'wrong' }))).toEqual(WRONG)
  expect(idsIn(await acme.send(flow, LOGIN))).toEqual(INACTIVE)
  expect(await acme.sessionsOf(ada)).toEqual([])
  await acme.setState(ada, 'active')
  expect((await acme.send(flow, LOGIN)).status).toBe(200)
})

const BCRYPT = '$2b$04$abcdefghijklmnopqrstuusx/hzkXqWNm.LVsFGvgm1b5vz8H0G9e'
const OF_IMPORTED = 'correct horse batterÿ 🐎'
const IMPORTED = { credentials: { password: { config: { hashed_password: BCRYPT } } } }
const OURS = /^\$argon2id\$v=19\$m=8192,t=1,p=1\$/

/** Signs in with the right password; `meanwhile` happens before that is known. */
async function signInDuring(acme: Tenant, meanwhile: () => unknown, password = PASSWORD) {
  const flow = await acme.start('login')
  using passwords = holdPasswords()
  const sent = acme.send(flow, { ...LOGIN, password })
  await untilIt(() => passwords.begun() === 1)
  await meanwhile()
  passwords.release()
  const { status, body } = await sent
  return [status, ...(status === 200 ? [] : messageIds(body))]
}

const removed = ({ api }: Tenant, { id }: Json) => api.delete(`${IDENTITIES}/${id}`)

type Act = (acme: Tenant, ada: Json) => unknown
test.each<[string, Act, number[], sessions: number]>([
  ['the person may sign in elsewhere', (acme, ada) => acme.openSession(ada), [200], 2],
  ['the person may be deactivated', ({ setState }, ada) => setState(ada, 'inactive'), INACTIVE, 0],
  ['the person may be deleted', removed, WRONG, 0],
  ['the flow may expire', () => clock.jump(FLOW_MS), [422, 4010001], 0],
])('While a password is verified, %s', async (_, act, expected, sessions) => {
  const { acme, ada } = await withAda()
  expect(await signInDuring(acme, () => act(acme, ada))).toEqual(expected)
  expect(count(app, `gate_sessions where identity_id = '${ada.id}'`)).toBe(sessions)
})

test('While a password is verified, the password may be changed, and is not replaced by a new hash of the old one', async () => {
  const another = hashOf(await (await flows.newTenant()).person(BOB))
  const setHash =
    "update gate_credentials set config = json_object('hashed_password', ?) where identity_id = ?"
  for (const [fields, password] of [
    [{}, PASSWORD],
    [IMPORTED, OF_IMPORTED],
  ] as const) {
    const { acme, ada } = await withAda(fields)
    const change = () => app.db.client.run(setHash, [another, ada.id])
    expect(await signInDuring(acme, change, password)).toEqual(WRONG)
    expect(await acme.sessionsOf(ada)).toEqual([])
    expect(hashOf(ada)).toBe(another)
  }
})

test('A flow signs in once, also with several right forms at once', async () => {
  const { acme } = await withAda()
  await acme.person(BOB)
  const flow = await acme.start('login')
  await using hooks = await acme.listening()
  const forms = [LOGIN, LOGIN, { ...LOGIN, identifier: BOB }]
  const answers = await Promise.all(forms.map((form) => acme.send(flow, form)))
  const refused = answers.filter(({ status }) => status === 422)
  expect(refused.map(idsIn)).toEqual([1, 2].map(() => [422, 4010007]))

  using passwords = holdPasswords()
  for (const fields of [LOGIN, { method: 'code', identifier: ADA }, { method: 'x' }, {}]) {
    const answer = await acme.send(flow, fields)
    expect(idsIn(answer)).toEqual([422, 4010007])
    expect(answer.body).toMatchObject({ id: flow.id, state: 'passed_challenge' })
  }
  expect(passwords.begun()).toBe(0)
  expect(count(app, `gate_sessions where tenant_id = '${acme.tenantId}'`)).toBe(1)
  expect(await hooks.events()).toHaveLength(1)
})

test('An imported hash is replaced at a sign-in, with one of the same password', async () => {
  const { acme, ada } = await withAda(IMPORTED)
  await acme.signIn(ADA, OF_IMPORTED)
  const renewed = hashOf(ada)
  expect(renewed).toMatch(OURS)
  await acme.signIn(ADA, OF_IMPORTED)
  expect(hashOf(ada)).toBe(renewed)
  expect((await acme.tryPassword(ADA)).status).toBe(422)

  const options = { algorithm: 'argon2id', memoryCost: 9216, timeCost: 2 } as const
  const hashed_password = await Bun.password.hash(PASSWORD, options)
  const costly = await withAda({ credentials: { password: { config: { hashed_password } } } })
  await costly.acme.signIn(ADA)
  expect(hashOf(costly.ada)).toMatch(OURS)
})

test('An imported hash stays if the sign-in is refused, or no hash can be made', async () => {
  const { acme, ada } = await withAda({ ...IMPORTED, state: 'inactive' })
  await acme.tryPassword(ADA, 'wrong')
  expect(idsIn(await acme.tryPassword(ADA, OF_IMPORTED))).toEqual(INACTIVE)
  expect(hashOf(ada)).toBe(BCRYPT)
  await acme.setState(ada, 'active')
  const busy = Object.assign(new Error('busy'), { kind: 'unavailable' })
  using hash = spyOn(Bun.password, 'hash').mockClear().mockRejectedValue(busy)
  await acme.signIn(ADA, OF_IMPORTED)
  expect(hash).toHaveBeenCalledTimes(1)
  expect(hashOf(ada)).toBe(BCRYPT)
})

// A queue of passwords that is full, so with settings of its own.
const WORKERS = Math.max(2, availableParallelism())
const wrong = { ...LOGIN, password: 'wrong' }

test('More passwords than can be verified are refused without being counted, and leave their flow as it was', async () => {
  const limit = WORKERS + 2
  const perIdentifier = { 'limits-sign-ins-per-identifier-per-minute': `${limit}` }
  const own = await useFlows({ flags: { 'gate-password-queue': '1', ...perIdentifier } })
  const acme = await own.newTenant()
  const waiting = await Promise.all(Array.from({ length: limit }, () => acme.start('login')))
  const other = await acme.start('login')
  using passwords = holdPasswords()
  const sent = waiting.map((flow) => acme.send(flow, wrong))
  const refused = await Promise.race(sent)
  expect(refused).toMatchObject(plain(503, 'too many passwords'))
  expect(refused.headers.get('retry-after')).toBe('1')
  expect((await acme.send(other, wrong)).status).toBe(503)
  expect((await acme.readFlow(other)).body).toEqual(other)
  passwords.release()
  const statuses = (await Promise.all(sent)).map(({ status }) => status)
  expect(statuses.sort()).toEqual([...Array(limit - 1).fill(422), 503])
  expect((await acme.send(other, wrong)).status).toBe(422)
  expect((await acme.send(other, wrong)).status).toBe(429)
})

test('A session has the device of its request, also behind a proxy', async () => {
  const proxied = await useFlows({ flags: { 'server-trusted-proxies': '10.0.0.0/8' } })
  for (const [of, peer, ip_address] of [
    [flows, '10.0.0.2', '10.0.0.2'],
    [flows, '2001:db8::7', '2001:db8::7'],
    [proxied, '10.0.0.2', '203.0.113.5'],
    [proxied, '198.51.100.1', '198.51.100.1'],
  ] as const) {
    pretendPeers(of.app)
    const acme = await of.newTenant()
    await acme.person(ADA)
    const flow = await acme.start('login', { [PEER]: '192.0.2.1', 'user-agent': 'the server' })
    const agent = `Browser/${'9'.repeat(1000)}`
    const forwarded = { 'x-forwarded-for': '6.6.6.6, 203.0.113.5, 10.0.0.9' }
    const headers = { [PEER]: peer, 'user-agent': agent, ...forwarded }
    const { session } = await acme.sendWell(flow, LOGIN, headers)
    const device = { id: ID, ip_address, user_agent: agent.slice(0, 512), location: null }
    expect(session.devices).toEqual([device])
  }
})

test('Webhooks are told of a sign-in once it has all factors, and of no other try', async () => {
  const acme = await flows.newTenant({ mfa_enabled: true })
  const ada = await acme.person(ADA)
  await using hooks = await acme.listening()
  await acme.tryPassword(ADA, 'wrong')
  await acme.tryPassword(BOB)
  const { session_token } = await acme.signIn(ADA.toUpperCase())
  const event = {
    event_id: ID,
    event_type: 'identity.login',
    tenant_id: acme.tenantId,
    created_at: isoAt(clock.now()),
    data: { identity_id: ada.id, payload: { email: ADA } },
  }
  expect(await hooks.events()).toStrictEqual([event])

  const secret = await acme.enrol(session_token)
  clock.jump(MINUTE)
  const { flow } = await acme.halfway()
  expect(await hooks.events()).toEqual([])
  await acme.sendWell(flow, { method: 'totp', totp_code: acme.nextCode(secret) })
  expect(await hooks.events()).toMatchObject([{ event_type: 'identity.login' }])
})

const withCodes = () => flows.newTenant({ passwordless_enabled: true })

const enter = (acme: Tenant, flow: Json, code: unknown, more: Json = {}) =>
  acme.send(flow, { method: 'code', code, ...more })

async function signingIn() {
  const acme = await withCodes()
  const identity = await acme.person(ADA)
  return { acme, identity, ...(await acme.waiting('login', ADA)) }
}

test('Asking for a code emails only those who may sign in', async () => {
  const acme = await withCodes()
  await acme.person(ADA)
  await acme.person('inactive@example.com', { state: 'inactive' })
  await acme.unproven('unproven@example.com')
  const sent = await acme.asked('login', ` ${ADA.toUpperCase()}\n`)
  expect(blurred(sent)).not.toContain(acme.codeFor(ADA))
  const withheld = 'withheld: no account that can sign in has this address'
  for (const [email, fate] of [
    ['unproven@example.com', 'ready'],
    ['inactive@example.com', withheld],
    ['unknown@example.com', withheld],
  ] as const) {
    await acme.asked('login', email)
    expect(acme.fatesOf(email)).toEqual([fate])
  }
})

test('Asking for a code needs an address', async () => {
  const acme = await withCodes()
  for (const identifier of ['nobody', 'a@example.com, b@example.com']) {
    const answer = await acme.send(await acme.start('login'), { method: 'code', identifier })
    expect(idsIn(answer)).toEqual([422, 'identifier:4000040'])
  }
})

test('Codes need a tenant that has switched them on, and are refused while they are off', async () => {
  const globex = await flows.newTenant()
  const first = await globex.start('login')
  for (const fields of [
    { method: 'code', identifier: ADA },
    { code: '000000' },
    { resend: 'code', identifier: ADA },
  ])
    expect(idsIn(await globex.send(first, fields))).toEqual([422, 4010002])
  expect(globex.mailsTo(ADA)).toEqual([])

  const { acme, identity, flow, code } = await signingIn()
  await acme.security({ passwordless_enabled: false })
  expect(idsIn(await enter(acme, flow, code))).toEqual([422, 4010002])
  expect(await acme.sessionsOf(identity)).toEqual([])
  await acme.security({ passwordless_enabled: true })
  expect((await enter(acme, flow, code)).status).toBe(200)
})

test('The right code opens a session of the person it was sent to, and needs no other field', async () => {
  const { acme, identity, flow, code } = await signingIn()
  await acme.person(BOB)
  clock.jump(MINUTE)
  const done = await acme.sendWell(flow, { code, identifier: BOB })
  const { session_token: token, session, continue_with } = done
  expect(session).toMatchObject({ token, identity: { id: identity.id } })
  const completed_at = isoAt(clock.now())
  expect(session.authentication_methods).toEqual([{ method: 'code', aal: 'aal1', completed_at }])
  const action = 'set_ory_session_token'
  expect(continue_with).toEqual([{ action, ory_session_token: token }])
  expect(await acme.whose(token)).toBe(identity.id)
  expect((await acme.tryPassword(ADA)).status).toBe(200)
})

test('The right code verifies the address, and tells webhooks', async () => {
  const acme = await withCodes()
  const identity = await acme.unproven(ADA)
  await using hooks = await acme.listening()
  const { flow, code } = await acme.waiting('login', ADA)
  const { session } = await acme.sendWell(flow, { code })
  const verified = { verified: true, status: 'completed', verified_at: isoAt(clock.now()) }
  expect(session.identity.verifiable_addresses).toMatchObject([verified])
  expect((await hooks.events()).map(({ event_type, data }) => [event_type, data])).toEqual([
    ['identity.email_verified', { identity_id: identity.id, payload: {} }],
    ['identity.login', { identity_id: identity.id, payload: { email: ADA } }],
  ])
})

test('The button for another code sends one, with anything in the field; an empty field does not', async () => {
  const { acme, flow } = await signingIn()
  clock.jump(MAIL_GAP_MS)
  expect(idsIn(await enter(acme, flow, '', { identifier: ADA }))).toEqual([422, 'code:4000002'])
  for (const [at, code] of ['', '12', '000000'].entries()) {
    clock.jump(MAIL_GAP_MS)
    expect(acme.sentTo(ADA)).toHaveLength(at + 1)
    const { status, body } = await enter(acme, flow, code, { identifier: ADA, resend: 'code' })
    expect([status, messageIds(body)]).toEqual([200, [1010014]])
  }
  // None of it was a try.
  for (let tries = 0; tries < 4; tries++) await enter(acme, flow, 'abcdef')
  expect((await enter(acme, flow, acme.codeFor(ADA))).status).toBe(200)
})
