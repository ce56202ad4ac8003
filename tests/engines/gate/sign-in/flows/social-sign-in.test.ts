import { afterAll, describe, expect, test } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { IDENTITIES, type Json } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import {
  complains,
  HOUR,
  nextCode,
  RETURN_TO,
  read,
  refuses,
  sessionOf,
  withToken,
} from './acts.ts'
import { type Browser, newBrowser } from './browser.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'
import {
  bootSocial,
  named,
  type SocialParty,
  startFakes,
  TRUSTED,
  UNTRUSTED,
} from './social-fixture.ts'

const fakes = await startFakes()
const fixture = await bootSocial(fakes)
afterAll(async () => {
  await fixture.stop()
  await fakes.stop()
})

const { accountsOf, app, arrive, begin, comeWith, eventsOf, exchange, flowAt, leave } = fixture
const { press, readIdentity, send, sendWell, travel, visit } = fixture

const typesOf = (person: { id: string }, of: SocialParty = fixture) =>
  of.eventsOf(person).map(([type]) => type)

const people = (tenantId = fixture.id) =>
  rowsOf(app, 'gate_identities').filter((row) => row.tenant_id === tenantId).length

const isVerified = ({ verifiable_addresses }: Json) => verifiable_addresses[0].verified

describe.each([...PROVIDERS])('with an account at %s', (provider) => {
  test('a person signs up and in again by way of a program, and is the same', async () => {
    const account = newAccount()
    const flow = await begin('registration')
    expect(nodeNames(flow)).toContain(`oidc:provider=${provider}`)

    const first = await exchange(await travel(flow, provider, account))
    const again = await comeWith(provider, account)

    expect(first.session.authentication_methods).toEqual([
      { method: 'oidc', aal: 'aal1', provider, completed_at: expect.any(String) },
    ])
    expect(first.session.authenticator_assurance_level).toBe('aal1')
    expect(first.identity.traits).toEqual({ email: account.email, tenant_id: fixture.id })
    expect(isVerified(first.identity)).toBe(TRUSTED.includes(provider))
    expect(again.identity.id).toBe(first.identity.id)
    expect(again.session.id).not.toBe(first.session.id)
    expect(await accountsOf(first.identity)).toEqual([named(provider, account)])
    for (const { session_token, identity } of [first, again])
      expect((await sessionOf(fixture, session_token)).identity.id).toBe(identity.id)
  })

  test('a person signs up and in again on our pages, and is the same', async () => {
    const account = newAccount()
    const browser = newBrowser(app)

    const come = async (kind: string) => {
      const { hosted_url } = await begin(kind)
      return exchange(await press(browser, await browser.visit(hosted_url), provider, account))
    }
    const first = await come('registration')
    const again = await come('login')

    expect(again.identity.id).toBe(first.identity.id)
    expect(again.session.authentication_methods).toMatchObject([{ method: 'oidc', provider }])
    expect(await accountsOf(first.identity)).toEqual([named(provider, account)])
  })

  test('webhooks hear of one sign-up by a provider, and of one sign-in', async () => {
    const account = newAccount()
    const { email } = account

    const { identity } = await comeWith(provider, account)
    const created = ['identity.created', { email, method: 'oidc' }]
    const verified = TRUSTED.includes(provider) ? [['identity.email_verified', {}]] : []
    expect(eventsOf(identity)).toEqual([created, ...verified] as [string, Json][])

    await comeWith(provider, account)
    expect(eventsOf(identity).slice(1 + verified.length)).toEqual([['identity.login', { email }]])
  })

  test('nothing that the provider gave us is shown with the person', async () => {
    const { identity } = await comeWith(provider, newAccount())

    const shown = await readIdentity(identity)

    expect(Object.keys(shown.credentials)).toEqual(['oidc'])
    expect(Object.keys(shown.credentials.oidc).sort()).toEqual(
      ['type', 'identifiers', 'version', 'created_at', 'updated_at'].sort(),
    )
    expect(JSON.stringify(shown)).not.toMatch(/access-|refresh-|eyJ/)
  })

  test('an account without an address has its owner asked for one, and is theirs from then on', async () => {
    const account = newAccount({ email: null, isVerified: true })
    const email = `typed-${account.id}@example.com`
    const login = await begin('login')

    const page = await travel(login, provider, account)
    const flow = await flowAt(page)

    expect(page.location).toContain('/auth/self-service/registration?flow=')
    expect(messageIds(flow)).toEqual([1900003])
    expect(nodeNames(flow)).toEqual(['default:traits.email', `oidc:provider=${provider}`])
    expect(messageIds((await send(login, { method: 'oidc', provider })).body)).toEqual([4010007])

    const done = await sendWell(flow, { method: 'oidc', provider, traits: { email } })

    expect(done.identity.traits.email).toBe(email)
    expect(isVerified(done.identity)).toBe(false)
    expect(done.continue_with).toMatchObject([
      { action: 'set_ory_session_token', ory_session_token: done.session_token },
      { action: 'show_verification_ui', flow: { verifiable_address: email } },
    ])
    expect(await accountsOf(done.identity)).toEqual([named(provider, account)])
    expect(eventsOf(done.identity)).toEqual([['identity.created', { email, method: 'oidc' }]])
    expect((await comeWith(provider, account)).identity.id).toBe(done.identity.id)
  })
})

