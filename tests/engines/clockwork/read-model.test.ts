import { expect, test } from 'bun:test'
import { pagesOf } from '../../../src/console/export.tsx'
import { count, HALF_MINUTE, HOUR, MINUTE } from '../relay/support.ts'
import {
  advanceWaiting,
  at,
  breathe,
  DELAYED,
  type Fixture,
  JOBS,
  jobsOf,
  NOON,
  useClockwork,
  writeHistory,
} from './support.ts'

const { app, fresh } = await useClockwork()
const { clock, db } = app
const { queries } = app.clockwork

/** What ended in each of the last hours, as "succeeded-failed", the oldest first. */
const hoursOf = ({ acme }: Pick<Fixture, 'acme'>, count: number, tenantId = acme.id): string[] =>
  queries
    .hours(tenantId, { upTo: clock.now(), count })
    .map(({ succeeded, failed }) => `${succeeded}-${failed}`)

test('The attempts of an hour are counted by their end, for jobs of both kinds', async () => {
  const fixture = await fresh()
  const { createJob, createDelayed, target } = fixture
  await createJob({ schedule: '50 12,14 * * *' })
  await createJob({ schedule: '10 14 * * *' })
  await createDelayed()
  await clock.advance(2 * MINUTE)
  await clock.advanceTo(Date.parse(at('12:51:00')))
  clock.jump(HOUR)
  target.answers(404)
  await clock.advanceTo(Date.parse(at('14:11:00')))
  clock.jump(30 * MINUTE)
  await clock.advanceTo(Date.parse(at('14:51:00')))
  clock.jump(HOUR)
  expect(hoursOf(fixture, 4)).toEqual(['2-0', '0-0', '0-2', '0-0'])
  expect(hoursOf(fixture, 2)).toEqual(['0-2', '0-0'])
})

test('The attempts of an hour stay when the job is deleted, an interrupted one as a failure', async () => {
  const fixture = await fresh()
  const job = await fixture.createJob({ schedule: '1 12 * * *' })
  const held = fixture.target.hold()
  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)
  db.client.run("update runs set lease_owner = 'gone', lease_until = 1")
  await advanceWaiting(app, MINUTE)
  expect(hoursOf(fixture, 1)).toEqual(['0-1'])
  held.release()
  fixture.target.answers(200)
  await clock.advance(5 * MINUTE)
  await fixture.api.delete(`${JOBS}/${job.id}`)
  expect(count(app, 'executions')).toBe(0)
  expect(hoursOf(fixture, 1)).toEqual(['1-1'])
})

test('A job has the status of the newest attempt that has ended', async () => {
  const { acme, createJob, runNow, target } = await fresh()
  const job = await createJob({ schedule: '0 0 1 1 *' })
  const statusOf = () => queries.jobs(acme.id, { limit: 1 }).data[0]?.lastStatus
  const held = target.hold()
  await runNow(job)
  await held.arrived(1)
  expect(statusOf()).toBe(null)
  target.answers(200)
  await runNow(job)
  while (statusOf() === null) await breathe(app)
  held.release(404)
  await clock.settled()
  const attempts = queries.attempts(acme.id, job.id).map(({ status }) => status)
  expect([attempts, statusOf()]).toEqual([['success', 'failed'], 'success'])
  target.answers(404)
  await runNow(job)
  await clock.settled()
  expect([statusOf(), queries.jobCounts(acme.id)]).toEqual([
    'failed',
    { all: 1, failing: 1, paused: 0 },
  ])
})

