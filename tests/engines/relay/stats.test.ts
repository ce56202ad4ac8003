import { expect, test } from 'bun:test'
import { bootRelay, isoAt, refused, useRelay } from './fixture.ts'
import { count, DAY, ENDPOINTS, HOUR, SECOND, START } from './support.ts'

const { newTenant } = await useRelay({ flags: { 'relay-retry-delays': '5s,10s' } })

/** First moment of the hour in which the tests begin. */
const NOON = Date.parse('2026-03-01T12:00:00.000Z')

test('An hour has every attempt at its endpoint, and each delivery when it ends', async () => {
  const relay = await newTenant()
  const { deliver, rest, statsOf, target } = relay
  const endpoint = await relay.createEndpoint()
  const paused = await relay.createEndpoint({ active: false })
  expect(await statsOf(endpoint)).toEqual([])
  const message = await deliver()
  await relay.resend(await relay.deliveryOf(message, endpoint))
  await rest()
  await relay.replay(endpoint, { since: isoAt(NOON), which: 'all' })
  await rest()
  target.answers(500)
  await deliver()
  expect(await statsOf(endpoint)).toMatchObject([{ failed: 1, exhausted: 0 }])
  await relay.clock.advance(15 * SECOND)

  const durations = { up_to_100_ms: 6, up_to_300_ms: 6, up_to_1000_ms: 6, up_to_3000_ms: 6 }
  const counts = { succeeded: 3, failed: 3, exhausted: 1, cancelled: 0 }
  const hour = { hour: isoAt(NOON), ...counts, average_ms: 0, slowest_ms: 0, ...durations }
  expect(await statsOf(endpoint)).toEqual([hour])
  await relay.change(paused, { active: true, held: 'discard' })
  const discarded = { succeeded: 0, failed: 0, exhausted: 0, cancelled: 2, average_ms: null }
  expect(await statsOf(paused)).toMatchObject([discarded])
})

test('Durations are averaged and counted by what they stayed below', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  const durations = [50, 100, 101, 900, 2500, 4000]
  for (const [n, ms] of durations.entries()) {
    const held = relay.target.hold()
    await relay.send()
    await held.arrived(n + 1)
    await relay.wait(ms)
    held.release()
    await relay.rest()
  }
  const average_ms = Math.round(durations.reduce((a, b) => a + b) / 6)
  const upTo = { up_to_100_ms: 2, up_to_300_ms: 3, up_to_1000_ms: 4, up_to_3000_ms: 5 }
  const hour = { succeeded: 6, average_ms, slowest_ms: 4000, ...upTo }
  expect(await relay.statsOf(endpoint)).toMatchObject([hour])
})

test('Hours are listed oldest first, from the hour of since until until, and outlive deliveries', async () => {
  await using relay = await bootRelay()
  const endpoint = await relay.createEndpoint()
  for (const wait of [HOUR, 2 * HOUR, 0]) {
    await relay.deliver()
    relay.clock.jump(wait)
  }
  const hours = async (query: string) =>
    (await relay.statsOf(endpoint, query)).map(({ hour }) => (Date.parse(hour) - NOON) / HOUR)
  const from = (since: number, until?: number) =>
    `?since=${isoAt(NOON + since)}${until === undefined ? '' : `&until=${isoAt(NOON + until)}`}`

  for (const [query, expected] of [
    ['', [0, 1, 3]],
    [from(0), [0, 1, 3]],
    [from(HOUR + 1), [1, 3]],
    [from(2 * HOUR), [3]],
    [from(0, 3 * HOUR), [0, 1]],
    [from(0, 3 * HOUR + 1), [0, 1, 3]],
  ] as const)
    expect([query, await hours(query)]).toEqual([query, [...expected]])
  relay.clock.jump(22 * HOUR)
  expect(await hours('')).toEqual([1, 3])
  expect(await hours(`?until=${isoAt(NOON + 2 * HOUR)}`)).toEqual([0, 1])

  relay.clock.jump(31 * DAY)
  await relay.app.platform.retention.sweep()
  expect(count(relay.app, 'attempts')).toBe(0)
  expect(await hours(`?since=${isoAt(START)}`)).toEqual([0, 1, 3])
})

test('Since and until are times with date and zone', async () => {
  const relay = await newTenant()
  const { id } = await relay.createEndpoint()
  for (const name of ['since', 'until'])
    for (const value of ['yesterday', '2026-03-01', '2026-02-30T00:00:00Z', '2026-03-01T12:00', ''])
      expect(await relay.api.get(`${ENDPOINTS}/${id}/stats?${name}=${value}`)).toMatchObject(
        refused(name, 'invalid_request'),
      )
})
