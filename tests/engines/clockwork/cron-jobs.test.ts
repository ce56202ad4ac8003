import { expect, test } from 'bun:test'
import { createRunQueue } from '../../../src/engines/clockwork/queue.ts'
import { count, HALF_MINUTE, MINUTE } from '../relay/support.ts'
import { advanceWaiting, at, JOBS, NO_OPTIONS, NOON, useClockwork } from './support.ts'

const { app, fresh } = await useClockwork()

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

test('A new job has every field, the optional ones with their defaults, and is listed first', async () => {
  const { api, acme, createJob, listJobs, target } = await fresh()
  const fields = { name: 'report', schedule: '*/5 * * * *', url: target.url }
  const answer = await api.post(JOBS, fields)
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    ...{ id: expect.stringMatching(UUID), tenant_id: acme.id, ...fields },
    ...{ time_zone: 'UTC', method: 'POST', headers: {}, body: null, is_active: true },
    ...{
      ...NO_OPTIONS,
      overlap: 'skip',
      alert_after: 1,
      last_run_at: null,
      next_run_at: at('12:05:00'),
    },
    ...{ created_at: at('12:00:30'), updated_at: at('12:00:30') },
  })
  const created: unknown[] = [answer.body]
  for (let n = 0; n < 12; n++) created.unshift(await createJob())
  expect(await listJobs()).toEqual(created)
})

test('Fields are stored as given, and those that only the server sets are ignored', async () => {
  const { acme, change, createJob, readJob, listJobs, target } = await fresh()
  const foreign = { id: 'mine', tenant_id: 'x', created_at: 'never', next_run_at: 'x', color: 1 }
  const headers = { 'X-MiXed': 'a', 'X-Clockwork-Attempt': '9', Host: 'elsewhere', __proto: 'x' }
  const fields = {
    ...{ name: 'Bericht für „Ümit“ \u0000 🚀', schedule: '0 6\t* * 1-5', method: 'PUT', headers },
    ...{ url: `${target.url}?q=%20#part`, body: '{"n": 1.0}\r\n\u0000', is_active: false },
  }
  const job = await createJob({ ...fields, ...foreign })
  expect(job).toMatchObject({ ...fields, tenant_id: acme.id, created_at: at('12:00:30') })
  expect(job.id).toMatch(UUID)
  expect(job).not.toHaveProperty('color')
  expect(await change(job, foreign)).toEqual(job)
  expect(await listJobs()).toEqual([job])
  expect(await readJob(job)).toEqual({ ...job, skipped_slots: { outage: 0, overlap: 0 } })
})

test('A change of one field leaves every other', async () => {
  const { createJob, change, readJob, clock } = await fresh()
  for (const fields of [
    ...[{ name: 'other' }, { method: 'DELETE' }, { url: 'https://example.com/other' }],
    ...[{ headers: { 'X-New': '2' } }, { body: 'other' }, { body: null }, { is_active: false }],
    { schedule: '0 0 1 1 *' },
  ]) {
    const job = await createJob({
      ...{ headers: { 'X-Old': '1' }, body: 'old', method: 'PATCH', alert_after: 4 },
    })
    await clock.advance(1000)
    const changed = await change(job, fields)
    const next = 'schedule' in fields && { next_run_at: '2027-01-01T00:00:00.000Z' }
    const updated_at = new Date(clock.now()).toISOString()
    expect(changed).toEqual({ ...job, ...fields, ...next, updated_at })
    expect(await readJob(job)).toMatchObject(changed)
  }
})

test('The next run stays where it is unless the schedule changes, which counts from now', async () => {
  const { createJob, change, clock, target } = await fresh()
  const job = await createJob({ schedule: '*/10 * * * *' })
  const rare = await createJob({ schedule: '0 0 1 1 *' })
  await clock.advance(3 * MINUTE)
  for (const fields of [{}, { name: 'b' }, { is_active: true }, { schedule: '*/10 * * * *' }])
    expect(await change(job, fields)).toMatchObject({ next_run_at: at('12:10:00') })
  await change(job, { is_active: false })
  const often = await change(rare, { schedule: '*/10 * * * *' })
  expect(often).toMatchObject({ next_run_at: at('12:10:00') })
  await clock.advanceTo(NOON + 10 * MINUTE)
  expect(target.requests).toHaveLength(1)
})

