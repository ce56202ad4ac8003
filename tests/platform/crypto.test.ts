import { expect, test } from 'bun:test'
import { checkDigits, randomBase62, sha256 } from '../../src/platform/crypto.ts'
import { random } from '../../src/platform/random.ts'

const countsOf = (values: Iterable<string | number>) =>
  [...Map.groupBy(values, (value) => value).values()].map((group) => group.length)

test('SHA-256 agrees with its published vector', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})

test('Random text has the given length and uses 62 characters about equally', () => {
  const text = randomBase62(62_000)
  expect(text).toMatch(/^[0-9A-Za-z]{62000}$/)
  const counts = countsOf(text)
  expect(counts).toHaveLength(62)
  expect(Math.min(...counts)).toBeGreaterThan(800)
  expect(Math.max(...counts)).toBeLessThan(1200)
})

test('Random numbers are spread evenly from 0 to below 1', () => {
  const counts = countsOf(Array.from({ length: 10_000 }, () => Math.floor(random() * 10)))
  expect(counts).toHaveLength(10)
  // 1000 each, give or take ten standard deviations.
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(300)
})

test('Check digits are CRC-32 in six base62 digits and change with every character', () => {
  // The published check value, 0xcbf43926.
  expect(checkDigits('123456789')).toBe('3jZRME')
  expect(checkDigits('')).toBe('000000')
  const text = randomBase62(37)
  for (let at = 0; at < text.length; at++) {
    const changed = `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
    expect(checkDigits(changed)).not.toBe(checkDigits(text))
  }
})
