import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { ACTOR, type Json, MINUTE, UNKNOWN_ID } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import {
  bootUnhurried,
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
  flowParty,
  messageIds,
  nodeNames,
  PASSWORD,
  pathOf,
  SELF_SERVICE,
  totpAt,
} from './fixture.ts'

const KINDS = ['login', 'registration', 'recovery', 'verification'] as const
const BY_PASSWORD: [string, string] = ['method', 'password']
const BY_CODE: [string, string] = ['method', 'code']

let fixture: FlowFixture
beforeAll(async () => {
  fixture = await bootUnhurried()
  await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
})
afterAll(() => fixture.app.stop())

let people = 0
let email: string
let browser: Browser
beforeEach(() => {
  email = `visitor-${people++}@example.com`
  browser = newBrowser(fixture.app)
  fixture.clock.jump(MINUTE)
})

const buttonsOf = ({ forms }: Page): string[] =>
  forms.flatMap(({ buttons }) => buttons.map(([name, value]) => `${name}=${value}`))
const fieldsOf = ({ forms }: Page): string[] => forms.flatMap(({ fields }) => Object.keys(fields))

/** Opens a new flow of a kind. */
async function opened(kind: string, headers: Record<string, string> = {}): Promise<Page> {
  return browser.visit((await fixture.start(kind, headers)).hosted_url)
}

/** A page that waits for the code of a mail. */
async function asked(kind: 'login' | 'registration' | 'recovery' | 'verification') {
  const field = { login: 'identifier', registration: 'traits.email' }[kind as string] ?? 'email'
  const answer = await browser.press(await opened(kind), BY_CODE, { [field]: email })
  return browser.follow(answer)
}

const flowIdIn = ({ forms }: Page): string =>
  new URL(forms[0]?.action ?? '').searchParams.get('flow') ?? ''

const headingOf = ({ html }: Page): string =>
  (/<h1>(.*?)<\/h1>/.exec(html)?.[1] ?? '').replaceAll(/<[^>]*>/g, '')

