import { describe, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import * as standardWebhooks from 'standardwebhooks'
import * as svix from 'svix'
import { sign } from '../../src/delivery/signing.ts'
import { newSecret, secretBytes } from '../../src/delivery/signing-secrets.ts'

const BODY = '{"type":"user.created","data":{"name":"Zoë 🙂","n":1.0}}'
const ID = 'msg_1'
const TIMESTAMP = 1_900_000_000

/** What the receiver gets, with the libraries' clock set to the moment of the attempt. */
function received(body: string, secrets: string[], verify: (headers: Headers) => unknown) {
  const { standard } = sign({ id: ID, timestamp: TIMESTAMP, body, secrets })
  setSystemTime(TIMESTAMP * 1000)
  try {
    return verify({
      'webhook-id': ID,
      'webhook-timestamp': `${TIMESTAMP}`,
      'webhook-signature': standard,
    })
  } finally {
    setSystemTime()
  }
}

type Headers = Record<string, string>

/** Written from the receiver's side: splits the header and tries each digest. */
function verifyService(header: string, body: string | Uint8Array, secret: string): boolean {
  const fields = header.split(',').map((field) => field.split('='))
  const time = fields.find(([name]) => name === 't')?.[1]
  const mac = createHmac('sha256', Buffer.from(secret, 'utf8'))
  mac.update(Buffer.concat([Buffer.from(`${time}.`), Buffer.from(body)]))
  const expected = mac.digest('hex')
  return fields.some(([name, value]) => name === 'v1' && value === expected)
}

describe('the standard signature', () => {
  test('is that of the published vector', () => {
    const { standard } = sign({
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      timestamp: 1_614_265_330,
      body: '{"test": 2432232314}',
      secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
    })
    expect(standard).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  const [current, old, foreign] = [newSecret(), newSecret(), newSecret()]
  const secrets = [current, old]

  test.each([
    ['current', current],
    ['old', old],
  ])('convinces the library of Standard Webhooks by the %s key', (_, secret) => {
    const webhook = new standardWebhooks.Webhook(secret)
    expect(received(BODY, secrets, (headers) => webhook.verify(BODY, headers))).toEqual(
      JSON.parse(BODY),
    )
  })

  test.each([
    ['current', current],
    ['old', old],
  ])('convinces the library of Svix by the %s key', (_, secret) => {
    const webhook = new svix.Webhook(secret)
    expect(() => received(BODY, secrets, (headers) => webhook.verify(BODY, headers))).not.toThrow()
  })

  test('fails with a key that was not signed with, and for another body', () => {
    const verify = (secret: string, body: string) =>
      received(BODY, secrets, (headers) => new svix.Webhook(secret).verify(body, headers))
    expect(() => verify(foreign, BODY)).toThrow('No matching signature')
    expect(() => verify(current, `${BODY} `)).toThrow('No matching signature')
  })

  test.each([24, 64, 75])('verifies with a key of %d bytes', (count) => {
    const secret = `whsec_${Buffer.alloc(count, 0xfe).toString('base64')}`
    const webhook = new standardWebhooks.Webhook(secret)
    expect(() => received(BODY, [secret], (headers) => webhook.verify(BODY, headers))).not.toThrow()
  })

  test('is one entry for each secret, in their order, with blanks between', () => {
    const expected = [current, old].map((secret) => {
      const mac = createHmac('sha256', secretBytes(secret)).update(`${ID}.${TIMESTAMP}.${BODY}`)
      return `v1,${mac.digest('base64')}`
    })
    expect(sign({ id: ID, timestamp: TIMESTAMP, body: BODY, secrets }).standard).toBe(
      expected.join(' '),
    )
  })
})

describe('the service signature', () => {
  const [current, old, foreign] = [newSecret(), newSecret(), newSecret()]
  const signed = (body: string | Uint8Array, secrets: string[]) =>
    sign({ id: ID, timestamp: TIMESTAMP, body, secrets }).service

  test('names the time and one hexadecimal digest for each secret', () => {
    expect(signed(BODY, [current])).toMatch(/^t=1900000000,v1=[0-9a-f]{64}$/)
    expect(signed(BODY, [current, old])).toMatch(/^t=1900000000,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
    expect(signed(BODY, [current, old])).toStartWith(signed(BODY, [current]))
  })

  test('verifies with the current and the old secret, each taken as the text that it is', () => {
    const header = signed(BODY, [current, old])
    expect(verifyService(header, BODY, current)).toBe(true)
    expect(verifyService(header, BODY, old)).toBe(true)
    expect(verifyService(header, BODY, foreign)).toBe(false)
    expect(verifyService(header, BODY, current.slice('whsec_'.length))).toBe(false)
    expect(verifyService(header, `${BODY} `, current)).toBe(false)
  })

  test('depends on the time but not on the message id', () => {
    const of = (id: string, timestamp: number) =>
      sign({ id, timestamp, body: BODY, secrets: [current] }).service
    expect(of('a', 1)).toBe(of('b', 1))
    expect(of('a', 1).slice(-64)).not.toBe(of('a', 2).slice(-64))
  })

  test('covers bytes that are no UTF-8', () => {
    const body = Uint8Array.of(0, 0xff, 0xfe, 0x80)
    expect(verifyService(signed(body, [current]), body, current)).toBe(true)
  })
})

test.each(['', '{}', BODY, 'é'.repeat(70_000)])('text and its UTF-8 are signed alike', (text) => {
  const secrets = [newSecret(), newSecret()]
  const bytes = new TextEncoder().encode(text)
  expect(sign({ id: ID, timestamp: TIMESTAMP, body: bytes, secrets })).toEqual(
    sign({ id: ID, timestamp: TIMESTAMP, body: text, secrets }),
  )
})
