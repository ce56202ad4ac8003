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
  type FlowWorld,
  flowParty,
  messageIds,
  node,
  nodeNames,
  PASSWORD,
} from './fixture.ts'

const NEW_PASSWORD = 'a new way to be let in'

let world: FlowWorld
beforeAll(async () => {
  world = await bootCrowd()
})
afterAll(() => world.app.stop())

let people = 0
const newAddress = () => `moves-${people++}@example.com`

/** Somebody who is signed in, with an address that is proven. */
async function somebody(fields: Json = {}) {
  const email = newAddress()
  const identity = await person(world, email, fields)
  const { session_token: token } = await world.signIn(email)
  return { email, identity, token: token as string }
}

/** Asks for another address; what comes back names the flow that waits for its code. */
async function wish(token: string, email: string, rest: Json = {}) {
  const answer = await world.change(token, { method: 'profile', traits: { email }, ...rest })
  return { answer, done: flowIn(answer, 200, 'success') }
}

/** Somebody who waits for the code at another address. */
async function moving(fields: Json = {}) {
  const who = await somebody(fields)
  const to = newAddress()
  const { answer } = await wish(who.token, to)
  const { url } = nextFlowIn(answer, 'show_verification_ui')
  const flow = (await read(world, { ui: { action: url } })).body as Json
  return { ...who, to, flow }
}

const emailOf = async (identity: Json): Promise<string> =>
  (await world.readIdentity(identity)).traits.email

/** A change that waits, and the code that would end it. */
type Waiting = Awaited<ReturnType<typeof moving>>

/** What whoever asked for a change may still try: the code, or another one. */
const TRIES: [string, (change: Waiting, code: string) => Promise<void>][] = [
  [
    'its code',
    async ({ flow }, code) => {
      expect([404, 422]).toContain((await world.send(flow, { code })).status)
    },
  ],
  [
    'another code',
    async ({ flow, to }) => {
      const before = world.sentTo(to).length
      world.clock.jump(MAIL_GAP_MS)
      const again = await world.send(flow, { email: to })
      const mails = world.sentTo(to).length - before
      await world.send(flow, { code: world.codeFor(to) })
      expect([404, 422]).toContain(again.status)
      expect(mails).toBe(0)
    },
  ],
]

