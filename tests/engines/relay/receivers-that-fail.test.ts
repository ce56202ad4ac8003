import { expect, test } from 'bun:test'
import { createIdentity } from '../../platform/outbound/certificates.ts'
import { until } from '../../support/binary.ts'
import { startTarget } from '../../support/target.ts'
import { type Behaviour, closedPort, hangingUp, startRawTarget } from '../clockwork/raw-target.ts'
import { isoAt, type Json, type Party, turnUntil, useRelay } from './fixture.ts'
import {
  drippingBody,
  pouring,
  replying,
  resetting,
  resettingAfterHead,
  silent,
  startTlsReceiver,
} from './receivers.ts'
import { SECOND } from './support.ts'

// Replies and deadlines of each kind are in tests/platform/outbound, retries in retries.test.ts.

let address = '127.0.0.1'
const { newTenant } = await useRelay({
  resolve: async (name) => {
    if (name === 'inner.example.com') return [{ address, family: 4 as const }]
    throw Object.assign(new Error('no'), { code: 'ENOTFOUND' })
  },
})

/** Sends one message, turns the clock until its first attempt is stored, and checks its request. */
async function firstAttempt(relay: Party, url: string, step = 0, hasArrived = () => true) {
  const { app, deliveryOf } = relay
  const endpoint = await relay.createEndpoint(url)
  const message = await relay.send({ payload: { plain: 'text' } })
  const isStored = async () => (await deliveryOf(message)).attempt_log.length > 0
  await until(async () => (await deliveryOf(message)).status !== 'pending')
  // Time that is turned before would count as connecting.
  await until(hasArrived)
  await (step ? turnUntil(app, isStored, step) : until(isStored))
  const delivery = await deliveryOf(message)
  const read = await relay.readEndpoint(endpoint)
  await relay.remove(endpoint)
  const [attempt] = delivery.attempt_log
  const headers = { 'webhook-id': message.id, 'X-Service-Attempt': '1' }
  expect(attempt).toMatchObject({
    ...{ run: 1, number: 1, trigger: 'schedule', started_at: message.timestamp },
    request: { method: 'POST', url, headers },
  })
  const { dns, connect, tls, wait, read: reading } = attempt.timings
  const total = dns + connect + tls + wait + reading
  expect(Math.abs(total - attempt.duration_ms)).toBeLessThanOrEqual(1)
  const ended = Date.parse(attempt.started_at) + attempt.duration_ms
  return { delivery, attempt, ended, endpoint: read }
}

/** It waits for its retry, five seconds after it ended. */
function expectRetry({ attempt, delivery, ended }: Json) {
  const next_attempt_at = isoAt(ended + 5 * SECOND)
  expect(attempt).toMatchObject({ status: 'failed', next_attempt_at })
  const retrying = { status: 'retrying', attempts: 1, next_attempt_at, ended_at: null }
  expect(delivery).toMatchObject(retrying)
}

const because = (status: number, body: unknown, headers: unknown = expect.any(Array)) => ({
  code: 'status',
  response: { status, body, headers },
})
const dripped = expect.stringMatching(/^\.+$/)
const traced = expect.arrayContaining([['X-Trace', 'abc']])
const late = { code: 'timeout', timings: { wait: 15_000, read: 0 } }

test.each<[string, Behaviour, { code: string; response?: unknown; timings?: object }]>([
  ['nothing at all', silent, late],
  ['a dripping 500', drippingBody('500 No'), { ...because(500, dripped), timings: { read: 5000 } }],
  ['an endless 500', pouring('500 No'), because(500, 'x'.repeat(16_384))],
  ['a reset before the head', resetting, { code: 'reset' }],
  ['a close before the head', hangingUp, { code: 'reset' }],
  ['a reset after the head', resettingAfterHead('500 No'), because(500, 'only so mu')],
  ['what is not HTTP', (socket) => void socket.end('SSH-2.0\r\n'), { code: 'protocol' }],
  ['a 404', replying('404 No', { 'X-Trace': 'abc' }, 'why'), because(404, 'why', traced)],
  ['a 304', replying('304 Not Modified'), { ...because(304, ''), code: 'redirect' }],
])('An attempt fails and is retried after %s', async (_, behave, failure) => {
  const { code, response = null, timings } = failure
  await using target = await startRawTarget(behave)
  const arrived = () => target.requests.length > 0

  const found = await firstAttempt(await newTenant(), target.url, timings && 1000, arrived)

  expect(found.attempt).toMatchObject({ error: { code }, address: '127.0.0.1' })
  expect(found.attempt.timings).toMatchObject(timings ?? {})
  expect(found.attempt.response).toEqual(response)
  expectRetry(found)
})

