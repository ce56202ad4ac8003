import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { FailureReason, OutboundRequest } from '../../../src/platform/outbound/index.ts'
import { createAuthority, createIdentity } from './certificates.ts'
import {
  type Behaviour,
  drips,
  eventually,
  failure,
  get,
  handClock,
  loopback,
  post,
  pours,
  reply,
  startTarget,
  startTlsTarget,
  writes,
} from './support.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const DOWN = 'HTTP/1.1 503 Down\r\n'
const LENGTH = 'Content-Length: 100\r\n\r\n'
const CHUNKS = 'Transfer-Encoding: chunked\r\n\r\n'
const BEGUN = `${OK}${LENGTH}begun`

const resets =
  (text: string): Behaviour =>
  (socket) =>
    socket.write(text, () => void socket.resetAndDestroy())

/** The same call to the same target, as the scheduler makes it and as a delivery does. */
async function sendBoth(url: string, rest: Partial<OutboundRequest> = {}) {
  const outbound = loopback()
  return Promise.all([
    outbound.send(post(url, 'event', rest)),
    outbound.send(post(url, 'event', { ...rest, headIsEnough: true })),
  ])
}

describe('an answer whose body comes to a bad end is a reply where its head is enough', () => {
  const late = 'the body was not complete within 0.2 s'
  const broken = 'the connection closed before the body was complete'
  const garbled = 'the body is not valid HTTP'

  const endings: [
    title: string,
    behave: Behaviour,
    expected: { status?: number; text?: string | RegExp; trouble: string; reason: FailureReason },
  ][] = [
    ['a head alone', writes(`${OK}${LENGTH}`), { text: '', trouble: late, reason: 'timeout' }],
    ['half a body', writes(BEGUN), { trouble: late, reason: 'timeout' }],
    [
      'a 200 that drips',
      drips(`${OK}\r\n`, 'x'),
      { text: /^x+$/, trouble: late, reason: 'timeout' },
    ],
    [
      'a 503 that drips',
      drips(`${DOWN}${CHUNKS}`, '1\r\nx\r\n'),
      { status: 503, text: /^x+$/, trouble: late, reason: 'timeout' },
    ],
    [
      'a close after the head',
      (s) => s.end(`${OK}${LENGTH}`),
      { text: '', trouble: broken, reason: 'reset' },
    ],
    [
      'a close before the announced length',
      (s) => s.end(BEGUN),
      { trouble: broken, reason: 'reset' },
    ],
    [
      'a close between chunks',
      (s) => s.end(`${DOWN}${CHUNKS}5\r\nbegun\r\n`),
      { status: 503, trouble: broken, reason: 'reset' },
    ],
    ['a reset in the body', resets(BEGUN), { trouble: broken, reason: 'reset' }],
    [
      'a reset after the head',
      resets(`${DOWN}${LENGTH}`),
      { status: 503, text: '', trouble: broken, reason: 'reset' },
    ],
    [
      'no chunk where one should be',
      writes(`${OK}${CHUNKS}ZZ\r\n`),
      { text: '', trouble: garbled, reason: 'protocol' },
    ],
    [
      'a bad chunk after a good one',
      writes(`${OK}${CHUNKS}5\r\nbegun\r\nZZ\r\n`),
      { trouble: garbled, reason: 'protocol' },
    ],
    [
      'trailers without end',
      pours(`${OK}${CHUNKS}5\r\nbegun\r\n0\r\n`, `X-A: ${'a'.repeat(8000)}\r\n`).behave,
      { trouble: garbled, reason: 'protocol' },
    ],
  ]

  test.each(endings)('%s', async (_, behave, { status = 200, text = 'begun', trouble, reason }) => {
    const target = await startTarget(behave)

    const [whole, head] = await sendBoth(target.url, { timeoutMs: 200 })

    expect(failure(whole).reason).toBe(reason)
    const result = reply(head)
    expect(result).toMatchObject({ status, truncated: true, bodyIssue: trouble })
    expect(result.text).toMatch(text)
    expect(result.timings.wait).toBeGreaterThan(0)
    expect(target.requests).toHaveLength(2)
    await eventually(() => target.open() === 0)
  })

  test('over TLS too', async () => {
    const authority = await createAuthority()
    const identity = await createIdentity({ authority, ip: '127.0.0.1' })
    const target = await startTlsTarget(identity, (response) => {
      response.writeHead(200, { 'Content-Length': 100 })
      response.write('begun', () => response.socket?.destroy())
    })

    const outbound = loopback({ ca: authority.cert })
    const url = `https://127.0.0.1:${target.port}/`
    const result = reply(await outbound.send(post(url, 'event', { headIsEnough: true })))

    expect(result).toMatchObject({
      status: 200,
      text: 'begun',
      bodyIssue: 'the connection closed before the body was complete',
    })
  })
})

