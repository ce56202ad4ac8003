import { describe, expect, test } from 'bun:test'
import {
  advanceWaiting,
  at,
  bootFixture,
  count,
  DELAYED,
  type Fixture,
  HALF_MINUTE,
  holdAnswers,
  MINUTE,
} from './support.ts'

test('a new job answers 201 with every field, the optional ones at their defaults', async () => {
  await using fixture = await bootFixture()
  const { api, acme, target } = fixture
  const run_at = '2026-03-01T14:30:00+02:00'

  const answer = await api.post(DELAYED, { name: 'reminder', run_at, url: target.url })

  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    tenant_id: acme.id,
    name: 'reminder',
    run_at: at('12:30:00'),
    url: target.url,
    method: 'POST',
    headers: {},
    body: null,
    status: 'pending',
    created_at: at('12:00:30'),
    updated_at: at('12:00:30'),
  })
})

test('what is given is kept as given and read back the same everywhere', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, readDelayed, listDelayed, target } = fixture
  const fields = {
    name: 'n',
    url: `${target.url}?a=1`,
    method: 'DELETE',
    headers: { 'X-A': 'é' },
    body: '',
  }

  const job = await createDelayed(fields)

  expect(job).toMatchObject(fields)
  expect(await readDelayed(job)).toEqual(job)
  expect(await listDelayed()).toEqual([job])
})

test('the list goes by run_at, and for one moment by creation', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, listDelayed } = fixture
  const times = ['12:30:00', '12:10:00', '12:20:00', '12:10:00']

  const made = []
  for (const time of times) made.push(await createDelayed({ run_at: at(time) }))

  expect(await listDelayed()).toEqual([made[1], made[3], made[2], made[0]])
})

test.each([
  ['2026-03-01T12:00:30Z', at('12:00:30')],
  ['2026-03-01T12:00:30.0009Z', at('12:00:30')],
  ['2026-03-01t12:01:00z', at('12:01:00')],
  ['2028-02-29T00:00:00-00:30', '2028-02-29T00:30:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])('run_at %s is taken', async (run_at, stored) => {
  await using fixture = await bootFixture()

  expect(await fixture.createDelayed({ run_at })).toMatchObject({
    run_at: stored,
    status: 'pending',
  })
})

test('a job runs once, at the first tick at or after its time', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, readDelayed, executionsOf, clock, target } = fixture
  const job = await createDelayed({ run_at: at('12:01:20') })

  await clock.advanceTo(Date.parse(at('12:01:59')))
  expect(target.requests).toEqual([])
  expect(await readDelayed(job)).toMatchObject({ status: 'pending' })
  expect(await executionsOf(job)).toEqual([])

  await clock.advance(10 * MINUTE)
  expect(target.requests).toHaveLength(1)
  expect(await readDelayed(job)).toMatchObject({
    status: 'success',
    run_at: at('12:01:20'),
    updated_at: at('12:02:00'),
  })
  expect(await executionsOf(job)).toMatchObject([{ status: 'success', started_at: at('12:02:00') }])
})

test('a job whose time passed while nothing ran is late but not lost', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, executionsOf, clock } = fixture
  const job = await createDelayed()

  clock.jump(3 * 24 * 60 * MINUTE)
  await clock.advance(6000)

  expect(await executionsOf(job)).toMatchObject([{ status: 'success', slot_at: at('12:01:00') }])
})

test('a job is running, with an execution, while its target thinks', async () => {
  await using fixture = await bootFixture()
  const { app, createDelayed, readDelayed, executionsOf, target } = fixture
  const held = holdAnswers(target)
  const job = await createDelayed()

  await advanceWaiting(app, HALF_MINUTE)
  await held.arrived(1)

  expect(await readDelayed(job)).toMatchObject({ status: 'running' })
  expect(await executionsOf(job)).toMatchObject([{ status: 'running', attempt: 1 }])
  held.release()
  await app.clockwork.loop.idle()
  expect(await readDelayed(job)).toMatchObject({ status: 'success' })
})

test.each([404, 302, 400])('an answer of %i fails the job at once', async (status) => {
  await using fixture = await bootFixture()
  const { createDelayed, readDelayed, executionsOf, clock, target } = fixture
  target.answers(() => new Response('', { status }))
  const job = await createDelayed()

  await clock.advance(10 * MINUTE)

  expect(await readDelayed(job)).toMatchObject({ status: 'failed', run_at: at('12:01:00') })
  expect(await executionsOf(job)).toHaveLength(1)
})

test('a failed attempt puts the job back to pending with a later run_at', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, readDelayed, clock, target } = fixture
  target.answers(() => new Response('', { status: 503 }))
  const job = await createDelayed()

  await clock.advance(MINUTE)
  expect(await readDelayed(job)).toMatchObject({ status: 'pending', run_at: at('12:02:00') })
  await clock.advance(MINUTE)
  expect(await readDelayed(job)).toMatchObject({ status: 'pending', run_at: at('12:07:00') })
  await clock.advance(5 * MINUTE)
  expect(await readDelayed(job)).toMatchObject({ status: 'failed', run_at: at('12:07:00') })
})

