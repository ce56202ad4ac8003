import { beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import { sha256 } from '../../../../../src/platform/crypto.ts'
import { type Arrival, newAccount, type Tamper } from '../../../../support/social/index.ts'
import { ACTOR, IDENTITIES, type Json, MINUTE, SECOND } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import { HOUR, isAlive, read, withToken } from './acts.ts'
import { newBrowser, type Page } from './browser.ts'
import { messageIds, PASSWORD, pathOf } from './fixture.ts'
import { type Back, bootSocial, callbackOf, linkOf, useSocial } from './social-fixture.ts'

const social = await useSocial()
const { app, authorize, authorizeUrl, begin, callback, counts, exchange, fakes, flowAt } = social
const { newTenant, pressProvider, roundTrip, signInWith } = social
beforeEach(() => fakes.openId.tamper())

/** A sign-in whose browser is about to come back from the provider. */
async function arriving(provider: ProviderName = 'google', account = newAccount()) {
  const flow = await begin('login')
  const arrival = await authorize(await authorizeUrl(flow, provider), provider, account)
  return { account, flow, arrival }
}

function changed({ method, params }: Arrival, changes: Record<string, string | null>): Arrival {
  const next = new URLSearchParams(params)
  for (const [name, value] of Object.entries(changes))
    if (value === null) next.delete(name)
    else next.set(name, value)
  return { method, params: next }
}

function expectRefused(page: Page) {
  expect(page).toMatchObject({ status: 403, location: '', forms: [] })
  expect(page.headers.get('content-type')).toStartWith('text/html')
}

/** The messages of the flow that the browser is sent back to. */
async function messagesAt(page: Back, flow: Json): Promise<(number | string)[]> {
  expect(page.location).toBe(flow.hosted_url)
  return messageIds(await flowAt(page))
}

describe('A state', () => {
  test('is refused if it is unknown, and stays good for its browser', async () => {
    const { arrival } = await arriving()
    const before = counts()
    const state = arrival.params.get('state') as string
    const other = state.endsWith('x') ? 'y' : 'x'
    for (const wrong of ['x'.repeat(43), '', null, 'x'.repeat(5000), state.slice(0, -1) + other])
      expectRefused(await callback('google', changed(arrival, { state: wrong })))
    expect(counts()).toEqual(before)
    await exchange(await callback('google', arrival))
  })

  test('works once, also if the rest of the callback was wrong', async () => {
    const good = await arriving()
    const page = await callback('google', good.arrival)
    expectRefused(await callback('google', good.arrival))
    await exchange(page)

    const { flow, arrival } = await arriving()
    const failed = await callback('google', changed(arrival, { code: 'made-up' }))
    expect(await messagesAt(failed, flow)).toEqual([4900004])
    expectRefused(await callback('google', arrival))
  })

  test('works for one of several concurrent callbacks', async () => {
    const { arrival } = await arriving('github')
    const [identities = 0, sessions = 0] = counts()
    const pages = await Promise.all([1, 2, 3, 4, 5].map(() => callback('github', arrival)))
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 403, 403, 403, 403])
    expect(counts()).toEqual([identities + 1, sessions + 1])
    await exchange(pages.find(({ status }) => status === 303) as Page)
  })

  test.each([
    ['google', 'gitlab'],
    ['github', 'discord'],
    ['apple', 'google'],
  ] as const)('of %s is refused at the callback of %s', async (provider, other) => {
    const { arrival } = await arriving(provider)
    expectRefused(await callback(other, arrival))
    await exchange(await callback(provider, arrival))
  })

  test('works for half an hour, and no longer than its flow', async () => {
    const [inTime, late] = [await arriving('github'), await arriving('github')]
    social.clock.jump(30 * MINUTE - 1)
    await exchange(await callback('github', inTime.arrival))
    social.clock.jump(1)
    expectRefused(await callback('github', late.arrival))

    const flow = await begin('login')
    social.clock.jump(HOUR - 10 * SECOND)
    const arrival = await authorize(await authorizeUrl(flow, 'github'), 'github', newAccount())
    social.clock.jump(10 * SECOND)
    const before = counts()
    expectRefused(await callback('github', arrival))
    expect(counts()).toEqual(before)
  })

  test('gives way to newer ones once a flow has more than ten', async () => {
    const flow = await begin('login')
    const urls: string[] = []
    for (let n = 0; n < 11; n++) {
      urls.push(await authorizeUrl(flow, 'github'))
      social.clock.jump(SECOND)
    }
    const states = urls.map((url) => new URL(url).searchParams.get('state'))
    expect(new Set(states).size).toBe(11)
    for (const state of states) expect(state).toMatch(/^[0-9A-Za-z]{40,}$/)
    expect(urls.join()).not.toContain(flow.id)

    const come = async (url = '') =>
      callback('github', await authorize(url, 'github', newAccount()))
    expectRefused(await come(urls[0]))
    await exchange(await come(urls[1]))
  })
})

