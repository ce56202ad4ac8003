import { describe, expect, test } from 'bun:test'
import { t, ValidationError } from 'elysia'
import { parseJson, readFields, readText } from '../../src/http/body.ts'
import { asInvalid } from '../../src/http/validation.ts'

const JSON_TYPE = 'application/json'
const FORM = 'application/x-www-form-urlencoded'

function request(body: BodyInit | null, type: string | null, coding?: string) {
  const built = new Request('http://localhost/', { method: 'POST', body })
  if (type === null) built.headers.delete('content-type')
  else built.headers.set('content-type', type)
  if (coding !== undefined) built.headers.set('content-encoding', coding)
  return built
}

const readJson = async (
  body: BodyInit | null,
  type: string | null = JSON_TYPE,
  limit = 2_000_000,
) => parseJson(await readText(request(body, type), limit))

const readForm = (body: BodyInit | null, type: string | null = FORM, limit = 2_000_000) =>
  readFields(request(body, type), limit)

const READERS = [
  ['JSON', readJson, JSON_TYPE],
  ['a form', readForm, FORM],
] as const

describe.each(READERS)('A body of %s', (_, read, type) => {
  test('is limited in bytes, before anything else is wrong with it', async () => {
    for (const sent of [type, 'text/plain'])
      await expect(read('é'.repeat(51), sent, 100)).rejects.toMatchObject({ kind: 'too_large' })
    const endless = new ReadableStream({ pull: (to) => to.enqueue(new Uint8Array(4)) })
    await expect(read(endless, type, 10)).rejects.toMatchObject({ kind: 'too_large' })
  })

  test('has no other type', async () => {
    const body = new TextEncoder().encode('{}')
    for (const other of ['text/plain', 'multipart/form-data; boundary=x', 'text/json', null])
      await expect(read(body, other)).rejects.toMatchObject({ kind: 'unsupported_media_type' })
  })

  test('is UTF-8, and complete', async () => {
    for (const bytes of ['22ff22', '613deda080', '613dc3'].map((hex) => Buffer.from(hex, 'hex')))
      await expect(read(bytes)).rejects.toMatchObject({ kind: 'invalid' })
    const broken = new ReadableStream({
      start: (to) => to.enqueue(new TextEncoder().encode('1')),
      pull: (to) => to.error(new Error('reset')),
    })
    await expect(read(broken)).rejects.toMatchObject({ kind: 'invalid' })
  })
})

test('No body has a content coding', async () => {
  const refused = { kind: 'unsupported_media_type' }
  for (const coding of ['gzip', 'br', 'identity, gzip', '']) {
    await expect(readText(request('{}', JSON_TYPE, coding), 100)).rejects.toMatchObject(refused)
    await expect(readFields(request('a=1', FORM, coding), 100)).rejects.toMatchObject(refused)
  }
})

describe('JSON', () => {
  test('is parsed, and nothing is null', async () => {
    expect(await readJson('{"a":[1,null]}')).toEqual({ a: [1, null] })
    for (const body of [null, '']) expect(await readJson(body)).toBeNull()
    await expect(readJson('{"a":')).rejects.toMatchObject({ kind: 'invalid' })
  })

  test('is passed on as it was sent, without a byte order mark', async () => {
    const text = ' {"a": 1.0, "a":1e400, "\\u0061":"\\/é"}\n'
    for (const sent of [text, `\ufeff${text}`])
      expect(await readText(request(sent, JSON_TYPE), 100)).toBe(text)
    expect(await readText(request('', 'text/plain'), 100)).toBe('')
  })

  test('may have its type in any spelling, and be split within a character', async () => {
    for (const type of [`${JSON_TYPE}; charset=utf-8`, 'APPLICATION/JSON', 'application/a+json'])
      expect(await readJson('1', type)).toBe(1)
    const bytes = [...new TextEncoder().encode('"héé"')].map((byte) => new Uint8Array([byte]))
    expect(await readJson(new Blob(bytes).stream())).toBe('héé')
  })

  test('has at most 64 levels, and is not parsed to count them', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    expect(await readJson(nested(64))).toBeArray()
    for (const text of [
      nested(65),
      '['.repeat(1_000_000),
      `{"payload":${'{"a":['.repeat(150_000)}`,
      `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`,
    ])
      await expect(readJson(text)).rejects.toThrow('deeper than 64 levels')
    const text = `${'['.repeat(1_000_000)}\\"{`
    expect(await readJson(JSON.stringify({ text }))).toEqual({ text })
    expect(await readJson(`[${Array(300_000).fill('[]').join()}]`)).toHaveLength(300_000)
  })

  test('has no half of a surrogate pair', async () => {
    for (const text of ['"a\\ud800b"', '{"\\udfff":1}', '[["\\ud800"]]'])
      await expect(readJson(text)).rejects.toThrow('surrogate')
    expect(await readJson('"\\ud83d\\ude00"')).toBe('😀')
  })
})

