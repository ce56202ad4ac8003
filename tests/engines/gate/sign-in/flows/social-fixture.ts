import { afterAll, expect } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
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
import { type Json, SESSIONS, SETTINGS } from '../../fixture.ts'
import { rowsOf } from '../../identities/people.ts'
import { RETURN_TO, UNHURRIED, withToken } from './acts.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import { bootFlows, flowParty } from './fixture.ts'

type Fakes = Awaited<ReturnType<typeof startFakes>>
/** One tenant, and its users' ways to providers and back. */
export type SocialTenant = Awaited<ReturnType<typeof socialTenant>>
/** The page that a callback leads to, and the browser that is on it. */
export type Back = Page & { browser: Browser }

const BASE = 'https://gate.example'

export const callbackOf = (provider: ProviderName) =>
  `${BASE}/auth/self-service/methods/oidc/callback/${provider}`

/** All providers on loopback. Times in ID tokens are those of the app booted last. */
export async function startFakes() {
  const redirectUris = PROVIDERS.map(callbackOf)
  const time = { now: (): number => 0 }
  const openId = await startOpenIdProvider({ redirectUris, clock: { now: () => time.now() } })
  const plain = startPlainProviders({ redirectUris })

  function settingsOf(provider: ProviderName) {
    const one = OPENID_NAMES.find((name) => name === provider)
    if (one) return openId.providerConfig(one)
    return plain.providerConfig(PLAIN_NAMES.find((name) => name === provider) ?? 'github')
  }

  return {
    openId,
    plain,
    time,
    settingsOf,
    /** The account that signs in at all providers from now on. */
    signInAs(account: Account) {
      openId.signInAs(account)
      plain.signInAs(account)
    },
    requests: () => [...openId.requests, ...plain.requests],
    stop: () => Promise.all([openId.stop(), plain.stop()]),
  }
}

/** Providers whose claims about an address are never trusted. */
export const UNTRUSTED: ProviderName[] = ['facebook', 'slack', 'spotify']
export const TRUSTED = PROVIDERS.filter((name) => !UNTRUSTED.includes(name))

type SocialOptions = TestAppOptions & { configured?: readonly ProviderName[] }

/** An application with a client at each provider, and one tenant that enables all of them. */
export async function bootSocial(
  fakes: Fakes,
  { configured = PROVIDERS, flags, ...options }: SocialOptions = {},
) {
  const clients = clientsAt(fakes, configured)
  const base = await bootFlows({
    ...options,
    flags: { 'server-base-url': BASE, ...UNHURRIED, ...clients.flags, ...flags },
    env: clients.env,
  })
  const timeBefore = fakes.time.now
  fakes.time.now = base.clock.now

  async function stop() {
    fakes.time.now = timeBefore
    await base.app.stop()
  }

  const newTenant = (name?: string) => socialTenant(base.app, fakes, name)
  return { ...(await newTenant('Acme')), newTenant, fakes, stop, [Symbol.asyncDispose]: stop }
}

/** The application of a test file, booted once. It has a tenant for tests that change no settings. */
export async function useSocial() {
  const fakes = await startFakes()
  const social = await bootSocial(fakes)
  afterAll(async () => {
    await social.stop()
    await fakes.stop()
  })
  return social
}

const FLAGS = { clientId: 'client-id', baseUrl: 'base-url', teamId: 'team-id', keyId: 'key-id' }
const SECRETS = { clientSecret: 'CLIENT_SECRET', privateKey: 'PRIVATE_KEY' }

function clientsAt(fakes: Fakes, providers: readonly ProviderName[]) {
  const flags: Record<string, string> = {}
  const env: Record<string, string> = {}
  for (const name of providers)
    for (const [setting, value] of Object.entries(fakes.settingsOf(name))) {
      const flag = FLAGS[setting as keyof typeof FLAGS]
      const secret = SECRETS[setting as keyof typeof SECRETS]
      if (value && flag) flags[`gate-providers-${name}-${flag}`] = value
      if (value && secret) env[`GATEHOUSE_GATE_PROVIDERS_${name.toUpperCase()}_${secret}`] = value
    }
  return { flags, env }
}

