import { afterAll, describe, expect, test } from 'bun:test'
import { HOUR, SECOND } from '../../engines/gate/fixture.ts'
import { bootFlows, totpAt } from '../../engines/gate/sign-in/flows/fixture.ts'
import { type HttpBrowser, newHttpBrowser, type Seen } from '../../support/http-browser.ts'
import { openPage } from '../../support/page.ts'
import { canRun, startShown } from '../../support/shown.ts'

/** The apps of docs/sign-in.md are run as they stand there, and people sign in with them. */

const page = await openPage('sign-in.md')

const PASSWORD = 'correct horse battery staple'
const NEW_PASSWORD = 'seven green bicycles'
/** The time between two emails to an address. */
const NEXT_MAIL = 31 * SECOND
/** How long an authenticator app shows a code. */
const STEP = 30 * SECOND

/** An app of the page, with its Gatehouse on a clock that stands still. */
async function openApp(language: string, words: string) {
  const flags = { 'limits-sign-ins-per-minute': '1000000' }
  const fixture = await bootFlows({ start: new Date().toISOString(), flags })
  await fixture.security({ mfa_enabled: true, passwordless_enabled: true })
  fixture.app.app.listen({ port: 0, hostname: '127.0.0.1' })
  const gatehouse = `http://127.0.0.1:${fixture.app.app.server?.port}`
  const [, ...scopes] =
    /--scope flows --scope sessions:write/.exec(page.text)?.[0].split(/ ?--scope /) ?? []
  const { key } = await fixture.acme.key('gate', 'live', scopes)
  const app = await startShown(page, { language, words, env: { GATEHOUSE: gatehouse, KEY: key } })
  afterAll(async () => {
    await app[Symbol.asyncDispose]()
    await fixture[Symbol.asyncDispose]()
  })
  const isAlive = async (token = '') => (await fixture.whoami(token)).status === 200
  return { fixture, url: app.url, gatehouse, isAlive }
}

let people = 0
const newEmail = () => `ada-${++people}@example.com`

const isSignedIn = ({ text }: Seen, email: string): boolean => text.includes(`Hello ${email}`)

