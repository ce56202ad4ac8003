import { beforeEach, describe, expect, test } from 'bun:test'
import { ACTOR, type Json, MINUTE, UNKNOWN_ID } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import {
  ADA,
  CODES,
  codesShown,
  complains,
  HOUR,
  NEW_PASSWORD,
  RETURN_TO,
  read,
  STEP,
  withToken,
  wrongCode,
} from './acts.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import {
  bootFlows,
  csrfOf,
  type FlowFixture,
  type Flows,
  flowParty,
  messageIds,
  nodeNames,
  PASSWORD,
  pathOf,
  SELF_SERVICE,
  totpAt,
  useFlows,
} from './fixture.ts'

const KINDS = ['login', 'registration', 'recovery', 'verification'] as const
const BY_PASSWORD: [string, string] = ['method', 'password']
const BY_CODE: [string, string] = ['method', 'code']

const { app, newTenant } = await useFlows()
let acme: Flows
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
const flowIn = (location: string) => new URL(location).searchParams.get('flow') ?? ''
const addressField = (kind: string) =>
  ({ login: 'identifier', registration: 'traits.email' })[kind] ?? 'email'

const opened = async (kind: string): Promise<Page> =>
  browser.visit((await acme.start(kind)).hosted_url)

const openedSettings = async (token: string): Promise<Page> =>
  browser.visit((await acme.settings(token)).hosted_url)

/** An identity whose next mail may be sent at once. */
async function registered(email = ADA): Promise<Json> {
  const answer = await acme.register(email)
  acme.clock.jump(MINUTE)
  return answer
}

/** A page that waits for the code of a mail to `email`. */
async function waiting(kind: string, email = ADA): Promise<Page> {
  const sent = await browser.press(await opened(kind), BY_CODE, { [addressField(kind)]: email })
  expect(sent.status).toBe(303)
  return browser.follow(sent)
}

const signIn = async () => browser.signIn((await acme.start('login')).hosted_url, ADA, PASSWORD)

