import { expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import * as standardWebhooks from 'standardwebhooks'
import * as svix from 'svix'
import { sign } from '../../src/delivery/signing.ts'
import {
  checkSecret,
  liveSecrets,
  newSecret,
  rotate,
  type SigningSecret,
} from '../../src/delivery/signing-secrets.ts'
import { refusalOf, ruleOf } from '../engines/gate/identities/documents/support.ts'

const BODY = '{"type":"user.created","data":{"name":"Zoë 🙂","n":1.0}}'
const ID = 'msg_1'
const TIMESTAMP = 1_900_000_000

const signed = (body: string | Uint8Array, secrets: string[]) =>
  sign({ id: ID, timestamp: TIMESTAMP, body, secrets })

/** Verifies with one of the public libraries, whose clock is set to the attempt. */
function verify(Library: typeof svix.Webhook, secret: string, body: string, secrets: string[]) {
  setSystemTime(TIMESTAMP * 1000)
  try {
    const headers = { 'webhook-id': ID, 'webhook-timestamp': `${TIMESTAMP}` }
    const all = { ...headers, 'webhook-signature': signed(BODY, secrets).standard }
    return new Library(secret).verify(body, all)
  } finally {
    setSystemTime()
  }
}

const [current, old, foreign] = [newSecret(), newSecret(), newSecret()]

test('The standard signature is that of the published example', () => {
  const { standard } = sign({
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  })
  expect(standard).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test.each([
  ['Standard Webhooks', standardWebhooks.Webhook as unknown as typeof svix.Webhook],
  ['Svix', svix.Webhook],
])('The library of %s accepts each current secret, and no other secret or body', (_, Library) => {
  const secrets = [current, old]
  for (const secret of secrets) verify(Library, secret, BODY, secrets)
  expect(() => verify(Library, foreign, BODY, secrets)).toThrow('No matching signature')
  expect(() => verify(Library, current, `${BODY} `, secrets)).toThrow('No matching signature')
  for (const count of [24, 64, 75]) {
    const secret = `whsec_${Buffer.alloc(count, 0xfe).toString('base64')}`
    verify(Library, secret, BODY, [secret])
  }
})

test('The service signature has a digest per secret, over time and bytes', () => {
  const digest = (secret: string, body: string | Uint8Array) =>
    createHmac('sha256', secret).update(`${TIMESTAMP}.`).update(body).digest('hex')
  const both = `t=1900000000,v1=${digest(current, BODY)},v1=${digest(old, BODY)}`
  expect(signed(BODY, [current, old]).service).toBe(both)
  const bytes = Uint8Array.of(0, 0xff, 0xfe, 0x80)
  expect(signed(bytes, [old]).service).toBe(`t=1900000000,v1=${digest(old, bytes)}`)
  for (const text of ['', BODY, 'é'.repeat(70_000)])
    expect(signed(new TextEncoder().encode(text), [old])).toEqual(signed(text, [old]))
})

test('A secret is whsec_ and the base64 of 24 to 75 bytes, of which a new one has 32', () => {
  expect(current).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  expect(new Set(Array.from({ length: 1000 }, newSecret)).size).toBe(1000)
  const base64 = (count: number) => Buffer.alloc(count, 0xfb).toString('base64')
  const rule = (secret: string) => ruleOf(() => checkSecret(secret))
  for (const secret of [current, ...[24, 25, 26, 64, 75].map((count) => `whsec_${base64(count)}`)])
    expect([secret, rule(secret)]).toEqual([secret, undefined])
  for (const secret of ['whsec_', `whsec_${base64(23)}`, `whsec_${base64(76)}`])
    expect([secret, rule(secret)]).toEqual([secret, 'secret range'])
  const good = base64(32)
  for (const secret of [
    ...['', good, `whsk_${good}`, `WHSEC_${good}`, `whsec_${good.replaceAll('+', '-')}`],
    ...[`whsec_${Buffer.alloc(32, 0xfb).toString('base64url')}`, `whsec_${good.replace('=', '')}`],
    ...[`whsec_${good}=`, `whsec_${'A'.repeat(42)}B=`, `whsec_${good} `, `whsec_${good}\n`],
    `whsec_é${good.slice(1)}`,
  ])
    expect([secret, rule(secret)]).toEqual([secret, 'secret format'])
  const refusal = refusalOf(() => checkSecret('whsec_swordfish'))
  expect(refusal?.message).not.toContain('swordfish')
})

const NOW = 1_000_000
const HOUR = 3_600_000
const grace = { now: NOW, graceMs: HOUR }
const noGrace = { now: NOW, graceMs: 0 }
const live = (secret: string): SigningSecret => ({ secret, expiresAt: null })
const until = (secret: string, expiresAt: number): SigningSecret => ({ secret, expiresAt })

const aging = [live('b'), until('a', NOW + 5)]
const older = [live('d'), until('c', NOW + 1), until('b', NOW)]

test.each([
  ['the first secret', [], 'a', grace, [live('a')]],
  ['a grace period', [live('a')], 'b', grace, [live('b'), until('a', NOW + HOUR)]],
  ['no grace period', [live('a')], 'b', noGrace, [live('b')]],
  ['an expired one', older, 'e', grace, [live('e'), until('d', NOW + HOUR), until('c', NOW + 1)]],
  ['the previous secret', aging, 'a', grace, [live('a'), until('b', NOW + HOUR)]],
  ['the current secret', aging, 'b', grace, aging],
])('Rotation with %s', (_, held, secret, options, expected) => {
  expect(rotate(Object.freeze(held), secret, options)).toEqual(expected)
})

test('Rotation keeps up to five secrets', () => {
  const four = [live('d'), until('c', NOW + 3), until('b', NOW + 2), until('a', NOW + 1)]
  const five = rotate(four, 'e', grace)
  expect(five).toHaveLength(5)
  const refused = expect.objectContaining({ kind: 'conflict', field: 'secret' })
  expect(() => rotate(five, 'f', grace)).toThrow(refused)
  expect(rotate(five, 'f', noGrace)).toEqual([live('f')])
  expect(rotate(five, 'f', { now: NOW + 1, graceMs: HOUR })).toHaveLength(5)
})

test('Rotation signs with the current secret first, and with the others until they expire', () => {
  const held = [until('a', NOW), until('b', NOW + 1), live('d'), until('c', NOW + 2)]
  expect(liveSecrets(held, NOW - 1)).toEqual(['d', 'a', 'b', 'c'])
  expect(liveSecrets(held, NOW)).toEqual(['d', 'b', 'c'])
  expect(liveSecrets(held, NOW + 2)).toEqual(['d'])
  expect(liveSecrets([], NOW)).toEqual([])
})
