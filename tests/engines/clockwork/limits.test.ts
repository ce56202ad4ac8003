import { expect, test } from 'bun:test'
import { count, DAY, MINUTE } from '../relay/support.ts'
import { at, DELAYED, JOBS, useClockwork } from './support.ts'

const { app, fresh } = await useClockwork()
const { client } = app.db

const numberOf = (query: string) => Number(client.query(query).values()[0]?.[0] ?? 0)
const counted = (column: string) => numberOf(`select ${column} from job_counts`)

test('A tenant may have 10,000 cron jobs, without refused and deleted ones', async () => {
  const { api, createJob, target } = await fresh()
  const job = await createJob()
  await api.post(JOBS, { name: 'bad', schedule: 'bad', url: 'bad' })
  await createJob()
  expect(counted('cron_jobs')).toBe(2)
  client.run('update job_counts set cron_jobs = 9999')
  const another = { name: 'b', schedule: '* * * * *', url: target.url }
  expect(await api.post(JOBS, another)).toMatchObject({ status: 201 })
  expect(await api.post(JOBS, another)).toMatchObject({ status: 409 })
  expect(count(app, 'cron_jobs')).toBe(3)
  const other = await app.tenant('Other')
  expect(await other.api.post(JOBS, another)).toMatchObject({ status: 201 })
  await api.delete(`${JOBS}/${job.id}`)
  expect(await api.post(JOBS, another)).toMatchObject({ status: 201 })
})

test('A tenant may have 10,000 delayed jobs, of which the one that ended first makes room', async () => {
  const { api, createDelayed, executionsOf, clock, target } = await fresh()
  const fields = { name: 'b', run_at: at('13:00:00'), url: target.url }
  const another = async () => (await api.post(DELAYED, fields)).status
  const stored = () => [counted('delayed_jobs'), count(app, 'delayed_jobs'), count(app, 'runs')]
  const first = await createDelayed({ run_at: at('12:01:00') })
  const second = await createDelayed({ run_at: at('12:02:00') })
  const cancelled = await createDelayed()
  await api.delete(`${DELAYED}/${cancelled.id}`)
  client.run('update job_counts set delayed_jobs = 10000')
  expect(await another()).toBe(201)
  expect(await api.get(`${DELAYED}/${cancelled.id}`)).toMatchObject({ status: 404 })
  expect(await another()).toBe(409)
  expect(stored()).toEqual([10_000, 3, 3])

  await clock.advance(3 * MINUTE)
  expect(await another()).toBe(201)
  expect(await api.get(`${DELAYED}/${first.id}`)).toMatchObject({ status: 404 })
  expect(await executionsOf(second)).toHaveLength(1)
  expect(count(app, 'executions')).toBe(1)
  expect(stored()).toEqual([10_000, 3, 2])

  client.run('update job_counts set delayed_jobs = 3')
  await clock.advanceTo(Date.parse(at('13:00:00')))
  clock.jump(31 * DAY)
  await app.platform.retention.sweep()
  expect(stored()).toEqual([0, 0, 0])
})

const MAX_BYTES = 16 * 1024 * 1024
const body = (size: number) => 'é'.repeat(size / 2)
const stored = () =>
  numberOf(
    `select coalesce(sum(length(cast(name || url || headers || coalesce(body, '') as blob))), 0)
     from (select name, url, headers, body from cron_jobs
           union all select name, url, headers, body from delayed_jobs)`,
  )

test('The bytes of jobs are counted as jobs are created, changed, ended and deleted', async () => {
  const { api, createJob, createDelayed, change, clock } = await fresh()
  const job = await createJob({ body: body(1000), headers: { 'X-A': 'b' } })
  await createDelayed({ body: body(500) })
  expect(counted('bytes')).toBe(stored())
  expect(counted('bytes')).toBeGreaterThan(1500)
  for (const fields of [{ body: body(3000), name: 'ö' }, { body: null }]) {
    await change(job, fields)
    expect(counted('bytes')).toBe(stored())
  }
  await clock.advance(MINUTE)
  clock.jump(31 * DAY)
  await app.platform.retention.sweep()
  expect(counted('bytes')).toBe(stored())
  await api.delete(`${JOBS}/${job.id}`)
  expect(counted('bytes')).toBe(0)
})

test('Jobs have at most 16 MB together, for which delayed jobs that have ended give way', async () => {
  const { api, clock, createJob, createDelayed, change } = await fresh()
  const job = await createJob({ body: body(1000) })
  const ended = await createDelayed()
  client.run(`update job_counts set bytes = ${MAX_BYTES - 2000}`)
  const large = { name: 'n', url: job.url, body: body(2000) }
  for (const answer of [
    await api.post(JOBS, { ...large, schedule: '* * * * *' }),
    await api.post(DELAYED, { ...large, run_at: at('13:00:00') }),
    await api.patch(`${JOBS}/${job.id}`, { body: body(4000) }),
  ])
    expect(answer).toMatchObject({ status: 409 })
  expect(counted('bytes')).toBe(MAX_BYTES - 2000)
  expect((await api.get(`${JOBS}/${job.id}`)).body.body).toBe(body(1000))
  await change(job, { body: body(500), is_active: false })
  expect(counted('bytes')).toBe(MAX_BYTES - 2500)

  await clock.advance(MINUTE)
  client.run(`update job_counts set bytes = ${MAX_BYTES - 20}`)
  await createDelayed({ run_at: at('13:00:00') })
  expect(await api.get(`${DELAYED}/${ended.id}`)).toMatchObject({ status: 404 })
})