describe('The page of a flow', () => {
  test.each([
    ['login', 'Sign in to Acme', ['registration', 'recovery']],
    ['registration', 'Create your Acme account', ['login']],
    ['recovery', 'Recover your Acme account', ['login']],
    ['verification', 'Verify your email address for Acme', []],
  ])('of a %s has its nodes, and links to other kinds', async (kind, heading, links) => {
    const flow = await acme.start(kind)
    const page = await browser.visit(flow.hosted_url)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headingOf(page)).toBe(heading)
    const names = nodeNames(flow).map((name) => name.replace(/^\w+:/, ''))
    expect([...fieldsOf(page), ...buttonsOf(page)].toSorted()).toEqual(names.toSorted())
    for (const { action, hidden } of page.forms) {
      expect(action).toBe(flow.ui.action)
      expect(hidden).toEqual({ csrf_token: expect.stringMatching(/^[0-9a-f]{64}$/) })
    }
    expect(page.links.map((link) => new URL(link).pathname)).toEqual(
      links.map((other) => `${SELF_SERVICE}/${other}`),
    )
  })

  test('of settings is filled in, but for the password', async () => {
    const { session_token } = await registered()
    const page = await openedSettings(session_token)
    expect(headingOf(page)).toBe('Your Acme account')
    expect(page.forms.map(({ fields }) => fields)).toEqual([
      { 'traits.email': ADA },
      { password: '' },
      { totp_code: '' },
      {},
    ])
    const buttons = ['profile', 'password', 'totp'].map((method) => `method=${method}`)
    expect(buttonsOf(page)).toEqual([...buttons, 'lookup_secret_regenerate=true'])
    expect(page.html).toContain('<img class="picture" src="data:image/png;base64,')
  })

  test.each(KINDS)('of a %s waits for the code, and does not show a wrong one', async (kind) => {
    if (kind !== 'registration') await registered()
    const page = await waiting(kind)
    expect(headingOf(page)).toBe('Enter the code from Acme')
    expect(page.forms[0]?.fields).toEqual({ code: '' })
    expect(buttonsOf(page)[0]).toBe('method=code')

    const wrong = await browser.press(page, BY_CODE, { code: '7654321' })
    expect(wrong.status).toBe(422)
    expect(wrong.html).not.toContain('7654321')
    expect(wrong.text).toContain('This code is incorrect')
  })

  test('of a second factor does not show whose it is, nor a wrong code', async () => {
    const { session_token } = await registered()
    const secret = await acme.enrol(session_token)
    acme.clock.jump(STEP)
    const page = await browser.follow(await signIn())
    expect(headingOf(page)).toBe('Two-factor authentication for Acme')
    expect(fieldsOf(page)).toEqual(['totp_code'])
    expect(page.html).not.toContain(ADA)

    const totp_code = wrongCode(acme, secret)
    const wrong = await browser.press(page, ['method', 'totp'], { totp_code })
    expect(wrong.status).toBe(422)
    expect(wrong.html).not.toContain(`value="${totp_code}"`)
  })

  test('that is over says how it ended, and has no form', async () => {
    const signUp = await opened('registration')
    await browser.press(signUp, BY_PASSWORD, { 'traits.email': ADA, password: PASSWORD })
    const signedUp = await browser.visit(signUp.forms[0]?.action ?? '')
    const { hosted_url } = await acme.start('login')
    await browser.signIn(hosted_url, ADA, PASSWORD)
    const signedIn = await browser.visit(hosted_url)

    acme.clock.jump(MINUTE)
    const code = await waiting('verification')
    const sent = await browser.press(code, BY_CODE, { code: acme.codeFor(ADA) })
    const choosing = await browser.follow(sent)
    expect(headingOf(choosing)).toBe('Verify your email address for Acme')
    const login = await browser.follow(await browser.press(choosing, ['confirm_by', 'sign_in']))
    const done = await browser.press(login, BY_PASSWORD, { password: PASSWORD })
    const verified = await browser.follow(done)

    acme.clock.jump(MINUTE)
    const recovery = await waiting('recovery')
    await browser.press(recovery, BY_CODE, { code: acme.codeFor(ADA) })
    const recovered = await browser.visit(recovery.forms[0]?.action ?? '')

    const pages = [signedUp, signedIn, verified, recovered]
    expect(pages.map(headingOf)).toEqual([
      'Your account is ready',
      "You're signed in",
      'Email address verified for Acme',
      'Welcome back to Acme',
    ])
    for (const page of pages)
      expect([page.status, ...fieldsOf(page), ...buttonsOf(page)]).toEqual([200])
  })

  test('is sent if Accept names HTML, and JSON otherwise', async () => {
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
  })

  test('is in the language of the browser, also after a form', async () => {
    const german = newBrowser(app, { 'accept-language': 'de-CH,de;q=0.9,en;q=0.5' })
    const { hosted_url } = await acme.start('login')
    const page = await german.visit(hosted_url)
    expect(page.html).toContain('<html lang="de">')
    expect(headingOf(page)).toBe('Bei Acme anmelden')
    const wrong = await german.press(page, BY_PASSWORD, { identifier: ADA, password: 'wrong' })
    expect(wrong.text).toContain('E-Mail-Adresse oder Passwort ist falsch.')
  })

  test('has the code of a mail’s link as a hidden field, as text, and does not send it', async () => {
    await registered()
    for (const kind of ['verification', 'recovery']) {
      await waiting(kind)
      const link = acme.linkFor(ADA)
      for (let n = 0; n < 3; n++) {
        const page = await newBrowser(app).visit(link)
        const code = new URL(link).searchParams.get('code') as string
        expect(page.forms[0]?.hidden.code).toBe(code)
        expect(fieldsOf(page)).toEqual([])
        expect(page.text).toContain(ADA)
      }
      const done = await browser.press(await browser.visit(link), BY_CODE)
      expect(done.status).toBe(303)
      acme.clock.jump(MINUTE)
    }
    const { action } = (await waiting('verification')).forms[0] ?? {}
    const hostile = encodeURIComponent('"><script>alert(1)</script>')
    expect((await browser.visit(`${action}&code=${hostile}`)).html).not.toContain('<script')
  })
})

