import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { count, type Json } from '../../fixture.ts'
import { HOUR, MINUTE, SECOND } from '../../identities/people.ts'
import { blurred, bootChecked, type Checked, listening, saidIn } from './checked.ts'
import { node, nodeNames, PASSWORD, pathOf } from './fixture.ts'

/** After it, the same address may be written to again. */
const PAUSE = 31 * SECOND
const isoAt = (ms: number) => new Date(ms).toISOString()

/** A tenant with sign-in by code. */
async function bootCodes(flags: Record<string, string> = {}) {
  const fixture = await bootChecked({ flags })
  await fixture.security({ passwordless_enabled: true })
  return fixture
}

let fixture: Checked
beforeAll(async () => {
  fixture = await bootCodes()
})
afterAll(() => fixture[Symbol.asyncDispose]())

let newcomers = 0
/** Of whoever is to sign up in a test. */
let email: string
beforeEach(() => {
  email = `newcomer-${newcomers++}@example.com`
})

/** Of somebody else in the same test. */
const addressOf = (name: string) => `${name}.${email}`

type Fixture = Pick<Checked, 'start' | 'sendWell' | 'send'>

/** A flow in which a code has been asked for. */
async function asked(fixture: Fixture, traits: Json = { email }) {
  const flow = await fixture.start('registration')
  await fixture.sendWell(flow, { method: 'code', traits })
  return flow
}

const enter = (fixture: Fixture, flow: Json, code: unknown, more: Json = {}) =>
  fixture.send(flow, { method: 'code', code, ...more })

const wrongFor = (code: string): string => (code === '000000' ? '000001' : '000000')

/** Ids of all messages but that a code was sent, which is said for as long as it is waited for. */
const complaints = (flow: Json) => saidIn(flow).filter((id) => id !== 1040005)

/** How many people have an address of this test, and how many sessions there are of them. */
const made = ({ app }: Pick<Checked, 'app'> = fixture): [people: number, sessions: number] => [
  count(app, `gate_identities where email like '%${email}'`),
  count(
    app,
    `gate_sessions where identity_id in
      (select id from gate_identities where email like '%${email}')`,
  ),
]

const codesOf = ({ id }: Json): Json[] =>
  fixture.app.db.client.query('select * from gate_codes where flow_id = ?').all(id)

describe('asking for a code', () => {
  test('makes nobody yet, and writes to the address', async () => {
    await using hooks = await listening(fixture)
    const flow = await fixture.start('registration')
    const sent = await fixture.sendWell(flow, {
      method: 'code',
      traits: { email: ` ${email.toUpperCase()} ` },
    })
    expect(sent.state).toBe('sent_email')
    expect(node(sent, 'traits.email').attributes.value).toBe(email)
    expect(made()).toEqual([0, 0])
    expect(fixture.mailsTo(email)).toMatchObject([{ kind: 'registration', state: 'kept' }])
    expect(await hooks.events()).toEqual([])
    const code = fixture.codeFor(email)
    expect(blurred(sent)).not.toContain(code)
    expect(fixture.sentTo(email)[0]?.subject).not.toContain(code)
  })

  test('keeps what was told about somebody out of sight until they are somebody', async () => {
    await asked(fixture, { email, custom_data: { note: 'very private' } })
    const rows = JSON.stringify(fixture.app.db.client.query('select * from gate_flows').all())
    expect(rows).toContain(email)
    expect(rows).not.toContain('very private')
  })

  test.each([
    [{ email: null }, 'traits.email:4000002'],
    [{ email: 'x' }, 'traits.email:4000040'],
    [{ name: 'x' }, 4000001],
  ] as [Json, Json][])('takes good traits: %j', async (some, id) => {
    const traits = { email, ...some }
    const before = count(fixture.app, 'gate_codes')
    const { status, body } = await fixture.send(await fixture.start('registration'), {
      method: 'code',
      traits,
    })
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([id])
    expect(count(fixture.app, 'gate_codes')).toBe(before)
  })

  test('is refused for an address that somebody has, in any spelling', async () => {
    await fixture.createIdentity({ traits: { email } })
    for (const spelled of [email, ` ${email.toUpperCase()}`]) {
      const flow = await fixture.start('registration')
      const traits = { email: spelled }
      const { status, body } = await fixture.send(flow, { method: 'code', traits })
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4000007])
      expect(body.state).toBe('choose_method')
    }
    expect(fixture.mailsTo(email)).toEqual([])
  })

  test('is possible where the tenant has switched it on alone', async () => {
    await using fixture = await bootChecked()
    const flow = await fixture.start('registration')
    for (const fields of [
      { method: 'code', traits: { email } },
      { method: 'code', code: '000000', traits: { email } },
      { code: '000000' },
      { resend: 'code' },
    ]) {
      const { status, body } = await fixture.send(flow, fields)
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4010003])
    }
    expect(fixture.mailsTo(email)).toEqual([])
  })

  test('is possible once in half a minute for an address', async () => {
    const first = await asked(fixture)
    fixture.clock.jump(10 * SECOND)
    for (const flow of [first, await fixture.start('registration')]) {
      const answer = await fixture.send(flow, { method: 'code', traits: { email } })
      expect(answer.status).toBe(429)
      expect(answer.headers.get('retry-after')).toBe('20')
    }
    expect((await enter(fixture, first, fixture.codeFor(email))).status).toBe(200)
  })
})

