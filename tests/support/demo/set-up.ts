import type { OperatorSession } from '../operator.ts'
import { created, type Premises } from './premises.ts'

const HOUR = 3_600_000

/** Providers that the configuration has an account at. */
export const OFFERED = ['google', 'github', 'microsoft'] as const

const JOBS = [
  { name: 'Sync stock with the warehouse', schedule: '*/20 * * * *', path: '/jobs/stock' },
  { name: 'Refresh the search index', schedule: '*/30 * * * *', path: '/jobs/search' },
  { name: 'Remind of full carts', schedule: '5 * * * *', path: '/jobs/carts' },
  { name: 'Nightly sales report', schedule: '0 2 * * *', path: '/jobs/report' },
  { name: 'Expire gift cards', schedule: '15 0 * * *', path: '/jobs/gift-cards' },
]

/** By somebody at the console, as the audit log has it. */
export async function addJobs(session: OperatorSession, now: number) {
  const add = async (body: object): Promise<string> =>
    created(await session.api.post('/dashboard/clockwork/jobs', body))
  const headers = { 'Content-Type': 'application/json' }
  for (const { path, ...job } of JOBS)
    await add({ ...job, url: `https://api.harbourbooks.example${path}`, headers, body: '{}' })
  const rates = { name: 'Exchange rates', schedule: '30 6 * * 1-5', method: 'GET' }
  await add({ ...rates, url: 'https://rates.example/v1/latest' })
  const feed = await add({
    name: 'Import the publisher feed',
    schedule: '0 * * * *',
    method: 'GET',
    url: 'https://feeds.penguin.example/v2/new-titles',
    headers: { Authorization: 'Bearer pgn_1f6a' },
  })
  const url = 'https://api.harbourbooks.example/jobs/archive'
  await add({ name: 'Archive old orders', schedule: '0 4 * * 0', url, is_active: false })
  await session.api.post('/dashboard/clockwork/delayed', {
    name: 'Reading group: remind of Thursday',
    run_at: new Date(now + 5 * HOUR).toISOString(),
    url: 'https://api.harbourbooks.example/reminders',
    body: '{"group":"thursday"}',
  })
  const all = (await session.api.get('/dashboard/clockwork/jobs')).body as {
    id: string
    name: string
  }[]
  const stock = all.find(({ name }) => name.startsWith('Sync'))?.id ?? ''
  return { stock, feed }
}

/** Who is told of orders: one of them fails of late, one is paused. */
export async function addEndpoints({ api }: Pick<Premises, 'api'>) {
  const add = async (body: object): Promise<string> =>
    created(await api.relay.post('/v1/relay/endpoints', body))
  const shopFront = await add({
    url: 'https://hooks.harbourbooks.example/orders',
    description: 'Shop front',
    event_types: ['order.*', 'refund.*'],
  })
  const warehouse = await add({
    url: 'https://warehouse.example/webhooks',
    description: 'Picking and packing',
    event_types: ['order.paid', 'order.cancelled'],
  })
  const crm = await add({
    url: 'https://crm.example/inbound/gatehouse',
    description: 'Customer records',
    event_types: ['customer.*', 'order.paid'],
  })
  const staging = await add({
    url: 'https://staging.harbourbooks.example/hooks',
    description: 'Staging, when somebody works on it',
    event_types: ['refund.*'],
    active: false,
  })
  return { shopFront, warehouse, crm, staging }
}

/** How customers sign in, and who is told when one comes or goes. */
export async function addSettings({ app, api, tenantId }: Premises) {
  const providers = OFFERED.map((provider) => ({ provider, enabled: true }))
  await api.gate.put('/v1/gate/settings/oidc-providers', { providers })
  await api.gate.put('/v1/gate/settings/security', {
    passwordless_enabled: true,
    mfa_enabled: true,
  })
  await api.gate.post('/v1/gate/settings/webhooks', {
    url: 'https://mail.example/hooks/gatehouse',
    events: ['identity.created', 'identity.deleted'],
  })
  await app.passepartout.bots.enable(
    { kind: 'cli', source: 'demo' },
    { tenantId, environment: 'test' },
  )
}
