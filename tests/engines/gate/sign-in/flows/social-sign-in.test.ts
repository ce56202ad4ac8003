import { describe, expect, test } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
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
import { newBrowser } from './browser.ts'
import { messageIds, nodeNames, PASSWORD } from './fixture.ts'
import {
  bootSocial,
  isVerified,
  named,
  type SocialTenant,
  TRUSTED,
  UNTRUSTED,
  useSocial,
} from './social-fixture.ts'

const social = await useSocial()
const { accountsOf, app, authorize, authorizeUrl, begin, callback, eventTypesOf, exchange } = social
const { flowAt, newTenant, pressProvider, readIdentity, roundTrip, send, signInWith } = social

const SIGNED_UP = ['identity.created', 'identity.email_verified']

test.each([...PROVIDERS])('A user of %s signs up and in again', async (provider) => {
  const account = newAccount()
  const { email } = account
  const flow = await begin('registration')
  expect(nodeNames(flow)).toContain(`oidc:provider=${provider}`)

  const first = await exchange(await roundTrip(flow, provider, account))
  expect(first.session).toMatchObject({
    authentication_methods: [{ method: 'oidc', aal: 'aal1', provider }],
    authenticator_assurance_level: 'aal1',
  })
  expect(first.identity.traits).toEqual({ email, tenant_id: social.id })
  expect(isVerified(first.identity)).toBe(TRUSTED.includes(provider))

  const browser = newBrowser(app)
  const page = await browser.visit((await begin('login')).hosted_url)
  const again = await exchange(await pressProvider(browser, page, provider, account))
  expect(again.identity.id).toBe(first.identity.id)
  expect(again.session.id).not.toBe(first.session.id)
  for (const { session_token } of [first, again])
    expect((await sessionOf(social, session_token)).identity.id).toBe(first.identity.id)

  expect(social.eventsOf(first.identity)).toEqual([
    ['identity.created', { email, method: 'oidc' }],
    ...(TRUSTED.includes(provider) ? [['identity.email_verified', {}] as [string, Json]] : []),
    ['identity.login', { email }],
  ])
  const { credentials } = await readIdentity(first.identity)
  expect(credentials).toEqual({
    oidc: {
      type: 'oidc',
      identifiers: [named(provider, account)],
      version: expect.any(Number),
      created_at: expect.any(String),
      updated_at: expect.any(String),
    },
  })
})

