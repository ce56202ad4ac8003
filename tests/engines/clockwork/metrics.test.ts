import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { HALF_MINUTE, HOUR, MINUTE, SECOND } from '../relay/support.ts'
import { bootProcess } from './processes.ts'
import { advanceWaiting, bootFixture, type Fixture } from './support.ts'

/** The values of a metric by its labels, as /metrics shows them. */
async function metricOf({ app }: Pick<Fixture, 'app'>, name: string) {
  const lines: string[] = (await app.raw('/metrics')).body.split('\n')
  const values = lines.filter((line) => line.startsWith(`gatehouse_clockwork_${name}`))
  return values.map((line) => line.replace(`gatehouse_clockwork_${name}`, ''))
}

test('Attempts are counted by outcome, and skipped slots by reason', async () => {
  await using fixture = await bootFixture()
  const { app, change, createJob, clock, target } = fixture
  const metric = (name: string) => metricOf(fixture, name)
  const attempts = (succeeded: number, failed: number) => [
    `{status="success"} ${succeeded}`,
    `{status="failed"} ${failed}`,
  ]
  const job = await createJob()
  await clock.advance(2 * MINUTE)
  target.answers(400)
  await clock.advance(MINUTE)
  expect(await metric('attempts_total')).toEqual(attempts(2, 1))
  expect(await metric('lateness_seconds_count')).toEqual([' 3'])
  expect(await metric('lateness_seconds_sum')).toEqual([' 0'])
  clock.jump(HOUR)
  await clock.advance(6 * SECOND)
  const skipped = ['{reason="outage"} 59', '{reason="overlap"} 0']
  expect(await metric('slots_skipped_total')).toEqual(skipped)
  await change(job, { is_active: false })

  // An attempt whose lease is taken back counts as a failed one.
  const held = target.hold()
  await createJob({ schedule: '5 13 * * *' })
  await using other = await bootProcess(dirname(app.db.file), { now: clock.now() })
  await advanceWaiting(other, MINUTE + HALF_MINUTE)
  await held.arrived(5)
  other.db.client.run('update runs set lease_until = 1')
  await clock.advance(6 * SECOND)
  held.release()
  expect(await metric('attempts_total')).toEqual(attempts(2, 3))
  expect(await metric('leases_reclaimed_total')).toEqual([' 1'])
})

test('Ready runs are counted, with the age of the oldest', async () => {
  await using fixture = await bootFixture()
  const held = fixture.target.hold()
  for (let made = 0; made < 19; made++) await fixture.createJob()
  await advanceWaiting(fixture.app, HALF_MINUTE)
  await held.arrived(16)
  await advanceWaiting(fixture.app, 10 * SECOND)
  expect(await metricOf(fixture, 'runs_ready')).toEqual([' 3'])
  expect(await metricOf(fixture, 'lag_seconds')).toEqual([' 10'])
  held.release()
})
