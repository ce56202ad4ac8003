import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Answer } from '../../support/app.ts'
import { testConfig } from '../../support/config.ts'
import {
  bootRelay,
  count,
  DELIVERIES,
  ENDPOINTS,
  EVENT_TYPES,
  expectDescribed,
  MESSAGES,
  type Relay,
  UNKNOWN_ID,
} from './support.ts'

const { maxBodyBytes } = testConfig().server

/** One fixture for all: what is refused leaves it as it was. */
let relay: Relay
let known: { id: string }
let endpoint: { id: string }
beforeAll(async () => {
  relay = await bootRelay()
  known = await relay.send()
  endpoint = await relay.createEndpoint({ active: false })
})
afterAll(() => relay.end())

const good = { event_type: 'user.created', payload: { n: 1 } }

/** A refusal whose sentence names field and rule, and nothing stored. */
async function expectRefused(asked: Promise<Answer>, status: number, code: string, rule: string) {
  const { status: got, body, headers } = await asked
  expect({ status: got, body }).toEqual({
    status,
    body: {
      error: {
        code,
        message: expect.stringContaining(rule),
        request_id: headers.get('x-request-id'),
      },
    },
  })
  expect(body.error.message).not.toMatch(/^(\w+): \1: /)
  expect(headers.get('content-type')).toStartWith('application/json')
  await expectUntouched()
}

async function expectUntouched() {
  expect((await relay.read(MESSAGES)).data).toEqual([known])
  expect((await relay.read(ENDPOINTS)).data).toHaveLength(1)
  expect(count(relay.app, 'messages')).toBe(1)
  expect(count(relay.app, 'relay_idempotency_keys')).toBe(0)
  expect(count(relay.app, 'relay_event_types')).toBe(1)
  expect(count(relay.app, 'deliveries')).toBe(0)
}

const WORDS = 'event_type: must be words of letters, digits, _ and -'
const DOTTED = 'event_type: must be a dotted name like user.created'
const EVENT_TYPE = [
  [5, DOTTED],
  [null, DOTTED],
  [true, DOTTED],
  [['user.created'], DOTTED],
  [{}, DOTTED],
  ['', WORDS],
  ['.', WORDS],
  ['..', WORDS],
  ['.user', WORDS],
  ['user.', WORDS],
  ['user..created', WORDS],
  ['user created', WORDS],
  [' user.created', WORDS],
  ['user.created ', WORDS],
  ['user.created\n', WORDS],
  ['user\u0000', WORDS],
  ['user/created', WORDS],
  ['user:created', WORDS],
  ['user.*', WORDS],
  ['*', WORDS],
  ['üser.created', WORDS],
  ['user.créated', WORDS],
  ['user.\u0430', WORDS],
  ['user.१', WORDS],
  ['😀', WORDS],
  ['x'.repeat(257), 'event_type: must have at most 256 characters'],
  [`${'a.'.repeat(128)}b`, 'event_type: must have at most 256 characters'],
  [`${'x'.repeat(256)}.`, 'event_type: must have at most 256 characters'],
] as const

const OBJECT = 'payload: must be a JSON object'
const PAYLOAD = [
  [null, OBJECT],
  [[], OBJECT],
  [[{ n: 1 }], OBJECT],
  ['', OBJECT],
  ['{"n":1}', OBJECT],
  [5, OBJECT],
  [0, OBJECT],
  [true, OBJECT],
  [false, OBJECT],
] as const

const LENGTH = 'idempotency_key: must be a string of 1 to 256 characters'
const IDEMPOTENCY_KEY = [
  ['', LENGTH],
  ['x'.repeat(257), LENGTH],
  [null, LENGTH],
  [5, LENGTH],
  [['k'], LENGTH],
  [{}, LENGTH],
] as const

