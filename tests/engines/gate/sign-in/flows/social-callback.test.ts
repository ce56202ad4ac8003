import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import { createStore } from '../../../../../src/engines/gate/store.ts'
import { sha256 } from '../../../../../src/platform/crypto.ts'
import { type Arrival, newAccount, withParams } from '../../../../support/social/index.ts'
import { ACTOR, IDENTITIES, MINUTE, rowsOf, SECOND, SESSIONS } from '../../fixture.ts'
import { complains, HOUR, isAlive, withToken } from './acts.ts'
import { newBrowser, type Page } from './browser.ts'
import { nodeNames, PASSWORD, pathOf } from './fixture.ts'
import { callbackOf, codeIn, linking, useSocial } from './social-fixture.ts'

const social = await useSocial()
const { app, arrivalFrom, authorize, authorizeUrl, begin, browserAt, callback, clock } = social
const { counts, exchange, fakes, flowAt, messagesAt, newTenant, pressProvider } = social
const { roundTrip } = social

/** Has three providers, of which GitLab doesn't respond and Discord has no https. */
const small = await useSocial({
  configured: ['github', 'gitlab', 'discord'],
  flags: {
    'limits-sign-ins-per-minute': '2',
    'gate-providers-gitlab-token-url': 'http://127.0.0.1:1/token',
    'gate-providers-discord-token-url': 'http://discord.example/token',
  },
})

/** A sign-in whose browser is about to come back from the provider. */
async function arriving(provider: ProviderName = 'github', account = newAccount()) {
  const flow = await begin('login')
  return { flow, arrival: await arrivalFrom(flow, provider, account) }
}

const changed = ({ method, params }: Arrival, changes: Record<string, string | null>): Arrival => ({
  method,
  params: withParams(params, changes),
})

function expectRefused(page: Page) {
  expect(page).toMatchObject({ status: 403, location: '', forms: [] })
  expect(page.headers.get('content-type')).toStartWith('text/html')
}

describe('A state', () => {
  test('works once, for its provider and browser', async () => {
    const { browser, page } = await browserAt('login')
    const { location } = await browser.press(page, ['provider', 'apple'])
    const arrival = await authorize(location, 'apple')
    const before = counts()
    const state = arrival.params.get('state') as string
    const near = state.slice(0, -1) + (state.endsWith('x') ? 'y' : 'x')
    for (const wrong of ['', null, 'x'.repeat(5000), near])
      expectRefused(await callback('apple', changed(arrival, { state: wrong }), browser))
    expectRefused(await callback('discord', arrival, browser))
    const name = '__Host-gatehouse_browser'
    // A sibling domain can plant the last one: the right value, under a name without the prefix.
    const planted = `gatehouse_browser=${browser.cookies.get(name)}`
    const strangers = ['a=b', `${name}=`, `${name}=null`, planted]
    const browsers = strangers.map((cookie) => newBrowser(app, { cookie }))
    for (const stranger of [(await browserAt('login')).browser, ...browsers])
      expectRefused(await callback('apple', arrival, stranger))
    expect(counts()).toEqual(before)
    const done = await callback('apple', arrival, browser)
    expectRefused(await callback('apple', arrival, browser))
    await exchange(done)
  })

  test('works once, also with an invalid ID token, which the log says and the flow survives', async () => {
    const { flow, arrival } = await arriving('google')
    const [before, from] = [counts(), app.log.length]
    fakes.tamper(({ claims }) => void Object.assign(claims, { aud: 'another' }))
    const failed = await callback('google', arrival).finally(() => fakes.tamper())
    expect(failed.location).toBe(flow.hosted_url)
    expect(await messagesAt(failed)).toEqual([4900004])
    expect(counts()).toEqual(before)
    const warnings = app.log.slice(from).filter((line) => line.includes('"warn"'))
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([{ provider: 'google' }])
    expectRefused(await callback('google', arrival))

    const next = await arrivalFrom(flow, 'google')
    const [identities = 0, sessions = 0] = counts()
    const pages = await Promise.all([1, 2, 3].map(() => callback('google', next)))
    expect(pages.map(({ status }) => status).sort()).toEqual([303, 403, 403])
    expect(counts()).toEqual([identities + 1, sessions + 1])
  })

  test('works for half an hour, and no longer than its flow', async () => {
    const [inTime, late] = [await arriving(), await arriving()]
    clock.jump(30 * MINUTE - 1)
    await exchange(await callback('github', inTime.arrival))
    clock.jump(1)
    expectRefused(await callback('github', late.arrival))
    const flow = await begin('login')
    clock.jump(HOUR - 10 * SECOND)
    const arrival = await arrivalFrom(flow, 'github')
    clock.jump(10 * SECOND)
    expectRefused(await callback('github', arrival))
  })

  test('gives way to newer ones once a flow has more than ten', async () => {
    const flow = await begin('login')
    const urls: string[] = []
    for (let n = 0; n < 11; n++) {
      urls.push(await authorizeUrl(flow, 'github'))
      clock.jump(SECOND)
    }
    const { id: other } = await app.tenant()
    await app.db.commit(() => createStore(app.db).oauthStates.removeBeyond(other, flow.id, 0))
    expect(urls.join()).not.toContain(flow.id)
    const [first = '', second = ''] = urls
    expectRefused(await callback('github', await authorize(first, 'github')))
    await exchange(await callback('github', await authorize(second, 'github')))
  })
})

