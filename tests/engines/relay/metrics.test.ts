import { expect, test } from 'bun:test'
import { startTarget } from '../../support/target.ts'
import { advanceWaiting, holdAnswers, SECOND } from '../clockwork/support.ts'
import { bootRelay, rest, stillness, type World } from './fixture.ts'

const NEVER_OPEN = { flags: { 'relay-breaker-failures': '1000' } }

/** A metric of the dispatcher by its labels, as /metrics shows it. */
async function metric({ app }: World, name: string) {
  const lines: string[] = (await app.raw('/metrics')).body.split('\n')
  const values = lines.filter((line) => line.startsWith(`gatehouse_delivery_${name}{`))
  return Object.fromEntries(
    values.map((line) => {
      const [, label, value] = /{(.*)} (.*)$/.exec(line) ?? []
      return [label, Number(value)]
    }),
  )
}

const perLine = (first: number, again: number) => ({
  'line="first"': first,
  'line="again"': again,
})

test('a line in which nothing stands has no lag', async () => {
  await using world = await bootRelay()
  await using target = startTarget()
  await world.createEndpoint(target.url)
  await world.deliver()
  await world.clock.advance(60 * SECOND)

  expect(await metric(world, 'ready')).toEqual(perLine(0, 0))
  expect(await metric(world, 'lag_seconds')).toEqual(perLine(0, 0))
})

test('what stands in the first line is counted, and the oldest of all endpoints is its lag', async () => {
  await using world = await bootRelay()
  await using target = startTarget()
  const held = holdAnswers(target)
  for (const type of ['a', 'b', 'c'])
    await world.createEndpoint(target.url, { event_types: [type] })
  for (const type of ['b', 'a', 'c']) {
    await world.sendMany(20, { event_type: type })
    await stillness(world.app, () => target.requests.length)
    await advanceWaiting(world.app, 4 * SECOND)
  }
  const underWay = target.requests.length
  expect(underWay).toBeLessThan(60)

  expect(await metric(world, 'ready')).toEqual(perLine(60 - underWay, 0))
  expect(await metric(world, 'lag_seconds')).toEqual(perLine(12, 0))

  target.answers(() => new Response())
  held.release()
  await rest(world.app)
  expect(await metric(world, 'ready')).toEqual(perLine(0, 0))
  expect(await metric(world, 'lag_seconds')).toEqual(perLine(0, 0))
})

test('what stands in line to be tried again is counted apart, and what waits is not', async () => {
  await using world = await bootRelay(NEVER_OPEN)
  await using target = startTarget(() => new Response('', { status: 500 }))
  await world.createEndpoint(target.url)
  await world.sendMany(10)
  await rest(world.app)
  expect(await metric(world, 'ready')).toEqual(perLine(0, 0))
  const held = holdAnswers(target)

  await advanceWaiting(world.app, 5 * SECOND)
  await held.arrived(14)
  await advanceWaiting(world.app, 7 * SECOND)

  expect(await metric(world, 'ready')).toEqual(perLine(0, 6))
  expect(await metric(world, 'lag_seconds')).toEqual(perLine(0, 7))
  target.answers(() => new Response())
  held.release()
  await rest(world.app)
})
