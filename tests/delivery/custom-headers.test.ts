import { describe, expect, test } from 'bun:test'
import {
  checkCustomHeaders,
  isSensitive,
  keepMasked,
  MASK,
  maskHeaders,
} from '../../src/delivery/custom-headers.ts'

const check = (headers: Record<string, string>) => checkCustomHeaders(headers, 'Service')

const many = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`X-${at + 100}`, value]))

describe('sizes', () => {
  test('fifty headers, and no more', () => {
    expect(() => check(many(50, 'a'))).not.toThrow()
    expect(() => check(many(51, 'a'))).toThrow('headers: must have at most 50 headers')
    expect(() => check({})).not.toThrow()
  })

  test('4,096 bytes a value, and no more', () => {
    expect(() => check({ 'X-A': 'é'.repeat(4096) })).not.toThrow()
    expect(() => check({ 'X-A': 'a'.repeat(4097) })).toThrow('headers.X-A: must be at most 4 KB')
    expect(() => check({ 'X-A': 'a'.repeat(9000) })).toThrow('headers.X-A: must be at most 4 KB')
  })

  test('16 KB of names and values in all, and no more', () => {
    const full = many(4, 'a'.repeat(4096 - 'X-100'.length))
    expect(() => check(full)).not.toThrow()
    expect(() => check({ ...full, Y: '' })).toThrow('headers: must be at most 16 KB in total')
  })
})

test.each([
  [{ '': 'a' }, 'without a name'],
  [{ 'X Space': 'a' }, 'headers: must have names of letters'],
  [{ 'X-A': 'a\r\nX-B: b' }, 'headers.X-A: must only have characters that are allowed in a header'],
  [{ 'X-A': '🙂' }, 'headers.X-A: must only have characters that are allowed in a header'],
  [{ ['n'.repeat(257)]: 'a' }, 'longer than 256'],
  [
    { 'X\nA': 'a'.repeat(5000) },
    'headers: must have names of letters, digits and hyphens, unlike "X\\nA"',
  ],
] as [Record<string, string>, string][])(
  'what no request can carry is refused: %j',
  (headers, said) => {
    expect(() => check(headers)).toThrow(said)
  },
)

test('one name twice, in whatever case, is refused', () => {
  expect(() => check({ 'X-A': '1', 'x-a': '2' })).toThrow(
    'headers.x-a: is set twice; names are not case-sensitive',
  )
  expect(() => check({ 'X-A': '1', X_A: '2', 'X-AB': '3' })).not.toThrow()
})

describe('reserved names are refused in any case', () => {
  const reserved = [
    ...['host', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding'],
    ...['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'expect', 'user-agent'],
    ...['proxy-authorization', 'proxy-x', 'http2-settings'],
    ...['webhook-id', 'webhook-signature', 'webhook-x', 'svix-id', 'x-svix-id'],
    ...['x-service-signature', 'x-service-anything'],
  ]

  test.each(reserved)('%s', (name) => {
    for (const spelled of [name, name.toUpperCase(), name.replaceAll('-', '_')]) {
      expect(() => check({ [spelled]: 'a' })).toThrow(
        `headers.${spelled}: is reserved and cannot be set`,
      )
    }
  })

  test('also under another brand, whose names alone are then reserved', () => {
    expect(() => checkCustomHeaders({ 'x-acme-inc-trigger': 'a' }, 'Acme-Inc')).toThrow('reserved')
    expect(() => checkCustomHeaders({ 'X-Service-Signature': 'a' }, 'Acme-Inc')).not.toThrow()
  })

  test.each([
    'Authorization',
    'Cookie',
    'Accept',
    'X-Serviced',
    'X-Service',
    'Webhook',
    'X-Webhook-Id',
    'Hostname',
    'Proxy',
    'Content-Language',
    '__proto__',
  ])('%s is free', (name) => expect(() => check(Object.fromEntries([[name, 'a']]))).not.toThrow())
})

describe('sensitive', () => {
  test.each([
    ...['Authorization', 'X-Auth-Token', 'X-Amz-Security-Token', 'Cookie', 'X-Client-Secret'],
    ...['X-Password', 'X-Passphrase', 'X-Api-Key', 'x_api_key', 'APIKEY', 'X-ApiKey-Id'],
    ...['Ocp-Apim-Subscription-Key', 'Key', 'X-Hub-Signature', 'X-Credentials', 'X-Session-Id'],
    ...['X-JWT', 'X-Vercel-Protection-Bypass'],
  ])('%s is', (name) => {
    expect(isSensitive(name)).toBe(true)
    expect(isSensitive(name.toLowerCase())).toBe(true)
    expect(isSensitive(name.toUpperCase())).toBe(true)
  })

  test.each(['Accept', 'X-Env', 'X-Tenant', 'X-Request-Source', 'X-Keyboard', 'X-Monkey', 'X-Api'])(
    '%s is not',
    (name) => expect(isSensitive(name)).toBe(false),
  )
})

describe('masked reading and writing', () => {
  test('sensitive values are hidden in a copy, the others shown', () => {
    const headers = Object.freeze({ Authorization: 'Bearer x', 'X-Env': 'eu', 'X-Token': '' })
    expect(maskHeaders(headers)).toEqual({ Authorization: MASK, 'X-Env': 'eu', 'X-Token': MASK })
    expect(headers.Authorization).toBe('Bearer x')
  })

  test('what was read can be written back and changes nothing', () => {
    const stored = { Authorization: 'Bearer x', 'X-Env': 'eu', 'X-Token': '' }
    expect(keepMasked(maskHeaders(stored), stored)).toEqual(stored)
  })

  test('a mask takes the stored value of its name in any case, under the new spelling', () => {
    expect(keepMasked({ 'x-token': MASK }, { 'X-Token': 'a' })).toEqual({ 'x-token': 'a' })
  })

  test('other values replace the stored ones, and headers left out are gone', () => {
    const stored = { 'X-Token': 'a', 'X-Other-Token': 'b', 'X-Env': 'eu' }
    expect(keepMasked({ 'X-Token': `${MASK}*`, 'X-Env': 'us' }, stored)).toEqual({
      'X-Token': `${MASK}*`,
      'X-Env': 'us',
    })
  })

  test('a mask for a sensitive header that is not stored is refused', () => {
    expect(() => keepMasked({ 'X-Token': MASK }, { 'X-Other-Token': 'a' })).toThrow(
      'headers.X-Token: must have a value: there is no stored value to keep for ********',
    )
    expect(() => keepMasked({ 'X-Token': MASK }, {})).toThrow(
      expect.objectContaining({ kind: 'invalid' }),
    )
  })

  test('eight stars are an ordinary value of a new header that is not sensitive', () => {
    expect(keepMasked({ 'X-Stars': MASK }, {})).toEqual({ 'X-Stars': MASK })
  })

  test('a header named like a part of every object is a header like any other', () => {
    const headers = JSON.parse('{"__proto__":"a","constructor":"b"}')
    expect(Object.entries(keepMasked(maskHeaders(headers), {}))).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
    expect(() => keepMasked({ 'X-Token': MASK }, Object.create({ 'x-token': 'a' }))).toThrow()
  })
})