const LIST = 'channels: must be a list of up to 10 channels'
const NAME = 'channels: must be 1 to 128 letters, digits or _ . : -'
const CHANNELS = [
  [null, LIST],
  ['eu', LIST],
  [5, LIST],
  [{ 0: 'eu' }, LIST],
  [Array.from({ length: 11 }, (_, n) => `c${n}`), LIST],
  [Array(11).fill('same'), LIST],
  [[5], 'channels.0: must be the name of a channel'],
  [['eu', null], 'channels.1: must be the name of a channel'],
  [[['eu']], 'channels.0: must be the name of a channel'],
  [[''], NAME],
  [['eu', ''], NAME],
  [['e u'], NAME],
  [['eu\n'], NAME],
  [['eu/west'], NAME],
  [['*'], NAME],
  [['ëu'], NAME],
  [['x'.repeat(129)], NAME],
] as const

const of = (field: string, cases: readonly (readonly [unknown, string])[]) =>
  cases.map(([value, rule]) => [field, value, rule] as const)

describe('an event is not accepted', () => {
  test.each([
    ...of('event_type', EVENT_TYPE),
    ...of('payload', PAYLOAD),
    ...of('idempotency_key', IDEMPOTENCY_KEY),
    ...of('channels', CHANNELS),
  ])('with %s %j', async (field, value, rule) => {
    const body = { ...good, [field]: value }
    for (const api of [relay.acme.live, relay.acme.test])
      await expectRefused(api.post(MESSAGES, body), 400, 'invalid_payload', rule)
  })

  test.each([
    [
      'event_type',
      `event_type: is required and must be ${DOTTED.replace('event_type: must be ', '')}`,
    ],
    ['payload', 'payload: is required and must be a JSON object'],
  ])('without %s', (field, rule) =>
    expectRefused(
      relay.post(MESSAGES, { ...good, [field]: undefined }),
      400,
      'invalid_payload',
      rule,
    ),
  )

  test.each(['{"__proto__":{"event_type":"a.b","payload":{}}}', '{}', '{"Event_Type":"a"}'])(
    'when its fields are somewhere else: %s',
    (text) =>
      expectRefused(
        relay.spelled(text),
        400,
        'invalid_payload',
        'event_type: is required and must be a dotted name like user.created',
      ),
  )

  test('when the last of two payloads is no object', () =>
    expectRefused(
      relay.spelled('{"event_type":"a","payload":{},"payload":[]}'),
      400,
      'invalid_payload',
      OBJECT,
    ))
})

/** Every route that takes a body, with one that it would take. */
const WRITES = [
  ['POST', () => MESSAGES],
  ['POST', () => ENDPOINTS],
  ['PATCH', () => `${ENDPOINTS}/${endpoint.id}`],
  ['POST', () => `${ENDPOINTS}/${endpoint.id}/rotate-secret`],
  ['POST', () => `${ENDPOINTS}/${endpoint.id}/test`],
  ['POST', () => `${ENDPOINTS}/${endpoint.id}/replay`],
] as const

async function submit(method: string, path: string, init: RequestInit) {
  const answer = await relay.app.raw(path, {
    method,
    ...init,
    headers: { authorization: `Bearer ${relay.acme.liveKey}`, ...init.headers },
  })
  if (answer.status !== 404 && answer.status !== 405)
    expectDescribed(relay.document, method.toLowerCase(), path, answer)
  return answer
}

const JSON_TYPE = { 'content-type': 'application/json' }