describe('cancelling', () => {
  test('a pending job answers 204, and the job never runs', async () => {
    await using fixture = await bootFixture()
    const { api, createDelayed, readDelayed, clock, target } = fixture
    const job = await createDelayed()

    expect(await api.delete(`${DELAYED}/${job.id}`)).toMatchObject({ status: 204, body: '' })

    await clock.advance(10 * MINUTE)
    expect(await readDelayed(job)).toMatchObject({ status: 'cancelled' })
    expect(target.requests).toEqual([])
  })

  test('a job that waits for a retry answers 204, and the retry never comes', async () => {
    await using fixture = await bootFixture()
    const { app, api, createDelayed, executionsOf, clock, target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    const job = await createDelayed()
    await clock.advance(MINUTE)

    expect(await api.delete(`${DELAYED}/${job.id}`)).toMatchObject({ status: 204 })

    await clock.advance(10 * MINUTE)
    expect(target.requests).toHaveLength(1)
    expect(await executionsOf(job)).toMatchObject([{ status: 'failed', attempt: 1 }])
    expect(count(app, 'runs')).toBe(0)
  })

  test.each(['running', 'success', 'failed', 'cancelled'])(
    'a job that is %s answers 409 and changes nothing',
    async (status) => {
      await using fixture = await bootFixture()
      const { api, readDelayed, executionsOf } = fixture
      const job = await jobThatIs(status, fixture)
      const before = [await readDelayed(job), await executionsOf(job)]

      const answer = await api.delete(`${DELAYED}/${job.id}`)

      expect(answer).toMatchObject({
        status: 409,
        body: { error: expect.stringContaining(status) },
      })
      expect(Object.keys(answer.body)).toEqual(['error'])
      expect([await readDelayed(job), await executionsOf(job)]).toEqual(before)
    },
  )

  async function jobThatIs(status: string, fixture: Fixture) {
    const { app, api, createDelayed, readDelayed, target } = fixture
    const held = holdAnswers(target)
    const job = await createDelayed()
    if (status === 'cancelled') await api.delete(`${DELAYED}/${job.id}`)
    await advanceWaiting(app, HALF_MINUTE)
    if (status !== 'cancelled') await held.arrived(1)
    if (status === 'success' || status === 'failed') {
      held.release(status === 'success' ? 200 : 400)
      await app.clockwork.loop.idle()
    }
    expect(await readDelayed(job)).toMatchObject({ status })
    return job
  }
})

const stored = ({ app }: Fixture) => ({
  counted: app.db.client.query('select delayed_jobs as n from job_counts').get(),
  jobs: count(app, 'delayed_jobs'),
  runs: count(app, 'runs'),
})

test('a tenant may have 10,000 jobs; when all of them are open another one is refused', async () => {
  await using fixture = await bootFixture()
  const { app, api, createDelayed, target } = fixture
  await createDelayed()
  app.db.client.run('update job_counts set delayed_jobs = 9999')
  const another = { name: 'b', run_at: at('13:00:00'), url: target.url }

  expect(await api.post(DELAYED, another)).toMatchObject({ status: 201 })
  expect(await api.post(DELAYED, another)).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('10000 pending or running delayed jobs') },
  })
  expect(stored(fixture)).toEqual({ counted: { n: 10_000 }, jobs: 2, runs: 2 })
})

test('at the limit the job that ended first gives way, with its executions', async () => {
  await using fixture = await bootFixture()
  const { app, api, createDelayed, executionsOf, clock, target } = fixture
  const first = await createDelayed({ run_at: at('12:01:00') })
  const second = await createDelayed({ run_at: at('12:02:00') })
  await clock.advance(3 * MINUTE)
  app.db.client.run('update job_counts set delayed_jobs = 10000')

  const another = { name: 'b', run_at: at('13:00:00'), url: target.url }
  expect(await api.post(DELAYED, another)).toMatchObject({ status: 201 })

  expect(await api.get(`${DELAYED}/${first.id}`)).toMatchObject({ status: 404 })
  expect(await executionsOf(second)).toHaveLength(1)
  expect(count(app, 'executions')).toBe(1)
  expect(stored(fixture)).toEqual({ counted: { n: 10_000 }, jobs: 2, runs: 1 })
})

test('the count follows creation, end, cancelling and clean-up', async () => {
  await using fixture = await bootFixture()
  const { app, api, createDelayed, clock } = fixture
  await createDelayed()
  const cancelled = await createDelayed()
  await api.delete(`${DELAYED}/${cancelled.id}`)
  await clock.advance(MINUTE)
  expect(stored(fixture)).toEqual({ counted: { n: 2 }, jobs: 2, runs: 0 })

  clock.jump(31 * 86_400_000)
  await app.platform.retention.sweep()
  expect(stored(fixture)).toEqual({ counted: { n: 0 }, jobs: 0, runs: 0 })
})

test.each([200, 400, 500])('a job that ended with %i leaves no open run', async (status) => {
  await using fixture = await bootFixture()
  const { createDelayed, clock, target } = fixture
  target.answers(() => new Response('', { status }))
  await createDelayed()

  await clock.advance(10 * MINUTE)

  expect(stored(fixture)).toEqual({ counted: { n: 1 }, jobs: 1, runs: 0 })
})

test('what is to be done beside its creation is done with it, or neither is', async () => {
  await using fixture = await bootFixture()
  const { app, acme, target, listDelayed } = fixture
  const caller = {
    tenantId: acme.id,
    tenantStatus: 'active',
    plan: 'unlimited',
    spendCapCents: 0,
    engine: 'clockwork',
    environment: null,
    actor: { kind: 'cli', source: 'test' },
  } as const
  const input = { name: 'reminder', run_at: at('12:30:00'), url: target.url }
  const told: string[] = []

  const made = await app.clockwork.delayed.create(caller, input, (id) => told.push(id))
  expect(told).toEqual([made.id])
  const refused = app.clockwork.delayed.create(caller, input, () => {
    throw new Error('the log is full')
  })
  expect(refused).rejects.toThrow('the log is full')
  expect(await listDelayed()).toEqual([made])
})
