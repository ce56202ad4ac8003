import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { newOperator } from '../../support/operator.ts'
import { countRequests } from '../../support/usage.ts'
import {
  type AdminFixture,
  audited,
  bootAdmin,
  HOSTILE,
  isEscaped,
  textOf,
} from './admin-fixture.ts'

const PATH = '/console/admin/tenants'

let fixture: AdminFixture
beforeAll(async () => {
  fixture = await bootAdmin()
})
afterAll(() => fixture.app.stop())

const tenantOf = (id: string) => fixture.app.platform.tenants.find(id)
const lastAudited = (action: string) => audited(fixture.app, action).at(-1)
const byAdmin = () => ({ actor_kind: 'operator', actor_id: fixture.admin.id })

describe('the list of tenants', () => {
  test('says that there is none, and leads to the first', async () => {
    await using empty = (await bootAdmin()).app
    const admin = await newOperator(empty, { isAdmin: true })
    const { headers } = await admin.signIn()
    const page = await empty.raw(PATH, { headers })
    expect(textOf(page)).toContain('No tenants yet')
    expect(page.body).toContain(`href="${PATH}/new"`)
  })

  test('has plan, status, and the requests of the month', async () => {
    const { api, id } = await fixture.app.tenant('Counted', 'metered')
    for (let n = 0; n < 3; n++) await api.get('/v1/clockwork/jobs')
    const page = await fixture.open(`${PATH}?q=${id}`)
    expect(textOf(page)).toMatch(/Counted.*Metered.*Active.*Requests this month 3 Cost 0.00/)
  })

  test('is searched by the beginning of a name, in the order of names, page by page', async () => {
    await using app = (await bootAdmin()).app
    const { headers } = await (await newOperator(app, { isAdmin: true })).signIn()
    const names = Array.from({ length: 60 }, (_, n) => `${n % 2 ? 'Row' : 'row'} ${n + 10}.`)
    for (const name of names)
      await app.platform.tenants.create({ kind: 'system' }, { name, plan: 'free' })
    await app.platform.tenants.create({ kind: 'system' }, { name: 'Other row', plan: 'free' })
    const first = await app.raw(`${PATH}?q=ROW`, { headers })
    const [, href = ''] = /rel="next" href="([^"]+)"/.exec(first.body) ?? []
    const second = await app.raw(href.replaceAll('&amp;', '&'), { headers })
    const seen = `${first.body}${second.body}`.match(/>[Rr]ow \d+\./g) ?? []
    expect(seen.map((name) => name.slice(1))).toEqual(names)
    expect(first.body).not.toContain('Other row')
  })

  test('is searched by name and by id, whatever the case', async () => {
    const { id } = await fixture.app.tenant('Findable & Sons')
    await fixture.app.tenant('Hidden')
    for (const q of ['findable & SONS', id, id.toUpperCase()]) {
      const text = textOf(await fixture.open(`${PATH}?${new URLSearchParams({ q })}`))
      expect(text).toContain('Findable & Sons')
      expect(text).not.toContain('Hidden')
    }
    const none = await fixture.open(`${PATH}?q=nobody-is-called-so`)
    expect(textOf(none)).toContain('No matching tenants')
  })

  test('is narrowed to a status', async () => {
    const { id } = await fixture.app.tenant('In arrears')
    await fixture.app.platform.tenants.suspend({ kind: 'system' }, id, 'billing')
    await fixture.app.tenant('In order')
    const text = textOf(await fixture.open(`${PATH}?status=suspended`))
    expect(text).toContain('In arrears')
    expect(text).not.toContain('In order')
  })

  test('goes on page by page, each tenant once', async () => {
    await using app = (await bootAdmin()).app
    const { headers } = await (await newOperator(app, { isAdmin: true })).signIn()
    for (let n = 0; n < 120; n++)
      await app.platform.tenants.create({ kind: 'system' }, { name: `Many ${n}.`, plan: 'free' })
    const seen: string[] = []
    let path: string | undefined = PATH
    for (let n = 0; path !== undefined && n < 5; n++) {
      const { body } = await app.raw(path, { headers })
      seen.push(...(body.match(/<bdi class="text"[^>]*>Many \d+\./g) ?? []))
      path = /rel="next" href="([^"]+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
    }
    expect([seen.length, new Set(seen).size]).toEqual([120, 120])
  })

  test('refuses a cursor that it has not given out', async () => {
    expect((await fixture.open(`${PATH}?cursor=made-up`)).status).toBe(400)
  })

  test('does not show the system tenant', async () => {
    expect(textOf(await fixture.open(`${PATH}?q=00000000-0000-7000`))).toContain(
      'No matching tenants',
    )
  })
})