describe('of a body that is not an object of JSON', () => {
  test.each(['[]', `[${JSON.stringify(good)}]`, '"text"', '5', 'true'])(
    '%j is refused',
    async (body) => {
      for (const [method, path] of WRITES)
        await expectRefused(
          submit(method, path(), { body, headers: JSON_TYPE }),
          400,
          'invalid_payload',
          'body: must be ',
        )
    },
  )

  test.each(['null', ''])('%j is refused where a body is asked for', async (body) => {
    for (const path of [MESSAGES, ENDPOINTS, `${ENDPOINTS}/${endpoint.id}/replay`])
      await expectRefused(
        submit('POST', path, { body, headers: JSON_TYPE }),
        400,
        'invalid_payload',
        'body: must be a JSON object',
      )
  })

  test.each([
    '{',
    '{"event_type": }',
    'event_type=n',
    '{"a":1}{',
    "{'a':1}",
    '\u0000',
    '{"event_type":"a","payload":{},}',
    '{"event_type":"a","payload":{"n":01}}',
    '{"event_type":"a","payload":{"n":NaN}}',
    '{"event_type":"a","payload":{"n":"\n"}}',
    '{"event_type":"a","payload":{}} // done',
    '\u00a0{"event_type":"a","payload":{}}',
  ])('%j is refused as malformed', async (body) => {
    for (const [method, path] of WRITES)
      await expectRefused(
        submit(method, path(), { body, headers: JSON_TYPE }),
        400,
        'invalid_payload',
        'body: must be JSON',
      )
  })

  test.each([
    ['a lone byte', [0xff]],
    ['a cut letter', [0xc3]],
    ['an overlong letter', [0xc0, 0xaf]],
    ['a coded surrogate', [0xed, 0xa0, 0x80]],
  ])('%s, which is no UTF-8, is refused', async (_, bytes) => {
    const [before, after] = ['{"event_type":"a","payload":{"n":"', '"}}']
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
    for (const [method, path] of WRITES)
      await expectRefused(
        submit(method, path(), { body, headers: JSON_TYPE }),
        400,
        'invalid_payload',
        'body: must be UTF-8',
      )
  })

  test.each(['{"a":"\\ud800"}', '{"\\udc00":1}', '{"a":["x\\ud83dx"]}'])(
    'half a surrogate pair in %s is refused',
    (payload) =>
      expectRefused(
        relay.spelled(`{"event_type":"a","payload":${payload}}`),
        400,
        'invalid_payload',
        'body: must not contain half a surrogate pair',
      ),
  )

  test('one nested deeper than 64 levels is refused, in lists and in objects', async () => {
    const lists = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    for (const payload of [`{"a":${lists(63)}}`, objects(64), `{"a":${lists(100_000)}}`])
      await expectRefused(
        relay.spelled(`{"event_type":"a","payload":${payload}}`),
        400,
        'invalid_payload',
        'body: must not be nested deeper than 64 levels',
      )
  })
})

test('a payload that is nested as deep as can be arrives as it was sent, and can be read', async () => {
  await using other = await bootRelay()
  await other.createEndpoint({ format: 'raw' })
  for (const payload of [
    `{"a":${'['.repeat(62)}${']'.repeat(62)}}`,
    `${'{"a":'.repeat(63)}1${'}'.repeat(63)}`,
  ]) {
    const { status, body } = await other.spelled(`{"event_type":"a","payload":${payload}}`)
    expect(status).toBe(202)
    await other.delivered()
    expect(other.target.requests.at(-1)?.body).toBe(payload)
    const read = await other.read(`${MESSAGES}/${body.id}`)
    expect(JSON.stringify(read.payload)).toBe(payload)
  }
})

describe('a body that is not declared as plain JSON answers 415', () => {
  const body = JSON.stringify(good)

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
    'json',
    'text/json',
    'application/jsonx',
    '',
  ])('%j', async (type) => {
    for (const [method, path] of WRITES)
      await expectRefused(
        submit(method, path(), { body, headers: { 'content-type': type } }),
        415,
        'unsupported_media_type',
        'application/json',
      )
  })

  test('no type at all', async () => {
    for (const [method, path] of WRITES)
      await expectRefused(
        submit(method, path(), { body: Buffer.from(body) }),
        415,
        'unsupported_media_type',
        'Content-Type: must be application/json',
      )
  })

  test.each(['gzip', 'br', 'deflate'])('coded with %s', async (coding) => {
    for (const [method, path] of WRITES)
      await expectRefused(
        submit(method, path(), { body, headers: { ...JSON_TYPE, 'content-encoding': coding } }),
        415,
        'unsupported_media_type',
        'Content-Encoding: must not be set',
      )
  })
})

