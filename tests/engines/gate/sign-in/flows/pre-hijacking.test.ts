import { afterAll, describe, expect, test } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { type Account, newAccount } from '../../../../support/social/index.ts'
import { type Json, mintToken, TOKENS } from '../../fixture.ts'
import { nextCode, withToken } from './acts.ts'
import { newBrowser } from './browser.ts'
import {
  asked,
  credentialsOf,
  MAIL_GAP_MS,
  makeRecoveryCodes,
  nextFlowIn,
  read,
  recover,
  tokenIn,
  whose,
} from './code-fixture.ts'
import { messageIds, nodeNames, PASSWORD } from './fixture.ts'
import { bootSocial, startFakes, TRUSTED, UNTRUSTED } from './social-fixture.ts'

/**
 * Five ways to be in an account before the one it is for (arXiv 2205.10174). In each, Mallory makes
 * an account with the address of Vera, who comes later and takes it for her own. However she shows
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

/** Vera, at the providers that have checked that the address is hers. */
type Vera = Account & { email: string }
const newVera = (): Vera => newAccount({ name: 'Vera' }) as Vera

/** Providers that vouch for no address, or not for that of everybody. */
const CARELESS: ProviderName[] = [...UNTRUSTED, 'google', 'gitlab', 'discord']

/** Somebody's browser, at the page of a new flow. */
async function browserAt(kind: string, headers: Record<string, string> = {}) {
  const flow = await fixture.begin(kind, headers)
  const browser = newBrowser(fixture.app)
  return { browser, page: await browser.visit(flow.hosted_url) }
}

/** Somebody comes back from a provider, in a browser of their own. */
async function comeBack(provider: ProviderName, account: Account) {
  const { browser, page } = await browserAt('login')
  return { browser, back: await fixture.press(browser, page, provider, account) }
}

/** Mallory signs up as Vera; the mail about it goes to her, who pays no attention to it. */
async function malloryTakes({ email }: Vera) {
  const body = await fixture.register(email, MALLORYS)
  const { url } = nextFlowIn({ body }, 'show_verification_ui')
  const { body: flow } = await read(fixture, { ui: { action: url } })
  fixture.clock.jump(MAIL_GAP_MS)
  return { token: body.session_token as string, identity: body.identity as Json, flow }
}

const sessionsOf = async ({ id }: Json): Promise<Json[]> =>
  (await fixture.api.get(`/v1/gate/identities/${id}/sessions`)).body

/** How Vera may come to the account: each time the session that she has then. */
const ARRIVALS: [string, (vera: Vera) => Promise<string>][] = [
  ['recovers it by mail', ({ email }) => recover(fixture, email)],
  [
    'signs in by a code from a mail',
    async ({ email }) => {
      const flow = await asked(fixture, 'login', email)
      const { session_token } = await fixture.sendWell(flow, { code: fixture.codeFor(email) })
      return session_token
    },
  ],
  [
    'signs in with a provider that vouches for the address',
    async (vera) => (await fixture.comeWith('google', vera)).session_token,
  ],
  [
    'signs up with a provider that vouches for the address',
    async (vera) => (await fixture.comeWith('github', vera, 'registration')).session_token,
  ],
]

/** The same by pages: the mail is that of a sign-up in a browser. */
async function malloryTakesInBrowser({ email }: Vera) {
  const { browser, page } = await browserAt('registration')
  const fields = { 'traits.email': email, password: MALLORYS }
  await browser.press(page, ['method', 'password'], fields)
  const { body } = await fixture.api.get(`/v1/gate/identities?email=${email}`)
  return { browser, identity: body.data[0] as Json }
}

const addressOf = async (identity: Json): Promise<Json> =>
  (await fixture.readIdentity(identity)).verifiable_addresses[0]

