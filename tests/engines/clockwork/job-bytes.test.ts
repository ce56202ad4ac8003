import { expect, test } from 'bun:test'
import { at, DAY, DELAYED, JOBS, MINUTE, useClockwork } from './support.ts'

const { app, fresh } = await useClockwork()
const { client } = app.db

const MAX_BYTES = 16 * 1024 * 1024
const body = (size: number) => 'é'.repeat(size / 2)
const numberOf = (query: string) => Number(client.query(query).values()[0]?.[0] ?? 0)
const counted = () => numberOf('select bytes from job_counts')
const stored = () =>
  numberOf(
    `select coalesce(sum(length(cast(name || url || headers || coalesce(body, '') as blob))), 0)
     from (select name, url, headers, body from cron_jobs
           union all select name, url, headers, body from delayed_jobs)`,
  )

test('The bytes of jobs are counted as they are created, changed, ended and deleted', async () => {
  const { api, createJob, createDelayed, change, clock } = await fresh()
  const job = await createJob({ body: body(1000), headers: { 'X-A': 'b' } })
  await createDelayed({ body: body(500) })
  expect(counted()).toBe(stored())
  expect(counted()).toBeGreaterThan(1500)
  for (const fields of [{ body: body(3000), name: 'ö' }, { body: null }]) {
    await change(job, fields)
    expect(counted()).toBe(stored())
  }
  await clock.advance(MINUTE)
  clock.jump(31 * DAY)
  await app.platform.retention.sweep()
  expect(counted()).toBe(stored())
  await api.delete(`${JOBS}/${job.id}`)
  expect(counted()).toBe(0)
})

test('Beyond 16 MB another job, or a larger one, is refused and changes nothing', async () => {
  const { api, createJob, createDelayed, change } = await fresh()
  const job = await createJob({ body: body(1000) })
  await createDelayed()
  client.run(`update job_counts set bytes = ${MAX_BYTES - 2000}`)
  const large = { name: 'n', url: job.url, body: body(2000) }
  for (const answer of [
    await api.post(JOBS, { ...large, schedule: '* * * * *' }),
    await api.post(DELAYED, { ...large, run_at: at('13:00:00') }),
    await api.patch(`${JOBS}/${job.id}`, { body: body(4000) }),
  ])
    expect(answer).toMatchObject({ status: 409 })
  expect(counted()).toBe(MAX_BYTES - 2000)
  expect((await api.get(`${JOBS}/${job.id}`)).body.body).toBe(body(1000))
  await change(job, { body: body(500) })
  expect(counted()).toBe(MAX_BYTES - 2500)
})

test('Delayed jobs that have ended give way to new ones', async () => {
  const { api, createDelayed, clock } = await fresh()
  const ended = await createDelayed({ body: body(4000) })
  await clock.advance(MINUTE)
  client.run(`update job_counts set bytes = ${MAX_BYTES - 100}`)
  await createDelayed({ run_at: at('13:00:00'), body: body(2000) })
  expect(await api.get(`${DELAYED}/${ended.id}`)).toMatchObject({ status: 404 })
})
