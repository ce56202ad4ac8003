import { afterAll, expect } from 'bun:test'
import { PROVIDERS, type ProviderName } from '../../../../../src/config/index.ts'
import type { Answer, TestApp } from '../../../../support/app.ts'
import {
  type Account,
  type Arrival,
  newAccount,
  type ProviderSettings,
  type Providers,
  startProviders,
  walk,
} from '../../../../support/social/index.ts'
import { type Json, rowsOf, SESSIONS, SETTINGS } from '../../fixture.ts'
import { RETURN_TO, UNHURRIED, withToken } from './acts.ts'
import { type Browser, newBrowser, type Page } from './browser.ts'
import { bootFlows, flowParty, messageIds } from './fixture.ts'

export type SocialTenant = Awaited<ReturnType<typeof socialTenant>>
/** The page that a callback leads to, and the browser that is on it. */
export type Back = Page & { browser: Browser }
type Headers = Record<string, string>

const BASE = 'https://gate.example'

export const callbackOf = (provider: string) =>
  `${BASE}/auth/self-service/methods/oidc/callback/${provider}`

/** Providers whose claims about an address are never trusted. */
export const UNTRUSTED: ProviderName[] = ['facebook', 'slack', 'spotify']

interface TripOptions {
  press?: 'allow' | 'deny'
  fields?: Json
  headers?: Headers
}

/** An application with a client at each provider, and one tenant that enables all of them. */
export async function bootSocial({
  configured = PROVIDERS as readonly ProviderName[],
  flags = {} as Record<string, string>,
} = {}) {
  const clock = { now: () => 0 }
  const fakes = startProviders({ redirectUris: PROVIDERS.map(callbackOf), clock })
  const env = configured.flatMap((name) => envOf(name, fakes.providerConfig(name)))
  const all = { 'server-base-url': BASE, ...UNHURRIED, ...flags }
  const { app } = await bootFlows({ flags: all, env: Object.fromEntries(env) })
  clock.now = app.clock.now
  const stop = async () => {
    await Promise.all([app.stop(), fakes.stop()])
  }
  const newTenant = () => socialTenant(app, fakes)
  return { ...(await newTenant()), newTenant, fakes, stop, [Symbol.asyncDispose]: stop }
}

/** The application of a test file. It has a tenant for tests that change no settings. */
export async function useSocial(options: Parameters<typeof bootSocial>[0] = {}) {
  const social = await bootSocial(options)
  afterAll(social.stop)
  return social
}

/** The environment that configures this client. */
const envOf = (name: ProviderName, client: ProviderSettings) =>
  Object.entries(client).flatMap(([setting, value]) => {
    const words = `${name}_${setting.replaceAll(/[A-Z]/g, '_$&')}`
    return value ? [[`GATEHOUSE_GATE_PROVIDERS_${words.toUpperCase()}`, value]] : []
  })

/** One more tenant that enables all providers, with a webhook that receives every event. */
async function socialTenant(app: TestApp, fakes: Providers) {
  const party = await flowParty(app, 'Acme')
  const tenant = { app, clock: app.clock, ...party, ...socialOf(app, fakes, party) }
  await tenant.enable(...PROVIDERS)
  await tenant.createWebhook('http://127.0.0.1:9/unused', { active: false })
  return tenant
}

