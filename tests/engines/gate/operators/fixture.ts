import { afterAll, expect } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { type Answer, bootTestApp, type TestAppOptions } from '../../../support/app.ts'
import { type Json, rowsOf } from '../fixture.ts'
import { newBrowser, type Page } from '../sign-in/flows/browser.ts'
import {
  csrfOf,
  flowParty,
  flowsOf,
  PASSWORD,
  pathOf,
  UNHURRIED,
} from '../sign-in/flows/fixture.ts'

export const BASE = 'https://gate.example'
const RETURN_TO = `${BASE}/console/signed-in`

export { PASSWORD }
export const CLI = { kind: 'cli', source: 'test' } as const
export const DEVICE = { method: 'link', ipAddress: '192.0.2.7', userAgent: 'test' } as const

export type OperatorFixture = Awaited<ReturnType<typeof bootOperators>>

/** Cheap hashes, to save time. */
const CHEAP = { 'gate-password-memory': '8MB', 'gate-password-iterations': '1' }

export const OPEN = { 'console-signup': 'open' }
export const WITH_MAIL = {
  GATEHOUSE_MAIL_SMTP_URL: 'smtp://127.0.0.1:9',
  GATEHOUSE_MAIL_FROM: 'gate@example.org',
}

/** The operators of a test file; see `useApp`. */
export async function useOperators(options: Pick<TestAppOptions, 'flags' | 'env'> = {}) {
  const operators = await bootOperators(options)
  afterAll(operators.app.stop)
  return operators
}

/** An installation with operators and their browsers, as the console uses it. */
export async function bootOperators({ flags, env }: Parameters<typeof useOperators>[0] = {}) {
  const app = await bootTestApp({
    flags: { 'server-base-url': BASE, ...CHEAP, ...UNHURRIED, ...flags },
    env,
  })
  const { raw, gate } = app
  const { gateOperators } = gate
  const system = { tenantId: SYSTEM_TENANT_ID, key: '', api: app.client('') }
  const { codeFor, sentTo } = flowsOf(app, system)
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

  return {
    ...{ app, platform: app.platform, clock: app.clock, gate, gateOperators },
    ...{ operator, begin, flowAt, send, signedIn, codeFor, sentTo },
    /** One more tenant with a key of gate, on the same installation. */
    tenant: () => flowParty(app),
    browser: () => newBrowser(app),
    people: () =>
      rowsOf(app, 'gate_identities').filter((row) => row.tenant_id === SYSTEM_TENANT_ID),
    [Symbol.asyncDispose]: app.stop,
  }
}
