import { createBackupStore } from '../../src/platform/backup/index.ts'
import type { Environment } from '../../src/platform/engines.ts'
import { newId } from '../../src/platform/ids.ts'
import {
  ACCOUNT,
  type Console,
  inEnvironment,
  pagesOf,
  type Tenant,
  UNKNOWN_ID,
} from './fixture.ts'

const PLAIN = { name: 'Nightly report', type: 'order.paid', note: 'A note' }
const SETUP = { kind: 'cli' } as const

/** Ids for the parameters of routes, by how the route begins. */
export type Parameters = Record<string, string[]>

/**
 * The routes of the console, as the application lists them, without tenant and environment: new ones
 * are tested without a change.
 */
export const routesIn = async ({ app }: Pick<Console, 'app'>, method: string) => [
  ...new Set(
    (await app.routes())
      .filter((route) => route.method === method && /^\/(console|setup)(\/|$)/.test(route.path))
      .map(({ path }) => path.replace(/^\/console\/:tenant(\/:environment)?(?=\/|$)/, '/console'))
      .filter((path) => !FORMER.includes(path)),
  ),
]

/** Former addresses, which redirect. */
const FORMER = ['/console/admin/*', '/console/bots/:environment']

export const pagesIn = async (app: Pick<Console, 'app'>): Promise<string[]> =>
  (await routesIn(app, 'GET')).filter((path) => /^\/console(?!.*\/updates$)/.test(path))

/** The address of a route of the console, with the ids of a tenant where it has parameters. */
export function pathOf(route: string, parameters: Parameters): string {
  const [, values] = Object.entries(parameters).find(([start]) => route.startsWith(start)) ?? []
  const rest = values?.values()
  return route.replace(/(?<=\/):\w+/g, () => rest?.next().value ?? UNKNOWN_ID)
}

/** The environment in which a page has something to show. */
export const environmentOf = (route: string): Environment =>
  route.startsWith('/console/logins') ? 'test' : 'live'

/** Everything that the console shows, once, for a tenant: the ids of all of it. */
export async function addOneOfEach(app: Console, tenant: Tenant, texts = PLAIN) {
  const { api, gate, target, owner } = tenant
  const { name, type, note } = texts
  const { url } = target
  const idOf = async (answer: Promise<{ body: { id: string } }>) => (await answer).body.id
  const job = await tenant.job({ name, body: note, headers: { 'X-A': 'a' } })
  await api.post(`/v1/clockwork/jobs/${job}/run`)
  const run_at = new Date(app.clock.now() + 86_400_000).toISOString()
  const delayed = await idOf(api.post('/v1/clockwork/delayed', { name, url, body: note, run_at }))
  const monitor = (
    await api.post('/v1/clockwork/monitors', { name, period_seconds: 60, tags: ['a'], notes: note })
  ).body
  await app.raw(new URL(monitor.ping_url).pathname, { method: 'POST', body: note })
  const events = ['identity.created']
  const webhook = await idOf(gate.post('/v1/gate/settings/webhooks', { url, events }))
  const user = {
    schema_id: 'user',
    traits: { email: `ada-${tenant.id}@example.com` },
    metadata_public: { note },
    credentials: { password: { config: { password: ACCOUNT.password } } },
  }
  const identity = await idOf(gate.post('/v1/gate/identities', user))
  const attempt = { method: 'password', ipAddress: null, userAgent: note }
  app.gate.signIns.failed({ tenantId: tenant.id, id: identity }, attempt, 'wrong')
  const endpoint = await tenant.endpoint({ description: note })
  const message = await tenant.message({ event_type: type, payload: { [note]: note } })
  const asked = { subject: 'billing', action: 'invoices.read', resource: 'document:42' }
  const decision = await gate.post('/v1/gate/authorize', { ...asked, context: { note } })
  const mail = await app.db.commit(() => app.mail.post(letter(tenant.id, note), app.clock.now()))
  await app.clock.settled()
  const deliveryOf = (id: string) =>
    app.db.client
      .query<{ id: string }, [string]>('SELECT id FROM deliveries WHERE endpoint_id = ?')
      .get(id)?.id ?? ''
  return {
    '/console/jobs/': [job],
    '/console/delayed/': [delayed],
    '/console/monitors/': [monitor.id],
    '/console/identities/': [identity],
    '/console/sign-in/providers/': ['google'],
    '/console/webhooks/': [webhook, deliveryOf(webhook)],
    '/console/endpoints/': [endpoint],
    '/console/messages/': [message],
    '/console/deliveries/': [deliveryOf(endpoint)],
    '/console/event-types/': [type],
    '/console/policies/decisions/': [decision.body.decision_id],
    '/console/settings/branding/emails/': ['recovery'],
    '/console/settings/notifications/new/': ['slack'],
    '/console/settings/notifications/': [await addChannel(app, tenant.id)],
    '/console/installation/notifications/new/': ['slack'],
    '/console/installation/notifications/': [await addChannel(app, null)],
    '/console/installation/keys/': [await installationKey(app)],
    '/console/keys/': [(await tenant.key('relay', 'live')).id],
    '/console/team/': [owner.id],
    '/console/installation/mail/': [mail],
    '/console/installation/providers/': ['google'],
    '/console/installation/backups/': [addBackup(app)],
    '/console/installation/operators/': [owner.id],
    '/console/installation/tenants/': [tenant.id],
    ...(await addMessengerLogin(app, tenant)),
  } satisfies Parameters
}

const installationKey = async ({ platform }: Console): Promise<string> =>
  (await platform.keys.issueForInstallation(SETUP, {})).id

/** A channel that leads nowhere. */
async function addChannel({ notifications }: Console, tenantId: string | null): Promise<string> {
  const settings = { url: 'http://127.0.0.1:9/alerts' }
  const { channels } = notifications
  const { channel } = await channels.create(tenantId, SETUP, { type: 'webhook', settings })
  return channel.id
}

/** The record of a backup whose file is gone. */
function addBackup({ db, clock }: Console): string {
  const now = clock.now()
  const row = { id: newId(), owner: null, startedAt: now, endedAt: now, bytes: 1, error: null }
  createBackupStore(db).add({ ...row, origin: 'command', file: '/srv/gatehouse.tar.gz' })
  return row.id
}

async function addMessengerLogin(app: Console, { id: tenantId, owner, clientOf }: Tenant) {
  const test = { tenantId, environment: 'test' } as const
  const { queries, bots } = app.passepartout
  await bots.enable(SETUP, test)
  const api = await clientOf('passepartout', 'test')
  const { body } = await api.post('/v1/passepartout/login/start', {})
  const latest = () => queries.list(test, { limit: 1 }).data[0]
  await app.raw(new URL(body.deep_link).pathname, {
    method: 'POST',
    body: new URLSearchParams({ choice: latest()?.match_code ?? 'approve', person: 'ada' }),
  })
  const { send } = pagesOf(app, inEnvironment(owner.cookie, 'test'))
  await send('/bots/settings', { match: 'required' })
  return {
    '/console/logins/users/': [latest()?.user_id ?? ''],
    '/console/logins/:': [latest()?.id ?? ''],
  }
}

export const letter = (tenantId: string | null, subject = 'Your code') => ({
  tenantId,
  about: null,
  kind: 'verification',
  recipient: 'ada@example.com',
  subject,
  text: `The code is 482913. ${subject}`,
  html: '<p>The code is <b>482913</b>.</p>',
  expiresAt: Date.parse('2027-01-01'),
})
