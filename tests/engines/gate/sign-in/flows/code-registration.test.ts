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
  const world = await bootChecked({ flags })
  await world.security({ passwordless_enabled: true })
  return world
}

let world: Checked
beforeAll(async () => {
  world = await bootCodes()
})
afterAll(() => world[Symbol.asyncDispose]())

let newcomers = 0
/** Of whoever is to sign up in a test. */
let email: string
beforeEach(() => {
  email = `newcomer-${newcomers++}@example.com`
})

/** Of somebody else in the same test. */
const addressOf = (name: string) => `${name}.${email}`

type World = Pick<Checked, 'start' | 'sendWell' | 'send'>

/** A flow in which a code has been asked for. */
async function asked(world: World, traits: Json = { email }) {
  const flow = await world.start('registration')
  await world.sendWell(flow, { method: 'code', traits })
  return flow
}

const enter = (world: World, flow: Json, code: unknown, more: Json = {}) =>
  world.send(flow, { method: 'code', code, ...more })

const wrongFor = (code: string): string => (code === '000000' ? '000001' : '000000')

/** Ids of all messages but that a code was sent, which is said for as long as it is waited for. */
const complaints = (flow: Json) => saidIn(flow).filter((id) => id !== 1040005)

/** How many people have an address of this test, and how many sessions there are of them. */
const made = ({ app }: Pick<Checked, 'app'> = world): [people: number, sessions: number] => [
  count(app, `gate_identities where email like '%${email}'`),
  count(
    app,
    `gate_sessions where identity_id in
      (select id from gate_identities where email like '%${email}')`,
  ),
]

const codesOf = ({ id }: Json): Json[] =>
  world.app.db.client.query('select * from gate_codes where flow_id = ?').all(id)

describe('asking for a code', () => {
  test('makes nobody yet, and writes to the address', async () => {
    await using hooks = await listening(world)
    const flow = await world.start('registration')
    const sent = await world.sendWell(flow, {
      method: 'code',
      traits: { email: ` ${email.toUpperCase()} ` },
    })
    expect(sent.state).toBe('sent_email')
    expect(node(sent, 'traits.email').attributes.value).toBe(email)
    expect(made()).toEqual([0, 0])
    expect(world.mailsTo(email)).toMatchObject([{ kind: 'registration', state: 'kept' }])
    expect(await hooks.events()).toEqual([])
    const code = world.codeFor(email)
    expect(blurred(sent)).not.toContain(code)
    expect(world.sentTo(email)[0]?.subject).not.toContain(code)
  })

  test('keeps what was told about somebody out of sight until they are somebody', async () => {
    await asked(world, { email, custom_data: { note: 'very private' } })
    const rows = JSON.stringify(world.app.db.client.query('select * from gate_flows').all())
    expect(rows).toContain(email)
    expect(rows).not.toContain('very private')
  })

  test.each([
    [{ email: null }, 'traits.email:4000002'],
    [{ email: 'x' }, 'traits.email:4000040'],
    [{ name: 'x' }, 4000001],
  ] as [Json, Json][])('takes good traits: %j', async (some, id) => {
    const traits = { email, ...some }
    const before = count(world.app, 'gate_codes')
    const { status, body } = await world.send(await world.start('registration'), {
      method: 'code',
      traits,
    })
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([id])
    expect(count(world.app, 'gate_codes')).toBe(before)
  })

  test('is refused for an address that somebody has, in any spelling', async () => {
    await world.createIdentity({ traits: { email } })
    for (const spelled of [email, ` ${email.toUpperCase()}`]) {
      const flow = await world.start('registration')
      const traits = { email: spelled }
      const { status, body } = await world.send(flow, { method: 'code', traits })
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4000007])
      expect(body.state).toBe('choose_method')
    }
    expect(world.mailsTo(email)).toEqual([])
  })

  test('is possible where the tenant has switched it on alone', async () => {
    await using world = await bootChecked()
    const flow = await world.start('registration')
    for (const fields of [
      { method: 'code', traits: { email } },
      { method: 'code', code: '000000', traits: { email } },
      { code: '000000' },
      { resend: 'code' },
    ]) {
      const { status, body } = await world.send(flow, fields)
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4010003])
    }
    expect(world.mailsTo(email)).toEqual([])
  })

  test('is possible once in half a minute for an address', async () => {
    const first = await asked(world)
    world.clock.jump(10 * SECOND)
    for (const flow of [first, await world.start('registration')]) {
      const answer = await world.send(flow, { method: 'code', traits: { email } })
      expect(answer.status).toBe(429)
      expect(answer.headers.get('retry-after')).toBe('20')
    }
    expect((await enter(world, first, world.codeFor(email))).status).toBe(200)
  })
})

