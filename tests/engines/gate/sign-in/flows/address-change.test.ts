import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../../support/target.ts'
import { rest } from '../../../relay/fixture.ts'
import { HOUR, IDENTITIES, type Json } from '../../fixture.ts'
import { actionsOn, rowsOf, typesTold } from '../../identities/people.ts'
import { newBrowser } from './browser.ts'
import {
  asked,
  bootCrowd,
  CODE_MS,
  complaintsIn,
  FLOW_MS,
  fatesOf,
  flowIn,
  LINK_MS,
  MAIL_GAP_MS,
  nextFlowIn,
  person,
  read,
  recover,
  unproven,
  whose,
  wrongCodes,
} from './code-fixture.ts'
import {
  bootFlows,
  type FlowFixture,
  flowParty,
  messageIds,
  node,
  nodeNames,
  PASSWORD,
} from './fixture.ts'

const NEW_PASSWORD = 'a new way to be let in'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootCrowd()
})
afterAll(() => fixture.app.stop())

let people = 0
const newAddress = () => `moves-${people++}@example.com`

/** Somebody who is signed in, with an address that is proven. */
async function somebody(fields: Json = {}) {
  const email = newAddress()
  const identity = await person(fixture, email, fields)
  const { session_token: token } = await fixture.signIn(email)
  return { email, identity, token: token as string }
}

/** Asks for another address; what comes back names the flow that waits for its code. */
async function wish(token: string, email: string, rest: Json = {}) {
  const answer = await fixture.change(token, { method: 'profile', traits: { email }, ...rest })
  return { answer, done: flowIn(answer, 200, 'success') }
}

/** Somebody who waits for the code at another address. */
async function moving(fields: Json = {}) {
  const who = await somebody(fields)
  const to = newAddress()
  const { answer } = await wish(who.token, to)
  const { url } = nextFlowIn(answer, 'show_verification_ui')
  const flow = (await read(fixture, { ui: { action: url } })).body as Json
  return { ...who, to, flow }
}

const emailOf = async (identity: Json): Promise<string> =>
  (await fixture.readIdentity(identity)).traits.email

/** A change that waits, and the code that would end it. */
type Waiting = Awaited<ReturnType<typeof moving>>

/** What whoever asked for a change may still try: the code, or another one. */
const TRIES: [string, (change: Waiting, code: string) => Promise<void>][] = [
  [
    'its code',
    async ({ flow }, code) => {
      expect([404, 422]).toContain((await fixture.send(flow, { code })).status)
    },
  ],
  [
    'another code',
    async ({ flow, to }) => {
      const before = fixture.sentTo(to).length
      fixture.clock.jump(MAIL_GAP_MS)
      const again = await fixture.send(flow, { email: to })
      const mails = fixture.sentTo(to).length - before
      await fixture.send(flow, { code: fixture.codeFor(to) })
      expect([404, 422]).toContain(again.status)
      expect(mails).toBe(0)
    },
  ],
]