describe('who somebody is', () => {
  test('is known by the subject, whatever their address is now', async () => {
    const account = newAccount()
    const { identity } = await comeWith('google', account)

    const moved = await comeWith('google', { ...account, email: 'moved-on@example.com' })
    const alsoUnverified = await comeWith('google', { ...account, isVerified: false })
    const withoutAny = await comeWith('google', { ...account, email: null })

    for (const one of [moved, alsoUnverified, withoutAny]) expect(one.identity.id).toBe(identity.id)
    expect((await readIdentity(identity)).traits.email).toBe(account.email)
    expect(typesOf(identity)).toEqual([
      'identity.created',
      'identity.email_verified',
      ...Array(3).fill('identity.login'),
    ])
  })

  test('stays with the account when its new address is that of somebody else', async () => {
    const [account, other] = [newAccount(), newAccount()]
    const mine = await comeWith('github', account)
    const theirs = await comeWith('github', other)

    const again = await comeWith('github', { ...account, email: other.email })

    expect(again.identity.id).toBe(mine.identity.id)
    expect(again.identity.id).not.toBe(theirs.identity.id)
  })

  test('is told apart where two providers number people alike', async () => {
    const account = newAccount()
    const here = await comeWith('google', account)
    const there = await comeWith('gitlab', { ...account, email: `other-${account.email}` })

    expect(there.identity.id).not.toBe(here.identity.id)
  })

  test('is another identity at another tenant, of which neither knows', async () => {
    const other = await fixture.party()
    const account = newAccount()

    const here = await comeWith('google', account)
    const there = await other.comeWith('google', account)

    expect(there.identity.id).not.toBe(here.identity.id)
    expect(there.identity.traits.tenant_id).toBe(other.id)
    expect(await other.api.get(`${IDENTITIES}/${here.identity.id}`)).toMatchObject({ status: 403 })
    expect((await other.comeWith('google', account)).identity.id).toBe(there.identity.id)
    expect((await comeWith('google', account)).identity.id).toBe(here.identity.id)
    expect(typesOf(here.identity)).toHaveLength(3)
    expect(typesOf(there.identity, other)).toHaveLength(3)
  })

  test('does not depend on the kind of the flow', async () => {
    const account = newAccount()
    const { identity } = await comeWith('discord', account, 'login')

    expect((await comeWith('discord', account, 'registration')).identity.id).toBe(identity.id)
    expect(typesOf(identity)).toEqual([
      'identity.created',
      'identity.email_verified',
      'identity.login',
    ])
  })

  test('is settled once when somebody signs up twice at the same time', async () => {
    const account = newAccount()
    const before = people()
    const [one, two] = [await begin('login'), await begin('registration')]
    const [first, second] = [
      await visit(await leave(one, 'github'), 'github', account),
      await visit(await leave(two, 'github'), 'github', account),
    ]

    const pages = await Promise.all([arrive('github', first), arrive('github', second)])
    const [here, there] = await Promise.all(pages.map(exchange))

    expect(there.identity.id).toBe(here.identity.id)
    expect(people()).toBe(before + 1)
    expect(typesOf(here.identity).sort()).toEqual([
      'identity.created',
      'identity.email_verified',
      'identity.login',
    ])
  })

  test('has the address in the spelling of accounts', async () => {
    const account = newAccount()
    const spelt = { ...account, email: `PERSON-${account.id}@Example.COM` }

    const { identity } = await comeWith('google', spelt)

    expect(identity.traits.email).toBe(`person-${account.id}@example.com`)
    expect(isVerified(identity)).toBe(true)
  })
})

