import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { expectDescribed } from '../../../relay/support.ts'
import { IDENTITIES, type Json, MINUTE, UNKNOWN_ID } from '../../fixture.ts'
import { actionsOn, auditOf, rowsOf, tablesWith, withoutFreeForm } from '../../identities/people.ts'
import { newBrowser } from './browser.ts'
import {
  asked,
  bootCrowd,
  complaintsIn,
  connect,
  credentialsOf,
  FLOW_MS,
  factsOf,
  fatesOf,
  flowIn,
  LINK_MS,
  MAIL_GAP_MS,
  makeRecoveryCodes,
  nextFlowIn,
  person,
  read,
  recover,
  tokenIn,
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
  totpAt,
} from './fixture.ts'

const NEW_PASSWORD = 'a new way to be let in'
const WITHHELD = 'withheld: no account that can sign in has this address'

let fixture: FlowFixture
let document: Json
beforeAll(async () => {
  fixture = await bootCrowd()
  document = (await fixture.app.raw('/openapi.json')).body
})
afterAll(() => fixture.app.stop())

let people = 0
const newAddress = () => `recovers-${people++}@example.com`

/** Somebody whose address is proven, and a session that they have left open. */
async function somebody(fields: Json = {}) {
  const email = newAddress()
  const identity = await person(fixture, email, fields)
  const { session_token: token } = await fixture.signIn(email)
  return { email, identity, token: token as string }
}

describe('a recovery flow', () => {
  test('asks for an address, and for nothing else', async () => {
    const flow = await fixture.start('recovery')

    const at = fixture.clock.now()
    expect(factsOf(flow)).toEqual({
      id: flow.id,
      type: 'browser',
      issued_at: new Date(at).toISOString(),
      expires_at: new Date(at + FLOW_MS).toISOString(),
      request_url: 'http://127.0.0.1:8420/v1/gate/auth/recovery',
      state: 'choose_method',
      action: `http://127.0.0.1:8420/auth/self-service/recovery?flow=${flow.id}`,
      hosted_url: `http://127.0.0.1:8420/auth/self-service/recovery?flow=${flow.id}`,
      method: 'POST',
    })
    expect(nodeNames(flow)).toEqual(['code:email', 'code:method=code'])
    expect(node(flow, 'email').attributes).toEqual({
      name: 'email',
      type: 'email',
      value: '',
      autocomplete: 'email',
      required: true,
      disabled: false,
      node_type: 'input',
    })
    expect(messageIds(flow)).toEqual([])
  })

  test('needs the key of a tenant, with the scope for flows', async () => {
    const { key } = await fixture.acme.key('gate', 'live', ['identities.read'])
    const ask = (headers: Record<string, string>) =>
      fixture.app.raw(`${AUTH}/recovery`, { headers }).then(({ status }) => status)

    expect(await ask({})).toBe(401)
    expect(await ask({ authorization: 'Bearer nobody' })).toBe(401)
    expect(await ask({ authorization: `Bearer ${key}` })).toBe(403)
  })

  test('is over after an hour, and says which one takes its place', async () => {
    const flow = await fixture.start('recovery')
    fixture.clock.jump(FLOW_MS - 1)
    expect((await read(fixture, flow)).status).toBe(200)
    fixture.clock.jump(1)

    const late = await fixture.send(flow, { method: 'code', email: newAddress() })

    expect(late).toMatchObject({
      status: 410,
      body: {
        error: 'the flow has expired',
        id: 'self_service_flow_expired',
        expired_at: flow.expires_at,
        since: 0,
      },
    })
    const next = await read(fixture, {
      ui: { action: flow.ui.action.replace(flow.id, late.body.use_flow_id) },
    })
    expect(next).toMatchObject({ status: 200, body: { state: 'choose_method' } })
  })
})

