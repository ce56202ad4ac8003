import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { count, HALF_MINUTE, HOUR, MINUTE, SECOND } from '../relay/support.ts'
import { bootProcess } from './processes.ts'
import { advanceWaiting, at, bootFixture, breathe, type Fixture, JOBS, storyOf } from './support.ts'

// A process that is killed is in tests/slow/processes/clockwork.test.ts.

const ONCE = { schedule: '1 12 * * *' }
const SEVEN = { schedule: '7 12 * * *' }

/** One more process on the same data, which may find the first one gone. */
const bootBeside = ({ app }: Fixture, othersRun: boolean, after = 0) =>
  bootProcess(dirname(app.db.file), { now: app.clock.now() + after, othersRun })

/** A job of each kind whose first attempt is not answered yet. */
async function bootUnderWay() {
  const fixture = await bootFixture()
  const held = fixture.target.hold()
  const cron = await fixture.createJob(ONCE)
  const delayed = await fixture.createDelayed()
  await advanceWaiting(fixture.app, HALF_MINUTE)
  await held.arrived(2)
  return { ...fixture, held, cron, delayed, jobs: [cron, delayed] }
}

const running = ({ app }: Fixture) => count(app, "executions where status = 'running'")

/** Ends the work of the first process as a shutdown does; its database can still be read. */
async function shutDown({ app }: Fixture) {
  await app.clockwork.loop.stop(0)
  await app.platform.instances.stop()
}

test('After a restart, retries are made when they are due, with the request from before an edit', async () => {
  await using fixture = await bootFixture()
  const { createJob, createDelayed, change, executionsOf, clock, target } = fixture
  target.answers(500)
  const cron = await createJob({ ...ONCE, body: 'old' })
  const delayed = await createDelayed({ body: 'old' })
  await clock.advance(MINUTE)
  await change(cron, { body: 'new' })
  await shutDown(fixture)
  await using next = await bootBeside(fixture, true)
  await next.clock.advance(7 * MINUTE)
  for (const job of [cron, delayed])
    expect(storyOf(await executionsOf(job))).toEqual([
      [1, '12:01:00', 'failed'],
      [2, '12:02:00', 'failed'],
      [3, '12:07:00', 'failed'],
    ])
  expect(await fixture.readDelayed(delayed)).toMatchObject({ status: 'failed' })
  expect(target.requests.map(({ body }) => body)).toEqual(Array(6).fill('old'))
})

test('After a restart, jobs that were due meanwhile run immediately, late', async () => {
  await using fixture = await bootFixture()
  const { createJob, createDelayed, executionsOf, readJob, target } = fixture
  const [cron, delayed] = [await createJob(), await createDelayed()]
  await shutDown(fixture)
  await using next = await bootBeside(fixture, true, HOUR)
  await next.clockwork.loop.idle()
  expect(target.requests).toHaveLength(2)
  for (const job of [cron, delayed])
    expect(storyOf(await executionsOf(job))).toEqual([[1, '13:00:30', 'success']])
  const after = { next_run_at: at('13:01:00'), skipped_slots: { outage: 59 } }
  expect(await readJob(cron)).toMatchObject(after)
})

test('The attempt of a process that is gone fails and is retried, and a late answer changes nothing', async () => {
  await using fixture = await bootUnderWay()
  const { jobs, held, delayed, executionsOf, readDelayed } = fixture
  await using next = await bootBeside(fixture, false, 10 * SECOND)
  await next.clockwork.loop.idle()
  const failed = { status: 'failed', attempt: 1, duration_ms: 10_000 }
  const error_message = expect.stringContaining('stopped before')
  const lost = { completed_at: at('12:01:10'), response_status: null, response_body: null }
  for (const job of jobs)
    expect(await executionsOf(job)).toMatchObject([{ ...failed, ...lost, error_message }])
  const waiting = { status: 'pending', run_at: at('12:02:00') }
  expect(await readDelayed(delayed)).toMatchObject(waiting)

  await advanceWaiting(next, MINUTE)
  await held.arrived(4)
  held.release(400, 2)
  await fixture.app.clockwork.loop.idle()
  expect(await readDelayed(delayed)).toMatchObject({ status: 'running' })
  for (const job of jobs)
    expect((await executionsOf(job))[1]).toMatchObject({ ...failed, ...lost, error_message })
  held.release(200)
  await next.clockwork.loop.idle()
  for (const job of jobs)
    expect(storyOf(await executionsOf(job))).toEqual([
      [1, '12:01:00', 'failed'],
      [2, '12:02:00', 'success'],
    ])
  expect(await readDelayed(delayed)).toMatchObject({ status: 'success' })
})

