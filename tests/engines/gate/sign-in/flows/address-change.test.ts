import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../../support/target.ts'
import { rest } from '../../../relay/fixture.ts'
import { HOUR, IDENTITIES, type Json, SESSIONS } from '../../fixture.ts'
import { actionsOn, rowsOf, typesTold } from '../../identities/people.ts'
import { ADA, BOB, NEW_PASSWORD, refuses, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import {
  addressOf,
  asked,
  CODE_MS,
  changeAddress,
  complaintsIn,
  emailOf,
  FLOW_MS,
  fatesOf,
  flowIn,
  HOSTED,
  isoAt,
  LINK_MS,
  MAIL_GAP_MS,
  nextFlowIn,
  person,
  recover,
  signedIn,
  type Tenant,
  unproven,
  useFlows,
  waiting,
  whose,
  wrongCodes,
} from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const NEW = 'new.address@example.com'

/** A signed-in person, and a change of their address to NEW that waits for its code. */
async function moving(make = person, fields: Json = {}) {
  const acme = await flows.newTenant()
  const identity = await make(acme, ADA, { password: PASSWORD, ...fields })
  const { session_token: token } = await acme.signIn(ADA)
  const flow = await changeAddress(acme, token, NEW)
  const code = acme.codeFor(NEW)
  const confirm = () => acme.send(flow, { code })
  return { acme, identity, token: token as string, flow, code, confirm }
}

type Moving = Awaited<ReturnType<typeof moving>>

describe('a change of the address', () => {
  test('waits for the code, and changes nothing before', async () => {
    const { acme, identity, token, flow } = await moving()
    expect(await acme.readIdentity(identity)).toMatchObject({
      traits: { email: ADA },
      verifiable_addresses: [{ value: ADA, verified: true }],
      recovery_addresses: [{ value: ADA }],
    })
    expect((await acme.tryPassword(ADA)).status).toBe(200)
    expect((await acme.tryPassword(NEW)).status).toBe(422)
    expect(await whose(acme, token)).toBe(identity.id)
    expect(flow.state).toBe('sent_email')
    const entry = ['code:code', 'code:method=code', 'code:method=code', `code:email=${NEW}`]
    expect(nodeNames(flow)).toEqual(entry)
    expect(JSON.stringify(flow)).not.toContain(identity.id)
    clock.jump(MAIL_GAP_MS)
    await asked(acme, 'recovery', NEW)
    expect(fatesOf(acme, NEW)[0]).toStartWith('withheld')
  })

  test('is answered with the flow for its code', async () => {
    const acme = await flows.newTenant()
    const { token } = await signedIn(acme, ADA)
    const answer = await acme.change(token, { method: 'profile', traits: { email: NEW } })
    const done = flowIn(answer, 200, 'success')
    expect(messageIds(done)).toEqual([1050001])
    const { id } = nextFlowIn(answer, 'show_verification_ui')
    const flow = { id, url: `${HOSTED}/verification?flow=${id}`, verifiable_address: NEW }
    expect(done.continue_with).toEqual([{ action: 'show_verification_ui', flow }])
  })

  test('emails a code and a link to the new address, and a notice to the old one', async () => {
    const { acme, flow, code } = await moving()
    const [mail, ...others] = acme.sentTo(NEW)
    expect(others).toEqual([])
    expect(mail).toMatchObject({ kind: 'address_change', expiresAt: clock.now() + LINK_MS })
    expect(mail?.subject).toStartWith('Verify your new email address')
    expect(acme.linkFor(NEW)).not.toContain(flow.id)

    const [notice] = acme.sentTo(ADA)
    expect(notice?.kind).toBe('notice')
    expect(notice?.body?.text).toContain('n•••@example.com')
    const said = `${notice?.subject} ${notice?.body?.text} ${notice?.body?.html}`
    for (const secret of [NEW, NEW.split('@')[0] as string, code])
      expect(said).not.toContain(secret)
  })

  test('notifies the old address even if it was just written to', async () => {
    const acme = await flows.newTenant()
    const { token } = await signedIn(acme, ADA)
    // Anyone with a stolen session could ask for an email first.
    await asked(acme, 'recovery', ADA)
    await changeAddress(acme, token, NEW)
    expect(acme.sentTo(ADA).map((mail) => mail?.kind)).toEqual(['notice', 'recovery'])
  })

  test('replaces the old address, which is free then, once the code is entered', async () => {
    const { acme, identity, token, confirm } = await moving()
    const done = flowIn(await confirm(), 200, 'passed_challenge')
    expect(messageIds(done)).toEqual([1080002])
    expect(done).not.toHaveProperty('continue_with')
    const read = await acme.readIdentity(identity)
    expect(read.traits).toEqual({ email: NEW, tenant_id: acme.tenantId })
    const verified_at = isoAt(clock.now())
    const verified = { value: NEW, verified: true, status: 'completed', verified_at }
    expect(read.verifiable_addresses).toMatchObject([verified])
    expect(read.recovery_addresses).toMatchObject([{ value: NEW }])
    expect(read.credentials.password.identifiers).toEqual([NEW])
    expect((await acme.tryPassword(NEW)).status).toBe(200)
    expect((await acme.tryPassword(ADA)).status).toBe(422)
    expect(await whose(acme, token)).toBe(identity.id)
    expect(await person(acme, ADA)).toMatchObject({ traits: { email: ADA } })
    clock.jump(MAIL_GAP_MS)
    expect(await whose(acme, await recover(acme, NEW))).toBe(identity.id)
  })

  test('is confirmed by the tenant as well', async () => {
    const { acme, identity, flow, code } = await moving()
    flowIn(await acme.submit('verification', { flow: flow.id, code }), 200, 'passed_challenge')
    expect(await emailOf(acme, identity)).toBe(NEW)
  })

  test('is confirmed though a stranger has asked to verify the old address', async () => {
    const { acme, token, flow, code } = await moving(unproven)
    clock.jump(MAIL_GAP_MS)
    const before = acme.sentTo(ADA).length
    await asked(acme, 'verification', ADA)
    expect(acme.sentTo(ADA)).toHaveLength(before + 1)
    flowIn(await acme.send(flow, { code }, withToken(token)), 200, 'passed_challenge')
  })

  test('needs a sign-in if the link is opened in another browser', async () => {
    const { acme, identity } = await moving()
    const browser = newBrowser(app)
    const page = await browser.visit(acme.linkFor(NEW))
    const asking = await browser.follow(await browser.press(page, ['method', 'code']))
    expect(asking.forms.flatMap(({ buttons }) => buttons)).toEqual([['confirm_by', 'sign_in']])
    // The mailbox is not that of the account, so it doesn't suffice to take the account over.
    const { action = '', hidden } = asking.forms[0] ?? {}
    const taking = await browser.post(action, { ...hidden, confirm_by: 'recovery' })
    expect(taking.status).toBe(422)
    expect(await emailOf(acme, identity)).toBe(ADA)

    const signIn = await browser.follow(await browser.press(asking, ['confirm_by', 'sign_in']))
    expect(signIn.html).not.toContain(ADA)
    const fields = { identifier: ADA, password: PASSWORD }
    const done = await browser.press(signIn, ['method', 'password'], fields)
    expect((await browser.follow(done)).text).toContain('Your email address is verified')
    expect(await emailOf(acme, identity)).toBe(NEW)
  })

  test('stores the address in its one spelling; another spelling is no change', async () => {
    const acme = await flows.newTenant()
    const { token, identity } = await signedIn(acme, ADA)
    const before = await acme.readIdentity(identity)
    const fields = { method: 'profile', traits: { email: ADA.toUpperCase() } }
    const same = flowIn(await acme.change(token, fields), 200, 'success')
    expect(same).not.toHaveProperty('continue_with')
    expect(acme.mailsTo(ADA)).toEqual([])
    expect(await acme.readIdentity(identity)).toEqual(before)

    const flow = await changeAddress(acme, token, ` ${NEW.toUpperCase()} `)
    await acme.send(flow, { code: acme.codeFor(NEW) })
    expect(await emailOf(acme, identity)).toBe(NEW)
  })

  test('needs an address', async () => {
    const acme = await flows.newTenant()
    const { token, identity } = await signedIn(acme, ADA)
    for (const email of [undefined, '', null, 'nobody', 7]) {
      const answer = await acme.change(token, { method: 'profile', traits: { email } })
      const id = email ? 4000040 : 4000002
      expect(complaintsIn(flowIn(answer, 422, 'show_form'))).toEqual([`traits.email:${id}`])
    }
    expect(await emailOf(acme, identity)).toBe(ADA)
  })

  test('needs a sign-in of the last hour', async () => {
    const acme = await flows.newTenant()
    const { token } = await signedIn(acme, ADA)
    clock.jump(HOUR + 1)
    const answer = await acme.change(token, { method: 'profile', traits: { email: NEW } })
    expect(answer).toMatchObject(refuses(403, 'session_refresh_required'))
    expect([...acme.mailsTo(NEW), ...acme.mailsTo(ADA)]).toEqual([])
  })

  test('is audited and told to webhooks once it is confirmed', async () => {
    await using target = startTarget()
    const { acme, identity, confirm } = await moving()
    await acme.createWebhook(target.url)
    const about = `identity:${identity.id}`
    const before = actionsOn(app, about)
    await Promise.all([confirm(), confirm()])
    await rest(app)
    expect(typesTold(target)).toEqual(['identity.email_verified'])
    expect(actionsOn(app, about).slice(before.length)).toEqual(['identity.updated'])
  })

  test('keeps other data of the person as it is then', async () => {
    const metadata_public = { roles: ['admin'] }
    const { acme, identity, confirm } = await moving(person, { metadata_public })
    const custom_data = { plan: 'gold', seats: [1, 2], nothing: null }
    await acme.patch(identity, [
      { op: 'add', path: '/traits/custom_data', value: custom_data },
    ])
    await confirm()
    const read = await acme.readIdentity(identity)
    expect(read.traits).toEqual({ email: NEW, custom_data, tenant_id: acme.tenantId })
    expect(read.metadata_public).toEqual(metadata_public)
  })

  test('changes other data of the form at once', async () => {
    const acme = await flows.newTenant()
    const { token, identity } = await signedIn(acme, ADA)
    const traits = { email: NEW, custom_data: { plan: 'gold' } }
    await acme.change(token, { method: 'profile', traits })
    const { traits: stored } = await acme.readIdentity(identity)
    expect(stored).toMatchObject({ ...traits, email: ADA })
  })
})

describe('an address that is taken', () => {
  test('is answered like any other, also when another code is asked for', async () => {
    const acme = await flows.newTenant()
    const holder = await person(acme, NEW)
    const heard: unknown[] = []
    for (const [email, address] of [
      [ADA, NEW],
      [BOB, 'free@example.com'],
    ] as const) {
      const { token, identity } = await signedIn(acme, email)
      const flow = await changeAddress(acme, token, address)
      const soon = await acme.send(flow, { email: address })
      clock.jump(MAIL_GAP_MS)
      const later = await acme.send(flow, { email: address })
      const ids = [soon, later].map(({ status, body }) => [status, messageIds(body)])
      heard.push([messageIds(flow), nodeNames(flow).length, ...ids])
      expect(acme.sentTo(email)).toMatchObject([{ kind: 'notice' }])
      expect(await emailOf(acme, identity)).toBe(email)
    }
    expect(heard[0]).toEqual(heard[1])
    const withheld = 'withheld: another account has this address'
    expect(fatesOf(acme, NEW)).toEqual([withheld, withheld])
    expect(await emailOf(acme, holder)).toBe(NEW)
  })

  test('is not taken from the person who got it in the meantime', async () => {
    const { acme, identity, confirm } = await moving()
    const holder = await person(acme, NEW)
    expect(messageIds(flowIn(await confirm(), 422, 'sent_email'))).toContain(4900010)
    expect(await emailOf(acme, holder)).toBe(NEW)
    expect(await emailOf(acme, identity)).toBe(ADA)
    expect(await addressOf(acme, identity)).toMatchObject({ value: ADA, verified: true })
  })

  test('goes to the first of two people who enter their code', async () => {
    const { acme, identity, confirm } = await moving()
    const bob = await signedIn(acme, BOB)
    clock.jump(MAIL_GAP_MS)
    const second = await changeAddress(acme, bob.token, NEW)
    const won = await acme.send(second, { code: acme.codeFor(NEW) })
    flowIn(won, 200, 'passed_challenge')
    expect((await confirm()).status).toBe(422)
    expect(await emailOf(acme, bob.identity)).toBe(NEW)
    expect(await emailOf(acme, identity)).toBe(ADA)
  })

  test('in another tenant is free in this one', async () => {
    await person(await flows.newTenant(), NEW)
    const { confirm } = await moving()
    flowIn(await confirm(), 200, 'passed_challenge')
  })
})

describe('a waiting change ends', () => {
  const change = (acme: Tenant, token: string, fields: Json) => acme.change(token, fields)

  /** Ends as said, and neither its code nor another one moves anything. */
  async function expectOver({ acme, identity, flow, code }: Moving) {
    const before = await acme.readIdentity(identity)
    expect([404, 422]).toContain((await acme.send(flow, { code })).status)
    clock.jump(MAIL_GAP_MS)
    const mails = acme.sentTo(NEW).length
    const again = await acme.send(flow, { email: NEW })
    expect([404, 422]).toContain(again.status)
    expect(acme.sentTo(NEW)).toHaveLength(mails)
    await acme.send(flow, { code: acme.codeFor(NEW) })
    expect(await acme.readIdentity(identity)).toEqual(before)
  }

  const recovered = async ({ acme }: Moving) => {
    clock.jump(MAIL_GAP_MS)
    await recover(acme, ADA)
  }

  const ENDINGS: [string, (moving: Moving) => Promise<unknown>][] = [
    ['with a recovery', recovered],
    [
      'with a password change',
      ({ acme, token }) => change(acme, token, { method: 'password', password: NEW_PASSWORD }),
    ],
    [
      'if the person is deactivated',
      ({ acme, identity }) => acme.setState(identity, 'inactive'),
    ],
    [
      'if the person is deactivated for a while',
      async ({ acme, identity }) => {
        for (const state of ['inactive', 'active'])
          await acme.setState(identity, state)
      },
    ],
    [
      'if the tenant ends all sessions',
      ({ acme, identity }) => acme.api.delete(`${IDENTITIES}/${identity.id}/sessions`),
    ],
    [
      'if the tenant changes the address',
      ({ acme, identity }) =>
        acme.patch(identity, [
          { op: 'replace', path: '/traits/email', value: 'set@example.com' },
        ]),
    ],
    ['with another change', ({ acme, token }) => changeAddress(acme, token, BOB)],
  ]

  test.each(ENDINGS)('%s', async (_, end) => {
    const change = await moving()
    await end(change)
    await expectOver(change)
  })

  test('with the recovery of an account whose address is unverified', async () => {
    const change = await moving(unproven)
    await recovered(change)
    await expectOver(change)
  })

  test('with another change, which is confirmed', async () => {
    const { acme, identity, token } = await moving()
    const second = await changeAddress(acme, token, BOB)
    flowIn(await acme.send(second, { code: acme.codeFor(BOB) }), 200, 'passed_challenge')
    expect(await emailOf(acme, identity)).toBe(BOB)
  })

  test('with the deletion of the person, and of its flow', async () => {
    const { acme, identity, flow, confirm } = await moving()
    await acme.api.delete(`${IDENTITIES}/${identity.id}`)
    expect((await confirm()).status).toBe(404)
    expect(rowsOf(app, 'gate_flows').map(({ id }) => id)).not.toContain(flow.id)
  })

  test('with its flow', async () => {
    const { acme, identity, flow } = await moving()
    clock.jump(FLOW_MS)
    expect((await acme.send(flow, { email: NEW })).status).toBe(410)
    expect(await emailOf(acme, identity)).toBe(ADA)
  })

  test('with five wrong codes, also for another code', async () => {
    const { acme, identity, flow, code } = await moving()
    for (const wrong of wrongCodes(code)) await acme.send(flow, { code: wrong })
    clock.jump(MAIL_GAP_MS)
    await acme.send(flow, { email: NEW })
    const answer = await acme.send(flow, { code: acme.codeFor(NEW) })
    expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain('code:4900001')
    expect(await emailOf(acme, identity)).toBe(ADA)
  })

  test('neither with a wrong password nor with another session', async () => {
    const { acme, confirm } = await moving()
    await acme.tryPassword(ADA, 'wrong and long')
    const { session } = await acme.signIn(ADA)
    await acme.api.delete(`${SESSIONS}/${session.id}`)
    flowIn(await confirm(), 200, 'passed_challenge')
  })
})

describe('another code for a change', () => {
  test('goes to the same address, and replaces the one before', async () => {
    const { acme, identity, flow, confirm } = await moving()
    clock.jump(CODE_MS)
    expect((await confirm()).status).toBe(422)
    const again = await acme.send(flow, { email: NEW })
    expect(messageIds(flowIn(again, 200, 'sent_email'))).toEqual([1080003])
    const kinds = acme.sentTo(NEW).map((mail) => mail?.kind)
    expect(kinds).toEqual(['address_change', 'address_change'])
    expect(messageIds((await confirm()).body)).toContain('code:4070006')
    flowIn(await acme.send(flow, { code: acme.codeFor(NEW) }), 200, 'passed_challenge')
    expect(await emailOf(acme, identity)).toBe(NEW)
  })

  test('goes to no other address', async () => {
    const { acme, flow } = await moving()
    clock.jump(MAIL_GAP_MS)
    for (const email of [BOB, ADA]) {
      const answer = await acme.send(flow, { email })
      expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain(4070005)
    }
    expect(acme.mailsTo(BOB)).toEqual([])
  })

  test('is sent every 30 seconds at most', async () => {
    const { acme, flow, confirm } = await moving()
    const soon = await acme.send(flow, { email: NEW })
    expect(soon).toMatchObject({ status: 429, body: { state: 'sent_email' } })
    expect(soon.headers.get('retry-after')).toBe('30')
    expect(acme.sentTo(NEW)).toHaveLength(1)
    flowIn(await confirm(), 200, 'passed_challenge')
  })
})

describe('a verification', () => {
  test('of the old address keeps it', async () => {
    const { acme, identity, token } = await moving(unproven)
    clock.jump(MAIL_GAP_MS)
    const { flow, code } = await waiting(acme, 'verification', ADA)
    await acme.send(flow, { code }, withToken(token))
    expect(await emailOf(acme, identity)).toBe(ADA)
    expect(await addressOf(acme, identity)).toMatchObject({ value: ADA, verified: true })
  })

  test('in another flow does not confirm a change', async () => {
    const { acme, identity, code } = await moving()
    const flow = await acme.start('verification')
    expect((await acme.send(flow, { code })).status).toBe(422)
    expect(await emailOf(acme, identity)).toBe(ADA)
  })
})

test('a change whose email comes too soon changes nothing, and leaves the waiting one', async () => {
  const { acme, identity, token, confirm } = await moving()
  const before = await acme.readIdentity(identity)
  const traits = { email: NEW, custom_data: { plan: 'gold' } }
  const answer = await acme.change(token, { method: 'profile', traits })
  expect(answer).toMatchObject({ status: 429, body: { state: 'show_form' } })
  expect(answer.headers.get('retry-after')).toBe('30')
  expect(node(answer.body, 'traits.email').attributes.value).toBe(NEW)
  expect(await acme.readIdentity(identity)).toEqual(before)
  expect(acme.mailsTo(ADA)).toHaveLength(1)
  flowIn(await confirm(), 200, 'passed_challenge')
})

// Counts the requests of one client.
test('one client asks so often in a minute', async () => {
  const own = await useFlows({ flags: { 'limits-sign-ins-per-minute': '3' } })
  const acme = await own.newTenant()
  const { token } = await signedIn(acme, ADA)
  const statuses: number[] = []
  const addresses = [1, 2, 3, 4, 5].map((n) => `many-${n}@example.com`)
  for (const email of addresses)
    statuses.push((await acme.change(token, { method: 'profile', traits: { email } })).status)
  expect(statuses).toEqual([200, 200, 200, 429, 429])
  expect(addresses.map((address) => acme.mailsTo(address).length)).toEqual([1, 1, 1, 0, 0])
})
