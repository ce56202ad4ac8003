import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../../support/target.ts'
import { rest } from '../../../relay/fixture.ts'
import { IDENTITIES, type Json, UNKNOWN_ID } from '../../fixture.ts'
import { personPath, told, typesTold } from '../../identities/people.ts'
import { ADA, BOB, connect, RETURN_TO, refuses, withToken } from './acts.ts'
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
import { csrfOf, messageIds, node, nodeNames, PASSWORD } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const CONTINUE: [string, string] = ['method', 'code']
const STARTED = { state: 'choose_method', type: 'browser', method: 'POST' }

/** A person whose address is to be verified, and a flow that waits for the code. */
async function verifying(acme: Tenant, email = ADA) {
  const identity = await unproven(acme, email)
  return { identity, ...(await waiting(acme, 'verification', email)) }
}

test('a verification flow asks for an address', async () => {
  const acme = await flows.newTenant()
  const flow = await acme.start('verification')
  const action = `${HOSTED}/verification?flow=${flow.id}`
  expect(factsOf(flow)).toEqual({
    ...STARTED,
    id: flow.id,
    issued_at: isoAt(clock.now()),
    expires_at: isoAt(clock.now() + FLOW_MS),
    request_url: 'http://127.0.0.1:8420/v1/gate/auth/verification',
    action,
    hosted_url: action,
  })
  expect([nodeNames(flow), messageIds(flow)]).toEqual([['code:email', 'code:method=code'], []])
})

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

  test.each<[Json, (number | string)[]]>([
    [{}, [4010006]],
    [{ method: 'oidc', provider: 'github' }, [4010006]],
    [{ method: 'code' }, ['email:4000002']],
    [{ email: 'ada@' }, ['email:4000040']],
    [{ email: { a: 1 } }, ['email:4000026']],
    [{ code: '123456' }, [4070006]],
  ])('needs an address: %j', async (fields, ids) => {
    const acme = await flows.newTenant()
    const answer = await send(acme, await acme.start('verification'), fields)
    expect(complaintsIn(flowIn(answer, 422, 'choose_method'))).toEqual(ids)
  })
})

test('a verification flow that the tenant submits is of its kind and of its tenant', async () => {
  const [acme, globex] = [await flows.newTenant(), await flows.newTenant()]
  const { flow, code } = await verifying(acme)
  const recovery = await acme.start('recovery')
  const missing = refuses(404, 'flow_not_found')
  for (const id of [UNKNOWN_ID, recovery.id])
    expect(await acme.submit('verification', { flow: id, code })).toMatchObject(missing)
  expect(await globex.submit('verification', { flow: flow.id, code })).toMatchObject(missing)
  flowIn(await acme.submit('verification', { flow: flow.id, code }), 200, 'passed_challenge')
})

test('no code is accepted without the CSRF token of the flow', async () => {
  const acme = await flows.newTenant()
  const { identity, flow, code } = await verifying(acme)
  const other = await acme.start('verification')
  for (const csrf_token of [undefined, '', csrfOf(other)])
    expect(await acme.send(flow, { csrf_token, code })).toMatchObject(
      refuses(403, 'security_csrf_violation'),
    )
  expect(await addressOf(acme, identity)).toMatchObject({ verified: false })
})

describe('the link in the email', () => {
  test('leads to a flow of its own, and verifies nothing by being opened', async () => {
    const acme = await flows.newTenant()
    const { identity, flow, code: typed } = await verifying(acme)
    const link = acme.linkFor(ADA)
    const { flow: id, code } = Object.fromEntries(new URL(link).searchParams)
    expect(id).not.toBe(flow.id)
    for (let n = 0; n < 10; n++) {
      const page = await newBrowser(app).visit(link)
      expect(page.forms).toMatchObject([{ hidden: { code }, fields: {} }])
    }
    expect(await addressOf(acme, identity)).toMatchObject({ verified: false })
    flowIn(await acme.send(flow, { code: typed }), 200, 'passed_challenge')
  })

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

  test('is not found under another kind, and leads from an expired flow to a new one', async () => {
    const acme = await flows.newTenant()
    await verifying(acme)
    const link = acme.linkFor(ADA)
    expect((await acme.open(link.replace('/verification?', '/recovery?'))).status).toBe(404)
    clock.jump(FLOW_MS)

    const page = await acme.open(link)
    expect(page.status).toBe(303)
    const next = page.headers.get('location') as string
    expect(next).not.toContain('code=')
    expect((await acme.open(next)).body).toContain('name="email"')
  })
})