describe('A sign-in that began on a page', () => {
  async function fromPage(provider: ProviderName = 'google') {
    const browser = newBrowser(app)
    const page = await browser.visit((await begin('login')).hosted_url)
    const sent = await browser.press(page, ['provider', provider])
    return { browser, arrival: await authorize(sent.location, provider, newAccount()) }
  }

  test.each(['google', 'apple', 'github'] as const)(
    'at %s ends in that browser',
    async (provider) => {
      const { browser, arrival } = await fromPage(provider)
      const other = newBrowser(app)
      await other.visit((await begin('login')).hosted_url)
      const before = counts()

      expectRefused(await callback(provider, arrival, newBrowser(app)))
      expectRefused(await callback(provider, arrival, other))

      expect(counts()).toEqual(before)
      await exchange(await callback(provider, arrival, browser))
    },
  )

  test('accepts only the cookie that it set', async () => {
    const { arrival, browser } = await fromPage()
    const name = '__Host-gatehouse_browser'
    // A sibling domain can plant the last one: the right value, under a name without the prefix.
    const planted = `gatehouse_browser=${browser.cookies.get(name)}`
    for (const cookie of [`${name}=`, `${name}=x`, `${name}=null`, planted])
      expectRefused(await callback('google', arrival, newBrowser(app, { cookie })))
  })
})

describe('A user who cancels', () => {
  test.each(['google', 'github'] as const)(
    'at %s is back in the flow, which continues',
    async (provider) => {
      const account = newAccount()
      const { identity } = await social.register(account.email as string)
      const flow = await begin('login')

      const page = await roundTrip(flow, provider, newAccount(), { press: 'deny' })

      expect(page.location).toBe(flow.hosted_url)
      const shown = await flowAt(page)
      expect(messageIds(shown)).toEqual([4900003])
      expect(shown.ui.messages[0].context).toMatchObject({ provider_id: provider })
      const fields = { method: 'password', identifier: account.email, password: PASSWORD }
      expect((await social.sendWell(shown, fields)).session.identity.id).toBe(identity.id)
    },
  )

  test('is back on the page, and may try again', async () => {
    const browser = newBrowser(app)
    const { hosted_url } = await begin('registration')
    const start = await browser.visit(hosted_url)
    const denied = await pressProvider(browser, start, 'apple', newAccount(), { choice: 'deny' })
    expect(denied.location).toBe(hosted_url)
    const again = await browser.follow(denied)
    expect(again.text).toContain('Apple was denied or cancelled')
    await exchange(await pressProvider(browser, again, 'apple', newAccount()))
  })

  test('sees nothing of what the provider wrote, and neither does the log', async () => {
    const { arrival, flow } = await arriving()
    const from = app.log.length
    const params = {
      code: null,
      error: 'access_denied',
      error_description: '<b>written-by-a-stranger</b>',
      error_uri: 'https://evil.example/written-by-a-stranger',
    }
    const page = await callback('google', changed(arrival, params))
    expect(await messagesAt(page, flow)).toEqual([4900003])
    const { html } = await newBrowser(app).visit(page.location)
    for (const seen of [html, page.location, ...app.log.slice(from)])
      expect(seen).not.toContain('written-by-a-stranger')
  })

  test('sees the message no longer after the next step', async () => {
    const tenant = await newTenant()
    await tenant.security({ passwordless_enabled: true })
    const flow = await tenant.begin('login')
    const denied = await tenant.roundTrip(flow, 'google', newAccount(), { press: 'deny' })
    const shown = await tenant.flowAt(denied)
    const sent = await tenant.sendWell(shown, { method: 'code', identifier: 'ada@example.com' })
    expect(messageIds(sent)).toEqual([1010014])
  })
})

