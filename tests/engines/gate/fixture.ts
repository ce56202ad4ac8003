import { afterAll, expect } from 'bun:test'
import type { IdentityRow } from '../../../src/engines/gate/identities/store.ts'
import { createStore } from '../../../src/engines/gate/store.ts'
import { bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'

export { ACTOR, count, DAY, HOUR, MINUTE, SECOND, UNKNOWN_ID } from '../relay/support.ts'

// biome-ignore lint/suspicious/noExplicitAny: bodies are checked by the tests that read them
export type Json = any
type Api = ReturnType<TestApp['client']>

export const IDENTITIES = '/v1/gate/identities'
export const SESSIONS = '/v1/gate/sessions'
export const TOKENS = '/v1/gate/tokens'
export const AUTHORIZE = '/v1/gate/authorize'
export const SETTINGS = '/v1/gate/settings'
export const WEBHOOKS = '/v1/gate/settings/webhooks'

export type Fixture = Awaited<ReturnType<typeof bootGate>>
export type Gate = ReturnType<typeof gateOf>

/** An application with one tenant that has a live key of gate with all scopes. */
export async function bootGate(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const acme = await app.tenant('Acme')
  const { key } = await acme.key('gate', 'live')
  return {
    app,
    clock: app.clock,
    acme,
    key,
    ...gateOf(app, app.client(key)),
    [Symbol.asyncDispose]: () => app.stop(),
  }
}

/** The gate of a test file, booted once; see `useApp`. Each test takes a tenant with `newTenant`. */
export async function useGate(options: TestAppOptions = {}) {
  const gate = await bootGate(options)
  afterAll(gate.app.stop)
  return { ...gate, newTenant: (name?: string) => bootParty(gate.app, name) }
}

let people = 0

/** Gate as one key sees it, with what a test does not care about filled in. */
export function gateOf(app: TestApp, api: Api) {
  async function createIdentity(fields: Json = {}): Promise<Json> {
    const { traits, ...others } = fields
    const answer = await api.post(IDENTITIES, {
      schema_id: 'user',
      traits: { email: `person-${people++}@example.com`, ...traits },
      ...others,
    })
    expect(answer).toMatchObject({ status: 201 })
    return answer.body
  }

  async function readIdentity({ id }: { id: string }): Promise<Json> {
    const answer = await api.get(`${IDENTITIES}/${id}`)
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  const patch = ({ id }: { id: string }, operations: Json) =>
    api.patch(`${IDENTITIES}/${id}`, operations)

  async function setState({ id }: { id: string }, state: string): Promise<Json> {
    const answer = await api.patch(`${IDENTITIES}/${id}/state`, { state })
    expect(answer).toMatchObject({ status: 200 })
    return answer.body
  }

  async function createWebhook(url: string, fields: Json = {}): Promise<Json> {
    const answer = await api.post(WEBHOOKS, { url, ...fields })
    expect(answer).toMatchObject({ status: 201 })
    return answer.body
  }

  return {
    api,
    createIdentity,
    readIdentity,
    patch,
    setState,
    createWebhook,
    /** Signs somebody in: what a flow does once it knows who it is. */
    openSession: ({ id }: { id: string }, signIn: Json = {}) => openSession(app, id, signIn),
    whoami: (token: string, headers: Record<string, string> = {}) =>
      app.raw(`${SESSIONS}/whoami`, { headers: { 'x-session-token': token, ...headers } }),
  }
}

const SIGN_IN = {
  assuranceLevel: 'aal1' as const,
  methods: [{ method: 'password', aal: 'aal1' as const }],
  ipAddress: '192.0.2.7',
  userAgent: 'test',
}

/** Of whichever tenant: the token, and the session as its owner sees it. */
async function openSession(app: TestApp, identityId: string, signIn: Json) {
  const { identities } = createStore(app.db)
  const tenantId = identities.ownerOf(identityId) as string
  const row = identities.find(tenantId, identityId) as IdentityRow
  return app.db.commit(() => app.gate.sessions.open(row, { ...SIGN_IN, ...signIn }))
}

/** An access token made with a key. */
export async function mintToken(app: TestApp, key: string, fields: Json = {}): Promise<Json> {
  const answer = await app.raw(TOKENS, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: key, subject: 'svc-1', ...fields }),
  })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

/** One more tenant with a live key of gate. */
export async function bootParty(app: TestApp, name = 'Other') {
  const tenant = await app.tenant(name)
  const { id: keyId, key } = await tenant.key('gate', 'live')
  return { id: tenant.id, newKey: tenant.key, keyId, key, ...gateOf(app, app.client(key)) }
}

/** The answer to a request for a token, whatever it is. */
export const askForToken = (app: TestApp, body: Json, headers: Record<string, string> = {}) =>
  app.raw(TOKENS, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** A refusal on the routes whose errors carry a code. */
export const coded = (status: number, code: string, words: string) => ({
  status,
  body: {
    error: { code, message: expect.stringContaining(words), request_id: expect.any(String) },
  },
})

/** A refusal on the others. */
export const plain = (status: number, words: string) => ({
  status,
  body: { error: expect.stringContaining(words) },
})
