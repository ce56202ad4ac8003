import { expect, spyOn, test } from 'bun:test'
import { count, HOUR, ID, IDENTITIES, type Json, MINUTE, ofBytes, rowsOf } from '../../fixture.ts'
import { ADA, BOB } from './acts.ts'
import { blurred, idsIn, isoAt } from './checked.ts'
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
  const usual = { schema_id: 'user', state: 'active', metadata_public: {}, created_at: now }
  expect(kept).toMatchObject({ ...usual, traits: { email: ADA, tenant_id: acme.tenantId } })
  const authentication_methods = [{ method: 'password', aal: 'aal1', completed_at: now }]
  expect(session).toMatchObject({ id: ID, token, active: true, authentication_methods })
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
  const others = { state: 'inactive', schema_id: 'operator', metadata_public: { admin: true } }
  const forged = { verifiable_addresses: [{ verified: true }], tenant_id: globex.id }
  const { body } = await signUp(acme, { tenant_id: globex.id }, { ...others, ...forged })
  const usual = { state: 'active', schema_id: 'user', metadata_public: {} }
  expect(body.identity).toMatchObject({ ...usual, verifiable_addresses: [{ verified: false }] })
  expect(body.identity.traits.tenant_id).toBe(acme.tenantId)
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

test('An address that is taken is refused in any spelling', async () => {
  const acme = await flows.newTenant()
  await acme.unproven('off@example.com', { state: 'inactive' })
  for (const email of ['täken@bücher.example', 'τάκης@example.com']) await acme.register(email)
  for (const email of ['ta\u0308ken@xn--bcher-kva.example', 'ΤΆΚΗΣ@example.com', 'off@example.com'])
    expect(idsIn(await signUp(acme, { email })), email).toEqual([422, 4000007])
  expect(countOf(acme)).toBe(3)
})