describe('a body without an end is read to the limit and no further', () => {
  test.each([
    ['bare', `${OK}\r\n`, 'x'.repeat(65_536)],
    ['in chunks', `${OK}${CHUNKS}`, `10000\r\n${'x'.repeat(65_536)}\r\n`],
    ['in chunks of one byte', `${OK}${CHUNKS}`, '1\r\nx\r\n'.repeat(10_000)],
  ])('%s', async (_, start, block) => {
    const { behave, sent } = pours(start, block)
    const target = await startTarget(behave)

    const request = post(target.url, 'event', { headIsEnough: true, maxResponseBytes: 100_000 })
    const result = reply(await loopback().send(request))

    expect(result).toMatchObject({ status: 200, truncated: true, bodyIssue: null })
    expect(result.text).toBe('x'.repeat(100_000))
    await eventually(() => target.open() === 0)
    expect(sent()).toBeLessThan(20_000_000)
  })

  test('a limit of nothing still waits for the head alone', async () => {
    const target = await startTarget(writes(BEGUN))

    const request = post(target.url, 'event', { headIsEnough: true, maxResponseBytes: 0 })
    const result = reply(await loopback().send(request))

    expect(result).toMatchObject({ status: 200, text: '', truncated: true, bodyIssue: null })
  })
})

describe('a complete body is one like any other', () => {
  test.each([
    ['announced', `${OK}Content-Length: 2\r\n\r\nok`, 'ok'],
    ['in chunks', `${OK}${CHUNKS}2\r\nok\r\n0\r\n\r\n`, 'ok'],
    ['that ends with the connection', `${OK}\r\nok`, 'ok'],
    ['that is none', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
  ])('%s', async (_, bytes, text) => {
    const target = await startTarget((socket) => socket.end(bytes))

    for (const result of await sendBoth(target.url, { bodyTimeoutMs: 1000 })) {
      expect(reply(result)).toMatchObject({ text, truncated: false, bodyIssue: null })
    }
  })

  test('a redirect is a reply, never followed, also where its body stalls', async () => {
    const elsewhere = await startTarget(writes(`${OK}\r\n`))
    const location = `Location: ${elsewhere.url}\r\n`
    const target = await startTarget(writes(`HTTP/1.1 307 There\r\n${location}${LENGTH}moved`))

    const request = post(target.url, 'event', { headIsEnough: true, bodyTimeoutMs: 20 })
    const result = reply(await loopback().send(request))

    expect(result).toMatchObject({ status: 307, text: 'moved', truncated: true })
    expect(result.headers).toContainEqual(['Location', elsewhere.url])
    expect([target.requests.length, elsewhere.requests.length]).toEqual([1, 0])
  })
})

describe('a call without a head is no reply, whatever would have been enough', () => {
  const headless: [title: string, behave: Behaviour, reason: FailureReason][] = [
    ['no answer', () => {}, 'timeout'],
    ['half a head', writes(`${OK}X-Half:`), 'timeout'],
    ['a head that drips', drips(OK, 'X-A: b\r\n'), 'timeout'],
    ['an interim answer alone', writes('HTTP/1.1 100 Continue\r\n\r\n'), 'timeout'],
    ['an interim answer, then the end', (s) => s.end('HTTP/1.1 103 Hints\r\n\r\n'), 'reset'],
    ['a closed connection', (s) => s.end(), 'reset'],
    ['a reset', (s) => void s.resetAndDestroy(), 'reset'],
    ['a reset in the head', resets(OK), 'reset'],
    ['another protocol', writes('SSH-2.0-OpenSSH_9.9\r\n'), 'protocol'],
    ['two lengths', writes(`${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!`), 'protocol'],
    [
      'a switch of protocols',
      writes('HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      'protocol',
    ],
  ]

  test.each(headless)('%s', async (_, behave, reason) => {
    const target = await startTarget(behave)

    const results = await sendBoth(target.url, { timeoutMs: 150, bodyTimeoutMs: 1 })

    expect(results.map((result) => failure(result).reason)).toEqual([reason, reason])
    await eventually(() => target.open() === 0)
  })

  test('a certificate that proves nothing', async () => {
    const target = await startTlsTarget(await createIdentity({ ip: '127.0.0.1' }))

    const results = await sendBoth(`https://127.0.0.1:${target.port}/`)

    expect(results.map((result) => failure(result).reason)).toEqual(['tls', 'tls'])
    expect(target.seen.requests).toBe(0)
  })

  test('a name that does not resolve, a port where nobody listens, a URL that is refused', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))
    const gone = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
    gone.stop(true)
    const reasonOf = async (url: string) =>
      failure(await loopback({ resolve }).send(get(url, { headIsEnough: true }))).reason

    expect(await reasonOf('http://nowhere.example.test/')).toBe('dns')
    expect(await reasonOf(`http://127.0.0.1:${gone.port}/`)).toBe('connect')
    expect(await reasonOf('http://10.0.0.1/')).toBe('refused')
  })
})

