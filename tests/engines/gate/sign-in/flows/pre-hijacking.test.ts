import { describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { HOUR, type Json, mintToken, TOKENS } from '../../fixture.ts'
import { nextCode, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import * as flows from './code-fixture.ts'
import { MAIL_GAP_MS, nextFlowIn, person, tokenIn, unproven } from './code-fixture.ts'
import { messageIds, PASSWORD } from './fixture.ts'
import { linking, UNTRUSTED, useSocial } from './social-fixture.ts'

/**
 * Five ways to be in an account before the person it is for (arXiv 2205.10174). In each, Mallory
 * creates an account with the address of Vera, who takes it for her own later. However she shows
 * that the address is hers, nothing of Mallory's may be left.
 */
const fixture = await useSocial()
await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
const { app, begin, browserAt, clock, send, signInWith, tryPassword } = fixture

const MALLORYS = PASSWORD
const VERAS = 'only vera knows this one'

/** Vera at the providers that have verified her address. */
type Vera = Account & { email: string }
const newVera = (): Vera => newAccount({ name: 'Vera' }) as Vera

/** Mallory signs up as Vera, who ignores the email about it. */
async function malloryTakes({ email }: Vera) {
  const body = await fixture.register(email, MALLORYS)
  const { url } = nextFlowIn({ body }, 'show_verification_ui')
  const { body: flow } = await flows.read(fixture, { ui: { action: url } })
  clock.jump(MAIL_GAP_MS)
  return { token: body.session_token as string, identity: body.identity as Json, flow }
}

/** The same on a page, which sends the email of a sign-up in a browser. */
async function malloryTakesInBrowser({ email }: Vera) {
  const { browser, page } = await browserAt('registration')
  const fields = { 'traits.email': email, password: MALLORYS }
  await browser.press(page, ['method', 'password'], fields)
  const { body } = await fixture.api.get(`/v1/gate/identities?email=${email}`)
  return { browser, identity: body.data[0] as Json }
}

/** How Vera may come to the account: the token of her session. */
const ARRIVALS: Record<string, (vera: Vera) => Promise<string>> = {
  'recovers it by email': ({ email }) => flows.recover(fixture, email),
  'signs in with an emailed code': async ({ email }) => {
    const { flow, code } = await flows.waiting(fixture, 'login', email)
    return (await fixture.sendWell(flow, { code })).session_token
  },
  'signs in with a provider that verifies addresses': async (vera) =>
    (await signInWith('google', vera)).session_token,
  'signs up with a provider that verifies addresses': async (vera) =>
    (await signInWith('github', vera, 'registration')).session_token,
}

/** Vera has the account to herself: her session is good, and only her password is. */
async function expectHers(token: string, vera: Vera, identity: Json) {
  expect(await flows.whose(fixture, token)).toBe(identity.id)
  expect(await flows.addressOf(fixture, identity)).toMatchObject({
    value: vera.email,
    verified: true,
  })
  const changed = await fixture.change(token, { method: 'password', password: VERAS })
  expect(changed).toMatchObject({ status: 200 })
  expect((await tryPassword(vera.email, VERAS)).status).toBe(200)
  expect((await tryPassword(vera.email, MALLORYS)).status).toBe(422)
}

test.each(Object.entries(ARRIVALS))('If Vera %s, Mallory keeps nothing', async (_, arrive) => {
  const vera = newVera()
  const { token, identity } = await malloryTakes(vera)
  const { session_token: second } = await fixture.signIn(vera.email, MALLORYS)
  const settings = await fixture.settings(token)
  const open = await browserAt('settings', withToken(token))
  const away = await newBrowser(app).signIn((await begin('login')).hosted_url, vera.email, MALLORYS)
  const { access_token } = await mintToken(app, fixture.key, { subject: identity.id })
  const introspect = async () =>
    (await fixture.api.post(`${TOKENS}/introspect`, { access_token })).body
  expect(await introspect()).toMatchObject({ active: true, subject: identity.id })
  // Accounts at providers: one connected, and others on their way.
  const own = { spotify: newAccount(), facebook: newAccount(), slack: newAccount() }
  await fixture.connect(token, 'spotify', own.spotify)
  const early = await begin('settings', withToken(token))
  const by = linking('facebook', token)
  const arrival = await fixture.arrivalFrom(early, 'facebook', own.facebook, by)
  const ready = await begin('settings', withToken(token))
  const atApp = await fixture.roundTrip(ready, 'slack', own.slack, linking('slack', token))
  const email = newAccount().email as string
  const change = await flows.changeAddress(fixture, token, email)
  const code = fixture.codeFor(email)
  const secret = await fixture.enrol(token)
  await flows.makeRecoveryCodes(fixture, token)
  const { session_token: half } = await fixture.signIn(vera.email, MALLORYS)
  const factor = await fixture.start('login', withToken(half), '?aal=aal2')
  clock.jump(MAIL_GAP_MS)
  const all = ['lookup_secret', 'oidc', 'password', 'totp']
  expect(await flows.credentialsOf(fixture, identity)).toEqual(all)

  const hers = await arrive(vera)

  expect((await tryPassword(vera.email, MALLORYS)).status).toBe(422)
  const left = await flows.credentialsOf(fixture, identity)
  expect(left.filter((type) => type !== 'oidc')).toEqual([])
  for (const old of [token, second, half]) {
    expect(await flows.whose(fixture, old)).toBe(401)
    expect((await fixture.ask('settings', withToken(old))).status).toBe(401)
    expect((await fixture.ask('login', withToken(old), '?refresh=true')).status).toBe(401)
  }
  const form = { method: 'password', password: 'again mine, all' }
  expect((await send(settings, form, withToken(token))).status).toBe(401)
  const onPage = { password: form.password }
  expect((await open.browser.press(open.page, ['method', 'password'], onPage)).status).toBe(401)
  const ended = { status: 400, body: { error: expect.stringMatching(/ended/) } }
  expect(await fixture.tryExchange(away)).toMatchObject(ended)
  expect(await introspect()).toEqual({ active: false })
  expect((await send(factor, { totp_code: nextCode(fixture, secret) })).status).not.toBe(200)

  // A link could lead Vera to finish, with her own token, what Mallory began.
  const back = await fixture.callback('facebook', arrival)
  for (const by of [token, hers]) {
    if (back.status === 303)
      expect((await fixture.finishLink(early, back, by)).status).toBeGreaterThanOrEqual(400)
    expect((await fixture.finishLink(ready, atApp, by)).status).toBeGreaterThanOrEqual(400)
  }
  const accounts = (await fixture.accountsOf(identity)).join()
  for (const [provider, account] of Object.entries(own)) {
    expect(accounts).not.toContain(provider)
    const again = await signInWith(provider as ProviderName, account)
    expect(again.session.identity.traits.email).toBe(account.email)
  }

  expect((await send(change, { code })).status).toBe(422)
  const browser = newBrowser(app)
  const page = await browser.visit(`${change.ui.action}&code=${code}`)
  expect((await browser.press(page, ['method', 'code'])).status).toBe(422)
  expect((await send(change, { email })).status).toBe(422)
  await expectHers(hers, vera, identity)
  clock.jump(HOUR)
  const { body } = await send(change, { email })
  const action = change.ui.action.replace(change.id, body.use_flow_id)
  const { body: next } = await flows.read(fixture, { ui: { action } })
  await send(next, { email })
  expect(fixture.sentTo(email)).toHaveLength(1)
  expect(await flows.emailOf(fixture, identity)).toBe(vera.email)
})

test('An account with a password is not merged once its address is verified', async () => {
  const vera = newVera()
  const { identity, flow } = await malloryTakes(vera)
  // Mallory has brought her to enter the code in his flow.
  await fixture.sendWell(flow, { code: fixture.codeFor(vera.email) })
  const at = await browserAt('login')
  const asking = await at.browser.follow(await fixture.pressProvider(at, 'google', vera))
  expect(asking.text).toContain(`An account with ${vera.email} already`)
  expect(await fixture.accountsOf(identity)).toEqual([])
  expect(await flows.sessionsOf(fixture, identity)).toHaveLength(1)
})

describe('The email about an account with a password, which Vera opens,', () => {
  const verified = async (identity: Json) => (await flows.addressOf(fixture, identity)).verified

  /** She presses the button in a browser that Mallory never had. */
  async function veraOpens({ email }: Vera, browser = newBrowser(app)) {
    const page = await browser.visit(fixture.linkFor(email))
    return { browser, choice: await browser.follow(await browser.press(page, ['method', 'code'])) }
  }

  async function malloryResends(vera: Vera) {
    const { identity } = await malloryTakes(vera)
    const path = `/v1/gate/identities/${identity.id}/resend-verification`
    expect((await fixture.api.post(path)).status).toBe(202)
    return { identity }
  }

  test.each([
    ['a sign-up in a browser', malloryTakesInBrowser],
    ['a sign-up by a program', malloryTakes],
    ['a resend by the tenant', malloryResends],
  ])('after %s, verifies nothing before someone signs in', async (_, take) => {
    const vera = newVera()
    const { identity } = await take(vera)
    const { browser, choice } = await veraOpens(vera)
    const buttons = choice.forms.flatMap((form) => form.buttons.map(([, value]) => value))
    expect(buttons).toEqual(['sign_in', 'recovery'])
    const signIn = await browser.follow(await browser.press(choice, ['confirm_by', 'sign_in']))
    const press = (password: string) => browser.press(signIn, ['method', 'password'], { password })
    expect((await press(VERAS)).status).toBe(422)
    expect(await verified(identity)).toBe(false)
    // The password shows that the person has created the account.
    const done = await browser.follow(await press(MALLORYS))
    expect(done.text).toContain('Your email address is verified')
    expect(await verified(identity)).toBe(true)
  })

  test('lets her take the account over, in one step', async () => {
    const vera = newVera()
    const { browser: mallorys, identity } = await malloryTakesInBrowser(vera)
    const { session_token: token } = await fixture.signIn(vera.email, MALLORYS)
    const { browser, choice } = await veraOpens(vera)
    expect((await mallorys.visit(choice.forms[0]?.action ?? '')).status).toBe(403)
    const settings = await browser.follow(await browser.press(choice, ['confirm_by', 'recovery']))
    expect(await flows.whose(fixture, token)).toBe(401)
    expect(await flows.credentialsOf(fixture, identity)).toEqual([])
    expect(await verified(identity)).toBe(true)
    const saved = await browser.press(settings, ['method', 'password'], { password: VERAS })
    expect(saved.status).toBe(303)
    expect((await tryPassword(vera.email, MALLORYS)).status).toBe(422)
    expect((await tryPassword(vera.email, VERAS)).status).toBe(200)
  })

  test.each(['code', 'link'])('needs the session of its holder, or takes over: %s', async (how) => {
    const vera = newVera()
    const { token, identity } = await malloryTakes(vera)
    const own = await flows.waiting(fixture, 'verification', vera.email)
    const action = fixture.linkFor(vera.email)
    const linked = {
      flow: (await flows.read(fixture, { ui: { action } })).body,
      code: new URL(action).searchParams.get('code'),
    }
    const { flow, code } = how === 'code' ? own : linked
    const other = await fixture.register(newVera().email)
    for (const refused of [
      await send(flow, { code }),
      await send(flow, { code }, withToken(other.session_token)),
      await send(flow, { code }, withToken('gat_st_no')),
      await fixture.submit('verification', { flow: flow.id, code }),
    ])
      expect([refused.status, messageIds(refused.body).includes(4900014)]).toEqual([422, true])
    expect(await verified(identity)).toBe(false)
    const done = await send(flow, { code, confirm_by: 'recovery' })
    expect(done).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
    expect(await flows.whose(fixture, token)).toBe(401)
    await expectHers(tokenIn(done), vera, identity)
  })

  test('is confirmed with one press in the browser that signed up, which keeps the password', async () => {
    const vera = newVera()
    const { browser, identity } = await malloryTakesInBrowser(vera)
    const { choice } = await veraOpens(vera, browser)
    expect(choice.text).toContain('Your email address is verified')
    expect(await verified(identity)).toBe(true)
    expect((await tryPassword(vera.email, MALLORYS)).status).toBe(200)
  })
})

describe("Mallory's account with Vera's address at a provider that verifies none", () => {
  /** It claims to have her address, as verified where that counts for nothing. */
  const malloryAs = ({ email }: Vera, provider: ProviderName) =>
    newAccount({ email, isVerified: UNTRUSTED.includes(provider), name: 'Mallory' })

  /** The flow that a sign-in with his account ends in. */
  async function turnedAway(kind: string, provider: ProviderName, mallory: Account) {
    const flow = await begin(kind)
    const page = await fixture.roundTrip(flow, provider, mallory)
    expect(page.location).toBe(flow.hosted_url)
    const shown = await fixture.flowAt(page)
    expect(shown.ui.messages).toMatchObject([{ id: 4900005, context: { provider_id: provider } }])
    return shown
  }

  test.each<ProviderName>(['facebook', 'google', 'github'])(
    'does not open her account, nor is it connected when she signs in: %s',
    async (provider) => {
      for (const make of [person, unproven]) {
        const vera = newVera()
        const mallory = malloryAs(vera, provider)
        const identity = await make(fixture, vera.email, { password: VERAS })
        const { verified } = await flows.addressOf(fixture, identity)
        await turnedAway('registration', provider, mallory)
        const flow = await turnedAway('login', provider, mallory)
        expect(await flows.sessionsOf(fixture, identity)).toEqual([])
        expect(fixture.mailsTo(vera.email)).toEqual([])
        // Vera signs in on that very page.
        const fields = { method: 'password', identifier: vera.email, password: VERAS }
        expect((await send(flow, fields)).status).toBe(200)
        expect(await flows.credentialsOf(fixture, identity)).toEqual(['password'])
        expect(await flows.addressOf(fixture, identity)).toMatchObject({ verified })
      }
    },
  )

  test.each(Object.entries(ARRIVALS))('leads to her own account, if she %s', async (_, arrive) => {
    const vera = newVera()
    const mallory = malloryAs(vera, 'slack')
    const { session, session_token: mallorys } = await signInWith('slack', mallory)
    const { identity } = session
    expect(identity.verifiable_addresses).toMatchObject([{ value: vera.email, verified: false }])
    clock.jump(MAIL_GAP_MS)
    const hers = await arrive(vera)
    expect(await flows.whose(fixture, mallorys)).toBe(401)
    await expectHers(hers, vera, identity)
    await turnedAway('login', 'slack', mallory)
    expect((await fixture.accountsOf(identity)).join()).not.toContain(`#${mallory.id}`)
  })

  test('is like one without an address, for which Mallory types hers', async () => {
    const [vera, known] = [newVera(), newVera()]
    const there = await person(fixture, known.email)
    const at = await browserAt('login')
    const nameless = newAccount({ email: null, name: 'Mallory' })
    const asking = await at.browser.follow(await fixture.pressProvider(at, 'github', nameless))
    const type = (email: string) =>
      at.browser.press(asking, ['provider', 'github'], { 'traits.email': email })
    const refused = await type(known.email)
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('An account with this email address already exists')
    expect(await flows.sessionsOf(fixture, there)).toEqual([])

    const { identity, session_token: mallorys } = await fixture.exchange(await type(vera.email))
    clock.jump(MAIL_GAP_MS)
    const hers = await flows.recover(fixture, vera.email)
    expect(await flows.whose(fixture, mallorys)).toBe(401)
    expect(await fixture.accountsOf(identity)).toEqual([])
    await expectHers(hers, vera, identity)
  })
})