test('a session is of the browser that came back', async () => {
  const browser = newBrowser(app, { 'user-agent': 'A browser of tests' })
  const url = await leave(await begin('login'), 'google')

  const page = await arrive('google', await visit(url, 'google', newAccount()), browser)

  const { session } = await exchange(page)
  expect(session.devices).toMatchObject([{ user_agent: 'A browser of tests' }])
})

describe('a way back without an app to go back to', () => {
  const onPages = async (browser: Browser, flow: Json, account: Account) =>
    press(browser, await browser.visit(flow.hosted_url), 'gitlab', account)
  const byProgram = async (browser: Browser, flow: Json, account: Account) =>
    arrive('gitlab', await visit(await leave(flow, 'gitlab'), 'gitlab', account), browser)

  test.each([
    ['login', 'on its page', onPages, "You're signed in as"],
    ['login', 'by a program', byProgram, "You're signed in as"],
    ['registration', 'on its page', onPages, 'Your account is ready.'],
    ['registration', 'by a program', byProgram, 'Your account is ready.'],
  ])('of a %s begun %s leads to the account, for that browser alone', async (...row) => {
    const [kind, , comeBack, words] = row
    const browser = newBrowser(app)
    const account = newAccount()

    const back = await comeBack(browser, await fixture.start(kind), account)
    const page = await browser.follow(back)

    expect(page).toMatchObject({ status: 200, html: expect.stringContaining(words) })
    expect(page.text).toContain(`${account.email}`)
    expect(await newBrowser(app).visit(back.location)).toMatchObject({ status: 403, forms: [] })
    const typed = { password: 'seven green bicycles' }
    const saved = await browser.follow(await browser.press(page, ['method', 'password'], typed))
    expect(saved.text).toContain('Your changes have been saved.')
  })
})

describe('an address that nobody vouches for', () => {
  /** Those that never do, and one that says it has not checked. */
  const unverified: [ProviderName, Partial<Account>][] = [
    ...UNTRUSTED.map((name): [ProviderName, Partial<Account>] => [name, {}]),
    ...TRUSTED.map((name): [ProviderName, Partial<Account>] => [name, { isVerified: false }]),
  ]

  test.each(unverified)(
    'of an account at %s is written to, and proven by the code',
    async (provider, fields) => {
      const account = newAccount(fields)
      const email = account.email as string

      const { identity, session_token } = await comeWith(provider, account)

      expect(isVerified(identity)).toBe(false)
      const link = fixture.linkFor(email)
      const flow = await read(fixture, link)
      expect(flow).toMatchObject({ status: 200, body: { state: 'sent_email' } })
      const code = new URL(link).searchParams.get('code')
      await sendWell(flow.body, { code }, { 'x-session-token': session_token })
      expect(isVerified(await readIdentity(identity))).toBe(true)
      expect(typesOf(identity)).toEqual(['identity.created', 'identity.email_verified'])
    },
  )

  test.each(unverified)(
    'of an account at %s never opens the account of whoever has it',
    async (provider, fields) => {
      const account = newAccount(fields)
      const email = account.email as string
      for (const isProven of [true, false]) {
        const holder = await fixture.createIdentity({
          traits: { email: `${isProven}.${email}` },
          credentials: { password: { config: { password: PASSWORD } } },
          verifiable_addresses: [{ value: `${isProven}.${email}`, verified: isProven }],
        })
        const flow = await begin('login')

        const page = await travel(flow, provider, { ...account, email: `${isProven}.${email}` })

        expect(page.location).toBe(flow.hosted_url)
        const shown = await flowAt(page)
        expect(messageIds(shown)).toEqual([4900005])
        expect(shown.ui.messages[0].context).toMatchObject({ provider_id: provider })
        expect(Object.keys((await readIdentity(holder)).credentials)).toEqual(['password'])
        expect(isVerified(await readIdentity(holder))).toBe(isProven)
        expect(typesOf(holder)).toEqual(['identity.created'])
        expect(fixture.mailsTo(`${isProven}.${email}`)).toEqual([])
        const { status } = await send(shown, {
          method: 'password',
          identifier: `${isProven}.${email}`,
          password: PASSWORD,
        })
        expect(status).toBe(200)
        expect(await accountsOf(holder)).toEqual([])
      }
    },
  )

  test('that the account got later does not count either', async () => {
    const account = newAccount({ isVerified: false })
    const holder = await fixture.createIdentity({
      traits: { email: account.email },
      verifiable_addresses: [{ value: account.email, verified: true }],
    })
    const flow = await begin('registration')

    const shown = await flowAt(await travel(flow, 'microsoft', account))

    expect(messageIds(shown)).toEqual([4900005])
    expect(await accountsOf(holder)).toEqual([])
  })
})

