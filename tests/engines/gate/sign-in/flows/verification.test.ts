import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../../support/target.ts'
import { rest } from '../../../relay/fixture.ts'
import { expectDescribed } from '../../../relay/support.ts'
import { HOUR, IDENTITIES, type Json, UNKNOWN_ID } from '../../fixture.ts'
import { personPath, rowsOf, told, typesTold, withoutFreeForm } from '../../identities/people.ts'
import { newBrowser } from './browser.ts'
import {
  asked,
  bootCrowd,
  CODE_MS,
  complaintsIn,
  connect,
  credentialsOf,
  FLOW_MS,
  factsOf,
  fatesOf,
  flowIn,
  MAIL_GAP_MS,
  nextFlowIn,
  person,
  read,
  recover,
  unproven,
  WAYS,
  whose,
  wrongCode,
} from './code-fixture.ts'
import {
  AUTH,
  bootFlows,
  csrfOf,
  type FlowFixture,
  flowParty,
  messageIds,
  node,
  nodeNames,
  PASSWORD,
} from './fixture.ts'

let fixture: FlowFixture
let document: Json
beforeAll(async () => {
  fixture = await bootCrowd()
  document = (await fixture.app.raw('/openapi.json')).body
})
afterAll(() => fixture.app.stop())

let people = 0
const newAddress = () => `verifies-${people++}@example.com`

/** Somebody whose address is still to be proven. */
async function somebody(fields: Json = {}) {
  const email = newAddress()
  return { email, identity: await unproven(fixture, email, fields) }
}

const addressOf = async (identity: Json): Promise<Json> =>
  (await fixture.readIdentity(identity)).verifiable_addresses[0]

describe('a verification flow', () => {
  test('asks for an address, and for nothing else', async () => {
    const flow = await fixture.start('verification')

    const at = fixture.clock.now()
    expect(factsOf(flow)).toEqual({
      id: flow.id,
      type: 'browser',
      issued_at: new Date(at).toISOString(),
      expires_at: new Date(at + FLOW_MS).toISOString(),
      request_url: 'http://127.0.0.1:8420/v1/gate/auth/verification',
      state: 'choose_method',
      action: `http://127.0.0.1:8420/auth/self-service/verification?flow=${flow.id}`,
      hosted_url: `http://127.0.0.1:8420/auth/self-service/verification?flow=${flow.id}`,
      method: 'POST',
    })
    expect(nodeNames(flow)).toEqual(['code:email', 'code:method=code'])
    expect(messageIds(flow)).toEqual([])
  })

  test('needs the key of a tenant, with the scope for flows', async () => {
    const { key } = await fixture.acme.key('gate', 'live', ['identities.read'])
    const ask = (headers: Record<string, string>) =>
      fixture.app.raw(`${AUTH}/verification`, { headers }).then(({ status }) => status)

    expect(await ask({})).toBe(401)
    expect(await ask({ authorization: `Bearer ${key}` })).toBe(403)
  })
})

