import { describe, expect, test } from 'bun:test'
import { ENGINES } from '../../src/platform/engines.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { audited, bootConsole, DAY, HOUR, UNKNOWN_ID, useConsole, WITH_MAIL } from './fixture.ts'

const V1 = '/v1/installation'
const PASSWORD = 'correct horse battery'

const app = await useConsole()
const key = await app.platform.keys.issueForInstallation({ kind: 'system' }, { name: 'Ansible' })
const api = app.client(key.key)

type Ask = () => ReturnType<typeof api.get>

async function expectStatus(status: number, ask: Ask, error?: object) {
  const { status: answered, body } = await ask()
  expect([answered, body.error]).toEqual([
    status,
    error ? expect.objectContaining(error) : undefined,
  ])
  return body
}

const newTenant = async (fields: object = {}) =>
  (await api.post(`${V1}/tenants`, { name: 'Acme', ...fields })).body

let made = 0
const newOperator = async (fields: object = {}) =>
  (await api.post(`${V1}/operators`, { email: `api-${++made}@example.com`, ...fields })).body

const member = (tenant: { id: string }, operator: { id: string }) =>
  `${V1}/tenants/${tenant.id}/members/${operator.id}`

/** What the key did, in the audit log of a tenant, or of the installation. */
const actionsIn = (tenantId: string | null) =>
  app.db.client
    .query<{ action: string }, [string | null, string]>(
      `SELECT action FROM audit_log WHERE tenant_id IS ? AND actor_kind = 'key' AND actor_id = ? ORDER BY seq`,
    )
    .all(tenantId, key.id)
    .map(({ action }) => action)

test('A manifest is planned, applied and exported for a tenant, and its changes are those of the key', async () => {
  const tenant = await newTenant()
  const path = `${V1}/tenants/${tenant.id}/manifest`
  const manifest = {
    monitors: [{ name: 'Backup', period_seconds: 3600 }],
    endpoints: [{ url: 'https://127.0.0.1/hook' }],
  }
  expect((await api.post(`${path}/plan`, manifest)).body.changes).toHaveLength(2)
  const { body } = await api.post(`${path}/apply?environment=test`, manifest)
  expect(body.changes.map(({ action }: { action: string }) => action)).toEqual(['create', 'create'])
  expect((await api.get(path)).body).toEqual({ monitors: manifest.monitors })
  expect((await api.get(`${path}?environment=test`)).body).toEqual(manifest)
  expect(actionsIn(tenant.id)).toEqual(['tenant.created', 'monitor.created', 'endpoint.created'])
  await expectStatus(404, () => api.get(`${V1}/tenants/${UNKNOWN_ID}/manifest`), {
    code: 'not_found',
  })
})

test('A tenant is created with its terms, changed, suspended, resumed and deleted', async () => {
  const tenant = await newTenant({ name: ' Acme ', plan: 'metered', time_zone: 'Europe/Berlin' })
  expect(tenant).toMatchObject({ name: 'Acme', plan: 'metered', status: 'active' })
  expect(tenant).toMatchObject({ time_zone: 'Europe/Berlin', spend_cap_cents: null })
  const path = `${V1}/tenants/${tenant.id}`
  const change = { spend_cap_cents: 500, name: 'Acme Ltd' }
  expect((await api.patch(path, change)).body).toMatchObject(change)
  // Applied again, it changes nothing.
  expect((await api.patch(path, change)).body).toEqual((await api.get(path)).body)
  expect((await api.post(`${path}/suspend`, { reason: 'renewal' })).body.status).toBe(
    'renewal_unpaid',
  )
  expect((await api.get(`${V1}/tenants?status=renewal_unpaid&search=acme%20l`)).body.data).toEqual([
    expect.objectContaining({ id: tenant.id }),
  ])
  expect((await api.post(`${path}/resume`)).body.status).toBe('active')
  const verbs = ['created', 'changed', 'suspended', 'resumed']
  expect(actionsIn(tenant.id)).toEqual(verbs.map((verb) => `tenant.${verb}`))
  for (const query of ['', '?name=Acme'])
    await expectStatus(400, () => api.delete(path + query), {
      code: 'invalid_request',
      message: 'name: must be the name of the tenant',
    })
  expect((await api.delete(`${path}?name=Acme%20Ltd`)).status).toBe(204)
  await expectStatus(404, () => api.get(path), { code: 'not_found' })
  expect(audited(app, 'tenant.deleted').at(-1)).toMatchObject({ actor_id: key.id })
})