describe('A callback is refused and the flow continues', () => {
  const claiming =
    (changes: Json): Tamper =>
    ({ claims }) =>
      void Object.assign(claims, changes)

  test('if the ID token is invalid, which the log says', async () => {
    const { flow, arrival } = await arriving()
    const before = counts()
    const from = app.log.length
    fakes.openId.tamper(claiming({ aud: 'another' }))

    expect(await messagesAt(await callback('google', arrival), flow)).toEqual([4900004])

    expect(counts()).toEqual(before)
    const warnings = app.log.slice(from).filter((line) => line.includes('"warn"'))
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([{ provider: 'google' }])
    fakes.openId.tamper()
    await exchange(await roundTrip(flow, 'google', newAccount()))
  })

  test.each<[string, Record<string, string | null>]>([
    ['it has neither a code nor an error', { code: null }],
    ['it has an error of the provider', { code: null, error: 'server_error' }],
    ['it has an unknown error', { code: null, error: 'a b<c>' }],
    ['it is from another issuer', { iss: 'https://evil.example' }],
  ])('if %s', async (_, changes) => {
    const { flow, arrival } = await arriving()
    expect(await messagesAt(await callback('google', changed(arrival, changes)), flow)).toEqual([
      4900004,
    ])
  })

  // LinkedIn takes neither a challenge nor a nonce: there, only the state prevents this.
  test.each(PROVIDERS.filter((name) => name !== 'linkedin'))(
    'if the code of %s is of another sign-in, or was used before',
    async (provider) => {
      const [mine, theirs] = [await arriving(provider), await arriving(provider)]
      const before = counts()
      const code = theirs.arrival.params.get('code')
      const page = await callback(provider, changed(mine.arrival, { code }))
      expect(await messagesAt(page, mine.flow)).toEqual([4900004])
      expect(counts()).toEqual(before)
    },
  )

  test.each<[ProviderName, string, Json]>([
    ['github', 'an id in words', { id: 'seven' }],
    ['discord', 'an invalid address', { email: 'a b@example.com' }],
  ])('if %s sends %s', async (provider, _, claims) => {
    const before = counts()
    const { flow, arrival } = await arriving(provider, newAccount({ claims }))
    expect(await messagesAt(await callback(provider, arrival), flow)).toEqual([4900004])
    expect(counts()).toEqual(before)
  })

  test('if the provider does not respond; one without https is not even tried', async () => {
    const flags = { 'gate-providers-github-token-url': 'http://127.0.0.1:1/token' }
    await using down = await bootSocial(fakes, { flags })
    const page = await down.roundTrip(await down.begin('login'), 'github', newAccount())
    expect(messageIds(await down.flowAt(page))).toEqual([4900004])

    const plain = { 'gate-providers-github-token-url': 'http://github.example/token' }
    await using insecure = await bootSocial(fakes, { flags: plain })
    const answer = await insecure.send(await insecure.begin('login'), { provider: 'github' })
    expect(answer.status).toBe(422)
    expect(messageIds(answer.body)).toEqual([4900004])
  })
})