describe('An identity', () => {
  test('is found by the subject, whatever the address is now', async () => {
    const [account, other] = [newAccount(), newAccount()]
    const { identity } = await signInWith('google', account)
    await signInWith('google', other)

    const changes = [{ email: other.email }, { isVerified: false }, { email: null }]
    for (const changed of changes)
      expect((await signInWith('google', { ...account, ...changed })).identity.id).toBe(identity.id)
    expect((await readIdentity(identity)).traits.email).toBe(account.email)
    expect(eventTypesOf(identity)).toEqual([...SIGNED_UP, ...Array(3).fill('identity.login')])
  })

  test('is another one for the same subject at another provider or another tenant', async () => {
    const other = await newTenant()
    const account = newAccount()
    const here = await signInWith('google', account)
    const atGitLab = await signInWith('gitlab', { ...account, email: `other-${account.email}` })
    const there = await other.signInWith('google', account)

    expect(new Set([here, atGitLab, there].map(({ identity }) => identity.id)).size).toBe(3)
    expect(there.identity.traits.tenant_id).toBe(other.id)
    expect(await other.api.get(`${IDENTITIES}/${here.identity.id}`)).toMatchObject({ status: 403 })
    expect((await other.signInWith('google', account)).identity.id).toBe(there.identity.id)
    expect((await signInWith('google', account)).identity.id).toBe(here.identity.id)
  })

  test('is created by a sign-in, too, and signed in by a sign-up', async () => {
    const account = newAccount()
    const { identity } = await signInWith('discord', account, 'login')
    expect((await signInWith('discord', account, 'registration')).identity.id).toBe(identity.id)
    expect(eventTypesOf(identity)).toEqual([...SIGNED_UP, 'identity.login'])
  })

  test('is created once by two sign-ups at the same time', async () => {
    const tenant = await newTenant()
    const account = newAccount()
    const arrivals = []
    for (const kind of ['login', 'registration']) {
      const url = await tenant.authorizeUrl(await tenant.begin(kind), 'github')
      arrivals.push(await authorize(url, 'github', account))
    }

    const pages = await Promise.all(arrivals.map((arrival) => callback('github', arrival)))
    const [one, other] = await Promise.all(pages.map(tenant.exchange))

    expect(one.identity.id).toBe(other.identity.id)
    expect(tenant.counts()).toEqual([1, 2])
    expect(eventTypesOf(one.identity).sort()).toEqual([...SIGNED_UP, 'identity.login'])
  })

  test('has the address in lower case', async () => {
    const account = newAccount()
    const spelled = { ...account, email: `PERSON-${account.id}@Example.COM` }
    const { identity } = await signInWith('google', spelled)
    expect(identity.traits.email).toBe(`person-${account.id}@example.com`)
    expect(isVerified(identity)).toBe(true)
  })

  test('that was deleted is created again', async () => {
    const account = newAccount()
    const { identity: before } = await signInWith('twitch', account)
    await social.api.delete(`${IDENTITIES}/${before.id}`)
    const { identity } = await signInWith('twitch', account)
    expect(identity.id).not.toBe(before.id)
    expect(await accountsOf(identity)).toEqual([named('twitch', account)])
  })

  test.each(['login', 'registration'])(
    'that is inactive is refused on the page of a %s',
    async (kind) => {
      const account = newAccount()
      const { identity, session_token } = await signInWith('slack', account)
      await social.setState(identity, 'inactive')
      const flow = await begin(kind)

      const page = await roundTrip(flow, 'slack', account)

      expect(page.location).toBe(flow.hosted_url)
      expect(messageIds(await flowAt(page))).toEqual([4010011])
      expect((await social.whoami(session_token)).status).toBe(401)
      expect(eventTypesOf(identity)).not.toContain('identity.login')
      await social.setState(identity, 'active')
      expect((await signInWith('slack', account)).identity.id).toBe(identity.id)
    },
  )
})

test('A session has the user agent of the browser that came back', async () => {
  const browser = newBrowser(app, { 'user-agent': 'A browser of tests' })
  const url = await authorizeUrl(await begin('login'), 'google')
  const page = await callback('google', await authorize(url, 'google', newAccount()), browser)
  const { session } = await exchange(page)
  expect(session.devices).toMatchObject([{ user_agent: 'A browser of tests' }])
})

test.each([
  ['login', 'a page', "You're signed in as"],
  ['login', 'a program', "You're signed in as"],
  ['registration', 'a page', 'Your account is ready.'],
  ['registration', 'a program', 'Your account is ready.'],
])(
  'Without an app to return to, a %s begun by %s leads to the settings',
  async (kind, by, words) => {
    const browser = newBrowser(app)
    const account = newAccount()
    const flow = await social.start(kind)

    const back =
      by === 'a page'
        ? await pressProvider(browser, await browser.visit(flow.hosted_url), 'gitlab', account)
        : await callback(
            'gitlab',
            await authorize(await authorizeUrl(flow, 'gitlab'), 'gitlab', account),
            browser,
          )
    const page = await browser.follow(back)

    expect(page.status).toBe(200)
    expect(page.text).toContain(words)
    expect(page.text).toContain(`${account.email}`)
    expect(await newBrowser(app).visit(back.location)).toMatchObject({ status: 403, forms: [] })
    const typed = { password: NEW_PASSWORD }
    const saved = await browser.follow(await browser.press(page, ['method', 'password'], typed))
    expect(saved.text).toContain('Your changes have been saved.')
  },
)

