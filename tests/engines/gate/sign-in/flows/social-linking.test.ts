import { describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { createStore } from '../../../../../src/engines/gate/store.ts'
import { sha256 } from '../../../../../src/platform/crypto.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { auditOf, type Json, MINUTE, rowsOf, SESSIONS } from '../../fixture.ts'
import * as acts from './acts.ts'
import { newBrowser } from './browser.ts'
import { credentialsOf, person } from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'
import * as shared from './social-fixture.ts'

const { complains, HOUR, isAlive, nextCode, RETURN_TO, read, refuses, sendBare, withToken } = acts
const { codeIn, isVerified, linking, named } = shared
type SocialTenant = shared.SocialTenant

const social = await shared.useSocial()
const { accountsOf, app, arrivalFrom, authorize, authorizeUrl, begin, browserAt, callback } = social
const { clock, connect, eventTypesOf, exchange, finishLink, flowAt, messagesAt } = social
const { newTenant, readIdentity, roundTrip, send, settings, signInWith } = social

let users = 0

/** A user with a password, signed in. */
async function newUser() {
  const email = `settings-${users++}@example.com`
  const { session_token: token, identity } = await social.register(email)
  return { email, token: token as string, identity }
}

const buttons = (flow: Json) => nodeNames(flow).filter((name) => name.startsWith('oidc:'))

const disconnect = (token: string, provider: string, of: SocialTenant = social) =>
  of.change(token, { method: 'oidc', unlink: provider })

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort()

/** A browser that brought a code back to the app, which has not used it yet. */
async function backAtApp(token: string, provider: ProviderName, account = newAccount()) {
  const flow = await begin('settings', withToken(token))
  const back = await roundTrip(flow, provider, account, linking(provider, token))
  return { flow, back, account, finish: (by = token) => finishLink(flow, back, by) }
}

/** The same of a new user. */
async function brought() {
  const user = await newUser()
  return { ...user, ...(await backAtApp(user.token, 'github')) }
}

async function byPassword(flow: Json, identifier: unknown, of: SocialTenant = social) {
  const form = { method: 'password', identifier, password: PASSWORD }
  const { status, body } = await of.send(flow, form)
  return { status, body, ids: status === 422 ? messageIds(body) : [] }
}

/** An account with the verified address of a holder, and the form that asks them to sign in. */
async function asked(of: SocialTenant = social) {
  const account = newAccount()
  const email = account.email as string
  const holder = await person(of, email)
  const login = await of.begin('login')
  const page = await of.roundTrip(login, 'github', account)
  return { account, email, holder, login, page, flow: await of.flowAt(page) }
}

describe('An account with the verified address of an identity is connected', () => {
  test('when its holder signs in with the password', async () => {
    const { account, email, holder, login, page, flow } = await asked()
    expect(page.location).toContain('/auth/self-service/login?flow=')
    const context = { provider_id: 'github', duplicate_identifier: email }
    expect(flow.ui.messages).toMatchObject([{ id: 1010016, context }])
    expect(node(flow, 'identifier').attributes.value).toBe(email)
    expect((await byPassword(login, email)).ids).toEqual([4010007])
    // Neither another sign-in nor the account itself is a proof.
    await social.signIn(email)
    const again = await flowAt(await roundTrip(flow, 'github', account))
    expect(messageIds(again)).toEqual([1010016])
    expect(await credentialsOf(social, holder)).toEqual(['password'])

    const { status, body } = await byPassword(again, email)

    expect([status, body.session.identity.id]).toEqual([200, holder.id])
    expect(await accountsOf(holder)).toEqual([named('github', account)])
    const types = ['identity.created', 'identity.login', 'identity.login']
    expect(eventTypesOf(holder)).toEqual(types)
    expect((await signInWith('github', account)).identity.id).toBe(holder.id)
  })

  test('by another account of the holder, and after the second factor', async () => {
    const of = await newTenant()
    await of.security({ mfa_enabled: true })
    const [first, second, third] = [newAccount(), newAccount(), newAccount()]
    second.email = third.email = first.email
    const { identity: holder, session_token } = await of.signInWith('discord', first)
    const flow = await of.flowAt(await of.roundTrip(await of.begin('login'), 'github', second))
    const done = await of.exchange(await of.roundTrip(flow, 'discord', first))
    expect(done.identity.id).toBe(holder.id)
    const both = [named('discord', first), named('github', second)]
    expect((await of.accountsOf(holder)).sort()).toEqual(both)

    await of.change(session_token, { method: 'password', password: PASSWORD })
    const secret = await of.enrol(session_token)
    const next = await of.flowAt(await of.roundTrip(await of.begin('login'), 'gitlab', third))
    const { body } = await byPassword(next, first.email, of)
    expect(await of.accountsOf(holder)).toHaveLength(2)
    const token = withToken(body.session_token)
    const { body: factor } = await read(of, body.continue_with[1].redirect_browser_to, token)
    await of.sendWell(factor, { method: 'totp', totp_code: nextCode(of, secret) }, token)
    expect(await of.accountsOf(holder)).toContainEqual(named('gitlab', third))
  })
})

test('An account with the verified address of an identity is connected by a code to that address only', async () => {
  const of = await newTenant()
  await of.security({ passwordless_enabled: true })
  const theirs = newAccount()
  const email = theirs.email as string
  const { identity: other, session_token } = await of.signInWith('discord', theirs)
  await of.change(session_token, { method: 'password', password: PASSWORD })
  const { account, email: held, holder, flow } = await asked(of)

  // Neither password, account nor code of another identity connects it.
  expect((await byPassword(flow, email, of)).ids).toContain(4000006)
  expect(await of.messagesAt(await of.roundTrip(flow, 'discord', theirs))).toContain(4000006)
  const mails = of.sentTo(email).length
  const feigned = await of.sendWell(flow, { method: 'code', identifier: email })
  expect(feigned.state).toBe('sent_email')
  expect(of.sentTo(email)).toHaveLength(mails)
  const back = await of.roundTrip(await of.begin('login'), 'github', account)
  const sent = await of.sendWell(await of.flowAt(back), { method: 'code', identifier: held })
  expect(await of.accountsOf(holder)).toEqual([])
  expect(await of.accountsOf(other)).toEqual([named('discord', theirs)])
  const done = await of.sendWell(sent, { method: 'code', code: of.codeFor(held) })
  expect(done.session.identity.id).toBe(holder.id)
  expect(await of.accountsOf(holder)).toEqual([named('github', account)])
})

describe('An account with the verified address of an identity is not connected', () => {
  test('if its holder has another one at the provider, or a stranger has it', async () => {
    const first = newAccount()
    const { identity } = await signInWith('github', first)
    const login = await begin('login')
    const page = await roundTrip(login, 'github', newAccount({ email: first.email }))
    expect(page.location).toBe(login.hosted_url)
    expect(await messagesAt(page)).toEqual([4000027])
    expect(await accountsOf(identity)).toEqual([named('github', first)])

    // The same if it happens while they are asked to sign in.
    const [one, two, other] = [await asked(), await asked(), newAccount()]
    await connect((await social.signIn(one.email)).session_token, 'github', other)
    await connect((await newUser()).token, 'github', two.account)
    for (const { flow, email } of [one, two])
      expect((await byPassword(flow, email)).ids).toContain(4000027)
    expect(await accountsOf(one.holder)).toEqual([named('github', other)])
    expect(await accountsOf(two.holder)).toEqual([])
  })

  test('if its holder is inactive', async () => {
    const { email, holder, flow } = await asked()
    await social.setState(holder, 'inactive')
    expect((await byPassword(flow, email)).ids).toContain(4010011)
    expect(await accountsOf(holder)).toEqual([])
  })

  test('in another browser, and not after the form has expired', async () => {
    const { email, holder, page, flow } = await asked()
    expect((await newBrowser(app).visit(flow.hosted_url)).status).toBe(403)
    expect(await read(social, flow.hosted_url)).toMatchObject(refuses(403, 'other_browser'))
    clock.jump(HOUR)
    expect((await byPassword(flow, email)).status).toBe(410)
    const next = await page.browser.follow(await page.browser.visit(flow.hosted_url))
    const typed = { identifier: email, password: PASSWORD }
    const done = await page.browser.press(next, ['method', 'password'], typed)
    expect((await exchange(done)).identity.id).toBe(holder.id)
    expect(await accountsOf(holder)).toEqual([])
  })

  test('if both come at the same time: one is asked', async () => {
    const account = newAccount()
    const other = newAccount({ email: account.email })
    const first = await arrivalFrom(await begin('login'), 'github', account)
    const second = await arrivalFrom(await begin('login'), 'discord', other)
    const pages = await Promise.all([callback('github', first), callback('discord', second)])
    const isIn = ({ location }: shared.Back) => location.startsWith(RETURN_TO)
    const { identity } = await exchange(pages.find(isIn) as shared.Back)
    expect(await messagesAt(pages.find((page) => !isIn(page)) as shared.Back)).toEqual([1010016])
    expect(await accountsOf(identity)).toHaveLength(1)
  })
})

// What an attacker has prepared in such an identity is in pre-hijacking.test.ts.
describe('An account with an address that its identity never verified', () => {
  test('takes the identity over, in its tenant', async () => {
    const other = await newTenant()
    const account = newAccount()
    const email = account.email as string
    const { identity, session_token: before } = await social.register(email)
    const there = await other.register(email)

    const { identity: now, session_token } = await signInWith('github', account)

    expect([now.id, isVerified(now)]).toEqual([identity.id, true])
    expect(await credentialsOf(social, now)).toEqual(['oidc'])
    expect(await accountsOf(now)).toEqual([named('github', account)])
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
    const next = await roundTrip(await begin('login'), 'discord', newAccount({ email }))
    expect(nodeNames(await flowAt(next))).toContain('oidc:provider=github')
  })

  test('replaces an unconfirmed account at the same provider', async () => {
    const victim = newAccount()
    const own = newAccount({ email: victim.email, isVerified: false })
    const { identity, session_token } = await signInWith('github', own)
    const { identity: now } = await signInWith('github', victim)
    expect(now.id).toBe(identity.id)
    expect((await social.whoami(session_token)).status).toBe(401)
    expect(await messagesAt(await roundTrip(await begin('login'), 'github', own))).toEqual([
      4900005,
    ])
    expect(await accountsOf(now)).toEqual([named('github', victim)])
  })

  test('does not take over an inactive identity', async () => {
    const account = newAccount()
    const { identity } = await social.register(account.email as string)
    await social.setState(identity, 'inactive')
    const page = await roundTrip(await begin('login'), 'github', account)
    expect(await messagesAt(page)).toEqual([4010011])
    expect(await credentialsOf(social, identity)).toEqual(['password'])
    expect(isVerified(await readIdentity(identity))).toBe(false)
    expect(eventTypesOf(identity)).toEqual(['identity.created', 'identity.state_changed'])
  })
})

describe('Connecting an account in the settings', () => {
  test('lets it sign in, until it is disconnected', async () => {
    const { email, token, identity } = await newUser()
    const { session_token: other } = await social.signIn(email)
    const { credentials: _, ...before } = await readIdentity(identity)
    expect(buttons(await settings(token))).toContain('oidc:link=github')
    const { flow, back, account, finish } = await backAtApp(token, 'github')
    expect(back.location).toBe(`${RETURN_TO}?flow=${flow.id}&code=${codeIn(back)}`)
    expect((await finish()).body.state).toBe('success')

    const { credentials, ...after } = await readIdentity(identity)
    expect(after).toEqual(before)
    expect(Object.keys(credentials).sort()).toEqual(['oidc', 'password'])
    expect(await accountsOf(identity)).toEqual([named('github', account)])
    expect(social.eventTypesOf(identity)).toEqual(['identity.created', 'identity.login'])
    const { identity: same, session_token: byAccount } = await signInWith('github', account)
    expect(same.id).toBe(identity.id)
    const open = buttons(await settings(token))
    expect(open).toContain('oidc:unlink=github')
    expect(open).not.toContain('oidc:link=github')
    const another = await social.change(token, { method: 'oidc', link: 'github' })
    expect(another).toMatchObject(complains(4900009))

    expect((await disconnect(token, 'github')).body.state).toBe('success')
    expect(await accountsOf(identity)).toEqual([])
    for (const one of [token, other, byAccount]) expect(await isAlive(social, one)).toBe(true)
    for (const unknown of ['github', 'nonsense'])
      expect(await disconnect(token, unknown)).toMatchObject(complains(4900009))
    expect((await signInWith('github', account)).identity.id).not.toBe(identity.id)
    await connect(token, 'github')

    const about = { actor_kind: 'person', actor_id: identity.id }
    const detail = { provider: 'GitHub', provider_id: 'github' }
    const audited = auditOf(app, `identity:${identity.id}`)
    expect(audited.filter(({ action }) => action.startsWith('identity.account_'))).toEqual([
      { action: 'identity.account_connected', ...about, detail },
      { action: 'identity.account_disconnected', ...about, detail },
      { action: 'identity.account_connected', ...about, detail },
    ])
  })

  test('by the tenant’s server works without an address, and with that of another user', async () => {
    const other = await newUser()
    for (const fields of [{ email: null }, { email: other.email }]) {
      const { token, identity } = await newUser()
      const submit = async (form: Json) => {
        const { id: flow } = await begin('settings', withToken(token))
        return social.submit('settings', { flow, ...form }, withToken(token))
      }
      const account = newAccount(fields)
      const { body } = await submit({ link: 'spotify' })
      const arrival = await authorize(body.redirect_browser_to, 'spotify', account)
      const { location } = await callback('spotify', arrival)
      const { flow, code } = Object.fromEntries(new URL(location).searchParams)
      expect((await submit({ flow, method: 'oidc', code })).status).toBe(200)
      expect(await accountsOf(identity)).toEqual([named('spotify', account)])
      expect((await submit({ unlink: 'spotify' })).status).toBe(200)
      expect(await accountsOf(identity)).toEqual([])
    }
    expect(Object.keys((await readIdentity(other.identity)).credentials)).toEqual(['password'])
    expect(await isAlive(social, other.token)).toBe(true)
  })

  test('at once adds one of two accounts at a provider, and gives one account to one user', async () => {
    const race = async (...ways: [token: string, account: Account][]) => {
      const back: Awaited<ReturnType<typeof backAtApp>>[] = []
      for (const [token, account] of ways) back.push(await backAtApp(token, 'github', account))
      const answers = await Promise.all(back.map(({ finish }) => finish()))
      for (const { status, body } of answers)
        if (status === 422) expect(messageIds(body)).toEqual([4000027])
      return statuses(answers)
    }
    const [one, two, same, wanted] = [newAccount(), newAccount(), newAccount(), newAccount()]
    const [ada, cay, eve, bob] = [
      await newUser(),
      await newUser(),
      await newUser(),
      await newUser(),
    ]
    expect(await race([ada.token, one], [ada.token, two])).toEqual([200, 422])
    expect(await accountsOf(ada.identity)).toHaveLength(1)
    expect(await race([cay.token, same], [cay.token, same])).toEqual([200, 200])
    expect(await race([eve.token, wanted], [bob.token, wanted])).toEqual([200, 422])
    const owned = [...(await accountsOf(eve.identity)), ...(await accountsOf(bob.identity))]
    expect(owned).toEqual([named('github', wanted)])
  })

  test('at once adds one of two accounts that come back on two pages', async () => {
    const { token, identity } = await newUser()
    // A program needs an app to return to.
    const refused = await send(await settings(token), { link: 'github' }, withToken(token))
    expect([refused.status, ...messageIds(refused.body)]).toEqual([422, 4000001])
    const ways = []
    for (let n = 0; n < 2; n++) {
      const { browser, page } = await browserAt('settings', withToken(token))
      const { location } = await browser.press(page, ['link', 'github'])
      ways.push([await authorize(location, 'github'), browser] as const)
    }
    const pages = await Promise.all(ways.map((way) => callback('github', ...way)))
    const texts: string[] = []
    for (const page of pages) texts.push((await page.browser.follow(page)).text)
    for (const words of ['Your changes have been saved.', 'connected to another user'])
      expect(texts.filter((text) => text.includes(words))).toHaveLength(1)
    expect(await accountsOf(identity)).toHaveLength(1)
  })
})

describe('The code that the browser brings back to the app', () => {
  test('is needed to connect the account, works once, for the session’s token, and opens no session', async () => {
    const { token, flow, back, identity, account, finish } = await brought()
    const [row] = rowsOf(app, 'gate_flows').filter(({ id }) => id === flow.id)
    const code = codeIn(back)
    expect(row.exchange_hash).toBe(sha256(code))
    for (const secret of [code, `#${account.id}`, 'access-'])
      expect(JSON.stringify(row)).not.toContain(secret)
    const other = await brought()
    for (const wrong of ['made-up', codeIn(other.back)]) {
      const refused = await send(flow, { method: 'oidc', code: wrong }, withToken(token))
      expect([refused.status, ...messageIds(refused.body)]).toEqual([422, 4000001])
    }
    const bare = await sendBare(social, flow, { method: 'oidc', code })
    expect(bare).toMatchObject(refuses(401, 'session_inactive'))
    const theirs = await finish(other.token)
    expect(theirs).toMatchObject(refuses(403, 'security_identity_mismatch'))
    const exchanged = await social.api.post(`${SESSIONS}/exchange`, { flow: flow.id, code })
    expect(exchanged.status).toBe(400)
    for (const one of [identity, other.identity]) expect(await accountsOf(one)).toEqual([])
    expect((await finish()).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([named('github', account)])
    await disconnect(token, 'github')
    expect((await finish()).status).toBe(422)
    expect(await accountsOf(identity)).toEqual([])
    // Until then, the account may sign up by itself. The flow goes on.
    expect((await signInWith('github', other.account)).identity.id).not.toBe(other.identity.id)
    expect(messageIds((await other.finish()).body)).toEqual([4000027])
    await authorizeUrl(other.flow, 'gitlab', linking('gitlab', other.token))
  })

  test('works for five minutes, as the last one of its flow, with a sign-in within the hour', async () => {
    const [inTime, late] = [await brought(), await brought()]
    clock.jump(5 * MINUTE - 1)
    expect((await inTime.finish()).status).toBe(200)
    clock.jump(1)
    expect((await late.finish()).status).toBe(422)
    const { token, flow, identity, finish } = await brought()
    const last = await roundTrip(flow, 'discord', newAccount(), linking('discord', token))
    expect((await finish()).status).toBe(422)
    expect((await finishLink(flow, last, token)).status).toBe(200)
    expect(await accountsOf(identity)).toEqual([expect.stringMatching(/^discord:/)])
    clock.jump(HOUR - 4 * MINUTE)
    const next = await backAtApp(token, 'github')
    clock.jump(4 * MINUTE + 1)
    expect(await next.finish()).toMatchObject(refuses(403, 'session_refresh_required'))
    expect(await accountsOf(identity)).toHaveLength(1)
  })

  // Otherwise an attacker could open the page, begin by a program, and send a victim there.
  test('is needed also if a page has the flow open and a program began', async () => {
    const { token, identity } = await newUser()
    const flow = await begin('settings', withToken(token))
    await newBrowser(app).visit(flow.hosted_url)
    const arrival = await arrivalFrom(flow, 'github', newAccount(), linking('github', token))
    await callback('github', arrival)
    expect(await accountsOf(identity)).toEqual([])
  })

  test('opens nothing in another browser after it was used, also once expired', async () => {
    const { email, flow, finish } = await brought()
    expect((await finish()).status).toBe(200)
    for (const wait of [0, HOUR]) {
      clock.jump(wait)
      const stranger = newBrowser(app)
      let seen = await stranger.visit(flow.hosted_url)
      while (seen.status === 303) seen = await stranger.follow(seen)
      expect(seen.html).not.toContain(email)
      expect(seen.forms.flatMap(({ buttons }) => buttons)).toEqual([])
    }
  })
})

describe('Disconnecting an account', () => {
  test('is refused if the user could not sign in without it', async () => {
    const tenant = await newTenant()
    const account = newAccount()
    const { session_token: token, identity } = await tenant.signInWith('discord', account)
    await tenant.connect(token, 'github')
    const tryIt = async (provider: string) => (await disconnect(token, provider, tenant)).status
    await tenant.disable('github')
    expect(buttons(await tenant.settings(token))).not.toContain('oidc:unlink=discord')
    expect(await disconnect(token, 'discord', tenant)).toMatchObject(complains(4900011))
    expect((await tenant.signInWith('discord', account)).identity.id).toBe(identity.id)
    await tenant.enable('github')
    expect(await tryIt('discord')).toBe(200)
    expect(await tryIt('github')).toBe(422)

    await tenant.security({ passwordless_enabled: true })
    expect(await tryIt('github')).toBe(200)
    await tenant.connect(token, 'github')
    await tenant.security({ passwordless_enabled: false })
    expect(await tryIt('github')).toBe(422)
    await tenant.change(token, { method: 'password', password: PASSWORD })
    // A disabled provider can be disconnected, too.
    await tenant.disable('github')
    expect(buttons(await tenant.settings(token))).toContain('oidc:unlink=github')
    expect(await tryIt('github')).toBe(200)
  })

  test('of both accounts at once leaves one', async () => {
    const { session_token: token, identity } = await signInWith('discord')
    await connect(token, 'github')
    const flows = [await settings(token), await settings(token)]
    const answers = await Promise.all([
      send(flows[0], { unlink: 'discord' }, withToken(token)),
      send(flows[1], { unlink: 'github' }, withToken(token)),
    ])
    expect(statuses(answers)).toEqual([200, 422])
    expect(await accountsOf(identity)).toHaveLength(1)
  })
})

test('The store finds and removes accounts within their tenant', async () => {
  const { socialLinks } = createStore(app.db)
  const [{ id: other }, { identity }] = [await app.tenant(), await newUser()]
  await acts.connect(social, identity, 'github', '42')
  clock.jump(1)
  await acts.connect(social, identity, 'discord')
  const providers = () => socialLinks.of(social.id, identity.id).map(({ provider }) => provider)
  await app.db.commit(() => {
    expect(socialLinks.find(social.id, 'github', '42')?.identityId).toBe(identity.id)
    expect(socialLinks.find(other, 'github', '42')).toBeUndefined()
    expect(socialLinks.of(other, identity.id)).toEqual([])
    socialLinks.removeProvider(other, identity.id, 'discord')
    socialLinks.removeAll(other, identity.id)
    expect(providers()).toEqual(['github', 'discord'])
    socialLinks.removeAll(social.id, identity.id)
    expect(providers()).toEqual([])
  })
})
