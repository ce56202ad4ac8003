import { describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { IDENTITIES, type Json } from '../../fixture.ts'
import {
  complains,
  HOUR,
  NEW_PASSWORD,
  nextCode,
  RETURN_TO,
  read,
  refuses,
  sessionOf,
  withToken,
} from './acts.ts'
import { newBrowser, type Page } from './browser.ts'
import { messageIds, nodeNames } from './fixture.ts'
import {
  bootSocial,
  isVerified,
  named,
  type SocialTenant,
  UNTRUSTED,
  useSocial,
} from './social-fixture.ts'

const social = await useSocial()
const { accountsOf, app, arrivalFrom, authorizeUrl, begin, browserAt, callback, clock } = social
const { eventTypesOf, exchange, flowAt, messagesAt, newTenant, pressProvider } = social
const { readIdentity, roundTrip, send, signInWith } = social

const SIGNED_UP = ['identity.created', 'identity.email_verified']

// tests/engines/gate/sign-in/social has all providers.
test.each(['github', 'google', 'apple', 'microsoft', 'slack', 'spotify'] as const)(
  'A user of %s signs up and in again',
  async (provider) => {
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
    const { credentials } = await readIdentity(first.identity)
    const [version, created_at, updated_at] = [
      expect.any(Number),
      expect.any(String),
      expect.any(String),
    ]
    const identifiers = [named(provider, account)]
    const oidc = { type: 'oidc', identifiers, version, created_at, updated_at }
    expect(credentials).toEqual({ oidc })
  },
)

describe('An identity', () => {
  test('is found by the subject, whatever the address is now', async () => {
    const [account, other] = [newAccount({ email: 'IN-CAPITALS@Example.COM' }), newAccount()]
    const { identity } = await signInWith('github', account)
    await signInWith('github', other)
    const email = account.email?.toLowerCase()
    for (const changed of [{ email: other.email }, { isVerified: false }, { email: null }]) {
      const again = await signInWith('github', { ...account, ...changed }, 'registration')
      expect(again.identity.id).toBe(identity.id)
    }
    expect((await readIdentity(identity)).traits.email).toBe(email)
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
    expect(await other.api.get(`${IDENTITIES}/${here.identity.id}`)).toMatchObject({ status: 403 })
    expect((await other.signInWith('github', account)).identity.id).toBe(there.identity.id)
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

  test.each(['login', 'registration'])('that is inactive fails a %s', async (kind) => {
    const account = newAccount()
    const { identity, session_token } = await signInWith('github', account)
    await social.setState(identity, 'inactive')
    const flow = await begin(kind)
    const page = await roundTrip(flow, 'github', account)
    expect(page.location).toBe(flow.hosted_url)
    expect(await messagesAt(page)).toEqual([4010011])
    expect((await social.whoami(session_token)).status).toBe(401)
    expect(eventTypesOf(identity)).not.toContain('identity.login')
    await social.setState(identity, 'active')
    expect((await signInWith('github', account)).identity.id).toBe(identity.id)
  })
})

test.each([
  ['login', 'a page', "You're signed in as"],
  ['login', 'a program', "You're signed in as"],
  ['registration', 'a page', 'Your account is ready.'],
  ['registration', 'a program', 'Your account is ready.'],
])('Without an app, a %s by %s leads to the settings', async (kind, by, words) => {
  const browser = newBrowser(app)
  const account = newAccount()
  const flow = await social.start(kind)
  const fromPage = async () =>
    pressProvider({ browser, page: await browser.visit(flow.hosted_url) }, 'github', account)
  const back =
    by === 'a page'
      ? await fromPage()
      : await callback('github', await arrivalFrom(flow, 'github', account), browser)
  const page = await browser.follow(back)
  expect(page.text).toContain(words)
  expect(page.text).toContain(`${account.email}`)
  expect(await newBrowser(app).visit(back.location)).toMatchObject({ status: 403, forms: [] })
  const typed = { password: NEW_PASSWORD }
  const saved = await browser.follow(await browser.press(page, ['method', 'password'], typed))
  expect(saved.text).toContain('Your changes have been saved.')
})

// That such an account opens no identity is in pre-hijacking.test.ts.
test('An address that the provider does not confirm is verified by a mailed code', async () => {
  const account = newAccount({ isVerified: false })
  const { identity, session_token } = await signInWith('github', account)
  expect(isVerified(identity)).toBe(false)
  const link = social.linkFor(account.email as string)
  const { body: flow } = await read(social, link)
  expect(flow.state).toBe('sent_email')
  const code = new URL(link).searchParams.get('code')
  await social.sendWell(flow, { code }, withToken(session_token))
  expect(isVerified(await readIdentity(identity))).toBe(true)
  expect(eventTypesOf(identity)).toEqual(SIGNED_UP)
})

describe('The form that asks for an address', () => {
  const asked = async (account = newAccount({ email: null }), of: SocialTenant = social) => {
    const login = await of.begin('login')
    return { account, login, flow: await of.flowAt(await of.roundTrip(login, 'github', account)) }
  }

  async function answer(flow: Json, email: unknown, of: SocialTenant = social) {
    const fields = { method: 'oidc', provider: 'github', traits: { email } }
    const { status, body } = await of.send(flow, fields)
    return { status, body, ids: status === 422 ? messageIds(body) : [] }
  }

  test('creates the identity, which the account signs in from then on', async () => {
    const { account, login, flow } = await asked()
    const email = `typed-${account.id}@example.com`
    expect(flow.hosted_url).toContain('/auth/self-service/registration?flow=')
    expect(messageIds(flow)).toEqual([1900003])
    expect(nodeNames(flow)).toEqual(['default:traits.email', 'oidc:provider=github'])
    const over = await send(login, { method: 'oidc', provider: 'github' })
    expect(messageIds(over.body)).toEqual([4010007])
    for (const [typed, id] of [
      [undefined, 4000002],
      ['', 4000002],
      ['no-address', 4000040],
    ])
      expect((await answer(flow, typed)).ids).toEqual([`traits.email:${id}`])
    const { identity: holder } = await social.register(`held-${account.id}@example.com`)
    expect((await answer(flow, `held-${account.id}@example.com`)).ids).toEqual([4000007])
    expect(await accountsOf(holder)).toEqual([])

    const { status, body } = await answer(flow, email)

    expect([status, body.identity.traits.email]).toEqual([200, email])
    expect(isVerified(body.identity)).toBe(false)
    expect(body.continue_with).toMatchObject([
      { action: 'set_ory_session_token', ory_session_token: body.session_token },
      { action: 'show_verification_ui', flow: { verifiable_address: email } },
    ])
    expect(await accountsOf(body.identity)).toEqual([named('github', account)])
    const created: [string, Json] = ['identity.created', { email, method: 'oidc' }]
    expect(social.eventsOf(body.identity)).toEqual([created])
    expect((await signInWith('github', account)).identity.id).toBe(body.identity.id)
    expect((await answer(flow, `twice-${account.id}@example.com`)).ids).toEqual([4040002])
  })

  test('is a page, too, and leads back to the app', async () => {
    const account = newAccount({ email: null })
    const at = await browserAt('login')
    const form = await at.browser.follow(await pressProvider(at, 'apple', account))
    const typed = { 'traits.email': `page-${account.id}@example.com` }
    const { identity } = await exchange(await at.browser.press(form, ['provider', 'apple'], typed))
    expect(await accountsOf(identity)).toEqual([named('apple', account)])
  })

  test('comes up for an invalid address, and for one that the user did not share', async () => {
    const page = await roundTrip(await begin('login'), 'github', newAccount({ email: 'none' }))
    expect(await messagesAt(page)).toEqual([1900003])
    social.fakes.grantScopes(['read:user'])
    const { flow } = await asked(newAccount()).finally(() => social.fakes.grantScopes())
    expect(messageIds(flow)).toEqual([1900003])
  })

  test('does not keep a typed address from its owner', async () => {
    const email = `typed-in-${newAccount().id}@example.com`
    const first = await asked()
    const { body } = await answer(first.flow, email)
    const owner = newAccount({ email })
    const { identity } = await signInWith('github', owner)
    expect(identity.id).toBe(body.identity.id)
    expect(await accountsOf(identity)).toEqual([named('github', owner)])
    expect(messageIds((await asked(first.account)).flow)).toEqual([1900003])
  })

  test('gives an account to one identity: the later form is refused', async () => {
    const { account, flow } = await asked()
    const other = await asked(account)
    const { body: first } = await answer(flow, `first-${account.id}@example.com`)
    expect((await answer(other.flow, `second-${account.id}@example.com`)).ids).toContain(4000027)
    expect((await signInWith('github', account)).identity.id).toBe(first.identity.id)
  })

  test('belongs to the browser that came back, needs its token, and an enabled provider', async () => {
    const tenant = await newTenant()
    const { flow } = await asked(undefined, tenant)
    expect((await newBrowser(app).visit(flow.hosted_url)).status).toBe(403)
    expect(await read(social, flow.hosted_url)).toMatchObject(refuses(403, 'other_browser'))
    const fields = { method: 'oidc', provider: 'github', traits: { email: 'x@example.com' } }
    const forged = await tenant.send(flow, { ...fields, csrf_token: 'x' })
    expect(forged).toMatchObject(refuses(403, 'security_csrf_violation'))
    await tenant.disable('github')
    expect((await answer(flow, 'x@example.com', tenant)).ids).toContain(4900009)
    expect(tenant.counts()).toEqual([0, 0])
  })

  test.each(['new', 'known', 'known, with a second factor'])(
    'drops the account for a %s one',
    async (which) => {
      const tenant = await newTenant()
      const other = newAccount()
      const known = which === 'new' ? undefined : await withFactor(tenant, other, which !== 'known')
      const { flow } = await asked(undefined, tenant)
      const browser = newBrowser(app)
      const arrival = await tenant.arrivalFrom(flow, 'discord', other)
      let page: Page = await callback('discord', arrival, browser)
      if (known?.secret) {
        const totp_code = nextCode(social, known.secret)
        page = await browser.press(await browser.follow(page), ['method', 'totp'], { totp_code })
      }
      const { identity } = await tenant.exchange(page)
      if (known) expect(identity.id).toBe(known.identity.id)
      expect(await tenant.accountsOf(identity)).toEqual([named('discord', other)])
    },
  )
})

/** Signs `account` up at Discord, and adds an authenticator. */
async function withFactor(tenant: SocialTenant, account: Account, hasFactor = true) {
  await tenant.security({ mfa_enabled: true })
  const { session_token, identity } = await tenant.signInWith('discord', account)
  const secret = hasFactor ? await tenant.enrol(session_token) : ''
  return { token: session_token as string, identity, secret }
}

test.each(['a page', 'a program'])(
  'A second factor is asked for after a sign-in begun by %s',
  async (by) => {
    const tenant = await newTenant()
    const account = newAccount()
    const { secret, identity } = await withFactor(tenant, account)
    const { browser, page: login } = await tenant.browserAt('login')
    const flow = await tenant.begin('login')
    const page =
      by === 'a page'
        ? await pressProvider({ browser, page: login }, 'discord', account)
        : await callback('discord', await tenant.arrivalFrom(flow, 'discord', account), browser)

    const { pathname, searchParams } = new URL(page.location)
    expect([pathname, ...searchParams.keys()]).toEqual(['/auth/self-service/login', 'flow'])
    expect(page.location).not.toBe(flow.hosted_url)
    expect(eventTypesOf(identity)).toEqual(SIGNED_UP)
    for (const location of [`${RETURN_TO}?flow=${flow.id}`, page.location])
      expect((await tenant.tryExchange({ ...page, location: `${location}&code=x` })).status).toBe(
        400,
      )
    expect((await newBrowser(app).visit(page.location)).status).toBe(403)
    expect(await read(social, page.location)).toMatchObject(refuses(403, 'other_browser'))

    const totp_code = nextCode(social, secret)
    const done = await browser.press(await browser.follow(page), ['method', 'totp'], { totp_code })
    const { session, session_token } = await tenant.exchange(done)
    expect(session).toMatchObject({
      identity: { id: identity.id },
      authenticator_assurance_level: 'aal2',
      authentication_methods: [{ method: 'oidc' }, { method: 'totp' }],
    })
    expect(await tenant.whoami(session_token)).toMatchObject({ status: 200 })
    expect(eventTypesOf(identity)).toEqual([...SIGNED_UP, 'identity.login'])
  },
)

describe('A user who has to sign in again', () => {
  async function longAgo() {
    const account = newAccount()
    const { session_token: token, session, identity } = await signInWith('github', account)
    clock.jump(2 * HOUR)
    return { account, headers: withToken(token), token, session, identity }
  }
  const FORM = { method: 'password', password: NEW_PASSWORD }

  test('does so with the provider on a page, and continues there', async () => {
    const { account, headers, token, session } = await longAgo()
    const { browser, page } = await browserAt('settings', headers)
    const change = (at: Page) =>
      browser.press(at, ['method', 'password'], { password: NEW_PASSWORD })
    const login = await browser.follow(await change(page))
    const back = await pressProvider({ browser, page: login }, 'github', account)
    expect((await change(await browser.follow(back))).status).toBe(303)
    const now = await sessionOf(social, token)
    expect(now.id).toBe(session.id)
    expect(now.authentication_methods).toMatchObject([{ method: 'oidc', provider: 'github' }])
  })

  test('does so with the provider by a program, in the same session', async () => {
    const { account, headers, token, session, identity } = await longAgo()
    const events = eventTypesOf(identity)
    const flow = await begin('settings', headers)
    const refused = await send(flow, FORM, headers)
    expect(refused).toMatchObject({ status: 403, body: { id: 'session_refresh_required' } })
    const { body: login } = await read(social, refused.body.redirect_browser_to, headers)
    await roundTrip(login, 'github', account, { headers })
    const now = await sessionOf(social, token)
    expect([now.id, Date.parse(now.authenticated_at)]).toEqual([session.id, clock.now()])
    expect(eventTypesOf(identity)).toEqual(events)
    expect(await send(flow, FORM, headers)).toMatchObject({ status: 200 })
  })

  test('returns to the app that asked for it', async () => {
    const { account, headers, session } = await longAgo()
    const toApp = { ...headers, 'x-return-to': RETURN_TO }
    const flow = await social.start('login', toApp, '?refresh=true')
    const done = await exchange(await roundTrip(flow, 'github', account, { headers }))
    expect(done.session.id).toBe(session.id)
    expect(Date.parse(done.session.authenticated_at)).toBe(clock.now())
  })

  test('keeps the second factor', async () => {
    const tenant = await newTenant()
    const account = newAccount()
    const { token } = await withFactor(tenant, account)
    const headers = withToken(token)
    clock.jump(2 * HOUR)
    const flow = await tenant.start('login', headers, '?refresh=true')
    await tenant.roundTrip(flow, 'discord', account, { headers })
    const { body } = await tenant.whoami(token)
    expect(body.authenticator_assurance_level).toBe('aal2')
    expect(Date.parse(body.authenticated_at)).toBe(clock.now())
  })

  test.each(['new', 'known'])('is refused with a %s account', async (which) => {
    const { headers, token, session, identity } = await longAgo()
    const other = newAccount()
    if (which === 'known') await signInWith('github', other)
    const before = social.counts()
    const flow = await social.start('login', headers, '?refresh=true')
    const page = await roundTrip(flow, 'github', other, { headers })
    expect(messageIds(await flowAt(page, headers))).toEqual([4000006, 1010003])
    expect((await sessionOf(social, token)).authenticated_at).toBe(session.authenticated_at)
    expect(await accountsOf(identity)).toHaveLength(1)
    expect(social.counts()).toEqual(before)
  })
})

describe('The providers of a flow', () => {
  const buttons = (flow: Json) => nodeNames(flow).filter((name) => name.startsWith('oidc:'))

  test('are those that have a client and that the tenant enables', async () => {
    const configured: ProviderName[] = ['github', 'gitlab']
    await using small = await bootSocial({ configured })
    await small.disable('gitlab')
    const { session_token: token } = await small.register('ada@example.com')
    const names = ['gitlab', 'google', 'nonsense', 'github-tenant']
    for (const kind of ['login', 'registration']) {
      const flow = await small.start(kind)
      expect(buttons(flow)).toEqual(['oidc:provider=github'])
      for (const provider of names) {
        const { status, body } = await small.send(flow, { method: 'oidc', provider })
        expect(status).toBe(422)
        expect(body.ui.messages).toMatchObject([{ id: 4900009, context: { provider } }])
      }
    }
    expect(buttons(await small.settings(token))).toEqual(['oidc:link=github'])
    for (const link of names)
      expect(await small.change(token, { method: 'oidc', link })).toMatchObject(complains(4900009))
    await small.disable('github')
    expect(buttons(await small.start('login'))).toEqual([])
  })

  // A tenant that disables a provider, as after a breach there, means it at once.
  test('are checked again on the way back', async () => {
    const tenant = await newTenant()
    const known = newAccount()
    const { identity } = await tenant.signInWith('github', known)
    const flow = await tenant.begin('login')
    const arrivals = []
    for (const account of [known, newAccount()])
      arrivals.push(await tenant.arrivalFrom(flow, 'github', account))
    await tenant.disable('github')
    for (const arrival of arrivals) {
      const page = await callback('github', arrival)
      expect(page.location).toBe(flow.hosted_url)
      expect(await tenant.messagesAt(page)).toEqual([4900009])
    }
    expect(tenant.counts()).toEqual([1, 1])
    expect(eventTypesOf(identity)).toEqual(SIGNED_UP)
  })
})

test('Upstream parameters reach the provider if they are known, short texts in an object', async () => {
  const sent = async (upstream_parameters: unknown) => {
    const url = await authorizeUrl(await begin('login'), 'google', { upstream_parameters })
    return Object.fromEntries(new URL(url).searchParams)
  }
  const allowed = { login_hint: 'x'.repeat(200), hd: 'example.com' }
  expect(await sent(allowed)).toMatchObject(allowed)
  const { browser, page } = await browserAt('login')
  const { location } = await browser.post(page.forms[0]?.action as string, {
    ...page.forms[0]?.hidden,
    provider: 'google',
    'upstream_parameters.login_hint': 'ada@example.com',
  })
  expect(new URL(location).searchParams.get('login_hint')).toBe('ada@example.com')

  const wrong = { client_id: 'evil', login_hint: 'x'.repeat(201), hd: 7, prompt: 'a\r\nb' }
  const bent = await sent({ ...wrong, __proto__: { acr_values: 'inherited' } })
  expect(Object.keys(bent).sort()).toEqual(Object.keys(await sent({})).sort())
  expect(bent.client_id).not.toBe('evil')
  // The method may be left out.
  const upstream = (value: unknown) => ({ provider: 'google', upstream_parameters: value })
  for (const value of ['login_hint', ['login_hint'], 7]) {
    const { status, body } = await send(await begin('login'), upstream(value))
    expect([status, ...messageIds(body)]).toEqual([422, 4000026])
  }
  const { body } = await send(await begin('login'), upstream({}))
  expect(body.redirect_browser_to).toStartWith(social.fakes.url)
})
