import { expect, test } from 'bun:test'
import { actionsOn, IDENTITIES, type Json } from '../../fixture.ts'
import { ADA, BOB, NEW_PASSWORD, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { flowIn, idsIn, isoAt } from './checked.ts'
import {
  CODE_MS,
  LINK_MS,
  MAIL_GAP_MS,
  type Tenant,
  useFlows,
  WAYS,
  wrongCode,
} from './code-fixture.ts'
import { messageIds, node, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const REFUSED = [422, 'code:4070006']

/** A person whose address is to be verified, and a flow that waits for the code. */
async function verifying(acme: Tenant, email = ADA) {
  const identity = await acme.unproven(email)
  return { identity, ...(await acme.waiting('verification', email)) }
}

test.each(WAYS)('A verification, sent %s, verifies the address once', async (_, send) => {
  const acme = await flows.newTenant()
  const identity = await acme.unproven(ADA)
  const flow = await acme.start('verification')
  const sent = flowIn(await send(acme, flow, { email: ADA }), 200, 'sent_email')
  expect(messageIds(sent)).toEqual([1080003])
  expect(await acme.addressOf(identity)).toMatchObject({ verified: false, status: 'sent' })

  const code = acme.codeFor(ADA)
  const done = flowIn(await send(acme, flow, { code }), 200, 'passed_challenge')
  expect(messageIds(done)).toEqual([1080002])
  expect(done).not.toHaveProperty('continue_with')
  expect(JSON.stringify(done)).not.toContain('gat_st_')
  const now = isoAt(clock.now())
  const completed = { status: 'completed', verified_at: now, updated_at: now }
  const verified = { value: ADA, verified: true, ...completed }
  expect(await acme.addressOf(identity)).toMatchObject(verified)
  expect(await acme.sessionsOf(identity)).toEqual([])

  clock.jump(MAIL_GAP_MS)
  for (const fields of [{ code }, { code: wrongCode(code) }, { email: ADA }, {}]) {
    const again = flowIn(await send(acme, flow, fields), 422, 'passed_challenge')
    expect(messageIds(again)).toContain(4070002)
  }
  expect(acme.mailsTo(ADA)).toHaveLength(1)
})

test('The link verifies with one press of a button in any browser, also once it is verified', async () => {
  const pressLink = async (acme: Tenant) => {
    const browser = newBrowser(app)
    const page = await browser.visit(acme.linkFor(ADA))
    return browser.follow(await browser.press(page, ['method', 'code']))
  }
  const acme = await flows.newTenant()
  const { identity } = await verifying(acme)
  await pressLink(acme)
  expect(await acme.addressOf(identity)).toMatchObject({ verified: true })

  const globex = await flows.newTenant()
  const { continue_with } = await globex.register(ADA)
  const { body: flow } = await globex.readAt(continue_with[1].flow.url)
  flowIn(await globex.send(flow, { code: globex.codeFor(ADA) }), 200, 'passed_challenge')
  expect((await pressLink(globex)).text).toContain('Your email address is verified')
})

test('A new account keeps its credentials and its session when its owner verifies the address', async () => {
  const acme = await flows.newTenant()
  const { session_token: token, identity } = await acme.register(ADA)
  await acme.connect(identity, 'github', `github-${identity.id}`)
  clock.jump(MAIL_GAP_MS)
  const { flow, code } = await acme.waiting('verification', ADA)
  await acme.send(flow, { code }, withToken(token))
  expect(await acme.whose(token)).toBe(identity.id)
  expect(await acme.credentialsOf(identity)).toEqual(['oidc', 'password'])
})

test('Webhooks are told of a verified address once, and not of wrong codes', async () => {
  const acme = await flows.newTenant()
  const { identity, flow, code } = await verifying(acme)
  await using hooks = await acme.listening()
  await acme.send(flow, { code: wrongCode(code) })
  const both = await Promise.all([acme.send(flow, { code }), acme.send(flow, { code })])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 422])
  clock.jump(MAIL_GAP_MS)
  await acme.recover(ADA)
  const data = { identity_id: identity.id, payload: {} }
  expect(await hooks.events()).toMatchObject([{ event_type: 'identity.email_verified', data }])
})

