import { expect, test } from 'bun:test'
import { count, DAY, HOUR, MINUTE } from '../relay/support.ts'
import { at, breathe, DELAYED, useClockwork, writeHistory } from './support.ts'

const { app, fresh } = await useClockwork()
const { clock } = app

async function sweepAfter(ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

const executions = () => count(app, 'executions')

test('The newest 100 executions of each cron job are kept and listed', async () => {
  const fixture = await fresh()
  const { createJob, executionsOf } = fixture
  const [busy, idle] = [await createJob(), await createJob({ is_active: false })]
  for (const job of [busy, idle]) writeHistory(fixture, job, 100)
  await clock.advance(3 * MINUTE)
  expect(executions()).toBe(200)
  const listed = await executionsOf(busy)
  expect(listed).toHaveLength(100)
  const slots = [0, 2, 99].map((place) => listed[place].slot_at)
  expect(slots).toEqual(['12:03:00', '12:01:00', '10:23:00'].map(at))
})

test('A failure of a cron job is kept for 7 days longer', async () => {
  const fixture = await fresh()
  const { createJob, executionsOf, change } = fixture
  const job = await createJob()
  writeHistory(fixture, job, 100, 3)
  await clock.advance(5 * MINUTE)
  await change(job, { is_active: false })
  expect(await executionsOf(job)).toHaveLength(100)
  expect(executions()).toBe(103)
  await sweepAfter(7 * DAY - 10 * MINUTE)
  expect(executions()).toBe(103)
  await sweepAfter(10 * MINUTE)
  expect(executions()).toBe(100)
  await sweepAfter(300 * DAY)
  const tables = ['executions', 'cron_jobs', 'job_counts', 'runs', 'skipped_slots']
  expect(tables.map((table) => count(app, table))).toEqual([100, 1, 1, 0, 0])
})

test('A failure that is no longer listed keeps the beginning of its answer', async () => {
  const fixture = await fresh()
  fixture.target.answers(() => new Response('x'.repeat(60_000), { status: 404 }))
  const job = await fixture.createJob()
  await clock.advance(MINUTE)
  writeHistory(fixture, job, 99)
  await clock.advance(2 * MINUTE)
  const cut = 'select length(response_body) as n from executions where expires_at is not null'
  expect(app.db.client.query(cut).all()).toEqual([{ n: 2000 }])
})

test('A delayed job is kept for 30 days after its end, with its executions', async () => {
  const { api, createDelayed, readDelayed, target } = await fresh()
  target.answers(({ path }) => new Response('', { status: path.endsWith('bad') ? 400 : 200 }))
  const success = await createDelayed()
  const failed = await createDelayed({ url: `${target.url}/bad` })
  const cancelled = await createDelayed()
  const pending = await createDelayed({ run_at: '2027-03-01T00:00:00Z' })
  await api.delete(`${DELAYED}/${cancelled.id}`)
  await clock.advance(MINUTE)

  await sweepAfter(30 * DAY - 10 * MINUTE)
  for (const [status, job] of Object.entries({ success, failed, cancelled, pending }))
    expect(await readDelayed(job)).toMatchObject({ status })
  expect(executions()).toBe(2)
  await sweepAfter(HOUR)
  expect(await readDelayed(pending)).toMatchObject({ status: 'pending' })
  expect([count(app, 'delayed_jobs'), executions()]).toEqual([1, 0])
})

test('Skipped slots are kept for 30 days, and counts of an hour for 15', async () => {
  const { createJob, change, readJob } = await fresh()
  const job = await createJob({ schedule: '0 * * * *' })
  clock.jump(4 * HOUR)
  await clock.advance(6000)
  await change(job, { is_active: false })
  await sweepAfter(15 * DAY - HOUR)
  expect(count(app, 'clockwork_hours')).toBe(1)
  await sweepAfter(HOUR)
  expect(count(app, 'clockwork_hours')).toBe(0)
  await sweepAfter(14 * DAY)
  expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 3 } })
  await sweepAfter(2 * DAY)
  expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 0 } })
  expect(count(app, 'skipped_slots')).toBe(0)
})

test('A sweep deletes in slices of 500 rows, with room for others between them', async () => {
  const fixture = await fresh()
  writeHistory(fixture, await fixture.createJob({ is_active: false }), 1200)
  app.db.client.run('update executions set expires_at = 1')
  const sweep = app.platform.retention.sweep()
  while (executions() === 1200) await breathe(app)
  expect(executions()).toBe(700)
  for (let slice = 0; slice < 3; slice++) {
    await clock.advance(20)
    await breathe(app)
  }
  await sweep
  expect(executions()).toBe(0)
})
