import { describe, expect, test } from 'bun:test'
import {
  checkSecret,
  liveSecrets,
  newSecret,
  rotate,
  type SigningSecret,
} from '../../src/delivery/signing-secrets.ts'

const NOW = 1_000_000
const HOUR = 3_600_000
const bytes = (count: number) => Buffer.alloc(count, 0xfb).toString('base64')
const current = (secret: string): SigningSecret => ({ secret, expiresAt: null })
const old = (secret: string, expiresAt: number): SigningSecret => ({ secret, expiresAt })

describe('new secrets', () => {
  test('are whsec_ and 32 bytes in padded base64 of the standard alphabet', () => {
    expect(newSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(() => checkSecret(newSecret())).not.toThrow()
  })

  test('differ', () => {
    expect(new Set(Array.from({ length: 1000 }, newSecret)).size).toBe(1000)
  })
})

describe('a given secret', () => {
  test.each([24, 25, 26, 32, 64, 75])('of %d bytes is taken', (count) => {
    expect(() => checkSecret(`whsec_${bytes(count)}`)).not.toThrow()
  })

  test.each([0, 1, 23, 76, 1000])('of %d bytes is refused', (count) => {
    expect(() => checkSecret(`whsec_${bytes(count)}`)).toThrow(
      `secret: must encode 24 to 75 bytes; this one has ${count}`,
    )
  })

  test.each([
    ['nothing', ''],
    ['no prefix', bytes(32)],
    ['another prefix', `whsk_${bytes(32)}`],
    ['a prefix of as many letters', `WHSEC_${bytes(32)}`],
    ['the URL alphabet', `whsec_${Buffer.alloc(32, 0xfb).toString('base64url')}`],
    ['the URL alphabet with padding', `whsec_${bytes(32).replaceAll('+', '-')}`],
    ['missing padding', `whsec_${bytes(32).replace('=', '')}`],
    ['too much padding', `whsec_${bytes(32)}=`],
    ['spare bits that are set', `whsec_${'A'.repeat(42)}B=`],
    ['a blank', `whsec_${bytes(32)} `],
    ['a line break', `whsec_${bytes(32)}\n`],
    ['a letter outside the alphabet', `whsec_é${bytes(32).slice(1)}`],
  ])('with %s is refused', (_, text) => {
    expect(() => checkSecret(text)).toThrow('secret: must be whsec_ followed by standard base64')
  })

  test('is invalid input, and is not repeated in the message', () => {
    try {
      checkSecret('whsec_swordfish')
      throw new Error('passed')
    } catch (error) {
      expect(error).toMatchObject({ kind: 'invalid' })
      expect(`${error}`).not.toContain('swordfish')
    }
  })
})

describe('rotation', () => {
  const later = { now: NOW, graceMs: HOUR }

  test('puts the next one first and lets the former current one expire after the grace', () => {
    expect(rotate([current('a')], 'b', later)).toEqual([current('b'), old('a', NOW + HOUR)])
  })

  test('without grace drops the former current one at once', () => {
    expect(rotate([current('a')], 'b', { now: NOW, graceMs: 0 })).toEqual([current('b')])
  })

  test('leaves older ones the end that they have, and removes those that are over', () => {
    const held = [current('d'), old('c', NOW + 1), old('b', NOW), old('a', NOW - 1)]
    expect(rotate(held, 'e', later)).toEqual([
      current('e'),
      old('d', NOW + HOUR),
      old('c', NOW + 1),
    ])
  })

  test('holds five secrets at most', () => {
    const four = [current('d'), old('c', NOW + 3), old('b', NOW + 2), old('a', NOW + 1)]
    const five = rotate(four, 'e', later)
    expect(five).toHaveLength(5)
    expect(() => rotate(five, 'f', later)).toThrow(
      'secret: cannot be added: 5 secrets are in use. Wait until an old one expires',
    )
    expect(() => rotate(five, 'f', later)).toThrow(expect.objectContaining({ kind: 'conflict' }))
    expect(rotate(five, 'f', { now: NOW, graceMs: 0 })).toEqual([current('f')])
    expect(rotate(five, 'f', { now: NOW + 1, graceMs: HOUR })).toHaveLength(5)
  })

  test('back to one that is still held keeps it once, as the current one', () => {
    const held = [current('b'), old('a', NOW + 5)]
    expect(rotate(held, 'a', later)).toEqual([current('a'), old('b', NOW + HOUR)])
    expect(rotate(held, 'b', later)).toEqual([current('b'), old('a', NOW + 5)])
  })

  test('of an endpoint without a secret gives it its first, and changes no list in place', () => {
    const held = Object.freeze([Object.freeze(current('a'))])
    expect(rotate([], 'a', later)).toEqual([current('a')])
    rotate(held, 'b', later)
    expect(held).toEqual([current('a')])
  })
})

test('live are the current secret, first, and the old ones until the moment that they expire', () => {
  const held = [old('a', NOW), old('b', NOW + 1), current('d'), old('c', NOW + 2)]
  expect(liveSecrets(held, NOW - 1)).toEqual(['d', 'a', 'b', 'c'])
  expect(liveSecrets(held, NOW)).toEqual(['d', 'b', 'c'])
  expect(liveSecrets(held, NOW + 2)).toEqual(['d'])
  expect(liveSecrets([], NOW)).toEqual([])
})
