import { expect, test } from 'bun:test'
import { SYSTEM, useConsole } from './fixture.ts'

const PAGE = '/console/settings'

const app = await useConsole()

const nameOf = (id: string) => app.platform.tenants.find(id).name

test('The page has id, plan, usage and commands, and a form for owners', async () => {
  const { id, owner, as } = await app.newTenant('Acme', 'metered')
  const seen = await (await as('member')).open(PAGE)
  for (const part of [id, 'Metered', '/console/usage', '/v1/relay/messages', 'delete a tenant yet'])
    expect(seen.html).toContain(part)
  expect(seen.text).not.toContain('Rename tenant')
  expect((await owner.open(PAGE)).text).toContain('Rename tenant')
  await app.platform.tenants.suspend(SYSTEM, id, 'billing')
  expect((await owner.open(PAGE)).text).toContain('Suspended because of an unpaid bill')
})

test('A tenant is renamed', async () => {
  const { id, owner } = await app.newTenant()
  const renamed = await owner.send(PAGE, { name: '  Müller & Söhne ' })
  expect([renamed.location, nameOf(id)]).toEqual([`${PAGE}?done=renamed`, 'Müller & Söhne'])
  expect((await owner.follow(renamed)).text).toContain('Tenant renamed.')
  expect(owner.audited('tenant.changed')).toHaveLength(1)
})

test.each([' ', '<script>\u202e', 'x'.repeat(10_000)])(
  'A wrong name is kept (%#)',
  async (name) => {
    const { id, owner } = await app.newTenant()
    const { status, wrong, html } = await owner.send(PAGE, { name })
    expect([status, wrong, nameOf(id)]).toEqual([422, ['name'], 'Acme'])
    if (name.trim()) expect(html).toContain(`value="${name.replace('<', '&lt;')}"`)
  },
)
