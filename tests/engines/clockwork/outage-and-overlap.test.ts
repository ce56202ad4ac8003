import { describe, expect, test } from 'bun:test'
import {
  advanceWaiting,
  at,
  bootFixture,
  breathe,
  DAY,
  HALF_MINUTE,
  HOUR,
  holdAnswers,
  JOBS,
  MINUTE,
  NOON,
  SECOND,
  storyOf,
} from './support.ts'

/** The loop looks at the clock at least this often. */
const SOON = 6 * SECOND

describe('after an outage', () => {
  test('one late run stands for all that was missed, and the rest are counted', async () => {
    await using fixture = await bootFixture()
    const { createJob, readJob, executionsOf, clock } = fixture
    const job = await createJob({ schedule: '*/10 * * * *' })

    clock.jump(HOUR)
    await clock.advance(SOON)

    expect(await executionsOf(job)).toMatchObject([{ slot_at: at('12:10:00'), attempt: 1 }])
    expect((await executionsOf(job))[0].lateness_ms).toBeGreaterThan(50 * MINUTE)
    expect(await readJob(job)).toMatchObject({
      next_run_at: at('13:10:00'),
      skipped_slots: { outage: 5, overlap: 0 },
    })
    await clock.advanceTo(NOON + 70 * MINUTE)
    expect(await executionsOf(job)).toHaveLength(2)
  })

  test('a job that missed a single slot has skipped none', async () => {
    await using fixture = await bootFixture()
    const { createJob, readJob, clock, target } = fixture
    const job = await createJob({ schedule: '*/10 * * * *' })

    clock.jump(15 * MINUTE)
    await clock.advance(SOON)

    expect(target.requests).toHaveLength(1)
    expect(await readJob(job)).toMatchObject({
      next_run_at: at('12:20:00'),
      skipped_slots: { outage: 0 },
    })
  })

  test('slots are counted to 1000, so that a long outage does not hold up the start', async () => {
    await using fixture = await bootFixture()
    const { createJob, readJob, clock } = fixture
    const job = await createJob()

    clock.jump(400 * DAY)
    await clock.advance(SOON)

    expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 1000 } })
  })

  test('a long one is still told after the clean-up', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, readJob, clock } = fixture
    const job = await createJob({ schedule: '0 0 * * *' })

    clock.jump(60 * DAY)
    await clock.advance(SOON)
    await app.platform.retention.sweep()

    expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 59 } })
  })

  test('counts of several add up, also over days', async () => {
    await using fixture = await bootFixture()
    const { createJob, readJob, clock } = fixture
    const job = await createJob({ schedule: '0 * * * *' })

    for (const pause of [3 * HOUR, 4 * HOUR, DAY]) {
      clock.jump(pause)
      await clock.advance(SOON)
    }

    expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 2 + 3 + 23 } })
  })

  test('an inactive job has nothing to make up for', async () => {
    await using fixture = await bootFixture()
    const { createJob, readJob, clock, target } = fixture
    const job = await createJob({ is_active: false })

    clock.jump(HOUR)
    await clock.advance(SOON)

    expect(target.requests).toEqual([])
    expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 0, overlap: 0 } })
  })
})

describe('a clock that is set back', () => {
  test('fires no slot a second time', async () => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, clock } = fixture
    const job = await createJob()
    await clock.advance(2 * MINUTE)

    clock.jump(-10 * MINUTE)
    await clock.advance(9 * MINUTE)

    expect(await executionsOf(job)).toHaveLength(2)
    await clock.advance(2 * MINUTE)
    expect(await executionsOf(job)).toHaveLength(3)
  })

  test('leads no job to a slot whose run is still open, and stops no other job', async () => {
    await using fixture = await bootFixture()
    const { createJob, change, executionsOf, readJob, clock, target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    const job = await createJob({ schedule: '1 * * * *' })
    await clock.advance(MINUTE)
    target.answers(() => new Response('ok'))
    clock.jump(-5 * MINUTE)
    await change(job, { schedule: '1 12 * * *' })
    expect(await readJob(job)).toMatchObject({ next_run_at: at('12:01:00') })
    const other = await createJob({ schedule: '0 12 * * *' })

    await clock.advanceTo(NOON + MINUTE + 1)

    expect(await executionsOf(other)).toMatchObject([{ slot_at: at('12:00:00') }])
    expect(await executionsOf(job)).toHaveLength(1)
    expect(await readJob(job)).toMatchObject({ next_run_at: '2026-03-02T12:01:00.000Z' })
  })
})