for (const language of ['ts', 'python'].filter(canRun))
  describe(`the app with hosted pages, in ${language}`, async () => {
    const { fixture, url, gatehouse, isAlive } = await openApp(language, 'hosted_url')

    async function signUp(ada: HttpBrowser, email: string): Promise<Seen> {
      const form = await ada.follow(await ada.visit(url), '/sign-up')
      return ada.press(form, 'method=password', { 'traits.email': email, password: PASSWORD })
    }

    async function signIn(ada: HttpBrowser, identifier: string, password = PASSWORD) {
      const form = await ada.follow(await ada.visit(url), '/sign-in')
      return ada.press(form, 'method=password', { identifier, password })
    }

    test('signs up, has the email verified, and signs out', async () => {
      const [ada, email] = [newHttpBrowser(), newEmail()]
      const home = await signUp(ada, email)
      expect([home.url, isSignedIn(home, email)]).toEqual([`${url}/`, true])
      expect(home.text).toContain('verify your address')
      const verified = await ada.press(await ada.visit(fixture.linkFor(email)), 'method=code')
      const back = await ada.follow(verified, `${url}/back`)
      expect([back.url, isSignedIn(back, email)]).toEqual([`${url}/`, true])
      expect(back.text).not.toContain('verify your address')

      const token = ada.cookie('session')
      const out = await ada.press(back, 'Sign out')
      expect([out.status, isSignedIn(out, email), ada.cookie('session')]).toEqual([
        ...[200, false, undefined],
      ])
      expect(await isAlive(token)).toBe(false)
    })

    test('signs in after a wrong password', async () => {
      const [ada, email] = [newHttpBrowser(), newEmail()]
      await fixture.register(email, PASSWORD)
      const again = await signIn(ada, email, NEW_PASSWORD)
      expect([again.status, again.url.startsWith(gatehouse)]).toEqual([422, true])
      expect(again.text).toContain('Incorrect email address or password.')
      const home = await ada.press(again, 'method=password', { password: PASSWORD })
      expect([home.url, isSignedIn(home, email)]).toEqual([`${url}/`, true])
    })

    test('signs up from the sign-in page, and asks for a second factor', async () => {
      const [ada, email] = [newHttpBrowser(), newEmail()]
      const form = await ada.follow(await ada.visit(`${url}/sign-in`), '/registration?from=')
      const fields = { 'traits.email': email, password: PASSWORD }
      expect(isSignedIn(await ada.press(form, 'method=password', fields), email)).toBe(true)

      const secret = await fixture.enrol(ada.cookie('session') as string)
      const home = await ada.visit(url)
      expect(isSignedIn(home, email)).toBe(true)
      await ada.press(home, 'Sign out')
      const second = await signIn(ada, email)
      expect([isSignedIn(second, email), ada.cookie('session')]).toEqual([false, undefined])
      fixture.clock.jump(STEP)
      const totp_code = totpAt(secret, fixture.clock.now())
      const signedIn = await ada.press(second, 'method=totp', { totp_code })
      expect([signedIn.url, isSignedIn(signedIn, email)]).toEqual([`${url}/`, true])
    })

    test('leads to the settings and back, or to the sign-in', async () => {
      const [ada, email] = [newHttpBrowser(), newEmail()]
      const settings = await ada.follow(await signUp(ada, email), '/settings')
      const changed = await ada.press(settings, 'method=password', { password: NEW_PASSWORD })
      const home = await ada.follow(changed, `${url}/back`)
      expect([home.url, isSignedIn(home, email)]).toEqual([`${url}/`, true])
      await ada.press(home, 'Sign out')
      expect((await signIn(ada, email)).status).toBe(422)
      expect(isSignedIn(await signIn(ada, email, NEW_PASSWORD), email)).toBe(true)

      const stranger = newHttpBrowser()
      await stranger.visit(`${url}/settings`)
      expect(stranger.steps.slice(0, 2)).toEqual([`${url}/settings`, `${url}/sign-in`])
    })

    test("doesn't sign a browser in with a code of another browser", async () => {
      const email = newEmail()
      const ada = newHttpBrowser()
      const mallory = newHttpBrowser({ stopsBefore: `${url}/back` })
      const trap = await signUp(mallory, email)
      expect(trap.url).toContain('code=')

      expect((await ada.visit(trap.url)).status).toBe(403)
      await ada.visit(`${url}/sign-in`)
      expect((await ada.visit(trap.url)).status).toBe(403)
      expect(isSignedIn(await ada.visit(url), email)).toBe(false)
      expect(isSignedIn(await mallory.visit(trap.url), email)).toBe(true)
    })

    test('escapes email addresses', async () => {
      const email = `a&'${newEmail()}`
      const home = await signUp(newHttpBrowser(), email)
      expect(isSignedIn(home, email)).toBe(true)
      expect(home.html).not.toContain(email)
    })
  })

