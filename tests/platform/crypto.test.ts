import { expect, test } from 'bun:test'
import { checkDigits, randomBase62, sha256 } from '../../src/platform/crypto.ts'

test('SHA-256 agrees with its published vector', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('random text has the asked length and uses each of 62 characters about equally', () => {
  const text = randomBase62(62_000)
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)

  expect(text).toMatch(/^[0-9A-Za-z]{62000}$/)
  expect(counts.size).toBe(62)
  for (const count of counts.values()) {
    expect(count).toBeGreaterThan(800)
    expect(count).toBeLessThan(1200)
  }
})

test('check digits are CRC-32 in six base62 digits, and change with every changed character', () => {
  expect(checkDigits('123456789')).toBe(base62(0xcbf43926))
  expect(checkDigits('')).toBe('000000')
  const text = randomBase62(37)
  for (let at = 0; at < text.length; at++) {
    const changed = `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
    expect(checkDigits(changed)).not.toBe(checkDigits(text))
  }
})

function base62(value: number): string {
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  return value === 0 ? '' : (base62(Math.floor(value / 62)) + digits[value % 62]).padStart(1)
}
