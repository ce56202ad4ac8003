import { expect, test } from 'bun:test'
import type { Json } from '../../fixture.ts'
import { ADA, BOB, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { flowIn, idsIn, isoAt, nextFlowIn } from './checked.ts'
import { MAIL_GAP_MS, type Tenant, useFlows, WAYS, wrongCode } from './code-fixture.ts'
import { messageIds, nodeNames } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const REFUSED = [422, 'code:4070006']

/** A person whose address is to be verified, and a flow that waits for the code. */
async function verifying(acme: Tenant, email = ADA) {
  const identity = await acme.unproven(email)
  return { identity, ...(await acme.waiting('verification', email)) }
}

/** Opens the link of the newest mail and presses its button. */
async function pressLink(acme: Tenant) {
  const browser = newBrowser(app)
  const done = await browser.press(await browser.visit(acme.linkFor(ADA)), ['method', 'code'])
  return browser.follow(done)
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
  expect([nodeNames(done), messageIds(done)]).toEqual([[], [1080002]])
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

test('The link verifies with one press of a button, in any browser, also once it is verified', async () => {
  const acme = await flows.newTenant()
  const { identity } = await verifying(acme)
  await pressLink(acme)
  expect(await acme.addressOf(identity)).toMatchObject({ verified: true })

  const globex = await flows.newTenant()
  const body = await globex.register(ADA)
  const { url } = nextFlowIn({ body }, 'show_verification_ui')
  const { body: flow } = await globex.readAt(url)
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
  expect((await acme.tryPassword(ADA)).status).toBe(200)
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
  const worthless = { identity_id: null, generation: null, address: ADA }
  expect(acme.codeRows(flow)).toMatchObject([worthless])
  if (why !== UNKNOWN)
    expect(await acme.addressOf(identity)).toEqual(identity.verifiable_addresses[0])
})

test('A code is refused once the address was verified in another way', async () => {
  const acme = await flows.newTenant()
  const { identity, flow, code } = await verifying(acme)
  clock.jump(MAIL_GAP_MS)
  await acme.recover(ADA)
  expect(idsIn(await acme.send(flow, { code }))).toEqual(REFUSED)
  expect(await acme.addressOf(identity)).toMatchObject({ verified: true })
})