test('A user who cancels is back in the flow, and sees nothing of what the provider wrote', async () => {
  const of = await newTenant()
  await of.security({ passwordless_enabled: true })
  const flow = await of.begin('login')
  const from = app.log.length
  const written = '<b>written-by-a-stranger</b>'
  const more = { error_description: written, error_uri: `https://evil.example/${written}` }
  const denied = await of.arrivalFrom(flow, 'github', newAccount(), { press: 'deny' })
  const page = await of.callback('github', changed(denied, more))
  expect(page.location).toBe(flow.hosted_url)
  const shown = await of.flowAt(page)
  expect(shown.ui.messages).toMatchObject([{ id: 4900003, context: { provider_id: 'github' } }])
  const { html } = await page.browser.follow(page)
  for (const seen of [html, page.location, ...app.log.slice(from)])
    expect(seen).not.toContain('written-by-a-stranger')
  // The next step no longer says so.
  const sent = await of.sendWell(shown, { method: 'code', identifier: 'ada@example.com' })
  expect(sent.ui.messages).toMatchObject([{ id: 1010014 }])

  const at = await of.browserAt('registration')
  const back = await of.pressProvider(at, 'apple', newAccount(), { press: 'deny' })
  const again = { ...at, page: await at.browser.follow(back) }
  expect(again.page.text).toContain('Apple was denied or cancelled')
  await of.exchange(await of.pressProvider(again, 'apple'))
})

test('A flow continues if the provider does not respond; one without https is not asked', async () => {
  const flow = await small.begin('login')
  expect(await small.messagesAt(await small.roundTrip(flow, 'gitlab'))).toEqual([4900004])
  await small.clock.advance(MINUTE)
  expect(await small.send(flow, { provider: 'discord' })).toMatchObject(complains(4900004))
})

test('The callback and the way to the provider are rate limited', async () => {
  await small.clock.advance(MINUTE)
  const flow = await small.begin('login')
  const arrival = await small.arrivalFrom(flow, 'github')
  expectRefused(await small.callback('github', changed(arrival, { state: 'made-up' })))
  const states = rowsOf(small.app, 'gate_round_trips').length
  const page = await small.callback('github', arrival)
  const answer = await small.send(flow, { provider: 'github' })
  for (const { status, headers } of [page, answer])
    expect([status, headers.get('retry-after')]).toEqual([429, '30'])
  expect(answer.body.ui.messages).toMatchObject([{ id: 4900002 }])
  expect(rowsOf(small.app, 'gate_round_trips')).toHaveLength(states)
  await small.clock.advance(MINUTE)
  await small.exchange(await small.callback('github', arrival))
})

