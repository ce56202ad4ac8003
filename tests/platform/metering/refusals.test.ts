import { describe, expect, test } from 'bun:test'
import type { Answer } from '../../support/app.ts'
import { startTarget } from '../../support/target.ts'
import { ACTOR, bootMetered, CREATING, type Metered, NEXT_MONTH } from './fixture.ts'

const creating = Object.entries(CREATING)

const JOBS = '/v1/clockwork/jobs'
const ENDPOINTS = '/v1/relay/endpoints'
const DELIVERIES = '/v1/relay/deliveries'
const WEBHOOKS = '/v1/gate/settings/webhooks'
const SPENT = { 'metering-free-requests': '0', 'metering-default-spend-cap-cents': '0' }
const SINCE = { since: '2026-03-31T00:00:00Z', which: 'all', per_second: 1000 }

/** Calls that have what there is call out once more, by the ids of what they are about. */
const AGAIN = {
  'a run of a job': {
    status: 202,
    shape: 'plain',
    engine: 'clockwork',
    path: (id: Ids) => `${JOBS}/${id.job}/run`,
    body: undefined,
  },
  'a test of an endpoint': {
    status: 200,
    shape: 'coded',
    engine: 'relay',
    path: (id: Ids) => `${ENDPOINTS}/${id.endpoint}/test`,
    body: {},
  },
  'a replay': {
    status: 202,
    shape: 'coded',
    engine: 'relay',
    path: (id: Ids) => `${ENDPOINTS}/${id.endpoint}/replay`,
    body: SINCE,
  },
  'a resend': {
    status: 202,
    shape: 'coded',
    engine: 'relay',
    path: (id: Ids) => `${DELIVERIES}/${id.delivery}/resend`,
    body: undefined,
  },
  'a test of a webhook': {
    status: 200,
    shape: 'plain',
    engine: 'gate',
    path: (id: Ids) => `${WEBHOOKS}/${id.webhook}/test`,
    body: {},
  },
  'a resend to a webhook': {
    status: 202,
    shape: 'plain',
    engine: 'gate',
    path: (id: Ids) => `${WEBHOOKS}/deliveries/${id.told}/resend`,
    body: undefined,
  },
} as const

/** Of a delivery there are two: of an event, and of what happened to somebody. */
type Ids = Record<'job' | 'endpoint' | 'delivery' | 'webhook' | 'told', string>

const NO_IDS: Ids = {
  job: '{job_id}',
  endpoint: '{endpoint_id}',
  delivery: '{delivery_id}',
  webhook: '{webhook_id}',
  told: '{delivery_id}',
}
const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'
const UNKNOWN_IDS: Ids = {
  job: UNKNOWN_ID,
  endpoint: UNKNOWN_ID,
  delivery: UNKNOWN_ID,
  webhook: UNKNOWN_ID,
  told: UNKNOWN_ID,
}

/** How often `url` was called for what is made by `withWork`. */
const CALLED = 2

/** A job that is paused, an endpoint and a webhook, each of these with a delivery that has ended. */
async function withWork({ clients, clock }: Metered, url: string): Promise<Ids> {
  const { clockwork, gate, relay } = clients
  const job = await clockwork.post(JOBS, { name: 'tick', schedule: '* * * * *', url })
  await clockwork.patch(`${JOBS}/${job.body.id}`, { is_active: false })
  const endpoint = await relay.post(ENDPOINTS, { url })
  await relay.post('/v1/relay/messages', { event_type: 'order.paid', payload: {} })
  const webhook = await gate.post(WEBHOOKS, { url })
  await gate.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email: 'ada@example.com' },
  })
  await clock.settled()
  const sent = (await relay.get(DELIVERIES)).body.data
  const told = (await gate.get(`${WEBHOOKS}/deliveries`)).body.data
  expect([sent, told]).toMatchObject([[{ status: 'succeeded' }], [{ status: 'succeeded' }]])
  return {
    job: job.body.id,
    endpoint: endpoint.body.id,
    delivery: sent[0].id,
    webhook: webhook.body.id,
    told: told[0].id,
  }
}

/** Seconds from the standing clock to the next month. */
const secondsLeft = (now: number) => `${(NEXT_MONTH - now) / 1000}`

function expectRefusal(answer: Answer, shape: 'plain' | 'coded', code: string, words: RegExp) {
  if (shape === 'plain') expect(answer.body).toEqual({ error: expect.stringMatching(words) })
  else
    expect(answer.body).toEqual({
      error: {
        code,
        message: expect.stringMatching(words),
        request_id: expect.stringMatching(/^req_|^[0-9a-f-]{36}$/),
      },
    })
}

