import { expect, test } from 'bun:test'
import { DAY, HALF_MINUTE, HOUR, MINUTE, SECOND } from '../relay/support.ts'
import {
  advanceWaiting,
  at,
  bootFixture,
  breathe,
  JOBS,
  NOON,
  storyOf,
  useClockwork,
} from './support.ts'

const { app, fresh } = await useClockwork()
const { idle } = app.clockwork.loop

/** The loop reads the clock at least this often. */
const SOON = 6 * SECOND

test('After an outage, one late run replaces all that were missed, and the rest are counted', async () => {
  const { createJob, readJob, executionsOf, clock } = await fresh()
  const job = await createJob({ schedule: '*/10 * * * *' })
  clock.jump(HOUR)
  await clock.advance(SOON)
  const executions = await executionsOf(job)
  expect(executions).toMatchObject([{ slot_at: at('12:10:00'), attempt: 1 }])
  expect(executions[0].lateness_ms).toBeGreaterThan(50 * MINUTE)
  const skipped_slots = { outage: 5, overlap: 0 }
  expect(await readJob(job)).toMatchObject({ next_run_at: at('13:10:00'), skipped_slots })
  await clock.advanceTo(NOON + 70 * MINUTE)
  expect(await executionsOf(job)).toHaveLength(2)
})

test.each([
  ['*/10 * * * *', [15 * MINUTE], 0],
  ['0 * * * *', [3 * HOUR, 4 * HOUR, DAY], 2 + 3 + 23],
  ['* * * * *', [400 * DAY], 1000],
])('%s skips slots over %j: %i', async (schedule, outages, skipped) => {
  const { createJob, readJob, clock, target } = await fresh()
  const job = await createJob({ schedule })
  await createJob({ is_active: false })
  for (const outage of outages) {
    clock.jump(outage)
    await clock.advance(SOON)
  }
  expect(target.requests).toHaveLength(outages.length)
  const skipped_slots = { outage: skipped, overlap: 0 }
  expect(await readJob(job)).toMatchObject({ skipped_slots })
})

test('In a time zone, an outage over a clock change skips as many slots as its clocks show', async () => {
  const { createJob, readJob, executionsOf, clock } = await fresh()
  clock.jump(Date.parse('2026-03-28T23:50:00.000Z') - clock.now())
  const time_zone = 'Europe/Berlin'
  const twice = await createJob({ schedule: '30 1,2,3 * * *', time_zone })
  const hourly = await createJob({ schedule: '30 * * * *', time_zone })
  clock.jump(2 * HOUR)
  await clock.advance(SOON)
  const slot_at = '2026-03-29T00:30:00.000Z'
  for (const [job, outage] of [
    [twice, 2],
    [hourly, 1],
  ]) {
    expect(await executionsOf(job)).toMatchObject([{ slot_at }])
    expect(await readJob(job)).toMatchObject({ skipped_slots: { outage, overlap: 0 } })
  }
})

test('A clock that is set back runs no slot a second time', async () => {
  const { createJob, executionsOf, clock } = await fresh()
  const job = await createJob()
  await clock.advance(2 * MINUTE)
  clock.jump(-5 * MINUTE)
  await clock.advance(4 * MINUTE)
  expect(await executionsOf(job)).toHaveLength(2)
  await clock.advance(2 * MINUTE)
  expect(await executionsOf(job)).toHaveLength(3)
})

test('A clock that is set back leads no job to a slot whose run is open, and stops no other job', async () => {
  const { createJob, change, executionsOf, readJob, clock, target } = await fresh()
  target.answers(500)
  const job = await createJob({ schedule: '1 * * * *' })
  await clock.advance(MINUTE)
  target.answers(200)
  clock.jump(-5 * MINUTE)
  await change(job, { schedule: '1 12 * * *' })
  expect(await readJob(job)).toMatchObject({ next_run_at: at('12:01:00') })
  const other = await createJob({ schedule: '0 12 * * *' })
  await clock.advanceTo(NOON + MINUTE + 1)
  expect(await executionsOf(other)).toMatchObject([{ slot_at: at('12:00:00') }])
  expect(await executionsOf(job)).toHaveLength(1)
  expect(await readJob(job)).toMatchObject({ next_run_at: '2026-03-02T12:01:00.000Z' })
})

test('While the target is slow, two runs of a job may be under way, and further slots are counted', async () => {
  await using fixture = await bootFixture({ flags: { 'clockwork-timeout': '15m' } })
  const { app, createJob, createDelayed, readJob, executionsOf, clock, target } = fixture
  const held = target.hold()
  const job = await createJob()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)
  const other = await createDelayed({ run_at: at('12:02:00') })
  await advanceWaiting(app, MINUTE)
  await held.arrived(3)
  expect(await executionsOf(other)).toMatchObject([{ started_at: at('12:02:00') }])
  await advanceWaiting(app, 3 * MINUTE)

  const times = { next_run_at: at('12:06:00'), last_run_at: at('12:02:00') }
  const skipped_slots = { outage: 0, overlap: 3 }
  expect(await readJob(job)).toMatchObject({ ...times, skipped_slots })
  held.release()
  target.answers(200)
  await app.clockwork.loop.idle()
  await clock.advance(MINUTE)
  const started = storyOf(await executionsOf(job)).map(([, time]) => time)
  expect(started).toEqual(['12:01:00', '12:02:00', '12:06:00'])
})

test('Run now runs a job once, immediately, with retries, and the schedule stays', async () => {
  const { createJob, runNow, readJob, executionsOf, clock, target } = await fresh()
  target.answers(500)
  const active = await createJob({ schedule: '*/10 * * * *' })
  const paused = await createJob({ is_active: false })
  for (const job of [active, paused]) {
    const answer = await runNow(job)
    expect(answer).toMatchObject({ job_id: job.id, requested_at: at('12:00:30') })
  }
  await idle()
  expect(target.requests).toHaveLength(2)
  const run = { trigger: 'manual', slot_at: at('12:00:30'), attempt: 1, status: 'failed' }
  for (const job of [active, paused]) expect(await executionsOf(job)).toMatchObject([run])
  const times = { next_run_at: at('12:10:00'), last_run_at: at('12:00:30') }
  expect(await readJob(active)).toMatchObject(times)
  await clock.advance(7 * MINUTE)
  for (const job of [active, paused]) expect(await executionsOf(job)).toHaveLength(3)
  expect(await readJob(paused)).toMatchObject({ is_active: false })
})

test('Run now answers 409 while two runs of the job are under way', async () => {
  const { api, createJob, runNow, executionsOf, target } = await fresh()
  const held = target.hold()
  const job = await createJob()
  await Promise.all([runNow(job), runNow(job)])
  await held.arrived(2)
  expect(await api.post(`${JOBS}/${job.id}/run`)).toMatchObject({ status: 409 })
  held.release()
  await breathe(app)
  await idle()
  expect(await executionsOf(job)).toHaveLength(2)
  await runNow(job)
  await held.arrived(3)
  held.release()
})
