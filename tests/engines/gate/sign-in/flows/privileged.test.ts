import { expect, test } from 'bun:test'
import { HOUR, IDENTITIES, type Json, rowsOf } from '../../fixture.ts'
import { ADA, BOB, CODES, complains, NEW_PASSWORD, RETURN_TO, refuses, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { isoAt } from './checked.ts'
import { type Tenant, useFlows, WAYS } from './code-fixture.ts'
import { node, PASSWORD, totpAt } from './fixture.ts'

const flows = await useFlows()
const { clock, app } = flows

const TOO_LATE = refuses(403, 'session_refresh_required')
const CHANGE = { method: 'password', password: NEW_PASSWORD }
const BY_PASSWORD = { method: 'password', password: PASSWORD }
const SIGN_IN: [string, string] = ['method', 'password']

async function withAda() {
  const acme = await flows.newTenant({ mfa_enabled: true })
  return { acme, ...(await acme.signedIn(ADA)) }
}

type Ada = Awaited<ReturnType<typeof withAda>>

/** All that is stored of a person, except flows and sessions. */
const everythingOf = ({ id }: Json): string =>
  JSON.stringify(
    ['gate_credentials', 'gate_social_links', 'gate_addresses', 'gate_codes'].map((table) =>
      rowsOf(app, table).filter(({ identity_id }) => identity_id === id),
    ),
  )

const totpNow = (flow: Json) => {
  const { secret } = node(flow, 'totp_secret_key').attributes.text.context
  return { method: 'totp', totp_code: totpAt(secret, clock.now()) }
}
const connected = ({ acme, identity }: Ada) =>
  acme.connect(identity, 'github', `github-${identity.id}`)

test.each<[string, (flow: Json) => Json, ((ada: Ada) => Promise<unknown>)?]>([
  ['A new password', () => CHANGE, undefined],
  ['A new address', () => ({ method: 'profile', traits: { email: BOB } }), undefined],
  ['A new authenticator', totpNow, undefined],
  [
    'The removal of an authenticator',
    () => ({ method: 'totp', totp_unlink: true }),
    ({ acme, token }) => acme.enrol(token),
  ],
  ['New recovery codes', () => CODES.make, undefined],
  ['The removal of recovery codes', () => CODES.remove, undefined],
  ['The removal of an account', () => ({ method: 'oidc', unlink: 'github' }), connected],
])('%s needs a sign-in of the last hour, to the millisecond', async (_, fields, before) => {
  const ada = await withAda()
  const { acme, token, identity } = ada
  await before?.(ada)
  const known = everythingOf(identity)
  clock.jump(HOUR)
  const inTime = await acme.settings(token)
  clock.jump(1)
  const flow = await acme.settings(token)
  for (const [, send] of WAYS) {
    const answer = await send(acme, flow, fields(flow), token)
    expect(answer).toMatchObject(TOO_LATE)
    expect(answer.body.redirect_browser_to).toContain('/auth/self-service/login?flow=')
  }
  expect(everythingOf(identity)).toBe(known)
  // Back to the last millisecond.
  clock.jump(-1)
  await acme.sendWell(inTime, fields(inTime), withToken(token))
})

test('Recovery codes are confirmed with a sign-in of the last hour', async () => {
  const { acme, token, identity } = await withAda()
  clock.jump(HOUR)
  const codes = await acme.settings(token)
  await acme.sendWell(codes, CODES.make, withToken(token))
  clock.jump(1)
  expect(await acme.send(codes, CODES.keep, withToken(token))).toMatchObject(TOO_LATE)
  expect((await acme.readIdentity(identity)).credentials).not.toHaveProperty('lookup_secret')
})

test('Before a recent sign-in no errors are shown; another recent session may continue a flow', async () => {
  const { acme, token } = await withAda()
  clock.jump(HOUR + 1)
  for (const fields of [
    { method: 'password', password: 'x' },
    { method: 'totp', totp_code: '000000' },
    { method: 'oidc', unlink: 'github' },
    { link: 'github' },
    { method: 'lookup_secret' },
  ])
    expect(await acme.change(token, fields)).toMatchObject(TOO_LATE)
  const flow = await acme.settings(token)
  const { session_token: recent } = await acme.signIn(ADA)
  expect(await acme.send(flow, CHANGE, withToken(token))).toMatchObject({ status: 403 })
  expect(await acme.send(flow, CHANGE, withToken(recent))).toMatchObject({ status: 200 })
})

const refresh = (acme: Tenant, token: string) =>
  acme.start('login', withToken(token), '?refresh=true')

test('A refused change leads to a sign-in of its person, and is allowed in the same session', async () => {
  const { acme, token, identity } = await withAda()
  const before = await acme.sessionOf(token)
  await using hooks = await acme.listening()
  clock.jump(5 * HOUR)
  const settings = await acme.settings(token)
  const refused = await acme.send(settings, CHANGE, withToken(token))
  const { body: flow } = await acme.readAt(refused.body.redirect_browser_to, withToken(token))
  expect(flow).toMatchObject({ refresh: true, requested_aal: 'aal1' })
  const done = await acme.sendWell(flow, BY_PASSWORD, withToken(token))
  const { id, issued_at, expires_at } = before
  const session = { id, token, issued_at, expires_at, identity: { id: identity.id } }
  const authenticated_at = isoAt(clock.now())
  expect(done).toMatchObject({ session_token: token, session: { ...session, authenticated_at } })
  expect(done.session.authentication_methods).toHaveLength(1)
  expect(await acme.sessionsOf(identity)).toHaveLength(1)
  expect(await hooks.events()).toEqual([])
  expect(await acme.send(settings, CHANGE, withToken(token))).toMatchObject({ status: 200 })
})

test('Signing in again is refused with a wrong password, with that of another person, and once signed out', async () => {
  const { acme, token, identity } = await withAda()
  await acme.person(BOB, { password: NEW_PASSWORD })
  const { session_token: bob, session } = await acme.signIn(BOB, NEW_PASSWORD)
  clock.jump(2 * HOUR)
  const flow = await refresh(acme, token)
  const wrong = { method: 'password', password: 'wrong' }
  for (const fields of [wrong, { ...CHANGE, identifier: BOB }])
    expect(await acme.send(flow, fields)).toMatchObject(complains(4000006))
  expect(await acme.change(token, CHANGE)).toMatchObject(TOO_LATE)
  expect((await acme.sessionOf(bob)).authenticated_at).toBe(session.authenticated_at)
  await acme.api.delete(`${IDENTITIES}/${identity.id}/sessions`)
  expect(await acme.send(flow, BY_PASSWORD)).toMatchObject(refuses(401, 'session_inactive'))
  expect(await acme.sessionsOf(identity)).toEqual([])
})

test('Signing in again keeps two factors, and does not replace the second one', async () => {
  const { acme, token } = await withAda()
  await acme.enrol(token)
  const { session } = await acme.sendWell(await refresh(acme, token), BY_PASSWORD)
  expect(session.authenticator_assurance_level).toBe('aal2')
  const { token: half } = await acme.halfway()
  const done = await acme.sendWell(await refresh(acme, half), BY_PASSWORD)
  expect(await acme.whoami(half)).toMatchObject({ status: 403 })
  expect(done.session.identity).toBeNull()
})

test('Signing in again with an emailed code allows changes, and verifies the address', async () => {
  const acme = await flows.newTenant({ passwordless_enabled: true })
  const { session_token: token, identity } = await acme.register(ADA)
  clock.jump(2 * HOUR)
  const flow = await refresh(acme, token)
  await acme.sendWell(flow, { method: 'code', identifier: BOB })
  const done = await acme.sendWell(flow, { method: 'code', code: acme.codeFor(ADA) })
  expect(done.session_token).toBe(token)
  expect(await acme.addressOf(identity)).toMatchObject({ verified: true })
  expect(await acme.change(token, CHANGE)).toMatchObject({ status: 200 })
})

test('On pages, a refused change leads to a sign-in in the same browser, and back', async () => {
  const { acme, token } = await withAda()
  clock.jump(2 * HOUR)
  const browser = newBrowser(app)
  const page = await browser.visit((await acme.settings(token)).hosted_url)
  const refused = await browser.press(page, SIGN_IN, { password: NEW_PASSWORD })
  const stranger = await newBrowser(app).visit(refused.location)
  expect([stranger.status, stranger.text.includes(ADA)]).toEqual([403, false])
  const login = await browser.follow(refused)
  expect(login.forms[0]?.hidden.identifier).toBe(ADA)
  const back = await browser.press(login, SIGN_IN, { password: PASSWORD })
  expect(new URL(back.location).pathname).toBe('/auth/self-service/settings')
  const settings = await browser.follow(back)
  const saved = await browser.press(settings, SIGN_IN, { password: NEW_PASSWORD })
  expect((await browser.follow(saved)).text).toContain('Your changes have been saved.')
  expect(await acme.sessionOf(token)).toMatchObject({ authenticated_at: isoAt(clock.now()) })
})

test.each(['?refresh=true', '?aal=aal2'])('A hosted sign-in with %s leads back', async (query) => {
  const { acme, token } = await withAda()
  const { id } = await acme.sessionOf(token)
  const secret = await acme.enrol(token)
  const headers = { ...withToken(token), 'x-return-to': RETURN_TO }
  const flow = await acme.start('login', headers, query)
  const browser = newBrowser(app)
  const page = await browser.visit(flow.hosted_url)
  const done = query.includes('aal')
    ? await browser.press(page, ['method', 'totp'], { totp_code: acme.nextCode(secret) })
    : await browser.press(page, SIGN_IN, { password: PASSWORD })
  expect(done.location).toStartWith(`${RETURN_TO}?flow=${flow.id}`)
  const row = rowsOf(app, 'gate_flows').find((each) => each.id === flow.id)
  expect(row).toMatchObject({ session_id: id })
})
