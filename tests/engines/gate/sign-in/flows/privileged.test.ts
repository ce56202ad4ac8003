import { describe, expect, test } from 'bun:test'
import { HOUR, type Json } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import {
  ADA,
  BOB,
  CODES,
  complains,
  connect,
  halfway,
  NEW_PASSWORD,
  nextCode,
  RETURN_TO,
  read,
  refuses,
  sessionOf,
  WAYS,
  withToken,
} from './acts.ts'
import { newBrowser } from './browser.ts'
import {
  addressOf,
  FLOW_MS,
  isoAt,
  person,
  sessionsOf,
  signedIn,
  type Tenant,
  useFlows,
} from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD, totpAt } from './fixture.ts'
import { offering } from './offering.ts'

const flows = await useFlows()
const { clock, app } = flows

const TOO_LATE = refuses(403, 'session_refresh_required')
const CHANGE = { method: 'password', password: NEW_PASSWORD }
const BY_PASSWORD = { method: 'password', password: PASSWORD }

async function withAda() {
  const acme = await flows.newTenant({ mfa_enabled: true })
  return { acme, ...(await signedIn(acme, ADA)) }
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

/** Changes that need a recent sign-in. */
const PRIVILEGED: [
  string,
  { before?: (ada: Ada) => Promise<unknown>; fields: (flow: Json) => Json },
][] = [
  ['a new password', { fields: () => CHANGE }],
  ['a new address', { fields: () => ({ method: 'profile', traits: { email: BOB } }) }],
  ['a new authenticator', { fields: totpNow }],
  [
    'the removal of an authenticator',
    {
      before: ({ acme, token }) => acme.enrol(token),
      fields: () => ({ method: 'totp', totp_unlink: true }),
    },
  ],
  ['new recovery codes', { fields: () => CODES.make }],
  ['the removal of recovery codes', { fields: () => CODES.remove }],
  [
    'the removal of a connected account',
    {
      before: ({ acme, identity }) => connect(acme, identity, 'github', `github-${identity.id}`),
      fields: () => ({ method: 'oidc', unlink: 'github' }),
    },
  ],
]

describe.each(PRIVILEGED)('%s', (_, { before, fields }) => {
  test('needs a sign-in of the last hour, to the millisecond', async () => {
    const ada = await withAda()
    const { acme, token, identity } = ada
    await before?.(ada)
    const { authenticated_at } = await sessionOf(acme, token)
    const known = everythingOf(identity)
    clock.jump(HOUR)
    const inTime = await acme.settings(token)
    clock.jump(1)
    for (const send of Object.values(WAYS)) {
      const flow = await acme.settings(token)
      const { status, body } = await send(acme, flow, fields(flow), token)
      expect({ status, body }).toEqual({
        status: 403,
        body: {
          error: expect.any(String),
          id: 'session_refresh_required',
          redirect_browser_to: expect.stringContaining('/auth/self-service/login?flow='),
        },
      })
      expect((await read(acme, flow.ui.action, withToken(token))).body.state).toBe('show_form')
    }
    expect(everythingOf(identity)).toBe(known)
    expect((await sessionOf(acme, token)).authenticated_at).toBe(authenticated_at)
    // Back to the last millisecond.
    clock.jump(-1)
    const answer = await acme.send(inTime, fields(inTime), withToken(token))
    expect(answer).toMatchObject({ status: 200 })
  })
})

test('a new connected account needs a sign-in of the last hour', async () => {
  const { acme, token } = await withAda()
  const own = offering(acme, 'github')
  await own.enable('github')
  clock.jump(HOUR)
  const flow = await own.start('settings', { ...withToken(token), 'x-return-to': RETURN_TO })
  const link = { method: 'oidc', link: 'github' }
  const away = await own.send(flow, link, withToken(token))
  expect(away).toMatchObject({ status: 422, body: { id: 'browser_location_change_required' } })
  clock.jump(1)
  for (const fields of [link, { link: 'github' }])
    expect(await own.send(flow, fields, withToken(token))).toMatchObject(TOO_LATE)
})

test('recovery codes are confirmed with a sign-in of the last hour', async () => {
  const { acme, token, identity } = await withAda()
  clock.jump(HOUR)
  const flow = await acme.settings(token)
  await acme.sendWell(flow, CODES.make, withToken(token))
  clock.jump(1)
  expect(await acme.send(flow, CODES.keep, withToken(token))).toMatchObject(TOO_LATE)
  expect((await acme.readIdentity(identity)).credentials).not.toHaveProperty('lookup_secret')
})

test('errors of a form are not shown before a recent sign-in', async () => {
  const { acme, token } = await withAda()
  clock.jump(HOUR + 1)
  for (const fields of [
    { method: 'password', password: 'x' },
    BY_PASSWORD,
    { method: 'totp', totp_code: '000000' },
    { method: 'oidc', unlink: 'github' },
    { method: 'lookup_secret' },
  ])
    expect(await acme.change(token, fields)).toMatchObject(TOO_LATE)
})

test('another session that is recent may continue a settings flow', async () => {
  const { acme, token } = await withAda()
  clock.jump(HOUR + 1)
  const flow = await acme.settings(token)
  const { session_token: recent } = await acme.signIn(ADA)
  expect(await acme.send(flow, CHANGE, withToken(token))).toMatchObject({ status: 403 })
  expect(await acme.send(flow, CHANGE, withToken(recent))).toMatchObject({ status: 200 })
})

describe('signing in again', () => {
  const refresh = (acme: Tenant, token: string, headers: Record<string, string> = {}) =>
    acme.start('login', { ...withToken(token), ...headers }, '?refresh=true')

  test('needs a session, and asks for the password of its person', async () => {
    const { acme, token } = await withAda()
    for (const headers of [{}, withToken('garbage')] as Record<string, string>[])
      expect(await acme.ask('login', headers, '?refresh=true')).toMatchObject({ status: 401 })
    const flow = await refresh(acme, token)
    expect(flow).toMatchObject({ refresh: true, requested_aal: 'aal1' })
    expect(messageIds(flow)).toEqual([1010003])
    const fields = ['password:password', 'password:method=password']
    expect(nodeNames(flow)).toEqual([`default:identifier=${ADA}`, ...fields])
  })

  test('is where a refused change leads to, and allows it in the same session', async () => {
    const { acme, token, identity } = await withAda()
    const before = await sessionOf(acme, token)
    clock.jump(5 * HOUR)
    const settings = await acme.settings(token)
    const refused = await acme.send(settings, CHANGE, withToken(token))
    const { body: flow } = await read(acme, refused.body.redirect_browser_to, withToken(token))
    expect(flow).toMatchObject({ refresh: true, requested_aal: 'aal1' })
    const done = await acme.sendWell(flow, BY_PASSWORD, withToken(token))
    const { id, issued_at, expires_at } = before
    expect(done).toMatchObject({
      session_token: token,
      session: {
        ...{ id, token, issued_at, expires_at },
        authenticated_at: isoAt(clock.now()),
        identity: { id: identity.id },
      },
    })
    expect(done.session.authentication_methods).toHaveLength(1)
    expect(await sessionsOf(acme, identity)).toHaveLength(1)
    expect(await acme.send(settings, CHANGE, withToken(token))).toMatchObject({ status: 200 })
  })

  test('is refused with a wrong password, and with that of another person', async () => {
    const { acme, token } = await withAda()
    await person(acme, BOB, { password: NEW_PASSWORD })
    const { session_token: bob, session } = await acme.signIn(BOB, NEW_PASSWORD)
    clock.jump(2 * HOUR)
    const flow = await refresh(acme, token)
    for (const fields of [
      { method: 'password', password: 'wrong' },
      { ...CHANGE, identifier: BOB },
    ])
      expect(await acme.send(flow, fields)).toMatchObject(complains(4000006))
    expect(await acme.change(token, CHANGE)).toMatchObject(TOO_LATE)
    expect((await sessionOf(acme, bob)).authenticated_at).toBe(session.authenticated_at)
  })

  test('keeps two factors, and does not replace the second one', async () => {
    const { acme, token } = await withAda()
    await acme.enrol(token)
    const { session } = await acme.sendWell(await refresh(acme, token), BY_PASSWORD)
    expect(session.authenticator_assurance_level).toBe('aal2')
    const { token: half } = await halfway(acme)
    const done = await acme.sendWell(await refresh(acme, half), BY_PASSWORD)
    expect(await acme.whoami(half)).toMatchObject({ status: 403 })
    expect(done.session.identity).toBeNull()
    expect(done.continue_with.map(({ action }: Json) => action)).toContain('redirect_browser_to')
  })

  test('with an emailed code allows changes, and verifies the address', async () => {
    const acme = await flows.newTenant({ passwordless_enabled: true })
    const { session_token: token, identity } = await acme.register(ADA)
    clock.jump(2 * HOUR)
    const flow = await refresh(acme, token)
    await acme.sendWell(flow, { method: 'code', identifier: BOB })
    const done = await acme.sendWell(flow, { method: 'code', code: acme.codeFor(ADA) })
    expect(done.session_token).toBe(token)
    expect(await addressOf(acme, identity)).toMatchObject({ verified: true })
    expect(await acme.change(token, CHANGE)).toMatchObject({ status: 200 })
  })

  test('continues in the flow that follows an expired one, with the same token', async () => {
    const { acme, token } = await withAda()
    const flow = await refresh(acme, token)
    clock.jump(FLOW_MS)
    const { status, body } = await acme.send(flow, BY_PASSWORD, withToken(token))
    expect(status).toBe(410)
    const url = flow.ui.action.replace(flow.id, body.use_flow_id)
    const { body: next } = await read(acme, url, withToken(token))
    expect(next).toMatchObject({ refresh: true })
    const done = await acme.sendWell(next, BY_PASSWORD, withToken(token))
    expect(done).toMatchObject({ session_token: token, session: { token } })
  })
})

describe('on pages', () => {
  const SIGN_IN: [string, string] = ['method', 'password']

  /** A browser at the settings of a session that is not recent. */
  async function atSettings() {
    const ada = await withAda()
    clock.jump(2 * HOUR)
    const browser = newBrowser(app)
    const page = await browser.visit((await ada.acme.settings(ada.token)).hosted_url)
    return { ...ada, browser, page }
  }

  test('a refused change leads to a sign-in in the same browser, and back', async () => {
    const { acme, token, browser, page } = await atSettings()
    const before = await sessionOf(acme, token)
    const refused = await browser.press(page, SIGN_IN, { password: NEW_PASSWORD })
    expect(refused.location).not.toContain('/settings')
    const stranger = await newBrowser(app).visit(refused.location)
    expect(stranger.status).toBe(403)
    expect(stranger.text).not.toContain(ADA)

    const login = await browser.follow(refused)
    expect(login.forms[0]?.hidden.identifier).toBe(ADA)
    const wrong = await browser.press(login, SIGN_IN, { password: 'wrong' })
    expect(wrong.status).toBe(422)
    const back = await browser.press(login, SIGN_IN, { password: PASSWORD })
    expect(new URL(back.location).pathname).toBe('/auth/self-service/settings')
    const settings = await browser.follow(back)
    const saved = await browser.press(settings, SIGN_IN, { password: NEW_PASSWORD })
    expect((await browser.follow(saved)).text).toContain('Your changes have been saved.')
    const recent = { id: before.id, authenticated_at: isoAt(clock.now()) }
    expect(await sessionOf(acme, token)).toMatchObject(recent)
    expect(await acme.tryPassword(ADA, NEW_PASSWORD)).toMatchObject({ status: 200 })
  })

  test('a second factor that is owed meanwhile is asked for, and leads back', async () => {
    const { acme, token } = await withAda()
    const { session_token: other } = await acme.signIn(ADA)
    const browser = newBrowser(app)
    const { hosted_url } = await acme.settings(other)
    expect(await browser.visit(hosted_url)).toMatchObject({ status: 200 })
    const secret = await acme.enrol(token)
    const asked = await browser.follow(await browser.visit(hosted_url))
    expect(asked.text).not.toContain(ADA)
    const totp_code = nextCode(acme, secret)
    const shown = await browser.follow(
      await browser.press(asked, ['method', 'totp'], { totp_code }),
    )
    expect(shown).toMatchObject({ status: 200 })
    expect(shown.forms.flatMap(({ fields }) => Object.values(fields))).toContain(ADA)
    expect((await sessionOf(acme, other)).authenticator_assurance_level).toBe('aal2')
  })

  test.each([
    ['sign-in', '?refresh=true'],
    ['second factor', '?aal=aal2'],
  ])('a %s that the tenant asks for leads back to it', async (_, query) => {
    const { acme, token } = await withAda()
    const { id: sessionId } = await sessionOf(acme, token)
    const secret = await acme.enrol(token)
    const headers = { ...withToken(token), 'x-return-to': RETURN_TO }
    const flow = await acme.start('login', headers, query)
    const browser = newBrowser(app)
    const page = await browser.visit(flow.hosted_url)
    const done = query.includes('aal')
      ? await browser.press(page, ['method', 'totp'], { totp_code: nextCode(acme, secret) })
      : await browser.press(page, SIGN_IN, { password: PASSWORD })
    expect(done.status).toBe(303)
    expect(done.location).toStartWith(`${RETURN_TO}?flow=${flow.id}`)
    const { session_id } = rowsOf(app, 'gate_flows').find(({ id }) => id === flow.id)
    expect(session_id).toBe(sessionId)
  })
})