describe('another address', () => {
  test('is confirmed by its code, however often a stranger has the old one verified', async () => {
    const email = newAddress()
    const { session_token: token } = await world.register(email)
    const to = newAddress()
    const { answer } = await wish(token, to)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const flow = (await read(world, { ui: { action: url } })).body as Json
    const code = world.codeFor(to)

    world.clock.jump(MAIL_GAP_MS)
    const before = world.sentTo(email).length
    const stranger = await world.start('verification')
    expect((await world.send(stranger, { method: 'code', email })).status).toBe(200)
    expect(world.sentTo(email).length).toBe(before + 1)

    const confirmed = await world.send(flow, { code }, { 'x-session-token': token })
    expect(confirmed).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
  })

  test('is held until a code comes back from it: the old one stays as it is', async () => {
    const { email, identity, token, to } = await moving()

    const read = await world.readIdentity(identity)

    expect(read.traits.email).toBe(email)
    expect(read.verifiable_addresses).toMatchObject([{ value: email, verified: true }])
    expect(read.recovery_addresses).toMatchObject([{ value: email }])
    expect((await world.tryPassword(email)).status).toBe(200)
    expect((await world.tryPassword(to)).status).toBe(422)
    expect(await whose(world, token)).toBe(identity.id)
    // Nobody can get in by the new one, and it is still free for whoever has it.
    world.clock.jump(MAIL_GAP_MS)
    await asked(world, 'recovery', to)
    expect(fatesOf(world, to)[0]).toStartWith('withheld')
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
    const waiting = flowIn(await read(world, { ui: { action: named.url } }), 200, 'sent_email')
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

    const [mail, ...others] = world.sentTo(to)
    expect(others).toEqual([])
    expect(mail).toMatchObject({
      kind: 'address_change',
      subject: 'Verify your new email address for Acme',
      expiresAt: world.clock.now() + LINK_MS,
    })
    expect(world.linkFor(to)).not.toContain(flow.id)
    const [notice] = world.sentTo(email)
    expect(notice).toMatchObject({
      kind: 'notice',
      subject: 'Email change requested for your Acme account',
    })
  })

  test('is not told in full to whoever reads the old one, nor the code', async () => {
    const { email, to } = await moving()

    const [notice] = world.sentTo(email)

    const said = `${notice?.subject} ${notice?.body?.text} ${notice?.body?.html}`
    expect(said).not.toContain(to)
    expect(said).not.toContain(to.split('@')[0] as string)
    expect(said).not.toContain(world.codeFor(to))
    expect(notice?.body?.text).toContain('m•••@example.com')
  })

  test('is told to the old one even if that was written to a moment ago', async () => {
    const { email, token } = await somebody()
    // Whoever has got hold of a session can ask for any mail just before.
    await asked(world, 'recovery', email)

    await wish(token, newAddress())

    expect(world.sentTo(email).map(({ kind }: Json) => kind)).toEqual(['notice', 'recovery'])
  })

  test('takes the place of the old one once its code has come back', async () => {
    const { email, identity, token, to, flow } = await moving()

    const answer = await world.send(flow, { code: world.codeFor(to) })

    const done = flowIn(answer, 200, 'passed_challenge')
    expect(messageIds(done)).toEqual([1080002])
    expect(done).not.toHaveProperty('continue_with')
    const now = new Date(world.clock.now()).toISOString()
    const read = await world.readIdentity(identity)
    expect(read.traits).toEqual({ email: to, tenant_id: world.tenantId })
    expect(read.verifiable_addresses).toMatchObject([
      { value: to, verified: true, status: 'completed', verified_at: now },
    ])
    expect(read.recovery_addresses).toMatchObject([{ value: to }])
    expect(read.credentials.password.identifiers).toEqual([to])
    expect((await world.tryPassword(to)).status).toBe(200)
    expect((await world.tryPassword(email)).status).toBe(422)
    expect(await whose(world, token)).toBe(identity.id)
    world.clock.jump(MAIL_GAP_MS)
    expect(await whose(world, await recover(world, to))).toBe(identity.id)
  })

  test('takes a sign-in first where the link in the mail is opened in another browser', async () => {
    const { email, to, identity } = await moving()
    const browser = newBrowser(world.app)
    const page = await browser.visit(world.linkFor(to))

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

    const answer = await world.submit('verification', { flow: flow.id, code: world.codeFor(to) })

    flowIn(answer, 200, 'passed_challenge')
    expect(await emailOf(identity)).toBe(to)
  })

  test('frees the old one', async () => {
    const { email, to, flow } = await moving()
    await world.send(flow, { code: world.codeFor(to) })

    expect(await person(world, email)).toMatchObject({ traits: { email } })
  })

  test('is stored as addresses are, whatever the spelling', async () => {
    const { token, identity } = await somebody()
    const to = newAddress()

    const { answer } = await wish(token, ` ${to.toUpperCase()} `)

    const { url, verifiable_address } = nextFlowIn(answer, 'show_verification_ui')
    expect(verifiable_address).toBe(to)
    const flow = (await read(world, { ui: { action: url } })).body
    await world.send(flow, { code: world.codeFor(to) })
    expect(await emailOf(identity)).toBe(to)
  })

  test('that is the old one in another spelling is no change at all', async () => {
    const { email, token, identity } = await somebody()
    const before = await world.readIdentity(identity)

    const { done } = await wish(token, email.toUpperCase())

    expect(done).not.toHaveProperty('continue_with')
    expect(world.mailsTo(email)).toEqual([])
    expect(await world.readIdentity(identity)).toEqual(before)
  })

  test.each([undefined, '', 'nobody', 7, null])('that is none is refused: %p', async (email) => {
    const { token, identity } = await somebody()
    const before = await world.readIdentity(identity)

    const answer = await world.change(token, { method: 'profile', traits: { email } })

    const flow = flowIn(answer, 422, 'show_form')
    const [id, ...others] = complaintsIn(flow)
    expect(['traits.email:4000002', 'traits.email:4000040']).toContain(id as string)
    expect(others).toEqual([])
    expect(await world.readIdentity(identity)).toEqual(before)
  })

  test('needs a sign-in of the last hour', async () => {
    const { token, email, identity } = await somebody()
    const to = newAddress()
    world.clock.jump(HOUR + 1)

    const answer = await world.change(token, { method: 'profile', traits: { email: to } })

    expect(answer).toMatchObject({ status: 403, body: { id: 'session_refresh_required' } })
    expect([...world.mailsTo(to), ...world.mailsTo(email)]).toEqual([])
    expect(await emailOf(identity)).toBe(email)
  })

  test('is noted and told once it is the address, and no sooner', async () => {
    await using target = startTarget()
    const other = await flowParty(world.app)
    const email = newAddress()
    const identity = await person(other, email)
    const { session_token: token } = await other.signIn(email)
    await other.createWebhook(target.url)
    const to = newAddress()
    const asking = await other.change(token, { method: 'profile', traits: { email: to } })
    await rest(world.app)
    const before = actionsOn(world.app, `identity:${identity.id}`)
    expect(typesTold(target)).toEqual([])

    const { url } = nextFlowIn(asking, 'show_verification_ui')
    const flow = (await read(world, { ui: { action: url } })).body
    const code = other.codeFor(to)
    await Promise.all([other.send(flow, { code }), other.send(flow, { code })])
    await rest(world.app)

    expect(typesTold(target)).toEqual(['identity.email_verified'])
    expect(actionsOn(world.app, `identity:${identity.id}`).slice(before.length)).toEqual([
      'identity.updated',
    ])
  })
})

