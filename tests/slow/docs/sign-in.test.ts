import { afterAll, expect, test } from 'bun:test'
import { serve } from '../../../src/http/serve.ts'
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
async function openApp(stack: AsyncDisposableStack, language: string, words: string) {
  const flags = { 'limits-sign-ins-per-minute': '1000000' }
  const fixture = stack.use(await bootFlows({ start: new Date().toISOString(), flags }))
  await fixture.security({ mfa_enabled: true, passwordless_enabled: true })
  const listener = serve(fixture.app.app, { host: '127.0.0.1', port: 0 }, fixture.app.platform.log)
  const gatehouse = listener.url
  expect(page.text).toContain('--scope flows --scope sessions:write')
  const { key } = await fixture.acme.key('gate', 'live', ['flows', 'sessions:write'])
  const env = { GATEHOUSE: gatehouse, KEY: key }
  const { url } = stack.use(await startShown(page, { language, words, env }))
  const isAlive = async (token = '') => (await fixture.whoami(token)).status === 200
  return { fixture, url, gatehouse, isAlive }
}

let people = 0
const newEmail = () => `ada-${++people}@example.com`

const isSignedIn = ({ text }: Seen, email: string): boolean => text.includes(`Hello ${email}`)

const said = (seen: Seen) => ({ at: seen.url, status: seen.status })

for (const language of ['ts', 'python'].filter(canRun))
  test(`The app with hosted pages in ${language} signs up, verifies, signs in and out, asks for a second factor, leads to settings and takes no code of another browser`, async () => {
    await using stack = new AsyncDisposableStack()
    const { fixture, url, gatehouse, isAlive } = await openApp(stack, language, 'hosted_url')
    const home = { at: `${url}/`, status: 200 }

    async function signUp(ada: HttpBrowser, email: string): Promise<Seen> {
      const form = await ada.follow(await ada.visit(url), '/sign-up')
      return ada.press(form, 'method=password', { 'traits.email': email, password: PASSWORD })
    }
    async function signIn(ada: HttpBrowser, identifier: string, password = PASSWORD) {
      const form = await ada.follow(await ada.visit(url), '/sign-in')
      return ada.press(form, 'method=password', { identifier, password })
    }

    const [ada, email] = [newHttpBrowser(), `a&'${newEmail()}`]
    const first = await signUp(ada, email)
    expect([said(first), isSignedIn(first, email)]).toEqual([home, true])
    expect(first.html).not.toContain(email)
    expect(first.text).toContain('verify your address')
    const verified = await ada.press(await ada.visit(fixture.linkFor(email)), 'method=code')
    const back = await ada.follow(verified, `${url}/back`)
    expect([said(back), isSignedIn(back, email)]).toEqual([home, true])
    expect(back.text).not.toContain('verify your address')
    const token = ada.cookie('session')
    const out = await ada.press(back, 'Sign out')
    expect([out.status, isSignedIn(out, email)]).toEqual([200, false])
    expect([ada.cookie('session'), await isAlive(token)]).toEqual([undefined, false])

    const again = await signIn(ada, email, NEW_PASSWORD)
    expect([again.status, again.url.startsWith(gatehouse)]).toEqual([422, true])
    const signedIn = await ada.press(again, 'method=password', { password: PASSWORD })
    expect([said(signedIn), isSignedIn(signedIn, email)]).toEqual([home, true])
    const settings = await ada.follow(signedIn, '/settings')
    const changed = await ada.press(settings, 'method=password', { password: NEW_PASSWORD })
    expect(said(await ada.follow(changed, `${url}/back`))).toEqual(home)
    const secret = await fixture.enrol(ada.cookie('session') as string)
    await ada.press(await ada.visit(url), 'Sign out')
    const second = await signIn(ada, email, NEW_PASSWORD)
    expect([isSignedIn(second, email), ada.cookie('session')]).toEqual([false, undefined])
    fixture.clock.jump(STEP)
    const totp_code = totpAt(secret, fixture.clock.now())
    const strong = await ada.press(second, 'method=totp', { totp_code })
    expect([said(strong), isSignedIn(strong, email)]).toEqual([home, true])

    const [victim, trapped] = [newHttpBrowser(), newEmail()]
    await victim.visit(`${url}/settings`)
    expect(victim.steps.slice(0, 2)).toEqual([`${url}/settings`, `${url}/sign-in`])
    const mallory = newHttpBrowser({ stopsBefore: `${url}/back` })
    const trap = await signUp(mallory, trapped)
    expect(trap.url).toContain('code=')
    expect((await newHttpBrowser().visit(trap.url)).status).toBe(403)
    expect((await victim.visit(trap.url)).status).toBe(403)
    expect(isSignedIn(await victim.visit(url), trapped)).toBe(false)
    expect(isSignedIn(await mallory.visit(trap.url), trapped)).toBe(true)
  })

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())
const { fixture, url, isAlive } = await openApp(stack, 'ts', 'Map.groupBy')

