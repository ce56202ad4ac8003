import { expect, test } from 'bun:test'
import {
  newRecoveryCodes,
  normaliseRecoveryCode,
  shownRecoveryCode,
} from '../../../../../src/engines/gate/credentials/second-factor/recovery-codes.ts'

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'

test('There are ten codes of eight characters, all different', () => {
  const codes = newRecoveryCodes()

  expect(codes).toHaveLength(10)
  for (const code of codes) expect(code).toMatch(/^[0-9a-z]{8}$/)
  expect(new Set(codes).size).toBe(10)
  expect(newRecoveryCodes().filter((code) => codes.includes(code))).toEqual([])
})

test('All 32 characters without look-alikes are about equally frequent in every position', () => {
  const codes = Array.from({ length: 1600 }, newRecoveryCodes).flat()
  for (const place of [0, 1, 2, 3, 4, 5, 6, 7]) {
    const counts = new Map<string, number>()
    for (const code of codes) {
      const character = code[place] as string
      counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    expect([...counts.keys()].sort().join('')).toBe(ALPHABET)
    // 500 expected: eight standard deviations to either side.
    for (const count of counts.values()) {
      expect(count).toBeGreaterThan(320)
      expect(count).toBeLessThan(680)
    }
  }
})

test('A code is the same once normalized, with or without its dash', () => {
  for (const code of newRecoveryCodes()) {
    expect(normaliseRecoveryCode(code)).toBe(code)
    expect(normaliseRecoveryCode(shownRecoveryCode(code))).toBe(code)
  }
  expect(shownRecoveryCode('vk3m01z9')).toBe('vk3m-01z9')
  expect(normaliseRecoveryCode('vk3m01z9'.padEnd(64))).toBe('vk3m01z9')
  expect(normaliseRecoveryCode('vk3m01z9'.padEnd(65))).toBeUndefined()
})

test.each([
  ['as it is shown', 'vk3m-01z9'],
  ['without the dash', 'vk3m01z9'],
  ['in capitals', 'VK3M-01Z9'],
  ['with blanks', '  vk3m 01z9\n'],
  ['with a dash that a word processor made of it', 'vk3m–01z9'],
  ['with the minus sign', 'vk3m−01z9'],
  ['in groups of two', 'vk-3m-01-z9'],
  ['with letters for the digits', 'vk3m-OlZ9'],
  ['with the other letter for the one', 'vk3m-oIz9'],
  ['with u for v', 'Uk3m-01z9'],
  ['in wide letters', 'ｖｋ３ｍ－０１ｚ９'],
])('A code typed %s is the same code', (_, typed) => {
  expect(normaliseRecoveryCode(typed)).toBe('vk3m01z9')
})

test.each([
  '',
  'vk3m-01z',
  'vk3m-01z99',
  'vk3m-01z!',
  'vk3m.01z9',
  'vk3m-01zß',
  'vk3m-01z\0',
  `vk3m01z9${' '.repeat(1_000_000)}`,
])('%p is not a code', (typed) => {
  expect(normaliseRecoveryCode(typed)).toBeUndefined()
})
