import { expect, test } from 'bun:test'
import { t, ValidationError } from 'elysia'
import { parseJson, readText } from '../../src/http/body.ts'
import { asInvalid } from '../../src/http/validation.ts'
import { bootTestApp } from '../support/app.ts'

const request = (body: BodyInit | null, contentType: string | null = 'application/json') => {
  const built = new Request('http://localhost/', { method: 'POST', body })
  if (contentType === null) built.headers.delete('content-type')
  else built.headers.set('content-type', contentType)
  return built
}

const readJson = async (request: Request, limit: number) =>
  parseJson(await readText(request, limit))

test('JSON is read, and nothing is null', async () => {
  expect(await readJson(request('{"a":[1,null]}'), 100)).toEqual({ a: [1, null] })
  expect(await readJson(request(null), 100)).toBeNull()
  expect(await readJson(request(''), 100)).toBeNull()
})

test('the text is what was sent, spelling and all; only a byte order mark goes', async () => {
  const text = ' {"a": 1.0, "a":1e400, "\\u0061":"\\/é"}\n'
  expect(await readText(request(text), 100)).toBe(text)
  expect(await readText(request(`\ufeff${text}`), 100)).toBe(text)
  expect(await readText(request(null), 100)).toBe('')
  expect(await readText(request('', 'text/plain'), 100)).toBe('')
})

test('types that end in +json, and parameters, are JSON too', async () => {
  for (const type of [
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    'application/json-patch+json',
    'application/merge-patch+json',
  ])
    expect(await readJson(request('1', type), 100)).toBe(1)
})

test('another content type, or none, is told apart from bad syntax', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonx',
    'text/json',
    null,
  ])
    await expect(readJson(request('{}', type), 100)).rejects.toMatchObject({
      kind: 'unsupported_media_type',
    })
  await expect(readJson(request('{"a":'), 100)).rejects.toMatchObject({
    kind: 'invalid',
    message: expect.stringMatching(/^body: must be JSON/),
  })
})

test('size comes before type and syntax, counted in bytes', async () => {
  await expect(readJson(request('é'.repeat(51), 'text/plain'), 100)).rejects.toMatchObject({
    kind: 'too_large',
  })
  expect(await readJson(request(JSON.stringify('é'.repeat(49))), 100)).toBe('é'.repeat(49))
})

test('a character split between two pieces stays whole', async () => {
  const bytes = new TextEncoder().encode('"héé"')
  const pieces = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
      controller.close()
    },
  })

  expect(await readJson(request(pieces), 100)).toBe('héé')
})

test('a body may be 64 levels deep and no deeper', async () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

  expect(await readJson(request(nested(64)), 1000)).toBeArray()
  await expect(readJson(request(nested(66)), 1000)).rejects.toThrow('deeper than 64 levels')
  await expect(
    readJson(request(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`), 1_000_000),
  ).rejects.toMatchObject({ kind: 'invalid' })
})

test('text that is not UTF-8, or half a surrogate pair, is refused instead of replaced', async () => {
  const bytes = new Uint8Array([0x22, 0xff, 0x22])
  await expect(readJson(request(bytes), 100)).rejects.toThrow('must be UTF-8')
  for (const text of ['"a\\ud800b"', '{"\\udfff":1}', '[["\\ud800"]]'])
    await expect(readJson(request(text), 100)).rejects.toThrow('surrogate')
  expect(await readJson(request('"\\ud83d\\ude00"'), 100)).toBe('😀')
})

test('a content coding is refused, plain or not', async () => {
  const coded = request('{}')
  coded.headers.set('content-encoding', 'gzip')

  await expect(readJson(coded, 100)).rejects.toThrow(
    'Content-Encoding: must not be set, unlike gzip',
  )
})

test('nesting without end is a refusal and not a crash', async () => {
  await expect(readJson(request('['.repeat(900_000)), 1_000_000)).rejects.toMatchObject({
    kind: 'invalid',
  })
})

test('a body that is too deep is refused before anybody parses it', async () => {
  for (const text of ['['.repeat(1_000_000), `{"payload":${'{"a":['.repeat(150_000)}`])
    await expect(readJson(request(text), 2_000_000)).rejects.toThrow(
      'body: must not be nested deeper than 64 levels',
    )
})

test('brackets in a string are text, and so many lists beside one another are not deep', async () => {
  const text = `${'['.repeat(1_000_000)}\\"{`
  expect(await readJson(request(JSON.stringify({ text })), 2_000_000)).toEqual({ text })
  const lists = `[${Array(300_000).fill('[]').join()},"\\u0061"]`
  expect(await readJson(request(lists), 2_000_000)).toHaveLength(300_001)
})

test('of all that is wrong with a value only the first is looked for', () => {
  const schema = t.Object({ channels: t.Array(t.String(), { maxItems: 10 }) })
  let looked = 0
  const channels = new Proxy(Array(5000).fill(1), {
    get(list, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) looked++
      return Reflect.get(list, name)
    },
  })
  const error = new ValidationError('body', schema, { channels })
  looked = 0

  expect(asInvalid(error).message).toBe('channels: must be a list of at most 10 items')
  expect(looked).toBe(0)
})

test('half a million wrong items of a list are refused like one', async () => {
  await using app = await bootTestApp()
  const { key } = await (await app.tenant()).key('relay', 'live')
  const post = (channels: string) =>
    app.raw('/v1/relay/messages', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: `{"event_type":"a.b","payload":{},"channels":${channels}}`,
    })

  for (const channels of [`[${Array(500_000).fill(1).join()}]`, `[${Array(11).fill(1).join()}]`])
    expect(await post(channels)).toMatchObject({
      status: 400,
      body: {
        error: {
          code: 'invalid_payload',
          message: 'channels: must be a list of up to 10 channels',
        },
      },
    })
  expect(await post('[1]')).toMatchObject({
    status: 400,
    body: { error: { message: 'channels.0: must be the name of a channel' } },
  })
})
