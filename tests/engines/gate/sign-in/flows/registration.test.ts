import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { availableParallelism } from 'node:os'
import { count, type Json, plain } from '../../fixture.ts'
import { DAY, HOUR, ID } from '../../identities/people.ts'
import { bootChecked, type Checked, listening, saidIn } from './checked.ts'
import { flowParty, node, PASSWORD, pathOf } from './fixture.ts'
import { holdPasswords } from './held-passwords.ts'

const isoAt = (ms: number) => new Date(ms).toISOString()

let fixture: Checked
beforeAll(async () => {
  fixture = await bootChecked()
})
afterAll(() => fixture[Symbol.asyncDispose]())

let people = 0
const newEmail = () => `newcomer-${people++}@example.com`

/** Signs somebody up: the answer, whatever it is. */
const signUp = async (
  traits: Json,
  fields: Json = {},
  of: Pick<Checked, 'start' | 'send'> = fixture,
) =>
  of.send(await of.start('registration'), {
    method: 'password',
    traits,
    password: PASSWORD,
    ...fields,
  })

const byEmail = async (email: string, { api }: Pick<Checked, 'api'> = fixture): Promise<Json[]> =>
  (await api.get(`/v1/gate/identities?email=${encodeURIComponent(email)}`)).body.data

describe('whoever signs up', () => {
  test('is somebody from then on, and signed in', async () => {
    const now = fixture.clock.now()
    const email = newEmail()
    const flow = await fixture.start('registration')
    const { status, body } = await fixture.send(flow, {
      method: 'password',
      traits: { email },
      password: PASSWORD,
    })
    expect(status).toBe(200)
    const { session_token: token, session, identity, continue_with } = body
    const { credentials, ...kept } = await fixture.readIdentity(identity)
    expect(Object.keys(credentials)).toEqual(['password'])
    expect(Object.keys(body).sort()).toEqual([
      'continue_with',
      'identity',
      'session',
      'session_token',
    ])
    expect(session.identity).toEqual(identity)
    expect(kept).toMatchObject({
      id: identity.id,
      schema_id: 'user',
      state: 'active',
      traits: { email, tenant_id: fixture.tenantId },
      metadata_public: {},
      created_at: isoAt(now),
    })
    expect({ ...session, identity: null }).toStrictEqual({
      id: ID,
      token,
      active: true,
      issued_at: isoAt(now),
      expires_at: isoAt(now + DAY),
      authenticated_at: isoAt(now),
      authenticator_assurance_level: 'aal1',
      authentication_methods: [{ method: 'password', aal: 'aal1', completed_at: isoAt(now) }],
      devices: [{ id: session.id, ip_address: null, user_agent: null, location: null }],
      identity: null,
    })
    expect((await fixture.whoami(token)).body.identity).toEqual(kept)
    expect(continue_with.map(({ action }: Json) => action)).toEqual([
      'set_ory_session_token',
      'show_verification_ui',
    ])
    expect(continue_with[0].ory_session_token).toBe(token)
  })

  test('is shown as they are kept, in the answer as in any later one', async () => {
    const { identity, session, session_token } = await fixture.register(newEmail())
    const { credentials: _, ...kept } = await fixture.readIdentity(identity)
    expect(identity).toEqual(kept)
    expect(session.identity).toEqual(kept)
    expect((await fixture.whoami(session_token)).body.identity).toEqual(kept)
  })

  test('gets a mail with a code, and a flow to enter it in', async () => {
    const email = newEmail()
    const { continue_with, identity } = await fixture.register(email)
    const { flow } = continue_with[1]
    expect(flow).toStrictEqual({
      id: ID,
      url: `http://127.0.0.1:8420/auth/self-service/verification?flow=${flow.id}`,
      verifiable_address: email,
    })
    expect(fixture.sentTo(email)).toHaveLength(1)
    const waiting = (await fixture.app.raw(pathOf(flow.url))).body
    expect(waiting).toMatchObject({ id: flow.id, state: 'sent_email' })
    await fixture.sendWell(waiting, { method: 'code', code: fixture.codeFor(email) })
    const { verifiable_addresses } = await fixture.readIdentity(identity)
    expect(verifiable_addresses[0]).toMatchObject({ value: email, verified: true })
  })

  test('can sign in with the password at once, and with no other', async () => {
    const email = newEmail()
    await fixture.register(email, 'the first one 11')
    expect((await fixture.tryPassword(email, 'the first one 11')).status).toBe(200)
    expect((await fixture.tryPassword(email)).status).toBe(422)
  })

  test('has the address in its one spelling', async () => {
    const { body } = await signUp({ email: ' Some.ONE+x@BÜCHER.Example\n' })
    expect(body.identity.traits.email).toBe('some.one+x@bücher.example')
    expect(body.identity.verifiable_addresses[0].value).toBe('some.one+x@bücher.example')
  })

  test('brings data of their own, as deep as it may be', async () => {
    const custom_data = {
      plan: 'free',
      tags: ['a', null, 1.5, { b: [] }],
      '🐎': '',
      nested: { a: {} },
    }
    const { status, body } = await signUp({ email: newEmail(), custom_data })
    expect(status).toBe(200)
    expect(body.identity.traits.custom_data).toEqual(custom_data)
    expect((await fixture.readIdentity(body.identity)).traits.custom_data).toEqual(custom_data)
  })

  test('brings at most 8 KB of data', async () => {
    const [most, more] = [8192, 8193].map((bytes) => ({
      text: 'x'.repeat(bytes - '{"text":""}'.length),
    }))
    const refused = await signUp({ email: newEmail(), custom_data: more })
    expect(refused.status).toBe(422)
    expect(JSON.stringify(refused.body.ui)).toContain('at most 8192 bytes')
    expect((await signUp({ email: newEmail(), custom_data: most })).status).toBe(200)
  })

  test('belongs to the tenant whose flow it is, whatever they say', async () => {
    const other = await flowParty(fixture.app)
    const email = newEmail()
    for (const tenant_id of [other.id, null, 5, { a: 1 }]) {
      const { status, body } = await signUp({ email: newEmail(), tenant_id })
      expect(status).toBe(200)
      expect(body.identity.traits.tenant_id).toBe(fixture.tenantId)
    }
    await other.register(email)
    const { body } = await signUp({ email, tenant_id: other.id })
    expect(body.identity.traits).toEqual({ email, tenant_id: fixture.tenantId })
    expect(await byEmail(email, other as never)).toHaveLength(1)
  })

  test('can choose nothing else about themselves', async () => {
    const { status, body } = await signUp(
      { email: newEmail() },
      {
        state: 'inactive',
        schema_id: 'operator',
        metadata_public: { admin: true },
        verifiable_addresses: [{ verified: true }],
        identity: { id: 'x' },
        tenant_id: 'x',
        isVerified: true,
      },
    )
    expect(status).toBe(200)
    expect(body.identity).toMatchObject({ state: 'active', schema_id: 'user', metadata_public: {} })
    expect(body.identity.verifiable_addresses[0].verified).toBe(false)
  })
})