describe('a new tenant', () => {
  test('is made with name and plan, by the operator', async () => {
    const answer = await fixture.send(PATH, { name: ' Fresh ', plan: 'metered' })
    expect(answer.status).toBe(303)
    const page = await fixture.follow(answer)
    expect(textOf(page)).toContain('Tenant created.')
    const made = fixture.app.platform.tenants.list().at(-1)
    expect(made).toMatchObject({ name: 'Fresh', plan: 'metered', status: 'active' })
    expect(lastAudited('tenant.created')).toMatchObject({ ...byAdmin(), tenant_id: made?.id ?? '' })
  })

  test('meets no limit on requests unless the operator picks a plan that has one', async () => {
    const form = await fixture.open(`${PATH}/new`)
    const [, plan = ''] = /value="(\w+)" checked/.exec(form.body) ?? []
    await fixture.send(PATH, { name: 'Busy', plan })
    const { platform, client } = fixture.app
    const { id = '' } = platform.tenants.list().find(({ name }) => name === 'Busy') ?? {}
    countRequests(fixture.app, id, 1_000_000)
    const { key } = await platform.keys.issue(
      { kind: 'system' },
      { tenantId: id, engine: 'relay', environment: 'live' },
    )
    const event = { event_type: 'order.paid', payload: {} }
    expect((await client(key).post('/v1/relay/messages', event)).status).toBe(202)
  })

  test.each([
    [{ name: '', plan: 'free' }, 'Must have at least one visible character.'],
    [{ name: 'a\nb', plan: 'free' }, 'Must be one line'],
    [{ name: 'x'.repeat(201), plan: 'free' }, 'Must have at most 200 characters.'],
    [{ name: 'Kept', plan: 'gold' }, 'Must be one of free, metered, unlimited.'],
    [{}, 'Must be one of'],
  ])(
    'is not made of what is wrong (%#): the form comes back with what was typed',
    async (fields, words) => {
      const before = fixture.app.platform.tenants.list().length
      const answer = await fixture.send(PATH, fields as Record<string, string>)
      expect(answer.status).toBe(422)
      expect(textOf(answer)).toContain(words)
      if ('name' in fields && fields.name === 'Kept') expect(answer.body).toContain('value="Kept"')
      expect(fixture.app.platform.tenants.list()).toHaveLength(before)
    },
  )
})

