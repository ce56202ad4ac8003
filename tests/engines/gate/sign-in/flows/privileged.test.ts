import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Json } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import {
  ADA,
  BOB,
  bootFactors,
  bootUnhurried,
  CODES,
  complains,
  connect,
  enrolled,
  HOUR,
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
import { type FlowFixture, messageIds, node, nodeNames, PASSWORD, totpAt } from './fixture.ts'
import { offering } from './offering.ts'

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootFactors()
})
afterAll(() => fixture.app.stop())

let people = 0
let email: string
let token: string
let identity: Json
beforeEach(async () => {
  email = `late-${people++}@example.com`
  const done = await fixture.register(email)
  token = done.session_token
  identity = done.identity
})

/** All that there is of somebody, but for flows and sessions. */
const everythingOf = ({ id }: Json): string =>
  JSON.stringify(
    ['gate_credentials', 'gate_social_links', 'gate_addresses', 'gate_codes'].map((table) =>
      rowsOf(fixture.app, table).filter(({ identity_id }) => identity_id === id),
    ),
  )

const totpNow = (flow: Json) => ({
  method: 'totp',
  totp_code: totpAt(
    node(flow, 'totp_secret_key').attributes.text.context.secret,
    fixture.clock.now(),
  ),
})

/** What only a recent sign-in may do; each with what is there before. */
const PRIVILEGED: Record<
  string,
  { before?: () => Promise<unknown>; fields: (flow: Json) => Json; status?: number }
> = {
  'a new password': { fields: () => ({ method: 'password', password: NEW_PASSWORD }) },
  'a new address': { fields: () => ({ method: 'profile', traits: { email: `moved-${email}` } }) },
  'an authenticator': { fields: totpNow },
  'the end of an authenticator': {
    before: () => fixture.enrol(token),
    fields: () => ({ method: 'totp', totp_unlink: true }),
  },
  'recovery codes': { fields: () => CODES.make },
  'the end of recovery codes': { fields: () => CODES.remove },
  'an account elsewhere less': {
    before: () => connect(fixture, identity, 'github', `github-${identity.id}`),
    fields: () => ({ method: 'oidc', unlink: 'github' }),
  },
}

describe.each(Object.entries(PRIVILEGED))('%s', (_, { before, fields, status = 200 }) => {
  test('is for whoever has signed in within the hour, to the millisecond', async () => {
    await before?.()
    fixture.clock.jump(HOUR)
    const flow = await fixture.settings(token)
    expect(await fixture.send(flow, fields(flow), withToken(token))).toMatchObject({ status })
  })

  test.each(Object.entries(WAYS))('is refused after that, sent %s', async (_, send) => {
    await before?.()
    const { authenticated_at } = await sessionOf(fixture, token)
    fixture.clock.jump(HOUR + 1)
    const flow = await fixture.settings(token)
    const known = everythingOf(identity)

    const { status, body } = await send(fixture, flow, fields(flow), token)

    expect({ status, body }).toEqual({
      status: 403,
      body: {
        error: expect.any(String),
        id: 'session_refresh_required',
        redirect_browser_to: expect.stringContaining('/auth/self-service/login?flow='),
      },
    })
    expect(everythingOf(identity)).toBe(known)
    expect((await sessionOf(fixture, token)).authenticated_at).toBe(authenticated_at)
    expect((await read(fixture, flow.ui.action, withToken(token))).body.state).toBe('show_form')
  })
})

test('so is one account elsewhere more', async () => {
  const own = offering(fixture, 'github')
  await own.enable('github')
  fixture.clock.jump(HOUR)
  const headers = { ...withToken(token), 'x-return-to': RETURN_TO }
  const flow = await own.start('settings', headers)
  const link = { method: 'oidc', link: 'github' }
  expect(await own.send(flow, link, withToken(token))).toMatchObject({
    status: 422,
    body: { id: 'browser_location_change_required' },
  })
  fixture.clock.jump(1)
  for (const fields of [link, { link: 'github' }])
    expect(await own.send(flow, fields, withToken(token))).toMatchObject(
      refuses(403, 'session_refresh_required'),
    )
})