describe('the form that asks for an address', () => {
  const asked = async (
    account = newAccount({ email: null }),
    provider: ProviderName = 'github',
  ) => ({ account, flow: await flowAt(await travel(await begin('login'), provider, account)) })

  const answer = (flow: Json, email: unknown, provider: ProviderName = 'github') =>
    send(flow, { method: 'oidc', provider, traits: { email } })

  test('is a page with a field and a button, and leads back to the app', async () => {
    const browser = newBrowser(app)
    const account = newAccount({ email: null })
    const { hosted_url } = await begin('login')
    const sent = await press(browser, await browser.visit(hosted_url), 'apple', account)

    const form = await browser.follow(sent)
    expect(form.status).toBe(200)
    const done = await browser.press(form, ['provider', 'apple'], {
      'traits.email': `page-${account.id}@example.com`,
    })

    const { identity } = await exchange(done)
    expect(identity.traits.email).toBe(`page-${account.id}@example.com`)
    expect(await accountsOf(identity)).toEqual([named('apple', account)])
  })

  test('also comes up when there is something in its place that is no address', async () => {
    const { flow } = await asked(newAccount({ email: 'nobody-at-all' }), 'google')

    expect(messageIds(flow)).toEqual([1900003])
    expect(nodeNames(flow)).toEqual(['default:traits.email', 'oidc:provider=google'])
  })

  test('also comes up when somebody did not agree that we read it', async () => {
    fakes.plain.grantScopes(['read:user'])
    try {
      const { flow } = await asked(newAccount())
      expect(messageIds(flow)).toEqual([1900003])
    } finally {
      fakes.plain.grantScopes()
    }
  })

  test.each([
    ['none', undefined, 4000002],
    ['an empty one', '', 4000002],
    ['what is no address', 'nobody', 4000040],
  ])('wants an address: %s is complained about, and may be typed anew', async (_, typed, id) => {
    const { account, flow } = await asked()

    expect(await answer(flow, typed)).toMatchObject(complains(id, 'traits.email'))
    const email = `late-${account.id}@example.com`
    const done = await answer(flow, email)

    expect(done).toMatchObject({ status: 200, body: { identity: { traits: { email } } } })
  })

  test('does not take the address of somebody else, whom it does not touch', async () => {
    const { account, flow } = await asked()
    const { identity: holder } = await fixture.register(`held-${account.id}@example.com`)

    const refused = await answer(flow, `held-${account.id}@example.com`)

    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toEqual([4000007])
    expect(await accountsOf(holder)).toEqual([])
  })

  test('does not lead to the account of somebody whose address was typed in', async () => {
    const email = `typed-in-${newAccount().id}@example.com`
    const first = await asked()
    const { body } = await answer(first.flow, email)

    const verified = newAccount({ email })
    const second = await comeWith('google', verified)

    // Nobody had proven that address: whoever has the mailbox has it now, and alone.
    expect(second.identity.id).toBe(body.identity.id)
    expect(await accountsOf(second.identity)).toEqual([named('google', verified)])
    const { flow } = await asked(first.account)
    expect(messageIds(flow)).toEqual([1900003])
  })

  test('is good once', async () => {
    const { account, flow } = await asked()
    await answer(flow, `once-${account.id}@example.com`)

    const again = await answer(flow, `twice-${account.id}@example.com`)

    expect(again.status).toBe(422)
    expect(messageIds(again.body)).toEqual([4040002])
  })

  test('does not give an account to two people: the form that comes later is refused', async () => {
    const { account, flow } = await asked()
    const other = await asked(account)
    const email = `first-${account.id}@example.com`
    const { body: first } = await answer(flow, email)
    const before = people()

    const second = await answer(other.flow, `second-${account.id}@example.com`)

    expect(second.status).toBe(422)
    expect(messageIds(second.body)).toContain(4000027)
    expect(people()).toBe(before)
    expect((await comeWith('github', account)).identity.id).toBe(first.identity.id)
  })

  test('is of the browser that came back, and of no other', async () => {
    const { flow } = await asked()

    expect((await newBrowser(app).visit(flow.hosted_url)).status).toBe(403)
    expect(await read(fixture, flow.hosted_url)).toMatchObject(refuses(403, 'other_browser'))
  })

  test('needs its token, as every form does', async () => {
    const { account, flow } = await asked()
    const email = `forged-${account.id}@example.com`
    const fields = { method: 'oidc', provider: 'github', traits: { email } }

    expect(await send(flow, { ...fields, csrf_token: 'x' })).toMatchObject(
      refuses(403, 'security_csrf_violation'),
    )
  })

  test('is refused once its provider has been switched off', async () => {
    const party = await fixture.party()
    const account = newAccount({ email: null })
    const page = await party.travel(await party.begin('login'), 'github', account)
    const flow = await party.flowAt(page)
    await party.disable('github')

    const refused = await party.send(flow, {
      method: 'oidc',
      provider: 'github',
      traits: { email: `off-${account.id}@example.com` },
    })

    expect(refused.status).toBe(422)
    expect(messageIds(refused.body)).toContain(4900009)
    expect(people(party.id)).toBe(0)
  })

  test('lets somebody take another account, without connecting the one before', async () => {
    const { account, flow } = await asked()
    const other = newAccount()

    const page = await travel(flow, 'google', other)
    const { identity } = await exchange(page)

    expect(await accountsOf(identity)).toEqual([named('google', other)])
    expect((await asked(account)).flow.ui.nodes).toHaveLength(3)
  })

  test('lets somebody who is known take another account, without connecting the one before', async () => {
    const known = newAccount()
    const { identity } = await comeWith('google', known)
    const { flow } = await asked()

    const again = await exchange(await travel(flow, 'google', known))

    expect(again.identity.id).toBe(identity.id)
    expect(await accountsOf(identity)).toEqual([named('google', known)])
  })

  test('lets them do so with a second factor, too, without connecting the one before', async () => {
    const party = await fixture.party()
    await party.security({ mfa_enabled: true })
    const known = newAccount()
    const { identity, session_token } = await party.comeWith('google', known)
    const secret = await party.enrol(session_token)
    const nobody = newAccount({ email: null })
    const page = await party.travel(await party.begin('login'), 'github', nobody)
    const flow = await party.flowAt(page)
    const browser = newBrowser(app)
    const url = await party.leave(flow, 'google')
    const back = await party.arrive('google', await party.visit(url, 'google', known), browser)

    const totp_code = nextCode(fixture, secret)
    const asking = await browser.follow(back)
    await party.exchange(await browser.press(asking, ['method', 'totp'], { totp_code }))

    expect(await party.accountsOf(identity)).toEqual([named('google', known)])
  })
})

