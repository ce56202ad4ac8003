import { describe, expect, test } from 'bun:test'
import {
  at,
  bootFixture,
  breathe,
  count,
  DAY,
  DELAYED,
  type Fixture,
  HALF_MINUTE,
  HOUR,
  MINUTE,
  writeHistory,
} from './support.ts'

async function sweepAfter({ app, clock }: Fixture, ms: number) {
  clock.jump(ms)
  await app.platform.retention.sweep()
}

const executions = ({ app }: Fixture) => count(app, 'executions')

describe('of a cron job', () => {
  test('the newest 100 executions are kept, of each job its own', async () => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, clock } = fixture
    const [busy, idle] = [await createJob(), await createJob({ is_active: false })]
    for (const job of [busy, idle]) writeHistory(fixture, job, 100)

    await clock.advance(10 * MINUTE)

    expect(executions(fixture)).toBe(200)
    expect((await executionsOf(busy))[0].slot_at).toBe(at('12:10:00'))
  })

  test('a failure is kept for 7 days longer', async () => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, change, clock } = fixture
    const job = await createJob()
    writeHistory(fixture, job, 100, 3)
    await clock.advance(5 * MINUTE)
    await change(job, { is_active: false })
    expect(await executionsOf(job)).toHaveLength(100)
    expect(executions(fixture)).toBe(103)

    await sweepAfter(fixture, 7 * DAY - 10 * MINUTE)
    expect(executions(fixture)).toBe(103)
    await sweepAfter(fixture, 10 * MINUTE)
    expect(executions(fixture)).toBe(100)
    await sweepAfter(fixture, 300 * DAY)
    expect(executions(fixture)).toBe(100)
  })

  test('the beginning of the answer is kept of a failure that is no longer listed', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, clock, target } = fixture
    target.answers(() => new Response('x'.repeat(60_000), { status: 404 }))
    const job = await createJob()
    await clock.advance(MINUTE)
    writeHistory(fixture, job, 99)
    await clock.advance(2 * MINUTE)

    const cut = 'select length(response_body) as n from executions where expires_at is not null'
    expect(app.db.client.query(cut).all()).toEqual([{ n: 2000 }])
  })

  test('nothing grows with the number of runs', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, change, clock, target } = fixture
    target.answers(() => new Response('', { status: 404 }))
    const job = await createJob()
    await clock.advance(150 * MINUTE)
    expect(executions(fixture)).toBe(150)

    await change(job, { is_active: false })
    await sweepAfter(fixture, 8 * DAY)

    const tables = ['executions', 'clockwork_hours', 'cron_jobs', 'job_counts']
    expect(tables.map((table) => count(app, table))).toEqual([100, 3, 1, 1])
    for (const table of ['runs', 'skipped_slots']) expect(count(app, table)).toBe(0)
  })
})

test.each(['success', 'failed', 'cancelled', 'pending'])(
  'a delayed job that is %s is kept for 30 days after its end, with its executions',
  async (status) => {
    await using fixture = await bootFixture()
    const { app, api, createDelayed, readDelayed, clock, target } = fixture
    target.answers(() => new Response('', { status: status === 'success' ? 200 : 500 }))
    const run_at = status === 'pending' ? '2027-03-01T00:00:00Z' : at('12:01:00')
    const job = await createDelayed({ run_at })
    await clock.advance(HALF_MINUTE)
    if (status === 'cancelled') await api.delete(`${DELAYED}/${job.id}`)
    await clock.advance(6 * MINUTE)
    const before = executions(fixture)

    await sweepAfter(fixture, 30 * DAY - 10 * MINUTE)
    expect(await readDelayed(job)).toMatchObject({ status })
    expect(executions(fixture)).toBe(before)

    await sweepAfter(fixture, HOUR)
    const left = status === 'pending' ? 1 : 0
    expect([count(app, 'delayed_jobs'), executions(fixture)]).toEqual([left, 0])
  },
)

test('skipped slots are kept for 30 days, and counts of an hour for 15', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, change, readJob, clock } = fixture
  const job = await createJob({ schedule: '0 * * * *' })
  clock.jump(4 * HOUR)
  await clock.advance(6000)
  await change(job, { is_active: false })

  await sweepAfter(fixture, 15 * DAY - HOUR)
  expect(count(app, 'clockwork_hours')).toBe(1)
  await sweepAfter(fixture, HOUR)
  expect(count(app, 'clockwork_hours')).toBe(0)
  await sweepAfter(fixture, 14 * DAY)
  expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 3 } })
  await sweepAfter(fixture, 2 * DAY)
  expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 0 } })
  expect(count(app, 'skipped_slots')).toBe(0)
})

test('a sweep deletes in slices of 500 rows, with room for others between them', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, clock } = fixture
  writeHistory(fixture, await createJob({ is_active: false }), 1200)
  app.db.client.run('update executions set expires_at = 1')

  const sweep = app.platform.retention.sweep()
  await breathe(app)
  expect(executions(fixture)).toBe(700)
  for (let slice = 0; slice < 3; slice++) {
    await clock.advance(20)
    await breathe(app)
  }
  await sweep

  expect(executions(fixture)).toBe(0)
})
