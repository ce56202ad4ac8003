import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../src/console/operators/rights.ts'
import { newId } from '../../src/platform/ids.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { newOperator } from '../support/operator.ts'

let app: TestApp
beforeAll(async () => {
  app = await bootTestApp()
})
afterAll(() => app.stop())

/** Somebody who searches; answers with where the results lead. */
async function searcher(roles: Record<string, Role>, { isAdmin = false } = {}) {
  const person = await newOperator(app, { roles, isAdmin })
  const { headers: own, actIn } = await person.signIn()
  const headers = { ...own, accept: 'text/html' }
  const see = (q: string) => app.raw(`/console/find?${new URLSearchParams({ q })}`, { headers })
  const find = async (q: string) => {
    const { body, status } = await see(q)
    expect([q, status]).toEqual([q, 200])
    const [found = ''] = body.slice(body.indexOf('<div id="found">')).split('<dialog')
    return [...found.matchAll(/<a class="item" href="([^"]*)"/g)].map(([, to]) => to)
  }
  return { actIn, see, find }
}

/** A tenant with one of everything. */
async function furnished() {
  const tenant = await app.tenant()
  const { id: keyId } = await tenant.key('relay', 'live')
  const relay = app.client((await tenant.key('relay', 'live')).key)
  const gate = app.client((await tenant.key('gate', 'live')).key)
  const job = await tenant.api.post('/v1/clockwork/jobs', {
    name: 'nightly <script>',
    schedule: '0 3 * * *',
    url: 'http://127.0.0.1:9/hook',
  })
  const delayed = await tenant.api.post('/v1/clockwork/delayed', {
    name: 'later',
    url: 'http://127.0.0.1:9/later',
    run_at: new Date(app.clock.now() + 3_600_000).toISOString(),
  })
  const endpoint = await relay.post('/v1/relay/endpoints', {
    url: 'http://127.0.0.1:9/events',
    event_types: ['order.*'],
  })
  const message = await relay.post('/v1/relay/messages', {
    event_type: 'order.paid',
    payload: { order: 1 },
  })
  const email = `ada-${tenant.id}@example.com`
  const identity = await gate.post('/v1/gate/identities', { schema_id: 'user', traits: { email } })
  return {
    tenantId: tenant.id,
    relay,
    email,
    ids: {
      keys: keyId,
      jobs: job.body.id as string,
      delayed: delayed.body.id as string,
      endpoints: endpoint.body.id as string,
      messages: message.body.id as string,
      identities: identity.body.id as string,
    },
  }
}

