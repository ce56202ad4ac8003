import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootFixture,
  copyMessage,
  count,
  DAY,
  ENDPOINTS,
  type Fixture,
  HOUR,
  isoAt,
  type Json,
  MINUTE,
  manage,
  refusal,
  SECOND,
  START,
  typesOf,
  WITHOUT_RETRIES,
} from './management.ts'

/** Before every message of a test. */
const EVER = { since: isoAt(START - HOUR) }

/** Numbers a message each, all accepted in the same moment. */
async function publishAll({ publish }: Fixture, types: string[]) {
  const messages: Json[] = []
  for (const event_type of types) messages.push(await publish({ event_type }))
  return messages
}

/** What a replay brings, sorted, and whether the dry run before it told the same number. */
async function replayed(fixture: Fixture, endpoint: Json, fields: Json): Promise<string[]> {
  const { dryRun, replay, settle, clock, target } = fixture
  const before = target.requests.length
  const told = await dryRun(endpoint, fields)
  expect(target.requests).toHaveLength(before)
  expect(await replay(endpoint, { per_second: 1000, ...fields })).toBe(told)
  await clock.advance(SECOND)
  await settle()
  const types = typesOf(target.requests.slice(before))
  expect(types).toHaveLength(told)
  return types.toSorted()
}