describe('what is known of the person besides', () => {
  const custom_data = { plan: 'gold', seats: [1, 2], nothing: null }

  test('is kept when the address changes, from beginning to end', async () => {
    const email = newAddress()
    const identity = await person(world, email, {
      traits: { email, custom_data },
      metadata_public: { roles: ['admin'] },
    })
    const { session_token: token } = await world.signIn(email)
    const to = newAddress()
    const { answer } = await wish(token, to)
    expect((await world.readIdentity(identity)).traits.custom_data).toEqual(custom_data)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const flow = (await read(world, { ui: { action: url } })).body

    await world.send(flow, { code: world.codeFor(to) })

    expect(await world.readIdentity(identity)).toMatchObject({
      traits: { email: to, custom_data },
      metadata_public: { roles: ['admin'] },
    })
  })

  test('is what it has become in between, not what it was', async () => {
    const { identity, to, flow } = await moving()
    await world.patch(identity, [{ op: 'add', path: '/traits/custom_data', value: custom_data }])

    await world.send(flow, { code: world.codeFor(to) })

    expect((await world.readIdentity(identity)).traits).toEqual({
      email: to,
      custom_data,
      tenant_id: world.tenantId,
    })
  })

  test('changes at once where it comes along, while the address waits', async () => {
    const { email, token, identity } = await somebody()
    const to = newAddress()

    await wish(token, to, { traits: { email: to, custom_data } })

    expect((await world.readIdentity(identity)).traits).toMatchObject({ email, custom_data })
  })
})

describe('an address that somebody else has', () => {
  test('is answered like any other when it is asked for, and nobody gets a code', async () => {
    const taken = newAddress()
    const holder = await person(world, taken)
    const { email, token, identity } = await somebody()

    const { answer, done } = await wish(token, taken)

    expect(messageIds(done)).toEqual([1050001])
    expect(nextFlowIn(answer, 'show_verification_ui').verifiable_address).toBe(taken)
    expect(fatesOf(world, taken)).toEqual(['withheld: another account has this address'])
    expect(world.sentTo(email)).toMatchObject([{ kind: 'notice' }])
    expect(await emailOf(identity)).toBe(email)
    expect(await emailOf(holder)).toBe(taken)
  })

  test('cannot be told from one that is free by asking for another code', async () => {
    const taken = newAddress()
    await person(world, taken)
    const free = newAddress()

    const answers: unknown[] = []
    for (const address of [taken, free]) {
      const { token } = await somebody()
      const { answer } = await wish(token, address)
      const { url } = nextFlowIn(answer, 'show_verification_ui')
      const flow = (await read(world, { ui: { action: url } })).body
      const soon = await world.send(flow, { email: address })
      world.clock.jump(MAIL_GAP_MS)
      const later = await world.send(flow, { email: address })
      answers.push([soon, later].map(({ status, body }) => [status, messageIds(body)]))
    }

    expect(answers[0]).toEqual(answers[1])
  })

  test('is not taken from whoever got it in between, who keeps it', async () => {
    const { email, identity, to, flow } = await moving()
    const code = world.codeFor(to)
    const holder = await person(world, to)

    const answer = await world.send(flow, { code })

    expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain(4900010)
    expect(await emailOf(identity)).toBe(email)
    expect(await emailOf(holder)).toBe(to)
    expect((await world.readIdentity(identity)).verifiable_addresses).toMatchObject([
      { value: email, verified: true },
    ])
  })

  test('of two who ask for the same one, the first with the code has it', async () => {
    const one = await moving()
    const { token, identity, email } = await somebody()
    world.clock.jump(MAIL_GAP_MS)
    const { answer } = await wish(token, one.to)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const second = (await read(world, { ui: { action: url } })).body
    const [newer, older] = world
      .sentTo(one.to)
      .map((mail) => /^ {4}(\d{6})$/m.exec(mail?.body?.text ?? '')?.[1] as string)

    const won = await world.send(second, { code: newer })
    const lost = await world.send(one.flow, { code: older })

    flowIn(won, 200, 'passed_challenge')
    expect(lost.status).toBe(422)
    expect(await emailOf(identity)).toBe(one.to)
    expect(await emailOf(one.identity)).toBe(one.email)
    expect(email).not.toBe(one.email)
  })

  test('at another tenant is free here', async () => {
    const other = await flowParty(world.app)
    const to = newAddress()
    await person(other, to)
    const { token, identity } = await somebody()
    const { answer } = await wish(token, to)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const flow = (await read(world, { ui: { action: url } })).body

    await world.send(flow, { code: world.codeFor(to) })

    expect(await emailOf(identity)).toBe(to)
  })
})

