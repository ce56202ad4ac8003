import { expect, test } from 'bun:test'
import type { Execution } from '../../../src/engines/clockwork/model.ts'
import { executionShownTo, shownTo } from '../../../src/engines/clockwork/shown-job.ts'
import { answering, startRawTarget } from './raw-target.ts'
import {
  advanceWaiting,
  at,
  bootFixture,
  HALF_MINUTE,
  holdAnswers,
  MINUTE,
  writeHistory,
} from './support.ts'

test('an execution has its answer, its duration and its times', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, createDelayed, executionsOf, target } = fixture
  const held = holdAnswers(target)
  const job = await createJob()
  const other = await createDelayed()
  expect(await executionsOf(job)).toEqual([])
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(2)
  await advanceWaiting(app, 1234)
  const execution = {
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    job_id: job.id,
    status: 'running',
    trigger: 'schedule',
    slot_at: at('12:01:00'),
    lateness_ms: 0,
    started_at: at('12:01:00'),
    completed_at: null,
    duration_ms: null,
    response_status: null,
    response_body: null,
    error_message: null,
    attempt: 1,
    address: null,
    timings: null,
  }
  expect(await executionsOf(job)).toEqual([execution])

  held.release(201)
  await app.clockwork.loop.idle()

  expect(await executionsOf(job)).toEqual([
    {
      ...execution,
      status: 'success',
      completed_at: '2026-03-01T12:01:01.234Z',
      duration_ms: 1234,
      response_status: 201,
      response_body: 'late',
      address: '127.0.0.1',
      timings: { dns: 0, connect: 0, tls: 0, wait: 1234, read: 0 },
    },
  ])
  expect(await executionsOf(other)).toMatchObject([{ job_id: other.id, attempt: 1 }])
})

test('an answer that breaks off is no answer', async () => {
  await using fixture = await bootFixture()
  await using target = await startRawTarget((socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')
  })
  const job = await fixture.createJob({ url: target.url })

  await fixture.clock.advance(HALF_MINUTE)

  const error_message = expect.stringContaining('closed')
  expect(await fixture.executionsOf(job)).toMatchObject([
    { status: 'failed', response_status: null, response_body: null, error_message },
  ])
})

test('the beginning of the answer is kept, as text, up to 64 KB', async () => {
  await using fixture = await bootFixture()
  const cases: [string | Uint8Array, string][] = [
    ['', ''],
    ['Grüße 🚀', 'Grüße 🚀'],
    ['\ufeffa', '\ufeffa'],
    ['a\0b', 'a\0b'],
    [new Uint8Array([104, 255, 254, 105]), 'h\ufffd\ufffdi'],
    [new Uint8Array([104, 0xc3]), 'h\ufffd'],
    ['x'.repeat(65_536), 'x'.repeat(65_536)],
    ['x'.repeat(70_000), 'x'.repeat(65_536)],
    [`${'x'.repeat(65_535)}é and more`, 'x'.repeat(65_535)],
  ]
  const targets = await Promise.all(cases.map(([sent]) => startRawTarget(answering(sent))))
  const jobs = await Promise.all(targets.map(({ url }) => fixture.createJob({ url })))

  await fixture.clock.advance(HALF_MINUTE)

  for (const [n, job] of jobs.entries()) {
    const [execution] = await fixture.executionsOf(job)
    expect(execution).toMatchObject({ status: 'success', response_status: 200 })
    expect([n, execution.response_body === cases[n]?.[1]]).toEqual([n, true])
  }
  for (const target of targets) await target[Symbol.asyncDispose]()
})

test('a 2xx is a success, and any other status a failure with the answer kept', async () => {
  await using fixture = await bootFixture()
  const statuses = [200, 204, 299, 300, 304, 404, 500, 599]
  const targets = await Promise.all(
    statuses.map((status) => {
      const body = [204, 304].includes(status) ? '' : 'why'
      return startRawTarget(answering(body, `HTTP/1.1 ${status} Hm`))
    }),
  )
  const jobs = await Promise.all(targets.map(({ url }) => fixture.createJob({ url })))

  await fixture.clock.advance(HALF_MINUTE)

  for (const [n, response_status] of statuses.entries())
    expect(await fixture.executionsOf(jobs[n])).toMatchObject([
      {
        status: response_status < 300 ? 'success' : 'failed',
        response_status,
        response_body: [204, 304].includes(response_status) ? '' : 'why',
        error_message: null,
      },
    ])
  for (const target of targets) await target[Symbol.asyncDispose]()
})

test('the list of a cron job has the newest 100, newest first', async () => {
  await using fixture = await bootFixture()
  const job = await fixture.createJob()
  writeHistory(fixture, job, 98)

  await fixture.clock.advance(5 * MINUTE)

  const executions = await fixture.executionsOf(job)
  expect(executions).toHaveLength(100)
  const slots = [0, 4, 99].map((place) => executions[place].slot_at)
  expect(slots).toEqual(['12:05:00', '12:01:00', '10:25:00'].map(at))
})

test('Read-only callers see no secret header, also where the answer repeats one', () => {
  const headers = { Authorization: 'Bearer t0p-secret', 'X-Team': 'blue' }
  const execution = { response_body: 'got t0p-secret from blue' } as Execution
  const readOnly = { isReadOnly: true }

  const shown = { Authorization: '********', 'X-Team': 'blue' }
  expect(shownTo(readOnly, { headers })).toEqual({ headers: shown })
  expect(executionShownTo(readOnly, { headers }, execution)).toMatchObject({
    response_body: 'got ******** from blue',
  })
  for (const body of [null, '']) {
    const without = { response_body: body } as Execution
    expect(executionShownTo(readOnly, { headers }, without)).toEqual(without)
  }
  expect(shownTo({}, { headers })).toEqual({ headers })
  expect(executionShownTo({}, { headers }, execution)).toEqual(execution)
})
