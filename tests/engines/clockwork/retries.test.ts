import { expect, test } from 'bun:test'
import { count, DAY, HALF_MINUTE, MINUTE, SECOND } from '../relay/support.ts'
import { closedPort, hangingUp, startRawTarget } from './raw-target.ts'
import {
  advanceWaiting,
  at,
  bootFixture,
  breathe,
  type Json,
  storyOf,
  useClockwork,
} from './support.ts'

let address = '127.0.0.1'
const { app, fresh } = await useClockwork({
  resolve: async (name) => {
    if (name === 'hooks.example.com') return [{ address, family: 4 }]
    if (name === 'rebound.example.com') return [{ address: '192.168.1.1', family: 4 }]
    throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
  },
})
const { idle } = app.clockwork.loop

type Story = ReturnType<typeof storyOf>

/** Longer than the three attempts of a run take. */
const PAST_ALL = 7 * MINUTE

/** One slot, at 12:01, and then none for a day. */
const ONCE = { schedule: '1 12 * * *' }
const RARELY = { schedule: '0 0 1 1 *' }

const ALL_FAILED: Story = [
  [1, '12:01:00', 'failed'],
  [2, '12:02:00', 'failed'],
  [3, '12:07:00', 'failed'],
]
const FIRST_FAILED = ALL_FAILED.slice(0, 1)

test('The status decides about retries, of both kinds of jobs, and the answer is kept', async () => {
  const { createJob, createDelayed, executionsOf, readDelayed, clock, target } = await fresh()
  const bodyOf = (status: number) => ([204, 304].includes(status) ? '' : 'why')
  const location = `${target.url}/200`
  target.answers(({ path }) => {
    const status = Number(path.slice(-3))
    return new Response(bodyOf(status) || null, { status, headers: { location } })
  })
  const runs: { story: Story; status: number; jobs: Json[] }[] = []
  for (const [story, statuses] of [
    [ALL_FAILED, [500, 502, 599, 429]],
    [FIRST_FAILED, [300, 304, 307, 400, 401, 404, 408, 410]],
    [[[1, '12:01:00', 'success']], [200, 204, 299]],
  ] as [Story, number[]][])
    for (const status of statuses) {
      const url = `${target.url}/${status}`
      const jobs = [await createJob({ ...ONCE, url }), await createDelayed({ url })]
      runs.push({ story, status, jobs })
    }
  await clock.advance(PAST_ALL)
  for (const { story, status, jobs } of runs) {
    for (const job of jobs) {
      const executions = await executionsOf(job)
      expect(storyOf(executions)).toEqual(story)
      const answer = { response_status: status, response_body: bodyOf(status) }
      expect(executions[0]).toMatchObject({ ...answer, error_message: null })
    }
    expect(await readDelayed(jobs[1])).toMatchObject({ status: story.at(-1)?.[2] })
  }
  expect(target.requests).toHaveLength(2 * (4 * 3 + 8 + 3))
  expect(count(app, 'runs')).toBe(0)
})

test('An attempt is retried after a connection that is refused, closed, without TLS or address', async () => {
  const { createJob, createDelayed, executionsOf, readDelayed, clock, target } = await fresh()
  await using closing = await startRawTarget(hangingUp)
  const noTls = target.url.replace('http:', 'https:')
  const told = [/connection to 127\.0\.0\.1:\d+ refused/, /closed/, /TLS/, /no such host/]
  const urls = [await closedPort(), closing.url, noTls, 'http://gone.example.com/']
  const jobs = await Promise.all(urls.map((url) => createJob({ ...ONCE, url })))
  const url = 'https://rebound.example.com/'
  const [cron, delayed] = [await createJob({ ...ONCE, url }), await createDelayed({ url })]
  await clock.advance(PAST_ALL)
  for (const [n, job] of jobs.entries()) {
    expect(storyOf(await executionsOf(job))).toEqual(ALL_FAILED)
    expect((await executionsOf(job))[0].error_message).toMatch(told[n] as RegExp)
  }
  // But not after a name that resolves to a private address.
  for (const job of [cron, delayed]) expect(storyOf(await executionsOf(job))).toEqual(FIRST_FAILED)
  expect(await readDelayed(delayed)).toMatchObject({ status: 'failed' })
})