describe('another address', () => {
  test('is confirmed by its code, however often a stranger has the old one verified', async () => {
    const email = newAddress()
    const { session_token: token } = await fixture.register(email)
    const to = newAddress()
    const { answer } = await wish(token, to)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const flow = (await read(fixture, { ui: { action: url } })).body as Json
    const code = fixture.codeFor(to)

    fixture.clock.jump(MAIL_GAP_MS)
    const before = fixture.sentTo(email).length
    const stranger = await fixture.start('verification')
    expect((await fixture.send(stranger, { method: 'code', email })).status).toBe(200)
    expect(fixture.sentTo(email).length).toBe(before + 1)

    const confirmed = await fixture.send(flow, { code }, { 'x-session-token': token })
    expect(confirmed).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
  })

  test('is held until a code comes back from it: the old one stays as it is', async () => {
    const { email, identity, token, to } = await moving()

    const read = await fixture.readIdentity(identity)

    expect(read.traits.email).toBe(email)
    expect(read.verifiable_addresses).toMatchObject([{ value: email, verified: true }])
    expect(read.recovery_addresses).toMatchObject([{ value: email }])
    expect((await fixture.tryPassword(email)).status).toBe(200)
    expect((await fixture.tryPassword(to)).status).toBe(422)
    expect(await whose(fixture, token)).toBe(identity.id)
    // Nobody can get in by the new one, and it is still free for whoever has it.
    fixture.clock.jump(MAIL_GAP_MS)
    await asked(fixture, 'recovery', to)
    expect(fatesOf(fixture, to)[0]).toStartWith('withheld')
  })

  test('is answered with the flow that waits for the code', async () => {
    const { token, identity } = await somebody()
    const to = newAddress()

    const { answer, done } = await wish(token, to)

    const named = nextFlowIn(answer, 'show_verification_ui')
    expect(done.continue_with).toEqual([
      {
        action: 'show_verification_ui',
        flow: {
          id: expect.any(String),
          url: `http://127.0.0.1:8420/auth/self-service/verification?flow=${named.id}`,
          verifiable_address: to,
        },
      },
    ])
    expect(messageIds(done)).toEqual([1050001])
    const waiting = flowIn(await read(fixture, { ui: { action: named.url } }), 200, 'sent_email')
    expect(nodeNames(waiting)).toEqual([
      'code:code',
      'code:method=code',
      'code:method=code',
      `code:email=${to}`,
    ])
    expect(JSON.stringify(waiting)).not.toContain(identity.id)
  })

  test('is written to with a code and a link, the old one with a notice', async () => {
    const { email, to, flow } = await moving()

    const [mail, ...others] = fixture.sentTo(to)
    expect(others).toEqual([])
    expect(mail).toMatchObject({
      kind: 'address_change',
      subject: 'Verify your new email address for Acme',
      expiresAt: fixture.clock.now() + LINK_MS,
    })
    expect(fixture.linkFor(to)).not.toContain(flow.id)
    const [notice] = fixture.sentTo(email)
    expect(notice).toMatchObject({
      kind: 'notice',
      subject: 'Email change requested for your Acme account',
    })
  })

  test('is not told in full to whoever reads the old one, nor the code', async () => {
    const { email, to } = await moving()

    const [notice] = fixture.sentTo(email)

    const said = `${notice?.subject} ${notice?.body?.text} ${notice?.body?.html}`
    expect(said).not.toContain(to)
    expect(said).not.toContain(to.split('@')[0] as string)
    expect(said).not.toContain(fixture.codeFor(to))
    expect(notice?.body?.text).toContain('m•••@example.com')
  })

  test('is told to the old one even if that was written to a moment ago', async () => {
    const { email, token } = await somebody()
    // Whoever has got hold of a session can ask for any mail just before.
    await asked(fixture, 'recovery', email)

    await wish(token, newAddress())

    expect(fixture.sentTo(email).map(({ kind }: Json) => kind)).toEqual(['notice', 'recovery'])
  })

  test('takes the place of the old one once its code has come back', async () => {
    const { email, identity, token, to, flow } = await moving()

    const answer = await fixture.send(flow, { code: fixture.codeFor(to) })

    const done = flowIn(answer, 200, 'passed_challenge')
    expect(messageIds(done)).toEqual([1080002])
    expect(done).not.toHaveProperty('continue_with')
    const now = new Date(fixture.clock.now()).toISOString()
    const read = await fixture.readIdentity(identity)
    expect(read.traits).toEqual({ email: to, tenant_id: fixture.tenantId })
    expect(read.verifiable_addresses).toMatchObject([
      { value: to, verified: true, status: 'completed', verified_at: now },
    ])
    expect(read.recovery_addresses).toMatchObject([{ value: to }])
    expect(read.credentials.password.identifiers).toEqual([to])
    expect((await fixture.tryPassword(to)).status).toBe(200)
    expect((await fixture.tryPassword(email)).status).toBe(422)
    expect(await whose(fixture, token)).toBe(identity.id)
    fixture.clock.jump(MAIL_GAP_MS)
    expect(await whose(fixture, await recover(fixture, to))).toBe(identity.id)
  })

  test('takes a sign-in first where the link in the mail is opened in another browser', async () => {
    const { email, to, identity } = await moving()
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(fixture.linkFor(to))

    const asking = await browser.follow(await browser.press(page, ['method', 'code']))
    expect(asking.forms.flatMap(({ buttons }) => buttons)).toEqual([['confirm_by', 'sign_in']])
    expect(await emailOf(identity)).toBe(email)
    // What is not offered is not taken either: the mailbox is not that of the account.
    const taking = await browser.post(asking.forms[0]?.action ?? '', {
      ...asking.forms[0]?.hidden,
      confirm_by: 'recovery',
    })
    expect(taking.status).toBe(422)
    const signIn = await browser.follow(await browser.press(asking, ['confirm_by', 'sign_in']))
    expect(signIn.html).not.toContain(email)
    const fields = { identifier: email, password: PASSWORD }
    const done = await browser.press(signIn, ['method', 'password'], fields)

    expect((await browser.follow(done)).text).toContain('Your email address is verified')
    expect(await emailOf(identity)).toBe(to)
  })

  test('can be confirmed by way of the tenant', async () => {
    const { to, flow, identity } = await moving()

    const answer = await fixture.submit('verification', {
      flow: flow.id,
      code: fixture.codeFor(to),
    })

    flowIn(answer, 200, 'passed_challenge')
    expect(await emailOf(identity)).toBe(to)
  })

  test('frees the old one', async () => {
    const { email, to, flow } = await moving()
    await fixture.send(flow, { code: fixture.codeFor(to) })

    expect(await person(fixture, email)).toMatchObject({ traits: { email } })
  })

  test('is stored as addresses are, whatever the spelling', async () => {
    const { token, identity } = await somebody()
    const to = newAddress()

    const { answer } = await wish(token, ` ${to.toUpperCase()} `)

    const { url, verifiable_address } = nextFlowIn(answer, 'show_verification_ui')
    expect(verifiable_address).toBe(to)
    const flow = (await read(fixture, { ui: { action: url } })).body
    await fixture.send(flow, { code: fixture.codeFor(to) })
    expect(await emailOf(identity)).toBe(to)
  })

  test('that is the old one in another spelling is no change at all', async () => {
    const { email, token, identity } = await somebody()
    const before = await fixture.readIdentity(identity)

    const { done } = await wish(token, email.toUpperCase())

    expect(done).not.toHaveProperty('continue_with')
    expect(fixture.mailsTo(email)).toEqual([])
    expect(await fixture.readIdentity(identity)).toEqual(before)
  })

  test.each([undefined, '', 'nobody', 7, null])('that is none is refused: %p', async (email) => {
    const { token, identity } = await somebody()
    const before = await fixture.readIdentity(identity)

    const answer = await fixture.change(token, { method: 'profile', traits: { email } })

    const flow = flowIn(answer, 422, 'show_form')
    const [id, ...others] = complaintsIn(flow)
    expect(['traits.email:4000002', 'traits.email:4000040']).toContain(id as string)
    expect(others).toEqual([])
    expect(await fixture.readIdentity(identity)).toEqual(before)
  })

  test('needs a sign-in of the last hour', async () => {
    const { token, email, identity } = await somebody()
    const to = newAddress()
    fixture.clock.jump(HOUR + 1)

    const answer = await fixture.change(token, { method: 'profile', traits: { email: to } })

    expect(answer).toMatchObject({ status: 403, body: { id: 'session_refresh_required' } })
    expect([...fixture.mailsTo(to), ...fixture.mailsTo(email)]).toEqual([])
    expect(await emailOf(identity)).toBe(email)
  })

  test('is noted and told once it is the address, and no sooner', async () => {
    await using target = startTarget()
    const other = await flowParty(fixture.app)
    const email = newAddress()
    const identity = await person(other, email)
    const { session_token: token } = await other.signIn(email)
    await other.createWebhook(target.url)
    const to = newAddress()
    const asking = await other.change(token, { method: 'profile', traits: { email: to } })
    await rest(fixture.app)
    const before = actionsOn(fixture.app, `identity:${identity.id}`)
    expect(typesTold(target)).toEqual([])

    const { url } = nextFlowIn(asking, 'show_verification_ui')
    const flow = (await read(fixture, { ui: { action: url } })).body
    const code = other.codeFor(to)
    await Promise.all([other.send(flow, { code }), other.send(flow, { code })])
    await rest(fixture.app)

    expect(typesTold(target)).toEqual(['identity.email_verified'])
    expect(actionsOn(fixture.app, `identity:${identity.id}`).slice(before.length)).toEqual([
      'identity.updated',
    ])
  })
})