test.each([
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON',
  'application/vnd.acme+json',
  'application/cloudevents+json',
])('a body may be declared as %s', async (type) => {
  await using other = await bootRelay()
  const answer = await other.spelled(JSON.stringify(good), { 'content-type': type })
  expect(answer).toMatchObject({ status: 202 })
})

describe.each(['resend', 'cancel'])('%s, which asks for no body,', (verb) => {
  test.each([
    ['that is malformed', 400, '{', {}],
    ['of another type', 415, 'a=b', { 'content-type': 'text/plain' }],
    ['that is too large', 413, 'x'.repeat(maxBodyBytes + 1), {}],
  ])('refuses one %s with %d, and the document says so', async (_, status, body, headers) => {
    const path = `${DELIVERIES}/${UNKNOWN_ID}/${verb}`
    const answer = await submit('POST', path, { body, headers: { ...JSON_TYPE, ...headers } })
    expect(answer.status).toBe(status)
  })
})

describe('a body over server.max_body answers 413', () => {
  test.each(['declared', 'streamed'])('%s', async (how) => {
    for (const [method, path] of WRITES) {
      const text = JSON.stringify({ ...good, note: 'x'.repeat(maxBodyBytes) })
      const headers = { 'content-type': 'text/plain' }
      const init =
        how === 'declared'
          ? { body: text, headers: { ...headers, 'content-length': `${text.length}` } }
          : { body: new Blob([text]).stream(), headers }
      await expectRefused(
        submit(method, path(), init),
        413,
        'payload_too_large',
        `body: must be at most ${maxBodyBytes} bytes`,
      )
    }
  })

  test('from the first byte on that is too many, wherever the limit is', async () => {
    await using other = await bootRelay({ flags: { 'server-max-body': '2KB' } })
    const limit = testConfig({ 'server-max-body': '2KB' }).server.maxBodyBytes
    const ofSize = (bytes: number) => {
      const [before, after] = ['{"event_type":"a","payload":{"n":"', '"}}']
      return `${before}${'x'.repeat(bytes - before.length - after.length)}${after}`
    }

    expect(await other.spelled(ofSize(limit + 1))).toMatchObject({
      status: 413,
      body: { error: { code: 'payload_too_large' } },
    })
    expect(await other.spelled(ofSize(limit))).toMatchObject({ status: 202 })
  })
})

const MADE_UP = 'MTIzNDU2Nzg5'

/** Every list that is read page by page. */
const LISTS = [
  ['messages', () => MESSAGES],
  ['endpoints', () => ENDPOINTS],
  ['deliveries', () => DELIVERIES],
  ['deliveries of a message', () => `${MESSAGES}/${known.id}/deliveries`],
  ['event types', () => EVENT_TYPES],
] as const

describe.each(LISTS)('the list of %s', (_, path) => {
  test.each(['0', '00', '-1', '1.5', '1.0', 'abc', '1e2', '', '%205', '0x10', '+5', 'NaN', '١'])(
    'refuses the limit %j',
    (limit) =>
      expectRefused(
        relay.get(`${path()}?limit=${limit}`),
        400,
        'invalid_request',
        'limit: must be a whole number of at least 1',
      ),
  )

  test.each(['1', '20', '100', '101', '1000', '99999999999999999999999'])(
    'takes the limit %s',
    async (limit) => {
      expect(await relay.get(`${path()}?limit=${limit}`)).toMatchObject({ status: 200 })
    },
  )

  test.each(['', 'x', 'null', '0', '1', 'undefined', MADE_UP, '%00', '../..', '😀'])(
    'refuses the cursor %j, which no list gave out',
    (cursor) =>
      expectRefused(
        relay.get(`${path()}?cursor=${encodeURIComponent(cursor)}`),
        400,
        'invalid_request',
        'cursor: must be a cursor from this list',
      ),
  )
})