describe('past the allowance of a free plan', () => {
  for (const [name, { status, shape, send }] of creating) {
    test(`${name} is refused until the next month of UTC, and then is not`, async () => {
      await using fixture = await bootMetered('free', { 'metering-free-requests': '1' })
      expect((await send(fixture.clients, 1)).status).toBe(status)

      const refused = await send(fixture.clients, 2)

      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toBe(secondsLeft(fixture.clock.now()))
      expectRefusal(refused, shape, 'allowance_exhausted', /monthly allowance is used up/)
      await fixture.clock.advanceTo(NEXT_MONTH)
      expect((await send(fixture.clients, 3)).status).toBe(status)
    })
  }

  test('the 51st of 50 is refused, whatever engines and environments the 50 went to', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '50' })
    const { clients } = fixture
    const calls = [
      () => clients.gate.get('/v1/gate/identities'),
      () => clients.clockwork.get('/v1/clockwork/jobs'),
      () => clients.passepartout.get('/v1/passepartout/login/status?nonce=unknown'),
      () => clients.relay.get('/v1/relay/messages'),
      () => CREATING['an event']?.send(clients, 0),
    ]
    for (let n = 0; n < 50; n++) await calls[n % calls.length]?.()
    expect((await fixture.usage()).requests).toBe(50)

    for (const [name, { send }] of creating)
      expect([name, (await send(clients, 99)).status]).toEqual([name, 429])
    expect((await fixture.usage()).requests).toBe(50)
  })

  test('reads, pauses, deletions, introspection and decisions are answered, and counted', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '4' })
    const { gate, clockwork, passepartout, relay } = fixture.clients
    const job = await CREATING['a cron job']?.send(fixture.clients, 0)
    const person = await CREATING['an identity']?.send(fixture.clients, 0)
    const token = await CREATING['an access token']?.send(fixture.clients, 0)
    const login = await CREATING['a messenger sign-in']?.send(fixture.clients, 0)

    const answers = [
      await clockwork.get('/v1/clockwork/jobs'),
      await clockwork.patch(`/v1/clockwork/jobs/${job?.body.id}`, { is_active: false }),
      await clockwork.delete(`/v1/clockwork/jobs/${job?.body.id}`),
      await gate.get(`/v1/gate/identities/${person?.body.id}`),
      await gate.post('/v1/gate/tokens/introspect', { access_token: token?.body.access_token }),
      await gate.post('/v1/gate/authorize', {
        subject: `identity:${person?.body.id}`,
        action: 'identities.read',
        resource: `identity:${person?.body.id}`,
      }),
      await gate.delete(`/v1/gate/identities/${person?.body.id}`),
      await passepartout.get(`/v1/passepartout/login/status?nonce=${login?.body.nonce}`),
      await relay.get('/v1/relay/messages'),
    ]

    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 204, 200, 200, 200, 204, 200, 200,
    ])
    expect(await fixture.usage()).toMatchObject({ requests: 13, billed_requests: 0, cost_cents: 0 })
  })

  test('a job made before still fires', async () => {
    await using target = startTarget()
    await using fixture = await bootMetered('free', { 'metering-free-requests': '1' })
    const { clockwork } = fixture.clients
    const made = await clockwork.post('/v1/clockwork/jobs', {
      name: 'tick',
      schedule: '* * * * *',
      url: target.url,
    })
    expect(made.status).toBe(201)
    expect((await CREATING['a cron job']?.send(fixture.clients, 1))?.status).toBe(429)

    await fixture.clock.advance(60_000)

    const { body } = await clockwork.get(`/v1/clockwork/jobs/${made.body.id}/executions`)
    expect(body).toMatchObject([{ status: 'success' }])
  })

  test('a repeated idempotency key is answered with the original', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '1' })
    const { relay } = fixture.clients
    const event = { event_type: 'order.paid', payload: {}, idempotency_key: 'one' }
    const first = await relay.post('/v1/relay/messages', event)

    const again = await relay.post('/v1/relay/messages', event)

    expect(again.status).toBe(202)
    expect(again.body).toEqual(first.body)
    const other = await relay.post('/v1/relay/messages', { ...event, idempotency_key: 'two' })
    expect(other.status).toBe(429)
  })

  test('another tenant is none the worse', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '0' })
    const other = await fixture.tenant('Other', 'unlimited')
    const { key } = await other.key('relay')

    const answer = await fixture
      .client(key)
      .post('/v1/relay/messages', { event_type: 'a.b', payload: {} })

    expect(answer.status).toBe(202)
  })

  test('what is wrong with a call is told before that nothing is left', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '0' })
    const { clockwork, gate, relay } = fixture.clients
    expect((await relay.post('/v1/relay/messages', { payload: {} })).status).toBe(400)
    expect((await clockwork.post('/v1/clockwork/jobs', { name: 'x' })).status).toBe(400)
    expect((await gate.post('/v1/gate/identities', {})).status).toBe(400)
    expect((await fixture.client('svc_relay_live_sk_x').get('/v1/relay/messages')).status).toBe(401)
    expect((await relay.post('/v1/gate/identities', {})).status).toBe(403)
  })

  test('a higher plan lets new work in at once, and a lower one stops it', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '0' })
    const { tenants } = fixture.platform
    const send = async () => (await CREATING['an event']?.send(fixture.clients, 0))?.status
    expect(await send()).toBe(429)

    await tenants.change(ACTOR, fixture.acme.id, { plan: 'unlimited' })
    expect(await send()).toBe(202)
    await tenants.change(ACTOR, fixture.acme.id, { plan: 'free' })
    expect(await send()).toBe(429)
  })
})

