import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Role } from '../../src/console/operators/rights.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { formBody } from '../support/form.ts'
import { newOperator } from '../support/operator.ts'
import { audited } from './console-fixture.ts'

let app: TestApp
beforeAll(async () => {
  app = await bootTestApp()
})
afterAll(() => app.stop())

async function operator(roles: Record<string, Role>, options: { isAdmin?: boolean } = {}) {
  const person = await newOperator(app, { roles, ...options })
  const { headers: own, actIn } = await person.signIn()
  const headers = { ...own, accept: 'text/html' }
  return {
    id: person.id,
    actIn,
    see: (query = '') => app.raw(`/console/settings${query}`, { headers }),
    rename: (fields: Record<string, string>) =>
      app.raw('/console/settings', {
        method: 'POST',
        headers,
        body: formBody(app, headers, fields),
      }),
  }
}

const nameOf = (id: string) => app.platform.tenants.find(id).name

describe('who may do what', () => {
  test.each([
    ['owner', 303],
    ['member', 403],
    ['viewer', 403],
  ] as const)('%s looks, and renaming is %d', async (role, status) => {
    const { id } = await app.tenant()
    const { see, rename } = await operator({ [id]: role })
    const { status: seen, body } = await see()
    expect([seen, body.includes('Rename tenant')]).toEqual([200, role === 'owner'])
    expect((await rename({ name: 'Other' })).status).toBe(status)
    expect(nameOf(id)).toBe(role === 'owner' ? 'Other' : 'Acme')
  })

  test('neither strangers nor whoever acts for the installation', async () => {
    const admin = await operator({}, { isAdmin: true })
    await admin.actIn(null)
    expect((await admin.see()).status).toBe(403)
    expect((await admin.rename({ name: 'Other' })).status).toBe(403)
    const headers = { accept: 'text/html' }
    expect((await app.raw('/console/settings', { headers })).status).toBe(303)
    const body = new URLSearchParams({ name: 'Other' })
    const answer = await app.raw('/console/settings', { method: 'POST', headers, body })
    expect(answer.status).toBe(401)
  })
})

test('the page has id, plan, usage and commands, and says that nothing can be deleted', async () => {
  const { id } = await app.tenant('Acme', 'metered')
  const { see } = await operator({ [id]: 'viewer' })
  const { body } = await see()
  for (const text of [id, 'Metered', '/console/usage', '/v1/relay/messages', 'delete a tenant yet'])
    expect(body).toContain(text)
  await app.platform.tenants.suspend({ kind: 'cli' }, id, 'billing')
  expect((await see()).body).toContain('Suspended because of an unpaid bill')
})

test('a new name is kept, and the operator is on record', async () => {
  const { id } = await app.tenant()
  const owner = await operator({ [id]: 'owner' })
  const answer = await owner.rename({ name: '  Müller & Söhne ' })
  expect(answer.headers.get('location')).toBe('/console/settings?done=renamed')
  expect(nameOf(id)).toBe('Müller & Söhne')
  expect((await owner.see('?done=renamed')).body).toContain('Tenant renamed.')
  const deeds = audited(app, 'tenant.changed').filter((row) => row.tenant_id === id)
  expect(deeds).toMatchObject([{ actor_kind: 'operator', actor_id: owner.id }])
})

test.each([' ', '<script>\u202e', 'x'.repeat(10_000)])(
  'a name that is none comes back (%#)',
  async (name) => {
    const { id } = await app.tenant()
    const owner = await operator({ [id]: 'owner' })
    const { status, body } = await owner.rename({ name })
    expect(status).toBe(422)
    expect(body).toContain('id="field-name-error"')
    if (name.trim()) expect(body).toContain(`value="${name.replace('<', '&lt;')}"`)
    expect(body).not.toContain('<script>')
    expect(nameOf(id)).toBe('Acme')
  },
)

test('a name from before there were rules is shown, whatever it is', async () => {
  const { id } = await app.tenant(`<script>alert(1)</script>\u202e${'x'.repeat(10_000)}`)
  const { body } = await (await operator({ [id]: 'owner' })).see()
  expect(body).toContain('&lt;script')
  expect(body).not.toContain('<script>alert')
  expect(body).toEndWith('</html>')
})
