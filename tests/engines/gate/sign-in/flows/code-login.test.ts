import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { count, type Json } from '../../fixture.ts'
import { HOUR, MINUTE, SECOND } from '../../identities/people.ts'
import { blurred, bootChecked, type Checked, listening, saidIn, steady } from './checked.ts'
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

let people = 0
/** Whom a test is about: their address is proven, and they have a password. */
let email: string
let person: Json
beforeEach(async () => {
  email = `person-${people++}@example.com`
  person = await somebody(fixture, email)
})

/** Of somebody else in the same test. */
const addressOf = (name: string) => `${name}.${email}`

/** Their address is proven and they have a password, unless they are not to. */
async function somebody(
  fixture: Checked,
  email: string,
  { isProven = true, hasPassword = true } = {},
): Promise<Json> {
  const config = { password: PASSWORD }
  const person = await fixture.createIdentity({
    traits: { email },
    ...(hasPassword && { credentials: { password: { config } } }),
  })
  if (isProven)
    fixture.app.db.client.run(
      "update gate_addresses set status = 'completed', verified_at = 1 where identity_id = ?",
      [person.id],
    )
  return person
}

/** A flow in which a code has been asked for. */
async function asked(fixture: Pick<Checked, 'start' | 'sendWell'>, identifier = email) {
  const flow = await fixture.start('login')
  await fixture.sendWell(flow, { method: 'code', identifier })
  return flow
}

const wrongFor = (code: string): string => (code === '000000' ? '000001' : '000000')

/** Ids of all messages but that a code was sent, which is said for as long as it is waited for. */
const complaints = (flow: Json) => saidIn(flow).filter((id) => id !== 1010014)

const enter = (fixture: Pick<Checked, 'send'>, flow: Json, code: unknown, more: Json = {}) =>
  fixture.send(flow, { method: 'code', code, ...more })

