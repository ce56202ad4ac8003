import { describe, expect, test } from 'bun:test'
import { bootRelay, DELIVERIES, ENDPOINTS, EVENT_TYPES, MESSAGES } from './support.ts'

// Keys, scopes, foreign ids and foreign cursors are in tests/contract.

const LAST_DAY = { since: '2026-02-28T12:00:00Z', dry_run: true }

describe('Live and test', () => {
  test('each have their own messages, endpoints, deliveries and event types', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    const [liveEndpoint, testEndpoint] = [await live.createEndpoint(), await test.createEndpoint()]
    const liveMessage = await live.send({ event_type: 'live.one' })
    const testMessage = await test.send({ event_type: 'test.one' })
    await own.delivered()

    const idsOf = async (api: typeof live, path: string) =>
      (await api.listAll(path)).map(({ id, name }) => id ?? name)
    expect(await idsOf(live, MESSAGES)).toEqual([liveMessage.id])
    expect(await idsOf(test, MESSAGES)).toEqual([testMessage.id])
    expect(await idsOf(live, ENDPOINTS)).toEqual([liveEndpoint.id])
    expect(await idsOf(test, ENDPOINTS)).toEqual([testEndpoint.id])
    expect(await idsOf(live, EVENT_TYPES)).toEqual(['live.one'])
    expect(await idsOf(test, EVENT_TYPES)).toEqual(['test.one'])
    const deliveries = await live.listAll(DELIVERIES)
    expect(deliveries).toMatchObject([
      { message_id: liveMessage.id, endpoint_id: liveEndpoint.id, status: 'succeeded' },
    ])
    expect(await test.listAll(DELIVERIES)).toEqual([])
    expect(own.target.requests).toHaveLength(1)
  })

  test('are separate for the type filter', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    await live.send({ event_type: 'same' })
    const inTest = await test.send({ event_type: 'same' })

    expect((await test.read(`${MESSAGES}?event_type=same`)).data).toEqual([inTest])
  })

  test('are separate for the match results of a message', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    const [inLive, inTest] = [await live.createEndpoint(), await test.createEndpoint()]
    const [one, other] = [await live.send(), await test.send()]

    expect((await live.read(`${MESSAGES}/${one.id}`)).endpoints).toMatchObject([
      { endpoint_id: inLive.id },
    ])
    expect((await test.read(`${MESSAGES}/${other.id}`)).endpoints).toMatchObject([
      { endpoint_id: inTest.id, verdict: 'sandbox' },
    ])
  })

  test('differ: an endpoint of a test key gets test events only', async () => {
    await using own = await bootRelay()
    const { live, test } = own.acme
    const endpoint = await test.createEndpoint()
    await test.send()
    await live.send()
    await own.delivered()
    expect(own.target.requests).toEqual([])

    const { succeeded } = (await test.post(`${ENDPOINTS}/${endpoint.id}/test`)).body

    expect(succeeded).toBe(true)
    expect(own.target.requests).toHaveLength(1)
    expect(await test.listAll(DELIVERIES)).toEqual([])
  })

  test('differ: a test key has nothing to replay', async () => {
    await using own = await bootRelay()
    const { test } = own.acme
    const { id } = await test.createEndpoint()
    await test.send()

    const answer = await test.post(`${ENDPOINTS}/${id}/replay`, { ...LAST_DAY, dry_run: false })
    await own.delivered()

    expect(answer.status).toBe(400)
    expect(answer.body.error.message).toContain('test key')
    expect(own.target.requests).toEqual([])
  })
})

describe('Two tenants', () => {
  test('each have their own messages and samples of the same event type', async () => {
    await using own = await bootRelay()
    const other = await own.party('Other')
    await own.createEndpoint()
    const [a, b] = [
      await own.send({ payload: { a: 1 } }),
      await other.live.send({ payload: { b: 1 } }),
    ]
    await own.delivered()

    expect(await own.listAll(MESSAGES)).toEqual([a])
    expect(await other.live.listAll(MESSAGES)).toEqual([b])
    expect(await other.live.listAll(DELIVERIES)).toEqual([])
    expect(await other.live.listAll(ENDPOINTS)).toEqual([])
    expect((await own.read(`${EVENT_TYPES}/user.created`)).sample).toEqual({ a: 1 })
    expect((await other.live.read(`${EVENT_TYPES}/user.created`)).sample).toEqual({ b: 1 })
    expect(own.target.requests).toHaveLength(1)
  })

  test('each deliver to their own endpoints', async () => {
    await using own = await bootRelay()
    const other = await own.party('Other')
    await own.createEndpoint()
    const theirs = await other.live.createEndpoint()

    const { id } = await other.live.send()
    await own.delivered()

    expect(own.target.requests).toHaveLength(1)
    expect(own.target.requests[0]?.headers.get('webhook-id')).toBe(id)
    expect((await other.live.read(`${MESSAGES}/${id}`)).endpoints).toMatchObject([
      { endpoint_id: theirs.id, verdict: 'succeeded' },
    ])
  })
})