/** One more tenant that enables all providers, with a webhook that receives every event. */
async function socialTenant(app: TestApp, fakes: Fakes, name?: string) {
  const tenant = await flowParty(app, name)
  const social = { app, clock: app.clock, ...tenant, ...socialOf(app, fakes, tenant) }
  await social.enable(...PROVIDERS)
  await social.createWebhook('http://127.0.0.1:9/unused', { active: false })
  return social
}

function socialOf(app: TestApp, fakes: Fakes, tenant: Awaited<ReturnType<typeof flowParty>>) {
  const { api } = tenant
  /** The browsers that have a flow's page open, by flow. */
  const openIn = new Map<string, Browser>()

  /** Sends a form as a program, or as a script in the browser that has the flow open. */
  const send = (flow: Json, fields: Json, headers: Record<string, string> = {}) =>
    tenant.send(flow, fields, { ...cookieOf(openIn.get(flow.id)), ...headers })

  async function sendWell(flow: Json, fields: Json, headers: Record<string, string> = {}) {
    const answer = await send(flow, fields, headers)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body as Json
  }

  const setEnabled = (enabled: boolean, providers: ProviderName[]) =>
    api.put(`${SETTINGS}/oidc-providers`, {
      providers: providers.map((provider) => ({ provider, enabled })),
    })

  /** A flow that returns to the tenant's app. */
  const begin = (kind: string, headers: Record<string, string> = {}) =>
    tenant.start(kind, { 'x-return-to': RETURN_TO, ...headers })

  /** The provider's URL that a program is told to send the browser to. */
  async function authorizeUrl(
    flow: Json,
    provider: ProviderName,
    fields: Json = {},
    headers: Record<string, string> = {},
  ): Promise<string> {
    const answer = await send(flow, { method: 'oidc', provider, ...fields }, headers)
    expect(answer).toEqual({
      status: 422,
      headers: expect.anything(),
      body: {
        error: expect.any(String),
        id: 'browser_location_change_required',
        redirect_browser_to: expect.any(String),
      },
    })
    return answer.body.redirect_browser_to
  }

  /** What the browser brings to the callback after `account` signs in at the provider. */
  async function authorize(
    url: string,
    provider: ProviderName,
    account: Account,
    press: 'allow' | 'deny' = 'allow',
  ): Promise<Arrival> {
    fakes.signInAs(account)
    return walk(url, { to: callbackOf(provider), press })
  }

  async function callback(
    provider: ProviderName,
    { method, params }: Arrival,
    browser: Browser = newBrowser(app),
  ): Promise<Back> {
    const url = callbackOf(provider)
    if (method === 'GET') return { ...(await browser.visit(`${url}?${params}`)), browser }
    // Browsers send no SameSite=Lax cookies along with a form of another site.
    const posted = await newBrowser(app).post(url, Object.fromEntries(params))
    expect(posted.status).toBe(303)
    expect(posted.location).toStartWith(`${url}?`)
    return { ...(await browser.visit(posted.location)), browser }
  }

  /** From a flow to the provider and back, started by a program. */
  async function roundTrip(
    flow: Json,
    provider: ProviderName,
    account: Account,
    options: { press?: 'allow' | 'deny'; fields?: Json; headers?: Record<string, string> } = {},
  ): Promise<Back> {
    const url = await authorizeUrl(flow, provider, options.fields, options.headers)
    const arrival = await authorize(url, provider, account, options.press)
    return callback(provider, arrival, openIn.get(flow.id))
  }

  /** The same, started by the button of a page. */
  async function pressProvider(
    browser: Browser,
    page: Page,
    provider: ProviderName,
    account: Account,
    { button = 'provider', choice = 'allow' as 'allow' | 'deny' } = {},
  ): Promise<Back> {
    const sent = await browser.press(page, [button, provider])
    expect(sent.status).toBe(303)
    const arrival = await authorize(sent.location, provider, account, choice)
    return callback(provider, arrival, browser)
  }

  const tryExchange = (flow: string | null, code: string | null): Promise<Answer> =>
    api.post(`${SESSIONS}/exchange`, { flow, code })

  /** The session of a browser that returned to the app. */
  async function exchange({ status, location }: Page): Promise<Json> {
    expect({ status, location }).toEqual({
      status: 303,
      location: expect.stringMatching(
        /^https:\/\/app\.example\.com\/after\?flow=[^&]+&code=[^&]+$/,
      ),
    })
    const { searchParams } = new URL(location)
    const answer = await tryExchange(searchParams.get('flow'), searchParams.get('code'))
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  const signInWith = async (
    provider: ProviderName,
    account: Account,
    kind = 'login',
  ): Promise<Json> => exchange(await roundTrip(await begin(kind), provider, account))

  /** The flow on whose page a browser is, as JSON. */
  async function flowAt(page: Back, headers: Record<string, string> = {}): Promise<Json> {
    expect(page.status).toBe(303)
    expect(page.location).toStartWith(`${BASE}/auth/self-service/`)
    const cookie = cookieOf(page.browser)
    const answer = await tenant.read(page.location, { ...cookie, ...headers })
    expect(answer).toMatchObject({ status: 200 })
    openIn.set(answer.body.id, page.browser)
    return answer.body
  }

  /** Connects an account with the code that the browser brought back to the app. */
  const finishLink = (flow: Json, back: Page, token: string): Promise<Answer> =>
    send(flow, { method: 'oidc', code: codeIn(back) }, withToken(token))

  /** Connects an account in the settings, as a program. */
  async function connect(token: string, provider: ProviderName, account: Account) {
    const headers = withToken(token)
    const flow = await begin('settings', headers)
    const back = await roundTrip(flow, provider, account, { fields: linkOf(provider), headers })
    const answer = await finishLink(flow, back, token)
    expect(answer).toMatchObject({ status: 200, body: { state: 'success' } })
  }

  /** The identifiers of an identity's connected accounts. */
  async function accountsOf(identity: { id: string }): Promise<string[]> {
    const { credentials } = await tenant.readIdentity(identity)
    return credentials.oidc?.identifiers ?? []
  }

  /** The webhook events about an identity, oldest first: type and payload. */
  const eventsOf = ({ id }: { id: string }): [string, Json][] =>
    rowsOf(app, 'messages')
      .filter(({ about }) => about === id)
      .sort((one, other) => one.seq - other.seq)
      .map(({ type, payload }) => [type, JSON.parse(payload).data.payload])

  return {
    send,
    sendWell,
    enable: (...providers: ProviderName[]) => setEnabled(true, providers),
    disable: (...providers: ProviderName[]) => setEnabled(false, providers),
    begin,
    authorizeUrl,
    authorize,
    callback,
    roundTrip,
    pressProvider,
    tryExchange,
    exchange,
    signInWith,
    flowAt,
    finishLink,
    connect,
    accountsOf,
    // The names that pre-hijacking.test.ts uses.
    press: pressProvider,
    comeWith: signInWith,
    visit: authorize,
    arrive: callback,
    travel: roundTrip,
    eventsOf,
    eventTypesOf: (identity: { id: string }) => eventsOf(identity).map(([type]) => type),
    /** How many identities and sessions the tenant has. */
    counts: () =>
      ['gate_identities', 'gate_sessions'].map(
        (table) => rowsOf(app, table).filter((row) => row.tenant_id === tenant.id).length,
      ),
  }
}

/** The fields that connect an account. */
export const linkOf = (provider: ProviderName) => ({ provider: undefined, link: provider })

/** The code that a browser brings back to the app. */
export const codeIn = ({ location }: Page): string =>
  new URL(location).searchParams.get('code') ?? ''

function cookieOf(browser: Browser | undefined): Record<string, string> {
  const cookie = [...(browser?.cookies ?? [])].map((pair) => pair.join('=')).join('; ')
  return cookie === '' ? {} : { cookie }
}

const SUBJECTS: Partial<Record<ProviderName, (account: Account) => string>> = {
  microsoft: ({ id }) => `${ORGANISATION}:${uuidOf(id)}`,
  slack: ({ id }) => `T0WORKSPACE:${id}`,
  spotify: ({ id }) => `A${id}`,
}

/** The identifier of an account among credentials: its installation and its subject. */
export function named(provider: ProviderName, account: Account) {
  const subject = SUBJECTS[provider]?.(account) ?? account.id
  return expect.stringMatching(new RegExp(`^${provider}:\\S+#${subject}$`))
}

export const isVerified = ({ verifiable_addresses }: Json): boolean =>
  verifiable_addresses[0].verified