describe('to call out once more', () => {
  const stops = {
    'past the allowance': [
      429,
      'allowance_exhausted',
      /monthly allowance is used up/,
      ({ platform, acme }) => platform.tenants.change(ACTOR, acme.id, { plan: 'free' }),
    ],
    'past the spend cap': [
      429,
      'spend_cap_reached',
      /monthly spend cap is reached/,
      ({ platform, acme }) => platform.tenants.change(ACTOR, acme.id, { plan: 'metered' }),
    ],
    'in arrears': [
      402,
      'account_suspended',
      /the account is suspended/,
      ({ platform, acme }) => platform.tenants.suspend(ACTOR, acme.id, 'billing'),
    ],
  } satisfies Record<string, [number, string, RegExp, (fixture: Metered) => Promise<unknown>]>

  for (const [name, { status, shape, engine, path, body }] of Object.entries(AGAIN)) {
    for (const [when, [refusal, code, words, stop]] of Object.entries(stops))
      test(`by ${name} is refused ${when}, and nothing is called`, async () => {
        await using target = startTarget()
        await using fixture = await bootMetered('unlimited', SPENT)
        const ids = await withWork(fixture, target.url)
        await stop(fixture)

        const refused = await fixture.clients[engine].post(path(ids), body)

        expect(refused.status).toBe(refusal)
        expectRefusal(refused, shape, code, words)
        await fixture.clock.advance(10_000)
        expect(target.requests).toHaveLength(CALLED)
      })

    test(`by ${name} is answered while something is left, and takes it`, async () => {
      await using target = startTarget()
      await using fixture = await bootMetered('unlimited', { 'metering-free-requests': '10' })
      const ids = await withWork(fixture, target.url)
      const before = (await fixture.usage()).requests
      expect(before).toBeLessThan(10)
      for (let n = before; n < 9; n++) await fixture.clients.gate.get('/v1/gate/identities')
      await fixture.platform.tenants.change(ACTOR, fixture.acme.id, { plan: 'free' })
      const ask = () => fixture.clients[engine].post(path(ids), body)

      const answers = await Promise.all([ask(), ask()])

      expect(answers.map((answer) => answer.status).toSorted()).toEqual([status, 429])
      await fixture.clock.advance(10_000)
      expect(target.requests).toHaveLength(CALLED + 1)
    })

    test(`by ${name}: that there is no such thing is told before`, async () => {
      await using fixture = await bootMetered('unlimited')
      await fixture.platform.tenants.suspend(ACTOR, fixture.acme.id, 'billing')

      expect((await fixture.clients[engine].post(path(UNKNOWN_IDS), body)).status).toBe(404)
    })

    test(`by ${name}: that it may be refused is in the API document`, async () => {
      await using fixture = await bootMetered('unlimited')
      const { paths } = (await fixture.raw('/openapi.json')).body

      expect(paths[path(NO_IDS)].post.responses).toContainKeys(['402', '429'])
    })
  }

  test('stays possible to look into, to change and to end for those in arrears', async () => {
    await using target = startTarget()
    await using fixture = await bootMetered('unlimited')
    const { job, endpoint, delivery } = await withWork(fixture, target.url)
    await fixture.platform.tenants.suspend(ACTOR, fixture.acme.id, 'billing')
    const { clockwork, relay } = fixture.clients

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

    expect(answers.map(({ status }) => status)).toEqual([
      200, 200, 204, 200, 200, 200, 200, 409, 204,
    ])
    expect(target.requests).toHaveLength(CALLED)
  })
})