test('A lost third attempt is the last, and that of a paused or deleted job is not retried', async () => {
  await using fixture = await bootFixture()
  const { app, api, change, createJob, createDelayed, executionsOf, target } = fixture
  target.answers(500)
  const third = await createDelayed()
  const [paused, deleted] = [await createJob(SEVEN), await createJob(SEVEN)]
  await fixture.clock.advance(2 * MINUTE)
  const held = target.hold()
  await advanceWaiting(app, 4.5 * MINUTE)
  await held.arrived(5)
  await change(paused, { is_active: false })
  await api.delete(`${JOBS}/${deleted.id}`)
  await using next = await bootBeside(fixture, false)
  await next.clock.advance(6 * MINUTE)
  expect(await fixture.readDelayed(third)).toMatchObject({ status: 'failed' })
  expect(await executionsOf(third)).toHaveLength(3)
  expect(storyOf(await executionsOf(paused))).toEqual([[1, '12:07:00', 'failed']])
  expect([count(app, 'executions'), count(app, 'runs')]).toEqual([4, 0])
})

test('While two processes run, each slot, each delayed job and each retry runs once', async () => {
  await using fixture = await bootFixture()
  const { createJob, createDelayed, executionsOf, clock, target } = fixture
  target.answers(({ headers }) => {
    const first = headers.get('x-clockwork-attempt') === '1'
    return new Response('', { status: first ? 500 : 200 })
  })
  const jobs: { id: string }[] = []
  for (let made = 0; made < 3; made++) jobs.push(await createJob(), await createDelayed())
  await using second = await bootBeside(fixture, true)
  for (let elapsed = 0; elapsed < 3 * MINUTE; elapsed += 5 * SECOND)
    await Promise.all([clock.advance(5 * SECOND), second.clock.advance(5 * SECOND)])

  expect(target.requests).toHaveLength(3 * (3 + 2) + 3 * 2)
  for (const job of jobs) {
    const executions: { slot_at: string; attempt: number }[] = await executionsOf(job)
    const tries = executions.map(({ slot_at, attempt }) => `${slot_at} ${attempt}`)
    expect(new Set(tries).size).toBe(tries.length)
  }
  expect(running(fixture)).toBe(0)
})

test('Of two processes, one takes the work of the other only after its lease ended', async () => {
  await using fixture = await bootUnderWay()
  const { app, jobs, executionsOf, held, target } = fixture
  await using second = await bootBeside(fixture, true)
  for (let n = 0; n < 3; n++) {
    await advanceWaiting(app, 6 * SECOND)
    await second.clock.advance(6 * SECOND)
  }
  expect([running(fixture), target.requests.length]).toEqual([2, 2])
  app.db.client.run('update runs set lease_until = 1')
  await second.clock.advance(6 * SECOND)
  const error_message = expect.stringContaining('stopped before')
  for (const job of jobs)
    expect(await executionsOf(job)).toMatchObject([{ status: 'failed', error_message }])
  held.release()
})

test('A process does not give up its own work, whatever the clock says', async () => {
  await using fixture = await bootUnderWay()
  const { app, jobs, held, executionsOf, clock } = fixture
  clock.jump(HOUR)
  await advanceWaiting(app, 10 * SECOND)
  await breathe(app)
  expect(running(fixture)).toBe(2)
  held.release()
  await app.clockwork.loop.idle()
  for (const job of jobs)
    expect(await executionsOf(job)).toMatchObject([{ status: 'success', attempt: 1 }])
})
