import { expect, mock, test } from 'bun:test'
import type { Resolve } from '../../../src/platform/outbound/index.ts'
import { cachedResolve } from '../../../src/platform/outbound/resolver.ts'
import { createTestClock } from '../../support/clock.ts'
import { answer } from './behaviors.ts'
import { failure, get, loopback, reply, startTarget } from './fixture.ts'

const v4 = (address: string) => ({ address, family: 4 as const })

const failing = (code: string) => async () => {
  throw Object.assign(new Error(code), { code })
}

test('The address that is called is the one that was checked: a name is resolved once per call', async () => {
  const target = await startTarget(answer('first'))
  const answers = ['127.0.0.1', '169.254.169.254', '127.0.0.1']
  const outbound = loopback({ resolve: async () => [v4(answers.shift() ?? '')] })
  const url = `http://rebind.example:${target.port}/`
  expect(reply(await outbound.send(get(url)))).toMatchObject({ address: '127.0.0.1' })
  const second = failure(await outbound.send(get(url)))
  expect(second).toMatchObject({ reason: 'refused', address: null })
  expect([answers.length, target.requests.length]).toEqual([1, 1])
})

test.each([
  [['8.8.8.8', '10.0.0.5'], '10.0.0.5, a private address'],
  [['127.0.0.1', '169.254.169.254'], '169.254.169.254, a link-local address (cloud metadata)'],
  [['127.0.0.1', 'garbage'], 'garbage, not an IP address'],
])('One forbidden address among %p refuses the name', async (addresses, named) => {
  const target = await startTarget(answer('never'))
  const outbound = loopback({ resolve: async () => addresses.map(v4) })
  const result = failure(await outbound.send(get(`http://mixed.example:${target.port}/`)))
  expect(result.reason).toBe('refused')
  expect(result.message).toContain(`mixed.example resolves to ${named}`)
  expect(target.requests).toEqual([])
})

test('IPv4 is preferred, and a literal address needs no lookup', async () => {
  const target = await startTarget(answer('ok'))
  const resolve: Resolve = async () => [{ address: '::1', family: 6 }, v4('127.0.0.1')]
  const both = loopback({ allow: ['127.0.0.1', '::1'], resolve })
  const result = reply(await both.send(get(`http://both.example:${target.port}/`)))
  expect(result.address).toBe('127.0.0.1')
  const literal = loopback({ resolve: failing('ENOTFOUND') })
  expect(reply(await literal.send(get(target.url))).timings.dns).toBe(0)
})

test('A URL that is not allowed is refused when it is called too', async () => {
  const timings = { dns: 0, connect: 0, tls: 0, wait: 0, read: 0 }
  for (const url of ['http://10.0.0.5/', 'http://localhost/', 'ftp://example.com/']) {
    const refused = failure(await loopback().send(get(url)))
    expect(refused).toMatchObject({ reason: 'refused', address: null, timings })
    expect(refused.message).toContain('URL must')
  }
})

test.each<[string, string, Resolve | undefined]>([
  ['nope.example', 'no such host nope.example', failing('ENOTFOUND')],
  ['nope.example', 'the name server did not respond for nope.example', failing('EAI_AGAIN')],
  ['nope.example', 'nope.example (EWHATEVER)', failing('EWHATEVER')],
  ['nope.example', 'nope.example has no address', async () => []],
  // By the resolver of the system.
  ['nope.invalid', '', undefined],
])('The failed lookup of %s says why: %s', async (host, message, resolve) => {
  const result = await loopback({ resolve }).send(get(`http://${host}/`))
  expect(failure(result)).toMatchObject({ reason: 'dns', address: null })
  expect(failure(result).message).toContain(`DNS lookup failed: ${message}`)
})

test.each([
  [30_000, 5000, 'dns', 'DNS lookup failed: no response for slow.example in time'],
  [2000, 2000, 'timeout', 'no complete response within 2 s (during the DNS lookup)'],
])('In %d ms, a silent resolver has %d', async (timeoutMs, ms, reason, message) => {
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const outbound = loopback({ clock, resolve: () => new Promise(() => {}), timeoutMs })
  const sent = outbound.send(get('http://slow.example/'))
  await clock.advance(ms)
  expect(failure(await sent)).toMatchObject({ reason, message, timings: { dns: ms, connect: 0 } })
  expect(clock.timers()).toBe(0)
})

/** A cached resolver, and how often it asks. */
function counting(answers: Resolve = async () => [v4('8.8.8.8')]) {
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const asked = mock(answers)
  const resolve = cachedResolve(clock, asked)
  return { resolve, advance: clock.advance, calls: () => asked.mock.calls.length }
}

test('A lookup is cached for 30 seconds, for the last 1000 hosts, and shared by callers at once', async () => {
  const { resolve, advance, calls } = counting()
  await Promise.all([resolve('a.example'), resolve('a.example'), resolve('b.example')])
  await advance(29_999)
  await resolve('a.example')
  expect(calls()).toBe(2)
  await advance(1)
  await resolve('a.example')
  expect(calls()).toBe(3)
  const many = counting()
  for (let i = 0; i <= 1000; i++) await many.resolve(`h${i}.example`)
  await many.resolve('h1.example')
  expect(many.calls()).toBe(1001)
  await many.resolve('h0.example')
  expect(many.calls()).toBe(1002)
})

test('A lookup that fails or has more than 100 addresses is not cached', async () => {
  const { resolve, calls } = counting(failing('down'))
  for (let n = 0; n < 2; n++) await expect(resolve('a.example')).rejects.toThrow('down')
  expect(calls()).toBe(2)
  const numbered = (count: number) => Array.from({ length: count }, (_, n) => v4(`8.8.8.${n}`))
  const many = counting(async (host) => numbered(Number.parseInt(host, 10)))
  expect(await many.resolve('100.example')).toHaveLength(100)
  const message = 'DNS lookup failed: 101.example has more than 100 addresses'
  const refused = await loopback({ resolve: many.resolve }).send(get('http://101.example/'))
  expect(failure(refused)).toMatchObject({ reason: 'dns', message })
})
