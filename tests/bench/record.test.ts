import { expect, test } from 'bun:test'
import type { Figure } from '../../bench/support/figure.ts'
import { regressionsIn } from '../../bench/support/record.ts'

const same = { median: 1, low: 1, high: 1 }
const figure = (unit: string, low: number, high: number): Figure => ({
  ...{ name: 'x', unit, subject: same, floor: same },
  ratio: { median: (low + high) / 2, low, high },
})

test.each<[string, number, number, boolean]>([
  ['req/s', 0.2, 0.41, false],
  ['req/s', 0.2, 0.39, true],
  ['µs', 0.62, 2, false],
  ['µs', 0.63, 2, true],
  ['CPU ms/s', 0.63, 2, true],
])('A ratio in %s is a regression if its best round is: %p to %p', (unit, low, high, isOne) => {
  const recorded = { bench: { [`x (${unit})`]: 0.5 } }
  expect(regressionsIn({ bench: [figure(unit, low, high)] }, recorded).length > 0).toBe(isOne)
})

test('A figure without a record is reported', () => {
  expect(regressionsIn({ bench: [figure('µs', 1, 1)] }, {})).toEqual([
    'bench, x (µs): not recorded; run it with --record',
  ])
})