describe('A flow that is over', () => {
  /** A browser comes back to a flow in which another user has signed in. */
  async function overtaken(by: 'a page' | 'a program') {
    const known = newAccount()
    await signInWith('google', known)
    const { flow, arrival } = await arriving('google', known)
    const email = `quicker-${known.id}@example.com`
    await social.register(email)
    if (by === 'a page') await newBrowser(app).signIn(flow.hosted_url, email, PASSWORD)
    else await social.sendWell(flow, { method: 'password', identifier: email, password: PASSWORD })
    const before = counts()
    const back = await callback('google', arrival)
    expect(counts()).toEqual(before)
    return { known, flow, back, email }
  }

  test.each(['a page', 'a program'] as const)(
    'by %s leads to a new one for any user',
    async (by) => {
      const { known, flow, back, email } = await overtaken(by)
      expect(back.location).not.toBe(flow.hosted_url)
      const next = await flowAt(back)
      expect(messageIds(next)).toEqual([4010007])
      expect(next.return_to).toBe(flow.return_to)
      const page = await back.browser.follow(back)
      expect(page.status).toBe(200)
      expect(page.html).not.toContain(email)
      await exchange(await pressProvider(back.browser, page, 'google', known))
    },
  )

  test('leads to none if the tenant is suspended', async () => {
    const tenant = await newTenant()
    const flow = await tenant.begin('login')
    const url = await tenant.authorizeUrl(flow, 'google')
    const arrival = await authorize(url, 'google', newAccount())
    await tenant.register('ada@example.com')
    const fields = { method: 'password', identifier: 'ada@example.com', password: PASSWORD }
    await tenant.sendWell(flow, fields)
    await app.platform.tenants.suspend(ACTOR, tenant.id, 'billing')
    const before = rowsOf(app, 'gate_flows').length

    const page = await callback('google', arrival)

    expect(page.status).toBe(402)
    expect(page.text).toContain('Temporarily unavailable')
    expect(rowsOf(app, 'gate_flows')).toHaveLength(before)
  })

  test('does not say whose it was once it has expired', async () => {
    const account = newAccount()
    const flow = await begin('login')
    await exchange(await roundTrip(flow, 'google', account))
    social.clock.jump(HOUR)
    const { status, body } = await read(social, flow.ui.action)
    expect(status).toBe(410)
    const next = await read(social, flow.ui.action.replace(flow.id, body.use_flow_id))
    expect(JSON.stringify([body, next.body])).not.toContain(account.email as string)
  })

  test('creates no identity', async () => {
    const { flow, arrival } = await arriving('github')
    const url = await authorizeUrl(flow, 'gitlab')
    await exchange(await callback('gitlab', await authorize(url, 'gitlab', newAccount())))
    const before = counts()
    expect(messageIds(await flowAt(await callback('github', arrival)))).toEqual([4010007])
    expect(counts()).toEqual(before)
  })

  test.each(['saved', 'signed out', 'deleted'])('connects no account: %s settings', async (how) => {
    const email = `over-${how.replace(' ', '-')}@example.com`
    const { session_token: token, session, identity } = await social.register(email)
    const flow = await begin('settings', withToken(token))
    const url = await authorizeUrl(flow, 'github', linkOf('github'), withToken(token))
    const arrival = await authorize(url, 'github', newAccount())
    const form = { method: 'profile', traits: { email } }
    if (how === 'saved') await social.sendWell(flow, form, withToken(token))
    else if (how === 'deleted') await social.api.delete(`${IDENTITIES}/${identity.id}`)
    else await social.api.delete(`/v1/gate/sessions/${session.id}`)

    const page = await callback('github', arrival)

    if (page.status === 303)
      expect((await social.finishLink(flow, page, token)).status).toBe(how === 'saved' ? 422 : 401)
    else expectRefused(page)
    const links = rowsOf(app, 'gate_social_links')
    expect(links.filter((row) => row.identity_id === identity.id)).toEqual([])
    expect(await isAlive(social, token)).toBe(how === 'saved')
  })
})

