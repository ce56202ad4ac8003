import { expect, test } from 'bun:test'
import { HOUR, MINUTE, useConsole } from '../fixture.ts'

const app = await useConsole({ start: '2026-03-01T12:00:00.000Z' })

test('The list of messages shows their payload and what became of them at each endpoint', async () => {
  const acme = await app.newTenant()
  const failing = await app.newTenant('Failing')
  failing.target.fails(500)
  await acme.endpoint({ event_types: ['order.*'] })
  await acme.endpoint({ url: failing.target.url, event_types: ['order.paid'] })
  const both = await acme.message({ payload: { customer: 'Ada <b>' } })
  const none = await acme.message({ event_type: 'user.created' })
  const page = await acme.owner.open('/messages')
  expect(page.rows).toEqual([none, both])
  page.says('{"customer":"Ada <b>"}')
  const [first = '', second = ''] = page.html.split('<tr id=').slice(1)
  expect(/None/.test(first)).toBe(true)
  const marks = [...second.matchAll(/<li title="[^"]*: (\w+)"><svg class="shape (\w+)"/g)]
  expect(marks.map(([, word, tone]) => [word, tone])).toEqual([
    ['retrying', 'warn'],
    ['delivered', 'good'],
  ])
})

test('Messages are limited to a time range in the zone of the tenant, in both orders', async () => {
  const acme = await app.newTenant()
  await acme.owner.send('/settings', { name: 'Acme', time_zone: 'Asia/Tokyo' })
  const start = app.clock.now()
  const ids: string[] = []
  for (let hour = 0; hour < 4; hour++) {
    ids.push(await acme.message())
    await app.clock.advance(HOUR)
  }
  const [first = '', second = '', third = '', fourth = ''] = ids
  const rows = async (query: string) => (await acme.owner.open(`/messages?${query}`)).rows
  expect(await rows('within=1h')).toEqual([fourth])
  expect(await rows('within=24h&sort=received')).toEqual(ids)
  const tokyo = (at: number) => new Date(at + 9 * HOUR).toISOString().slice(0, 16)
  const range = `within=custom&since=${tokyo(start + HOUR)}&until=${tokyo(start + 3 * HOUR)}`
  expect(await rows(range)).toEqual([third, second])
  expect(await rows(`${range}&sort=received&event_type=order.paid`)).toEqual([second, third])
  expect(await rows(`until=${new Date(start + MINUTE).toISOString()}`)).toEqual([first])
  const wrong = await acme.owner.open('/messages?within=custom&since=tomorrow')
  expect([wrong.status, wrong.rows, wrong.wrong]).toEqual([422, [], ['since']])
  wrong.says('From must be a date and time')
})