describe('on a metered plan', () => {
  /** 10 cents for each request beyond the first. */
  const prices = {
    'metering-free-requests': '1',
    'metering-overage-price-cents': '100',
    'metering-overage-per': '10',
  }

  for (const [name, { status, shape, send }] of creating) {
    test(`${name} that would pass the spend cap is refused`, async () => {
      await using fixture = await bootMetered('metered', prices)
      await fixture.platform.tenants.change(ACTOR, fixture.acme.id, { spendCapCents: 25 })
      for (const n of [1, 2, 3]) expect((await send(fixture.clients, n)).status).toBe(status)

      const refused = await send(fixture.clients, 4)

      expect(refused.status).toBe(429)
      expect(refused.headers.get('retry-after')).toBe(secondsLeft(fixture.clock.now()))
      expectRefusal(refused, shape, 'spend_cap_reached', /monthly spend cap is reached/)
      expect(await fixture.usage()).toMatchObject({
        requests: 3,
        billed_requests: 2,
        cost_cents: 20,
        left_requests: 0,
      })
    })
  }

  test('a tenant without a cap has the default one', async () => {
    await using fixture = await bootMetered('metered', {
      ...prices,
      'metering-default-spend-cap-cents': '10',
    })
    const send = async () => (await CREATING['an event']?.send(fixture.clients, 0))?.status
    expect([await send(), await send(), await send()]).toEqual([202, 202, 429])
  })

  test('what is still answered past the cap is counted and not billed', async () => {
    await using fixture = await bootMetered('metered', {
      ...prices,
      'metering-default-spend-cap-cents': '10',
    })
    for (let n = 0; n < 5; n++) await fixture.clients.relay.get('/v1/relay/messages')

    expect(await fixture.usage()).toMatchObject({ requests: 5, billed_requests: 1, cost_cents: 10 })
  })

  test('what came for nothing stays so when the plan becomes a metered one', async () => {
    await using fixture = await bootMetered('free', prices)
    for (let n = 0; n < 5; n++) await fixture.clients.relay.get('/v1/relay/messages')
    expect(await fixture.usage()).toMatchObject({ requests: 5, billed_requests: 0 })

    await fixture.platform.tenants.change(ACTOR, fixture.acme.id, { plan: 'metered' })
    await fixture.clients.relay.get('/v1/relay/messages')

    expect(await fixture.usage()).toMatchObject({ requests: 6, billed_requests: 1, cost_cents: 10 })
  })

  test('a cap below what was spent stops new work and takes nothing off the bill', async () => {
    await using fixture = await bootMetered('metered', prices)
    for (let n = 0; n < 4; n++) await CREATING['an event']?.send(fixture.clients, n)
    await fixture.usage()

    await fixture.platform.tenants.change(ACTOR, fixture.acme.id, { spendCapCents: 10 })

    expect((await CREATING['an event']?.send(fixture.clients, 5))?.status).toBe(429)
    expect(await fixture.usage()).toMatchObject({ billed_requests: 3, cost_cents: 30 })
  })
})

describe('of a tenant in arrears', () => {
  const reasons = [
    ['billing', 'account_suspended', /the account is suspended/],
    ['renewal', 'renewal_unpaid', /the renewal is unpaid/],
  ] as const
  for (const [reason, code, words] of reasons) {
    for (const [name, { status, shape, send }] of creating) {
      test(`${name} is refused for ${reason}, without a time to try again, until it is resumed`, async () => {
        await using fixture = await bootMetered('unlimited')
        await fixture.platform.tenants.suspend(ACTOR, fixture.acme.id, reason)

        const refused = await send(fixture.clients, 1)

        expect(refused.status).toBe(402)
        expect(refused.headers.get('retry-after')).toBeNull()
        expectRefusal(refused, shape, code, words)
        await fixture.platform.tenants.resume(ACTOR, fixture.acme.id)
        expect((await send(fixture.clients, 2)).status).toBe(status)
      })
    }
  }

  test('that it is in arrears is told before that nothing is left', async () => {
    await using fixture = await bootMetered('free', { 'metering-free-requests': '0' })
    await fixture.platform.tenants.suspend(ACTOR, fixture.acme.id, 'billing')
    expect((await CREATING['an event']?.send(fixture.clients, 0))?.status).toBe(402)
  })
})
