import { expect, spyOn, test } from 'bun:test'
import { gzipSync } from 'node:zlib'
import type { FailureReason, OutboundRequest } from '../../../src/platform/outbound/index.ts'
import { until } from '../../support/binary.ts'
import { createTestClock } from '../../support/clock.ts'
import { freePort } from '../../support/port.ts'
import { answer, type Behavior, drips, ends, pours, resets, writes } from './behaviors.ts'
import { failure, get, loopback, post, reply, startTarget } from './fixture.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const DOWN = 'HTTP/1.1 503 Down\r\n'
const NONE = 'HTTP/1.1 204 No\r\n'
const HINTS = 'HTTP/1.1 103 Hints\r\n\r\n'
const SWITCH = 'HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'
const LENGTH = 'Content-Length: 100\r\n\r\n'
const CHUNKS = 'Transfer-Encoding: chunked\r\n\r\n'
const BEGUN = `${OK}${LENGTH}begun`
const TWO_LENGTHS = 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n'
const LONG_LINE = `X-A: ${'a'.repeat(8000)}\r\n`

/** The results of a call that wants the whole answer and of one to which its head is enough. */
async function sendBoth(url: string, timeoutMs = 3000) {
  const { send } = loopback({ timeoutMs })
  const [whole, head] = [post(url, 'event'), post(url, 'event', { headIsEnough: true })]
  return Promise.all([send(whole), send(head)])
}

const headless: [title: string, behave: Behavior, reason: FailureReason][] = [
  ['no answer', () => {}, 'timeout'],
  ['half a head', writes(`${OK}X-Half:`), 'timeout'],
  ['interim answers without end', drips('', HINTS), 'timeout'],
  ['another protocol', writes('SSH-2.0-OpenSSH_9.9\r\n'), 'protocol'],
  ['two lengths', writes(`${OK}${TWO_LENGTHS}ok!`), 'protocol'],
  ['a length and chunks', writes(`${OK}Content-Length: 2\r\n${CHUNKS}0\r\n\r\n`), 'protocol'],
  ['a switch of protocols', writes(SWITCH), 'protocol'],
  ['a head without end', drips(OK, LONG_LINE), 'protocol'],
]
test.each(headless)('Without a whole head there is no reply: %s', async (_, behave, reason) => {
  const target = await startTarget(behave)
  const results = await sendBoth(target.url, reason === 'timeout' ? 50 : 3000)
  expect(results.map((result) => failure(result).reason)).toEqual([reason, reason])
  expect(target.requests).toHaveLength(2)
  await target.closed()
})

const LATE = 'the body was not complete within 0.1 s'
const BROKEN = 'the connection closed before the body was complete'
const GARBLED = 'the body is not valid HTTP'
const TRAILERS = pours(`${OK}${CHUNKS}5\r\nbegun\r\n0\r\n`, LONG_LINE)
const halves: [string, Behavior, FailureReason, number, text: string | RegExp, issue: string][] = [
  ['half a body', writes(BEGUN), 'timeout', 200, 'begun', LATE],
  ['a 503 that drips', drips(`${DOWN}${CHUNKS}`, '1\r\nx\r\n'), 'timeout', 503, /^x+$/, LATE],
  ['a close between chunks', ends(`${DOWN}${CHUNKS}5\r\nbegun\r\n`), 'reset', 503, 'begun', BROKEN],
  ['a reset in the body', resets(BEGUN), 'reset', 200, 'begun', BROKEN],
  ['trailers without end', TRAILERS.behave, 'protocol', 200, 'begun', GARBLED],
]
test.each(halves)(
  'A broken body is no reply: %s',
  async (_, behave, reason, status, text, bodyIssue) => {
    const target = await startTarget(behave)
    const [whole, head] = await sendBoth(target.url, reason === 'timeout' ? 100 : 3000)
    expect(failure(whole).reason).toBe(reason)
    expect(reply(head)).toMatchObject({ status, truncated: true, bodyIssue })
    expect(reply(head).text).toMatch(text)
    expect(reply(head).timings.wait).toBeGreaterThan(0)
    await target.closed()
  },
)

