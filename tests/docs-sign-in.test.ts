import { describe, expect, test } from 'bun:test'
import { HOUR, SECOND } from './engines/gate/fixture.ts'
import { bootFlows, type FlowFixture, totpAt } from './engines/gate/sign-in/flows/fixture.ts'
import { type HttpBrowser, newHttpBrowser, type Seen } from './support/http-browser.ts'
import { openPage } from './support/page.ts'
import { canRun, startShown } from './support/shown.ts'

/** The apps of docs/sign-in.md are run as they stand there, against a server, by people. */

const page = await openPage('sign-in.md')

const ADA = 'ada@example.com'
const PASSWORD = 'correct horse battery staple'
const NEW_PASSWORD = 'seven green bicycles'
/** After which an address may be written to once more. */
const NEXT_MAIL = 31 * SECOND
/** How long an authenticator shows one code. */
const STEP = 30 * SECOND
const STARTS = 60_000

/** An app of the page, and the Gatehouse that it asks, on a clock that stands still. */
async function openApp(language: string, words: string) {
  await using ends = new AsyncDisposableStack()
  const fixture = ends.use(await bootFlows({ start: new Date().toISOString() }))
  fixture.app.app.listen({ port: 0, hostname: '127.0.0.1' })
  const gatehouse = `http://127.0.0.1:${fixture.app.app.server?.port}`
  const scopes = /--scope flows --scope sessions:write/.exec(page.text)?.[0].split(/ ?--scope /)
  const { key } = await fixture.acme.key('gate', 'live', scopes?.slice(1))
  const app = ends.use(
    await startShown(page, { language, words, env: { GATEHOUSE: gatehouse, KEY: key } }),
  )
  const running = ends.move()
  return { fixture, url: app.url, gatehouse, [Symbol.asyncDispose]: () => running.disposeAsync() }
}

const isSignedIn = ({ text }: Seen, email = ADA): boolean => text.includes(`Hello ${email}`)

const isAlive = async ({ whoami }: FlowFixture, token: string | undefined): Promise<boolean> =>
  (await whoami(token ?? '')).status === 200