test('A schedule is in the time zone of its job, and a change of either counts from now', async () => {
  const { api, createJob, change, readJob, clock, target } = await fresh()
  const schedule = '30 14 * * *'
  const job = await createJob({ schedule, time_zone: 'europe/berlin' })
  expect(job).toMatchObject({ time_zone: 'Europe/Berlin', next_run_at: at('13:30:00') })
  await clock.advanceTo(NOON + 90 * MINUTE)
  expect(target.requests).toHaveLength(1)
  const next_run_at = '2026-03-02T13:30:00.000Z'
  expect(await readJob(job)).toMatchObject({ next_run_at })
  expect(await change(job, { name: 'b' })).toMatchObject({
    time_zone: 'Europe/Berlin',
    next_run_at,
  })
  const moved = await change(job, { time_zone: 'Asia/Kathmandu' })
  expect(moved).toMatchObject({ schedule, next_run_at: '2026-03-02T08:45:00.000Z' })
  const later = await change(job, { schedule: '0 20 * * *' })
  expect(later).toMatchObject({ time_zone: 'Asia/Kathmandu', next_run_at: at('14:15:00') })
  for (const time_zone of ['Mars/Olympus', '+01:00', ''])
    for (const answer of [
      await api.post(JOBS, { ...{ name: 'a', schedule, url: target.url }, time_zone }),
      await api.patch(`${JOBS}/${job.id}`, { time_zone }),
      await api.post(`${JOBS}/preview`, { schedule, time_zone }),
    ]) {
      expect(answer).toMatchObject({ status: 400 })
      expect(answer.body.error).toStartWith('time_zone: must be a time zone such as Europe/Berlin')
    }
})

test('A paused job does not run, and its missed slots stay missed', async () => {
  const { createJob, change, readJob, clock, target } = await fresh()
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

test('Every slot triggers one run, which sets last_run_at and is no change of the job', async () => {
  const { createJob, readJob, executionsOf, clock } = await fresh()
  const job = await createJob({ schedule: '*/5 * * * *' })
  await clock.advanceTo(NOON + 15 * MINUTE)
  const executions: { slot_at: string }[] = await executionsOf(job)
  const slots = ['12:15:00', '12:10:00', '12:05:00'].map(at)
  expect(executions.map(({ slot_at }) => slot_at)).toEqual(slots)
  const after = { last_run_at: at('12:15:00'), next_run_at: at('12:20:00') }
  expect(await readJob(job)).toMatchObject({ ...after, updated_at: job.updated_at })
})

test('All jobs that are due at once run on their tick, slice by slice', async () => {
  const { createJob, createDelayed, clock, target } = await fresh()
  const create = (_: unknown, n: number) => (n < 60 ? createJob() : createDelayed())
  await Promise.all(Array.from({ length: 120 }, create))
  await clock.advance(HALF_MINUTE)
  expect(target.requests).toHaveLength(120)
  expect(count(app, "executions where status = 'success'")).toBe(120)

  for (const [fired, waits, hasMore] of [
    [300, false, true],
    [299, true, true],
    [299, false, false],
  ] as const) {
    const slots = { fire: () => fired }
    const store = { runs: { promote: () => waits } }
    const watch = { pass: () => false }
    const queue = createRunQueue({
      tick: { floor: (now: number) => now },
      slots,
      store,
      watch,
    } as never)
    expect(queue.promote(NOON)).toBe(hasMore)
  }
})

test('A pause drops a run that is ready and not yet under way', async () => {
  const { createJob, change, executionsOf, target } = await fresh()
  const held = target.hold()
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

test('A deleted job is gone with its executions, open runs and skipped slots', async () => {
  const { api, createJob, clock, target, listJobs } = await fresh()
  target.answers(500)
  const job = await createJob()
  const other = await createJob({ name: 'stays', schedule: '0 0 1 1 *' })
  await clock.advance(MINUTE)
  clock.jump(10 * MINUTE)
  await clock.advance(6000)
  expect(count(app, 'skipped_slots')).toBe(1)

  const path = `${JOBS}/${job.id}`
  expect(await api.delete(path)).toMatchObject({ status: 204, body: '' })
  expect(await listJobs()).toEqual([other])
  for (const table of ['executions', 'runs', 'skipped_slots']) expect(count(app, table)).toBe(0)
  const missing = { status: 404, body: { error: 'job not found' } }
  for (const gone of [path, `${path}/executions`])
    expect(await api.get(gone)).toMatchObject(missing)
  expect(await api.delete(path)).toMatchObject({ status: 404 })
})

test('The attempt of a deleted job that is under way ends unrecorded, and no other follows', async () => {
  const { api, createJob, clock, target } = await fresh()
  const held = target.hold()
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
