import { expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { OutboundRequest } from '../../../src/platform/outbound/index.ts'
import { until } from '../../support/binary.ts'
import { createTestClock } from '../../support/clock.ts'
import { answer, type Behavior, writes } from './behaviors.ts'
import { createAuthority, createIdentity } from './certificates.ts'
import { failure, get, loopback, post, reply, startTarget, startTlsTarget } from './fixture.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const LENGTH = 'Content-Length: 2\r\n'
const pooled = (url: string, rest: Partial<OutboundRequest> = {}) =>
  post(url, 'event', { tenantId: 'acme', reusesConnection: true, headIsEnough: true, ...rest })

const standingClock = () => createTestClock('2026-03-01T12:00:00Z')

/** Sends two requests, the second after `between`, and returns the number of connections. */
async function connectionsOf(
  behave: Behavior,
  { between = async () => {}, rest = {}, second = {} }: Between = {},
) {
  const clock = standingClock()
  const outbound = loopback({ clock })
  const target = await startTarget(behave)
  const first = reply(await outbound.send(pooled(target.url, rest)))
  await between(clock)
  const last = reply(await outbound.send(pooled(target.url, { ...rest, ...second })))
  expect(target.requests.length).toBe(2)
  expect([first.text, last.text]).toEqual(['ok', 'ok'])
  return outbound.connections()
}

interface Between {
  between?: (clock: ReturnType<typeof standingClock>) => Promise<void>
  /** What differs from the usual request, in both and in the second. */
  rest?: Partial<OutboundRequest>
  second?: Partial<OutboundRequest>
}

test.each<[title: string, answerOf: Behavior]>([
  ['a length', answer('ok')],
  ['chunks', writes(`${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: a\r\n\r\n`)],
  ['a hint of its timeout', answer('ok', 'Connection: keep-alive\r\nKeep-Alive: timeout=2\r\n')],
  ['an interim response', writes(`HTTP/1.1 103 Hints\r\n\r\n${OK}${LENGTH}\r\nok`)],
])('A connection is used again after a response with %s', async (_, behave) => {
  const counts = await connectionsOf(behave)
  expect(counts).toEqual({ opened: 1, resumed: 0, reused: 1, lost: 0, idle: 1 })
})

const closing = (head: string) => writes(`${head}\r\nok`)
test.each<[title: string, behave: Behavior, rest?: Partial<OutboundRequest>]>([
  ['Connection: close', closing(`${OK}${LENGTH}Connection: x, Close\r\n`)],
  ['HTTP/1.0', closing(`HTTP/1.0 200 OK\r\n${LENGTH}Connection: keep-alive\r\n`)],
  ['surplus bytes', closing(`${OK}${LENGTH}\r\nokHTTP/1.1 200 OK\r\n${LENGTH}`)],
  ['a body beyond the limit', answer('okay'), { maxResponseBytes: 2 }],
  ['a timeout of one second', answer('ok', 'Keep-Alive: timeout=1\r\n')],
])('A connection is closed after a response with %s', async (_, behave, rest = {}) => {
  expect(await connectionsOf(behave, { rest })).toMatchObject({ opened: 2, reused: 0, idle: 0 })
})

test.each<[title: string, head: string, ms: number, opened: number]>([
  ['4 s', '', 3999, 1],
  ['4 s', '', 4000, 2],
  ['a second less than the server says', 'Keep-Alive: max=9, timeout=20\r\n', 18_999, 1],
  ['a second less than the server says', 'Keep-Alive: timeout=20\r\n', 19_000, 2],
  ['at most 30 s', 'Keep-Alive: timeout=600\r\n', 30_000, 2],
])('An idle connection is kept for %s%s (%d ms)', async (_, head, ms, opened) => {
  const counts = await connectionsOf(answer('ok', head), { between: (clock) => clock.advance(ms) })
  expect(counts).toMatchObject({ opened, reused: 2 - opened })
})

test('Idle connections are closed in time although no further call is made', async () => {
  const clock = standingClock()
  const target = await startTarget(answer('ok'))
  const outbound = loopback({ clock })
  await outbound.send(pooled(target.url))
  await clock.advance(4500)
  await target.closed()
  expect([outbound.connections().idle, clock.timers()]).toEqual([0, 0])
})

test('At the end, idle connections are closed and no timer is left', async () => {
  const clock = standingClock()
  const target = await startTarget(answer('ok'))
  const outbound = loopback({ clock })
  await outbound.send(pooled(target.url))
  outbound.end()
  await target.closed()
  expect([outbound.connections().idle, clock.timers()]).toEqual([0, 0])
})

test('A call without a tenant or without reuse has a connection of its own', async () => {
  for (const rest of [{ tenantId: undefined }, { reusesConnection: false }])
    expect(await connectionsOf(answer('ok'), { second: rest })).toMatchObject({
      opened: 2,
      idle: 1,
    })
})

test('Tenants, host names, addresses and schemes share no connections', async () => {
  let address = '127.0.0.1'
  const target = await startTarget(answer('ok'))
  const outbound = loopback({ resolve: async () => [{ address, family: 4 }] })
  const at = (name: string) => `http://${name}:${target.port}/`
  reply(await outbound.send(pooled(at('a.test'))))
  reply(await outbound.send(pooled(at('b.test'))))
  reply(await outbound.send(pooled(at('a.test'), { tenantId: 'other' })))
  expect(outbound.connections()).toMatchObject({ opened: 3, reused: 0, idle: 3 })
  const secure = pooled(`https://a.test:${target.port}/`, { timeoutMs: 50 })
  expect(failure(await outbound.send(secure)).message).toContain('during the TLS handshake')
  address = '127.0.0.2'
  failure(await outbound.send(pooled(at('a.test'))))
  expect(outbound.connections().reused).toBe(0)
})

test('The guard refuses a name that leads elsewhere by now, whatever connection is open', async () => {
  let address = '127.0.0.1'
  const target = await startTarget(answer('ok'))
  const outbound = loopback({ resolve: async () => [{ address, family: 4 }] })
  reply(await outbound.send(pooled(`http://a.test:${target.port}/`)))
  address = '10.0.0.1'
  expect(failure(await outbound.send(pooled(`http://a.test:${target.port}/`)))).toMatchObject({
    reason: 'refused',
  })
  expect(target.requests).toHaveLength(1)
})

test('A reused connection has no connect phase', async () => {
  const outbound = loopback()
  const target = await startTarget(answer('ok'))
  const [first, second] = [
    reply(await outbound.send(pooled(target.url))),
    reply(await outbound.send(pooled(target.url))),
  ]
  expect(first.timings.connect).toBeGreaterThan(0)
  expect(second.timings).toMatchObject({ connect: 0, tls: 0 })
  expect(second.timings.wait).toBeGreaterThan(0)
})

/** A target that treats each request by its number on its connection. */
function perConnection(treat: (socket: Socket, nth: number) => void): Behavior {
  const counts = new Map<Socket, number>()
  const ok = answer('ok')
  return (socket, request) => {
    const nth = (counts.get(socket) ?? 0) + 1
    counts.set(socket, nth)
    if (nth === 1) ok(socket, request)
    treat(socket, nth)
  }
}

const dies = (last: (socket: Socket) => void) =>
  perConnection((socket, nth) => {
    if (nth > 1) last(socket)
  })

test.each<[title: string, behave: Behavior]>([
  ['ends', dies((socket) => socket.end())],
  ['is reset', dies((socket) => socket.resetAndDestroy())],
  ['ends with 408', dies((socket) => socket.end('HTTP/1.1 408 Late\r\nConnection: close\r\n\r\n'))],
])('A request goes on over a fresh connection when a reused one %s', async (_, behave) => {
  const sockets = new Set<Socket>()
  const target = await startTarget((socket, request) => {
    sockets.add(socket)
    behave(socket, request)
  })
  const outbound = loopback()
  for (let n = 0; n < 3; n++) expect(reply(await outbound.send(pooled(target.url))).text).toBe('ok')
  expect(outbound.connections()).toMatchObject({ opened: 3, reused: 2, lost: 2, idle: 1 })
})

test('A request is sent a second time at most, and never after a byte of a response', async () => {
  const outbound = loopback()
  let isDown = false
  const target = await startTarget((socket, request) =>
    isDown ? socket.resetAndDestroy() : answer('ok')(socket, request),
  )
  reply(await outbound.send(pooled(target.url)))
  isDown = true
  expect(failure(await outbound.send(pooled(target.url))).reason).toBe('reset')
  expect(target.requests).toHaveLength(3)
  const half = await startTarget(dies((socket) => socket.end('HTTP/1.1 2')))
  reply(await outbound.send(pooled(half.url)))
  expect(failure(await outbound.send(pooled(half.url))).reason).toBe('reset')
  expect(half.requests).toHaveLength(2)
})

test('A timeout on a reused connection closes the other ones to its target', async () => {
  const behave = perConnection(() => {})
  const target = await startTarget(behave)
  const outbound = loopback()
  await Promise.all([outbound.send(pooled(target.url)), outbound.send(pooled(target.url))])
  expect(outbound.connections().idle).toBe(2)
  const result = await outbound.send(pooled(target.url, { timeoutMs: 50 }))
  expect(failure(result).reason).toBe('timeout')
  expect(outbound.connections()).toMatchObject({ reused: 1, idle: 0 })
})

test('What arrives on an idle connection is never taken for the next response', async () => {
  const forged = `${OK}Content-Length: 6\r\n\r\nforged`
  const target = await startTarget((socket, request) => {
    answer('ok')(socket, request)
    setImmediate(() => socket.write(forged))
  })
  const outbound = loopback()
  for (let n = 0; n < 5; n++) {
    expect(reply(await outbound.send(pooled(target.url))).text).toBe('ok')
    await until(() => outbound.connections().idle === 0)
  }
  expect(outbound.connections()).toMatchObject({ opened: 5, reused: 0 })
})

test('Data that has arrived but was not read yet is found before the next request', async () => {
  const sockets: Socket[] = []
  const noisy = await startTarget((socket, request) => {
    sockets.push(socket)
    answer('ok')(socket, request)
  })
  const clock = standingClock()
  const outbound = loopback({ clock })
  for (const last of [(socket: Socket) => socket.write('x'), (socket: Socket) => socket.end()]) {
    reply(await outbound.send(pooled(noisy.url)))
    const { lost, reused } = outbound.connections()
    await clock.advance(50)
    last(sockets.at(-1) as Socket)
    reply(await outbound.send(pooled(noisy.url)))
    expect(outbound.connections()).toMatchObject({ lost, reused })
  }
})

test('Idle connections are limited per target and per tenant', async () => {
  const waiting: (() => void)[] = []
  const target = await startTarget((socket, request) => {
    waiting.push(() => answer('ok')(socket, request))
    if (waiting.length >= 40) for (const go of waiting.splice(0)) go()
  })
  const outbound = loopback()
  const all = (name: string) =>
    Promise.all(
      Array.from({ length: 40 }, () => outbound.send(pooled(`http://${name}:${target.port}/`))),
    )
  await all('host-0.test')
  expect(outbound.connections().idle).toBe(32)
  for (let n = 1; n < 10; n++) await all(`host-${n}.test`)
  expect(outbound.connections().idle).toBe(256)
})

const authority = await createAuthority()
const identity = await createIdentity({ authority, name: 'a.test' })

test('A TLS session is resumed by its tenant alone, for the name that was verified', async () => {
  const target = await startTlsTarget(identity)
  const clock = standingClock()
  const outbound = loopback({ ca: authority.cert, clock })
  const call = (name: string, rest: Partial<OutboundRequest> = {}) =>
    outbound.send(get(`https://${name}:${target.port}/`, { tenantId: 'acme', ...rest }))
  const resumed = async (rest?: Partial<OutboundRequest>) => {
    expect(reply(await call('a.test', rest)).text).toBe('over tls')
    return outbound.connections().resumed
  }
  expect([await resumed(), await resumed(), await resumed({ tenantId: 'other' })]).toEqual([
    0, 1, 1,
  ])
  expect(await resumed({ tenantId: undefined })).toBe(1)
  expect(failure(await call('b.test')).reason).toBe('tls')
  await clock.advance(10 * 60_000)
  expect(await resumed()).toBe(1)
})
