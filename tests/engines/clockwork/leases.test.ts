import { describe, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import { bootProcess } from './processes.ts'
import {
  advanceWaiting,
  at,
  bootFixture,
  breathe,
  count,
  type Fixture,
  HALF_MINUTE,
  HOUR,
  holdAnswers,
  JOBS,
  MINUTE,
  SECOND,
  storyOf,
} from './support.ts'

const ONCE = { schedule: '1 12 * * *' }

/** Another process on the same data, which may find the first one gone. */
const bootBeside = (
  { app }: Fixture,
  { othersRun, after = 0 }: { othersRun: boolean; after?: number },
) => bootProcess({ dataDir: dirname(app.db.file), now: app.clock.now() + after, pid: 2, othersRun })

/** Ends the work of the first process as a shutdown does; its database can still be read. */
async function shutDown({ app }: Fixture) {
  await app.clockwork.loop.stop(0)
  await app.platform.instances.stop()
}

const running = ({ app }: Fixture) => count(app, "executions where status = 'running'")

describe('after a restart', () => {
  test('retries come as they would have', async () => {
    await using fixture = await bootFixture()
    const { createJob, createDelayed, executionsOf, readDelayed, clock, target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    const [cron, delayed] = [await createJob(ONCE), await createDelayed()]
    await clock.advance(MINUTE)
    await shutDown(fixture)

    await using next = await bootBeside(fixture, { othersRun: true })
    await next.clock.advance(10 * MINUTE)

    for (const job of [cron, delayed])
      expect(storyOf(await executionsOf(job))).toEqual([
        [1, '12:01:00', 'failed'],
        [2, '12:02:00', 'failed'],
        [3, '12:07:00', 'failed'],
      ])
    expect(await readDelayed(delayed)).toMatchObject({ status: 'failed' })
  })

  test('what was due in between runs at once, late', async () => {
    await using fixture = await bootFixture()
    const { createJob, createDelayed, executionsOf, readJob, target } = fixture
    const [cron, delayed] = [await createJob(), await createDelayed()]
    await shutDown(fixture)

    await using next = await bootBeside(fixture, { othersRun: true, after: HOUR })
    await next.clockwork.loop.idle()

    expect(target.requests).toHaveLength(2)
    for (const job of [cron, delayed])
      expect(storyOf(await executionsOf(job))).toEqual([[1, '13:00:30', 'success']])
    expect(await readJob(cron)).toMatchObject({
      next_run_at: at('13:01:00'),
      skipped_slots: { outage: 59 },
    })
  })

  test('the request of before an edit is still the one that is repeated', async () => {
    await using fixture = await bootFixture()
    const { createJob, change, clock, target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    const job = await createJob({ ...ONCE, body: 'old' })
    await clock.advance(MINUTE)
    await change(job, { body: 'new' })
    await shutDown(fixture)

    await using next = await bootBeside(fixture, { othersRun: true })
    await next.clock.advance(10 * MINUTE)

    expect(target.requests.map(({ body }) => body)).toEqual(['old', 'old', 'old'])
  })
})

describe('when a process is gone with an attempt under way', () => {
  test('the next one to start fails that attempt with a reason, and retries it', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, createDelayed, executionsOf, readDelayed, target } = fixture
    const held = holdAnswers(target)
    const [cron, delayed] = [await createJob(ONCE), await createDelayed()]
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(2)

    await using next = await bootBeside(fixture, { othersRun: false, after: 10 * SECOND })
    await next.clockwork.loop.idle()

    for (const job of [cron, delayed])
      expect(await executionsOf(job)).toMatchObject([
        {
          status: 'failed',
          attempt: 1,
          completed_at: at('12:01:10'),
          duration_ms: 10_000,
          response_status: null,
          response_body: null,
          error_message: expect.stringContaining('stopped before'),
        },
      ])
    expect(await readDelayed(delayed)).toMatchObject({ status: 'pending', run_at: at('12:02:00') })

    target.answers(() => new Response('ok'))
    await next.clock.advance(MINUTE)
    for (const job of [cron, delayed])
      expect(storyOf(await executionsOf(job))).toEqual([
        [1, '12:01:00', 'failed'],
        [2, '12:02:00', 'success'],
      ])
    expect(await readDelayed(delayed)).toMatchObject({ status: 'success' })
  })

  test('its late answer changes nothing any more', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, createDelayed, executionsOf, readDelayed, target } = fixture
    const held = holdAnswers(target)
    const [cron, delayed] = [await createJob(ONCE), await createDelayed()]
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(2)
    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clockwork.loop.idle()
    const before = [
      await executionsOf(cron),
      await executionsOf(delayed),
      await readDelayed(delayed),
    ]

    held.release(200)
    await app.clockwork.loop.idle()

    expect([
      await executionsOf(cron),
      await executionsOf(delayed),
      await readDelayed(delayed),
    ]).toEqual(before)
    expect(count(app, "runs where state = 'waiting' and attempt = 2")).toBe(2)
  })

  test('its late answer does not end the attempt that another has begun since', async () => {
    await using fixture = await bootFixture()
    const { app, createDelayed, executionsOf, readDelayed, target } = fixture
    const held = holdAnswers(target)
    const job = await createDelayed()
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(1)
    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clockwork.loop.idle()
    await advanceWaiting(next, MINUTE)
    await held.arrived(2)

    held.release(400, 1)
    await app.clockwork.loop.idle()

    expect(await readDelayed(job)).toMatchObject({ status: 'running' })
    held.release(200)
    await next.clockwork.loop.idle()
    expect(await readDelayed(job)).toMatchObject({ status: 'success' })
    expect((await executionsOf(job)).map(({ status }: { status: string }) => status)).toEqual([
      'success',
      'failed',
    ])
  })

  test('a third attempt that is lost is the last', async () => {
    await using fixture = await bootFixture()
    const { app, createDelayed, readDelayed, executionsOf, clock, target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    const job = await createDelayed()
    await clock.advance(2 * MINUTE)
    const held = holdAnswers(target)
    await advanceWaiting(app, 4.5 * MINUTE)
    await held.arrived(3)

    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clock.advance(10 * MINUTE)

    expect(await readDelayed(job)).toMatchObject({ status: 'failed' })
    expect(await executionsOf(job)).toHaveLength(3)
    expect(count(app, 'runs')).toBe(0)
  })

  test('a lost attempt of a paused or deleted job is not retried', async () => {
    await using fixture = await bootFixture()
    const { app, api, createJob, change, executionsOf, target } = fixture
    const held = holdAnswers(target)
    const [paused, deleted] = [await createJob(ONCE), await createJob(ONCE)]
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(2)
    await change(paused, { is_active: false })
    await api.delete(`${JOBS}/${deleted.id}`)

    await using next = await bootBeside(fixture, { othersRun: false })
    await next.clock.advance(10 * MINUTE)

    expect(storyOf(await executionsOf(paused))).toEqual([[1, '12:01:00', 'failed']])
    expect(count(app, 'executions')).toBe(1)
    expect(count(app, 'runs')).toBe(0)
  })

  test('killed in the middle, it is missed by those that live on', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, createDelayed, executionsOf, readDelayed, clock, target } = fixture
    const held = holdAnswers(target)
    const [cron, delayed] = [await createJob(ONCE), await createDelayed()]
    const script = join(import.meta.dir, 'killed.script.ts')
    const killed = Bun.spawn([process.execPath, script, dirname(app.db.file), `${clock.now()}`], {
      stdout: 'inherit',
      stderr: 'inherit',
    })
    await held.arrived(2)

    killed.kill('SIGKILL')
    await killed.exited
    expect(running(fixture)).toBe(2)
    clock.jump(HALF_MINUTE)
    target.answers(() => new Response('ok'))
    for (let elapsed = 0; elapsed < 10; elapsed++) {
      await clock.advance(SECOND)
      await breathe(app)
    }

    expect(running(fixture)).toBe(0)
    expect(await readDelayed(delayed)).toMatchObject({ status: 'pending' })
    await clock.advance(MINUTE)
    for (const job of [cron, delayed])
      expect(storyOf(await executionsOf(job))).toEqual([
        [1, '12:01:00', 'failed'],
        [2, '12:02:00', 'success'],
      ])
  })
})