describe.each(WAYS)('an address is proven, %s', (name, bring) => {
  const isWithKey = name.startsWith('by the tenant')
  const sendIt = async (flow: Json, fields: Json) => {
    const answer = await bring(fixture, flow, fields)
    const path = isWithKey ? `${AUTH}/verification/submit` : '/auth/self-service/verification'
    expectDescribed(document, 'post', path, withoutFreeForm(path, answer))
    return answer
  }

  test('by a code that is sent there first', async () => {
    const { email, identity } = await somebody()
    const flow = await fixture.start('verification')

    const sent = flowIn(await sendIt(flow, { method: 'code', email }), 200, 'sent_email')

    expect(factsOf(sent)).toEqual({ ...factsOf(flow), state: 'sent_email', active: 'code' })
    expect(nodeNames(sent)).toEqual([
      'code:code',
      'code:method=code',
      'code:method=code',
      `code:email=${email}`,
    ])
    expect(node(sent, 'code').attributes.value).toBe('')
    expect(messageIds(sent)).toEqual([1080003])
    expect(await addressOf(identity)).toMatchObject({ verified: false, status: 'sent' })
  })

  test('by the code that comes back: no session begins by it', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'verification', email)

    const answer = await sendIt(flow, { method: 'code', code: fixture.codeFor(email) })

    const done = flowIn(answer, 200, 'passed_challenge')
    expect(nodeNames(done)).toEqual([])
    expect(messageIds(done)).toEqual([1080002])
    expect(done).not.toHaveProperty('continue_with')
    expect(JSON.stringify(done)).not.toContain('gat_st_')
    const now = new Date(fixture.clock.now()).toISOString()
    expect(await addressOf(identity)).toMatchObject({
      value: email,
      verified: true,
      status: 'completed',
      verified_at: now,
      updated_at: now,
    })
    expect((await fixture.api.get(personPath(identity, '/sessions'))).body).toEqual([])
  })

  test('by what is left of a form when the method is not named', async () => {
    const { email, identity } = await somebody()
    const flow = await fixture.start('verification')

    flowIn(await sendIt(flow, { email }), 200, 'sent_email')
    flowIn(await sendIt(flow, { code: fixture.codeFor(email) }), 200, 'passed_challenge')

    expect(await addressOf(identity)).toMatchObject({ verified: true })
  })

  test('once: what is sent to a flow that is over is refused', async () => {
    const { email } = await somebody()
    const flow = await asked(fixture, 'verification', email)
    const code = fixture.codeFor(email)
    flowIn(await sendIt(flow, { code }), 200, 'passed_challenge')
    fixture.clock.jump(MAIL_GAP_MS)

    for (const fields of [{ code }, { code: wrongCode(code) }, { email }, {}])
      expect(messageIds(flowIn(await sendIt(flow, fields), 422, 'passed_challenge'))).toContain(
        4070002,
      )
    expect(fixture.mailsTo(email)).toHaveLength(1)
  })

  test.each<[string, Json, (number | string)[]]>([
    ['nothing', {}, [4010006]],
    ['another method', { method: 'oidc', provider: 'github' }, [4010006]],
    ['no address', { method: 'code' }, ['email:4000002']],
    ['what is no address', { email: 'ada@' }, ['email:4000040']],
    ['an address that is an object', { email: { a: 1 } }, ['email:4000026']],
    ['a code before there is one', { code: '123456' }, [4070006]],
  ])('and not with %s', async (_, fields, ids) => {
    const flow = await fixture.start('verification')

    expect(complaintsIn(flowIn(await sendIt(flow, fields), 422, 'choose_method'))).toEqual(ids)
  })
})

describe('with a key', () => {
  test('a flow has to be named', async () => {
    for (const flow of [undefined, '', null, 7])
      expect(await fixture.submit('verification', { flow, email: newAddress() })).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^flow: is required/) },
      })
  })

  test('one that there is not, or that is of another kind or tenant, is not found', async () => {
    const other = await flowParty(fixture.app)
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'verification', email)
    const recovery = await fixture.start('recovery')
    const code = fixture.codeFor(email)
    const missing = { status: 404, body: { id: 'flow_not_found', error: 'flow not found' } }

    for (const id of [UNKNOWN_ID, recovery.id])
      expect(await fixture.submit('verification', { flow: id, code })).toMatchObject(missing)
    expect(await other.submit('verification', { flow: flow.id, code })).toMatchObject(missing)

    expect(await addressOf(identity)).toMatchObject({ verified: false })
    const answer = await fixture.submit('verification', { flow: flow.id, code })
    flowIn(answer, 200, 'passed_challenge')
  })

  test('somebody without a key, or without the scope, is refused before anything is looked at', async () => {
    const { key } = await fixture.acme.key('gate', 'live', ['identities.read'])
    const post = (authorization: string) =>
      fixture.app.raw(`${AUTH}/verification/submit`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body: '{',
      })

    expect((await post('')).status).toBe(401)
    expect((await post(`Bearer ${key}`)).status).toBe(403)
    expect((await post(`Bearer ${fixture.key}`)).status).toBe(400)
  })
})

