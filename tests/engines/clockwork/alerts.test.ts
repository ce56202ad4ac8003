import { expect, test } from 'bun:test'
import { DAY, ENDPOINTS, expectDescribedType, MESSAGES, MINUTE } from '../relay/support.ts'
import { DELAYED, type Fixture, JOBS, useClockwork } from './support.ts'

const { fresh } = await useClockwork()

const openOf = ({ app, acme }: Fixture) => app.platform.alerts.page(acme.id, 'open', { limit: 9 })

const FAILING = { kind: 'job.failed', severity: 'critical', state: 'open', name: 'report' }

test('A job that fails for good opens an alert, which ends with its next success', async () => {
  const fixture = await fresh()
  const { clock, target, createJob, runNow } = fixture
  const { id } = await createJob({ schedule: '1 12 * * *' })
  target.answers(500)
  await clock.advance(3 * MINUTE)
  expect(openOf(fixture)).toEqual([])
  await clock.advance(10 * MINUTE)
  const text = 'The target answered with status 500, after 3 attempts.'
  const alert = { ...FAILING, text, subject: `job:${id}`, path: `/jobs/${id}`, count: 1 }
  expect(openOf(fixture)).toMatchObject([alert])
  target.answers(404)
  await runNow({ id })
  await clock.advance(MINUTE)
  const again = { ...alert, text: 'The target answered with status 404.', count: 2 }
  expect(openOf(fixture)).toMatchObject([again])
  target.answers(200)
  await runNow({ id })
  await clock.advance(MINUTE)
  expect(openOf(fixture)).toEqual([])
})

test('A job opens an alert after the failed runs in a row that it allows', async () => {
  const fixture = await fresh()
  const { clock, target, createJob, change, runNow } = fixture
  const job = await createJob({ schedule: '0 0 1 1 *', alert_after: 3 })
  const run = async (status: number) => {
    target.answers(status)
    await runNow(job)
    await clock.advance(MINUTE)
  }
  for (const status of [404, 404, 200, 404, 404]) await run(status)
  expect(openOf(fixture)).toEqual([])
  await run(404)
  const text = '3 runs in a row failed. The target answered with status 404.'
  expect(openOf(fixture)).toMatchObject([{ ...FAILING, text, count: 1 }])
  await run(404)
  expect(openOf(fixture)).toMatchObject([{ count: 2 }])
  await run(200)
  await run(404)
  expect(openOf(fixture)).toEqual([])
  await change(job, { alert_after: 2 })
  await run(404)
  expect(openOf(fixture)).toMatchObject([FAILING])
})

test.each([
  ['deleted', ({ acme }: Fixture, id: string) => acme.api.delete(`${JOBS}/${id}`)],
  [
    'paused',
    ({ acme }: Fixture, id: string) => acme.api.patch(`${JOBS}/${id}`, { is_active: false }),
  ],
])('The alert of a job ends without a message when the job is %s', async (_, change) => {
  const fixture = await fresh()
  const { app, acme, clock, target } = fixture
  const { id } = await fixture.createJob({ schedule: '1 12 * * *' })
  target.answers(404)
  await clock.advance(MINUTE)
  expect(openOf(fixture)).toMatchObject([FAILING])
  await change(fixture, id)
  const { page } = app.platform.alerts
  const ended = { state: 'resolved', told: 'resolved', dueAt: null }
  expect(page(acme.id, 'resolved', { limit: 9 })).toMatchObject([ended])
  expect(openOf(fixture)).toEqual([])
})

test('A delayed job that fails opens an alert, which has no recovery', async () => {
  const fixture = await fresh()
  const { clock, target, acme } = fixture
  target.answers(404)
  const { id } = await fixture.createDelayed()
  await clock.advance(MINUTE)
  const alert = { ...FAILING, name: 'reminder', path: `/delayed/${id}`, closesAfterMs: DAY }
  expect(openOf(fixture)).toMatchObject([alert])
  expect((await acme.api.get(`${DELAYED}/${id}`)).body.status).toBe('failed')
})

