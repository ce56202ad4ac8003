import { expect, spyOn, test } from 'bun:test'
import { count, HOUR, ID, IDENTITIES, type Json, ofBytes } from '../../fixture.ts'
import { ADA, BOB, withToken } from './acts.ts'
import { idsIn, isoAt } from './checked.ts'
import { HOSTED, MAIL_GAP_MS, type Tenant, useFlows } from './code-fixture.ts'
import { node, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const signUp = async (acme: Pick<Tenant, 'start' | 'send'>, traits: Json = {}, fields: Json = {}) =>
  acme.send(await acme.start('registration'), {
    method: 'password',
    traits: { email: ADA, ...traits },
    password: PASSWORD,
    ...fields,
  })

const countOf = ({ tenantId }: Tenant, table = 'gate_identities') =>
  count(app, `${table} where tenant_id = '${tenantId}'`)

test('A sign-up creates an account with a password, and signs it in', async () => {
  const acme = await flows.newTenant()
  const now = isoAt(clock.now())
  const { status, body } = await signUp(acme)
  expect(status).toBe(200)
  const { session_token: token, session, identity, continue_with } = body
  const { credentials, ...kept } = await acme.readIdentity(identity)
  expect(Object.keys(credentials)).toEqual(['password'])
  expect([identity, session.identity]).toEqual([kept, kept])
  expect(kept).toMatchObject({
    schema_id: 'user',
    state: 'active',
    traits: { email: ADA, tenant_id: acme.tenantId },
    metadata_public: {},
    created_at: now,
  })
  expect(session).toMatchObject({
    id: ID,
    token,
    active: true,
    authentication_methods: [{ method: 'password', aal: 'aal1', completed_at: now }],
  })
  expect((await acme.whoami(token)).body.identity).toEqual(kept)
  const { id } = continue_with[1].flow
  const flow = { id, url: `${HOSTED}/verification?flow=${id}`, verifiable_address: ADA }
  expect(continue_with).toStrictEqual([
    { action: 'set_ory_session_token', ory_session_token: token },
    { action: 'show_verification_ui', flow },
  ])
  expect(acme.sentTo(ADA)).toHaveLength(1)
})

test('The address is stored in its one spelling, and up to 8 KB of custom data as it is', async () => {
  const acme = await flows.newTenant()
  const custom_data = { tags: ['a', null, 1.5, { b: [] }], '🐎': '', nested: { a: {} } }
  const email = 'some.one+x@bücher.example'
  const { body } = await signUp(acme, { email: ' Some.ONE+x@BÜCHER.Example\n', custom_data })
  expect(body.identity.traits).toMatchObject({ email, custom_data })
  expect(body.identity.verifiable_addresses[0].value).toBe(email)
  expect((await acme.readIdentity(body.identity)).traits.custom_data).toEqual(custom_data)
  expect(idsIn(await signUp(acme, { custom_data: ofBytes(8193) }))).toEqual([422, 4000001])
  expect((await signUp(acme, { custom_data: ofBytes(8192) })).status).toBe(200)
})

test('A sign-up takes nothing else: neither tenant nor state nor metadata', async () => {
  const [acme, globex] = [await flows.newTenant(), await flows.newTenant()]
  for (const [at, tenant_id] of [globex.id, null, 5, { a: 1 }].entries()) {
    const { body } = await signUp(acme, { email: `person-${at}@example.com`, tenant_id })
    expect(body.identity.traits.tenant_id).toBe(acme.tenantId)
  }
  const { body } = await signUp(acme, undefined, {
    state: 'inactive',
    schema_id: 'operator',
    metadata_public: { admin: true },
    verifiable_addresses: [{ verified: true }],
    identity: { id: 'x' },
    tenant_id: 'x',
    isVerified: true,
  })
  const usual = { state: 'active', schema_id: 'user', metadata_public: {} }
  expect(body.identity).toMatchObject({ ...usual, verifiable_addresses: [{ verified: false }] })
  expect(countOf(globex)).toBe(0)
})

test.each<[string, string, number, Json]>([
  [ADA, 'kqzv8wj', 4000032, { context: { min_length: 8, actual_length: 7 } }],
  [ADA, 'kqzv8wjx'.repeat(129), 4000033, { context: { max_length: 1024, actual_length: 1032 } }],
  ['Somebody.Special@example.com', 'somebody-special1', 4000031, {}],
  [ADA, 'password1', 4900006, {}],
])('A weak password is refused beside its field (%#)', async (email, password, id, rest) => {
  const acme = await flows.newTenant()
  const answer = await signUp(acme, { email }, { password })
  expect(idsIn(answer)).toEqual([422, `password:${id}`])
  const [message] = node(answer.body, 'password').messages
  expect(message).toMatchObject({ type: 'error', ...rest })
  expect(answer.body.ui.messages).toEqual([message])
  expect(countOf(acme)).toBe(0)
})

test('A password has the least length that the instance requires', async () => {
  const own = await useFlows({ flags: { 'gate-password-min-length': '20' } })
  const short = await signUp(own, {}, { password: 'nineteen long 12345' })
  expect(idsIn(short)).toEqual([422, 'password:4000032'])
  expect((await signUp(own, {}, { password: 'twenty long 12345678' })).status).toBe(200)
})

test('An address that is taken is refused in any spelling, also by an inactive account', async () => {
  const acme = await flows.newTenant()
  await acme.unproven('made@example.com')
  await acme.unproven('off@example.com', { state: 'inactive' })
  const taken = ['taken.1@example.com', 'täken.4@example.com', 'taken@bücher.example']
  for (const email of [...taken, 'τάκης@example.com']) await acme.register(email)
  for (const email of [
    'taken.1@example.com',
    'ta\u0308ken.4@example.com',
    'taken@xn--bcher-kva.example',
    'ΤΆΚΗΣ@example.com',
    'made@example.com',
    'off@example.com',
  ])
    expect(idsIn(await signUp(acme, { email })), email).toEqual([422, 4000007])
  expect(countOf(acme)).toBe(6)
})

test('An address is free in other tenants, and once its account is deleted, without another email', async () => {
  const [acme, globex] = [await flows.newTenant(), await flows.newTenant()]
  const { identity } = await acme.register(ADA)
  expect((await signUp(globex)).status).toBe(200)
  await acme.api.delete(`${IDENTITIES}/${identity.id}`)
  const { status, body } = await signUp(acme)
  expect(status).toBe(200)
  expect(body.identity.id).not.toBe(identity.id)
  // The first account got its email just now.
  expect(body.continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
  expect(acme.sentTo(ADA)).toEqual([])
  clock.jump(MAIL_GAP_MS)
  const { flow, code } = await acme.waiting('verification', ADA)
  const done = await acme.sendWell(flow, { code }, withToken(body.session_token))
  expect(done.state).toBe('passed_challenge')
})

test('An address goes to one of several who ask at once; webhooks are told of no refused sign-up', async () => {
  const acme = await flows.newTenant()
  await using hooks = await acme.listening()
  await signUp(acme, { email: 'x' })
  await signUp(acme, {}, { password: 'x' })
  expect(await hooks.events()).toEqual([])
  const emails = [ADA, ADA.toUpperCase(), ADA]
  const answers = await Promise.all(emails.map((email) => signUp(acme, { email })))
  const refused = answers.filter(({ status }) => status === 422)
  expect(refused.map(idsIn)).toEqual([1, 2].map(() => [422, 4000007]))
  expect([countOf(acme), acme.mailsTo(ADA).length]).toEqual([1, 1])
  const won = answers.find(({ status }) => status === 200)?.body.identity
  expect(await hooks.events()).toStrictEqual([
    {
      event_id: ID,
      event_type: 'identity.created',
      tenant_id: acme.tenantId,
      created_at: isoAt(clock.now()),
      data: { identity_id: won.id, payload: { email: ADA, method: 'password' } },
    },
  ])
})

const FIELDS = { method: 'password', password: PASSWORD, traits: { email: ADA } }

test('A flow signs up once, whatever is sent to it then', async () => {
  const acme = await flows.newTenant()
  const flow = await acme.start('registration')
  const bobs = { ...FIELDS, traits: { email: BOB } }
  const answers = await Promise.all([acme.send(flow, FIELDS), acme.send(flow, bobs)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
  for (const more of [FIELDS, bobs, { method: 'x' }, {}]) {
    const answer = await acme.send(flow, more)
    expect([answer.body.state, ...idsIn(answer)]).toEqual(['passed_challenge', 422, 4040002])
  }
  expect([countOf(acme), countOf(acme, 'gate_sessions')]).toEqual([1, 1])
})

test('A flow that expires while the password is hashed creates no account', async () => {
  const acme = await flows.newTenant()
  const flow = await acme.start('registration')
  const real = Bun.password.hash
  using _ = spyOn(Bun.password, 'hash').mockImplementation((...of) => {
    clock.jump(HOUR)
    return real(...of)
  })
  expect(idsIn(await acme.send(flow, FIELDS))).toEqual([422, 4040001])
  expect([countOf(acme), acme.mailsTo(ADA)]).toEqual([0, []])
})