/** That Vera has the account to herself: her session is good, and she can set a password. */
async function expectHers(token: string, vera: Vera, identity: Json) {
  expect(await whose(fixture, token)).toBe(identity.id)
  const [address] = (await fixture.readIdentity(identity)).verifiable_addresses
  expect(address).toMatchObject({ value: vera.email, verified: true })
  const changed = await fixture.change(token, { method: 'password', password: VERAS })
  expect(changed).toMatchObject({ status: 200, body: { state: 'success' } })
  expect((await fixture.tryPassword(vera.email, VERAS)).status).toBe(200)
}

describe.each(ARRIVALS)('1. the account with a password, which Vera %s:', (_, arrive) => {
  test("Mallory's password opens it no more", async () => {
    const vera = newVera()
    const { identity } = await malloryTakes(vera)

    const token = await arrive(vera)

    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(422)
    expect(await credentialsOf(fixture, identity)).not.toContain('password')
    await expectHers(token, vera, identity)
    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(422)
  })
})

describe('1. the account with a password, which a provider is merged with:', () => {
  test.each(TRUSTED)('Vera comes with %s, and it is hers alone', async (provider) => {
    const vera = newVera()
    const { token: mallorys, identity } = await malloryTakes(vera)

    const { session_token: token } = await fixture.comeWith(provider, vera)

    expect(await whose(fixture, mallorys)).toBe(401)
    expect(await credentialsOf(fixture, identity)).toEqual(['oidc'])
    expect(await fixture.accountsOf(identity)).toHaveLength(1)
    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(422)
    await expectHers(token, vera, identity)
  })

  test('it is not merged unasked once its address is proven: its owner has to sign in', async () => {
    const vera = newVera()
    const { identity, flow } = await malloryTakes(vera)
    // Mallory has brought her to confirm it, in the flow that was his.
    const code = fixture.codeFor(vera.email)
    await fixture.sendWell(flow, { code })

    const { browser, back } = await comeBack('google', vera)

    const asking = await browser.follow(back)
    expect(asking.text).toContain(`An account with ${vera.email} already`)
    expect(asking.text).toContain('Sign in')
    expect(await fixture.accountsOf(identity)).toEqual([])
    expect(await sessionsOf(identity)).toHaveLength(1)
  })
})

