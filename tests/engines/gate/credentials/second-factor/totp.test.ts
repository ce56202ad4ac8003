import { expect, test } from 'bun:test'
import { HOTP, Secret, URI } from 'otpauth'
import {
  matchTotp,
  newTotpSecret,
  totpUri,
} from '../../../../../src/engines/gate/credentials/second-factor/totp.ts'

/** The key of the vectors in RFC 4226 and RFC 6238: the ASCII digits 1234567890, twice. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

const STEP_MS = 30_000
const codeOf = (counter: number) => HOTP.generate({ secret: Secret.fromBase32(SECRET), counter })
const match = (code: string, step: number, after: number | null = null) =>
  matchTotp({ secret: SECRET, code, now: step * STEP_MS, after })

test.each([
  ['755224', 0],
  ['287082', 1],
  ['359152', 2],
  ['969429', 3],
  ['338314', 4],
  ['254676', 5],
  ['287922', 6],
  ['162583', 7],
  ['399871', 8],
  ['520489', 9],
])('%s is the code of step %d (RFC 4226, appendix D)', (code, step) => {
  expect(match(code, step)).toBe(step)
})

test.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
])('in second %d the code is %s (RFC 6238, appendix B, its last six digits)', (second, code) => {
  const step = Math.floor(second / 30)
  expect(matchTotp({ secret: SECRET, code, now: second * 1000, after: null })).toBe(step)
})

test('A code is valid in its own step, the one before and the one after', () => {
  const code = codeOf(1000)

  const matched = [997, 998, 999, 1000, 1001, 1002, 1003].map((step) => match(code, step))

  expect(matched).toEqual([undefined, undefined, 1000, 1000, 1000, undefined, undefined])
})

test('A step has 30 seconds', () => {
  const at = (now: number) =>
    matchTotp({ secret: SECRET, code: codeOf(1000), now, after: null }) ?? 'none'

  expect([999 * STEP_MS - 1, 999 * STEP_MS].map(at)).toEqual(['none', 1000])
  expect([1002 * STEP_MS - 1, 1002 * STEP_MS].map(at)).toEqual([1000, 'none'])
})

test('No code is accepted twice, and none that is older than an accepted one', () => {
  expect(match(codeOf(1000), 1000, 999)).toBe(1000)
  expect(match(codeOf(1000), 1000, 1000)).toBeUndefined()
  expect(match(codeOf(1000), 1001, 1000)).toBeUndefined()
  expect(match(codeOf(999), 1000, 1000)).toBeUndefined()
  expect(match(codeOf(1001), 1000, 1000)).toBe(1001)
  expect(match(codeOf(0), 0, 0)).toBeUndefined()
})

test('Spaces in a code are ignored, up to 32 characters', () => {
  expect(match('287 082', 1)).toBe(1)
  expect(match(' 2 8 7 0 8 2\n', 1)).toBe(1)
  expect(match('287\u00a0082', 1)).toBe(1)
  expect(match('287082'.padEnd(32), 1)).toBe(1)
  expect(match('287082'.padEnd(33), 1)).toBeUndefined()
})

test.each([
  '',
  '28708',
  '2870820',
  '0287082',
  '28708a',
  '-87082',
  '287.082',
  '287-082',
  '２８７０８２',
  '287082\0',
  `287082${' '.repeat(1_000_000)}`,
])('%p is not a code', (code) => {
  expect(match(code, 1)).toBeUndefined()
})

test('A wrong code and the code of another secret are refused', () => {
  expect(match('287083', 1)).toBeUndefined()
  const now = 1000 * STEP_MS
  expect(matchTotp({ secret: newTotpSecret(), code: codeOf(1000), now, after: null })).toBe(
    undefined,
  )
})

test('A secret has 160 random bits in base32', () => {
  const secrets = Array.from({ length: 100 }, newTotpSecret)

  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(new Set(secrets).size).toBe(100)
  expect(Secret.fromBase32(secrets[0] as string).bytes).toHaveLength(20)
})

test('An authenticator reads the URI', () => {
  const uri = totpUri({ secret: SECRET, issuer: 'Acme', account: 'anna@example.com' })

  expect(uri).toBe(
    `otpauth://totp/Acme:anna%40example.com?issuer=Acme&secret=${SECRET}` +
      '&algorithm=SHA1&digits=6&period=30',
  )
  expect(URI.parse(uri).generate({ counter: 1, timestamp: 59_000 })).toBe('287082')
})

test.each([
  ['a colon, which would end it', 'Acme: Shop', 'Acme Shop'],
  ['parameters', 'A&secret=AAAA?issuer=B#c', 'A&secret=AAAA?issuer=B#c'],
  ['a slash and a percent sign', 'a/../b %3A c', 'a/../b %3A c'],
  ['line breaks and tabs', 'Ac\r\n\tme', 'Ac me'],
  ['marks that turn the direction of writing', 'Acme\u202egpj', 'Acme gpj'],
  ['half of a pair of surrogates', 'Acme \ud83d', 'Acme'],
  ['letters of other scripts', 'Münchner Küche 株式会社', 'Münchner Küche 株式会社'],
  ['blanks around it', '  Acme  ', 'Acme'],
  ['nothing that can be seen', ' :\u200b: ', ''],
])('An issuer with %s is shown in one line', (_, name, shown) => {
  const uri = totpUri({ secret: SECRET, issuer: name, account: 'anna@example.com' })

  const { issuer, label, secret } = URI.parse(uri)
  expect({ issuer, label, secret: secret.base32 }).toEqual({
    issuer: shown,
    label: 'anna@example.com',
    secret: SECRET,
  })
})

test('Long names are truncated, so that the URI fits into a QR code', () => {
  const uri = totpUri({ secret: SECRET, issuer: '🐎'.repeat(1000), account: 'ü'.repeat(1000) })

  const { issuer, label } = URI.parse(uri)
  expect(issuer).toBe('🐎'.repeat(10))
  expect(label).toBe('ü'.repeat(42))
  expect(uri.length).toBeLessThanOrEqual(620)
})
