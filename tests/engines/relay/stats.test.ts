import { describe, expect, test } from 'bun:test'
import { advanceWaiting, holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootFixture,
  count,
  DAY,
  ENDPOINTS,
  type Fixture,
  HOUR,
  isoAt,
  type Json,
  manage,
  refusal,
  SECOND,
  START,
  WITHOUT_RETRIES,
} from './management.ts'

/** First moment of the hour in which the tests begin. */
const NOON = Date.parse('2026-03-01T12:00:00.000Z')

const query = (since: number, until?: number) =>
  `?since=${isoAt(since)}${until === undefined ? '' : `&until=${isoAt(until)}`}`

const hoursOf = (stats: Json[]): number[] =>
  stats.map(({ hour }) => (Date.parse(hour) - NOON) / HOUR)

/** The hours pass without the loops being asked at every step. */
async function pass({ clock }: Pick<Fixture, 'clock'>, ms: number) {
  clock.jump(ms - 5 * SECOND)
  await clock.advance(5 * SECOND)
}

test('an hour is told with everything that was counted in it', async () => {
  await using fixture = await bootFixture(WITHOUT_RETRIES)
  const { createEndpoint, publish, statsOf, target } = fixture
  const endpoint = await createEndpoint()
  await publish()
  await publish()
  target.answers(answerWith(500))
  await publish()

  expect(await statsOf(endpoint)).toEqual([
    {
      hour: isoAt(NOON),
      succeeded: 2,
      failed: 1,
      exhausted: 1,
      cancelled: 0,
      average_ms: 0,
      slowest_ms: 0,
      up_to_100_ms: 3,
      up_to_300_ms: 3,
      up_to_1000_ms: 3,
      up_to_3000_ms: 3,
    },
  ])
})

test('an endpoint to which nothing went has none', async () => {
  await using fixture = await bootFixture()
  expect(await fixture.statsOf(await fixture.createEndpoint())).toEqual([])
})

test('attempts are counted one by one, deliveries when they end', async () => {
  await using fixture = await bootFixture({ flags: { 'relay-retry-delays': '5s,10s' } })
  const { createEndpoint, publish, statsOf, clock, target } = fixture
  const endpoint = await createEndpoint()
  target.answers(answerWith(500))
  await publish()
  expect(await statsOf(endpoint)).toMatchObject([{ failed: 1, exhausted: 0 }])

  await clock.advance(5 * SECOND)
  expect(await statsOf(endpoint)).toMatchObject([{ failed: 2, exhausted: 0 }])
  await clock.advance(10 * SECOND)
  expect(await statsOf(endpoint)).toMatchObject([{ succeeded: 0, failed: 3, exhausted: 1 }])
})

test('resends and replays count like any attempt', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, deliveriesOf, resend, replay, settle, statsOf } = fixture
  const endpoint = await createEndpoint()
  const [delivery] = await deliveriesOf(await publish())

  await resend(delivery)
  await settle()
  await replay(endpoint, { since: isoAt(NOON), which: 'all' })
  await settle()

  expect(await statsOf(endpoint)).toMatchObject([{ succeeded: 3 }])
})

test('what was discarded counts as cancelled', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, change, publish, statsOf } = fixture
  const endpoint = await createEndpoint({ active: false })
  await publish()
  await publish()

  await change(endpoint, { active: true, held: 'discard' })

  expect(await statsOf(endpoint)).toMatchObject([
    { succeeded: 0, failed: 0, exhausted: 0, cancelled: 2, average_ms: null },
  ])
})

describe('how long attempts took', () => {
  test('is averaged, and sorted by what they stayed below', async () => {
    await using fixture = await bootFixture({ flags: { 'relay-breaker-failures': '100' } })
    const { app, createEndpoint, accept, settle, statsOf, target } = fixture
    const endpoint = await createEndpoint()
    for (const [n, ms] of [50, 100, 101, 900, 2500, 4000].entries()) {
      const held = holdAnswers(target)
      await accept()
      await held.arrived(n + 1)
      await advanceWaiting(app, ms)
      held.release()
      await settle()
    }

    expect(await statsOf(endpoint)).toMatchObject([
      {
        succeeded: 6,
        average_ms: Math.round((50 + 100 + 101 + 900 + 2500 + 4000) / 6),
        slowest_ms: 4000,
        up_to_100_ms: 2,
        up_to_300_ms: 3,
        up_to_1000_ms: 4,
        up_to_3000_ms: 5,
      },
    ])
  })
})

