import { expect, test } from 'bun:test'
import { isUpload, readUpload } from '../../src/http/upload.ts'

const BOUNDARY = 'multipart/form-data; boundary=x'

function request(body: BodyInit, type?: string, coding?: string) {
  const built = new Request('http://localhost/', { method: 'POST', body })
  if (type !== undefined) built.headers.set('content-type', type)
  if (coding !== undefined) built.headers.set('content-encoding', coding)
  return built
}

function form(...fields: [string, string | Blob][]) {
  const data = new FormData()
  for (const [name, value] of fields) data.append(name, value)
  return request(data)
}

test('A form with files has texts, and files as bytes without name and type', async () => {
  const file = new File([Uint8Array.of(0, 255, 13, 10)], '../../x.svg', { type: 'text/html' })
  const sent = form(['note', 'é'], ['image', file], ['none', new File([], '')])
  expect(isUpload(sent)).toBe(true)
  const fields = await readUpload(sent, 10_000)
  expect({ ...fields }).toEqual({ note: 'é', image: Uint8Array.of(0, 255, 13, 10) })
  expect(isUpload(request('a=1', 'application/x-www-form-urlencoded'))).toBe(false)
})

test('A form with files has no more bytes and fields than allowed, and no coding', async () => {
  const large = form(['image', new Blob(['x'.repeat(2000)])])
  await expect(readUpload(large, 1000)).rejects.toMatchObject({ kind: 'too_large' })
  const many = form(...Array.from({ length: 201 }, (_, n): [string, string] => [`f${n}`, '']))
  await expect(readUpload(many, 1_000_000)).rejects.toMatchObject({ rule: 'too_many' })
  const coded = request('', BOUNDARY, 'gzip')
  await expect(readUpload(coded, 1000)).rejects.toMatchObject({ kind: 'unsupported_media_type' })
})

test.each([
  ['', BOUNDARY],
  ['--x\r\nno header', BOUNDARY],
  ['--y--', 'multipart/form-data; boundary='],
])('%j as %s is no form', async (body, type) => {
  const malformed = { kind: 'invalid', field: 'body', rule: 'format' }
  await expect(readUpload(request(body, type), 1000)).rejects.toMatchObject(malformed)
})
