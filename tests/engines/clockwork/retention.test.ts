import { expect, test } from 'bun:test'
import {
  at,
  bootFixture,
  breathe,
  count,
  DAY,
  DELAYED,
  HALF_MINUTE,
  HOUR,
  MINUTE,
  writeHistory,
} from './support.ts'

test('of a cron job the newest 100 executions are kept', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, executionsOf, clock } = fixture
  const job = await createJob()
  writeHistory(fixture, job, 100)

  await clock.advance(10 * MINUTE)

  expect(count(app, 'executions')).toBe(100)
  expect((await executionsOf(job))[0].slot_at).toBe(at('12:10:00'))
})

test('each job has its own 100', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, clock } = fixture
  const [busy, idle] = [await createJob(), await createJob({ is_active: false })]
  writeHistory(fixture, busy, 100)
  writeHistory(fixture, idle, 100)

  await clock.advance(5 * MINUTE)

  expect(count(app, 'executions')).toBe(200)
})

test('a failure stays 7 days longer than the list shows it', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, executionsOf, change, clock } = fixture
  const job = await createJob()
  writeHistory(fixture, job, 100, 3)
  await clock.advance(5 * MINUTE)
  await change(job, { is_active: false })
  expect(await executionsOf(job)).toHaveLength(100)
  expect(count(app, 'executions')).toBe(103)

  clock.jump(7 * DAY - 10 * MINUTE)
  await app.platform.retention.sweep()
  expect(count(app, 'executions')).toBe(103)

  clock.jump(10 * MINUTE)
  await app.platform.retention.sweep()
  expect(count(app, 'executions')).toBe(100)
})

test('executions that the list shows never go, however old they get', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, executionsOf, clock, target } = fixture
  target.answers(() => new Response('', { status: 400 }))
  const job = await createJob({ schedule: '1 12 1 3 *' })
  await clock.advance(HALF_MINUTE)

  clock.jump(300 * DAY)
  await app.platform.retention.sweep()

  expect(await executionsOf(job)).toHaveLength(1)
})

test.each(['success', 'failed', 'cancelled'])(
  'a delayed job that is %s goes 30 days after its end, with its executions',
  async (status) => {
    await using fixture = await bootFixture()
    const { app, api, createDelayed, readDelayed, clock, target } = fixture
    target.answers(() => new Response('', { status: status === 'success' ? 200 : 500 }))
    const job = await createDelayed()
    await clock.advance(HALF_MINUTE)
    if (status === 'cancelled') await api.delete(`${DELAYED}/${job.id}`)
    await clock.advance(6 * MINUTE)
    expect(await readDelayed(job)).toMatchObject({ status })

    clock.jump(30 * DAY - 10 * MINUTE)
    await app.platform.retention.sweep()
    expect(await readDelayed(job)).toMatchObject({ status })
    expect(count(app, 'executions')).toBeGreaterThan(0)

    clock.jump(HOUR)
    await app.platform.retention.sweep()
    expect(await api.get(`${DELAYED}/${job.id}`)).toMatchObject({ status: 404 })
    expect(count(app, 'delayed_jobs')).toBe(0)
    expect(count(app, 'executions')).toBe(0)
  },
)

test('a delayed job that is pending never goes', async () => {
  await using fixture = await bootFixture()
  const { app, createDelayed, readDelayed, clock } = fixture
  const job = await createDelayed({ run_at: '2027-03-01T00:00:00Z' })

  clock.jump(300 * DAY)
  await app.platform.retention.sweep()

  expect(await readDelayed(job)).toMatchObject({ status: 'pending' })
})

test('skipped slots are told for 30 days', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, change, readJob, clock } = fixture
  const job = await createJob({ schedule: '0 * * * *' })
  clock.jump(4 * HOUR)
  await clock.advance(6000)
  await change(job, { is_active: false })

  clock.jump(29 * DAY)
  await app.platform.retention.sweep()
  expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 3 } })

  clock.jump(2 * DAY)
  await app.platform.retention.sweep()
  expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 0 } })
  expect(count(app, 'skipped_slots')).toBe(0)
})

test('what ended in an hour is counted for 15 days', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, change, clock } = fixture
  const job = await createJob()
  await clock.advance(HALF_MINUTE)
  await change(job, { is_active: false })

  clock.jump(15 * DAY - HOUR)
  await app.platform.retention.sweep()
  expect(count(app, 'clockwork_hours')).toBe(1)

  clock.jump(HOUR)
  await app.platform.retention.sweep()
  expect(count(app, 'clockwork_hours')).toBe(0)
})

test('what is due is deleted in slices of 500 rows, with room for others between them', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, clock } = fixture
  const job = await createJob({ is_active: false })
  writeHistory(fixture, job, 1200)
  app.db.client.run('update executions set expires_at = 1')

  const sweep = app.platform.retention.sweep()
  await breathe(app)
  expect(count(app, 'executions')).toBe(700)
  for (let slice = 0; slice < 3; slice++) {
    await clock.advance(20)
    await breathe(app)
  }
  await sweep

  expect(count(app, 'executions')).toBe(0)
})

test('no table grows with the number of runs', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, change, clock, target } = fixture
  target.answers(() => new Response('', { status: 404 }))
  const job = await createJob()
  await clock.advance(150 * MINUTE)
  expect(count(app, 'executions')).toBe(150)

  await change(job, { is_active: false })
  clock.jump(8 * DAY)
  await app.platform.retention.sweep()

  expect(count(app, 'executions')).toBe(100)
  for (const table of ['runs', 'skipped_slots']) expect(count(app, table)).toBe(0)
  expect(count(app, 'clockwork_hours')).toBe(3)
  for (const table of ['cron_jobs', 'job_counts']) expect(count(app, table)).toBe(1)
})

test('of a failure that is out of the list the beginning of the answer is kept', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, clock, target } = fixture
  target.answers(() => new Response('x'.repeat(60_000), { status: 404 }))
  const job = await createJob()
  await clock.advance(MINUTE)
  writeHistory(fixture, job, 99)
  await clock.advance(2 * MINUTE)

  const lengths = app.db.client
    .query<{ n: number }, []>(
      'select length(response_body) as n from executions where expires_at is not null',
    )
    .all()
  expect(lengths).toEqual([{ n: 2000 }])
})