describe('which messages', () => {
  test('those that never arrived, unless told otherwise', async () => {
    await using fixture = await bootFixture(WITHOUT_RETRIES)
    const { createEndpoint, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(({ headers }) => {
      const isGood = headers.get('x-service-event-type') !== 'b'
      return new Response('', { status: isGood ? 200 : 500 })
    })
    await publishAll(fixture, ['a', 'b', 'c'])
    target.answers(answerWith(200))

    expect(await replayed(fixture, endpoint, EVER)).toEqual(['b'])
    expect(await replayed(fixture, endpoint, EVER)).toEqual([])
  })

  test('all of them, where all are asked for', async () => {
    await using fixture = await bootFixture(WITHOUT_RETRIES)
    const endpoint = await fixture.createEndpoint()
    await publishAll(fixture, ['a', 'b', 'c'])

    expect(await replayed(fixture, endpoint, { ...EVER, which: 'undelivered' })).toEqual([])
    expect(await replayed(fixture, endpoint, { ...EVER, which: 'all' })).toEqual(['a', 'b', 'c'])
    expect(await replayed(fixture, endpoint, { ...EVER, which: 'all' })).toEqual(['a', 'b', 'c'])
  })

  test('those that arrived once did arrive, although they were sent again and failed', async () => {
    await using fixture = await bootFixture(WITHOUT_RETRIES)
    const { createEndpoint, deliveriesOf, resend, readDelivery, settle, target } = fixture
    const endpoint = await createEndpoint()
    const [message] = await publishAll(fixture, ['a', 'b'])
    const [delivery] = await deliveriesOf(message)
    target.answers(answerWith(500))
    await resend(delivery)
    await settle()
    expect(await readDelivery(delivery)).toMatchObject({ status: 'failed' })
    target.answers(answerWith(200))

    expect(await replayed(fixture, endpoint, EVER)).toEqual([])
    expect(await replayed(fixture, endpoint, { ...EVER, which: 'all' })).toEqual(['a', 'b'])
  })

  test('those that were cancelled count as never arrived', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change } = fixture
    const endpoint = await createEndpoint({ active: false })
    await publishAll(fixture, ['a', 'b'])
    await change(endpoint, { active: true, held: 'discard' })

    expect(await replayed(fixture, endpoint, EVER)).toEqual(['a', 'b'])
  })

  test('those from before the endpoint was', async () => {
    await using fixture = await bootFixture()
    await publishAll(fixture, ['a', 'b'])
    const endpoint = await fixture.createEndpoint()

    expect(await replayed(fixture, endpoint, EVER)).toEqual(['a', 'b'])
  })

  test('those that its filter matches now', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish } = fixture
    const endpoint = await createEndpoint({ event_types: ['x'] })
    await publish({ event_type: 'a.b', channels: ['eu'] })
    await publish({ event_type: 'a.c', channels: ['us'] })
    await publish({ event_type: 'a.d' })
    await publish({ event_type: 'b' })
    await publish({ event_type: 'x' })

    await change(endpoint, { event_types: ['a.*'] })
    expect(await dryRunOf(fixture, endpoint)).toBe(3)
    await change(endpoint, { channels: ['eu'] })
    expect(await replayed(fixture, endpoint, EVER)).toEqual(['a.b', 'a.d'])
  })

  const dryRunOf = ({ dryRun }: Fixture, endpoint: Json) => dryRun(endpoint, EVER)

  test('are counted a slice at a time, and what else there is to do goes on in between', async () => {
    await using fixture = await bootFixture()
    const { app, createEndpoint, publish, dryRun } = fixture
    const endpoint = await createEndpoint({ event_types: ['x'] })
    copyMessage(app, await publish({ event_type: 'x' }), 1500)
    let [turns, isOver] = [0, false]

    const counted = dryRun(endpoint, { ...EVER, which: 'all' }).finally(() => {
      isOver = true
    })
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve))
      turns++
    }

    expect(await counted).toBe(1501)
    expect(turns).toBeGreaterThan(4)
  })

  test('of this tenant and environment, and to this endpoint alone', async () => {
    await using fixture = await bootFixture()
    const { app, acme, createEndpoint, target } = fixture
    const other = manage(app, (await (await app.tenant('Other')).key('relay')).key, target.url)
    const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)
    await other.publish({ event_type: 'other' })
    await sandbox.publish({ event_type: 'sandbox' })
    await publishAll(fixture, ['a'])
    const endpoint = await createEndpoint()
    await createEndpoint({ url: `${target.url}/second` })

    expect(await replayed(fixture, endpoint, EVER)).toEqual(['a'])
    expect(target.requests.map(({ path }) => path)).toEqual(['/hook'])
  })

  test('from since, included, until until, excluded', async () => {
    await using fixture = await bootFixture()
    const { publish, clock, createEndpoint, dryRun } = fixture
    for (const event_type of ['a', 'b', 'c']) {
      await publish({ event_type })
      await clock.advance(10 * SECOND)
    }
    const endpoint = await createEndpoint()
    const at = (seconds: number) => isoAt(START + seconds * SECOND)

    expect(await dryRun(endpoint, { since: at(0) })).toBe(3)
    expect(await dryRun(endpoint, { since: isoAt(START + 1) })).toBe(2)
    expect(await dryRun(endpoint, { since: at(0), until: at(20) })).toBe(2)
    expect(await dryRun(endpoint, { since: at(0), until: isoAt(START + 20_001) })).toBe(3)
    expect(await dryRun(endpoint, { since: at(21) })).toBe(0)
    expect(await replayed(fixture, endpoint, { since: at(10), until: at(20) })).toEqual(['b'])
  })

  test('times in another zone mean the same moment', async () => {
    await using fixture = await bootFixture()
    const { publish, createEndpoint, dryRun, clock } = fixture
    await publish()
    const endpoint = await createEndpoint()
    await clock.advance(10 * SECOND)

    expect(await dryRun(endpoint, { since: '2026-03-01T14:00:30+02:00' })).toBe(1)
    expect(await dryRun(endpoint, { since: '2026-03-01T14:00:31+02:00' })).toBe(0)
  })

  test('more than one slice of them, each once', async () => {
    await using fixture = await bootFixture()
    const { app, publish, settle, createEndpoint, target, replay, clock } = fixture
    copyMessage(app, await publish(), 319)
    const endpoint = await createEndpoint()

    expect(await replay(endpoint, { ...EVER, per_second: 1000 })).toBe(320)
    await clock.advance(SECOND)
    await settle()

    const ids = target.requests.map(({ headers }) => headers.get('webhook-id'))
    expect(ids).toHaveLength(320)
    expect(new Set(ids).size).toBe(320)
  })
})