test('An attempt is retried after a target that does not answer in time', async () => {
  const { createJob, executionsOf, clock, target } = await fresh()
  const held = target.hold()
  const job = await createJob(ONCE)
  for (const [attempt, wait] of [HALF_MINUTE, HALF_MINUTE, 4.5 * MINUTE].entries()) {
    await advanceWaiting(app, wait)
    await held.arrived(attempt + 1)
    await advanceWaiting(app, HALF_MINUTE)
    await idle()
  }
  await clock.advance(PAST_ALL)
  const executions = await executionsOf(job)
  expect(storyOf(executions)).toEqual(ALL_FAILED)
  expect(executions[0]).toMatchObject({ response_status: null, duration_ms: 30_000 })
})

test('A second attempt that is a success or must not be retried ends the run', async () => {
  const { createJob, createDelayed, executionsOf, readDelayed, readJob, ...rest } = await fresh()
  rest.target.answers(({ headers, path }) => {
    const isFirst = headers.get('x-clockwork-attempt') === '1'
    return new Response('', { status: isFirst ? 503 : Number(path.slice(-3)) })
  })
  const runs: { end: string; cron: Json; delayed: Json }[] = []
  for (const [status, end] of [
    [200, 'success'],
    [400, 'failed'],
  ] as const) {
    const url = `${rest.target.url}/${status}`
    const cron = await createJob({ ...ONCE, url })
    runs.push({ end, cron, delayed: await createDelayed({ url }) })
  }
  await rest.clock.advance(PAST_ALL)
  for (const { end, cron, delayed } of runs) {
    const story = [...FIRST_FAILED, [2, '12:02:00', end]]
    for (const job of [cron, delayed]) expect(storyOf(await executionsOf(job))).toEqual(story)
    expect(await readDelayed(delayed)).toMatchObject({ status: end })
    const next = { next_run_at: '2026-03-02T12:01:00.000Z', last_run_at: at('12:01:00') }
    expect(await readJob(cron)).toMatchObject(next)
  }
  expect(count(app, 'runs')).toBe(0)
})

test('Runs of a job that fails every minute do not hold each other up', async () => {
  const { createJob, executionsOf, clock, target } = await fresh()
  target.answers(500)
  const job = await createJob()
  await clock.advanceTo(Date.parse(at('12:07:30')))
  const executions: { slot_at: string }[] = await executionsOf(job)
  const ofSlot = (slot: string) =>
    storyOf(executions.filter(({ slot_at }) => slot_at === at(slot)) as never)
  expect(ofSlot('12:01:00')).toEqual(ALL_FAILED)
  expect(ofSlot('12:02:00').map(([, time]) => time)).toEqual(['12:02:00', '12:03:00'])
  expect(executions).toHaveLength(7 + 6 + 1)
})

test('The delay of a retry counts from the tick of an attempt, or from one between two ticks', async () => {
  const { createDelayed, createJob, runNow, executionsOf, clock, target } = await fresh()
  target.answers(500)
  const late = await createDelayed()
  const manual = await createJob(RARELY)
  await runNow(manual)
  await idle()
  await clock.advance(29_999)
  clock.jump(900)
  await clock.advance(PAST_ALL)
  expect(storyOf(await executionsOf(late))).toEqual(ALL_FAILED)
  const story = [[1, '12:00:30', 'failed'], ...ALL_FAILED.slice(1)]
  expect(storyOf(await executionsOf(manual))).toEqual(story)
})

test('The delay of a retry ends on the first tick after an attempt that outlives it', async () => {
  await using fixture = await bootFixture({ flags: { 'clockwork-timeout': '10m' } })
  const { app, createDelayed, executionsOf, target } = fixture
  const held = target.hold()
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
  const story = [...FIRST_FAILED, [2, '12:05:00', 'success']]
  expect(storyOf(await executionsOf(job))).toEqual(story)
})

