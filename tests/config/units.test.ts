import { expect, test } from 'bun:test'
import { formatDuration, parseDuration } from '../../src/config/durations.ts'
import { nearest } from '../../src/config/nearest.ts'
import { formatSize, parseSize } from '../../src/config/sizes.ts'

test.each<[string, number, string?]>([
  ['250ms', 250],
  ['0s', 0],
  ['0ms', 0, '0s'],
  ['1ms', 1],
  ['1500ms', 1500],
  ['60s', 60_000, '1m'],
  ['90s', 90_000],
  ['5m', 300_000],
  ['24h', 86_400_000, '1d'],
  ['25h', 90_000_000],
  ['30d', 2_592_000_000],
  ['1h30m', 5_400_000, '90m'],
  ['1d2h3m4s5ms', 93_784_005, '93784005ms'],
  ['007s', 7000, '7s'],
])('The duration %s is %d ms', (text, ms, shown = text) => {
  expect(parseDuration(text)).toBe(ms)
  expect(formatDuration(ms)).toBe(shown)
  expect(parseDuration(shown)).toBe(ms)
})

test('Other text is no duration', () => {
  const texts = `5 s -5s +5s 1.5h 5S 5min 1w 30m1h 1h1h 1e3s ٣s Infinityd 999999999999999999999d
    104249992d`.split(/\s+/)
  for (const text of ['', '5 s', ' 5s', '5s\n', '5s\u0000', ...texts])
    expect(parseDuration(text), text).toBeUndefined()
})

test.each<[string, number, string?]>([
  ['0B', 0],
  ['512B', 512],
  ['1536B', 1536],
  ['64KB', 65_536],
  ['2048KB', 2_097_152, '2MB'],
  ['1MB', 1_048_576],
  ['1GB', 1_073_741_824],
])('The size %s is %d bytes', (text, bytes, shown = text) => {
  expect(parseSize(text)).toBe(bytes)
  expect(formatSize(bytes)).toBe(shown)
})

test('Other text is no size', () => {
  const texts = '1 KB 1mb 1MiB 1TB -1KB 0.5MB 1KB1B 99999999999999999999GB'.split(' ')
  for (const text of ['', '1 MB', '1KB\n', ...texts]) expect(parseSize(text), text).toBeUndefined()
})

test('A typing error leads to the nearest name, another word to none', () => {
  const names = ['host', 'port', 'base_url', 'trusted_proxies', 'max_body']
  for (const word of ['prot', 'prt', 'ports']) expect(nearest(word, names)).toBe('port')
  for (const word of ['baseurl', 'base-url']) expect(nearest(word, names)).toBe('base_url')
  expect(nearest('trusted_proxy', names)).toBe('trusted_proxies')
  expect(nearest('max_boddy', names)).toBe('max_body')
  for (const word of ['colour', 'p', '', '__proto__', 'x'.repeat(1_000_000)])
    expect(nearest(word, names)).toBeUndefined()
  expect(nearest('port', [])).toBeUndefined()
})
