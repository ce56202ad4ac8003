import { describe, expect, test } from 'bun:test'
import { bootRelayPages, HOSTILE, statusesOf, wordsOf } from './fixture.ts'

const PAGE = '/console/event-types'

describe('the event types that were seen', () => {
  test('are for those of the tenant, each for its own', async () => {
    await using fixture = await bootRelayPages()
    await fixture.message()
    const { open } = fixture
    expect(await statusesOf((who) => open(PAGE, who))).toEqual([200, 200, 200, 200, 403])
    const show = `${PAGE}/order.paid`
    expect(await statusesOf((who) => open(show, who))).toEqual([200, 200, 200, 404, 403])
    expect((await open(show, 'owner', 'test')).status).toBe(404)
    expect((await fixture.app.raw(PAGE)).status).toBe(401)
  })

  test('say when they came first and last, and how often', async () => {
    await using fixture = await bootRelayPages()
    await fixture.message()
    await fixture.app.clock.advance(90_000)
    await fixture.message()
    await fixture.message({ payload: { order: 'forty-two' } })
    const words = wordsOf((await fixture.open(PAGE)).body)
    expect(words).toMatch(
      /order\.paid Breaking change Messages 3 messages of order\.paid First seen 1 min ago .* Last seen now/,
    )
    expect(words).toContain('1 event type, 1 with breaking changes')
    const detail = wordsOf((await fixture.open(`${PAGE}/order.paid`)).body)
    expect(detail).toContain('3 messages, last received now')
    expect(detail).toContain('Payload changes')
    expect(detail).toContain('JSON Schema')
  })

  test('are read page by page', async () => {
    await using fixture = await bootRelayPages()
    for (let n = 0; n < 51; n++) await fixture.message({ event_type: `type.n${100 + n}` })
    const first = await fixture.open(PAGE)
    const [, next = ''] = /rel="next" href="([^"]+)"/.exec(first.body) ?? []
    const second = wordsOf((await fixture.open(next)).body)
    expect([second.includes('type.n150'), second.includes('type.n149')]).toEqual([true, false])
  })

  test('are found by how their names begin', async () => {
    await using fixture = await bootRelayPages()
    for (const type of ['order.paid', 'order', 'user.order'])
      await fixture.message({ event_type: type })
    const namesIn = async (query: string) => {
      const { body } = await fixture.open(PAGE + query)
      return [...body.matchAll(/class="rowlink" href="[^"]*event-types\/([^"]+)"/g)].map(
        ([, name]) => name,
      )
    }
    expect(await namesIn('?q=order')).toEqual(['order', 'order.paid'])
    expect(await namesIn('?q=order.')).toEqual(['order.paid'])
    expect(await namesIn('')).toHaveLength(3)
    expect(wordsOf((await fixture.open(`${PAGE}?q=none`)).body)).toContain(
      'No matching event types',
    )
  })

  test('lead to their messages, to who listens, and to an endpoint for them', async () => {
    await using fixture = await bootRelayPages()
    await fixture.message()
    const [list, one] = [await fixture.open(PAGE), await fixture.open(`${PAGE}/order.paid`)]
    for (const { body } of [list, one]) {
      expect(body).toContain('/console/messages?event_type=order.paid')
      expect(body).toContain('/console/endpoints?type=order.paid')
    }
    expect(one.body).toContain('/console/endpoints/new?event_types=order.paid')
    const seen = await fixture.open(`${PAGE}/order.paid`, 'viewer')
    expect(seen.body).not.toContain('/console/endpoints/new')
    expect(wordsOf(one.body)).toContain('"order": 42')
  })

  test('begin with a command that sends one', async () => {
    await using fixture = await bootRelayPages()
    expect(wordsOf((await fixture.open(PAGE)).body)).toContain('No event types yet')
  })

  test('show what payloads hold as text', async () => {
    await using fixture = await bootRelayPages()
    const { script } = HOSTILE
    await fixture.message({ payload: { [script]: script } })
    await fixture.message({ payload: { [script]: 1 } })
    const { status, body } = await fixture.open(`${PAGE}/order.paid`)
    expect([status, body.includes('<script>alert')]).toEqual([200, false])
  })
})
