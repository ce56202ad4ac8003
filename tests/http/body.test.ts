import { expect, test } from 'bun:test'
import { readJson } from '../../src/http/body.ts'

const request = (body: BodyInit | null, contentType: string | null = 'application/json') => {
  const built = new Request('http://localhost/', { method: 'POST', body })
  if (contentType === null) built.headers.delete('content-type')
  else built.headers.set('content-type', contentType)
  return built
}

test('JSON is read, and nothing is null', async () => {
  expect(await readJson(request('{"a":[1,null]}'), 100)).toEqual({ a: [1, null] })
  expect(await readJson(request(null), 100)).toBeNull()
  expect(await readJson(request(''), 100)).toBeNull()
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

test('nesting without end is a refusal and not a crash', async () => {
  await expect(readJson(request('['.repeat(900_000)), 1_000_000)).rejects.toMatchObject({
    kind: 'invalid',
  })
})