test('A large tenant is deleted in the background, and unknown at once', async () => {
  const tenant = await newTenant()
  const insert = app.db.client.query(
    'INSERT INTO usage_days (tenant_id, day, engine, environment, requests) VALUES (?, ?, ?, ?, 1)',
  )
  app.db.client.transaction(() => {
    for (let n = 0; n < 12_000; n++) insert.run(tenant.id, `day ${n}`, 'relay', 'live')
  })()
  const path = `${V1}/tenants/${tenant.id}`
  const { status, body } = await api.delete(`${path}?name=Acme`)
  expect([status, body]).toEqual([202, { id: tenant.id, deleting: true }])
  expect((await api.get(path)).status).toBe(404)
})

test.each([
  ['name', { name: '\u0007' }],
  ['name', { name: 'x'.repeat(201) }],
  ['plan', { plan: 'gold' }],
  ['time_zone', { time_zone: 'Mars/Base' }],
  ['spend_cap_cents', { spend_cap_cents: -1 }],
])('A tenant with a wrong %s is refused, new or changed', async (field, wrong) => {
  const { id } = await newTenant()
  for (const ask of [
    () => api.post(`${V1}/tenants`, { name: 'Acme', ...wrong }),
    () => api.patch(`${V1}/tenants/${id}`, wrong),
  ])
    await expectStatus(400, ask, { message: expect.stringMatching(new RegExp(`^${field}: `)) })
})

test('Usage is that of the tenant in the month, and requests of the installation are not counted', async () => {
  const { id } = await newTenant()
  const { body } = await api.post(`${V1}/tenants/${id}/keys`, { engines: ['relay'] })
  await app.client(body.key).get('/v1/relay/endpoints')
  const usage = (await api.get(`${V1}/tenants/${id}/usage`)).body
  expect(usage).toMatchObject({ month: '2026-03', requests: 1, included_requests: null })
  expect(usage.days).toEqual([expect.objectContaining({ engine: 'relay', requests: 1 })])
  expect((await api.get(`${V1}/tenants/${id}/usage?month=2026-02`)).body.requests).toBe(0)
  for (const month of ['', '2026-13', 'March'])
    expect((await api.get(`${V1}/tenants/${id}/usage?month=${month}`)).status).toBe(400)
  const counted = app.db.client.query('SELECT count(*) n FROM usage_days WHERE tenant_id = ?')
  expect(counted.get(SYSTEM_TENANT_ID)).toEqual({ n: 0 })
})

describe('A key of a tenant', () => {
  test('is created, found, changed, rotated and revoked; its secret is shown once', async () => {
    const { id } = await newTenant()
    const path = `${V1}/tenants/${id}/keys`
    const terms = { engines: ['relay'], scopes: ['relay:send'], environment: 'test' }
    const { body: issued } = await api.post(path, { ...terms, lifetime_seconds: 90 * 86_400 })
    expect(issued).toMatchObject({ ...terms, state: 'active', lifetime_seconds: 7_776_000 })
    expect(issued.key).toMatch(/^svc_relay_test_sk_/)
    const one = `${path}/${issued.id}`
    const { key: secret, ...known } = issued
    expect((await api.get(one)).body).toEqual(known)
    expect((await api.get(path)).body.data).toEqual([known])
    const end = new Date(app.clock.now() + DAY).toISOString()
    const changed = await api.patch(one, { name: 'Shop', expires_at: end })
    expect(changed.body).toMatchObject({ name: 'Shop', expires_at: end, state: 'expiring' })
    const { status, body: next } = await api.post(`${one}/rotate`, { grace_seconds: 3600 })
    expect([status, next.name]).toEqual([201, 'Shop'])
    expect((await api.get(one)).body).toMatchObject({ state: 'rotated', replaced_by: next.id })
    await expectStatus(409, () => api.post(`${one}/rotate`), { code: 'conflict' })
    const asked = async (of: string) =>
      (await app.client(of).post('/v1/relay/messages', { event_type: 'a', payload: {} })).status
    expect([await asked(secret), await asked(next.key)]).toEqual([202, 202])
    app.clock.jump(HOUR)
    expect([await asked(secret), await asked(next.key)]).toEqual([401, 202])
    for (let n = 0; n < 2; n++) expect((await api.delete(`${path}/${next.id}`)).status).toBe(204)
    expect(await asked(next.key)).toBe(401)
    const actions = ['key.created', 'key.changed', 'key.rotated', 'key.revoked']
    expect(actionsIn(id)).toEqual(['tenant.created', ...actions])
  })

  test.each([
    ['engines', { engines: ['installation'] }],
    ['engines', { engines: [] }],
    ['environment', { engines: ['clockwork'], environment: 'live' }],
    ['scopes', { scopes: ['Has Space'] }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { expires_at: 'tomorrow' }],
    ['lifetime_seconds', { expires_at: '2026-04-01T00:00:00Z', lifetime_seconds: 60 }],
  ])('is refused with a wrong %s: %j', async (field, wrong) => {
    const { id } = await newTenant()
    const ask = () => api.post(`${V1}/tenants/${id}/keys`, { engines: ['relay'], ...wrong })
    await expectStatus(400, ask, {
      message: expect.stringMatching(new RegExp(`^${field}[.\\d]*: `)),
    })
  })

  test('is unknown below another tenant, and so is a key of the installation', async () => {
    const [one, other] = [await newTenant(), await newTenant()]
    const { body } = await api.post(`${V1}/tenants/${one.id}/keys`, { engines: ['gate'] })
    for (const [tenantId, id] of [
      [other.id, body.id],
      [one.id, key.id],
      [SYSTEM_TENANT_ID, key.id],
      [UNKNOWN_ID, body.id],
    ]) {
      const path = `${V1}/tenants/${tenantId}/keys/${id}`
      await expectStatus(404, () => api.get(path), { code: 'not_found' })
      await expectStatus(404, () => api.patch(path, { name: 'Mine' }), { code: 'not_found' })
      await expectStatus(404, () => api.post(`${path}/rotate`), { code: 'not_found' })
      await expectStatus(404, () => api.delete(path), { code: 'not_found' })
    }
  })
})

