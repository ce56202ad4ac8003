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

type Story = ReturnType<typeof storyOf>

/** Longer than the three attempts of a run take. */
const PAST_ALL = 10 * MINUTE

/** One slot, at 12:01, and then none for a day. */
const ONCE = { schedule: '1 12 * * *' }
const RARELY = { schedule: '0 0 1 1 *' }

const failing = (target: Fixture['target'], status = 500) =>
  target.answers(() => new Response('', { status }))

/** The first attempt is answered like this, further ones like that. */
const answering = (target: Fixture['target'], first: number, further: number) =>
  target.answers(({ headers }) => {
    const isFirst = headers.get('x-clockwork-attempt') === '1'
    return new Response('', { status: isFirst ? first : further })
  })

const ALL_FAILED: Story = [
  [1, '12:01:00', 'failed'],
  [2, '12:02:00', 'failed'],
  [3, '12:07:00', 'failed'],
]
const FIRST_FAILED = ALL_FAILED.slice(0, 1)

test.each<[status: number, Story]>([
  ...[500, 502, 599, 429].map((status): [number, Story] => [status, ALL_FAILED]),
  ...[301, 307, 400, 401, 404, 408, 410].map((status): [number, Story] => [status, FIRST_FAILED]),
  [200, [[1, '12:01:00', 'success']]],
])('the status %i decides about retries, of both kinds of jobs', async (status, story) => {
  await using fixture = await bootFixture()
  const { app, createJob, createDelayed, executionsOf, readDelayed, clock, target } = fixture
  failing(target, status)
  const [cron, delayed] = [await createJob(ONCE), await createDelayed()]

  await clock.advance(PAST_ALL)

  for (const job of [cron, delayed]) expect(storyOf(await executionsOf(job))).toEqual(story)
  const end = status === 200 ? 'success' : 'failed'
  expect(await readDelayed(delayed)).toMatchObject({ status: end })
  expect(target.requests).toHaveLength(2 * story.length)
  expect(count(app, 'runs')).toBe(0)
})

describe('an attempt without an answer is retried', () => {
  test('after a connection that is refused or closed, or that speaks no TLS', async () => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, clock, target } = fixture
    await using closing = await startRawTarget(hangingUp)
    const urls = [await closedPort(), closing.url, target.url.replace('http:', 'https:')]
    const jobs = await Promise.all(urls.map((url) => createJob({ ...ONCE, url })))

    await clock.advance(PAST_ALL)

    for (const job of jobs) expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
    const last = jobs.map(async (job) => (await executionsOf(job))[0].error_message)
    const [refused, closed, noTls] = await Promise.all(last)
    expect(refused).toMatch(/connection to 127\.0\.0\.1:\d+ refused/)
    expect(closed).toContain('closed')
    expect(noTls).toContain('TLS')
  })

  test('after a name that does not resolve, but not after one that resolves to a private address', async () => {
    await using fixture = await bootFixture({
      resolve: async (name) => {
        if (name !== 'gone.example.com') return [{ address: '192.168.1.1', family: 4 }]
        throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
      },
    })
    const { createJob, createDelayed, executionsOf, readDelayed, clock } = fixture
    const url = 'https://rebound.example.com/'
    const gone = await createJob({ ...ONCE, url: 'http://gone.example.com/' })
    const [cron, delayed] = [await createJob({ ...ONCE, url }), await createDelayed({ url })]

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(gone))).toEqual(ALL_FAILED)
    for (const job of [cron, delayed])
      expect(storyOf(await executionsOf(job))).toEqual(FIRST_FAILED)
    expect(await readDelayed(delayed)).toMatchObject({ status: 'failed' })
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

    const executions = await executionsOf(job)
    expect(storyOf(executions)).toEqual(ALL_FAILED)
    expect(executions[0]).toMatchObject({ response_status: null, duration_ms: 30_000 })
  })
})

test.each([
  [200, 'success'],
  [400, 'failed'],
])('a second attempt answered with %i ends the run', async (status, end) => {
  await using fixture = await bootFixture()
  const { app, createJob, createDelayed, executionsOf, readDelayed, clock, target } = fixture
  answering(target, 503, status)
  const [cron, delayed] = [await createJob(ONCE), await createDelayed()]
  const next = { next_run_at: '2026-03-02T12:01:00.000Z', last_run_at: at('12:01:00') }

  await clock.advance(PAST_ALL)

  for (const job of [cron, delayed])
    expect(storyOf(await executionsOf(job))).toEqual([
      [1, '12:01:00', 'failed'],
      [2, '12:02:00', end],
    ])
  expect(await readDelayed(delayed)).toMatchObject({ status: end })
  expect(await fixture.readJob(cron)).toMatchObject(next)
  expect(count(app, 'runs')).toBe(0)
})

