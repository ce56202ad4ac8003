import { describe, expect, test } from 'bun:test'
import {
  advanceWaiting,
  bootFixture,
  count,
  type Fixture,
  HALF_MINUTE,
  HOUR,
  holdAnswers,
  JOBS,
  MINUTE,
} from './support.ts'

/** What ended in each of the last hours, as "succeeded-failed", the oldest first. */
const hoursOf = ({ app }: Pick<Fixture, 'app'>, tenantId: string, count: number): string[] =>
  app.clockwork.queries
    .hours(tenantId, { upTo: app.clock.now(), count })
    .map(({ succeeded, failed }) => `${succeeded}-${failed}`)

describe('how attempts ended', () => {
  test('is told hour by hour, also of hours in which none did', async () => {
    await using fixture = await bootFixture()
    const { acme, createJob, clock, target } = fixture
    await createJob({ schedule: '50 12,14 * * *' })
    await createJob({ schedule: '10 14 * * *' })
    await clock.advance(HOUR)
    target.answers(() => new Response('', { status: 404 }))
    await clock.advance(2 * HOUR)
    expect(hoursOf(fixture, acme.id, 4)).toEqual(['1-0', '0-0', '0-2', '0-0'])
    expect(hoursOf(fixture, acme.id, 2)).toEqual(['0-2', '0-0'])
  })

  test('counts jobs of both kinds, and each attempt of a run', async () => {
    await using fixture = await bootFixture()
    const { acme, createJob, createDelayed, clock, target } = fixture
    await createJob({ schedule: '1 12 * * *' })
    await createDelayed()
    target.answers(() => new Response('', { status: 500 }))
    await clock.advance(HALF_MINUTE)
    expect(hoursOf(fixture, acme.id, 1)).toEqual(['0-2'])
    target.answers(() => new Response('ok'))
    await clock.advance(10 * MINUTE)
    expect(hoursOf(fixture, acme.id, 1)).toEqual(['2-2'])
  })

  test('is known of more attempts than are kept, and of jobs that are deleted', async () => {
    await using fixture = await bootFixture()
    const { acme, api, createJob, clock } = fixture
    const job = await createJob()
    await clock.advance(150 * MINUTE)
    expect(count(fixture.app, 'executions')).toBe(100)
    expect(hoursOf(fixture, acme.id, 3)).toEqual(['59-0', '60-0', '31-0'])
    await api.delete(`${JOBS}/${job.id}`)
    expect(hoursOf(fixture, acme.id, 3)).toEqual(['59-0', '60-0', '31-0'])
  })

  test('counts an attempt that was interrupted as a failure, once', async () => {
    await using fixture = await bootFixture()
    const { acme, app, createJob, clock, target } = fixture
    await createJob({ schedule: '1 12 * * *' })
    const { arrived, release } = holdAnswers(target)
    await advanceWaiting(app, HALF_MINUTE)
    await arrived(1)
    app.db.client.run("update runs set lease_owner = 'gone', lease_until = 1")
    await advanceWaiting(app, MINUTE)
    expect(hoursOf(fixture, acme.id, 1)).toEqual(['0-1'])
    release()
    target.answers(() => new Response('ok'))
    await clock.advance(10 * MINUTE)
    expect(hoursOf(fixture, acme.id, 1)).toEqual(['1-1'])
  })

  test('is told of the own jobs of a tenant alone, and goes with it', async () => {
    await using fixture = await bootFixture()
    const { app, acme, createJob, clock } = fixture
    const other = await app.tenant('Other')
    await createJob()
    await clock.advance(HALF_MINUTE)
    expect(hoursOf(fixture, acme.id, 1)).toEqual(['1-0'])
    expect(hoursOf(fixture, other.id, 1)).toEqual(['0-0'])
    app.db.client.query('delete from tenants where id = ?').run(acme.id)
    expect(count(app, 'clockwork_hours')).toBe(0)
  })
})

describe('the list of delayed jobs', () => {
  test('takes what somebody searches for as it is written', async () => {
    await using fixture = await bootFixture()
    const { app, acme: tenant } = fixture
    const run_at = new Date(app.clock.now() + HOUR).toISOString()
    for (const name of ['100 % of it', '100 parts', 'under_score', 'underscore'])
      await tenant.api.post('/v1/clockwork/delayed', { name, run_at, url: 'http://127.0.0.1:9/' })
    const found = (q: string) =>
      app.clockwork.queries.delayed(tenant.id, { q, limit: 10 }).map(({ name }) => name)
    expect(found('100 %')).toEqual(['100 % of it'])
    expect(found('r_s')).toEqual(['under_score'])
    expect(found('UNDER')).toEqual(['underscore', 'under_score'])
    expect(found('\\')).toEqual([])
  })
})