describe('A form leads on with 303', () => {
  test('to the app, or to the settings if there is none', async () => {
    await registered()
    const there = await acme.start('login', { 'x-return-to': RETURN_TO })
    const away = await browser.signIn(there.hosted_url, ADA, PASSWORD)
    expect(away).toMatchObject({ status: 303, html: '' })
    expect(away.location).toStartWith(`${RETURN_TO}?flow=${there.id}&code=`)
    const stays = await signIn()
    expect(stays).toMatchObject({ status: 303, html: '' })
    expect(headingOf(await browser.follow(stays))).toBe('Your Acme account')
  })

  test('from a recovery to the settings, in the same browser', async () => {
    await registered()
    const done = await browser.press(await waiting('recovery'), BY_CODE, {
      code: acme.codeFor(ADA),
    })
    expect(new URL(done.location).pathname).toBe(`${SELF_SERVICE}/settings`)
    const settings = await browser.follow(done)
    await browser.press(settings, BY_PASSWORD, { password: NEW_PASSWORD })
    expect(await acme.tryPassword(ADA, NEW_PASSWORD)).toMatchObject({ status: 200 })
  })

  test('from each change of settings to new settings, which confirm it', async () => {
    const { session_token } = await registered()
    let page = await openedSettings(session_token)
    const change = async (button: [string, string], typed: Record<string, string> = {}) => {
      const before = page.forms[0]?.action ?? ''
      const answer = await browser.press(page, button, typed)
      expect(answer).toMatchObject({ status: 303, html: '' })
      expect(flowIn(answer.location)).not.toBe(flowIn(before))
      page = await browser.follow(answer)
      expect(page.text).toContain('Your changes have been saved.')
      return new URL(answer.location).hash
    }
    expect(await change(['method', 'profile'])).toBe('')
    await change(BY_PASSWORD, { password: NEW_PASSWORD })
    const key = [...page.html.matchAll(/<span>([A-Z2-7]{4})<\/span>/g)].map(([, four]) => four)
    await change(['method', 'totp'], { totp_code: totpAt(key.join(''), acme.clock.now()) })

    const made = await browser.press(page, ['lookup_secret_regenerate', 'true'])
    expect(new URL(made.location).hash).toBe('#section-lookup_secret')
    page = await browser.follow(made)
    const codes = [...page.html.matchAll(/<li>([0-9a-z-]{9})<\/li>/g)].map(([, code]) => code)
    const { body } = await read(acme, made.location, withToken(session_token))
    expect(codes).toEqual(codesShown(body))
    expect(messageIds(body)).toEqual([])
    await change(['lookup_secret_confirm', 'true'])
    for (const code of codes) expect(page.html).not.toContain(code as string)
    expect(await acme.change(session_token, CODES.keep)).toMatchObject(complains(4000014))
    await change(['lookup_secret_disable', 'true'])
    await change(['totp_unlink', 'true'])
    expect(fieldsOf(page)).toContain('totp_code')
  })

  test('from a new address to settings that say where the code went', async () => {
    const { session_token } = await registered()
    const page = await openedSettings(session_token)
    const typed = { 'traits.email': 'new@example.com' }
    const done = await browser.follow(await browser.press(page, ['method', 'profile'], typed))
    expect(done.text).toContain('sent a code to new@example.com')
    expect(done.forms[0]?.fields['traits.email']).toBe(ADA)
  })
})

