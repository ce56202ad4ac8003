import { describe, expect, test } from 'bun:test'
import { bootTestApp } from '../support/app.ts'

const READ = '/v1/relay/messages'
const SEND = { event_type: 'a.b', payload: {} }

async function bootLimited(perMinute: number, plan: 'free' | 'unlimited' = 'unlimited', free = 4) {
  const flags = {
    'limits-requests-per-minute': `${perMinute}`,
    'metering-free-requests': `${free}`,
  }
  const app = await bootTestApp({ start: '2026-04-30T23:59:00.000Z', flags })
  const acme = await app.tenant('Acme', plan)
  const newClient = async () => app.client((await acme.key('relay')).key)
  return { ...app, acme, newClient }
}

describe('Requests beyond the rate of a key', () => {
  test('are refused until there is room again', async () => {
    await using app = await bootLimited(3)
    const api = await app.newClient()
    for (let n = 0; n < 3; n++) expect((await api.get(READ)).status).toBe(200)
    const refused = await api.get(READ)
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'rate_limited' } } })
    expect(refused.headers.get('retry-after')).toBe('20')
    await app.clock.advance(19_999)
    expect((await api.get(READ)).status).toBe(429)
    await app.clock.advance(1)
    expect((await api.get(READ)).status).toBe(200)
    expect((await (await app.newClient()).get(READ)).status).toBe(200)
  })

  test.each([
    ['gate', '/v1/gate/identities'],
    ['clockwork', '/v1/clockwork/jobs'],
    ['passepartout', '/v1/passepartout/login/status?nonce=x'],
    ['relay', READ],
  ] as const)('are refused in the shape of %s', async (engine, path) => {
    await using app = await bootLimited(1)
    const api = app.client((await app.acme.key(engine)).key)
    await api.get(path)
    const { status, body } = await api.get(path)
    const isCoded = engine === 'relay' || engine === 'passepartout'
    expect([status, typeof body.error]).toEqual([429, isCoded ? 'object' : 'string'])
  })

  test('are refused after the key is checked, and before the body is read', async () => {
    await using app = await bootLimited(1)
    const api = await app.newClient()
    await api.get(READ)
    expect((await api.post(READ, 'x'.repeat(2_000_000))).status).toBe(429)
    expect((await api.post('/v1/clockwork/jobs', {})).status).toBe(403)
  })

  test('count with a key in the body, and with an optional key', async () => {
    await using app = await bootLimited(2)
    const { key } = await app.acme.key('gate')
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ api_key: key, subject: 'billing' })
    const issue = async () =>
      (await app.raw('/v1/gate/tokens', { method: 'POST', headers, body })).status
    expect([await issue(), await issue(), await issue()]).toEqual([200, 200, 429])
    expect((await app.client(key).get('/v1/gate/sessions/whoami')).status).toBe(429)
  })
})

describe('RateLimit headers', () => {
  test('state what is left of each limit, and for how long', async () => {
    await using app = await bootLimited(60, 'free')
    const api = await app.newClient()
    const [first, second] = [await api.get(READ), await api.get(READ)]
    const policy = '"burst";q=60;w=60, "month";q=4;w=2592000'
    expect(first.headers.get('ratelimit-policy')).toBe(policy)
    expect(first.headers.get('ratelimit')).toBe('"burst";r=59;t=1, "month";r=3;t=60')
    expect(second.headers.get('ratelimit')).toBe('"burst";r=58;t=2, "month";r=2;t=60')
  })

  test('are on refusals, too', async () => {
    await using app = await bootLimited(60, 'free', 0)
    const { status, headers } = await (await app.newClient()).post(READ, SEND)
    expect(status).toBe(429)
    expect(headers.get('ratelimit')).toBe('"burst";r=59;t=1, "month";r=0;t=60')
    expect(headers.get('retry-after')).toBe('60')
  })

  test('state no month on a plan without a limit, and nothing without a key', async () => {
    await using app = await bootLimited(60)
    const { headers } = await (await app.newClient()).get(READ)
    expect(headers.get('ratelimit-policy')).toBe('"burst";q=60;w=60')
    expect(headers.get('ratelimit')).toBe('"burst";r=59;t=1')
    for (const path of ['/healthz', '/', READ, '/v1/relay/unknown'])
      expect((await app.raw(path)).headers.get('ratelimit'), path).toBeNull()
  })
})
