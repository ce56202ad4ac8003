import { beforeEach, expect, test } from 'bun:test'
import { ACTOR, HOUR, type Json, MINUTE, rowsOf, UNKNOWN_ID } from '../../fixture.ts'
import { ADA, codesShown, NEW_PASSWORD, RETURN_TO, withToken } from './acts.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import { type Tenant, useFlows } from './code-fixture.ts'
import {
  bootFlows,
  csrfOf,
  type Flows,
  nodeNames,
  PASSWORD,
  pathOf,
  SELF_SERVICE,
  totpAt,
} from './fixture.ts'

const KINDS = ['login', 'registration', 'recovery', 'verification'] as const
const BY_PASSWORD: [string, string] = ['method', 'password']
const BY_CODE: [string, string] = ['method', 'code']
const SAVED = 'Your changes have been saved.'

const { app, newTenant } = await useFlows({ flags: { 'metering-free-requests': '1' } })
let acme: Tenant
let browser: Browser
beforeEach(async () => {
  acme = await newTenant({ passwordless_enabled: true, mfa_enabled: true })
  browser = newBrowser(app)
})

const url = (path: string) => `http://localhost${SELF_SERVICE}/${path}`
const buttonsOf = ({ forms }: Page): string[] =>
  forms.flatMap(({ buttons }) => buttons.map(([name, value]) => `${name}=${value}`))
const fieldsOf = ({ forms }: Page): string[] => forms.flatMap(({ fields }) => Object.keys(fields))
const headingOf = ({ html }: Page): string =>
  (/<h1>(.*?)<\/h1>/.exec(html)?.[1] ?? '').replaceAll(/<[^>]*>/g, '')
const linksOf = ({ links }: Page) =>
  links.map((link) => new URL(link).pathname.replace(`${SELF_SERVICE}/`, ''))
const flowIn = (location: string) => new URL(location).searchParams.get('flow') ?? ''
const opened = async (kind: string): Promise<Page> =>
  browser.visit((await acme.start(kind)).hosted_url)

const openedSettings = async (token: string): Promise<Page> =>
  browser.visit((await acme.settings(token)).hosted_url)

/** An identity whose next mail may be sent at once. */
async function registered(): Promise<Json> {
  const answer = await acme.register(ADA)
  acme.clock.jump(MINUTE)
  return answer
}

async function waiting(kind: string): Promise<Page> {
  const field = { login: 'identifier', registration: 'traits.email' }[kind] ?? 'email'
  return browser.follow(await browser.press(await opened(kind), BY_CODE, { [field]: ADA }))
}