describe('what is found', () => {
  test('pages, by any part of their name', async () => {
    const { id } = await app.tenant()
    const { find } = await searcher({ [id]: 'viewer' })
    expect(await find('LOGIN')).toEqual([
      '/console/logins',
      '/console/jobs?q=LOGIN',
      '/console/identities?q=LOGIN',
    ])
    expect(await find('e')).toContain('/console/messages')
    expect(await find('health')).not.toContain('/console/admin/health')
  })

  test('whatever has an id, by the whole of it', async () => {
    const { tenantId, ids } = await furnished()
    const { find, see } = await searcher({ [tenantId]: 'owner' })
    for (const [path, id] of Object.entries(ids))
      expect(await find(id)).toEqual([`/console/${path}/${id}`])
    const { body } = await see(ids.jobs)
    expect(body).toContain('nightly &lt;script')
    expect(body).not.toContain('<script>')
    expect(await find(newId())).toEqual([])
  })

  test('deliveries, sign-ins and users, by their id', async () => {
    const { tenantId, relay } = await furnished()
    await app.clock.settled()
    const { find } = await searcher({ [tenantId]: 'viewer' })
    const { body } = await relay.get('/v1/relay/deliveries')
    const delivery = body.data[0].id
    expect(await find(delivery)).toEqual([`/console/deliveries/${delivery}`])

    const owner = { tenantId, environment: 'test' } as const
    await app.passepartout.bots.enable({ kind: 'cli' }, owner)
    const key = await app.platform.keys.issue({ kind: 'cli' }, { ...owner, engine: 'passepartout' })
    const { body: login } = await app.client(key.key).post('/v1/passepartout/login/start')
    await app.raw(new URL(login.deep_link).pathname, {
      method: 'POST',
      body: new URLSearchParams({ choice: 'approve' }),
    })
    const { records } = app.passepartout
    const [signIn] = records.list(owner, { limit: 1 }).data
    const [user] = records.people(owner, { limit: 1 }).data
    expect(await find(signIn?.id ?? '')).toEqual([`/console/logins/${signIn?.id}`])
    expect(await find(user?.id ?? '')).toEqual([`/console/logins/users/${user?.id}`])
  })

  test('people, by their address, whatever its case', async () => {
    const { tenantId, email, ids } = await furnished()
    const { find } = await searcher({ [tenantId]: 'viewer' })
    expect(await find(email.toUpperCase())).toEqual([`/console/identities/${ids.identities}`])
  })

  test('people, by how their address begins', async () => {
    const { tenantId, email, ids } = await furnished()
    const { find } = await searcher({ [tenantId]: 'viewer' })
    expect(await find(email.slice(0, 12))).toContain(`/console/identities/${ids.identities}`)
  })

  test.each([
    ['jobs', 'NIGHTLY'],
    ['delayed', 'later'],
    ['endpoints', '9/events'],
  ] as const)('of %s, by what they are called', async (path, name) => {
    const { tenantId, ids } = await furnished()
    const { find } = await searcher({ [tenantId]: 'viewer' })
    expect(await find(name)).toEqual([`/console/${path}/${ids[path]}`])
  })

  test('event types by their whole name, and members by a part of theirs', async () => {
    const { tenantId } = await furnished()
    await app.clock.settled()
    const colleague = await newOperator(app, { roles: { [tenantId]: 'member' } })
    const { find } = await searcher({ [tenantId]: 'viewer' })
    expect(await find('order.paid')).toEqual(['/console/event-types/order.paid'])
    expect(await find(colleague.email)).toEqual([`/console/team/${colleague.id}`])
    expect(await find(colleague.id)).toEqual([`/console/team/${colleague.id}`])
  })

  test('what is among the data that is not shown, with the change-over', async () => {
    const { id, key } = await app.tenant()
    const relay = app.client((await key('relay', 'test')).key)
    const { body: sent } = await relay.post('/v1/relay/messages', {
      event_type: 'order.paid',
      payload: {},
    })
    const { see } = await searcher({ [id]: 'viewer' })
    const { body } = await see(sent.id)
    expect(body).toContain(`name="return_to" value="/console/messages/${sent.id}"`)
    expect(body).toContain('Message, test environment')
  })

  test('keys, by what is shown of them, to owners alone', async () => {
    const { tenantId, ids } = await furnished()
    const [hint = ''] = app.platform.keys
      .list(tenantId)
      .filter(({ id }) => id === ids.keys)
      .map((key) => key.hint)
    expect(await (await searcher({ [tenantId]: 'owner' })).find(hint)).toContain(
      `/console/keys/${ids.keys}`,
    )
    for (const query of [hint, ids.keys])
      expect(await (await searcher({ [tenantId]: 'member' })).find(query)).not.toContain(
        `/console/keys/${ids.keys}`,
      )
  })

  test('nothing, and then the lists that search by name', async () => {
    const { id } = await app.tenant()
    const { find } = await searcher({ [id]: 'viewer' })
    expect(await find('nothing')).toEqual([
      '/console/jobs?q=nothing',
      '/console/identities?q=nothing',
    ])
    expect(await find('')).toEqual([])
  })

  test('is said on a page that works without scripts, whatever was typed', async () => {
    const { id } = await app.tenant()
    const { see } = await searcher({ [id]: 'viewer' })
    for (const query of ['<script>alert(1)</script>', '\u202eabc', '@', `${'x'.repeat(10_000)}@`]) {
      const { status, body } = await see(query)
      expect([query, status]).toEqual([query, 200])
      expect(body).not.toContain('<script>alert')
      expect(body).toContain('name="q"')
    }
  })
})

describe('whose', () => {
  test('nothing of another tenant is found, not even by the operator of both', async () => {
    const { tenantId, email, ids } = await furnished()
    const { id: other } = await app.tenant()
    const { find, actIn } = await searcher({ [tenantId]: 'owner', [other]: 'owner' })
    await actIn(other)
    for (const id of Object.values(ids)) expect(await find(id)).toEqual([])
    expect((await find(email)).filter((to) => !to?.includes('?q='))).toEqual([])
    await actIn(tenantId)
    expect(await find(ids.jobs)).toHaveLength(1)
  })

  test('whoever acts for the installation finds its pages and nothing of tenants', async () => {
    const { ids } = await furnished()
    const { find, actIn } = await searcher({}, { isAdmin: true })
    await actIn(null)
    expect(await find('health')).toEqual(['/console/admin/health'])
    expect(await find('bots')).toEqual([])
    for (const id of Object.values(ids)) expect(await find(id)).toEqual([])
  })

  test('whoever runs the installation finds tenants and operators, by id and by how they begin', async () => {
    const { id } = await app.tenant('Nordlicht')
    const other = await newOperator(app, { email: 'nordwin@example.com' })
    const { find, actIn } = await searcher({}, { isAdmin: true })
    await actIn(null)
    const [tenant, operator] = [
      `/console/admin/tenants/${id}`,
      `/console/admin/operators/${other.id}`,
    ]
    expect(await find('nord')).toEqual([tenant, operator])
    expect([await find(id), await find(other.id)]).toEqual([[tenant], [operator]])
  })

  test('a stranger signs in first, and somebody without a tenant finds nothing', async () => {
    const headers = { accept: 'text/html' }
    expect((await app.raw('/console/find?q=bots', { headers })).status).toBe(303)
    const { find, see } = await searcher({})
    expect((await see('bots')).status).toBe(200)
    expect(await find('bots')).toEqual([])
  })
})
