import { describe, expect, test } from 'bun:test'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { IDENTITIES, type Json } from '../../fixture.ts'
import * as acts from './acts.ts'
import { newBrowser } from './browser.ts'
import { messageIds, nodeNames } from './fixture.ts'
import { isVerified, named, type SocialTenant, UNTRUSTED, useSocial } from './social-fixture.ts'

const { complains, HOUR, NEW_PASSWORD, nextCode, RETURN_TO, read, refuses, sessionOf } = acts
const { withToken } = acts

const social = await useSocial()
const { accountsOf, app, authorizeUrl, begin, browserAt, callback, clock, eventTypesOf } = social
const { exchange, newTenant, pressProvider, readIdentity, roundTrip, send } = social
const { signInWith } = social

const SIGNED_UP = ['identity.created', 'identity.email_verified']
const TOTP: [string, string] = ['method', 'totp']

// The tests of ../social have all providers.
test.each(['apple', 'spotify'] as const)('A user of %s signs up and in again', async (provider) => {
  const account = newAccount()
  const { email } = account
  const isTrusted = !UNTRUSTED.includes(provider)
  const flow = await begin('registration')
  expect(nodeNames(flow)).toContain(`oidc:provider=${provider}`)
  const first = await exchange(await roundTrip(flow, provider, account))
  expect(first.session).toMatchObject({
    authentication_methods: [{ method: 'oidc', aal: 'aal1', provider }],
    authenticator_assurance_level: 'aal1',
  })
  expect(first.identity.traits).toEqual({ email, tenant_id: social.id })
  expect(isVerified(first.identity)).toBe(isTrusted)
  expect(social.sentTo(`${email}`)).toHaveLength(isTrusted ? 0 : 1)

  const browser = newBrowser(app, { 'user-agent': 'A browser of tests' })
  const page = await browser.visit((await begin('login')).hosted_url)
  const again = await exchange(await pressProvider({ browser, page }, provider, account))
  expect(again.identity.id).toBe(first.identity.id)
  expect(again.session.id).not.toBe(first.session.id)
  expect(again.session.devices).toMatchObject([{ user_agent: 'A browser of tests' }])
  for (const { session_token } of [first, again])
    expect((await sessionOf(social, session_token)).identity.id).toBe(first.identity.id)
  const verified: [string, Json][] = isTrusted ? [['identity.email_verified', {}]] : []
  expect(social.eventsOf(first.identity)).toEqual([
    ['identity.created', { email, method: 'oidc' }],
    ...verified,
    ['identity.login', { email }],
  ])
  const { oidc, ...others } = (await readIdentity(first.identity)).credentials
  expect(oidc).toMatchObject({ type: 'oidc', identifiers: [named(provider, account)] })
  expect(others).toEqual({})
})

describe('An identity', () => {
  test('is found by the subject, whatever the address is now', async () => {
    const [account, other] = [newAccount({ email: 'IN-CAPITALS@Example.COM' }), newAccount()]
    const { identity } = await signInWith('github', account)
    await signInWith('github', other)
    for (const changed of [{ email: other.email }, { isVerified: false }, { email: null }]) {
      const again = await signInWith('github', { ...account, ...changed }, 'registration')
      expect(again.identity.id).toBe(identity.id)
    }
    expect((await readIdentity(identity)).traits.email).toBe('in-capitals@example.com')
    expect(eventTypesOf(identity)).toEqual([...SIGNED_UP, ...Array(3).fill('identity.login')])
  })

  test('is another one for the same subject at another provider or another tenant', async () => {
    const other = await newTenant()
    const account = newAccount()
    const here = await signInWith('github', account)
    const atGitLab = await signInWith('gitlab', { ...account, email: `other-${account.email}` })
    const there = await other.signInWith('github', account)
    expect(new Set([here, atGitLab, there].map(({ identity }) => identity.id)).size).toBe(3)
    expect(there.identity.traits.tenant_id).toBe(other.id)
    expect((await signInWith('github', account)).identity.id).toBe(here.identity.id)
  })

  test('is created once by two sign-ups at the same time, and again once deleted', async () => {
    const tenant = await newTenant()
    const account = newAccount()
    const arrivals = []
    for (const kind of ['login', 'registration'])
      arrivals.push(await tenant.arrivalFrom(await tenant.begin(kind), 'github', account))
    const pages = await Promise.all(arrivals.map((arrival) => callback('github', arrival)))
    const [one, other] = await Promise.all(pages.map(tenant.exchange))
    expect(one.identity.id).toBe(other.identity.id)
    expect(tenant.counts()).toEqual([1, 2])
    expect(eventTypesOf(one.identity).sort()).toEqual([...SIGNED_UP, 'identity.login'])
    await tenant.api.delete(`${IDENTITIES}/${one.identity.id}`)
    const { identity } = await tenant.signInWith('github', account)
    expect(identity.id).not.toBe(one.identity.id)
    expect(await tenant.accountsOf(identity)).toEqual([named('github', account)])
  })
})

