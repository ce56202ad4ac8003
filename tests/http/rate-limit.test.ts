import { describe, expect, test } from 'bun:test'
import { bootTestApp } from '../support/app.ts'

const READ = '/v1/relay/messages'

async function bootLimited(
  flags: Record<string, string>,
  plan: 'free' | 'unlimited' = 'unlimited',
) {
  const app = await bootTestApp({ start: '2026-04-30T23:59:00.000Z', flags })
  const acme = await app.tenant('Acme', plan)
  const newClient = async () => app.client((await acme.key('relay')).key)
  return { ...app, newClient }
}

describe('with one key', () => {
  test('requests beyond the rate are refused, and let in as time goes by', async () => {
    await using fixture = await bootLimited({ 'limits-requests-per-minute': '3' })
    const api = await fixture.newClient()
    for (let n = 0; n < 3; n++) expect((await api.get(READ)).status).toBe(200)

    const refused = await api.get(READ)

    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('20')
    expect(refused.body.error).toMatchObject({
      code: 'rate_limited',
      message: 'more than 3 requests a minute with this key',
    })
    await fixture.clock.advance(19_999)
    expect((await api.get(READ)).status).toBe(429)
    await fixture.clock.advance(1)
    expect((await api.get(READ)).status).toBe(200)
  })

  test('they say so in the words of each engine', async () => {
    await using fixture = await bootTestApp({ flags: { 'limits-requests-per-minute': '1' } })
    const acme = await fixture.tenant()
    const paths = {
      gate: '/v1/gate/identities',
      clockwork: '/v1/clockwork/jobs',
      passepartout: '/v1/passepartout/login/status?nonce=x',
      relay: READ,
    } as const
    for (const engine of ['gate', 'clockwork', 'passepartout', 'relay'] as const) {
      const api = fixture.client((await acme.key(engine)).key)
      await api.get(paths[engine])
      const { status, body } = await api.get(paths[engine])
      const sentence = typeof body.error === 'string' ? body.error : body.error.message
      expect([engine, status, sentence]).toEqual([
        engine,
        429,
        'more than 1 requests a minute with this key',
      ])
    }
  })

  test('another key has a rate of its own', async () => {
    await using fixture = await bootLimited({ 'limits-requests-per-minute': '1' })
    const [one, two] = [await fixture.newClient(), await fixture.newClient()]
    expect((await one.get(READ)).status).toBe(200)
    expect((await one.get(READ)).status).toBe(429)
    expect((await two.get(READ)).status).toBe(200)
  })

  test('the refusal comes before the body is looked at, and behind that the key is good', async () => {
    await using fixture = await bootLimited({ 'limits-requests-per-minute': '1' })
    const api = await fixture.newClient()
    await api.get(READ)
    expect((await api.post(READ, 'x'.repeat(2_000_000))).status).toBe(429)
    expect((await api.post('/v1/clockwork/jobs', {})).status).toBe(403)
  })

  test('a key in the body, and one that need not be there, count the same', async () => {
    await using fixture = await bootTestApp({ flags: { 'limits-requests-per-minute': '2' } })
    const acme = await fixture.tenant()
    const { key } = await acme.key('gate')
    const body = { api_key: key, subject: 'someone' }
    const issue = () =>
      fixture.raw('/v1/gate/tokens', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    expect([(await issue()).status, (await issue()).status]).toEqual([200, 200])
    expect((await issue()).status).toBe(429)
    expect((await fixture.client(key).get('/v1/gate/sessions/whoami')).status).toBe(429)
  })
})

describe('answers to a key', () => {
  const POLICY = '"burst";q=60;w=60, "month";q=4;w=2592000'

  test('say how much is left of each limit, and for how long', async () => {
    const flags = { 'limits-requests-per-minute': '60', 'metering-free-requests': '4' }
    await using fixture = await bootLimited(flags, 'free')
    const api = await fixture.newClient()

    const first = await api.get(READ)
    const second = await api.get(READ)

    expect(first.headers.get('ratelimit-policy')).toBe(POLICY)
    expect(first.headers.get('ratelimit')).toBe('"burst";r=59;t=1, "month";r=3;t=60')
    expect(second.headers.get('ratelimit')).toBe('"burst";r=58;t=2, "month";r=2;t=60')
  })

  test('also where they refuse', async () => {
    const flags = { 'limits-requests-per-minute': '60', 'metering-free-requests': '0' }
    await using fixture = await bootLimited(flags, 'free')
    const refused = await (await fixture.newClient()).post(READ, { event_type: 'a.b', payload: {} })
    expect(refused.status).toBe(429)
    expect(refused.headers.get('ratelimit')).toBe('"burst";r=59;t=1, "month";r=0;t=60')
    expect(refused.headers.get('retry-after')).toBe('60')
  })

  test('name no month on a plan without an end', async () => {
    await using fixture = await bootLimited({ 'limits-requests-per-minute': '60' })
    const { headers } = await (await fixture.newClient()).get(READ)
    expect(headers.get('ratelimit-policy')).toBe('"burst";q=60;w=60')
    expect(headers.get('ratelimit')).toBe('"burst";r=59;t=1')
  })

  test('of everybody else say nothing', async () => {
    await using fixture = await bootLimited({})
    for (const path of ['/healthz', '/', READ, '/v1/relay/unknown']) {
      const { headers } = await fixture.raw(path)
      expect([path, headers.get('ratelimit')]).toEqual([path, null])
    }
  })
})