test('so is it to say that recovery codes are written down', async () => {
  const flow = await fixture.settings(token)
  await fixture.sendWell(flow, CODES.make, withToken(token))
  fixture.clock.jump(HOUR - 1)
  const second = await fixture.settings(token)
  await fixture.sendWell(second, CODES.make, withToken(token))
  fixture.clock.jump(2)
  expect(await fixture.send(second, CODES.keep, withToken(token))).toMatchObject(
    refuses(403, 'session_refresh_required'),
  )
  expect((await fixture.readIdentity(identity)).credentials).not.toHaveProperty('lookup_secret')
})

test('what is wrong with a form is not said before', async () => {
  fixture.clock.jump(HOUR + 1)
  for (const fields of [
    { method: 'password', password: 'x' },
    { method: 'password', password: PASSWORD },
    { method: 'totp', totp_code: '000000' },
    { method: 'oidc', unlink: 'github' },
    { method: 'lookup_secret' },
  ])
    expect(await fixture.change(token, fields)).toMatchObject(
      refuses(403, 'session_refresh_required'),
    )
})

test('another session that is recent is good for the same flow', async () => {
  fixture.clock.jump(HOUR + 1)
  const flow = await fixture.settings(token)
  const { session_token: recent } = await fixture.signIn(email)
  const fields = { method: 'password', password: NEW_PASSWORD }
  expect(await fixture.send(flow, fields, withToken(token))).toMatchObject({ status: 403 })
  expect(await fixture.send(flow, fields, withToken(recent))).toMatchObject({ status: 200 })
})

