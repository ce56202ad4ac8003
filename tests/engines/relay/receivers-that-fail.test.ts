import { describe, expect, test } from 'bun:test'
import { createIdentity } from '../../platform/outbound/certificates.ts'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import type { Behaviour } from '../clockwork/raw-target.ts'
import { advanceWaiting, breathe } from '../clockwork/support.ts'
import { bootRelay, isoAt, type Json, MINUTE, type Party, SECOND, turnUntil } from './fixture.ts'
import {
  closedPort,
  drippingBody,
  drippingHead,
  hangingUp,
  pouring,
  replying,
  resetting,
  resettingAfterHead,
  silent,
  startRawTarget,
  startTlsReceiver,
} from './receivers.ts'

/** Sends one message and turns the clock until its first attempt is stored. */
async function firstAttempt(party: Party, url: string, hasArrived = () => true) {
  const { app, createEndpoint, send, deliveryOf } = party
  const endpoint = await createEndpoint(url)
  const message = await send({ payload: { plain: 'text' } })
  await until(async () => (await deliveryOf(message)).status !== 'pending')
  // Time that is turned before would count as connecting.
  await until(hasArrived)
  await turnUntil(app, async () => (await deliveryOf(message)).attempt_log.length > 0)
  await breathe(app)
  const delivery = await deliveryOf(message)
  const [attempt] = delivery.attempt_log
  expectRequest(attempt, message, url)
  return { endpoint, message, delivery, attempt }
}

const endOf = ({ started_at, duration_ms }: Json) => Date.parse(started_at) + duration_ms

/** What every attempt has, whatever came of it: the request as it was sent, and its times. */
function expectRequest(attempt: Json, message: Json, url: string) {
  expect(attempt).toMatchObject({
    run: 1,
    number: 1,
    trigger: 'schedule',
    started_at: message.timestamp,
    request: {
      method: 'POST',
      url,
      headers: { 'webhook-id': message.id, 'X-Service-Attempt': '1' },
    },
  })
  expect(Object.keys(attempt.timings).toSorted()).toEqual(['connect', 'dns', 'read', 'tls', 'wait'])
  const total = Object.values(attempt.timings as Record<string, number>).reduce((a, b) => a + b, 0)
  expect(Math.abs(total - attempt.duration_ms)).toBeLessThanOrEqual(1)
}

/** It is tried again five seconds after it ended, and not before. */
async function expectRetry({ app, deliveryOf }: Party, { message, attempt, delivery }: Json) {
  const next = endOf(attempt) + 5 * SECOND
  const next_attempt_at = isoAt(next)
  expect(attempt).toMatchObject({ next_attempt_at })
  const retrying = { status: 'retrying', attempts: 1, next_attempt_at, ended_at: null }
  expect(delivery).toMatchObject(retrying)
  const begun = async () => {
    const { status, attempt_log } = await deliveryOf(message)
    return attempt_log.length + (status === 'delivering' ? 1 : 0)
  }
  await advanceWaiting(app, next - app.clock.now() - 1)
  expect(await begun()).toBe(1)
  await advanceWaiting(app, 1)
  await until(async () => (await begun()) === 2)
}

type Failure = [what: string, Behaviour, code: string, response: object | null, timings: object]
const NO = { status: 500 }

