import { expect, test } from 'bun:test'
import { bootRelay, NEVER_OPEN, type Party } from './fixture.ts'
import { MINUTE, SECOND } from './support.ts'

/** The number of ready deliveries and the lag of both queues, as /metrics shows them. */
async function queues({ app }: Party) {
  const text: string = (await app.raw('/metrics')).body
  const metric = (name: string, queue: string) =>
    Number(text.match(`gatehouse_delivery_${name}{queue="${queue}"} (.*)`)?.[1])
  const of = (queue: string) => [metric('ready', queue), metric('lag_seconds', queue)]
  return { first: of('first'), again: of('again') }
}

const EMPTY = { first: [0, 0], again: [0, 0] }

test('Ready first attempts and ready retries are counted apart, each with its lag', async () => {
  await using relay = await bootRelay(NEVER_OPEN)
  const { createEndpoint, sendMany, target, wait } = relay
  for (const type of ['a', 'b', 'c']) await createEndpoint({ event_types: [type] })
  await relay.deliver({ event_type: 'a' })
  await relay.clock.advance(MINUTE)
  expect(await queues(relay)).toEqual(EMPTY)
  const held = target.hold()
  for (const event_type of ['b', 'a', 'c']) {
    await sendMany(20, { event_type })
    await relay.underWay()
    await wait(4 * SECOND)
  }
  const underWay = await relay.underWay()
  expect(underWay).toBeLessThan(60)
  expect(await queues(relay)).toEqual({ first: [60 - underWay, 12], again: [0, 0] })
  await held.arrived(1 + underWay)
  target.answers(500)
  held.release(200)
  await relay.rest()

  const waiting = 60 - underWay
  expect(await relay.tally()).toEqual({ succeeded: 1 + underWay, retrying: waiting })
  expect(await queues(relay)).toEqual(EMPTY)
  const again = target.hold()
  await wait(5 * SECOND)
  const retried = await relay.underWay()
  await again.arrived(61 + retried)
  await wait(7 * SECOND)
  expect(retried).toBeLessThan(waiting)
  expect(await queues(relay)).toEqual({ first: [0, 0], again: [waiting - retried, 7] })
  target.answers(200)
  again.release()
  await relay.rest()
})