test.each<[string, Behaviour, body: unknown]>([
  ['204 without a body', replying('204 No Content'), ''],
  ['202 with a body', replying('202 Accepted', {}, 'got it'), 'got it'],
  ['a 200 whose body drips', drippingBody('200 OK'), dripped],
  ['a 200 that breaks off', resettingAfterHead('200 OK'), 'only so mu'],
])('A message is delivered with %s', async (_, behave, body) => {
  await using target = await startRawTarget(behave)
  const arrived = () => target.requests.length > 0
  const step = body === dripped ? 1000 : 0
  const found = await firstAttempt(await newTenant(), target.url, step, arrived)
  const end = { status: 'succeeded', next_attempt_at: null }
  expect(found.attempt).toMatchObject({ ...end, error: null, response: { body } })
  expect(found.attempt.timings.read).toBeLessThanOrEqual(5000)
  expect(found.delivery).toMatchObject({ ...end, attempts: 1, ended_at: isoAt(found.ended) })
})

const disable = { 'Webhook-Delivery': 'disable' }
test.each<[status: string, headers: Record<string, string>, end: string, reason: string | null]>([
  ['200 OK', disable, 'succeeded', 'gone'],
  ['500 No', disable, 'failed', 'gone'],
  ['500 No', { 'Webhook-Delivery': 'abort-message' }, 'cancelled', null],
])('A receiver that answers %s %j is not tried again', async (status, headers, end, reason) => {
  await using target = await startRawTarget(replying(status, headers))
  const { endpoint, delivery, attempt } = await firstAttempt(await newTenant(), target.url)
  expect(attempt).toMatchObject({ next_attempt_at: null })
  expect(delivery).toMatchObject({ status: end, attempts: 1, next_attempt_at: null })
  const health = { failures_in_a_row: 0 }
  expect(endpoint).toMatchObject({ disabled_reason: reason, active: reason === null, health })
})

test('A redirect is not followed, and says where it leads', async () => {
  await using inner = startTarget()
  const location = `http://localhost:${new URL(inner.url).port}/secrets`
  for (const status of [301, 302, 303, 307]) {
    await using target = await startRawTarget(replying(`${status} Go`, { Location: location }))
    const found = await firstAttempt(await newTenant(), target.url)
    const message = expect.stringContaining(location)
    const headers = expect.arrayContaining([['Location', location]])
    const redirected = { error: { code: 'redirect', message }, response: { status, headers } }
    expect(found.attempt).toMatchObject(redirected)
    expectRetry(found)
  }
  expect(inner.requests).toEqual([])
})

test('A receiver may be out of reach by its port, its name, its certificate or its lack of TLS', async () => {
  await using tls = await startTlsReceiver(await createIdentity({ ip: '127.0.0.1' }))
  await using plain = await startRawTarget(silent)
  for (const [url, code, address, step] of [
    [await closedPort(), 'connect', '127.0.0.1', 0],
    ['http://gone.example.com/hook', 'dns', null, 0],
    [tls.url, 'tls', '127.0.0.1', 0],
    [plain.url.replace('http:', 'https:'), 'timeout', '127.0.0.1', 5000],
  ] as const) {
    const found = await firstAttempt(await newTenant(), url, step)
    expect(found.attempt).toMatchObject({ error: { code }, address, response: null })
    expectRetry(found)
    if (step) expect(found.attempt.error.message).toContain('during the TLS handshake')
  }
  expect(tls.requests).toEqual([])
})

test('A receiver whose name leads to a private address by now is not called', async () => {
  const relay = await newTenant()
  const { deliver, deliveryOf, target } = relay
  await relay.createEndpoint(`http://inner.example.com:${new URL(target.url).port}/hook`)
  const early = { status: 'succeeded', attempt_log: [{ address: '127.0.0.1' }] }
  expect(await deliveryOf(await deliver())).toMatchObject(early)

  address = '10.0.0.7'

  const blocked = { address: null, response: null, error: { code: 'blocked' } }
  const attempt_log = [{ ...blocked, next_attempt_at: relay.at(5) }]
  expect(await deliveryOf(await deliver())).toMatchObject({ status: 'retrying', attempt_log })
  expect(target.requests).toHaveLength(1)
})
