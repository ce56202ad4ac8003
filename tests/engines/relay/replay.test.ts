import { describe, expect, test } from 'bun:test'
import { holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootRelay,
  copyMessage,
  count,
  DAY,
  ENDPOINTS,
  HOUR,
  isoAt,
  type Json,
  MINUTE,
  type Party,
  refusal,
  refused,
  SECOND,
  START,
  typesOf,
  useRelay,
  WITHOUT_RETRIES,
} from './fixture.ts'

const { app, clock, newTenant } = await useRelay()

/** Before every message of a test. */
const EVER = { since: isoAt(START - HOUR) }
const ALL = { ...EVER, which: 'all' }

/** Messages of these types, all accepted at the same time. */
async function deliverAll({ deliver }: Party, types: string[]) {
  const messages: Json[] = []
  for (const event_type of types) messages.push(await deliver({ event_type }))
  return messages
}

/** The types that a replay sends, sorted; the dry run before it has to count as many. */
async function replayed(party: Party, endpoint: Json, fields: Json): Promise<string[]> {
  const { dryRun, replay, target } = party
  const before = target.requests.length
  const counted = await dryRun(endpoint, fields)
  expect(target.requests).toHaveLength(before)
  expect(await replay(endpoint, { per_second: 1000, ...fields })).toBe(counted)
  await party.clock.advance(SECOND)
  await party.rest()
  const types = typesOf(target.requests.slice(before))
  expect(types).toHaveLength(counted)
  return types.toSorted()
}

describe('a replay sends', () => {
  test('what was not delivered, or everything', async () => {
    await using relay = await bootRelay(WITHOUT_RETRIES)
    const { createEndpoint, deliveriesOf, resend, target, rest } = relay
    const endpoint = await createEndpoint()
    target.answers(({ headers }) => {
      const isBad = headers.get('x-service-event-type') === 'b'
      return new Response('', { status: isBad ? 500 : 200 })
    })
    const [arrived] = await deliverAll(relay, ['a', 'b', 'c'])
    target.answers(answerWith(500))
    await resend((await deliveriesOf(arrived))[0])
    await rest()
    expect(await deliveriesOf(arrived)).toMatchObject([{ status: 'failed' }])
    target.answers(answerWith(200))

    expect(await replayed(relay, endpoint, EVER)).toEqual(['b'])
    expect(await replayed(relay, endpoint, { ...EVER, which: 'undelivered' })).toEqual([])
    for (let n = 0; n < 2; n++)
      expect(await replayed(relay, endpoint, ALL)).toEqual(['a', 'b', 'c'])
  })

  test('what was cancelled', async () => {
    const party = await newTenant()
    const endpoint = await party.createEndpoint({ active: false })
    await deliverAll(party, ['a', 'b'])
    await party.change(endpoint, { active: true, held: 'discard' })
    expect(await replayed(party, endpoint, EVER)).toEqual(['a', 'b'])
  })

  test('what is older than the endpoint, to that alone, and nothing of a test key', async () => {
    const party = await newTenant()
    await (await party.sandbox()).deliver({ event_type: 'sandbox' })
    await deliverAll(party, ['a', 'b'])
    const endpoint = await party.createEndpoint()
    await party.createEndpoint(`${party.target.url}/second`)

    expect(await replayed(party, endpoint, EVER)).toEqual(['a', 'b'])
    expect(new Set(party.target.requests.map(({ path }) => path))).toEqual(new Set(['/hook']))
  })

  test('what the filter matches now', async () => {
    const party = await newTenant()
    const { change, createEndpoint, deliver, dryRun } = party
    const endpoint = await createEndpoint({ event_types: ['x'] })
    await deliver({ event_type: 'a.b', channels: ['eu'] })
    await deliver({ event_type: 'a.c', channels: ['us'] })
    await deliverAll(party, ['a.d', 'b', 'x'])

    await change(endpoint, { event_types: ['a.*'] })
    expect(await dryRun(endpoint, EVER)).toBe(3)
    await change(endpoint, { channels: ['eu'] })
    expect(await replayed(party, endpoint, EVER)).toEqual(['a.b', 'a.d'])
  })

  test('from since, included, until until, excluded, in any time zone', async () => {
    await using relay = await bootRelay()
    for (const event_type of ['a', 'b', 'c']) {
      await relay.deliver({ event_type })
      await relay.clock.advance(10 * SECOND)
    }
    const endpoint = await relay.createEndpoint()
    const at = (seconds: number) => isoAt(START + seconds * SECOND)

    for (const [period, counted] of [
      [{ since: at(0) }, 3],
      [{ since: isoAt(START + 1) }, 2],
      [{ since: '2026-03-01T14:00:30+02:00' }, 3],
      [{ since: '2026-03-01T14:00:31+02:00' }, 2],
      [{ since: at(0), until: at(20) }, 2],
      [{ since: at(0), until: isoAt(START + 20_001) }, 3],
      [{ since: at(21) }, 0],
    ] as const)
      expect([period, await relay.dryRun(endpoint, period)]).toEqual([period, counted])
    expect(await replayed(relay, endpoint, { since: at(10), until: at(20) })).toEqual(['b'])
  })

  test('more than one slice, each message once', async () => {
    const party = await newTenant()
    copyMessage(app, await party.deliver(), 319)
    const endpoint = await party.createEndpoint()

    expect(await replayed(party, endpoint, EVER)).toHaveLength(320)

    const ids = party.target.requests.map(({ headers }) => headers.get('webhook-id'))
    expect(new Set(ids).size).toBe(320)
  })
})

