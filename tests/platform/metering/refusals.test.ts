import { expect, test } from 'bun:test'
import type { Answer } from '../../support/app.ts'
import { startTarget } from '../../support/target.ts'
import {
  bootMetered,
  ENDPOINTS,
  EVENT,
  IDENTITIES,
  JOBS,
  MESSAGES,
  NEW,
  NEXT_MONTH,
  type Tenant,
  useMetered,
} from './fixture.ts'

const DELIVERIES = '/v1/relay/deliveries'
const WEBHOOKS = '/v1/gate/settings/webhooks'
const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'
const CODED: string[] = ['event', 'login', 'token'] satisfies typeof NEW

/** One free request a month, and 10 cents for each beyond it. */
const fixture = await useMetered({ free: 1, cents: 10, cap: 10 })
const { clock, newTenant } = fixture

function expectRefused(answer: Answer, shape: 'plain' | 'coded', status: number, code: string) {
  expect(answer.status).toBe(status)
  const monthEnds = `${(NEXT_MONTH - clock.now()) / 1000}`
  expect(answer.headers.get('retry-after')).toBe(status === 429 ? monthEnds : null)
  const words = expect.stringContaining(code.split('_')[0] as string)
  if (shape === 'plain') expect(answer.body).toEqual({ error: words })
  else expect(answer.body.error).toMatchObject({ code, message: words })
}

test.each([
  ['event', 'coded', 202],
  ['identity', 'plain', 201],
] as const)('New work is refused without quota or suspended: %s', async (name, shape, status) => {
  const { change, create, make, resume, suspend, usage } = await newTenant('free')
  expect(await make(name)).toBe(status)
  expectRefused(await create(name), shape, 429, 'allowance_exhausted')
  await change({ plan: 'metered', spendCapCents: 25 })
  expect([await make(name), await make(name)]).toEqual([status, status])
  expectRefused(await create(name), shape, 429, 'spend_cap_reached')
  const spent = { requests: 3, billed_requests: 2, cost_cents: 20, left_requests: 0 }
  expect(await usage()).toMatchObject(spent)
  await change({ plan: 'unlimited' })
  await suspend('billing')
  expectRefused(await create(name), shape, 402, 'account_suspended')
  await suspend('renewal')
  expectRefused(await create(name), shape, 402, 'renewal_unpaid')
  await resume()
  expect(await make(name)).toBe(status)
})

test('New work of each kind is refused, whichever engine the allowance was used for', async () => {
  const tenant = await newTenant('metered')
  await tenant.change({ spendCapCents: 40 })
  await tenant.gate.get(IDENTITIES)
  await tenant.clockwork.get(JOBS)
  await tenant.passepartout.get('/v1/passepartout/login/status?nonce=unknown')
  await tenant.relay.get(MESSAGES)
  expect(await tenant.make()).toBe(202)
  for (const name of NEW) {
    const shape = CODED.includes(name) ? 'coded' : 'plain'
    expectRefused(await tenant.create(name), shape, 429, 'spend_cap_reached')
  }
  expect((await tenant.usage()).requests).toBe(5)
  expect(await (await newTenant('unlimited')).make()).toBe(202)
})

test('Past the allowance other calls are answered, counted and not billed; what was made before goes on', async () => {
  await using target = startTarget()
  await using own = await bootMetered({ free: 3 })
  const tenant = await own.newTenant('free')
  const { clockwork, create, gate, passepartout, relay } = tenant
  const person = `identity:${(await create('identity')).body.id}`
  const { access_token } = (await create('token')).body
  const every = { name: 'tick', schedule: '* * * * *', url: target.url }
  const running = (await clockwork.post(JOBS, every)).body.id
  expect(await tenant.make('job')).toBe(429)
  const answers = [
    await clockwork.patch(`${JOBS}/${running}`, { name: 'tock' }),
    await gate.post('/v1/gate/tokens/introspect', { access_token }),
    await gate.post('/v1/gate/authorize', { subject: person, action: 'a', resource: person }),
    await gate.delete(`${IDENTITIES}/${person.slice(9)}`),
    await passepartout.get('/v1/passepartout/login/status?nonce=unknown'),
    await relay.get(MESSAGES),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 204, 404, 200])
  const counted = { requests: 9, billed_requests: 0, cost_cents: 0 }
  expect(await tenant.usage()).toMatchObject(counted)
  await own.clock.advance(60_000)
  const runs = await clockwork.get(`${JOBS}/${running}/executions`)
  expect(runs.body).toMatchObject([{ status: 'success' }])
})

test('Past the allowance a repeated idempotency key is answered with the original', async () => {
  const { relay } = await newTenant('free')
  const send = (idempotency_key: string) => relay.post(MESSAGES, { ...EVENT, idempotency_key })
  const first = await send('one')
  expect(await send('one')).toMatchObject({ status: 202, body: first.body })
  expect((await send('two')).status).toBe(429)
})