test('without a key nothing is taken but with the token of the flow', async () => {
  const { email, identity } = await somebody()
  const flow = await asked(fixture, 'verification', email)
  const code = fixture.codeFor(email)
  const other = await fixture.start('verification')

  for (const csrf_token of [undefined, '', csrfOf(other)])
    expect(await fixture.send(flow, { csrf_token, code })).toMatchObject({
      status: 403,
      body: { id: 'security_csrf_violation' },
    })

  expect(await addressOf(identity)).toMatchObject({ verified: false })
})

describe('the link in the mail', () => {
  test('leads to a flow of its own with its secret filled in, and proves nothing by itself', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'verification', email)
    const { flow: id, code } = Object.fromEntries(new URL(fixture.linkFor(email)).searchParams)
    expect(id).not.toBe(flow.id)

    for (let n = 0; n < 10; n++) {
      const page = await newBrowser(fixture.app).visit(fixture.linkFor(email))
      expect(page.forms).toMatchObject([{ hidden: { code }, fields: {} }])
    }

    expect(await addressOf(identity)).toMatchObject({ verified: false })
    flowIn(await fixture.send(flow, { code: fixture.codeFor(email) }), 200, 'passed_challenge')
  })

  test('can be opened after all is done, and says so', async () => {
    const email = newAddress()
    const body = await fixture.register(email)
    const { url } = nextFlowIn({ body }, 'show_verification_ui')
    const flow = flowIn(await read(fixture, { ui: { action: url } }), 200, 'sent_email')
    flowIn(await fixture.send(flow, { code: fixture.codeFor(email) }), 200, 'passed_challenge')
    const browser = newBrowser(fixture.app)

    const page = await browser.visit(fixture.linkFor(email))
    const done = await browser.follow(await browser.press(page, ['method', 'code']))

    expect(done.text).toContain('Your email address is verified')
  })

  test('of another kind leads nowhere', async () => {
    const { email } = await somebody()
    await asked(fixture, 'verification', email)

    const link = fixture.linkFor(email).replace('/verification?', '/recovery?')

    expect((await fixture.open(link)).status).toBe(404)
  })

  test('leads on from an expired flow to one that asks anew, without the code', async () => {
    const { email } = await somebody()
    await asked(fixture, 'verification', email)
    const link = fixture.linkFor(email)
    fixture.clock.jump(FLOW_MS)

    const page = await fixture.open(link)

    expect(page.status).toBe(303)
    expect(page.headers.get('location')).not.toContain('code=')
    expect((await fixture.open(page.headers.get('location') as string)).body).toContain(
      'name="email"',
    )
  })
})

describe('on pages', () => {
  test('a form answers with a redirect to the flow, which says what came of it', async () => {
    const { email, identity } = await somebody()
    const flow = await fixture.start('verification')
    const browser = newBrowser(fixture.app)

    const asking = await browser.visit(flow.ui.action)
    const sent = await browser.press(asking, ['method', 'code'], { email })
    expect([sent.status, sent.location]).toEqual([303, flow.ui.action])
    const code = fixture.codeFor(email)
    const done = await browser.press(await browser.follow(sent), ['method', 'code'], { code })

    expect([done.status, done.location]).toEqual([303, flow.ui.action])
    expect((await browser.follow(done)).text).toContain('Your email address is verified')
    expect(await addressOf(identity)).toMatchObject({ verified: true })
  })

  test('the link in the mail takes one press of a button, in whichever browser', async () => {
    const { email, identity } = await somebody()
    await asked(fixture, 'verification', email)
    const browser = newBrowser(fixture.app)

    const done = await browser.press(await browser.visit(fixture.linkFor(email)), [
      'method',
      'code',
    ])

    expect(done.status).toBe(303)
    expect(await addressOf(identity)).toMatchObject({ verified: true })
  })

  test('who came from an app finds a way back there, and no code for anything', async () => {
    const { email } = await somebody()
    const flow = await fixture.start('verification', { 'x-return-to': 'https://app.example.com/a' })
    await fixture.send(flow, { email })

    const answer = await fixture.send(flow, { code: fixture.codeFor(email) })

    const done = flowIn(answer, 200, 'passed_challenge')
    expect(done.return_to).toBe('https://app.example.com/a')
    expect(node(done, 'continue')).toMatchObject({
      type: 'a',
      attributes: { href: 'https://app.example.com/a' },
    })
    expect((await fixture.open(flow.ui.action)).body).toContain('href="https://app.example.com/a"')
  })
})