describe('asking for a code', () => {
  test('is answered alike for everybody, to the byte', async () => {
    const inactive = await somebody(fixture, addressOf('inactive'))
    await fixture.setState(inactive, 'inactive')
    await somebody(fixture, addressOf('unproven'), { isProven: false })
    await somebody(fixture, addressOf('without'), { hasPassword: false })
    const known = steady(await ask(email), email)
    expect(known.status).toBe(200)
    for (const identifier of [
      addressOf('unknown'),
      addressOf('inactive'),
      addressOf('unproven'),
      addressOf('without'),
    ])
      expect(steady(await ask(identifier), identifier), identifier).toEqual(known)

    async function ask(identifier: string) {
      return fixture.send(await fixture.start('login'), { method: 'code', identifier })
    }
  })

  test('writes to those who could sign in, and withholds the mail to all others', async () => {
    const inactive = await somebody(fixture, addressOf('inactive'))
    await fixture.setState(inactive, 'inactive')
    const before = count(fixture.app, 'gate_codes')
    for (const identifier of [email, addressOf('unknown'), addressOf('inactive')])
      await asked(fixture, identifier)
    expect(count(fixture.app, 'gate_codes')).toBe(before + 3)
    expect(fixture.mailsTo(email)).toMatchObject([{ kind: 'login', state: 'kept' }])
    for (const address of [addressOf('unknown'), addressOf('inactive')]) {
      expect(fixture.sentTo(address)).toEqual([])
      expect(fixture.mailsTo(address)).toMatchObject([
        { kind: 'login', state: 'failed', lastError: expect.stringMatching(/^withheld: /) },
      ])
    }
  })

  test('brings a mail with six digits in it, and not in its subject or the answer', async () => {
    const flow = await fixture.start('login')
    const sent = await fixture.sendWell(flow, { method: 'code', identifier: email })
    const code = fixture.codeFor(email)
    const [mail] = fixture.sentTo(email)
    expect(code).toMatch(/^\d{6}$/)
    expect(mail?.subject).not.toContain(code)
    expect(mail?.body?.html).toContain(code)
    expect(blurred(sent)).not.toContain(code)
    expect((await fixture.app.raw(pathOf(flow.ui.action))).body).toEqual(sent)
  })

  test('keeps no code that could be read, nor a plain hash of one', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const row = JSON.stringify(fixture.app.db.client.query('select * from gate_codes').all())
    expect(row).toContain(flow.id)
    expect(row).not.toContain(`"${code}"`)
    for (const text of [code, `${flow.id}${code}`, `${flow.id} ${code}`])
      expect(row).not.toContain(new Bun.CryptoHasher('sha256').update(text).digest('hex'))
  })

  test('goes to the address in its one spelling', async () => {
    await asked(fixture, ` ${email.toUpperCase()}\n`)
    expect(fixture.sentTo(email)).toHaveLength(1)
  })

  test.each([
    ['nobody', 'identifier:4000040'],
    ['a@b@c', 'identifier:4000040'],
    [`${'x'.repeat(300)}@example.com`, 'identifier:4000040'],
    ['a@example.com, b@example.com', 'identifier:4000040'],
    ['', 'identifier:4000002'],
    [undefined, 'identifier:4000002'],
  ])('takes an address: %p', async (identifier, id) => {
    const before = count(fixture.app, 'gate_codes')
    const { status, body } = await fixture.send(await fixture.start('login'), {
      method: 'code',
      identifier,
    })
    expect(status).toBe(422)
    expect(saidIn(body)).toEqual([id])
    expect(body.state).toBe('choose_method')
    expect(count(fixture.app, 'gate_codes')).toBe(before)
  })

  test('is possible where the tenant has switched it on alone', async () => {
    await using fixture = await bootChecked()
    await somebody(fixture, email)
    const flow = await fixture.start('login')
    for (const fields of [
      { method: 'code', identifier: email },
      { method: 'code', code: '000000' },
      { code: '000000' },
      { resend: 'code', identifier: email },
    ]) {
      const { status, body } = await fixture.send(flow, fields)
      expect(status).toBe(422)
      expect(saidIn(body)).toEqual([4010002])
    }
    expect(fixture.mailsTo(email)).toEqual([])
    await fixture.security({ passwordless_enabled: true })
    await fixture.sendWell(flow, { method: 'code', identifier: email })
    expect(fixture.mailsTo(email)).toHaveLength(1)
  })

  test('is possible once in half a minute for an address, known or not, over all flows', async () => {
    const limited: Json = {}
    for (const identifier of [email, addressOf('unknown')]) {
      await asked(fixture, identifier)
      fixture.clock.jump(SECOND)
      const flow = await fixture.start('login')
      const answer = await fixture.send(flow, { method: 'code', identifier })
      expect(answer.status).toBe(429)
      expect(answer.headers.get('retry-after')).toBe('29')
      expect(answer.body.ui.messages).toMatchObject([{ id: 4900002, context: { seconds: 29 } }])
      expect(answer.body.state).toBe('choose_method')
      expect((await fixture.app.raw(pathOf(flow.ui.action))).body).toEqual(flow)
      limited[identifier] = steady(answer, identifier)
      fixture.clock.jump(28_999)
      expect((await fixture.send(flow, { method: 'code', identifier })).status).toBe(429)
      fixture.clock.jump(1)
      expect((await fixture.send(flow, { method: 'code', identifier })).status).toBe(200)
    }
    expect(limited[addressOf('unknown')]).toEqual(limited[email])
  })

  test('is possible five times for one client, and then once in twelve minutes', async () => {
    for (let sent = 0; sent < 5; sent++) {
      await asked(fixture)
      fixture.clock.jump(PAUSE)
    }
    const answer = await fixture.send(await fixture.start('login'), {
      method: 'code',
      identifier: email,
    })
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe(`${12 * 60}`)
  })

  test('twice at once brings one mail', async () => {
    const flows = [await fixture.start('login'), await fixture.start('login')]
    const fields = { method: 'code', identifier: email }
    const answers = await Promise.all(flows.map((flow) => fixture.send(flow, fields)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 429])
    expect(fixture.mailsTo(email)).toHaveLength(1)
  })
})