describe('the right code', () => {
  test('makes somebody whose address is proven, and signs them in', async () => {
    await using hooks = await listening(fixture)
    const custom_data = { plan: 'free', list: [1, { a: null }] }
    const traits = { email, custom_data, tenant_id: 'x' }
    const flow = await asked(fixture, traits)
    fixture.clock.jump(MINUTE)
    const now = isoAt(fixture.clock.now())
    const code = fixture.codeFor(email)
    const done = await fixture.sendWell(flow, { method: 'code', code, traits })
    const { session, identity } = done
    expect(Object.keys(done).sort()).toEqual([
      'continue_with',
      'identity',
      'session',
      'session_token',
    ])
    expect(session.authentication_methods).toEqual([
      { method: 'code', aal: 'aal1', completed_at: now },
    ])
    const { credentials, ...kept } = await fixture.readIdentity(identity)
    expect(credentials).toEqual({})
    expect(identity).toEqual(kept)
    expect(session.identity).toEqual(kept)
    expect(kept.traits).toEqual({ email, custom_data, tenant_id: fixture.tenantId })
    expect(kept.verifiable_addresses).toHaveLength(1)
    expect(kept.verifiable_addresses[0]).toMatchObject({
      value: email,
      verified: true,
      status: 'completed',
      verified_at: now,
    })
    expect(done.continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
    expect((await fixture.whoami(done.session_token)).status).toBe(200)
    expect(fixture.mailsTo(email)).toHaveLength(1)
    const told = (await hooks.events()).map(({ event_type, created_at, data }) => ({
      event_type,
      created_at,
      ...data,
    }))
    const about = { created_at: now, identity_id: identity.id }
    expect(told).toEqual([
      { ...about, event_type: 'identity.created', payload: { email, method: 'password' } },
      { ...about, event_type: 'identity.email_verified', payload: {} },
    ])
  })

  test('is enough: the traits need not come again', async () => {
    const flow = await asked(fixture, { email, custom_data: { a: 1 } })
    const { body } = await enter(fixture, flow, fixture.codeFor(email))
    expect(body.identity.traits.custom_data).toEqual({ a: 1 })
  })

  test('makes somebody without a password, who signs in by code again', async () => {
    const flow = await asked(fixture)
    const { body } = await enter(fixture, flow, fixture.codeFor(email))
    expect((await fixture.tryPassword(email)).status).toBe(422)
    expect((await fixture.tryPassword(email, '')).status).toBe(422)
    fixture.clock.jump(PAUSE)
    const login = await fixture.start('login')
    await fixture.sendWell(login, { method: 'code', identifier: email })
    const again = await fixture.sendWell(login, { code: fixture.codeFor(email) })
    expect(again.session.identity.id).toBe(body.identity.id)
  })

  test('counts once, also when it comes twice at once', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const answers = await Promise.all([enter(fixture, flow, code), enter(fixture, flow, code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const refused = answers.find(({ status }) => status === 422)
    expect(saidIn(refused?.body)).toEqual([4040002])
    expect(made()).toEqual([1, 1])
    expect(codesOf(flow)).toEqual([])
  })

  test('counts in the flow that it was sent for, and in no other', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const other = await asked(fixture, { email: addressOf('other') })
    expect((await enter(fixture, other, code)).status).toBe(422)
    const login = await fixture.start('login')
    expect((await fixture.send(login, { method: 'code', code })).status).toBe(422)
    expect(made()).toEqual([0, 0])
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })
})

describe('the traits beside a code', () => {
  const custom_data = { a: 1, b: { c: [1, 2], d: 'x' } }

  const OTHERS: [what: string, traits: () => Json][] = [
    ['another address', () => ({ email: addressOf('other'), custom_data })],
    ['other data', () => ({ email, custom_data: { ...custom_data, a: 2 } })],
    ['more data', () => ({ email, custom_data: { ...custom_data, e: 1 } })],
    [
      'a list the other way round',
      () => ({ email, custom_data: { a: 1, b: { c: [2, 1], d: 'x' } } }),
    ],
    ['no data', () => ({ email })],
  ]

  test.each(OTHERS)('are those that it was sent for: %s', async (_, traitsFor) => {
    const traits = traitsFor()
    const flow = await asked(fixture, { email, custom_data })
    const code = fixture.codeFor(email)
    for (let tries = 0; tries < 6; tries++) {
      const { status, body } = await enter(fixture, flow, code, { traits })
      expect(status).toBe(422)
      expect(complaints(body)).toEqual([4000036])
      expect(body.state).toBe('sent_email')
    }
    expect(made()).toEqual([0, 0])
    const { status, body } = await enter(fixture, flow, code)
    expect(status).toBe(200)
    expect(body.identity.traits).toEqual({ email, custom_data, tenant_id: fixture.tenantId })
  })

  const SAME: [what: string, traits: () => Json][] = [
    ['the same', () => ({ email, custom_data })],
    ['the address in another spelling', () => ({ email: ` ${email.toUpperCase()}`, custom_data })],
    ['a tenant that counts for nothing', () => ({ email, custom_data, tenant_id: 'x' })],
    ['in another order', () => ({ custom_data, email })],
    [
      'with data in another order',
      () => ({ email, custom_data: { b: { d: 'x', c: [1, 2] }, a: 1 } }),
    ],
    ['none', () => ({})],
  ]

  test.each(SAME)('are those that it was sent for, however written: %s', async (_, traitsFor) => {
    const traits = traitsFor()
    const flow = await asked(fixture, { email, custom_data })
    expect((await enter(fixture, flow, fixture.codeFor(email), { traits })).status).toBe(200)
  })

  test('have to be good ones all the same', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    for (const traits of ['x', [email], { email: 5 }, { email, name: 'x' }])
      expect((await enter(fixture, flow, code, { traits })).status).toBe(422)
    expect(made()).toEqual([0, 0])
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })
})

describe('another code', () => {
  test('is sent to the same address, for the same traits, and the old one dies', async () => {
    const flow = await asked(fixture, { email, custom_data: { a: 1 } })
    const old = fixture.codeFor(email)
    fixture.clock.jump(PAUSE)
    await fixture.sendWell(flow, { method: 'code', resend: 'code' })
    const fresh = fixture.codeFor(email)
    expect(fixture.sentTo(email)).toHaveLength(2)
    if (old !== fresh) expect((await enter(fixture, flow, old)).status).toBe(422)
    const { status, body } = await enter(fixture, flow, fresh)
    expect(status).toBe(200)
    expect(body.identity.traits.custom_data).toEqual({ a: 1 })
  })

  test('is sent for what comes with it instead, where that is new', async () => {
    const flow = await asked(fixture)
    const old = fixture.codeFor(email)
    const traits = { email: addressOf('second'), custom_data: { b: 2 } }
    const sent = await fixture.sendWell(flow, { method: 'code', traits })
    expect(node(sent, 'traits.email').attributes.value).toBe(addressOf('second'))
    const fresh = fixture.codeFor(addressOf('second'))
    if (old !== fresh) expect((await enter(fixture, flow, old)).status).toBe(422)
    const { body } = await enter(fixture, flow, fresh)
    expect(body.identity.traits).toEqual({ ...traits, tenant_id: fixture.tenantId })
  })

  test('is sent where that is asked for, whatever stands in the field', async () => {
    const flow = await asked(fixture)
    fixture.clock.jump(PAUSE)
    const form = { method: 'code', resend: 'code', traits: { email } }
    const { status, body } = await fixture.send(flow, { ...form, code: '12' })
    expect(status).toBe(200)
    expect(saidIn(body)).toEqual([1040005])
    expect(fixture.sentTo(email)).toHaveLength(2)
  })

  test('gives no more tries', async () => {
    const flow = await asked(fixture)
    const wrong = wrongFor(fixture.codeFor(email))
    for (let tries = 0; tries < 5; tries++)
      expect(complaints((await enter(fixture, flow, wrong)).body)).toEqual(['code:4040003'])
    expect(complaints((await enter(fixture, flow, fixture.codeFor(email))).body)).toEqual([
      'code:4900001',
    ])
    fixture.clock.jump(PAUSE)
    await fixture.send(flow, { method: 'code', resend: 'code' })
    expect(complaints((await enter(fixture, flow, fixture.codeFor(email))).body)).toEqual([
      'code:4900001',
    ])
    expect(made()).toEqual([0, 0])
  })
})

describe('no account comes of', () => {
  test('a wrong code, one that nobody sent, or one that is too old', async () => {
    const fresh = await fixture.start('registration')
    const early = await enter(fixture, fresh, '000000')
    expect(early.status).toBe(422)
    expect(saidIn(early.body)).toEqual([4040003])
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const { status, body } = await enter(fixture, flow, wrongFor(code))
    expect(status).toBe(422)
    expect(complaints(body)).toEqual(['code:4040003'])
    fixture.clock.jump(15 * MINUTE)
    expect(complaints((await enter(fixture, flow, code)).body)).toEqual(['code:4040003'])
    expect(made()).toEqual([0, 0])
  })

  test('a code in time, if somebody else has the address by then', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const other = await fixture.createIdentity({ traits: { email } })
    await using hooks = await listening(fixture)
    const { status, body } = await enter(fixture, flow, code)
    expect(status).toBe(422)
    expect(complaints(body)).toEqual([4000007])
    expect(made()).toEqual([1, 0])
    expect((await fixture.readIdentity(other)).verifiable_addresses[0].verified).toBe(false)
    expect(await hooks.events()).toEqual([])
    await fixture.api.delete(`/v1/gate/identities/${other.id}`)
    expect(made()).toEqual([0, 0])
  })

  test('two flows for one address but one, whichever comes first', async () => {
    const first = await asked(fixture)
    const ofFirst = fixture.codeFor(email)
    fixture.clock.jump(PAUSE)
    const second = await asked(fixture)
    const ofSecond = fixture.codeFor(email)
    const answers = await Promise.all([
      enter(fixture, first, ofFirst),
      enter(fixture, second, ofSecond),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect(made()).toEqual([1, 1])
  })

  test('a code after the tenant has switched codes off', async () => {
    await using fixture = await bootCodes()
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    await fixture.security({ passwordless_enabled: false })
    const { status, body } = await enter(fixture, flow, code)
    expect(status).toBe(422)
    expect(complaints(body)).toEqual([4010003])
    expect(made(fixture)).toEqual([0, 0])
  })

  test('a flow that has expired', async () => {
    const flow = await fixture.start('registration')
    fixture.clock.jump(HOUR - MINUTE)
    await fixture.sendWell(flow, { method: 'code', traits: { email } })
    fixture.clock.jump(MINUTE)
    expect((await enter(fixture, flow, fixture.codeFor(email))).status).toBe(410)
    expect(made()).toEqual([0, 0])
  })
})

describe('a flow that waits for a code', () => {
  test('goes on by password where the tenant has switched codes off', async () => {
    await using fixture = await bootCodes()
    const flow = await asked(fixture)
    await fixture.security({ passwordless_enabled: false })
    const shown = (await fixture.app.raw(pathOf(flow.ui.action))).body
    expect(nodeNames(shown)).toEqual([
      'default:traits.email',
      'password:password',
      'password:method=password',
    ])
  })

  test('takes a password all the same, and does not prove the address by that', async () => {
    const flow = await asked(fixture)
    fixture.clock.jump(PAUSE)
    const fields = { method: 'password', traits: { email }, password: PASSWORD }
    const { status, body } = await fixture.send(flow, fields)
    expect(status).toBe(200)
    expect(body.identity.verifiable_addresses[0].verified).toBe(false)
    expect((await fixture.tryPassword(email)).status).toBe(200)
  })
})
