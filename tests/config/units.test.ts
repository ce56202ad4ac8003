import { expect, test } from 'bun:test'
import { formatDuration, parseDuration } from '../../src/config/durations.ts'
import { nearest } from '../../src/config/nearest.ts'
import { formatSize, parseSize } from '../../src/config/sizes.ts'

/** Entries such as `60s 60000 1m`: a text, its value and, if it differs, how that is shown. */
const entriesOf = (table: string) =>
  table.split(',').map((entry) => {
    const [text = '', value, shown = text] = entry.trim().split(' ')
    return { text, value: Number(value), shown }
  })

test('A duration has units from milliseconds to days, and other text is none', () => {
  const durations = `250ms 250, 0s 0, 0ms 0 0s, 1ms 1, 1500ms 1500, 60s 60000 1m, 90s 90000, 5m 300000,
    24h 86400000 1d, 25h 90000000, 30d 2592000000, 1h30m 5400000 90m, 1d2h3m4s5ms 93784005 93784005ms,
    007s 7000 7s`
  for (const { text, value, shown } of entriesOf(durations)) {
    expect(parseDuration(text), text).toBe(value)
    expect(formatDuration(value)).toBe(shown)
    expect(parseDuration(shown)).toBe(value)
  }
  const others = `5 s -5s +5s 1.5h 5S 5min 1w 30m1h 1h1h 1e3s ٣s Infinityd 999999999999999999999d
    104249992d`.split(/\s+/)
  for (const text of ['', '5 s', ' 5s', '5s\n', '5s\u0000', ...others])
    expect(parseDuration(text), text).toBeUndefined()
})

test('A size has units from bytes to gigabytes, and other text is none', () => {
  const sizes = '0B 0, 512B 512, 1536B 1536, 64KB 65536, 2048KB 2097152 2MB, 1GB 1073741824'
  for (const { text, value, shown } of entriesOf(sizes)) {
    expect(parseSize(text), text).toBe(value)
    expect(formatSize(value)).toBe(shown)
  }
  const others = '1 KB 1mb 1MiB 1TB -1KB 0.5MB 1KB1B 99999999999999999999GB'.split(' ')
  for (const text of ['', '1 MB', '1KB\n', ...others]) expect(parseSize(text), text).toBeUndefined()
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
  const long = 'x'.repeat(80)
  expect(nearest(long, [`${long}y`])).toBe(`${long}y`)
  expect(nearest(`${long}y`, [long])).toBeUndefined()
})
