import { describe, expect, test } from 'bun:test'
import { parseAllowList, type Resolve } from '../../../src/platform/outbound/index.ts'
import { cachedResolve } from '../../../src/platform/outbound/resolver.ts'
import { answer, failure, get, handClock, loopback, reply, startTarget } from './support.ts'

const v4 = (address: string) => ({ address, family: 4 as const })

const failsWith =
  (code: string): Resolve =>
  async () => {
    throw Object.assign(new Error(`getaddrinfo ${code}`), { code })
  }

describe('the address that is dialled is the address that was checked', () => {
  test('a name is resolved once a call, whatever a second answer would have been', async () => {
    const target = await startTarget(answer('first'))
    const answers = ['127.0.0.1', '169.254.169.254', '127.0.0.1']
    let calls = 0
    const outbound = loopback({ resolve: async () => [v4(answers[calls++] ?? '')] })

    const first = await outbound.send(get(`http://rebind.example:${target.port}/`))
    expect(reply(first)).toMatchObject({ text: 'first', address: '127.0.0.1' })
    expect(calls).toBe(1)

    const second = await outbound.send(get(`http://rebind.example:${target.port}/`))
    expect(failure(second)).toMatchObject({ reason: 'refused', address: null })
    expect(calls).toBe(2)
    expect(target.requests).toHaveLength(1)
  })

  test.each([
    [['8.8.8.8', '10.0.0.5'], '10.0.0.5, a private address'],
    [['10.0.0.5', '8.8.8.8'], '10.0.0.5, a private address'],
    [['127.0.0.1', '169.254.169.254'], '169.254.169.254, a link-local address (cloud metadata)'],
    [['127.0.0.1', '::1'], '::1, a loopback address'],
    [['127.0.0.1', 'garbage'], 'garbage, not an IP address'],
  ])('one forbidden address among %p refuses the name', async (addresses, what) => {
    const target = await startTarget(answer('never'))
    const outbound = loopback({ resolve: async () => addresses.map(v4) })

    const result = failure(await outbound.send(get(`http://mixed.example:${target.port}/`)))

    expect(result.reason).toBe('refused')
    expect(result.message).toStartWith(
      `URL must be publicly reachable, but mixed.example resolves to ${what}`,
    )
    expect(target.requests).toEqual([])
  })

  test('IPv4 is preferred', async () => {
    const target = await startTarget(answer('v4'))
    const outbound = loopback({
      allow: ['127.0.0.1', '::1'],
      resolve: async () => [{ address: '::1', family: 6 }, v4('127.0.0.1')],
    })

    const result = reply(await outbound.send(get(`http://both.example:${target.port}/`)))

    expect(result.address).toBe('127.0.0.1')
  })

  test('a literal address is dialled without a look-up', async () => {
    const target = await startTarget(answer('literal'))
    const outbound = loopback({ resolve: failsWith('ENOTFOUND') })

    const result = reply(await outbound.send(get(target.url)))

    expect(result.text).toBe('literal')
    expect(result.timings.dns).toBe(0)
  })
})

describe('the rules for URLs hold at run time too', () => {
  test.each([
    [
      'http://10.0.0.5/',
      'URL must be publicly reachable, but 10.0.0.5 is a private address. To allow it, start Gatehouse with --outbound-allow 10.0.0.5:80',
    ],
    [
      'http://localhost/',
      'URL must be publicly reachable, but localhost is a loopback hostname. To allow it, start Gatehouse with --outbound-allow localhost:80',
    ],
    ['ftp://example.com/', 'URL must start with http or https, not ftp'],
  ])('%s', async (url, message) => {
    expect(await loopback().send(get(url))).toEqual({
      replied: false,
      reason: 'refused',
      message,
      address: null,
      timings: { dns: 0, connect: 0, tls: 0, wait: 0, read: 0 },
    })
  })
})

