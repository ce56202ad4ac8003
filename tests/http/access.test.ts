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

test('a handler finds the text of the body as it was sent, beside what it says', async () => {
  await using app = await bootRoutes(routes)
  const send = await app.as('relay')
  const spelled = ' {"type": "a", "payload":{"b":1.0,"a":1E2,"\\u0061":"é"}}\n'

  expect((await send('POST', '/v1/relay/events', spelled)).body).toEqual({
    type: 'a',
    bodyText: spelled,
  })
})

test('each request has the text of its own body, also when many are under way', async () => {
  await using app = await bootRoutes(routes)
  const send = await app.as('relay')
  const texts = Array.from({ length: 50 }, (_, at) => `{"type":"${at}","payload":${at}.0}`)

  const answers = await Promise.all(texts.map((text) => send('POST', '/v1/relay/events', text)))

  expect(answers.map(({ body }) => body.bodyText)).toEqual(texts)
})

test('without a body the text is empty; that of a deletion is not read', async () => {
  await using app = await bootRoutes(routes)
  const send = await app.as('relay')

  expect((await send('GET', '/v1/relay/either')).body).toEqual({ engine: 'relay', bodyText: '' })
  expect((await send('DELETE', '/v1/relay/either', '{broken')).body).toEqual({ bodyText: '' })
})

test('of several scopes any suffices', async () => {
  await using app = await bootRoutes(routes)

  for (const scopes of [['relay:read'], ['relay:endpoints'], ['relay:endpoints', 'relay:send']]) {
    const send = await app.as('relay', scopes)
    for (const method of ['GET', 'DELETE'])
      expect((await send(method, '/v1/relay/either')).status, scopes.join()).toBe(200)
  }
})

test('a key with none of them is told their names, and one of another engine that it is', async () => {
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

test('a list of scopes is of one engine and not empty', () => {
  const lists: RouteScope[] = [
    'relay:send',
    ['relay:read', 'relay:endpoints'],
    ['clockwork'],
    // @ts-expect-error: of two engines
    ['relay:read', 'clockwork'],
    // @ts-expect-error: none at all
    [],
    // @ts-expect-error: no scope of ours
    ['relay:write'],
  ]

  expect(lists).toHaveLength(6)
})

test('a body that is no good has the code of the contract, whatever is wrong with it', async () => {
  await using app = await bootRoutes(routes)
  const send = await app.as('relay')
  const bad = {
    'no body': undefined,
    'no object': '[]',
    'a missing field': '{"payload":{}}',
    'a wrong type': '{"type":1,"payload":{}}',
    'broken syntax': '{"type":',
    'not UTF-8': new Uint8Array([0x22, 0xff, 0x22]),
    'too deep': `{"type":"a","payload":${'['.repeat(70)}${']'.repeat(70)}}`,
    'half a character': '{"type":"\\ud800"}',
  }

  for (const [name, body] of Object.entries(bad)) {
    const answer = await send('POST', '/v1/relay/events', body)
    expect(answer.status, name).toBe(400)
    expect(answer.body, name).toEqual({
      error: {
        code: 'invalid_payload',
        message: expect.any(String),
        request_id: expect.stringMatching(/^req_/),
      },
    })
  }
})

test('other refusals have codes of their own', async () => {
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

test('routes that answer with a sentence go on to do so', async () => {
  await using app = await bootRoutes(routes)
  const send = await app.as('clockwork')

  expect(await send('POST', '/v1/clockwork/events', '{"payload":1}')).toEqual({
    status: 400,
    body: { error: 'type: is required and must be a string' },
  })
})

describe('while the body is on its way', () => {
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
    test(`a key may be revoked, and is no good then any more: ${name}`, async () => {
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