describe('An address that the provider does not confirm', () => {
  const unconfirmed: [ProviderName, Partial<Account>][] = [
    ...UNTRUSTED.map((name): [ProviderName, Partial<Account>] => [name, {}]),
    ['github', { isVerified: false }],
    ['google', { isVerified: false }],
  ]

  test('is verified by a mailed code', async () => {
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

  test.each(unconfirmed)('at %s never opens the identity that has it', async (provider, fields) => {
    for (const isProven of [true, false]) {
      const account = newAccount(fields)
      const { email } = account
      const holder = await social.createIdentity({
        traits: { email },
        credentials: { password: { config: { password: PASSWORD } } },
        verifiable_addresses: [{ value: email, verified: isProven }],
      })
      const flow = await begin(isProven ? 'login' : 'registration')

      const page = await roundTrip(flow, provider, account)

      expect(page.location).toBe(flow.hosted_url)
      const shown = await flowAt(page)
      expect(messageIds(shown)).toEqual([4900005])
      expect(shown.ui.messages[0].context).toMatchObject({ provider_id: provider })
      const { credentials, ...after } = await readIdentity(holder)
      expect(Object.keys(credentials)).toEqual(['password'])
      expect(isVerified(after as Json)).toBe(isProven)
      expect(eventTypesOf(holder)).toEqual(['identity.created'])
      expect(social.mailsTo(email as string)).toEqual([])
      expect((await social.tryPassword(email as string)).status).toBe(200)
      expect(await accountsOf(holder)).toEqual([])
    }
  })
})

describe('The form that asks for an address', () => {
  const asked = async (account = newAccount({ email: null }), of: SocialTenant = social) => {
    const login = await of.begin('login')
    return { account, login, flow: await of.flowAt(await of.roundTrip(login, 'github', account)) }
  }

  const answer = (flow: Json, email: unknown) =>
    send(flow, { method: 'oidc', provider: 'github', traits: { email } })

  test('creates the identity, which the account signs in from then on', async () => {
    const { account, login, flow } = await asked()
    const email = `typed-${account.id}@example.com`
    expect(flow.hosted_url).toContain('/auth/self-service/registration?flow=')
    expect(messageIds(flow)).toEqual([1900003])
    expect(nodeNames(flow)).toEqual(['default:traits.email', 'oidc:provider=github'])
    const over = await send(login, { method: 'oidc', provider: 'github' })
    expect(messageIds(over.body)).toEqual([4010007])

    const { status, body } = await answer(flow, email)

    expect(status).toBe(200)
    expect(body.identity.traits.email).toBe(email)
    expect(isVerified(body.identity)).toBe(false)
    expect(body.continue_with).toMatchObject([
      { action: 'set_ory_session_token', ory_session_token: body.session_token },
      { action: 'show_verification_ui', flow: { verifiable_address: email } },
    ])
    expect(await accountsOf(body.identity)).toEqual([named('github', account)])
    expect(social.eventsOf(body.identity)).toEqual([
      ['identity.created', { email, method: 'oidc' }],
    ])
    expect((await signInWith('github', account)).identity.id).toBe(body.identity.id)
    const again = await answer(flow, `twice-${account.id}@example.com`)
    expect(again.status).toBe(422)
    expect(messageIds(again.body)).toEqual([4040002])
  })

  test('is a page, too, and leads back to the app', async () => {
    const browser = newBrowser(app)
    const account = newAccount({ email: null })
    const start = await browser.visit((await begin('login')).hosted_url)
    const form = await browser.follow(await pressProvider(browser, start, 'apple', account))
    const typed = { 'traits.email': `page-${account.id}@example.com` }
    const { identity } = await exchange(await browser.press(form, ['provider', 'apple'], typed))
    expect(await accountsOf(identity)).toEqual([named('apple', account)])
  })

  test('comes up for an invalid address, and for one that the user did not share', async () => {
    const page = await roundTrip(
      await begin('login'),
      'google',
      newAccount({ email: 'no-address' }),
    )
    expect(messageIds(await flowAt(page))).toEqual([1900003])

    social.fakes.plain.grantScopes(['read:user'])
    const { flow } = await asked(newAccount()).finally(() => social.fakes.plain.grantScopes())
    expect(messageIds(flow)).toEqual([1900003])
  })

  test('refuses what is no address, and takes another one then', async () => {
    const { account, flow } = await asked()
    for (const [typed, id] of [
      [undefined, 4000002],
      ['', 4000002],
      ['nobody', 4000040],
    ])
      expect(await answer(flow, typed)).toMatchObject(complains(id as number, 'traits.email'))
    expect(await answer(flow, `late-${account.id}@example.com`)).toMatchObject({ status: 200 })
  })

  test('refuses an address that another identity has', async () => {
    const { account, flow } = await asked()
    const { identity: holder } = await social.register(`held-${account.id}@example.com`)
    const refused = await answer(flow, `held-${account.id}@example.com`)
    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4000007])
    expect(await accountsOf(holder)).toEqual([])
  })

  test('does not keep a typed address from its owner', async () => {
    const email = `typed-in-${newAccount().id}@example.com`
    const first = await asked()
    const { body } = await answer(first.flow, email)

    const owner = newAccount({ email })
    const { identity } = await signInWith('google', owner)

    expect(identity.id).toBe(body.identity.id)
    expect(await accountsOf(identity)).toEqual([named('google', owner)])
    expect(messageIds((await asked(first.account)).flow)).toEqual([1900003])
  })

  test('gives an account to one identity: the later form is refused', async () => {
    const { account, flow } = await asked()
    const other = await asked(account)
    const { body: first } = await answer(flow, `first-${account.id}@example.com`)

    const second = await answer(other.flow, `second-${account.id}@example.com`)

    expect(second.status).toBe(422)
    expect(messageIds(second.body)).toContain(4000027)
    expect((await signInWith('github', account)).identity.id).toBe(first.identity.id)
  })

  test('belongs to the browser that came back, and needs its token', async () => {
    const { flow } = await asked()
    expect((await newBrowser(app).visit(flow.hosted_url)).status).toBe(403)
    expect(await read(social, flow.hosted_url)).toMatchObject(refuses(403, 'other_browser'))
    const fields = { method: 'oidc', provider: 'github', traits: { email: 'x@example.com' } }
    expect(await send(flow, { ...fields, csrf_token: 'x' })).toMatchObject(
      refuses(403, 'security_csrf_violation'),
    )
  })

  test('is refused once the provider has been disabled', async () => {
    const tenant = await newTenant()
    const { flow } = await asked(undefined, tenant)
    await tenant.disable('github')
    const fields = { method: 'oidc', provider: 'github', traits: { email: 'off@example.com' } }
    const refused = await tenant.send(flow, fields)
    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toContain(4900009)
    expect(tenant.counts()).toEqual([0, 0])
  })

  test.each(['new', 'known'])(
    'lets a user take a %s account instead, and drops the first',
    async (which) => {
      const { flow } = await asked()
      const other = newAccount()
      const known = which === 'known' && (await signInWith('google', other))

      const { identity } = await exchange(await roundTrip(flow, 'google', other))

      if (known) expect(identity.id).toBe(known.identity.id)
      expect(await accountsOf(identity)).toEqual([named('google', other)])
    },
  )

  test('drops the first account also if the other one needs a second factor', async () => {
    const tenant = await newTenant()
    const known = newAccount()
    const { identity, secret } = await withFactor(tenant, known)
    const { flow } = await asked(undefined, tenant)
    const browser = newBrowser(app)
    const url = await tenant.authorizeUrl(flow, 'google')
    const back = await callback('google', await authorize(url, 'google', known), browser)

    const asking = await browser.follow(back)
    const totp_code = nextCode(social, secret)
    await tenant.exchange(await browser.press(asking, ['method', 'totp'], { totp_code }))

    expect(await tenant.accountsOf(identity)).toEqual([named('google', known)])
  })
})

