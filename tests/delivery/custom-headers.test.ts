import { expect, test } from 'bun:test'
import { checkCustomHeaders, keepMasked, maskHeaders } from '../../src/delivery/custom-headers.ts'
import { isSensitive, MASK } from '../../src/platform/secret-headers.ts'
import { ruleOf } from '../engines/gate/identities/documents/support.ts'

const check = (headers: Record<string, string>, brand = 'Service') =>
  ruleOf(() => checkCustomHeaders(headers, brand))

const many = (count: number, value: string) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`X-${at + 100}`, value]))

/** 16 KB in all. */
const FULL = many(4, 'a'.repeat(4096 - 'X-100'.length))

test.each<[Record<string, string>, string | undefined]>([
  [many(50, 'a'), undefined],
  [many(51, 'a'), 'headers too_many'],
  [{ 'X-A': 'é'.repeat(4096) }, undefined],
  [{ 'X-A': 'a'.repeat(4097) }, 'headers.X-A too_large'],
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

test('Names of the connection, of standards and of the own brand are reserved in every spelling', () => {
  for (const name of [
    ...['host', 'content-length', 'content-type', 'content-encoding', 'transfer-encoding'],
    ...['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'expect', 'user-agent'],
    ...['proxy-authorization', 'proxy-x', 'http2-settings', 'x-service-anything'],
    ...['webhook-id', 'webhook-signature', 'webhook-x', 'svix-id', 'x-svix-id'],
  ])
    for (const spelled of [name, name.toUpperCase(), name.replaceAll('-', '_')])
      expect(check({ [spelled]: 'a' })).toBe(`headers.${spelled} reserved`)
  for (const name of [
    ...['Authorization', 'Cookie', 'Accept', 'X-Serviced', 'X-Service', 'Webhook', 'X-Webhook-Id'],
    ...['Hostname', 'Proxy', 'Content-Language', '__proto__'],
  ])
    expect([name, check(Object.fromEntries([[name, 'a']]))]).toEqual([name, undefined])
  expect(check({ 'x-acme-inc-trigger': 'a' }, 'Acme-Inc')).toEndWith('reserved')
  expect(check({ 'X-Service-Signature': 'a' }, 'Acme-Inc')).toBeUndefined()
})

test('Names of credentials are sensitive in every spelling, and others are not', () => {
  for (const name of [
    ...['Authorization', 'X-Auth-Token', 'X-Amz-Security-Token', 'Cookie', 'X-Client-Secret'],
    ...['X-Password', 'X-Passphrase', 'X-Api-Key', 'x_api_key', 'APIKEY', 'X-ApiKey-Id'],
    ...['Ocp-Apim-Subscription-Key', 'Key', 'X-Hub-Signature', 'X-Credentials', 'X-Session-Id'],
    ...['X-JWT', 'X-Vercel-Protection-Bypass'],
  ])
    for (const spelled of [name, name.toLowerCase(), name.toUpperCase()])
      expect([spelled, isSensitive(spelled)]).toEqual([spelled, true])
  const others = ['Accept', 'X-Env', 'X-Tenant', 'X-Request-Source', 'X-Keyboard', 'X-Monkey']
  expect([...others, 'X-Api'].filter(isSensitive)).toEqual([])
})

test('A masked value hides a sensitive one, and keeps it when it is written back', () => {
  const stored = Object.freeze({ Authorization: 'Bearer x', 'X-Env': 'eu', 'X-Token': '' })
  expect(maskHeaders(stored)).toEqual({ Authorization: MASK, 'X-Env': 'eu', 'X-Token': MASK })
  expect(keepMasked(maskHeaders(stored), stored)).toEqual(stored)
  expect(keepMasked({ 'x-token': MASK }, { 'X-Token': 'a' })).toEqual({ 'x-token': 'a' })
  const others = { 'X-Token': `${MASK}*`, 'X-Env': 'us' }
  expect(keepMasked(others, stored)).toEqual(others)
  const headers = JSON.parse('{"__proto__":"a","constructor":"b"}')
  expect(JSON.stringify(keepMasked(maskHeaders(headers), {}))).toBe(JSON.stringify(headers))
})

test('A masked value is refused for a sensitive header that is not stored, and ordinary for another', () => {
  for (const others of [{}, { 'X-Other-Token': 'a' }, Object.create({ 'x-token': 'a' })])
    expect(ruleOf(() => keepMasked({ 'X-Token': MASK }, others))).toBe('headers.X-Token mismatch')
  expect(keepMasked({ 'X-Stars': MASK }, {})).toEqual({ 'X-Stars': MASK })
})