describe('what is known of the person besides', () => {
  const custom_data = { plan: 'gold', seats: [1, 2], nothing: null }

  test('is kept when the address changes, from beginning to end', async () => {
    const email = newAddress()
    const identity = await person(fixture, email, {
      traits: { email, custom_data },
      metadata_public: { roles: ['admin'] },
    })
    const { session_token: token } = await fixture.signIn(email)
    const to = newAddress()
    const { answer } = await wish(token, to)
    expect((await fixture.readIdentity(identity)).traits.custom_data).toEqual(custom_data)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const flow = (await read(fixture, { ui: { action: url } })).body

    await fixture.send(flow, { code: fixture.codeFor(to) })

    expect(await fixture.readIdentity(identity)).toMatchObject({
      traits: { email: to, custom_data },
      metadata_public: { roles: ['admin'] },
    })
  })

  test('is what it has become in between, not what it was', async () => {
    const { identity, to, flow } = await moving()
    await fixture.patch(identity, [{ op: 'add', path: '/traits/custom_data', value: custom_data }])

    await fixture.send(flow, { code: fixture.codeFor(to) })

    expect((await fixture.readIdentity(identity)).traits).toEqual({
      email: to,
      custom_data,
      tenant_id: fixture.tenantId,
    })
  })

  test('changes at once where it comes along, while the address waits', async () => {
    const { email, token, identity } = await somebody()
    const to = newAddress()

    await wish(token, to, { traits: { email: to, custom_data } })

    expect((await fixture.readIdentity(identity)).traits).toMatchObject({ email, custom_data })
  })
})