test.each([
  ['10s,20s,2m', ['12:00:40', '12:00:50', '12:01:10', '12:03:10']],
  ['', ['12:00:40']],
])('The delay of a retry may be configured: %p', async (delays, times) => {
  const flags = { 'clockwork-retry-delays': delays, 'clockwork-tick': '10s' }
  await using fixture = await bootFixture({ flags })
  const { createDelayed, executionsOf, readDelayed, clock, target } = fixture
  target.answers(500)
  const job = await createDelayed({ run_at: at('12:00:33') })
  await clock.advance(4 * MINUTE)
  expect(storyOf(await executionsOf(job)).map(([, time]) => time)).toEqual(times)
  expect(await readDelayed(job)).toMatchObject({ status: 'failed' })
})

test('A retry sends the request from before any edit, and the next run sends the new one', async () => {
  const { createJob, change, clock, target } = await fresh()
  const shown = () =>
    target.requests.map(({ method, path, headers, body }) => {
      const [version, type] = [headers.get('x-version'), headers.get('content-type')]
      return { method, path, version, type, body }
    })
  const held = target.hold()
  const headers = { 'X-Version': '1', 'Content-Type': 'text/plain' }
  const job = await createJob({ ...ONCE, method: 'PATCH', headers, body: 'version 1' })
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)
  await change(job, { method: 'PUT', headers: { 'X-Version': '2' }, body: 'version 2' })
  held.release(500)
  target.answers(500)
  await idle()
  await change(job, { body: 'version 3', url: `${target.url}/elsewhere` })
  await clock.advance(PAST_ALL)
  const [first, ...retries] = shown()
  expect(first).toMatchObject({ version: '1', type: 'text/plain', body: 'version 1' })
  expect(retries).toEqual([first, first] as never)
  clock.jump(DAY)
  await clock.advance(6 * SECOND)
  const next = { method: 'PUT', path: '/hook/elsewhere', version: '2', type: null }
  expect(shown()[3]).toEqual({ ...next, body: 'version 3' })
})

test('A retry has its address checked again', async () => {
  const { createJob, executionsOf, clock, target } = await fresh()
  target.answers(500)
  const url = target.url.replace('127.0.0.1', 'hooks.example.com')
  const job = await createJob({ ...ONCE, url })
  await clock.advance(MINUTE)
  address = '10.0.0.1'
  await clock.advance(PAST_ALL)
  expect(target.requests).toHaveLength(1)
  const error_message = expect.stringContaining('10.0.0.1')
  expect(await executionsOf(job)).toMatchObject([
    { attempt: 2, response_status: null, error_message },
    { attempt: 1, response_status: 500, error_message: null },
  ])
})

test('A pause drops waiting retries and those of attempts under way, and a new schedule does not', async () => {
  const { createJob, change, executionsOf, clock, target } = await fresh()
  target.answers(500)
  const [paused, changed] = [await createJob(ONCE), await createJob(ONCE)]
  const later = await createJob({ schedule: '2 12 * * *' })
  await clock.advance(MINUTE)
  await change(paused, { is_active: false })
  await change(paused, { is_active: true })
  await change(changed, { ...RARELY, name: 'other' })
  const held = target.hold()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(4)
  await change(later, { is_active: false })
  target.answers(500)
  held.release(500)
  await idle()
  await clock.advance(PAST_ALL)
  expect(storyOf(await executionsOf(paused))).toEqual(FIRST_FAILED)
  expect(storyOf(await executionsOf(changed))).toEqual(ALL_FAILED)
  expect(storyOf(await executionsOf(later))).toEqual([[1, '12:02:00', 'failed']])
  expect(count(app, 'runs')).toBe(0)
})

test('A stop cuts an attempt short after its grace, and the retry is kept', async () => {
  await using fixture = await bootFixture()
  const { app, createDelayed, readDelayed, executionsOf, target } = fixture
  const held = target.hold()
  const job = await createDelayed()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)
  const stopped = app.clockwork.loop.stop(5 * SECOND)
  await advanceWaiting(app, 5 * SECOND)
  await stopped
  await breathe(app)
  expect(await readDelayed(job)).toMatchObject({ status: 'pending', run_at: at('12:02:00') })
  const error_message = expect.stringContaining('was cancelled')
  const failed = { status: 'failed', response_status: null, error_message }
  expect(await executionsOf(job)).toMatchObject([failed])
})