test('An address is free in other tenants, and once its account is deleted, without another email', async () => {
  const [acme, globex] = [await flows.newTenant(), await flows.newTenant()]
  const { identity } = await acme.register(ADA)
  expect((await signUp(globex)).status).toBe(200)
  await acme.api.delete(`${IDENTITIES}/${identity.id}`)
  const { status, body } = await signUp(acme)
  expect([status, body.identity.id === identity.id]).toEqual([200, false])
  // The first account got its email just now.
  expect(body.continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
  expect(acme.sentTo(ADA)).toEqual([])
})

test('An address goes to one of several who ask at once; webhooks are told of no refused sign-up', async () => {
  const acme = await flows.newTenant()
  await using hooks = await acme.listening()
  await signUp(acme, { email: 'x' })
  const emails = [ADA, ADA.toUpperCase(), ADA]
  const answers = await Promise.all(emails.map((email) => signUp(acme, { email })))
  const refused = answers.filter(({ status }) => status === 422)
  expect(refused.map(idsIn)).toEqual([1, 2].map(() => [422, 4000007]))
  expect([countOf(acme), acme.mailsTo(ADA).length]).toEqual([1, 1])
  const won = answers.find(({ status }) => status === 200)?.body.identity
  const event = {
    event_id: ID,
    event_type: 'identity.created',
    tenant_id: acme.tenantId,
    created_at: isoAt(clock.now()),
    data: { identity_id: won.id, payload: { email: ADA, method: 'password' } },
  }
  expect(await hooks.events()).toStrictEqual([event])
})

const FIELDS = { method: 'password', password: PASSWORD, traits: { email: ADA } }

test('A flow signs up once', async () => {
  const acme = await flows.newTenant()
  const flow = await acme.start('registration')
  const bobs = { ...FIELDS, traits: { email: BOB } }
  const answers = await Promise.all([acme.send(flow, FIELDS), acme.send(flow, bobs)])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
  const answer = await acme.send(flow, {})
  expect([answer.body.state, ...idsIn(answer)]).toEqual(['passed_challenge', 422, 4040002])
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

const enter = (acme: Tenant, flow: Json, code: unknown, more: Json = {}) =>
  acme.send(flow, { method: 'code', code, ...more })

const ask = (acme: Tenant, flow: Json, traits: Json) => acme.send(flow, { method: 'code', traits })

async function signingUp(traits: Json = { email: ADA }) {
  const acme = await flows.newTenant({ passwordless_enabled: true })
  const flow = await acme.start('registration')
  expect((await ask(acme, flow, traits)).status).toBe(200)
  return { acme, flow, code: acme.codeFor(traits.email) }
}

test('Asking for a code needs a free address, and a tenant that has codes', async () => {
  const acme = await flows.newTenant({ passwordless_enabled: true })
  const globex = await flows.newTenant()
  await acme.unproven(BOB)
  for (const [tenant, fields, id] of [
    [acme, { method: 'code', traits: { email: ` ${BOB.toUpperCase()}` } }, 4000007],
    [globex, { method: 'code', traits: { email: BOB } }, 4010003],
    [globex, { code: '000000' }, 4010003],
    [globex, { resend: 'code' }, 4010003],
  ] as const) {
    const answer = await tenant.send(await tenant.start('registration'), fields)
    expect([answer.body.state, ...idsIn(answer)]).toEqual(['choose_method', 422, id])
    expect(tenant.mailsTo(BOB)).toEqual([])
  }
})

test('Asking for a code emails it, which creates an account with a verified address', async () => {
  const custom_data = { plan: 'very secret', list: [1, { a: null }] }
  const { acme, flow, code } = await signingUp({ email: ADA, custom_data, tenant_id: 'x' })
  expect(acme.mailsTo(ADA)).toMatchObject([{ kind: 'registration', state: 'ready' }])
  expect(blurred((await acme.readFlow(flow)).body)).not.toContain(code)
  expect(countOf(acme)).toBe(0)
  expect(JSON.stringify(rowsOf(app, 'gate_flows'))).not.toContain('very secret')

  await using hooks = await acme.listening()
  clock.jump(MINUTE)
  const now = isoAt(clock.now())
  const { session_token, session, identity, continue_with } = await acme.sendWell(flow, { code })
  const methods = [{ method: 'code', aal: 'aal1', completed_at: now }]
  expect(session.authentication_methods).toEqual(methods)
  const { credentials, ...kept } = await acme.readIdentity(identity)
  expect([credentials, identity, session.identity]).toEqual([{}, kept, kept])
  expect(kept.traits).toEqual({ email: ADA, custom_data, tenant_id: acme.tenantId })
  const verified = { value: ADA, verified: true, status: 'completed', verified_at: now }
  expect(kept.verifiable_addresses).toMatchObject([verified])
  expect(continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
  expect(await acme.whose(session_token)).toBe(identity.id)
  expect(acme.mailsTo(ADA)).toHaveLength(1)
  const data = (payload: Json) => ({ identity_id: identity.id, payload })
  expect(await hooks.events()).toMatchObject([
    { event_type: 'identity.created', data: data({ email: ADA, method: 'password' }) },
    { event_type: 'identity.email_verified', data: data({}) },
  ])
})

test('Two flows for an address that complete at once create one account', async () => {
  const { acme, flow, code } = await signingUp()
  clock.jump(MAIL_GAP_MS)
  const second = await acme.start('registration')
  await ask(acme, second, { email: ADA })
  const codes = [enter(acme, flow, code), enter(acme, second, acme.codeFor(ADA))]
  expect((await Promise.all(codes)).map(({ status }) => status).sort()).toEqual([200, 422])
  expect([countOf(acme), countOf(acme, 'gate_sessions')]).toEqual([1, 1])
})

const DATA = { a: 1, b: { c: [1, 2], d: 'x' } }
const TRAITS = { email: ADA, custom_data: DATA }

test('The traits beside a code must be those that it was sent for, in any spelling', async () => {
  const { acme, flow, code } = await signingUp(TRAITS)
  for (const traits of [
    { ...TRAITS, email: BOB },
    { ...TRAITS, custom_data: { ...DATA, e: 1 } },
    { ...TRAITS, custom_data: { a: 1, b: { c: [2, 1], d: 'x' } } },
    { email: ADA },
  ]) {
    const answer = await enter(acme, flow, code, { traits })
    expect([answer.body.state, ...idsIn(answer)]).toEqual(['sent_email', 422, 4000036])
  }
  expect((await enter(acme, flow, code, { traits: 'x' })).status).toBe(422)
  expect(countOf(acme)).toBe(0)
  for (const traits of [
    { ...TRAITS, email: ` ${ADA.toUpperCase()}`, tenant_id: 'x' },
    { custom_data: { b: { d: 'x', c: [1, 2] }, a: 1 }, email: ADA },
    {},
  ]) {
    const other = await signingUp(TRAITS)
    const { body } = await enter(other.acme, other.flow, other.code, { traits })
    expect(body.identity.traits).toMatchObject(TRAITS)
  }
})

test('Another code is for the same traits, or for new ones if the form has them', async () => {
  const { acme, flow } = await signingUp(TRAITS)
  clock.jump(MAIL_GAP_MS)
  const { body } = await enter(acme, flow, '12', { resend: 'code', traits: {} })
  expect(body.ui.messages).toMatchObject([{ id: 1040005 }])
  const done = await acme.sendWell(flow, { code: acme.codeFor(ADA) })
  expect(done.identity.traits.custom_data).toEqual(DATA)

  const other = await signingUp()
  const traits = { email: BOB, custom_data: { b: 2 } }
  const { body: sent } = await ask(other.acme, other.flow, traits)
  expect(node(sent, 'traits.email').attributes.value).toBe(BOB)
  expect((await enter(other.acme, other.flow, other.code)).status).toBe(422)
  const { identity } = await other.acme.sendWell(other.flow, { code: other.acme.codeFor(BOB) })
  expect(identity.traits).toMatchObject(traits)
})

test('No account is created before a code was sent, while codes are off, or if the address is taken', async () => {
  const { acme, flow, code } = await signingUp()
  const fresh = await acme.start('registration')
  expect(idsIn(await enter(acme, fresh, '000000'))).toEqual([422, 4040003])
  await acme.security({ passwordless_enabled: false })
  expect(idsIn(await enter(acme, flow, code))).toEqual([422, 4010003])
  await acme.security({ passwordless_enabled: true })
  const other = await acme.unproven(ADA)
  expect(idsIn(await enter(acme, flow, code))).toEqual([422, 4000007])
  expect((await acme.addressOf(other)).verified).toBe(false)
  expect(countOf(acme)).toBe(1)
})

test('A flow that waits for a code takes a password, which verifies no address', async () => {
  const { acme, flow } = await signingUp()
  const { body } = await acme.send(flow, FIELDS)
  expect(body.identity.verifiable_addresses[0].verified).toBe(false)
  expect((await acme.tryPassword(ADA)).status).toBe(200)
})
