import { describe, expect, test } from 'bun:test'
import { useApp } from '../support/app.ts'

const READ = '/v1/relay/messages'
const SEND = { event_type: 'a.b', payload: {} }

const useLimited = (perMinute: number) =>
  useApp({
    start: '2026-04-30T23:59:00.000Z',
    flags: { 'limits-requests-per-minute': `${perMinute}`, 'metering-free-requests': '4' },
  })
const app = await useLimited(3)
const roomy = await useLimited(60)

async function newClient(of = app, plan: 'free' | 'unlimited' = 'unlimited') {
  const { key } = await (await of.tenant('Acme', plan)).key('relay')
  return of.client(key)
}

describe('Requests beyond the rate of a key', () => {
  test('are refused until there is room again', async () => {
    const api = await newClient()
    for (let n = 0; n < 3; n++) expect((await api.get(READ)).status).toBe(200)
    const refused = await api.get(READ)
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
    expect(refused.headers.get('retry-after')).toBe('20')
    expect((await (await newClient()).get(READ)).status).toBe(200)
    await app.clock.advance(19_999)
    expect((await api.get(READ)).status).toBe(429)
    await app.clock.advance(1)
    expect((await api.get(READ)).status).toBe(200)
  })

  test.each([
    ['gate', '/v1/gate/identities', 'string'],
    ['clockwork', '/v1/clockwork/jobs', 'string'],
    ['passepartout', '/v1/passepartout/login/status?nonce=x', 'object'],
    ['relay', READ, 'object'],
  ] as const)('are refused in the shape of %s', async (engine, path, type) => {
    const api = app.client((await (await app.tenant()).key(engine)).key)
    for (let n = 0; n < 3; n++) await api.get(path)
    const { status, body } = await api.get(path)
    expect([status, typeof body.error]).toEqual([429, type])
  })

  test('are refused after the key is checked, and before the body is read', async () => {
    const api = await newClient()
    for (let n = 0; n < 3; n++) await api.get(READ)
    expect((await api.post(READ, 'x'.repeat(2_000_000))).status).toBe(429)
    expect((await api.post('/v1/clockwork/jobs', {})).status).toBe(403)
  })

  test('count with a key in the body, and with an optional key', async () => {
    const { key } = await (await app.tenant()).key('gate')
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ api_key: key, subject: 'billing' })
    const statuses: number[] = []
    for (let n = 0; n < 4; n++)
      statuses.push((await app.raw('/v1/gate/tokens', { method: 'POST', headers, body })).status)
    expect(statuses).toEqual([200, 200, 200, 429])
    expect((await app.client(key).get('/v1/gate/sessions/whoami')).status).toBe(429)
  })
})

describe('RateLimit headers', () => {
  test('state what is left of each limit, and for how long, on refusals, too', async () => {
    const api = await newClient(roomy, 'free')
    const policy = '"burst";q=60;w=60, "month";q=4;w=2592000'
    for (const [burst, month] of [
      [59, 3],
      [58, 2],
      [57, 1],
      [56, 0],
    ] as const) {
      const { status, headers } = await api.post(READ, SEND)
      expect([status, headers.get('ratelimit-policy')]).toEqual([202, policy])
      const left = `"burst";r=${burst};t=${60 - burst}, "month";r=${month};t=60`
      expect(headers.get('ratelimit')).toBe(left)
    }
    const { status, headers } = await api.post(READ, SEND)
    expect([status, headers.get('retry-after')]).toEqual([429, '60'])
    expect(headers.get('ratelimit')).toBe('"burst";r=55;t=5, "month";r=0;t=60')
  })

  test('state no month on a plan without a limit, and nothing without a key', async () => {
    const { headers } = await (await newClient(roomy)).get(READ)
    expect(headers.get('ratelimit-policy')).toBe('"burst";q=60;w=60')
    expect(headers.get('ratelimit')).toBe('"burst";r=59;t=1')
    for (const path of ['/healthz', '/', READ, '/v1/relay/unknown'])
      expect((await roomy.raw(path)).headers.get('ratelimit'), path).toBeNull()
  })
})