describe('a password', () => {
  const reasons = async (password: string, email = newEmail()) => {
    const before = count(fixture.app, 'gate_identities')
    const { status, body } = await signUp({ email }, { password })
    expect(status).toBe(422)
    expect(count(fixture.app, 'gate_identities')).toBe(before)
    expect(saidIn(body)).toEqual([expect.stringMatching(/^password:\d+$/)])
    const [message] = node(body, 'password').messages
    expect(body.ui.messages).toEqual([message])
    return message
  }

  test('that is too short is refused beside its field', async () => {
    expect(await reasons('kqzv8wj')).toStrictEqual({
      id: 4000032,
      text: expect.stringContaining('8 characters'),
      type: 'error',
      context: { min_length: 8, actual_length: 7 },
    })
    expect(await reasons('🐎🐑🐄🐖🐓🦆🦉')).toMatchObject({
      id: 4000032,
      context: { actual_length: 7 },
    })
  })

  test('that is too long is refused beside its field', async () => {
    expect(await reasons('kqzv8wjx'.repeat(129))).toMatchObject({
      id: 4000033,
      context: { max_length: 1024, actual_length: 1032 },
    })
  })

  test.each([
    'somebody.special@example.com',
    'somebody.special',
    'SOMEBODY.special!',
    'somebody-special1',
  ])('that is like the address is refused beside its field: %s', async (password) => {
    expect(await reasons(password, 'Somebody.Special@example.com')).toMatchObject({
      id: 4000031,
      type: 'error',
    })
  })

  test.each(['password1', 'Qwertyuiop', '12345678', 'aaaaaaaaaa'])(
    'that many have is refused beside its field: %s',
    async (password) => {
      expect(await reasons(password)).toMatchObject({ id: 4900006, type: 'error' })
    },
  )

  test('is refused before anybody looks whether the address is taken', async () => {
    const email = newEmail()
    await fixture.register(email)
    expect(await reasons('short', email)).toMatchObject({ id: 4000032 })
  })

  test('has as many characters as the instance asks for', async () => {
    await using own = await bootChecked({ flags: { 'gate-password-min-length': '20' } })
    const { body } = await signUp(
      { email: 'one@example.com' },
      { password: 'nineteen long 12345' },
      own,
    )
    expect(node(body, 'password').messages[0]).toMatchObject({
      id: 4000032,
      context: { min_length: 20, actual_length: 19 },
    })
    const good = await signUp(
      { email: 'one@example.com' },
      { password: 'twenty long 12345678' },
      own,
    )
    expect(good.status).toBe(200)
  })
})

