import type { Engine } from '../../../src/platform/engines.ts'
import type { TestApp } from '../app.ts'
import { newOperator, type OperatorSession } from '../operator.ts'
import type { Chance } from './chance.ts'
import { addBotSignIns, addEarlierUsage } from './past.ts'
import { CUSTOMERS, DEVICES, emailOf, type Name, REGULARS } from './people.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
export const WEEK = 7 * DAY

const PASSWORD = 'correct horse battery'
const SHOP = 'https://api.harbourbooks.example'
const ACTOR = { kind: 'cli', source: 'demo' } as const

/** Providers that the configuration has an account at. */
export const OFFERED = ['google', 'github', 'microsoft'] as const

function created({ status, body }: { status: number; body: { id: string } }): string {
  if (status !== 201) throw new Error(`answered ${status}: ${JSON.stringify(body)}`)
  return body.id
}

/** What the shop has set up, and its day. */
export async function openShop(of: { app: TestApp; chance: Chance; now: number; hours: number }) {
  const { app, chance, now } = of
  const { db, clock, platform } = app
  const { id: tenantId } = await app.tenant('Harbour Books')
  const key = async (name: string, ...engines: Engine[]) => {
    const { key } = await platform.keys.issue(ACTOR, { tenantId, name, engines })
    return key
  }
  const gateKey = await key('Shop', 'gate')
  const [gate, relay] = [app.client(gateKey), app.client(await key('Order service', 'relay'))]
  await key('Support desk', 'gate', 'passepartout')
  const cafe = await app.tenant('Lighthouse Café', 'metered')
  await platform.tenants.create(ACTOR, { name: 'Tide Tables', plan: 'free' })
  const roles = { [tenantId]: 'owner', [cafe.id]: 'owner' } as const
  const owner = await operator('Ada Berg', { isAdmin: true, roles })
  await operator('Ben Okafor', { roles: { [tenantId]: 'member' } })
  await operator('Chiara Rossi', { roles: { [tenantId]: 'viewer' } })
  const endpoints = await addEndpoints()
  const people = await addRegulars()
  await addSettings()
  const yesterday = now - of.hours * HOUR
  if (clock.now() < yesterday) {
    await liveUntil(now - WEEK + HOUR)
    clock.jump(yesterday - clock.now())
  }
  const jobs = await addJobs(await signInOwner())
  await liveUntil(now)
  await addMonitors(await signInOwner())
  await addBotSignIns({ app, chance, tenantId, now })
  addEarlierUsage({ app, chance, tenantId, now })
  // The session of the morning has ended since.
  const session = await signInOwner()
  await platform.keys.issue(
    { kind: 'operator', id: owner.id },
    {
      tenantId,
      name: 'Accounting export',
      note: 'Nightly report to the accountant. Owner: Ada.',
      engines: ['clockwork', 'relay'],
      scopes: ['clockwork', 'relay:read'],
      expiry: { afterMs: 5 * DAY },
    },
  )
  await platform.keys.issueForInstallation(
    { kind: 'operator', id: owner.id },
    { name: 'Ansible', expiry: { afterMs: 90 * DAY } },
  )
  await app.raw(`/console/${tenantId}/team/invite`, {
    method: 'POST',
    headers: session.headers,
    body: new URLSearchParams({ email: 'dmitri@harbourbooks.example', role: 'member' }),
  })
  /** The id of a delivery that goes on failing. */
  const failedDelivery = (): string =>
    db.client
      .query<{ id: string }, []>(
        `SELECT d.id FROM deliveries d JOIN attempts a ON a.delivery_seq = d.seq
         WHERE a.status = 'failed' GROUP BY d.seq ORDER BY count(*) DESC LIMIT 1`,
      )
      .get()?.id ?? ''
  const signInPage = async (): Promise<string> =>
    (await gate.get('/v1/gate/auth/login')).body.hosted_url
  return { session, jobs, endpoints, people, failedDelivery, signInPage }

  async function signInOwner() {
    const session = await owner.signIn()
    await session.actIn(tenantId)
    return session
  }

  async function operator(name: string, rights: Parameters<typeof newOperator>[1]) {
    const email = `${name.split(' ')[0]}@harbourbooks.example`.toLowerCase()
    const operator = await newOperator(app, { ...rights, email })
    const traits = "json_set(traits, '$.display_name', ?)"
    const update = `UPDATE gate_identities SET traits = ${traits} WHERE id = ?`
    db.client.query(update).run(name, operator.id)
    return operator
  }

  /** Customers of long ago; others sign up during the day. */
  async function addRegulars() {
    const ids: string[] = []
    for (const name of REGULARS) ids.push(await addCustomer(name))
    for (const id of ids)
      db.client
        .query('UPDATE gate_identities SET created_at = created_at - ? WHERE id = ?')
        .run(chance.between(20, 400) * DAY, id)
    db.client.run(
      `UPDATE gate_addresses SET status = 'completed', verified_at =
       (SELECT created_at + 60000 FROM gate_identities WHERE id = identity_id)`,
    )
    return ids
  }

  async function addCustomer(name: Name) {
    const customer = {
      schema_id: 'user',
      traits: { email: emailOf(name), custom_data: { name: name.join(' ') } },
      credentials: { password: { config: { password: PASSWORD } } },
      metadata_public: { loyalty: chance.oneOf(['none', 'silver', 'gold']) },
    }
    return created(await gate.post('/v1/gate/identities', customer))
  }

  /** Subscribers of orders: one of them fails of late, one is paused. */
  async function addEndpoints() {
    const add = async (url: string, description: string, event_types: string[], active = true) => {
      const endpoint = { url: `https://${url}`, description, event_types, active }
      return created(await relay.post('/v1/relay/endpoints', endpoint))
    }
    await add('hooks.harbourbooks.example/orders', 'Shop front', ['order.*', 'refund.*'])
    const orders = ['order.paid', 'order.cancelled']
    await add('warehouse.example/webhooks', 'Picking and packing', orders)
    const customers = ['customer.*', 'order.paid']
    const crm = await add('crm.example/inbound/gatehouse', 'Customer records', customers)
    await add('staging.harbourbooks.example/hooks', 'Staging', ['refund.*'], false)
    return { crm }
  }

  async function addSettings() {
    await platform.branding.change({ kind: 'operator', id: owner.id }, tenantId, {
      accent_color: '#1f4e79',
      support_url: 'mailto:help@harbourbooks.example',
      terms_url: 'https://harbourbooks.example/terms',
      privacy_url: 'https://harbourbooks.example/privacy',
    })
    const providers = OFFERED.map((provider) => ({ provider, enabled: true }))
    await gate.put('/v1/gate/settings/oidc-providers', { providers })
    const security = { passwordless_enabled: true, mfa_enabled: true }
    await gate.put('/v1/gate/settings/security', security)
    const events = ['identity.created', 'identity.deleted']
    const url = 'https://mail.example/hooks/gatehouse'
    await gate.post('/v1/gate/settings/webhooks', { url, events })
    await app.passepartout.bots.enable(ACTOR, { tenantId, environment: 'test' })
    const slack = { url: 'https://hooks.slack.com/services/T000/B000/XXXX' }
    const channel = { type: 'slack', name: 'Operations', settings: slack } as const
    for (const whose of [tenantId, null])
      await app.notifications.channels.create(whose, ACTOR, channel)
  }

  /** Backups elsewhere, one of which has failed, and one that has not run. */
  async function addMonitors({ api }: OperatorSession) {
    for (const [name, fields, ...pings] of [
      ['Offsite backup', { schedule: '0 3 * * *', tags: ['backup'] }, '/start?rid=a', '?rid=a'],
      ['Till import', { period_seconds: 900, tags: ['shop', 'till'] }, '', '/start', '/2'],
      ['Certificate renewal', { period_seconds: 2_592_000, notes: 'On the proxy.' }],
    ] as const) {
      const { body } = await api.post('/dashboard/clockwork/monitors', { name, ...fields })
      for (const ping of pings) {
        clock.spend(41_300)
        const log = ping === '/2' ? 'till 3: connection refused\n2 of 3 tills imported\n' : ''
        await app.raw(new URL(body.ping_url).pathname + ping, { method: 'POST', body: log })
      }
    }
  }

  /** By an operator at the console, as the audit log has it. */
  async function addJobs({ api }: OperatorSession) {
    const add = async (name: string, schedule: string, url: string, fields: object = {}) =>
      created(await api.post('/dashboard/clockwork/jobs', { name, schedule, url, ...fields }))
    const headers = { 'Content-Type': 'application/json' }
    const own = { headers, body: '{}' }
    const stockUrl = `${SHOP}/jobs/stock`
    const stock = await add('Sync stock with the warehouse', '*/20 * * * *', stockUrl, own)
    await add('Refresh the search index', '*/30 * * * *', `${SHOP}/jobs/search`, own)
    await add('Remind of full carts', '5 * * * *', `${SHOP}/jobs/carts`, own)
    await add('Nightly sales report', '0 2 * * *', `${SHOP}/jobs/report`, own)
    await add('Expire gift cards', '15 0 * * *', `${SHOP}/jobs/gift-cards`, own)
    const rates = 'https://rates.example/v1/latest'
    await add('Exchange rates', '30 6 * * 1-5', rates, { method: 'GET' })
    const titles = 'https://feeds.penguin.example/v2/new-titles'
    const authorized = { method: 'GET', headers: { Authorization: 'Bearer pgn_1f6a' } }
    const feed = await add('Import the publisher feed', '0 * * * *', titles, authorized)
    await add('Archive old orders', '0 4 * * 0', `${SHOP}/jobs/archive`, { is_active: false })
    await api.post('/dashboard/clockwork/delayed', {
      name: 'Reading group: remind of Thursday',
      run_at: new Date(now + 5 * HOUR).toISOString(),
      url: `${SHOP}/reminders`,
      body: '{"group":"thursday"}',
    })
    return { stock, feed }
  }

  /** Spreads orders, sign-ins and decisions over the hours. */
  async function liveUntil(end: number) {
    while (clock.now() < end) {
      const hour = new Date(clock.now()).getUTCHours()
      const busy = hour >= 7 && hour < 22 ? 1 : 0.2
      await clock.advanceTo(Math.min(end, clock.now() + chance.between(2, 14) * MINUTE))
      if (chance.happens(busy * 0.8)) await order()
      if (chance.happens(busy * 0.5)) await signIn()
      if (chance.happens(busy * 0.4)) await decide()
      const newcomer = CUSTOMERS[people.length]
      if (newcomer && chance.happens(busy * 0.05)) people.push(await addCustomer(newcomer))
    }
  }

  async function order() {
    const number = chance.between(20_100, 20_999)
    const paid_at = new Date(clock.now()).toISOString()
    const customer = emailOf(chance.oneOf(REGULARS))
    const send = (event_type: string, payload: object) =>
      relay.post('/v1/relay/messages', { event_type, payload })
    if (chance.happens(0.25)) {
      await send('customer.updated', { customer, newsletter: chance.happens(0.6) })
      return
    }
    const items = [{ isbn: '9780141439518', title: 'Pride and Prejudice', quantity: 1 }]
    const total = { amount: chance.between(900, 9400), currency: 'EUR' }
    await send('order.paid', { order: number, customer, items, total, paid_at })
    if (chance.happens(0.5)) await send('order.shipped', { order: number, carrier: 'DHL' })
    if (chance.happens(0.08)) await send('refund.issued', { order: number, total })
  }

  async function signIn() {
    const { ipAddress, userAgent } = chance.oneOf(DEVICES)
    const authorization = `Bearer ${gateKey}`
    const headers = { authorization, 'content-type': 'application/json', 'user-agent': userAgent }
    const { id, ui } = (await app.raw('/v1/gate/auth/login', { headers })).body
    const [{ attributes }] = ui.nodes
    const identifier = emailOf(chance.oneOf(REGULARS))
    const fields = { method: 'password', identifier, password: PASSWORD }
    const { body } = await app.raw(`/auth/self-service/login?flow=${id}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ ...fields, csrf_token: attributes.value }),
    })
    // Without a network, there is no address.
    db.client
      .query('UPDATE gate_sessions SET ip_address = ? WHERE id = ?')
      .run(ipAddress, body.session.id)
  }

  async function decide() {
    await gate.post('/v1/gate/authorize', {
      subject: chance.oneOf(people),
      action: chance.oneOf(['orders.read', 'orders.read', 'invoices.read', 'orders.delete']),
      resource: `order:${chance.between(20_100, 20_999)}`,
    })
  }
}