describe('whoever has just signed up', () => {
  test('is sent a code beside the sign-in, for a flow that is named', async () => {
    const email = newAddress()
    const body = await fixture.register(email)
    const identity = body.identity

    const { id, url, verifiable_address } = nextFlowIn({ body }, 'show_verification_ui')

    expect(verifiable_address).toBe(email)
    expect(url).toBe(`http://127.0.0.1:8420/auth/self-service/verification?flow=${id}`)
    expect(fixture.linkFor(email)).not.toContain(id)
    const flow = flowIn(await read(fixture, { ui: { action: url } }), 200, 'sent_email')
    expect(messageIds(flow)).toEqual([1080003])
    flowIn(await fixture.send(flow, { code: fixture.codeFor(email) }), 200, 'passed_challenge')
    expect(await addressOf(identity)).toMatchObject({ verified: true })
  })

  test('keeps their password and their session by proving the address', async () => {
    const email = newAddress()
    const { session_token: token, identity } = await fixture.register(email)
    await connect(fixture, identity)
    fixture.clock.jump(MAIL_GAP_MS)
    const flow = await asked(fixture, 'verification', email)

    await fixture.send(flow, { code: fixture.codeFor(email) }, { 'x-session-token': token })

    expect(await whose(fixture, token)).toBe(identity.id)
    expect(await credentialsOf(fixture, identity)).toEqual(['oidc', 'password'])
    expect((await fixture.tryPassword(email)).status).toBe(200)
  })
})

describe('webhooks', () => {
  test('hear of a proven address exactly once, however it was proven', async () => {
    await using target = startTarget()
    await using own = await bootFlows()
    await own.createWebhook(target.url, { events: ['identity.email_verified'] })
    const email = newAddress()
    const identity = await unproven(own, email)
    const first = await asked(own, 'verification', email)
    const code = own.codeFor(email)

    // Both at once, then again, then in other ways.
    const both = await Promise.all([own.send(first, { code }), own.send(first, { code })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 422])
    await own.send(first, { code })
    own.clock.jump(MAIL_GAP_MS)
    await recover(own, email)
    own.clock.jump(MAIL_GAP_MS)
    await own.security({ passwordless_enabled: true })
    const login = await asked(own, 'login', email)
    expect((await own.send(login, { code: own.codeFor(email) })).status).toBe(200)
    await rest(own.app)

    expect(told(target)).toEqual([
      {
        event_id: expect.any(String),
        event_type: 'identity.email_verified',
        tenant_id: own.tenantId,
        created_at: expect.any(String),
        data: { identity_id: identity.id, payload: {} },
      },
    ])
  })

  test('hear of it once when somebody who is signed in proves it twice over', async () => {
    await using target = startTarget()
    await using own = await bootFlows()
    await own.createWebhook(target.url, { events: ['identity.email_verified'] })
    await own.security({ passwordless_enabled: true })
    const email = newAddress()
    await unproven(own, email, { password: PASSWORD })
    const { session_token: token } = await own.signIn(email)
    const flow = await asked(own, 'verification', email)
    const code = own.codeFor(email)
    const again = await own.start('login', { 'x-session-token': token }, '?refresh=true')
    const headers = { 'x-session-token': token }
    expect((await own.send(again, { method: 'code' }, headers)).status).toBe(200)

    const proven = await own.send(again, { code: own.codeFor(email) }, headers)
    expect(proven.status).toBe(200)
    await own.send(flow, { code })
    await rest(own.app)

    expect(typesTold(target)).toEqual(['identity.email_verified'])
  })

  test('hear nothing of codes that were wrong, late or asked for', async () => {
    await using target = startTarget()
    const other = await flowParty(fixture.app)
    await other.createWebhook(target.url)
    const email = newAddress()
    await unproven(other, email)
    const flow = await asked(other, 'verification', email)
    const code = other.codeFor(email)

    await other.send(flow, { code: wrongCode(code) })
    fixture.clock.jump(CODE_MS)
    await other.send(flow, { code })
    await rest(fixture.app)

    expect(typesTold(target)).toEqual(['identity.created'])
  })

  test.each(['recovery', 'login'] as const)('hear of it when a %s proves it', async (kind) => {
    await using target = startTarget()
    const other = await flowParty(fixture.app)
    await other.createWebhook(target.url, { events: ['identity.email_verified'] })
    await other.security({ passwordless_enabled: true })
    const email = newAddress()
    await unproven(other, email)
    const flow = await asked(other, kind, email)

    expect((await other.send(flow, { code: other.codeFor(email) })).status).toBe(200)
    await rest(fixture.app)

    expect(typesTold(target)).toEqual(['identity.email_verified'])
  })
})