test.each([
  ['login', 'Sign in to Acme', ['registration', 'recovery'], ['login']],
  ['registration', 'Create your Acme account', ['login'], ['registration']],
  ['recovery', 'Recover your Acme account', ['login'], ['login']],
  ['verification', 'Verify your email address for Acme', [], []],
])('The page of a %s has its nodes and links', async (kind, heading, links, linksLater) => {
  const flow = await acme.start(kind)
  const first = await browser.visit(flow.hosted_url)
  expect(first.status).toBe(200)
  expect(first.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect([headingOf(first), linksOf(first)]).toEqual([heading, links])
  const names = nodeNames(flow).map((name) => name.replace(/^\w+:/, ''))
  expect([...fieldsOf(first), ...buttonsOf(first)].toSorted()).toEqual(names.toSorted())
  for (const { action, hidden } of first.forms) {
    expect(action).toBe(flow.ui.action)
    expect(hidden).toEqual({ csrf_token: expect.stringMatching(/^[0-9a-f]{128}$/) })
  }
  if (kind !== 'registration') await registered()
  const page = await waiting(kind)
  expect([headingOf(page), linksOf(page)]).toEqual(['Enter the code from Acme', linksLater])
  const wrong = await browser.press(page, BY_CODE, { code: '7654321' })
  expect(wrong.status).toBe(422)
  expect(wrong.html).not.toContain('7654321')
  expect(wrong.text).toContain('This code is incorrect')
})

test('The page of settings is filled in, but for the password; each change leads to new settings', async () => {
  const { session_token } = await registered()
  let page = await openedSettings(session_token)
  expect(headingOf(page)).toBe('Your Acme account')
  const fields = [{ 'traits.email': ADA }, { password: '' }, { totp_code: '' }, {}]
  expect(page.forms.map((form) => form.fields as Json)).toEqual(fields)
  const buttons = ['profile', 'password', 'totp'].map((method) => `method=${method}`)
  expect(buttonsOf(page)).toEqual([...buttons, 'lookup_secret_regenerate=true'])
  expect(page.html).toContain('<img class="picture" src="data:image/png;base64,')

  const change = async (button: [string, string], typed: Record<string, string> = {}) => {
    const before = page.forms[0]?.action ?? ''
    const answer = await browser.press(page, button, typed)
    expect(answer).toMatchObject({ status: 303, html: '' })
    const isNew = flowIn(answer.location) !== flowIn(before)
    expect(isNew).toBe(button[0] !== 'lookup_secret_regenerate')
    page = await browser.follow(answer)
    return new URL(answer.location)
  }
  expect((await change(['method', 'profile'])).hash).toBe('')
  await change(BY_PASSWORD, { password: NEW_PASSWORD })
  expect(page.text).toContain(SAVED)
  const key = [...page.html.matchAll(/<span>([A-Z2-7]{4})<\/span>/g)].map(([, four]) => four)
  await change(['method', 'totp'], { totp_code: totpAt(key.join(''), acme.clock.now()) })
  const { hash, href } = await change(['lookup_secret_regenerate', 'true'])
  expect(hash).toBe('#section-lookup_secret')
  const codes = [...page.html.matchAll(/<li>([0-9a-z-]{9})<\/li>/g)].map(([, code]) => code)
  expect(codes).toEqual(codesShown((await acme.readAt(href, withToken(session_token))).body))
  await change(['lookup_secret_confirm', 'true'])
  expect(page.text).toContain(SAVED)
  expect(page.html).not.toContain(codes[0] as string)
  await change(['lookup_secret_disable', 'true'])
  await change(['totp_unlink', 'true'])
  expect(fieldsOf(page)).toContain('totp_code')

  await change(['method', 'profile'], { 'traits.email': 'new@example.com' })
  expect(page.text).toContain('sent a code to new@example.com')
  expect(page.forms[0]?.fields['traits.email']).toBe(ADA)
})

test('A page that is over says how it ended, and has no form', async () => {
  const signUp = await opened('registration')
  await browser.press(signUp, BY_PASSWORD, { 'traits.email': ADA, password: PASSWORD })
  const signedUp = await browser.visit(signUp.forms[0]?.action ?? '')
  const { hosted_url } = await acme.start('login')
  await browser.signIn(hosted_url, ADA, PASSWORD)
  const signedIn = await browser.visit(hosted_url)

  acme.clock.jump(MINUTE)
  const confirm = async (kind: string) => {
    const page = await waiting(kind)
    return { page, away: await browser.press(page, BY_CODE, { code: acme.codeFor(ADA) }) }
  }
  const choosing = await browser.follow((await confirm('verification')).away)
  const login = await browser.follow(await browser.press(choosing, ['confirm_by', 'sign_in']))
  const done = await browser.press(login, BY_PASSWORD, { password: PASSWORD })
  const verified = await browser.follow(done)

  acme.clock.jump(MINUTE)
  const recovery = await confirm('recovery')
  const settings = await browser.follow(recovery.away)
  await browser.press(settings, BY_PASSWORD, { password: NEW_PASSWORD })
  const recovered = await browser.visit(recovery.page.forms[0]?.action ?? '')

  for (const [page, heading] of [
    [signedUp, 'Your account is ready'],
    [signedIn, "You're signed in"],
    [verified, 'Email address verified for Acme'],
    [recovered, 'Welcome back to Acme'],
  ] as const)
    expect([page.status, headingOf(page), page.forms]).toEqual([200, heading, []])
})

test('A page is sent if Accept names HTML, in the language of the browser, and JSON otherwise', async () => {
  const { hosted_url } = await acme.start('login')
  const typeFor = async (accept?: string) => {
    const headers = accept === undefined ? undefined : { accept }
    const answer = await app.raw(pathOf(hosted_url), { headers })
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Language')
    return answer.headers.get('content-type')?.split(';')[0]
  }
  for (const accept of ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8'])
    expect(await typeFor(accept)).toBe('text/html')
  for (const accept of [undefined, '', '*/*', 'application/json', 'text/plain', 'text/*'])
    expect(await typeFor(accept)).toBe('application/json')

  const german = newBrowser(app, { 'accept-language': 'de-CH,de;q=0.9,en;q=0.5' })
  const page = await german.visit(hosted_url)
  expect(headingOf(page)).toBe('Bei Acme anmelden')
})

test('A wrong form is shown again with 422, without its password', async () => {
  for (const [kind, typed, words] of [
    ['login', { identifier: ADA, password: 'my secret word' }, 'Incorrect email address'],
    ['registration', { 'traits.email': ADA, password: 'q8Rt!z2' }, 'This password is too short.'],
  ] as const) {
    const page = await browser.press(await opened(kind), BY_PASSWORD, typed)
    expect([page.status, page.html.includes('<title>Error: ')]).toEqual([422, true])
    expect(page.text).toContain(words)
    expect(page.forms[0]?.fields).toMatchObject({ ...typed, password: '' })
    expect(page.html).not.toContain(`"${typed.password}"`)
  }
})

const cookiesFor = async (of: Flows, headers: Record<string, string> = {}) => {
  const { pathname, search } = new URL((await of.start('login')).hosted_url)
  const path = pathname.replace(/^.*(?=\/auth\/)/, '')
  const answer = await of.app.raw(path + search, { headers: { accept: 'text/html', ...headers } })
  return answer.headers.getSetCookie()
}

test('A browser without our cookie gets one, which is stored as a hash', async () => {
  const [cookie = ''] = await cookiesFor(acme)
  expect(cookie).toMatch(/^gatehouse_browser=\w{43}; Path=\/auth; HttpOnly; SameSite=Lax$/)
  const [pair = ''] = cookie.split(';')
  for (const known of [pair, `a=1; ${pair}; b=2`])
    expect(await cookiesFor(acme, { cookie: known })).toEqual([])
  for (const other of ['gatehouse_browser=x', pair.slice(0, -1), 'a=1'])
    expect(await cookiesFor(acme, { cookie: other })).toHaveLength(1)
  expect(await cookiesFor(acme, { accept: 'application/json' })).toEqual([])

  const { session_token } = await registered()
  await openedSettings(session_token)
  const kept = browser.cookies.get('gatehouse_browser') as string
  const rows = rowsOf(app, 'gate_flows')
  expect(JSON.stringify(rows)).not.toContain(kept)
  const hash = new Bun.CryptoHasher('sha256').update(kept).digest('hex')
  expect(rows.some(({ browser_hash }) => browser_hash === hash)).toBe(true)

  await using own = await bootFlows({ flags: { 'server-base-url': 'https://example.com/id' } })
  const [safe] = await cookiesFor(own)
  expect(safe).toMatch(/^__Secure-gatehouse_browser=\w+; Path=\/id\/auth; .*; Secure$/)
})

test('A link to another kind starts a new flow of the tenant, which returns to the same app', async () => {
  const from = await acme.start('login', { 'x-return-to': `${RETURN_TO}?a=1` })
  for (const kind of KINDS) {
    const there = await browser.visit(url(`${kind}?from=${from.id}`))
    expect(there.status).toBe(303)
    expect(new URL(there.location).pathname).toBe(`${SELF_SERVICE}/${kind}`)
    const { body } = await acme.readAt(there.location)
    expect(body).toMatchObject({ return_to: `${RETURN_TO}?a=1`, state: 'choose_method' })
    expect(headingOf(await browser.visit(there.location))).toContain('Acme')
    const again = await browser.visit(url(`${kind}?from=${from.id}`))
    expect(new Set([from.id, flowIn(there.location), flowIn(again.location)]).size).toBe(3)
  }
  const { session_token } = await registered()
  const refresh = await acme.start('login', withToken(session_token), '?refresh=true')
  const { location } = await browser.visit(url(`login?from=${refresh.id}`))
  const row = rowsOf(app, 'gate_flows').find(({ id }) => id === flowIn(location))
  expect(row).toMatchObject({ identity_id: null, session_id: null, is_refresh: 0 })
})

test('An address without a page says so with 404, in JSON to programs, and starts no flow', async () => {
  const { id, ui } = await acme.start('login')
  const { session_token } = await registered()
  const settings = await acme.settings(session_token)
  const before = rowsOf(app, 'gate_flows').length
  const unknown = [UNKNOWN_ID, 'x', '', '%00', "'--"].map((other) => `login?from=${other}`)
  const known = [id, settings.id].map((from) => `settings?from=${from}`)
  for (const path of [...unknown, ...known, `login?from=${settings.id}`])
    expect(await browser.visit(url(path))).toMatchObject({ status: 404, forms: [] })

  const flows = [UNKNOWN_ID, 'x', '%00'].map((other) => `login?flow=${other}`)
  for (const path of [...flows, `registration?flow=${id}`, `settings?flow=${id}`]) {
    const fields = { csrf_token: csrfOf({ ui }) }
    for (const page of [await browser.visit(url(path)), await browser.post(url(path), fields)]) {
      expect(page.status).toBe(404)
      expect(headingOf(page)).toBe('Page not found')
    }
  }
  expect(rowsOf(app, 'gate_flows')).toHaveLength(before)
  const missing = { error: 'flow not found', id: 'flow_not_found' }
  const answer = await app.raw(`${SELF_SERVICE}/login?flow=${UNKNOWN_ID}`)
  expect(answer).toMatchObject({ status: 404, body: missing })
})

test('A tenant that is suspended or has used up its allowance has pages that say so', async () => {
  // Pages start flows for a link and for an expired flow.
  const expired = await acme.start('login')
  acme.clock.jump(HOUR)
  const { id } = await acme.start('login')
  const form = await browser.visit(url(`login?flow=${id}`))
  const starts = [url(`registration?from=${id}`), expired.hosted_url]
  const expectUnavailable = (page: Page, status: number) => {
    expect([page.status, headingOf(page)]).toEqual([status, 'Temporarily unavailable'])
    return page.headers.get('retry-after')
  }
  await app.platform.tenants.change(ACTOR, acme.tenantId, { plan: 'free' })
  for (const start of starts) {
    const seconds = expectUnavailable(await browser.visit(start), 429)
    const next = acme.clock.now() + Number(seconds) * 1000
    expect(new Date(next).toISOString()).toEndWith('-01T00:00:00.000Z')
  }
  await app.platform.tenants.suspend(ACTOR, acme.tenantId, 'renewal')
  for (const start of starts) expect(expectUnavailable(await browser.visit(start), 402)).toBeNull()
  acme.clock.jump(HOUR)
  expectUnavailable(await browser.press(form, BY_PASSWORD, { identifier: ADA }), 402)
})

test('A page that expired leads to one new page, which says so', async () => {
  for (const [kind, words] of [
    ['login', 'This sign-in has expired.'],
    ['registration', 'This sign-up has expired.'],
    ['recovery', 'This recovery has expired.'],
    ['verification', 'This verification has expired.'],
  ] as const) {
    const flow = await acme.start(kind, { 'x-return-to': RETURN_TO })
    const page = await browser.visit(flow.hosted_url)
    acme.clock.jump(HOUR)
    const away = await browser.visit(flow.hosted_url)
    const next = await browser.follow(away)
    expect(next.text).toContain(words)
    expect(fieldsOf(next)).toEqual(fieldsOf(page))
    expect((await acme.readAt(away.location)).body.return_to).toBe(RETURN_TO)
    expect((await browser.visit(flow.hosted_url)).location).toBe(away.location)
  }
})

test('An expired page shows nothing of its code', async () => {
  await registered()
  const page = await waiting('recovery')
  const code = acme.codeFor(ADA)
  acme.clock.jump(HOUR)
  const next = await browser.follow(await browser.press(page, BY_CODE, { code }))
  for (const secret of [code, ADA]) expect(next.html).not.toContain(secret)
  expect(fieldsOf(next)).toEqual(['email'])
})

test('Too many sign-ins, links or mails are answered with a page that says when to try again', async () => {
  const perIdentifier = { 'limits-sign-ins-per-identifier-per-minute': '2' }
  await using own = await bootFlows({
    flags: { 'limits-sign-ins-per-minute': '4', ...perIdentifier },
  })
  await own.register(ADA)
  const visitor = newBrowser(own.app)
  const { hosted_url, id } = await own.start('login')
  const page = await visitor.visit(hosted_url)
  const typed = { identifier: ADA, password: 'wrong word' }
  for (let n = 0; n < 2; n++)
    expect((await visitor.press(page, BY_PASSWORD, typed)).status).toBe(422)
  const blocked = await visitor.press(page, BY_PASSWORD, typed)
  expect([blocked.status, blocked.headers.get('retry-after')]).toEqual([429, '30'])
  expect(blocked.text).toContain('Too many attempts. Try again in 30 seconds.')
  expect(blocked.forms[0]?.fields).toMatchObject({ identifier: ADA, password: '' })

  await own.clock.advance(MINUTE)
  const link = url(`registration?from=${id}`)
  for (let n = 0; n < 4; n++) expect((await visitor.visit(link)).status).toBe(303)
  const refused = await visitor.visit(link)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '15'])
  expect(headingOf(refused)).toBe('Too many attempts')
  await own.clock.advance(15_000)
  expect((await visitor.visit(link)).status).toBe(303)

  await registered()
  const waits = await waiting('login')
  const again = await browser.press(waits, ['resend', 'code'])
  expect([again.status, again.headers.get('retry-after')]).toEqual([429, '30'])
  acme.clock.jump(30_000)
  expect((await browser.press(waits, ['resend', 'code'])).status).toBe(303)
})
