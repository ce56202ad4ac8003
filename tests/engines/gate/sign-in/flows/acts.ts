import { expect } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import { createStore } from '../../../../../src/engines/gate/store.ts'
import type { TestAppOptions } from '../../../../support/app.ts'
import { type Json, SECOND } from '../../fixture.ts'
import { bootFlows, csrfOf, type Flows, node, pathOf, totpAt, UNHURRIED } from './fixture.ts'

export { UNHURRIED }

export const HOUR = 60 * 60 * SECOND
/** How long one code of an authenticator is shown. */
export const STEP = 30 * SECOND
export const RETURN_TO = 'https://app.example.com/after'

export const ADA = 'ada@example.com'
export const BOB = 'bob@example.com'

/** One that is good wherever it is set. */
export const NEW_PASSWORD = 'seven green bicycles'

/** For many people whose clock stands still. */
export const bootUnhurried = (options: TestAppOptions = {}) =>
  bootFlows({ ...options, flags: { ...UNHURRIED, ...options.flags } })

/** With second factors switched on. */
export async function bootFactors(options: TestAppOptions = {}) {
  const fixture = await bootUnhurried(options)
  await fixture.security({ mfa_enabled: true })
  return fixture
}

/** A flow as a program reads it. */
export const read = ({ app }: Flows, url: string, headers: Record<string, string> = {}) =>
  app.raw(pathOf(url), { headers: { accept: 'application/json', ...headers } })

export const withToken = (token: string) => ({ 'x-session-token': token })

/** What the session behind a token is now. */
export async function sessionOf({ whoami }: Flows, token: string): Promise<Json> {
  const answer = await whoami(token)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

export const isAlive = async ({ whoami }: Flows, token: string): Promise<boolean> =>
  (await whoami(token)).status !== 401

/** To the action of a flow, with this token and no other. */
export const sendBare = (fixture: Flows, flow: Json, fields: Json, token?: string) =>
  fixture.app.raw(pathOf(flow.ui.action), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && withToken(token)) },
    body: JSON.stringify({ csrf_token: csrfOf(flow), ...fields }),
  })

/** Both ways for a form about settings: to its action, and by the tenant's server. */
export const WAYS = {
  'to the action of the flow': sendBare,
  'by the tenant’s server': (fixture: Flows, flow: Json, fields: Json, token?: string) =>
    fixture.submit(
      'settings',
      { flow: flow.id, ...fields },
      token === undefined ? {} : withToken(token),
    ),
}

/** The time at which the authenticator shows its next code. */
export const nextCode = (fixture: Flows, secret: string): string => {
  fixture.clock.jump(STEP)
  return totpAt(secret, fixture.clock.now())
}

/** Six digits that an authenticator shows at no time near to now. */
export function wrongCode(fixture: Flows, secret: string): string {
  const near = [-2, -1, 0, 1, 2].map((steps) => totpAt(secret, fixture.clock.now() + steps * STEP))
  return ['000000', '000001', '000002', '000003', '000004', '000005'].find(
    (code) => !near.includes(code),
  ) as string
}

/** Somebody with an authenticator: the token of a session of both factors, and the secret. */
export async function enrolled(fixture: Flows, email = ADA) {
  const { session_token: token, identity } = await fixture.register(email)
  return { token: token as string, identity, secret: await fixture.enrol(token) }
}

/** A password that was right, and the flow that asks for the second factor. */
export async function halfway(fixture: Flows, email = ADA) {
  const signedIn = await fixture.signIn(email)
  const url = signedIn.continue_with?.find(
    ({ action }: Json) => action === 'redirect_browser_to',
  )?.redirect_browser_to
  expect(url).toBeString()
  const { status, body: flow } = await read(fixture, url, withToken(signedIn.session_token))
  expect(status).toBe(200)
  return { token: signedIn.session_token as string, signedIn, flow }
}

/** The buttons for recovery codes. */
export const CODES = {
  make: { method: 'lookup_secret', lookup_secret_regenerate: true },
  keep: { method: 'lookup_secret', lookup_secret_confirm: true },
  remove: { method: 'lookup_secret', lookup_secret_disable: true },
}

/** The recovery codes that a settings flow shows. */
export const codesShown = (flow: Json): string[] =>
  node(flow, 'lookup_secret_codes').attributes.text.context.secrets.map(
    ({ context }: Json) => context.secret,
  )

/** New recovery codes, written down. */
export async function recoveryCodes(fixture: Flows, token: string): Promise<string[]> {
  const flow = await fixture.settings(token)
  const shown = await fixture.sendWell(flow, CODES.make, withToken(token))
  const kept = await fixture.sendWell(flow, CODES.keep, withToken(token))
  expect(kept.state).toBe('success')
  return codesShown(shown)
}

/** An account elsewhere, as if it had been connected. */
export async function connect(
  { app, tenantId, clock }: Flows,
  { id: identityId }: Json,
  provider: ProviderName,
  subject = `${provider}-1`,
) {
  const now = clock.now()
  const row = { tenantId, provider, subject, identityId, tokens: null }
  await app.db.commit(() =>
    createStore(app.db).socialLinks.insert({ ...row, createdAt: now, updatedAt: now }),
  )
}

/** A whole flow that is shown again, with what is wrong. */
export const complains = (id: number, field?: string) => ({
  status: 422,
  body: {
    ui: expect.objectContaining(
      field === undefined
        ? { messages: expect.arrayContaining([expect.objectContaining({ id, type: 'error' })]) }
        : {
            nodes: expect.arrayContaining([
              expect.objectContaining({
                attributes: expect.objectContaining({ name: field }),
                messages: [expect.objectContaining({ id, type: 'error' })],
              }),
            ]),
          },
    ),
  },
})

/** A refusal by its name. */
export const refuses = (status: number, id: string) => ({
  status,
  body: { error: expect.any(String), id },
})