describe('an address that somebody has', () => {
  test.each([
    ['taken.1@example.com', 'taken.1@example.com'],
    ['taken.2@example.com', 'Taken.2@EXAMPLE.com'],
    ['taken.3@example.com', '  taken.3@example.com\t'],
    ['täken.4@example.com', 'ta\u0308ken.4@example.com'],
    ['taken.5@bücher.example', 'taken.5@xn--bcher-kva.example'],
    ['taken.6@xn--bcher-kva.example', 'TAKEN.6@BÜCHER.example'],
    ['τάκης@example.com', 'ΤΆΚΗΣ@example.com'],
  ])('is taken in every spelling: %s', async (email, spelled) => {
    await fixture.register(email)
    const before = count(fixture.app, 'gate_identities')
    const { status, body } = await signUp({ email: spelled })
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([4000007])
    expect(body.ui.messages[0].type).toBe('error')
    expect(count(fixture.app, 'gate_identities')).toBe(before)
  })

  test('is taken too if a server made the account, or has deactivated it', async () => {
    const made = await fixture.createIdentity({ traits: { email: newEmail() } })
    const off = await fixture.createIdentity({ traits: { email: newEmail() }, state: 'inactive' })
    for (const { traits } of [made, off])
      expect(saidIn((await signUp({ email: traits.email })).body)).toEqual([4000007])
  })

  test('is free once its owner is deleted, and at other tenants', async () => {
    const other = await flowParty(fixture.app)
    const email = newEmail()
    const { identity } = await fixture.register(email)
    expect((await signUp({ email }, {}, other)).status).toBe(200)
    await fixture.api.delete(`/v1/gate/identities/${identity.id}`)
    fixture.clock.jump(31_000)
    const { status, body } = await signUp({ email })
    expect(status).toBe(200)
    expect(body.identity.id).not.toBe(identity.id)
  })

  test('leaves the flow open for another address', async () => {
    const email = newEmail()
    await fixture.register(email)
    const flow = await fixture.start('registration')
    const fields = { method: 'password', password: PASSWORD }
    expect((await fixture.send(flow, { ...fields, traits: { email } })).status).toBe(422)
    const free = await fixture.send(flow, { ...fields, traits: { email: newEmail() } })
    expect(free.status).toBe(200)
  })

  test('goes to one of two who ask for it at once', async () => {
    const email = newEmail()
    const answers = await Promise.all([
      signUp({ email }),
      signUp({ email: email.toUpperCase() }),
      signUp({ email }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422, 422])
    for (const { status, body } of answers)
      if (status === 422) expect(saidIn(body)).toEqual([4000007])
    expect(await byEmail(email)).toHaveLength(1)
    expect(fixture.mailsTo(email)).toHaveLength(1)
  })
})

describe('a flow', () => {
  test('signs up once: of two right forms at once, one makes an account', async () => {
    const flow = await fixture.start('registration')
    const [one, two] = [newEmail(), newEmail()]
    const fields = { method: 'password', password: PASSWORD }
    const before = count(fixture.app, 'gate_sessions')
    const answers = await Promise.all([
      fixture.send(flow, { ...fields, traits: { email: one } }),
      fixture.send(flow, { ...fields, traits: { email: two } }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const refused = answers.find(({ status }) => status === 422)
    expect(saidIn(refused?.body)).toEqual([4040002])
    expect([...(await byEmail(one)), ...(await byEmail(two))]).toHaveLength(1)
    expect(count(fixture.app, 'gate_sessions')).toBe(before + 1)
  })

  test('is over then, whatever is sent to it', async () => {
    const flow = await fixture.start('registration')
    const fields = { method: 'password', password: PASSWORD, traits: { email: newEmail() } }
    await fixture.sendWell(flow, fields)
    for (const more of [
      fields,
      { ...fields, traits: { email: newEmail() } },
      { method: 'x' },
      {},
    ]) {
      const { status, body } = await fixture.send(flow, more)
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4040002])
      expect(body.state).toBe('passed_challenge')
    }
  })

  test('that expires while the password is hashed makes no account', async () => {
    await using own = await bootChecked()
    const flow = await own.start('registration')
    const real = Bun.password.hash
    const hash = spyOn(Bun.password, 'hash').mockImplementation((...of) => {
      own.clock.jump(HOUR)
      return real(...of)
    })
    try {
      const fields = { method: 'password', password: PASSWORD, traits: { email: 'a@example.com' } }
      const { status, body } = await own.send(flow, fields)
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4040001])
    } finally {
      hash.mockRestore()
    }
    expect(count(own.app, 'gate_identities')).toBe(0)
    expect(own.mailsTo('a@example.com')).toEqual([])
  })

  test('waits its turn while passwords are looked at, or is told to come again', async () => {
    await using own = await bootChecked({ flags: { 'gate-password-queue': '1' } })
    const flow = await own.start('registration')
    using passwords = holdPasswords()
    const beyond = Math.max(2, availableParallelism()) + 2
    const tries = Array.from({ length: beyond }, () => own.tryPassword('nobody@example.com'))
    expect((await Promise.race(tries)).status).toBe(503)
    const fields = { method: 'password', password: PASSWORD, traits: { email: 'a@example.com' } }
    const answer = await own.send(flow, fields)
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(answer).toMatchObject(plain(503, 'too many passwords'))
    expect(count(own.app, 'gate_identities')).toBe(0)
    passwords.release()
    await Promise.all(tries)
    expect((await own.send(flow, fields)).status).toBe(200)
  })
})