describe('while two processes live', () => {
  test('each slot, each delayed job and each retry fires once', async () => {
    await using fixture = await bootFixture()
    const { createJob, createDelayed, executionsOf, clock, target } = fixture
    target.answers(({ headers }) => {
      const first = headers.get('x-clockwork-attempt') === '1'
      return new Response('', { status: first ? 500 : 200 })
    })
    const jobs: { id: string }[] = []
    for (let made = 0; made < 10; made++) jobs.push(await createJob(), await createDelayed())
    await using second = await bootBeside(fixture, { othersRun: true })

    for (let elapsed = 0; elapsed < 4 * MINUTE; elapsed += SECOND)
      await Promise.all([clock.advance(SECOND), second.clock.advance(SECOND)])

    expect(target.requests).toHaveLength(10 * (4 + 3) + 10 * 2)
    for (const job of jobs) {
      const tries = (await executionsOf(job)).map(
        ({ slot_at, attempt }: { slot_at: string; attempt: number }) => `${slot_at} ${attempt}`,
      )
      expect(new Set(tries).size).toBe(tries.length)
    }
    expect(running(fixture)).toBe(0)
  })

  test('neither takes the work of the other while its lease holds', async () => {
    await using fixture = await bootFixture()
    const { app, createDelayed, executionsOf, target } = fixture
    const held = holdAnswers(target)
    const job = await createDelayed()
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(1)

    await using second = await bootBeside(fixture, { othersRun: true })
    for (let elapsed = 0; elapsed < 20; elapsed++) {
      await advanceWaiting(app, SECOND)
      await second.clock.advance(SECOND)
    }
    held.release()
    await app.clockwork.loop.idle()

    expect(storyOf(await executionsOf(job))).toEqual([[1, '12:01:00', 'success']])
    expect(target.requests).toHaveLength(1)
  })

  test('a lease that has run out is taken from its owner', async () => {
    await using fixture = await bootFixture()
    const { app, createDelayed, executionsOf, target } = fixture
    const held = holdAnswers(target)
    const job = await createDelayed()
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(1)
    app.db.client.run('update runs set lease_until = 1')

    await using second = await bootBeside(fixture, { othersRun: true })
    await second.clockwork.loop.idle()

    expect(await executionsOf(job)).toMatchObject([
      { status: 'failed', error_message: expect.stringContaining('stopped before') },
    ])
  })

  test('but nobody gives up work of its own, whatever the clock says', async () => {
    await using fixture = await bootFixture()
    const { app, createDelayed, executionsOf, clock, target } = fixture
    const held = holdAnswers(target)
    const job = await createDelayed()
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(1)

    clock.jump(HOUR)
    await advanceWaiting(app, 10 * SECOND)
    await breathe(app)
    expect(running(fixture)).toBe(1)
    held.release()
    await app.clockwork.loop.idle()

    expect(await executionsOf(job)).toMatchObject([{ status: 'success', attempt: 1 }])
  })
})
