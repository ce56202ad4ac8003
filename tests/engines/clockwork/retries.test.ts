import { describe, expect, test } from 'bun:test'
import { closedPort, hangingUp, startRawTarget } from './raw-target.ts'
import {
  advanceWaiting,
  at,
  bootFixture,
  breathe,
  count,
  DAY,
  type Fixture,
  HALF_MINUTE,
  holdAnswers,
  MINUTE,
  SECOND,
  storyOf,
} from './support.ts'

/** Longer than the three attempts of a run take. */
const PAST_ALL = 10 * MINUTE

/** One slot, at 12:01, and then none for a day. */
const ONCE = { schedule: '1 12 * * *' }

const failing = (target: Fixture['target'], status = 500) =>
  target.answers(() => new Response('', { status }))

const ALL_FAILED = [
  [1, '12:01:00', 'failed'],
  [2, '12:02:00', 'failed'],
  [3, '12:07:00', 'failed'],
]

describe('three attempts, the second after 1 minute, the third 5 minutes after that', () => {
  test.each([500, 502, 503, 599, 429])('after an answer of %i', async (status) => {
    await using fixture = await bootFixture()
    const { createJob, createDelayed, executionsOf, readDelayed, clock, target } = fixture
    failing(target, status)
    const [cron, delayed] = [await createJob(ONCE), await createDelayed()]

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(cron))).toEqual(ALL_FAILED)
    expect(storyOf(await executionsOf(delayed))).toEqual(ALL_FAILED)
    expect(await readDelayed(delayed)).toMatchObject({ status: 'failed' })
    expect(target.requests).toHaveLength(6)
  })

  test('after a refused connection', async () => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, clock } = fixture
    const job = await createJob({ ...ONCE, url: await closedPort() })

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
  })

  test('after a connection that is reset', async () => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, clock } = fixture
    await using target = await startRawTarget(hangingUp)
    const job = await createJob({ ...ONCE, url: target.url })

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
    expect(target.requests).toHaveLength(3)
  })

  test('after a name that does not resolve', async () => {
    await using fixture = await bootFixture({
      resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
    })
    const { createJob, executionsOf, clock } = fixture
    const job = await createJob({ ...ONCE, url: 'http://gone.example.com/' })

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
    expect((await executionsOf(job))[0].error_message).toContain('gone.example.com')
  })

  test('after a target that speaks no TLS', async () => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, clock, target } = fixture
    const job = await createJob({ ...ONCE, url: target.url.replace('http:', 'https:') })

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
    expect((await executionsOf(job))[0].error_message).toContain('TLS')
  })

  test('after a target that does not answer in time', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, executionsOf, clock, target } = fixture
    const held = holdAnswers(target)
    const job = await createJob(ONCE)

    for (const [attempt, wait] of [HALF_MINUTE, HALF_MINUTE, 4.5 * MINUTE].entries()) {
      await advanceWaiting(app, wait)
      await held.arrived(attempt + 1)
      await advanceWaiting(app, HALF_MINUTE)
      await app.clockwork.loop.idle()
    }
    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
    expect((await executionsOf(job))[0]).toMatchObject({
      response_status: null,
      error_message: expect.stringContaining('within 30 s'),
      duration_ms: 30_000,
    })
  })
})

describe('one attempt only', () => {
  test.each([301, 302, 307, 400, 401, 403, 404, 408, 410, 422])(
    'after an answer of %i',
    async (status) => {
      await using fixture = await bootFixture()
      const { app, createJob, createDelayed, executionsOf, clock, target } = fixture
      failing(target, status)
      const [cron, delayed] = [await createJob(ONCE), await createDelayed()]

      await clock.advance(PAST_ALL)

      expect(storyOf(await executionsOf(cron))).toEqual(ALL_FAILED.slice(0, 1))
      expect(storyOf(await executionsOf(delayed))).toEqual(ALL_FAILED.slice(0, 1))
      expect(count(app, 'runs')).toBe(0)
    },
  )

  test('after a URL that is refused at run time', async () => {
    await using fixture = await bootFixture({
      resolve: async () => [{ address: '192.168.1.1', family: 4 }],
    })
    const { createJob, createDelayed, executionsOf, readDelayed, clock, app } = fixture
    const url = 'https://rebound.example.com/'
    const [cron, delayed] = [await createJob({ ...ONCE, url }), await createDelayed({ url })]

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(cron))).toEqual(ALL_FAILED.slice(0, 1))
    expect(storyOf(await executionsOf(delayed))).toEqual(ALL_FAILED.slice(0, 1))
    expect(await readDelayed(delayed)).toMatchObject({ status: 'failed' })
    expect(count(app, 'runs')).toBe(0)
  })

  test('after a success', async () => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, clock } = fixture
    const job = await createJob(ONCE)

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job))).toEqual([[1, '12:01:00', 'success']])
  })
})