function socialOf(app: TestApp, fakes: Providers, party: Awaited<ReturnType<typeof flowParty>>) {
  const { api } = party
  /** The browsers that have a flow's page open, by flow. */
  const openIn = new Map<string, Browser>()

  /** Sends a form as a program, or as a script in the browser that has the flow open. */
  const send = (flow: Json, fields: Json, headers: Headers = {}) =>
    party.send(flow, fields, { ...cookieOf(openIn.get(flow.id)), ...headers })

  async function sendWell(flow: Json, fields: Json, headers: Headers = {}): Promise<Json> {
    const answer = await send(flow, fields, headers)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  const setEnabled = (enabled: boolean, providers: ProviderName[]) =>
    api.put(`${SETTINGS}/oidc-providers`, {
      providers: providers.map((provider) => ({ provider, enabled })),
    })

  /** A flow that returns to the tenant's app. */
  const begin = (kind: string, headers: Headers = {}) =>
    party.start(kind, { 'x-return-to': RETURN_TO, ...headers })

  /** A browser at the page of a new flow. */
  async function browserAt(kind: string, headers: Headers = {}) {
    const browser = newBrowser(app)
    return { browser, page: await browser.visit((await begin(kind, headers)).hosted_url) }
  }

  /** The provider's URL that a program is told to send the browser to. */
  async function authorizeUrl(
    flow: Json,
    provider: ProviderName,
    { fields, headers }: TripOptions = {},
  ): Promise<string> {
    const { status, body } = await send(flow, { method: 'oidc', provider, ...fields }, headers)
    const { error, redirect_browser_to, ...rest } = body
    expect([status, rest]).toEqual([422, { id: 'browser_location_change_required' }])
    expect(error).toBeString()
    return redirect_browser_to
  }

  /** What the browser brings to the callback after `account` signs in at the provider. */
  function authorize(
    url: string,
    provider: ProviderName,
    account: Account = newAccount(),
    press: TripOptions['press'] = 'allow',
  ): Promise<Arrival> {
    fakes.signInAs(account)
    return walk(url, { to: callbackOf(provider), press })
  }

  /** The same, from a flow that a program sends to the provider. */
  const arrivalFrom = async (
    flow: Json,
    provider: ProviderName,
    account: Account = newAccount(),
    trip: TripOptions = {},
  ): Promise<Arrival> =>
    authorize(await authorizeUrl(flow, provider, trip), provider, account, trip.press)

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
    account: Account = newAccount(),
    options: TripOptions = {},
  ): Promise<Back> {
    const arrival = await arrivalFrom(flow, provider, account, options)
    return callback(provider, arrival, openIn.get(flow.id))
  }

  /** The same, started by the button of a page. */
  async function pressProvider(
    { browser, page }: { browser: Browser; page: Page },
    provider: ProviderName,
    account: Account = newAccount(),
    { button = 'provider', press = 'allow' as TripOptions['press'] } = {},
  ): Promise<Back> {
    const sent = await browser.press(page, [button, provider])
    expect(sent.status).toBe(303)
    return callback(provider, await authorize(sent.location, provider, account, press), browser)
  }

  /** Exchanges the code of a browser that returned to the app. */
  const tryExchange = ({ location }: Pick<Page, 'location'>): Promise<Answer> => {
    const { flow, code } = Object.fromEntries(new URL(location).searchParams)
    return api.post(`${SESSIONS}/exchange`, { flow, code })
  }

  /** The session of a browser that returned to the app. */
  async function exchange(page: Page): Promise<Json> {
    expect(page.location).toMatch(/^https:\/\/app\.example\.com\/after\?flow=[^&]+&code=[^&]+$/)
    const answer = await tryExchange(page)
    expect([page.status, answer.status]).toEqual([303, 200])
    return answer.body
  }

  /** The flow on whose page a browser is, as JSON. */
  async function flowAt(page: Back, headers: Headers = {}): Promise<Json> {
    expect(page.location).toStartWith(`${BASE}/auth/self-service/`)
    const answer = await party.read(page.location, { ...cookieOf(page.browser), ...headers })
    expect([page.status, answer.status]).toEqual([303, 200])
    openIn.set(answer.body.id, page.browser)
    return answer.body
  }

  /** Connects an account with the code that the browser brought back to the app. */
  const finishLink = (flow: Json, back: Page, token: string): Promise<Answer> =>
    send(flow, { method: 'oidc', code: codeIn(back) }, withToken(token))

  async function connect(token: string, provider: ProviderName, account: Account = newAccount()) {
    const flow = await begin('settings', withToken(token))
    const back = await roundTrip(flow, provider, account, linking(provider, token))
    const answer = await finishLink(flow, back, token)
    expect(answer).toMatchObject({ status: 200, body: { state: 'success' } })
  }

  /** The webhook events about an identity, oldest first: type and payload. */
  const eventsOf = ({ id }: { id: string }): [string, Json][] =>
    rowsOf(app, 'messages')
      .filter(({ about }) => about === id)
      .sort((one, other) => one.seq - other.seq)
      .map(({ type, payload }) => [type, JSON.parse(payload).data.payload])

  return {
    ...{ send, sendWell, begin, browserAt, authorizeUrl, authorize, arrivalFrom, callback },
    ...{ roundTrip, pressProvider, tryExchange, exchange, flowAt, finishLink, connect, eventsOf },
    enable: (...providers: ProviderName[]) => setEnabled(true, providers),
    disable: (...providers: ProviderName[]) => setEnabled(false, providers),
    signInWith: async (provider: ProviderName, account = newAccount(), kind = 'login') =>
      exchange(await roundTrip(await begin(kind), provider, account)),
    /** The messages of the flow that a browser is sent back to. */
    messagesAt: async (page: Back, headers?: Headers) => messageIds(await flowAt(page, headers)),
    /** The identifiers of an identity's connected accounts. */
    accountsOf: async (identity: { id: string }): Promise<string[]> =>
      (await party.readIdentity(identity)).credentials.oidc?.identifiers ?? [],
    eventTypesOf: (identity: { id: string }) => eventsOf(identity).map(([type]) => type),
    /** How many identities and sessions the tenant has. */
    counts: () =>
      ['gate_identities', 'gate_sessions'].map(
        (table) => rowsOf(app, table).filter((row) => row.tenant_id === party.id).length,
      ),
  }
}

/** A trip that connects an account in the settings. */
export const linking = (provider: ProviderName, token: string): TripOptions => ({
  fields: { provider: undefined, link: provider },
  headers: withToken(token),
})

export const codeIn = ({ location }: Page): string =>
  new URL(location).searchParams.get('code') ?? ''

function cookieOf(browser: Browser | undefined): Headers {
  const cookie = [...(browser?.cookies ?? [])].map((pair) => pair.join('=')).join('; ')
  return cookie === '' ? {} : { cookie }
}

/** The identifier of an account among credentials: its installation and its subject. */
export const named = (provider: ProviderName, { id }: Account) =>
  expect.stringMatching(new RegExp(`^${provider}:\\S+#A?${id}$`))

export const isVerified = ({ verifiable_addresses }: Json): boolean =>
  verifiable_addresses[0].verified
