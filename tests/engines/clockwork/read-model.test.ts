import { describe, expect, test } from 'bun:test'
import {
  advanceWaiting,
  at,
  bootFixture,
  count,
  DELAYED,
  type Fixture,
  HALF_MINUTE,
  HOUR,
  holdAnswers,
  JOBS,
  jobsOf,
  MINUTE,
} from './support.ts'

/** What ended in each of the last hours, as "succeeded-failed", the oldest first. */
const hoursOf = ({ app, acme }: Fixture, count: number, tenantId = acme.id): string[] =>
  app.clockwork.queries
    .hours(tenantId, { upTo: app.clock.now(), count })
    .map(({ succeeded, failed }) => `${succeeded}-${failed}`)

describe('the attempts of an hour', () => {
  test('are counted by their end, for jobs of both kinds, also in hours without any', async () => {
    await using fixture = await bootFixture()
    const { createJob, createDelayed, clock, target } = fixture
    await createJob({ schedule: '50 12,14 * * *' })
    await createJob({ schedule: '10 14 * * *' })
    await createDelayed()
    await clock.advance(HOUR)
    target.answers(() => new Response('', { status: 404 }))
    await clock.advance(2 * HOUR)
    expect(hoursOf(fixture, 4)).toEqual(['2-0', '0-0', '0-2', '0-0'])
    expect(hoursOf(fixture, 2)).toEqual(['0-2', '0-0'])
  })

  test('are more than are kept, and stay when the job is deleted', async () => {
    await using fixture = await bootFixture()
    const job = await fixture.createJob()
    await fixture.clock.advance(150 * MINUTE)
    expect(count(fixture.app, 'executions')).toBe(100)
    await fixture.api.delete(`${JOBS}/${job.id}`)
    expect(hoursOf(fixture, 3)).toEqual(['59-0', '60-0', '31-0'])
  })

  test('include each attempt of a run, an interrupted one as a failure', async () => {
    await using fixture = await bootFixture()
    const { app, createJob, clock, target } = fixture
    await createJob({ schedule: '1 12 * * *' })
    const { arrived, release } = holdAnswers(target)
    await advanceWaiting(app, HALF_MINUTE)
    await arrived(1)
    app.db.client.run("update runs set lease_owner = 'gone', lease_until = 1")
    await advanceWaiting(app, MINUTE)
    expect(hoursOf(fixture, 1)).toEqual(['0-1'])
    release()
    target.answers(() => new Response('ok'))
    await clock.advance(10 * MINUTE)
    expect(hoursOf(fixture, 1)).toEqual(['1-1'])
  })
})

test('every query is about one tenant', async () => {
  await using fixture = await bootFixture()
  const { app, acme, createJob, createDelayed, executionsOf, clock, target } = fixture
  const other = await app.tenant('Other')
  const theirs = jobsOf(other.api, target.url)
  await theirs.createJob({ name: 'theirs' })
  await theirs.createDelayed({ name: 'theirs', run_at: at('12:30:00') })
  target.answers(() => new Response('', { status: 500 }))
  const job = await createJob({ name: 'mine', schedule: '*/1 * * * *' })
  const later = await createDelayed({ name: 'later', run_at: at('12:30:00') })
  await clock.advance(HALF_MINUTE)
  const { queries, readModel } = app.clockwork

  const [{ id }] = await executionsOf(job)
  const names = (rows: { name: string }[]) => rows.map(({ name }) => name)
  expect(names(readModel.coming(acme.id, clock.now(), 10))).toEqual(['mine', 'later'])
  expect(names(readModel.coming(other.id, clock.now(), 10))).toEqual(['theirs', 'theirs'])
  expect(readModel.coming(acme.id, clock.now(), 1)).toMatchObject([{ kind: 'cron', id: job.id }])
  expect(names(readModel.failing(acme.id))).toEqual(['mine'])
  expect(names(readModel.latest(acme.id, 10))).toEqual(['mine'])
  expect(names(readModel.latest(other.id, 10))).toEqual(['theirs'])
  for (const tenant of [acme, other])
    expect(readModel.tally(tenant.id)).toEqual({ active: 1, paused: 0 })
  expect(queries.attempt(acme.id, job.id, id)).toMatchObject({ id })
  expect(queries.attempts(acme.id, job.id)).toMatchObject([{ id }])
  expect(queries.open(acme.id, job.id)).toMatchObject([{ attempt: 2, state: 'waiting' }])
  expect(queries.open(acme.id, later.id)).toHaveLength(1)
  expect(queries.attempt(other.id, job.id, id)).toBeUndefined()
  expect(queries.attempts(other.id, job.id)).toEqual([])
  expect(queries.open(other.id, job.id)).toEqual([])
  expect([hoursOf(fixture, 1), hoursOf(fixture, 1, other.id)]).toEqual([['0-1'], ['0-1']])
  app.db.client.query('delete from tenants where id = ?').run(acme.id)
  expect(count(app, 'clockwork_hours')).toBe(1)
})

test('a search for delayed jobs takes its text literally', async () => {
  await using fixture = await bootFixture()
  const { app, acme } = fixture
  const run_at = new Date(app.clock.now() + HOUR).toISOString()
  for (const name of ['100 % of it', '100 parts', 'under_score', 'underscore'])
    await acme.api.post(DELAYED, { name, run_at, url: 'http://127.0.0.1:9/' })
  const found = (q: string) =>
    app.clockwork.queries.delayed(acme.id, { q, limit: 10 }).map(({ name }) => name)
  expect(found('100 %')).toEqual(['100 % of it'])
  expect(found('r_s')).toEqual(['under_score'])
  expect(found('UNDER')).toEqual(['underscore', 'under_score'])
  expect(found('\\')).toEqual([])
})