describe('the right code', () => {
  test('opens a session', async () => {
    const flow = await asked(fixture)
    fixture.clock.jump(MINUTE)
    const now = fixture.clock.now()
    const done = await fixture.sendWell(flow, { method: 'code', code: fixture.codeFor(email) })
    const { session_token: token, session } = done
    expect(Object.keys(done).sort()).toEqual(['continue_with', 'session', 'session_token'])
    expect(session.token).toBe(token)
    expect(session.authentication_methods).toEqual([
      { method: 'code', aal: 'aal1', completed_at: isoAt(now) },
    ])
    expect(session.identity.id).toBe(person.id)
    expect((await fixture.whoami(token)).status).toBe(200)
    expect(done.continue_with).toEqual([
      { action: 'set_ory_session_token', ory_session_token: token },
    ])
  })

  test.each([
    ['with a blank in the middle', (code: string) => `${code.slice(0, 3)} ${code.slice(3)}`],
    ['with blanks around it', (code: string) => `  ${code}\n`],
    ['with no-break spaces', (code: string) => `\u00a0${code.slice(0, 3)}\u00a0${code.slice(3)}`],
  ])('may be typed %s', async (_, typed) => {
    const flow = await asked(fixture)
    expect((await enter(fixture, flow, typed(fixture.codeFor(email)))).status).toBe(200)
  })

  test('needs no method beside it', async () => {
    const flow = await asked(fixture)
    await fixture.sendWell(flow, { code: fixture.codeFor(email) })
  })

  test('signs in whoever it was sent to, whatever address comes with it', async () => {
    await somebody(fixture, addressOf('two'))
    const flow = await asked(fixture)
    const more = { identifier: addressOf('two') }
    const { status, body } = await enter(fixture, flow, fixture.codeFor(email), more)
    expect(status).toBe(200)
    expect(body.session.identity.id).toBe(person.id)
  })

  test('signs in somebody without a password', async () => {
    const person = await somebody(fixture, addressOf('without'), { hasPassword: false })
    const flow = await asked(fixture, addressOf('without'))
    const { body } = await enter(fixture, flow, fixture.codeFor(addressOf('without')))
    expect(body.session.identity.id).toBe(person.id)
  })

  test('leaves the password of somebody with a proven address as it is', async () => {
    const flow = await asked(fixture)
    await fixture.sendWell(flow, { code: fixture.codeFor(email) })
    expect((await fixture.tryPassword(email)).status).toBe(200)
  })

  test('proves the address, and takes away what somebody else may have prepared', async () => {
    const { identity, session_token: theirs } = await fixture.register(addressOf('new'))
    fixture.clock.jump(PAUSE)
    await using hooks = await listening(fixture)
    const flow = await asked(fixture, addressOf('new'))
    const { session, session_token } = await fixture.sendWell(flow, {
      code: fixture.codeFor(addressOf('new')),
    })
    expect(session.identity.verifiable_addresses[0]).toMatchObject({
      verified: true,
      status: 'completed',
      verified_at: isoAt(fixture.clock.now()),
    })
    expect((await hooks.events()).map(({ event_type, data }) => [event_type, data])).toEqual([
      ['identity.email_verified', { identity_id: identity.id, payload: {} }],
      ['identity.login', { identity_id: identity.id, payload: { email: addressOf('new') } }],
    ])
    expect((await fixture.tryPassword(addressOf('new'))).status).toBe(422)
    expect((await fixture.whoami(theirs)).status).toBe(401)
    expect((await fixture.whoami(session_token)).status).toBe(200)
    expect((await fixture.readIdentity(identity)).credentials).toEqual({})
  })

  test('is one factor: a second one is still owed', async () => {
    await using fixture = await bootCodes()
    await somebody(fixture, email)
    await fixture.security({ mfa_enabled: true })
    const { session_token } = await fixture.signIn(email)
    await fixture.enrol(session_token)
    fixture.clock.jump(PAUSE)
    await using hooks = await listening(fixture)
    const flow = await asked(fixture)
    const done = await fixture.sendWell(flow, { code: fixture.codeFor(email) })
    expect(done.session).toMatchObject({ identity: null, authenticator_assurance_level: 'aal1' })
    expect(done.continue_with.map(({ action }: Json) => action)).toContain('redirect_browser_to')
    expect((await fixture.whoami(done.session_token)).status).toBe(403)
    expect(await hooks.events()).toEqual([])
  })

  test('counts once, also when it comes twice at once', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const before = count(fixture.app, 'gate_sessions')
    const answers = await Promise.all([enter(fixture, flow, code), enter(fixture, flow, code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    const refused = answers.find(({ status }) => status === 422)
    expect(saidIn(refused?.body)).toEqual([4010007])
    expect(saidIn((await enter(fixture, flow, code)).body)).toEqual([4010007])
    expect(count(fixture.app, 'gate_sessions')).toBe(before + 1)
    const left = fixture.app.db.client.query('select * from gate_codes where flow_id = ?')
    expect(left.all(flow.id)).toEqual([])
  })

  test('counts in the flow that it was sent for, and in no other', async () => {
    await somebody(fixture, addressOf('two'))
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const other = await asked(fixture, addressOf('two'))
    const fresh = await fixture.start('login')
    for (const wrong of [other, fresh]) {
      const { status, body } = await enter(fixture, wrong, code)
      expect(status).toBe(422)
      expect(complaints(body).join()).toContain('4010008')
    }
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })

  test('counts for nothing in flows of another kind, or at another tenant', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    for (const kind of ['recovery', 'verification']) {
      const other = await fixture.start(kind)
      expect((await fixture.send(other, { method: 'code', code })).status).toBe(422)
      const crossed = await fixture.submit(kind, { flow: flow.id, code })
      expect(crossed.status).toBe(404)
    }
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })
})

describe('a wrong code', () => {
  test('is said beside its field, and the right one is still good', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const { status, body } = await enter(fixture, flow, wrongFor(code))
    expect(status).toBe(422)
    expect(complaints(body)).toEqual(['code:4010008'])
    expect(body.state).toBe('sent_email')
    expect(node(body, 'code').attributes.value).toBe('')
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })

  test.each(['12345', '1234567', 'abcdef', '１２３４５６', '-', '0', '000000 OR 1=1', '\u0000'])(
    'is anything else: %p',
    async (typed) => {
      const { status, body } = await enter(fixture, await asked(fixture), typed)
      expect(status).toBe(422)
      expect(complaints(body)).toEqual(['code:4010008'])
    },
  )

  test('is answered alike whether a code is on its way to somebody or to nobody', async () => {
    const refused = async (identifier: string) =>
      steady(await enter(fixture, await asked(fixture, identifier), 'abcdef'), identifier)
    expect(await refused(addressOf('unknown'))).toEqual(await refused(email))
  })

  test('may be typed four times before the right one', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    for (let tries = 0; tries < 4; tries++)
      expect((await enter(fixture, flow, wrongFor(code))).status).toBe(422)
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })

  test('ends the flow when it has been typed five times, another mail or not', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    for (let tries = 0; tries < 5; tries++)
      expect(complaints((await enter(fixture, flow, wrongFor(code))).body)).toEqual([
        'code:4010008',
      ])
    for (const typed of [code, wrongFor(code)]) {
      const { status, body } = await enter(fixture, flow, typed)
      expect(status).toBe(422)
      expect(complaints(body)).toEqual(['code:4900001'])
    }
    fixture.clock.jump(PAUSE)
    await fixture.send(flow, { resend: 'code' })
    const { body } = await enter(fixture, flow, fixture.codeFor(email))
    expect(complaints(body)).toEqual(['code:4900001'])
    expect(await sessionsOf(person)).toEqual([])
    expect((await enter(fixture, await again(fixture), fixture.codeFor(email))).status).toBe(200)
  })

  test('ends it too when many come at once: five are looked at', async () => {
    const flow = await asked(fixture)
    const wrong = wrongFor(fixture.codeFor(email))
    const answers = await Promise.all(Array.from({ length: 12 }, () => enter(fixture, flow, wrong)))
    const ids = answers.map(({ body }) => complaints(body)[0]).sort()
    expect(ids).toEqual([...Array(5).fill('code:4010008'), ...Array(7).fill('code:4900001')])
    expect((await enter(fixture, flow, fixture.codeFor(email))).status).toBe(422)
  })

  test('counts before any was sent as well', async () => {
    const flow = await fixture.start('login')
    for (let tries = 0; tries < 5; tries++)
      expect(saidIn((await enter(fixture, flow, '000000')).body)).toEqual([4010008])
    await fixture.sendWell(flow, { method: 'code', identifier: email })
    const { status, body } = await enter(fixture, flow, fixture.codeFor(email))
    expect(status).toBe(422)
    expect(complaints(body)).toEqual(['code:4900001'])
  })
})

