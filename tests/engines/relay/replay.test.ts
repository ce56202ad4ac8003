import { expect, test } from 'bun:test'
import {
  copyMessage,
  isoAt,
  type Json,
  type Party,
  refusal,
  refused,
  typesOf,
  useRelay,
  WITHOUT_RETRIES,
} from './fixture.ts'
import { count, DAY, ENDPOINTS, HOUR, SECOND, START } from './support.ts'

const { app, clock, newTenant } = await useRelay()
const once = await useRelay(WITHOUT_RETRIES)
const quick = await useRelay({ flags: { 'relay-breaker-failures': '2' } })

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
async function replayed(relay: Party, endpoint: Json, fields: Json): Promise<string[]> {
  const { requests } = relay.target
  const before = requests.length
  const counted = await relay.dryRun(endpoint, fields)
  expect(requests).toHaveLength(before)
  expect(await relay.replay(endpoint, { per_second: 1000, ...fields })).toBe(counted)
  await relay.clock.advance(SECOND)
  await relay.rest()
  const types = typesOf(requests.slice(before))
  expect(types).toHaveLength(counted)
  return types.toSorted()
}

test('A replay sends what was not delivered, or everything', async () => {
  const relay = await once.newTenant()
  const { deliveriesOf, target } = relay
  const endpoint = await relay.createEndpoint()
  target.answers(({ headers }) => {
    const isBad = headers.get('x-service-event-type') === 'b'
    return new Response('', { status: isBad ? 500 : 200 })
  })
  const [arrived] = await deliverAll(relay, ['a', 'b', 'c'])
  target.answers(500)
  await relay.resend((await deliveriesOf(arrived))[0])
  await relay.rest()
  expect(await deliveriesOf(arrived)).toMatchObject([{ status: 'failed' }])
  target.answers(200)

  expect(await replayed(relay, endpoint, EVER)).toEqual(['b'])
  expect(await replayed(relay, endpoint, { ...EVER, which: 'undelivered' })).toEqual([])
  for (let n = 0; n < 2; n++) expect(await replayed(relay, endpoint, ALL)).toEqual(['a', 'b', 'c'])
})

test('A replay sends what is older than the endpoint and matches its filter now, to that alone', async () => {
  const relay = await newTenant()
  const { change, deliver } = relay
  await (await relay.sandbox()).deliver({ event_type: 'a.sandbox' })
  await deliver({ event_type: 'a.b', channels: ['eu'] })
  await deliver({ event_type: 'a.c', channels: ['us'] })
  await deliverAll(relay, ['a.d', 'b', 'x'])
  const endpoint = await relay.createEndpoint({ event_types: ['x'] })
  await relay.createEndpoint(`${relay.target.url}/second`)

  await change(endpoint, { event_types: ['a.*'] })
  expect(await relay.dryRun(endpoint, EVER)).toBe(3)
  await change(endpoint, { channels: ['eu'] })
  expect(await replayed(relay, endpoint, EVER)).toEqual(['a.b', 'a.d'])
  expect(relay.target.requests.map(({ path }) => path)).toEqual(['/hook', '/hook'])
})

test('A replay sends messages from since, included, to until, excluded, in any time zone', async () => {
  const relay = await newTenant()
  const at = (seconds: number) => relay.at(seconds)
  const zoned = (seconds: number) =>
    isoAt(Date.parse(at(seconds)) + 2 * HOUR).replace('Z', '+02:00')
  for (const event_type of ['a', 'b', 'c']) {
    await relay.deliver({ event_type })
    await clock.advance(10 * SECOND)
  }
  const endpoint = await relay.createEndpoint()

  for (const [period, counted] of [
    [{ since: at(0) }, 3],
    [{ since: at(0.001) }, 2],
    [{ since: zoned(0) }, 3],
    [{ since: zoned(1) }, 2],
    [{ since: at(0), until: at(20) }, 2],
    [{ since: at(0), until: at(20.001) }, 3],
    [{ since: at(21) }, 0],
  ] as const)
    expect([period, await relay.dryRun(endpoint, period)]).toEqual([period, counted])
  expect(await replayed(relay, endpoint, { since: at(10), until: at(20) })).toEqual(['b'])
})

