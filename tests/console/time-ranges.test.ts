import { expect, test } from 'bun:test'
import { HOUR, SYSTEM, useConsole } from './fixture.ts'

const app = await useConsole({ start: '2026-03-01T12:00:00.000Z' })

test('Deliveries, users, decisions and logins are limited to a range of their times', async () => {
  const other = await app.newTenant('Other')
  const acme = await app.newTenant()
  await app.passepartout.bots.enable(SYSTEM, { tenantId: acme.id, environment: 'test' })
  await acme.endpoint()
  await other.endpoint()
  const start = app.clock.now()
  const rowsOf = async (path: string) => (await acme.owner.open(path)).rows
  const question = { subject: 'billing', action: 'invoices.read', resource: 'document:42' }
  for (let hour = 0; hour < 4; hour++) {
    for (const tenant of [acme, other]) {
      await tenant.message()
      await tenant.gate.post('/v1/gate/authorize', question)
      const traits = { email: `user-${hour}@example.com` }
      await tenant.gate.post('/v1/gate/identities', { schema_id: 'user', traits })
    }
    await acme.owner.in('test').send('/bots/try')
    await app.clock.advance(HOUR)
  }
  const at = (hours: number) => new Date(start + hours * HOUR).toISOString().slice(0, 16)
  for (const path of ['/deliveries', '/identities', '/policies/decisions', '/logins']) {
    const { open } = path === '/logins' ? acme.owner.in('test') : acme.owner
    const rows = async (query: string) => (await open(`${path}?${query}`)).rows
    const all = await rows('')
    const [fourth = '', third = '', second = ''] = all
    expect([path, all.length]).toEqual([path, 4])
    expect([path, await rows('within=1h')]).toEqual([path, [fourth]])
    expect([path, await rows(`since=${at(1)}&until=${at(3)}`)]).toEqual([path, [third, second]])
    expect([path, await rows(`since=${at(9)}`), await rows('within=7d')]).toEqual([path, [], all])
    const wrong = await open(`${path}?since=2026-13-01`)
    expect([path, wrong.status, wrong.wrong]).toEqual([path, 422, ['since']])
  }
  expect(await rowsOf('/deliveries?sort=created&within=7d')).toEqual(
    (await rowsOf('/deliveries')).toReversed(),
  )
})

test('The audit log is limited to a preset, which its links keep', async () => {
  const { owner, ...tenant } = await app.newTenant()
  const entries = async () => (await owner.open('/audit?within=1h&action=endpoint.')).rows
  await tenant.endpoint()
  expect(await entries()).toHaveLength(1)
  await app.clock.advance(2 * HOUR)
  expect(await entries()).toEqual([])
  expect((await owner.open('/audit?within=24h&action=endpoint.')).rows).toHaveLength(1)
  const { links } = await owner.open('/audit?within=24h')
  expect(links.filter((link) => link.includes('within=24h&action=endpoint.'))).toHaveLength(1)
})