describe('A form with an error is shown again with 422', () => {
  test.each([
    [
      'login',
      { identifier: ADA, password: 'my secret word' },
      'Incorrect email address or password.',
    ],
    ['registration', { 'traits.email': ADA, password: 'q8Rt!z2' }, 'This password is too short.'],
    ['login', { identifier: '', password: 'x' }, 'is required'],
    ['login', { identifier: ADA, password: '' }, 'is required'],
  ] as [string, Record<string, string>, string][])('%s %j', async (kind, typed, words) => {
    const page = await browser.press(await opened(kind), BY_PASSWORD, typed)
    expect(page.status).toBe(422)
    expect(page.text).toContain(words)
    expect(page.html).toContain('<title>Error: ')
    expect(page.forms[0]?.fields).toMatchObject({ ...typed, password: '' })
    if (typed.password) expect(page.html).not.toContain(`"${typed.password}"`)
  })

  test('of settings, too, and the session stays', async () => {
    const { session_token } = await registered()
    const page = await openedSettings(session_token)
    const wrong = await browser.press(page, BY_PASSWORD, { password: PASSWORD })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('This is your current password.')
    expect(await acme.whoami(session_token)).toMatchObject({ status: 200 })
  })

  test('and without fields if it was completed before', async () => {
    await registered()
    const page = await opened('login')
    const typed = { identifier: ADA, password: PASSWORD }
    expect((await browser.press(page, BY_PASSWORD, typed)).status).toBe(303)
    const again = await browser.press(page, BY_PASSWORD, typed)
    expect(again.status).toBe(422)
    expect(again.text).toContain('This sign-in is already complete.')
    expect(fieldsOf(again)).toEqual([])
  })

  test('also if its fields have hostile names', async () => {
    const { action = '', hidden = {} } = (await opened('login')).forms[0] ?? {}
    const odd: Record<string, string>[] = [
      { __proto__x: '1', 'constructor.prototype.a': '1' },
      { 'traits.email.x.y': '1', traits: 'x', method: 'password' },
      { 'method.x': 'password' },
      { 'identifier.a': 'b', method: 'password', password: 'x' },
    ]
    for (const extra of odd)
      expect((await browser.post(action, { ...hidden, ...extra })).status).toBe(422)
  })
})

test('A program may send a form, and gets JSON', async () => {
  await registered()
  const flow = await acme.start('login')
  const fields = { method: 'password', identifier: ADA, password: PASSWORD }
  const headers = { accept: 'application/json' }
  const answer = await acme.post(flow.ui.action, { csrf_token: csrfOf(flow), ...fields }, headers)
  expect(answer).toMatchObject({ status: 200, body: { session: { active: true } } })
})

describe('The cookie of a browser', () => {
  const cookieFor = async (of: Flows, headers: Record<string, string> = {}) => {
    const { pathname, search } = new URL((await of.start('login')).hosted_url)
    const path = pathname.replace(/^.*(?=\/auth\/)/, '')
    const answer = await of.app.raw(path + search, { headers: { accept: 'text/html', ...headers } })
    return answer.headers.getSetCookie()
  }

  test.each([
    [undefined, 'gatehouse_browser', 'Path=/auth; HttpOnly; SameSite=Lax'],
    [
      'https://id.example.com',
      '__Host-gatehouse_browser',
      'Path=/; HttpOnly; SameSite=Lax; Secure',
    ],
    [
      'https://example.com/id',
      '__Secure-gatehouse_browser',
      'Path=/id/auth; HttpOnly; SameSite=Lax; Secure',
    ],
  ])('at %s is %s with %s', async (baseUrl, name, attributes) => {
    await using own = await bootFlows({ flags: baseUrl ? { 'server-base-url': baseUrl } : {} })
    const [cookie = '', ...rest] = await cookieFor(own)
    expect(rest).toEqual([])
    expect(cookie.replace(/=[0-9A-Za-z]{43}; /, '; ')).toBe(`${name}; ${attributes}`)
    expect(await cookieFor(own)).not.toEqual([cookie])
  })

  test('is set on pages for browsers that have none of ours', async () => {
    const [cookie = ''] = (await cookieFor(acme)).map((each) => each.split(';')[0])
    for (const known of [cookie, `a=1; ${cookie}; b=2`])
      expect(await cookieFor(acme, { cookie: known })).toEqual([])
    for (const other of ['gatehouse_browser=', 'gatehouse_browser=x', cookie.slice(0, -1), 'a=1'])
      expect(await cookieFor(acme, { cookie: other })).toHaveLength(1)
    expect(await cookieFor(acme, { accept: 'application/json' })).toEqual([])
  })

  test('is stored as a hash', async () => {
    const { session_token } = await registered()
    await openedSettings(session_token)
    const cookie = browser.cookies.get('gatehouse_browser') as string
    const rows = rowsOf(app, 'gate_flows')
    expect(JSON.stringify(rows)).not.toContain(cookie)
    const hash = new Bun.CryptoHasher('sha256').update(cookie).digest('hex')
    expect(rows.some(({ browser_hash }) => browser_hash === hash)).toBe(true)
  })
})