/** Ids of things that were called, with those of a delivery of an event and of a webhook. */
type Ids = Record<'job' | 'endpoint' | 'delivery' | 'webhook' | 'told', string>

const SINCE = { since: '2026-03-31T00:00:00Z', which: 'all', per_second: 1000 }

const AGAIN: ['clockwork' | 'gate' | 'relay', path: (ids: Ids) => string, body?: object][] = [
  ['relay', ({ endpoint }) => `${ENDPOINTS}/${endpoint}/replay`, SINCE],
  ['relay', ({ endpoint }) => `${ENDPOINTS}/${endpoint}/test`, {}],
  ['relay', ({ delivery }) => `${DELIVERIES}/${delivery}/resend`],
  ['clockwork', ({ job }) => `${JOBS}/${job}/run`],
  ['gate', ({ webhook }) => `${WEBHOOKS}/${webhook}/test`, {}],
  ['gate', ({ told }) => `${WEBHOOKS}/deliveries/${told}/resend`],
]

/** A paused job, and an endpoint and a webhook with a delivery each. */
async function withWork({ clockwork, create, gate, relay }: Tenant, url: string): Promise<Ids> {
  const job = await clockwork.post(JOBS, { name: 'tick', schedule: '* * * * *', url })
  await clockwork.patch(`${JOBS}/${job.body.id}`, { is_active: false })
  const endpoint = await relay.post(ENDPOINTS, { url })
  const webhook = await gate.post(WEBHOOKS, { url })
  await create('event')
  await create('identity')
  await clock.settled()
  const [sent] = (await relay.get(DELIVERIES)).body.data
  const [told] = (await gate.get(`${WEBHOOKS}/deliveries`)).body.data
  expect([sent, told]).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }])
  const ids = { job: job.body.id, endpoint: endpoint.body.id, webhook: webhook.body.id }
  return { ...ids, delivery: sent.id, told: told.id }
}

test('Calling existing things again is refused like new work, and only for what exists', async () => {
  await using target = startTarget()
  const tenant = await newTenant('unlimited')
  const ids = await withWork(tenant, target.url)
  const unknown = Object.fromEntries(Object.keys(ids).map((name) => [name, UNKNOWN_ID])) as Ids
  await tenant.change({ plan: 'free' })
  for (const [engine, path, body] of AGAIN) {
    const shape = engine === 'relay' ? 'coded' : 'plain'
    const answer = await tenant[engine].post(path(ids), body)
    expectRefused(answer, shape, 429, 'allowance_exhausted')
    expect((await tenant[engine].post(path(unknown), body)).status).toBe(404)
  }
  await clock.settled()
  expect(target.requests).toHaveLength(2)
  for (const [n, [engine, path, body]] of AGAIN.entries()) {
    // Until they are stored, counts take of what is left by the present cap.
    await tenant.usage()
    await tenant.change({ plan: 'metered', spendCapCents: 10 * (n + 1) })
    const ask = () => tenant[engine].post(path(ids), body)
    const answers = await Promise.all([ask(), ask()])
    const [made, refused] = answers.map(({ status }) => status).toSorted()
    expect([made === 200 || made === 202, refused]).toEqual([true, 429])
    await clock.settled()
    expect(target.requests).toHaveLength(3 + n)
  }
})

test('An error in the request is answered before that nothing is left', async () => {
  const { change, clockwork, gate, read, relay } = await newTenant('metered')
  const person = { schema_id: 'user', traits: { email: 'ada@example.com' }, state: 'inactive' }
  const { body } = await gate.post(IDENTITIES, person)
  await change({ spendCapCents: 0 })
  await read()
  const tokenFor = async (subject: string) =>
    (await gate.post('/v1/gate/tokens', { api_key: gate.key, subject })).status
  expect([await tokenFor(body.id), await tokenFor('someone')]).toEqual([403, 429])
  const job = { name: 'tick', url: 'http://127.0.0.1:9/', schedule: '0 0 30 2 *' }
  const answers = [
    await gate.post(IDENTITIES, 'x'.repeat(2_000_000)),
    await gate.post(IDENTITIES, []),
    await clockwork.post(JOBS, job),
    await relay.post(IDENTITIES, {}),
  ]
  expect(answers.map(({ status }) => status)).toEqual([413, 400, 400, 403])
})

test('Verification mails by key are refused like new work, and pages name no time to try again', async () => {
  const { create, gate, suspend } = await newTenant('free')
  const person = await create('identity')
  const path = `${IDENTITIES}/${person.body.id}/resend-verification`
  expect((await gate.post(path)).status).toBe(429)
  await suspend()
  expect((await gate.post(path)).status).toBe(402)
  const tenant = await newTenant('unlimited')
  const flow = await tenant.create('loginFlow')
  await tenant.suspend()
  const page = `/auth/self-service/registration?from=${flow.body.id}`
  const refused = await fixture.raw(page, { headers: { accept: 'text/html' } })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([402, null])
})
