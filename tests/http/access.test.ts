import { describe, expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import type { Access, RouteScope } from '../../src/http/access.ts'
import { conflict, invalid } from '../../src/platform/errors.ts'
import { bootRoutes } from './support.ts'

const Event = t.Object({ type: t.String(), payload: t.Any() }, { additionalProperties: true })

const routes = (access: Access) =>
  new Elysia()
    .use(access)
    .post('/v1/relay/events', ({ body, bodyText }) => ({ type: body.type, bodyText }), {
      scope: 'relay:send',
      body: Event,
    })
    .get('/v1/relay/either', ({ caller, bodyText }) => ({ engine: caller.engine, bodyText }), {
      scope: ['relay:read', 'relay:endpoints'],
    })
    .delete('/v1/relay/either', ({ bodyText }) => ({ bodyText }), {
      scope: ['relay:read', 'relay:endpoints'],
    })
    .get('/v1/relay/number', ({ query }) => query, {
      scope: 'relay:read',
      query: t.Object({ of: t.Numeric() }, { additionalProperties: true }),
    })
    .get(
      '/v1/relay/own-code',
      () => Promise.reject(invalid('no', { rule: 'format', code: 'of_my_own' })),
      { scope: 'relay:read' },
    )
    .get('/v1/relay/conflict', () => Promise.reject(conflict('no')), { scope: 'relay:read' })
    .post('/v1/clockwork/events', ({ body }) => body, { scope: 'clockwork', body: Event })
    .post('/v1/gate/form', ({ body }) => body, {
      form: { keyScope: 'flows' },
      body: t.Object({}, { additionalProperties: true }),
    })

test('A handler gets the body as it was sent, beside what it means', async () => {
  await using app = await bootRoutes(routes)
  const send = await app.as('relay')
  const spelled = ' {"type": "a", "payload":{"b":1.0,"a":1E2,"\\u0061":"é"}}\n'

  expect((await send('POST', '/v1/relay/events', spelled)).body).toEqual({
    type: 'a',
    bodyText: spelled,
  })
})

test('Each request has its own body, also among many at once', async () => {
  await using app = await bootRoutes(routes)
  const send = await app.as('relay')
  const texts = Array.from({ length: 50 }, (_, at) => `{"type":"${at}","payload":${at}.0}`)

  const answers = await Promise.all(texts.map((text) => send('POST', '/v1/relay/events', text)))

  expect(answers.map(({ body }) => body.bodyText)).toEqual(texts)
})

test('Without a body the text is empty; a body of DELETE is not read', async () => {
  await using app = await bootRoutes(routes)
  const send = await app.as('relay')

  expect((await send('GET', '/v1/relay/either')).body).toEqual({ engine: 'relay', bodyText: '' })
  expect((await send('DELETE', '/v1/relay/either', '{broken')).body).toEqual({ bodyText: '' })
})

test('Any of several scopes is enough', async () => {
  await using app = await bootRoutes(routes)

  for (const scopes of [['relay:read'], ['relay:endpoints'], ['relay:endpoints', 'relay:send']]) {
    const send = await app.as('relay', scopes)
    for (const method of ['GET', 'DELETE'])
      expect((await send(method, '/v1/relay/either')).status, scopes.join()).toBe(200)
  }
})

test('A refusal names the missing scopes, or the engine of the key', async () => {
  await using app = await bootRoutes(routes)
  const refusal = async (send: Awaited<ReturnType<typeof app.as>>, path: string) => {
    const { status, body } = await send('GET', path)
    return [status, body.error.code, body.error.message]
  }
  const sender = await app.as('relay', ['relay:send'])

  expect(await refusal(sender, '/v1/relay/either')).toEqual([
    403,
    'forbidden',
    'the key lacks the scope relay:read or relay:endpoints',
  ])
  expect(await refusal(sender, '/v1/relay/conflict')).toEqual([
    403,
    'forbidden',
    'the key lacks the scope relay:read',
  ])
  expect(await refusal(await app.as('clockwork'), '/v1/relay/either')).toEqual([
    403,
    'forbidden',
    'this is a clockwork key; the route needs a relay key',
  ])
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
  await using app = await bootRoutes(routes)
  const send = await app.as('relay')
  const ask = async (...request: Parameters<typeof send>) => {
    const { status, body } = await send(...request)
    return `${status} ${body.error.code}`
  }

  expect(await ask('POST', '/v1/relay/events', '{}', 'text/plain')).toBe(
    '415 unsupported_media_type',
  )
  expect(await ask('POST', '/v1/relay/events', `"${'x'.repeat(1000)}"`)).toBe(
    '413 payload_too_large',
  )
  expect(await ask('GET', '/v1/relay/number?of=many')).toBe('400 invalid_request')
  expect(await ask('GET', '/v1/relay/number')).toBe('400 invalid_request')
  expect(await ask('GET', '/v1/relay/own-code')).toBe('400 of_my_own')
  expect(await ask('GET', '/v1/relay/conflict')).toBe('409 conflict')
  expect(await ask('GET', '/v1/relay/nothing')).toBe('404 not_found')
  expect(await ask('PUT', '/v1/relay/events')).toBe('405 method_not_allowed')
  const stranger = await app.as('relay', ['relay:read'])
  expect((await stranger('POST', '/v1/relay/events', '{')).body.error.code).toBe('forbidden')
})

describe('While the body is on its way', () => {
  const { json, form } = {
    json: ['relay', '/v1/relay/events', 'application/json'],
    form: ['gate', '/v1/gate/form', 'application/x-www-form-urlencoded'],
  } as const
  const bodies = [
    ['JSON', json, ['{"type":"a",', '"payload":{}}'], 200],
    ['broken JSON', json, ['{"type":', ''], 400],
    ['a form', form, ['a=', '1'], 200],
  ] as const

  for (const [name, [engine, path, type], parts, status] of bodies)
    test(`a revoked key is refused: ${name}`, async () => {
      await using app = await bootRoutes(routes)
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
})
