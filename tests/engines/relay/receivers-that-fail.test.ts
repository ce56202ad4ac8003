import { describe, expect, test } from 'bun:test'
import { createIdentity } from '../../platform/outbound/certificates.ts'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import type { Behaviour } from '../clockwork/raw-target.ts'
import { advanceWaiting, breathe, MINUTE, SECOND } from '../clockwork/support.ts'
import { bootRelay, type Fixture, rest, turnUntil } from './fixture.ts'
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

// biome-ignore lint/suspicious/noExplicitAny: attempts are compared as a whole
type Json = any

/** Sends one message and turns the clock until its first attempt has been written down. */
async function firstAttempt(fixture: Fixture, url: string, hasArrived = () => true) {
  const endpoint = await fixture.createEndpoint(url)
  const message = await fixture.send({ payload: { plain: 'text' } })
  const hasBegun = async () => (await fixture.deliveryOf(message)).status !== 'pending'
  const hasEnded = async () => (await fixture.deliveryOf(message)).attempt_log.length > 0
  await until(hasBegun)
  // Time that is turned before would count as connecting.
  await until(hasArrived)
  await turnUntil(fixture.app, hasEnded)
  await breathe(fixture.app)
  const delivery = await fixture.deliveryOf(message)
  const { request_body, attempt_log } = delivery
  return { endpoint, message, delivery, request_body, attempt: attempt_log[0] as Json }
}

const endOf = ({ started_at, duration_ms }: Json) => Date.parse(started_at) + duration_ms

/** What every attempt tells, whatever came of it: the request as it went out, and its times. */
function expectRequest({ attempt, message, request_body }: Json, url: string) {
  expect(attempt).toMatchObject({
    run: 1,
    number: 1,
    trigger: 'schedule',
    started_at: message.timestamp,
    request: {
      method: 'POST',
      url,
      headers: {
        'Content-Type': 'application/json',
        'webhook-id': message.id,
        'webhook-timestamp': `${Math.floor(Date.parse(message.timestamp) / 1000)}`,
        'webhook-signature': expect.stringMatching(/^v1,/),
        'X-Service-Signature': expect.stringMatching(/^t=\d+,v1=/),
        'X-Service-Event-Type': 'user.created',
        'X-Service-Attempt': '1',
        'X-Service-Trigger': 'schedule',
      },
    },
  })
  expect(JSON.parse(request_body)).toEqual({
    type: 'user.created',
    timestamp: message.timestamp,
    data: { plain: 'text' },
  })
  expect(Object.keys(attempt.timings).toSorted()).toEqual(['connect', 'dns', 'read', 'tls', 'wait'])
  const total = Object.values(attempt.timings as Record<string, number>).reduce((a, b) => a + b, 0)
  expect(Math.abs(total - attempt.duration_ms)).toBeLessThanOrEqual(1)
}

/** It is tried again five seconds after it ended, and not before. */
async function expectRetry(fixture: Fixture, { message, attempt, delivery }: Json) {
  const next = endOf(attempt) + 5 * SECOND
  expect(attempt.next_attempt_at).toBe(new Date(next).toISOString())
  expect(delivery).toMatchObject({
    status: 'retrying',
    attempts: 1,
    next_attempt_at: attempt.next_attempt_at,
    ended_at: null,
  })
  const begun = async () => {
    const { status, attempt_log } = await fixture.deliveryOf(message)
    return attempt_log.length + (status === 'delivering' ? 1 : 0)
  }
  await advanceWaiting(fixture.app, next - fixture.clock.now() - 1)
  expect(await begun()).toBe(1)
  await advanceWaiting(fixture.app, 1)
  await until(async () => (await begun()) === 2)
}

describe('an answer that does not come, or not whole', () => {
  const CASES: [
    what: string,
    behave: Behaviour,
    error: { code: string; message: string },
    response: object | null,
    timings: object,
  ][] = [
    [
      'nothing at all',
      silent,
      {
        code: 'timeout',
        message: 'no complete response within 15 s (while waiting for the response)',
      },
      null,
      { wait: 15_000, read: 0 },
    ],
    [
      'a head that drips',
      drippingHead,
      {
        code: 'timeout',
        message: 'no complete response within 15 s (while waiting for the response)',
      },
      null,
      { wait: 15_000, read: 0 },
    ],
    [
      'a 500 whose body drips',
      drippingBody('500 No'),
      {
        code: 'status',
        message: 'status 500; the body was not complete within 5 s of the response headers',
      },
      { status: 500, body: expect.stringMatching(/^\.+$/) },
      { read: 5000 },
    ],
    [
      'a 500 with an endless body',
      pouring('500 No'),
      { code: 'status', message: 'status 500' },
      { status: 500, body: 'x'.repeat(16_384) },
      {},
    ],
    [
      'a reset before the head',
      resetting,
      { code: 'reset', message: 'the connection closed before a response arrived' },
      null,
      { read: 0 },
    ],
    [
      'a close before the head',
      hangingUp,
      { code: 'reset', message: 'the connection closed before a response arrived' },
      null,
      { read: 0 },
    ],
    [
      'a reset after the head of a 500',
      resettingAfterHead('500 No'),
      { code: 'status', message: 'status 500; the connection closed before the body was complete' },
      { status: 500, body: 'only so mu' },
      {},
    ],
    [
      'what is not HTTP',
      (socket) => void socket.end('SSH-2.0-OpenSSH_9.9\r\n'),
      { code: 'protocol', message: expect.stringContaining('not valid HTTP') },
      null,
      {},
    ],
  ]

  test.each(CASES)('%s', async (_, behave, error, response, timings) => {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(behave)

    const found = await firstAttempt(fixture, target.url, () => target.requests.length > 0)

    expectRequest(found, target.url)
    expect(found.attempt).toMatchObject({ status: 'failed', error, address: '127.0.0.1', timings })
    if (response === null) expect(found.attempt.response).toBeNull()
    else expect(found.attempt.response).toMatchObject(response)
    await expectRetry(fixture, found)
    await until(() => target.requests.length === 2)
  })
})