describe('A link to another kind', () => {
  test('starts a new flow of the tenant, which returns to the same app', async () => {
    const other = await flowParty(app, 'Initech')
    const from = await other.start('login', { 'x-return-to': `${RETURN_TO}?a=1` })
    for (const kind of KINDS) {
      const there = await browser.visit(url(`${kind}?from=${from.id}`))
      expect(there.status).toBe(303)
      expect(new URL(there.location).pathname).toBe(`${SELF_SERVICE}/${kind}`)
      const { body } = await read(acme, there.location)
      expect(body).toMatchObject({ return_to: `${RETURN_TO}?a=1`, state: 'choose_method' })
      expect(headingOf(await browser.visit(there.location))).toContain('Initech')
      const again = await browser.visit(url(`${kind}?from=${from.id}`))
      expect(new Set([from.id, flowIn(there.location), flowIn(again.location)]).size).toBe(3)
    }
  })

  test('is not found from an unknown flow, to settings, or from settings', async () => {
    const login = await acme.start('login')
    const { session_token } = await registered()
    const settings = await acme.settings(session_token)
    const before = rowsOf(app, 'gate_flows').length
    const unknown = [UNKNOWN_ID, 'x', '', '%00', "'--"].map((id) => `login?from=${id}`)
    const known = [login, settings].map(({ id }) => `settings?from=${id}`)
    for (const path of [...unknown, ...known, `login?from=${settings.id}`])
      expect(await browser.visit(url(path))).toMatchObject({ status: 404, forms: [] })
    expect(rowsOf(app, 'gate_flows')).toHaveLength(before)
  })

  test('leads from a flow of a session to one of none', async () => {
    const { session_token } = await registered()
    const refresh = await acme.start('login', withToken(session_token), '?refresh=true')
    const { location } = await browser.visit(url(`login?from=${refresh.id}`))
    const row = rowsOf(app, 'gate_flows').find(({ id }) => id === flowIn(location))
    expect(row).toMatchObject({ identity_id: null, session_id: null, is_refresh: 0 })
  })

  test('is rate limited', async () => {
    await using own = await bootFlows()
    const visitor = newBrowser(own.app)
    const link = url(`registration?from=${(await own.start('login')).id}`)
    for (let n = 0; n < 60; n++) expect((await visitor.visit(link)).status).toBe(303)
    const page = await visitor.visit(link)
    expect(page.status).toBe(429)
    expect(page.headers.get('retry-after')).toBe('1')
    expect(headingOf(page)).toBe('Too many attempts')
    await own.clock.advance(1000)
    expect((await visitor.visit(link)).status).toBe(303)
  })
})