describe('another mail', () => {
  test('kills the code of the one before, in whichever flow', async () => {
    const { email } = await somebody()
    const first = await asked(fixture, 'verification', email)
    const firstCode = fixture.codeFor(email)
    fixture.clock.jump(MAIL_GAP_MS)
    const second = await asked(fixture, 'verification', email)

    const late = await fixture.send(first, { code: firstCode })

    expect(complaintsIn(flowIn(late, 422, 'sent_email'))).toEqual(['code:4070006'])
    flowIn(await fixture.send(second, { code: fixture.codeFor(email) }), 200, 'passed_challenge')
  })

  test('leaves the codes of others alone', async () => {
    const [one, other] = [await somebody(), await somebody()]
    const flow = await asked(fixture, 'verification', one.email)
    const code = fixture.codeFor(one.email)

    await asked(fixture, 'verification', other.email)

    flowIn(await fixture.send(flow, { code }), 200, 'passed_challenge')
  })

  test('that the tenant asks for brings a code for its flow, for as long as the flow lasts', async () => {
    const { email, identity } = await somebody()
    const { status, body } = await fixture.api.post(personPath(identity, '/resend-verification'))
    expect(status).toBe(202)
    const action = `http://127.0.0.1:8420/auth/self-service/verification?flow=${body.flow.id}`
    const flow = flowIn(await read(fixture, { ui: { action } }), 200, 'sent_email')
    expect(flow.expires_at).toBe(body.flow.expires_at)
    fixture.clock.jump(HOUR - 1)

    const answer = await fixture.send(flow, { code: fixture.codeFor(email) })

    flowIn(answer, 200, 'passed_challenge')
    expect(await addressOf(identity)).toMatchObject({ verified: true })
  })

  test('that the tenant asks for kills the code before it', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'verification', email)
    const code = fixture.codeFor(email)
    fixture.clock.jump(MAIL_GAP_MS)
    await fixture.api.post(personPath(identity, '/resend-verification'))

    const late = await fixture.send(flow, { code })

    expect(complaintsIn(flowIn(late, 422, 'sent_email'))).toEqual(['code:4070006'])
  })
})

