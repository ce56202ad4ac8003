import { expect, test } from 'bun:test'
import { actionsOn, auditOf, MINUTE, tablesWith } from '../../fixture.ts'
import { ADA, NEW_PASSWORD, refuses, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { flowIn, idsIn, isoAt, nextFlowIn, PEER, pretendPeers, tokenIn } from './checked.ts'
import {
  HOSTED,
  MAIL_GAP_MS,
  type Tenant,
  useFlows,
  WAYS,
  wrongCode,
  wrongCodes,
} from './code-fixture.ts'
import { csrfOf, messageIds, nodeNames, totpAt } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows
pretendPeers(app)

const PASSWORD_FORM = { method: 'password', password: NEW_PASSWORD }

/** A person who is signed in, and a recovery that waits for its code. */
async function recovering() {
  const acme = await flows.newTenant()
  const ada = await acme.signedIn(ADA)
  return { acme, ...ada, ...(await acme.waiting('recovery', ADA)) }
}

test.each(WAYS)('A recovery, sent %s, opens a session once', async (_, send) => {
  const acme = await flows.newTenant()
  const identity = await acme.person(ADA)
  const flow = await acme.start('recovery')
  const sent = flowIn(await send(acme, flow, { email: ADA }), 200, 'sent_email')
  expect(messageIds(sent)).toEqual([1060003])
  expect([sent.active, csrfOf(sent)]).toEqual(['code', csrfOf(flow)])

  const code = acme.codeFor(ADA)
  const answer = await send(acme, flow, { code })
  const done = flowIn(answer, 200, 'passed_challenge')
  expect([nodeNames(done), messageIds(done)]).toEqual([[], [1060001]])
  const { id } = nextFlowIn(answer, 'show_settings_ui')
  const token = tokenIn(answer)
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

  clock.jump(MAIL_GAP_MS)
  for (const fields of [{ code }, { code: wrongCode(code) }, { email: ADA }, {}]) {
    const again = flowIn(await send(acme, flow, fields), 422, 'passed_challenge')
    expect(messageIds(again)).toContain(4060001)
    expect(again).not.toHaveProperty('continue_with')
  }
  expect(acme.sentTo(ADA)).toHaveLength(1)
})

test('On pages, the settings of a recovery belong to the browser that sent the code', async () => {
  const { acme, flow, code, identity } = await recovering()
  const browser = newBrowser(app)
  const page = await browser.visit(`${flow.ui.action}&code=${code}`)
  const { location } = await browser.press(page, ['method', 'code'])
  expect((await newBrowser(app).visit(location)).status).toBe(403)
  const id = new URL(location).searchParams.get('flow') as string
  const sent = await acme.submit('settings', { flow: id, ...PASSWORD_FORM })
  expect([401, 403]).toContain(sent.status)
  expect((await browser.visit(location)).status).toBe(200)

  // The program that asked for the email learns nothing of the session.
  const seen = await acme.readFlow(flow)
  expect(seen).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
  for (const secret of ['gat_st_', id, identity.id, 'continue_with'])
    expect(JSON.stringify(seen.body)).not.toContain(secret)
})

test('A recovery ends all other sessions and recoveries of the person, and is recorded', async () => {
  const { acme, identity, token, flow, code } = await recovering()
  const globex = await flows.newTenant()
  const theirs = await globex.signedIn(ADA)
  const about = `identity:${identity.id}`
  const before = actionsOn(app, about)
  await acme.send(flow, { code: wrongCode(code) })
  expect(actionsOn(app, about)).toEqual(before)
  expect(await acme.whose(token)).toBe(identity.id)

  clock.jump(MAIL_GAP_MS)
  const fresh = await acme.recover(ADA)
  expect(await acme.whose(token)).toBe(401)
  expect(await acme.whose(fresh)).toBe(identity.id)
  expect(await acme.sessionsOf(identity)).toHaveLength(1)
  expect(await globex.whose(theirs.token)).toBe(theirs.identity.id)
  expect(idsIn(await acme.send(flow, { code }))).toEqual([422, 'code:4060006'])
  const noted = auditOf(app, about).slice(before.length)
  const byOwner = { actor_kind: 'person', actor_id: identity.id, detail: expect.anything() }
  expect(noted).toEqual([{ action: 'identity.recovered', ...byOwner }])
  expect(JSON.stringify(noted)).not.toContain(ADA)
  expect(tablesWith(app, fresh)).toEqual({})
  expect(app.log.filter((line) => line.includes(fresh) || line.includes(`${code}"`))).toEqual([])
})

test('A recovery leaves the second factor to be shown', async () => {
  const acme = await flows.newTenant({ mfa_enabled: true })
  const secret = await acme.enrol((await acme.signedIn(ADA)).token)
  clock.jump(MINUTE)
  const { flow, code } = await acme.waiting('recovery', ADA)
  const answer = await acme.send(flow, { code })
  const token = tokenIn(answer)
  const owed = refuses(403, 'session_aal2_required')
  expect(await acme.whoami(token)).toMatchObject(owed)
  const fields = { flow: nextFlowIn(answer, 'show_settings_ui').id, ...PASSWORD_FORM }
  const refused = await acme.submit('settings', fields, withToken(token))
  expect(refused).toMatchObject(owed)
  expect(refused.body.redirect_browser_to).toContain('/auth/self-service/login?flow=')

  const login = await acme.start('login', withToken(token), '?aal=aal2')
  const done = await acme.send(login, { totp_code: totpAt(secret, clock.now()) })
  expect(done).toMatchObject({ status: 200, body: { session_token: token } })
  flowIn(await acme.change(token, PASSWORD_FORM), 200, 'success')
})

test('The recovery of an account with an unverified address verifies it, and keeps its data', async () => {
  const acme = await flows.newTenant()
  const kept = { traits: { email: ADA, custom_data: { plan: 'gold' } }, metadata_public: { a: 1 } }
  const identity = await acme.unproven(ADA, kept)
  await acme.recover(ADA)
  const verified = { verified: true, status: 'completed', verified_at: isoAt(clock.now()) }
  expect(await acme.addressOf(identity)).toMatchObject({ value: ADA, ...verified })
  expect(await acme.readIdentity(identity)).toMatchObject({ ...kept, state: 'active' })
})

test('The recovery of an account with a verified address keeps all credentials', async () => {
  const acme = await flows.newTenant({ mfa_enabled: true })
  const { identity, token } = await acme.signedIn(ADA)
  await acme.enrol(token)
  const [code] = await acme.makeRecoveryCodes(token)
  await acme.connect(identity, 'github', `github-${identity.id}`)
  clock.jump(MINUTE)
  const fresh = await acme.recover(ADA)
  const all = ['lookup_secret', 'oidc', 'password', 'totp']
  expect(await acme.credentialsOf(identity)).toEqual(all)
  const login = await acme.start('login', withToken(fresh), '?aal=aal2')
  expect((await acme.send(login, { lookup_secret: code })).status).toBe(200)
  expect((await acme.tryPassword(ADA)).status).toBe(200)
})

// Strangers can't keep the owner of an address out of the account.

async function attacked() {
  const acme = await flows.newTenant({ passwordless_enabled: true, mfa_enabled: true })
  await acme.person(ADA)
  return acme
}

async function askFrom(acme: Tenant, from: string, kind: 'recovery' | 'login', email = ADA) {
  const field = kind === 'login' ? 'identifier' : 'email'
  return acme.send(await acme.start(kind), { method: 'code', [field]: email }, { [PEER]: from })
}

test('A stranger who asks for emails from many networks, spoiling every flow, leaves a link that works', async () => {
  const acme = await attacked()
  for (let minute = 0; minute < 12; minute++) {
    const from = `10.1.${minute}.1`
    const { body: flow } = await askFrom(acme, from, 'recovery')
    for (const code of wrongCodes('314159')) await acme.send(flow, { code }, { [PEER]: from })
    await acme.send(flow, { email: 'stranger@example.com' }, { [PEER]: from })
    await clock.advance(MINUTE)
  }
  const { status, body } = await askFrom(acme, '192.0.2.7', 'recovery')
  expect([status, messageIds(body)]).toEqual([200, [1060003]])

  // Eight emails at first, then one in 7.5 minutes.
  expect(acme.sentTo(ADA).length).toBeLessThanOrEqual(8 + 12 / 7.5)
  const browser = newBrowser(app)
  const link = await browser.visit(acme.linkFor(ADA))
  const settings = await browser.follow(await browser.press(link, ['method', 'code']))
  const fields = { password: NEW_PASSWORD }
  expect((await browser.press(settings, ['method', 'password'], fields)).status).toBe(303)
  expect((await acme.tryPassword(ADA, NEW_PASSWORD)).status).toBe(200)
})

test('The latest link is of the last 15 minutes, and works for another 15', async () => {
  const acme = await attacked()
  for (let minute = 0; minute < 24; minute++) {
    await askFrom(acme, `10.4.${minute}.1`, 'recovery')
    const [latest] = acme.sentTo(ADA)
    expect(latest?.createdAt).toBeGreaterThan(clock.now() - 15 * MINUTE)
    expect(latest?.expiresAt).toBeGreaterThan(clock.now() + 15 * MINUTE)
    await clock.advance(MINUTE)
  }
})

test('A stranger who asks for emails from one network is refused before the owner is', async () => {
  const acme = await attacked()
  for (let n = 0; n < 9; n++) {
    const { status, headers } = await askFrom(acme, '198.51.100.9', 'login')
    expect([status, headers.has('retry-after')]).toEqual(n < 5 ? [200, false] : [429, true])
    await clock.advance(MAIL_GAP_MS)
  }
  const flow = flowIn(await askFrom(acme, '192.0.2.8', 'login'), 200, 'sent_email')
  expect((await acme.send(flow, { code: acme.codeFor(ADA) })).status).toBe(200)
})

test('Wrong second factors of a stranger with the password do not delay the owner of the mailbox', async () => {
  const acme = await attacked()
  const secret = await acme.enrol((await acme.signIn(ADA)).session_token)
  const second = (token: string) => acme.start('login', withToken(token), '?aal=aal2')
  const elevenOf = async (token: string) => {
    const statuses: number[] = []
    for (let n = 0; n < 11; n++)
      statuses.push((await acme.send(await second(token), { totp_code: '000000' })).status)
    return statuses
  }
  const tenTries = [...Array(10).fill(422), 429]
  expect(await elevenOf((await acme.signIn(ADA)).session_token)).toEqual(tenTries)
  await clock.advance(MAIL_GAP_MS)

  const flow = await second(await acme.recover(ADA))
  expect((await acme.send(flow, { totp_code: acme.nextCode(secret) })).status).toBe(200)
  // With the mailbox, there are ten guesses as well.
  await clock.advance(MINUTE)
  expect(await elevenOf(await acme.recover(ADA))).toEqual(tenTries)
})