const interim = (lines: string) => `${lines}\r\n\r\n${DOWN}Content-Length: 2\r\n\r\nno`
test.each([
  ['more than announced', `${OK}Content-Length: 2\r\n\r\nokgarbage`, 200, 'ok'],
  ['chunks', `${OK}${CHUNKS}2\r\nok\r\n3\r\nay!\r\n0\r\n\r\n`, 200, 'okay!'],
  ['the end of the connection', `${OK}\r\nok`, 200, 'ok'],
  ['a body after 204', `${NONE}\r\nsurplus`, 204, ''],
  ['a head of 40 KB', `${OK}${LONG_LINE.repeat(5)}Content-Length: 2\r\n\r\nok`, 200, 'ok'],
  ['a 103 and a 199', `${HINTS}${interim('HTTP/1.1 199 B')}`, 503, 'no'],
  ['an upgrade', interim('HTTP/1.1 100 Go\r\nConnection: upgrade\r\nUpgrade: x'), 503, 'no'],
])('A whole answer is a reply: %s', async (_, bytes, status, text) => {
  const inOne = await startTarget(ends(bytes))
  const apart = await startTarget(async (socket) => {
    socket.setNoDelay(true)
    for (const part of bytes.split(/(?<=\r\n\r\n)/))
      await new Promise((resolve) => socket.write(part, () => setImmediate(resolve)))
    socket.end()
  })
  for (const { url } of [inOne, apart])
    for (const result of await sendBoth(url))
      expect(reply(result)).toMatchObject({ status, text, truncated: false, bodyIssue: null })
})

test('A redirect is a reply and not followed', async () => {
  const elsewhere = await startTarget(answer('never'))
  const head = `HTTP/1.1 308 Moved\r\nLocation: ${elsewhere.url}\r\n${LENGTH}moved`
  const target = await startTarget(ends(head))
  const [, result] = await sendBoth(target.url)
  expect(reply(result)).toMatchObject({ status: 308, text: 'moved', truncated: true })
  expect(reply(result).headers).toContainEqual(['Location', elsewhere.url])
  expect([target.requests.length, elsewhere.requests.length]).toEqual([2, 0])
})

test('Headers keep their order and repetitions', async () => {
  const head = 'HTTP/1.1 204 No\r\nSet-Cookie: a=1\r\nX-B: é\r\nSet-Cookie: b=2\r\n\r\n'
  const target = await startTarget((socket) => socket.write(head, 'latin1'))
  expect(reply(await loopback().send(get(target.url))).headers).toEqual([
    ['Set-Cookie', 'a=1'],
    ['X-B', 'é'],
    ['Set-Cookie', 'b=2'],
  ])
})

test('Too many interim answers are not read until the deadline', async () => {
  const { behave, sent } = pours('', HINTS.repeat(1000))
  const target = await startTarget(behave)
  const result = await loopback().send(get(target.url, { headIsEnough: true }))
  expect(failure(result).reason).toBe('protocol')
  await target.closed()
  expect(sent()).toBeLessThan(50_000_000)
})

test.each([
  [5, 'exact', 'exact', false],
  [5, 'longer', 'longe', true],
  [0, 'a', '', true],
])('A body is cut at %d bytes: %p', async (maxResponseBytes, text, kept, truncated) => {
  const target = await startTarget(answer(text))
  for (const headIsEnough of [false, true]) {
    const request = get(target.url, { maxResponseBytes, headIsEnough })
    const result = reply(await loopback().send(request))
    expect(result).toMatchObject({ status: 200, text: kept, truncated, bodyIssue: null })
  }
  await target.closed()
})

test.each([
  ['chunks', `${OK}${CHUNKS}`, `10000\r\n${'x'.repeat(65_536)}\r\n`],
  ['chunks of one byte', `${OK}${CHUNKS}`, '1\r\nx\r\n'.repeat(10_000)],
])('An endless body is read to the limit and no further: %s', async (_, start, block) => {
  const { behave, sent } = pours(start, block)
  const target = await startTarget(behave)
  for (const headIsEnough of [false, true]) {
    const request = get(target.url, { headIsEnough, maxResponseBytes: 100_000 })
    const result = reply(await loopback().send(request))
    expect(result).toMatchObject({ status: 200, truncated: true, bodyIssue: null })
    expect(result.text).toBe('x'.repeat(100_000))
  }
  await target.closed()
  expect(sent()).toBeLessThan(40_000_000)
})

test('A compressed body is kept as it is', async () => {
  const bomb = gzipSync(Buffer.alloc(20_000_000))
  const target = await startTarget((socket) => {
    socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
    socket.write(bomb)
  })
  const result = reply(await loopback().send(get(target.url)))
  expect(result.truncated).toBe(false)
  expect(Buffer.compare(result.body, bomb)).toBe(0)
  expect(target.requests[0]?.toLowerCase()).not.toContain('accept-encoding')
})