describe('somebody who is not let in', () => {
  test.each(['login', 'registration'])(
    'being inactive, is told so on the page of the %s',
    async (kind) => {
      const account = newAccount()
      const { identity, session_token } = await comeWith('slack', account)
      await fixture.setState(identity, 'inactive')
      const flow = await begin(kind)

      const page = await travel(flow, 'slack', account)

      expect(page.location).toBe(flow.hosted_url)
      expect(messageIds(await flowAt(page))).toEqual([4010011])
      expect((await fixture.whoami(session_token)).status).toBe(401)
      expect(typesOf(identity).filter((type) => type === 'identity.login')).toEqual([])
      await fixture.setState(identity, 'active')
      expect((await comeWith('slack', account)).identity.id).toBe(identity.id)
    },
  )

  test('being deleted, signs up anew', async () => {
    const account = newAccount()
    const { identity: before } = await comeWith('twitch', account)
    expect(await fixture.api.delete(`${IDENTITIES}/${before.id}`)).toMatchObject({ status: 204 })

    const { identity } = await comeWith('twitch', account)

    expect(identity.id).not.toBe(before.id)
    expect(identity.traits.email).toBe(account.email)
    expect(await accountsOf(identity)).toEqual([named('twitch', account)])
    expect(eventsOf(identity)[0]).toEqual([
      'identity.created',
      { email: account.email, method: 'oidc' },
    ])
  })
})

