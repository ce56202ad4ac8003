import { describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import { systemClock } from '../../../src/platform/clock.ts'
import type { OutboundRequest } from '../../../src/platform/outbound/index.ts'
import {
  answer,
  type Behavior,
  ends,
  eventually,
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
  await eventually(() => (rest.headIsEnough ? timers() === 2 : target.requests.length === 1))
  return { sent, turn, timers, target }
}

test('One deadline holds for all phases of a call', async () => {
  const { sent, turn, timers, target } = await stalled({})
  turn(29_999)
  expect(timers()).toBe(1)
  turn(1)
  expect(failure(await sent)).toMatchObject({
    reason: 'timeout',
    message: expect.stringContaining('no complete response within 30 s'),
  })
  expect(timers()).toBe(0)
  await target.closed()
})

test('Where the head is enough, the time for the body counts from the head', async () => {
  const times = { headIsEnough: true, timeoutMs: 15_000, bodyTimeoutMs: 5000 }
  const { sent, turn, timers, target } = await stalled(times)
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
  await target.closed()
})

test('The time for the body never exceeds the deadline of the call', async () => {
  const times = { headIsEnough: true, timeoutMs: 15_000, bodyTimeoutMs: 60_000 }
  const { sent, turn, timers } = await stalled(times)
  turn(15_000)
  expect(reply(await sent).bodyIssue).toBe('the body was not complete within 15 s')
  expect(timers()).toBe(0)
})

test('A call that wants the whole answer has no separate time for the body', async () => {
  const target = await startTarget(writes(BEGUN))
  const result = await loopback().send(get(target.url, { timeoutMs: 100, bodyTimeoutMs: 1 }))
  expect(failure(result).message).toBe(
    'no complete response within 0.1 s (while reading the response)',
  )
})

test('A head that has arrived by the deadline is a reply', async () => {
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

describe('A call that is aborted', () => {
  test('before it begins sends nothing', async () => {
    const target = await startTarget(() => {})
    for (const headIsEnough of [false, true]) {
      const request = get(target.url, { signal: AbortSignal.abort(), headIsEnough })
      expect(failure(await loopback().send(request)).reason).toBe('aborted')
    }
    expect(target.requests).toEqual([])
  })

  test('before the head has no reply', async () => {
    const target = await startTarget(() => {})
    const { signal, abort } = controlled()
    const sent = [false, true].map((headIsEnough) =>
      loopback().send(get(target.url, { signal, headIsEnough })),
    )
    await eventually(() => target.requests.length === 2)
    abort()
    for (const result of await Promise.all(sent))
      expect(failure(result)).toMatchObject({
        reason: 'aborted',
        message: 'the request was cancelled (while waiting for the response)',
      })
    await target.closed()
  })

  test('after the head has a reply where that is enough', async () => {
    const { signal, abort } = controlled()
    const { sent, timers, target } = await stalled({
      signal,
      headIsEnough: true,
      bodyTimeoutMs: 5000,
    })
    abort()
    expect(reply(await sent)).toMatchObject({
      status: 200,
      text: 'begun',
      truncated: true,
      bodyIssue: 'the request was cancelled before the body was complete',
    })
    expect(timers()).toBe(0)
    await target.closed()
  })

  function controlled() {
    const controller = new AbortController()
    return { signal: controller.signal, abort: () => controller.abort() }
  }
})

test('No timer, socket or listener outlives a call', async () => {
  const timers = new Set<symbol>()
  const clock: typeof systemClock = {
    ...systemClock,
    after: (ms, fn) => {
      const id = Symbol()
      timers.add(id)
      const cancel = systemClock.after(ms, () => {
        timers.delete(id)
        fn()
      })
      return () => {
        timers.delete(id)
        cancel()
      }
    },
  }
  const { signal } = new AbortController()
  const listeners = { added: 0, removed: 0 }
  const [add, remove] = [signal.addEventListener, signal.removeEventListener]
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.added++
    add.apply(signal, args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.removed++
    remove.apply(signal, args)
  }
  const silent: Behavior = () => {}
  const behaviors = [answer('ok'), silent, writes(BEGUN), ends(BEGUN), resets(''), writes('x\r\n')]
  const targets = await Promise.all(behaviors.map(startTarget))
  const outbound = loopback({ clock, timeoutMs: 100 })

  await Promise.all(targets.map(({ url }) => outbound.send(get(url, { signal }))))

  expect(timers.size).toBe(0)
  expect(listeners).toEqual({ added: targets.length, removed: targets.length })
  for (const { closed } of targets) await closed()
})

test('400 calls are in flight at once', async () => {
  const texts = Array.from({ length: 400 }, (_, i) => `call ${i}`)
  const waiting: (() => void)[] = []
  const target = await startTarget((socket, request) => {
    waiting.push(() => answer(request.split('\r\n\r\n')[1] ?? '')(socket, request))
    if (waiting.length === texts.length) for (const go of waiting) go()
  })
  const outbound = loopback({ timeoutMs: 10_000 })
  const results = await Promise.all(texts.map((text) => outbound.send(post(target.url, text))))
  expect(results.map((result) => reply(result).text)).toEqual(texts)
  await target.closed()
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
