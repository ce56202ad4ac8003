import { describe, expect, test } from 'bun:test'
import type { Answer } from '../../support/app.ts'
import { startTarget } from '../../support/target.ts'
import {
  bootMetered,
  CREATING,
  ENDPOINTS,
  EVENT,
  IDENTITIES,
  JOBS,
  MESSAGES,
  NEXT_MONTH,
  type Tenant,
  useMetered,
} from './fixture.ts'

const DELIVERIES = '/v1/relay/deliveries'
const WEBHOOKS = '/v1/gate/settings/webhooks'
const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'
const creating = Object.entries(CREATING)

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

describe('What makes something new is refused', () => {
  test.each(creating)('without quota or suspended: %s', async (_, { send, ...made }) => {
    const { change, clients, resume, suspend, usage } = await newTenant('free')
    const status = async () => (await send(clients)).status
    expect(await status()).toBe(made.status)
    expectRefused(await send(clients), made.shape, 429, 'allowance_exhausted')
    await change({ plan: 'metered', spendCapCents: 25 })
    expect([await status(), await status()]).toEqual([made.status, made.status])
    expectRefused(await send(clients), made.shape, 429, 'spend_cap_reached')
    const spent = { requests: 3, billed_requests: 2, cost_cents: 20, left_requests: 0 }
    expect(await usage()).toMatchObject(spent)
    await change({ plan: 'unlimited' })
    await suspend('billing')
    expectRefused(await send(clients), made.shape, 402, 'account_suspended')
    await suspend('renewal')
    expectRefused(await send(clients), made.shape, 402, 'renewal_unpaid')
    await resume()
    expect(await status()).toBe(made.status)
  })

  test('until the next month of UTC', async () => {
    await using own = await bootMetered({ free: 1 })
    const { make } = await own.newTenant('free')
    expect([await make(), await make()]).toEqual([202, 429])
    await own.clock.advanceTo(NEXT_MONTH - 1)
    expect(await make()).toBe(429)
    await own.clock.advanceTo(NEXT_MONTH)
    expect(await make()).toBe(202)
  })

  test('whichever engine the allowance was used for, but not of other tenants', async () => {
    const tenant = await newTenant('metered')
    await tenant.change({ spendCapCents: 40 })
    await tenant.gate.get(IDENTITIES)
    await tenant.clockwork.get(JOBS)
    await tenant.passepartout.get('/v1/passepartout/login/status?nonce=unknown')
    await tenant.relay.get(MESSAGES)
    expect(await tenant.make()).toBe(202)
    for (const [name] of creating) expect([name, await tenant.make(name)]).toEqual([name, 429])
    expect((await tenant.usage()).requests).toBe(5)
    expect(await (await newTenant('unlimited')).make()).toBe(202)
    await tenant.suspend()
    expect(await tenant.make()).toBe(402)
  })

  test('by the default spend cap, or by a lower one at once, and by the plan of now', async () => {
    const { change, make, usage } = await newTenant('metered')
    expect([await make(), await make(), await make()]).toEqual([202, 202, 429])
    await change({ spendCapCents: 30 })
    expect([await make(), await make(), await make()]).toEqual([202, 202, 429])
    await change({ spendCapCents: 10 })
    expect(await make()).toBe(429)
    expect(await usage()).toMatchObject({ billed_requests: 3, cost_cents: 30 })
    await change({ plan: 'unlimited' })
    expect(await make()).toBe(202)
    await change({ plan: 'free' })
    expect(await make()).toBe(429)
  })
})

