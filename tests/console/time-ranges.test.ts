import { expect, test } from 'bun:test'
import { HOUR, MINUTE, SYSTEM, useConsole } from './fixture.ts'
import { environmentOf, letter } from './one-of-each.ts'

const app = await useConsole({ start: '2026-03-01T12:00:00.000Z' })
const admin = await app.newAdmin()

const [acme, other] = [await app.newTenant(), await app.newTenant('Other')]
const start = app.clock.now()
const rowsOf = async (path: string) => (await acme.owner.open(path)).rows
const job = await acme.job({ schedule: '0 0 1 1 *' })
const webhook: string = (
  await acme.gate.post('/v1/gate/settings/webhooks', { url: acme.target.url })
).body.id
const userId = async () => (await rowsOf('/identities')).at(-1) ?? ''
await addEachHour()

/** Adds a row to each list at the start of four hours. */
async function addEachHour() {
  await app.passepartout.bots.enable(SYSTEM, { tenantId: acme.id, environment: 'test' })
  for (const tenant of [acme, other]) await tenant.endpoint()
  const question = { subject: 'billing', action: 'invoices.read', resource: 'document:42' }
  const names = { firstName: 'Ada', lastName: null, username: null, languageCode: null }
  for (let hour = 0; hour < 4; hour++) {
    for (const tenant of [acme, other]) {
      await tenant.message()
      await tenant.gate.post('/v1/gate/authorize', question)
      const traits = { email: `user-${hour}@example.com` }
      await tenant.gate.post('/v1/gate/identities', { schema_id: 'user', traits })
      await app.db.commit(() => {
        app.passepartout.people.recognise(tenant.id, 'sandbox', { id: `u${hour}`, ...names })
        app.mail.post(letter(tenant.id), app.clock.now())
      })
    }
    const attempt = { method: 'password', ipAddress: null, userAgent: null }
    app.gate.signIns.failed({ tenantId: acme.id, id: await userId() }, attempt, 'wrong')
    await acme.owner.in('test').send('/bots/try')
    await acme.api.post(`/v1/clockwork/jobs/${job}/run`)
    await app.clock.settled()
    app.clock.jump(HOUR)
  }
}

const PATHS = [
  '/deliveries?',
  '/identities?',
  '/policies/decisions?',
  '/logins?',
  '/logins/users?',
  `/jobs/${job}/runs?`,
  `/webhooks/${webhook}?`,
  '/audit?action=identity.created&',
  `/identities/${await userId()}/sign-ins?`,
  `/installation/mail?tenant=${acme.id}&`,
]

test.each(PATHS)('The list %s is limited to a range of its times', async (path) => {
  const by = path.startsWith('/installation') ? admin : acme.owner
  const { open } = by.in(environmentOf(`/console${path}`))
  const rows = async (query: string) => (await open(path + query)).rows
  const at = (hours: number) => new Date(start + hours * HOUR).toISOString().slice(0, 16)
  const all = await rows('')
  const [fourth = '', third = '', second = ''] = all
  expect(all).toHaveLength(4)
  expect(await rows('within=1h')).toEqual([fourth])
  expect(await rows(`since=${at(1)}&until=${at(3)}`)).toEqual([third, second])
  expect([await rows(`since=${at(9)}`), await rows('within=7d')]).toEqual([[], all])
  const wrong = await open(`${path}since=2026-02-30`)
  expect([wrong.status, wrong.wrong]).toEqual([422, ['since']])
})

test('A range keeps the order of a list', async () => {
  expect(await rowsOf('/deliveries?sort=created&within=7d')).toEqual(
    (await rowsOf('/deliveries')).toReversed(),
  )
})

test('Delayed jobs are limited to a range of the time at which they run, also in the future', async () => {
  const { owner, api, target } = await app.newTenant()
  const now = app.clock.now()
  const at = (hours: number) => new Date(now + hours * HOUR).toISOString()
  const add = async (hours: number) => {
    const job = { name: 'reminder', url: target.url, run_at: at(hours) }
    return (await api.post('/v1/clockwork/delayed', job)).body.id as string
  }
  const [past, soon, later] = [await add(0.01), await add(3), await add(50)]
  await app.clock.advance(2 * MINUTE)
  for (const [query, found] of [
    ['within=next-1h', []],
    ['within=next-24h', [soon]],
    ['within=next-7d', [later, soon]],
    ['within=24h', [past]],
    [`since=${at(0)}&until=${at(4)}&sort=run_at`, [past, soon]],
    [`since=${at(3)}&sort=created`, [soon, later]],
    [`since=${at(0)}&status=success`, [past]],
  ] as const) {
    expect([query, (await owner.open(`/delayed?${query}`)).rows]).toEqual([query, [...found]])
    const { html } = await owner.open(`/delayed/export?format=ndjson&${query}`)
    expect([query, html.match(/(?<="id":")[^"]+/g) ?? []]).toEqual([query, [...found]])
  }
  expect((await owner.open('/delayed?since=2026-13-01')).status).toBe(422)
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