describe('a replay does not send what is not finished', () => {
  test('because it is under way', async () => {
    const party = await newTenant()
    const held = holdAnswers(party.target)
    const endpoint = await party.createEndpoint()
    await party.send()
    await held.arrived(1)

    expect(await party.dryRun(endpoint, ALL)).toBe(0)
    expect(await party.replay(endpoint, ALL)).toBe(0)
    held.release()
    await party.rest()
    await clock.advance(SECOND)
    expect(party.target.requests).toHaveLength(1)
  })

  test('because it waits for a retry or is held', async () => {
    await using relay = await bootRelay({ flags: { 'relay-breaker-failures': '2' } })
    const { createEndpoint, deliver, deliveryOf, replay, target } = relay
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    const waiting = await deliver()
    const before = await deliveryOf(waiting)
    expect(await replay(endpoint, ALL)).toBe(0)
    expect(await deliveryOf(waiting)).toEqual(before)

    await deliver()
    expect(await deliveryOf(await deliver())).toMatchObject({ held_reason: 'breaker' })
    expect(await replay(endpoint, ALL)).toBe(0)
  })

  test('because another replay has yet to send it', async () => {
    const party = await newTenant()
    await deliverAll(party, ['a', 'b', 'c'])
    const endpoint = await party.createEndpoint()

    expect(await party.replay(endpoint, { ...EVER, per_second: 1 })).toBe(3)
    await party.rest()
    expect(await party.replay(endpoint, { ...EVER, per_second: 1 })).toBe(0)
    expect(await party.replay(endpoint, { ...ALL, per_second: 1000 })).toBe(1)
    await clock.advance(5 * SECOND)

    expect(typesOf(party.target.requests).toSorted()).toEqual(['a', 'a', 'b', 'c'])
  })
})

test.each([
  [1, 1000],
  [2, 500],
  [20, 50],
  [undefined, 100],
])(
  'a replay of %p per second sends one every %i ms, and new messages do not wait',
  async (per_second, apart) => {
    const party = await newTenant()
    await deliverAll(party, ['a', 'b', 'c', 'd', 'e'])
    const endpoint = await party.createEndpoint()
    const begun = clock.now()
    const arrivals: number[] = []
    party.target.answers(() => {
      arrivals.push(clock.now() - begun)
      return new Response('ok')
    })

    await party.replay(endpoint, { ...EVER, ...(per_second && { per_second }) })
    await party.rest()
    await party.deliver({ event_type: 'new' })
    await clock.advance(10 * SECOND)

    expect(arrivals).toEqual([0, 0, 1, 2, 3, 4].map((n, at) => (at < 2 ? 0 : n * apart)))
    expect(typesOf(party.target.requests)).toEqual(['a', 'new', 'b', 'c', 'd', 'e'])
  },
)