describe.each(TRIES)('a change that waits is over, and %s is of no use,', (_, attempt) => {
  async function expectOver(change: Waiting, code: string) {
    const before = await world.readIdentity(change.identity)
    await attempt(change, code)
    expect(await world.readIdentity(change.identity)).toEqual(before)
  }

  test('after a recovery', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    world.clock.jump(MAIL_GAP_MS)
    await recover(world, change.email)

    await expectOver(change, code)
  })

  test('after the recovery of an account whose address was never proven', async () => {
    const email = newAddress()
    const identity = await unproven(world, email, { password: PASSWORD })
    const { session_token: token } = await world.signIn(email)
    const to = newAddress()
    const { answer } = await wish(token, to)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const flow = (await read(world, { ui: { action: url } })).body
    const code = world.codeFor(to)
    world.clock.jump(MAIL_GAP_MS)
    await recover(world, email)

    await expectOver({ email, identity, token, to, flow }, code)
  })

  test('after a password change', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    const fields = { method: 'password', password: NEW_PASSWORD }
    expect(await world.change(change.token, fields)).toMatchObject({ status: 200 })

    await expectOver(change, code)
  })

  test('once the person is deactivated', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    await world.setState(change.identity, 'inactive')

    await expectOver(change, code)
  })

  test('once the person was deactivated for a while', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    await world.setState(change.identity, 'inactive')
    await world.setState(change.identity, 'active')

    await expectOver(change, code)
  })

  test('once the tenant ended all sessions of the person', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    await world.api.delete(`${IDENTITIES}/${change.identity.id}/sessions`)

    await expectOver(change, code)
  })

  test('once the tenant gave the person another address', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    const value = newAddress()
    await world.patch(change.identity, [{ op: 'replace', path: '/traits/email', value }])

    await expectOver(change, code)
  })

  test('once another one was asked for, which is not over', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    const later = newAddress()
    const { answer } = await wish(change.token, later)
    const { url } = nextFlowIn(answer, 'show_verification_ui')
    const second = (await read(world, { ui: { action: url } })).body

    await expectOver(change, code)

    flowIn(await world.send(second, { code: world.codeFor(later) }), 200, 'passed_challenge')
    expect(await emailOf(change.identity)).toBe(later)
  })
})

describe('a change that waits', () => {
  test('goes with the person', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    await world.api.delete(`${IDENTITIES}/${change.identity.id}`)

    expect((await world.send(change.flow, { code })).status).toBe(404)
    expect(rowsOf(world.app, 'gate_flows').filter(({ address }) => address === change.to)).toEqual(
      [],
    )
  })

  test('is not hurried by a wrong password, a sign-in, or the end of one session', async () => {
    const change = await moving()
    await world.tryPassword(change.email, 'wrong and long')
    const { session } = await world.signIn(change.email)
    await world.api.delete(`/v1/gate/sessions/${session.id}`)

    const answer = await world.send(change.flow, { code: world.codeFor(change.to) })

    flowIn(answer, 200, 'passed_challenge')
  })

  test('is over a quarter of an hour after its mail, unless another one is asked for', async () => {
    const change = await moving()
    const code = world.codeFor(change.to)
    world.clock.jump(CODE_MS)
    expect((await world.send(change.flow, { code })).status).toBe(422)

    const again = await world.send(change.flow, { email: change.to })

    expect(messageIds(flowIn(again, 200, 'sent_email'))).toEqual([1080003])
    const answer = await world.send(change.flow, { code: world.codeFor(change.to) })
    flowIn(answer, 200, 'passed_challenge')
    expect(await emailOf(change.identity)).toBe(change.to)
  })

  test('is over with its flow', async () => {
    const change = await moving()
    world.clock.jump(FLOW_MS)

    const late = await world.send(change.flow, { email: change.to })

    expect(late.status).toBe(410)
    expect(await emailOf(change.identity)).toBe(change.email)
  })

  test('dies of five wrong codes, resends or not', async () => {
    const change = await moving()
    for (const code of wrongCodes(world.codeFor(change.to))) await world.send(change.flow, { code })
    world.clock.jump(MAIL_GAP_MS)
    await world.send(change.flow, { email: change.to })

    const answer = await world.send(change.flow, { code: world.codeFor(change.to) })

    expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain('code:4900001')
    expect(await emailOf(change.identity)).toBe(change.email)
  })
})