const again = async (fixture: Checked) => {
  fixture.clock.jump(PAUSE)
  return asked(fixture)
}

const sessionsOf = async ({ id }: Json): Promise<Json[]> =>
  (await fixture.api.get(`/v1/gate/identities/${id}/sessions`)).body

describe('a code is good', () => {
  test('for a quarter of an hour', async () => {
    const late = await asked(fixture)
    const code = fixture.codeFor(email)
    fixture.clock.jump(15 * MINUTE)
    const { status, body } = await enter(fixture, late, code)
    expect(status).toBe(422)
    expect(complaints(body)).toEqual(['code:4010008'])
    const intime = await asked(fixture)
    fixture.clock.jump(15 * MINUTE - 1)
    expect((await enter(fixture, intime, fixture.codeFor(email))).status).toBe(200)
  })

  test('for as long as is configured', async () => {
    await using fixture = await bootCodes({ 'gate-code-lifetime': '2m' })
    await somebody(fixture, email)
    const flow = await asked(fixture)
    fixture.clock.jump(2 * MINUTE)
    expect((await enter(fixture, flow, fixture.codeFor(email))).status).toBe(422)
  })

  test('for no longer than the flow', async () => {
    const flow = await fixture.start('login')
    fixture.clock.jump(HOUR - MINUTE)
    await fixture.sendWell(flow, { method: 'code', identifier: email })
    const [mail] = fixture.sentTo(email)
    expect(mail?.expiresAt).toBe(fixture.clock.now() + MINUTE)
    fixture.clock.jump(MINUTE)
    expect((await enter(fixture, flow, fixture.codeFor(email))).status).toBe(410)
  })

  test('until another one is sent', async () => {
    const flow = await asked(fixture)
    const old = fixture.codeFor(email)
    fixture.clock.jump(PAUSE)
    const sent = await fixture.sendWell(flow, { method: 'code', resend: 'code' })
    expect(sent.state).toBe('sent_email')
    const fresh = fixture.codeFor(email)
    expect(fixture.sentTo(email)).toHaveLength(2)
    if (old !== fresh) expect((await enter(fixture, flow, old)).status).toBe(422)
    expect((await enter(fixture, flow, fresh)).status).toBe(200)
  })

  test('until one is sent to another address in the same flow', async () => {
    const two = await somebody(fixture, addressOf('two'))
    const flow = await asked(fixture)
    const old = fixture.codeFor(email)
    const sent = await fixture.sendWell(flow, { method: 'code', identifier: addressOf('two') })
    expect(node(sent, 'identifier').attributes.value).toBe(addressOf('two'))
    const fresh = fixture.codeFor(addressOf('two'))
    if (old !== fresh) expect((await enter(fixture, flow, old)).status).toBe(422)
    const { body } = await enter(fixture, flow, fresh)
    expect(body.session.identity.id).toBe(two.id)
  })

  test('where one was sent to nobody since, no longer', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    await fixture.sendWell(flow, { method: 'code', identifier: addressOf('unknown') })
    expect((await enter(fixture, flow, code)).status).toBe(422)
  })

  test('as long as another mail is refused for coming too soon', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    const refused = await fixture.send(flow, { method: 'code', resend: 'code' })
    expect(refused.status).toBe(429)
    expect(refused.body.state).toBe('sent_email')
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })

  const ENDINGS: [what: string, end: () => Promise<unknown>][] = [
    ['deactivated', () => fixture.setState(person, 'inactive')],
    [
      'deactivated, and activated again',
      async () => {
        await fixture.setState(person, 'inactive')
        await fixture.setState(person, 'active')
      },
    ],
    [
      'signed out everywhere',
      () => fixture.api.delete(`/v1/gate/identities/${person.id}/sessions`),
    ],
    [
      'given another address',
      () =>
        fixture.patch(person, [
          { op: 'replace', path: '/traits/email', value: addressOf('other') },
        ]),
    ],
  ]

  test.each(ENDINGS)('until its owner is %s', async (_, end) => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    await end()
    const { status, body } = await enter(fixture, flow, code)
    expect(status).toBe(422)
    expect(complaints(body)).toEqual(['code:4010008'])
    await fixture.setState(person, 'active')
    expect(await sessionsOf(person)).toEqual([])
  })

  test('until its owner is deleted, and no mail to them is left', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    await fixture.api.delete(`/v1/gate/identities/${person.id}`)
    const before = count(fixture.app, 'gate_sessions')
    expect((await enter(fixture, flow, code)).status).toBeOneOf([404, 422])
    expect(count(fixture.app, 'gate_sessions')).toBe(before)
    expect(fixture.sentTo(email)).toEqual([])
  })

  test('until the tenant switches it off', async () => {
    await using fixture = await bootCodes()
    await somebody(fixture, email)
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    await fixture.security({ passwordless_enabled: false })
    const { status, body } = await enter(fixture, flow, code)
    expect(status).toBe(422)
    expect(complaints(body)).toEqual([4010002])
    expect(await sessionsOf(person)).toEqual([])
    await fixture.security({ passwordless_enabled: true })
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })
})

