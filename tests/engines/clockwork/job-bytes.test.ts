import { expect, test } from 'bun:test'
import { at, bootWorld, DELAYED, JOBS, MINUTE, type World } from './support.ts'

const MEGABYTE = 1024 * 1024
const body = (size: number) => 'é'.repeat(size / 2)

const counted = ({ app }: World): number =>
  app.db.client.query<{ bytes: number }, []>('select bytes from job_counts').get()?.bytes ?? 0

const stored = ({ app }: World): number =>
  app.db.client
    .query<{ n: number }, []>(
      `select coalesce(sum(length(cast(name || url || headers || coalesce(body, '') as blob))), 0) as n
       from (select name, url, headers, body from cron_jobs
             union all select name, url, headers, body from delayed_jobs)`,
    )
    .get()?.n ?? 0

test('the count follows what is stored: created, changed, deleted, ended, cleaned up', async () => {
  await using world = await bootWorld()
  const { app, api, createJob, createDelayed, change, clock } = world
  const job = await createJob({ body: body(1000), headers: { 'X-A': 'b' } })
  await createDelayed({ body: body(500) })
  expect(counted(world)).toBe(stored(world))
  expect(counted(world)).toBeGreaterThan(1500)

  await change(job, { body: body(3000), name: 'ö' })
  expect(counted(world)).toBe(stored(world))
  await change(job, { body: null })
  expect(counted(world)).toBe(stored(world))

  await clock.advance(MINUTE)
  clock.jump(31 * 86_400_000)
  await app.platform.retention.sweep()
  expect(counted(world)).toBe(stored(world))
  await api.delete(`${JOBS}/${job.id}`)
  expect(counted(world)).toBe(0)
})

test('beyond 16 MB another job, or a larger one, is refused and changes nothing', async () => {
  await using world = await bootWorld()
  const { app, api, createJob, createDelayed, change } = world
  const job = await createJob({ body: body(1000) })
  await createDelayed()
  app.db.client.run(`update job_counts set bytes = ${16 * MEGABYTE - 2000}`)
  const before = counted(world)
  const refused = {
    status: 409,
    body: { error: expect.stringContaining('16777216 bytes of jobs') },
  }
  const large = { name: 'n', url: job.url, body: body(2000) }

  expect(await api.post(JOBS, { ...large, schedule: '* * * * *' })).toMatchObject(refused)
  expect(await api.post(DELAYED, { ...large, run_at: at('13:00:00') })).toMatchObject(refused)
  expect(await api.patch(`${JOBS}/${job.id}`, { body: body(4000) })).toMatchObject(refused)

  expect(counted(world)).toBe(before)
  expect((await api.get(`${JOBS}/${job.id}`)).body.body).toBe(body(1000))
  await change(job, { body: body(500) })
  expect(counted(world)).toBe(before - 500)
})

test('delayed jobs that have ended give way to new ones', async () => {
  await using world = await bootWorld()
  const { app, api, createDelayed, clock, target } = world
  const ended = await createDelayed({ body: body(4000) })
  await clock.advance(MINUTE)
  app.db.client.run(`update job_counts set bytes = ${16 * MEGABYTE - 100}`)

  const fresh = { name: 'n', run_at: at('13:00:00'), url: target.url, body: body(2000) }
  expect(await api.post(DELAYED, fresh)).toMatchObject({ status: 201 })
  expect(await api.get(`${DELAYED}/${ended.id}`)).toMatchObject({ status: 404 })
})