test('A port on which nothing listens refuses the connection', async () => {
  const port = freePort()
  for (const scheme of ['http', 'https'])
    expect(failure(await loopback().send(get(`${scheme}://127.0.0.1:${port}/`)))).toMatchObject({
      reason: 'connect',
      message: `connection to 127.0.0.1:${port} refused`,
      address: '127.0.0.1',
    })
})

/** A call whose target has sent half of its body. */
async function stalled(rest: Partial<OutboundRequest>) {
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const target = await startTarget(writes(BEGUN))
  const sent = loopback({ clock, timeoutMs: 30_000 }).send(post(target.url, 'event', rest))
  // With `headIsEnough`, a second timer is set when the head has been read.
  await until(() => (rest.headIsEnough ? clock.timers() === 2 : target.requests.length === 1))
  return { sent, clock, target }
}

const BODY_LATE = 'the body was not complete within'
test.each<[Partial<OutboundRequest>, number, string]>([
  [{}, 30_000, 'no complete response within 30 s'],
  [{ timeoutMs: 100, bodyTimeoutMs: 1 }, 100, 'no complete response within 0.1 s'],
  [
    { headIsEnough: true, timeoutMs: 15_000, bodyTimeoutMs: 5000 },
    ...([5000, `${BODY_LATE} 5 s of the response headers`] as const),
  ],
  [
    { headIsEnough: true, timeoutMs: 15_000, bodyTimeoutMs: 60_000 },
    ...([15_000, `${BODY_LATE} 15 s`] as const),
  ],
])('A call with %j waits %d ms for a body that never ends: %s', async (rest, ms, message) => {
  const { sent, clock, target } = await stalled(rest)
  await clock.advance(ms - 1)
  expect(clock.timers()).toBe(rest.headIsEnough ? 2 : 1)
  await clock.advance(1)
  const result = await sent
  if (rest.headIsEnough) {
    expect(reply(result)).toMatchObject({ status: 200, text: 'begun', truncated: true })
    expect(reply(result).bodyIssue).toBe(message)
  } else expect(failure(result).message).toStartWith(message)
  expect(clock.timers()).toBe(0)
  await target.closed()
})

test('A call that is aborted has no reply, unless its head has arrived and is enough', async () => {
  const target = await startTarget(() => {})
  const controller = new AbortController()
  const both = (signal: AbortSignal) =>
    [false, true].map((headIsEnough) => loopback().send(get(target.url, { signal, headIsEnough })))
  for (const sent of both(AbortSignal.abort())) expect(failure(await sent).reason).toBe('aborted')
  expect(target.requests).toEqual([])
  const sent = both(controller.signal)
  await until(() => target.requests.length === 2)
  const half = { signal: controller.signal, headIsEnough: true, bodyTimeoutMs: 5000 }
  const late = await stalled(half)
  controller.abort()
  const message = 'the request was cancelled (while waiting for the response)'
  for (const result of await Promise.all(sent))
    expect(failure(result)).toMatchObject({ reason: 'aborted', message })
  const bodyIssue = 'the request was cancelled before the body was complete'
  expect(reply(await late.sent)).toMatchObject({ text: 'begun', truncated: true, bodyIssue })
  expect(late.clock.timers()).toBe(0)
  for (const { closed } of [target, late.target]) await closed()
})

test('No timer, socket or listener outlives a call, however it ends', async () => {
  const clock = createTestClock('2026-03-01T12:00:00Z')
  const { signal } = new AbortController()
  const listeners = [spyOn(signal, 'addEventListener'), spyOn(signal, 'removeEventListener')]
  const behaviors = [answer('ok'), writes(BEGUN), ends(BEGUN), resets(''), writes('x\r\n')]
  const targets = await Promise.all(behaviors.map(startTarget))
  const outbound = loopback({ clock, timeoutMs: 100 })
  const sent = targets.map(({ url }) => outbound.send(get(url, { signal })))
  await until(() => clock.timers() === 1)
  await clock.advance(100)
  await Promise.all(sent)
  expect(clock.timers()).toBe(0)
  for (const { mock } of listeners) expect(mock.calls).toHaveLength(targets.length)
  for (const { closed } of targets) await closed()
})

test('100 calls are in flight at once', async () => {
  const texts = Array.from({ length: 100 }, (_, i) => `call ${i}`)
  const waiting: (() => void)[] = []
  const target = await startTarget((socket, request) => {
    waiting.push(() => answer(request.split('\r\n\r\n')[1] ?? '')(socket, request))
    if (waiting.length === texts.length) for (const go of waiting) go()
  })
  const { send } = loopback()
  const results = await Promise.all(texts.map((text) => send(post(target.url, text))))
  expect(results.map((result) => reply(result).text)).toEqual(texts)
})
