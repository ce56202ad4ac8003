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

test('a new job answers 201 with every field, the optional ones with their defaults', async () => {
  await using fixture = await bootFixture()
  const { api, acme, listJobs, target } = fixture
  expect(await listJobs()).toEqual([])

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

test('fields are stored as given, and those that only the server sets are ignored', async () => {
  await using fixture = await bootFixture()
  const { acme, change, createJob, readJob, listJobs, target } = fixture
  const foreign = {
    id: 'mine',
    tenant_id: 'other',
    created_at: 'never',
    next_run_at: 'x',
    color: 1,
  }
  const fields = {
    name: 'Bericht für „Ümit“ \u0000 🚀',
    schedule: '0 6\t* * 1-5',
    url: `${target.url}?q=%20#part`,
    method: 'PUT',
    headers: { 'X-MiXed': 'a', 'X-Clockwork-Attempt': '9', Host: 'elsewhere', __proto: 'x' },
    body: '{"spelling": 1.0}\r\n\u0000',
    is_active: false,
  }

  const job = await createJob({ ...fields, ...foreign })

  expect(job).toMatchObject({ ...fields, tenant_id: acme.id, created_at: at('12:00:30') })
  expect(job.id).toMatch(UUID)
  expect(job).not.toHaveProperty('color')
  expect(await change(job, foreign)).toEqual(job)
  expect(await listJobs()).toEqual([job])
  expect(await readJob(job)).toEqual({ ...job, skipped_slots: { outage: 0, overlap: 0 } })
})

test('the list is newest first, also for jobs of the same millisecond', async () => {
  await using fixture = await bootFixture()
  const names = Array.from({ length: 20 }, (_, index) => `job ${index}`)

  for (const name of names) await fixture.createJob({ name })

  const listed: { name: string }[] = await fixture.listJobs()
  expect(listed.map(({ name }) => name)).toEqual(names.toReversed())
})

test('a change of one field leaves every other', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, readJob, clock } = fixture
  for (const [field, value] of [
    ['name', 'other'],
    ['schedule', '0 0 1 1 *'],
    ['url', 'https://example.com/other'],
    ['method', 'DELETE'],
    ['headers', { 'X-New': '2' }],
    ['body', 'other'],
    ['body', null],
    ['is_active', false],
  ] as const) {
    const job = await createJob({ headers: { 'X-Old': '1' }, body: 'old', method: 'PATCH' })
    await clock.advance(1000)

    const changed = await change(job, { [field]: value })

    const next = field === 'schedule' && { next_run_at: '2027-01-01T00:00:00.000Z' }
    const updated_at = new Date(clock.now()).toISOString()
    expect(changed).toEqual({ ...job, [field]: value, ...next, updated_at })
    expect(await readJob(job)).toMatchObject(changed)
  }
})

test('the next run stays where it is unless the schedule changes, which counts from now', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, clock, target } = fixture
  const job = await createJob({ schedule: '*/10 * * * *' })
  const rare = await createJob({ schedule: '0 0 1 1 *' })
  await clock.advance(3 * MINUTE)
  const unchanged = [{}, { name: 'b' }, { is_active: true }, { schedule: '*/10 * * * *' }]

  for (const fields of unchanged)
    expect(await change(job, fields)).toMatchObject({ next_run_at: at('12:10:00') })
  await clock.advance(27 * MINUTE)
  target.requests.length = 0
  await change(job, { is_active: false })
  const often = await change(rare, { schedule: '*/10 * * * *' })
  expect(often).toMatchObject({ next_run_at: at('12:40:00') })
  await clock.advanceTo(NOON + 40 * MINUTE)
  expect(target.requests).toHaveLength(1)
})

test('a paused job does not run, and its missed slots stay missed', async () => {
  await using fixture = await bootFixture()
  const { createJob, change, readJob, clock, target } = fixture
  const paused = await change(await createJob(), { is_active: false })
  const created = await createJob({ is_active: false })
  await clock.advance(10 * MINUTE)
  const before = { next_run_at: at('12:01:00'), last_run_at: null }
  for (const job of [paused, created]) expect(await readJob(job)).toMatchObject(before)
  expect(target.requests).toEqual([])

  for (const job of [paused, created])
    expect(await change(job, { is_active: true })).toMatchObject({ next_run_at: at('12:11:00') })
  await clock.advance(MINUTE)

  expect(target.requests).toHaveLength(2)
  const skipped_slots = { outage: 0, overlap: 0 }
  expect(await readJob(paused)).toMatchObject({ skipped_slots })
})

test('every slot triggers one run, which sets last_run_at and is no change of the job', async () => {
  await using fixture = await bootFixture()
  const { createJob, readJob, executionsOf, clock } = fixture
  const job = await createJob({ schedule: '*/5 * * * *' })

  await clock.advanceTo(NOON + 15 * MINUTE)

  const executions: { slot_at: string }[] = await executionsOf(job)
  const slots = ['12:15:00', '12:10:00', '12:05:00'].map(at)
  expect(executions.map(({ slot_at }) => slot_at)).toEqual(slots)
  const after = { last_run_at: at('12:15:00'), next_run_at: at('12:20:00') }
  expect(await readJob(job)).toMatchObject({ ...after, updated_at: job.updated_at })
})

test.each(['cron', 'delayed'])(
  '350 %s jobs that are due at once all run on their tick',
  async (kind) => {
    await using fixture = await bootFixture()
    const create = kind === 'cron' ? fixture.createJob : fixture.createDelayed
    await Promise.all(Array.from({ length: 350 }, () => create()))

    await fixture.clock.advance(HALF_MINUTE)

    expect(fixture.target.requests).toHaveLength(350)
    expect(count(fixture.app, "executions where status = 'success'")).toBe(350)
  },
)

test('a pause drops a run that is ready and not yet under way', async () => {
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

test('the attempt of a deleted job that is under way ends unrecorded, and no other follows', async () => {
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

  expect([count(app, 'executions'), count(app, 'runs')]).toEqual([0, 0])
  expect(target.requests).toHaveLength(1)
})

test('a tenant may have 10,000 jobs, without refused and deleted ones', async () => {
  await using fixture = await bootFixture()
  const { app, api, createJob, target } = fixture
  const job = await createJob()
  await api.post(JOBS, { name: 'bad', schedule: 'bad', url: 'bad' })
  await createJob()
  expect(app.db.client.query('select cron_jobs as n from job_counts').get()).toEqual({ n: 2 })
  app.db.client.run('update job_counts set cron_jobs = 9999')
  const another = { name: 'b', schedule: '* * * * *', url: target.url }

  expect(await api.post(JOBS, another)).toMatchObject({ status: 201 })
  expect(await api.post(JOBS, another)).toMatchObject({ status: 409 })
  expect(count(app, 'cron_jobs')).toBe(3)

  await api.delete(`${JOBS}/${job.id}`)
  expect(await api.post(JOBS, another)).toMatchObject({ status: 201 })
})
