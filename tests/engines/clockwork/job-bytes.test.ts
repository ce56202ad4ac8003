import { expect, test } from 'bun:test'
import { at, bootFixture, DAY, DELAYED, type Fixture, JOBS, MINUTE } from './support.ts'

const MEGABYTE = 1024 * 1024
const body = (size: number) => 'é'.repeat(size / 2)

const counted = ({ app }: Fixture): number =>
  app.db.client.query<{ bytes: number }, []>('select bytes from job_counts').get()?.bytes ?? 0

const stored = ({ app }: Fixture): number =>
  app.db.client
    .query<{ n: number }, []>(
      `select coalesce(sum(length(cast(name || url || headers || coalesce(body, '') as blob))), 0) as n
       from (select name, url, headers, body from cron_jobs
             union all select name, url, headers, body from delayed_jobs)`,
    )
    .get()?.n ?? 0

test('the bytes of jobs are counted as they are created, changed, ended and deleted', async () => {
  await using fixture = await bootFixture()
  const { app, api, createJob, createDelayed, change, clock } = fixture
  const job = await createJob({ body: body(1000), headers: { 'X-A': 'b' } })
  await createDelayed({ body: body(500) })
  const expectCounted = () => expect(counted(fixture)).toBe(stored(fixture))
  expectCounted()
  expect(counted(fixture)).toBeGreaterThan(1500)

  for (const fields of [{ body: body(3000), name: 'ö' }, { body: null }]) {
    await change(job, fields)
    expectCounted()
  }

  await clock.advance(MINUTE)
  clock.jump(31 * DAY)
  await app.platform.retention.sweep()
  expectCounted()
  await api.delete(`${JOBS}/${job.id}`)
  expect(counted(fixture)).toBe(0)
})

test('beyond 16 MB another job, or a larger one, is refused and changes nothing', async () => {
  await using fixture = await bootFixture()
  const { app, api, createJob, createDelayed, change } = fixture
  const job = await createJob({ body: body(1000) })
  await createDelayed()
  app.db.client.run(`update job_counts set bytes = ${16 * MEGABYTE - 2000}`)
  const before = counted(fixture)
  const refused = { status: 409 }
  const large = { name: 'n', url: job.url, body: body(2000) }

  expect(await api.post(JOBS, { ...large, schedule: '* * * * *' })).toMatchObject(refused)
  expect(await api.post(DELAYED, { ...large, run_at: at('13:00:00') })).toMatchObject(refused)
  expect(await api.patch(`${JOBS}/${job.id}`, { body: body(4000) })).toMatchObject(refused)

  expect(counted(fixture)).toBe(before)
  expect((await api.get(`${JOBS}/${job.id}`)).body.body).toBe(body(1000))
  await change(job, { body: body(500) })
  expect(counted(fixture)).toBe(before - 500)
})

test('delayed jobs that have ended give way to new ones', async () => {
  await using fixture = await bootFixture()
  const { app, api, createDelayed, clock, target } = fixture
  const ended = await createDelayed({ body: body(4000) })
  await clock.advance(MINUTE)
  app.db.client.run(`update job_counts set bytes = ${16 * MEGABYTE - 100}`)

  const fresh = { name: 'n', run_at: at('13:00:00'), url: target.url, body: body(2000) }
  expect(await api.post(DELAYED, fresh)).toMatchObject({ status: 201 })
  expect(await api.get(`${DELAYED}/${ended.id}`)).toMatchObject({ status: 404 })
})
