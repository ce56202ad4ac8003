import { afterAll, expect } from 'bun:test'
import { Elysia } from 'elysia'
import { type Config, loadConfig } from '../../../../src/config/index.ts'
import { createFlowPages } from '../../../../src/console/flow-pages.ts'
import type { IdentityRow } from '../../../../src/engines/gate/identities/store.ts'
import { createGate } from '../../../../src/engines/gate/index.ts'
import { createAccess } from '../../../../src/http/access.ts'
import { createHttpMetrics } from '../../../../src/http/http-metrics.ts'
import { createMiddleware } from '../../../../src/http/middleware.ts'
import { createRequestContexts } from '../../../../src/http/request-context.ts'
import { createTurns } from '../../../../src/http/turns.ts'
import { openSystemTenant, SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { type Answer, bootTestApp, type TestApp } from '../../../support/app.ts'
import { gateOf, type Json } from '../fixture.ts'
import { UNHURRIED } from '../sign-in/flows/acts.ts'
import { newBrowser, type Page } from '../sign-in/flows/browser.ts'
import { csrfOf, flowsOf, pathOf } from '../sign-in/flows/fixture.ts'

export const BASE = 'https://gate.example'
export const RETURN_TO = `${BASE}/console/signed-in`
export const NAME = 'Gatehouse'
export const PASSWORD = 'correct horse battery'
export const CLI = { kind: 'cli', source: 'test' } as const
export const DEVICE = { method: 'link', ipAddress: '192.0.2.7', userAgent: 'test' } as const

export interface OperatorOptions {
  /** Settings as options of the command line. */
  flags?: Record<string, string>
  /** Settings as variables, for those that are secrets. */
  env?: Record<string, string>
  onSignUp?: (operator: IdentityRow) => void
}

export type OperatorFixture = Awaited<ReturnType<typeof bootOperators>>

/** Cheap hashes, to save time. */
const CHEAP = { 'gate-password-memory': '8MB', 'gate-password-iterations': '1' }

export const OPEN = { 'console-signup': 'open' }
export const WITH_MAIL = {
  GATEHOUSE_MAIL_SMTP_URL: 'smtp://127.0.0.1:9',
  GATEHOUSE_MAIL_FROM: 'gate@example.org',
}

/** The operators of a test file; see `useApp`. */
export async function useOperators(options: OperatorOptions = {}) {
  const operators = await bootOperators(options)
  afterAll(operators.app.stop)
  return operators
}

/** Gate with operators and their browsers, as the console uses it. */
export async function bootOperators(options: OperatorOptions = {}) {
  const base = await bootTestApp()
  await openSystemTenant({ db: base.db, clock: base.clock })
  return {
    ...fixtureOn(base, options),
    /** The same data, with other settings. */
    restarted: (others: OperatorOptions) => fixtureOn(base, others),
    [Symbol.asyncDispose]: () => base.stop(),
  }
}

function fixtureOn(base: TestApp, { flags = {}, env = {}, onSignUp }: OperatorOptions) {
  const { platform, clock } = base
  const gate = gateOn(base, configWith(flags, env), onSignUp)
  const raw = rawOf(gate)
  const app: TestApp = { ...base, raw, client: clientOf(raw) }
  const { gateOperators } = gate
  const { codeFor, sentTo } = flowsOf(app, {
    tenantId: SYSTEM_TENANT_ID,
    key: '',
    api: app.client(''),
  })
  let made = 0

  /** An operator who can sign in. */
  const operator = (fields: Partial<Parameters<typeof gateOperators.create>[1]> = {}) =>
    gateOperators.create(CLI, {
      email: `operator-${made++}@example.com`,
      displayName: 'Ada Berg',
      password: PASSWORD,
      isVerified: true,
      ...fields,
    })

  const begin = (
    kind: 'login' | 'registration' | 'recovery' | 'settings',
    wishes: { sessionToken?: string; requestedAal?: 'aal2'; language?: 'en' | 'de' } = {},
  ): Promise<string> => gateOperators.begin({ kind, returnTo: RETURN_TO, ...wishes })

  /** A flow as a program reads it. */
  async function flowAt(url: string, token?: string): Promise<Json> {
    const headers = { accept: 'application/json', ...(token && { 'x-session-token': token }) }
    const { status, body } = await raw(pathOf(url), { headers })
    expect(status).toBe(200)
    return body
  }

  /** Sends a form of a flow as a program. */
  const send = (flow: Json, fields: Json, token?: string): Promise<Answer> =>
    raw(pathOf(flow.ui.action), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token && { 'x-session-token': token }) },
      body: JSON.stringify({ csrf_token: csrfOf(flow), ...fields }),
    })

  /** The session of a browser that is sent back to the console. */
  async function signedIn({ status, location }: Page) {
    expect({ status, location }).toEqual({ status: 303, location: expect.any(String) })
    expect(location).toStartWith(`${RETURN_TO}?`)
    const { flow, code } = Object.fromEntries(new URL(location).searchParams)
    return gateOperators.exchange({ flow: flow ?? '', code: code ?? '' })
  }

  /** One more tenant with a key of gate, on the same installation. */
  async function tenant() {
    const { id, key } = await base.tenant()
    const { key: secret } = await key('gate', 'live')
    const api = app.client(secret)
    return {
      id,
      key: secret,
      ...gateOf(app, api),
      ...flowsOf(app, { tenantId: id, key: secret, api }),
    }
  }

  return {
    app,
    platform,
    clock,
    gate,
    gateOperators,
    operator,
    begin,
    flowAt,
    send,
    signedIn,
    tenant,
    codeFor,
    sentTo,
    browser: () => newBrowser(app),
    people: (tenantId = SYSTEM_TENANT_ID): Json[] =>
      base.db.client
        .query('SELECT * FROM gate_identities WHERE tenant_id = ? ORDER BY seq')
        .all(tenantId),
  }
}