describe('a cursor of one list', () => {
  /** A relay in which every list has more than one page, and the first cursor of each. */
  async function bootCursors() {
    const other = await bootRelay()
    other.target.answers(() => new Response('no', { status: 500 }))
    for (let n = 0; n < 2; n++) {
      await other.createEndpoint()
      await other.send({ event_type: `type.${n}` })
    }
    const { id } = await other.send()
    const lists = {
      messages: MESSAGES,
      endpoints: ENDPOINTS,
      deliveries: DELIVERIES,
      'event types': EVENT_TYPES,
    }
    const cursors = new Map<string, string>()
    for (const [name, path] of Object.entries(lists)) {
      const { next_cursor } = await other.read(`${path}?limit=1`)
      expect(next_cursor, name).toBeString()
      cursors.set(name, next_cursor)
    }
    return { other, lists, cursors, ofMessage: `${MESSAGES}/${id}/deliveries` }
  }

  test('is refused by every other', async () => {
    const { other, lists, cursors } = await bootCursors()
    await using _ = other
    for (const [name, path] of Object.entries(lists))
      for (const [owner, cursor] of cursors) {
        const { status, body } = await other.get(`${path}?cursor=${cursor}`)
        const where = `cursor of ${owner} for ${name}`
        expect([status, body.error?.code], where).toEqual(
          owner === name ? [200, undefined] : [400, 'invalid_request'],
        )
      }
  })

  test('is refused when a character of it is changed, missing or added', async () => {
    const { other, lists, cursors } = await bootCursors()
    await using _ = other
    for (const [name, path] of Object.entries(lists)) {
      const cursor = cursors.get(name) as string
      const changed = `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`
      for (const bad of [changed, cursor.slice(1), cursor.slice(0, -1), `${cursor}A`])
        expect(await other.get(`${path}?cursor=${bad}`), `${name}: ${bad}`).toMatchObject({
          status: 400,
          body: { error: { code: 'invalid_request' } },
        })
    }
  })
})

describe('a filter of deliveries', () => {
  test.each(['waiting', 'leased', 'PENDING', '', 'pending,failed', '0'])(
    'refuses the status %j',
    (status) =>
      expectRefused(
        relay.get(`${DELIVERIES}?status=${status}`),
        400,
        'invalid_request',
        'status: must be one of pending, delivering, retrying, held, succeeded, failed, cancelled',
      ),
  )

  test.each(['x', '', '%00'])('finds nothing for the endpoint %j', async (id) => {
    expect(await relay.read(`${DELIVERIES}?endpoint_id=${id}`)).toEqual({
      data: [],
      has_more: false,
      next_cursor: null,
    })
  })
})

describe('a method that a path does not have', () => {
  test.each([
    ['PUT', MESSAGES, 'GET, POST'],
    ['DELETE', MESSAGES, 'GET, POST'],
    ['DELETE', `${MESSAGES}/x`, 'GET'],
    ['PATCH', `${MESSAGES}/x`, 'GET'],
    ['POST', EVENT_TYPES, 'GET'],
    ['PUT', `${ENDPOINTS}/x`, 'GET, PATCH, DELETE'],
    ['GET', `${ENDPOINTS}/x/test`, 'POST'],
    ['DELETE', `${DELIVERIES}/x`, 'GET'],
    ['GET', `${DELIVERIES}/x/resend`, 'POST'],
    ['PUT', `${DELIVERIES}/x/cancel`, 'POST'],
  ])('%s %s answers 405 and says which it has', async (method, path, allowed) => {
    const answer = submit(method, path, {})
    await expectRefused(answer, 405, 'method_not_allowed', `use ${allowed}`)
    expect((await answer).headers.get('allow')).toBe(allowed)
  })

  test.each(['/v1/relay', '/v1/relay/', '/v1/relay/nothing', `${MESSAGES}/x/y`, `${MESSAGES}/`])(
    'and %s is no route at all',
    (path) => expectRefused(submit('PUT', path, {}), 404, 'not_found', 'no such route'),
  )
})
