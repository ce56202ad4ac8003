import { expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/policies'
const POLICY = '@id("all")\npermit (principal, action, resource);\n'
const CRLF = POLICY.replaceAll('\n', '\r\n')
const OFFICE = `@id("office-only")\nforbid (principal, action, resource)
unless { context.ip == "203.0.113.7" };\n`

const app = await useConsole()

test('Policies are saved and reset by members', async () => {
  const { as, gate } = await app.newTenant()
  const [member, viewer] = [await as('member'), await as('viewer')]
  const read = async () => (await gate.get('/v1/gate/settings/policies')).body
  const seen = await viewer.sees(PAGE, 'The starter set is active', 'own-tenant-reads')
  seen.omits('name="policies"')
  const saved = await member.press(PAGE, 'Save policies', { policies: CRLF })
  saved.says('Version 1 is active', 'View the policies of a new tenant')
  expect(await read()).toMatchObject({ policies: POLICY, version: 1 })
  expect((await member.send(`${PAGE}/starter`)).location).toEndWith('?done=policies-starter')
  expect(await read()).toMatchObject({ is_starter_set: true, version: 2 })
  expect(member.audited('policies.changed')).toHaveLength(2)
})

test('Wrong or late policies are kept in the form and refused, each error with its line', async () => {
  const { owner, gate } = await app.newTenant()
  const save = (policies: string, version = '0') => owner.send(PAGE, { policies, version })
  const page = await save(`${POLICY}\npermit (principal, action, resourc);\n// <b>`)
  expect([page.status, page.wrong]).toEqual([422, ['policies']])
  page.says('Line 4, column ', '<code>permit (principal, action, resourc);</code>', '// &lt;b>')
  expect((await save('x'.repeat(40_000))).status).toBe(422)
  expect((await gate.get('/v1/gate/settings/policies')).body.is_starter_set).toBe(true)
  await gate.put('/v1/gate/settings/policies', { policies: POLICY })
  expect((await save('')).says('Someone else changed the policies').status).toBe(422)
  expect((await save('', '1')).status).toBe(303)
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
  const ask = (subject: string, action: string, resource: string, context = '') => {
    const query = new URLSearchParams({ subject, action, resource, ...(context && { context }) })
    return viewer.open(`${PAGE}?${query}`)
  }
  const tenant = `tenant:${id}`
  ;(await ask('billing', 'tenant.read', tenant)).says('Denied: no policy permits this')
  const explained = await ask(ada.id, 'keys.read', tenant)
  explained.says('Decided by own-tenant-reads', 'Decided by tenant-admins', 'ada@example.com')
  explained.says('admin, <script', '*, keys.*, *.read').omits('Decided by own-identity')

  await gate.put('/v1/gate/settings/policies', { policies: POLICY + OFFICE })
  const away = await ask(ada.id, 'keys.read', tenant, '{"ip": "::1"}')
  away.says('Decided by office-only', 'unless { context.ip')
  const inOffice = '{"ip": "203.0.113.7"}'
  const allowed = await ask(ada.id, 'keys.read', tenant, inOffice)
  allowed.says('Allowed: permitted by', 'Decided by all')
  const foreign = await ask('billing', 'tenant.read', `tenant:${other.id}`, inOffice)
  foreign.says('Denied: the tenant has no such resource')
  const recorded = app.db.client.query('SELECT * FROM gate_decisions WHERE tenant_id = ?')
  expect(recorded.all(id)).toEqual([])

  for (const [resource, context, name] of [
    ['nothing', '', 'resource'],
    ['c:d', '{"a": ', 'context'],
    ['c:d', '[]', 'context'],
    ['c:d', '"x"', 'context'],
  ] as const) {
    const { status, wrong } = await ask('a', 'b', resource, context)
    expect([status, wrong]).toEqual([422, [name]])
  }
})

test('Decisions are found by subject, and link to their request', async () => {
  const { owner, gate } = await app.newTenant()
  for (const subject of ['billing', 'reports']) {
    const context = { note: '<script>alert(1)</script>' }
    const request = { subject, action: 'invoices.read', resource: 'document:42', context }
    await gate.post('/v1/gate/authorize', request)
  }
  const list = await owner.sees(`${PAGE}/decisions?subject=billing`, '>billing<')
  list.omits('>reports<')
  expect((await owner.open(`${PAGE}/decisions?cursor=nonsense`)).status).toBe(422)
  const path = list.links.find((link) => /\/decisions\/[\w-]{36}/.test(link)) ?? ''
  const detail = await owner.sees(path, 'No policy permits this', 'Starter set (current)')
  detail.says('subject=billing&amp;action=invoices.read').omits('<script>alert')
})
