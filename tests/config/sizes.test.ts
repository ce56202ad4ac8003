import { describe, expect, test } from 'bun:test'
import { formatSize, parseSize } from '../../src/config/sizes.ts'

describe('a size is a whole number of B, KB, MB or GB, and a KB is 1024 bytes', () => {
  test.each([
    ['0B', 0],
    ['512B', 512],
    ['64KB', 65_536],
    ['1MB', 1_048_576],
    ['1GB', 1_073_741_824],
  ])('%j is %d bytes and is shown so', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes)
    expect(formatSize(bytes)).toBe(text)
  })

  test('a size that no larger unit divides is shown in a smaller one', () => {
    expect(formatSize(1536)).toBe('1536B')
    expect(formatSize(2048 * 1024)).toBe('2MB')
  })
})

describe('anything else is no size', () => {
  test.each([
    [''],
    ['1'],
    ['KB'],
    ['1 MB'],
    ['1mb'],
    ['1MiB'],
    ['1TB'],
    ['-1KB'],
    ['0.5MB'],
    ['1KB1B'],
    ['1KB\n'],
    ['99999999999999999999GB'],
  ])('%j', (text) => {
    expect(parseSize(text)).toBeUndefined()
  })
})
