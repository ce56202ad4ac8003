import { expect, test } from 'bun:test'
import { DAY, MINUTE } from '../relay/support.ts'
import { DELAYED, type Fixture, JOBS, useClockwork } from './support.ts'

const { fresh } = await useClockwork()

const openOf = ({ app, acme }: Fixture) => app.platform.alerts.page(acme.id, 'open', { limit: 9 })

const FAILING = { kind: 'job.failed', severity: 'critical', state: 'open', name: 'report' }

test('A job that fails for good opens an alert, which ends with its next success', async () => {
  const fixture = await fresh()
  const { clock, target, createJob, runNow } = fixture
  const { id } = await createJob({ schedule: '1 12 * * *' })
  target.answers(500)
  await clock.advance(3 * MINUTE)
  expect(openOf(fixture)).toEqual([])
  await clock.advance(10 * MINUTE)
  const text = 'The target answered with status 500, after 3 attempts.'
  const alert = { ...FAILING, text, subject: `job:${id}`, path: `/jobs/${id}`, count: 1 }
  expect(openOf(fixture)).toMatchObject([alert])
  target.answers(404)
  await runNow({ id })
  await clock.advance(MINUTE)
  const again = { ...alert, text: 'The target answered with status 404.', count: 2 }
  expect(openOf(fixture)).toMatchObject([again])
  target.answers(200)
  await runNow({ id })
  await clock.advance(MINUTE)
  expect(openOf(fixture)).toEqual([])
})

test.each([
  ['deleted', ({ acme }: Fixture, id: string) => acme.api.delete(`${JOBS}/${id}`)],
  [
    'paused',
    ({ acme }: Fixture, id: string) => acme.api.patch(`${JOBS}/${id}`, { is_active: false }),
  ],
])('The alert of a job ends without a message when the job is %s', async (_, change) => {
  const fixture = await fresh()
  const { app, acme, clock, target } = fixture
  const { id } = await fixture.createJob({ schedule: '1 12 * * *' })
  target.answers(404)
  await clock.advance(MINUTE)
  expect(openOf(fixture)).toMatchObject([FAILING])
  await change(fixture, id)
  const { page } = app.platform.alerts
  const ended = { state: 'resolved', told: 'resolved', dueAt: null }
  expect(page(acme.id, 'resolved', { limit: 9 })).toMatchObject([ended])
  expect(openOf(fixture)).toEqual([])
})

test('A delayed job that fails opens an alert, which has no recovery', async () => {
  const fixture = await fresh()
  const { clock, target, acme } = fixture
  target.answers(404)
  const { id } = await fixture.createDelayed()
  await clock.advance(MINUTE)
  const alert = { ...FAILING, name: 'reminder', path: `/delayed/${id}`, closesAfterMs: DAY }
  expect(openOf(fixture)).toMatchObject([alert])
  expect((await acme.api.get(`${DELAYED}/${id}`)).body.status).toBe('failed')
})
