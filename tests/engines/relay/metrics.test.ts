import { expect, test } from 'bun:test'
import { advanceWaiting, holdAnswers } from '../clockwork/support.ts'
import {
  answerWith,
  bootRelay,
  MINUTE,
  NEVER_OPEN,
  type Party,
  SECOND,
  stillness,
} from './fixture.ts'

/** The number of ready deliveries and the lag of both queues, as /metrics shows them. */
async function queues({ app }: Party) {
  const text: string = (await app.raw('/metrics')).body
  const metric = (name: string, queue: string) =>
    Number(text.match(`gatehouse_delivery_${name}{queue="${queue}"} (.*)`)?.[1])
  const of = (queue: string) => [metric('ready', queue), metric('lag_seconds', queue)]
  return { first: of('first'), again: of('again') }
}

const EMPTY = { first: [0, 0], again: [0, 0] }

test('ready first attempts are counted, and the oldest of all endpoints is their lag', async () => {
  await using relay = await bootRelay()
  const { app, createEndpoint, deliver, sendMany, clock, target, rest } = relay
  for (const type of ['a', 'b', 'c']) await createEndpoint({ event_types: [type] })
  await deliver({ event_type: 'a' })
  await clock.advance(MINUTE)
  expect(await queues(relay)).toEqual(EMPTY)
  const held = holdAnswers(target)
  for (const event_type of ['b', 'a', 'c']) {
    await sendMany(20, { event_type })
    await stillness(app, () => target.requests.length)
    await advanceWaiting(app, 4 * SECOND)
  }
  const underWay = target.requests.length - 1
  expect(underWay).toBeLessThan(60)

  expect(await queues(relay)).toEqual({ first: [60 - underWay, 12], again: [0, 0] })

  target.answers(answerWith(200))
  held.release()
  await rest()
  expect(await queues(relay)).toEqual(EMPTY)
})

test('ready retries are counted apart, and waiting ones are not', async () => {
  await using relay = await bootRelay(NEVER_OPEN)
  const { app, createEndpoint, sendMany, target, rest } = relay
  target.answers(answerWith(500))
  await createEndpoint()
  await sendMany(10)
  await rest()
  expect(await queues(relay)).toEqual(EMPTY)
  const held = holdAnswers(target)

  await advanceWaiting(app, 5 * SECOND)
  await held.arrived(14)
  await advanceWaiting(app, 7 * SECOND)

  expect(await queues(relay)).toEqual({ first: [0, 0], again: [6, 7] })
  target.answers(answerWith(200))
  held.release()
  await rest()
})
