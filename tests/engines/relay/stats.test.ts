import { expect, test } from 'bun:test'
import { advanceWaiting, holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootRelay,
  count,
  DAY,
  ENDPOINTS,
  HOUR,
  isoAt,
  type Party,
  refused,
  SECOND,
  START,
} from './fixture.ts'

// Each test has an application of its own: hours are those of its clock.

/** First moment of the hour in which the tests begin. */
const NOON = Date.parse('2026-03-01T12:00:00.000Z')

/** The time passes without the loops being asked at every step. */
async function pass({ clock }: Party, ms: number) {
  clock.jump(ms - 5 * SECOND)
  await clock.advance(5 * SECOND)
}

test('an hour has every attempt, and each delivery when it ends', async () => {
  await using relay = await bootRelay({ flags: { 'relay-retry-delays': '5s,10s' } })
  const { clock, createEndpoint, deliver, deliveryOf, replay, resend, statsOf, target } = relay
  const endpoint = await createEndpoint()
  expect(await statsOf(endpoint)).toEqual([])
  const message = await deliver()
  await resend(await deliveryOf(message))
  await relay.rest()
  await replay(endpoint, { since: isoAt(NOON), which: 'all' })
  await relay.rest()
  target.answers(answerWith(500))
  await deliver()
  expect(await statsOf(endpoint)).toMatchObject([{ failed: 1, exhausted: 0 }])

  await clock.advance(15 * SECOND)

  expect(await statsOf(endpoint)).toEqual([
    {
      hour: isoAt(NOON),
      succeeded: 3,
      failed: 3,
      exhausted: 1,
      cancelled: 0,
      average_ms: 0,
      slowest_ms: 0,
      up_to_100_ms: 6,
      up_to_300_ms: 6,
      up_to_1000_ms: 6,
      up_to_3000_ms: 6,
    },
  ])
})

test('discarded deliveries count as cancelled, and each endpoint has its own hours', async () => {
  await using relay = await bootRelay()
  const { change, createEndpoint, deliver, statsOf } = relay
  const paused = await createEndpoint({ active: false })
  const active = await createEndpoint({ event_types: ['a'] })
  await deliver({ event_type: 'a' })
  await deliver()

  await change(paused, { active: true, held: 'discard' })

  const counts = { succeeded: 0, failed: 0, exhausted: 0, cancelled: 2, average_ms: null }
  expect(await statsOf(paused)).toMatchObject([counts])
  expect(await statsOf(active)).toMatchObject([{ succeeded: 1, cancelled: 0 }])
})

test('durations are averaged and counted by what they stayed below', async () => {
  await using relay = await bootRelay()
  const endpoint = await relay.createEndpoint()
  const durations = [50, 100, 101, 900, 2500, 4000]
  for (const [n, ms] of durations.entries()) {
    const held = holdAnswers(relay.target)
    await relay.send()
    await held.arrived(n + 1)
    await advanceWaiting(relay.app, ms)
    held.release()
    await relay.rest()
  }

  expect(await relay.statsOf(endpoint)).toMatchObject([
    {
      succeeded: 6,
      average_ms: Math.round(durations.reduce((a, b) => a + b) / 6),
      slowest_ms: 4000,
      up_to_100_ms: 2,
      up_to_300_ms: 3,
      up_to_1000_ms: 4,
      up_to_3000_ms: 5,
    },
  ])
})

test('hours are listed oldest first, from the hour of since until until, or for the last day', async () => {
  await using relay = await bootRelay()
  const endpoint = await relay.createEndpoint()
  for (const wait of [HOUR, 2 * HOUR, 0]) {
    await relay.deliver()
    if (wait > 0) await pass(relay, wait)
  }
  const hours = async (query: string) =>
    (await relay.statsOf(endpoint, query)).map(({ hour }) => (Date.parse(hour) - NOON) / HOUR)
  const from = (since: number, until?: number) =>
    `?since=${isoAt(NOON + since)}${until === undefined ? '' : `&until=${isoAt(NOON + until)}`}`

  for (const [query, expected] of [
    ['', [0, 1, 3]],
    [from(0), [0, 1, 3]],
    [from(HOUR), [1, 3]],
    [from(HOUR + 1), [1, 3]],
    [from(2 * HOUR), [3]],
    [from(0, 3 * HOUR), [0, 1]],
    [from(0, 3 * HOUR + 1), [0, 1, 3]],
    [from(10 * HOUR), []],
  ] as const)
    expect([query, await hours(query)]).toEqual([query, [...expected]])
  await pass(relay, 22 * HOUR)
  expect(await hours('')).toEqual([1, 3])
  expect(await hours(`?until=${isoAt(NOON + 2 * HOUR)}`)).toEqual([0, 1])
})

test('hours outlive the deliveries that they count', async () => {
  await using relay = await bootRelay()
  const endpoint = await relay.createEndpoint()
  await relay.deliver()
  const before = await relay.statsOf(endpoint)
  await pass(relay, 31 * DAY)
  await relay.app.platform.retention.sweep()

  expect(count(relay.app, 'attempts')).toBe(0)
  expect(await relay.statsOf(endpoint, `?since=${isoAt(START)}`)).toEqual(before)
})

test('since and until are times with date and zone', async () => {
  await using relay = await bootRelay()
  const { id } = await relay.createEndpoint()
  for (const query of [
    ...['since=yesterday', 'since=2026-03-01', 'since=2026-02-30T00:00:00Z', 'since='],
    ...['until=now', 'until=2026-03-01T12:00:00'],
  ])
    expect(await relay.api.get(`${ENDPOINTS}/${id}/stats?${query}`)).toMatchObject(
      refused(query.split('=')[0] as string, 'invalid_request'),
    )
})