test('Without an app, a browser is led to the settings, which no other one can open', async () => {
  const back = await roundTrip(await social.start('registration'), 'github')
  const page = await back.browser.follow(back)
  expect(page.text).toContain('Your account is ready.')
  expect(await newBrowser(app).visit(back.location)).toMatchObject({ status: 403, forms: [] })
  const typed = { password: NEW_PASSWORD }
  const saved = await back.browser.press(page, ['method', 'password'], typed)
  expect((await back.browser.follow(saved)).text).toContain('Your changes have been saved.')
})

/** Signs `account` up at Discord, and adds an authenticator. */
async function withFactor(tenant: SocialTenant, account: Account) {
  await tenant.security({ mfa_enabled: true })
  const { session_token: token, session, identity } = await tenant.signInWith('discord', account)
  return { token, session, identity, secret: await tenant.enrol(token) }
}

describe('The form that asks for an address', () => {
  const asked = async (account = newAccount({ email: null }), of: SocialTenant = social) => {
    const login = await of.begin('login')
    return { account, login, flow: await of.flowAt(await of.roundTrip(login, 'github', account)) }
  }

  const answer = (flow: Json, email?: string, more = {}) =>
    send(flow, { method: 'oidc', provider: 'github', traits: { email }, ...more })

  const refusal = async (flow: Json, email?: string) => {
    const { status, body } = await answer(flow, email)
    expect(status).toBe(422)
    return messageIds(body)
  }

  test('creates the identity, which the account signs in from then on', async () => {
    const { account, login, flow } = await asked()
    const email = `typed-${account.id}@example.com`
    expect(flow.hosted_url).toContain('/auth/self-service/registration?flow=')
    expect(messageIds(flow)).toEqual([1900003])
    expect(nodeNames(flow)).toEqual(['default:traits.email', 'oidc:provider=github'])
    expect(await refusal(login, email)).toEqual([4010007])
    for (const none of [undefined, ''])
      expect(await refusal(flow, none)).toEqual(['traits.email:4000002'])
    expect(await refusal(flow, 'no-address')).toEqual(['traits.email:4000040'])
    // It belongs to the browser that came back, and needs its token.
    expect((await newBrowser(app).visit(flow.hosted_url)).status).toBe(403)
    expect(await read(social, flow.hosted_url)).toMatchObject(refuses(403, 'other_browser'))
    expect((await answer(flow, email, { csrf_token: 'x' })).status).toBe(403)

    const { status, body } = await answer(flow, email)

    const { identity } = body
    expect([status, identity.traits.email, isVerified(identity)]).toEqual([200, email, false])
    expect(body.continue_with).toMatchObject([
      { action: 'set_ory_session_token', ory_session_token: body.session_token },
      { action: 'show_verification_ui', flow: { verifiable_address: email } },
    ])
    expect(await accountsOf(identity)).toEqual([named('github', account)])
    const created: [string, Json] = ['identity.created', { email, method: 'oidc' }]
    expect(social.eventsOf(identity)).toEqual([created])
    expect((await signInWith('github', account)).identity.id).toBe(identity.id)
    expect(await refusal(flow, `twice-${email}`)).toEqual([4040002])
  })

  test('comes up for an invalid address, and for one that the user did not share', async () => {
    expect(messageIds((await asked(newAccount({ email: 'none' }))).flow)).toEqual([1900003])
    social.fakes.grantScopes(['read:user'])
    const { flow } = await asked(newAccount()).finally(() => social.fakes.grantScopes())
    expect(messageIds(flow)).toEqual([1900003])
  })

  test('gives an account to one identity, but does not keep a typed address from its owner', async () => {
    const { account, flow } = await asked()
    const other = await asked(account)
    const email = `first-${account.id}@example.com`
    const { body: first } = await answer(flow, email)
    expect(await refusal(other.flow, `second-${account.id}@example.com`)).toContain(4000027)
    const owner = newAccount({ email })
    const { identity } = await signInWith('github', owner)
    expect(identity.id).toBe(first.identity.id)
    expect(await accountsOf(identity)).toEqual([named('github', owner)])
    expect(messageIds((await asked(account)).flow)).toEqual([1900003])
  })

  test('drops the account for another one, also if that needs a second factor', async () => {
    const tenant = await newTenant()
    const other = newAccount()
    const { identity, secret } = await withFactor(tenant, other)
    const { flow } = await asked(undefined, tenant)
    const back = await tenant.roundTrip(flow, 'discord', other)
    const totp_code = nextCode(social, secret)
    const done = await back.browser.press(await back.browser.follow(back), TOTP, { totp_code })
    expect((await tenant.exchange(done)).identity.id).toBe(identity.id)
    expect(await tenant.accountsOf(identity)).toEqual([named('discord', other)])
  })
})