describe('webhooks', () => {
  test('are told with the account, and of nothing that did not come to be', async () => {
    await using own = await bootChecked()
    await using hooks = await listening(own)
    expect((await signUp({ email: 'x' }, {}, own)).status).toBe(422)
    expect((await signUp({ email: 'a@example.com' }, { password: 'x' }, own)).status).toBe(422)
    expect(await hooks.events()).toEqual([])
    const { identity } = await own.register('A@example.com')
    expect(await hooks.events()).toStrictEqual([
      {
        event_id: ID,
        event_type: 'identity.created',
        tenant_id: own.tenantId,
        created_at: isoAt(own.clock.now()),
        data: { identity_id: identity.id, payload: { email: 'a@example.com', method: 'password' } },
      },
    ])
    expect((await signUp({ email: 'a@example.com' }, {}, own)).status).toBe(422)
    expect(await hooks.events()).toEqual([])
  })

  test('are told of each account that two flows make at once, and of no other', async () => {
    await using own = await bootChecked()
    await using hooks = await listening(own)
    const traits = [
      { email: 'a@example.com' },
      { email: 'a@example.com' },
      { email: 'b@example.com' },
    ]
    await Promise.all(traits.map((one) => signUp(one, {}, own)))
    const emails = (await hooks.events()).map(({ data }) => data.payload.email).sort()
    expect(emails).toEqual(['a@example.com', 'b@example.com'])
  })
})

test('whoever has the address of somebody deleted just now signs up without one more mail', async () => {
  const email = newEmail()
  const { identity } = await fixture.register(email)
  await fixture.api.delete(`/v1/gate/identities/${identity.id}`)
  const { status, body } = await signUp({ email })
  expect(status).toBe(200)
  expect(body.continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
  expect(fixture.sentTo(email)).toEqual([])
  fixture.clock.jump(31_000)
  const flow = await fixture.start('verification')
  await fixture.sendWell(flow, { method: 'code', email })
  const headers = { 'x-session-token': body.session_token }
  const done = await fixture.sendWell(flow, { code: fixture.codeFor(email) }, headers)
  expect(done.state).toBe('passed_challenge')
})
