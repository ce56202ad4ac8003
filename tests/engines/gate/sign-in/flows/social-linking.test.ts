import { describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { IDENTITIES, type Json } from '../../fixture.ts'
import { actionsOn } from '../../identities/people.ts'
import { HOUR, nextCode, RETURN_TO, read, recoveryCodes, refuses, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'
import {
  type Back,
  isVerified,
  linkOf,
  named,
  type SocialTenant,
  useSocial,
} from './social-fixture.ts'

const social = await useSocial()
const { accountsOf, authorize, authorizeUrl, begin, callback, eventTypesOf, exchange } = social
const { flowAt, newTenant, roundTrip, signInWith } = social

const credentialsOf = async (person: { id: string }, of: SocialTenant = social) =>
  Object.keys((await of.readIdentity(person)).credentials).sort()

/** An identity with a password and this verified address. */
const holderOf = ({ email }: Pick<Account, 'email'>, of: SocialTenant = social, fields = {}) =>
  of.createIdentity({
    traits: { email },
    credentials: { password: { config: { password: PASSWORD } } },
    verifiable_addresses: [{ value: email, verified: true }],
    ...fields,
  })

const byPassword = (flow: Json, email: unknown, of: SocialTenant = social, password = PASSWORD) =>
  of.send(flow, { method: 'password', identifier: email, password })

describe('An account with the verified address of an identity', () => {
  /** The form that asks the holder of the address to sign in. */
  async function asked({ of = social as SocialTenant, fields = {} } = {}) {
    const account = newAccount()
    const holder = await holderOf(account, of, fields)
    const login = await of.begin('login')
    const page = await of.roundTrip(login, 'google', account)
    return {
      account,
      email: account.email as string,
      holder,
      login,
      page,
      flow: await of.flowAt(page),
    }
  }

  test('is connected when its holder signs in with the password', async () => {
    const { account, email, holder, login, page, flow } = await asked()
    expect(page.location).toContain('/auth/self-service/login?flow=')
    expect(messageIds(flow)).toEqual([1010016])
    expect(flow.ui.messages[0].context).toMatchObject({
      provider_id: 'google',
      duplicate_identifier: email,
    })
    expect(node(flow, 'identifier').attributes.value).toBe(email)
    expect(messageIds((await byPassword(login, email)).body)).toEqual([4010007])
    expect((await byPassword(flow, email, social, 'wrong horse')).status).toBe(422)
    expect(await credentialsOf(holder)).toEqual(['password'])
    const { body: sessions } = await social.api.get(`${IDENTITIES}/${holder.id}/sessions`)
    expect(sessions).toEqual([])

    const { status, body } = await byPassword(flow, email)

    expect(status).toBe(200)
    expect(body.session.identity.id).toBe(holder.id)
    expect(await accountsOf(holder)).toEqual([named('google', account)])
    expect(social.eventsOf(holder).slice(1)).toEqual([['identity.login', { email }]])
    expect(actionsOn(social.app, `identity:${holder.id}`)).toContain('identity.account_connected')
    expect((await signInWith('google', account)).identity.id).toBe(holder.id)
  })

  test('is connected on pages, too, which lead to the app', async () => {
    const account = newAccount()
    const holder = await holderOf(account)
    const browser = newBrowser(social.app)
    const start = await browser.visit((await begin('registration')).hosted_url)
    const back = await social.pressProvider(browser, start, 'github', account)
    const asking = await browser.follow(back)
    const done = await browser.press(asking, ['method', 'password'], { password: PASSWORD })
    expect((await exchange(done)).identity.id).toBe(holder.id)
    expect(await accountsOf(holder)).toEqual([named('github', account)])
  })

  test('is not connected by a sign-in in another form', async () => {
    const { email, holder } = await asked()
    await social.signIn(email)
    expect(await accountsOf(holder)).toEqual([])
  })

  test('is connected by an email code', async () => {
    const of = await newTenant()
    await of.security({ passwordless_enabled: true })
    const { account, email, holder, flow } = await asked({ of })
    const sent = await of.sendWell(flow, { method: 'code', identifier: email })
    expect(sent.state).toBe('sent_email')
    expect(await of.accountsOf(holder)).toEqual([])
    const done = await of.sendWell(sent, { method: 'code', code: of.codeFor(email) })
    expect(done.session.identity.id).toBe(holder.id)
    expect(await of.accountsOf(holder)).toEqual([named('google', account)])
  })

  test('is connected by another account of the holder', async () => {
    const first = newAccount()
    const { identity: holder } = await signInWith('gitlab', first)
    const account = newAccount({ email: first.email })
    const flow = await flowAt(await roundTrip(await begin('login'), 'google', account))
    const done = await exchange(await roundTrip(flow, 'gitlab', first))
    expect(done.identity.id).toBe(holder.id)
    expect((await accountsOf(holder)).sort()).toEqual([
      named('gitlab', first),
      named('google', account),
    ])
  })

  test('is connected after the second factor, not before', async () => {
    const of = await newTenant()
    await of.security({ mfa_enabled: true })
    const account = newAccount()
    const { identity: holder, session_token } = await of.signInWith('gitlab', account)
    await of.change(session_token, { method: 'password', password: PASSWORD })
    const secret = await of.enrol(session_token)
    const other = newAccount({ email: account.email })
    const flow = await of.flowAt(await of.roundTrip(await of.begin('login'), 'google', other))

    const { body } = await byPassword(flow, account.email, of)
    expect(await of.accountsOf(holder)).toEqual([named('gitlab', account)])
    const token = withToken(body.session_token)
    const { body: second } = await read(of, body.continue_with[1].redirect_browser_to, token)
    await of.sendWell(second, { method: 'totp', totp_code: nextCode(of, secret) }, token)

    expect((await of.accountsOf(holder)).sort()).toEqual([
      named('gitlab', account),
      named('google', other),
    ])
  })

  test('is no proof itself: who comes back with it is asked again', async () => {
    const { account, email, holder, flow } = await asked()
    const again = await flowAt(await roundTrip(flow, 'google', account))
    expect(messageIds(again)).toEqual([1010016])
    expect(await accountsOf(holder)).toEqual([])
    expect(eventTypesOf(holder)).toEqual(['identity.created'])
    expect((await byPassword(again, email)).status).toBe(200)
    expect(await accountsOf(holder)).toEqual([named('google', account)])
  })

  test('is not connected by another identity: neither password, account nor code', async () => {
    const of = await newTenant()
    await of.security({ passwordless_enabled: true })
    const theirs = newAccount()
    const { identity: other, session_token } = await of.signInWith('gitlab', theirs)
    await of.change(session_token, { method: 'password', password: PASSWORD })
    const { holder, flow } = await asked({ of })

    const { status, body } = await byPassword(flow, theirs.email, of)
    expect(status).toBe(422)
    expect(messageIds(body)).toContain(4000006)
    const shown = await of.flowAt(await of.roundTrip(flow, 'gitlab', theirs))
    expect(messageIds(shown)).toContain(4000006)
    const mails = of.sentTo(theirs.email as string).length
    const sent = await of.sendWell(flow, { method: 'code', identifier: theirs.email })
    expect(sent.state).toBe('sent_email')
    expect(of.sentTo(theirs.email as string)).toHaveLength(mails)

    expect(await of.accountsOf(holder)).toEqual([])
    expect(await of.accountsOf(other)).toEqual([named('gitlab', theirs)])
  })

  test('is refused if its holder has another one at the provider', async () => {
    const first = newAccount()
    const { identity: holder } = await signInWith('google', first)
    const login = await begin('login')
    const page = await roundTrip(login, 'google', newAccount({ email: first.email }))
    expect(page.location).toBe(login.hosted_url)
    expect(messageIds(await flowAt(page))).toEqual([4000027])
    expect(await accountsOf(holder)).toEqual([named('google', first)])
  })

  test.each(['the holder has another one', 'another identity has it'])(
    'is refused if %s by then',
    async (what) => {
      const { account, email, holder, flow } = await asked()
      const isHolder = what.startsWith('the holder')
      const { session_token } = isHolder
        ? await social.signIn(email)
        : await social.register(`meanwhile-${account.id}@example.com`)
      const connected = isHolder ? newAccount() : account
      await social.connect(session_token, 'google', connected)

      const { status, body } = await byPassword(flow, email)

      expect(status).toBe(422)
      expect(messageIds(body)).toContain(4000027)
      expect(await accountsOf(holder)).toEqual(isHolder ? [named('google', connected)] : [])
      expect((await social.tryPassword(email)).status).toBe(200)
    },
  )

  test('is not connected to an inactive identity', async () => {
    const { email, holder, flow } = await asked({ fields: { state: 'inactive' } })
    const { status, body } = await byPassword(flow, email)
    expect(status).toBe(422)
    expect(messageIds(body)).toContain(4010011)
    expect(await accountsOf(holder)).toEqual([])
  })

  test('is forgotten when the form expires, and needs the browser that came back', async () => {
    const { email, holder, page, flow } = await asked()
    expect((await newBrowser(social.app).visit(flow.hosted_url)).status).toBe(403)
    expect(await read(social, flow.hosted_url)).toMatchObject(refuses(403, 'other_browser'))
    social.clock.jump(HOUR)
    expect(await byPassword(flow, email)).toMatchObject({ status: 410 })
    const next = await page.browser.follow(await page.browser.visit(flow.hosted_url))
    const typed = { identifier: email, password: PASSWORD }
    const done = await page.browser.press(next, ['method', 'password'], typed)
    expect((await exchange(done)).identity.id).toBe(holder.id)
    expect(await accountsOf(holder)).toEqual([])
  })

  test('does not stop a sign-up with another account', async () => {
    const { holder, flow } = await asked()
    const another = newAccount()
    const { identity } = await exchange(await roundTrip(flow, 'gitlab', another))
    expect(identity.id).not.toBe(holder.id)
    expect(await accountsOf(identity)).toEqual([named('gitlab', another)])
    expect(await accountsOf(holder)).toEqual([])
  })

  test('is asked about also if both come at the same time', async () => {
    const account = newAccount()
    const other = newAccount({ email: account.email })
    const arrive = async (provider: ProviderName, who: Account) =>
      authorize(await authorizeUrl(await begin('login'), provider), provider, who)
    const arrivals = [await arrive('google', account), await arrive('gitlab', other)] as const

    const pages = await Promise.all([
      callback('google', arrivals[0]),
      callback('gitlab', arrivals[1]),
    ])

    const isIn = ({ location }: Back) => location.startsWith(RETURN_TO)
    const { identity } = await exchange(pages.find(isIn) as Back)
    const asking = pages.find((page) => !isIn(page)) as Back
    expect(messageIds(await flowAt(asking))).toEqual([1010016])
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  test('is a new identity at another tenant', async () => {
    const account = newAccount()
    const holder = await holderOf(account)
    const { identity } = await (await newTenant()).signInWith('google', account)
    expect(identity.id).not.toBe(holder.id)
    expect(await accountsOf(holder)).toEqual([])
  })
})

describe('An account with an address that its identity never verified', () => {
  test('takes the identity over', async () => {
    const other = await newTenant()
    const account = newAccount()
    const email = account.email as string
    const { identity, session_token: before } = await social.register(email)
    const there = await other.register(email)

    const { identity: now, session_token } = await signInWith('google', account)

    expect(now.id).toBe(identity.id)
    expect(isVerified(now)).toBe(true)
    expect(await credentialsOf(now)).toEqual(['oidc'])
    expect(await accountsOf(now)).toEqual([named('google', account)])
    expect((await social.tryPassword(email)).status).toBe(422)
    expect((await social.whoami(before)).status).toBe(401)
    expect((await social.whoami(session_token)).status).toBe(200)
    expect(social.eventsOf(now)).toEqual([
      ['identity.created', { email, method: 'password' }],
      ['identity.email_verified', {}],
      ['identity.login', { email }],
    ])
    expect((await other.tryPassword(email)).status).toBe(200)
    expect((await other.whoami(there.session_token)).status).toBe(200)
    expect(isVerified(await other.readIdentity(there.identity))).toBe(false)

    const flow = await flowAt(
      await roundTrip(await begin('login'), 'gitlab', newAccount({ email })),
    )
    expect(messageIds(flow)).toEqual([1010016])
    expect(nodeNames(flow)).toContain('oidc:provider=google')
  })

  /** An identity that an attacker registered with a victim's address, with every credential. */
  async function trap() {
    const of = await newTenant()
    await of.security({ mfa_enabled: true })
    const victim = newAccount()
    const own = newAccount({ email: null })
    const { session_token: token, identity } = await of.register(victim.email as string)
    await of.connect(token, 'spotify', own)
    await recoveryCodes(of, token)
    await of.enrol(token)
    return { of, victim, email: victim.email as string, own, token: token as string, identity }
  }

  test('leaves the attacker no credential and no session', async () => {
    const { of, victim, email, own, token, identity } = await trap()
    expect(await credentialsOf(identity, of)).toEqual(['lookup_secret', 'oidc', 'password', 'totp'])

    const { identity: now, session } = await of.signInWith('google', victim)

    expect(now.id).toBe(identity.id)
    expect(session.authenticator_assurance_level).toBe('aal1')
    expect(await credentialsOf(now, of)).toEqual(['oidc'])
    expect(await of.accountsOf(now)).toEqual([named('google', victim)])
    expect((await of.whoami(token)).status).toBe(401)
    expect((await of.tryPassword(email)).status).toBe(422)
    const back = await of.flowAt(await of.roundTrip(await of.begin('login'), 'spotify', own))
    expect(messageIds(back)).toEqual([1900003])
  })

  // A link could lead the victim to finish, with their own token, what the attacker began.
  test.each(['before', 'after'])(
    'ends connections begun earlier that come back %s',
    async (when) => {
      const { of, victim, token, identity } = await trap()
      const flow = await of.begin('settings', withToken(token))
      const url = await of.authorizeUrl(flow, 'github', linkOf('github'), withToken(token))
      const arrival = await of.authorize(url, 'github', newAccount({ email: null }))
      const early = when === 'before' ? await of.callback('github', arrival) : undefined

      const { session_token: theirs } = await of.signInWith('google', victim)
      const back = early ?? (await of.callback('github', arrival))

      for (const one of [token, theirs])
        expect((await of.finishLink(flow, back, one)).status).toBeGreaterThanOrEqual(400)
      expect(await of.accountsOf(identity)).toEqual([named('google', victim)])
    },
  )

  test('ends sessions that wait to be exchanged', async () => {
    const of = await newTenant()
    const victim = newAccount()
    const own = newAccount({ email: victim.email, isVerified: false })
    const ready = await of.roundTrip(await of.begin('registration'), 'github', own)
    await of.signInWith('google', victim)
    const { searchParams } = new URL(ready.location)
    const late = await of.tryExchange(searchParams.get('flow'), searchParams.get('code'))
    expect(late).toMatchObject({ status: 400 })
  })

  test('ends changes of the address begun earlier', async () => {
    const { of, victim, token, identity } = await trap()
    const wanted = `mine-${victim.id}@evil.example`
    const asked = await of.change(token, { method: 'profile', traits: { email: wanted } })
    const { flow: begun } = asked.body.continue_with.find(
      ({ action }: Json) => action === 'show_verification_ui',
    )
    const code = of.codeFor(wanted)

    await of.signInWith('google', victim)
    const { body: flow } = await of.app.raw(`/auth/self-service/verification?flow=${begun.id}`)
    expect((await of.send(flow, { method: 'code', code })).status).toBe(422)
    expect((await of.readIdentity(identity)).traits.email).toBe(victim.email)
  })

  test.each(['github', 'google'] as const)(
    'replaces an unconfirmed account of %s',
    async (provider) => {
      const victim = newAccount()
      const own = newAccount({ email: victim.email, isVerified: false })
      const { identity, session_token } = await signInWith(provider, own)
      const { identity: now } = await signInWith('google', victim)
      expect(now.id).toBe(identity.id)
      expect((await social.whoami(session_token)).status).toBe(401)
      const back = await flowAt(await roundTrip(await begin('login'), provider, own))
      expect(messageIds(back)).toEqual([4900005])
      expect(await accountsOf(now)).toEqual([named('google', victim)])
    },
  )

  test('does not take over an inactive identity', async () => {
    const account = newAccount()
    const { identity } = await social.register(account.email as string)
    await social.setState(identity, 'inactive')
    const shown = await flowAt(await roundTrip(await begin('login'), 'google', account))
    expect(messageIds(shown)).toEqual([4010011])
    expect(await credentialsOf(identity)).toEqual(['password'])
    expect(isVerified(await social.readIdentity(identity))).toBe(false)
    expect(eventTypesOf(identity)).toEqual(['identity.created', 'identity.state_changed'])
  })
})
