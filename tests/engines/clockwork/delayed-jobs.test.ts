import { expect, test } from 'bun:test'
import { ACTOR, count, HALF_MINUTE, MINUTE } from '../relay/support.ts'
import { advanceWaiting, at, DELAYED, NO_OPTIONS, useClockwork } from './support.ts'

const { app, fresh } = await useClockwork()

test('A new job has every field, the optional ones with their defaults', async () => {
  const { api, acme, target } = await fresh()
  const fields = { name: 'reminder', url: target.url }
  const answer = await api.post(DELAYED, { ...fields, run_at: '2026-03-01T14:30:00+02:00' })
  expect(answer.status).toBe(201)
  expect(answer.body).toEqual({
    ...{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), tenant_id: acme.id, ...fields },
    ...{ run_at: at('12:30:00'), method: 'POST', headers: {}, body: null, status: 'pending' },
    ...{ ...NO_OPTIONS, created_at: at('12:00:30'), updated_at: at('12:00:30') },
  })
})

test('Fields are stored as given, and the list goes by run_at, then by creation', async () => {
  const { createDelayed, readDelayed, listDelayed, target } = await fresh()
  const url = `${target.url}?a=1`
  const fields = { name: 'n', url, method: 'DELETE', headers: { 'X-A': 'é' }, body: '' }
  const made = []
  for (const time of ['12:30:00', '12:10:00', '12:20:00', '12:10:00'])
    made.push(await createDelayed({ ...fields, run_at: at(time) }))
  expect(made[0]).toMatchObject(fields)
  expect(await readDelayed(made[0])).toEqual(made[0])
  expect(await listDelayed()).toEqual([made[1], made[3], made[2], made[0]])
})

test('run_at may be now or later, in any spelling of a time with its zone', async () => {
  const { createDelayed } = await fresh()
  for (const [run_at, stored] of [
    ['2026-03-01T12:00:30.0009Z', at('12:00:30')],
    ['2026-03-01t12:01:00z', at('12:01:00')],
    ['2028-02-29T00:00:00-00:30', '2028-02-29T00:30:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])
    expect(await createDelayed({ run_at })).toMatchObject({ run_at: stored, status: 'pending' })
})

test('A job runs once, on the first tick at or after its time', async () => {
  const { createDelayed, readDelayed, executionsOf, clock, target } = await fresh()
  const job = await createDelayed({ run_at: at('12:01:20') })
  await clock.advanceTo(Date.parse(at('12:01:59')))
  expect(target.requests).toEqual([])
  expect(await readDelayed(job)).toMatchObject({ status: 'pending' })
  expect(await executionsOf(job)).toEqual([])

  await clock.advance(3 * MINUTE)
  expect(target.requests).toHaveLength(1)
  const after = { status: 'success', run_at: at('12:01:20'), updated_at: at('12:02:00') }
  expect(await readDelayed(job)).toMatchObject(after)
  expect(await executionsOf(job)).toMatchObject([{ status: 'success', started_at: at('12:02:00') }])
})

test('A cancelled job that was pending or waited for a retry does not run again', async () => {
  const { api, createDelayed, readDelayed, executionsOf, clock, target } = await fresh()
  target.answers(500)
  const retried = await createDelayed()
  const pending = await createDelayed({ run_at: at('12:03:00') })
  await clock.advance(MINUTE)
  for (const { id } of [retried, pending])
    expect(await api.delete(`${DELAYED}/${id}`)).toMatchObject({ status: 204, body: '' })
  await clock.advance(3 * MINUTE)
  for (const job of [retried, pending])
    expect(await readDelayed(job)).toMatchObject({ status: 'cancelled' })
  expect(target.requests).toHaveLength(1)
  expect(await executionsOf(retried)).toMatchObject([{ status: 'failed', attempt: 1 }])
  expect(count(app, 'runs')).toBe(0)
})

test('A job that is running or has ended cannot be cancelled', async () => {
  const { api, clock, createDelayed, readDelayed, executionsOf, target } = await fresh()
  target.answers(({ path }) => new Response('', { status: path.endsWith('bad') ? 400 : 200 }))
  const url = `${target.url}/bad`
  const [success, failed] = [await createDelayed(), await createDelayed({ url })]
  const cancelled = await createDelayed()
  await api.delete(`${DELAYED}/${cancelled.id}`)
  await clock.advance(HALF_MINUTE)
  const running = await createDelayed({ run_at: at('12:02:00') })
  const held = target.hold()
  await advanceWaiting(app, MINUTE)
  await held.arrived(3)
  for (const [status, job] of Object.entries({ success, failed, cancelled, running })) {
    const before = [await readDelayed(job), await executionsOf(job)]
    expect(before[0]).toMatchObject({ status })
    const error = expect.stringContaining(status)
    const answer = await api.delete(`${DELAYED}/${job.id}`)
    expect(answer).toMatchObject({ status: 409, body: { error } })
    expect([await readDelayed(job), await executionsOf(job)]).toEqual(before)
  }
  held.release()
})

test('A write beside a creation is stored with it, or neither is', async () => {
  const { acme, target, listDelayed } = await fresh()
  const tenant = { tenantId: acme.id, tenantStatus: 'active', plan: 'unlimited' } as const
  const key = { engine: 'clockwork', environment: null, actor: ACTOR } as const
  const caller = { ...tenant, ...key, spendCapCents: 0 }
  const input = { name: 'reminder', run_at: at('12:30:00'), url: target.url }
  const told: string[] = []
  const made = await app.clockwork.delayed.create(caller, input, (id) => told.push(id))
  expect(told).toEqual([made.id])
  const refused = app.clockwork.delayed.create(caller, input, () => {
    throw new Error('the log is full')
  })
  await expect(refused).rejects.toThrow('the log is full')
  expect(await listDelayed()).toEqual([made])
})