describe('no message is doubled', () => {
  test('that is under way', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, accept, dryRun, replay, settle, clock, target } = fixture
    const held = holdAnswers(target)
    const endpoint = await createEndpoint()
    await accept()
    await held.arrived(1)

    expect(await dryRun(endpoint, { ...EVER, which: 'all' })).toBe(0)
    expect(await replay(endpoint, { ...EVER, which: 'all' })).toBe(0)
    held.release()
    await settle()
    await clock.advance(SECOND)

    expect(target.requests).toHaveLength(1)
  })

  test('that waits for its retry', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, deliveriesOf, replay, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    const message = await publish()
    const before = await deliveriesOf(message)

    expect(await replay(endpoint, { ...EVER, which: 'all' })).toBe(0)

    expect(await deliveriesOf(message)).toEqual(before)
  })

  test('that is held', async () => {
    await using fixture = await bootFixture({ flags: { 'relay-breaker-failures': '1' } })
    const { createEndpoint, publish, deliveriesOf, replay, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    await publish()
    const message = await publish()
    expect(await deliveriesOf(message)).toMatchObject([{ status: 'held', held_reason: 'breaker' }])

    expect(await replay(endpoint, { ...EVER, which: 'all' })).toBe(0)
  })

  test('that an earlier replay has still to send', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, replay, settle, clock, target } = fixture
    await publishAll(fixture, ['a', 'b', 'c'])
    const endpoint = await createEndpoint()

    expect(await replay(endpoint, { ...EVER, per_second: 1 })).toBe(3)
    await settle()
    expect(await replay(endpoint, { ...EVER, per_second: 1 })).toBe(0)
    expect(await replay(endpoint, { ...EVER, which: 'all', per_second: 1000 })).toBe(1)
    await clock.advance(5 * SECOND)

    expect(typesOf(target.requests).toSorted()).toEqual(['a', 'a', 'b', 'c'])
  })
})

describe('no more are sent a second than asked for', () => {
  test.each([
    [1, 1000],
    [2, 500],
    [20, 50],
    [undefined, 100],
  ])('per_second: %p', async (per_second, apart) => {
    await using fixture = await bootFixture()
    const { createEndpoint, replay, settle, clock, target } = fixture
    await publishAll(fixture, ['a', 'b', 'c', 'd', 'e'])
    const endpoint = await createEndpoint()
    const arrivals: number[] = []
    target.answers(() => {
      arrivals.push(clock.now() - START)
      return new Response('ok')
    })

    await replay(endpoint, { ...EVER, ...(per_second && { per_second }) })
    await settle()
    await clock.advance(10 * SECOND)

    expect(arrivals).toEqual([0, 1, 2, 3, 4].map((n) => n * apart))
    expect(typesOf(target.requests)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('a message that comes meanwhile does not wait behind them', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, replay, publish, settle, clock, target } = fixture
    await publishAll(fixture, ['a', 'b'])
    const endpoint = await createEndpoint()

    await replay(endpoint, { ...EVER, per_second: 1 })
    await settle()
    await publish({ event_type: 'new' })
    await clock.advance(SECOND)

    expect(typesOf(target.requests)).toEqual(['a', 'new', 'b'])
  })
})

describe('a replayed delivery', () => {
  test('keeps its id and its attempts, and begins another run', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, deliveriesOf, readDelivery, replay, settle } = fixture
    const endpoint = await createEndpoint()
    const message = await publish()
    const [before] = await deliveriesOf(message)

    await replay(endpoint, { ...EVER, which: 'all' })
    await settle()

    expect(await deliveriesOf(message)).toMatchObject([
      { id: before.id, status: 'succeeded', run: 2, attempts: 2 },
    ])
    expect((await readDelivery(before)).attempt_log).toMatchObject([
      { run: 1, number: 1, trigger: 'schedule', status: 'succeeded' },
      { run: 2, number: 2, trigger: 'replay', status: 'succeeded' },
    ])
  })

  test('has the whole schedule before it once more', async () => {
    await using fixture = await bootFixture({ flags: { 'relay-retry-delays': '5s,10s' } })
    const { createEndpoint, publish, deliveriesOf, replay, settle, clock, target } = fixture
    const endpoint = await createEndpoint()
    target.answers(answerWith(500))
    const message = await publish()
    await clock.advance(20 * SECOND)
    expect(await deliveriesOf(message)).toMatchObject([{ status: 'failed', attempts: 3 }])

    await replay(endpoint, EVER)
    await settle()
    expect(await deliveriesOf(message)).toMatchObject([
      { status: 'retrying', run: 2, attempts: 4, ended_at: null },
    ])
    target.answers(answerWith(200))
    await clock.advance(10 * SECOND)

    expect(await deliveriesOf(message)).toMatchObject([{ status: 'succeeded', attempts: 5 }])
  })

  test('of a message that never went there has the format that the endpoint has now', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, publish, replay, settle, target } = fixture
    await publish({ payload: { n: 1 } })
    const endpoint = await createEndpoint({ format: 'raw' })

    await replay(endpoint, EVER)
    await settle()

    expect(target.requests[0]?.body).toBe('{"n":1}')
  })

  test('of one that did go there has the bytes of that time', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, publish, replay, settle, clock, target } = fixture
    const endpoint = await createEndpoint()
    await publish()
    clock.jump(DAY)
    await clock.advance(5 * SECOND)

    await change(endpoint, { format: 'raw' })
    await replay(endpoint, { ...EVER, which: 'all' })
    await settle()

    expect(target.requests[1]?.body).toBe(target.requests[0]?.body as string)
    expect(target.requests[1]?.headers.get('webhook-id')).toBe(
      target.requests[0]?.headers.get('webhook-id') as string,
    )
  })

  test('that waits for its turn is held when the endpoint is paused, and goes on after it', async () => {
    await using fixture = await bootFixture()
    const { createEndpoint, change, replay, settle, clock, target } = fixture
    await publishAll(fixture, ['a', 'b', 'c'])
    const endpoint = await createEndpoint()
    await replay(endpoint, { ...EVER, per_second: 1 })
    await settle()

    await change(endpoint, { active: false })
    await clock.advance(5 * SECOND)
    expect(typesOf(target.requests)).toEqual(['a'])

    await change(endpoint, { active: true })
    await settle()
    expect(typesOf(target.requests)).toEqual(['a', 'b', 'c'])
  })
})

