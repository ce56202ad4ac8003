import { afterAll, describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { HOUR, type Json, mintToken, TOKENS } from '../../fixture.ts'
import { nextCode, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import {
  addressOf,
  changeAddress,
  credentialsOf,
  emailOf,
  MAIL_GAP_MS,
  makeRecoveryCodes,
  nextFlowIn,
  person,
  read,
  recover,
  sessionsOf,
  tokenIn,
  unproven,
  waiting,
  whose,
} from './code-fixture.ts'
import { messageIds, nodeNames, PASSWORD } from './fixture.ts'
import { bootSocial, startFakes, UNTRUSTED } from './social-fixture.ts'

/**
 * Five ways to be in an account before the person it is for (arXiv 2205.10174). In each, Mallory
 * creates an account with the address of Vera, who takes it for her own later. However she shows
 * that the address is hers, nothing of Mallory's may be left.
 */
const fakes = await startFakes()
const fixture = await bootSocial(fakes)
await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
afterAll(async () => {
  await fixture.stop()
  await fakes.stop()
})

const MALLORYS = PASSWORD
const VERAS = 'only vera knows this one'
const TO_VERAS = { method: 'password', password: VERAS }

/** Vera at the providers that have verified her address. */
type Vera = Account & { email: string }
const newVera = (): Vera => newAccount({ name: 'Vera' }) as Vera

/** Providers that verify no address, or not all. */
const CARELESS: ProviderName[] = [...UNTRUSTED, 'google', 'gitlab', 'discord']

/** A browser at the page of a new flow. */
async function browserAt(kind: string, headers: Record<string, string> = {}) {
  const flow = await fixture.begin(kind, headers)
  const browser = newBrowser(fixture.app)
  return { browser, page: await browser.visit(flow.hosted_url) }
}

/** A browser that comes back from a provider. */
async function comeBack(provider: ProviderName, account: Account) {
  const { browser, page } = await browserAt('login')
  return { browser, back: await fixture.press(browser, page, provider, account) }
}

/** Mallory signs up as Vera, who ignores the email about it. */
async function malloryTakes({ email }: Vera) {
  const body = await fixture.register(email, MALLORYS)
  const { url } = nextFlowIn({ body }, 'show_verification_ui')
  const { body: flow } = await read(fixture, { ui: { action: url } })
  fixture.clock.jump(MAIL_GAP_MS)
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
const ARRIVALS: [string, (vera: Vera) => Promise<string>][] = [
  ['recovers it by email', ({ email }) => recover(fixture, email)],
  [
    'signs in with an emailed code',
    async ({ email }) => {
      const { flow, code } = await waiting(fixture, 'login', email)
      return (await fixture.sendWell(flow, { code })).session_token
    },
  ],
  [
    'signs in with a provider that verifies addresses',
    async (vera) => (await fixture.comeWith('google', vera)).session_token,
  ],
  [
    'signs up with a provider that verifies addresses',
    async (vera) => (await fixture.comeWith('github', vera, 'registration')).session_token,
  ],
]

/** Vera has the account to herself: her session is good, and only her password is. */
async function expectHers(token: string, vera: Vera, identity: Json) {
  expect(await whose(fixture, token)).toBe(identity.id)
  expect(await addressOf(fixture, identity)).toMatchObject({ value: vera.email, verified: true })
  expect(await fixture.change(token, TO_VERAS)).toMatchObject({ status: 200 })
  expect((await fixture.tryPassword(vera.email, VERAS)).status).toBe(200)
  expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(422)
}

describe.each(ARRIVALS)('if Vera %s, Mallory loses', (_, arrive) => {
  test('1. the password, and 2. all sessions', async () => {
    const vera = newVera()
    const { token, identity } = await malloryTakes(vera)
    const { session_token: second } = await fixture.signIn(vera.email, MALLORYS)
    const settings = await fixture.settings(token)
    const mallory = newBrowser(fixture.app)
    const page = await mallory.visit((await fixture.settings(token)).hosted_url)
    expect(page.status).toBe(200)
    const toExchange = await newBrowser(fixture.app).signIn(
      (await fixture.begin('login')).hosted_url,
      vera.email,
      MALLORYS,
    )
    const { access_token } = await mintToken(fixture.app, fixture.key, { subject: identity.id })
    const introspect = async () =>
      (await fixture.api.post(`${TOKENS}/introspect`, { access_token })).body
    expect(await introspect()).toMatchObject({ active: true, subject: identity.id })

    const hers = await arrive(vera)

    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(422)
    expect(await credentialsOf(fixture, identity)).not.toContain('password')
    for (const old of [token, second]) {
      expect(await whose(fixture, old)).toBe(401)
      expect((await fixture.ask('settings', withToken(old))).status).toBe(401)
      expect((await fixture.ask('login', withToken(old), '?refresh=true')).status).toBe(401)
    }
    const change = { method: 'password', password: 'again mine, all' }
    expect((await fixture.send(settings, change, withToken(token))).status).toBe(401)
    const { password } = change
    expect((await mallory.press(page, ['method', 'password'], { password })).status).toBe(401)
    const { searchParams } = new URL(toExchange.location)
    const late = await fixture.tryExchange(searchParams.get('flow'), searchParams.get('code'))
    expect(late).toMatchObject({ status: 400, body: { error: expect.stringMatching(/ended/) } })
    expect(await introspect()).toEqual({ active: false })
    await expectHers(hers, vera, identity)
  })

  test('2. a sign-in that lacks its second factor, and 3. authenticator and recovery codes', async () => {
    const vera = newVera()
    const { token, identity } = await malloryTakes(vera)
    const secret = await fixture.enrol(token)
    await makeRecoveryCodes(fixture, token)
    const { session_token: half } = await fixture.signIn(vera.email, MALLORYS)
    const login = await fixture.start('login', withToken(half), '?aal=aal2')
    fixture.clock.jump(MAIL_GAP_MS)

    const hers = await arrive(vera)

    const late = await fixture.send(login, { totp_code: nextCode(fixture, secret) })
    expect(late.status).not.toBe(200)
    expect(await whose(fixture, half)).toBe(401)
    const left = await credentialsOf(fixture, identity)
    for (const type of ['totp', 'lookup_secret', 'password']) expect(left).not.toContain(type)
    await expectHers(hers, vera, identity)
    expect((await fixture.ask('login', withToken(hers), '?aal=aal2')).status).toBe(400)
    const offered = nodeNames(await fixture.settings(hers))
    expect(offered).not.toContain('totp:totp_unlink=true')
    expect(offered).toContain('totp:totp_secret_key')
  })

  test('3. connected accounts, also one that is about to be connected', async () => {
    const vera = newVera()
    const [connected, connecting] = [newAccount({ name: 'M1' }), newAccount({ name: 'M2' })]
    const { token, identity } = await malloryTakes(vera)
    const first = await browserAt('settings', withToken(token))
    await fixture.press(first.browser, first.page, 'gitlab', connected, { button: 'link' })
    expect(await fixture.accountsOf(identity)).toHaveLength(1)
    const { browser, page } = await browserAt('settings', withToken(token))
    const away = await browser.press(page, ['link', 'discord'])
    const arrival = await fixture.visit(away.location, 'discord', connecting)

    const hers = await arrive(vera)
    expect((await fixture.arrive('discord', arrival, browser)).status).toBeLessThan(500)

    expect(JSON.stringify(await fixture.accountsOf(identity))).not.toMatch(/gitlab|discord/)
    for (const [provider, account] of [
      ['gitlab', connected],
      ['discord', connecting],
    ] as const) {
      const again = await fixture.comeWith(provider, account)
      expect(again.session.identity.id).not.toBe(identity.id)
      expect(again.session.identity.traits.email).toBe(account.email)
    }
    await expectHers(hers, vera, identity)
  })

  test('4. a waiting change of the address, its link and its successors', async () => {
    const vera = newVera()
    const { token, identity } = await malloryTakes(vera)
    const email = newAccount().email as string
    const flow = await changeAddress(fixture as never, token, email)
    const code = fixture.codeFor(email)
    fixture.clock.jump(MAIL_GAP_MS)

    const hers = await arrive(vera)

    expect((await fixture.send(flow, { code })).status).toBe(422)
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(`${flow.ui.action}&code=${code}`)
    expect((await browser.press(page, ['method', 'code'])).status).toBe(422)
    expect((await fixture.send(flow, { email })).status).toBe(422)
    await expectHers(hers, vera, identity)
    fixture.clock.jump(HOUR)
    const { body } = await fixture.send(flow, { email })
    const action = flow.ui.action.replace(flow.id, body.use_flow_id)
    const { body: next } = await read(fixture, { ui: { action } })
    await fixture.send(next, { email })
    expect(fixture.sentTo(email)).toHaveLength(1)
    expect(await emailOf(fixture, identity)).toBe(vera.email)
  })
})

describe('1. an account with a password', () => {
  test('is not merged once its address is verified: its owner has to sign in', async () => {
    const vera = newVera()
    const { identity, flow } = await malloryTakes(vera)
    // Mallory has brought her to enter the code in his flow.
    await fixture.sendWell(flow, { code: fixture.codeFor(vera.email) })
    const { browser, back } = await comeBack('google', vera)
    const asking = await browser.follow(back)
    expect(asking.text).toContain(`An account with ${vera.email} already`)
    expect(asking.text).toContain('Sign in')
    expect(await fixture.accountsOf(identity)).toEqual([])
    expect(await sessionsOf(fixture, identity)).toHaveLength(1)
  })
})

describe('1. the email about an account with a password, which Vera opens', () => {
  /** She presses the button in a browser that Mallory never had. */
  async function veraOpens({ email }: Vera) {
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(fixture.linkFor(email))
    const choice = await browser.follow(await browser.press(page, ['method', 'code']))
    return { browser, choice }
  }

  test.each([
    ['a sign-up in a browser', malloryTakesInBrowser],
    ['a sign-up by a program', malloryTakes],
    [
      'a resend by the tenant',
      async (vera: Vera) => {
        const { identity } = await malloryTakes(vera)
        const path = `/v1/gate/identities/${identity.id}/resend-verification`
        expect((await fixture.api.post(path)).status).toBe(202)
        return { identity }
      },
    ],
  ])('after %s, verifies nothing before someone signs in', async (_, take) => {
    const vera = newVera()
    const { identity } = await take(vera)
    const { browser, choice } = await veraOpens(vera)
    const buttons = choice.forms.flatMap((form) => form.buttons.map(([, value]) => value))
    expect(buttons).toEqual(['sign_in', 'recovery'])
    const signIn = await browser.follow(await browser.press(choice, ['confirm_by', 'sign_in']))
    const wrong = await browser.press(signIn, ['method', 'password'], { password: VERAS })
    expect(wrong.status).toBe(422)
    expect(await addressOf(fixture, identity)).toMatchObject({ verified: false })
    // The password shows that the person has created the account.
    const done = await browser.press(signIn, ['method', 'password'], { password: MALLORYS })
    expect((await browser.follow(done)).text).toContain('Your email address is verified')
    expect(await addressOf(fixture, identity)).toMatchObject({ verified: true })
  })

  test('lets her take the account over, in one step', async () => {
    const vera = newVera()
    const { browser: mallorys, identity } = await malloryTakesInBrowser(vera)
    const { session_token: token } = await fixture.signIn(vera.email, MALLORYS)
    const { browser, choice } = await veraOpens(vera)
    expect((await mallorys.visit(choice.forms[0]?.action ?? '')).status).toBe(403)
    const settings = await browser.follow(await browser.press(choice, ['confirm_by', 'recovery']))
    expect(await whose(fixture, token)).toBe(401)
    expect(await credentialsOf(fixture, identity)).toEqual([])
    expect(await addressOf(fixture, identity)).toMatchObject({ verified: true })
    const saved = await browser.press(settings, ['method', 'password'], { password: VERAS })
    expect(saved.status).toBe(303)
    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(422)
    expect((await fixture.tryPassword(vera.email, VERAS)).status).toBe(200)
  })

  test.each(['code', 'link'])(
    'needs the session of the holder, or takes over, by a program with the %s',
    async (how) => {
      const vera = newVera()
      const { token, identity } = await malloryTakes(vera)
      const { flow: own, code: typed } = await waiting(fixture, 'verification', vera.email)
      const link = fixture.linkFor(vera.email)
      const linked = (await read(fixture, { ui: { action: link } })).body
      const [flow, code] =
        how === 'code' ? [own, typed] : [linked, new URL(link).searchParams.get('code')]
      const other = await fixture.register(newVera().email)
      for (const shown of [undefined, other.session_token, 'gat_st_no']) {
        const refused = await fixture.send(flow, { code }, shown ? withToken(shown) : {})
        expect([refused.status, ...messageIds(refused.body)]).toContain(4900014)
        expect(refused.status).toBe(422)
      }
      const refused = await fixture.submit('verification', { flow: flow.id, code })
      expect(messageIds(refused.body)).toContain(4900014)
      expect(await addressOf(fixture, identity)).toMatchObject({ verified: false })

      const done = await fixture.send(flow, { code, confirm_by: 'recovery' })
      expect(done).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
      expect(await whose(fixture, token)).toBe(401)
      await expectHers(tokenIn(done), vera, identity)
    },
  )

  test('is confirmed with one press in the browser that signed up, which keeps the password', async () => {
    const vera = newVera()
    const { browser, identity } = await malloryTakesInBrowser(vera)
    const page = await browser.visit(fixture.linkFor(vera.email))
    const done = await browser.follow(await browser.press(page, ['method', 'code']))
    expect(done.text).toContain('Your email address is verified')
    expect(await addressOf(fixture, identity)).toMatchObject({ verified: true })
    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(200)
  })
})

describe("5. a provider that verifies no address, where Mallory has Vera's", () => {
  /** His account there claims to have her address, as verified where that counts for nothing. */
  const malloryAs = ({ email }: Vera, provider: ProviderName) =>
    newAccount({ email, isVerified: UNTRUSTED.includes(provider), name: 'Mallory' })

  /** The flow that a sign-in with his account ends in. */
  async function turnedAway(kind: string, provider: ProviderName, mallory: Account) {
    const page = await fixture.travel(await fixture.begin(kind), provider, mallory)
    const flow = await fixture.flowAt(page)
    expect(messageIds(flow)).toContain(4900005)
    return flow
  }

  test.each(CARELESS)(
    '%s does not open her account, nor is it connected when she signs in',
    async (provider) => {
      for (const make of [person, unproven]) {
        const vera = newVera()
        const mallory = malloryAs(vera, provider)
        const identity = await make(fixture, vera.email, { password: VERAS })
        const flow = await turnedAway('login', provider, mallory)
        if (make === person) await turnedAway('registration', provider, mallory)
        expect(await sessionsOf(fixture, identity)).toEqual([])
        // Vera signs in on that very page.
        const fields = { method: 'password', identifier: vera.email, password: VERAS }
        expect((await fixture.send(flow, fields)).status).toBe(200)
        expect(await fixture.accountsOf(identity)).toEqual([])
      }
    },
  )

  /** Each provider with one of the ways in which Vera arrives. */
  const JOURNEYS = CARELESS.map((provider, at) => {
    const [how, arrive] = ARRIVALS[at % ARRIVALS.length] as (typeof ARRIVALS)[0]
    return [provider, how, arrive] as const
  })

  test.each(JOURNEYS)(
    '%s leads to an account that she makes her own: she %s',
    async (provider, _, arrive) => {
      const vera = newVera()
      const mallory = malloryAs(vera, provider)
      const { session, session_token: mallorys } = await fixture.comeWith(provider, mallory)
      const { identity } = session
      expect(identity.verifiable_addresses).toMatchObject([{ value: vera.email, verified: false }])
      fixture.clock.jump(MAIL_GAP_MS)
      const hers = await arrive(vera)
      expect(await whose(fixture, mallorys)).toBe(401)
      await expectHers(hers, vera, identity)
      await turnedAway('login', provider, mallory)
      expect((await fixture.accountsOf(identity)).join()).not.toContain(`#${mallory.id}`)
    },
  )

  test('is like one without an address, for which Mallory types hers', async () => {
    const [vera, known] = [newVera(), newVera()]
    const there = await person(fixture, known.email)
    const { browser, back } = await comeBack('google', newAccount({ email: null, name: 'Mallory' }))
    const asking = await browser.follow(back)
    const type = (email: string) =>
      browser.press(asking, ['provider', 'google'], { 'traits.email': email })
    const refused = await type(known.email)
    expect(refused.status).toBe(422)
    expect(refused.text).toContain('An account with this email address already exists')
    expect(await fixture.accountsOf(there)).toEqual([])
    expect(await sessionsOf(fixture, there)).toEqual([])

    const { identity, session_token: mallorys } = await fixture.exchange(await type(vera.email))
    expect(identity.verifiable_addresses).toMatchObject([{ value: vera.email, verified: false }])
    fixture.clock.jump(MAIL_GAP_MS)
    const hers = await recover(fixture, vera.email)
    expect(await whose(fixture, mallorys)).toBe(401)
    expect(await fixture.accountsOf(identity)).toEqual([])
    await expectHers(hers, vera, identity)
  })
})
