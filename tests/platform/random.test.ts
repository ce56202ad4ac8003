import { expect, test } from 'bun:test'
import { random } from '../../src/platform/random.ts'

test('chance is spread evenly from 0 up to, but never, 1', () => {
  const tenths = Array.from({ length: 10 }, () => 0)
  for (let draw = 0; draw < 100_000; draw++) {
    const tenth = Math.floor(random() * 10)
    tenths[tenth] = (tenths[tenth] ?? Number.NaN) + 1
  }

  expect(tenths).toHaveLength(10)
  // 10,000 each, give or take ten standard deviations.
  for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(950)
})
