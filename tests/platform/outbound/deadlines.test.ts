import { expect, spyOn, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { OutboundRequest } from '../../../src/platform/outbound/index.ts'
import { until } from '../../support/binary.ts'
import {
  answer,
  ends,
  failure,
  get,
  handClock,
  loopback,
  post,
  reply,
  resets,
  startTarget,
  writes,
} from './fixture.ts'

const BEGUN = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun'

/** A call whose target has sent half of its body. */
async function stalled(rest: Partial<OutboundRequest>) {
  const { clock, turn, timers } = handClock()
  const target = await startTarget(writes(BEGUN))
  const sent = loopback({ clock, timeoutMs: 30_000 }).send(post(target.url, 'event', rest))
  // With `headIsEnough`, a second timer is set when the head has been read.
  await until(() => (rest.headIsEnough ? timers() === 2 : target.requests.length === 1))
  return { sent, turn, timers, target }
}

const BODY_LATE = 'the body was not complete within'
test.each<[Partial<OutboundRequest>, number, string]>([
  [{}, 30_000, 'no complete response within 30 s'],
  [{ timeoutMs: 100, bodyTimeoutMs: 1 }, 100, 'no complete response within 0.1 s (while reading'],
  [
    { headIsEnough: true, timeoutMs: 15_000, bodyTimeoutMs: 5000 },
    ...([5000, `${BODY_LATE} 5 s of the response headers`] as const),
  ],
  [
    { headIsEnough: true, timeoutMs: 15_000, bodyTimeoutMs: 60_000 },
    ...([15_000, `${BODY_LATE} 15 s`] as const),
  ],
])('A call with %j waits %d ms for a body that never ends: %s', async (rest, ms, message) => {
  const { sent, turn, timers, target } = await stalled(rest)
  turn(ms - 1)
  expect(timers()).toBe(rest.headIsEnough ? 2 : 1)
  turn(1)
  const result = await sent
  if (rest.headIsEnough) {
    expect(reply(result)).toMatchObject({ status: 200, text: 'begun', truncated: true })
    expect(reply(result).bodyIssue).toBe(message)
  } else expect(failure(result).message).toStartWith(message)
  expect(timers()).toBe(0)
  await target.closed()
})

test('A head that has arrived by the deadline is a reply', async () => {
  const { clock, turn } = handClock()
  let socket: Socket | undefined
  const target = await startTarget((opened) => {
    socket = opened
  })
  const sent = loopback({ clock }).send(post(target.url, 'event', { headIsEnough: true }))
  await until(() => socket !== undefined)
  socket?.write(BEGUN)
  turn(3000)
  expect(reply(await sent)).toMatchObject({ status: 200, text: 'begun', truncated: true })
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
  expect(late.timers()).toBe(0)
  for (const { closed } of [target, late.target]) await closed()
})

test('No timer, socket or listener outlives a call, however it ends', async () => {
  const { clock, timers, turn } = handClock()
  const { signal } = new AbortController()
  const listeners = [spyOn(signal, 'addEventListener'), spyOn(signal, 'removeEventListener')]
  const behaviors = [answer('ok'), writes(BEGUN), ends(BEGUN), resets(''), writes('x\r\n')]
  const targets = await Promise.all(behaviors.map(startTarget))
  const outbound = loopback({ clock, timeoutMs: 100 })
  const sent = targets.map(({ url }) => outbound.send(get(url, { signal })))
  await until(() => timers() === 1)
  turn(100)
  await Promise.all(sent)
  expect(timers()).toBe(0)
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

test('The time is measured by phase', async () => {
  const target = await startTarget((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no')
    setTimeout(() => socket.write('k'), 30)
  })
  const { timings } = reply(await loopback().send(get(`http://target.test:${target.port}/`)))
  for (const phase of ['dns', 'connect', 'wait'] as const) expect(timings[phase]).toBeGreaterThan(0)
  expect(timings.tls).toBe(0)
  expect(timings.read).toBeGreaterThan(20)
})
