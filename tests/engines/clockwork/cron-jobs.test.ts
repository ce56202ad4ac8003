import { expect, test } from 'bun:test'
import {
  advanceWaiting,
  at,
  bootFixture,
  count,
  HALF_MINUTE,
  holdAnswers,
  JOBS,
  MINUTE,
  NOON,
} from './support.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

test('a new job answers 201 with every field, the optional ones at their defaults', async () => {
  await using fixture = await bootFixture()
  const { api, acme, target } = fixture

  const answer = await api.post(JOBS, { name: 'report', schedule: '*/5 * * * *', url: target.url })

  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    id: expect.stringMatching(UUID),
    tenant_id: acme.id,
    name: 'report',
    schedule: '*/5 * * * *',
    url: target.url,
    method: 'POST',
    headers: {},
    body: null,
    is_active: true,
    last_run_at: null,
    next_run_at: at('12:05:00'),
    created_at: at('12:00:30'),
    updated_at: at('12:00:30'),
  })
})

test('what is given is kept as given and read back the same everywhere', async () => {
  await using fixture = await bootFixture()
  const { createJob, readJob, listJobs, target } = fixture
  const fields = {
    name: 'Bericht für „Ümit“ \u0000 🚀',
    schedule: '0 6\t* * 1-5',
    url: `${target.url}?q=%20#part`,
    method: 'PUT',
    headers: { 'X-MiXed': 'a', 'X-Clockwork-Attempt': '9', Host: 'elsewhere', __proto: 'x' },
    body: '{"spelling": 1.0}\r\n\u0000',
    is_active: false,
  }

  const job = await createJob(fields)

  expect(job).toMatchObject(fields)
  expect(await listJobs()).toEqual([job])
  expect(await readJob(job)).toEqual({ ...job, skipped_slots: { outage: 0, overlap: 0 } })
})

test('fields that a job does not have are ignored, its own ids and times too', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, acme } = fixture
  const foreign = {
    id: 'mine',
    tenant_id: 'other',
    created_at: 'never',
    next_run_at: 'x',
    colour: 1,
  }

  const job = await createJob(foreign)
  const changed = await change(job, foreign)

  expect(job).toMatchObject({ tenant_id: acme.id, created_at: at('12:00:30') })
  expect(job.id).toMatch(UUID)
  expect(job).not.toHaveProperty('colour')
  expect(changed).toEqual(job)
})

test('the list is newest first, also for jobs of the same millisecond', async () => {
  await using fixture = await bootFixture()
  const { createJob, listJobs } = fixture
  const names = Array.from({ length: 20 }, (_, index) => `job ${index}`)

  for (const name of names) await createJob({ name })

  const listed = await listJobs()
  expect(listed.map(({ name }: { name: string }) => name)).toEqual(names.toReversed())
})

test('a tenant without jobs has an empty list', async () => {
  await using fixture = await bootFixture()

  expect(await fixture.listJobs()).toEqual([])
})

test.each([
  ['name', 'other'],
  ['schedule', '0 0 1 1 *'],
  ['url', 'https://example.com/other'],
  ['method', 'DELETE'],
  ['headers', { 'X-New': '2' }],
  ['body', 'other'],
  ['body', null],
  ['is_active', false],
])('a change of %s alone leaves every other field', async (field, value) => {
  await using fixture = await bootFixture()
  const { createJob, change, readJob, clock } = fixture
  const job = await createJob({ headers: { 'X-Old': '1' }, body: 'old', method: 'PATCH' })
  await clock.advance(1000)

  const changed = await change(job, { [field]: value })

  const next = field === 'schedule' ? { next_run_at: '2027-01-01T00:00:00.000Z' } : {}
  expect(changed).toEqual({ ...job, [field]: value, ...next, updated_at: at('12:00:31') })
  expect(await readJob(job)).toMatchObject(changed)
})

test('an empty change and a new name leave the next run where it is', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, clock } = fixture
  const job = await createJob({ schedule: '*/10 * * * *' })
  await clock.advance(3 * MINUTE)

  expect((await change(job, {})).next_run_at).toBe(at('12:10:00'))
  expect((await change(job, { name: 'b' })).next_run_at).toBe(at('12:10:00'))
  expect((await change(job, { is_active: true })).next_run_at).toBe(at('12:10:00'))
  expect((await change(job, { schedule: '*/10 * * * *' })).next_run_at).toBe(at('12:10:00'))
})

test('a new schedule counts from now and catches nothing up', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, clock, target } = fixture
  const job = await createJob({ schedule: '0 0 1 1 *' })
  await clock.advance(30 * MINUTE)

  expect((await change(job, { schedule: '*/10 * * * *' })).next_run_at).toBe(at('12:40:00'))

  await clock.advanceTo(NOON + 40 * MINUTE)
  expect(target.requests).toHaveLength(1)
})

test('a paused job stays quiet and keeps its next run, also when that has passed', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, readJob, clock, target } = fixture
  const job = await createJob()

  const paused = await change(job, { is_active: false })
  await clock.advance(10 * MINUTE)

  expect(paused).toMatchObject({ is_active: false, next_run_at: at('12:01:00') })
  expect(await readJob(job)).toMatchObject({ next_run_at: at('12:01:00'), last_run_at: null })
  expect(target.requests).toEqual([])
})

test('a resumed job runs next at its first slot after now; what it missed stays missed', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, readJob, clock, target } = fixture
  const job = await createJob()
  await change(job, { is_active: false })
  await clock.advance(10 * MINUTE)

  const resumed = await change(job, { is_active: true })
  await clock.advance(MINUTE)

  expect(resumed.next_run_at).toBe(at('12:11:00'))
  expect(target.requests).toHaveLength(1)
  expect(await readJob(job)).toMatchObject({ skipped_slots: { outage: 0, overlap: 0 } })
})

