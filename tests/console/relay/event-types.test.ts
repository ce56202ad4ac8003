import { expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/event-types'

const app = await useConsole()

test('Event types say when they were first and last seen, how often, and what changed', async () => {
  const { owner, message, as } = await app.newTenant()
  await owner.sees(PAGE, 'No event types yet')
  await message()
  await app.clock.advance(90_000)
  await message()
  await message({ payload: { order: 'forty-two' } })
  const list = await owner.sees(PAGE, '1 event type, 1 with breaking changes')
  expect(list.text).toMatch(
    /order\.paid Breaking change Messages 3 messages of order\.paid First seen 1 min ago .* Last seen now/,
  )
  const path = `${PAGE}/order.paid`
  const one = await owner.sees(path, '3 messages, last received now', 'Payload changes')
  const links = ['/messages?event_type=order.paid', '/endpoints?type=order.paid']
  for (const page of [list, one]) expect(page.links).toEqual(expect.arrayContaining(links))
  expect(one.says('JSON Schema').links).toContain('/endpoints/new?event_types=order.paid')
  ;(await (await as('viewer')).open(path)).omits('/endpoints/new')
  expect((await owner.in('test').open(path)).status).toBe(404)
})

test('Event types are listed page by page and found by the start of their names', async () => {
  const { owner, message } = await app.newTenant()
  for (let n = 0; n < 49; n++) await message({ event_type: `type.n${100 + n}` })
  for (const type of ['order.paid', 'order', 'user.order']) await message({ event_type: type })
  const namesAt = async (path: string) => {
    const links = (await owner.open(path)).html.matchAll(/class="rowlink" href="[^"]*\/([^"]+)"/g)
    return [...links].map(([, name]) => name)
  }
  const { next } = await owner.open(PAGE)
  expect((await namesAt(PAGE)).length).toBe(50)
  expect(await namesAt(next)).toEqual(['type.n148', 'user.order'])
  expect(await namesAt(`${PAGE}?q=order`)).toEqual(['order', 'order.paid'])
  expect(await namesAt(`${PAGE}?q=order.`)).toEqual(['order.paid'])
  await owner.sees(`${PAGE}?q=none`, 'No matching event types')
})