describe('a flow that waits for a code', () => {
  test('goes on by password where the tenant has switched codes off', async () => {
    await using fixture = await bootCodes()
    await somebody(fixture, email)
    const flow = await asked(fixture)
    await fixture.security({ passwordless_enabled: false })
    const shown = (await fixture.app.raw(pathOf(flow.ui.action))).body
    expect(nodeNames(shown)).toEqual([
      'default:identifier',
      'password:password',
      'password:method=password',
    ])
    const fields = { method: 'password', identifier: email, password: PASSWORD }
    expect((await fixture.send(flow, fields)).status).toBe(200)
  })

  test('takes the password all the same', async () => {
    const flow = await asked(fixture)
    const fields = { method: 'password', identifier: email, password: PASSWORD }
    expect((await fixture.send(flow, fields)).status).toBe(200)
    const left = fixture.app.db.client.query('select * from gate_codes where flow_id = ?')
    expect(left.all(flow.id)).toEqual([])
  })

  test('sends another one where that is asked for, whatever stands in the field', async () => {
    const flow = await asked(fixture)
    const form = { identifier: email, method: 'code', resend: 'code' }
    for (const code of ['', '12', '000000']) {
      fixture.clock.jump(PAUSE)
      const before = fixture.sentTo(email).length
      const { status, body } = await fixture.send(flow, { ...form, code })
      expect({ code, status }).toEqual({ code, status: 200 })
      expect(saidIn(body)).toEqual([1010014])
      expect(fixture.sentTo(email)).toHaveLength(before + 1)
    }
    for (let tries = 0; tries < 4; tries++) await enter(fixture, flow, 'abcdef')
    expect((await enter(fixture, flow, fixture.codeFor(email))).status).toBe(200)
  })

  test('asks for the code where the field was left empty, and sends no other', async () => {
    const flow = await asked(fixture)
    const code = fixture.codeFor(email)
    fixture.clock.jump(PAUSE)
    const { status, body } = await enter(fixture, flow, '', { identifier: email })
    expect(status).toBe(422)
    expect(complaints(body)).toEqual(['code:4000002'])
    expect(fixture.sentTo(email)).toHaveLength(1)
    expect((await enter(fixture, flow, code)).status).toBe(200)
  })
})

