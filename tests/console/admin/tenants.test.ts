import { expect, test } from 'bun:test'
import { countRequests } from '../../support/usage.ts'
import { audited, SYSTEM, useConsole } from '../fixture.ts'

const PAGE = '/installation/tenants'
const JOB = { name: 'j', schedule: '0 3 * * *', url: 'http://127.0.0.1:9/' }

const app = await useConsole()
const { tenants } = app.platform
const admin = await app.newAdmin()

const stored = (id: string) => tenants.find(id)

test('The list has every tenant once, without the system tenant, by name', async () => {
  ;(await admin.open(PAGE)).says('No tenants yet')
  for (let n = 10; n < 61; n++)
    await tenants.create(SYSTEM, { name: `${n % 2 ? 'Row' : 'row'} ${n}.`, plan: 'free' })
  const namesIn = ({ html }: { html: string }) => html.match(/(?<=>)[Rr]ow \d+\.(?=<)/g) ?? []
  const first = await admin.open(`${PAGE}?q=ROW`)
  const second = await admin.open(first.next)
  const names = [...namesIn(first), ...namesIn(second)].map((name) => Number(name.slice(4)))
  expect(names).toEqual(Array.from({ length: 51 }, (_, n) => n + 10))
  expect((await admin.open((await admin.open(PAGE)).next)).rows).toHaveLength(1)
  await admin.sees(`${PAGE}?q=00000000-0000-7000`, 'No matching tenants')
})

test('The list has plan, status and requests, and finds by start of the name, id and status', async () => {
  const { api, id } = await app.tenant('Counted', 'metered')
  for (let n = 0; n < 3; n++) await api.get('/v1/clockwork/jobs')
  const { text } = await admin.open(`${PAGE}?q=${id}`)
  expect(text).toMatch(/Counted.*Metered.*Active.*Requests this month 3 Cost 0.00/)
  const found = (await app.tenant('Findable & Sons')).id
  const suspended = (await app.tenant('Finder, suspended')).id
  await app.tenant('Not Findable & Sons')
  await tenants.suspend(SYSTEM, suspended, 'billing')
  for (const [query, ids] of [
    ['q=findable+%26+SONS', [found]],
    [`q=${found.toUpperCase()}`, [found]],
    ['q=find', [found, suspended]],
    ['q=find&status=suspended', [suspended]],
    ['q=find-none', []],
  ])
    expect([query, (await admin.open(`${PAGE}?${query}`)).rows]).toEqual([query, ids])
  expect((await admin.open(`${PAGE}?cursor=made-up`)).status).toBe(400)
})

test('A new tenant has name and plan, and no limit unless its plan has one', async () => {
  const created = await admin.press(`${PAGE}/new`, 'Create tenant', {
    name: ' Fresh ',
    plan: 'metered',
  })
  created.says('Tenant created.')
  const tenant = tenants.list().at(-1)
  expect(tenant).toMatchObject({ name: 'Fresh', plan: 'metered', status: 'active' })
  const entry = { actor_kind: 'operator', actor_id: admin.id, tenant_id: tenant?.id ?? '' }
  expect(audited(app, 'tenant.created').at(-1)).toMatchObject(entry)
  const [, plan = ''] = /value="(\w+)" checked/.exec((await admin.open(`${PAGE}/new`)).html) ?? []
  await admin.send(`${PAGE}/new`, { name: 'Busy', plan })
  const { id = '' } = tenants.list().find(({ name }) => name === 'Busy') ?? {}
  countRequests(app, id, 1_000_000)
  const { key } = await app.platform.keys.issue(SYSTEM, { tenantId: id, engines: ['clockwork'] })
  expect((await app.client(key).post('/v1/clockwork/jobs', JOB)).status).toBe(201)
})

test('The page of a tenant has usage and members; it gets a new name, plan and spend cap', async () => {
  const { id, api } = await app.tenant('Shown', 'free')
  await api.get('/v1/clockwork/jobs')
  await app.signIn({ email: 'member@shown.example', roles: { [id]: 'viewer' } })
  const page = await admin.open(`${PAGE}/${id}`)
  page.says('Active on the free plan, 1 request this month', 'Jobs (clockwork) 1')
  page.says('member@shown.example Viewer', 'Only members can open its pages')
  const both = await app.newAdmin({ roles: { [id]: 'owner' } })
  await both.sees(`${PAGE}/${id}`, 'select the tenant at the top left')

  const change = (spend_cap: string, name = 'After') =>
    admin.send(`${PAGE}/${id}/change`, { name, plan: 'metered', spend_cap })
  ;(await admin.follow(await change('12.00'))).says('Tenant updated.')
  expect(stored(id)).toMatchObject({ name: 'After', plan: 'metered', spend_cap_cents: 1200 })
  await change('')
  expect(stored(id)).toMatchObject({ name: 'After', spend_cap_cents: null })
  expect((await change('')).location).toEndWith('.unchanged')
  const changes = audited(app, 'tenant.changed').filter(({ tenant_id }) => tenant_id === id)
  expect(changes.map(({ actor_id }) => actor_id)).toEqual([admin.id, admin.id])
  expect(JSON.parse(changes[1]?.detail ?? '')).toEqual({ spendCapCents: null })
})

test('A tenant is suspended for a known reason, and resumed, but never deleted', async () => {
  const { id, api } = await app.tenant('Held')
  const after = async (verb: string, fields = {}) => {
    await admin.send(`${PAGE}/${id}/${verb}`, fields)
    const { status } = await api.post('/v1/clockwork/jobs', JOB)
    return [stored(id).status as string, status]
  }
  const resumed = ['active', 201]
  expect(await after('suspend', { reason: 'billing' })).toEqual(['suspended', 402])
  expect(await after('resume')).toEqual(resumed)
  expect(await after('suspend', { reason: 'renewal' })).toEqual(['renewal_unpaid', 402])
  expect(await after('resume')).toEqual(resumed)
  const entry = { actor_id: admin.id, tenant_id: id }
  for (const action of ['tenant.suspended', 'tenant.resumed'])
    expect(audited(app, action).slice(-2)).toMatchObject([entry, entry])
  expect((await admin.send(`${PAGE}/${id}/suspend`, { reason: 'mood' })).status).toBe(400)
  expect((await admin.send(`${PAGE}/${id}/delete`)).status).toBe(404)
  expect(stored(id)).toMatchObject({ name: 'Held', status: 'active' })
})