describe('1. the account with a password, whose mail Vera confirms though she never asked for it:', () => {
  /** Hers to press, in a browser that Mallory has never had. */
  async function veraOpens({ email }: Vera) {
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(fixture.linkFor(email))
    const choice = await browser.follow(await browser.press(page, ['method', 'code']))
    return { browser, choice }
  }

  test.each([
    ['by the link of a sign-up in a browser', malloryTakesInBrowser],
    ['by the link of a sign-up by a program', malloryTakes],
    [
      'by the link that the tenant has sent again',
      async (vera: Vera) => {
        const { identity } = await malloryTakes(vera)
        const path = `/v1/gate/identities/${identity.id}/resend-verification`
        expect((await fixture.api.post(path)).status).toBe(202)
        return { identity }
      },
    ],
  ])('%s: nothing is proven before somebody signs in', async (_, take) => {
    const vera = newVera()
    const { identity } = await take(vera)

    const { browser, choice } = await veraOpens(vera)

    expect(choice.forms.flatMap(({ buttons }) => buttons)).toEqual([
      ['confirm_by', 'sign_in'],
      ['confirm_by', 'recovery'],
    ])
    expect(await addressOf(identity)).toMatchObject({ verified: false })
    const signIn = await browser.follow(await browser.press(choice, ['confirm_by', 'sign_in']))
    const wrong = await browser.press(signIn, ['method', 'password'], { password: VERAS })
    expect(wrong.status).toBe(422)
    expect(await addressOf(identity)).toMatchObject({ verified: false })
    // Whoever knows the password has made the account, and only reads the mail elsewhere.
    const done = await browser.press(signIn, ['method', 'password'], { password: MALLORYS })
    expect((await browser.follow(done)).text).toContain('Your email address is verified')
    expect(await addressOf(identity)).toMatchObject({ verified: true })
  })

  test('by taking it over: what Mallory had is gone in the same step, whatever his browser does', async () => {
    const vera = newVera()
    const { browser: mallorys, identity } = await malloryTakesInBrowser(vera)
    const { session_token: token } = await fixture.signIn(vera.email, MALLORYS)

    const { browser, choice } = await veraOpens(vera)
    const choosing = choice.forms[0]?.action ?? ''
    expect((await mallorys.visit(choosing)).status).toBe(403)
    const settings = await browser.follow(await browser.press(choice, ['confirm_by', 'recovery']))

    expect(await whose(fixture, token)).toBe(401)
    expect(await credentialsOf(fixture, identity)).toEqual([])
    expect(await addressOf(identity)).toMatchObject({ verified: true })
    const fields = { password: VERAS }
    expect((await browser.press(settings, ['method', 'password'], fields)).status).toBe(303)
    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(422)
    expect((await fixture.tryPassword(vera.email, VERAS)).status).toBe(200)
  })

  test.each([
    ['by a code in a flow of her own', 'asked'],
    ['by the link, read by a program', 'linked'],
  ])('%s: a program shows the session of the holder, or takes the account over', async (_, how) => {
    const vera = newVera()
    const { token, identity } = await malloryTakes(vera)
    const own = how === 'asked' ? await asked(fixture, 'verification', vera.email) : undefined
    const link = fixture.linkFor(vera.email)
    const flow = own ?? (await read(fixture, { ui: { action: link } })).body
    const code = own ? fixture.codeFor(vera.email) : new URL(link).searchParams.get('code')
    const other = await fixture.register(newVera().email)

    for (const shown of [{}, withToken(other.session_token), withToken('gat_st_no')] as Record<
      string,
      string
    >[]) {
      const refused = await fixture.send(flow, { code }, shown)
      expect([refused.status, ...messageIds(refused.body)]).toContain(4900014)
      expect(refused.status).toBe(422)
    }
    const refused = await fixture.submit('verification', { flow: flow.id, code })
    expect(messageIds(refused.body)).toContain(4900014)
    expect(await addressOf(identity)).toMatchObject({ verified: false })

    const fields = { code, confirm_by: 'recovery' }
    const done = await fixture.send(flow, fields)
    expect(done).toMatchObject({ status: 200, body: { state: 'passed_challenge' } })
    expect(await whose(fixture, token)).toBe(401)
    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(422)
    await expectHers(tokenIn(done), vera, identity)
  })

  test('whoever signed up confirms with one press, in the same browser, and keeps the password', async () => {
    const vera = newVera()
    const { browser, identity } = await malloryTakesInBrowser(vera)

    const page = await browser.visit(fixture.linkFor(vera.email))
    const done = await browser.follow(await browser.press(page, ['method', 'code']))

    expect(done.text).toContain('Your email address is verified')
    expect(await addressOf(identity)).toMatchObject({ verified: true })
    expect((await fixture.tryPassword(vera.email, MALLORYS)).status).toBe(200)
  })
})