describe('an answer that says no', () => {
  test.each([
    ['500 Internal Server Error', { code: 'status', message: 'status 500' }],
    ['404 Not Found', { code: 'status', message: 'status 404' }],
    ['401 Unauthorized', { code: 'status', message: 'status 401' }],
    ['429 Too Many Requests', { code: 'status', message: 'status 429' }],
    ['304 Not Modified', { code: 'redirect', message: expect.stringContaining('status 304') }],
  ])('%s', async (status, error) => {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(
      replying(status, { 'X-Trace': 'abc' }, status.startsWith('304') ? '' : 'why not'),
    )

    const found = await firstAttempt(fixture, target.url)

    expectRequest(found, target.url)
    expect(found.attempt).toMatchObject({
      status: 'failed',
      error,
      address: '127.0.0.1',
      response: {
        status: Number(status.slice(0, 3)),
        headers: expect.arrayContaining([['X-Trace', 'abc']]),
        body: status.startsWith('304') ? '' : 'why not',
      },
    })
    await expectRetry(fixture, found)
  })

  test('429 with Retry-After: the sentence says for how long, and the schedule heeds it', async () => {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(replying('429 Slow', { 'Retry-After': '90' }))

    const { attempt, delivery } = await firstAttempt(fixture, target.url)

    expect(attempt.error).toEqual({
      code: 'status',
      message: 'status 429, with a request to wait 90 s',
    })
    expect(Date.parse(attempt.next_attempt_at)).toBe(endOf(attempt) + 90 * SECOND)
    expect(delivery).toMatchObject({ status: 'retrying', next_attempt_at: attempt.next_attempt_at })
    await advanceWaiting(fixture.app, MINUTE)
    expect(target.requests).toHaveLength(1)
  })

  test('410: no attempt follows, and the endpoint is disabled', async () => {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(replying('410 Gone', {}, 'bye'))

    const found = await firstAttempt(fixture, target.url)

    expectRequest(found, target.url)
    expect(found.attempt).toMatchObject({
      status: 'failed',
      error: { code: 'gone', message: 'status 410: the receiver wants no more messages' },
      response: { status: 410, body: 'bye' },
      next_attempt_at: null,
    })
    expect(found.delivery).toMatchObject({ status: 'failed', next_attempt_at: null })
    expect(await fixture.readEndpoint(found.endpoint)).toMatchObject({ disabled_reason: 'gone' })
  })

  test.each(['200 OK', '500 No'])('%s that wants no more of anything', async (status) => {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(replying(status, { 'Webhook-Delivery': 'disable' }))

    const { endpoint, delivery } = await firstAttempt(fixture, target.url)

    expect(delivery).toMatchObject({
      status: status === '200 OK' ? 'succeeded' : 'failed',
      next_attempt_at: null,
    })
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({ disabled_reason: 'gone' })
  })

  test('500 that wants no more of this message', async () => {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(
      replying('500 No', { 'Webhook-Delivery': 'abort-message' }),
    )

    const { endpoint, delivery, attempt } = await firstAttempt(fixture, target.url)

    expect(attempt).toMatchObject({ status: 'failed', next_attempt_at: null })
    expect(delivery).toMatchObject({ status: 'cancelled', attempts: 1, next_attempt_at: null })
    expect(await fixture.readEndpoint(endpoint)).toMatchObject({
      active: true,
      health: { failures_in_a_row: 0 },
    })
  })

  test('a redirect to a private address is written down, not followed', async () => {
    await using fixture = await bootRelay()
    await using inner = startTarget()
    const { port } = new URL(inner.url)
    const location = `http://localhost:${port}/secrets`
    await using target = await startRawTarget(replying('307 Go', { Location: location }))

    const found = await firstAttempt(fixture, target.url)

    expectRequest(found, target.url)
    expect(found.attempt).toMatchObject({
      status: 'failed',
      error: {
        code: 'redirect',
        message: `status 307: redirect to ${location}. Redirects are not followed`,
      },
      response: { status: 307, headers: expect.arrayContaining([['Location', location]]) },
    })
    await expectRetry(fixture, found)
    expect(inner.requests).toEqual([])
  })
})