test('A replay sends more than one slice, each message once', async () => {
  const relay = await newTenant()
  copyMessage(app, await relay.deliver(), 319)
  const endpoint = await relay.createEndpoint()
  expect(await replayed(relay, endpoint, EVER)).toHaveLength(320)
  expect(new Set(relay.headers('webhook-id')).size).toBe(320)
})

test('A replay does not send what is under way, waits for a retry or is held', async () => {
  const relay = await quick.newTenant()
  const { deliver, deliveryOf, replay } = relay
  const held = relay.target.hold()
  const endpoint = await relay.createEndpoint()
  const waiting = await relay.send()
  await held.arrived(1)
  expect(await relay.dryRun(endpoint, ALL)).toBe(0)
  expect(await replay(endpoint, ALL)).toBe(0)
  relay.target.answers(500)
  held.release(500)
  await relay.rest()
  const before = await deliveryOf(waiting)
  expect(before).toMatchObject({ status: 'retrying' })
  expect(await replay(endpoint, ALL)).toBe(0)
  expect(await deliveryOf(waiting)).toEqual(before)
  await deliver()
  expect(await deliveryOf(await deliver())).toMatchObject({ held_reason: 'breaker' })
  expect(await replay(endpoint, ALL)).toBe(0)
  expect(relay.target.requests).toHaveLength(2)
})

test('A replay does not send what another has yet to send, which waits while the endpoint is paused', async () => {
  const relay = await newTenant()
  await deliverAll(relay, ['a', 'b', 'c'])
  const endpoint = await relay.createEndpoint()
  expect(await relay.replay(endpoint, { ...EVER, per_second: 1 })).toBe(3)
  await relay.rest()
  expect(await relay.replay(endpoint, { ...EVER, per_second: 1 })).toBe(0)
  expect(await relay.replay(endpoint, { ...ALL, per_second: 1000 })).toBe(1)
  await relay.rest()
  await relay.change(endpoint, { active: false })
  await clock.advance(5 * SECOND)
  expect(typesOf(relay.target.requests)).toEqual(['a', 'a'])
  await relay.change(endpoint, { active: true })
  await relay.rest()
  expect(typesOf(relay.target.requests)).toEqual(['a', 'a', 'b', 'c'])
})

test.each([
  [{ per_second: 1 }, 1000],
  [{}, 100],
])('A replay with %j sends one every %i ms, and new messages do not wait', async (rate, apart) => {
  const relay = await newTenant()
  await deliverAll(relay, ['a', 'b', 'c', 'd'])
  const endpoint = await relay.createEndpoint()
  const begun = clock.now()
  const arrivals: number[] = []
  relay.target.answers(() => {
    arrivals.push(clock.now() - begun)
    return new Response('ok')
  })
  await relay.replay(endpoint, { ...EVER, ...rate })
  await relay.rest()
  await relay.deliver({ event_type: 'new' })
  await clock.advance(4 * SECOND)
  expect(arrivals).toEqual([0, 0, apart, 2 * apart, 3 * apart])
  expect(typesOf(relay.target.requests)).toEqual(['a', 'new', 'b', 'c', 'd'])
})

test('A replayed delivery keeps its id, its attempts and its bytes, and begins another run', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint()
  const before = await relay.deliveryOf(await relay.deliver())
  await relay.change(endpoint, { format: 'raw' })
  await clock.advance(5 * SECOND)
  await relay.replay(endpoint, ALL)
  await relay.rest()

  expect(await relay.readDelivery(before)).toMatchObject({
    ...{ status: 'succeeded', run: 2, attempts: 2 },
    attempt_log: [
      { run: 1, number: 1, trigger: 'schedule', status: 'succeeded' },
      { run: 2, number: 2, trigger: 'replay', status: 'succeeded' },
    ],
  })
  const [first, second] = relay.target.requests.map(({ body }) => body)
  expect(second).toBe(first as string)
  expect(new Set(relay.headers('webhook-id')).size).toBe(1)
})