for (const language of ['ts', 'python']) {
  describe.skipIf(!canRun(language))(`the app with hosted pages, in ${language}`, () => {
    const open = () => openApp(language, 'hosted_url')

    async function signUp(ada: HttpBrowser, url: string, email = ADA): Promise<Seen> {
      const form = await ada.follow(await ada.visit(url), '/sign-up')
      return ada.press(form, 'method=password', { 'traits.email': email, password: PASSWORD })
    }

    async function signIn(ada: HttpBrowser, url: string, password = PASSWORD): Promise<Seen> {
      const form = await ada.follow(await ada.visit(url), '/sign-in')
      return ada.press(form, 'method=password', { identifier: ADA, password })
    }

    test(
      'signs people up, has them prove their address, and signs them out',
      async () => {
        await using app = await open()
        const { fixture, url } = app
        const ada = newHttpBrowser()

        const home = await signUp(ada, url)
        expect([home.url, isSignedIn(home)]).toEqual([`${url}/`, true])
        expect(home.text).toContain('verify your address')
        const filledIn = await ada.visit(fixture.linkFor(ADA))
        const proven = await ada.press(filledIn, 'method=code')
        const backHome = await ada.follow(proven, `${url}/back`)
        expect([backHome.url, isSignedIn(backHome)]).toEqual([`${url}/`, true])
        expect(backHome.text).not.toContain('verify your address')

        const token = ada.cookie('session')
        const out = await ada.press(backHome, 'Sign out')
        expect([out.status, isSignedIn(out), ada.cookie('session')]).toEqual([
          200,
          false,
          undefined,
        ])
        expect(await isAlive(fixture, token)).toBe(false)
      },
      STARTS,
    )

    test(
      'signs people in, and nobody with a wrong password',
      async () => {
        await using app = await open()
        const { fixture, url } = app
        await fixture.register(ADA, PASSWORD)
        const ada = newHttpBrowser()

        const again = await signIn(ada, url, NEW_PASSWORD)
        expect([again.status, again.url.startsWith(app.gatehouse)]).toEqual([422, true])
        expect(again.text).toContain('Incorrect email address or password.')
        const home = await ada.press(again, 'method=password', { password: PASSWORD })
        expect([home.url, isSignedIn(home)]).toEqual([`${url}/`, true])
      },
      STARTS,
    )

    test(
      'knows people again who went from signing in to signing up, or showed a second factor',
      async () => {
        await using app = await open()
        const { fixture, url } = app
        await fixture.security({ mfa_enabled: true })
        const ada = newHttpBrowser()

        const signInPage = await ada.visit(`${url}/sign-in`)
        const signUpPage = await ada.follow(signInPage, '/registration?from=')
        const fields = { 'traits.email': ADA, password: PASSWORD }
        expect(isSignedIn(await ada.press(signUpPage, 'method=password', fields))).toBe(true)

        const secret = await fixture.enrol(ada.cookie('session') as string)
        expect(isSignedIn(await ada.visit(url))).toBe(true)
        await ada.press(await ada.visit(url), 'Sign out')
        const second = await signIn(ada, url)
        expect([isSignedIn(second), ada.cookie('session')]).toEqual([false, undefined])
        fixture.clock.jump(STEP)
        const totp_code = totpAt(secret, fixture.clock.now())
        const home = await ada.press(second, 'method=totp', { totp_code })
        expect([home.url, isSignedIn(home)]).toEqual([`${url}/`, true])
      },
      STARTS,
    )

    test(
      'leads to the settings and back, and to the sign-in who is not signed in',
      async () => {
        await using app = await open()
        const { url } = app
        const ada = newHttpBrowser()
        await signUp(ada, url)

        const settings = await ada.follow(await ada.visit(url), '/settings')
        const changed = await ada.press(settings, 'method=password', { password: NEW_PASSWORD })
        const home = await ada.follow(changed, `${url}/back`)
        expect([home.url, isSignedIn(home)]).toEqual([`${url}/`, true])
        await ada.press(home, 'Sign out')
        expect((await signIn(ada, url)).status).toBe(422)
        expect(isSignedIn(await signIn(ada, url, NEW_PASSWORD))).toBe(true)

        const stranger = newHttpBrowser()
        await stranger.visit(`${url}/settings`)
        expect(stranger.steps.slice(0, 2)).toEqual([`${url}/settings`, `${url}/sign-in`])
      },
      STARTS,
    )

    test(
      'signs nobody in as somebody else, who has sent them an address to come back to',
      async () => {
        await using app = await open()
        const { url } = app
        const ada = newHttpBrowser()
        const mallory = newHttpBrowser({ stopsBefore: `${url}/back` })
        const trap = await signUp(mallory, url, 'mallory@example.com')
        expect(trap.url).toContain('code=')

        expect((await ada.visit(trap.url)).status).toBe(403)
        await ada.visit(`${url}/sign-in`)
        expect((await ada.visit(trap.url)).status).toBe(403)
        expect(isSignedIn(await ada.visit(url), 'mallory@example.com')).toBe(false)
        expect(isSignedIn(await mallory.visit(trap.url), 'mallory@example.com')).toBe(true)
      },
      STARTS,
    )

    test(
      'writes addresses as text, whatever signs are in them',
      async () => {
        await using app = await open()
        const home = await signUp(newHttpBrowser(), app.url, "a&'b@example.com")
        expect(isSignedIn(home, "a&'b@example.com")).toBe(true)
        expect(home.html).not.toContain("a&'b@")
      },
      STARTS,
    )
  })
}

