import { expect } from 'bun:test'
import type { ProviderName } from '../../../../../src/config/index.ts'
import type { FlowKind } from '../../../../../src/engines/gate/sign-in/model.ts'
import { createStore } from '../../../../../src/engines/gate/store.ts'
import { type Json, SECOND } from '../../fixture.ts'
import { csrfOf, type Flows, node, PASSWORD, pathOf, totpAt } from './fixture.ts'

export { HOUR } from '../../fixture.ts'
export { UNHURRIED } from './fixture.ts'

/** How long an authenticator shows one code. */
export const STEP = 30 * SECOND
export const RETURN_TO = 'https://app.example.com/after'
export const ADA = 'ada@example.com'
export const BOB = 'bob@example.com'
export const NEW_PASSWORD = 'seven green bicycles'

/** A valid form of each kind of flow, for `ADA` with `PASSWORD`; one signs `BOB` up. */
export const FORMS: Record<FlowKind, Json> = {
  login: { method: 'password', identifier: ADA, password: PASSWORD },
  registration: { method: 'password', traits: { email: BOB }, password: PASSWORD },
  settings: { method: 'profile', traits: { email: ADA } },
  recovery: { method: 'code', email: ADA },
  verification: { method: 'code', email: ADA },
}

/** Reads a flow as a program without a session. */
export const read = ({ app }: Flows, url: string, headers: Record<string, string> = {}) =>
  app.raw(pathOf(url), { headers: { accept: 'application/json', ...headers } })

export const withToken = (token: string) => ({ 'x-session-token': token })

export async function sessionOf({ whoami }: Flows, token: string): Promise<Json> {
  const answer = await whoami(token)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

export const isAlive = async ({ whoami }: Flows, token: string): Promise<boolean> =>
  (await whoami(token)).status !== 401

/** Sends a form with this token and no other. */
export const sendBare = (fixture: Flows, flow: Json, fields: Json, token?: string) =>
  fixture.app.raw(pathOf(flow.ui.action), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token !== undefined && withToken(token)) },
    body: JSON.stringify({ csrf_token: csrfOf(flow), ...fields }),
  })

/** Turns the clock to the authenticator's next code. */
export const nextCode = (fixture: Flows, secret: string): string => {
  fixture.clock.jump(STEP)
  return totpAt(secret, fixture.clock.now())
}

/** A code that the authenticator does not show around now. */
export function wrongCode(fixture: Flows, secret: string): string {
  const near = [-2, -1, 0, 1, 2].map((steps) => totpAt(secret, fixture.clock.now() + steps * STEP))
  return [0, 1, 2, 3, 4, 5].map((n) => `00000${n}`).find((code) => !near.includes(code)) as string
}

/** A user with an authenticator: the token of a session with both factors, and the secret. */
export async function enrolled(fixture: Flows, email = ADA) {
  const { session_token: token, identity } = await fixture.register(email)
  return { token: token as string, identity, secret: await fixture.enrol(token) }
}

/** A sign-in by password, and the flow that asks for the second factor. */
export async function halfway(fixture: Flows, email = ADA) {
  const signedIn = await fixture.signIn(email)
  const token: string = signedIn.session_token
  const { redirect_browser_to: url } = signedIn.continue_with.at(-1)
  const { status, body: flow } = await read(fixture, url, withToken(token))
  expect(status).toBe(200)
  return { token, signedIn, flow }
}

export const CODES = {
  make: { method: 'lookup_secret', lookup_secret_regenerate: true },
  keep: { method: 'lookup_secret', lookup_secret_confirm: true },
  remove: { method: 'lookup_secret', lookup_secret_disable: true },
}

export const codesShown = (flow: Json): string[] =>
  node(flow, 'lookup_secret_codes').attributes.text.context.secrets.map(
    ({ context }: Json) => context.secret,
  )

/** Makes recovery codes and confirms them. */
export async function recoveryCodes(
  { settings, sendWell }: Pick<Flows, 'settings' | 'sendWell'>,
  token: string,
): Promise<string[]> {
  const flow = await settings(token)
  const shown = await sendWell(flow, CODES.make, withToken(token))
  expect((await sendWell(flow, CODES.keep, withToken(token))).state).toBe('success')
  return codesShown(shown)
}

/** Inserts a connected social account. */
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

/** A flow that is shown again with this error. */
export function complains(id: number, field?: string) {
  const messages = [expect.objectContaining({ id, type: 'error' })]
  const attributes = expect.objectContaining({ name: field })
  const ui =
    field === undefined
      ? { messages: expect.arrayContaining(messages) }
      : { nodes: expect.arrayContaining([expect.objectContaining({ attributes, messages })]) }
  return { status: 422, body: { ui: expect.objectContaining(ui) } }
}

export const refuses = (status: number, id: string) => ({
  status,
  body: { error: expect.any(String), id },
})