describe.each(ARRIVALS)('2. the session that goes on, while Vera %s:', (_, arrive) => {
  test('every session of Mallory is over', async () => {
    const vera = newVera()
    const { token, identity } = await malloryTakes(vera)
    const { session_token: second } = await fixture.signIn(vera.email, MALLORYS)
    const settings = await fixture.settings(token)

    const hers = await arrive(vera)

    for (const old of [token, second]) {
      expect(await whose(fixture, old)).toBe(401)
      expect((await fixture.ask('settings', withToken(old))).status).toBe(401)
      expect((await fixture.ask('login', withToken(old), '?refresh=true')).status).toBe(401)
    }
    const change = { method: 'password', password: MALLORYS }
    expect((await fixture.send(settings, change, withToken(token))).status).toBe(401)
    await expectHers(hers, vera, identity)
  })

  test('so is the one in a browser that has the settings open', async () => {
    const vera = newVera()
    const { token } = await malloryTakes(vera)
    const settings = await fixture.settings(token)
    const mallory = newBrowser(fixture.app)
    const page = await mallory.visit(settings.hosted_url)
    expect(page.status).toBe(200)

    const hers = await arrive(vera)

    const sent = await mallory.press(page, ['method', 'password'], { password: 'again mine, all' })
    expect(sent.status).toBe(401)
    expect((await mallory.visit(settings.hosted_url)).status).toBe(401)
    expect(await whose(fixture, hers)).toBeString()
  })

  test('so is the one that is still to be exchanged', async () => {
    const vera = newVera()
    await malloryTakes(vera)
    const flow = await fixture.begin('login')
    const mallory = newBrowser(fixture.app)
    const back = await mallory.signIn(flow.hosted_url, vera.email, MALLORYS)
    const { searchParams } = new URL(back.location)

    await arrive(vera)

    const late = await fixture.tryExchange(searchParams.get('flow'), searchParams.get('code'))
    expect(late).toMatchObject({ status: 400, body: { error: expect.stringMatching(/ended/) } })
  })

  test('so is every access token that the tenant made for Mallory', async () => {
    const vera = newVera()
    const { identity } = await malloryTakes(vera)
    const { access_token } = await mintToken(fixture.app, fixture.key, { subject: identity.id })
    const introspect = () => fixture.api.post(`${TOKENS}/introspect`, { access_token })
    expect((await introspect()).body).toMatchObject({ active: true, subject: identity.id })

    await arrive(vera)

    expect((await introspect()).body).toEqual({ active: false })
  })

  test('so is the sign-in that lacks a second factor only', async () => {
    const vera = newVera()
    const { token } = await malloryTakes(vera)
    const secret = await fixture.enrol(token)
    const half = await fixture.signIn(vera.email, MALLORYS)
    const login = await fixture.start('login', withToken(half.session_token), '?aal=aal2')
    fixture.clock.jump(MAIL_GAP_MS)

    const hers = await arrive(vera)

    const late = await fixture.send(login, { totp_code: nextCode(fixture, secret) })
    expect(late.status).not.toBe(200)
    expect(await whose(fixture, half.session_token)).toBe(401)
    expect(await whose(fixture, hers)).toBeString()
  })
})

describe.each(ARRIVALS)('3. the identifier that came along, while Vera %s:', (_, arrive) => {
  test('what Mallory connected leads there no more', async () => {
    const vera = newVera()
    const mallory = newAccount({ name: 'Mallory' })
    const { token, identity } = await malloryTakes(vera)
    const { browser, page } = await browserAt('settings', withToken(token))
    await fixture.press(browser, page, 'gitlab', mallory, { button: 'link' })
    expect(await fixture.accountsOf(identity)).toHaveLength(1)

    const hers = await arrive(vera)

    expect(JSON.stringify(await fixture.accountsOf(identity))).not.toContain('gitlab')
    const again = await fixture.comeWith('gitlab', mallory)
    expect(again.session.identity.id).not.toBe(identity.id)
    expect(again.session.identity.traits.email).toBe(mallory.email)
    await expectHers(hers, vera, identity)
  })

  test('what Mallory is about to connect is connected to nobody', async () => {
    const vera = newVera()
    const mallory = newAccount({ name: 'Mallory' })
    const { token, identity } = await malloryTakes(vera)
    const { browser, page } = await browserAt('settings', withToken(token))
    const away = await browser.press(page, ['link', 'gitlab'])
    const arrival = await fixture.visit(away.location, 'gitlab', mallory)

    await arrive(vera)
    const back = await fixture.arrive('gitlab', arrival, browser)

    expect(back.status).toBeLessThan(500)

    expect(JSON.stringify(await fixture.accountsOf(identity))).not.toContain('gitlab')
    const again = await fixture.comeWith('gitlab', mallory)
    expect(again.session.identity.id).not.toBe(identity.id)
  })

  test('the authenticator and the recovery codes of Mallory keep nobody out, and let nobody in', async () => {
    const vera = newVera()
    const { token, identity } = await malloryTakes(vera)
    const secret = await fixture.enrol(token)
    const [code] = await makeRecoveryCodes(fixture, token)
    fixture.clock.jump(MAIL_GAP_MS)

    const hers = await arrive(vera)

    const left = await credentialsOf(fixture, identity)
    for (const type of ['totp', 'lookup_secret', 'password']) expect(left).not.toContain(type)
    await expectHers(hers, vera, identity)
    expect((await fixture.ask('login', withToken(hers), '?aal=aal2')).status).toBe(400)
    const offered = nodeNames(await fixture.settings(hers))
    expect(offered).not.toContain('totp:totp_unlink=true')
    expect(offered).toContain('totp:totp_secret_key')
    expect([secret, code]).not.toContain(undefined)
  })
})

