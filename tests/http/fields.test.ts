import { describe, expect, test } from 'bun:test'
import { readFields } from '../../src/http/body.ts'

const FORM = 'application/x-www-form-urlencoded'

const request = (body: BodyInit | null, type: string | null = FORM) => {
  const built = new Request('http://localhost/', { method: 'POST', body })
  if (type === null) built.headers.delete('content-type')
  else built.headers.set('content-type', type)
  return built
}

const read = (body: BodyInit | null, type: string | null = FORM, limit = 10_000) =>
  readFields(request(body, type), limit)

describe('the fields of a form', () => {
  test.each([
    ['', {}],
    ['a=1', { a: '1' }],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a', { a: '' }],
    ['a=', { a: '' }],
    ['a=1=2', { a: '1=2' }],
    ['a=1&&b=2&', { a: '1', b: '2' }],
    ['a=%C3%A9+%2B+b%20c', { a: 'é + b c' }],
    ['%C3%A9=1', { é: '1' }],
    ['a=%zz', { a: '%zz' }],
    ['a=\n', { a: '\n' }],
    ['=x', { '': 'x' }],
  ])('are texts: %s', async (body, fields) => {
    expect({ ...(await read(body)) }).toEqual(fields as never)
  })

  test.each([
    ['a=1&a=2', { a: '2' }],
    ['a=1&a=', { a: '' }],
    ['a=1&b=2&a=3', { a: '3', b: '2' }],
    ['a.b=1&a.b=2', { a: { b: '2' } }],
    ['a=1&a.b=2', { a: { b: '2' } }],
    ['a.b=1&a=2', { a: '2' }],
    ['a.b=1&a=2&a.c=3', { a: { c: '3' } }],
  ])('count for the last of one name: %s', async (body, fields) => {
    expect({ ...(await read(body)) }).toEqual(fields as never)
  })

  test.each([
    ['a[]=1', { a: ['1'] }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[]=1&a=2', { a: '2' }],
    ['a=1&a[]=2', { a: ['2'] }],
    ['a[]=1&a.b=2', { a: { b: '2' } }],
    ['a.b[]=1&a.b[]=2', { a: { b: ['1', '2'] } }],
    ['[]=1', { '': ['1'] }],
  ])('are lists where their name says so: %s', async (body, fields) => {
    expect({ ...(await read(body)) }).toEqual(fields as never)
  })

  test.each([
    ['a.b=1', { a: { b: '1' } }],
    ['a.b=1&a.c=2', { a: { b: '1', c: '2' } }],
    ['a.b=1&x=2&a.c=3', { a: { b: '1', c: '3' }, x: '2' }],
    ['a.b.c=1', { a: { 'b.c': '1' } }],
    ['a.=1', { a: { '': '1' } }],
    ['.a=1', { '': { a: '1' } }],
    ['a%2Eb=1', { a: { b: '1' } }],
    ['a[b]=1', { 'a[b]': '1' }],
  ])('lead into an object by a dot: %s', async (body, fields) => {
    expect({ ...(await read(body)) }).toEqual(fields as never)
  })

  test('of names that objects have by themselves are fields like all others', async () => {
    const fields = await read(
      '__proto__=1&constructor=2&a.__proto__=3&__proto__.polluted=4&toString=5',
    )
    expect(Object.keys(fields).sort()).toEqual(['__proto__', 'a', 'constructor', 'toString'])
    expect(fields.constructor as unknown).toBe('2')
    expect(Object.getOwnPropertyDescriptor(fields, '__proto__')?.value).toEqual({ polluted: '4' })
    expect(Object.getOwnPropertyDescriptor(fields.a, '__proto__')?.value).toBe('3')
    expect(Object.keys(fields.a as object)).toEqual(['__proto__'])
    expect('polluted' in {}).toBe(false)
    expect('polluted' in fields).toBe(false)
  })

  test('are two hundred at most, on top of one another or beside', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `a.n${at}=x`)
    const fields = await read(names(200).join('&'), FORM)
    expect(Object.keys(fields.a as object)).toHaveLength(200)
    for (const body of [
      names(201).join('&'),
      names(100_000).join('&'),
      Array(201).fill('a=1').join('&'),
      Array(201).fill('a').join('&'),
    ])
      await expect(read(body, FORM, 2_000_000)).rejects.toMatchObject({
        kind: 'invalid',
        message: 'body: must have at most 200 fields',
      })
    const empty = '&'.repeat(1_000_000)
    expect({ ...(await read(empty, FORM, 2_000_000)) }).toEqual({})
  })

  test.each([FORM, `${FORM};charset=UTF-8`, ` ${FORM} ; charset=utf-8`, FORM.toUpperCase()])(
    'are told by the type: %s',
    async (type) => {
      expect({ ...(await read('a=1', type)) }).toEqual({ a: '1' })
    },
  )
})