describe('the app with forms of its own', () => {
  const open = () => openApp('ts', 'Map.groupBy')

  async function signUp(ada: HttpBrowser, url: string): Promise<Seen> {
    const form = await ada.visit(`${url}/registration`)
    return ada.press(form, 'method=password', { 'traits.email': ADA, password: PASSWORD })
  }

  async function signIn(ada: HttpBrowser, url: string, password = PASSWORD): Promise<Seen> {
    const form = await ada.visit(`${url}/login`)
    return ada.press(form, 'method=password', { identifier: ADA, password })
  }

  const signOut = async (ada: HttpBrowser, url: string) =>
    ada.press(await ada.visit(url), 'Sign out')

  const settings = (ada: HttpBrowser, url: string) => ada.visit(`${url}/settings`)

  test(
    'says what is wrong with a sign-up, has the address proven, and signs out',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      const ada = newHttpBrowser()

      const form = await ada.visit(`${url}/registration`)
      const wrong = await ada.press(form, 'method=password', {
        'traits.email': ADA,
        password: 'short',
      })
      expect([wrong.status, wrong.forms[0]?.values['traits.email']]).toEqual([422, ADA])
      expect(wrong.text).toContain('This password is too short.')
      const asked = await ada.press(wrong, 'method=password', { password: PASSWORD })
      expect(asked.url).toBe(`${url}/verification`)
      const code = fixture.codeFor(ADA)
      const other = code === '000000' ? '000001' : '000000'
      const tried = await ada.press(asked, 'method=code', { code: other })
      expect([tried.status, tried.text.includes('This code is incorrect')]).toEqual([422, true])
      const home = await ada.press(tried, 'method=code', { code })
      expect([home.url, isSignedIn(home)]).toEqual([`${url}/`, true])
      expect(home.text).not.toContain('Verify your address')

      const token = ada.cookie('session')
      expect(isSignedIn(await ada.press(home, 'Sign out'))).toBe(false)
      expect(await isAlive(fixture, token)).toBe(false)
    },
    STARTS,
  )

  test(
    'sends another code when asked to, and says when that is too soon',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      await fixture.security({ passwordless_enabled: true })
      const ada = newHttpBrowser()

      const form = await ada.visit(`${url}/registration`)
      const sent = await ada.press(form, 'method=code', { 'traits.email': ADA })
      const first = fixture.codeFor(ADA)
      const soon = await ada.press(sent, 'resend=code')
      expect([soon.status, soon.headers.get('retry-after')]).toEqual([429, '30'])
      expect(soon.text).toContain('Try again in 30 seconds.')
      fixture.clock.jump(NEXT_MAIL)
      const again = await ada.press(sent, 'resend=code')
      expect([again.status, fixture.sentTo(ADA).length]).toEqual([200, 2])
      const code = fixture.codeFor(ADA)
      if (code !== first)
        expect((await ada.press(sent, 'method=code', { code: first })).status).toBe(422)
      expect(isSignedIn(await ada.press(sent, 'method=code', { code }))).toBe(true)
    },
    STARTS,
  )

  test(
    'sets up an authenticator and recovery codes, and asks for either from then on',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      await fixture.security({ mfa_enabled: true, passwordless_enabled: true })
      const ada = newHttpBrowser()
      await ada.press(await signUp(ada, url), 'method=code', { code: fixture.codeFor(ADA) })

      const form = await settings(ada, url)
      const secret = /\b[A-Z2-7]{32}\b/.exec(form.text)?.[0] as string
      const totp_code = totpAt(secret, fixture.clock.now())
      expect(isSignedIn(await ada.press(form, 'method=totp', { totp_code }))).toBe(true)
      const shown = await ada.press(await settings(ada, url), 'lookup_secret_regenerate=true')
      const codes = shown.text.match(/\b[0-9a-z]{4}-[0-9a-z]{4}\b/g) ?? []
      expect(codes).toHaveLength(10)
      expect(isSignedIn(await ada.press(shown, 'lookup_secret_confirm=true'))).toBe(true)

      await signOut(ada, url)
      const wrong = await signIn(ada, url, NEW_PASSWORD)
      expect([wrong.status, wrong.text.includes('Incorrect')]).toEqual([422, true])
      const second = await ada.press(wrong, 'method=password', { password: PASSWORD })
      expect([second.url, isSignedIn(second)]).toEqual([`${url}/login?aal=aal2`, false])
      expect((await ada.visit(url)).url).toBe(`${url}/login?aal=aal2`)
      fixture.clock.jump(STEP)
      const next = { totp_code: totpAt(secret, fixture.clock.now()) }
      const now = await ada.visit(url)
      expect(isSignedIn(await ada.press(now, 'method=totp', next))).toBe(true)

      await signOut(ada, url)
      fixture.clock.jump(NEXT_MAIL)
      const sent = await ada.press(await ada.visit(`${url}/login`), 'method=code', {
        identifier: ADA,
      })
      const code = fixture.codeFor(ADA)
      const asked = await ada.press(sent, 'method=code', { code })
      const [lookup_secret = ''] = codes
      expect(isSignedIn(await ada.press(asked, 'method=lookup_secret', { lookup_secret }))).toBe(
        true,
      )
    },
    STARTS,
  )

  test(
    'lets people back in who lost their password, and has them set a new one',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      const { session_token: before } = await fixture.register(ADA, PASSWORD)
      const ada = newHttpBrowser()

      fixture.clock.jump(NEXT_MAIL)
      const sent = await ada.press(await ada.visit(`${url}/recovery`), 'method=code', {
        email: ADA,
      })
      const asked = await ada.press(sent, 'method=code', { code: fixture.codeFor(ADA) })
      expect(asked.url).toBe(`${url}/settings`)
      const home = await ada.press(asked, 'method=password', { password: NEW_PASSWORD })
      expect(isSignedIn(home)).toBe(true)
      expect(await isAlive(fixture, before)).toBe(false)
      await signOut(ada, url)
      expect(isSignedIn(await signIn(ada, url, NEW_PASSWORD))).toBe(true)
    },
    STARTS,
  )

  test(
    'goes on with the flow that takes the place of an expired one',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      await fixture.register(ADA, PASSWORD)
      const ada = newHttpBrowser()

      const form = await ada.visit(`${url}/login`)
      const before = ada.cookie('login')
      fixture.clock.jump(HOUR)
      const fields = { identifier: ADA, password: PASSWORD }
      const renewed = await ada.press(form, 'method=password', fields)
      expect([renewed.status, isSignedIn(renewed)]).toEqual([200, false])
      expect(renewed.text).toContain('This sign-in has expired.')
      expect(ada.cookie('login')).not.toBe(before)
      expect(isSignedIn(await ada.press(renewed, 'method=password', fields))).toBe(true)
    },
    STARTS,
  )

  test(
    'has people sign in once more before they change what could lock them out',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      const ada = newHttpBrowser()
      await signUp(ada, url)
      fixture.clock.jump(HOUR + SECOND)

      const password = { password: NEW_PASSWORD }
      const refresh = await ada.press(await settings(ada, url), 'method=password', password)
      expect(refresh.url).toBe(`${url}/login?refresh=true`)
      const back = await ada.press(refresh, 'method=password', { password: PASSWORD })
      expect(back.url).toBe(`${url}/settings`)
      expect(isSignedIn(await ada.press(back, 'method=password', password))).toBe(true)
      await signOut(ada, url)
      expect(isSignedIn(await signIn(ada, url, NEW_PASSWORD))).toBe(true)
    },
    STARTS,
  )

  test(
    'asks for the code that went to a new address',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      const ada = newHttpBrowser()
      await signUp(ada, url)

      const email = { 'traits.email': 'countess@example.com' }
      const asked = await ada.press(await settings(ada, url), 'method=profile', email)
      expect(asked.url).toBe(`${url}/verification`)
      expect(isSignedIn(await ada.visit(url))).toBe(true)
      const code = fixture.codeFor('countess@example.com')
      const home = await ada.press(asked, 'method=code', { code })
      expect(isSignedIn(home, 'countess@example.com')).toBe(true)
    },
    STARTS,
  )

  test(
    'says when there were too many tries, for one person and not for all',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      await fixture.register(ADA, PASSWORD)
      const grace = await fixture.register('grace@example.com', PASSWORD)
      const mallory = newHttpBrowser()

      const tries = Array.from({ length: 11 })
      let last: Seen = await mallory.visit(`${url}/login`)
      const statuses: number[] = []
      for (const _ of tries) {
        last = await signIn(mallory, url, NEW_PASSWORD)
        statuses.push(last.status)
      }
      expect(statuses).toEqual([...Array(10).fill(422), 429])
      expect(last.text).toContain('Too many attempts.')
      expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)
      const form = await newHttpBrowser().visit(`${url}/login`)
      expect(form.status).toBe(200)
      const other = newHttpBrowser()
      const home = await other.press(await other.visit(`${url}/login`), 'method=password', {
        identifier: grace.identity.traits.email,
        password: PASSWORD,
      })
      expect(isSignedIn(home, 'grace@example.com')).toBe(true)
    },
    STARTS,
  )

  test(
    'takes no form for another flow than the one its browser is at',
    async () => {
      await using app = await open()
      const { fixture, url } = app
      await fixture.register('mallory@example.com', PASSWORD)
      const mallory = newHttpBrowser()
      const trap = await mallory.visit(`${url}/login`)
      const [form] = trap.forms
      const body = () =>
        new URLSearchParams({
          ...form?.values,
          method: 'password',
          identifier: 'mallory@example.com',
          password: PASSWORD,
        })

      const ada = newHttpBrowser()
      await ada.visit(`${url}/login`, { method: 'POST', body: body() })
      expect(isSignedIn(await ada.visit(url), 'mallory@example.com')).toBe(false)
      await ada.visit(`${url}/login`)
      const refused = await ada.visit(`${url}/login`, { method: 'POST', body: body() })
      expect(refused.status).toBe(403)
      expect(isSignedIn(await ada.visit(url), 'mallory@example.com')).toBe(false)
    },
    STARTS,
  )
})
