import { describe, expect, test } from 'bun:test'
import { systemClock } from '../../../src/platform/clock.ts'
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
  startTarget,
  writes,
} from './support.ts'

const HEAD = 'HTTP/1.1 200 OK\r\n'
const BEGUN = `${HEAD}Content-Length: 100\r\n\r\nbegun`

/** Timers that were set and neither fired nor were called off. */
function countingClock() {
  const pending = new Set<symbol>()
  const clock: typeof systemClock = {
    ...systemClock,
    after: (ms, fn) => {
      const id = Symbol()
      pending.add(id)
      const cancel = systemClock.after(ms, () => {
        pending.delete(id)
        fn()
      })
      return () => {
        pending.delete(id)
        cancel()
      }
    },
  }
  return { clock, pending: () => pending.size }
}

describe('an answer that is not whole by the deadline is no reply', () => {
  const slow: [title: string, behave: Behaviour, phase: string][] = [
    ['no answer', () => {}, 'while waiting for the response'],
    ['half a head', writes(`${HEAD}X-Half:`), 'while waiting for the response'],
    ['a head that drips', drips(HEAD, 'X-A: b\r\n'), 'while waiting for the response'],
    ['a head alone', writes(`${HEAD}Content-Length: 9\r\n\r\n`), 'while reading the response'],
    ['half a body', writes(BEGUN), 'while reading the response'],
    ['a body that drips', drips(`${HEAD}\r\n`, 'x'), 'while reading the response'],
    [
      'interim answers without end',
      drips('', 'HTTP/1.1 103 Early Hints\r\n\r\n'),
      'while waiting for the response',
    ],
  ]

  test.each(slow)('%s', async (_, behave, phase) => {
    const target = await startTarget(behave)

    const result = failure(await loopback().send(get(target.url, { timeoutMs: 200 })))

    expect(result.reason).toBe('timeout')
    expect(result.message).toBe(`no complete response within 0.2 s (${phase})`)
    await eventually(() => target.open() === 0)
  })

  test('the deadline is one over all phases', async () => {
    const { clock, turn, timers } = handClock()
    const target = await startTarget(writes(BEGUN))
    const sent = loopback({ clock, timeoutMs: 30_000 }).send(get(target.url))
    await eventually(() => target.requests.length === 1)

    turn(29_999)
    expect(timers()).toBe(1)
    turn(1)

    expect(failure(await sent).message).toContain('no complete response within 30 s')
    expect(timers()).toBe(0)
    await eventually(() => target.open() === 0)
  })
})

describe('an answer that breaks off is no reply', () => {
  const broken: [title: string, behave: Behaviour, reason: string, message: string][] = [
    ['a closed connection', (s) => s.end(), 'reset', 'before a response arrived'],
    ['a reset', (s) => void s.resetAndDestroy(), 'reset', 'before a response arrived'],
    ['half a head', (s) => s.end(HEAD), 'reset', 'before a response arrived'],
    ['half a body', (s) => s.end(BEGUN), 'reset', 'before the response was complete'],
    [
      'half a chunked body',
      (s) => s.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n`),
      'reset',
      'before the response was complete',
    ],
    [
      'a reset in the body',
      (s) => s.write(BEGUN, () => setTimeout(() => s.resetAndDestroy(), 10)),
      'reset',
      'before the response was complete',
    ],
  ]

  test.each(broken)('%s', async (_, behave, reason, message) => {
    const target = await startTarget(behave)

    const result = failure(await loopback().send(post(target.url, 'abc')))

    expect(result.reason).toBe(reason as typeof result.reason)
    expect(result.message).toContain(message)
    expect(target.requests).toHaveLength(1)
    await eventually(() => target.open() === 0)
  })
})

describe('an answer that is not HTTP is no reply', () => {
  const garbled: [title: string, behave: Behaviour][] = [
    ['another protocol', writes('SSH-2.0-OpenSSH_9.9\r\n')],
    ['two lengths', writes(`${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok!`)],
    [
      'a length and chunks',
      writes(`${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    ],
    ['a bad chunk', writes(`${HEAD}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`)],
    [
      'a switch of protocols',
      writes('HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
    ['a head without end', drips(HEAD, `X-A: ${'a'.repeat(8000)}\r\n`)],
  ]

  test.each(garbled)('%s', async (_, behave) => {
    const target = await startTarget(behave)

    const result = failure(await loopback().send(get(target.url)))

    expect(result.reason).toBe('protocol')
    await eventually(() => target.open() === 0)
  })
})

test('interim answers at full speed are not read until the deadline', async () => {
  const { behave, sent } = pours('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000))
  const target = await startTarget(behave)

  const result = failure(await loopback().send(get(target.url, { headIsEnough: true })))

  expect(result.reason).toBe('protocol')
  expect(result.message).toBe('the server sends too many interim responses')
  await eventually(() => target.open() === 0)
  expect(sent()).toBeLessThan(50_000_000)
})

test('a port where nobody listens refuses the connection', async () => {
  const target = await startTarget(() => {})
  const gone = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  gone.stop(true)

  for (const scheme of ['http', 'https']) {
    const result = await loopback().send(get(`${scheme}://127.0.0.1:${gone.port}/`))
    expect(failure(result)).toMatchObject({
      reason: 'connect',
      message: `connection to 127.0.0.1:${gone.port} refused`,
      address: '127.0.0.1',
    })
  }
  expect(target.open()).toBe(0)
})

describe('the caller can cut a call short', () => {
  test('while it waits', async () => {
    const target = await startTarget(() => {})
    const abort = new AbortController()

    const sent = loopback().send(get(target.url, { signal: abort.signal }))
    await eventually(() => target.requests.length === 1)
    abort.abort()

    expect(failure(await sent)).toMatchObject({
      reason: 'aborted',
      message: 'the request was cancelled (while waiting for the response)',
    })
    await eventually(() => target.open() === 0)
  })

  test('before it begins', async () => {
    const target = await startTarget(() => {})

    const result = await loopback().send(get(target.url, { signal: AbortSignal.abort() }))

    expect(failure(result).reason).toBe('aborted')
    expect(target.requests).toEqual([])
  })
})

test('whatever the target does, no timer, socket or listener outlives the call', async () => {
  const { clock, pending } = countingClock()
  const outbound = loopback({ clock, timeoutMs: 100 })
  const abort = new AbortController()
  const listeners = { added: 0, removed: 0 }
  const add = abort.signal.addEventListener.bind(abort.signal)
  const remove = abort.signal.removeEventListener.bind(abort.signal)
  abort.signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners.added++
    add(...args)
  }
  abort.signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners.removed++
    remove(...args)
  }
  const behaviours: Behaviour[] = [
    writes(`${HEAD}Content-Length: 2\r\n\r\nok`),
    () => {},
    writes(BEGUN),
    (socket) => socket.end(BEGUN),
    (socket) => void socket.resetAndDestroy(),
    writes('nonsense\r\n'),
  ]
  const targets = await Promise.all(behaviours.map(startTarget))

  await Promise.all(targets.map(({ url }) => outbound.send(get(url, { signal: abort.signal }))))

  expect(pending()).toBe(0)
  expect(listeners).toEqual({ added: targets.length, removed: targets.length })
  await eventually(() => targets.every((target) => target.open() === 0))
})