test('an endpoint that is deleted meanwhile leaves nothing behind that waits for it', async () => {
  await using fixture = await bootFixture()
  const { app, api, publish, settle, createEndpoint, remove, clock } = fixture
  copyMessage(app, await publish({ event_type: 'other' }), 1999)
  await publish({ event_type: 'wanted' })
  const endpoint = await createEndpoint({ event_types: ['wanted'] })

  await Promise.all([api.post(`${ENDPOINTS}/${endpoint.id}/replay`, EVER), remove(endpoint)])
  await clock.advance(2 * MINUTE)
  await settle()

  expect(count(app, 'deliveries where ended_at is null')).toBe(0)
})

describe('an inactive endpoint', () => {
  test('is sent nothing: a conflict', async () => {
    await using fixture = await bootFixture()
    const { api, createEndpoint, publish } = fixture
    await publish()
    const { id } = await createEndpoint({ active: false })

    expect(await api.post(`${ENDPOINTS}/${id}/replay`, EVER)).toMatchObject(
      refusal(409, 'conflict', 'not active'),
    )
    expect(count(fixture.app, 'deliveries')).toBe(0)
  })

  test('may be counted for', async () => {
    await using fixture = await bootFixture()
    await fixture.publish()
    const endpoint = await fixture.createEndpoint({ active: false })

    expect(await fixture.dryRun(endpoint, EVER)).toBe(1)
  })
})