test('a success on the second attempt ends the run', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, createDelayed, executionsOf, readDelayed, clock, target } = fixture
  target.answers(({ headers }) => {
    const first = headers.get('x-clockwork-attempt') === '1'
    return new Response('', { status: first ? 503 : 200 })
  })
  const [cron, delayed] = [await createJob(ONCE), await createDelayed()]

  await clock.advance(PAST_ALL)

  for (const job of [cron, delayed])
    expect(storyOf(await executionsOf(job))).toEqual([
      [1, '12:01:00', 'failed'],
      [2, '12:02:00', 'success'],
    ])
  expect(await readDelayed(delayed)).toMatchObject({ status: 'success' })
  expect(count(app, 'runs')).toBe(0)
})

test('a failure that is final on the second attempt ends the run', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, executionsOf, readDelayed, clock, target } = fixture
  target.answers(({ headers }) => {
    const first = headers.get('x-clockwork-attempt') === '1'
    return new Response('', { status: first ? 503 : 400 })
  })
  const job = await createDelayed()

  await clock.advance(PAST_ALL)

  expect(await executionsOf(job)).toHaveLength(2)
  expect(await readDelayed(job)).toMatchObject({ status: 'failed' })
})

test('retries move neither next_run_at nor last_run_at of a cron job', async () => {
  await using fixture = await bootFixture()
  const { createJob, readJob, clock, target } = fixture
  failing(target)
  const job = await createJob(ONCE)
  const expected = { next_run_at: '2026-03-02T12:01:00.000Z', last_run_at: at('12:01:00') }

  for (const ms of [HALF_MINUTE, MINUTE, 5 * MINUTE, PAST_ALL]) {
    await clock.advance(ms)
    expect(await readJob(job)).toMatchObject(expected)
  }
})

test('a job that fails every minute shows its runs interleaved, none held up by another', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock, target } = fixture
  failing(target)
  const job = await createJob()

  await clock.advanceTo(Date.parse(at('12:07:30')))

  const executions = await executionsOf(job)
  const bySlot = (slot: string) =>
    storyOf(executions.filter(({ slot_at }: { slot_at: string }) => slot_at === at(slot)))
  expect(bySlot('12:01:00')).toEqual(ALL_FAILED)
  expect(bySlot('12:02:00')).toEqual([
    [1, '12:02:00', 'failed'],
    [2, '12:03:00', 'failed'],
  ])
  expect(executions).toHaveLength(7 + 6 + 1)
})

test('an attempt that starts late within its tick is not a tick late the next time', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, executionsOf, clock, target } = fixture
  failing(target)
  const job = await createDelayed()
  await clock.advance(29_999)
  clock.jump(900)

  await clock.advance(PAST_ALL)

  expect(storyOf(await executionsOf(job)).map(([, time]) => time)).toEqual([
    '12:01:00',
    '12:02:00',
    '12:07:00',
  ])
})

test('an attempt that starts between two ticks waits the whole delay before the next', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, runNow, executionsOf, clock, target } = fixture
  failing(target)
  const job = await createJob({ schedule: '0 0 1 1 *' })

  await runNow(job)
  await app.clockwork.loop.idle()
  await clock.advance(PAST_ALL)

  expect(storyOf(await executionsOf(job))).toEqual([
    [1, '12:00:30', 'failed'],
    [2, '12:02:00', 'failed'],
    [3, '12:07:00', 'failed'],
  ])
})

test('an attempt that outlives the delay is followed on the first tick after its end', async () => {
  await using fixture = await bootFixture({ flags: { 'clockwork-timeout': '10m' } })
  const { app, createDelayed, executionsOf, target } = fixture
  const held = holdAnswers(target)
  const job = await createDelayed()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)

  await advanceWaiting(app, 3.5 * MINUTE)
  held.release(500)
  await app.clockwork.loop.idle()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(2)
  held.release()
  await app.clockwork.loop.idle()

  expect(storyOf(await executionsOf(job))).toEqual([
    [1, '12:01:00', 'failed'],
    [2, '12:05:00', 'success'],
  ])
})