describe.each(ARRIVALS)('4. the change of address that waits, while Vera %s:', (_, arrive) => {
  /** Mallory asks for an address of his own in the place of Vera's, and leaves it at that. */
  async function malloryAsks(vera: Vera) {
    const { token, identity } = await malloryTakes(vera)
    const email = newAccount().email as string
    const asking = await fixture.change(token, { method: 'profile', traits: { email } })
    const { url } = nextFlowIn(asking, 'show_verification_ui')
    const flow = (await read(fixture, { ui: { action: url } })).body as Json
    fixture.clock.jump(MAIL_GAP_MS)
    return { identity, flow, email, code: fixture.codeFor(email) }
  }

  const emailOf = async (identity: Json) => (await fixture.readIdentity(identity)).traits.email

  test('its code moves nothing any more', async () => {
    const vera = newVera()
    const { identity, flow, code } = await malloryAsks(vera)

    const hers = await arrive(vera)

    expect((await fixture.send(flow, { code })).status).toBe(422)
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(`${flow.ui.action}&code=${code}`)
    expect((await browser.press(page, ['method', 'code'])).status).toBe(422)
    expect(await emailOf(identity)).toBe(vera.email)
    await expectHers(hers, vera, identity)
  })

  test('nor does another one: none is sent', async () => {
    const vera = newVera()
    const { identity, flow, email } = await malloryAsks(vera)

    await arrive(vera)

    expect((await fixture.send(flow, { email })).status).toBe(422)
    expect(fixture.sentTo(email)).toHaveLength(1)
    expect((await fixture.send(flow, { code: fixture.codeFor(email) })).status).toBe(422)
    expect(await emailOf(identity)).toBe(vera.email)
  })

  test('nor does one for a flow that takes the place of the expired one', async () => {
    const vera = newVera()
    const { identity, flow, email } = await malloryAsks(vera)

    await arrive(vera)
    fixture.clock.jump(60 * 60_000)
    const { body } = await fixture.send(flow, { email })
    const action = flow.ui.action.replace(flow.id, body.use_flow_id)
    const next = (await read(fixture, { ui: { action } })).body
    await fixture.send(next, { email })

    expect(fixture.sentTo(email)).toHaveLength(1)
    expect(await emailOf(identity)).toBe(vera.email)
  })
})

describe('4. the change of address that waits, made with a session that was stolen:', () => {
  test('neither its code nor another one moves anything once Vera has recovered the account', async () => {
    const vera = newVera()
    const identity = await fixture.createIdentity({
      traits: { email: vera.email },
      verifiable_addresses: [{ value: vera.email, verified: true }],
    })
    const { token } = await fixture.openSession(identity)
    const email = newAccount().email as string
    const asking = await fixture.change(token, { method: 'profile', traits: { email } })
    const { url } = nextFlowIn(asking, 'show_verification_ui')
    const flow = (await read(fixture, { ui: { action: url } })).body
    fixture.clock.jump(MAIL_GAP_MS)

    await recover(fixture, vera.email)
    await fixture.send(flow, { email })
    await fixture.send(flow, { code: fixture.codeFor(email) })

    expect((await fixture.readIdentity(identity)).traits.email).toBe(vera.email)
  })
})