describe('the fields of JSON', () => {
  test('are what they are', async () => {
    const text = '{"a":1,"b":null,"c":{"d":["e"]},"f.g":true}'
    expect(await read(text, 'application/json')).toEqual(JSON.parse(text))
  })

  test.each([[null], [''], ['null']])('are none where there is nothing: %s', async (body) => {
    expect(await read(body, 'application/json')).toEqual({})
  })

  test('are none of a request without a body, whatever its type', async () => {
    expect(await read(null, null)).toEqual({})
    expect(await read('', 'text/plain')).toEqual({})
  })

  test.each(['[]', '"a"', '1', 'true', 'false', '[{"a":1}]'])(
    'are those of an object: %s',
    async (text) => {
      await expect(read(text, 'application/json')).rejects.toMatchObject({
        kind: 'invalid',
        message: 'body: must be a JSON object',
      })
    },
  )

  test('are the object’s own, whatever their names', async () => {
    const fields = await read('{"__proto__":{"polluted":1},"constructor":2}', 'application/json')
    expect(Object.keys(fields).sort()).toEqual(['__proto__', 'constructor'])
    expect(fields.polluted).toBeUndefined()
    expect('polluted' in {}).toBe(false)
  })
})

describe('a body of fields', () => {
  test.each([FORM, 'application/json', 'text/plain'])(
    'is not read beyond the limit, before anything else is said of it: %s',
    async (type) => {
      const tooLarge = { kind: 'too_large', message: 'body: must be at most 10 bytes' }
      const coded = request(`a=${'é'.repeat(5)}`, type)
      coded.headers.set('content-encoding', 'gzip')
      await expect(readFields(coded, 10)).rejects.toMatchObject(tooLarge)
      const endless = new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(4)),
      })
      await expect(readFields(request(endless, type), 10)).rejects.toMatchObject(tooLarge)
    },
  )

  test('of exactly the limit is read', async () => {
    expect({ ...(await read('a=12345678', FORM, 10)) }).toEqual({ a: '12345678' })
  })

  test.each(['gzip', 'br', 'identity, gzip', ''])('is in no code: %j', async (coding) => {
    for (const [type, text] of [
      [FORM, 'a=1'],
      ['application/json', '{}'],
    ] as const) {
      const coded = request(text, type)
      coded.headers.set('content-encoding', coding)
      await expect(readFields(coded, 100)).rejects.toMatchObject({
        kind: 'unsupported_media_type',
        message: `Content-Encoding: must not be set, unlike ${coding}`,
      })
    }
  })

  test.each(['text/plain', 'multipart/form-data; boundary=x', `${FORM}x`, `x${FORM}`, null])(
    'is of one of two types: %s',
    async (type) => {
      await expect(read(new TextEncoder().encode('a=1'), type)).rejects.toMatchObject({
        kind: 'unsupported_media_type',
        message: expect.stringContaining('Content-Type: must be application/json'),
      })
    },
  )

  test('is UTF-8', async () => {
    for (const bytes of [
      [0x61, 0x3d, 0xff],
      [0x61, 0x3d, 0xed, 0xa0, 0x80],
      [0x61, 0x3d, 0xc3],
    ])
      await expect(read(new Uint8Array(bytes))).rejects.toMatchObject({
        kind: 'invalid',
        message: 'body: must be UTF-8',
      })
  })

  test('that breaks off is refused', async () => {
    const broken = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('a=1')),
      pull: (controller) => controller.error(new Error('reset')),
    })
    await expect(read(broken)).rejects.toMatchObject({ kind: 'invalid' })
  })
})