describe('the right code', () => {
  test('makes somebody whose address is proven, and signs them in', async () => {
    await using hooks = await listening(world)
    const custom_data = { plan: 'free', list: [1, { a: null }] }
    const traits = { email, custom_data, tenant_id: 'x' }
    const flow = await asked(world, traits)
    world.clock.jump(MINUTE)
    const now = isoAt(world.clock.now())
    const code = world.codeFor(email)
    const done = await world.sendWell(flow, { method: 'code', code, traits })
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
    const { credentials, ...kept } = await world.readIdentity(identity)
    expect(credentials).toEqual({})
    expect(identity).toEqual(kept)
    expect(session.identity).toEqual(kept)
    expect(kept.traits).toEqual({ email, custom_data, tenant_id: world.tenantId })
    expect(kept.verifiable_addresses).toHaveLength(1)
    expect(kept.verifiable_addresses[0]).toMatchObject({
      value: email,
      verified: true,
      status: 'completed',
      verified_at: now,
    })
    expect(done.continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
    expect((await world.whoami(done.session_token)).status).toBe(200)
    expect(world.mailsTo(email)).toHaveLength(1)
    const told = (await hooks.events()).map(({ event_type, created_at, data }) => ({
      event_type,
      created_at,
      ...data,
    }))
    const about = { created_at: now, identity_id: identity.id }
    expect(told).toEqual([
      {
        ...about,
        event_type: 'identity.created',
        payload: { email, method: 'password' },
      },
      { ...about, event_type: 'identity.email_verified', payload: {} },
    ])
  })

  test('is enough: the traits need not come again', async () => {
    const flow = await asked(world, { email, custom_data: { a: 1 } })
    const { body } = await enter(world, flow, world.codeFor(email))
    expect(body.identity.traits.custom_data).toEqual({ a: 1 })
  })

  test('makes somebody without a password, who signs in by code again', async () => {
    const flow = await asked(world)
    const { body } = await enter(world, flow, world.codeFor(email))
    expect((await world.tryPassword(email)).status).toBe(422)
    expect((await world.tryPassword(email, '')).status).toBe(422)
    world.clock.jump(PAUSE)
    const login = await world.start('login')
    await world.sendWell(login, { method: 'code', identifier: email })
    const again = await world.sendWell(login, { code: world.codeFor(email) })
    expect(again.session.identity.id).toBe(body.identity.id)
  })

  test('counts once, also when it comes twice at once', async () => {
    const flow = await asked(world)
    const code = world.codeFor(email)
    const answers = await Promise.all([enter(world, flow, code), enter(world, flow, code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const refused = answers.find(({ status }) => status === 422)
    expect(saidIn(refused?.body)).toEqual([4040002])
    expect(made()).toEqual([1, 1])
    expect(codesOf(flow)).toEqual([])
  })

  test('counts in the flow that it was sent for, and in no other', async () => {
    const flow = await asked(world)
    const code = world.codeFor(email)
    const other = await asked(world, { email: addressOf('other') })
    expect((await enter(world, other, code)).status).toBe(422)
    const login = await world.start('login')
    expect((await world.send(login, { method: 'code', code })).status).toBe(422)
    expect(made()).toEqual([0, 0])
    expect((await enter(world, flow, code)).status).toBe(200)
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
    const flow = await asked(world, { email, custom_data })
    const code = world.codeFor(email)
    for (let tries = 0; tries < 6; tries++) {
      const { status, body } = await enter(world, flow, code, { traits })
      expect(status).toBe(422)
      expect(complaints(body)).toEqual([4000036])
      expect(body.state).toBe('sent_email')
    }
    expect(made()).toEqual([0, 0])
    const { status, body } = await enter(world, flow, code)
    expect(status).toBe(200)
    expect(body.identity.traits).toEqual({ email, custom_data, tenant_id: world.tenantId })
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
    const flow = await asked(world, { email, custom_data })
    expect((await enter(world, flow, world.codeFor(email), { traits })).status).toBe(200)
  })

  test('have to be good ones all the same', async () => {
    const flow = await asked(world)
    const code = world.codeFor(email)
    for (const traits of ['x', [email], { email: 5 }, { email, name: 'x' }])
      expect((await enter(world, flow, code, { traits })).status).toBe(422)
    expect(made()).toEqual([0, 0])
    expect((await enter(world, flow, code)).status).toBe(200)
  })
})

describe('another code', () => {
  test('is sent to the same address, for the same traits, and the old one dies', async () => {
    const flow = await asked(world, { email, custom_data: { a: 1 } })
    const old = world.codeFor(email)
    world.clock.jump(PAUSE)
    await world.sendWell(flow, { method: 'code', resend: 'code' })
    const fresh = world.codeFor(email)
    expect(world.sentTo(email)).toHaveLength(2)
    if (old !== fresh) expect((await enter(world, flow, old)).status).toBe(422)
    const { status, body } = await enter(world, flow, fresh)
    expect(status).toBe(200)
    expect(body.identity.traits.custom_data).toEqual({ a: 1 })
  })

  test('is sent for what comes with it instead, where that is new', async () => {
    const flow = await asked(world)
    const old = world.codeFor(email)
    const traits = { email: addressOf('second'), custom_data: { b: 2 } }
    const sent = await world.sendWell(flow, { method: 'code', traits })
    expect(node(sent, 'traits.email').attributes.value).toBe(addressOf('second'))
    const fresh = world.codeFor(addressOf('second'))
    if (old !== fresh) expect((await enter(world, flow, old)).status).toBe(422)
    const { body } = await enter(world, flow, fresh)
    expect(body.identity.traits).toEqual({ ...traits, tenant_id: world.tenantId })
  })

  test('is sent where that is asked for, whatever stands in the field', async () => {
    const flow = await asked(world)
    world.clock.jump(PAUSE)
    const form = { method: 'code', resend: 'code', traits: { email } }
    const { status, body } = await world.send(flow, { ...form, code: '12' })
    expect(status).toBe(200)
    expect(saidIn(body)).toEqual([1040005])
    expect(world.sentTo(email)).toHaveLength(2)
  })

  test('gives no more tries', async () => {
    const flow = await asked(world)
    const wrong = wrongFor(world.codeFor(email))
    for (let tries = 0; tries < 5; tries++)
      expect(complaints((await enter(world, flow, wrong)).body)).toEqual(['code:4040003'])
    expect(complaints((await enter(world, flow, world.codeFor(email))).body)).toEqual([
      'code:4900001',
    ])
    world.clock.jump(PAUSE)
    await world.send(flow, { method: 'code', resend: 'code' })
    expect(complaints((await enter(world, flow, world.codeFor(email))).body)).toEqual([
      'code:4900001',
    ])
    expect(made()).toEqual([0, 0])
  })
})

describe('no account comes of', () => {
  test('a wrong code, one that nobody sent, or one that is too old', async () => {
    const fresh = await world.start('registration')
    const early = await enter(world, fresh, '000000')
    expect(early.status).toBe(422)
    expect(saidIn(early.body)).toEqual([4040003])
    const flow = await asked(world)
    const code = world.codeFor(email)
    const { status, body } = await enter(world, flow, wrongFor(code))
    expect(status).toBe(422)
    expect(complaints(body)).toEqual(['code:4040003'])
    world.clock.jump(15 * MINUTE)
    expect(complaints((await enter(world, flow, code)).body)).toEqual(['code:4040003'])
    expect(made()).toEqual([0, 0])
  })

  test('a code in time, if somebody else has the address by then', async () => {
    const flow = await asked(world)
    const code = world.codeFor(email)
    const other = await world.createIdentity({ traits: { email } })
    await using hooks = await listening(world)
    const { status, body } = await enter(world, flow, code)
    expect(status).toBe(422)
    expect(complaints(body)).toEqual([4000007])
    expect(made()).toEqual([1, 0])
    expect((await world.readIdentity(other)).verifiable_addresses[0].verified).toBe(false)
    expect(await hooks.events()).toEqual([])
    await world.api.delete(`/v1/gate/identities/${other.id}`)
    expect(made()).toEqual([0, 0])
  })

  test('two flows for one address but one, whichever comes first', async () => {
    const first = await asked(world)
    const ofFirst = world.codeFor(email)
    world.clock.jump(PAUSE)
    const second = await asked(world)
    const ofSecond = world.codeFor(email)
    const answers = await Promise.all([
      enter(world, first, ofFirst),
      enter(world, second, ofSecond),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    expect(made()).toEqual([1, 1])
  })

  test('a code after the tenant has switched codes off', async () => {
    await using world = await bootCodes()
    const flow = await asked(world)
    const code = world.codeFor(email)
    await world.security({ passwordless_enabled: false })
    const { status, body } = await enter(world, flow, code)
    expect(status).toBe(422)
    expect(complaints(body)).toEqual([4010003])
    expect(made(world)).toEqual([0, 0])
  })

  test('a flow that has expired', async () => {
    const flow = await world.start('registration')
    world.clock.jump(HOUR - MINUTE)
    await world.sendWell(flow, { method: 'code', traits: { email } })
    world.clock.jump(MINUTE)
    expect((await enter(world, flow, world.codeFor(email))).status).toBe(410)
    expect(made()).toEqual([0, 0])
  })
})

describe('a flow that waits for a code', () => {
  test('goes on by password where the tenant has switched codes off', async () => {
    await using world = await bootCodes()
    const flow = await asked(world)
    await world.security({ passwordless_enabled: false })
    const shown = (await world.app.raw(pathOf(flow.ui.action))).body
    expect(nodeNames(shown)).toEqual([
      'default:traits.email',
      'password:password',
      'password:method=password',
    ])
  })

  test('takes a password all the same, and does not prove the address by that', async () => {
    const flow = await asked(world)
    world.clock.jump(PAUSE)
    const fields = { method: 'password', traits: { email }, password: PASSWORD }
    const { status, body } = await world.send(flow, fields)
    expect(status).toBe(200)
    expect(body.identity.verifiable_addresses[0].verified).toBe(false)
    expect((await world.tryPassword(email)).status).toBe(200)
  })
})