describe('no mail goes out, and the answer is the same', () => {
  test.each<[string, (email: string) => Promise<unknown>, string]>([
    [
      'for an address that is proven already',
      (email) => person(fixture, email),
      'withheld: the address is already verified',
    ],
    [
      'for an address that nobody has',
      async () => undefined,
      'withheld: no account has this address',
    ],
    [
      'for somebody who is inactive',
      (email) => unproven(fixture, email, { state: 'inactive' }),
      'withheld: no account has this address',
    ],
    [
      'for somebody of another tenant',
      async (email) => unproven(await flowParty(fixture.app), email),
      'withheld: no account has this address',
    ],
  ])('%s', async (_, prepare, why) => {
    const email = newAddress()
    await prepare(email)

    const flow = await asked(fixture, 'verification', email)

    expect(messageIds(flow)).toEqual([1080003])
    expect(fatesOf(fixture, email)).toEqual([why])
    expect(fixture.sentTo(email)).toEqual([])
    const [row] = rowsOf(fixture.app, 'gate_codes').filter(({ flow_id }) => flow_id === flow.id)
    expect(row).toMatchObject({ identity_id: null, generation: null, address: email })
  })

  test('and what was written to the address before stays as it was', async () => {
    const email = newAddress()
    const identity = await person(fixture, email)
    const before = await addressOf(identity)

    await asked(fixture, 'verification', email)

    expect(await addressOf(identity)).toEqual(before)
  })
})

describe('a code proves nothing any more', () => {
  async function waiting() {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'verification', email)
    return { email, identity, flow, code: fixture.codeFor(email) }
  }

  async function refused(flow: Json, code: string) {
    const answer = await fixture.send(flow, { code })
    expect(complaintsIn(flowIn(answer, 422, 'sent_email'))).toEqual(['code:4070006'])
  }

  test('once the person is inactive, nor when they are back', async () => {
    const { identity, flow, code } = await waiting()
    await fixture.setState(identity, 'inactive')
    await refused(flow, code)
    await fixture.setState(identity, 'active')
    await refused(flow, code)
    expect(await addressOf(identity)).toMatchObject({ verified: false })
  })

  test('once the person was inactive for a while', async () => {
    const { identity, flow, code } = await waiting()
    await fixture.setState(identity, 'inactive')
    await fixture.setState(identity, 'active')

    await refused(flow, code)
  })

  test('once the person is gone: neither is the flow', async () => {
    const { identity, flow, code } = await waiting()
    await fixture.api.delete(`${IDENTITIES}/${identity.id}`)

    expect(await fixture.send(flow, { code })).toMatchObject({ status: 404 })
  })

  test('once the person has another address, which is as unproven as before', async () => {
    const { identity, flow, code } = await waiting()
    const email = newAddress()
    await fixture.patch(identity, [{ op: 'replace', path: '/traits/email', value: email }])

    await refused(flow, code)

    expect(await addressOf(identity)).toMatchObject({ value: email, verified: false })
  })

  test('once the address came back to the person, who has to prove it anew', async () => {
    const { email, identity, flow, code } = await waiting()
    for (const value of [newAddress(), email])
      await fixture.patch(identity, [{ op: 'replace', path: '/traits/email', value }])

    await refused(flow, code)

    expect(await addressOf(identity)).toMatchObject({ value: email, verified: false })
  })

  test('once the address was proven in another way', async () => {
    const { email, identity, flow, code } = await waiting()
    fixture.clock.jump(MAIL_GAP_MS)
    await recover(fixture, email)

    await refused(flow, code)

    expect(await addressOf(identity)).toMatchObject({ verified: true })
  })
})

test('a mail is in the language of whoever asks', async () => {
  const { email } = await somebody()
  const flow = await fixture.start('verification')

  await fixture.send(flow, { email }, { 'accept-language': 'de' })

  expect(fixture.sentTo(email)[0]?.subject).toBe('Bestätige deine E-Mail-Adresse für Acme')
})

test('a password that is right needs no proof of the address', async () => {
  const { email } = await somebody({ password: PASSWORD })

  expect((await fixture.tryPassword(email, PASSWORD)).status).toBe(200)
})