describe('The callback URL', () => {
  test('is not found for unknown providers', async () => {
    const { arrival } = await arriving()
    for (const name of ['nobody', 'GitHub', 'gitlab-tenant', 'google%2F..%2Fgithub', '__proto__']) {
      const url = callbackOf(name as ProviderName)
      const got = await social.open(`${url}?${arrival.params}`)
      const posted = await social.post(url, Object.fromEntries(arrival.params))
      expect([got.status, posted.status], name).toEqual([404, 404])
    }
    await exchange(await callback('google', arrival))
  })

  test('leads to the app of the flow alone, and passes on nothing of the provider', async () => {
    const { arrival } = await arriving()
    const evil = 'https://evil.example/'
    const more = { return_to: evil, redirect_uri: evil, redirect: '//evil.example', next: evil }
    const headers = {
      'x-return-to': evil,
      'x-forwarded-host': 'evil.example',
      host: 'evil.example',
    }
    const flow = (await begin('login')).id

    const page = await callback(
      'google',
      changed(arrival, { ...more, flow }),
      newBrowser(app, headers),
    )

    expect(page.location).not.toContain('evil')
    for (const value of arrival.params.values()) expect(page.location).not.toContain(value)
    expect(page.html).toBe('')
    await exchange(page)
  })

  test('answers programs with a page, too', async () => {
    const answer = await app.raw(`${pathOf(callbackOf('google'))}?state=x&code=y`)
    expect(answer.status).toBe(403)
    expect(answer.headers.get('content-type')).toStartWith('text/html')
  })

  test('and the way to the provider are rate limited', async () => {
    await using small = await bootSocial(fakes, { flags: { 'limits-sign-ins-per-minute': '4' } })
    const flow = await small.begin('login')
    const arrival = await small.authorize(
      await small.authorizeUrl(flow, 'google'),
      'google',
      newAccount(),
    )
    for (let n = 0; n < 3; n++)
      expectRefused(await small.callback('google', changed(arrival, { state: `made-up-${n}` })))

    const page = await small.callback('google', arrival)
    const answer = await small.send(flow, { provider: 'google' })

    for (const { status, headers } of [page, answer]) {
      expect(status).toBe(429)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(messageIds(answer.body)).toEqual([4900002])
    expect(rowsOf(small.app, 'gate_round_trips')).toHaveLength(1)
    await small.clock.advance(MINUTE)
    await small.exchange(await small.callback('google', arrival))
  })
})

describe('A callback that the provider posts (Apple)', () => {
  const post = (fields: Record<string, string>) => social.post(callbackOf('apple'), fields)

  test('redirects to the callback URL with its fields, and uses nothing up', async () => {
    const { arrival } = await arriving('apple')
    expect(arrival.method).toBe('POST')
    const posted = await post(Object.fromEntries(arrival.params))
    expect(posted.status).toBe(303)
    expect(posted.headers.getSetCookie()).toEqual([])
    const location = new URL(posted.headers.get('location') ?? '')
    expect(location.origin + location.pathname).toBe(callbackOf('apple'))
    expect(Object.fromEntries(location.searchParams)).toEqual(Object.fromEntries(arrival.params))

    expectRefused(await callback('apple', changed(arrival, { state: 'made-up' })))
    await exchange(await callback('apple', arrival))
  })

  test('may come from any provider', async () => {
    const { arrival } = await arriving('github')
    await exchange(await callback('github', { ...arrival, method: 'POST' }))
  })

  test.each<[string, Record<string, string>, string]>([
    ['unknown fields', { 'https://evil.example/': 'x', location: 'x', state: 's' }, 'state=s'],
    ['line breaks', { state: 'a\r\nset-cookie: x=y' }, 'state=a%0D%0Aset-cookie%3A+x%3Dy'],
    ['4000 characters', { state: 's', user: 'x'.repeat(4000) }, `state=s&user=${'x'.repeat(4000)}`],
    ['4001 characters', { state: 's', user: 'x'.repeat(4001) }, 'state=s'],
  ])('redirects nowhere else: %s', async (_, fields, query) => {
    const { status, headers } = await post(fields)
    expect(status).toBe(303)
    expect(headers.get('location')).toBe(`${callbackOf('apple')}?${query}`)
    expect(headers.get('set-cookie')).toBeNull()
  })

  test.each([
    ['text/plain', 'state=x', 415],
    ['application/json', '{', 400],
    ['application/json', '[]', 400],
  ])('is refused as %s: %s', async (type, body, status) => {
    const headers = { 'content-type': type, accept: 'text/html' }
    const answer = await app.raw(pathOf(callbackOf('apple')), { method: 'POST', headers, body })
    expect(answer.status).toBe(status)
  })
})

describe('Secrets', () => {
  const onDisk = () =>
    ['', '-wal'].map((suffix) => readFileSync(app.db.file + suffix, 'latin1')).join('')

  const CLIENT_SECRETS = PROVIDERS.flatMap((name) => {
    const { clientSecret, privateKey } = fakes.settingsOf(name)
    return [clientSecret, privateKey?.split('\n')[1]].filter((secret) => secret !== undefined)
  })
  const TOKENS = /access-[0-9a-f]{8}-|refresh-access|eyJhbGciOi/

  test.each(['google', 'github', 'apple'] as const)(
    'of a sign-in with %s are in no log, file or URL',
    async (provider) => {
      const [from, asked] = [app.log.length, fakes.requests().length]
      const url = await authorizeUrl(await begin('login'), provider)
      const { searchParams } = new URL(url)
      const arrival = await authorize(url, provider, newAccount())
      const before = onDisk()
      const page = await callback(provider, arrival)
      const { session_token } = await exchange(page)
      const failing = changed((await arriving(provider)).arrival, { code: 'a-made-up-code' })
      await callback(provider, failing)

      const ours = [new URL(page.location).searchParams.get('code') as string, session_token]
      const sent = [searchParams.get('state'), searchParams.get('nonce')]
      const known = [...ours, ...sent, arrival.params.get('code')].filter((one) => one !== null)
      const log = app.log.slice(from).join('\n')
      expect(log).toContain('/auth/self-service/methods/oidc/callback')
      const after = onDisk()
      for (const secret of [...known, ...CLIENT_SECRETS])
        for (const text of [log, before, after]) expect(text.includes(secret)).toBe(false)
      for (const value of failing.params.values()) expect(log).not.toContain(value)
      expect(`${log}${before}${after}`).not.toMatch(TOKENS)
      expect(before).toContain(sha256(searchParams.get('state') as string))
      expect(before).not.toMatch(/"verifier"|"nonce"/)

      const paths = fakes
        .requests()
        .slice(asked)
        .map(({ path }) => path)
      for (const secret of [...ours, ...CLIENT_SECRETS.map(encodeURIComponent)])
        expect(paths.join()).not.toContain(secret)
      expect(paths.join()).not.toMatch(/access_token=|code_verifier=/)
    },
  )

  test('of an account are sealed, also while its user is asked for an address', async () => {
    const { identity } = await signInWith('github', newAccount())
    const [link] = rowsOf(app, 'gate_social_links').filter((row) => row.identity_id === identity.id)
    expect(link.tokens).toBeString()
    expect(() => JSON.parse(link.tokens)).toThrow()

    const account = newAccount({ email: null })
    const flow = await flowAt(await roundTrip(await begin('login'), 'github', account))
    const [row] = rowsOf(app, 'gate_flows').filter(({ id }) => id === flow.id)
    expect(row.internal).toBeString()
    expect(row.internal).not.toContain(account.id)
    expect(onDisk()).not.toMatch(TOKENS)
    expect(JSON.stringify(flow)).not.toMatch(/access-|pendingAccount/)
    expect(JSON.stringify(flow)).not.toContain(`#${account.id}`)
  })
})
