import { expect } from 'bun:test'
import type { Engine, Environment, KeyEngine } from '../../src/platform/engines.ts'
import { gateOf } from '../engines/gate/fixture.ts'
import { type Answer, type TestApp, useApp } from '../support/app.ts'
import { expectDescribed } from '../support/described.ts'
import { startTarget } from '../support/target.ts'
import { type Json, type Operation, objectsIn, operationsOf } from './operations.ts'

/** Is in everything that a populated tenant has, to notice it in a response to another. */
export const MARK = 'xyzzy'
export const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

export type Fixture = Awaited<ReturnType<typeof useContract>>
export type Tenant = Awaited<ReturnType<Fixture['tenant']>>
/** The id of one object of each kind, by the path that ends with its name. */
export type Ids = Record<string, string>

const ACTOR = { kind: 'cli', source: 'test' } as const

/** How a request differs from a valid one. */
interface Sent {
  ids?: Ids
  body?: string
  headers?: Record<string, string>
  query?: string
}

/** The application of a test file, and every operation that its API document describes. */
export async function useContract() {
  const app = await useApp()
  const document: Json = (await app.raw('/openapi.json')).body
  const operations = operationsOf(document)

  /** A tenant with a key of each engine and environment, and a key of the installation. */
  async function tenant(name: string) {
    const { id, key } = await app.tenant(name)
    const keys = new Map<string, string>()
    const newKey = (engine: KeyEngine, environment?: Environment, scopes?: string[]) =>
      engine === 'installation'
        ? app.platform.keys.issueForInstallation(ACTOR, { scopes })
        : key(engine, environment, scopes)
    async function keyOf(engine: KeyEngine, environment: Environment = 'live') {
      const held = keys.get(engine + environment)
      if (held) return held
      const { key: made } = await newKey(engine, engine === 'clockwork' ? undefined : environment)
      keys.set(engine + environment, made)
      return made
    }
    return { id, newKey, keyOf }
  }

  /** Sends an operation; the response must be one that the document describes. */
  async function send(operation: Operation, credential: string | undefined, sent: Sent = {}) {
    const { method, example } = operation
    const path = pathOf(operation, sent.ids ?? {})
    const body = sent.body ?? (example && JSON.stringify(example))
    const answer = await app.raw(path + (sent.query ?? ''), {
      method,
      headers: {
        ...(credential !== undefined && { authorization: credential }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...sent.headers,
      },
      ...(method !== 'GET' && { body }),
    })
    expectDescribed(document, method.toLowerCase(), operation.path, answer)
    return answer
  }

  return { app, document, operations, tenant, send, rows: (id: string) => rowsOf(app, id) }
}

/** The path of an operation, with `UNKNOWN_ID` for every object that `ids` doesn't have. */
export function pathOf({ path }: Operation, ids: Ids): string {
  const known = (object: string) => ids[object] ?? UNKNOWN_ID
  return objectsIn(path).reduceRight(
    (text, object) => text.replace(/\{\w+\}(?!.*\{)/, known(object)),
    path,
  )
}

/** Fails unless the response is an error of this status that tells nothing of any tenant's data. */
export function expectRefused(name: string, answer: Answer, status: number, field?: string) {
  const { body, headers } = answer
  expect({ name, status: answer.status, body }).toMatchObject({ name, status })
  const message = typeof body.error === 'string' ? body.error : body.error.message
  expect(message, name).toStartWith(field === undefined ? '' : `${field}: `)
  if (typeof body.error !== 'string')
    expect(body.error.request_id, name).toBe(headers.get('x-request-id'))
  expect(JSON.stringify(body), name).not.toContain(MARK)
  expect(headers.get('www-authenticate'), name).toBe(status === 401 ? 'Bearer' : null)
}

/** All rows of a tenant, except its keys and what is counted about requests. */
function rowsOf({ db }: TestApp, tenantId: string): Json {
  const tables = db.client
    .query<{ name: string }, []>(
      `select m.name from sqlite_schema m, pragma_table_info(m.name) c
       where m.type = 'table' and c.name = 'tenant_id'
         and m.name not in ('api_keys', 'usage_days', 'usage_months')`,
    )
    .all()
  return tables.map(({ name }) => [
    name,
    db.client
      .query<{ action?: string }, [string]>(`select * from ${name} where tenant_id = ?`)
      .all(tenantId)
      .filter(({ action }) => !action?.startsWith('key.')),
  ])
}

/**
 * Creates three objects of each kind in a tenant, with `MARK` in them, and returns the ids of the
 * last ones. What has an environment is in the live one, except people of the messenger login.
 */
export async function populate({ app }: Fixture, tenant: Tenant): Promise<Ids> {
  const target = startTarget()
  const ids: Ids = {}
  for (let n = 1; n <= 3; n++) {
    Object.assign(ids, await gateObjects(app, tenant, `${target.url}/${MARK}${n}`, n))
    Object.assign(ids, await jobs(app, tenant))
    Object.assign(ids, await relayObjects(app, tenant, `${target.url}/${MARK}${n}`, n))
    Object.assign(ids, await channels(app, tenant, `${target.url}/${MARK}${n}`))
    Object.assign(ids, await installationObjects(app, tenant, n, ids))
  }
  for (let n = 1; n <= 3; n++) Object.assign(ids, await alerts(app, tenant, n))
  await app.clock.settled()
  Object.assign(ids, await deliveries(app, tenant), await sandboxUser(app, tenant))
  await target.stop()
  return ids
}

async function made(api: ReturnType<TestApp['client']>, path: string, body: Json): Promise<Json> {
  const { status, body: object } = await api.post(path, body)
  expect([200, 201, 202], path).toContain(status)
  return object
}

async function gateObjects(app: TestApp, { keyOf }: Tenant, url: string, n: number): Promise<Ids> {
  const api = app.client(await keyOf('gate'))
  const webhook = await made(api, '/v1/gate/settings/webhooks', { url })
  const identity = await made(api, '/v1/gate/identities', {
    schema_id: 'user',
    traits: { email: `${MARK}${n}@example.com`, custom_data: { [MARK]: MARK, plan: 'free' } },
    metadata_public: { [MARK]: MARK },
  })
  const { session } = await gateOf(app, api).openSession(identity, { userAgent: MARK })
  const question = { subject: MARK, action: 'a.read', resource: `document:${n}` }
  const decision = await made(api, '/v1/gate/authorize', question)
  return {
    '/v1/gate/identities/{identity_id}': identity.id,
    '/v1/gate/identities/{identity_id}/credentials/{type}': 'totp',
    '/v1/gate/sessions/{session_id}': session.id,
    '/v1/gate/settings/webhooks/{webhook_id}': webhook.id,
    '/v1/gate/authorize/decisions/{decision_id}': decision.decision_id,
  }
}

async function jobs(app: TestApp, { keyOf }: Tenant): Promise<Ids> {
  const api = app.client(await keyOf('clockwork'))
  const job = { name: MARK, url: `http://127.0.0.1:9/${MARK}` }
  const cron = await made(api, '/v1/clockwork/jobs', { ...job, schedule: '0 0 1 1 *' })
  const delayed = await made(api, '/v1/clockwork/delayed', {
    ...job,
    run_at: '2026-12-01T00:00:00Z',
  })
  const monitor = await made(api, '/v1/clockwork/monitors', { name: MARK, period_seconds: 3600 })
  return {
    '/v1/clockwork/jobs/{job_id}': cron.id,
    '/v1/clockwork/delayed/{job_id}': delayed.id,
    '/v1/clockwork/monitors/{monitor_id}': monitor.id,
  }
}

async function relayObjects(app: TestApp, { keyOf }: Tenant, url: string, n: number): Promise<Ids> {
  const api = app.client(await keyOf('relay'))
  const endpoint = await made(api, '/v1/relay/endpoints', { url })
  const event = { event_type: `${MARK}.n${n}`, payload: { [MARK]: MARK } }
  const message = await made(api, '/v1/relay/messages', event)
  return {
    '/v1/relay/endpoints/{endpoint_id}': endpoint.id,
    '/v1/relay/messages/{message_id}': message.id,
    '/v1/relay/event-types/{name}': event.event_type,
  }
}

async function channels(app: TestApp, { keyOf }: Tenant, url: string): Promise<Ids> {
  const api = app.client(await keyOf('notifications'))
  const channel = { type: 'webhook', name: MARK, settings: { url } }
  const { id } = await made(api, '/v1/notifications/channels', channel)
  return { '/v1/notifications/channels/{channel_id}': id }
}

/** A tenant beside the populated one, with members and keys. The first operator is an admin. */
async function installationObjects(
  app: TestApp,
  { id, keyOf }: Tenant,
  n: number,
  { '/v1/installation/tenants/{tenant_id}': known }: Ids,
): Promise<Ids> {
  const api = app.client(await keyOf('installation'))
  const path = '/v1/installation'
  const tenant = known ?? (await made(api, `${path}/tenants`, { name: 'Beside' })).id
  const key = await made(api, `${path}/tenants/${tenant}/keys`, { engines: ['relay'] })
  const operator = await made(api, `${path}/operators`, {
    email: `${n}@${id}.example.com`,
    admin: n === 1,
  })
  await api.put(`${path}/tenants/${tenant}/members/${operator.id}`, { role: 'owner' })
  return {
    '/v1/installation/tenants/{tenant_id}': tenant,
    '/v1/installation/tenants/{tenant_id}/members/{operator_id}': operator.id,
    '/v1/installation/tenants/{tenant_id}/keys/{key_id}': key.id,
    '/v1/installation/operators/{operator_id}': operator.id,
  }
}

async function alerts(
  { db, platform }: TestApp,
  { id: tenantId }: Tenant,
  n: number,
): Promise<Ids> {
  await db.commit(() =>
    platform.alerts.open({
      ...{ tenantId, kind: 'job.failed', subject: `job:${n}`, name: MARK, text: MARK, path: '/' },
    }),
  )
  const [alert] = platform.alerts.page(tenantId, 'open', { limit: 1 })
  return { '/v1/notifications/alerts/{alert_id}': alert?.id ?? '' }
}

async function deliveries(app: TestApp, { keyOf }: Tenant): Promise<Ids> {
  const newest = async (engine: Engine, path: string) =>
    (await app.client(await keyOf(engine)).get(path)).body.data[0].id
  return {
    '/v1/gate/settings/webhooks/deliveries/{delivery_id}': await newest(
      'gate',
      '/v1/gate/settings/webhooks/deliveries',
    ),
    '/v1/relay/deliveries/{delivery_id}': await newest('relay', '/v1/relay/deliveries'),
  }
}

/** A user who signed in with the test bot. */
async function sandboxUser(app: TestApp, { id, keyOf }: Tenant): Promise<Ids> {
  const owner = { tenantId: id, environment: 'test' } as const
  await app.passepartout.bots.enable({ kind: 'cli', source: 'test' }, owner)
  const api = app.client(await keyOf('passepartout', 'test'))
  const { nonce, deep_link } = await made(api, '/v1/passepartout/login/start', {})
  const body = new URLSearchParams({ choice: 'approve', person: 'ada' })
  await app.raw(new URL(deep_link).pathname, { method: 'POST', body })
  const { user } = (await api.get(`/v1/passepartout/login/status?nonce=${nonce}`)).body
  return { '/v1/passepartout/users/{user_id}': user.id }
}