test('Past the allowance other calls are answered, counted and not billed; what was made before goes on', async () => {
  await using target = startTarget()
  await using own = await bootMetered({ free: 5 })
  const tenant = await own.newTenant('free')
  const { clients, clockwork, gate, passepartout, relay } = tenant
  const made = async (name: string) => (await CREATING[name]?.send(clients))?.body
  const { id: job } = await made('a cron job')
  const { id: person } = await made('an identity')
  const { access_token } = await made('an access token')
  const { nonce } = await made('a messenger sign-in')
  const every = { name: 'tick', schedule: '* * * * *', url: target.url }
  const running = (await clockwork.post(JOBS, every)).body.id
  expect(await tenant.make('a cron job')).toBe(429)
  const resource = `identity:${person}`
  const decision = { subject: resource, action: 'identities.read', resource }
  const answers = [
    await clockwork.get(JOBS),
    await clockwork.patch(`${JOBS}/${job}`, { is_active: false }),
    await clockwork.delete(`${JOBS}/${job}`),
    await gate.get(`${IDENTITIES}/${person}`),
    await gate.post('/v1/gate/tokens/introspect', { access_token }),
    await gate.post('/v1/gate/authorize', decision),
    await gate.delete(`${IDENTITIES}/${person}`),
    await passepartout.get(`/v1/passepartout/login/status?nonce=${nonce}`),
    await relay.get(MESSAGES),
  ]
  const statuses = answers.map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 204, 200, 200, 200, 204, 200, 200])
  const counted = { requests: 14, billed_requests: 0, cost_cents: 0 }
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

/** Calls that call existing things again: engine, path, status and shape of errors. */
const AGAIN = {
  'a run of a job': ['clockwork', (id: Ids) => `${JOBS}/${id.job}/run`, 202, 'plain'],
  'a test of an endpoint': ['relay', (id: Ids) => `${ENDPOINTS}/${id.endpoint}/test`, 200, 'coded'],
  'a replay': ['relay', (id: Ids) => `${ENDPOINTS}/${id.endpoint}/replay`, 202, 'coded'],
  'a resend': ['relay', (id: Ids) => `${DELIVERIES}/${id.delivery}/resend`, 202, 'coded'],
  'a test of a webhook': ['gate', (id: Ids) => `${WEBHOOKS}/${id.webhook}/test`, 200, 'plain'],
  'a resend to a webhook': [
    ...(['gate', (id: Ids) => `${WEBHOOKS}/deliveries/${id.told}/resend`, 202, 'plain'] as const),
  ],
} as const

const CALLED = 2

/** A paused job, and an endpoint and a webhook with a delivery each. */
async function withWork({ clients, clockwork, gate, relay }: Tenant, url: string): Promise<Ids> {
  const job = await clockwork.post(JOBS, { name: 'tick', schedule: '* * * * *', url })
  await clockwork.patch(`${JOBS}/${job.body.id}`, { is_active: false })
  const endpoint = await relay.post(ENDPOINTS, { url })
  await relay.post(MESSAGES, EVENT)
  const webhook = await gate.post(WEBHOOKS, { url })
  await CREATING['an identity']?.send(clients)
  await clock.settled()
  const [sent] = (await relay.get(DELIVERIES)).body.data
  const [told] = (await gate.get(`${WEBHOOKS}/deliveries`)).body.data
  expect([sent, told]).toMatchObject([{ status: 'succeeded' }, { status: 'succeeded' }])
  const ids = { job: job.body.id, endpoint: endpoint.body.id, webhook: webhook.body.id }
  return { ...ids, delivery: sent.id, told: told.id }
}

test.each(Object.entries(AGAIN))(
  'Repeating by %s is refused like new work',
  async (name, again) => {
    const [engine, path, status, shape] = again
    await using target = startTarget()
    const tenant = await newTenant('unlimited')
    const ids = await withWork(tenant, target.url)
    const body = name === 'a replay' ? SINCE : name.includes('test') ? {} : undefined
    const ask = (which = ids) => tenant.clients[engine].post(path(which), body)
    await tenant.change({ plan: 'free' })
    expectRefused(await ask(), shape, 429, 'allowance_exhausted')
    await tenant.change({ plan: 'metered', spendCapCents: 0 })
    expectRefused(await ask(), shape, 429, 'spend_cap_reached')
    await tenant.suspend()
    expectRefused(await ask(), shape, 402, 'account_suspended')
    const unknown = Object.fromEntries(Object.keys(ids).map((name) => [name, UNKNOWN_ID])) as Ids
    expect((await ask(unknown)).status).toBe(404)
    await clock.settled()
    expect(target.requests).toHaveLength(CALLED)
    await tenant.resume()
    // Until they are stored, counts take of what is left by the present cap.
    await tenant.usage()
    await tenant.change({ spendCapCents: 10 })
    const answers = await Promise.all([ask(), ask()])
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([status, 429])
    await clock.settled()
    expect(target.requests).toHaveLength(CALLED + 1)
  },
)

