import { describe, expect, spyOn, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { count, DAY, HOUR, IDENTITIES, type Json, plain } from '../../fixture.ts'
import { ID } from '../../identities/people.ts'
import { ADA, BOB, withToken } from './acts.ts'
import { bootChecked, listening, saidIn } from './checked.ts'
import {
  HOSTED,
  isoAt,
  MAIL_GAP_MS,
  type Tenant,
  unproven,
  useFlows,
  waiting,
} from './code-fixture.ts'
import { node, PASSWORD } from './fixture.ts'
import { holdPasswords } from './held-passwords.ts'

const flows = await useFlows()
const { clock, app } = flows

type Of = Pick<Tenant, 'start' | 'send'>

const signUp = async (acme: Of, traits: Json = { email: ADA }, fields: Json = {}) =>
  acme.send(await acme.start('registration'), {
    method: 'password',
    traits,
    password: PASSWORD,
    ...fields,
  })

const peopleOf = ({ tenantId }: Tenant) =>
  count(app, `gate_identities where tenant_id = '${tenantId}'`)

describe('a sign-up', () => {
  test('creates an account with a password, and signs it in', async () => {
    const acme = await flows.newTenant()
    const now = isoAt(clock.now())
    const { status, body } = await signUp(acme)
    expect(status).toBe(200)
    const { session_token: token, session, identity, continue_with } = body
    const fields = ['continue_with', 'identity', 'session', 'session_token']
    expect(Object.keys(body).sort()).toEqual(fields)
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
    expect({ ...session, identity: null }).toStrictEqual({
      id: ID,
      token,
      active: true,
      issued_at: now,
      expires_at: isoAt(clock.now() + DAY),
      authenticated_at: now,
      authenticator_assurance_level: 'aal1',
      authentication_methods: [{ method: 'password', aal: 'aal1', completed_at: now }],
      devices: [{ id: session.id, ip_address: null, user_agent: null, location: null }],
      identity: null,
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

  test('stores the address in its one spelling, and custom data as it is', async () => {
    const acme = await flows.newTenant()
    const custom_data = { tags: ['a', null, 1.5, { b: [] }], '🐎': '', nested: { a: {} } }
    const email = 'some.one+x@bücher.example'
    const { body } = await signUp(acme, { email: ' Some.ONE+x@BÜCHER.Example\n', custom_data })
    expect(body.identity.traits).toMatchObject({ email, custom_data })
    expect(body.identity.verifiable_addresses[0].value).toBe(email)
    expect((await acme.readIdentity(body.identity)).traits.custom_data).toEqual(custom_data)
  })

  test('takes 8 KB of custom data', async () => {
    const acme = await flows.newTenant()
    const ofBytes = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) })
    const refused = await signUp(acme, { email: ADA, custom_data: ofBytes(8193) })
    expect([refused.status, saidIn(refused.body)]).toEqual([422, [4000001]])
    expect((await signUp(acme, { email: ADA, custom_data: ofBytes(8192) })).status).toBe(200)
  })

  test('takes nothing else: neither tenant nor state nor metadata', async () => {
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
    expect(peopleOf(globex)).toBe(0)
  })
})

describe('a password', () => {
  const SPECIAL = 'Somebody.Special@example.com'

  test.each<[string, string, number, Json]>([
    [ADA, 'kqzv8wj', 4000032, { min_length: 8, actual_length: 7 }],
    [ADA, '🐎🐑🐄🐖🐓🦆🦉', 4000032, { min_length: 8, actual_length: 7 }],
    [ADA, 'kqzv8wjx'.repeat(129), 4000033, { max_length: 1024, actual_length: 1032 }],
    [SPECIAL, 'somebody.special@example.com', 4000031, undefined],
    [SPECIAL, 'somebody.special', 4000031, undefined],
    [SPECIAL, 'SOMEBODY.special!', 4000031, undefined],
    [SPECIAL, 'somebody-special1', 4000031, undefined],
    [ADA, 'password1', 4900006, undefined],
    [ADA, 'Qwertyuiop', 4900006, undefined],
    [ADA, '12345678', 4900006, undefined],
    [ADA, 'aaaaaaaaaa', 4900006, undefined],
  ])(
    'is refused beside its field if it is too short, long, similar or common (%#)',
    async (email, password, id, context) => {
      const acme = await flows.newTenant()
      const { status, body } = await signUp(acme, { email }, { password })
      expect([status, saidIn(body)]).toEqual([422, [`password:${id}`]])
      const [message] = node(body, 'password').messages
      expect(message).toMatchObject({ type: 'error', ...(context && { context }) })
      expect(body.ui.messages).toEqual([message])
      expect(peopleOf(acme)).toBe(0)
    },
  )

  test('is checked before the address', async () => {
    const acme = await flows.newTenant()
    await unproven(acme, ADA)
    const { body } = await signUp(acme, undefined, { password: 'short' })
    expect(saidIn(body)).toEqual(['password:4000032'])
  })

  test('has the least length that the instance requires', async () => {
    await using own = await bootChecked({ flags: { 'gate-password-min-length': '20' } })
    const { body } = await signUp(own, undefined, { password: 'nineteen long 12345' })
    const context = { min_length: 20, actual_length: 19 }
    expect(node(body, 'password').messages).toMatchObject([{ id: 4000032, context }])
    const { status } = await signUp(own, undefined, { password: 'twenty long 12345678' })
    expect(status).toBe(200)
  })
})

describe('an address that is taken', () => {
  test.each([
    ['taken.1@example.com', 'taken.1@example.com'],
    ['taken.2@example.com', 'Taken.2@EXAMPLE.com'],
    ['taken.3@example.com', '  taken.3@example.com\t'],
    ['täken.4@example.com', 'ta\u0308ken.4@example.com'],
    ['taken.5@bücher.example', 'taken.5@xn--bcher-kva.example'],
    ['taken.6@xn--bcher-kva.example', 'TAKEN.6@BÜCHER.example'],
    ['τάκης@example.com', 'ΤΆΚΗΣ@example.com'],
  ])('is refused in any spelling: %s', async (email, spelled) => {
    const acme = await flows.newTenant()
    await acme.register(email)
    const { status, body } = await signUp(acme, { email: spelled })
    expect([status, saidIn(body)]).toEqual([422, [4000007]])
    expect(body.ui.messages[0].type).toBe('error')
    expect(peopleOf(acme)).toBe(1)
  })

  test('is refused if the tenant made the account, also if it is inactive', async () => {
    const acme = await flows.newTenant()
    await unproven(acme, ADA)
    await unproven(acme, BOB, { state: 'inactive' })
    for (const email of [ADA, BOB])
      expect(saidIn((await signUp(acme, { email })).body)).toEqual([4000007])
  })

  test('leaves the flow open for another one', async () => {
    const acme = await flows.newTenant()
    await acme.register(ADA)
    const flow = await acme.start('registration')
    const fields = { method: 'password', password: PASSWORD }
    expect((await acme.send(flow, { ...fields, traits: { email: ADA } })).status).toBe(422)
    expect((await acme.send(flow, { ...fields, traits: { email: BOB } })).status).toBe(200)
  })

  test('is free in other tenants, and once its account is deleted, without another email', async () => {
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
    const { flow, code } = await waiting(acme, 'verification', ADA)
    const done = await acme.sendWell(flow, { code }, withToken(body.session_token))
    expect(done.state).toBe('passed_challenge')
  })

  test('goes to one of several who ask at once', async () => {
    const acme = await flows.newTenant()
    await using hooks = await listening(acme)
    const emails = [ADA, ADA.toUpperCase(), ADA, BOB]
    const answers = await Promise.all(emails.map((email) => signUp(acme, { email })))
    const refused = answers.filter(({ status }) => status === 422)
    expect(refused.map(({ body }) => saidIn(body))).toEqual([[4000007], [4000007]])
    expect([peopleOf(acme), acme.mailsTo(ADA).length]).toEqual([2, 1])
    const told = (await hooks.events()).map(({ data }) => data.payload.email)
    expect(told.sort()).toEqual([ADA, BOB])
  })
})

describe('a flow', () => {
  test('signs up once, whatever is sent to it then', async () => {
    const acme = await flows.newTenant()
    const flow = await acme.start('registration')
    const fields = { method: 'password', password: PASSWORD, traits: { email: ADA } }
    const bobs = { ...fields, traits: { email: BOB } }
    const answers = await Promise.all([acme.send(flow, fields), acme.send(flow, bobs)])
    const refused = answers.filter(({ status }) => status === 422)
    expect(refused.map(({ body }) => saidIn(body))).toEqual([[4040002]])
    for (const more of [fields, bobs, { method: 'x' }, {}]) {
      const { status, body } = await acme.send(flow, more)
      expect([status, body.state, saidIn(body)]).toEqual([422, 'passed_challenge', [4040002]])
    }
    expect(peopleOf(acme)).toBe(1)
    expect(count(app, `gate_sessions where tenant_id = '${acme.tenantId}'`)).toBe(1)
  })

  test('that expires while the password is hashed creates no account', async () => {
    const acme = await flows.newTenant()
    const flow = await acme.start('registration')
    const real = Bun.password.hash
    using _ = spyOn(Bun.password, 'hash').mockImplementation((...of) => {
      clock.jump(HOUR)
      return real(...of)
    })
    const fields = { method: 'password', password: PASSWORD, traits: { email: ADA } }
    const { status, body } = await acme.send(flow, fields)
    expect([status, saidIn(body)]).toEqual([422, [4040001]])
    expect([peopleOf(acme), acme.mailsTo(ADA)]).toEqual([0, []])
  })

  test('is refused while too many passwords are hashed, and can be sent again', async () => {
    await using own = await bootChecked({ flags: { 'gate-password-queue': '1' } })
    const flow = await own.start('registration')
    using passwords = holdPasswords()
    const beyond = Math.max(2, availableParallelism()) + 2
    const tries = Array.from({ length: beyond }, () => own.tryPassword(BOB))
    expect((await Promise.race(tries)).status).toBe(503)
    const fields = { method: 'password', password: PASSWORD, traits: { email: ADA } }
    const answer = await own.send(flow, fields)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer).toMatchObject(plain(503, 'too many passwords'))
    passwords.release()
    await Promise.all(tries)
    expect((await own.send(flow, fields)).status).toBe(200)
  })
})

test('webhooks are told of the account, and of no refused sign-up', async () => {
  const acme = await flows.newTenant()
  await using hooks = await listening(acme)
  await signUp(acme, { email: 'x' })
  await signUp(acme, undefined, { password: 'x' })
  const { identity } = await acme.register(ADA.toUpperCase())
  await signUp(acme)
  expect(await hooks.events()).toStrictEqual([
    {
      event_id: ID,
      event_type: 'identity.created',
      tenant_id: acme.tenantId,
      created_at: isoAt(clock.now()),
      data: { identity_id: identity.id, payload: { email: ADA, method: 'password' } },
    },
  ])
})
