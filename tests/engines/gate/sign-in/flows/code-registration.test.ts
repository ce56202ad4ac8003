import { expect, test } from 'bun:test'
import { count, HOUR, IDENTITIES, type Json, MINUTE, rowsOf } from '../../fixture.ts'
import { ADA, BOB } from './acts.ts'
import { blurred, idsIn, isoAt } from './checked.ts'
import { CODE_MS, MAIL_GAP_MS, type Tenant, useFlows } from './code-fixture.ts'
import { node, nodeNames, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows
const newTenant = () => flows.newTenant({ passwordless_enabled: true })

const enter = (acme: Tenant, flow: Json, code: unknown, more: Json = {}) =>
  acme.send(flow, { method: 'code', code, ...more })

const ask = (acme: Tenant, flow: Json, traits: Json) => acme.send(flow, { method: 'code', traits })

/** A sign-up that waits for its code. */
async function signingUp(acme: Tenant, traits: Json = { email: ADA }) {
  const flow = await acme.start('registration')
  expect((await ask(acme, flow, traits)).status).toBe(200)
  return { flow, code: acme.codeFor(traits.email) }
}

/** How many people and sessions a tenant has. */
const made = ({ tenantId }: Tenant): [people: number, sessions: number] => [
  count(app, `gate_identities where tenant_id = '${tenantId}'`),
  count(app, `gate_sessions where tenant_id = '${tenantId}'`),
]

test('Asking for a code emails it and creates no account; traits are not stored in plain text', async () => {
  const acme = await newTenant()
  await using hooks = await acme.listening()
  const flow = await acme.start('registration')
  const traits = { email: ` ${ADA.toUpperCase()} `, custom_data: { note: 'very private' } }
  const { body } = await ask(acme, flow, traits)
  expect(body.state).toBe('sent_email')
  expect(node(body, 'traits.email').attributes.value).toBe(ADA)
  expect(acme.mailsTo(ADA)).toMatchObject([{ kind: 'registration', state: 'kept' }])
  expect(blurred(body)).not.toContain(acme.codeFor(ADA))
  expect([made(acme), await hooks.events()]).toEqual([[0, 0], []])
  expect(JSON.stringify(rowsOf(app, 'gate_flows'))).not.toContain('very private')
})

test('Asking for a code needs a free address, and a tenant that has codes', async () => {
  const [acme, globex] = [await newTenant(), await flows.newTenant()]
  await acme.unproven(BOB)
  for (const [tenant, fields, id] of [
    [acme, { method: 'code', traits: { email: BOB } }, 4000007],
    [acme, { method: 'code', traits: { email: ` ${BOB.toUpperCase()}` } }, 4000007],
    [globex, { method: 'code', traits: { email: ADA } }, 4010003],
    [globex, { method: 'code', code: '000000', traits: { email: ADA } }, 4010003],
    [globex, { code: '000000' }, 4010003],
    [globex, { resend: 'code' }, 4010003],
  ] as const) {
    const flow = await tenant.start('registration')
    const answer = await tenant.send(flow, fields)
    expect([answer.body.state, ...idsIn(answer)]).toEqual(['choose_method', 422, id])
    expect(tenant.codeRows(flow)).toEqual([])
  }
  expect([acme.mailsTo(BOB), globex.mailsTo(ADA)]).toEqual([[], []])
})

test('The right code creates an account with a verified address, and signs it in', async () => {
  const acme = await newTenant()
  await using hooks = await acme.listening()
  const custom_data = { plan: 'free', list: [1, { a: null }] }
  const traits = { email: ADA, custom_data, tenant_id: 'x' }
  const { flow, code } = await signingUp(acme, traits)
  clock.jump(MINUTE)
  const now = isoAt(clock.now())
  const done = await acme.sendWell(flow, { method: 'code', code, traits })
  const { session, identity } = done
  const fields = ['continue_with', 'identity', 'session', 'session_token']
  expect(Object.keys(done).sort()).toEqual(fields)
  const methods = [{ method: 'code', aal: 'aal1', completed_at: now }]
  expect(session.authentication_methods).toEqual(methods)
  const { credentials, ...kept } = await acme.readIdentity(identity)
  expect([credentials, identity, session.identity]).toEqual([{}, kept, kept])
  expect(kept.traits).toEqual({ email: ADA, custom_data, tenant_id: acme.tenantId })
  const verified = { value: ADA, verified: true, status: 'completed', verified_at: now }
  expect(kept.verifiable_addresses).toMatchObject([verified])
  expect(done.continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
  expect((await acme.whoami(done.session_token)).status).toBe(200)
  expect(acme.mailsTo(ADA)).toHaveLength(1)
  const data = (payload: Json) => ({ identity_id: identity.id, payload })
  expect(await hooks.events()).toMatchObject([
    { event_type: 'identity.created', data: data({ email: ADA, method: 'password' }) },
    { event_type: 'identity.email_verified', data: data({}) },
  ])
})

test('Two flows for an address that complete at once create one account', async () => {
  const acme = await newTenant()
  const first = await signingUp(acme)
  clock.jump(MAIL_GAP_MS)
  const second = await signingUp(acme)
  const answers = await Promise.all([first, second].map((one) => enter(acme, one.flow, one.code)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
  expect(made(acme)).toEqual([1, 1])
})

const DATA = { a: 1, b: { c: [1, 2], d: 'x' } }
const TRAITS = { email: ADA, custom_data: DATA }

test('The traits beside a code must be those that it was sent for', async () => {
  const acme = await newTenant()
  const { flow, code } = await signingUp(acme, TRAITS)
  for (const traits of [
    { ...TRAITS, email: BOB },
    { ...TRAITS, custom_data: { ...DATA, a: 2 } },
    { ...TRAITS, custom_data: { ...DATA, e: 1 } },
    { ...TRAITS, custom_data: { a: 1, b: { c: [2, 1], d: 'x' } } },
    { email: ADA },
    { email: ADA },
  ]) {
    const answer = await enter(acme, flow, code, { traits })
    expect([answer.body.state, ...idsIn(answer)]).toEqual(['sent_email', 422, 4000036])
  }
  for (const traits of ['x', [ADA], { email: 5 }, { ...TRAITS, name: 'x' }])
    expect((await enter(acme, flow, code, { traits })).status).toBe(422)
  expect(made(acme)).toEqual([0, 0])
  const { body } = await enter(acme, flow, code)
  expect(body.identity.traits).toEqual({ ...TRAITS, tenant_id: acme.tenantId })
})

test.each<Json>([
  TRAITS,
  { ...TRAITS, email: ` ${ADA.toUpperCase()}` },
  { ...TRAITS, tenant_id: 'x' },
  { custom_data: { b: { d: 'x', c: [1, 2] }, a: 1 }, email: ADA },
  {},
])('The traits beside a code may be spelled differently: %j', async (traits) => {
  const acme = await newTenant()
  const { flow, code } = await signingUp(acme, TRAITS)
  expect((await enter(acme, flow, code, { traits })).status).toBe(200)
})

test('Another code is for the same traits, or for new ones if the form has them', async () => {
  const acme = await newTenant()
  const { flow, code } = await signingUp(acme, TRAITS)
  clock.jump(MAIL_GAP_MS)
  const { body } = await enter(acme, flow, '12', { resend: 'code', traits: {} })
  expect(body.ui.messages).toMatchObject([{ id: 1040005 }])
  expect(acme.sentTo(ADA)).toHaveLength(2)
  const done = await acme.sendWell(flow, { code: acme.codeFor(ADA) })
  expect(done.identity.traits.custom_data).toEqual(DATA)

  const globex = await newTenant()
  const other = await signingUp(globex)
  const traits = { email: BOB, custom_data: { b: 2 } }
  const { body: sent } = await ask(globex, other.flow, traits)
  expect(node(sent, 'traits.email').attributes.value).toBe(BOB)
  expect((await enter(globex, other.flow, code)).status).toBe(422)
  expect((await enter(globex, other.flow, other.code)).status).toBe(422)
  const { identity } = await globex.sendWell(other.flow, { code: globex.codeFor(BOB) })
  expect(identity.traits).toEqual({ ...traits, tenant_id: globex.tenantId })
})

test('No account is created before a code was sent, with an old one, or while codes are off', async () => {
  const acme = await newTenant()
  const fresh = await acme.start('registration')
  expect(idsIn(await enter(acme, fresh, '000000'))).toEqual([422, 4040003])
  const { flow, code } = await signingUp(acme)
  await acme.security({ passwordless_enabled: false })
  expect(idsIn(await enter(acme, flow, code))).toEqual([422, 4010003])
  const byPassword = ['default:traits.email', 'password:password', 'password:method=password']
  expect(nodeNames((await acme.readFlow(flow)).body)).toEqual(byPassword)
  await acme.security({ passwordless_enabled: true })
  clock.jump(CODE_MS)
  expect(idsIn(await enter(acme, flow, code))).toEqual([422, 'code:4040003'])
  clock.jump(HOUR - CODE_MS)
  expect((await enter(acme, flow, code)).status).toBe(410)
  expect(made(acme)).toEqual([0, 0])
})

test('No account is created if another one has the address by then', async () => {
  const acme = await newTenant()
  const { flow, code } = await signingUp(acme)
  const other = await acme.unproven(ADA)
  await using hooks = await acme.listening()
  expect(idsIn(await enter(acme, flow, code))).toEqual([422, 4000007])
  expect((await acme.addressOf(other)).verified).toBe(false)
  expect(await hooks.events()).toEqual([])
  await acme.api.delete(`${IDENTITIES}/${other.id}`)
  expect(made(acme)).toEqual([0, 0])
})

test('A flow that waits for a code takes a password, which verifies no address', async () => {
  const acme = await newTenant()
  const { flow } = await signingUp(acme)
  clock.jump(MAIL_GAP_MS)
  const fields = { method: 'password', traits: { email: ADA }, password: PASSWORD }
  const { body } = await acme.send(flow, fields)
  expect(body.identity.verifiable_addresses[0].verified).toBe(false)
  expect((await acme.tryPassword(ADA)).status).toBe(200)
})
