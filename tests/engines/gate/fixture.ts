import { afterAll, expect } from 'bun:test'
import type { IdentityRow } from '../../../src/engines/gate/identities/store.ts'
import { createStore } from '../../../src/engines/gate/store.ts'
import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { expectDescribed } from '../../support/described.ts'
import type { Target } from '../../support/target.ts'

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

/** When the clock of a test starts. */
export const START = '2026-03-01T12:00:30.000Z'

export const ID = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-\w{12}$/)

export type Fixture = Awaited<ReturnType<typeof bootGate>>
export type Gate = ReturnType<typeof gateOf>
export type Tenant = Awaited<ReturnType<Fixture['newTenant']>>

/**
 * The gate of a test file, booted once; see `useApp`. Each test takes a tenant with `newTenant`,
 * whose answers are all compared with the API document.
 */
export async function useGate(options: TestAppOptions = {}) {
  const gate = await bootGate(options)
  afterAll(gate.app.stop)
  return gate
}

/** A mail server. The outbox is stopped, so mails stay there. */
const WITH_MAIL = {
  GATEHOUSE_MAIL_SMTP_URL: 'smtp://127.0.0.1:9',
  GATEHOUSE_MAIL_FROM: 'gate@example.org',
}

export type GateOptions = TestAppOptions & { hasMail?: boolean }

/**
 * An application with a mail server unless `hasMail` is false, and one tenant that has a live key of
 * gate with all scopes.
 */
export async function bootGate({ hasMail = true, ...options }: GateOptions = {}) {
  const env = { ...(hasMail && WITH_MAIL), ...options.env }
  const app = await bootTestApp({ ...options, env })
  await app.mail.stop(0)
  const acme = await app.tenant('Acme')
  const { key } = await acme.key('gate', 'live')
  const withKey = (key: string) => ({ key, ...gateOf(app, describedClient(app, key)) })
  return {
    app,
    clock: app.clock,
    /** The time of the clock as the API shows it. */
    now: () => new Date(app.clock.now()).toISOString(),
    acme,
    key,
    ...gateOf(app, app.client(key)),
    withKey,
    /** One more tenant with a live key of gate. */
    newTenant: async (name = 'Other') => {
      const { id, newKey, keyId, key } = await bootParty(app, name)
      return { id, newKey, keyId, ...withKey(key) }
    },
    [Symbol.asyncDispose]: () => app.stop(),
  }
}

/** One more tenant with a live key of gate. */
export async function bootParty(app: TestApp, name = 'Other') {
  const tenant = await app.tenant(name)
  const { id: keyId, key } = await tenant.key('gate', 'live')
  return { id: tenant.id, newKey: tenant.key, keyId, key, ...gateOf(app, app.client(key)) }
}

type Method = keyof Api

/** A client whose answers are compared with the API document. */
function describedClient(app: TestApp, key: string): Api {
  const client = app.client(key)
  const call = (method: Method) => async (path: string, body?: unknown) => {
    const answer = await client[method](path, body)
    await expectAsDescribed(app, method, path, answer)
    return answer
  }
  const [get, post, put] = [call('get'), call('post'), call('put')]
  return { get, post, put, patch: call('patch'), delete: call('delete') }
}

const documents = new WeakMap<TestApp, Json>()

export async function expectAsDescribed(
  app: TestApp,
  method: Method,
  path: string,
  answer: Answer,
) {
  if (!documents.has(app)) documents.set(app, (await app.raw('/openapi.json')).body)
  expectDescribed(documents.get(app), method, path, withoutFreeForm(path, answer))
}

/** The answer without the members whose content is up to the tenant. */
function withoutFreeForm(path: string, { body, ...answer }: Answer): Answer {
  if (path.endsWith('/metadata') && answer.status === 200) return { ...answer, body: {} }
  const names = [
    'custom_data',
    'metadata_public',
    ...(path.includes('/decisions') ? ['context'] : []),
  ]
  const emptied = (name: string, value: unknown) => (names.includes(name) ? {} : value)
  return { ...answer, body: JSON.parse(JSON.stringify(body), emptied) }
}

