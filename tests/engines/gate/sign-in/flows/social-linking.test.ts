import { afterAll, describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { IDENTITIES, type Json } from '../../fixture.ts'
import { actionsOn } from '../../identities/people.ts'
import { HOUR, nextCode, RETURN_TO, read, refuses, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { makeRecoveryCodes } from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'
import {
  type Back,
  bootSocial,
  linkOf,
  named,
  type SocialParty,
  startFakes,
  TRUSTED,
} from './social-fixture.ts'

const fakes = await startFakes()
const fixture = await bootSocial(fakes)
afterAll(async () => {
  await fixture.stop()
  await fakes.stop()
})

const typesOf = (person: { id: string }, of: SocialParty = fixture) =>
  of.eventsOf(person).map(([type]) => type)

const isVerified = ({ verifiable_addresses }: Json) => verifiable_addresses[0].verified

const credentialsOf = async (person: { id: string }, of: SocialParty = fixture) =>
  Object.keys((await of.readIdentity(person)).credentials).sort()

/** Somebody whose address was proven, with a password, as the tenant may make them. */
const holderOf = (
  { email }: Pick<Account, 'email'>,
  of: SocialParty = fixture,
  fields: Json = {},
) =>
  of.createIdentity({
    traits: { email },
    credentials: { password: { config: { password: PASSWORD } } },
    verifiable_addresses: [{ value: email, verified: true }],
    ...fields,
  })

describe('an account with the proven address of somebody here', () => {
  /** The form that asks the holder to sign in. */
  async function asked(
    provider: ProviderName = 'google',
    { account = newAccount(), of = fixture as SocialParty, kind = 'login', fields = {} } = {},
  ) {
    const holder = await holderOf(account, of, fields)
    const page = await of.travel(await of.begin(kind), provider, account)
    return { account, holder, page, flow: await of.flowAt(page), of }
  }

  const byPassword = (flow: Json, email: unknown, of: SocialParty = fixture, password = PASSWORD) =>
    of.send(flow, { method: 'password', identifier: email, password })

  describe.each(TRUSTED)('from %s', (provider) => {
    test('has its holder asked to sign in as ever, and is connected by that', async () => {
      const { account, holder, page, flow } = await asked(provider)

      expect(page.location).toContain('/auth/self-service/login?flow=')
      expect(messageIds(flow)).toEqual([1010016])
      expect(flow.ui.messages[0].context).toMatchObject({
        provider_id: provider,
        duplicate_identifier: account.email,
      })
      expect(node(flow, 'identifier').attributes.value).toBe(account.email)
      expect(await credentialsOf(holder)).toEqual(['password'])

      const { status, body } = await byPassword(flow, account.email)

      expect(status).toBe(200)
      expect(body.session.identity.id).toBe(holder.id)
      expect(await credentialsOf(holder)).toEqual(['oidc', 'password'])
      expect(await fixture.accountsOf(holder)).toEqual([named(provider, account)])
      expect((await fixture.comeWith(provider, account)).identity.id).toBe(holder.id)
    })

    test('is connected by the forms of our pages, which then lead to the app', async () => {
      const account = newAccount()
      const holder = await holderOf(account)
      const browser = newBrowser(fixture.app)
      const { hosted_url } = await fixture.begin('registration')
      const start = await browser.visit(hosted_url)

      const asking = await browser.follow(await fixture.press(browser, start, provider, account))
      const done = await browser.press(asking, ['method', 'password'], { password: PASSWORD })

      expect((await fixture.exchange(done)).identity.id).toBe(holder.id)
      expect(await fixture.accountsOf(holder)).toEqual([named(provider, account)])
    })
  })

  test('is not connected by anything less, and makes no session', async () => {
    const { account, holder, flow } = await asked()

    expect((await byPassword(flow, account.email, fixture, 'wrong horse')).status).toBe(422)
    expect(await fixture.accountsOf(holder)).toEqual([])
    expect(typesOf(holder)).toEqual(['identity.created'])
    const { body: sessions } = await fixture.api.get(`${IDENTITIES}/${holder.id}/sessions`)
    expect(sessions).toEqual([])
  })

  test('ends the form that somebody came from: there is one way on', async () => {
    const account = newAccount()
    await holderOf(account)
    const login = await fixture.begin('login')

    await fixture.travel(login, 'google', account)

    const { status, body } = await byPassword(login, account.email)
    expect(status).toBe(422)
    expect(messageIds(body)).toEqual([4010007])
  })

  test('is connected by the password in this form alone', async () => {
    const { account, holder } = await asked()

    await fixture.signIn(account.email as string)

    expect(await fixture.accountsOf(holder)).toEqual([])
  })

  test('tells webhooks of one sign-in, and nothing else', async () => {
    const { account, holder, flow } = await asked()

    await byPassword(flow, account.email)

    expect(fixture.eventsOf(holder).slice(1)).toEqual([
      ['identity.login', { email: account.email }],
    ])
  })

  test('leaves a line in the audit log when it is connected, as in the settings', async () => {
    const { account, holder, flow } = await asked()

    await byPassword(flow, account.email)

    expect(actionsOn(fixture.app, `identity:${holder.id}`)).toContain('identity.account_connected')
  })

  test('is connected once its holder brings the code that is mailed to them', async () => {
    const of = await fixture.party()
    await of.security({ passwordless_enabled: true })
    const { account, holder, flow } = await asked('google', { of })
    const email = account.email as string

    const sent = await of.sendWell(flow, { method: 'code', identifier: email })
    expect(sent.state).toBe('sent_email')
    expect(await of.accountsOf(holder)).toEqual([])
    const done = await of.sendWell(sent, { method: 'code', code: of.codeFor(email) })

    expect(done.session.identity.id).toBe(holder.id)
    expect(await of.accountsOf(holder)).toEqual([named('google', account)])
  })

  test('is connected once its holder signs in with another account that is connected', async () => {
    const first = newAccount()
    const { identity: holder } = await fixture.comeWith('gitlab', first)
    const account = newAccount({ email: first.email })
    const flow = await fixture.flowAt(
      await fixture.travel(await fixture.begin('login'), 'google', account),
    )

    const done = await fixture.exchange(await fixture.travel(flow, 'gitlab', first))

    expect(done.identity.id).toBe(holder.id)
    expect((await fixture.accountsOf(holder)).sort()).toEqual([
      named('gitlab', first),
      named('google', account),
    ])
    expect((await fixture.comeWith('google', account)).identity.id).toBe(holder.id)
  })

  test('is no proof itself: who comes back with it is asked again', async () => {
    const { account, holder, flow } = await asked()

    const again = await fixture.flowAt(await fixture.travel(flow, 'google', account))

    expect(messageIds(again)).toEqual([1010016])
    expect(await fixture.accountsOf(holder)).toEqual([])
    expect(typesOf(holder)).toEqual(['identity.created'])
    expect((await byPassword(again, account.email)).status).toBe(200)
    expect(await fixture.accountsOf(holder)).toEqual([named('google', account)])
  })

  describe('is not connected by somebody else', () => {
    test('with a password of their own', async () => {
      const { holder, flow } = await asked()
      const { identity: other } = await fixture.register(`other-of-${holder.id}@example.com`)

      const { status, body } = await byPassword(flow, other.traits.email)

      expect(status).toBe(422)
      expect(messageIds(body)).toContain(4000006)
      for (const one of [holder, other]) expect(await fixture.accountsOf(one)).toEqual([])
    })

    test('with an account of their own that is connected', async () => {
      const { holder, flow } = await asked()
      const theirs = newAccount()
      const { identity: other } = await fixture.comeWith('gitlab', theirs)

      const shown = await fixture.flowAt(await fixture.travel(flow, 'gitlab', theirs))

      expect(messageIds(shown)).toContain(4000006)
      expect(await fixture.accountsOf(holder)).toEqual([])
      expect(await fixture.accountsOf(other)).toEqual([named('gitlab', theirs)])
    })

    test('with a code that goes to their own address', async () => {
      const of = await fixture.party()
      await of.security({ passwordless_enabled: true })
      const { holder, flow } = await asked('google', { of })
      const other = await holderOf({ email: 'other@example.com' }, of)

      const sent = await of.send(flow, { method: 'code', identifier: 'other@example.com' })

      expect(sent).toMatchObject({ status: 200, body: { state: 'sent_email' } })
      expect(of.sentTo('other@example.com')).toEqual([])
      for (const one of [holder, other]) expect(await of.accountsOf(one)).toEqual([])
    })
  })

  test('is connected after the second factor and not before, as in the settings', async () => {
    const of = await fixture.party()
    await of.security({ mfa_enabled: true })
    const account = newAccount()
    const { identity: holder, session_token } = await of.comeWith('gitlab', account)
    await of.change(session_token, { method: 'password', password: PASSWORD })
    const secret = await of.enrol(session_token)
    const other = newAccount({ email: account.email })
    const flow = await of.flowAt(await of.travel(await of.begin('login'), 'google', other))

    const { status, body } = await byPassword(flow, account.email, of)
    const [, next] = body.continue_with

    expect(status).toBe(200)
    expect(await of.accountsOf(holder)).toEqual([named('gitlab', account)])
    const token = withToken(body.session_token)
    const { body: second } = await read(fixture, next.redirect_browser_to, token)
    const totp_code = nextCode(fixture, secret)
    await of.sendWell(second, { method: 'totp', totp_code }, token)
    expect((await of.accountsOf(holder)).sort()).toEqual([
      named('gitlab', account),
      named('google', other),
    ])
  })

  test('is not asked about when its holder has another one there, and who comes is told so', async () => {
    const first = newAccount()
    const { identity: holder } = await fixture.comeWith('google', first)
    const second = newAccount({ email: first.email })
    const login = await fixture.begin('login')

    const page = await fixture.travel(login, 'google', second)

    expect(page.location).toBe(login.hosted_url)
    expect(messageIds(await fixture.flowAt(page))).toEqual([4000027])
    expect(await fixture.accountsOf(holder)).toEqual([named('google', first)])
    expect((await fixture.comeWith('google', first)).identity.id).toBe(holder.id)
  })

  test('is not connected once its holder has another one there, who signs in all the same', async () => {
    const { account, holder, flow } = await asked()
    const { session_token } = await fixture.signIn(account.email as string)
    const other = newAccount()
    await fixture.connect(session_token, 'google', other)

    const { status, body } = await byPassword(flow, account.email)

    expect(status).toBe(422)
    expect(messageIds(body)).toContain(4000027)
    expect(await fixture.accountsOf(holder)).toEqual([named('google', other)])
    expect((await fixture.tryPassword(account.email as string)).status).toBe(200)
  })

  test('is not connected to one who is inactive', async () => {
    const { account, holder, flow } = await asked('google', { fields: { state: 'inactive' } })

    const { status, body } = await byPassword(flow, account.email)

    expect(status).toBe(422)
    expect(messageIds(body)).toContain(4010011)
    await fixture.setState(holder, 'active')
    expect(await fixture.accountsOf(holder)).toEqual([])
  })

  test('is not connected to one when it has become somebody else’s meanwhile', async () => {
    const { account, holder, flow } = await asked()
    const { identity: other, session_token } = await fixture.register(
      `meanwhile-${account.id}@example.com`,
    )
    await fixture.connect(session_token, 'google', account)
    expect(await fixture.accountsOf(other)).toEqual([named('google', account)])

    const { status, body } = await byPassword(flow, account.email)

    expect(status).toBe(422)
    expect(messageIds(body)).toContain(4000027)
    expect(await fixture.accountsOf(holder)).toEqual([])
  })

  test('is forgotten with the form, when that expires', async () => {
    const { account, holder, page, flow } = await asked()
    fixture.clock.jump(HOUR)

    expect(await byPassword(flow, account.email)).toMatchObject({ status: 410 })
    const next = await page.browser.follow(await page.browser.visit(flow.hosted_url))
    const done = await page.browser.press(next, ['method', 'password'], {
      identifier: account.email as string,
      password: PASSWORD,
    })

    expect((await fixture.exchange(done)).identity.id).toBe(holder.id)
    expect(await fixture.accountsOf(holder)).toEqual([])
  })

  test('is asked about in the browser that came back, and in no other', async () => {
    const { flow } = await asked()

    expect((await newBrowser(fixture.app).visit(flow.hosted_url)).status).toBe(403)
    expect(await read(fixture, flow.hosted_url)).toMatchObject(refuses(403, 'other_browser'))
  })

  test('does not stop somebody from signing up with another account instead', async () => {
    const { holder, flow } = await asked()
    const another = newAccount()

    const { identity } = await fixture.exchange(await fixture.travel(flow, 'gitlab', another))

    expect(identity.id).not.toBe(holder.id)
    expect(await fixture.accountsOf(identity)).toEqual([named('gitlab', another)])
    expect(await fixture.accountsOf(holder)).toEqual([])
  })

  test('that comes at the same time as another with that address is asked about', async () => {
    const account = newAccount()
    const other = newAccount({ email: account.email })
    const ways = [
      await fixture.visit(
        await fixture.leave(await fixture.begin('login'), 'google'),
        'google',
        account,
      ),
      await fixture.visit(
        await fixture.leave(await fixture.begin('login'), 'gitlab'),
        'gitlab',
        other,
      ),
    ] as const

    const pages = await Promise.all([
      fixture.arrive('google', ways[0]),
      fixture.arrive('gitlab', ways[1]),
    ])

    const isIn = ({ location }: { location: string }) => location.startsWith(RETURN_TO)
    const [signedUp] = pages.filter(isIn)
    const [asking] = pages.filter((page) => !isIn(page))
    const { identity } = await fixture.exchange(signedUp as Back)
    expect(messageIds(await fixture.flowAt(asking as Back))).toEqual([1010016])
    expect(await fixture.accountsOf(identity)).toHaveLength(1)
  })

  test('is asked about within one tenant: at another it is somebody new', async () => {
    const account = newAccount()
    const holder = await holderOf(account)
    const other = await fixture.party()

    const { identity } = await other.comeWith('google', account)

    expect(identity.id).not.toBe(holder.id)
    expect(await fixture.accountsOf(holder)).toEqual([])
  })
})

describe('an account with an address here that nobody has proven', () => {
  describe.each(TRUSTED)('from %s', (provider) => {
    test('takes it over from whoever signed up with it', async () => {
      const account = newAccount()
      const email = account.email as string
      const { identity, session_token: before } = await fixture.register(email)

      const { identity: now, session_token } = await fixture.comeWith(provider, account)

      expect(now.id).toBe(identity.id)
      expect(isVerified(now)).toBe(true)
      expect(await credentialsOf(now)).toEqual(['oidc'])
      expect(await fixture.accountsOf(now)).toEqual([named(provider, account)])
      expect((await fixture.tryPassword(email)).status).toBe(422)
      expect((await fixture.whoami(before)).status).toBe(401)
      expect((await fixture.whoami(session_token)).status).toBe(200)
      expect(fixture.eventsOf(now)).toEqual([
        ['identity.created', { email, method: 'password' }],
        ['identity.email_verified', {}],
        ['identity.login', { email }],
      ])
    })
  })

  /** Somebody who has prepared the account of another for themselves, in every way there is. */
  async function trap() {
    const of = await fixture.party()
    await of.security({ mfa_enabled: true })
    const victim = newAccount()
    const email = victim.email as string
    const own = newAccount({ email: null })
    const { session_token: token, identity } = await of.register(email)
    await of.connect(token, 'spotify', own)
    await makeRecoveryCodes(of, token)
    await of.enrol(token)
    return { of, victim, email, own, token, identity }
  }

  test('leaves nothing of what was prepared there', async () => {
    const { of, victim, email, own, token, identity } = await trap()
    expect(await credentialsOf(identity, of)).toEqual(['lookup_secret', 'oidc', 'password', 'totp'])

    const { identity: now, session } = await of.comeWith('google', victim)

    expect(now.id).toBe(identity.id)
    expect(session.authenticator_assurance_level).toBe('aal1')
    expect(await credentialsOf(now, of)).toEqual(['oidc'])
    expect(await of.accountsOf(now)).toEqual([named('google', victim)])
    expect((await of.whoami(token)).status).toBe(401)
    expect((await of.tryPassword(email)).status).toBe(422)
    const back = await of.flowAt(await of.travel(await of.begin('login'), 'spotify', own))
    expect(messageIds(back)).toEqual([1900003])
  })

  // With their own token the owner would finish what somebody else began, led there by a link.
  test.each(['before', 'after'])(
    'ends ways to a provider that were begun there, if they come back %s',
    async (when) => {
      const { of, victim, token, identity } = await trap()
      const flow = await of.begin('settings', withToken(token))
      const url = await of.leave(flow, 'github', linkOf('github'), withToken(token))
      const arrival = await of.visit(url, 'github', newAccount({ email: null }))
      const early = when === 'before' ? await of.arrive('github', arrival) : undefined

      const { session_token: theirs } = await of.comeWith('google', victim)
      const back = early ?? (await of.arrive('github', arrival))

      for (const one of [token, theirs])
        expect((await of.finish(flow, back, one)).status).toBeGreaterThanOrEqual(400)
      expect(await of.accountsOf(identity)).toEqual([named('google', victim)])
    },
  )

  test('ends sessions that nobody has fetched yet', async () => {
    const of = await fixture.party()
    const victim = newAccount()
    const own = newAccount({ email: victim.email, isVerified: false })
    const ready = await of.travel(await of.begin('registration'), 'github', own)

    await of.comeWith('google', victim)

    const { searchParams } = new URL(ready.location)
    const late = await of.tryExchange(searchParams.get('flow'), searchParams.get('code'))
    expect(late).toMatchObject({ status: 400 })
  })

  test('ends changes of the address that were begun before', async () => {
    const { of, victim, token, identity } = await trap()
    const wanted = `mine-${victim.id}@evil.example`
    const asked = await of.change(token, { method: 'profile', traits: { email: wanted } })
    expect(asked.status).toBe(200)
    const { flow: begun } = asked.body.continue_with.find(
      ({ action }: Json) => action === 'show_verification_ui',
    )
    const code = of.codeFor(wanted)

    await of.comeWith('google', victim)
    const flow = (await fixture.app.raw(`/auth/self-service/verification?flow=${begun.id}`)).body
    const late = await of.send(flow, { method: 'code', code })

    expect(late.status).toBe(422)
    expect((await of.readIdentity(identity)).traits.email).toBe(victim.email)
  })

  test('takes the place of an account that only claimed the address', async () => {
    const victim = newAccount()
    const own = newAccount({ email: victim.email, isVerified: false })
    const { identity, session_token } = await fixture.comeWith('github', own)

    const { identity: now } = await fixture.comeWith('google', victim)

    expect(now.id).toBe(identity.id)
    expect(await fixture.accountsOf(now)).toEqual([named('google', victim)])
    expect((await fixture.whoami(session_token)).status).toBe(401)
    const back = await fixture.flowAt(
      await fixture.travel(await fixture.begin('login'), 'github', own),
    )
    expect(messageIds(back)).toEqual([4900005])
    expect(await fixture.accountsOf(now)).toEqual([named('google', victim)])
  })

  test('takes the place of another account at the same provider that only claimed the address', async () => {
    const victim = newAccount()
    const own = newAccount({ email: victim.email, isVerified: false })
    const { identity } = await fixture.comeWith('google', own)

    const { identity: now } = await fixture.comeWith('google', victim)

    expect(now.id).toBe(identity.id)
    expect(await fixture.accountsOf(now)).toEqual([named('google', victim)])
  })

  test('does not take over what an administrator has closed, and changes nothing there', async () => {
    const account = newAccount()
    const { identity } = await fixture.register(account.email as string)
    await fixture.setState(identity, 'inactive')

    const shown = await fixture.flowAt(
      await fixture.travel(await fixture.begin('login'), 'google', account),
    )

    expect(messageIds(shown)).toEqual([4010011])
    expect(await credentialsOf(identity)).toEqual(['password'])
    expect(isVerified(await fixture.readIdentity(identity))).toBe(false)
    expect(typesOf(identity)).toEqual(['identity.created', 'identity.state_changed'])
  })

  test('leaves the same address at another tenant alone', async () => {
    const other = await fixture.party()
    const account = newAccount()
    const email = account.email as string
    const there = await other.register(email)
    await fixture.register(email)

    await fixture.comeWith('google', account)

    expect((await other.tryPassword(email)).status).toBe(200)
    expect((await other.whoami(there.session_token)).status).toBe(200)
    expect(isVerified(await other.readIdentity(there.identity))).toBe(false)
  })

  test('is theirs for good: whoever comes next with that address has to prove who they are', async () => {
    const account = newAccount()
    await fixture.register(account.email as string)
    await fixture.comeWith('google', account)

    const next = newAccount({ email: account.email })
    const flow = await fixture.flowAt(
      await fixture.travel(await fixture.begin('login'), 'gitlab', next),
    )

    expect(messageIds(flow)).toEqual([1010016])
    expect(nodeNames(flow)).toContain('oidc:provider=google')
  })
})