/** Signs `account` up at Google, and adds an authenticator. */
async function withFactor(tenant: SocialTenant, account: Account) {
  await tenant.security({ mfa_enabled: true })
  const { session_token: token, identity } = await tenant.signInWith('google', account)
  return { token: token as string, identity, secret: await tenant.enrol(token) }
}

describe('A second factor', () => {
  test.each(['a page', 'a program'])('is asked for after a sign-in begun by %s', async (by) => {
    const tenant = await newTenant()
    const account = newAccount()
    const { secret, identity } = await withFactor(tenant, account)
    const browser = newBrowser(app)
    const flow = await tenant.begin('login')

    const page =
      by === 'a page'
        ? await pressProvider(browser, await browser.visit(flow.hosted_url), 'google', account)
        : await callback(
            'google',
            await authorize(await tenant.authorizeUrl(flow, 'google'), 'google', account),
            browser,
          )

    const { pathname, searchParams } = new URL(page.location)
    expect([pathname, ...searchParams.keys()]).toEqual(['/auth/self-service/login', 'flow'])
    expect(page.location).not.toBe(flow.hosted_url)
    expect(eventTypesOf(identity)).toEqual(SIGNED_UP)
    for (const id of [flow.id, searchParams.get('flow')])
      expect(await tenant.tryExchange(id, 'x')).toMatchObject({ status: 400 })
    expect((await newBrowser(app).visit(page.location)).status).toBe(403)
    expect(await read(social, page.location)).toMatchObject(refuses(403, 'other_browser'))

    const asking = await browser.follow(page)
    const totp_code = nextCode(social, secret)
    const done = await browser.press(asking, ['method', 'totp'], { totp_code })

    const { session, session_token } = await tenant.exchange(done)
    expect(session).toMatchObject({
      identity: { id: identity.id },
      authenticator_assurance_level: 'aal2',
      authentication_methods: [{ method: 'oidc' }, { method: 'totp' }],
    })
    expect(await tenant.whoami(session_token)).toMatchObject({ status: 200 })
    expect(eventTypesOf(identity)).toEqual([...SIGNED_UP, 'identity.login'])
  })
})

