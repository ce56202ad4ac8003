import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../../support/target.ts'
import { rest } from '../../../relay/fixture.ts'
import type { Json } from '../../fixture.ts'
import { personPath, told, typesTold } from '../../identities/people.ts'
import { ADA, BOB, connect, RETURN_TO, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import {
  addressOf,
  asked,
  CODE_MS,
  codeRows,
  complaintsIn,
  credentialsOf,
  FLOW_MS,
  factsOf,
  fatesOf,
  flowIn,
  HOSTED,
  isoAt,
  MAIL_GAP_MS,
  nextFlowIn,
  person,
  read,
  recover,
  sessionsOf,
  type Tenant,
  unproven,
  useFlows,
  WAYS,
  waiting,
  whose,
  wrongCode,
} from './code-fixture.ts'
import { messageIds, node, nodeNames } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const CONTINUE: [string, string] = ['method', 'code']
/** A person whose address is to be verified, and a flow that waits for the code. */
async function verifying(acme: Tenant, email = ADA) {
  const identity = await unproven(acme, email)
  return { identity, ...(await waiting(acme, 'verification', email)) }
}

describe.each(WAYS)('a verification, sent %s', (_, send) => {
  test('verifies the address with the code, once, and opens no session', async () => {
    const acme = await flows.newTenant()
    const identity = await unproven(acme, ADA)
    const flow = await acme.start('verification')
    const sent = flowIn(await send(acme, flow, { email: ADA }), 200, 'sent_email')
    expect(factsOf(sent)).toEqual({ ...factsOf(flow), state: 'sent_email', active: 'code' })
    const entry = ['code:code', 'code:method=code', 'code:method=code', `code:email=${ADA}`]
    expect([nodeNames(sent), messageIds(sent)]).toEqual([entry, [1080003]])
    expect(node(sent, 'code').attributes.value).toBe('')
    expect(await addressOf(acme, identity)).toMatchObject({ verified: false, status: 'sent' })

    const code = acme.codeFor(ADA)
    const done = flowIn(await send(acme, flow, { code }), 200, 'passed_challenge')
    expect([nodeNames(done), messageIds(done)]).toEqual([[], [1080002]])
    expect(done).not.toHaveProperty('continue_with')
    expect(JSON.stringify(done)).not.toContain('gat_st_')
    const now = isoAt(clock.now())
    const completed = { status: 'completed', verified_at: now, updated_at: now }
    const verified = { value: ADA, verified: true, ...completed }
    expect(await addressOf(acme, identity)).toMatchObject(verified)
    expect(await sessionsOf(acme, identity)).toEqual([])

    clock.jump(MAIL_GAP_MS)
    for (const fields of [{ code }, { code: wrongCode(code) }, { email: ADA }, {}]) {
      const again = flowIn(await send(acme, flow, fields), 422, 'passed_challenge')
      expect(messageIds(again)).toContain(4070002)
    }
    expect(acme.mailsTo(ADA)).toHaveLength(1)
  })
})

describe('the link in the email', () => {
  test('verifies with one press of a button, in any browser', async () => {
    const acme = await flows.newTenant()
    const { identity } = await verifying(acme)
    const browser = newBrowser(app)
    const done = await browser.press(await browser.visit(acme.linkFor(ADA)), CONTINUE)
    expect(done.status).toBe(303)
    expect(await addressOf(acme, identity)).toMatchObject({ verified: true })
  })

  test('can be opened after the address is verified', async () => {
    const acme = await flows.newTenant()
    const body = await acme.register(ADA)
    const { url } = nextFlowIn({ body }, 'show_verification_ui')
    const { body: flow } = await read(acme, { ui: { action: url } })
    flowIn(await acme.send(flow, { code: acme.codeFor(ADA) }), 200, 'passed_challenge')
    const browser = newBrowser(app)
    const pressed = await browser.press(await browser.visit(acme.linkFor(ADA)), CONTINUE)
    expect((await browser.follow(pressed)).text).toContain('Your email address is verified')
  })
})

describe('on pages', () => {
  test('a link leads back to the app', async () => {
    const acme = await flows.newTenant()
    await unproven(acme, ADA)
    const flow = await acme.start('verification', { 'x-return-to': RETURN_TO })
    await acme.send(flow, { email: ADA })
    const answer = await acme.send(flow, { code: acme.codeFor(ADA) })
    const done = flowIn(answer, 200, 'passed_challenge')
    expect(done.return_to).toBe(RETURN_TO)
    expect(node(done, 'continue')).toMatchObject({ type: 'a', attributes: { href: RETURN_TO } })
    expect((await acme.open(flow.ui.action)).body).toContain(`href="${RETURN_TO}"`)
  })
})

describe('a new account', () => {
  test('keeps its credentials and its session when its owner verifies the address', async () => {
    const acme = await flows.newTenant()
    const { session_token: token, identity } = await acme.register(ADA)
    await connect(acme, identity, 'github', `github-${identity.id}`)
    clock.jump(MAIL_GAP_MS)
    const { flow, code } = await waiting(acme, 'verification', ADA)
    await acme.send(flow, { code }, withToken(token))
    expect(await whose(acme, token)).toBe(identity.id)
    expect(await credentialsOf(acme, identity)).toEqual(['oidc', 'password'])
    expect((await acme.tryPassword(ADA)).status).toBe(200)
  })
})

describe('webhooks', () => {
  /** A tenant whose webhook is told of verified addresses. */
  async function telling(url: string) {
    const acme = await flows.newTenant({ passwordless_enabled: true })
    await acme.createWebhook(url, { events: ['identity.email_verified'] })
    return acme
  }

  test('are told of a verified address once, however often it is verified', async () => {
    await using target = startTarget()
    const acme = await telling(target.url)
    const { identity, flow, code } = await verifying(acme)
    const both = await Promise.all([acme.send(flow, { code }), acme.send(flow, { code })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 422])
    clock.jump(MAIL_GAP_MS)
    await recover(acme, ADA)
    const login = await waiting(acme, 'login', ADA)
    expect((await acme.send(login.flow, { code: login.code })).status).toBe(200)
    await rest(app)
    expect(told(target)).toEqual([
      {
        event_id: expect.any(String),
        event_type: 'identity.email_verified',
        tenant_id: acme.tenantId,
        created_at: expect.any(String),
        data: { identity_id: identity.id, payload: {} },
      },
    ])
  })

  test('are not told of wrong, late and requested codes', async () => {
    await using target = startTarget()
    const acme = await telling(target.url)
    const { flow, code } = await verifying(acme)
    await acme.send(flow, { code: wrongCode(code) })
    clock.jump(CODE_MS)
    await acme.send(flow, { code })
    await rest(app)
    expect(typesTold(target)).toEqual([])
  })
})

describe('another email', () => {
  const resend = (acme: Tenant, identity: Json) =>
    acme.api.post(personPath(identity, '/resend-verification'))

  const OTHERS: [string, (acme: Tenant, identity: Json) => Promise<unknown>][] = [
    ['a user asks for', (acme) => asked(acme, 'verification', ADA)],
    ['the tenant asks for', resend],
  ]

  test.each(OTHERS)('that %s ends the code before it, and no code of others', async (_, ask) => {
    const acme = await flows.newTenant()
    const { identity, flow, code } = await verifying(acme)
    const bob = await verifying(acme, BOB)
    clock.jump(MAIL_GAP_MS)
    await ask(acme, identity)
    const late = await acme.send(flow, { code })
    expect(complaintsIn(flowIn(late, 422, 'sent_email'))).toEqual(['code:4070006'])
    flowIn(await acme.send(bob.flow, { code: bob.code }), 200, 'passed_challenge')
  })

  test('that the tenant asks for has a code that lasts as long as its flow', async () => {
    const acme = await flows.newTenant()
    const identity = await unproven(acme, ADA)
    const { body } = await resend(acme, identity)
    const action = `${HOSTED}/verification?flow=${body.flow.id}`
    const flow = flowIn(await read(acme, { ui: { action } }), 200, 'sent_email')
    expect(flow.expires_at).toBe(body.flow.expires_at)
    clock.jump(FLOW_MS - 1)
    flowIn(await acme.send(flow, { code: acme.codeFor(ADA) }), 200, 'passed_challenge')
    expect(await addressOf(acme, identity)).toMatchObject({ verified: true })
  })
})

describe('an email is withheld with the same answer', () => {
  const UNKNOWN = 'withheld: no account has this address'

  test.each<[string, (acme: Tenant) => Promise<unknown>, string]>([
    [
      'a verified address',
      (acme) => person(acme, ADA),
      'withheld: the address is already verified',
    ],
    ['an unknown address', async () => undefined, UNKNOWN],
    ['an inactive person', (acme) => unproven(acme, ADA, { state: 'inactive' }), UNKNOWN],
    ['a person of another tenant', async () => unproven(await flows.newTenant(), ADA), UNKNOWN],
  ])('for %s', async (_, prepare, why) => {
    const acme = await flows.newTenant()
    await prepare(acme)
    const flow = await asked(acme, 'verification', ADA)
    expect(messageIds(flow)).toEqual([1080003])
    expect([fatesOf(acme, ADA), acme.sentTo(ADA)]).toEqual([[why], []])
    const worthless = { identity_id: null, generation: null, address: ADA }
    expect(codeRows(acme, flow)).toMatchObject([worthless])
  })

  test('and changes nothing of a verified address', async () => {
    const acme = await flows.newTenant()
    const identity = await person(acme, ADA)
    const before = await addressOf(acme, identity)
    await asked(acme, 'verification', ADA)
    expect(await addressOf(acme, identity)).toEqual(before)
  })
})

test('a code is refused once the address was verified in another way', async () => {
  const acme = await flows.newTenant()
  const { identity, flow, code } = await verifying(acme)
  clock.jump(MAIL_GAP_MS)
  await recover(acme, ADA)
  const answer = await acme.send(flow, { code })
  expect(complaintsIn(flowIn(answer, 422, 'sent_email'))).toEqual(['code:4070006'])
  expect(await addressOf(acme, identity)).toMatchObject({ verified: true })
})