describe('A tenant that may start no flow', () => {
  /** The two ways by which pages start flows: a link, and an expired flow. */
  async function starts(of: Pick<FlowFixture, 'start' | 'clock'>) {
    const expired = await of.start('login')
    of.clock.jump(HOUR)
    const { id } = await of.start('login')
    const form = await browser.visit(url(`login?flow=${id}`))
    return { form, urls: [url(`registration?from=${id}`), expired.hosted_url] }
  }

  test('has pages with 402 while it is suspended, also for forms', async () => {
    const { form, urls } = await starts(acme)
    await app.platform.tenants.suspend(ACTOR, acme.tenantId, 'renewal')
    const pages = []
    for (const start of urls) pages.push(await browser.visit(start))
    acme.clock.jump(HOUR)
    pages.push(await browser.press(form, BY_PASSWORD, { identifier: ADA, password: 'x' }))
    for (const page of pages) {
      expect(page.status).toBe(402)
      expect(page.headers.get('retry-after')).toBeNull()
      expect(headingOf(page)).toBe('Temporarily unavailable')
    }
  })

  test('has pages with 429 until next month once its allowance is used up', async () => {
    await using own = await bootFlows({ flags: { 'metering-free-requests': '1' } })
    browser = newBrowser(own.app)
    const { urls } = await starts(own)
    await own.app.platform.tenants.change(ACTOR, own.tenantId, { plan: 'free' })
    for (const start of urls) {
      const page = await browser.visit(start)
      expect(page.status).toBe(429)
      expect(headingOf(page)).toBe('Temporarily unavailable')
      const next = own.clock.now() + Number(page.headers.get('retry-after')) * 1000
      expect(new Date(next).toISOString()).toEndWith('-01T00:00:00.000Z')
    }
  })
})

describe('A page that expired', () => {
  test.each([
    ['login', 'This sign-in has expired.'],
    ['registration', 'This sign-up has expired.'],
    ['recovery', 'This recovery has expired.'],
    ['verification', 'This verification has expired.'],
  ])('of a %s leads to one new page, which says so', async (kind, words) => {
    const flow = await acme.start(kind, { 'x-return-to': RETURN_TO })
    const page = await browser.visit(flow.hosted_url)
    acme.clock.jump(HOUR)
    const away = await browser.visit(flow.hosted_url)
    expect(away).toMatchObject({ status: 303, html: '' })
    const next = await browser.follow(away)
    expect(next.text).toContain(words)
    expect(fieldsOf(next)).toEqual(fieldsOf(page))
    expect((await read(acme, away.location)).body.return_to).toBe(RETURN_TO)
    expect((await browser.visit(flow.hosted_url)).location).toBe(away.location)
  })

  test('does so also if its form is sent', async () => {
    await registered()
    const page = await opened('login')
    acme.clock.jump(HOUR)
    const typed = { identifier: ADA, password: PASSWORD }
    const next = await browser.follow(await browser.press(page, BY_PASSWORD, typed))
    expect(next.text).toContain('This sign-in has expired.')
    const done = await browser.follow(await browser.press(next, BY_PASSWORD, typed))
    expect(done.text).toContain("You're signed in")
  })

  test('leads its own browser only, if it was one’s', async () => {
    const { session_token } = await registered()
    const { hosted_url } = await acme.settings(session_token)
    await browser.visit(hosted_url)
    acme.clock.jump(HOUR)
    const away = await browser.visit(hosted_url)
    expect((await newBrowser(app).visit(away.location)).status).toBe(403)
    expect((await browser.follow(away)).text).toContain('This settings page has expired.')
  })

  test('shows nothing of the code that it waited for', async () => {
    await registered()
    const page = await waiting('recovery')
    const code = acme.codeFor(ADA)
    acme.clock.jump(HOUR)
    const next = await browser.follow(await browser.press(page, BY_CODE, { code }))
    expect(next.html).not.toContain(code)
    expect(next.html).not.toContain(ADA)
    expect(fieldsOf(next)).toEqual(['email'])
  })
})

describe('An address without a page', () => {
  test('says so with 404, in JSON to programs', async () => {
    const { id, ui } = await acme.start('login')
    const paths = [UNKNOWN_ID, 'x', '%00'].map((unknown) => `login?flow=${unknown}`)
    for (const path of [...paths, `registration?flow=${id}`, `settings?flow=${id}`]) {
      const fields = { csrf_token: csrfOf({ ui }) }
      for (const page of [await browser.visit(url(path)), await browser.post(url(path), fields)]) {
        expect(page.status).toBe(404)
        expect(headingOf(page)).toBe('Page not found')
      }
    }
    expect(await app.raw(`${SELF_SERVICE}/login?flow=${UNKNOWN_ID}`)).toMatchObject({
      status: 404,
      body: { error: 'flow not found', id: 'flow_not_found' },
    })
  })

  test.each([
    ['GET', 'login', 400],
    ['POST', 'login', 400],
    ['GET', 'nothing?flow=x', 404],
    ['POST', 'nothing', 404],
    ['GET', 'login/x', 404],
    ['PUT', 'login?flow=x', 405],
  ])('answers %s %s with safe headers', async (method, path, status) => {
    const headers = { accept: 'text/html' }
    const answer = await app.raw(`${SELF_SERVICE}/${path}`, { method, headers })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
  })
})