/** The body of an answer, which must have the status. */
export async function bodyOf(
  asked: Promise<Pick<Answer, 'status' | 'body'>>,
  status = 200,
): Promise<Json> {
  const answer = await asked
  expect(answer).toMatchObject({ status })
  return answer.body
}

let people = 0

type WithId = { id: string }

/** Gate as one key sees it, with defaults for what a test does not need to choose. */
export function gateOf(app: TestApp, api: Api) {
  const createIdentity = ({ traits, ...others }: Json = {}): Promise<Json> => {
    const email = `person-${people++}@example.com`
    const body = { schema_id: 'user', traits: { email, ...traits }, ...others }
    return bodyOf(api.post(IDENTITIES, body), 201)
  }

  return {
    api,
    createIdentity,
    readIdentity: (person: WithId) => bodyOf(api.get(personPath(person))),
    patch: (person: WithId, operations: Json) => api.patch(personPath(person), operations),
    setState: (person: WithId, state: string) =>
      bodyOf(api.patch(personPath(person, '/state'), { state })),
    createWebhook: (url: string, fields: Json = {}) =>
      bodyOf(api.post(WEBHOOKS, { url, ...fields }), 201),
    /** Opens a session, as a completed sign-in does. */
    openSession: ({ id }: WithId, signIn: Json = {}) => openSession(app, id, signIn),
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

/** In the identity's tenant. Returns the token, and the session as its owner sees it. */
async function openSession(app: TestApp, identityId: string, signIn: Json) {
  const { identities } = createStore(app.db)
  const tenantId = identities.ownerOf(identityId) as string
  const row = identities.find(tenantId, identityId) as IdentityRow
  return app.db.commit(() => app.gate.sessions.open(row, { ...SIGN_IN, ...signIn }))
}

/** An access token made with a key. */
export const mintToken = (app: TestApp, key: string, fields: Json = {}): Promise<Json> =>
  bodyOf(askForToken(app, { api_key: key, subject: 'svc-1', ...fields }))

/** The answer to a request for a token. */
export const askForToken = (app: TestApp, body: Json, headers: Record<string, string> = {}) =>
  app.raw(TOKENS, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

/** An error of the routes whose errors have a code. */
export const coded = (status: number, code: string, words = '') => ({
  status,
  body: {
    error: { code, message: expect.stringContaining(words), request_id: expect.any(String) },
  },
})

/** An error of the other routes. */
export const plain = (status: number, words = '') => ({
  status,
  body: { error: expect.stringContaining(words) },
})

export const personPath = ({ id }: WithId, rest = '') => `${IDENTITIES}/${id}${rest}`

/** The events that a webhook has received, in order. */
export const told = ({ requests }: Target): Json[] => requests.map(({ body }) => JSON.parse(body))

export const typesTold = (target: Target): string[] =>
  told(target).map(({ event_type }) => event_type)

/** The rows of the audit log about an object, oldest first. */
export const auditOf = ({ db }: Pick<TestApp, 'db'>, object: string): Json[] =>
  db.client
    .query('select action, actor_kind, actor_id, detail from audit_log where object = ?')
    .all(object)
    .map((row: Json) => ({ ...row, detail: JSON.parse(row.detail) }))

export const actionsOn = (app: TestApp, object: string): string[] =>
  auditOf(app, object).map(({ action }) => action)

export const rowsOf = ({ db }: Pick<TestApp, 'db'>, table: string): Json[] =>
  db.client.query(`select * from ${table}`).all()

/** The number of rows that contain a text, by table. */
export function tablesWith({ db }: Pick<TestApp, 'db'>, text: string): Record<string, number> {
  const tables = db.client
    .query("select name from sqlite_master where type = 'table' and sql not like 'create virtual%'")
    .all() as { name: string }[]
  const isIn = (cell: unknown) =>
    (cell instanceof Uint8Array ? Buffer.from(cell).toString('latin1') : `${cell}`).includes(text)
  const counts = tables.map(({ name }) => [
    name,
    rowsOf({ db }, name).filter((row) => Object.values(row).some(isIn)).length,
  ])
  return Object.fromEntries(counts.filter(([, count]) => count !== 0))
}

/** An object that takes exactly this many bytes of JSON. */
export const ofBytes = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) })

/** An object with this many levels. */
export const nested = (levels: number): Json =>
  JSON.parse(`${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`)
