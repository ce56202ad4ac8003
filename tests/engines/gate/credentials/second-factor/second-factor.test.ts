import { expect, test } from 'bun:test'
import { HOTP, Secret, URI } from 'otpauth'
import {
  newRecoveryCodes,
  normaliseRecoveryCode,
  shownRecoveryCode,
} from '../../../../../src/engines/gate/credentials/second-factor/recovery-codes.ts'
import {
  matchTotp,
  newTotpSecret,
  totpUri,
} from '../../../../../src/engines/gate/credentials/second-factor/totp.ts'

/** The key of the vectors in RFC 4226 and RFC 6238: the ASCII digits 1234567890, twice. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

const STEP_MS = 30_000
const codeOf = (counter: number) => HOTP.generate({ secret: Secret.fromBase32(SECRET), counter })
const matchAt = (code: string, now: number, after: number | null = null) =>
  matchTotp({ secret: SECRET, code, now, after })
const match = (code: string, step: number, after: number | null = null) =>
  matchAt(code, step * STEP_MS, after)

test('Codes are those of RFC 4226, appendix D, and RFC 6238, appendix B', () => {
  const codes = '755224 287082 359152 969429 338314 254676 287922 162583 399871 520489'.split(' ')
  for (const [step, code] of codes.entries()) expect(match(code, step)).toBe(step)
  for (const [second, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ] as const)
    expect(matchAt(code, second * 1000)).toBe(Math.floor(second / 30))
})

test('A code is valid in its step of 30 seconds, the one before and the one after', () => {
  const first = 999 * STEP_MS
  const end = 1002 * STEP_MS
  const matched = [first - 1, first, 1000 * STEP_MS, end - 1, end].map((now) =>
    matchAt(codeOf(1000), now),
  )
  expect(matched).toEqual([undefined, 1000, 1000, 1000, undefined])
})

test('No code is accepted twice, or after a later one', () => {
  for (const [code, step, after, expected] of [
    [1000, 1000, 999, 1000],
    [1000, 1000, 1000, undefined],
    [1000, 1001, 1000, undefined],
    [999, 1000, 1000, undefined],
    [1001, 1000, 1000, 1001],
    [0, 0, 0, undefined],
  ] as const)
    expect(match(codeOf(code), step, after)).toBe(expected)
})

test('Spaces in a code are ignored, and nothing else', () => {
  for (const code of [' 2 8 7 0 8 2\n', '287\u00a0082', '287082'.padEnd(32)])
    expect(match(code, 1)).toBe(1)
  for (const code of [
    ...['', '28708', '2870820', '0287082', '28708a', '-87082', '287-082', '２８７０８２', '287083'],
    ...['287082\0', '287082'.padEnd(33), `287082${' '.repeat(1_000_000)}`],
  ])
    expect(match(code, 1)).toBeUndefined()
})

test('A secret has 160 random bits in base32, and its own codes', () => {
  const secrets = Array.from({ length: 20 }, newTotpSecret)
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/)
  expect(new Set(secrets).size).toBe(20)
  const [secret] = secrets as [string]
  expect(Secret.fromBase32(secret).bytes).toHaveLength(20)
  const now = 1000 * STEP_MS
  expect(matchTotp({ secret, code: codeOf(1000), now, after: null })).toBeUndefined()
})

test('An authenticator reads the URI', () => {
  const uri = totpUri({ secret: SECRET, issuer: 'Acme', account: 'anna@example.com' })
  const query = `issuer=Acme&secret=${SECRET}&algorithm=SHA1&digits=6&period=30`
  expect(uri).toBe(`otpauth://totp/Acme:anna%40example.com?${query}`)
  expect(URI.parse(uri).generate({ counter: 1, timestamp: 59_000 })).toBe('287082')
})

test.each([
  ['Acme: Shop', 'Acme Shop'],
  ['A&secret=AAAA?issuer=B#c', 'A&secret=AAAA?issuer=B#c'],
  ['  Ac\r\n\tme  ', 'Ac me'],
  ['Acme\u202egpj', 'Acme gpj'],
  ['Acme \ud83d', 'Acme'],
  ['Münchner Küche 株式会社', 'Münchner Küche 株式会社'],
  [' :\u200b: ', ''],
])('The issuer %p is shown as %p', (name, shown) => {
  const account = 'anna@example.com'
  const uri = URI.parse(totpUri({ secret: SECRET, issuer: name, account }))
  expect([uri.issuer, uri.label, uri.secret.base32]).toEqual([shown, account, SECRET])
})

test('Long names are truncated, so that the URI fits into a QR code', () => {
  const uri = totpUri({ secret: SECRET, issuer: '🐎'.repeat(1000), account: 'ü'.repeat(1000) })
  const { issuer, label } = URI.parse(uri)
  expect([issuer, label]).toEqual(['🐎'.repeat(10), 'ü'.repeat(42)])
  expect(uri.length).toBeLessThanOrEqual(620)
})

test('There are ten different recovery codes of eight characters without look-alikes', () => {
  const codes = newRecoveryCodes()
  expect(new Set([...codes, ...newRecoveryCodes()]).size).toBe(20)
  for (const code of codes) {
    expect(code).toMatch(/^[0-9a-z]{8}$/)
    for (const typed of [code, shownRecoveryCode(code)])
      expect(normaliseRecoveryCode(typed)).toBe(code)
  }
  const many = Array.from({ length: 600 }, newRecoveryCodes).flat()
  for (const place of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const counts = Map.groupBy(many, (code) => code[place])
    expect([...counts.keys()].sort().join('')).toBe('0123456789abcdefghjkmnpqrstvwxyz')
    // 188 expected, seven standard deviations to either side.
    for (const { length } of counts.values()) expect(Math.abs(length - 188)).toBeLessThan(95)
  }
})

test.each([
  ...['vk3m-01z9', 'VK3M01Z9', '  vk3m 01z9\n', 'vk3m–01z9', 'vk3m−01z9', 'vk-3m-01-z9'],
  ...['vk3m-OlZ9', 'vk3m-oIz9', 'Uk3m-01z9', 'ｖｋ３ｍ－０１ｚ９', 'vk3m01z9'.padEnd(64)],
])('A recovery code may be typed as %p', (typed) => {
  expect(normaliseRecoveryCode(typed)).toBe('vk3m01z9')
  expect(shownRecoveryCode('vk3m01z9')).toBe('vk3m-01z9')
})

test.each([
  ...['', 'vk3m-01z', 'vk3m-01z99', 'vk3m-01z!', 'vk3m.01z9', 'vk3m-01zß', 'vk3m-01z\0'],
  ...['vk3m01z9'.padEnd(65), `vk3m01z9${' '.repeat(1_000_000)}`],
])('%p is not a recovery code', (typed) => expect(normaliseRecoveryCode(typed)).toBeUndefined())