describe.each(WAYS)('a way back in, %s', (name, bring) => {
  const isWithKey = name.startsWith('by the tenant')
  const sendIt = async (flow: Json, fields: Json) => {
    const answer = await bring(fixture, flow, fields)
    const path = isWithKey ? `${AUTH}/recovery/submit` : '/auth/self-service/recovery'
    expectDescribed(document, 'post', path, withoutFreeForm(path, answer))
    return answer
  }

  test('begins with an address, to which a code is sent', async () => {
    const { email } = await somebody()
    const flow = await fixture.start('recovery')

    const sent = flowIn(await sendIt(flow, { method: 'code', email }), 200, 'sent_email')

    expect(factsOf(sent)).toEqual({ ...factsOf(flow), state: 'sent_email', active: 'code' })
    expect(nodeNames(sent)).toEqual([
      'code:code',
      'code:method=code',
      'code:method=code',
      `code:email=${email}`,
    ])
    expect(node(sent, 'code').attributes).toMatchObject({
      type: 'text',
      required: true,
      autocomplete: 'one-time-code',
    })
    expect(node(sent, 'code').attributes.value).toBe('')
    expect(messageIds(sent)).toEqual([1060003])
    expect(csrfOf(sent)).toBe(csrfOf(flow))
    expect(fixture.sentTo(email)).toHaveLength(1)
  })

  test('ends with the code: a session, and a flow to set a password in', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)

    const answer = await sendIt(flow, { method: 'code', code: fixture.codeFor(email) })

    const done = flowIn(answer, 200, 'passed_challenge')
    expect(nodeNames(done)).toEqual([])
    expect(messageIds(done)).toEqual([1060001])
    const settings = nextFlowIn(answer, 'show_settings_ui')
    expect(done.continue_with).toEqual([
      { action: 'set_ory_session_token', ory_session_token: expect.stringMatching(/^gat_st_/) },
      {
        action: 'show_settings_ui',
        flow: {
          id: expect.any(String),
          url: `http://127.0.0.1:8420/auth/self-service/settings?flow=${settings.id}`,
        },
      },
    ])
    expect(await fixture.whoami(tokenIn(answer))).toMatchObject({
      status: 200,
      body: {
        identity: { id: identity.id },
        authenticator_assurance_level: 'aal1',
        authentication_methods: [{ method: 'code_recovery', aal: 'aal1' }],
        authenticated_at: new Date(fixture.clock.now()).toISOString(),
      },
    })
  })

  test('takes the method from the fields', async () => {
    const { email } = await somebody()
    const flow = await fixture.start('recovery')

    flowIn(await sendIt(flow, { email }), 200, 'sent_email')
    flowIn(await sendIt(flow, { code: fixture.codeFor(email) }), 200, 'passed_challenge')
  })

  test('goes on once: what is sent to a flow that is over is refused', async () => {
    const { email } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)
    flowIn(await sendIt(flow, { code }), 200, 'passed_challenge')
    fixture.clock.jump(MAIL_GAP_MS)

    for (const fields of [{ code }, { code: wrongCode(code) }, { email }, {}]) {
      const again = await sendIt(flow, fields)

      expect(messageIds(flowIn(again, 422, 'passed_challenge'))).toContain(4060001)
      expect(again.body).not.toHaveProperty('continue_with')
    }
    expect(fixture.sentTo(email)).toHaveLength(1)
  })

  test.each<[string, Json, (number | string)[]]>([
    ['nothing', {}, [4010005]],
    ['another method', { method: 'password', password: PASSWORD }, [4010005]],
    ['a method that is none', { method: 7, email: 'a@example.com' }, [4000026]],
    ['no address', { method: 'code' }, ['email:4000002']],
    ['an empty address', { method: 'code', email: '' }, ['email:4000002']],
    ['what is no address', { method: 'code', email: 'ada at example' }, ['email:4000040']],
    ['an address in a list', { method: 'code', email: ['a@example.com'] }, ['email:4000026']],
    ['an address beyond bounds', { email: `${'a'.repeat(400)}@example.com` }, ['email:4000040']],
    ['a code before there is one', { code: '123456' }, [4060006]],
    ['a code that is a number', { method: 'code', code: 123456 }, [4000026]],
  ])('is not gone with %s', async (_, fields, ids) => {
    const flow = await fixture.start('recovery')

    const answer = await sendIt(flow, fields)

    expect(complaintsIn(flowIn(answer, 422, 'choose_method'))).toEqual(ids)
  })
})