describe('while the target is slow', () => {
  test('two runs of a job may be under way; further slots are counted, not queued', async () => {
    await using fixture = await bootFixture({ flags: { 'clockwork-timeout': '15m' } })
    const { app, createJob, readJob, executionsOf, clock, target } = fixture
    const held = holdAnswers(target)
    const job = await createJob()

    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(1)
    await advanceWaiting(app, MINUTE)
    await held.arrived(2)
    await advanceWaiting(app, 3 * MINUTE)

    expect(await readJob(job)).toMatchObject({
      next_run_at: at('12:06:00'),
      last_run_at: at('12:02:00'),
      skipped_slots: { outage: 0, overlap: 3 },
    })
    held.release()
    target.answers(() => new Response('ok'))
    await app.clockwork.loop.idle()
    await clock.advance(MINUTE)
    expect(storyOf(await executionsOf(job))).toEqual([
      [1, '12:01:00', 'success'],
      [1, '12:02:00', 'success'],
      [1, '12:06:00', 'success'],
    ])
  })

  test('runs that wait for a retry hold no slot up', async () => {
    await using fixture = await bootFixture()
    const { createJob, readJob, executionsOf, clock, target } = fixture
    target.answers(() => new Response('', { status: 503 }))
    const job = await createJob()

    await clock.advance(20 * MINUTE)

    expect(await readJob(job)).toMatchObject({ skipped_slots: { overlap: 0 } })
    const first = (await executionsOf(job)).filter(
      ({ attempt }: { attempt: number }) => attempt === 1,
    )
    expect(first).toHaveLength(20)
  })

  test('the other jobs of the tenant run on time', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, createDelayed, executionsOf, target } = fixture
    const held = holdAnswers(target)
    await createJob()
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(1)

    const other = await createDelayed({ run_at: at('12:02:00') })
    await advanceWaiting(app, MINUTE)
    await held.arrived(3)

    expect(await executionsOf(other)).toMatchObject([{ started_at: at('12:02:00') }])
  })
})

describe('run now', () => {
  test('answers 202 and runs at once, once, with the schedule where it was', async () => {
    await using fixture = await bootFixture()
    const { app, api, createJob, readJob, executionsOf, target } = fixture
    const job = await createJob({ schedule: '*/10 * * * *' })

    const answer = await api.post(`${JOBS}/${job.id}/run`)
    await app.clockwork.loop.idle()

    expect(answer).toMatchObject({
      status: 202,
      body: { job_id: job.id, requested_at: at('12:00:30') },
    })
    expect(target.requests).toHaveLength(1)
    expect(await executionsOf(job)).toMatchObject([
      { trigger: 'manual', slot_at: at('12:00:30'), attempt: 1, status: 'success' },
    ])
    expect(await readJob(job)).toMatchObject({
      next_run_at: at('12:10:00'),
      last_run_at: at('12:00:30'),
    })
  })

  test('works on a paused job, which stays paused', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, runNow, readJob, clock, target } = fixture
    const job = await createJob({ is_active: false })

    await runNow(job)
    await app.clockwork.loop.idle()
    await clock.advance(10 * MINUTE)

    expect(target.requests).toHaveLength(1)
    expect(await readJob(job)).toMatchObject({ is_active: false })
  })

  test('is retried like any run, on a paused job too', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, runNow, executionsOf, clock, target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    const active = await createJob({ schedule: '0 0 1 1 *' })
    const paused = await createJob({ is_active: false })

    for (const job of [active, paused]) await runNow(job)
    await app.clockwork.loop.idle()
    await clock.advance(10 * MINUTE)

    expect(await executionsOf(active)).toHaveLength(3)
    expect(await executionsOf(paused)).toHaveLength(3)
  })

  test('answers 409 while two runs of the job are under way', async () => {
    await using fixture = await bootFixture()
    const { app, api, createJob, runNow, executionsOf, target } = fixture
    const held = holdAnswers(target)
    const job = await createJob()
    await runNow(job)
    await runNow(job)
    await held.arrived(2)

    const third = await api.post(`${JOBS}/${job.id}/run`)

    expect(third).toMatchObject({ status: 409, body: { error: expect.stringContaining('2 runs') } })
    held.release()
    await app.clockwork.loop.idle()
    expect(await executionsOf(job)).toHaveLength(2)
    await runNow(job)
    await held.arrived(3)
  })

  test('of the same millisecond as another is a run of its own', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, runNow, executionsOf } = fixture
    const job = await createJob({ is_active: false })

    await Promise.all([runNow(job), runNow(job)])
    await breathe(app)
    await app.clockwork.loop.idle()

    expect(await executionsOf(job)).toHaveLength(2)
  })
})