test.each([
  ['GET', ''],
  ['PATCH', ''],
  ['DELETE', '?name=Gatehouse'],
  ['GET', '/keys'],
  ['POST', '/keys'],
  ['GET', '/members'],
  ['GET', '/usage'],
])('The system tenant is no tenant: %s %s', async (method, rest) => {
  const { status } = await app.raw(`${V1}/tenants/${SYSTEM_TENANT_ID}${rest}`, {
    method,
    headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
    ...((method === 'POST' || method === 'PATCH') && { body: '{"engines":["gate"]}' }),
  })
  expect(status).toBe(404)
})

test('Routes of the installation are closed to keys of tenants, and to its own without the scope', async () => {
  const tenant = await app.tenant()
  for (const engine of ENGINES)
    expect((await app.client((await tenant.key(engine)).key).get(`${V1}/tenants`)).status).toBe(403)
  const smuggler = await tenant.key('gate', 'live', ['installation:read', 'installation:write'])
  expect((await app.client(smuggler.key).get(`${V1}/tenants`)).status).toBe(403)
  const scopes = ['installation:read']
  const { key: reader } = await app.platform.keys.issueForInstallation(
    { kind: 'system' },
    { scopes },
  )
  expect((await app.client(reader).get(`${V1}/tenants`)).status).toBe(200)
  expect((await app.client(reader).post(`${V1}/tenants`, { name: 'No' })).status).toBe(403)
})

test('Owners see in their audit log what a key of the installation did, without a link to it', async () => {
  const tenant = await newTenant()
  const owner = await app.signIn({ roles: { [tenant.id]: 'owner' } })
  await api.post(`${V1}/tenants/${tenant.id}/keys`, { engines: ['relay'] })
  const log = await owner.sees('/audit', 'key.created', 'API key', 'installation')
  const links = log.links.filter((link) => link.includes('/keys/'))
  expect(links).not.toBeEmpty()
  expect(links.join()).not.toContain(key.id)
})