describe('an address that somebody else has', () => {
  test('is answered like any other when it is asked for, and nobody gets a code', async () => {
    const taken = newAddress()
    const holder = await person(fixture, taken)
    const { email, token, identity } = await somebody()

    const { answer, done } = await wish(token, taken)

    expect(messageIds(done)).toEqual([1050001])
    expect(nextFlowIn(answer, 'show_verification_ui').verifiable_address).toBe(taken)
    expect(fatesOf(fixture, taken)).toEqual(['withheld: another account has this address'])
    expect(fixture.sentTo(email)).toMatchObject([{ kind: 'notice' }])
    expect(await emailOf(identity)).toBe(email)
    expect(await emailOf(holder)).toBe(taken)
  })

  test('cannot be told from one that is free by asking for another code', async () => {
    const taken = newAddress()
    await person(fixture, taken)
    const free = newAddress()

    const answers: unknown[] = []
    for (const address of [taken, free]) {
      const { token } = await somebody()
      const { answer } = await wish(token, address)
      const { url } = nextFlowIn(answer, 'show_verification_ui')
      const flow = (await read(fixture, { ui: { action: url } })).body
      const soon = await fixture.send(flow, { email: address })
      fixture.clock.jump(MAIL_GAP_MS)
      const later = await fixture.send(flow, { email: address })
      answers.push([soon, later].map(({ status, body }) => [status, messageIds(body)]))
    }

    expect(answers[0]).toEqual(answers[1])
  })

  test('is not taken from whoever got it in between, who keeps it', async () => {
    const { email, identity, to, flow } = await moving()
    const code = fixture.codeFor(to)
    const holder = await person(fixture, to)

    const answer = await fixture.send(flow, { code })

    expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain(4900010)
    expect(await emailOf(identity)).toBe(email)
    expect(await emailOf(holder)).toBe(to)
    expect((await fixture.readIdentity(identity)).verifiable_addresses).toMatchObject([
      { value: email, verified: true },
    ])
  })

  test('of two who ask for the same one, the first with the code has it', async () => {
    const one = await moving()
    const { token, identity, email } = await somebody()
    fixture.clock.jump(MAIL_GAP_MS)
    const { answer } = await wish(token, one.to)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const second = (await read(fixture, { ui: { action: url } })).body
    const [newer, older] = fixture
      .sentTo(one.to)
      .map((mail) => /^ {4}(\d{6})$/m.exec(mail?.body?.text ?? '')?.[1] as string)

    const won = await fixture.send(second, { code: newer })
    const lost = await fixture.send(one.flow, { code: older })

    flowIn(won, 200, 'passed_challenge')
    expect(lost.status).toBe(422)
    expect(await emailOf(identity)).toBe(one.to)
    expect(await emailOf(one.identity)).toBe(one.email)
    expect(email).not.toBe(one.email)
  })

  test('at another tenant is free here', async () => {
    const other = await flowParty(fixture.app)
    const to = newAddress()
    await person(other, to)
    const { token, identity } = await somebody()
    const { answer } = await wish(token, to)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const flow = (await read(fixture, { ui: { action: url } })).body

    await fixture.send(flow, { code: fixture.codeFor(to) })

    expect(await emailOf(identity)).toBe(to)
  })
})