describe('a look-up that brings nothing is a failure that says so', () => {
  test.each([
    ['ENOTFOUND', 'DNS lookup failed: no such host nope.example'],
    ['DNS_ENOTFOUND', 'DNS lookup failed: no such host nope.example'],
    ['EAI_AGAIN', 'DNS lookup failed: the name server did not respond for nope.example'],
    ['ETIMEOUT', 'DNS lookup failed: the name server did not respond for nope.example'],
    ['EREFUSED', 'DNS lookup failed: the name server did not respond for nope.example'],
    ['EWHATEVER', 'DNS lookup failed: nope.example (EWHATEVER)'],
  ])('%s', async (code, message) => {
    const outbound = loopback({ resolve: failsWith(code) })
    const result = await outbound.send(get('http://nope.example/'))
    expect(failure(result)).toMatchObject({ reason: 'dns', message, address: null })
  })

  test('no address at all', async () => {
    const result = await loopback({ resolve: async () => [] }).send(get('http://nope.example/'))
    expect(failure(result).message).toBe('DNS lookup failed: nope.example has no address')
  })

  test("the system's resolver does not know a name that nobody may register", async () => {
    const result = await loopback({ resolve: undefined }).send(get('http://nope.invalid/'))
    expect(failure(result).reason).toBe('dns')
  })
})

describe('a resolver that never answers', () => {
  const never: Resolve = () => new Promise(() => {})

  test('is given up after 5 seconds', async () => {
    const { clock, turn, timers } = handClock()
    const outbound = loopback({ clock, resolve: never, timeoutMs: 30_000 })

    const sent = outbound.send(get('http://slow.example/'))
    turn(5000)

    expect(failure(await sent)).toMatchObject({
      reason: 'dns',
      message: 'DNS lookup failed: no response for slow.example in time',
      timings: { dns: 5000, connect: 0 },
    })
    expect(timers()).toBe(0)
  })

  test('is given up at the deadline of the call when that is earlier', async () => {
    const { clock, turn, timers } = handClock()

    const sent = loopback({ clock, resolve: never, timeoutMs: 2000 }).send(
      get('http://slow.example/'),
    )
    turn(2000)

    expect(failure(await sent)).toMatchObject({
      reason: 'timeout',
      message: 'no complete response within 2 s (during the DNS lookup)',
    })
    expect(timers()).toBe(0)
  })
})

describe('what the system resolver says is kept for half a minute', () => {
  function counting(answers: () => Promise<{ address: string; family: 4 }[]>) {
    const { clock, turn } = handClock()
    let calls = 0
    const resolve = cachedResolve(clock, () => {
      calls++
      return answers()
    })
    return { resolve, turn, calls: () => calls }
  }

  test('per host, and shared by those who ask at the same time', async () => {
    const { resolve, turn, calls } = counting(async () => [v4('8.8.8.8')])

    await Promise.all([resolve('a.example'), resolve('a.example'), resolve('b.example')])
    expect(calls()).toBe(2)
    turn(29_999)
    await resolve('a.example')
    expect(calls()).toBe(2)

    turn(1)
    await resolve('a.example')
    expect(calls()).toBe(3)
  })

  test('a failure is not kept', async () => {
    const { resolve, calls } = counting(() => Promise.reject(new Error('down')))

    await expect(resolve('a.example')).rejects.toThrow('down')
    await expect(resolve('a.example')).rejects.toThrow('down')

    expect(calls()).toBe(2)
  })

  test('unless there are more than a hundred addresses, which is a failure', async () => {
    const { clock } = handClock()
    const numbered = (count: number) => Array.from({ length: count }, (_, n) => v4(`8.8.8.${n}`))
    const resolve = cachedResolve(clock, async (host) => numbered(Number.parseInt(host, 10)))

    expect(await resolve('100.example')).toHaveLength(100)
    const outbound = loopback({ resolve })
    expect(failure(await outbound.send(get('http://101.example/')))).toMatchObject({
      reason: 'dns',
      message: 'DNS lookup failed: 101.example has more than 100 addresses',
    })
  })

  test('for the last thousand hosts', async () => {
    const { resolve, calls } = counting(async () => [v4('8.8.8.8')])

    for (let i = 0; i <= 1000; i++) await resolve(`h${i}.example`)
    await resolve('h1.example')
    expect(calls()).toBe(1001)

    await resolve('h0.example')
    expect(calls()).toBe(1002)
  })
})

test('an allow-list that cannot be read stops the client from being made', () => {
  expect(() => loopback({ allow: ['10.0.0.0/99'] })).toThrow('10.0.0.0/99')
  expect(parseAllowList([]).hasName('localhost', 80)).toBe(false)
})