async function signIn(ada: HttpBrowser, identifier: string, password = PASSWORD): Promise<Seen> {
  const form = await ada.visit(`${url}/login`)
  return ada.press(form, 'method=password', { identifier, password })
}
const signOut = async (ada: HttpBrowser) => ada.press(await ada.visit(url), 'Sign out')
const settings = (ada: HttpBrowser) => ada.visit(`${url}/settings`)

test('The app with its own forms shows what is wrong with a sign-up, verifies it, changes the address and signs out', async () => {
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

  const after = newEmail()
  const moving = await ada.press(await settings(ada), 'method=profile', { 'traits.email': after })
  expect(moving.url).toBe(`${url}/verification`)
  const moved = await ada.press(moving, 'method=code', { code: fixture.codeFor(after) })
  expect(isSignedIn(moved, after)).toBe(true)
  const token = ada.cookie('session')
  expect(isSignedIn(await ada.press(moved, 'Sign out'), after)).toBe(false)
  expect(await isAlive(token)).toBe(false)
})

test('The app with its own forms sets up an authenticator and recovery codes, asks for one of them afterwards, and resends codes', async () => {
  const [ada, email] = [newHttpBrowser(), newEmail()]
  const blank = await ada.visit(`${url}/registration`)
  const typed = { 'traits.email': email, password: PASSWORD }
  const sent = await ada.press(blank, 'method=password', typed)
  await ada.press(sent, 'method=code', { code: fixture.codeFor(email) })
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
  expect(isSignedIn(await ada.press(await ada.visit(url), 'method=totp', next), email)).toBe(true)

  await signOut(ada)
  fixture.clock.jump(NEXT_MAIL)
  const login = await ada.visit(`${url}/login`)
  const mailed = await ada.press(login, 'method=code', { identifier: email })
  const soon = await ada.press(mailed, 'resend=code')
  expect([soon.status, soon.headers.get('retry-after')]).toEqual([429, '30'])
  expect(soon.text).toContain('Try again in 30 seconds.')
  fixture.clock.jump(NEXT_MAIL)
  expect((await ada.press(mailed, 'resend=code')).status).toBe(200)
  const asked = await ada.press(mailed, 'method=code', { code: fixture.codeFor(email) })
  const recovery = { lookup_secret: codes[0] ?? '' }
  expect(isSignedIn(await ada.press(asked, 'method=lookup_secret', recovery), email)).toBe(true)
})

test('The app with its own forms recovers an account, replaces an expired flow, and asks to sign in again before a change of password', async () => {
  const [ada, email] = [newHttpBrowser(), newEmail()]
  const { session_token: before } = await fixture.register(email, PASSWORD)
  fixture.clock.jump(NEXT_MAIL)
  const sent = await ada.press(await ada.visit(`${url}/recovery`), 'method=code', { email })
  const asked = await ada.press(sent, 'method=code', { code: fixture.codeFor(email) })
  expect(asked.url).toBe(`${url}/settings`)
  const home = await ada.press(asked, 'method=password', { password: NEW_PASSWORD })
  expect([isSignedIn(home, email), await isAlive(before)]).toEqual([true, false])
  await signOut(ada)

  const form = await ada.visit(`${url}/login`)
  fixture.clock.jump(HOUR)
  const fields = { identifier: email, password: NEW_PASSWORD }
  const renewed = await ada.press(form, 'method=password', fields)
  expect([renewed.status, isSignedIn(renewed, email)]).toEqual([200, false])
  expect(renewed.text).toContain('This sign-in has expired.')
  expect(isSignedIn(await ada.press(renewed, 'method=password', fields), email)).toBe(true)

  fixture.clock.jump(HOUR + SECOND)
  const password = { password: PASSWORD }
  const refresh = await ada.press(await settings(ada), 'method=password', password)
  expect(refresh.url).toBe(`${url}/login?refresh=true`)
  const back = await ada.press(refresh, 'method=password', { password: NEW_PASSWORD })
  expect(back.url).toBe(`${url}/settings`)
  expect(isSignedIn(await ada.press(back, 'method=password', password), email)).toBe(true)
})

test('The app with its own forms reports too many attempts on one account, and refuses a form of another browser', async () => {
  const [mallory, ada] = [newHttpBrowser(), newHttpBrowser()]
  const [email, grace] = [newEmail(), newEmail()]
  for (const each of [email, grace]) await fixture.register(each, PASSWORD)
  for (let n = 0; n < 10; n++) await signIn(mallory, email, NEW_PASSWORD)
  const last = await signIn(mallory, email, NEW_PASSWORD)
  expect([last.status, last.text.includes('Too many attempts.')]).toEqual([429, true])
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(0)

  const [form] = (await mallory.visit(`${url}/login`)).forms
  const fields = { ...form?.values, method: 'password', identifier: grace, password: PASSWORD }
  const post = () =>
    ada.visit(`${url}/login`, { method: 'POST', body: new URLSearchParams(fields) })
  await post()
  expect(isSignedIn(await ada.visit(url), grace)).toBe(false)
  await ada.visit(`${url}/login`)
  expect((await post()).status).toBe(403)
  expect(isSignedIn(await ada.visit(url), grace)).toBe(false)
  expect(isSignedIn(await signIn(newHttpBrowser(), grace), grace)).toBe(true)
})