describe('an answer that says yes', () => {
  const YES: [string, Behaviour, object][] = [
    ['204 without a body', replying('204 No Content'), { status: 204, body: '' }],
    ['202 with a body', replying('202 Accepted', {}, 'got it'), { status: 202, body: 'got it' }],
    [
      'a 200 whose body drips',
      drippingBody('200 OK'),
      { status: 200, body: expect.stringMatching(/^\.+$/) },
    ],
    [
      'a 200 whose body breaks off',
      resettingAfterHead('200 OK'),
      { status: 200, body: 'only so mu' },
    ],
    ['a 200 with an endless body', pouring('200 OK'), { status: 200, body: 'x'.repeat(16_384) }],
  ]

  test.each(YES)('%s has arrived', async (_, behave, response) => {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(behave)

    const found = await firstAttempt(fixture, target.url)

    expectRequest(found, target.url)
    expect(found.attempt).toMatchObject({
      status: 'succeeded',
      error: null,
      response,
      next_attempt_at: null,
    })
    expect(found.attempt.timings.read).toBeLessThanOrEqual(5000)
    expect(found.delivery).toMatchObject({
      status: 'succeeded',
      attempts: 1,
      next_attempt_at: null,
      ended_at: new Date(endOf(found.attempt)).toISOString(),
    })
    await advanceWaiting(fixture.app, 2 * MINUTE)
    expect(target.requests).toHaveLength(1)
  })
})

describe('a receiver that is not reached', () => {
  /** Nothing was answered, and it is tried again as the schedule has it. */
  async function expectUnreached(
    fixture: Fixture,
    url: string,
    error: object,
    address: string | null,
  ) {
    const found = await firstAttempt(fixture, url)
    expectRequest(found, url)
    expect(found.attempt).toMatchObject({ status: 'failed', error, address, response: null })
    await expectRetry(fixture, found)
    await rest(fixture.app)
  }

  test('because nobody listens', async () => {
    await using fixture = await bootRelay()
    const url = await closedPort()

    const error = {
      code: 'connect',
      message: `connection to 127.0.0.1:${new URL(url).port} refused`,
    }
    await expectUnreached(fixture, url, error, '127.0.0.1')
  })

  test('because its name does not resolve', async () => {
    await using fixture = await bootRelay({
      resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
    })

    const error = { code: 'dns', message: expect.stringContaining('gone.example.com') }
    await expectUnreached(fixture, 'http://gone.example.com/hook', error, null)
  })

  test('because its name leads to a private address by now', async () => {
    let address = '127.0.0.1'
    await using fixture = await bootRelay({
      resolve: async () => [{ address, family: 4 as const }],
    })
    await using target = startTarget()
    const url = `http://inner.example.com:${new URL(target.url).port}/hook`
    await fixture.createEndpoint(url)
    const early = await fixture.deliver()
    expect(await fixture.deliveryOf(early)).toMatchObject({
      status: 'succeeded',
      attempt_log: [{ address: '127.0.0.1' }],
    })
    address = '10.0.0.7'

    const late = await fixture.deliver()

    const { status, attempt_log } = await fixture.deliveryOf(late)
    expect(status).toBe('retrying')
    expect(attempt_log).toMatchObject([
      {
        status: 'failed',
        address: null,
        response: null,
        error: {
          code: 'blocked',
          message: expect.stringContaining(
            'inner.example.com resolves to 10.0.0.7, a private address',
          ),
        },
        next_attempt_at: new Date(fixture.clock.now() + 5 * SECOND).toISOString(),
      },
    ])
    expect(target.requests).toHaveLength(1)
  })

  test('because its certificate is self-signed', async () => {
    await using fixture = await bootRelay()
    await using target = await startTlsReceiver(await createIdentity({ ip: '127.0.0.1' }))

    const error = { code: 'tls', message: 'TLS: the certificate is self-signed' }
    await expectUnreached(fixture, target.url, error, '127.0.0.1')

    expect(target.requests).toEqual([])
  })

  test('because it does not speak TLS', async () => {
    await using fixture = await bootRelay()
    await using target = await startRawTarget(silent)
    const url = target.url.replace('http:', 'https:')

    const { attempt } = await firstAttempt(fixture, url)

    expect(attempt).toMatchObject({
      status: 'failed',
      error: { code: 'timeout', message: expect.stringContaining('during the TLS handshake') },
      address: '127.0.0.1',
      response: null,
    })
  })
})

test('custom headers that look like secrets are hidden in the log, and sent as they are', async () => {
  await using fixture = await bootRelay()
  await using target = startTarget(() => new Response('', { status: 500 }))
  await fixture.createEndpoint(target.url, {
    headers: { Authorization: 'Bearer secret', 'X-Plain': 'seen' },
  })

  const { attempt_log } = await fixture.deliveryOf(await fixture.deliver())

  expect(attempt_log[0].request.headers).toMatchObject({
    Authorization: '********',
    'X-Plain': 'seen',
  })
  expect(target.requests[0]?.headers.get('authorization')).toBe('Bearer secret')
  expect(JSON.stringify(attempt_log)).not.toContain('Bearer secret')
})