function gateOn(
  { platform, delivery, mail }: TestApp,
  config: Config,
  onSignUp: OperatorOptions['onSignUp'],
) {
  const { clock, keys, log, metering, metrics } = platform
  const contexts = createRequestContexts({ clock, metering, perMinute: 6000 })
  const gate = createGate(
    platform,
    { delivery, mail },
    config,
    createAccess({
      keys,
      contexts,
      turns: createTurns(),
      addressOf: () => undefined,
      maxBody: config.server.maxBodyBytes,
    }),
    { baseUrl: () => BASE, addressOf: () => undefined, pages: createFlowPages() },
    { onSignUp },
  )
  const clientAddress = () => undefined
  const parts = { log, metrics: createHttpMetrics(metrics), clientAddress, contexts }
  const app = new Elysia({ normalize: false })
  app.use(createMiddleware({ ...parts, routes: () => app })).use(gate.routes)
  return { ...gate, handle: (request: Request) => app.handle(request) }
}

const rawOf =
  ({ handle }: { handle: (request: Request) => Promise<Response> }) =>
  async (path: string, init: RequestInit = {}): Promise<Answer> => {
    const response = await handle(new Request(`http://localhost${path}`, init))
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') ?? false
    const body = isJson ? JSON.parse(text) : text
    return { status: response.status, headers: response.headers, body }
  }

function clientOf(raw: ReturnType<typeof rawOf>): TestApp['client'] {
  return (key) => {
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
}

function configWith(flags: Record<string, string>, env: Record<string, string>): Config {
  const all = { 'server-base-url': BASE, ...CHEAP, ...UNHURRIED, ...flags }
  const loaded = loadConfig({ flags: all, env, cwd: '/nowhere', readFile: missing })
  if (!loaded.ok) throw new Error(loaded.errors.map(({ message }) => message).join('; '))
  return loaded.config
}

function missing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}