describe('another code for a change', () => {
  test('goes to the same address, and the one before it is dead', async () => {
    const { email, identity, to, flow } = await moving()
    const first = world.codeFor(to)
    world.clock.jump(MAIL_GAP_MS)

    const again = await world.send(flow, { email: to })

    expect(messageIds(flowIn(again, 200, 'sent_email'))).toEqual([1080003])
    const [mail] = world.sentTo(to)
    expect(mail?.subject).toBe('Verify your new email address for Acme')
    expect(world.sentTo(to)).toHaveLength(2)
    const late = await world.send(flow, { code: first })
    expect(messageIds(flowIn(late, 422, 'sent_email'))).toContain('code:4070006')
    expect(await emailOf(identity)).toBe(email)
    flowIn(await world.send(flow, { code: world.codeFor(to) }), 200, 'passed_challenge')
    expect(await emailOf(identity)).toBe(to)
  })

  test('goes to no other address: that takes a new change', async () => {
    const { identity, email, flow } = await moving()
    const elsewhere = newAddress()
    world.clock.jump(MAIL_GAP_MS)

    for (const address of [elsewhere, email]) {
      const answer = await world.send(flow, { email: address })
      expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain(4070005)
    }

    expect(world.mailsTo(elsewhere)).toEqual([])
    expect(await emailOf(identity)).toBe(email)
  })

  test('goes out once in half a minute', async () => {
    const { to, flow } = await moving()

    const soon = await world.send(flow, { email: to })

    expect(soon).toMatchObject({ status: 429, body: { state: 'sent_email' } })
    expect(soon.headers.get('retry-after')).toBe('30')
    expect(world.sentTo(to)).toHaveLength(1)
    flowIn(await world.send(flow, { code: world.codeFor(to) }), 200, 'passed_challenge')
  })
})

describe('a verification', () => {
  test('of the old address does not move anybody', async () => {
    const email = newAddress()
    const identity = await unproven(world, email, { password: PASSWORD })
    const { session_token: token } = await world.signIn(email)
    const to = newAddress()
    await wish(token, to)
    world.clock.jump(MAIL_GAP_MS)
    const flow = await asked(world, 'verification', email)

    await world.send(flow, { code: world.codeFor(email) }, { 'x-session-token': token })

    expect(await world.readIdentity(identity)).toMatchObject({
      traits: { email },
      verifiable_addresses: [{ value: email, verified: true }],
    })
  })

  test('of the new address by somebody else proves nothing for the change', async () => {
    const { to, identity, email } = await moving()
    const code = world.codeFor(to)
    const flow = await world.start('verification')

    expect((await world.send(flow, { code })).status).toBe(422)

    expect(await emailOf(identity)).toBe(email)
  })
})

test('a mail that cannot go out now leaves everything as it was, the change before it too', async () => {
  const change = await moving()
  const before = await world.readIdentity(change.identity)
  const settings = await world.settings(change.token)
  const traits = { email: change.to, custom_data: { plan: 'gold' } }

  const answer = await world.send(
    settings,
    { method: 'profile', traits },
    { 'x-session-token': change.token },
  )

  expect(answer).toMatchObject({ status: 429, body: { state: 'show_form' } })
  expect(answer.headers.get('retry-after')).toBe('30')
  expect(node(answer.body, 'traits.email').attributes.value).toBe(change.to)
  expect(await world.readIdentity(change.identity)).toEqual(before)
  expect(world.mailsTo(change.email)).toHaveLength(1)
  const done = await world.send(change.flow, { code: world.codeFor(change.to) })
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