describe('a flow is a page for a browser', () => {
  test.each([
    ['login', 'Sign in to Acme'],
    ['registration', 'Create your Acme account'],
    ['recovery', 'Recover your Acme account'],
    ['verification', 'Verify your email address for Acme'],
  ])('%s: with every field and button that programs are told of', async (kind, heading) => {
    const flow = await fixture.start(kind)
    const page = await browser.visit(flow.hosted_url)

    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headingOf(page)).toBe(heading)
    const names = nodeNames(flow).map((name) => name.replace(/^\w+:/, ''))
    expect([...fieldsOf(page), ...buttonsOf(page)].toSorted()).toEqual(names.toSorted())
    for (const { action, hidden } of page.forms) {
      expect(action).toBe(flow.ui.action)
      expect(hidden.csrf_token).toMatch(/^[0-9a-f]{64}$/)
      expect(hidden).toEqual(page.forms[0]?.hidden as never)
    }
  })

  test('settings: with what there is filled in', async () => {
    const { session_token } = await fixture.register(email)
    const flow = await fixture.settings(session_token)
    const page = await browser.visit(flow.hosted_url)

    expect(page.status).toBe(200)
    expect(headingOf(page)).toBe('Your Acme account')
    expect(fieldsOf(page)).toEqual(['traits.email', 'password', 'totp_code'])
    expect(page.forms[0]?.fields['traits.email']).toBe(email)
    expect(page.forms.filter(({ fields }) => 'password' in fields)[0]?.fields.password).toBe('')
    expect(buttonsOf(page)).toEqual([
      'method=profile',
      'method=password',
      'method=totp',
      'lookup_secret_regenerate=true',
    ])
    expect(page.html).toContain('<img class="picture" src="data:image/png;base64,')
  })

  test.each(KINDS)('%s: while it waits for a code', async (kind) => {
    await fixture.register(email)
    fixture.clock.jump(MINUTE)
    if (kind === 'registration') email = `new-${email}`
    const page = await asked(kind)

    expect(page.status).toBe(200)
    expect(headingOf(page)).toBe('Enter the code from Acme')
    expect(fieldsOf(page)).toEqual(['code'])
    expect(page.forms[0]?.fields.code).toBe('')
    expect(buttonsOf(page)[0]).toBe('method=code')
  })

  test('for the second factor: without a word about who it is', async () => {
    const { session_token } = await fixture.register(email)
    await fixture.enrol(session_token)
    const { hosted_url } = await fixture.start('login')
    const page = await browser.follow(await browser.signIn(hosted_url, email, PASSWORD))
    expect(headingOf(page)).toBe('Two-factor authentication for Acme')
    expect(fieldsOf(page)).toEqual(['totp_code'])
    expect(page.html).not.toContain(email)
  })

  test('that is over: says how it ended, and has nothing to fill in', async () => {
    const signUp = await opened('registration')
    await browser.press(signUp, BY_PASSWORD, { 'traits.email': email, password: PASSWORD })
    const signedUp = await browser.visit(signUp.forms[0]?.action ?? '')
    expect(headingOf(signedUp)).toBe('Your account is ready')
    const { hosted_url } = await fixture.start('login')
    await browser.signIn(hosted_url, email, PASSWORD)
    const signedIn = await browser.visit(hosted_url)
    expect(headingOf(signedIn)).toBe("You're signed in")
    fixture.clock.jump(MINUTE)
    const code = await asked('verification')
    const sent = await browser.press(code, BY_CODE, { code: fixture.codeFor(email) })
    const choosing = await browser.follow(sent)
    expect(headingOf(choosing)).toBe('Verify your email address for Acme')
    const asked2 = await browser.follow(await browser.press(choosing, ['confirm_by', 'sign_in']))
    const verified = await browser.follow(
      await browser.press(asked2, BY_PASSWORD, { password: PASSWORD }),
    )
    expect(headingOf(verified)).toBe('Email address verified for Acme')
    fixture.clock.jump(MINUTE)
    const way = await asked('recovery')
    await browser.press(way, BY_CODE, { code: fixture.codeFor(email) })
    const recovered = await browser.visit(way.forms[0]?.action ?? '')
    expect(headingOf(recovered)).toBe('Welcome back to Acme')

    for (const page of [signedUp, signedIn, verified, recovered]) {
      expect(page).toMatchObject({ status: 200 })
      expect(fieldsOf(page)).toEqual([])
      expect(buttonsOf(page)).toEqual([])
    }
  })

  test('by the header Accept alone', async () => {
    const { hosted_url } = await fixture.start('login')
    const typeFor = async (accept?: string) => {
      const headers = accept === undefined ? {} : { accept }
      const answer = await fixture.app.raw(pathOf(hosted_url), { headers: headers as never })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('vary')).toContain('Accept')
      return answer.headers.get('content-type')?.split(';')[0]
    }
    expect(await typeFor('text/html')).toBe('text/html')
    expect(await typeFor('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8')).toBe(
      'text/html',
    )
    for (const accept of [undefined, '*/*', 'application/json', 'text/plain', ''])
      expect(await typeFor(accept)).toBe('application/json')
  })

  test('in the language of the browser, from step to step', async () => {
    const german = newBrowser(fixture.app, { 'accept-language': 'de-CH,de;q=0.9,en;q=0.5' })
    const { hosted_url } = await fixture.start('login')
    const page = await german.visit(hosted_url)
    expect(page.html).toContain('<html lang="de">')
    expect(headingOf(page)).toBe('Bei Acme anmelden')
    const wrong = await german.press(page, BY_PASSWORD, { identifier: email, password: 'wrong' })
    expect(wrong.text).toContain('E-Mail-Adresse oder Passwort ist falsch.')
    expect(headingOf(await newBrowser(fixture.app).visit(hosted_url))).toContain('Acme')
  })

  test('of the tenant whose it is', async () => {
    const party = await flowParty(fixture.app, 'Globex')
    const page = await browser.visit((await party.start('login')).hosted_url)
    expect(headingOf(page)).toBe('Sign in to Globex')
    expect(page.html).not.toContain('Acme')
  })

  test('with the secret of the mail’s link filled in unseen, and not sent', async () => {
    await fixture.register(email)
    fixture.clock.jump(MINUTE)
    for (const [kind, heading] of [
      ['verification', 'Verify your email address for Acme'],
      ['recovery', 'Recover your Acme account'],
    ] as const) {
      await asked(kind)
      const link = fixture.linkFor(email)
      for (let n = 0; n < 3; n++) {
        const page = await newBrowser(fixture.app).visit(link)
        expect(page.forms[0]?.hidden.code).toBe(new URL(link).searchParams.get('code') as string)
        expect([headingOf(page), ...fieldsOf(page)]).toEqual([heading])
        expect(page.text).toContain(email)
      }
      const done = await browser.press(await browser.visit(link), BY_CODE)
      expect(done.status).toBe(303)
      fixture.clock.jump(MINUTE)
    }
  })

  test('and a link with a hostile code shows it as text', async () => {
    const page = await asked('verification')
    const code = `"><script>alert(1)</script>`
    const url = `${page.forms[0]?.action}&code=${encodeURIComponent(code)}`
    const shown = await browser.visit(url)
    expect(shown.status).toBe(200)
    expect(shown.html).not.toContain('<script')
  })
})

