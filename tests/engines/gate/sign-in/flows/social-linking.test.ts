import { describe, expect, test } from 'bun:test'
import { newAccount } from '../../../../support/social/index.ts'
import { actionsOn, type Json } from '../../fixture.ts'
import { HOUR, nextCode, RETURN_TO, read, refuses, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import { credentialsOf } from './code-fixture.ts'
import { messageIds, node, nodeNames, PASSWORD } from './fixture.ts'
import { type Back, isVerified, named, type SocialTenant, useSocial } from './social-fixture.ts'

const social = await useSocial()
const { accountsOf, arrivalFrom, begin, callback, eventTypesOf, exchange } = social
const { flowAt, messagesAt, newTenant, roundTrip, signInWith } = social

/** An identity with a password and this verified address. */
const holderOf = (email: unknown, of: SocialTenant = social, fields = {}) =>
  of.createIdentity({
    traits: { email },
    credentials: { password: { config: { password: PASSWORD } } },
    verifiable_addresses: [{ value: email, verified: true }],
    ...fields,
  })

async function byPassword(flow: Json, identifier: unknown, of: SocialTenant = social) {
  const form = { method: 'password', identifier, password: PASSWORD }
  const { status, body } = await of.send(flow, form)
  return { status, body, ids: status === 422 ? messageIds(body) : [] }
}

/** An account with the verified address of a holder, and the form that asks them to sign in. */
async function asked({ of = social as SocialTenant, fields = {} } = {}) {
  const account = newAccount()
  const email = account.email as string
  const holder = await holderOf(email, of, fields)
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
    const loggedIn = ['identity.login', { email }]
    expect(social.eventsOf(holder).slice(1)).toEqual([loggedIn, loggedIn] as [string, Json][])
    expect(actionsOn(social.app, `identity:${holder.id}`)).toContain('identity.account_connected')
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
  const { account, email: held, holder, flow } = await asked({ of })

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
  test('if its holder has another one at the provider', async () => {
    const first = newAccount()
    const { identity: holder } = await signInWith('github', first)
    const login = await begin('login')
    const page = await roundTrip(login, 'github', newAccount({ email: first.email }))
    expect(page.location).toBe(login.hosted_url)
    expect(await messagesAt(page)).toEqual([4000027])
    expect(await accountsOf(holder)).toEqual([named('github', first)])
  })

  test.each(['holder has another', 'stranger has it'])('if meanwhile its %s', async (what) => {
    const { account, email, holder, flow } = await asked()
    const isHolder = what.startsWith('holder')
    const { session_token } = isHolder
      ? await social.signIn(email)
      : await social.register(`meanwhile-${account.id}@example.com`)
    const connected = isHolder ? newAccount() : account
    await social.connect(session_token, 'github', connected)
    expect((await byPassword(flow, email)).ids).toContain(4000027)
    expect(await accountsOf(holder)).toEqual(isHolder ? [named('github', connected)] : [])
  })

  test('if its holder is inactive', async () => {
    const { email, holder, flow } = await asked({ fields: { state: 'inactive' } })
    expect((await byPassword(flow, email)).ids).toContain(4010011)
    expect(await accountsOf(holder)).toEqual([])
  })

  test('in another browser, and not after the form has expired', async () => {
    const { email, holder, page, flow } = await asked()
    expect((await newBrowser(social.app).visit(flow.hosted_url)).status).toBe(403)
    expect(await read(social, flow.hosted_url)).toMatchObject(refuses(403, 'other_browser'))
    social.clock.jump(HOUR)
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
    const isIn = ({ location }: Back) => location.startsWith(RETURN_TO)
    const { identity } = await exchange(pages.find(isIn) as Back)
    expect(await messagesAt(pages.find((page) => !isIn(page)) as Back)).toEqual([1010016])
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

  test('replaces an unconfirmed account, whose session waits to be exchanged', async () => {
    const victim = newAccount()
    const own = newAccount({ email: victim.email, isVerified: false })
    const { identity, session_token } = await signInWith('github', own)
    const ready = await roundTrip(await begin('login'), 'github', own)
    const { identity: now } = await signInWith('github', victim)
    expect(now.id).toBe(identity.id)
    expect((await social.whoami(session_token)).status).toBe(401)
    expect((await social.tryExchange(ready)).status).toBe(400)
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
    expect(isVerified(await social.readIdentity(identity))).toBe(false)
    expect(eventTypesOf(identity)).toEqual(['identity.created', 'identity.state_changed'])
  })
})