describe('the time for the body', () => {
  const stalled = async (rest: Partial<OutboundRequest>) => {
    const { clock, turn, timers } = handClock()
    const target = await startTarget(writes(BEGUN))
    const sent = loopback({ clock }).send(
      post(target.url, 'event', { headIsEnough: true, ...rest }),
    )
    // The second timer is set when the head has been read.
    await eventually(() => timers() === 2)
    return { sent, turn, timers, target }
  }

  test('counts from the head, and lets go of the connection', async () => {
    const { sent, turn, timers, target } = await stalled({ timeoutMs: 15_000, bodyTimeoutMs: 5000 })

    turn(4999)
    expect(timers()).toBe(2)
    turn(1)

    expect(reply(await sent)).toMatchObject({
      status: 200,
      text: 'begun',
      truncated: true,
      bodyIssue: 'the body was not complete within 5 s of the response headers',
    })
    expect(timers()).toBe(0)
    await eventually(() => target.open() === 0)
  })

  test('never goes beyond the deadline over the whole call', async () => {
    const { sent, turn, timers } = await stalled({ timeoutMs: 15_000, bodyTimeoutMs: 60_000 })

    turn(15_000)

    expect(reply(await sent).bodyIssue).toBe('the body was not complete within 15 s')
    expect(timers()).toBe(0)
  })

  test('is no concern of a call that wants the whole answer', async () => {
    const target = await startTarget(writes(BEGUN))

    const result = await loopback().send(get(target.url, { timeoutMs: 100, bodyTimeoutMs: 1 }))

    expect(failure(result).message).toBe(
      'no complete response within 0.1 s (while reading the response)',
    )
  })
})

describe('a call that is cut short', () => {
  test('after the head is a reply', async () => {
    const { clock, timers } = handClock()
    const target = await startTarget(writes(BEGUN))
    const abort = new AbortController()
    const rest = { signal: abort.signal, headIsEnough: true, bodyTimeoutMs: 5000 }

    const sent = loopback({ clock }).send(post(target.url, 'event', rest))
    await eventually(() => timers() === 2)
    abort.abort()

    expect(reply(await sent)).toMatchObject({
      status: 200,
      text: 'begun',
      truncated: true,
      bodyIssue: 'the request was cancelled before the body was complete',
    })
    expect(timers()).toBe(0)
    await eventually(() => target.open() === 0)
  })

  test('before the head is none', async () => {
    const target = await startTarget(() => {})
    const abort = new AbortController()

    const sent = sendBoth(target.url, { signal: abort.signal })
    await eventually(() => target.requests.length === 2)
    abort.abort()

    expect((await sent).map((result) => failure(result).reason)).toEqual(['aborted', 'aborted'])
    await eventually(() => target.open() === 0)
  })

  test('before it begins sends nothing', async () => {
    const target = await startTarget(writes(BEGUN))

    const results = await sendBoth(target.url, { signal: AbortSignal.abort() })

    expect(results.map((result) => failure(result).reason)).toEqual(['aborted', 'aborted'])
    // A call that would be made after all is made before this one.
    reply(await loopback().send(get(target.url, { headIsEnough: true, bodyTimeoutMs: 1 })))
    expect(target.requests).toHaveLength(1)
  })

  test('in the same moment is a reply when the head has come as far as this machine', async () => {
    const { clock, turn } = handClock()
    let socket: Socket | undefined
    const target = await startTarget((opened) => {
      socket = opened
    })
    const sent = loopback({ clock }).send(post(target.url, 'event', { headIsEnough: true }))
    await eventually(() => socket !== undefined)

    socket?.write(BEGUN)
    turn(3000)

    expect(reply(await sent)).toMatchObject({ status: 200, text: 'begun', truncated: true })
  })
})