describe('a second factor that is owed', () => {
  async function withFactor() {
    const party = await fixture.party()
    await party.security({ mfa_enabled: true })
    const account = newAccount()
    const { session_token, identity } = await party.comeWith('google', account)
    const secret = await party.enrol(session_token)
    const logins = () => party.eventsOf(identity).filter(([type]) => type === 'identity.login')
    return { party, account, identity, secret, logins }
  }

  test.each(['a page', 'a program'])(
    'is asked for after a sign-in that began with %s',
    async (how) => {
      const { party, account, secret, identity, logins } = await withFactor()
      const browser = newBrowser(app)
      const flow = await party.begin('login')
      const started = logins().length

      const page =
        how === 'a page'
          ? await party.press(browser, await browser.visit(flow.hosted_url), 'google', account)
          : await party.arrive(
              'google',
              await party.visit(await party.leave(flow, 'google'), 'google', account),
              browser,
            )

      expect(page.location).toContain('/auth/self-service/login?flow=')
      expect(page.location).not.toBe(flow.hosted_url)
      expect(logins()).toHaveLength(started)
      const asking = await browser.follow(page)
      expect(asking.status).toBe(200)
      const code = nextCode(fixture, secret)
      const done = await browser.press(asking, ['method', 'totp'], { totp_code: code })

      const { session, session_token } = await party.exchange(done)
      expect(session.identity.id).toBe(identity.id)
      expect(session.authenticator_assurance_level).toBe('aal2')
      expect(session.authentication_methods.map(({ method }: Json) => method)).toEqual([
        'oidc',
        'totp',
      ])
      expect(await party.whoami(session_token)).toMatchObject({ status: 200 })
      expect(logins()).toHaveLength(started + 1)
    },
  )

  test('cannot be shown by another browser than the one that came back', async () => {
    const { party, account, secret } = await withFactor()
    const page = await party.travel(await party.begin('login'), 'google', account)

    const stranger = await newBrowser(app).visit(page.location)
    const program = await read(fixture, page.location)

    expect(stranger.status).toBe(403)
    expect(program).toMatchObject(refuses(403, 'other_browser'))
    expect(stranger.html).not.toContain(secret)
  })

  test('leaves nothing behind that could be exchanged before it is shown', async () => {
    const { party, account } = await withFactor()
    const flow = await party.begin('login')
    const page = await party.travel(flow, 'google', account)
    const second = new URL(page.location).searchParams.get('flow')

    expect([...new URL(page.location).searchParams.keys()]).toEqual(['flow'])
    for (const id of [flow.id, second])
      expect(await party.tryExchange(id, 'x')).toMatchObject({ status: 400 })
  })
})

