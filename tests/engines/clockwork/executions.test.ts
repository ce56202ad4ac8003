import { expect, test } from 'bun:test'
import type { Execution } from '../../../src/engines/clockwork/model.ts'
import { executionShownTo, shownTo } from '../../../src/engines/clockwork/shown-job.ts'
import { HALF_MINUTE } from '../relay/support.ts'
import { answering, startRawTarget } from './raw-target.ts'
import { advanceWaiting, at, useClockwork } from './support.ts'

const { app, fresh } = await useClockwork()

test('An execution has its answer, its duration and its times', async () => {
  const { createJob, createDelayed, executionsOf, target } = await fresh()
  const held = target.hold()
  const job = await createJob()
  const other = await createDelayed()
  expect(await executionsOf(job)).toEqual([])
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(2)
  await advanceWaiting(app, 1234)
  const begun = {
    ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), job_id: job.id, trigger: 'schedule' },
    ...{ slot_at: at('12:01:00'), lateness_ms: 0, started_at: at('12:01:00'), attempt: 1 },
    error_message: null,
  }
  const nothing = { response_status: null, response_body: null, address: null, timings: null }
  const open = { status: 'running', completed_at: null, duration_ms: null }
  expect(await executionsOf(job)).toEqual([{ ...begun, ...open, ...nothing }])

  held.release(201)
  await app.clockwork.loop.idle()
  const end = { status: 'success', completed_at: '2026-03-01T12:01:01.234Z', duration_ms: 1234 }
  const response = { response_status: 201, response_body: 'late', address: '127.0.0.1' }
  const timings = { dns: 0, connect: 0, tls: 0, wait: 1234, read: 0 }
  expect(await executionsOf(job)).toEqual([{ ...begun, ...end, ...response, timings }])
  expect(await executionsOf(other)).toMatchObject([{ job_id: other.id, attempt: 1 }])
})

test('The beginning of the answer is kept, as text, up to 64 KB, and one that breaks off is none', async () => {
  const { clock, createJob, executionsOf } = await fresh()
  const cases: [string | Uint8Array, string][] = [
    ['Grüße 🚀\0', 'Grüße 🚀\0'],
    ['\ufeffa', '\ufeffa'],
    [new Uint8Array([104, 255, 0xc3]), 'h\ufffd\ufffd'],
    ['x'.repeat(65_536), 'x'.repeat(65_536)],
    ['x'.repeat(70_000), 'x'.repeat(65_536)],
    [`${'x'.repeat(65_535)}é and more`, 'x'.repeat(65_535)],
  ]
  await using stack = new AsyncDisposableStack()
  const targets = await Promise.all(cases.map(([sent]) => startRawTarget(answering(sent))))
  const broken = await startRawTarget((socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')
  })
  const all = [...targets, broken].map((target) => stack.use(target))
  const jobs = await Promise.all(all.map(({ url }) => createJob({ url })))
  await clock.advance(HALF_MINUTE)

  const ended = await Promise.all(jobs.map(async (job) => (await executionsOf(job))[0]))
  for (const [n, [, body]] of cases.entries()) {
    expect(ended[n]).toMatchObject({ status: 'success', response_status: 200 })
    expect([n, ended[n].response_body === body]).toEqual([n, true])
  }
  const error_message = expect.stringContaining('closed')
  const none = { status: 'failed', response_status: null, response_body: null, error_message }
  expect(ended.at(-1)).toMatchObject(none)
})

test('Read-only callers see no secret header, also where the answer repeats one', () => {
  const headers = { Authorization: 'Bearer t0p-secret', 'X-Team': 'blue' }
  const withBody = (response_body: string | null) => ({ response_body }) as Execution
  const execution = withBody('got t0p-secret from blue')
  const readOnly = { isReadOnly: true }
  const shown = { Authorization: '********', 'X-Team': 'blue' }
  expect(shownTo(readOnly, { headers })).toEqual({ headers: shown })
  const masked = withBody('got ******** from blue')
  expect(executionShownTo(readOnly, { headers }, execution)).toEqual(masked)
  for (const body of [null, ''])
    expect(executionShownTo(readOnly, { headers }, withBody(body))).toEqual(withBody(body))
  expect(shownTo({}, { headers })).toEqual({ headers })
  expect(executionShownTo({}, { headers }, execution)).toEqual(execution)
})