describe('A user who has to sign in again', () => {
  async function longAgo() {
    const account = newAccount()
    const { session_token: token, session, identity } = await signInWith('gitlab', account)
    social.clock.jump(2 * HOUR)
    return { account, headers: withToken(token), token, session, identity }
  }
  const FORM = { method: 'password', password: NEW_PASSWORD }

  test('does so with the provider on a page, and continues there', async () => {
    const { account, headers, token, session } = await longAgo()
    const browser = newBrowser(app)
    const { hosted_url } = await begin('settings', headers)
    const change = async (page: Awaited<ReturnType<typeof browser.visit>>) =>
      browser.press(page, ['method', 'password'], { password: NEW_PASSWORD })
    const login = await browser.follow(await change(await browser.visit(hosted_url)))

    const back = await pressProvider(browser, login, 'gitlab', account)

    expect(back.location).toBe(hosted_url)
    expect((await change(await browser.follow(back))).status).toBe(303)
    const now = await sessionOf(social, token)
    expect(now.id).toBe(session.id)
    expect(now.authentication_methods).toMatchObject([{ method: 'oidc', provider: 'gitlab' }])
  })

  test('does so with the provider by a program, in the same session', async () => {
    const { account, headers, token, session, identity } = await longAgo()
    const events = eventTypesOf(identity)
    const flow = await begin('settings', headers)
    const refused = await send(flow, FORM, headers)
    expect(refused).toMatchObject(refuses(403, 'session_refresh_required'))
    const { body: login } = await read(social, refused.body.redirect_browser_to, headers)

    await roundTrip(login, 'gitlab', account, { headers })

    const now = await sessionOf(social, token)
    expect(now.id).toBe(session.id)
    expect(Date.parse(now.authenticated_at)).toBe(social.clock.now())
    expect(eventTypesOf(identity)).toEqual(events)
    expect(await send(flow, FORM, headers)).toMatchObject({ status: 200 })
  })

  test('returns to the app that asked for it', async () => {
    const { account, headers, session } = await longAgo()
    const flow = await social.start(
      'login',
      { ...headers, 'x-return-to': RETURN_TO },
      '?refresh=true',
    )
    const done = await exchange(await roundTrip(flow, 'gitlab', account, { headers }))
    expect(done.session.id).toBe(session.id)
    expect(Date.parse(done.session.authenticated_at)).toBe(social.clock.now())
  })

  test('keeps the second factor', async () => {
    const tenant = await newTenant()
    const account = newAccount()
    const { token } = await withFactor(tenant, account)
    const headers = withToken(token)
    social.clock.jump(2 * HOUR)
    const flow = await tenant.start('login', headers, '?refresh=true')

    await tenant.roundTrip(flow, 'google', account, { headers })

    const { body } = await tenant.whoami(token)
    expect(body.authenticator_assurance_level).toBe('aal2')
    expect(Date.parse(body.authenticated_at)).toBe(social.clock.now())
  })

  test.each(['new', 'known'])('is refused with a %s account', async (which) => {
    const { headers, token, session, identity } = await longAgo()
    const other = newAccount()
    if (which === 'known') await signInWith('gitlab', other)
    const before = social.counts()
    const flow = await social.start('login', headers, '?refresh=true')

    const shown = await flowAt(await roundTrip(flow, 'gitlab', other, { headers }), headers)

    expect(messageIds(shown)).toEqual([4000006, 1010003])
    expect((await sessionOf(social, token)).authenticated_at).toBe(session.authenticated_at)
    expect(await accountsOf(identity)).toHaveLength(1)
    expect(social.counts()).toEqual(before)
  })
})