describe('somebody who is asked to sign in once more', () => {
  async function longAgo(provider: ProviderName = 'gitlab') {
    const account = newAccount()
    const { session_token: token, session, identity } = await comeWith(provider, account)
    fixture.clock.jump(2 * HOUR)
    return { account, token, session, identity }
  }

  const NEW = { method: 'password', password: 'seven green bicycles' }

  test('may do so with the provider by way of a page, and goes on where they were', async () => {
    const { account, token, session } = await longAgo()
    const browser = newBrowser(app)
    const { hosted_url } = await begin('settings', withToken(token))
    const settings = await browser.visit(hosted_url)
    const refused = await browser.press(settings, ['method', 'password'], {
      password: NEW.password,
    })
    expect(refused.status).toBe(303)
    const login = await browser.follow(refused)

    const back = await press(browser, login, 'gitlab', account)

    expect(back.location).toBe(hosted_url)
    const again = await browser.follow(back)
    const saved = await browser.press(again, ['method', 'password'], { password: NEW.password })
    expect(saved.status).toBe(303)
    const now = await sessionOf(fixture, token)
    expect(now.id).toBe(session.id)
    expect(now.authentication_methods).toMatchObject([{ method: 'oidc', provider: 'gitlab' }])
  })

  test('may do so with the provider by way of a program, in the same session', async () => {
    const { account, token, session } = await longAgo()
    const flow = await begin('settings', withToken(token))
    const refused = await send(flow, NEW, withToken(token))
    expect(refused).toMatchObject(refuses(403, 'session_refresh_required'))
    const url = refused.body.redirect_browser_to
    const login = await read(fixture, url, withToken(token))

    await travel(login.body, 'gitlab', account, { headers: withToken(token) })

    const now = await sessionOf(fixture, token)
    expect(now.id).toBe(session.id)
    expect(Date.parse(now.authenticated_at)).toBe(fixture.clock.now())
    expect(await send(flow, NEW, withToken(token))).toMatchObject({ status: 200 })
  })

  test('is sent back to the app that asked for it', async () => {
    const { account, token, session } = await longAgo()
    const flow = await fixture.start(
      'login',
      { ...withToken(token), 'x-return-to': RETURN_TO },
      '?refresh=true',
    )

    const headers = withToken(token)
    const done = await exchange(await travel(flow, 'gitlab', account, { headers }))

    expect(done.session.id).toBe(session.id)
    expect(Date.parse(done.session.authenticated_at)).toBe(fixture.clock.now())
  })

  test('keeps the second factor that they had shown', async () => {
    const party = await fixture.party()
    await party.security({ mfa_enabled: true })
    const account = newAccount()
    const { session_token: token } = await party.comeWith('gitlab', account)
    await party.enrol(token)
    fixture.clock.jump(2 * HOUR)
    const flow = await party.start('login', withToken(token), '?refresh=true')

    await party.travel(flow, 'gitlab', account, { headers: withToken(token) })

    const now = await party.whoami(token)
    expect(now).toMatchObject({ status: 200, body: { authenticator_assurance_level: 'aal2' } })
    expect(Date.parse(now.body.authenticated_at)).toBe(fixture.clock.now())
  })

  test('makes no second sign-in of it', async () => {
    const { account, token, identity } = await longAgo()
    const before = typesOf(identity)
    const flow = await fixture.start('login', withToken(token), '?refresh=true')

    await travel(flow, 'gitlab', account, { headers: withToken(token) })

    expect(typesOf(identity)).toEqual(before)
  })

  test.each([
    ['an account that nobody has', async () => newAccount()],
    [
      'an account of somebody else',
      async () => {
        const other = newAccount()
        await comeWith('gitlab', other)
        return other
      },
    ],
  ])('is not let in with %s', async (_, another) => {
    const { token, session, identity } = await longAgo()
    const account = await another()
    const before = people()
    const flow = await fixture.start('login', withToken(token), '?refresh=true')

    const headers = withToken(token)
    const shown = await flowAt(await travel(flow, 'gitlab', account, { headers }), headers)

    expect(messageIds(shown)).toEqual([4000006, 1010003])
    expect((await sessionOf(fixture, token)).authenticated_at).toBe(session.authenticated_at)
    expect(await accountsOf(identity)).toHaveLength(1)
    expect(people()).toBe(before)
  })
})

describe('what is offered', () => {
  const buttons = (flow: Json) => nodeNames(flow).filter((name) => name.startsWith('oidc:'))

  test('is what the tenant has switched on and the instance has a client for', async () => {
    await using small = await bootSocial(fakes, { configured: ['github', 'gitlab'] })
    await small.disable('gitlab')

    for (const kind of ['login', 'registration'])
      expect(buttons(await small.start(kind))).toEqual(['oidc:provider=github'])
    const { session_token } = await small.register('ada@example.com')
    expect(buttons(await small.settings(session_token))).toEqual(['oidc:link=github'])
  })

  test.each([
    ['is switched off', 'gitlab'],
    ['the instance has no client for', 'google'],
    ['there is not', 'nonsense'],
    ['is for another place', 'github-tenant'],
  ])('a provider that %s is refused', async (_, provider) => {
    await using small = await bootSocial(fakes, { configured: ['github', 'gitlab'] })
    await small.disable('gitlab')

    for (const kind of ['login', 'registration']) {
      const refused = await small.send(await small.start(kind), { method: 'oidc', provider })
      expect(refused.body.ui.messages).toMatchObject([{ id: 4900009, context: { provider } }])
      expect(refused.status).toBe(422)
    }
    const { session_token: token } = await small.register('ada@example.com')
    const refused = await small.change(token, { method: 'oidc', link: provider })
    expect(refused).toMatchObject(complains(4900009))
    expect(rowsOf(small.app, 'gate_round_trips')).toEqual([])
  })

  test('is nothing where the tenant has switched nothing on', async () => {
    const party = await fixture.party()
    await party.disable(...PROVIDERS)

    for (const kind of ['login', 'registration'])
      expect(buttons(await party.start(kind))).toEqual([])
  })

  // Whoever switches a provider off, as after a breach there, means from now on: a code by mail
  // is not taken either once codes are off. It is half an hour otherwise until the last is back.
  test('is looked at again on the way back: who is away when it is switched off is not let in', async () => {
    const party = await fixture.party()
    const known = newAccount()
    const { identity } = await party.comeWith('google', known)
    const flow = await party.begin('login')
    const arrivals = [
      await party.visit(await party.leave(flow, 'google'), 'google', known),
      await party.visit(await party.leave(flow, 'google'), 'google', newAccount()),
    ]
    await party.disable('google')

    for (const arrival of arrivals) {
      const page = await party.arrive('google', arrival)
      expect(page.location).toBe(flow.hosted_url)
      expect(messageIds(await party.flowAt(page))).toEqual([4900009])
    }
    expect(people(party.id)).toBe(1)
    expect(typesOf(identity, party)).toEqual(['identity.created', 'identity.email_verified'])
  })
})