describe('the app with its own forms', async () => {
  const { fixture, url, isAlive } = await openApp('ts', 'Map.groupBy')

  async function signUp(ada: HttpBrowser, email: string): Promise<Seen> {
    const form = await ada.visit(`${url}/registration`)
    return ada.press(form, 'method=password', { 'traits.email': email, password: PASSWORD })
  }

  async function signIn(ada: HttpBrowser, identifier: string, password = PASSWORD): Promise<Seen> {
    const form = await ada.visit(`${url}/login`)
    return ada.press(form, 'method=password', { identifier, password })
  }

  const signOut = async (ada: HttpBrowser) => ada.press(await ada.visit(url), 'Sign out')
  const settings = (ada: HttpBrowser) => ada.visit(`${url}/settings`)

  test('shows what is wrong with a sign-up, has the email verified, and signs out', async () => {
    const [ada, email] = [newHttpBrowser(), newEmail()]
    const form = await ada.visit(`${url}/registration`)
    const short = { 'traits.email': email, password: 'short' }
    const wrong = await ada.press(form, 'method=password', short)
    expect([wrong.status, wrong.forms[0]?.values['traits.email']]).toEqual([422, email])
    expect(wrong.text).toContain('This password is too short.')
    const asked = await ada.press(wrong, 'method=password', { password: PASSWORD })
    expect(asked.url).toBe(`${url}/verification`)
    const code = fixture.codeFor(email)
    const other = code === '000000' ? '000001' : '000000'
    const tried = await ada.press(asked, 'method=code', { code: other })
    expect([tried.status, tried.text.includes('This code is incorrect')]).toEqual([422, true])
    const home = await ada.press(tried, 'method=code', { code })
    expect([home.url, isSignedIn(home, email)]).toEqual([`${url}/`, true])
    expect(home.text).not.toContain('Verify your address')

    const token = ada.cookie('session')
    expect(isSignedIn(await ada.press(home, 'Sign out'), email)).toBe(false)
    expect(await isAlive(token)).toBe(false)
  })

  test('resends a code, but not too soon', async () => {
    const [ada, email] = [newHttpBrowser(), newEmail()]
    const form = await ada.visit(`${url}/registration`)
    const sent = await ada.press(form, 'method=code', { 'traits.email': email })
    const first = fixture.codeFor(email)
    const soon = await ada.press(sent, 'resend=code')
    expect([soon.status, soon.headers.get('retry-after')]).toEqual([429, '30'])
    expect(soon.text).toContain('Try again in 30 seconds.')
    fixture.clock.jump(NEXT_MAIL)
    const again = await ada.press(sent, 'resend=code')
    expect([again.status, fixture.sentTo(email).length]).toEqual([200, 2])
    const code = fixture.codeFor(email)
    if (code !== first)
      expect((await ada.press(sent, 'method=code', { code: first })).status).toBe(422)
    expect(isSignedIn(await ada.press(sent, 'method=code', { code }), email)).toBe(true)
  })

  test('sets up an authenticator and recovery codes, and asks for one of them afterwards', async () => {
    const [ada, email] = [newHttpBrowser(), newEmail()]
    await ada.press(await signUp(ada, email), 'method=code', { code: fixture.codeFor(email) })
    const form = await settings(ada)
    const secret = /\b[A-Z2-7]{32}\b/.exec(form.text)?.[0] as string
    const totp_code = totpAt(secret, fixture.clock.now())
    expect(isSignedIn(await ada.press(form, 'method=totp', { totp_code }), email)).toBe(true)
    const shown = await ada.press(await settings(ada), 'lookup_secret_regenerate=true')
    const codes = shown.text.match(/\b[0-9a-z]{4}-[0-9a-z]{4}\b/g) ?? []
    expect(codes).toHaveLength(10)
    expect(isSignedIn(await ada.press(shown, 'lookup_secret_confirm=true'), email)).toBe(true)

    await signOut(ada)
    const wrong = await signIn(ada, email, NEW_PASSWORD)
    expect([wrong.status, wrong.text.includes('Incorrect')]).toEqual([422, true])
    const second = await ada.press(wrong, 'method=password', { password: PASSWORD })
    expect([second.url, isSignedIn(second, email)]).toEqual([`${url}/login?aal=aal2`, false])
    fixture.clock.jump(STEP)
    const next = { totp_code: totpAt(secret, fixture.clock.now()) }
    const asking = await ada.visit(url)
    expect(asking.url).toBe(`${url}/login?aal=aal2`)
    expect(isSignedIn(await ada.press(asking, 'method=totp', next), email)).toBe(true)

    await signOut(ada)
    fixture.clock.jump(NEXT_MAIL)
    const login = await ada.visit(`${url}/login`)
    const sent = await ada.press(login, 'method=code', { identifier: email })
    const asked = await ada.press(sent, 'method=code', { code: fixture.codeFor(email) })
    const recovery = { lookup_secret: codes[0] ?? '' }
    expect(isSignedIn(await ada.press(asked, 'method=lookup_secret', recovery), email)).toBe(true)
  })

  test('recovers an account, which gets a new password', async () => {
    const [ada, email] = [newHttpBrowser(), newEmail()]
    const { session_token: before } = await fixture.register(email, PASSWORD)
    fixture.clock.jump(NEXT_MAIL)
    const sent = await ada.press(await ada.visit(`${url}/recovery`), 'method=code', { email })
    const asked = await ada.press(sent, 'method=code', { code: fixture.codeFor(email) })
    expect(asked.url).toBe(`${url}/settings`)
    const home = await ada.press(asked, 'method=password', { password: NEW_PASSWORD })
    expect(isSignedIn(home, email)).toBe(true)
    expect(await isAlive(before)).toBe(false)
    await signOut(ada)
    expect(isSignedIn(await signIn(ada, email, NEW_PASSWORD), email)).toBe(true)
  })

  test('continues with the flow that replaces an expired one', async () => {
    const [ada, email] = [newHttpBrowser(), newEmail()]
    await fixture.register(email, PASSWORD)
    const form = await ada.visit(`${url}/login`)
    const before = ada.cookie('login')
    fixture.clock.jump(HOUR)
    const fields = { identifier: email, password: PASSWORD }
    const renewed = await ada.press(form, 'method=password', fields)
    expect([renewed.status, isSignedIn(renewed, email)]).toEqual([200, false])
    expect(renewed.text).toContain('This sign-in has expired.')
    expect(ada.cookie('login')).not.toBe(before)
    expect(isSignedIn(await ada.press(renewed, 'method=password', fields), email)).toBe(true)
  })

  test('asks to sign in again before a change of password', async () => {
    const [ada, email] = [newHttpBrowser(), newEmail()]
    await signUp(ada, email)
    fixture.clock.jump(HOUR + SECOND)
    const password = { password: NEW_PASSWORD }
    const refresh = await ada.press(await settings(ada), 'method=password', password)
    expect(refresh.url).toBe(`${url}/login?refresh=true`)
    const back = await ada.press(refresh, 'method=password', { password: PASSWORD })
    expect(back.url).toBe(`${url}/settings`)
    expect(isSignedIn(await ada.press(back, 'method=password', password), email)).toBe(true)
    await signOut(ada)
    expect(isSignedIn(await signIn(ada, email, NEW_PASSWORD), email)).toBe(true)
  })

  test('asks for the code that went to a new email address', async () => {
    const [ada, email, after] = [newHttpBrowser(), newEmail(), newEmail()]
    await signUp(ada, email)
    const changed = { 'traits.email': after }
    const asked = await ada.press(await settings(ada), 'method=profile', changed)
    expect(asked.url).toBe(`${url}/verification`)
    expect(isSignedIn(await ada.visit(url), email)).toBe(true)
    const home = await ada.press(asked, 'method=code', { code: fixture.codeFor(after) })
    expect(isSignedIn(home, after)).toBe(true)
  })

  test('reports too many attempts on one account, and lets others sign in', async () => {
    const [mallory, email, grace] = [newHttpBrowser(), newEmail(), newEmail()]
    for (const each of [email, grace]) await fixture.register(each, PASSWORD)
    const tries: Seen[] = []
    for (let n = 0; n < 11; n++) tries.push(await signIn(mallory, email, NEW_PASSWORD))
    const last = tries[10] as Seen
    expect(tries.map(({ status }) => status)).toEqual([...Array(10).fill(422), 429])
    expect(last.text).toContain('Too many attempts.')
    expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(isSignedIn(await signIn(newHttpBrowser(), grace), grace)).toBe(true)
  })

  test('refuses a form of another flow than the one of its browser', async () => {
    const [ada, mallory, email] = [newHttpBrowser(), newHttpBrowser(), newEmail()]
    await fixture.register(email, PASSWORD)
    const [form] = (await mallory.visit(`${url}/login`)).forms
    const fields = { ...form?.values, method: 'password', identifier: email, password: PASSWORD }
    const post = () =>
      ada.visit(`${url}/login`, { method: 'POST', body: new URLSearchParams(fields) })

    await post()
    expect(isSignedIn(await ada.visit(url), email)).toBe(false)
    await ada.visit(`${url}/login`)
    expect((await post()).status).toBe(403)
    expect(isSignedIn(await ada.visit(url), email)).toBe(false)
  })
})