test('Another email ends the code before it, and no code of others', async () => {
  const acme = await flows.newTenant()
  const { flow, code } = await verifying(acme)
  const bob = await verifying(acme, BOB)
  clock.jump(MAIL_GAP_MS)
  await acme.asked('verification', ADA)
  expect(idsIn(await acme.send(flow, { code }))).toEqual(REFUSED)
  flowIn(await acme.send(bob.flow, { code: bob.code }), 200, 'passed_challenge')
})

const UNKNOWN = 'withheld: no account has this address'

test.each<[string, (acme: Tenant) => Promise<unknown>, string]>([
  ['a verified address', (acme) => acme.person(ADA), 'withheld: the address is already verified'],
  ['an unknown address', async () => undefined, UNKNOWN],
  ['an inactive person', (acme) => acme.unproven(ADA, { state: 'inactive' }), UNKNOWN],
  ['a person of another tenant', async () => (await flows.newTenant()).unproven(ADA), UNKNOWN],
])('An email is withheld with the same answer for %s', async (_, prepare, why) => {
  const acme = await flows.newTenant()
  const identity = (await prepare(acme)) as Json
  const flow = await acme.asked('verification', ADA)
  expect(messageIds(flow)).toEqual([1080003])
  expect([acme.fatesOf(ADA), acme.sentTo(ADA)]).toEqual([[why], []])
  expect(acme.codeRows(flow)).toMatchObject([{ identity_id: null, generation: null }])
  if (why !== UNKNOWN)
    expect(await acme.addressOf(identity)).toEqual(identity.verifiable_addresses[0])
})

const NEW = 'new.address@example.com'

/** A signed-in person, and a change of their address to NEW that waits for its code. */
async function moving(fields: Json = {}) {
  const acme = await flows.newTenant()
  const { identity, token } = await acme.signedIn(ADA, fields)
  const flow = await acme.changeAddress(token, NEW)
  const code = acme.codeFor(NEW)
  const confirm = (typed = code) => acme.send(flow, { code: typed })
  return { acme, identity, token, flow, code, confirm }
}

type Moving = Awaited<ReturnType<typeof moving>>

test('A change of the address emails a code to the new one and a notice to the old, and waits', async () => {
  const { acme, identity, token, flow, code } = await moving()
  expect((await acme.readIdentity(identity)).traits.email).toBe(ADA)
  expect(await acme.addressOf(identity)).toMatchObject({ value: ADA, verified: true })
  expect((await acme.tryPassword(ADA)).status).toBe(200)
  expect((await acme.tryPassword(NEW)).status).toBe(422)
  expect(await acme.whose(token)).toBe(identity.id)
  expect(flow.state).toBe('sent_email')
  expect(JSON.stringify(flow)).not.toContain(identity.id)

  expect(acme.sentTo(NEW)).toHaveLength(1)
  const mail = { kind: 'address_change', expiresAt: clock.now() + LINK_MS }
  expect(acme.sentTo(NEW)[0]).toMatchObject(mail)
  expect(acme.linkFor(NEW)).not.toContain(flow.id)
  const [notice] = acme.sentTo(ADA)
  expect(notice?.kind).toBe('notice')
  expect(notice?.body?.text).toContain('n•••@example.com')
  const said = JSON.stringify([notice?.subject, notice?.body])
  for (const secret of [NEW, 'new.address', code]) expect(said).not.toContain(secret)
  clock.jump(MAIL_GAP_MS)
  await acme.asked('recovery', NEW)
  expect(acme.fatesOf(NEW)[0]).toStartWith('withheld')
})

test('The old address is notified even if it was just written to', async () => {
  const acme = await flows.newTenant()
  const { token } = await acme.signedIn(ADA)
  // Anyone with a stolen session could ask for an email first.
  await acme.asked('recovery', ADA)
  await acme.changeAddress(token, NEW)
  expect(acme.sentTo(ADA).map((mail) => mail?.kind)).toEqual(['notice', 'recovery'])
})

