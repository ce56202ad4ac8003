import { expect } from 'bun:test'
import { createApp } from '../../../../../src/app.ts'
import {
  type Config,
  loadConfig,
  PROVIDERS,
  type ProviderName,
} from '../../../../../src/config/index.ts'
import type { Answer, TestApp, TestAppOptions } from '../../../../support/app.ts'
import {
  type Account,
  type Arrival,
  OPENID_NAMES,
  ORGANISATION,
  PLAIN_NAMES,
  startOpenIdProvider,
  startPlainProviders,
  uuidOf,
  walk,
} from '../../../../support/social/index.ts'
import { bootParty, type Gate, gateOf, type Json, SESSIONS, SETTINGS } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import { RETURN_TO, UNHURRIED, withToken } from './acts.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import { bootFlows, type FlowFixture, flowsOf } from './fixture.ts'

type Fakes = Awaited<ReturnType<typeof startFakes>>
/** One tenant, its people, and their ways to providers and back. */
export type SocialParty = ReturnType<typeof partyOf>
/** Where a browser is led to, and which browser that is. */
export type Back = Page & { browser: Browser }

const BASE = 'https://gate.example'

/** Cheap hashes, as in `bootFlows`. */
const CHEAP = { 'gate-password-memory': '8MB', 'gate-password-iterations': '1' }
const CALLBACKS = `${BASE}/auth/self-service/methods/oidc/callback`

/** Where a provider sends people back to. */
export const callbackOf = (provider: ProviderName) => `${CALLBACKS}/${provider}`

/** All eleven providers on loopback. Times in ID tokens are those of the fixture booted last. */
export async function startFakes() {
  const redirectUris = PROVIDERS.map(callbackOf)
  const time = { now: (): number => 0 }
  const openId = await startOpenIdProvider({ redirectUris, clock: { now: () => time.now() } })
  const plain = startPlainProviders({ redirectUris })

  function settingsOf(provider: ProviderName) {
    const one = OPENID_NAMES.find((name) => name === provider)
    if (one) return openId.providerConfig(one)
    const other = PLAIN_NAMES.find((name) => name === provider)
    if (other) return plain.providerConfig(other)
    throw new Error(`nobody stands for ${provider}`)
  }

  return {
    openId,
    plain,
    settingsOf,
    /** Who presses the buttons from now on. */
    signInAs: (account: Account) => {
      openId.signInAs(account)
      plain.signInAs(account)
    },
    /** Whatever a provider was asked, in order. */
    requests: () => [...openId.requests, ...plain.requests],
    /** Goes by this clock, until what is returned is called. */
    follow: (clock: { now(): number }) => {
      const before = time.now
      time.now = () => clock.now()
      return () => {
        time.now = before
      }
    },
    stop: async () => {
      await Promise.all([openId.stop(), plain.stop()])
    },
  }
}

/** By what a provider knows somebody, as it stands in the credentials. */
const SUBJECTS: Record<ProviderName, (account: Account) => string> = {
  github: ({ id }) => id,
  google: ({ id }) => id,
  gitlab: ({ id }) => id,
  microsoft: ({ id }) => `${ORGANISATION}:${uuidOf(id)}`,
  discord: ({ id }) => id,
  facebook: ({ id }) => id,
  linkedin: ({ id }) => id,
  apple: ({ id }) => id,
  slack: ({ id }) => `T0WORKSPACE:${id}`,
  twitch: ({ id }) => id,
  spotify: ({ id }) => `A${id}`,
}

/** Providers whose word for an address is never taken. */
export const UNTRUSTED: ProviderName[] = ['facebook', 'slack', 'spotify']
export const TRUSTED = PROVIDERS.filter((name) => !UNTRUSTED.includes(name))

/**
 * An application whose tenant has switched all providers on, with the fakes in their place. They
 * have secrets, which no option of the command line may hold: so the instance that is asked is one
 * more on the platform of another, with settings of its own.
 */
export async function bootSocial(
  fakes: Fakes,
  {
    configured = PROVIDERS,
    flags = {},
    ...options
  }: TestAppOptions & { configured?: readonly ProviderName[] } = {},
) {
  const base = await bootFlows(options)
  const unfollow = fakes.follow(base.clock)
  const instance = createApp(base.app.platform, configWith(fakes, configured, flags))
  const app = onInstance(base, instance)
  const own = { id: base.acme.id, key: base.key }
  const acme = partyOf(app, fakes, { ...own, ...gateOf(app, app.client(base.key)) })
  await prepare(acme)

  /** One more tenant, with all providers switched on. */
  async function party(name = 'Other') {
    const other = partyOf(app, fakes, await bootParty(app, name))
    await prepare(other)
    return other
  }

  async function stop() {
    unfollow()
    await base.app.stop()
  }

  return { ...base, ...acme, app, party, stop, [Symbol.asyncDispose]: stop }
}

