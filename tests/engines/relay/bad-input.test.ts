import { describe, expect, test } from 'bun:test'
import { useApp } from '../../support/app.ts'
import { testConfig } from '../../support/config.ts'
import { bootRelay, DELIVERIES, MESSAGES } from './fixture.ts'

// What is wrong by type, bounds or absence, and pages, are in tests/contract.

const app = await useApp()
const key = async () => (await (await app.tenant()).key('relay', 'live')).key
const client = async () => app.client(await key())
const good = { event_type: 'user.created', payload: { n: 1 } }

const refused = (field: string) => ({
  status: 400,
  body: {
    error: {
      code: 'invalid_payload',
      message: expect.stringMatching(RegExp(`^${field}: (?!${field}:)`)),
    },
  },
})

const EVENT_TYPES = [
  '.',
  '..',
  '.user',
  'user.',
  'user..created',
  'user created',
  ' user.created',
  'user.created\n',
  'user\u0000',
  'user/created',
  'user:created',
  'user.*',
  'üser.created',
  'user.\u0430',
  'user.१',
  '😀',
  `${'a.'.repeat(128)}b`,
]
const CHANNELS = [
  [''],
  ['eu', ''],
  ['e u'],
  ['eu\n'],
  ['eu/west'],
  ['*'],
  ['ëu'],
  ['x'.repeat(129)],
]

test.each([
  ['event_type', EVENT_TYPES],
  ['payload', [[{ n: 1 }], '{"n":1}', 0]],
  ['channels', CHANNELS],
] as const)('A message is refused by the name of the field %s', async (field, values) => {
  const api = await client()
  for (const value of values)
    expect(await api.post(MESSAGES, { ...good, [field]: value }), `${value}`).toMatchObject(
      refused(field),
    )
  expect((await api.get(MESSAGES)).body.data).toEqual([])
})

/** Posts the text as it is. */
async function post(body: BodyInit, type = 'application/json') {
  const headers = { authorization: `Bearer ${await key()}`, 'content-type': type }
  return app.raw(MESSAGES, { method: 'POST', headers, body })
}

const around = (payload: string) => `{"event_type":"a","payload":${payload}}`

describe('A message is refused', () => {
  test.each([
    ['event_type', '{"__proto__":{"event_type":"a.b","payload":{}}}'],
    ['event_type', '{"Event_Type":"a"}'],
    ['payload', '{"event_type":"a","payload":{},"payload":[]}'],
    ['body', `${around('{}')} // done`],
    ['body', `\u00a0${around('{}')}`],
    ['body', around('{"n":01}')],
    ['body', around('{"n":"\n"}')],
    ['body', around('{"\\udc00":1}')],
    ['body', around(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`)],
    ['body', around(`${'{"a":'.repeat(64)}1${'}'.repeat(64)}`)],
  ])('by %s if it is %s', async (field, text) => {
    expect(await post(text)).toMatchObject(refused(field))
  })

  test('if it is nested a hundred thousand levels deep', async () => {
    expect(await post(around('['.repeat(100_000)))).toMatchObject(refused('body'))
  })

  test.each([
    ['a lone byte', [0xff]],
    ['a cut character', [0xc3]],
    ['an overlong character', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
  ])('if it has %s instead of UTF-8', async (_, bytes) => {
    const [before, after] = around('{"n":"?"}')
      .split('?')
      .map((part) => Buffer.from(part))
    const body = Buffer.concat([before as Buffer, Buffer.from(bytes), after as Buffer])
    expect(await post(body)).toMatchObject(refused('body'))
  })
})

test.each([
  'application/json; charset=utf-8',
  'application/json;charset=UTF-8',
  'Application/JSON',
  'application/vnd.acme+json',
  'application/cloudevents+json',
])('A body may be declared as %s', async (type) => {
  expect(await post(JSON.stringify(good), type)).toMatchObject({ status: 202 })
})

test('A payload of 64 levels arrives as sent, and can be read', async () => {
  await using relay = await bootRelay()
  await relay.createEndpoint({ format: 'raw' })
  for (const payload of [
    `{"a":${'['.repeat(62)}${']'.repeat(62)}}`,
    `${'{"a":'.repeat(63)}1${'}'.repeat(63)}`,
  ]) {
    const { status, body } = await relay.spelled(around(payload))
    expect(status).toBe(202)
    await relay.rest()
    expect(relay.target.requests.at(-1)?.body).toBe(payload)
    expect(JSON.stringify((await relay.read(`${MESSAGES}/${body.id}`)).payload)).toBe(payload)
  }
})

test('A body may have as many bytes as server.max_body, and not one more', async () => {
  await using relay = await bootRelay({ flags: { 'server-max-body': '2KB' } })
  const { maxBodyBytes } = testConfig({ 'server-max-body': '2KB' }).server
  const ofSize = (bytes: number) =>
    around(`{"n":"${'x'.repeat(bytes - around('{"n":""}').length)}"}`)
  expect(await relay.spelled(ofSize(maxBodyBytes))).toMatchObject({ status: 202 })
  expect(await relay.spelled(ofSize(maxBodyBytes + 1))).toMatchObject({
    status: 413,
    body: { error: { code: 'payload_too_large' } },
  })
})

test('Deliveries are filtered by a status of the contract, and by any endpoint', async () => {
  const api = await client()
  for (const status of ['waiting', 'leased', 'PENDING', '', 'pending,failed', '0'])
    expect(await api.get(`${DELIVERIES}?status=${status}`)).toMatchObject({ status: 400 })
  for (const id of ['x', '', '%00'])
    expect((await api.get(`${DELIVERIES}?endpoint_id=${id}`)).body.data).toEqual([])
})