describe('with a key', () => {
  const submit = (fields: Json, headers: Record<string, string> = {}) =>
    fixture.submit('recovery', fields, headers)

  test('a flow has to be named', async () => {
    const refusal = { status: 400, body: { error: expect.stringMatching(/^flow: is required/) } }
    for (const flow of [undefined, '', null, 7, ['a']])
      expect(await submit({ flow, email: newAddress() })).toMatchObject(refusal)
  })

  test('one that there is not, or that is of another kind, is not found', async () => {
    const verification = await fixture.start('verification')

    for (const flow of [UNKNOWN_ID, 'nonsense', verification.id])
      expect(await submit({ flow, email: newAddress() })).toMatchObject({
        status: 404,
        body: { id: 'flow_not_found', error: 'flow not found' },
      })
  })

  test('one of another tenant is not found either, and stays as it is', async () => {
    const other = await flowParty(fixture.app)
    const { email } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)

    const foreign = await other.submit('recovery', { flow: flow.id, code })

    expect(foreign).toMatchObject({ status: 404, body: { id: 'flow_not_found' } })
    flowIn(await submit({ flow: flow.id, code }), 200, 'passed_challenge')
  })

  test('one that was told in the body counts before the one in the query', async () => {
    const [one, other] = [await fixture.start('recovery'), await fixture.start('recovery')]
    const answer = await fixture.app.raw(`${AUTH}/recovery/submit?flow=${other.id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ flow: one.id, email: newAddress() }),
    })

    expect(flowIn(answer, 200, 'sent_email').id).toBe(one.id)
    expect((await read(fixture, other)).body.state).toBe('choose_method')
  })

  test('somebody without a key, or without the scope, is refused before anything is looked at', async () => {
    const { key } = await fixture.acme.key('gate', 'live', ['identities.read'])
    const post = (authorization: string, body = '{') =>
      fixture.app.raw(`${AUTH}/recovery/submit`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json' },
        body,
      })

    expect((await post('')).status).toBe(401)
    expect((await post('Bearer nobody')).status).toBe(401)
    expect((await post(`Bearer ${key}`)).status).toBe(403)
    expect((await post(`Bearer ${fixture.key}`)).status).toBe(400)
  })
})

describe('without a key', () => {
  test('neither an address nor a code is taken without the token of the flow', async () => {
    const { email, token, identity } = await somebody()
    const other = await fixture.start('recovery')
    const flow = await fixture.start('recovery')
    for (const csrf_token of [undefined, '', 'wrong', csrfOf(other), 7])
      expect(await fixture.send(flow, { csrf_token, method: 'code', email })).toMatchObject({
        status: 403,
        body: { id: 'security_csrf_violation' },
      })
    expect(fixture.mailsTo(email)).toEqual([])

    await fixture.send(flow, { email })
    const code = fixture.codeFor(email)
    expect(await fixture.send(flow, { csrf_token: 'wrong', code })).toMatchObject({ status: 403 })
    expect(await whose(fixture, token)).toBe(identity.id)
    // Nothing of it counted as a try.
    flowIn(await fixture.send(flow, { code }), 200, 'passed_challenge')
  })

  test('a flow is found under its own kind alone', async () => {
    const { email } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)

    for (const kind of ['verification', 'login', 'registration', 'settings']) {
      const elsewhere = { ui: { ...flow.ui, action: flow.ui.action.replace('recovery', kind) } }
      expect(await fixture.send(elsewhere, { code })).toMatchObject({ status: 404 })
      expect(await read(fixture, elsewhere)).toMatchObject({ status: 404 })
    }
    flowIn(await fixture.send(flow, { code }), 200, 'passed_challenge')
  })
})

describe('the link in the mail', () => {
  test('leads to a flow of its own with its secret filled in, which nobody types', async () => {
    const { email } = await somebody()
    const flow = await asked(fixture, 'recovery', email)

    const link = new URL(fixture.linkFor(email))

    const { flow: id, code: secret } = Object.fromEntries(link.searchParams)
    expect(id).not.toBe(flow.id)
    expect(secret).toMatch(/^\w{43}$/)
    const page = await newBrowser(fixture.app).visit(link.href)
    expect(page.forms).toMatchObject([{ hidden: { code: secret }, fields: {} }])
    const action = link.href.replace(/&code=.*/, '')
    const shown = await read(fixture, { ui: { action } }, `&code=${secret}`)
    expect(nodeNames(shown.body)).toEqual([
      `code:code=${secret}`,
      'code:method=code',
      'code:method=code',
    ])
    expect(messageIds(shown.body)).toEqual([1900010])
  })

  test('consumes nothing however often it is opened: it is the person who sends the form', async () => {
    const { email, token, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)
    const link = fixture.linkFor(email)

    for (let n = 0; n < 10; n++) {
      expect(await fixture.open(link)).toMatchObject({ status: 200 })
      expect(await read(fixture, flow, `&code=${wrongCode(code)}`)).toMatchObject({ status: 200 })
    }

    expect(await whose(fixture, token)).toBe(identity.id)
    expect((await read(fixture, flow)).body.state).toBe('sent_email')
    flowIn(await fixture.send(flow, { code }), 200, 'passed_challenge')
  })

  test('of another kind leads nowhere', async () => {
    const { email } = await somebody()
    await asked(fixture, 'recovery', email)

    const link = fixture.linkFor(email).replace('/recovery?', '/verification?')

    expect((await fixture.open(link)).status).toBe(404)
  })

  test('leads on from an expired flow to one that asks anew, without the code', async () => {
    const { email } = await somebody()
    await asked(fixture, 'recovery', email)
    const link = fixture.linkFor(email)
    fixture.clock.jump(FLOW_MS)

    const page = await fixture.open(link)

    expect(page.status).toBe(303)
    const to = page.headers.get('location') as string
    expect(to).not.toContain('code=')
    const next = await fixture.open(to)
    expect(next).toMatchObject({ status: 200 })
    expect(next.body).toContain('name="email"')
  })

  test('shows whatever stands in the place of the code as text', async () => {
    const { email } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const hostile = '"><script>alert(1)</script>'

    const page = await fixture.open(`${flow.ui.action}&code=${encodeURIComponent(hostile)}`)

    expect(page.status).toBe(200)
    expect(page.body).not.toContain('<script>alert')
  })

  test('fills in no form that asks for something else', async () => {
    const flow = await fixture.start('recovery')

    const page = await fixture.open(`${flow.ui.action}&code=123456`)

    expect(page.status).toBe(200)
    expect(page.body).not.toContain('123456')
  })
})

describe('on pages', () => {
  const CONTINUE: [string, string] = ['method', 'code']

  /** Somebody's browser, at the page that asks for the code. */
  async function waiting() {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const browser = newBrowser(fixture.app)
    const code = fixture.codeFor(email)
    const page = await browser.visit(`${flow.ui.action}&code=${code}`)
    return { email, identity, flow, browser, page, code }
  }

  test('a form answers with a redirect, and the last one leads to the settings', async () => {
    const { email } = await somebody()
    const flow = await fixture.start('recovery')
    const browser = newBrowser(fixture.app)

    const sent = await browser.press(await browser.visit(flow.ui.action), CONTINUE, { email })
    expect([sent.status, sent.location]).toEqual([303, flow.ui.action])
    const code = fixture.codeFor(email)
    const done = await browser.press(await browser.follow(sent), CONTINUE, { code })

    expect(done.status).toBe(303)
    expect(done.location).toStartWith('http://127.0.0.1:8420/auth/self-service/settings?flow=')
    const settings = await browser.follow(done)
    expect(settings.status).toBe(200)
    const changed = await browser.press(settings, ['method', 'password'], {
      password: NEW_PASSWORD,
    })
    expect(changed.status).toBe(303)
    expect((await fixture.tryPassword(email, NEW_PASSWORD)).status).toBe(200)
  })

  test('the link in the mail is followed by one press of a button', async () => {
    const { browser, page } = await waiting()

    const done = await browser.press(page, CONTINUE)

    expect(done.location).toContain('/auth/self-service/settings?flow=')
  })

  test('another code is asked for with a button of its own', async () => {
    const { browser, page, email, code } = await waiting()
    fixture.clock.jump(MAIL_GAP_MS)

    const again = await browser.press(page, ['email', email])

    expect(again.status).toBe(303)
    expect(fixture.sentTo(email)).toHaveLength(2)
    const late = await browser.press(await browser.follow(again), CONTINUE, { code })
    expect(late.status).toBe(422)
    expect(late.text).toContain('This code is incorrect')
  })

  test('the settings belong to the browser that brought the code', async () => {
    const { browser, page } = await waiting()
    const { location } = await browser.press(page, CONTINUE)

    for (const other of [newBrowser(fixture.app), newBrowser(fixture.app)])
      expect((await other.visit(location)).status).toBe(403)

    const id = new URL(location).searchParams.get('flow')
    const fields = { method: 'password', password: NEW_PASSWORD }
    const { status } = await fixture.submit('settings', { flow: id, ...fields })
    expect([401, 403]).toContain(status)
    expect((await browser.visit(location)).status).toBe(200)
  })

  test('whoever asked for the mail gets nothing of the session of the one who opens its link', async () => {
    const { browser, page, flow, identity } = await waiting()

    const done = await browser.press(page, CONTINUE)

    const settings = new URL(done.location).searchParams.get('flow')
    const seen = await read(fixture, flow)
    expect(seen).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
    const all = JSON.stringify(seen.body)
    for (const secret of ['gat_st_', settings as string, identity.id, 'continue_with'])
      expect(all).not.toContain(secret)
  })

  test('a wrong code is said beside its field, with status 422', async () => {
    const { browser, page, code } = await waiting()

    const refused = await browser.press(page, CONTINUE, { code: wrongCode(code) })

    expect(refused.status).toBe(422)
    expect(refused.text).toContain('This code is incorrect')
    const codes = refused.forms.map(({ fields }) => fields.code)
    expect(codes).toContain('')
  })
})

describe('whoever gets back in', () => {
  test('ends all other sessions', async () => {
    const { email, identity, token } = await somebody()
    const { session_token: second } = await fixture.signIn(email)
    const { session_token: third } = await fixture.signIn(email)

    const fresh = await recover(fixture, email)

    for (const old of [token, second, third]) expect(await whose(fixture, old)).toBe(401)
    expect(await whose(fixture, fresh)).toBe(identity.id)
    const list = await fixture.api.get(`${IDENTITIES}/${identity.id}/sessions`)
    expect(list.body).toHaveLength(1)
  })

  test('is in the audit log once they are in, and not before', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)
    const before = actionsOn(fixture.app, `identity:${identity.id}`)
    await fixture.send(flow, { code: wrongCode(code) })
    expect(actionsOn(fixture.app, `identity:${identity.id}`)).toEqual(before)

    await fixture.send(flow, { code })

    const noted = auditOf(fixture.app, `identity:${identity.id}`).slice(before.length)
    expect(noted).toEqual([
      {
        action: 'identity.recovered',
        actor_kind: 'person',
        actor_id: identity.id,
        detail: expect.anything(),
      },
    ])
    expect(JSON.stringify(noted)).not.toContain(email)
  })

  test('ends sessions of nobody else', async () => {
    const [one, other] = [await somebody(), await somebody()]

    await recover(fixture, one.email)

    expect(await whose(fixture, other.token)).toBe(other.identity.id)
  })

  test('ends nothing before the code has come back', async () => {
    const { email, identity, token } = await somebody()
    const flow = await asked(fixture, 'recovery', email)

    await fixture.send(flow, { code: wrongCode(fixture.codeFor(email)) })

    expect(await whose(fixture, token)).toBe(identity.id)
  })

  test('may set a new password at once, in the flow that was named', async () => {
    const { email } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const answer = await fixture.send(flow, { code: fixture.codeFor(email) })
    const token = tokenIn(answer)
    const { id } = nextFlowIn(answer, 'show_settings_ui')

    const changed = await fixture.submit(
      'settings',
      { flow: id, method: 'password', password: NEW_PASSWORD },
      { 'x-session-token': token },
    )

    expect(changed).toMatchObject({ status: 200, body: { state: 'success' } })
    expect((await fixture.tryPassword(email, NEW_PASSWORD)).status).toBe(200)
    expect((await fixture.tryPassword(email, PASSWORD)).status).toBe(422)
    expect(await whose(fixture, token)).toBeString()
  })

  test('may do so for an hour', async () => {
    const { email } = await somebody()
    const token = await recover(fixture, email)

    fixture.clock.jump(60 * MINUTE)
    const fields = { method: 'password', password: NEW_PASSWORD }
    const settings = await fixture.settings(token)
    fixture.clock.jump(1)

    const late = await fixture.send(settings, fields, { 'x-session-token': token })
    expect(late).toMatchObject({ status: 403, body: { id: 'session_refresh_required' } })
  })

  test('has no say over a flow without the token of the session', async () => {
    const { email } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const answer = await fixture.send(flow, { code: fixture.codeFor(email) })
    const { id } = nextFlowIn(answer, 'show_settings_ui')

    const fields = { flow: id, method: 'password', password: NEW_PASSWORD }

    expect(await fixture.submit('settings', fields)).toMatchObject({ status: 401 })
    expect((await fixture.tryPassword(email, PASSWORD)).status).toBe(200)
  })

  test('does so whatever spelling of the address they take', async () => {
    const { email, identity } = await somebody()
    const flow = await fixture.start('recovery')

    const spelled = `  ${email.toUpperCase()} `
    const sent = flowIn(await fixture.send(flow, { email: spelled }), 200, 'sent_email')

    expect(nodeNames(sent)).toContain(`code:email=${email}`)
    const answer = await fixture.send(flow, { code: fixture.codeFor(email) })
    expect(await whose(fixture, tokenIn(answer))).toBe(identity.id)
  })

  test('kills the codes of other recoveries that are under way', async () => {
    const { email } = await somebody()
    const first = await asked(fixture, 'recovery', email)
    const firstCode = fixture.codeFor(email)
    fixture.clock.jump(MAIL_GAP_MS)
    const second = await asked(fixture, 'recovery', email)

    const done = await fixture.send(second, { code: fixture.codeFor(email) })
    const late = await fixture.send(first, { code: firstCode })

    expect(complaintsIn(flowIn(late, 422, 'sent_email'))).toEqual(['code:4060006'])
    expect(await whose(fixture, tokenIn(done))).toBeString()
  })

  test('leaves a second factor owed: neither whoami nor settings until it is shown', async () => {
    await using own = await bootFlows()
    await own.security({ mfa_enabled: true })
    const email = newAddress()
    const { id } = await person(own, email)
    const { session_token: before } = await own.signIn(email)
    const secret = await own.enrol(before)
    own.clock.jump(MINUTE)

    const token = await recover(own, email)

    const owed = { status: 403, body: { id: 'session_aal2_required' } }
    expect(await own.whoami(token)).toMatchObject(owed)
    expect(await own.ask('settings', { 'x-session-token': token })).toMatchObject(owed)
    const login = await own.start('login', { 'x-session-token': token }, '?aal=aal2')
    const done = await own.send(login, { totp_code: totpAt(secret, own.clock.now()) })
    expect(done).toMatchObject({ status: 200, body: { session_token: token } })
    expect(await own.whoami(token)).toMatchObject({
      status: 200,
      body: { identity: { id }, authenticator_assurance_level: 'aal2' },
    })
    const changed = await own.change(token, { method: 'password', password: NEW_PASSWORD })
    expect(changed).toMatchObject({ status: 200, body: { state: 'success' } })
  })

  test('gets no further than the second factor in the flow that was named either', async () => {
    await using own = await bootFlows()
    await own.security({ mfa_enabled: true })
    const email = newAddress()
    await person(own, email)
    await own.enrol((await own.signIn(email)).session_token)
    own.clock.jump(MINUTE)
    const flow = await asked(own, 'recovery', email)
    const answer = await own.send(flow, { code: own.codeFor(email) })

    const changed = await own.submit(
      'settings',
      {
        flow: nextFlowIn(answer, 'show_settings_ui').id,
        method: 'password',
        password: NEW_PASSWORD,
      },
      { 'x-session-token': tokenIn(answer) },
    )

    expect(changed).toMatchObject({
      status: 403,
      body: {
        id: 'session_aal2_required',
        redirect_browser_to: expect.stringContaining('/auth/self-service/login?flow='),
      },
    })
    expect((await own.tryPassword(email, PASSWORD)).status).toBe(200)
  })
})

describe('an account whose address was never proven', () => {
  /** As somebody may have made it who has no business with the address. */
  async function prepared(own: FlowFixture, email: string) {
    const identity = await unproven(own, email, { password: PASSWORD })
    const { session_token: token } = await own.signIn(email)
    await own.enrol(token)
    await makeRecoveryCodes(own, token)
    await connect(own, identity)
    const asking = await own.change(token, {
      method: 'profile',
      traits: { email: 'another@example.com' },
    })
    expect(asking).toMatchObject({ status: 200 })
    own.clock.jump(MINUTE)
    return { identity, token, change: nextFlowIn(asking, 'show_verification_ui') }
  }

  test('loses all that somebody could come back by who made it for another', async () => {
    await using own = await bootFlows()
    await own.security({ mfa_enabled: true })
    const email = newAddress()
    const { identity, token, change } = await prepared(own, email)
    const before = await credentialsOf(own, identity)
    expect(before).toEqual(['lookup_secret', 'oidc', 'password', 'totp'])

    const fresh = await recover(own, email)

    expect(await credentialsOf(own, identity)).toEqual([])
    expect(rowsOf(own.app, 'gate_social_links')).toEqual([])
    expect(await whose(own, token)).toBe(401)
    // No second factor of somebody else is in the way.
    expect(await whose(own, fresh)).toBe(identity.id)
    expect((await own.tryPassword(email, PASSWORD)).status).toBe(422)
    const code = own.codeFor('another@example.com')
    const moving = await own.submit('verification', { flow: change.id, code })
    expect(messageIds(flowIn(moving, 422, 'sent_email'))).toContain('code:4070006')
    expect((await own.readIdentity(identity)).traits.email).toBe(email)
  })

  test('is theirs from then on: the address counts as proven, and stays so', async () => {
    const email = newAddress()
    const identity = await unproven(fixture, email)

    const token = await recover(fixture, email)

    const [address] = (await fixture.readIdentity(identity)).verifiable_addresses
    expect(address).toMatchObject({
      value: email,
      verified: true,
      status: 'completed',
      verified_at: new Date(fixture.clock.now()).toISOString(),
    })
    // What they set themselves is not taken away by the next recovery.
    const set = await fixture.change(token, { method: 'password', password: NEW_PASSWORD })
    expect(set).toMatchObject({ status: 200 })
    fixture.clock.jump(MINUTE)
    await recover(fixture, email)
    expect((await fixture.tryPassword(email, NEW_PASSWORD)).status).toBe(200)
  })

  test('keeps what is known of the person', async () => {
    const email = newAddress()
    const traits = { email, custom_data: { plan: 'gold' } }
    const identity = await unproven(fixture, email, { traits, metadata_public: { roles: ['a'] } })

    await recover(fixture, email)

    expect(await fixture.readIdentity(identity)).toMatchObject({
      traits: { email, custom_data: { plan: 'gold' } },
      metadata_public: { roles: ['a'] },
      state: 'active',
    })
  })
})

test('an account whose address was proven keeps all that its owner signs in with', async () => {
  await using own = await bootFlows()
  await own.security({ mfa_enabled: true })
  const email = newAddress()
  const identity = await person(own, email)
  const { session_token: token } = await own.signIn(email)
  const secret = await own.enrol(token)
  const [code] = await makeRecoveryCodes(own, token)
  await connect(own, identity)
  own.clock.jump(MINUTE)

  const fresh = await recover(own, email)

  const kept = ['lookup_secret', 'oidc', 'password', 'totp']
  expect(await credentialsOf(own, identity)).toEqual(kept)
  const login = await own.start('login', { 'x-session-token': fresh }, '?aal=aal2')
  expect(await own.send(login, { lookup_secret: code })).toMatchObject({ status: 200 })
  own.clock.jump(MINUTE)
  const half = await own.signIn(email)
  const again = await own.start('login', { 'x-session-token': half.session_token }, '?aal=aal2')
  const shown = { totp_code: totpAt(secret, own.clock.now()) }
  expect(await own.send(again, shown)).toMatchObject({ status: 200 })
})

describe('somebody who cannot get back in', () => {
  const refused = async (flow: Json, code: string) => {
    const answer = await fixture.send(flow, { code })
    expect(complaintsIn(flowIn(answer, 422, 'sent_email'))).toEqual(['code:4060006'])
    expect(answer.body).not.toHaveProperty('continue_with')
  }

  test('is not written to when inactive, and hears the same', async () => {
    const { email, identity } = await somebody()
    await fixture.setState(identity, 'inactive')

    const flow = await asked(fixture, 'recovery', email)

    expect(messageIds(flow)).toEqual([1060003])
    expect(fatesOf(fixture, email)).toEqual([WITHHELD])
    expect(fixture.sentTo(email)).toEqual([])
  })

  test('is not written to when unknown, and nothing of a code is kept that could be read', async () => {
    const email = newAddress()

    const flow = await asked(fixture, 'recovery', email)

    expect(fatesOf(fixture, email)).toEqual([WITHHELD])
    expect(fixture.mailsTo(email)).toMatchObject([
      { state: 'failed', kind: 'recovery', body: null },
    ])
    const [row] = rowsOf(fixture.app, 'gate_codes').filter(({ flow_id }) => flow_id === flow.id)
    expect(row).toMatchObject({ identity_id: null, generation: null, address: email })
  })

  test('was deactivated after the mail: the code is dead, and stays so when they are back', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)

    await fixture.setState(identity, 'inactive')
    await refused(flow, code)
    await fixture.setState(identity, 'active')
    await refused(flow, code)

    expect((await fixture.api.get(`${IDENTITIES}/${identity.id}/sessions`)).body).toEqual([])
  })

  test('was deactivated and is back before the code: it is dead all the same', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)

    await fixture.setState(identity, 'inactive')
    await fixture.setState(identity, 'active')

    await refused(flow, fixture.codeFor(email))
  })

  test('was deleted after the mail: all that held the address is gone', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)

    expect((await fixture.api.delete(`${IDENTITIES}/${identity.id}`)).status).toBe(204)

    expect(await fixture.send(flow, { code })).toMatchObject({ status: 404 })
    expect(rowsOf(fixture.app, 'gate_codes').filter(({ address }) => address === email)).toEqual([])
  })

  test('was deleted after the mail, and somebody new has the address', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)

    await fixture.api.delete(`${IDENTITIES}/${identity.id}`)
    await person(fixture, email)

    expect(await fixture.send(flow, { code })).toMatchObject({ status: 404 })
    const anew = await fixture.start('recovery')
    const refusal = await fixture.send(anew, { code })
    expect(complaintsIn(flowIn(refusal, 422, 'choose_method'))).toEqual([4060006])
  })

  test('was given another address after the mail', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)

    await fixture.patch(identity, [{ op: 'replace', path: '/traits/email', value: newAddress() }])

    await refused(flow, code)
  })

  test('had all sessions ended by the tenant after the mail', async () => {
    const { email, identity } = await somebody()
    const flow = await asked(fixture, 'recovery', email)
    const code = fixture.codeFor(email)

    await fixture.api.delete(`${IDENTITIES}/${identity.id}/sessions`)

    await refused(flow, code)
  })
})

test('a recovery of one tenant is nothing to a person of another with the same address', async () => {
  const other = await flowParty(fixture.app)
  const { email, token, identity } = await somebody()
  const theirs = await person(other, email)
  const { session_token: theirToken } = await other.signIn(email)

  await recover(fixture, email)

  expect(await whose(other, theirToken)).toBe(theirs.id)
  expect(await whose(fixture, token)).toBe(401)
  expect(other.mailsTo(email)).toEqual([])
  expect(identity.id).not.toBe(theirs.id)
})

test('the mail is in the language of whoever asks, and says how long the code is good', async () => {
  const { email } = await somebody()
  const flow = await fixture.start('recovery')

  const sent = await fixture.send(flow, { email }, { 'accept-language': 'de-AT, en;q=0.5' })

  expect(sent.body.ui.messages[0].text).toContain('Wenn es zu dieser E-Mail-Adresse ein Konto gibt')
  const [mail] = fixture.sentTo(email)
  expect(mail?.subject).toBe('Stelle dein Konto bei Acme wieder her')
  expect(mail?.body?.text).toContain('ist 15 Minuten gültig, der Link 30 Minuten')
  expect(mail?.expiresAt).toBe(fixture.clock.now() + LINK_MS)
})

test('a flow that the tenant begins in a language is written in it', async () => {
  const { email } = await somebody()
  const flow = await fixture.start('recovery', { 'accept-language': 'de' })

  await fixture.send(flow, { email })

  expect(fixture.sentTo(email)[0]?.subject).toBe('Stelle dein Konto bei Acme wieder her')
})

test('neither a code nor a token is anywhere to be read, not even in the log', async () => {
  const { email } = await somebody()
  const flow = await asked(fixture, 'recovery', email)
  const code = fixture.codeFor(email)
  expect(tablesWith(fixture.app, `code=${code}`)).toEqual({})
  const hash = rowsOf(fixture.app, 'gate_codes').find(({ flow_id }) => flow_id === flow.id)?.hash
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(hash).not.toBe(new Bun.CryptoHasher('sha256').update(code).digest('hex'))

  const token = tokenIn(await fixture.send(flow, { code }))

  expect(tablesWith(fixture.app, token)).toEqual({})
  const lines = fixture.app.log.filter((line) => line.includes(token) || line.includes(`${code}"`))
  expect(lines).toEqual([])
  expect(rowsOf(fixture.app, 'gate_codes').filter(({ flow_id }) => flow_id === flow.id)).toEqual([])
})