/** With all providers, and a webhook that is told of everything and never called. */
async function prepare({ enable, createWebhook }: Pick<SocialParty, 'enable' | 'createWebhook'>) {
  await enable(...PROVIDERS)
  await createWebhook('http://127.0.0.1:9/nobody', { active: false })
}

function partyOf(app: TestApp, fakes: Fakes, party: Gate & { id: string; key: string }) {
  const flows = { ...party, ...flowsOf(app, { tenantId: party.id, ...party }) }
  return { ...flows, ...socialOf(app, fakes, flows) }
}

function onInstance(base: FlowFixture, instance: ReturnType<typeof createApp>): TestApp {
  async function raw(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await instance.app.handle(new Request(`http://localhost${path}`, init))
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    const body = isJson ? JSON.parse(text) : text
    return { status: response.status, headers: response.headers, body }
  }

  function client(key: string) {
    const send = (method: string) => (path: string, body?: unknown) =>
      raw(path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
    return {
      get: send('GET'),
      post: send('POST'),
      put: send('PUT'),
      patch: send('PATCH'),
      delete: send('DELETE'),
    }
  }

  return { ...base.app, raw, client }
}

function configWith(
  fakes: Fakes,
  configured: readonly ProviderName[],
  flags: Record<string, string>,
): Config {
  const own: Record<string, string> = {}
  const env: Record<string, string> = {}
  for (const name of configured) {
    const settings = fakes.settingsOf(name)
    for (const [word, option] of Object.entries(OPTIONS)) {
      const value = settings[word as keyof typeof OPTIONS]
      if (value !== undefined) own[`gate-providers-${name}-${option}`] = value
    }
    for (const [word, variable] of Object.entries(SECRETS)) {
      const value = settings[word as keyof typeof SECRETS]
      if (value !== undefined)
        env[`GATEHOUSE_GATE_PROVIDERS_${name.toUpperCase()}_${variable}`] = value
    }
  }
  const all = { 'server-base-url': BASE, ...CHEAP, ...UNHURRIED, ...own, ...flags }
  const loaded = loadConfig({ flags: all, env, cwd: '/nowhere', readFile: missing })
  if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join('; '))
  return loaded.config
}

const OPTIONS = { clientId: 'client-id', baseUrl: 'base-url', teamId: 'team-id', keyId: 'key-id' }
const SECRETS = { clientSecret: 'CLIENT_SECRET', privateKey: 'PRIVATE_KEY' }

function missing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}