describe('a replayed delivery', () => {
  test('keeps its id, its attempts and its bytes, and begins another run', async () => {
    const party = await newTenant()
    const { change, createEndpoint, deliver, deliveryOf, readDelivery, replay, target } = party
    const endpoint = await createEndpoint()
    const before = await deliveryOf(await deliver())
    await change(endpoint, { format: 'raw' })
    await clock.advance(5 * SECOND)

    await replay(endpoint, ALL)
    await party.rest()

    expect(await readDelivery(before)).toMatchObject({
      status: 'succeeded',
      run: 2,
      attempts: 2,
      attempt_log: [
        { run: 1, number: 1, trigger: 'schedule', status: 'succeeded' },
        { run: 2, number: 2, trigger: 'replay', status: 'succeeded' },
      ],
    })
    const [first, second] = target.requests
    expect(second?.body).toBe(first?.body as string)
    expect(second?.headers.get('webhook-id')).toBe(first?.headers.get('webhook-id') as string)
  })

  test('has its whole schedule again', async () => {
    await using relay = await bootRelay({ flags: { 'relay-retry-delays': '5s,10s' } })
    const { createEndpoint, deliver, deliveriesOf, replay, target, rest } = relay
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    const message = await deliver()
    await relay.clock.advance(20 * SECOND)
    expect(await deliveriesOf(message)).toMatchObject([{ status: 'failed', attempts: 3 }])

    await replay(endpoint, EVER)
    await rest()
    const retrying = { status: 'retrying', run: 2, attempts: 4, ended_at: null }
    expect(await deliveriesOf(message)).toMatchObject([retrying])
    target.answers(answerWith(200))
    await relay.clock.advance(10 * SECOND)

    expect(await deliveriesOf(message)).toMatchObject([{ status: 'succeeded', attempts: 5 }])
  })

  test('that is new has the format that the endpoint has now', async () => {
    const party = await newTenant()
    await party.deliver({ payload: { n: 1 } })
    const endpoint = await party.createEndpoint({ format: 'raw' })

    await party.replay(endpoint, EVER)
    await party.rest()

    expect(party.target.requests[0]?.body).toBe('{"n":1}')
  })

  test('waits while the endpoint is paused', async () => {
    const party = await newTenant()
    const { change, createEndpoint, replay, rest, target } = party
    await deliverAll(party, ['a', 'b', 'c'])
    const endpoint = await createEndpoint()
    await replay(endpoint, { ...EVER, per_second: 1 })
    await rest()

    await change(endpoint, { active: false })
    await clock.advance(5 * SECOND)
    expect(typesOf(target.requests)).toEqual(['a'])

    await change(endpoint, { active: true })
    await rest()
    expect(typesOf(target.requests)).toEqual(['a', 'b', 'c'])
  })
})

test('a replay to an endpoint that is deleted meanwhile leaves no open delivery', async () => {
  await using relay = await bootRelay()
  const { api, deliver, createEndpoint, remove } = relay
  copyMessage(relay.app, await deliver({ event_type: 'other' }), 1999)
  await deliver({ event_type: 'wanted' })
  const endpoint = await createEndpoint({ event_types: ['wanted'] })

  await Promise.all([api.post(`${ENDPOINTS}/${endpoint.id}/replay`, EVER), remove(endpoint)])
  await relay.clock.advance(2 * MINUTE)
  await relay.rest()

  expect(count(relay.app, 'deliveries where ended_at is null')).toBe(0)
})