test('All kept attempts of a job are listed by status and time, and counted up to a thousand', async () => {
  const fixture = await fresh()
  const { acme, createJob } = fixture
  const job = await createJob({ schedule: '0 0 1 1 *' })
  writeHistory(fixture, job, 1250, 1150)
  const read = (query: object) => {
    const slices = [...pagesOf((of) => queries.history(acme.id, job.id, { ...of, ...query }))]
    return slices.flat().map(({ id }) => id)
  }
  const all = read({})
  expect([all.length, new Set(all).size]).toEqual([1250, 1250])
  const succeeded = read({ status: 'success' })
  expect(succeeded).toEqual(all.slice(0, 100))
  expect(read({ status: 'failed', isAscending: true })).toEqual(all.slice(100).toReversed())
  expect(read({ status: 'success', isAscending: true })).toEqual(succeeded.toReversed())
  const times = { since: NOON - 200 * MINUTE, until: NOON - 50 * MINUTE }
  expect(read(times)).toEqual(all.slice(50, 200))
  const countOf = (times = {}) => queries.historyCounts(acme.id, job.id, times)
  expect(countOf()).toEqual({ all: 1100, success: 100, failed: 1000, running: 0 })
  expect(countOf(times)).toEqual({ all: 150, success: 50, failed: 100, running: 0 })
})

test('Every query is about one tenant', async () => {
  const fixture = await fresh()
  const { acme, target } = fixture
  const other = await app.tenant('Other')
  const theirs = jobsOf(other.api, target.url)
  const run_at = at('12:30:00')
  await theirs.createJob({ name: 'theirs' })
  await theirs.createDelayed({ name: 'theirs', run_at })
  target.answers(500)
  const job = await fixture.createJob({ name: 'mine', schedule: '*/1 * * * *' })
  const later = await fixture.createDelayed({ name: 'later', run_at })
  await clock.advance(HALF_MINUTE)

  const [{ id }] = await fixture.executionsOf(job)
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name)
  expect(names(queries.coming(acme.id, clock.now(), 10))).toEqual(['mine', 'later'])
  expect(names(queries.coming(other.id, clock.now(), 10))).toEqual(['theirs', 'theirs'])
  expect(queries.coming(acme.id, clock.now(), 1)).toMatchObject([{ kind: 'cron', id: job.id }])
  expect(names(queries.failing(acme.id))).toEqual(['mine'])
  expect(names(queries.latest(acme.id, 10))).toEqual(['mine'])
  expect(names(queries.latest(other.id, 10))).toEqual(['theirs'])
  for (const tenant of [acme, other])
    expect(queries.jobCounts(tenant.id)).toMatchObject({ all: 1, paused: 0 })
  expect(queries.attempt(acme.id, job.id, id)).toMatchObject({ id })
  expect(queries.attempts(acme.id, job.id)).toMatchObject([{ id }])
  expect(queries.open(acme.id, job.id)).toMatchObject([{ attempt: 2, state: 'waiting' }])
  expect(queries.open(acme.id, later.id)).toHaveLength(1)
  expect(queries.attempt(other.id, job.id, id)).toBeUndefined()
  expect(queries.attempts(other.id, job.id)).toEqual([])
  expect(queries.open(other.id, job.id)).toEqual([])
  expect([hoursOf(fixture, 1), hoursOf(fixture, 1, other.id)]).toEqual([['0-1'], ['0-1']])
  db.client.query('delete from tenants where id = ?').run(acme.id)
  expect(count(app, 'clockwork_hours')).toBe(1)
})

test('A search for jobs takes its text literally, in any case', async () => {
  const { acme } = await fresh()
  const run_at = at('13:00:00')
  for (const name of ['100 % of it', '100 parts', 'under_score', 'underscore', 'Übersicht'])
    await acme.api.post(DELAYED, { name, run_at, url: 'http://127.0.0.1:9/' })
  const found = (q: string) =>
    queries.delayed(acme.id, { q, limit: 10 }).data.map(({ name }) => name)
  expect(found('100 %')).toEqual(['100 % of it'])
  expect(found('r_s')).toEqual(['under_score'])
  expect(found('UNDER')).toEqual(['underscore', 'under_score'])
  for (const q of ['über', 'ÜBER', 'Über']) expect(found(q)).toEqual(['Übersicht'])
  expect(found('\\')).toEqual([])
})