test('A second factor is asked for in the browser that came back', async () => {
  const tenant = await newTenant()
  const account = newAccount()
  const { secret, identity } = await withFactor(tenant, account)
  const flow = await tenant.begin('login')
  for (const page of [
    await pressProvider(await tenant.browserAt('login'), 'discord', account),
    await tenant.roundTrip(flow, 'discord', account),
  ]) {
    const { pathname, searchParams } = new URL(page.location)
    expect([pathname, ...searchParams.keys()]).toEqual(['/auth/self-service/login', 'flow'])
    for (const location of [`${RETURN_TO}?flow=${flow.id}&code=x`, `${page.location}&code=x`])
      expect((await tenant.tryExchange({ location })).status).toBe(400)
    expect((await newBrowser(app).visit(page.location)).status).toBe(403)
    expect(await read(social, page.location)).toMatchObject(refuses(403, 'other_browser'))
    const totp_code = nextCode(social, secret)
    const done = await page.browser.press(await page.browser.follow(page), TOTP, { totp_code })
    const { session } = await tenant.exchange(done)
    expect(session).toMatchObject({
      identity: { id: identity.id },
      authenticator_assurance_level: 'aal2',
      authentication_methods: [{ method: 'oidc' }, { method: 'totp' }],
    })
  }
  expect(eventTypesOf(identity)).toEqual([...SIGNED_UP, 'identity.login', 'identity.login'])
})