test.each<Failure>([
  ['nothing at all', silent, 'timeout', null, { wait: 15_000, read: 0 }],
  ['a head that drips', drippingHead, 'timeout', null, { wait: 15_000, read: 0 }],
  [
    'a 500 whose body drips',
    drippingBody('500 No'),
    'status',
    { ...NO, body: expect.stringMatching(/^\.+$/) },
    { read: 5000 },
  ],
  ['an endless 500', pouring('500 No'), 'status', { ...NO, body: 'x'.repeat(16_384) }, {}],
  ['a reset before the head', resetting, 'reset', null, { read: 0 }],
  ['a close before the head', hangingUp, 'reset', null, { read: 0 }],
  [
    'a reset after the head of a 500',
    resettingAfterHead('500 No'),
    'status',
    { ...NO, body: 'only so mu' },
    {},
  ],
  [
    'what is not HTTP',
    (socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
    'protocol',
    null,
    {},
  ],
  ...['500 Internal Server Error', '404 Not Found', '401 Unauthorized'].map((status): Failure => {
    const headers = expect.arrayContaining([['X-Trace', 'abc']])
    const response = { status: Number(status.slice(0, 3)), headers, body: 'why not' }
    return [status, replying(status, { 'X-Trace': 'abc' }, 'why not'), 'status', response, {}]
  }),
  ['304 Not Modified', replying('304 Not Modified'), 'redirect', { status: 304, body: '' }, {}],
])('an attempt fails and is retried after %s', async (_, behave, code, response, timings) => {
  await using relay = await bootRelay()
  await using target = await startRawTarget(behave)

  const found = await firstAttempt(relay, target.url, () => target.requests.length > 0)

  const failed = { status: 'failed', error: { code }, address: '127.0.0.1', timings }
  expect(found.attempt).toMatchObject(failed)
  if (response === null) expect(found.attempt.response).toBeNull()
  else expect(found.attempt.response).toMatchObject(response)
  await expectRetry(relay, found)
  await until(() => target.requests.length === 2)
})

describe('a receiver', () => {
  test('that asks to wait is tried again when it asks for', async () => {
    await using relay = await bootRelay()
    await using target = await startRawTarget(replying('429 Slow', { 'Retry-After': '90' }))

    const { attempt } = await firstAttempt(relay, target.url)

    expect(attempt.error).toEqual({
      code: 'status',
      message: 'status 429, with a request to wait 90 s',
    })
    expect(Date.parse(attempt.next_attempt_at)).toBe(endOf(attempt) + 90 * SECOND)
    await advanceWaiting(relay.app, MINUTE)
    expect(target.requests).toHaveLength(1)
  })

  const disable = { 'Webhook-Delivery': 'disable' }
  const abort = { 'Webhook-Delivery': 'abort-message' }
  test.each<[status: string, headers: Record<string, string>, ends: string, reason: string | null]>(
    [
      ['410 Gone', {}, 'failed', 'gone'],
      ['200 OK', disable, 'succeeded', 'gone'],
      ['500 No', disable, 'failed', 'gone'],
      ['500 No', abort, 'cancelled', null],
    ],
  )('that answers %s %j is not tried again', async (status, headers, ends, disabled_reason) => {
    await using relay = await bootRelay()
    await using target = await startRawTarget(replying(status, headers))

    const { endpoint, delivery, attempt } = await firstAttempt(relay, target.url)

    expect(attempt).toMatchObject({ next_attempt_at: null })
    expect(delivery).toMatchObject({ status: ends, attempts: 1, next_attempt_at: null })
    const { active, health, ...read } = await relay.readEndpoint(endpoint)
    expect(read).toMatchObject({ disabled_reason })
    expect(active).toBe(disabled_reason === null)
    expect(health.failures_in_a_row).toBe(0)
  })

  test('that redirects to a private address is not followed', async () => {
    await using relay = await bootRelay()
    await using inner = startTarget()
    const location = `http://localhost:${new URL(inner.url).port}/secrets`
    await using target = await startRawTarget(replying('307 Go', { Location: location }))

    const found = await firstAttempt(relay, target.url)

    expect(found.attempt).toMatchObject({
      status: 'failed',
      error: { code: 'redirect', message: expect.stringContaining(location) },
      response: { status: 307, headers: expect.arrayContaining([['Location', location]]) },
    })
    await expectRetry(relay, found)
    expect(inner.requests).toEqual([])
  })
})

test.each<[string, Behaviour, object]>([
  ['204 without a body', replying('204 No Content'), { status: 204, body: '' }],
  ['202 with a body', replying('202 Accepted', {}, 'got it'), { status: 202, body: 'got it' }],
  [
    'a 200 whose body drips',
    drippingBody('200 OK'),
    { status: 200, body: expect.stringMatching(/^\.+$/) },
  ],
  ['a 200 that breaks off', resettingAfterHead('200 OK'), { status: 200, body: 'only so mu' }],
  ['an endless 200', pouring('200 OK'), { status: 200, body: 'x'.repeat(16_384) }],
])('a message is delivered with %s', async (_, behave, response) => {
  await using relay = await bootRelay()
  await using target = await startRawTarget(behave)

  const { attempt, delivery } = await firstAttempt(relay, target.url)

  const end = { error: null, response, next_attempt_at: null }
  expect(attempt).toMatchObject({ status: 'succeeded', ...end })
  expect(attempt.timings.read).toBeLessThanOrEqual(5000)
  expect(delivery).toMatchObject({
    status: 'succeeded',
    attempts: 1,
    next_attempt_at: null,
    ended_at: isoAt(endOf(attempt)),
  })
  await advanceWaiting(relay.app, 2 * MINUTE)
  expect(target.requests).toHaveLength(1)
})

describe('a receiver is not reached', () => {
  test('because of its port, its name or its certificate', async () => {
    const lost = Object.assign(new Error('no'), { code: 'ENOTFOUND' })
    await using target = await startTlsReceiver(await createIdentity({ ip: '127.0.0.1' }))
    for (const [url, code, address] of [
      [await closedPort(), 'connect', '127.0.0.1'],
      ['http://gone.example.com/hook', 'dns', null],
      [target.url, 'tls', '127.0.0.1'],
    ] as const) {
      await using relay = await bootRelay({ resolve: () => Promise.reject(lost) })
      const found = await firstAttempt(relay, url)
      const failed = { status: 'failed', error: { code }, address, response: null }
      expect(found.attempt).toMatchObject(failed)
      await expectRetry(relay, found)
      await relay.rest()
    }
    expect(target.requests).toEqual([])
  })

  test('because it does not speak TLS', async () => {
    await using relay = await bootRelay()
    await using target = await startRawTarget(silent)

    const { attempt } = await firstAttempt(relay, target.url.replace('http:', 'https:'))

    const error = { code: 'timeout', message: expect.stringContaining('during the TLS handshake') }
    expect(attempt).toMatchObject({ error, address: '127.0.0.1', response: null })
  })

  test('because its name leads to a private address by now', async () => {
    let address = '127.0.0.1'
    await using relay = await bootRelay({ resolve: async () => [{ address, family: 4 as const }] })
    const { createEndpoint, deliver, deliveryOf, target, clock } = relay
    await createEndpoint(`http://inner.example.com:${new URL(target.url).port}/hook`)
    const early = { status: 'succeeded', attempt_log: [{ address: '127.0.0.1' }] }
    expect(await deliveryOf(await deliver())).toMatchObject(early)

    address = '10.0.0.7'

    const { status, attempt_log } = await deliveryOf(await deliver())
    expect(status).toBe('retrying')
    expect(attempt_log).toMatchObject([
      {
        status: 'failed',
        address: null,
        response: null,
        error: { code: 'blocked' },
        next_attempt_at: isoAt(clock.now() + 5 * SECOND),
      },
    ])
    expect(target.requests).toHaveLength(1)
  })
})
