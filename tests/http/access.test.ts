import { afterAll, expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import type { Access, RouteScope } from '../../src/http/access.ts'
import { conflict, invalid } from '../../src/platform/errors.ts'
import { bootRoutes } from './support.ts'

const Event = t.Object({ type: t.String(), payload: t.Any() }, { additionalProperties: true })
const EITHER: RouteScope = ['relay:read', 'relay:endpoints']
const ownCode = () => Promise.reject(invalid('no', { rule: 'format', code: 'of_my_own' }))

const routes = (access: Access) =>
  new Elysia()
    .use(access)
    .post('/v1/relay/events', ({ body, bodyText }) => ({ type: body.type, bodyText }), {
      scope: 'relay:send',
      body: Event,
    })
    .get('/v1/relay/either', ({ caller, bodyText }) => ({ engine: caller.engine, bodyText }), {
      scope: EITHER,
    })
    .delete('/v1/relay/either', ({ bodyText }) => ({ bodyText }), { scope: EITHER })
    .get('/v1/relay/number', ({ query }) => query, {
      scope: 'relay:read',
      query: t.Object({ of: t.Numeric() }, { additionalProperties: true }),
    })
    .get('/v1/relay/own-code', ownCode, { scope: 'relay:read' })
    .get('/v1/relay/conflict', () => Promise.reject(conflict('no')), { scope: 'relay:read' })
    .post('/v1/gate/form', ({ body }) => body, {
      form: { keyScope: 'flows' },
      body: t.Object({}, { additionalProperties: true }),
    })

const app = await bootRoutes(routes)
afterAll(app[Symbol.asyncDispose])
const EVENTS = '/v1/relay/events'

test('A handler gets the body as it was sent, beside what it means, also among many at once', async () => {
  const send = await app.as('relay')
  const bodyText = ' {"type": "a", "payload":{"b":1.0,"a":1E2,"\\u0061":"é"}}\n'
  expect((await send('POST', EVENTS, bodyText)).body).toEqual({ type: 'a', bodyText })
  const texts = Array.from({ length: 20 }, (_, at) => `{"type":"${at}","payload":${at}.0}`)
  const answers = await Promise.all(texts.map((text) => send('POST', EVENTS, text)))
  expect(answers.map(({ body }) => body.bodyText)).toEqual(texts)
})

test('Without a body the text is empty; a body of DELETE is not read', async () => {
  const send = await app.as('relay')
  expect((await send('GET', '/v1/relay/either')).body).toEqual({ engine: 'relay', bodyText: '' })
  expect((await send('DELETE', '/v1/relay/either', '{broken')).body).toEqual({ bodyText: '' })
})

test('Any of several scopes is enough, and a refusal names the missing ones', async () => {
  for (const scopes of [['relay:read'], ['relay:endpoints'], ['relay:endpoints', 'relay:send']]) {
    const send = await app.as('relay', scopes)
    for (const method of ['GET', 'DELETE'])
      expect((await send(method, '/v1/relay/either')).status, scopes.join()).toBe(200)
  }
  const sender = await app.as('relay', ['relay:send'])
  for (const [send, path, message] of [
    [sender, 'either', 'the key lacks the scope relay:read or relay:endpoints'],
    [sender, 'conflict', 'the key lacks the scope relay:read'],
    [await app.as('clockwork'), 'either', 'this is a clockwork key; the route needs a relay key'],
  ] as const) {
    const error = { code: 'forbidden', message }
    expect(await send('GET', `/v1/relay/${path}`)).toMatchObject({ status: 403, body: { error } })
  }
})

test('A list of scopes belongs to one engine and is not empty', () => {
  const lists: RouteScope[] = [
    'relay:send',
    ['relay:read', 'relay:endpoints'],
    ['clockwork'],
    // @ts-expect-error: of two engines
    ['relay:read', 'clockwork'],
    // @ts-expect-error: none at all
    [],
    // @ts-expect-error: unknown
    ['relay:write'],
  ]
  expect(lists).toHaveLength(6)
})

test('Each kind of refusal has its code', async () => {
  const send = await app.as('relay')
  for (const [answer, ...request] of [
    ['415 unsupported_media_type', 'POST', EVENTS, '{}', 'text/plain'],
    ['413 payload_too_large', 'POST', EVENTS, `"${'x'.repeat(1000)}"`],
    ['400 invalid_request', 'GET', '/v1/relay/number?of=many'],
    ['400 invalid_request', 'GET', '/v1/relay/number'],
    ['400 of_my_own', 'GET', '/v1/relay/own-code'],
    ['409 conflict', 'GET', '/v1/relay/conflict'],
    ['404 not_found', 'GET', '/v1/relay/nothing'],
    ['405 method_not_allowed', 'PUT', EVENTS],
  ] as [string, ...Parameters<typeof send>][]) {
    const { status, body } = await send(...request)
    expect(`${status} ${body.error.code}`).toBe(answer)
  }
  const stranger = await app.as('relay', ['relay:read'])
  expect((await stranger('POST', EVENTS, '{')).body.error.code).toBe('forbidden')
})

test.each([
  ['JSON', 'relay', EVENTS, 'application/json', ['{"type":"a",', '"payload":{}}'], 200],
  ['broken JSON', 'relay', EVENTS, 'application/json', ['{"type":', ''], 400],
  ['a form', 'gate', '/v1/gate/form', 'application/x-www-form-urlencoded', ['a=', '1'], 200],
] as const)('A key that is revoked during a slow body is refused: %s', async (...row) => {
  const [, engine, path, type, parts, status] = row
  const { id, key } = await app.key(engine)
  const send = async (happens: () => Promise<unknown>) => {
    const { begun, end } = app.slowly({ key, path, type, parts })
    await begun
    await app.clock.advance(1500)
    await happens()
    return (await end()).status
  }
  expect(await send(async () => {})).toBe(status)
  expect(await send(() => app.keys.revoke({ kind: 'cli', source: 'test' }, id))).toBe(401)
})