describe('A user who has to sign in again', () => {
  async function longAgo() {
    const tenant = await newTenant()
    const account = newAccount()
    const user = await withFactor(tenant, account)
    clock.jump(2 * HOUR)
    return { tenant, account, headers: withToken(user.token), ...user }
  }

  test('does so with the provider, in the same session with its second factor', async () => {
    const { tenant, account, headers, token, session, identity } = await longAgo()
    const events = eventTypesOf(identity)
    const flow = await tenant.begin('settings', headers)
    const form = { method: 'password', password: NEW_PASSWORD }
    const refused = await tenant.send(flow, form, headers)
    expect(refused).toMatchObject({ status: 403, body: { id: 'session_refresh_required' } })
    const { body: login } = await read(social, refused.body.redirect_browser_to, headers)
    await tenant.roundTrip(login, 'discord', account, { headers })
    const now = await sessionOf(tenant, token)
    expect([now.id, Date.parse(now.authenticated_at)]).toEqual([session.id, clock.now()])
    expect(now.authenticator_assurance_level).toBe('aal2')
    expect(eventTypesOf(identity)).toEqual(events)
    expect(await tenant.send(flow, form, headers)).toMatchObject({ status: 200 })

    // An app that asked for it gets the browser back.
    const toApp = { ...headers, 'x-return-to': RETURN_TO }
    const asked = await tenant.start('login', toApp, '?refresh=true')
    const page = await tenant.roundTrip(asked, 'discord', account, { headers })
    expect((await tenant.exchange(page)).session.id).toBe(session.id)
  })

  test('is refused with another account, new or known', async () => {
    const { tenant, headers, token, session, identity } = await longAgo()
    const known = newAccount()
    await tenant.signInWith('discord', known)
    const before = tenant.counts()
    for (const other of [newAccount(), known]) {
      const flow = await tenant.start('login', headers, '?refresh=true')
      const page = await tenant.roundTrip(flow, 'discord', other, { headers })
      expect(await tenant.messagesAt(page, headers)).toEqual([4000006, 1010003])
    }
    expect((await sessionOf(tenant, token)).authenticated_at).toBe(session.authenticated_at)
    expect(await tenant.accountsOf(identity)).toHaveLength(1)
    expect(tenant.counts()).toEqual(before)
  })
})

// A tenant that disables a provider, as after a breach there, means it at once.
test('The provider must still be enabled when a browser is back', async () => {
  const tenant = await newTenant()
  const known = newAccount()
  await tenant.signInWith('github', known)
  const flow = await tenant.begin('login')
  const arrivals = []
  for (const account of [known, newAccount()])
    arrivals.push(await tenant.arrivalFrom(flow, 'github', account))
  const nameless = newAccount({ email: null })
  const asking = await tenant.roundTrip(await tenant.begin('login'), 'github', nameless)
  const form = await tenant.flowAt(asking)
  await tenant.disable('github')
  for (const arrival of arrivals) {
    const page = await callback('github', arrival)
    expect(page.location).toBe(flow.hosted_url)
    expect(await tenant.messagesAt(page)).toEqual([4900009])
  }
  const typed = { provider: 'github', traits: { email: 'x@example.com' } }
  expect(await tenant.send(form, typed)).toMatchObject(complains(4900009))
  expect(tenant.counts()).toEqual([1, 1])
})

test('Upstream parameters reach the provider if they are short texts in an object', async () => {
  const upstream = (value: unknown) => ({ provider: 'google', upstream_parameters: value })
  const sent = async (login_hint: string) => {
    const trip = { fields: upstream({ login_hint, hd: 7 }) }
    const { searchParams } = new URL(await authorizeUrl(await begin('login'), 'google', trip))
    expect(searchParams.has('hd')).toBe(false)
    return searchParams.get('login_hint')
  }
  expect(await sent('x'.repeat(200))).toBe('x'.repeat(200))
  expect(await sent('x'.repeat(201))).toBeNull()
  for (const value of ['login_hint', ['login_hint'], 7])
    expect(await send(await begin('login'), upstream(value))).toMatchObject(complains(4000026))
  const { browser, page } = await browserAt('login')
  const { location } = await browser.post(page.forms[0]?.action as string, {
    ...page.forms[0]?.hidden,
    provider: 'google',
    'upstream_parameters.login_hint': 'ada@example.com',
  })
  expect(new URL(location).searchParams.get('login_hint')).toBe('ada@example.com')
})