describe('somebody signed in shows once more who they are by code', () => {
  const refresh = async (fixture: Checked, token: string) =>
    fixture.start('login', { 'x-session-token': token }, '?refresh=true')

  test('which goes to their address, whatever else is typed', async () => {
    const { session_token: token, session } = await fixture.signIn(email)
    await somebody(fixture, addressOf('two'))
    fixture.clock.jump(2 * HOUR)
    const flow = await refresh(fixture, token)
    await fixture.sendWell(flow, { method: 'code', identifier: addressOf('two') })
    expect(fixture.mailsTo(addressOf('two'))).toEqual([])
    const done = await fixture.sendWell(flow, { code: fixture.codeFor(email) })
    expect(done.session_token).toBe(token)
    expect(done.session.id).toBe(session.id)
    expect(done.session.authenticated_at).toBe(isoAt(fixture.clock.now()))
    expect(done.session.authentication_methods.map(({ method }: Json) => method)).toEqual([
      'password',
      'code',
    ])
  })

  test('also where their address was never proven', async () => {
    const { session_token: token, session } = await fixture.register(addressOf('new'))
    fixture.clock.jump(2 * HOUR)
    const flow = await refresh(fixture, token)
    await fixture.sendWell(flow, { method: 'code' })
    const { status, body } = await enter(fixture, flow, fixture.codeFor(addressOf('new')))
    expect(status).toBe(200)
    expect(body.session.id).toBe(session.id)
    expect((await fixture.whoami(token)).status).toBe(200)
  })
})