describe('a retry repeats the identical request', () => {
  const original = {
    method: 'PATCH',
    headers: { 'X-Version': '1', 'Content-Type': 'text/plain' },
    body: 'version 1',
  }
  const edited = { method: 'PUT', headers: { 'X-Version': '2' }, body: 'version 2' }

  function shown({ requests }: Fixture['target']) {
    return requests.map(({ method, path, headers, body }) => ({
      method,
      path,
      version: headers.get('x-version'),
      type: headers.get('content-type'),
      body,
    }))
  }

  test('although the job was edited while it waited', async () => {
    await using fixture = await bootFixture()
    const { createJob, change, clock, target } = fixture
    failing(target)
    const job = await createJob({ ...ONCE, ...original })
    await clock.advance(MINUTE)

    await change(job, { ...edited, url: `${target.url}/elsewhere` })
    await clock.advance(MINUTE)
    await change(job, { body: 'version 3' })
    await clock.advance(PAST_ALL)

    const [first, ...retries] = shown(target)
    expect(retries).toEqual([first, first] as never)
    clock.jump(DAY)
    await clock.advance(6 * SECOND)
    expect(shown(target)[3]).toEqual({
      method: 'PUT',
      path: '/hook/elsewhere',
      version: '2',
      type: null,
      body: 'version 3',
    })
  })

  test('although the job was edited while its attempt was under way', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, change, clock, target } = fixture
    const held = holdAnswers(target)
    const job = await createJob({ ...ONCE, ...original })
    await advanceWaiting(app, HALF_MINUTE)
    await held.arrived(1)

    await change(job, edited)
    held.release(500)
    failing(target)
    await app.clockwork.loop.idle()
    await clock.advance(PAST_ALL)

    const [first, ...retries] = shown(target)
    expect(first).toMatchObject({ version: '1', body: 'version 1' })
    expect(retries).toEqual([first, first] as never)
  })

  test('and is checked again, so that an address that turned private is refused', async () => {
    let address = '127.0.0.1'
    await using fixture = await bootFixture({ resolve: async () => [{ address, family: 4 }] })
    const { createJob, executionsOf, clock, target } = fixture
    failing(target)
    const url = target.url.replace('127.0.0.1', 'hooks.example.com')
    const job = await createJob({ ...ONCE, url })
    await clock.advance(MINUTE)

    address = '10.0.0.1'
    await clock.advance(PAST_ALL)

    expect(target.requests).toHaveLength(1)
    expect(await executionsOf(job)).toMatchObject([
      { attempt: 2, response_status: null, error_message: expect.stringContaining('10.0.0.1') },
      { attempt: 1, response_status: 500, error_message: null },
    ])
  })
})

test('a pause drops the retries that wait', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, change, executionsOf, clock, target } = fixture
  failing(target)
  const job = await createJob(ONCE)
  await clock.advance(MINUTE)

  await change(job, { is_active: false })
  await change(job, { is_active: true })
  await clock.advance(PAST_ALL)

  expect(await executionsOf(job)).toHaveLength(1)
  expect(count(app, 'runs')).toBe(0)
})

test('an attempt under way at the pause is finished and not retried', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, change, executionsOf, clock, target } = fixture
  const held = holdAnswers(target)
  const job = await createJob(ONCE)
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)

  await change(job, { is_active: false })
  held.release(500)
  await app.clockwork.loop.idle()
  await clock.advance(PAST_ALL)

  expect(storyOf(await executionsOf(job))).toEqual([[1, '12:01:00', 'failed']])
  expect(count(app, 'runs')).toBe(0)
})

test('a new schedule leaves the retries of the old one alone', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, executionsOf, clock, target } = fixture
  failing(target)
  const job = await createJob(ONCE)
  await clock.advance(MINUTE)

  await change(job, { schedule: '0 0 1 1 *', name: 'other' })
  await clock.advance(PAST_ALL)

  expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
})

test('how often and when an attempt is repeated can be configured', async () => {
  await using fixture = await bootFixture({
    flags: { 'clockwork-retry-delays': '10s,20s,2m', 'clockwork-tick': '10s' },
  })
  const { createDelayed, executionsOf, clock, target } = fixture
  failing(target)
  const job = await createDelayed({ run_at: at('12:00:33') })

  await clock.advance(PAST_ALL)

  expect(storyOf(await executionsOf(job)).map(([, time]) => time)).toEqual([
    '12:00:40',
    '12:00:50',
    '12:01:10',
    '12:03:10',
  ])
})

test('without delays nothing is repeated', async () => {
  await using fixture = await bootFixture({ flags: { 'clockwork-retry-delays': '' } })
  const { createDelayed, executionsOf, readDelayed, clock, target } = fixture
  failing(target)
  const job = await createDelayed()

  await clock.advance(PAST_ALL)

  expect(await executionsOf(job)).toHaveLength(1)
  expect(await readDelayed(job)).toMatchObject({ status: 'failed' })
})

test('a stop cuts an attempt short after its grace, and the retry comes all the same', async () => {
  await using fixture = await bootFixture()
  const { app, createDelayed, readDelayed, executionsOf, target } = fixture
  const held = holdAnswers(target)
  const job = await createDelayed()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)

  const stopped = app.clockwork.loop.stop(5 * SECOND)
  await advanceWaiting(app, 5 * SECOND)
  await stopped

  await breathe(app)
  expect(await readDelayed(job)).toMatchObject({ status: 'pending', run_at: at('12:02:00') })
  expect(await executionsOf(job)).toMatchObject([
    {
      status: 'failed',
      response_status: null,
      error_message: expect.stringContaining('was cancelled'),
    },
  ])
})
