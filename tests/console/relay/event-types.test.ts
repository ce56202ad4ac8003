import { expect, test } from 'bun:test'
import { useConsole } from '../fixture.ts'

const PAGE = '/console/event-types'

const app = await useConsole()

test('Event types say when they were first and last seen, how often, and what changed', async () => {
  const { owner, message, as } = await app.newTenant()
  expect((await owner.open(PAGE)).text).toContain('No event types yet')
  await message()
  await app.clock.advance(90_000)
  await message()
  await message({ payload: { order: 'forty-two' } })
  const list = await owner.open(PAGE)
  expect(list.text).toMatch(
    /order\.paid Breaking change Messages 3 messages of order\.paid First seen 1 min ago .* Last seen now/,
  )
  expect(list.text).toContain('1 event type, 1 with breaking changes')
  const one = await owner.open(`${PAGE}/order.paid`)
  for (const words of ['3 messages, last received now', 'Payload changes', 'JSON Schema'])
    expect(one.text).toContain(words)

  for (const { html } of [list, one]) {
    expect(html).toContain('/console/messages?event_type=order.paid')
    expect(html).toContain('/console/endpoints?type=order.paid')
  }
  expect(one.html).toContain('/console/endpoints/new?event_types=order.paid')
  const seen = await (await as('viewer')).open(`${PAGE}/order.paid`)
  expect(seen.html).not.toContain('/console/endpoints/new')
  expect((await owner.in('test').open(`${PAGE}/order.paid`)).status).toBe(404)
})

test('Event types are listed page by page and found by the start of their names', async () => {
  const { owner, message } = await app.newTenant()
  for (let n = 0; n < 49; n++) await message({ event_type: `type.n${100 + n}` })
  for (const type of ['order.paid', 'order', 'user.order']) await message({ event_type: type })
  const namesAt = async (path: string) => {
    const { html } = await owner.open(path)
    const links = html.matchAll(/class="rowlink" href="[^"]*event-types\/([^"]+)"/g)
    return [...links].map(([, name]) => name)
  }
  const { next } = await owner.open(PAGE)
  expect([(await namesAt(PAGE)).length, await namesAt(next)]).toEqual([
    50,
    ['type.n148', 'user.order'],
  ])
  expect(await namesAt(`${PAGE}?q=order`)).toEqual(['order', 'order.paid'])
  expect(await namesAt(`${PAGE}?q=order.`)).toEqual(['order.paid'])
  expect((await owner.open(`${PAGE}?q=none`)).text).toContain('No matching event types')
})
