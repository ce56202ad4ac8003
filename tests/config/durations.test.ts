import { describe, expect, test } from 'bun:test'
import { formatDuration, parseDuration } from '../../src/config/durations.ts'

describe('a duration is a whole number with a unit, or several from large to small', () => {
  test.each([
    ['250ms', 250],
    ['0s', 0],
    ['0ms', 0],
    ['90s', 90_000],
    ['5m', 300_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
    ['1h30m', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['007s', 7000],
  ])('%j is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })
})

describe('anything else is no duration', () => {
  test.each([
    [''],
    ['5'],
    ['s'],
    ['5 s'],
    [' 5s'],
    ['5s\n'],
    ['-5s'],
    ['+5s'],
    ['1.5h'],
    ['5S'],
    ['5min'],
    ['1w'],
    ['30m1h'],
    ['1h1h'],
    ['1e3s'],
    ['٣s'],
    ['Infinityd'],
    ['5s\u0000'],
    ['999999999999999999999d'],
    ['104249992d'],
  ])('%j', (text) => {
    expect(parseDuration(text)).toBeUndefined()
  })
})

describe('a duration is shown in the largest unit that needs no fraction', () => {
  test.each([
    [0, '0s'],
    [1, '1ms'],
    [1500, '1500ms'],
    [60_000, '1m'],
    [90_000, '90s'],
    [5_400_000, '90m'],
    [86_400_000, '1d'],
    [90_000_000, '25h'],
  ])('%d ms as %s, which reads back the same', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
    expect(parseDuration(text)).toBe(ms)
  })
})