describe('a sign-in once more', () => {
  const refresh = (headers: Record<string, string> = {}) =>
    fixture.start('login', { ...withToken(token), ...headers }, '?refresh=true')

  test('is for somebody who is signed in: 401 for everybody else', async () => {
    for (const headers of [{}, withToken('garbage')] as Record<string, string>[])
      expect(await fixture.ask('login', headers, '?refresh=true')).toMatchObject({ status: 401 })
  })

  test('asks for the password of whoever it is, and for nobody else', async () => {
    const flow = await refresh()
    expect(flow).toMatchObject({ refresh: true, requested_aal: 'aal1' })
    expect(messageIds(flow)).toEqual([1010003])
    expect(nodeNames(flow)).toEqual([
      `default:identifier=${email}`,
      'password:password',
      'password:method=password',
    ])
  })

  test('makes the session a recent one: the same, by the same token', async () => {
    const before = await sessionOf(fixture, token)
    fixture.clock.jump(5 * HOUR)
    const flow = await refresh()

    const { session_token, session } = await fixture.sendWell(flow, {
      method: 'password',
      password: PASSWORD,
    })

    expect(session_token).toBe(token)
    expect(session).toMatchObject({
      id: before.id,
      token,
      issued_at: before.issued_at,
      expires_at: before.expires_at,
      authenticated_at: new Date(fixture.clock.now()).toISOString(),
      identity: { id: identity.id },
    })
    expect(session.authentication_methods).toHaveLength(1)
    const listed = (await fixture.api.get(`/v1/gate/identities/${identity.id}/sessions`)).body
    expect(listed).toHaveLength(1)
    expect(
      await fixture.change(token, { method: 'password', password: NEW_PASSWORD }),
    ).toMatchObject({ status: 200 })
  })

  test('is where a refused change leads to, and the change is good after it', async () => {
    fixture.clock.jump(2 * HOUR)
    const settings = await fixture.settings(token)
    const fields = { method: 'password', password: NEW_PASSWORD }
    const refused = await fixture.send(settings, fields, withToken(token))
    const flow = (await read(fixture, refused.body.redirect_browser_to, withToken(token))).body
    expect(flow).toMatchObject({ refresh: true, requested_aal: 'aal1' })

    const done = await fixture.sendWell(
      flow,
      { method: 'password', password: PASSWORD },
      withToken(token),
    )

    expect(done.session_token).toBe(token)
    expect(await fixture.send(settings, fields, withToken(token))).toMatchObject({ status: 200 })
  })

  test('is not done by a wrong password', async () => {
    fixture.clock.jump(2 * HOUR)
    const flow = await refresh()
    expect(await fixture.send(flow, { method: 'password', password: 'wrong' })).toMatchObject(
      complains(4000006),
    )
    expect(
      await fixture.change(token, { method: 'password', password: NEW_PASSWORD }),
    ).toMatchObject(refuses(403, 'session_refresh_required'))
  })

  test('is not done by somebody else, whatever they send', async () => {
    const other = await fixture.register(`other-${email}`, NEW_PASSWORD)
    const before = await sessionOf(fixture, token)
    fixture.clock.jump(2 * HOUR)
    const flow = await refresh()
    const identifier = `other-${email}`
    expect(
      await fixture.send(flow, { method: 'password', identifier, password: NEW_PASSWORD }),
    ).toMatchObject(complains(4000006))
    expect((await sessionOf(fixture, token)).authenticated_at).toBe(before.authenticated_at)
    expect((await sessionOf(fixture, other.session_token)).authenticated_at).toBe(
      other.session.authenticated_at,
    )
  })

  test('comes too late for a session that has ended', async () => {
    const flow = await refresh()
    await fixture.api.delete(`/v1/gate/identities/${identity.id}/sessions`)
    expect(await fixture.send(flow, { method: 'password', password: PASSWORD })).toMatchObject(
      refuses(401, 'session_inactive'),
    )
    expect((await fixture.api.get(`/v1/gate/identities/${identity.id}/sessions`)).body).toEqual([])
  })

  test('keeps a session of both factors one of both', async () => {
    await fixture.enrol(token)
    const flow = await refresh()
    const { session } = await fixture.sendWell(flow, { method: 'password', password: PASSWORD })
    expect(session.authenticator_assurance_level).toBe('aal2')
    expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
  })

  test('does not make up for the second factor: nothing is told of the person', async () => {
    const { secret } = await enrolled(fixture, `two-${email}`)
    const half = (await fixture.signIn(`two-${email}`)).session_token
    const flow = await fixture.start('login', withToken(half), '?refresh=true')

    const done = await fixture.sendWell(flow, { method: 'password', password: PASSWORD })

    expect(await fixture.whoami(half)).toMatchObject({ status: 403 })
    expect(secret).toBeString()
    expect(done.session.identity).toBeNull()
    expect(done.continue_with?.map(({ action }: Json) => action)).toContain('redirect_browser_to')
  })

  test('can be done by a code from a mail, where the tenant has that on', async () => {
    await using own = await bootUnhurried()
    await own.security({ passwordless_enabled: true })
    const { session_token } = await own.register(ADA)
    const verification = own.sentTo(ADA)[0]
    expect(verification).toBeDefined()
    own.clock.jump(2 * HOUR)
    const proof = await own.start('verification')
    await own.sendWell(proof, { method: 'code', email: ADA })
    await own.sendWell(proof, { code: own.codeFor(ADA) }, withToken(session_token))
    own.clock.jump(31_000)

    const flow = await own.start('login', withToken(session_token), '?refresh=true')
    await own.sendWell(flow, { method: 'code', identifier: BOB })
    expect(own.sentTo(BOB)).toEqual([])
    const done = await own.sendWell(flow, { method: 'code', code: own.codeFor(ADA) })

    expect(done.session_token).toBe(session_token)
    expect(
      await own.change(session_token, { method: 'password', password: NEW_PASSWORD }),
    ).toMatchObject({ status: 200 })
  })

  test('by a code from a mail proves an address that was not proven', async () => {
    await using own = await bootUnhurried()
    await own.security({ passwordless_enabled: true })
    const { session_token, identity: ada } = await own.register(ADA)
    own.clock.jump(2 * HOUR)
    const flow = await own.start('login', withToken(session_token), '?refresh=true')
    await own.sendWell(flow, { method: 'code' })

    const answer = await own.send(flow, { method: 'code', code: own.codeFor(ADA) })

    // Whoever holds the mailbox has shown it: that is not lost, whatever becomes of the session.
    expect((await own.readIdentity(ada)).verifiable_addresses[0].verified).toBe(true)
    expect([200, 401]).toContain(answer.status)
  })

  test('that has expired goes on in another flow, with the same token in the end', async () => {
    await using own = await bootUnhurried()
    const { session_token } = await own.register(ADA)
    const flow = await own.start('login', withToken(session_token), '?refresh=true')
    own.clock.jump(HOUR)
    const { status, body } = await own.send(
      flow,
      { method: 'password', password: PASSWORD },
      withToken(session_token),
    )
    expect(status).toBe(410)
    const next = (
      await read(
        own,
        `${flow.ui.action.split('?')[0]}?flow=${body.use_flow_id}`,
        withToken(session_token),
      )
    ).body
    expect(next).toMatchObject({ refresh: true })

    const done = await own.sendWell(
      next,
      { method: 'password', password: PASSWORD },
      withToken(session_token),
    )

    expect(done.session_token).toBe(session_token)
    expect(done.session.token).toBe(session_token)
  })
})