describe('The providers of a flow', () => {
  const buttons = (flow: Json) => nodeNames(flow).filter((name) => name.startsWith('oidc:'))

  test('are those that have a client and that the tenant enables', async () => {
    await using small = await bootSocial(social.fakes, { configured: ['github', 'gitlab'] })
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
    const { identity } = await tenant.signInWith('google', known)
    const flow = await tenant.begin('login')
    const arrivals = []
    for (const account of [known, newAccount()]) {
      const url = await tenant.authorizeUrl(flow, 'google')
      arrivals.push(await authorize(url, 'google', account))
    }
    await tenant.disable('google')

    for (const arrival of arrivals) {
      const page = await callback('google', arrival)
      expect(page.location).toBe(flow.hosted_url)
      expect(messageIds(await tenant.flowAt(page))).toEqual([4900009])
    }
    expect(tenant.counts()).toEqual([1, 1])
    expect(eventTypesOf(identity)).toEqual(SIGNED_UP)
  })
})

describe('Upstream parameters', () => {
  const sent = async (upstream_parameters: unknown) => {
    const url = await authorizeUrl(await begin('login'), 'google', { upstream_parameters })
    return Object.fromEntries(new URL(url).searchParams)
  }

  test('reach the provider, from a page as well', async () => {
    const allowed = { login_hint: 'x'.repeat(200), hd: 'example.com' }
    expect(await sent(allowed)).toMatchObject(allowed)

    const { hosted_url } = await begin('login')
    const browser = newBrowser(app)
    const page = await browser.visit(hosted_url)
    const { location } = await browser.post(hosted_url, {
      csrf_token: page.forms[0]?.hidden.csrf_token as string,
      provider: 'google',
      'upstream_parameters.login_hint': 'ada@example.com',
    })
    expect(new URL(location).searchParams.get('login_hint')).toBe('ada@example.com')
  })

  test.each([
    ['are not on the list', { client_id: 'other', state: 'mine', __proto__: { hd: 'inherited' } }],
    ['are not strings', { login_hint: 7, hd: { a: 1 }, prompt: ['login'] }],
    ['are too long', { login_hint: 'x'.repeat(201) }],
    ['have line breaks', { login_hint: 'a\r\nb' }],
  ])('are left out if they %s', async (_, upstream) => {
    const [bent, plain] = [await sent(upstream), await sent({})]
    expect(Object.keys(bent).sort()).toEqual(Object.keys(plain).sort())
    expect(JSON.stringify(bent)).not.toMatch(/mine|other/)
  })

  test('must be an object', async () => {
    for (const upstream_parameters of ['login_hint', ['login_hint'], 7]) {
      const answer = await send(await begin('login'), { provider: 'google', upstream_parameters })
      expect(answer.status).toBe(422)
      expect(messageIds(answer.body)).toEqual([4000026])
    }
  })
})

test('A form may name a provider without the method', async () => {
  const answer = await send(await begin('login'), { provider: 'github' })
  expect(answer.status).toBe(422)
  expect(answer.body.redirect_browser_to).toStartWith(social.fakes.plain.url)
})