describe('each form leads on by 303, so that no form is sent twice', () => {
  test('to the app, or to the account where there is none', async () => {
    await fixture.register(email)
    const there = await fixture.start('login', { 'x-return-to': RETURN_TO })
    const away = await browser.signIn(there.hosted_url, email, PASSWORD)
    expect(away).toMatchObject({ status: 303, html: '' })
    expect(away.location).toStartWith(`${RETURN_TO}?flow=${there.id}&code=`)
    const here = await fixture.start('login')
    const stays = await browser.signIn(here.hosted_url, email, PASSWORD)
    expect(stays).toMatchObject({ status: 303, html: '' })
    expect(headingOf(await browser.follow(stays))).toBe('Your Acme account')
  })

  test.each(KINDS)('for a code of a mail: %s', async (kind) => {
    const flow = await fixture.start(kind)
    const field = { login: 'identifier', registration: 'traits.email' }[kind as string] ?? 'email'
    const page = await browser.visit(flow.hosted_url)
    expect(await browser.press(page, BY_CODE, { [field]: email })).toMatchObject({
      status: 303,
      location: flow.hosted_url,
    })
  })

  test('after a recovery to the settings, of the same browser', async () => {
    await fixture.register(email)
    fixture.clock.jump(MINUTE)
    const page = await asked('recovery')
    const done = await browser.press(page, BY_CODE, { code: fixture.codeFor(email) })
    expect(done.status).toBe(303)
    expect(new URL(done.location).pathname).toBe(`${SELF_SERVICE}/settings`)
    const settings = await browser.follow(done)
    const changed = await browser.press(settings, BY_PASSWORD, { password: NEW_PASSWORD })
    expect(changed.status).toBe(303)
    expect(await fixture.tryPassword(email, NEW_PASSWORD)).toMatchObject({ status: 200 })
  })

  test('after each change of settings to new ones, which say what was done', async () => {
    const { session_token } = await fixture.register(email)
    let page = await browser.visit((await fixture.settings(session_token)).hosted_url)
    const change = async (button: [string, string], typed: Record<string, string> = {}) => {
      const before = flowIdIn(page)
      const answer = await browser.press(page, button, typed)
      expect(answer).toMatchObject({ status: 303, html: '' })
      expect(new URL(answer.location).searchParams.get('flow')).not.toBe(before)
      page = await browser.follow(answer)
      expect(page.status).toBe(200)
      expect(page.text).toContain('Your changes have been saved.')
    }
    await change(['method', 'profile'])
    await change(BY_PASSWORD, { password: NEW_PASSWORD })
    const key = [...page.html.matchAll(/<span>([A-Z2-7]{4})<\/span>/g)].map(([, four]) => four)
    await change(['method', 'totp'], { totp_code: totpAt(key.join(''), fixture.clock.now()) })
    expect(buttonsOf(page)).toContain('totp_unlink=true')

    const shown = await browser.follow(
      await browser.press(page, ['lookup_secret_regenerate', 'true']),
    )
    const codes = [...shown.html.matchAll(/<li>([0-9a-z-]{9})<\/li>/g)].map(([, code]) => code)
    expect(codes).toHaveLength(10)
    page = shown
    await change(['lookup_secret_confirm', 'true'])
    expect(page.html).not.toContain(codes[0] as string)
    await change(['lookup_secret_disable', 'true'])
    await change(['totp_unlink', 'true'])
    expect(fieldsOf(page)).toContain('totp_code')
  })

  test('after a new address to settings that say where the code went', async () => {
    const { session_token } = await fixture.register(email)
    fixture.clock.jump(MINUTE)
    const page = await browser.visit((await fixture.settings(session_token)).hosted_url)
    const done = await browser.follow(
      await browser.press(page, ['method', 'profile'], { 'traits.email': `new-${email}` }),
    )
    expect(done.text).toContain(`sent a code to new-${email}`)
    expect(done.forms[0]?.fields['traits.email']).toBe(email)
  })
})