describe('An operator', () => {
  test('is created with an unverified address, once, and found by it', async () => {
    const email = 'Ada@new.example'
    const operator = await newOperator({ email, name: 'Ada Berg', password: PASSWORD, admin: true })
    const known = { email: 'ada@new.example', name: 'Ada Berg', admin: true, tenants: [] }
    expect(operator).toMatchObject({ ...known, email_verified: false, state: 'active' })
    expect(JSON.stringify(operator)).not.toContain('password')
    expect((await api.get(`${V1}/operators?search=ada@new`)).body.data).toEqual([operator])
    await expectStatus(409, () => api.post(`${V1}/operators`, { email: 'ada@NEW.example' }), {
      code: 'conflict',
      message: 'email: is the address of another operator',
    })
    const taken = audited(app, 'identity.created').at(-1)
    expect(taken).toMatchObject({ actor_id: key.id, object: `identity:${operator.id}` })
  })

  test.each([
    ['email', { email: 'nobody' }],
    ['name', { name: 'a\nb' }],
    ['password', { password: 'short' }],
  ])('is refused with a wrong %s', (field, wrong) => {
    const ask = () => api.post(`${V1}/operators`, { email: 'wrong@new.example', ...wrong })
    return expectStatus(400, ask, { message: expect.stringMatching(new RegExp(`^${field}: `)) })
  })

  test('gets roles, and keeps the last owner of a tenant', async () => {
    const tenant = await newTenant()
    const [ada, bob] = [await newOperator(), await newOperator()]
    const path = member(tenant, ada)
    for (let n = 0; n < 2; n++)
      expect((await api.put(path, { role: 'owner' })).body).toMatchObject({
        operator_id: ada.id,
        role: 'owner',
      })
    const last = { message: expect.stringContaining('only owner') }
    await expectStatus(409, () => api.put(path, { role: 'viewer' }), last)
    await expectStatus(409, () => api.delete(path), last)
    await api.put(member(tenant, bob), { role: 'owner' })
    expect((await api.put(path, { role: 'viewer' })).body.role).toBe('viewer')
    const { data } = (await api.get(`${V1}/tenants/${tenant.id}/members`)).body
    expect(data.map(({ role }: { role: string }) => role)).toEqual(['viewer', 'owner'])
    expect((await api.get(`${V1}/operators/${ada.id}`)).body.tenants).toEqual([
      { id: tenant.id, name: 'Acme', role: 'viewer' },
    ])
    expect((await api.delete(path)).status).toBe(204)
    await expectStatus(404, () => api.delete(path), { message: 'member not found' })
    const changes = ['member.added', 'member.added', 'member.changed', 'member.removed']
    expect(actionsIn(tenant.id)).toEqual(['tenant.created', ...changes])
  })

  test('with an unverified address loses credentials and sessions when given more, not less', async () => {
    const tenant = await newTenant()
    const stranger = await app.signIn({ isVerified: false, roles: { [tenant.id]: 'owner' } })
    const other = await newOperator()
    await api.put(member(tenant, other), { role: 'owner' })
    const isIn = async () => (await stranger.open('/account')).status === 200
    await api.put(member(tenant, stranger), { role: 'viewer' })
    expect(await isIn()).toBe(true)
    await api.put(member(tenant, stranger), { role: 'member' })
    expect(await isIn()).toBe(false)
    for (const give of ['admin', 'reactivate']) {
      const next = await app.signIn({ isVerified: false })
      const path = `${V1}/operators/${next.id}`
      if (give === 'reactivate') await api.post(`${path}/deactivate`)
      const before = audited(app, 'identity.credentials_wiped').length
      const { status } =
        give === 'admin' ? await api.put(`${path}/admin`) : await api.post(`${path}/reactivate`)
      expect([status, audited(app, 'identity.credentials_wiped').length]).toEqual([200, before + 1])
    }
  })

  test('is signed out and deactivated at once, and gets a link that works once', async () => {
    const ada = await app.signIn()
    const path = `${V1}/operators/${ada.id}`
    const isIn = async () => (await ada.open('/account')).status === 200
    expect([(await api.post(`${path}/sign-out`)).status, await isIn()]).toEqual([200, false])
    const { status, body } = await api.post(`${path}/login-link`)
    expect([status, body.url]).toEqual([201, expect.stringMatching(/\/console\/link\/\w+$/)])
    expect((await api.post(`${path}/deactivate`)).body.state).toBe('inactive')
    for (const ask of [() => api.post(`${path}/login-link`), () => api.put(`${path}/admin`)])
      await expectStatus(409, ask, { message: expect.stringContaining('deactivated') })
    expect((await app.raw(new URL(body.url).pathname)).status).toBe(404)
    expect((await api.post(`${path}/reactivate`)).body.state).toBe('active')
  })

  test('who is the last admin stays one, and active', async () => {
    await using alone = await bootConsole()
    const admin = await alone.newAdmin()
    const { key: secret } = await alone.platform.keys.issueForInstallation({ kind: 'system' }, {})
    const own = alone.client(secret)
    const path = `${V1}/operators/${admin.id}`
    const last = { message: expect.stringContaining('only admin') }
    await expectStatus(409, () => own.delete(`${path}/admin`), last)
    await expectStatus(409, () => own.post(`${path}/deactivate`), last)
    const { body } = await own.post(`${V1}/operators`, { email: 'next@example.com', admin: true })
    for (let n = 0; n < 2; n++) expect((await own.delete(`${path}/admin`)).status).toBe(204)
    await expectStatus(409, () => own.delete(`${V1}/operators/${body.id}/admin`), last)
  })

  test('is emailed the sign-in link where there is a mail server, and the key is not told', async () => {
    await using mailing = await bootConsole({ env: WITH_MAIL })
    const { id } = await mailing.signIn()
    const { key: secret } = await mailing.platform.keys.issueForInstallation({ kind: 'system' }, {})
    const link = () => mailing.client(secret).post(`${V1}/operators/${id}/login-link`)
    const { status, body } = await link()
    expect([status, body.url]).toEqual([201, null])
    expect(mailing.db.client.query('SELECT count(*) n FROM mails').get()).toEqual({ n: 1 })
  })
})
