import { describe, expect, test } from 'bun:test'
import {
  checkCustomHeaders,
  isSensitive,
  keepMasked,
  MASK,
  maskHeaders,
} from '../../src/delivery/custom-headers.ts'
import { ruleOf } from '../engines/gate/identities/documents/support.ts'

const check = (headers: Record<string, string>, brand = 'Service') =>
  ruleOf(() => checkCustomHeaders(headers, brand))

const many = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`X-${at + 100}`, value]))

/** 16 KB in all. */
const FULL = many(4, 'a'.repeat(4096 - 'X-100'.length))

test.each<[Record<string, string>, string | undefined]>([
  [{}, undefined],
  [many(50, 'a'), undefined],
  [many(51, 'a'), 'headers too_many'],
  [{ 'X-A': 'é'.repeat(4096) }, undefined],
  [{ 'X-A': 'a'.repeat(4097) }, 'headers.X-A too_large'],
  [{ 'X-A': 'a'.repeat(9000) }, 'headers.X-A too_large'],
  [FULL, undefined],
  [{ ...FULL, Y: '' }, 'headers too_large'],
  [{ '': 'a' }, 'headers format'],
  [{ 'X Space': 'a' }, 'headers format'],
  [{ 'X\nA': 'a'.repeat(5000) }, 'headers format'],
  [{ 'X-A': 'a\r\nX-B: b' }, 'headers.X-A characters'],
  [{ 'X-A': '🙂' }, 'headers.X-A characters'],
  [{ ['n'.repeat(257)]: 'a' }, 'headers too_long'],
  [{ 'X-A': '1', 'x-a': '2' }, 'headers.x-a duplicate'],
  [{ 'X-A': '1', X_A: '2', 'X-AB': '3' }, undefined],
])('Headers are checked: %#', (headers, rule) => expect(check(headers)).toBe(rule))

test.each([
  ...['host', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding'],
  ...['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'expect', 'user-agent'],
  ...['proxy-authorization', 'proxy-x', 'http2-settings', 'x-service-anything'],
  ...['webhook-id', 'webhook-signature', 'webhook-x', 'svix-id', 'x-svix-id'],
])('%s is reserved in every spelling', (name) => {
  for (const spelled of [name, name.toUpperCase(), name.replaceAll('-', '_')])
    expect(check({ [spelled]: 'a' })).toBe(`headers.${spelled} reserved`)
})

test.each([
  ...['Authorization', 'Cookie', 'Accept', 'X-Serviced', 'X-Service', 'Webhook', 'X-Webhook-Id'],
  ...['Hostname', 'Proxy', 'Content-Language', '__proto__'],
])('%s is not reserved', (name) => expect(check(Object.fromEntries([[name, 'a']]))).toBeUndefined())

test('Only the names of the own brand are reserved', () => {
  expect(check({ 'x-acme-inc-trigger': 'a' }, 'Acme-Inc')).toEndWith('reserved')
  expect(check({ 'X-Service-Signature': 'a' }, 'Acme-Inc')).toBeUndefined()
})

test.each([
  ...['Authorization', 'X-Auth-Token', 'X-Amz-Security-Token', 'Cookie', 'X-Client-Secret'],
  ...['X-Password', 'X-Passphrase', 'X-Api-Key', 'x_api_key', 'APIKEY', 'X-ApiKey-Id'],
  ...['Ocp-Apim-Subscription-Key', 'Key', 'X-Hub-Signature', 'X-Credentials', 'X-Session-Id'],
  ...['X-JWT', 'X-Vercel-Protection-Bypass'],
])('%s is sensitive', (name) => {
  for (const spelled of [name, name.toLowerCase(), name.toUpperCase()])
    expect(isSensitive(spelled)).toBe(true)
})

test.each(['Accept', 'X-Env', 'X-Tenant', 'X-Request-Source', 'X-Keyboard', 'X-Monkey', 'X-Api'])(
  '%s is not sensitive',
  (name) => expect(isSensitive(name)).toBe(false),
)

describe('A masked value', () => {
  const stored = Object.freeze({ Authorization: 'Bearer x', 'X-Env': 'eu', 'X-Token': '' })

  test('hides a sensitive one, and keeps it when it is written back', () => {
    expect(maskHeaders(stored)).toEqual({ Authorization: MASK, 'X-Env': 'eu', 'X-Token': MASK })
    expect(keepMasked(maskHeaders(stored), stored)).toEqual(stored)
    expect(keepMasked({ 'x-token': MASK }, { 'X-Token': 'a' })).toEqual({ 'x-token': 'a' })
    const others = { 'X-Token': `${MASK}*`, 'X-Env': 'us' }
    expect(keepMasked(others, stored)).toEqual(others)
  })

  test('is refused for a sensitive header that is not stored, and ordinary for another', () => {
    for (const others of [{}, { 'X-Other-Token': 'a' }, Object.create({ 'x-token': 'a' })])
      expect(ruleOf(() => keepMasked({ 'X-Token': MASK }, others))).toBe('headers.X-Token mismatch')
    expect(keepMasked({ 'X-Stars': MASK }, {})).toEqual({ 'X-Stars': MASK })
  })

  test('works for names that all objects have', () => {
    const headers = JSON.parse('{"__proto__":"a","constructor":"b"}')
    const kept = Object.entries(keepMasked(maskHeaders(headers), {}))
    expect(kept).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
    ])
  })
})
