import { expect, test } from 'bun:test'
import { answering, closedPort, hangingUp, startRawTarget } from './raw-target.ts'
import {
  advanceWaiting,
  at,
  bootFixture,
  HALF_MINUTE,
  holdAnswers,
  MINUTE,
  writeHistory,
} from './support.ts'

test('an answered attempt shows the answer and no error', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock, target } = fixture
  target.answers(() => new Response('thanks', { status: 201 }))
  const job = await createJob()

  await clock.advance(MINUTE)

  expect(await executionsOf(job)).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      job_id: job.id,
      status: 'success',
      trigger: 'schedule',
      slot_at: at('12:01:00'),
      lateness_ms: 0,
      started_at: at('12:01:00'),
      completed_at: at('12:01:00'),
      duration_ms: 0,
      response_status: 201,
      response_body: 'thanks',
      error_message: null,
      attempt: 1,
      address: '127.0.0.1',
      timings: { dns: 0, connect: 0, tls: 0, wait: 0, read: 0 },
    },
  ])
})

test('duration and completion are those of the attempt, in milliseconds', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, executionsOf, target } = fixture
  const held = holdAnswers(target)
  const job = await createJob()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)

  await advanceWaiting(app, 1234)
  expect(await executionsOf(job)).toMatchObject([
    {
      status: 'running',
      started_at: at('12:01:00'),
      completed_at: null,
      duration_ms: null,
      response_status: null,
      response_body: null,
      error_message: null,
    },
  ])

  held.release()
  await app.clockwork.loop.idle()
  expect(await executionsOf(job)).toMatchObject([
    { status: 'success', completed_at: '2026-03-01T12:01:01.234Z', duration_ms: 1234 },
  ])
})

test('an attempt that was refused a connection says so and shows no answer', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock } = fixture
  const job = await createJob({ url: await closedPort() })

  await clock.advance(HALF_MINUTE)

  expect(await executionsOf(job)).toMatchObject([
    {
      status: 'failed',
      response_status: null,
      response_body: null,
      error_message: expect.stringMatching(/connection to 127\.0\.0\.1:\d+ refused/),
      completed_at: at('12:01:00'),
    },
  ])
})

test('an answer that breaks off is no answer', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock } = fixture
  await using target = await startRawTarget((socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')
  })
  const job = await createJob({ url: target.url })

  await clock.advance(HALF_MINUTE)

  expect(await executionsOf(job)).toMatchObject([
    { status: 'failed', response_status: null, response_body: null },
  ])
  expect((await executionsOf(job))[0].error_message).toContain('closed')
})

test('a connection that is reset fails the attempt with its reason', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock } = fixture
  await using target = await startRawTarget(hangingUp)
  const job = await createJob({ url: target.url })

  await clock.advance(HALF_MINUTE)

  expect(await executionsOf(job)).toMatchObject([
    { status: 'failed', response_status: null, error_message: expect.stringContaining('closed') },
  ])
})

test('a name that resolves to a private address is refused at run time, in words', async () => {
  await using fixture = await bootFixture({
    resolve: async () => [{ address: '10.1.2.3', family: 4 }],
  })
  const { createJob, executionsOf, clock } = fixture
  const job = await createJob({ url: 'http://hooks.example.com/a' })

  await clock.advance(10 * MINUTE)

  const executions = await executionsOf(job)
  expect(executions).toHaveLength(10)
  expect(executions[0]).toMatchObject({
    status: 'failed',
    attempt: 1,
    response_status: null,
    response_body: null,
    error_message: expect.stringMatching(/hooks\.example\.com resolves to 10\.1\.2\.3.*private/),
  })
})

test.each<[string, string | Uint8Array, string]>([
  ['an empty answer', '', ''],
  ['UTF-8', 'Grüße 🚀', 'Grüße 🚀'],
  ['a byte order mark', '\ufeffa', '\ufeffa'],
  ['a NUL', 'a\0b', 'a\0b'],
  ['bytes that are not UTF-8', new Uint8Array([104, 255, 254, 105]), 'h\ufffd\ufffdi'],
  ['a character that the target cut in two', new Uint8Array([104, 0xc3]), 'h\ufffd'],
  ['exactly 64 KB', 'x'.repeat(65_536), 'x'.repeat(65_536)],
  ['more than 64 KB', 'x'.repeat(70_000), 'x'.repeat(65_536)],
  ['a character across the limit', `${'x'.repeat(65_535)}é and more`, 'x'.repeat(65_535)],
])('of the answer is kept: %s', async (_, sent, kept) => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock } = fixture
  await using target = await startRawTarget(answering(sent))
  const job = await createJob({ url: target.url })

  await clock.advance(HALF_MINUTE)

  const [execution] = await executionsOf(job)
  expect(execution).toMatchObject({ status: 'success', response_status: 200 })
  expect(execution.response_body === kept).toBe(true)
})

test.each([200, 204, 299])('an answer of %i is a success', async (status) => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock } = fixture
  await using target = await startRawTarget(answering('', `HTTP/1.1 ${status} Fine`))
  const job = await createJob({ url: target.url })

  await clock.advance(HALF_MINUTE)

  expect(await executionsOf(job)).toMatchObject([{ status: 'success', response_status: status }])
})

test.each([300, 301, 304, 400, 404, 410, 429, 500, 503, 599])(
  'an answer of %i is a failure, with the answer kept',
  async (status) => {
    await using fixture = await bootFixture()
    const { createJob, executionsOf, clock } = fixture
    await using target = await startRawTarget(
      answering(status === 304 ? '' : 'why', `HTTP/1.1 ${status} No`),
    )
    const job = await createJob({ url: target.url })

    await clock.advance(HALF_MINUTE)

    expect(await executionsOf(job)).toMatchObject([
      {
        status: 'failed',
        response_status: status,
        response_body: status === 304 ? '' : 'why',
        error_message: null,
      },
    ])
  },
)

test('the list of a cron job is the newest 100, newest first', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock } = fixture
  const job = await createJob()
  writeHistory(fixture, job, 98)

  await clock.advance(5 * MINUTE)

  const executions = await executionsOf(job)
  expect(executions).toHaveLength(100)
  expect(executions[0].slot_at).toBe(at('12:05:00'))
  expect(executions[4].slot_at).toBe(at('12:01:00'))
  expect(executions[99].slot_at).toBe(at('10:25:00'))
})

test('executions belong to their job alone', async () => {
  await using fixture = await bootFixture()
  const { createJob, createDelayed, executionsOf, clock } = fixture
  const [first, second, delayed] = [await createJob(), await createJob(), await createDelayed()]

  await clock.advance(HALF_MINUTE)

  for (const job of [first, second, delayed])
    expect(await executionsOf(job)).toMatchObject([{ job_id: job.id }])
})

test('a job that never ran has an empty list', async () => {
  await using fixture = await bootFixture()
  const { createJob, createDelayed, executionsOf } = fixture

  expect(await executionsOf(await createJob())).toEqual([])
  expect(await executionsOf(await createDelayed())).toEqual([])
})