describe('the page of a tenant', () => {
  test('has its facts, the usage of the month, and its members with their roles', async () => {
    const { id, api } = await fixture.app.tenant('Shown', 'free')
    await api.get('/v1/clockwork/jobs')
    await newOperator(fixture.app, { email: 'member@shown.example', roles: { [id]: 'viewer' } })
    const text = textOf(await fixture.open(`${PATH}/${id}`))
    expect(text).toContain('Active on the free plan, 1 request this month')
    expect(text).toContain('Jobs (clockwork) 1')
    expect(text).toMatch(/member@shown.example Viewer/)
    expect(text).toContain('Only members can open its pages')
    expect(text).toContain("Tenants can't be deleted")
  })

  test('tells an admin who is a member how to get in', async () => {
    const { id } = await fixture.app.tenant('Own')
    const both = await newOperator(fixture.app, { isAdmin: true, roles: { [id]: 'owner' } })
    const session = await both.signIn()
    await session.actIn(null)
    const page = await fixture.app.raw(`${PATH}/${id}`, { headers: session.headers })
    expect(textOf(page)).toContain('select the tenant at the top left')
  })

  test('changes name, plan and cap, and audits what is new', async () => {
    const { id } = await fixture.app.tenant('Before', 'free')
    const fields = { name: 'After', plan: 'metered', spend_cap: '12.00' }
    const answer = await fixture.send(`${PATH}/${id}/change`, fields)
    expect(textOf(await fixture.follow(answer))).toContain('Tenant updated.')
    expect(tenantOf(id)).toMatchObject({ name: 'After', plan: 'metered', spend_cap_cents: 1200 })
    expect(lastAudited('tenant.changed')).toMatchObject({ ...byAdmin(), tenant_id: id })

    await fixture.send(`${PATH}/${id}/change`, { ...fields, spend_cap: '' })
    expect(tenantOf(id)).toMatchObject({ name: 'After', spend_cap_cents: null })
    const { detail = '{}' } = lastAudited('tenant.changed') ?? {}
    expect(JSON.parse(detail)).toEqual({ spendCapCents: null })
  })

  test('changes nothing, and audits nothing, where nothing is different', async () => {
    const { id } = await fixture.app.tenant('Same', 'free')
    const before = audited(fixture.app, 'tenant.changed').length
    const fields = { name: 'Same', plan: 'free', spend_cap: '' }
    const answer = await fixture.send(`${PATH}/${id}/change`, fields)
    expect(answer.headers.get('location')).toEndWith('?done=unchanged')
    expect(audited(fixture.app, 'tenant.changed')).toHaveLength(before)
  })

  test.each(['-1', '1.555', 'lots', '1e3', '9'.repeat(14)])(
    'takes the cap %j back to its field',
    async (cap) => {
      const { id } = await fixture.app.tenant('Capped', 'metered')
      const fields = { name: 'Typed', plan: 'metered', spend_cap: cap }
      const answer = await fixture.send(`${PATH}/${id}/change`, fields)
      expect(answer.status).toBe(422)
      expect(textOf(answer)).toContain('Must be an amount such as 20 or 20.50')
      expect(answer.body).toContain('value="Typed"')
      expect(answer.body).toContain(`value="${cap}"`)
      expect(tenantOf(id)).toMatchObject({ name: 'Capped', spend_cap_cents: null })
    },
  )

  test.each([
    ['billing', 'suspended'],
    ['renewal', 'renewal_unpaid'],
  ] as const)('suspends for %s, and resumes', async (reason, status) => {
    const { id, api } = await fixture.app.tenant('Held')
    const job = { name: 'j', schedule: '0 3 * * *', url: 'http://127.0.0.1:9/' }
    await fixture.send(`${PATH}/${id}/suspend`, { reason })
    expect(tenantOf(id).status).toBe(status)
    expect((await api.post('/v1/clockwork/jobs', job)).status).toBe(402)
    expect(lastAudited('tenant.suspended')).toMatchObject({ ...byAdmin(), tenant_id: id })

    await fixture.send(`${PATH}/${id}/resume`)
    expect(tenantOf(id).status).toBe('active')
    expect((await api.post('/v1/clockwork/jobs', job)).status).toBe(201)
    expect(lastAudited('tenant.resumed')).toMatchObject({ ...byAdmin(), tenant_id: id })
  })

  test('does not suspend for a reason that is none', async () => {
    const { id } = await fixture.app.tenant('Liked')
    expect((await fixture.send(`${PATH}/${id}/suspend`, { reason: 'mood' })).status).toBe(400)
    expect(tenantOf(id).status).toBe('active')
  })

  test('offers no way to delete it', async () => {
    const { id } = await fixture.app.tenant('Lasting')
    expect((await fixture.send(`${PATH}/${id}/delete`)).status).toBe(404)
    expect(tenantOf(id).name).toBe('Lasting')
  })
})

test.each(HOSTILE)('a name %s is text wherever it stands', async (_, name) => {
  const { id } = await fixture.app.tenant(name)
  for (const path of [`${PATH}?q=${id}`, `${PATH}/${id}`]) {
    const page = await fixture.open(path)
    expect([page.status, isEscaped(page)]).toEqual([200, true])
    if (name.length > 1000) expect(page.body).toContain(`title="${name}"`)
    expect(page.body).toContain(name.slice(0, 4).replaceAll('<', '&lt;').replaceAll('"', '&quot;'))
  }
  const wrong = { name, plan: 'no', spend_cap: '' }
  expect(isEscaped(await fixture.send(`${PATH}/${id}/change`, wrong))).toBe(true)
})