test('a job made inactive waits to be resumed', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, clock, target } = fixture
  const job = await createJob({ is_active: false })
  await clock.advance(5 * MINUTE)
  expect(target.requests).toEqual([])

  await change(job, { is_active: true })
  await clock.advance(MINUTE)

  expect(target.requests).toHaveLength(1)
})

test('a run sets last_run_at and moves next_run_at on, but is no change of the job', async () => {
  await using fixture = await bootFixture()
  const { createJob, readJob, clock } = fixture
  const job = await createJob({ schedule: '*/5 * * * *' })

  await clock.advanceTo(NOON + 5 * MINUTE)

  expect(await readJob(job)).toMatchObject({
    last_run_at: at('12:05:00'),
    next_run_at: at('12:10:00'),
    updated_at: job.updated_at,
  })
})

test('every slot triggers exactly one run', async () => {
  await using fixture = await bootFixture()
  const { createJob, executionsOf, clock, target } = fixture
  const job = await createJob()

  await clock.advance(10 * MINUTE)

  const slots = (await executionsOf(job)).map(({ slot_at }: { slot_at: string }) => slot_at)
  expect(slots).toEqual(
    Array.from({ length: 10 }, (_, index) => at(`12:${`${10 - index}`.padStart(2, '0')}:00`)),
  )
  expect(target.requests).toHaveLength(10)
})

test('more jobs than are taken up at once all run on their tick', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, clock, target } = fixture
  await Promise.all(Array.from({ length: 350 }, () => createJob()))

  await clock.advance(HALF_MINUTE)

  expect(target.requests).toHaveLength(350)
  expect(count(app, "executions where status = 'success'")).toBe(350)
})

test('a pause drops a run that still stands in line', async () => {
  await using fixture = await bootFixture()
  const { app, createJob, change, executionsOf, target } = fixture
  const held = holdAnswers(target)
  for (let made = 0; made < 16; made++) await createJob()
  const last = await createJob()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(16)
  expect(await executionsOf(last)).toEqual([])

  await change(last, { is_active: false })
  held.release()
  await app.clockwork.loop.idle()

  expect(target.requests).toHaveLength(16)
  expect(await executionsOf(last)).toEqual([])
})

test('the hour and the day of a schedule are those of UTC', async () => {
  await using fixture = await bootFixture()
  const { createJob } = fixture

  expect(await createJob({ schedule: '30 12 * * *' })).toMatchObject({
    next_run_at: at('12:30:00'),
  })
  expect(await createJob({ schedule: '0 0 * * 7' })).toMatchObject({
    next_run_at: '2026-03-08T00:00:00.000Z',
  })
})

test('a deleted job is gone with its executions, open runs and skipped slots', async () => {
  await using fixture = await bootFixture()
  const { app, api, createJob, clock, target, listJobs } = fixture
  target.answers(() => new Response('', { status: 500 }))
  const job = await createJob()
  const other = await createJob({ name: 'stays', schedule: '0 0 1 1 *' })
  await clock.advance(MINUTE)
  clock.jump(10 * MINUTE)
  await clock.advance(6000)
  expect(count(app, 'skipped_slots')).toBe(1)

  const answer = await api.delete(`${JOBS}/${job.id}`)

  expect(answer).toMatchObject({ status: 204, body: '' })
  expect(await listJobs()).toEqual([other])
  for (const table of ['executions', 'runs', 'skipped_slots']) expect(count(app, table)).toBe(0)
  for (const path of [`${JOBS}/${job.id}`, `${JOBS}/${job.id}/executions`])
    expect(await api.get(path)).toMatchObject({ status: 404, body: { error: 'job not found' } })
  expect(await api.delete(`${JOBS}/${job.id}`)).toMatchObject({ status: 404 })
})

test('a deleted job makes no more attempts, and the one under way ends unrecorded', async () => {
  await using fixture = await bootFixture()
  const { app, api, createJob, clock, target } = fixture
  const held = holdAnswers(target)
  const job = await createJob()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)

  expect(await api.delete(`${JOBS}/${job.id}`)).toMatchObject({ status: 204 })
  held.release(500)
  await app.clockwork.loop.idle()
  await clock.advance(10 * MINUTE)

  expect(count(app, 'executions')).toBe(0)
  expect(count(app, 'runs')).toBe(0)
  expect(target.requests).toHaveLength(1)
})

test('a tenant may have 10,000 jobs, and another for each that it deletes', async () => {
  await using fixture = await bootFixture()
  const { app, api, createJob, target } = fixture
  const job = await createJob()
  app.db.client.run('update job_counts set cron_jobs = 9999')
  const another = { name: 'b', schedule: '* * * * *', url: target.url }

  expect(await api.post(JOBS, another)).toMatchObject({ status: 201 })
  expect(await api.post(JOBS, another)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('10000 cron jobs') },
  })
  expect(count(app, 'cron_jobs')).toBe(2)

  await api.delete(`${JOBS}/${job.id}`)
  expect(await api.post(JOBS, another)).toMatchObject({ status: 201 })
})

test('jobs that are refused do not count', async () => {
  await using fixture = await bootFixture()
  const { app, api, createJob } = fixture
  await createJob()

  await api.post(JOBS, { name: 'bad', schedule: 'bad', url: 'bad' })
  await createJob()

  expect(app.db.client.query('select cron_jobs from job_counts').get()).toEqual({ cron_jobs: 2 })
})