describe.each(TRIES)('a change that waits is over, and %s is of no use,', (_, attempt) => {
  async function expectOver(change: Waiting, code: string) {
    const before = await fixture.readIdentity(change.identity)
    await attempt(change, code)
    expect(await fixture.readIdentity(change.identity)).toEqual(before)
  }

  test('after a recovery', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    fixture.clock.jump(MAIL_GAP_MS)
    await recover(fixture, change.email)

    await expectOver(change, code)
  })

  test('after the recovery of an account whose address was never proven', async () => {
    const email = newAddress()
    const identity = await unproven(fixture, email, { password: PASSWORD })
    const { session_token: token } = await fixture.signIn(email)
    const to = newAddress()
    const { answer } = await wish(token, to)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const flow = (await read(fixture, { ui: { action: url } })).body
    const code = fixture.codeFor(to)
    fixture.clock.jump(MAIL_GAP_MS)
    await recover(fixture, email)

    await expectOver({ email, identity, token, to, flow }, code)
  })

  test('after a password change', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    const fields = { method: 'password', password: NEW_PASSWORD }
    expect(await fixture.change(change.token, fields)).toMatchObject({ status: 200 })

    await expectOver(change, code)
  })

  test('once the person is deactivated', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    await fixture.setState(change.identity, 'inactive')

    await expectOver(change, code)
  })

  test('once the person was deactivated for a while', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    await fixture.setState(change.identity, 'inactive')
    await fixture.setState(change.identity, 'active')

    await expectOver(change, code)
  })

  test('once the tenant ended all sessions of the person', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    await fixture.api.delete(`${IDENTITIES}/${change.identity.id}/sessions`)

    await expectOver(change, code)
  })

  test('once the tenant gave the person another address', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    const value = newAddress()
    await fixture.patch(change.identity, [{ op: 'replace', path: '/traits/email', value }])

    await expectOver(change, code)
  })

  test('once another one was asked for, which is not over', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    const later = newAddress()
    const { answer } = await wish(change.token, later)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const second = (await read(fixture, { ui: { action: url } })).body

    await expectOver(change, code)

    flowIn(await fixture.send(second, { code: fixture.codeFor(later) }), 200, 'passed_challenge')
    expect(await emailOf(change.identity)).toBe(later)
  })
})

describe('a change that waits', () => {
  test('goes with the person', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    await fixture.api.delete(`${IDENTITIES}/${change.identity.id}`)

    expect((await fixture.send(change.flow, { code })).status).toBe(404)
    expect(
      rowsOf(fixture.app, 'gate_flows').filter(({ address }) => address === change.to),
    ).toEqual([])
  })

  test('is not hurried by a wrong password, a sign-in, or the end of one session', async () => {
    const change = await moving()
    await fixture.tryPassword(change.email, 'wrong and long')
    const { session } = await fixture.signIn(change.email)
    await fixture.api.delete(`/v1/gate/sessions/${session.id}`)

    const answer = await fixture.send(change.flow, { code: fixture.codeFor(change.to) })

    flowIn(answer, 200, 'passed_challenge')
  })

  test('is over a quarter of an hour after its mail, unless another one is asked for', async () => {
    const change = await moving()
    const code = fixture.codeFor(change.to)
    fixture.clock.jump(CODE_MS)
    expect((await fixture.send(change.flow, { code })).status).toBe(422)

    const again = await fixture.send(change.flow, { email: change.to })

    expect(messageIds(flowIn(again, 200, 'sent_email'))).toEqual([1080003])
    const answer = await fixture.send(change.flow, { code: fixture.codeFor(change.to) })
    flowIn(answer, 200, 'passed_challenge')
    expect(await emailOf(change.identity)).toBe(change.to)
  })

  test('is over with its flow', async () => {
    const change = await moving()
    fixture.clock.jump(FLOW_MS)

    const late = await fixture.send(change.flow, { email: change.to })

    expect(late.status).toBe(410)
    expect(await emailOf(change.identity)).toBe(change.email)
  })

  test('dies of five wrong codes, resends or not', async () => {
    const change = await moving()
    for (const code of wrongCodes(fixture.codeFor(change.to)))
      await fixture.send(change.flow, { code })
    fixture.clock.jump(MAIL_GAP_MS)
    await fixture.send(change.flow, { email: change.to })

    const answer = await fixture.send(change.flow, { code: fixture.codeFor(change.to) })

    expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain('code:4900001')
    expect(await emailOf(change.identity)).toBe(change.email)
  })
})

