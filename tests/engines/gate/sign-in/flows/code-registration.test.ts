import { describe, expect, test } from 'bun:test'
import { count, HOUR, IDENTITIES, type Json, MINUTE } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import { ADA, BOB } from './acts.ts'
import { blurred, listening, saidIn } from './checked.ts'
import {
  CODE_MS,
  codeRows,
  complaintsIn,
  isoAt,
  MAIL_GAP_MS,
  read,
  type Tenant,
  unproven,
  useFlows,
  waiting,
} from './code-fixture.ts'
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

describe('asking for a code', () => {
  test('emails it and creates no account; the traits are not stored in plain text', async () => {
    const acme = await newTenant()
    await using hooks = await listening(acme)
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

  test.each([
    [{ email: null }, 'traits.email:4000002'],
    [{ email: 'x' }, 'traits.email:4000040'],
    [{ email: ADA, name: 'x' }, 4000001],
  ] as [Json, Json][])('needs valid traits: %j', async (traits, id) => {
    const acme = await newTenant()
    const flow = await acme.start('registration')
    const { status, body } = await ask(acme, flow, traits)
    expect([status, saidIn(body)]).toEqual([422, [id]])
    expect(codeRows(acme, flow)).toEqual([])
  })

  test('is refused for an address that is taken, in any spelling', async () => {
    const acme = await newTenant()
    await unproven(acme, ADA)
    for (const email of [ADA, ` ${ADA.toUpperCase()}`]) {
      const { status, body } = await ask(acme, await acme.start('registration'), { email })
      expect([status, body.state, saidIn(body)]).toEqual([422, 'choose_method', [4000007]])
    }
    expect(acme.mailsTo(ADA)).toEqual([])
  })

  test('needs a tenant that has switched it on', async () => {
    const acme = await flows.newTenant()
    const flow = await acme.start('registration')
    const traits = { email: ADA }
    for (const fields of [
      { method: 'code', traits },
      { method: 'code', code: '000000', traits },
      { code: '000000' },
      { resend: 'code' },
    ]) {
      const { status, body } = await acme.send(flow, fields)
      expect([status, saidIn(body)]).toEqual([422, [4010003]])
    }
    expect(acme.mailsTo(ADA)).toEqual([])
  })
})

describe('the right code', () => {
  test('creates an account with a verified address, and signs it in', async () => {
    const acme = await newTenant()
    await using hooks = await listening(acme)
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
    const told = (await hooks.events()).map(({ event_type, created_at, data }) => {
      expect([created_at, data.identity_id]).toEqual([now, identity.id])
      return [event_type, data.payload]
    })
    expect(told).toEqual([
      ['identity.created', { email: ADA, method: 'password' }],
      ['identity.email_verified', {}],
    ])
  })

  test('creates an account without a password, which signs in with codes', async () => {
    const acme = await newTenant()
    const { flow, code } = await signingUp(acme)
    const { body } = await enter(acme, flow, code)
    for (const password of [PASSWORD, ''])
      expect((await acme.tryPassword(ADA, password)).status).toBe(422)
    clock.jump(MAIL_GAP_MS)
    const login = await waiting(acme, 'login', ADA)
    const again = await acme.sendWell(login.flow, { code: login.code })
    expect(again.session.identity.id).toBe(body.identity.id)
  })

  test('creates one account if two flows for the address complete at once', async () => {
    const acme = await newTenant()
    const first = await signingUp(acme)
    clock.jump(MAIL_GAP_MS)
    const second = await signingUp(acme)
    const answers = await Promise.all([first, second].map((one) => enter(acme, one.flow, one.code)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect(made(acme)).toEqual([1, 1])
  })
})

describe('the traits beside a code', () => {
  const custom_data = { a: 1, b: { c: [1, 2], d: 'x' } }
  const traits = { email: ADA, custom_data }

  test.each<[string, Json]>([
    ['another address', { ...traits, email: BOB }],
    ['other data', { ...traits, custom_data: { ...custom_data, a: 2 } }],
    ['more data', { ...traits, custom_data: { ...custom_data, e: 1 } }],
    ['a list in another order', { ...traits, custom_data: { a: 1, b: { c: [2, 1], d: 'x' } } }],
    ['no data', { email: ADA }],
  ])('must be those that it was sent for: %s', async (_, others) => {
    const acme = await newTenant()
    const { flow, code } = await signingUp(acme, traits)
    for (let tries = 0; tries < 6; tries++) {
      const { status, body } = await enter(acme, flow, code, { traits: others })
      expect([status, body.state, complaintsIn(body)]).toEqual([422, 'sent_email', [4000036]])
    }
    expect(made(acme)).toEqual([0, 0])
    const { body } = await enter(acme, flow, code)
    expect(body.identity.traits).toEqual({ ...traits, tenant_id: acme.tenantId })
  })

  test.each<[string, Json]>([
    ['the same', traits],
    ['the address in another spelling', { ...traits, email: ` ${ADA.toUpperCase()}` }],
    ['a tenant id', { ...traits, tenant_id: 'x' }],
    ['in another order', { custom_data: { b: { d: 'x', c: [1, 2] }, a: 1 }, email: ADA }],
    ['none', {}],
  ])('may be spelled differently: %s', async (_, same) => {
    const acme = await newTenant()
    const { flow, code } = await signingUp(acme, traits)
    expect((await enter(acme, flow, code, { traits: same })).status).toBe(200)
  })

  test('must be valid', async () => {
    const acme = await newTenant()
    const { flow, code } = await signingUp(acme)
    for (const wrong of ['x', [ADA], { email: 5 }, { email: ADA, name: 'x' }])
      expect((await enter(acme, flow, code, { traits: wrong })).status).toBe(422)
    expect(made(acme)).toEqual([0, 0])
    expect((await enter(acme, flow, code)).status).toBe(200)
  })
})

describe('another code', () => {
  test('is for the same traits if its button is pressed, with anything in the field', async () => {
    const acme = await newTenant()
    const { flow } = await signingUp(acme, { email: ADA, custom_data: { a: 1 } })
    clock.jump(MAIL_GAP_MS)
    const { status, body } = await enter(acme, flow, '12', { resend: 'code', traits: {} })
    expect([status, saidIn(body)]).toEqual([200, [1040005]])
    expect(acme.sentTo(ADA)).toHaveLength(2)
    const done = await acme.sendWell(flow, { code: acme.codeFor(ADA) })
    expect(done.identity.traits.custom_data).toEqual({ a: 1 })
  })

  test('is for new traits if the form has them', async () => {
    const acme = await newTenant()
    const { flow, code } = await signingUp(acme)
    const traits = { email: BOB, custom_data: { b: 2 } }
    const { body: sent } = await ask(acme, flow, traits)
    expect(node(sent, 'traits.email').attributes.value).toBe(BOB)
    expect((await enter(acme, flow, code)).status).toBe(422)
    const { body } = await enter(acme, flow, acme.codeFor(BOB))
    expect(body.identity.traits).toEqual({ ...traits, tenant_id: acme.tenantId })
  })
})

describe('no account is created', () => {
  test('before a code was sent, or with one that is too old', async () => {
    const acme = await newTenant()
    const { status, body } = await enter(acme, await acme.start('registration'), '000000')
    expect([status, saidIn(body)]).toEqual([422, [4040003]])
    const { flow, code } = await signingUp(acme)
    clock.jump(CODE_MS)
    expect(complaintsIn((await enter(acme, flow, code)).body)).toEqual(['code:4040003'])
    clock.jump(HOUR - CODE_MS)
    expect((await enter(acme, flow, code)).status).toBe(410)
    expect(made(acme)).toEqual([0, 0])
  })

  test('if another account has the address by then', async () => {
    const acme = await newTenant()
    const { flow, code } = await signingUp(acme)
    const other = await unproven(acme, ADA)
    await using hooks = await listening(acme)
    const { status, body } = await enter(acme, flow, code)
    expect([status, complaintsIn(body)]).toEqual([422, [4000007]])
    expect((await acme.readIdentity(other)).verifiable_addresses[0].verified).toBe(false)
    expect(await hooks.events()).toEqual([])
    await acme.api.delete(`${IDENTITIES}/${other.id}`)
    expect(made(acme)).toEqual([0, 0])
  })

  test('while the tenant has switched codes off', async () => {
    const acme = await newTenant()
    const { flow, code } = await signingUp(acme)
    await acme.security({ passwordless_enabled: false })
    const { status, body } = await enter(acme, flow, code)
    expect([status, complaintsIn(body)]).toEqual([422, [4010003]])
    expect(made(acme)).toEqual([0, 0])
    const byPassword = ['default:traits.email', 'password:password', 'password:method=password']
    expect(nodeNames((await read(acme, flow)).body)).toEqual(byPassword)
  })
})

test('a flow that waits for a code takes a password, which verifies no address', async () => {
  const acme = await newTenant()
  const { flow } = await signingUp(acme)
  clock.jump(MAIL_GAP_MS)
  const fields = { method: 'password', traits: { email: ADA }, password: PASSWORD }
  const { body } = await acme.send(flow, fields)
  expect(body.identity.verifiable_addresses[0].verified).toBe(false)
  expect((await acme.tryPassword(ADA)).status).toBe(200)
})