describe('The fields of a form', () => {
  test.each<[string, object]>([
    ['', {}],
    ['a=1&b=2', { a: '1', b: '2' }],
    ['a', { a: '' }],
    ['a=1=2', { a: '1=2' }],
    ['a=1&&b=2&', { a: '1', b: '2' }],
    ['a=%C3%A9+%2B+b%20c', { a: 'é + b c' }],
    ['a=%zz', { a: '%zz' }],
    ['=x', { '': 'x' }],
    // The last value of a name counts.
    ['a=1&a=', { a: '' }],
    ['a=1&b=2&a=3', { a: '3', b: '2' }],
    ['a=1&a.b=2', { a: { b: '2' } }],
    ['a.b=1&a=2', { a: '2' }],
    ['a.b=1&a=2&a.c=3', { a: { c: '3' } }],
    // A list keeps all values.
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[]=1&a=2', { a: '2' }],
    ['a=1&a[]=2', { a: ['2'] }],
    ['a.b[]=1&a.b[]=2', { a: { b: ['1', '2'] } }],
    // One dot leads into an object.
    ['a.b=1&x=2&a.c=3', { a: { b: '1', c: '3' }, x: '2' }],
    ['a.b.c=1', { a: { 'b.c': '1' } }],
    ['.a=1', { '': { a: '1' } }],
    ['a%2Eb=1', { a: { b: '1' } }],
    ['a[b]=1', { 'a[b]': '1' }],
  ])('of %s', async (body, fields) => {
    expect({ ...(await readForm(body)) }).toEqual(fields as never)
  })

  test('are own properties, whatever their names', async () => {
    const fields = await readForm('__proto__=1&constructor=2&a.__proto__=3&__proto__.polluted=4')
    expect(Object.keys(fields).sort()).toEqual(['__proto__', 'a', 'constructor'])
    expect(Object.getOwnPropertyDescriptor(fields, '__proto__')?.value).toEqual({ polluted: '4' })
    expect(Object.keys(fields.a as object)).toEqual(['__proto__'])
    expect('polluted' in {} || 'polluted' in fields).toBe(false)
  })

  test('are at most 200', async () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `a.n${at}=x`)
    expect(Object.keys((await readForm(names(200).join('&'))).a as object)).toHaveLength(200)
    for (const fields of [names(201), names(100_000), Array(201).fill('a=1'), Array(201).fill('a')])
      await expect(readForm(fields.join('&'))).rejects.toMatchObject({ kind: 'invalid' })
    expect({ ...(await readForm('&'.repeat(1_000_000))) }).toEqual({})
  })

  test('may have their type in any spelling, be a JSON object, or nothing at all', async () => {
    for (const type of [`${FORM};charset=UTF-8`, ` ${FORM} ; charset=utf-8`, FORM.toUpperCase()])
      expect({ ...(await readForm('a=1', type)) }).toEqual({ a: '1' })
    const text = '{"a":1,"b":null,"c":{"d":["e"]},"f.g":true,"__proto__":{"polluted":1}}'
    const fields = await readForm(text, JSON_TYPE)
    expect(Object.keys(fields).sort()).toEqual(['__proto__', 'a', 'b', 'c', 'f.g'])
    expect(fields.polluted).toBeUndefined()
    for (const body of [null, '', 'null']) expect(await readForm(body, JSON_TYPE)).toEqual({})
    expect(await readForm('', 'text/plain')).toEqual({})
    for (const other of ['[]', '"a"', '1', 'true'])
      await expect(readForm(other, JSON_TYPE)).rejects.toMatchObject({ kind: 'invalid' })
  })
})

describe('Validation', () => {
  test('looks no further than the first error of a value', () => {
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
    expect(asInvalid(error)).toMatchObject({ field: 'channels' })
    expect(looked).toBe(0)
    const one = new ValidationError('body', schema, { channels: [1] })
    expect(asInvalid(one)).toMatchObject({ field: 'channels.0' })
  })
})
