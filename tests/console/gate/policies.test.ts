import { expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/console/policies'
const POLICY = '@id("all")\npermit (principal, action, resource);\n'
const OFFICE = `@id("office-only")\nforbid (principal, action, resource)
unless { context.ip == "203.0.113.7" };\n`

const app = await useConsole()

test('Policies are saved and reset by members', async () => {
  const { as, gate } = await app.newTenant()
  const [member, viewer] = [await as('member'), await as('viewer')]
  const read = async () => (await gate.get('/v1/gate/settings/policies')).body
  const seen = await viewer.open(PAGE)
  for (const words of ['The starter set is active', 'own-tenant-reads'])
    expect(seen.text).toContain(words)
  expect(seen.html).not.toContain('name="policies"')

  const policies = POLICY.replaceAll('\n', '\r\n')
  const saved = await member.send(PAGE, { policies, version: '0' })
  expect(saved.location).toBe(`${PAGE}?done=saved`)
  expect(await read()).toMatchObject({ policies: POLICY, version: 1 })
  const { text } = await member.open(PAGE)
  for (const words of ['Version 1 is active', 'View the policies of a new tenant'])
    expect(text).toContain(words)
  expect((await member.send(`${PAGE}/starter`)).location).toBe(`${PAGE}?done=starter`)
  expect(await read()).toMatchObject({ is_starter_set: true, version: 2 })
  expect(member.audited('policies.changed')).toHaveLength(2)
})

test('Wrong policies are kept in the form and refused, each error with its line', async () => {
  const { owner, gate } = await app.newTenant()
  const policies = `${POLICY}\npermit (principal, action, resourc);\n// <b>`
  const { status, wrong, html } = await owner.send(PAGE, { policies, version: '0' })
  expect([status, wrong]).toEqual([422, ['policies']])
  for (const part of [
    'Line 4, column ',
    '<code>permit (principal, action, resourc);</code>',
    '// &lt;b>',
  ])
    expect(html).toContain(part)
  for (const text of [`<script>alert(1)</script>${'x'.repeat(10_000)}`, 'x'.repeat(40_000)]) {
    const refused = await owner.send(PAGE, { policies: text, version: '0' })
    expect([refused.status, refused.html.includes('<script>alert')]).toEqual([422, false])
    expect(refused.html).toContain(text.slice(-9_000))
  }
  expect((await gate.get('/v1/gate/settings/policies')).body.is_starter_set).toBe(true)
})

test('Policies that someone else changed meanwhile are not overwritten', async () => {
  const { owner, gate } = await app.newTenant()
  await gate.put('/v1/gate/settings/policies', { policies: POLICY })
  const late = await owner.send(PAGE, { policies: '', version: '0' })
  expect([late.status, late.text]).toEqual([
    422,
    expect.stringContaining('Someone else changed the policies'),
  ])
  expect((await owner.send(PAGE, { policies: '', version: '1' })).status).toBe(303)
})

test('A request is evaluated and explained, and not recorded', async () => {
  const { id, as, gate } = await app.newTenant()
  const other = await app.newTenant()
  const viewer = await as('viewer')
  const { body: ada } = await gate.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email: 'ada@example.com' },
    metadata_public: { roles: ['admin', '<script>'] },
  })
  const ask = async (subject: string, action: string, resource: string, context = '') => {
    const query = new URLSearchParams({ subject, action, resource, ...(context && { context }) })
    return (await viewer.open(`${PAGE}?${query}`)).text
  }
  const tenant = `tenant:${id}`
  const denied = await ask('billing', 'tenant.read', tenant)
  expect(denied).toContain('Denied: no policy permits this')
  const explained = await ask(ada.id, 'keys.read', tenant)
  for (const words of [
    'Decided by own-tenant-reads',
    'Decided by tenant-admins',
    'ada@example.com',
    'admin, <script',
    '*, keys.*, *.read',
  ])
    expect(explained).toContain(words)
  expect(explained).not.toContain('Decided by own-identity')

  await gate.put('/v1/gate/settings/policies', { policies: POLICY + OFFICE })
  const away = await ask(ada.id, 'keys.read', tenant, '{"ip": "::1"}')
  for (const words of ['Decided by office-only', 'unless { context.ip'])
    expect(away).toContain(words)
  const inOffice = '{"ip": "203.0.113.7"}'
  const allowed = await ask(ada.id, 'keys.read', tenant, inOffice)
  for (const words of ['Allowed: permitted by', 'Decided by all']) expect(allowed).toContain(words)
  const foreign = await ask('billing', 'tenant.read', `tenant:${other.id}`, inOffice)
  expect(foreign).toContain('Denied: the tenant has no such resource')
  const recorded = app.db.client.query('SELECT * FROM gate_decisions WHERE tenant_id = ?')
  expect(recorded.all(id)).toEqual([])
})

test.each([
  ['resource', { resource: 'nothing' }],
  ['context', { context: '{"a": ' }],
  ['context', { context: '[]' }],
  ['context', { context: '"x"' }],
])('A wrong %s has an error beside it', async (name, fields) => {
  const { owner } = await app.newTenant()
  const query = new URLSearchParams({ subject: 'a', action: 'b', resource: 'c:d', ...fields })
  const { status, wrong } = await owner.open(`${PAGE}?${query}`)
  expect([status, wrong]).toEqual([422, [name]])
})

test('Decisions are found by subject, and link to their request', async () => {
  const { owner, gate } = await app.newTenant()
  for (const subject of ['billing', 'reports']) {
    const context = { note: '<script>alert(1)</script>' }
    const request = { subject, action: 'invoices.read', resource: 'document:42', context }
    await gate.post('/v1/gate/authorize', request)
  }
  const { html } = await owner.open(`${PAGE}/decisions?subject=billing`)
  expect([html.includes('>billing<'), html.includes('>reports<')]).toEqual([true, false])
  const none = await owner.open(`${PAGE}/decisions?subject=none`)
  expect(none.text).toContain('No matching decisions')
  expect((await owner.open(`${PAGE}/decisions?cursor=nonsense`)).status).toBe(422)
  const [path = ''] = /\/console\/policies\/decisions\/[\w-]{36}/.exec(html) ?? []
  const detail = await owner.open(path)
  for (const words of ['No policy permits this', 'Starter set (current)'])
    expect(detail.text).toContain(words)
  expect(detail.html).toContain('subject=billing&amp;action=invoices.read')
  expect(detail.html).not.toContain('<script>alert')
})