describe('wishes for the provider', () => {
  const sentTo = async (upstream_parameters: unknown, provider: ProviderName = 'google') => {
    const url = await leave(await begin('login'), provider, { upstream_parameters })
    return Object.fromEntries(new URL(url).searchParams)
  }

  test('go along when they are on the list', async () => {
    const wishes = {
      login_hint: 'ada@example.com',
      hd: 'example.com',
      prompt: 'select_account',
      auth_type: 'reauthenticate',
      acr_values: 'urn:example:high',
    }

    expect(await sentTo(wishes)).toMatchObject(wishes)
  })

  test('go along from a page, too', async () => {
    const { hosted_url } = await begin('login')
    const browser = newBrowser(app)
    const page = await browser.visit(hosted_url)
    const csrf_token = page.forms[0]?.hidden.csrf_token as string

    const sent = await browser.post(hosted_url, {
      csrf_token,
      provider: 'google',
      'upstream_parameters.login_hint': 'ada@example.com',
    })

    expect(new URL(sent.location).searchParams.get('login_hint')).toBe('ada@example.com')
  })

  test('do not go along when they are not, nor change what we say', async () => {
    const plain = await sentTo({})
    const bent = await sentTo({
      client_id: 'somebody-else',
      redirect_uri: 'https://evil.example/take',
      response_type: 'token',
      response_mode: 'fragment',
      scope: 'openid everything',
      state: 'mine',
      nonce: 'mine',
      code_challenge: 'mine',
      code_challenge_method: 'plain',
      request: 'x.y.z',
      request_uri: 'https://evil.example/request',
      claims: '{}',
      __proto__: { login_hint: 'inherited' },
    })

    expect(Object.keys(bent).sort()).toEqual(Object.keys(plain).sort())
    for (const name of ['client_id', 'redirect_uri', 'response_type', 'scope'])
      expect(bent[name]).toBe(plain[name] as string)
    expect(JSON.stringify(bent)).not.toMatch(/mine|evil|everything/)
  })

  test.each([
    ['is no text', { login_hint: 7, hd: { a: 1 }, prompt: ['login'] }],
    ['is too long', { login_hint: 'x'.repeat(10_000) }],
    ['would break a line', { login_hint: 'a\r\nb' }],
  ])('are left out when one %s', async (_, wishes) => {
    expect(Object.keys(await sentTo(wishes))).toEqual(Object.keys(await sentTo({})))
  })

  test.each([
    ['a text', 'login_hint'],
    ['a list', ['login_hint']],
    ['a number', 7],
  ])('are complained about when they are %s', async (_, upstream_parameters) => {
    const answer = await send(await begin('login'), {
      method: 'oidc',
      provider: 'google',
      upstream_parameters,
    })

    expect(answer.status).toBe(422)
    expect(messageIds(answer.body)).toEqual([4000026])
  })
})

test('a provider may be named without the method', async () => {
  const answer = await send(await begin('login'), { provider: 'github' })

  expect(answer.status).toBe(422)
  expect(answer.body.redirect_browser_to).toStartWith(fakes.plain.url)
  expect(node(await begin('login'), 'provider', 'github').attributes).toMatchObject({
    type: 'submit',
    value: 'github',
  })
})
