import { describe, expect, test } from 'bun:test'
import { HOUR, IDENTITIES, type Json, MINUTE, UNKNOWN_ID } from '../../fixture.ts'
import { actionsOn, auditOf, rowsOf, tablesWith } from '../../identities/people.ts'
import { ADA, BOB, connect, NEW_PASSWORD, refuses, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import {
  addressOf,
  asked,
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
  makeRecoveryCodes,
  nextFlowIn,
  person,
  read,
  recover,
  sessionsOf,
  signedIn,
  type Tenant,
  tokenIn,
  unproven,
  useFlows,
  WAYS,
  waiting,
  whose,
  wrongCode,
} from './code-fixture.ts'
import { AUTH, csrfOf, messageIds, node, nodeNames, PASSWORD, totpAt } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const WITHHELD = 'withheld: no account that can sign in has this address'
const PASSWORD_FORM = { method: 'password', password: NEW_PASSWORD }

/** A person who is signed in, and a recovery that waits for its code. */
async function recovering(acme: Tenant) {
  const ada = await signedIn(acme, ADA)
  return { ...ada, ...(await waiting(acme, 'recovery', ADA)) }
}

test('a recovery flow asks for an address', async () => {
  const acme = await flows.newTenant()
  const flow = await acme.start('recovery')
  expect(factsOf(flow)).toEqual({
    id: flow.id,
    type: 'browser',
    issued_at: isoAt(clock.now()),
    expires_at: isoAt(clock.now() + FLOW_MS),
    request_url: 'http://127.0.0.1:8420/v1/gate/auth/recovery',
    state: 'choose_method',
    action: `${HOSTED}/recovery?flow=${flow.id}`,
    hosted_url: `${HOSTED}/recovery?flow=${flow.id}`,
    method: 'POST',
  })
  expect(nodeNames(flow)).toEqual(['code:email', 'code:method=code'])
  const email = { type: 'email', value: '', autocomplete: 'email', required: true, disabled: false }
  expect(node(flow, 'email').attributes).toEqual({ name: 'email', ...email, node_type: 'input' })
  expect(messageIds(flow)).toEqual([])
})

describe.each(WAYS)('a recovery, sent %s', (_, send) => {
  test('opens a session with the code, and leads to the settings', async () => {
    const acme = await flows.newTenant()
    const identity = await person(acme, ADA)
    const flow = await acme.start('recovery')
    const sent = flowIn(await send(acme, flow, { email: ADA }), 200, 'sent_email')
    expect(factsOf(sent)).toEqual({ ...factsOf(flow), state: 'sent_email', active: 'code' })
    const entry = ['code:code', 'code:method=code', 'code:method=code', `code:email=${ADA}`]
    expect(nodeNames(sent)).toEqual(entry)
    const input = { type: 'text', required: true, autocomplete: 'one-time-code', value: '' }
    expect(node(sent, 'code').attributes).toMatchObject(input)
    expect([messageIds(sent), csrfOf(sent)]).toEqual([[1060003], csrfOf(flow)])

    const answer = await send(acme, flow, { code: acme.codeFor(ADA) })
    const done = flowIn(answer, 200, 'passed_challenge')
    expect([nodeNames(done), messageIds(done)]).toEqual([[], [1060001]])
    const { id } = nextFlowIn(answer, 'show_settings_ui')
    const token = tokenIn(answer)
    expect(token).toStartWith('gat_st_')
    expect(done.continue_with).toEqual([
      { action: 'set_ory_session_token', ory_session_token: token },
      { action: 'show_settings_ui', flow: { id, url: `${HOSTED}/settings?flow=${id}` } },
    ])
    expect((await acme.whoami(token)).body).toMatchObject({
      identity: { id: identity.id },
      authenticator_assurance_level: 'aal1',
      authentication_methods: [{ method: 'code_recovery', aal: 'aal1' }],
      authenticated_at: isoAt(clock.now()),
    })
  })

  test('is refused once it is complete', async () => {
    const acme = await flows.newTenant()
    const { flow, code } = await recovering(acme)
    flowIn(await send(acme, flow, { method: 'code', code }), 200, 'passed_challenge')
    clock.jump(MAIL_GAP_MS)
    for (const fields of [{ code }, { code: wrongCode(code) }, { email: ADA }, {}]) {
      const again = flowIn(await send(acme, flow, fields), 422, 'passed_challenge')
      expect(messageIds(again)).toContain(4060001)
      expect(again).not.toHaveProperty('continue_with')
    }
    expect(acme.sentTo(ADA)).toHaveLength(1)
  })

  test.each<[Json, (number | string)[]]>([
    [{}, [4010005]],
    [{ method: 'password', password: PASSWORD }, [4010005]],
    [{ method: 7, email: ADA }, [4000026]],
    [{ method: 'code' }, ['email:4000002']],
    [{ method: 'code', email: '' }, ['email:4000002']],
    [{ method: 'code', email: 'ada at example' }, ['email:4000040']],
    [{ method: 'code', email: [ADA] }, ['email:4000026']],
    [{ email: `${'a'.repeat(400)}@example.com` }, ['email:4000040']],
    [{ code: '123456' }, [4060006]],
    [{ method: 'code', code: 123456 }, [4000026]],
  ])('needs an address: %j', async (fields, ids) => {
    const acme = await flows.newTenant()
    const answer = await send(acme, await acme.start('recovery'), fields)
    expect(complaintsIn(flowIn(answer, 422, 'choose_method'))).toEqual(ids)
  })
})

describe('a recovery flow that the tenant submits', () => {
  test('is named in the body, or else in the query', async () => {
    const acme = await flows.newTenant()
    for (const flow of [undefined, '', null, 7, ['a']])
      expect(await acme.submit('recovery', { flow, email: ADA })).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^flow: /) },
      })

    const [one, other] = [await acme.start('recovery'), await acme.start('recovery')]
    const answer = await app.raw(`${AUTH}/recovery/submit?flow=${other.id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ flow: one.id, email: ADA }),
    })
    expect(flowIn(answer, 200, 'sent_email').id).toBe(one.id)
    expect((await read(acme, other)).body.state).toBe('choose_method')
  })

  test('is of its kind and of its tenant', async () => {
    const [acme, globex] = [await flows.newTenant(), await flows.newTenant()]
    const { flow, code } = await recovering(acme)
    const verification = await acme.start('verification')
    for (const id of [UNKNOWN_ID, 'nonsense', verification.id])
      expect(await acme.submit('recovery', { flow: id, code })).toMatchObject(
        refuses(404, 'flow_not_found'),
      )
    expect(await globex.submit('recovery', { flow: flow.id, code })).toMatchObject(
      refuses(404, 'flow_not_found'),
    )
    flowIn(await acme.submit('recovery', { flow: flow.id, code }), 200, 'passed_challenge')
  })
})

test('neither an address nor a code is accepted without the CSRF token of the flow', async () => {
  const acme = await flows.newTenant()
  const { identity, token } = await signedIn(acme, ADA)
  const [flow, other] = [await acme.start('recovery'), await acme.start('recovery')]
  for (const csrf_token of [undefined, '', 'wrong', csrfOf(other), 7])
    expect(await acme.send(flow, { csrf_token, method: 'code', email: ADA })).toMatchObject(
      refuses(403, 'security_csrf_violation'),
    )
  expect(acme.mailsTo(ADA)).toEqual([])

  await acme.send(flow, { email: ADA })
  const code = acme.codeFor(ADA)
  expect(await acme.send(flow, { csrf_token: 'wrong', code })).toMatchObject({ status: 403 })
  expect(await whose(acme, token)).toBe(identity.id)
})

describe('the link in the email', () => {
  test('leads to a flow of its own, with its secret filled in', async () => {
    const acme = await flows.newTenant()
    const { flow } = await recovering(acme)
    const link = new URL(acme.linkFor(ADA))
    const { flow: id, code: secret } = Object.fromEntries(link.searchParams)
    expect(id).not.toBe(flow.id)
    expect(secret).toMatch(/^\w{43}$/)

    const page = await newBrowser(app).visit(link.href)
    expect(page.forms).toMatchObject([{ hidden: { code: secret }, fields: {} }])
    const action = link.href.replace(/&code=.*/, '')
    const { body } = await read(acme, { ui: { action } }, `&code=${secret}`)
    expect(nodeNames(body)).toEqual([`code:code=${secret}`, 'code:method=code', 'code:method=code'])
    expect(messageIds(body)).toEqual([1900010])
  })

  test('does nothing however often it is opened, until the form is sent', async () => {
    const acme = await flows.newTenant()
    const { flow, code, token, identity } = await recovering(acme)
    for (let n = 0; n < 10; n++) {
      expect(await acme.open(acme.linkFor(ADA))).toMatchObject({ status: 200 })
      expect(await read(acme, flow, `&code=${wrongCode(code)}`)).toMatchObject({ status: 200 })
    }
    expect(await whose(acme, token)).toBe(identity.id)
    flowIn(await acme.send(flow, { code }), 200, 'passed_challenge')
  })

  test('is not found under another kind, and leads from an expired flow to a new one', async () => {
    const acme = await flows.newTenant()
    await recovering(acme)
    const link = acme.linkFor(ADA)
    expect((await acme.open(link.replace('/recovery?', '/verification?'))).status).toBe(404)
    clock.jump(FLOW_MS)

    const page = await acme.open(link)
    expect(page.status).toBe(303)
    const next = page.headers.get('location') as string
    expect(next).not.toContain('code=')
    expect((await acme.open(next)).body).toContain('name="email"')
  })

  test('shows any code as text, and only in a form that asks for one', async () => {
    const acme = await flows.newTenant()
    const { flow } = await recovering(acme)
    const hostile = encodeURIComponent('"><script>alert(1)</script>')
    const page = await acme.open(`${flow.ui.action}&code=${hostile}`)
    expect(page.status).toBe(200)
    expect(page.body).not.toContain('<script>alert')

    const fresh = await acme.start('recovery')
    const asking = await acme.open(`${fresh.ui.action}&code=123456`)
    expect(asking.status).toBe(200)
    expect(asking.body).not.toContain('123456')
  })
})

describe('on pages', () => {
  const CONTINUE: [string, string] = ['method', 'code']

  /** A browser at the page with the code filled in. */
  async function atPage(acme: Tenant) {
    const recovery = await recovering(acme)
    const browser = newBrowser(app)
    const page = await browser.visit(`${recovery.flow.ui.action}&code=${recovery.code}`)
    return { ...recovery, browser, page }
  }

  test('each form redirects, and the last one to the settings', async () => {
    const acme = await flows.newTenant()
    await person(acme, ADA)
    const flow = await acme.start('recovery')
    const browser = newBrowser(app)
    const asking = await browser.visit(flow.ui.action)
    const sent = await browser.press(asking, CONTINUE, { email: ADA })
    expect([sent.status, sent.location]).toEqual([303, flow.ui.action])
    const entry = await browser.follow(sent)
    const wrong = await browser.press(entry, CONTINUE, { code: wrongCode(acme.codeFor(ADA)) })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('This code is incorrect')
    expect(wrong.forms.map(({ fields }) => fields.code)).toContain('')

    const done = await browser.press(wrong, CONTINUE, { code: acme.codeFor(ADA) })
    expect(done.location).toStartWith(`${HOSTED}/settings?flow=`)
    const settings = await browser.follow(done)
    const fields = { password: NEW_PASSWORD }
    expect((await browser.press(settings, ['method', 'password'], fields)).status).toBe(303)
    expect((await acme.tryPassword(ADA, NEW_PASSWORD)).status).toBe(200)
  })

  test('a button sends another code', async () => {
    const acme = await flows.newTenant()
    const { browser, page, code } = await atPage(acme)
    clock.jump(MAIL_GAP_MS)
    const again = await browser.press(page, ['email', ADA])
    expect(again.status).toBe(303)
    expect(acme.sentTo(ADA)).toHaveLength(2)
    expect((await browser.press(await browser.follow(again), CONTINUE, { code })).status).toBe(422)
  })

  test('the settings belong to the browser that sent the code', async () => {
    const acme = await flows.newTenant()
    const { browser, page, flow, identity } = await atPage(acme)
    const { location } = await browser.press(page, CONTINUE)
    expect((await newBrowser(app).visit(location)).status).toBe(403)
    const id = new URL(location).searchParams.get('flow') as string
    const sent = await acme.submit('settings', { flow: id, ...PASSWORD_FORM })
    expect([401, 403]).toContain(sent.status)
    expect((await browser.visit(location)).status).toBe(200)

    // The program that asked for the email learns nothing of the session.
    const seen = await read(acme, flow)
    expect(seen).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
    for (const secret of ['gat_st_', id, identity.id, 'continue_with'])
      expect(JSON.stringify(seen.body)).not.toContain(secret)
  })
})

describe('a completed recovery', () => {
  test('ends all other sessions of the person, and is recorded', async () => {
    const acme = await flows.newTenant()
    const { identity, token, flow, code } = await recovering(acme)
    const { session_token: second } = await acme.signIn(ADA)
    const bob = await signedIn(acme, BOB)
    const about = `identity:${identity.id}`
    const before = actionsOn(app, about)
    await acme.send(flow, { code: wrongCode(code) })
    expect(actionsOn(app, about)).toEqual(before)
    expect(await whose(acme, token)).toBe(identity.id)

    const fresh = tokenIn(await acme.send(flow, { code }))
    for (const old of [token, second]) expect(await whose(acme, old)).toBe(401)
    expect(await whose(acme, fresh)).toBe(identity.id)
    expect(await sessionsOf(acme, identity)).toHaveLength(1)
    expect(await whose(acme, bob.token)).toBe(bob.identity.id)
    const noted = auditOf(app, about).slice(before.length)
    const byOwner = { actor_kind: 'person', actor_id: identity.id, detail: expect.anything() }
    expect(noted).toEqual([{ action: 'identity.recovered', ...byOwner }])
    expect(JSON.stringify(noted)).not.toContain(ADA)
  })

  test('allows a new password in its settings flow, with the token of the session', async () => {
    const acme = await flows.newTenant()
    const { flow, code } = await recovering(acme)
    const answer = await acme.send(flow, { code })
    const fields = { flow: nextFlowIn(answer, 'show_settings_ui').id, ...PASSWORD_FORM }
    expect(await acme.submit('settings', fields)).toMatchObject({ status: 401 })
    expect((await acme.tryPassword(ADA)).status).toBe(200)

    const token = tokenIn(answer)
    flowIn(await acme.submit('settings', fields, withToken(token)), 200, 'success')
    expect((await acme.tryPassword(ADA, NEW_PASSWORD)).status).toBe(200)
    expect((await acme.tryPassword(ADA)).status).toBe(422)
    expect(await whose(acme, token)).toBeString()
  })

  test('allows a new password for an hour', async () => {
    const acme = await flows.newTenant()
    await person(acme, ADA)
    const token = await recover(acme, ADA)
    clock.jump(HOUR)
    const settings = await acme.settings(token)
    clock.jump(1)
    expect(await acme.send(settings, PASSWORD_FORM, withToken(token))).toMatchObject(
      refuses(403, 'session_refresh_required'),
    )
  })

  test('finds the account by any spelling of its address, in its own tenant', async () => {
    const [acme, globex] = [await flows.newTenant(), await flows.newTenant()]
    const theirs = await signedIn(globex, ADA)
    const { identity, token } = await signedIn(acme, ADA)
    const flow = await acme.start('recovery')
    const sent = await acme.send(flow, { email: `  ${ADA.toUpperCase()} ` })
    expect(nodeNames(sent.body)).toContain(`code:email=${ADA}`)
    const answer = await acme.send(flow, { code: acme.codeFor(ADA) })
    expect(await whose(acme, tokenIn(answer))).toBe(identity.id)
    expect(await whose(acme, token)).toBe(401)
    expect(await whose(globex, theirs.token)).toBe(theirs.identity.id)
    expect(globex.mailsTo(ADA)).toEqual([])
  })

  test('ends other recoveries', async () => {
    const acme = await flows.newTenant()
    const first = await recovering(acme)
    clock.jump(MAIL_GAP_MS)
    await recover(acme, ADA)
    const late = await acme.send(first.flow, { code: first.code })
    expect(complaintsIn(flowIn(late, 422, 'sent_email'))).toEqual(['code:4060006'])
  })

  test('leaves the second factor to be shown', async () => {
    const acme = await flows.newTenant({ mfa_enabled: true })
    const { identity, token: before } = await signedIn(acme, ADA)
    const secret = await acme.enrol(before)
    clock.jump(MINUTE)
    const { flow, code } = await waiting(acme, 'recovery', ADA)
    const answer = await acme.send(flow, { code })
    const token = tokenIn(answer)

    const owed = refuses(403, 'session_aal2_required')
    expect(await acme.whoami(token)).toMatchObject(owed)
    expect(await acme.ask('settings', withToken(token))).toMatchObject(owed)
    const fields = { flow: nextFlowIn(answer, 'show_settings_ui').id, ...PASSWORD_FORM }
    const refused = await acme.submit('settings', fields, withToken(token))
    expect(refused).toMatchObject(owed)
    expect(refused.body.redirect_browser_to).toContain('/auth/self-service/login?flow=')
    expect((await acme.tryPassword(ADA)).status).toBe(200)

    const login = await acme.start('login', withToken(token), '?aal=aal2')
    const done = await acme.send(login, { totp_code: totpAt(secret, clock.now()) })
    expect(done).toMatchObject({ status: 200, body: { session_token: token } })
    expect((await acme.whoami(token)).body).toMatchObject({
      identity: { id: identity.id },
      authenticator_assurance_level: 'aal2',
    })
    flowIn(await acme.change(token, PASSWORD_FORM), 200, 'success')
  })
})

describe('the recovery of an account', () => {
  const ALL = ['lookup_secret', 'oidc', 'password', 'totp']

  /** An account with every credential; a stranger may have made it if it is unverified. */
  async function prepared(acme: Tenant, make: typeof person) {
    const identity = await make(acme, ADA, { password: PASSWORD })
    const { session_token: token } = await acme.signIn(ADA)
    const secret = await acme.enrol(token)
    const codes = await makeRecoveryCodes(acme, token)
    await connect(acme, identity, 'github', `github-${identity.id}`)
    const change = await acme.change(token, { method: 'profile', traits: { email: BOB } })
    clock.jump(MINUTE)
    expect(await credentialsOf(acme, identity)).toEqual(ALL)
    return { identity, token, secret, codes, change: nextFlowIn(change, 'show_verification_ui') }
  }

  test('with an unverified address removes all credentials', async () => {
    const acme = await flows.newTenant({ mfa_enabled: true })
    const { identity, token, change } = await prepared(acme, unproven)
    const fresh = await recover(acme, ADA)
    expect(await credentialsOf(acme, identity)).toEqual([])
    const links = rowsOf(app, 'gate_social_links').map(({ identity_id }) => identity_id)
    expect(links).not.toContain(identity.id)
    expect(await whose(acme, token)).toBe(401)
    // The second factor of a stranger is not in the way.
    expect(await whose(acme, fresh)).toBe(identity.id)
    expect((await acme.tryPassword(ADA)).status).toBe(422)
    const code = acme.codeFor(BOB)
    const moving = await acme.submit('verification', { flow: change.id, code })
    expect(messageIds(flowIn(moving, 422, 'sent_email'))).toContain('code:4070006')
    expect((await acme.readIdentity(identity)).traits.email).toBe(ADA)
  })

  test('with an unverified address verifies it, and keeps the data of the person', async () => {
    const acme = await flows.newTenant()
    const traits = { email: ADA, custom_data: { plan: 'gold' } }
    const identity = await unproven(acme, ADA, { traits, metadata_public: { roles: ['a'] } })
    const token = await recover(acme, ADA)
    const now = isoAt(clock.now())
    const verified = { value: ADA, verified: true, status: 'completed', verified_at: now }
    expect(await addressOf(acme, identity)).toMatchObject(verified)
    const kept = { traits, metadata_public: { roles: ['a'] }, state: 'active' }
    expect(await acme.readIdentity(identity)).toMatchObject(kept)

    // The next recovery keeps what the owner has set.
    expect(await acme.change(token, PASSWORD_FORM)).toMatchObject({ status: 200 })
    clock.jump(MINUTE)
    await recover(acme, ADA)
    expect((await acme.tryPassword(ADA, NEW_PASSWORD)).status).toBe(200)
  })

  test('with a verified address keeps all credentials', async () => {
    const acme = await flows.newTenant({ mfa_enabled: true })
    const { identity, secret, codes } = await prepared(acme, person)
    const fresh = await recover(acme, ADA)
    expect(await credentialsOf(acme, identity)).toEqual(ALL)
    const login = await acme.start('login', withToken(fresh), '?aal=aal2')
    expect(await acme.send(login, { lookup_secret: codes[0] })).toMatchObject({ status: 200 })
    clock.jump(MINUTE)
    const half = await acme.signIn(ADA)
    const again = await acme.start('login', withToken(half.session_token), '?aal=aal2')
    const shown = { totp_code: totpAt(secret, clock.now()) }
    expect(await acme.send(again, shown)).toMatchObject({ status: 200 })
  })
})

describe('a recovery fails', () => {
  test('for an inactive person and an unknown address, who get the same answer and no email', async () => {
    const acme = await flows.newTenant()
    await person(acme, ADA, { state: 'inactive' })
    for (const email of [ADA, BOB]) {
      const flow = await asked(acme, 'recovery', email)
      expect(messageIds(flow)).toEqual([1060003])
      expect(fatesOf(acme, email)).toEqual([WITHHELD])
      expect(acme.mailsTo(email)).toMatchObject([{ kind: 'recovery', body: null }])
      const [row] = codeRows(acme, flow)
      expect(row).toMatchObject({ identity_id: null, generation: null, address: email })
    }
  })

  type Act = (acme: Tenant, identity: Json) => Promise<unknown>
  const INTERRUPTIONS: [string, Act][] = [
    ['deactivated', (acme, identity) => acme.setState(identity, 'inactive')],
    [
      'deactivated for a while',
      async (acme, identity) => {
        await acme.setState(identity, 'inactive')
        await acme.setState(identity, 'active')
      },
    ],
    [
      'given another address',
      (acme, identity) =>
        acme.patch(identity, [{ op: 'replace', path: '/traits/email', value: BOB }]),
    ],
    ['signed out', (acme, { id }) => acme.api.delete(`${IDENTITIES}/${id}/sessions`)],
  ]

  test.each(INTERRUPTIONS)('for a person who was %s after the email', async (_, act) => {
    const acme = await flows.newTenant()
    const { identity, flow, code } = await recovering(acme)
    await act(acme, identity)
    for (const state of ['active', 'active']) {
      const answer = await acme.send(flow, { code })
      expect(complaintsIn(flowIn(answer, 422, 'sent_email'))).toEqual(['code:4060006'])
      expect(answer.body).not.toHaveProperty('continue_with')
      await acme.setState(identity, state)
    }
    const methods = (await sessionsOf(acme, identity)).map((one) => one.authentication_methods[0])
    expect(methods.map(({ method }) => method)).not.toContain('code_recovery')
  })

  test('for a deleted person, also when the address has a new one', async () => {
    const acme = await flows.newTenant()
    const { identity, flow, code } = await recovering(acme)
    await acme.api.delete(`${IDENTITIES}/${identity.id}`)
    expect(rowsOf(app, 'gate_codes').map(({ identity_id }) => identity_id)).not.toContain(
      identity.id,
    )
    await person(acme, ADA)
    expect(await acme.send(flow, { code })).toMatchObject({ status: 404 })
    const refusal = await acme.send(await acme.start('recovery'), { code })
    expect(complaintsIn(flowIn(refusal, 422, 'choose_method'))).toEqual([4060006])
  })
})

test('neither codes nor tokens are stored or logged', async () => {
  const acme = await flows.newTenant()
  const { flow, code } = await recovering(acme)
  expect(tablesWith(app, `code=${code}`)).toEqual({})
  const token = tokenIn(await acme.send(flow, { code }))
  expect(tablesWith(app, token)).toEqual({})
  const lines = app.log.filter((line) => line.includes(token) || line.includes(`${code}"`))
  expect(lines).toEqual([])
})
