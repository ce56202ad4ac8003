import { expect, test } from 'bun:test'
import { parseJson, readText } from '../../src/http/body.ts'

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
    message: expect.stringMatching(/^body: not valid JSON/),
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
  await expect(readJson(request(bytes), 100)).rejects.toThrow('not valid UTF-8')
  for (const text of ['"a\\ud800b"', '{"\\udfff":1}', '[["\\ud800"]]'])
    await expect(readJson(request(text), 100)).rejects.toThrow('surrogate')
  expect(await readJson(request('"\\ud83d\\ude00"'), 100)).toBe('😀')
})

test('a content coding is refused, plain or not', async () => {
  const coded = request('{}')
  coded.headers.set('content-encoding', 'gzip')

  await expect(readJson(coded, 100)).rejects.toThrow('Content-Encoding: expected none, not gzip')
})

test('nesting without end is a refusal and not a crash', async () => {
  await expect(readJson(request('['.repeat(900_000)), 1_000_000)).rejects.toMatchObject({
    kind: 'invalid',
  })
})