test('A suspended tenant can view, change and end what it has', async () => {
  await using target = startTarget()
  const tenant = await newTenant('unlimited')
  const { job, endpoint, delivery } = await withWork(tenant, target.url)
  await tenant.suspend()
  const { clockwork, relay } = tenant
  const answers = [
    await clockwork.post(`${JOBS}/preview`, { schedule: '* * * * *', url: target.url }),
    await clockwork.patch(`${JOBS}/${job}`, { name: 'tock' }),
    await clockwork.delete(`${JOBS}/${job}`),
    await relay.post(`${ENDPOINTS}/${endpoint}/replay`, { ...SINCE, dry_run: true }),
    await relay.patch(`${ENDPOINTS}/${endpoint}`, { active: false }),
    await relay.get(`${ENDPOINTS}/${endpoint}/stats`),
    await relay.get(`${DELIVERIES}/${delivery}`),
    await relay.post(`${DELIVERIES}/${delivery}/cancel`),
    await relay.delete(`${ENDPOINTS}/${endpoint}`),
  ]
  const statuses = answers.map(({ status }) => status)
  expect(statuses).toEqual([200, 200, 204, 200, 200, 200, 200, 409, 204])
  expect(target.requests).toHaveLength(CALLED)
})

test('An error in the request is answered before that nothing is left', async () => {
  const { change, clients, clockwork, gate, read, relay } = await newTenant('metered')
  await change({ spendCapCents: 0 })
  await read()
  const wrong = { 413: 'x'.repeat(2_000_000), 415: '{}', 400: '[]' }
  for (const [engine, path] of [
    ...[['relay', MESSAGES] as const, ['passepartout', '/v1/passepartout/login/start'] as const],
    ...[['gate', IDENTITIES] as const, ['clockwork', JOBS] as const],
    ['clockwork', '/v1/clockwork/delayed'] as const,
  ])
    for (const [status, body] of Object.entries(wrong)) {
      const type = status === '415' ? 'text/plain' : 'application/json'
      const headers = { authorization: `Bearer ${clients[engine].key}`, 'content-type': type }
      const answer = await fixture.raw(path, { method: 'POST', headers, body })
      expect([path, answer.status]).toEqual([path, Number(status)])
    }
  for (const schedule of ['nonsense', '0 0 30 2 *']) {
    const job = { name: 'tick', url: 'http://127.0.0.1:9/', schedule }
    expect((await clockwork.post(JOBS, job)).status).toBe(400)
  }
  expect((await relay.post(IDENTITIES, {})).status).toBe(403)
  await change({ plan: 'unlimited' })
  const person = { schema_id: 'user', traits: { email: 'ada@example.com' }, state: 'inactive' }
  const { body } = await gate.post(IDENTITIES, person)
  await change({ plan: 'metered' })
  const tokenFor = async (subject: string) =>
    (await gate.post('/v1/gate/tokens', { api_key: gate.key, subject })).status
  expect([await tokenFor(body.id), await tokenFor('someone')]).toEqual([403, 429])
})

test('Verification mails by key are refused like new work, and pages name no time to try again', async () => {
  const { clients, gate, suspend } = await newTenant('free')
  const person = await CREATING['an identity']?.send(clients)
  const path = `${IDENTITIES}/${person?.body.id}/resend-verification`
  expect((await gate.post(path)).status).toBe(429)
  await suspend()
  expect((await gate.post(path)).status).toBe(402)
  const tenant = await newTenant('unlimited')
  const flow = await CREATING['a login flow']?.send(tenant.clients)
  await tenant.suspend()
  const page = `/auth/self-service/registration?from=${flow?.body.id}`
  const refused = await fixture.raw(page, { headers: { accept: 'text/html' } })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([402, null])
})