test('The providers of a flow are those that have a client and that the tenant enables', async () => {
  await small.clock.advance(MINUTE)
  await small.disable('gitlab', 'discord')
  const { session_token: token } = await small.register('ada@example.com')
  const buttons = (flow: object) => nodeNames(flow).filter((name) => name.startsWith('oidc:'))
  const flow = await small.start('registration')
  expect(buttons(flow)).toEqual(['oidc:provider=github'])
  expect(buttons(await small.settings(token))).toEqual(['oidc:link=github'])
  for (const name of ['gitlab', 'google', 'nonsense', 'github-tenant']) {
    const { status, body } = await small.send(flow, { method: 'oidc', provider: name })
    expect(status).toBe(422)
    expect(body.ui.messages).toMatchObject([{ id: 4900009, context: { provider: name } }])
    const linked = await small.change(token, { method: 'oidc', link: name })
    expect(linked).toMatchObject(complains(4900009))
  }
  await small.disable('github')
  expect(buttons(await small.start('login'))).toEqual([])
})

describe('A browser that comes back to a flow that is over', () => {
  test('is led to a new one, unless the tenant is suspended', async () => {
    const of = await newTenant()
    const flow = await of.begin('login')
    const known = newAccount()
    const arrival = await of.arrivalFrom(flow, 'github', known)
    const late = await of.arrivalFrom(flow, 'discord')
    const email = 'quicker@example.com'
    await of.register(email)
    await newBrowser(app).signIn(flow.hosted_url, email, PASSWORD)
    const before = of.counts()
    const back = await callback('github', arrival)
    expect(of.counts()).toEqual(before)
    expect(back.location).not.toBe(flow.hosted_url)
    const next = await of.flowAt(back)
    expect(next).toMatchObject({ return_to: flow.return_to, ui: { messages: [{ id: 4010007 }] } })
    const page = await back.browser.follow(back)
    expect(page.html).not.toContain(email)
    await of.exchange(await pressProvider({ browser: back.browser, page }, 'github', known))

    await app.platform.tenants.suspend(ACTOR, of.id, 'billing')
    const flows = rowsOf(app, 'gate_flows').length
    const refused = await callback('discord', late)
    expect(refused.status).toBe(402)
    expect(refused.text).toContain('Temporarily unavailable')
    expect(rowsOf(app, 'gate_flows')).toHaveLength(flows)
  })

  test.each(['saved', 'ended', 'deleted'])('connects no account: settings %s', async (how) => {
    const email = `over-${how}@example.com`
    const { session_token: token, session, identity } = await social.register(email)
    const flow = await begin('settings', withToken(token))
    const arrival = await arrivalFrom(flow, 'github', newAccount(), linking('github', token))
    const form = { method: 'profile', traits: { email } }
    if (how === 'saved') await social.sendWell(flow, form, withToken(token))
    if (how === 'deleted') await social.api.delete(`${IDENTITIES}/${identity.id}`)
    if (how === 'ended') await social.api.delete(`${SESSIONS}/${session.id}`)
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
  test('is not found for unknown providers, and answers programs with a page', async () => {
    for (const name of ['GitHub', 'gitlab-tenant', 'google%2F..%2Fgithub', '__proto__']) {
      const got = await social.open(`${callbackOf(name)}?state=x&code=y`)
      const posted = await social.post(callbackOf(name), { state: 'x', code: 'y' })
      expect([got.status, posted.status], name).toEqual([404, 404])
    }
    const { status, headers } = await app.raw(`${pathOf(callbackOf('google'))}?state=x&code=y`)
    expect([status, headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8'])
  })

  test('leads to the app of the flow alone, and passes on nothing of the provider', async () => {
    const { arrival } = await arriving()
    const evil = 'https://evil.example/'
    const more = { return_to: evil, redirect_uri: evil, redirect: '//evil.example', next: evil }
    const hosts = { 'x-forwarded-host': 'evil.example', host: 'evil.example' }
    const browser = newBrowser(app, { 'x-return-to': evil, ...hosts })
    const { id: flow } = await begin('login')
    const page = await callback('github', changed(arrival, { ...more, flow }), browser)
    for (const value of ['evil', ...arrival.params.values()])
      expect(page.location).not.toContain(value)
    expect(page.html).toBe('')
    await exchange(page)
  })

  test.each<[string, Record<string, string>, string]>([
    ['unknown fields', { 'https://evil.example/': 'x', location: 'x', state: 's' }, 'state=s'],
    ['line breaks', { state: 'a\r\nset-cookie: x=y' }, 'state=a%0D%0Aset-cookie%3A+x%3Dy'],
    ['4000 characters', { state: 's', user: 'x'.repeat(4000) }, `state=s&user=${'x'.repeat(4000)}`],
    ['4001 characters', { state: 's', user: 'x'.repeat(4001) }, 'state=s'],
  ])('redirects what is posted to it: %s', async (_, fields, query) => {
    const { status, headers } = await social.post(callbackOf('apple'), fields)
    expect([status, headers.get('location')]).toEqual([303, `${callbackOf('apple')}?${query}`])
    expect(headers.get('set-cookie')).toBeNull()
  })
})

describe('Secrets', () => {
  const onDisk = () =>
    ['', '-wal'].map((suffix) => readFileSync(app.db.file + suffix, 'latin1')).join('')
  const TOKENS = /access-[0-9a-f]{8}-|refresh-access|eyJhbGciOi/
  const CLIENT_SECRETS = PROVIDERS.flatMap((name) => {
    const { clientSecret, privateKey } = fakes.providerConfig(name)
    return [clientSecret, privateKey?.split('\n')[1]].filter((secret) => secret !== undefined)
  })

  test('are in no log, file or URL', async () => {
    const [from, asked] = [app.log.length, fakes.paths.length]
    const [ours, theirs] = [[...CLIENT_SECRETS], [] as string[]]
    const trips: [ProviderName, Arrival][] = []
    for (const provider of ['apple', 'discord'] as const) {
      const url = await authorizeUrl(await begin('login'), provider)
      const { state = '', nonce = state } = Object.fromEntries(new URL(url).searchParams)
      const arrival = await authorize(url, provider)
      trips.push([provider, arrival])
      theirs.push(state, nonce, arrival.params.get('code') ?? state)
    }
    const before = onDisk()
    for (const [provider, arrival] of trips) {
      const page = await callback(provider, arrival)
      ours.push(codeIn(page), (await exchange(page)).session_token)
      const failing = changed((await arriving(provider)).arrival, { code: 'a-made-up-code' })
      await callback(provider, failing)
      for (const value of failing.params.values()) expect(app.log.join()).not.toContain(value)
    }
    const log = app.log.slice(from).join('\n')
    expect(log).toContain('/auth/self-service/methods/oidc/callback')
    for (const text of [log, before, onDisk()]) {
      for (const secret of [...ours, ...theirs]) expect(text.includes(secret)).toBe(false)
      expect(text).not.toMatch(TOKENS)
    }
    for (const [, { params }] of trips) expect(before).toContain(sha256(params.get('state') ?? ''))
    expect(before).not.toMatch(/"verifier"|"nonce"/)
    const paths = fakes.paths.slice(asked).map(decodeURIComponent).join()
    for (const secret of ours) expect(paths).not.toContain(secret)
    expect(paths).not.toMatch(/access_token=|code_verifier=/)
  })

  test('of an account are sealed while its user is asked for an address', async () => {
    const account = newAccount({ email: null })
    const flow = await flowAt(await roundTrip(await begin('login'), 'github', account))
    const [row] = rowsOf(app, 'gate_flows').filter(({ id }) => id === flow.id)
    expect(row.internal).toBeString()
    expect(row.internal).not.toContain(account.id)
    expect(onDisk()).not.toMatch(TOKENS)
    expect(JSON.stringify(flow)).not.toMatch(new RegExp(`access-|pendingAccount|#${account.id}`))
  })
})