describe('refused, naming field and rule', () => {
  let fixture: Fixture
  let id: string
  beforeAll(async () => {
    fixture = await bootFixture()
    await fixture.publish()
    id = (await fixture.createEndpoint()).id
  })
  afterAll(() => fixture.end())

  test.each([
    [{}, 'since: is required', 'time'],
    [{ since: null }, 'since', 'time'],
    [{ since: 1772366430000 }, 'since', 'time'],
    [{ since: 'yesterday' }, 'since', 'time'],
    [{ since: '2026-03-01' }, 'since', 'zone'],
    [{ since: '2026-03-01T12:00:00' }, 'since', 'zone'],
    [{ since: '2026-02-30T12:00:00Z' }, 'since', 'time'],
    [{ since: '2026-03-01T24:00:00Z' }, 'since', 'time'],
    [{ ...EVER, until: 'now' }, 'until', 'time'],
    [{ ...EVER, until: null }, 'until', 'time'],
    [{ ...EVER, until: EVER.since }, 'until', 'since'],
    [{ ...EVER, until: isoAt(START - DAY) }, 'until', 'since'],
    [{ ...EVER, which: 'failed' }, 'which', 'undelivered, all'],
    [{ ...EVER, which: null }, 'which', 'undelivered, all'],
    [{ ...EVER, per_second: 0 }, 'per_second', '1 to 1000'],
    [{ ...EVER, per_second: 1001 }, 'per_second', '1 to 1000'],
    [{ ...EVER, per_second: 1.5 }, 'per_second', 'whole number'],
    [{ ...EVER, per_second: '5' }, 'per_second', 'whole number'],
    [{ ...EVER, dry_run: 'yes' }, 'dry_run', 'true or false'],
    [null, 'object'],
    [[], 'object'],
  ] as [Json, ...string[]][])('%j', async (body, ...words) => {
    expect(await fixture.api.post(`${ENDPOINTS}/${id}/replay`, body)).toMatchObject(
      refusal(400, 'invalid_payload', ...words),
    )
    expect(count(fixture.app, 'deliveries')).toBe(0)
  })

  test('a since that is still to come, which is what is wrong, and not the until', async () => {
    const answer = await fixture.api.post(`${ENDPOINTS}/${id}/replay`, {
      since: isoAt(START + HOUR),
    })
    expect(answer.body.error.message).toStartWith('since: ')
    expect(answer).toMatchObject(refusal(400, 'invalid_payload'))
  })

  test('an endpoint that there is not, or of another tenant', async () => {
    const { app, api, target } = fixture
    const other = manage(app, (await (await app.tenant('Other')).key('relay')).key, target.url)
    const foreign = await other.createEndpoint()
    for (const unknown of ['nothing', foreign.id])
      expect(await api.post(`${ENDPOINTS}/${unknown}/replay`, EVER)).toMatchObject(
        refusal(404, 'not_found', 'endpoint'),
      )
  })

  test('a test key, which delivers nothing', async () => {
    const { app, acme, target } = fixture
    const sandbox = manage(app, (await acme.key('relay', 'test')).key, target.url)
    await sandbox.publish()
    const endpoint = await sandbox.createEndpoint()
    for (const dry_run of [true, false])
      expect(
        await sandbox.api.post(`${ENDPOINTS}/${endpoint.id}/replay`, { ...EVER, dry_run }),
      ).toMatchObject(refusal(400, 'invalid_payload', 'test key'))
  })
})

test('more than 100,000 messages at once are refused before the first of them is sent', async () => {
  await using fixture = await bootFixture()
  const { app, api, createEndpoint, publish, settle, target } = fixture
  await publish({ event_type: 'wanted' })
  copyMessage(app, await publish({ event_type: 'other' }), 100_000)
  const { id } = await createEndpoint({ event_types: ['wanted'] })

  expect(await api.post(`${ENDPOINTS}/${id}/replay`, EVER)).toMatchObject(
    refusal(400, 'invalid_payload', 'since', '100000'),
  )

  await settle()
  expect(count(app, 'deliveries')).toBe(0)
  expect(target.requests).toHaveLength(0)
}, 60_000)

test('who replays how much is in the audit log, and nobody who only counts or is refused', async () => {
  await using fixture = await bootFixture()
  const { app, acme, live, api, createEndpoint, change, dryRun, replay } = fixture
  await publishAll(fixture, ['a', 'b', 'c'])
  const endpoint = await createEndpoint()
  await dryRun(endpoint, EVER)

  await replay(endpoint, EVER)
  await change(endpoint, { active: false })
  expect(await api.post(`${ENDPOINTS}/${endpoint.id}/replay`, EVER)).toMatchObject({ status: 409 })

  const rows = app.db.client
    .query(
      `select tenant_id, actor_kind, actor_id, object, detail from audit_log
       where action = 'endpoint.replayed'`,
    )
    .all()
  expect(rows).toEqual([
    {
      tenant_id: acme.id,
      actor_kind: 'key',
      actor_id: live.id,
      object: `endpoint:${endpoint.id}`,
      detail: JSON.stringify({ count: 3 }),
    },
  ])
})
