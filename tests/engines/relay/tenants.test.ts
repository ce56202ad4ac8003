import { expect, test } from 'bun:test'
import { type Json, type Relay, useRelay } from './fixture.ts'
import { DELIVERIES, ENDPOINTS, EVENT_TYPES, MESSAGES } from './support.ts'

// Keys, scopes, foreign ids and foreign cursors are in tests/contract.

const { newTenant } = await useRelay()

/** The ids, or names, in each list. */
async function listsOf({ all }: Pick<Relay, 'all'>) {
  const idsIn = async (path: string) => (await all(path)).map(({ id, name }) => id ?? name)
  return {
    messages: await idsIn(MESSAGES),
    endpoints: await idsIn(ENDPOINTS),
    types: await idsIn(EVENT_TYPES),
    deliveries: (await all(DELIVERIES)).map((one: Json) => [one.message_id, one.endpoint_id]),
  }
}

test('Live and test have their own messages, endpoints, deliveries and event types', async () => {
  const live = await newTenant()
  const test = await live.sandbox()
  const [inLive, inTest] = [await live.createEndpoint(), await test.createEndpoint()]
  const one = await live.deliver({ event_type: 'live.one' })
  const other = await test.deliver({ event_type: 'test.one' })
  const lists = { endpoints: [inLive.id], types: ['live.one'], deliveries: [[one.id, inLive.id]] }
  expect(await listsOf(live)).toEqual({ messages: [one.id], ...lists })
  const inSandbox = { endpoints: [inTest.id], types: ['test.one'], deliveries: [] }
  expect(await listsOf(test)).toEqual({ messages: [other.id], ...inSandbox })
  expect(live.target.requests).toHaveLength(1)
  expect((await live.readMessage(one)).endpoints).toMatchObject([{ endpoint_id: inLive.id }])
  const sandbox = { endpoint_id: inTest.id, delivery_id: null, verdict: 'sandbox' }
  expect((await test.readMessage(other)).endpoints).toMatchObject([sandbox])
  const same = await test.send({ event_type: 'live.one' })
  expect(await test.listMessages('?event_type=live.one')).toEqual([same])
})

test('Two tenants have their own messages and samples of a type, and their own deliveries', async () => {
  const parties = [await newTenant(), await newTenant()]
  const name = 'user.created'
  for (const [n, relay] of parties.entries()) {
    const endpoint = await relay.createEndpoint()
    const message = await relay.deliver({ payload: { n } })
    const lists = { endpoints: [endpoint.id], types: [name] }
    const deliveries = [[message.id, endpoint.id]]
    expect(await listsOf(relay)).toEqual({ messages: [message.id], ...lists, deliveries })
    expect((await relay.read(`${EVENT_TYPES}/${name}`)).sample).toEqual({ n })
    expect(relay.headers('webhook-id')).toEqual([message.id])
  }
})
