import { expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, holdAnswers, SECOND } from '../clockwork/support.ts'
import { bootRelay, type Fixture, rest, stillness } from './fixture.ts'

const NEVER_OPEN = { flags: { 'relay-breaker-failures': '1000' } }

/** A metric of the dispatcher by its labels, as /metrics shows it. */
async function metric({ app }: Fixture, name: string) {
  const lines: string[] = (await app.raw('/metrics')).body.split('\n')
  const values = lines.filter((line) => line.startsWith(`gatehouse_delivery_${name}{`))
  return Object.fromEntries(
    values.map((line) => {
      const [, label, value] = /{(.*)} (.*)$/.exec(line) ?? []
      return [label, Number(value)]
    }),
  )
}

const perQueue = (first: number, again: number) => ({
  'queue="first"': first,
  'queue="again"': again,
})

test('an empty queue has no lag', async () => {
  await using fixture = await bootRelay()
  await using target = startTarget()
  await fixture.createEndpoint(target.url)
  await fixture.deliver()
  await fixture.clock.advance(60 * SECOND)

  expect(await metric(fixture, 'ready')).toEqual(perQueue(0, 0))
  expect(await metric(fixture, 'lag_seconds')).toEqual(perQueue(0, 0))
})

test('ready first attempts are counted, and the oldest of all endpoints is their lag', async () => {
  await using fixture = await bootRelay()
  await using target = startTarget()
  const held = holdAnswers(target)
  for (const type of ['a', 'b', 'c'])
    await fixture.createEndpoint(target.url, { event_types: [type] })
  for (const type of ['b', 'a', 'c']) {
    await fixture.sendMany(20, { event_type: type })
    await stillness(fixture.app, () => target.requests.length)
    await advanceWaiting(fixture.app, 4 * SECOND)
  }
  const underWay = target.requests.length
  expect(underWay).toBeLessThan(60)

  expect(await metric(fixture, 'ready')).toEqual(perQueue(60 - underWay, 0))
  expect(await metric(fixture, 'lag_seconds')).toEqual(perQueue(12, 0))

  target.answers(() => new Response())
  held.release()
  await rest(fixture.app)
  expect(await metric(fixture, 'ready')).toEqual(perQueue(0, 0))
  expect(await metric(fixture, 'lag_seconds')).toEqual(perQueue(0, 0))
})

test('ready retries are counted apart, and waiting ones are not', async () => {
  await using fixture = await bootRelay(NEVER_OPEN)
  await using target = startTarget(() => new Response('', { status: 500 }))
  await fixture.createEndpoint(target.url)
  await fixture.sendMany(10)
  await rest(fixture.app)
  expect(await metric(fixture, 'ready')).toEqual(perQueue(0, 0))
  const held = holdAnswers(target)

  await advanceWaiting(fixture.app, 5 * SECOND)
  await held.arrived(14)
  await advanceWaiting(fixture.app, 7 * SECOND)

  expect(await metric(fixture, 'ready')).toEqual(perQueue(0, 6))
  expect(await metric(fixture, 'lag_seconds')).toEqual(perQueue(0, 7))
  target.answers(() => new Response())
  held.release()
  await rest(fixture.app)
})