describe('on pages', () => {
  test('each form redirects to the flow, which shows the result', async () => {
    const acme = await flows.newTenant()
    const identity = await unproven(acme, ADA)
    const flow = await acme.start('verification')
    const browser = newBrowser(app)
    const asking = await browser.visit(flow.ui.action)
    const sent = await browser.press(asking, CONTINUE, { email: ADA })
    expect([sent.status, sent.location]).toEqual([303, flow.ui.action])
    const code = acme.codeFor(ADA)
    const done = await browser.press(await browser.follow(sent), CONTINUE, { code })
    expect([done.status, done.location]).toEqual([303, flow.ui.action])
    expect((await browser.follow(done)).text).toContain('Your email address is verified')
    expect(await addressOf(acme, identity)).toMatchObject({ verified: true })
  })

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
  test('gets an email with a code for the flow that it is shown', async () => {
    const acme = await flows.newTenant()
    const body = await acme.register(ADA)
    const { id, url, verifiable_address } = nextFlowIn({ body }, 'show_verification_ui')
    expect(verifiable_address).toBe(ADA)
    expect(url).toBe(`${HOSTED}/verification?flow=${id}`)
    expect(acme.linkFor(ADA)).not.toContain(id)
    const flow = flowIn(await read(acme, { ui: { action: url } }), 200, 'sent_email')
    expect(messageIds(flow)).toEqual([1080003])
    flowIn(await acme.send(flow, { code: acme.codeFor(ADA) }), 200, 'passed_challenge')
    expect(await addressOf(acme, body.identity)).toMatchObject({ verified: true })
  })

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

test('a password needs no verified address', async () => {
  const acme = await flows.newTenant()
  await unproven(acme, ADA, { password: PASSWORD })
  expect((await acme.tryPassword(ADA)).status).toBe(200)
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

  test('are told once when a signed-in person verifies an address in two ways', async () => {
    await using target = startTarget()
    const acme = await telling(target.url)
    await unproven(acme, ADA, { password: PASSWORD })
    const { session_token: token } = await acme.signIn(ADA)
    const { flow, code } = await waiting(acme, 'verification', ADA)
    const again = await acme.start('login', withToken(token), '?refresh=true')
    await acme.sendWell(again, { method: 'code' }, withToken(token))
    await acme.sendWell(again, { code: acme.codeFor(ADA) }, withToken(token))
    await acme.send(flow, { code })
    await rest(app)
    expect(typesTold(target)).toEqual(['identity.email_verified'])
  })

  test.each(['recovery', 'login'] as const)('are told when a %s verifies it', async (kind) => {
    await using target = startTarget()
    const acme = await telling(target.url)
    await unproven(acme, ADA)
    const { flow, code } = await waiting(acme, kind, ADA)
    expect((await acme.send(flow, { code })).status).toBe(200)
    await rest(app)
    expect(typesTold(target)).toEqual(['identity.email_verified'])
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

describe('a code verifies nothing', () => {
  const move = (acme: Tenant, identity: Json, value: string) =>
    acme.patch(identity, [{ op: 'replace', path: '/traits/email', value }])

  const INTERRUPTIONS: [string, (acme: Tenant, identity: Json) => Promise<unknown>, Json][] = [
    ['is inactive', (acme, identity) => acme.setState(identity, 'inactive'), { verified: false }],
    [
      'was inactive for a while',
      async (acme, identity) => {
        await acme.setState(identity, 'inactive')
        await acme.setState(identity, 'active')
      },
      { verified: false },
    ],
    [
      'has another address',
      (acme, identity) => move(acme, identity, BOB),
      { value: BOB, verified: false },
    ],
    [
      'had another address for a while',
      async (acme, identity) => {
        for (const value of [BOB, ADA]) await move(acme, identity, value)
      },
      { value: ADA, verified: false },
    ],
    [
      'has verified the address in another way',
      async (acme) => {
        clock.jump(MAIL_GAP_MS)
        await recover(acme, ADA)
      },
      { verified: true },
    ],
  ]

  test.each(INTERRUPTIONS)('once the person %s', async (_, act, expected) => {
    const acme = await flows.newTenant()
    const { identity, flow, code } = await verifying(acme)
    await act(acme, identity)
    for (const state of ['active', 'active']) {
      const answer = await acme.send(flow, { code })
      expect(complaintsIn(flowIn(answer, 422, 'sent_email'))).toEqual(['code:4070006'])
      await acme.setState(identity, state)
    }
    expect(await addressOf(acme, identity)).toMatchObject(expected)
  })

  test('once the person is deleted, with the flow', async () => {
    const acme = await flows.newTenant()
    const { identity, flow, code } = await verifying(acme)
    await acme.api.delete(`${IDENTITIES}/${identity.id}`)
    expect(await acme.send(flow, { code })).toMatchObject({ status: 404 })
  })
})