test('The code replaces the old address, which is free then, and keeps other data', async () => {
  const metadata_public = { roles: ['admin'] }
  const { acme, identity, token, confirm } = await moving({ metadata_public })
  const custom_data = { plan: 'gold', seats: [1, 2], nothing: null }
  await acme.patch(identity, [{ op: 'add', path: '/traits/custom_data', value: custom_data }])
  await using hooks = await acme.listening()
  const about = `identity:${identity.id}`
  const before = actionsOn(app, about)
  const answers = await Promise.all([confirm(), confirm()])
  const done = answers.find(({ status }) => status === 200)?.body
  expect([done.state, messageIds(done)]).toEqual(['passed_challenge', [1080002]])
  expect(await hooks.events()).toMatchObject([{ event_type: 'identity.email_verified' }])
  expect(actionsOn(app, about).slice(before.length)).toEqual(['identity.updated'])

  const verified = { verified: true, status: 'completed', verified_at: isoAt(clock.now()) }
  expect(await acme.readIdentity(identity)).toMatchObject({
    traits: { email: NEW, custom_data, tenant_id: acme.tenantId },
    metadata_public,
    verifiable_addresses: [{ value: NEW, ...verified }],
    recovery_addresses: [{ value: NEW }],
    credentials: { password: { identifiers: [NEW] } },
  })
  expect((await acme.tryPassword(NEW)).status).toBe(200)
  expect((await acme.tryPassword(ADA)).status).toBe(422)
  expect(await acme.whose(token)).toBe(identity.id)
  expect(await acme.person(ADA)).toMatchObject({ traits: { email: ADA } })
})

const UNPROVEN = { isProven: false }

test('A verification of the old address keeps it; a stranger who asks for one stops no change', async () => {
  const { acme, identity, token, flow, code } = await moving(UNPROVEN)
  clock.jump(MAIL_GAP_MS)
  const other = await acme.waiting('verification', ADA)
  flowIn(await acme.send(flow, { code }, withToken(token)), 200, 'passed_challenge')
  expect(await acme.emailOf(identity)).toBe(NEW)
  expect((await acme.send(other.flow, { code: other.code }, withToken(token))).status).toBe(422)

  const second = await moving(UNPROVEN)
  clock.jump(MAIL_GAP_MS)
  const old = await second.acme.waiting('verification', ADA)
  await second.acme.send(old.flow, { code: old.code }, withToken(second.token))
  const kept = { value: ADA, verified: true }
  expect(await second.acme.addressOf(second.identity)).toMatchObject(kept)
})

test('A change needs a sign-in if the link is opened in another browser', async () => {
  const { acme, identity } = await moving()
  const browser = newBrowser(app)
  const page = await browser.visit(acme.linkFor(NEW))
  const asking = await browser.follow(await browser.press(page, ['method', 'code']))
  expect(asking.forms.flatMap(({ buttons }) => buttons)).toEqual([['confirm_by', 'sign_in']])
  // The mailbox is not that of the account, so it doesn't suffice to take the account over.
  const { action = '', hidden } = asking.forms[0] ?? {}
  const taking = await browser.post(action, { ...hidden, confirm_by: 'recovery' })
  expect(taking.status).toBe(422)
  expect(await acme.emailOf(identity)).toBe(ADA)

  const signIn = await browser.follow(await browser.press(asking, ['confirm_by', 'sign_in']))
  expect(signIn.html).not.toContain(ADA)
  const fields = { identifier: ADA, password: PASSWORD }
  const done = await browser.press(signIn, ['method', 'password'], fields)
  expect((await browser.follow(done)).text).toContain('Your email address is verified')
  expect(await acme.emailOf(identity)).toBe(NEW)
})

test('The address is stored in its one spelling; other data of the form changes at once', async () => {
  const acme = await flows.newTenant()
  const { token, identity } = await acme.signedIn(ADA)
  const before = await acme.readIdentity(identity)
  const fields = { method: 'profile', traits: { email: ADA.toUpperCase() } }
  const same = flowIn(await acme.change(token, fields), 200, 'success')
  expect(same).not.toHaveProperty('continue_with')
  expect(await acme.readIdentity(identity)).toEqual(before)

  const traits = { email: ` ${NEW.toUpperCase()} `, custom_data: { plan: 'gold' } }
  await acme.change(token, { method: 'profile', traits })
  const changed = { ...traits, email: ADA }
  expect((await acme.readIdentity(identity)).traits).toMatchObject(changed)
  expect(acme.sentTo(NEW)).toHaveLength(1)
})