describe('hour by hour, oldest first', () => {
  /** One message at noon, one an hour later, one three hours later. */
  async function threeHours(fixture: Fixture) {
    const endpoint = await fixture.createEndpoint()
    await fixture.publish()
    await pass(fixture, HOUR)
    await fixture.publish()
    await pass(fixture, 2 * HOUR)
    await fixture.publish()
    return endpoint
  }

  test('with nothing for hours in which nothing was sent', async () => {
    await using fixture = await bootFixture()
    const stats = await fixture.statsOf(await threeHours(fixture))

    expect(hoursOf(stats)).toEqual([0, 1, 3])
    expect(stats).toMatchObject([{ succeeded: 1 }, { succeeded: 1 }, { succeeded: 1 }])
  })

  test('from the hour of since on, until until', async () => {
    await using fixture = await bootFixture()
    const { statsOf } = fixture
    const endpoint = await threeHours(fixture)
    const hours = async (since: number, until?: number) =>
      hoursOf(await statsOf(endpoint, query(since, until)))

    expect(await hours(NOON)).toEqual([0, 1, 3])
    expect(await hours(NOON + HOUR)).toEqual([1, 3])
    expect(await hours(NOON + HOUR + 1)).toEqual([1, 3])
    expect(await hours(NOON + 2 * HOUR)).toEqual([3])
    expect(await hours(NOON, NOON + 3 * HOUR)).toEqual([0, 1])
    expect(await hours(NOON, NOON + 3 * HOUR + 1)).toEqual([0, 1, 3])
    expect(await hours(NOON + 10 * HOUR)).toEqual([])
  })

  test('of the last day, unless told otherwise', async () => {
    await using fixture = await bootFixture()
    const { statsOf } = fixture
    const endpoint = await threeHours(fixture)
    await pass(fixture, 22 * HOUR)

    expect(hoursOf(await statsOf(endpoint))).toEqual([1, 3])
    expect(hoursOf(await statsOf(endpoint, `?until=${isoAt(NOON + 2 * HOUR)}`))).toEqual([0, 1])
  })
})

test('they outlive the deliveries that were counted', async () => {
  await using fixture = await bootFixture()
  const { app, createEndpoint, publish, statsOf } = fixture
  const endpoint = await createEndpoint()
  await publish()
  const before = await statsOf(endpoint)
  await pass(fixture, 31 * DAY)
  await app.platform.retention.sweep()

  expect(count(app, 'deliveries')).toBe(0)
  expect(count(app, 'attempts')).toBe(0)
  expect(await statsOf(endpoint, query(START))).toEqual(before)
})

test('each endpoint has its own', async () => {
  await using fixture = await bootFixture()
  const { createEndpoint, publish, statsOf } = fixture
  const [a, b] = [await createEndpoint({ event_types: ['a'] }), await createEndpoint()]
  await publish({ event_type: 'a' })
  await publish({ event_type: 'b' })

  expect(await statsOf(a)).toMatchObject([{ succeeded: 1 }])
  expect(await statsOf(b)).toMatchObject([{ succeeded: 2 }])
})

test('those of another tenant or environment, or of no endpoint, are not found', async () => {
  await using fixture = await bootFixture()
  const { app, acme, api, createEndpoint, target } = fixture
  const { id } = await createEndpoint()
  const other = manage(app, (await (await app.tenant('Other')).key('relay')).key, target.url)
  const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)

  for (const answer of [
    await other.api.get(`${ENDPOINTS}/${id}/stats`),
    await sandbox.api.get(`${ENDPOINTS}/${id}/stats`),
    await api.get(`${ENDPOINTS}/nothing/stats`),
  ])
    expect(answer).toMatchObject(refusal(404, 'not_found', 'endpoint'))
})

test('what is no time is refused, naming the field', async () => {
  await using fixture = await bootFixture()
  const { id } = await fixture.createEndpoint()

  for (const [text, field] of [
    ['since=yesterday', 'since'],
    ['since=2026-03-01', 'since'],
    ['since=2026-02-30T00:00:00Z', 'since'],
    ['since=', 'since'],
    ['until=now', 'until'],
    ['until=2026-03-01T12:00:00', 'until'],
  ] as const)
    expect(await fixture.api.get(`${ENDPOINTS}/${id}/stats?${text}`)).toMatchObject(
      refusal(400, 'invalid_request', field, 'time with date and zone'),
    )
})
