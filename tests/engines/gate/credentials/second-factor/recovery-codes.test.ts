import { expect, test } from 'bun:test'
import {
  newRecoveryCodes,
  normaliseRecoveryCode,
  shownRecoveryCode,
} from '../../../../../src/engines/gate/credentials/second-factor/recovery-codes.ts'

test('There are ten different codes of eight characters without look-alikes', () => {
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
  ...['vk3m-01z9', 'vk3m01z9', 'VK3M-01Z9', '  vk3m 01z9\n', 'vk3m–01z9', 'vk3m−01z9'],
  ...[
    'vk-3m-01-z9',
    'vk3m-OlZ9',
    'vk3m-oIz9',
    'Uk3m-01z9',
    'ｖｋ３ｍ－０１ｚ９',
    'vk3m01z9'.padEnd(64),
  ],
])('A code may be typed as %p', (typed) => expect(normaliseRecoveryCode(typed)).toBe('vk3m01z9'))

test.each([
  ...['', 'vk3m-01z', 'vk3m-01z99', 'vk3m-01z!', 'vk3m.01z9', 'vk3m-01zß', 'vk3m-01z\0'],
  ...['vk3m01z9'.padEnd(65), `vk3m01z9${' '.repeat(1_000_000)}`],
])('%p is not a code', (typed) => expect(normaliseRecoveryCode(typed)).toBeUndefined())

test('A code is shown in two groups', () => expect(shownRecoveryCode('vk3m01z9')).toBe('vk3m-01z9'))
