import { describe, expect, test } from 'bun:test'
import { countRequests } from '../../support/usage.ts'
import { audited, bootConsole, SYSTEM, useConsole } from '../fixture.ts'

const PAGE = '/console/admin/tenants'

const app = await useConsole()
const admin = await app.newAdmin()

const stored = (id: string) => app.platform.tenants.find(id)

describe('The list of tenants', () => {
  test('starts empty, and does not show the system tenant', async () => {
    await using fresh = await bootConsole()
    const { open } = await fresh.newAdmin()
    const { text, html } = await open(PAGE)
    expect(text).toContain('No tenants yet')
    expect(html).toContain(`href="${PAGE}/new"`)
    await fresh.tenant()
    expect((await open(`${PAGE}?q=00000000-0000-7000`)).text).toContain('No matching tenants')
  })

  test('has plan, status, and the requests of the month', async () => {
    const { api, id } = await app.tenant('Counted', 'metered')
    for (let n = 0; n < 3; n++) await api.get('/v1/clockwork/jobs')
    const { text } = await admin.open(`${PAGE}?q=${id}`)
    expect(text).toMatch(/Counted.*Metered.*Active.*Requests this month 3 Cost 0.00/)
  })

  test('finds tenants by the start of the name, by id, and by status', async () => {
    const found = (await app.tenant('Findable & Sons')).id
    const suspended = (await app.tenant('Finder, suspended')).id
    await app.tenant('Not Findable & Sons')
    await app.platform.tenants.suspend(SYSTEM, suspended, 'billing')
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

  test('lists each tenant once, by name when searched', async () => {
    await using own = await bootConsole()
    const { open } = await own.newAdmin()
    for (let n = 10; n < 70; n++) {
      const fields = { name: `${n % 2 ? 'Row' : 'row'} ${n}.`, plan: 'free' } as const
      await own.platform.tenants.create(SYSTEM, fields)
    }
    await own.platform.tenants.create(SYSTEM, { name: 'Other row', plan: 'free' })
    const namesIn = ({ html }: { html: string }) => html.match(/(?<=>)[Rr]ow \d+\.(?=<)/g) ?? []
    const first = await open(`${PAGE}?q=ROW`)
    const names = [...namesIn(first), ...namesIn(await open(first.next))]
    expect(names.map((name) => Number(name.slice(4)))).toEqual(
      Array.from({ length: 60 }, (_, n) => n + 10),
    )
    const all = await open(PAGE)
    expect(new Set([...all.rows, ...(await open(all.next)).rows]).size).toBe(61)
  })
})

describe('A new tenant', () => {
  test('is created with name and plan', async () => {
    const created = await admin.send(PAGE, { name: ' Fresh ', plan: 'metered' })
    expect(created.status).toBe(303)
    expect((await admin.follow(created)).text).toContain('Tenant created.')
    const tenant = app.platform.tenants.list().at(-1)
    expect(tenant).toMatchObject({ name: 'Fresh', plan: 'metered', status: 'active' })
    expect(audited(app, 'tenant.created').at(-1)).toMatchObject({
      actor_kind: 'operator',
      actor_id: admin.id,
      tenant_id: tenant?.id ?? '',
    })
  })

  test('has no request limit unless the admin picks a plan that has one', async () => {
    const [, plan = ''] = /value="(\w+)" checked/.exec((await admin.open(`${PAGE}/new`)).html) ?? []
    await admin.send(PAGE, { name: 'Busy', plan })
    const { id = '' } = app.platform.tenants.list().find(({ name }) => name === 'Busy') ?? {}
    countRequests(app, id, 1_000_000)
    const { key } = await app.platform.keys.issue(SYSTEM, { tenantId: id, engine: 'clockwork' })
    const job = { name: 'j', schedule: '0 3 * * *', url: 'http://127.0.0.1:9/' }
    expect((await app.client(key).post('/v1/clockwork/jobs', job)).status).toBe(201)
  })

  test.each([
    ['name', { name: '', plan: 'free' }],
    ['name', { name: 'a\nb', plan: 'free' }],
    ['name', { name: 'x'.repeat(201), plan: 'free' }],
    ['plan', { name: 'Kept', plan: 'gold' }],
    ['plan', { name: 'Kept' }],
  ])('is refused with an error beside %s', async (name, fields: Record<string, string>) => {
    const before = app.platform.tenants.list().length
    const { status, wrong, html } = await admin.send(PAGE, fields)
    expect([status, wrong]).toEqual([422, [name]])
    if (fields.name === 'Kept') expect(html).toContain('value="Kept"')
    expect(app.platform.tenants.list()).toHaveLength(before)
  })
})

describe('A tenant', () => {
  test('has a page with usage and members', async () => {
    const { id, api } = await app.tenant('Shown', 'free')
    await api.get('/v1/clockwork/jobs')
    await app.signIn({ email: 'member@shown.example', roles: { [id]: 'viewer' } })
    const { text } = await admin.open(`${PAGE}/${id}`)
    for (const words of [
      'Active on the free plan, 1 request this month',
      'Jobs (clockwork) 1',
      'member@shown.example Viewer',
      'Only members can open its pages',
      "Tenants can't be deleted",
    ])
      expect(text).toContain(words)
    const both = await app.newAdmin({ roles: { [id]: 'owner' } })
    const ofMember = await both.open(`${PAGE}/${id}`)
    expect(ofMember.text).toContain('select the tenant at the top left')
  })

  test('gets a new name, plan and spend cap; the audit log has only what changed', async () => {
    const { id } = await app.tenant('Before', 'free')
    const change = (spend_cap: string) =>
      admin.send(`${PAGE}/${id}/change`, { name: 'After', plan: 'metered', spend_cap })
    expect((await admin.follow(await change('12.00'))).text).toContain('Tenant updated.')
    expect(stored(id)).toMatchObject({ name: 'After', plan: 'metered', spend_cap_cents: 1200 })
    await change('')
    expect(stored(id)).toMatchObject({ name: 'After', spend_cap_cents: null })
    expect((await change('')).location).toEndWith('?done=unchanged')
    const changes = audited(app, 'tenant.changed').filter(({ tenant_id }) => tenant_id === id)
    expect(changes.map(({ actor_id }) => actor_id)).toEqual([admin.id, admin.id])
    expect(JSON.parse(changes[1]?.detail ?? '')).toEqual({ spendCapCents: null })
  })

  test.each(['-1', '1.555', 'lots', '1e3', '9'.repeat(14)])('refuses the cap %j', async (cap) => {
    const { id } = await app.tenant('Capped', 'metered')
    const fields = { name: 'Typed', plan: 'metered', spend_cap: cap }
    const { status, wrong, html } = await admin.send(`${PAGE}/${id}/change`, fields)
    expect([status, wrong]).toEqual([422, ['spend_cap']])
    for (const typed of ['Typed', cap]) expect(html).toContain(`value="${typed}"`)
    expect(stored(id)).toMatchObject({ name: 'Capped', spend_cap_cents: null })
  })

  test.each([
    ['billing', 'suspended'],
    ['renewal', 'renewal_unpaid'],
  ])('is suspended because of %s, and resumed', async (reason, status) => {
    const { id, api } = await app.tenant('Held')
    const job = { name: 'j', schedule: '0 3 * * *', url: 'http://127.0.0.1:9/' }
    const create = async () => (await api.post('/v1/clockwork/jobs', job)).status
    const standing = async (verb: string, fields = {}) => {
      await admin.send(`${PAGE}/${id}/${verb}`, fields)
      const { actor_id, tenant_id } =
        audited(app, `tenant.${verb}ed`.replace('ee', 'e')).at(-1) ?? {}
      return [stored(id).status as string, await create(), actor_id, tenant_id]
    }
    expect(await standing('suspend', { reason })).toEqual([status, 402, admin.id, id])
    expect(await standing('resume')).toEqual(['active', 201, admin.id, id])
  })

  test('is not suspended for an unknown reason, nor deleted', async () => {
    const { id } = await app.tenant('Kept')
    expect((await admin.send(`${PAGE}/${id}/suspend`, { reason: 'mood' })).status).toBe(400)
    expect((await admin.send(`${PAGE}/${id}/delete`)).status).toBe(404)
    expect(stored(id)).toMatchObject({ name: 'Kept', status: 'active' })
  })
})