describe("5. the provider that checks no address, where Mallory has taken Vera's:", () => {
  /** Mallory's account there says that it is Vera's; nobody has looked, whatever some may say. */
  const malloryAs = ({ email }: Vera, provider: ProviderName) =>
    newAccount({ email, isVerified: UNTRUSTED.includes(provider), name: 'Mallory' })

  test.each(CARELESS)('%s does not open the account that Vera has', async (provider) => {
    const vera = newVera()
    const identity = await fixture.createIdentity({
      traits: { email: vera.email },
      credentials: { password: { config: { password: VERAS } } },
      verifiable_addresses: [{ value: vera.email, verified: true }],
    })

    for (const kind of ['login', 'registration']) {
      const page = await fixture.travel(
        await fixture.begin(kind),
        provider,
        malloryAs(vera, provider),
      )
      const flow = await fixture.flowAt(page)
      expect(messageIds(flow)).toContain(4900005)
    }

    expect(await fixture.accountsOf(identity)).toEqual([])
    expect(await sessionsOf(identity)).toEqual([])
  })

  test.each(CARELESS)('%s is connected to nothing by a sign-in that follows', async (provider) => {
    const vera = newVera()
    const identity = await fixture.createIdentity({
      traits: { email: vera.email },
      credentials: { password: { config: { password: VERAS } } },
    })
    const page = await fixture.travel(
      await fixture.begin('login'),
      provider,
      malloryAs(vera, provider),
    )
    const flow = await fixture.flowAt(page)

    // Vera is at that very page, and signs in.
    const answer = await fixture.send(flow, {
      method: 'password',
      identifier: vera.email,
      password: VERAS,
    })

    expect(answer.status).toBe(200)
    expect(await fixture.accountsOf(identity)).toEqual([])
  })

  test.each(CARELESS)('%s leads to an account that Vera makes her own', async (provider) => {
    for (const [, arrive] of ARRIVALS) {
      const vera = newVera()
      const mallory = malloryAs(vera, provider)
      const { session, session_token: mallorys } = await fixture.comeWith(provider, mallory)
      const { identity } = session
      expect(identity.verifiable_addresses).toMatchObject([{ value: vera.email, verified: false }])
      fixture.clock.jump(MAIL_GAP_MS)

      const hers = await arrive(vera)

      expect(await whose(fixture, mallorys)).toBe(401)
      await expectHers(hers, vera, identity)
      // Who comes back by that account is told to sign in as Vera would have to.
      const page = await fixture.travel(await fixture.begin('login'), provider, mallory)
      const flow = await fixture.flowAt(page)
      expect(messageIds(flow)).toContain(4900005)
      const left = await fixture.accountsOf(identity)
      expect(left.filter((name) => name.includes(`#${mallory.id}`))).toEqual([])
    }
  })

  test('an address that Mallory types in himself is as good as none', async () => {
    const vera = newVera()
    const mallory = newAccount({ email: null, name: 'Mallory' })
    const { browser, back } = await comeBack('google', mallory)
    const asking = await browser.follow(back)
    const typed = { 'traits.email': vera.email }
    const done = await browser.press(asking, ['provider', 'google'], typed)
    const { identity, session_token: mallorys } = await fixture.exchange(done)
    expect(identity.verifiable_addresses).toMatchObject([{ value: vera.email, verified: false }])
    fixture.clock.jump(MAIL_GAP_MS)

    const hers = await recover(fixture, vera.email)

    expect(await whose(fixture, mallorys)).toBe(401)
    expect(await fixture.accountsOf(identity)).toEqual([])
    await expectHers(hers, vera, identity)
  })

  test('nor does he get at an account that is there by typing its address', async () => {
    const vera = newVera()
    const identity = await fixture.createIdentity({ traits: { email: vera.email } })
    const { browser, back } = await comeBack('google', newAccount({ email: null }))
    const asking = await browser.follow(back)

    const typed = { 'traits.email': vera.email }
    const refused = await browser.press(asking, ['provider', 'google'], typed)

    expect(refused.status).toBe(422)
    expect(refused.text).toContain('An account with this email address already exists')
    expect(await fixture.accountsOf(identity)).toEqual([])
    expect(await sessionsOf(identity)).toEqual([])
  })
})
