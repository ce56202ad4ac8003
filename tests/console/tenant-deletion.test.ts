import { expect, test } from 'bun:test'
import { SLICE } from '../../src/platform/retention.ts'
import { tablesWith } from '../engines/gate/fixture.ts'
import { importInto } from '../platform/portable/fixture.ts'
import { audited, MINUTE, type Tenant, useConsole } from './fixture.ts'
import { addOneOfEach } from './one-of-each.ts'

const app = await useConsole()

const PAGE = '/settings/data'
const remove = ({ owner }: Pick<Tenant, 'owner'>, name: string) =>
  owner.send(`${PAGE}/delete`, { name })
/** Tables that mention an id, besides history: nothing in them works with the tenant. */
const left = (id: string) => Object.keys(tablesWith(app, id))

test('A tenant is deleted with all its data but the audit log, and others keep theirs', async () => {
  const [acme, other] = [await app.newTenant(), await app.newTenant('Other')]
  await addOneOfEach(app, acme)
  await addOneOfEach(app, other)
  await app.platform.metering.flush()
  const before = tablesWith(app, other.id)
  const member = await acme.as('member')
  const away = await remove(acme, ' Acme ')
  expect(away).toMatchObject({ status: 303, location: '/console?done=settings-data-delete' })
  const { html, status } = await acme.owner.follow(await acme.owner.follow(away))
  expect([status, html]).toEqual([200, expect.stringContaining('Tenant deleted.')])
  expect((await member.open('/settings')).status).not.toBe(200)
  for (const client of [acme.api, acme.gate, acme.relay])
    expect((await client.get('/v1/clockwork/jobs')).status).toBe(401)
  expect(left(acme.id)).toEqual(['audit_log'])
  expect(tablesWith(app, other.id)).toEqual(before)
  const [entry] = audited(app, 'tenant.deleted').slice(-1)
  expect(entry).toMatchObject({
    actor_id: acme.owner.id,
    tenant_id: null,
    object: `tenant:${acme.id}`,
    detail: '{"name":"Acme","plan":"unlimited"}',
  })
})

test('Only an owner who types the name deletes a tenant', async () => {
  const acme = await app.newTenant()
  const refused = await remove(acme, 'acme')
  expect([refused.status, refused.wrong]).toEqual([422, ['name']])
  const member = await acme.as('member')
  expect((await member.send(`${PAGE}/delete`, { name: 'Acme' })).status).toBe(403)
  expect((await member.open(PAGE)).status).toBe(403)
  ;(await member.open('/settings')).omits('Export and delete')
  expect(app.platform.tenants.exists(acme.id)).toBe(true)
})

test('What a large tenant leaves goes in slices, and does nothing until then', async () => {
  const acme = await app.newTenant()
  await acme.job({ schedule: '* * * * *' })
  const person = { schema_id: 'user', traits: { email: 'ada@example.com' } }
  await acme.gate.post('/v1/gate/identities', person)
  const usage = app.db.client.query('INSERT INTO usage_days VALUES (?, ?, ?, ?, 1)')
  const days = Array.from({ length: 22 * SLICE }, (_, n) => `day ${n}`)
  app.db.client.transaction(() => {
    for (const day of days) usage.run(acme.id, day, 'gate', 'live')
  })()
  await remove(acme, 'Acme')
  expect(app.platform.tenants.list().map(({ id }) => id)).not.toContain(acme.id)
  expect(() => app.platform.tenants.nameOf(acme.id)).toThrow('tenant not found')
  expect(left(acme.id)).toEqual(expect.arrayContaining(['tenants', 'usage_days']))
  expect(left(acme.id)).not.toContain('cron_jobs')
  await app.clock.advance(2 * MINUTE)
  expect(acme.target.requests).toEqual([])
  let isSwept = false
  void app.platform.retention.sweep().finally(() => {
    isSwept = true
  })
  while (!isSwept) await app.clock.advance(20)
  expect(left(acme.id)).toEqual(['audit_log'])
})

test('An owner downloads the tenant, and the file restores it after its deletion', async () => {
  const acme = await app.newTenant()
  const job = await acme.job({ schedule: '0 0 1 1 *' })
  const file = await acme.owner.press(PAGE, 'Export tenant')
  expect(file.headers.get('content-disposition')).toContain(`gatehouse-${acme.id}-`)
  expect(acme.owner.audited('tenant.exported')).toEqual([`tenant:${acme.id}`])
  await remove(acme, 'Acme')
  await importInto(app, file.html)
  expect((await acme.api.get(`/v1/clockwork/jobs/${job}`)).status).toBe(200)
})