describe('what is wrong with a form is said on the same page, with 422', () => {
  test('and what was typed is shown again, but for the password', async () => {
    const { hosted_url } = await fixture.start('login')
    const page = await browser.signIn(hosted_url, email, 'my secret word')
    expect(page.status).toBe(422)
    expect(page.text).toContain('Incorrect email address or password.')
    expect(page.forms[0]?.fields).toMatchObject({ identifier: email, password: '' })
    expect(page.html).not.toContain('my secret word')
    expect(page.html).toContain('<title>Error: Sign in to Acme</title>')
  })

  test('of a sign-up as well', async () => {
    const page = await browser.press(await opened('registration'), BY_PASSWORD, {
      'traits.email': email,
      password: 'q8Rt!z2',
    })
    expect(page.status).toBe(422)
    expect(page.text).toContain('This password is too short.')
    expect(page.forms[0]?.fields).toMatchObject({ 'traits.email': email, password: '' })
    expect(page.html).not.toContain('q8Rt!z2')
  })

  test.each(KINDS)('but for the code of a mail: %s', async (kind) => {
    await fixture.register(email)
    fixture.clock.jump(MINUTE)
    if (kind === 'registration') email = `new-${email}`
    const page = await asked(kind)
    const wrong = await browser.press(page, BY_CODE, { code: '7654321' })
    expect(wrong.status).toBe(422)
    expect(wrong.html).not.toContain('7654321')
    expect(wrong.text).toContain('This code is incorrect')
  })

  test('but for codes of a second factor', async () => {
    const { session_token } = await fixture.register(email)
    const secret = await fixture.enrol(session_token)
    fixture.clock.jump(STEP)
    const { hosted_url } = await fixture.start('login')
    const page = await browser.follow(await browser.signIn(hosted_url, email, PASSWORD))
    const totp_code = wrongCode(fixture, secret)
    const wrong = await browser.press(page, ['method', 'totp'], { totp_code })
    expect(wrong.status).toBe(422)
    expect(wrong.html).not.toContain(`value="${totp_code}"`)
  })

  test('and for what has to be there', async () => {
    const incomplete: Record<string, string>[] = [
      { identifier: '' },
      { identifier: email, password: '' },
    ]
    for (const typed of incomplete) {
      const page = await browser.press(await opened('login'), BY_PASSWORD, typed)
      expect(page.status).toBe(422)
      expect(page.text).toContain('is required')
    }
  })

  test('of settings too, with the session as it was', async () => {
    const { session_token } = await fixture.register(email)
    const page = await browser.visit((await fixture.settings(session_token)).hosted_url)
    const wrong = await browser.press(page, BY_PASSWORD, { password: PASSWORD })
    expect(wrong.status).toBe(422)
    expect(wrong.text).toContain('This is your current password.')
    expect(await fixture.whoami(session_token)).toMatchObject({ status: 200 })
  })

  test('and a form that was sent before is told that it is over', async () => {
    await fixture.register(email)
    const page = await opened('login')
    const typed = { identifier: email, password: PASSWORD }
    expect((await browser.press(page, BY_PASSWORD, typed)).status).toBe(303)
    const again = await browser.press(page, BY_PASSWORD, typed)
    expect(again.status).toBe(422)
    expect(again.text).toContain('This sign-in is already complete.')
    expect(fieldsOf(again)).toEqual([])
  })

  test('and names that forms never have do no harm', async () => {
    const page = await opened('login')
    const { action = '', hidden = {} } = page.forms[0] ?? {}
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

describe('a form without the token of its flow', () => {
  test.each([
    ['none', {}],
    ['an empty one', { csrf_token: '' }],
    ['any other', { csrf_token: 'x' }],
  ])('is refused with a page: %s', async (_, token) => {
    const { session_token, identity } = await fixture.register(email)
    const flow = await fixture.start('login')
    const fields = { method: 'password', identifier: email, password: PASSWORD }
    const page = await browser.post(flow.hosted_url, { ...fields, ...token })
    expect(page.status).toBe(403)
    expect(headingOf(page)).not.toBe('')
    expect(page.forms).toEqual([])
    const { body } = await fixture.api.get(`/v1/gate/identities/${identity.id}/sessions`)
    expect(body).toHaveLength(1)
    expect(session_token).toBeString()
  })
})

describe('the cookie of a browser', () => {
  const cookieFor = async (own: FlowFixture, headers: Record<string, string> = {}) => {
    const { hosted_url } = await own.start('login')
    const path = new URL(hosted_url).pathname.replace(/^.*(?=\/auth\/)/, '')
    const answer = await own.app.raw(path + new URL(hosted_url).search, {
      headers: { accept: 'text/html', ...headers },
    })
    return answer.headers.getSetCookie()
  }

  test('is hidden from scripts, kept from other sites, and for our pages alone', async () => {
    const [cookie, ...rest] = await cookieFor(fixture)
    expect(rest).toEqual([])
    expect(cookie).toMatch(
      /^gatehouse_browser=[0-9A-Za-z]{43}; Path=\/auth; HttpOnly; SameSite=Lax$/,
    )
  })

  test('is of this host alone where the server is reached by https', async () => {
    await using own = await bootUnhurried({
      flags: { 'server-base-url': 'https://id.example.com' },
    })
    expect(await cookieFor(own)).toEqual([
      expect.stringMatching(
        /^__Host-gatehouse_browser=\w+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ])
  })

  test('is for our pages where they are below a path', async () => {
    const flags = { 'server-base-url': 'https://example.com/id' }
    await using own = await bootUnhurried({ flags })
    expect(await cookieFor(own)).toEqual([
      expect.stringMatching(
        /^__Secure-gatehouse_browser=\w+; Path=\/id\/auth; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ])
  })

  test('is another one for each browser', async () => {
    expect(await cookieFor(fixture)).not.toEqual(await cookieFor(fixture))
  })

  test('is given to whoever has none, on pages alone', async () => {
    const [cookie = ''] = (await cookieFor(fixture)).map((each) => each.split(';')[0])
    expect(await cookieFor(fixture, { cookie })).toEqual([])
    expect(await cookieFor(fixture, { cookie: `a=1; ${cookie}; b=2` })).toEqual([])
    for (const worthless of ['gatehouse_browser=', 'gatehouse_browser=x', cookie.slice(0, -1)])
      expect(await cookieFor(fixture, { cookie: worthless })).toHaveLength(1)
    expect(await cookieFor(fixture, { cookie: 'other=1' })).toHaveLength(1)
    expect(await cookieFor(fixture, { accept: 'application/json' })).toEqual([])
  })

  test('is in no table as it is', async () => {
    const { session_token } = await fixture.register(email)
    await browser.visit((await fixture.settings(session_token)).hosted_url)
    const cookie = browser.cookies.get('gatehouse_browser') as string
    const rows = rowsOf(fixture.app, 'gate_flows')
    expect(JSON.stringify(rows)).not.toContain(cookie)
    const hash = new Bun.CryptoHasher('sha256').update(cookie).digest('hex')
    expect(rows.some(({ browser_hash }) => browser_hash === hash)).toBe(true)
  })
})

describe('links between pages', () => {
  test.each([
    ['login', ['registration', 'recovery']],
    ['registration', ['login']],
    ['recovery', ['login']],
    ['verification', []],
  ])('lead from %s to %j', async (kind, kinds) => {
    const page = await opened(kind)
    expect(page.links.map((link) => new URL(link).pathname)).toEqual(
      kinds.map((other) => `${SELF_SERVICE}/${other}`),
    )
  })

  test('begin a flow of the same tenant, which leads back to the same app', async () => {
    const party = await flowParty(fixture.app, 'Initech')
    const from = await party.start('login', { 'x-return-to': `${RETURN_TO}?a=1` })
    for (const kind of KINDS) {
      const there = await browser.visit(`${SELF_SERVICE_URL}/${kind}?from=${from.id}`)
      expect(there.status).toBe(303)
      const url = new URL(there.location)
      expect(url.pathname).toBe(`${SELF_SERVICE}/${kind}`)
      expect(url.searchParams.get('flow')).not.toBe(from.id)
      const flow = (await read(fixture, there.location)).body
      expect(flow).toMatchObject({ return_to: `${RETURN_TO}?a=1`, state: 'choose_method' })
      expect(headingOf(await browser.visit(there.location))).toContain('Initech')
    }
  })

  test('begin one of its own each time', async () => {
    const from = await fixture.start('login')
    const url = `${SELF_SERVICE_URL}/registration?from=${from.id}`
    const [first, second] = [await browser.visit(url), await browser.visit(url)]
    expect(first.location).not.toBe(second.location)
  })

  test('lead nowhere from what there is not: 404', async () => {
    for (const id of [UNKNOWN_ID, 'x', '', '%00', "'--"])
      expect(await browser.visit(`${SELF_SERVICE_URL}/login?from=${id}`)).toMatchObject({
        status: 404,
        forms: [],
      })
  })

  test('lead to no settings, and nowhere from settings', async () => {
    const login = await fixture.start('login')
    const { session_token } = await fixture.register(email)
    const settings = await fixture.settings(session_token)
    const count = () => rowsOf(fixture.app, 'gate_flows').length
    const before = count()
    for (const [kind, { id }] of [
      ['settings', login],
      ['settings', settings],
      ['login', settings],
    ] as [string, Json][])
      expect(await browser.visit(`${SELF_SERVICE_URL}/${kind}?from=${id}`)).toMatchObject({
        status: 404,
      })
    expect(count()).toBe(before)
  })

  test('lead from a flow of somebody signed in to one that is for anybody', async () => {
    const { session_token } = await fixture.register(email)
    const refresh = await fixture.start('login', withToken(session_token), '?refresh=true')

    const { location } = await browser.visit(`${SELF_SERVICE_URL}/login?from=${refresh.id}`)

    const id = new URL(location).searchParams.get('flow') ?? ''
    const row = rowsOf(fixture.app, 'gate_flows').find((one) => one.id === id)
    expect(row).toMatchObject({ identity_id: null, session_id: null, is_refresh: 0 })
  })

  test('are as few as a limit allows: 429 says when there may be more', async () => {
    await using own = await bootFlows()
    const visitor = newBrowser(own.app)
    const { id } = await own.start('login')
    const url = `${SELF_SERVICE_URL}/registration?from=${id}`
    for (let n = 0; n < 60; n++) expect((await visitor.visit(url)).status).toBe(303)
    const page = await visitor.visit(url)
    expect(page.status).toBe(429)
    expect(page.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect(headingOf(page)).toBe('Too many attempts')
    await own.clock.advance(1000)
    expect((await visitor.visit(url)).status).toBe(303)
  })
})

describe('pages of a tenant that may start no flow', () => {
  /** With a flow that leads on to another by a link, and one that has expired and leads on, too. */
  async function stopped(flags: Record<string, string> = {}) {
    const own = await bootFlows({ flags })
    const visitor = newBrowser(own.app)
    const expired = await own.start('login')
    own.clock.jump(HOUR)
    const { id } = await own.start('login')
    const page = await visitor.visit(`${SELF_SERVICE_URL}/login?flow=${id}`)
    const ways = {
      'by a link': () => visitor.visit(`${SELF_SERVICE_URL}/registration?from=${id}`),
      'by a look at one that has expired': () => visitor.visit(expired.hosted_url),
    }
    return { ...own, visitor, page, ways }
  }

  test('are a 402 without a time while it is suspended, by a form as well', async () => {
    await using own = await stopped()
    await own.app.platform.tenants.suspend(ACTOR, own.tenantId, 'renewal')
    own.clock.jump(HOUR - 1)
    const pages = []
    for (const way of Object.values(own.ways)) pages.push(await way())
    own.clock.jump(1)
    pages.push(await own.visitor.press(own.page, BY_PASSWORD, { identifier: email, password: 'x' }))
    for (const page of pages) {
      expect(page.status).toBe(402)
      expect(page.headers.get('retry-after')).toBeNull()
      expect(headingOf(page)).toBe('Temporarily unavailable')
    }
  })

  test('are a 429 that names the next month when nothing is left of this one', async () => {
    await using own = await stopped({ 'metering-free-requests': '1' })
    await own.app.platform.tenants.change(ACTOR, own.tenantId, { plan: 'free' })
    for (const way of Object.values(own.ways)) {
      const page = await way()
      expect(page.status).toBe(429)
      expect(headingOf(page)).toBe('Temporarily unavailable')
      const next = own.clock.now() + Number(page.headers.get('retry-after')) * 1000
      expect(new Date(next).toISOString()).toEndWith('-01T00:00:00.000Z')
    }
  })
})

/** Any host does: what counts is the path. */
const SELF_SERVICE_URL = `http://localhost${SELF_SERVICE}`

describe('a page that has expired', () => {
  test.each([
    ['login', 'This sign-in has expired.'],
    ['registration', 'This sign-up has expired.'],
    ['recovery', 'This recovery has expired.'],
    ['verification', 'This verification has expired.'],
  ])('leads to a new one, which says so: %s', async (kind, words) => {
    const flow = await fixture.start(kind, { 'x-return-to': RETURN_TO })
    const page = await browser.visit(flow.hosted_url)
    fixture.clock.jump(HOUR - MINUTE)
    expect((await browser.visit(flow.hosted_url)).status).toBe(200)
    fixture.clock.jump(MINUTE)

    const away = await browser.visit(flow.hosted_url)
    expect(away).toMatchObject({ status: 303, html: '' })
    const next = await browser.follow(away)
    expect(next.status).toBe(200)
    expect(next.text).toContain(words)
    expect(fieldsOf(next)).toEqual(fieldsOf(page))
    expect((await read(fixture, away.location)).body).toMatchObject({ return_to: RETURN_TO })
    expect((await browser.visit(flow.hosted_url)).location).toBe(away.location)
  })

  test('does so when its form is sent, which is then not taken', async () => {
    await fixture.register(email)
    const page = await opened('login')
    fixture.clock.jump(HOUR)
    const typed = { identifier: email, password: PASSWORD }
    const away = await browser.press(page, BY_PASSWORD, typed)
    const next = await browser.follow(away)
    expect(next.text).toContain('This sign-in has expired.')
    const done = await browser.press(next, BY_PASSWORD, typed)
    expect(done.status).toBe(303)
    expect((await browser.follow(done)).text).toContain("You're signed in")
  })

  test('stays with its browser, if it was of one', async () => {
    const { session_token } = await fixture.register(email)
    const { hosted_url } = await fixture.settings(session_token)
    await browser.visit(hosted_url)
    fixture.clock.jump(HOUR)
    const away = await browser.visit(hosted_url)
    expect((await newBrowser(fixture.app).visit(away.location)).status).toBe(403)
    const next = await browser.follow(away)
    expect(next.status).toBe(200)
    expect(next.text).toContain('This settings page has expired.')
  })

  test('shows nothing of the code that it waited for', async () => {
    await fixture.register(email)
    fixture.clock.jump(MINUTE)
    const page = await asked('recovery')
    const code = fixture.codeFor(email)
    fixture.clock.jump(HOUR)
    const next = await browser.follow(await browser.press(page, BY_CODE, { code }))
    expect(next.html).not.toContain(code)
    expect(next.html).not.toContain(email)
    expect(fieldsOf(next)).toEqual(['email'])
  })
})

describe('a page that there is not', () => {
  test('is a page that says so, with 404', async () => {
    const login = await fixture.start('login')
    for (const path of [
      `login?flow=${UNKNOWN_ID}`,
      'login?flow=x',
      'login?flow=%00',
      `registration?flow=${login.id}`,
      `settings?flow=${login.id}`,
    ]) {
      const page = await browser.visit(`${SELF_SERVICE_URL}/${path}`)
      expect(page.status).toBe(404)
      expect(headingOf(page)).toBe('Page not found')
      const sent = await browser.post(`${SELF_SERVICE_URL}/${path}`, { csrf_token: csrfOf(login) })
      expect(sent.status).toBe(404)
      expect(headingOf(sent)).toBe('Page not found')
    }
  })

  test('is refused by programs’ words for programs', async () => {
    expect(await fixture.app.raw(`${SELF_SERVICE}/login?flow=${UNKNOWN_ID}`)).toMatchObject({
      status: 404,
      body: { error: 'flow not found', id: 'flow_not_found' },
    })
  })

  test('answers, whatever is asked for, with headers that are safe', async () => {
    const asked = [
      ['GET', 'login'],
      ['GET', 'nothing?flow=x'],
      ['GET', 'login/x'],
      ['PUT', 'login?flow=x'],
      ['POST', 'login'],
      ['POST', 'nothing'],
    ] as const
    for (const [method, path] of asked) {
      const answer = await fixture.app.raw(`${SELF_SERVICE}/${path}`, {
        method,
        headers: { accept: 'text/html' },
      })
      expect([400, 404, 405]).toContain(answer.status)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'")
    }
  })

  test.each([
    ['of another type', 'a=b', 'text/plain', 415],
    ['in parts', '--x\r\n\r\n--x--', 'multipart/form-data; boundary=x', 415],
    ['too large', `a=${'x'.repeat(2_000_000)}`, 'application/x-www-form-urlencoded', 413],
    ['no UTF-8', new Uint8Array([0x61, 0x3d, 0xff]), 'application/x-www-form-urlencoded', 400],
    ['broken JSON', '{', 'application/json', 400],
  ])('takes no form that is %s', async (_, body, type, status) => {
    const { hosted_url } = await fixture.start('login')
    const answer = await fixture.app.raw(pathOf(hosted_url), {
      method: 'POST',
      headers: { accept: 'text/html', 'content-type': type },
      body,
    })
    expect(answer.status).toBe(status)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })
})

describe('what strangers wrote', () => {
  const HOSTILE = `"><img src=x onerror=alert(1)>'&amp;<script>alert(2)</script>`

  const expectHarmless = ({ html }: Page) => {
    expect(html).not.toContain('<script')
    expect(html).not.toContain('<img src=x')
    expect(html).not.toMatch(/<[a-z]+[^>]*\son\w+=/i)
  }

  test('as the name of a tenant is text on every page', async () => {
    const party = await flowParty(fixture.app, HOSTILE)
    await party.security({ mfa_enabled: true })
    const { session_token } = await party.register(email)
    for (const kind of KINDS) {
      const page = await browser.visit((await party.start(kind)).hosted_url)
      expectHarmless(page)
      expect(page.text).toContain('<img src=x onerror=alert(1)>')
    }
    const settings = await browser.visit((await party.settings(session_token)).hosted_url)
    expectHarmless(settings)
    const { hosted_url } = await party.start('login')
    const done = await browser.follow(await browser.signIn(hosted_url, email, PASSWORD))
    expectHarmless(done)
    expect(done.text).toContain('<img src=x onerror=alert(1)>')
  })

  test('as an address is text where it is shown again', async () => {
    for (const [kind, field, button] of [
      ['login', 'identifier', BY_PASSWORD],
      ['registration', 'traits.email', BY_PASSWORD],
      ['recovery', 'email', BY_CODE],
      ['verification', 'email', BY_CODE],
    ] as const) {
      const typed = { [field]: HOSTILE, ...(button === BY_PASSWORD && { password: PASSWORD }) }
      const page = await browser.press(await opened(kind), [...button], typed)
      expect(page.status).toBe(422)
      expectHarmless(page)
      expect(page.forms[0]?.fields[field]).toBe(HOSTILE)
    }
  })

  test('as an address that is one is text on the pages of its owner', async () => {
    const address = `o'brien&"co"<b>@example.com`
    const { session_token } = await fixture.register(`o'brien&co@example.com`)
    const page = await browser.visit((await fixture.settings(session_token)).hosted_url)
    expect(page.forms[0]?.fields['traits.email']).toBe(`o'brien&co@example.com`)
    const wrong = await browser.press(page, ['method', 'profile'], { 'traits.email': address })
    expect([303, 422]).toContain(wrong.status)
    expectHarmless(wrong)
  })

  test('as a provider, a method or a button is not shown at all', async () => {
    const { action = '', hidden = {} } = (await opened('login')).forms[0] ?? {}
    const odd: Record<string, string>[] = [
      { method: HOSTILE },
      { method: 'oidc', provider: HOSTILE },
      { provider: HOSTILE },
    ]
    for (const fields of odd) {
      const page = await browser.post(action, { ...hidden, ...fields })
      expect(page.status).toBe(422)
      expectHarmless(page)
    }
  })
})

describe('too many tries', () => {
  test('are answered with a page that says when there may be more', async () => {
    await using own = await bootFlows()
    await own.register(email)
    const visitor = newBrowser(own.app)
    const { hosted_url } = await own.start('login')
    const page = await visitor.visit(hosted_url)
    const wrong = () =>
      visitor.press(page, BY_PASSWORD, { identifier: email, password: 'wrong word' })
    for (let n = 0; n < 10; n++) expect((await wrong()).status).toBe(422)

    const blocked = await wrong()

    expect(blocked.status).toBe(429)
    expect(blocked.headers.get('retry-after')).toBe('6')
    expect(blocked.text).toContain('Too many attempts. Try again in 6 seconds.')
    expect(blocked.forms[0]?.fields).toMatchObject({ identifier: email, password: '' })
    await own.clock.advance(6000)
    expect((await visitor.signIn(hosted_url, email, PASSWORD)).status).toBe(303)
  })

  test('of mails as well', async () => {
    await fixture.register(email)
    fixture.clock.jump(MINUTE)
    const page = await asked('login')
    const again = await browser.press(page, ['resend', 'code'])
    expect(again.status).toBe(429)
    expect(again.headers.get('retry-after')).toBe('30')
    fixture.clock.jump(30_000)
    expect((await browser.press(page, ['resend', 'code'])).status).toBe(303)
  })
})

test('a form may be sent as such by a program, and is answered in JSON', async () => {
  await fixture.register(email)
  const flow = await fixture.start('login')
  const answer = await fixture.app.raw(pathOf(flow.ui.action), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams({
      csrf_token: csrfOf(flow),
      method: 'password',
      identifier: email,
      password: PASSWORD,
    }).toString(),
  })
  expect(answer).toMatchObject({ status: 200, body: { session: { active: true } } })
})

test('recovery codes are on the page that makes them, and on no other', async () => {
  const { session_token } = await fixture.register(email)
  const flow = await fixture.settings(session_token)
  const page = await browser.visit(flow.hosted_url)
  const shown = await browser.follow(
    await browser.press(page, ['lookup_secret_regenerate', 'true']),
  )
  const { body } = await read(fixture, flow.hosted_url, withToken(session_token))
  for (const code of codesShown(body)) expect(shown.text).toContain(code)
  expect(messageIds(body)).toEqual([])
  const kept = await browser.follow(await browser.press(shown, ['lookup_secret_confirm', 'true']))
  for (const code of codesShown(body)) expect(kept.html).not.toContain(code)
  expect(await fixture.change(session_token, CODES.keep)).toMatchObject(complains(4000014))
})