test('A replay to an endpoint that is deleted meanwhile leaves no open delivery', async () => {
  const relay = await newTenant()
  copyMessage(app, await relay.deliver({ event_type: 'other' }), 999)
  await relay.deliver({ event_type: 'wanted' })
  const endpoint = await relay.createEndpoint({ event_types: ['wanted'] })
  const replay = relay.api.post(`${ENDPOINTS}/${endpoint.id}/replay`, EVER)
  await Promise.all([replay, relay.remove(endpoint)])
  await clock.advance(10 * SECOND)
  expect(count(app, `deliveries where ended_at is null and tenant_id = '${relay.id}'`)).toBe(0)
})

test('A dry run counts in slices, and other work goes on between them', async () => {
  const relay = await newTenant()
  const endpoint = await relay.createEndpoint({ event_types: ['x'] })
  copyMessage(app, await relay.deliver({ event_type: 'x' }), 1500)
  let [turns, isOver] = [0, false]
  const counted = relay.dryRun(endpoint, ALL).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    turns++
  }
  expect(await counted).toBe(1501)
  expect(turns).toBeGreaterThan(4)
})

const replayTo = ({ api }: Pick<Party, 'api'>, { id }: Json, body: unknown) =>
  api.post(`${ENDPOINTS}/${id}/replay`, body)
const bodies = (field: string, values: unknown[]) =>
  values.map((value) => ({ ...EVER, [field]: value }))

test('A replay is refused for a field that is wrong', async () => {
  const relay = await newTenant()
  await relay.deliver()
  const endpoint = await relay.createEndpoint()
  const noTimes = ['yesterday', '2026-03-01', '2026-03-01T12:00:00', '2026-02-30T12:00:00Z']
  for (const [field, sent] of [
    ['since', bodies('since', [...noTimes, isoAt(clock.now() + DAY)])],
    ['until', bodies('until', ['now', EVER.since, isoAt(START - DAY)])],
    ['which', bodies('which', ['failed'])],
    ['per_second', bodies('per_second', [0, 1001, 1.5])],
  ] as const)
    for (const body of sent) {
      const answer = await replayTo(relay, endpoint, body)
      expect({ asked: body, ...answer }).toMatchObject({ asked: body, ...refused(field) })
    }
  expect(await relay.listDeliveries()).toEqual([])
})

test('A replay is refused with a test key, and to an inactive endpoint, for which it is counted', async () => {
  const relay = await newTenant()
  const test = await relay.sandbox()
  await test.deliver()
  const sandboxed = await test.createEndpoint()
  for (const dry_run of [true, false])
    expect(await replayTo(test, sandboxed, { ...EVER, dry_run })).toMatchObject(
      refusal(400, 'invalid_payload'),
    )
  await relay.deliver()
  const endpoint = await relay.createEndpoint({ active: false })
  expect(await replayTo(relay, endpoint, EVER)).toMatchObject(refusal(409, 'conflict'))
  expect(await relay.listDeliveries()).toEqual([])
  expect(await relay.dryRun(endpoint, EVER)).toBe(1)
})

test('A replay is refused if it would go through more than 100,000 messages', async () => {
  const relay = await newTenant()
  await relay.deliver({ event_type: 'wanted' })
  copyMessage(app, await relay.deliver({ event_type: 'other' }), 100_000)
  const endpoint = await relay.createEndpoint({ event_types: ['wanted'] })
  expect(await replayTo(relay, endpoint, EVER)).toMatchObject(refused('since'))
  await relay.rest()
  expect(await relay.listDeliveries()).toEqual([])
})