describe('another code for a change', () => {
  test('goes to the same address, and the one before it is dead', async () => {
    const { email, identity, to, flow } = await moving()
    const first = fixture.codeFor(to)
    fixture.clock.jump(MAIL_GAP_MS)

    const again = await fixture.send(flow, { email: to })

    expect(messageIds(flowIn(again, 200, 'sent_email'))).toEqual([1080003])
    const [mail] = fixture.sentTo(to)
    expect(mail?.subject).toBe('Verify your new email address for Acme')
    expect(fixture.sentTo(to)).toHaveLength(2)
    const late = await fixture.send(flow, { code: first })
    expect(messageIds(flowIn(late, 422, 'sent_email'))).toContain('code:4070006')
    expect(await emailOf(identity)).toBe(email)
    flowIn(await fixture.send(flow, { code: fixture.codeFor(to) }), 200, 'passed_challenge')
    expect(await emailOf(identity)).toBe(to)
  })

  test('goes to no other address: that takes a new change', async () => {
    const { identity, email, flow } = await moving()
    const elsewhere = newAddress()
    fixture.clock.jump(MAIL_GAP_MS)

    for (const address of [elsewhere, email]) {
      const answer = await fixture.send(flow, { email: address })
      expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain(4070005)
    }

    expect(fixture.mailsTo(elsewhere)).toEqual([])
    expect(await emailOf(identity)).toBe(email)
  })

  test('goes out once in half a minute', async () => {
    const { to, flow } = await moving()

    const soon = await fixture.send(flow, { email: to })

    expect(soon).toMatchObject({ status: 429, body: { state: 'sent_email' } })
    expect(soon.headers.get('retry-after')).toBe('30')
    expect(fixture.sentTo(to)).toHaveLength(1)
    flowIn(await fixture.send(flow, { code: fixture.codeFor(to) }), 200, 'passed_challenge')
  })
})

describe('a verification', () => {
  test('of the old address does not move anybody', async () => {
    const email = newAddress()
    const identity = await unproven(fixture, email, { password: PASSWORD })
    const { session_token: token } = await fixture.signIn(email)
    const to = newAddress()
    await wish(token, to)
    fixture.clock.jump(MAIL_GAP_MS)
    const flow = await asked(fixture, 'verification', email)

    await fixture.send(flow, { code: fixture.codeFor(email) }, { 'x-session-token': token })

    expect(await fixture.readIdentity(identity)).toMatchObject({
      traits: { email },
      verifiable_addresses: [{ value: email, verified: true }],
    })
  })

  test('of the new address by somebody else proves nothing for the change', async () => {
    const { to, identity, email } = await moving()
    const code = fixture.codeFor(to)
    const flow = await fixture.start('verification')

    expect((await fixture.send(flow, { code })).status).toBe(422)

    expect(await emailOf(identity)).toBe(email)
  })
})

test('a mail that cannot go out now leaves everything as it was, the change before it too', async () => {
  const change = await moving()
  const before = await fixture.readIdentity(change.identity)
  const settings = await fixture.settings(change.token)
  const traits = { email: change.to, custom_data: { plan: 'gold' } }

  const answer = await fixture.send(
    settings,
    { method: 'profile', traits },
    { 'x-session-token': change.token },
  )

  expect(answer).toMatchObject({ status: 429, body: { state: 'show_form' } })
  expect(answer.headers.get('retry-after')).toBe('30')
  expect(node(answer.body, 'traits.email').attributes.value).toBe(change.to)
  expect(await fixture.readIdentity(change.identity)).toEqual(before)
  expect(fixture.mailsTo(change.email)).toHaveLength(1)
  const done = await fixture.send(change.flow, { code: fixture.codeFor(change.to) })
  flowIn(done, 200, 'passed_challenge')
})

test('nobody writes to the addresses of others without end: a client asks so often in a minute', async () => {
  await using own = await bootFlows({ flags: { 'limits-sign-ins-per-minute': '3' } })
  const email = newAddress()
  await person(own, email)
  const { session_token: token } = await own.signIn(email)
  const addresses = Array.from({ length: 5 }, newAddress)

  const statuses: number[] = []
  for (const address of addresses) {
    const { status } = await own.change(token, { method: 'profile', traits: { email: address } })
    statuses.push(status)
  }

  expect(statuses).toEqual([200, 200, 200, 429, 429])
  expect(addresses.map((address) => own.mailsTo(address).length)).toEqual([1, 1, 1, 0, 0])
})
