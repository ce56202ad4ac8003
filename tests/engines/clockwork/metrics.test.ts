import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { bootProcess } from './processes.ts'
import {
  advanceWaiting,
  bootFixture,
  type Fixture,
  HALF_MINUTE,
  HOUR,
  holdAnswers,
  MINUTE,
  SECOND,
} from './support.ts'

/** The values of a metric by its labels, as /metrics shows them. */
async function metric({ app }: Pick<Fixture, 'app'>, name: string) {
  const lines: string[] = (await app.raw('/metrics')).body.split('\n')
  const values = lines.filter((line) => line.startsWith(`gatehouse_clockwork_${name}`))
  return values.map((line) => line.replace('gatehouse_clockwork_', ''))
}

test('attempts are counted by outcome, with their delay, and skipped slots by reason', async () => {
  await using fixture = await bootFixture()
  const { createJob, clock, target } = fixture
  await createJob()
  await clock.advance(2 * MINUTE)
  target.answers(() => new Response('', { status: 400 }))
  await clock.advance(MINUTE)
  expect(await metric(fixture, 'attempts_total')).toEqual([
    'attempts_total{status="success"} 2',
    'attempts_total{status="failed"} 1',
  ])
  expect(await metric(fixture, 'lateness_seconds_count')).toEqual(['lateness_seconds_count 3'])
  expect(await metric(fixture, 'lateness_seconds_sum')).toEqual(['lateness_seconds_sum 0'])

  clock.jump(HOUR)
  await clock.advance(6 * SECOND)

  expect(await metric(fixture, 'slots_skipped_total')).toEqual([
    'slots_skipped_total{reason="outage"} 59',
    'slots_skipped_total{reason="overlap"} 0',
  ])
})

test('a lost attempt counts as a failed one, and as a lease taken back', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, clock, target } = fixture
  const held = holdAnswers(target)
  await createJob({ schedule: '1 12 * * *' })
  await using other = await bootProcess({
    dataDir: dirname(app.db.file),
    now: clock.now(),
    pid: 2,
    othersRun: true,
  })
  await advanceWaiting(other, HALF_MINUTE)
  await held.arrived(1)
  other.db.client.run('update runs set lease_until = 1')

  await clock.advance(6 * SECOND)
  held.release()

  expect(await metric(fixture, 'attempts_total')).toEqual([
    'attempts_total{status="success"} 0',
    'attempts_total{status="failed"} 1',
  ])
  expect(await metric(fixture, 'leases_reclaimed_total')).toEqual(['leases_reclaimed_total 1'])
})

test('ready runs are counted, with the age of the oldest', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, target } = fixture
  const held = holdAnswers(target)
  for (let made = 0; made < 19; made++) await createJob()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(16)

  await advanceWaiting(app, 10 * SECOND)

  expect(await metric(fixture, 'runs_ready')).toEqual(['runs_ready 3'])
  expect(await metric(fixture, 'lag_seconds')).toEqual(['lag_seconds 10'])
})