describe('Hostile text', () => {
  const HOSTILE = `"><img src=x onerror=alert(1)>'&amp;<script>alert(2)</script>`

  const expectHarmless = ({ html }: Page) => {
    expect(html).not.toContain('<script')
    expect(html).not.toContain('<img src=x')
    expect(html).not.toMatch(/<[a-z]+[^>]*\son\w+=/i)
  }

  test('in the name of a tenant is text on every page', async () => {
    const party = await flowParty(app, HOSTILE)
    const { session_token } = await party.register(ADA)
    const flows = [await party.settings(session_token)]
    for (const kind of KINDS) flows.push(await party.start(kind))
    for (const { hosted_url } of flows) {
      const page = await browser.visit(hosted_url)
      expectHarmless(page)
      expect(page.text).toContain('<img src=x onerror=alert(1)>')
    }
  })

  test('in an address is text in the form that shows it again', async () => {
    for (const kind of KINDS) {
      const isByCode = kind === 'recovery' || kind === 'verification'
      const field = addressField(kind)
      const typed = { [field]: HOSTILE, ...(!isByCode && { password: PASSWORD }) }
      const page = await browser.press(await opened(kind), isByCode ? BY_CODE : BY_PASSWORD, typed)
      expect(page.status).toBe(422)
      expectHarmless(page)
      expect(page.forms[0]?.fields[field]).toBe(HOSTILE)
    }
    const { session_token } = await registered(`o'brien&co@example.com`)
    const settings = await openedSettings(session_token)
    expect(settings.forms[0]?.fields['traits.email']).toBe(`o'brien&co@example.com`)
  })

  test('in a provider or a method is not shown', async () => {
    const { action = '', hidden = {} } = (await opened('login')).forms[0] ?? {}
    const odd: Record<string, string>[] = [
      { method: HOSTILE },
      { method: 'oidc', provider: HOSTILE },
    ]
    for (const fields of odd) {
      const page = await browser.post(action, { ...hidden, ...fields })
      expect(page.status).toBe(422)
      expectHarmless(page)
    }
  })
})

test('Too many sign-ins are answered with a page that says when to try again', async () => {
  await using own = await bootFlows()
  await own.register(ADA)
  const visitor = newBrowser(own.app)
  const { hosted_url } = await own.start('login')
  const page = await visitor.visit(hosted_url)
  const typed = { identifier: ADA, password: 'wrong word' }
  for (let n = 0; n < 10; n++)
    expect((await visitor.press(page, BY_PASSWORD, typed)).status).toBe(422)

  const blocked = await visitor.press(page, BY_PASSWORD, typed)

  expect(blocked.status).toBe(429)
  expect(blocked.headers.get('retry-after')).toBe('6')
  expect(blocked.text).toContain('Too many attempts. Try again in 6 seconds.')
  expect(blocked.forms[0]?.fields).toMatchObject({ identifier: ADA, password: '' })
  await own.clock.advance(6000)
  expect((await visitor.signIn(hosted_url, ADA, PASSWORD)).status).toBe(303)
})

test('Too many mails are, too', async () => {
  await registered()
  const page = await waiting('login')
  const again = await browser.press(page, ['resend', 'code'])
  expect(again.status).toBe(429)
  expect(again.headers.get('retry-after')).toBe('30')
  acme.clock.jump(30_000)
  expect((await browser.press(page, ['resend', 'code'])).status).toBe(303)
})