/** How the people of one tenant go to providers and come back. */
export function socialOf(app: TestApp, fakes: Fakes, party: Gate & ReturnType<typeof flowsOf>) {
  const { api, start } = party
  /** Flows by their ids, of which a browser has the page open. */
  const openIn = new Map<string, Browser>()

  /** As a program does it, or a page of one's own in the browser that has the flow open. */
  const send = (flow: Json, fields: Json, headers: Record<string, string> = {}) =>
    party.send(flow, fields, { ...cookieOf(openIn.get(flow.id)), ...headers })

  async function sendWell(flow: Json, fields: Json, headers: Record<string, string> = {}) {
    const answer = await send(flow, fields, headers)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body as Json
  }

  const turn = (isOn: boolean, providers: ProviderName[]) =>
    api.put(`${SETTINGS}/oidc-providers`, {
      providers: providers.map((provider) => ({ provider, enabled: isOn })),
    })

  /** A flow that ends at the app of the tenant. */
  const begin = (kind: string, headers: Record<string, string> = {}) =>
    start(kind, { 'x-return-to': RETURN_TO, ...headers })

  /** Where a program is told to send the browser. */
  async function leave(
    flow: Json,
    provider: ProviderName,
    fields: Json = {},
    headers: Record<string, string> = {},
  ): Promise<string> {
    const answer = await send(flow, { method: 'oidc', provider, ...fields }, headers)
    expect(answer).toMatchObject({
      status: 422,
      body: { error: expect.any(String), id: 'browser_location_change_required' },
    })
    expect(Object.keys(answer.body).sort()).toEqual(['error', 'id', 'redirect_browser_to'])
    return answer.body.redirect_browser_to
  }

  /** What somebody brings back from a provider who signs in there as `account`. */
  async function visit(
    url: string,
    provider: ProviderName,
    account: Account,
    press: 'allow' | 'deny' = 'allow',
  ): Promise<Arrival> {
    fakes.signInAs(account)
    return walk(url, { to: callbackOf(provider), press })
  }

  /** What comes of the callback. */
  async function arrive(
    provider: ProviderName,
    { method, params }: Arrival,
    browser: Browser = newBrowser(app),
  ): Promise<Back> {
    const url = callbackOf(provider)
    if (method === 'GET') return { ...(await browser.visit(`${url}?${params}`)), browser }
    // Cookies do not come along with a form of another site.
    const posted = await newBrowser(app).post(url, Object.fromEntries(params))
    expect(posted.status).toBe(303)
    expect(posted.location).toStartWith(`${url}?`)
    return { ...(await browser.visit(posted.location)), browser }
  }

  /** By way of a program: there and back. */
  async function travel(
    flow: Json,
    provider: ProviderName,
    account: Account,
    options: { press?: 'allow' | 'deny'; fields?: Json; headers?: Record<string, string> } = {},
  ): Promise<Back> {
    const url = await leave(flow, provider, options.fields, options.headers)
    const arrival = await visit(url, provider, account, options.press)
    return arrive(provider, arrival, openIn.get(flow.id))
  }

  /** By way of a page with a button for the provider: there and back. */
  async function press(
    browser: Browser,
    page: Page,
    provider: ProviderName,
    account: Account,
    { button = 'provider', choice = 'allow' as 'allow' | 'deny' } = {},
  ): Promise<Back> {
    const sent = await browser.press(page, [button, provider])
    expect(sent.status).toBe(303)
    return arrive(provider, await visit(sent.location, provider, account, choice), browser)
  }

  const tryExchange = (flow: string | null, code: string | null): Promise<Answer> =>
    api.post(`${SESSIONS}/exchange`, { flow, code })

  /** The session of whoever is sent back to the app. */
  async function exchange({ status, location }: Page): Promise<Json> {
    expect({ status, location }).toEqual({ status: 303, location: expect.any(String) })
    expect(location).toStartWith(`${RETURN_TO}?`)
    const { searchParams } = new URL(location)
    expect([...searchParams.keys()].sort()).toEqual(['code', 'flow'])
    const answer = await tryExchange(searchParams.get('flow'), searchParams.get('code'))
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  const comeWith = async (
    provider: ProviderName,
    account: Account,
    kind = 'login',
  ): Promise<Json> => exchange(await travel(await begin(kind), provider, account))

  /** The flow whose page a browser is sent to, as JSON. */
  async function flowAt(page: Back, headers: Record<string, string> = {}): Promise<Json> {
    expect(page.status).toBe(303)
    expect(page.location).toStartWith(`${BASE}/auth/self-service/`)
    const { pathname, search } = new URL(page.location)
    const answer = await app.raw(pathname + search, {
      headers: { accept: 'application/json', ...cookieOf(page.browser), ...headers },
    })
    expect(answer).toMatchObject({ status: 200 })
    openIn.set(answer.body.id, page.browser)
    return answer.body
  }

  /** The half of connecting an account that comes after the way back: with what was brought along. */
  const finish = (flow: Json, back: Page, token: string): Promise<Answer> =>
    send(flow, { method: 'oidc', code: codeIn(back) }, withToken(token))

  /** Connects an account in the settings, by way of a program. */
  async function connect(token: string, provider: ProviderName, account: Account) {
    const flow = await begin('settings', withToken(token))
    const headers = withToken(token)
    const back = await travel(flow, provider, account, { fields: linkOf(provider), headers })
    expect(await finish(flow, back, token)).toMatchObject({
      status: 200,
      body: { state: 'success' },
    })
  }

  /** The accounts elsewhere of somebody, as their credentials name them. */
  async function accountsOf(person: { id: string }): Promise<string[]> {
    const { credentials } = await party.readIdentity(person)
    return credentials.oidc?.identifiers ?? []
  }

  /** What webhooks hear of somebody, oldest first: type and payload. */
  const eventsOf = ({ id }: { id: string }): [string, Json][] =>
    rowsOf(app, 'messages')
      .filter(({ about }) => about === id)
      .sort((one, other) => one.seq - other.seq)
      .map(({ type, payload }) => [type, JSON.parse(payload).data.payload])

  return {
    send,
    sendWell,
    enable: (...providers: ProviderName[]) => turn(true, providers),
    disable: (...providers: ProviderName[]) => turn(false, providers),
    begin,
    leave,
    visit,
    arrive,
    travel,
    press,
    tryExchange,
    exchange,
    comeWith,
    flowAt,
    finish,
    connect,
    accountsOf,
    eventsOf,
  }
}

/** What is sent to connect an account. */
export const linkOf = (provider: ProviderName) => ({ provider: undefined, link: provider })

/** What a browser brings back to the app. */
export const codeIn = ({ location }: Page): string =>
  new URL(location).searchParams.get('code') ?? ''

function cookieOf(browser: Browser | undefined): Record<string, string> {
  const cookie = [...(browser?.cookies ?? [])].map((pair) => pair.join('=')).join('; ')
  return cookie === '' ? {} : { cookie }
}

/** How an account is named among the credentials: by its installation and its subject. */
export const named = (provider: ProviderName, account: Account) =>
  expect.stringMatching(
    new RegExp(`^${provider}:\\S+#${SUBJECTS[provider](account).replaceAll('.', '\\.')}$`),
  )
