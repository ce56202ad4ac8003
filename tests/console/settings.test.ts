import { expect, test } from 'bun:test'
import { SYSTEM, useConsole } from './fixture.ts'

const PAGE = '/settings'

const app = await useConsole()

test('The page has id, plan, usage and commands, and owners rename the tenant', async () => {
  const { id, owner, as } = await app.newTenant('Acme', 'metered')
  const nameOf = () => app.platform.tenants.find(id).name
  const seen = await (await as('member')).open(PAGE)
  seen.says(id, 'Metered', '/console/usage', '/v1/relay/messages', 'delete a tenant yet')
  seen.omits('Rename tenant')
  const renamed = await owner.press(PAGE, 'Rename tenant', { name: '  Müller & Söhne ' })
  expect(renamed.says('Tenant renamed.').status).toBe(200)
  expect([nameOf(), owner.audited('tenant.changed').length]).toEqual(['Müller & Söhne', 1])
  for (const name of [' ', '<script>\u202e', 'x'.repeat(10_000)]) {
    const { status, wrong, html } = await owner.send(PAGE, { name })
    expect([status, wrong, nameOf()]).toEqual([422, ['name'], 'Müller & Söhne'])
    if (name.trim()) expect(html).toContain(`value="${name.replace('<', '&lt;')}"`)
  }
  await app.platform.tenants.suspend(SYSTEM, id, 'billing')
  await owner.sees(PAGE, 'Suspended because of an unpaid bill')
})