test('a dry run counts in slices, and other work goes on between them', async () => {
  const party = await newTenant()
  const endpoint = await party.createEndpoint({ event_types: ['x'] })
  copyMessage(app, await party.deliver({ event_type: 'x' }), 1500)
  let [turns, isOver] = [0, false]

  const counted = party.dryRun(endpoint, ALL).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }

  expect(await counted).toBe(1501)
  expect(turns).toBeGreaterThan(4)
})

describe('a replay is refused', () => {
  const replayTo = ({ api }: Pick<Party, 'api'>, { id }: Json, body: unknown) =>
    api.post(`${ENDPOINTS}/${id}/replay`, body)

  test.each<[field: string, bodies: unknown[]]>([
    ['since', [{}, { since: null }, { since: 1772366430000 }, { since: 'yesterday' }]],
    [
      'since',
      ['2026-03-01', '2026-03-01T12:00:00', '2026-02-30T12:00:00Z'].map((since) => ({ since })),
    ],
    ['since', [{ since: '2026-03-01T24:00:00Z' }, { since: isoAt(START + DAY) }]],
    ['until', ['now', null, EVER.since, isoAt(START - DAY)].map((until) => ({ ...EVER, until }))],
    ['which', ['failed', null].map((which) => ({ ...EVER, which }))],
    ['per_second', [0, 1001, 1.5, '5'].map((per_second) => ({ ...EVER, per_second }))],
    ['dry_run', [{ ...EVER, dry_run: 'yes' }]],
  ])('for its %s', async (field, bodies) => {
    const party = await newTenant()
    await party.deliver()
    const endpoint = await party.createEndpoint()
    for (const body of bodies) {
      const answer = await replayTo(party, endpoint, body)
      expect({ asked: body, ...answer }).toMatchObject({ asked: body, ...refused(field) })
    }
    expect(await party.listDeliveries()).toEqual([])
  })

  test('with a test key, and to an inactive endpoint, for which it is counted', async () => {
    const party = await newTenant()
    const test = await party.sandbox()
    await test.deliver()
    for (const dry_run of [true, false])
      expect(await replayTo(test, await test.createEndpoint(), { ...EVER, dry_run })).toMatchObject(
        refusal(400, 'invalid_payload'),
      )

    await party.deliver()
    const endpoint = await party.createEndpoint({ active: false })
    expect(await replayTo(party, endpoint, EVER)).toMatchObject(refusal(409, 'conflict'))
    expect(await party.listDeliveries()).toEqual([])
    expect(await party.dryRun(endpoint, EVER)).toBe(1)
  })

  test('if it would go through more than 100,000 messages', async () => {
    const party = await newTenant()
    await party.deliver({ event_type: 'wanted' })
    copyMessage(app, await party.deliver({ event_type: 'other' }), 100_000)
    const endpoint = await party.createEndpoint({ event_types: ['wanted'] })

    expect(await replayTo(party, endpoint, EVER)).toMatchObject(refused('since'))

    await party.rest()
    expect(await party.listDeliveries()).toEqual([])
  })
})

test('the audit log has who replayed how many, without dry runs and refusals', async () => {
  const { id, live, createEndpoint, change, dryRun, replay, api, ...party } = await newTenant()
  await party.sendMany(3)
  const endpoint = await createEndpoint()
  await dryRun(endpoint, EVER)

  await replay(endpoint, EVER)
  await change(endpoint, { active: false })
  expect(await api.post(`${ENDPOINTS}/${endpoint.id}/replay`, EVER)).toMatchObject({ status: 409 })

  const rows = app.db.client
    .query(
      `select actor_kind, actor_id, object, detail from audit_log
       where action = 'endpoint.replayed' and tenant_id = ?`,
    )
    .all(id)
  const object = `endpoint:${endpoint.id}`
  expect(rows).toEqual([{ actor_kind: 'key', actor_id: live.id, object, detail: '{"count":3}' }])
})