test('runs of a job that fails every minute do not hold each other up', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock, target } = fixture
  failing(target)
  const job = await createJob()

  await clock.advanceTo(Date.parse(at('12:07:30')))

  const executions: { slot_at: string }[] = await executionsOf(job)
  const ofSlot = (slot: string) =>
    storyOf(executions.filter(({ slot_at }) => slot_at === at(slot)) as never)
  expect(ofSlot('12:01:00')).toEqual(ALL_FAILED)
  expect(ofSlot('12:02:00').map(([, time]) => time)).toEqual(['12:02:00', '12:03:00'])
  expect(executions).toHaveLength(7 + 6 + 1)
})

describe('the delay of a retry', () => {
  test('counts from the tick of an attempt that started late within it', async () => {
    await using fixture = await bootFixture()
    const { createDelayed, executionsOf, clock, target } = fixture
    failing(target)
    const job = await createDelayed()
    await clock.advance(29_999)
    clock.jump(900)

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
  })

  test('counts as a whole after an attempt between two ticks', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, runNow, executionsOf, clock, target } = fixture
    failing(target)
    const job = await createJob(RARELY)

    await runNow(job)
    await app.clockwork.loop.idle()
    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job))).toEqual([
      [1, '12:00:30', 'failed'],
      ...ALL_FAILED.slice(1),
    ])
  })

  test('ends on the first tick after an attempt that outlives it', async () => {
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

  test.each([
    ['10s,20s,2m', ['12:00:40', '12:00:50', '12:01:10', '12:03:10']],
    ['', ['12:00:40']],
  ])('may be configured: %p', async (delays, times) => {
    await using fixture = await bootFixture({
      flags: { 'clockwork-retry-delays': delays, 'clockwork-tick': '10s' },
    })
    const { createDelayed, executionsOf, readDelayed, clock, target } = fixture
    failing(target)
    const job = await createDelayed({ run_at: at('12:00:33') })

    await clock.advance(PAST_ALL)

    expect(storyOf(await executionsOf(job)).map(([, time]) => time)).toEqual(times)
    expect(await readDelayed(job)).toMatchObject({ status: 'failed' })
  })
})

describe('a retry sends the same request', () => {
  const original = {
    method: 'PATCH',
    headers: { 'X-Version': '1', 'Content-Type': 'text/plain' },
    body: 'version 1',
  }
  const edited = { method: 'PUT', headers: { 'X-Version': '2' }, body: 'version 2' }

  const shown = ({ requests }: Fixture['target']) =>
    requests.map(({ method, path, headers, body }) => {
      const [version, type] = [headers.get('x-version'), headers.get('content-type')]
      return { method, path, version, type, body }
    })

  test('although the job was edited while it waited; the next run sends the new one', async () => {
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
    const next = { method: 'PUT', path: '/hook/elsewhere', version: '2', type: null }
    expect(shown(target)[3]).toEqual({ ...next, body: 'version 3' })
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

  test('to an address that is checked again', async () => {
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

test('a pause drops waiting retries, and a new schedule does not', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, change, executionsOf, clock, target } = fixture
  failing(target)
  const [paused, changed] = [await createJob(ONCE), await createJob(ONCE)]
  await clock.advance(MINUTE)

  await change(paused, { is_active: false })
  await change(paused, { is_active: true })
  await change(changed, { ...RARELY, name: 'other' })
  await clock.advance(PAST_ALL)

  expect(storyOf(await executionsOf(paused))).toEqual(FIRST_FAILED)
  expect(storyOf(await executionsOf(changed))).toEqual(ALL_FAILED)
  expect(count(app, 'runs')).toBe(0)
})

test('an attempt under way at a pause is finished and not retried', async () => {
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

  expect(storyOf(await executionsOf(job))).toEqual(FIRST_FAILED)
  expect(count(app, 'runs')).toBe(0)
})

test('a stop cuts an attempt short after its grace, and the retry is kept', async () => {
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
  const error_message = expect.stringContaining('was cancelled')
  expect(await executionsOf(job)).toMatchObject([
    { status: 'failed', response_status: null, error_message },
  ])
})