/** `[type, payload]` of the operational events about jobs from now on, oldest first. */
async function jobEvents({ app, acme, target }: Fixture, types: string[] | null) {
  const client = app.client((await acme.key('relay', 'live')).key)
  await client.post(ENDPOINTS, { url: target.url, event_types: types })
  return async () => {
    const { data } = (await client.get(MESSAGES)).body
    const messages = await Promise.all(
      data.map(async ({ id }: { id: string }) => (await client.get(`${MESSAGES}/${id}`)).body),
    )
    return messages.map(({ event_type, payload }) => [event_type, payload]).toReversed()
  }
}

test('A job that fails and succeeds again is told to endpoints that list these events, once each', async () => {
  const fixture = await fresh()
  const { acme, clock, target, createJob, runNow } = fixture
  const events = await jobEvents(fixture, ['job.*'])
  const { id } = await createJob({ schedule: '1 12 * * *' })
  target.answers(() => new Response('secret', { status: 500 }))
  await clock.advance(13 * MINUTE)
  target.answers(404)
  await runNow({ id })
  await clock.advance(MINUTE)
  target.answers(200)
  for (let n = 0; n < 2; n++) {
    await runNow({ id })
    await clock.advance(MINUTE)
  }
  for (const [type, payload] of await events()) expectDescribedType(type, payload)
  const url = expect.stringMatching(new RegExp(`/console/${acme.id}/jobs/${id}$`))
  const run = { execution_id: expect.any(String), at: expect.any(String), url }
  const job = { job_id: id, kind: 'cron', name: 'report', ...run }
  const reason = { error_code: 'status', response_status: 500 }
  const failed = { ...job, scheduled_at: '2026-03-01T12:01:00.000Z', attempts: 3, ...reason }
  expect(await events()).toEqual([
    ['job.failed', failed],
    ['job.recovered', { ...job, scheduled_at: '2026-03-01T12:14:30.000Z', attempts: 1 }],
  ])
})

test('A delayed job that fails is told once', async () => {
  const fixture = await fresh()
  const events = await jobEvents(fixture, ['job.failed'])
  fixture.target.answers(404)
  const { id } = await fixture.createDelayed()
  await fixture.clock.advance(MINUTE)
  const job = { job_id: id, kind: 'delayed', name: 'reminder', error_code: 'status' }
  expect(await events()).toMatchObject([['job.failed', job]])
})

test('Without an endpoint that lists the events of jobs, none is stored', async () => {
  const fixture = await fresh()
  const events = await jobEvents(fixture, null)
  fixture.target.answers(404)
  await fixture.createDelayed()
  await fixture.clock.advance(MINUTE)
  expect(openOf(fixture)).toMatchObject([{ kind: 'job.failed' }])
  expect(await events()).toEqual([])
})

test('A job in a time zone that only a later version knows fails and is paused with the reason, and others go on', async () => {
  const fixture = await fresh()
  const { app, acme, clock, target, createJob, executionsOf } = fixture
  const unknown = await createJob({ name: 'report', url: `${target.url}/unknown`, alert_after: 5 })
  await createJob({ name: 'other', url: `${target.url}/other` })
  app.db.client.run(`update cron_jobs set time_zone = 'Mars/Olympus' where id = ?`, [unknown.id])
  await clock.advance(MINUTE)
  expect(target.requests.map(({ path }) => path)).toEqual(['/hook/other'])
  const reason = `can't read the schedule * * * * * in Mars/Olympus`
  expect(await executionsOf(unknown)).toMatchObject([
    { status: 'failed', error_message: expect.stringContaining(reason) },
  ])
  const alert = { ...FAILING, text: expect.stringContaining(reason) }
  expect(openOf(fixture)).toMatchObject([alert])
  const path = `${JOBS}/${unknown.id}`
  expect((await acme.api.get(path)).body).toMatchObject({ is_active: false })
  expect((await acme.api.patch(path, { is_active: true })).status).toBe(400)
  await acme.api.patch(path, { is_active: true, time_zone: 'Europe/Berlin' })
  await clock.advance(MINUTE)
  expect(openOf(fixture)).toEqual([])
})