test('An address that is taken is answered like any other, also when another code is asked for', async () => {
  const acme = await flows.newTenant()
  const holder = await acme.person(NEW)
  const answersFor = async (email: string, address: string) => {
    const { token, identity } = await acme.signedIn(email)
    const flow = await acme.changeAddress(token, address)
    const soon = await acme.send(flow, { email: address })
    clock.jump(MAIL_GAP_MS)
    const later = await acme.send(flow, { email: address })
    expect(acme.sentTo(email)).toMatchObject([{ kind: 'notice' }])
    expect(await acme.emailOf(identity)).toBe(email)
    const ids = [soon, later].map(({ status, body }) => [status, messageIds(body)])
    return [messageIds(flow), flow.ui.nodes.length, ...ids]
  }
  expect(await answersFor(ADA, NEW)).toEqual(await answersFor(BOB, 'free@example.com'))
  const withheld = 'withheld: another account has this address'
  expect(acme.fatesOf(NEW)).toEqual([withheld, withheld])
  expect(await acme.emailOf(holder)).toBe(NEW)
})

test('An address goes to the first of two people who confirm it, and is not taken from its holder', async () => {
  const { acme, identity, confirm } = await moving()
  const bob = await acme.signedIn(BOB)
  clock.jump(MAIL_GAP_MS)
  const second = await acme.changeAddress(bob.token, NEW)
  const won = await acme.send(second, { code: acme.codeFor(NEW) })
  flowIn(won, 200, 'passed_challenge')
  expect(messageIds(flowIn(await confirm(), 422, 'sent_email'))).toContain(4900010)
  expect(await acme.emailOf(bob.identity)).toBe(NEW)
  expect(await acme.addressOf(identity)).toMatchObject({ value: ADA, verified: true })
})

const recovered = async ({ acme }: Moving) => {
  clock.jump(MAIL_GAP_MS)
  await acme.recover(ADA)
}
const deactivatedForAWhile = async ({ acme, identity }: Moving) => {
  for (const state of ['inactive', 'active']) await acme.setState(identity, state)
}
const moved = [{ op: 'replace', path: '/traits/email', value: 'set@example.com' }]
const byPassword = { method: 'password', password: NEW_PASSWORD }

test.each<[string, (moving: Moving) => Promise<unknown>, Json]>([
  ['with a recovery', recovered, {}],
  ['with a recovery that verifies the address', recovered, UNPROVEN],
  ['with a new password', ({ acme, token }) => acme.change(token, byPassword), {}],
  ['if the person is deactivated for a while', deactivatedForAWhile, {}],
  [
    'if the tenant ends all sessions',
    ({ acme, identity }) => acme.api.delete(`${IDENTITIES}/${identity.id}/sessions`),
    {},
  ],
  ['if the tenant changes the address', ({ acme, identity }) => acme.patch(identity, moved), {}],
  ['with another change', ({ acme, token }) => acme.changeAddress(token, BOB), {}],
])('A waiting change ends %s', async (_, end, fields) => {
  const change = await moving(fields)
  await end(change)
  // Neither its code nor another one moves anything.
  const { acme, identity, flow, confirm } = change
  const before = await acme.readIdentity(identity)
  expect([404, 422]).toContain((await confirm()).status)
  clock.jump(MAIL_GAP_MS)
  const mails = acme.sentTo(NEW).length
  expect([404, 422]).toContain((await acme.send(flow, { email: NEW })).status)
  expect(acme.sentTo(NEW)).toHaveLength(mails)
  await confirm(acme.codeFor(NEW))
  expect(await acme.readIdentity(identity)).toEqual(before)
})

test('Another code goes to the same address alone, every 30 seconds, and replaces the one before', async () => {
  const { acme, identity, flow, confirm } = await moving()
  const soon = await acme.send(flow, { email: NEW })
  expect(soon).toMatchObject({ status: 429, body: { state: 'sent_email' } })
  expect(soon.headers.get('retry-after')).toBe('30')
  expect(acme.sentTo(NEW)).toHaveLength(1)
  clock.jump(CODE_MS)
  for (const email of [BOB, ADA]) {
    const answer = await acme.send(flow, { email })
    expect(messageIds(flowIn(answer, 422, 'sent_email'))).toContain(4070005)
  }
  expect(acme.mailsTo(BOB)).toEqual([])

  expect((await confirm()).status).toBe(422)
  const again = await acme.send(flow, { email: NEW })
  expect(messageIds(flowIn(again, 200, 'sent_email'))).toEqual([1080003])
  expect(acme.sentTo(NEW)[0]?.kind).toBe('address_change')
  expect(idsIn(await confirm())).toEqual([422, 'code:4070006'])
  flowIn(await confirm(acme.codeFor(NEW)), 200, 'passed_challenge')
  expect(await acme.emailOf(identity)).toBe(NEW)
})

test('A change whose email comes too soon changes nothing, and leaves the waiting one', async () => {
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