describe('on pages', () => {
  const again = ['method', 'password'] as [string, string]

  test('a change that comes too late leads to a sign-in, and from there back', async () => {
    fixture.clock.jump(2 * HOUR)
    const before = await sessionOf(fixture, token)
    const browser = newBrowser(fixture.app)
    const page = await browser.visit((await fixture.settings(token)).hosted_url)

    const refused = await browser.press(page, again, { password: NEW_PASSWORD })
    expect(refused.location).not.toContain('/settings')
    const login = await browser.follow(refused)
    expect(login.status).toBe(200)
    expect(login.forms[0]?.hidden.identifier).toBe(email)
    const wrong = await browser.press(login, again, { password: 'wrong' })
    expect(wrong.status).toBe(422)

    const back = await browser.press(login, again, { password: PASSWORD })
    expect(new URL(back.location).pathname).toBe('/auth/self-service/settings')
    const settings = await browser.follow(back)
    expect(settings.status).toBe(200)
    const done = await browser.follow(
      await browser.press(settings, again, { password: NEW_PASSWORD }),
    )

    expect(done.status).toBe(200)
    expect(done.text).toContain('Your changes have been saved.')
    expect(await sessionOf(fixture, token)).toMatchObject({
      id: before.id,
      authenticated_at: new Date(fixture.clock.now()).toISOString(),
    })
    expect(await fixture.tryPassword(email, NEW_PASSWORD)).toMatchObject({ status: 200 })
  })

  test('the sign-in that it leads to is of the same browser alone', async () => {
    fixture.clock.jump(2 * HOUR)
    const browser = newBrowser(fixture.app)
    const page = await browser.visit((await fixture.settings(token)).hosted_url)
    const { location } = await browser.press(page, again, { password: NEW_PASSWORD })

    expect(await newBrowser(fixture.app).visit(location)).toMatchObject({ status: 403 })
    expect((await newBrowser(fixture.app).visit(location)).text).not.toContain(email)
    expect(await browser.visit(location)).toMatchObject({ status: 200 })
  })

  test('a second factor that is owed meanwhile is asked for, and then the page is shown', async () => {
    const { session_token: other } = await fixture.signIn(email)
    const browser = newBrowser(fixture.app)
    const { hosted_url } = await fixture.settings(other)
    expect(await browser.visit(hosted_url)).toMatchObject({ status: 200 })
    const secret = await fixture.enrol(token)

    const asked = await browser.follow(await browser.visit(hosted_url))
    expect(asked.text).not.toContain(email)
    const back = await browser.press(asked, ['method', 'totp'], {
      totp_code: nextCode(fixture, secret),
    })

    const shown = await browser.follow(back)
    expect(shown).toMatchObject({ status: 200 })
    expect(shown.forms.flatMap(({ fields }) => Object.values(fields))).toContain(email)
    expect((await sessionOf(fixture, other)).authenticator_assurance_level).toBe('aal2')
  })

  test('a sign-in once more that the tenant asked for leads back to it', async () => {
    fixture.clock.jump(2 * HOUR)
    const before = await sessionOf(fixture, token)
    const headers = { ...withToken(token), 'x-return-to': RETURN_TO }
    const flow = await fixture.start('login', headers, '?refresh=true')
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(flow.hosted_url)

    const done = await browser.press(page, again, { password: PASSWORD })

    const { session_id } = rowsOf(fixture.app, 'gate_flows').find(({ id }) => id === flow.id)
    expect(session_id).toBe(before.id)
    expect(done.status).toBe(303)
    expect(done.location).toStartWith(`${RETURN_TO}?flow=${flow.id}`)
  })

  test('a second factor that the tenant asked for leads back to it', async () => {
    const secret = await fixture.enrol(token)
    const headers = { ...withToken(token), 'x-return-to': RETURN_TO }
    const flow = await fixture.start('login', headers, '?aal=aal2')
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(flow.hosted_url)

    const done = await browser.press(page, ['method', 'totp'], {
      totp_code: nextCode(fixture, secret),
    })

    expect(done.status).toBe(303)
    expect(done.location).toStartWith(`${RETURN_TO}?flow=${flow.id}`)
  })
})
