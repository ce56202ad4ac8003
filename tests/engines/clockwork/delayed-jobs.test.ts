import { describe, expect, test } from 'bun:test'
import {
  advanceWaiting,
  at,
  bootFixture,
  count,
  DAY,
  DELAYED,
  type Fixture,
  HALF_MINUTE,
  holdAnswers,
  MINUTE,
} from './support.ts'

test('a new job answers 201 with every field, the optional ones with their defaults', async () => {
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

test('fields are stored as given, and the list goes by run_at, then by creation', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, readDelayed, listDelayed, target } = fixture
  const url = `${target.url}?a=1`
  const fields = { name: 'n', url, method: 'DELETE', headers: { 'X-A': 'é' }, body: '' }
  const made = []
  for (const time of ['12:30:00', '12:10:00', '12:20:00', '12:10:00'])
    made.push(await createDelayed({ ...fields, run_at: at(time) }))

  expect(made[0]).toMatchObject(fields)
  expect(await readDelayed(made[0])).toEqual(made[0])
  expect(await listDelayed()).toEqual([made[1], made[3], made[2], made[0]])
})

test.each([
  ['2026-03-01T12:00:30Z', at('12:00:30')],
  ['2026-03-01T12:00:30.0009Z', at('12:00:30')],
  ['2026-03-01t12:01:00z', at('12:01:00')],
  ['2028-02-29T00:00:00-00:30', '2028-02-29T00:30:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
])('run_at may be %s', async (run_at, stored) => {
  await using fixture = await bootFixture()
  const expected = { run_at: stored, status: 'pending' }
  expect(await fixture.createDelayed({ run_at })).toMatchObject(expected)
})

test('a job runs once, on the first tick at or after its time', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, readDelayed, executionsOf, clock, target } = fixture
  const job = await createDelayed({ run_at: at('12:01:20') })

  await clock.advanceTo(Date.parse(at('12:01:59')))
  expect(target.requests).toEqual([])
  expect(await readDelayed(job)).toMatchObject({ status: 'pending' })
  expect(await executionsOf(job)).toEqual([])

  await clock.advance(10 * MINUTE)
  expect(target.requests).toHaveLength(1)
  const after = { status: 'success', run_at: at('12:01:20'), updated_at: at('12:02:00') }
  expect(await readDelayed(job)).toMatchObject(after)
  expect(await executionsOf(job)).toMatchObject([{ status: 'success', started_at: at('12:02:00') }])
})

test('a job that waits for a retry is pending with a later run_at', async () => {
  await using fixture = await bootFixture()
  const { createDelayed, readDelayed, clock, target } = fixture
  target.answers(() => new Response('', { status: 503 }))
  const job = await createDelayed()

  for (const [minutes, status, time] of [
    [1, 'pending', '12:02:00'],
    [1, 'pending', '12:07:00'],
    [5, 'failed', '12:07:00'],
  ] as const) {
    await clock.advance(minutes * MINUTE)
    expect(await readDelayed(job)).toMatchObject({ status, run_at: at(time) })
  }
})

describe('cancelling', () => {
  test('a job that is pending or waits for a retry answers 204, and it does not run again', async () => {
    await using fixture = await bootFixture()
    const { app, api, createDelayed, readDelayed, executionsOf, clock, target } = fixture
    target.answers(() => new Response('', { status: 500 }))
    const retried = await createDelayed()
    const pending = await createDelayed({ run_at: at('12:03:00') })
    await clock.advance(MINUTE)

    for (const { id } of [retried, pending])
      expect(await api.delete(`${DELAYED}/${id}`)).toMatchObject({ status: 204, body: '' })

    await clock.advance(10 * MINUTE)
    for (const job of [retried, pending])
      expect(await readDelayed(job)).toMatchObject({ status: 'cancelled' })
    expect(target.requests).toHaveLength(1)
    expect(await executionsOf(retried)).toMatchObject([{ status: 'failed', attempt: 1 }])
    expect(count(app, 'runs')).toBe(0)
  })

  test.each([
    ['running', 0],
    ['success', 200],
    ['failed', 400],
    ['cancelled', 200],
  ])('a job that is %s answers 409 and changes nothing', async (status, answered) => {
    await using fixture = await bootFixture()
    const { app, api, createDelayed, readDelayed, executionsOf, target } = fixture
    const held = holdAnswers(target)
    const job = await createDelayed()
    if (status === 'cancelled') await api.delete(`${DELAYED}/${job.id}`)
    await advanceWaiting(app, HALF_MINUTE)
    if (status !== 'cancelled') await held.arrived(1)
    if (status !== 'running') {
      held.release(answered)
      await app.clockwork.loop.idle()
    }
    const before = [await readDelayed(job), await executionsOf(job)]
    expect(before[0]).toMatchObject({ status })

    const answer = await api.delete(`${DELAYED}/${job.id}`)

    const error = expect.stringContaining(status)
    expect(answer).toMatchObject({ status: 409, body: { error } })
    expect([await readDelayed(job), await executionsOf(job)]).toEqual(before)
  })
})

const stored = ({ app }: Fixture) => ({
  counted: app.db.client.query('select delayed_jobs as n from job_counts').get(),
  jobs: count(app, 'delayed_jobs'),
  runs: count(app, 'runs'),
})

describe('a tenant may have 10,000 jobs', () => {
  const another = ({ api, target }: Fixture) =>
    api.post(DELAYED, { name: 'b', run_at: at('13:00:00'), url: target.url })

  test('and one more is refused if all are open', async () => {
    await using fixture = await bootFixture()
    await fixture.createDelayed()
    fixture.app.db.client.run('update job_counts set delayed_jobs = 9999')

    expect(await another(fixture)).toMatchObject({ status: 201 })
    expect(await another(fixture)).toMatchObject({ status: 409 })
    expect(stored(fixture)).toEqual({ counted: { n: 10_000 }, jobs: 2, runs: 2 })
  })

  test('and the job that ended first makes room, with its executions', async () => {
    await using fixture = await bootFixture()
    const { app, api, createDelayed, executionsOf, clock } = fixture
    const first = await createDelayed({ run_at: at('12:01:00') })
    const second = await createDelayed({ run_at: at('12:02:00') })
    await clock.advance(3 * MINUTE)
    app.db.client.run('update job_counts set delayed_jobs = 10000')

    expect(await another(fixture)).toMatchObject({ status: 201 })

    expect(await api.get(`${DELAYED}/${first.id}`)).toMatchObject({ status: 404 })
    expect(await executionsOf(second)).toHaveLength(1)
    expect(count(app, 'executions')).toBe(1)
    expect(stored(fixture)).toEqual({ counted: { n: 10_000 }, jobs: 2, runs: 1 })
  })

  test('which counts creation, end, cancelling and deletion', async () => {
    await using fixture = await bootFixture()
    const { app, api, createDelayed, clock } = fixture
    await createDelayed()
    const cancelled = await createDelayed()
    await api.delete(`${DELAYED}/${cancelled.id}`)
    await clock.advance(MINUTE)
    expect(stored(fixture)).toEqual({ counted: { n: 2 }, jobs: 2, runs: 0 })

    clock.jump(31 * DAY)
    await app.platform.retention.sweep()
    expect(stored(fixture)).toEqual({ counted: { n: 0 }, jobs: 0, runs: 0 })
  })
})

test('what is done beside a creation is done with it, or neither is', async () => {
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
