import { expect, test } from 'bun:test'
import { seeded } from '../../identities/documents/support.ts'
import { decide, permitWhen, refusal } from './support.ts'

type Wrap = readonly [before: string, after: string]

/** Each goes around an expression; repeated ones are chosen more often. */
const WRAPS: readonly Wrap[] = [
  ['(', ')'],
  ['(', ')'],
  ['(', ')'],
  ['context["a"] == (', ')'],
  ['if (', ') then true else false'],
  ['if true then (', ') else false'],
  ['!(', ')'],
  ['context.no || (', ')'],
  ['[', '].isEmpty()'],
  ['{a: ', '}.a'],
  ['principal in [', ']'],
  ['ip(', ')'],
]

const wrapped = (wraps: readonly Wrap[]) =>
  permitWhen(wraps.reduceRight((inner, [before, after]) => before + inner + after, 'context.no'))

/** The deepest text that passes the check can be evaluated, and one level more does not pass. */
function expectEvaluated(wraps: readonly Wrap[]) {
  const textOf = (count: number) => wrapped(wraps.slice(0, count))
  let [passing, refused] = [40, wraps.length]
  while (refused - passing > 1) {
    const count = (passing + refused) >> 1
    if (refusal(textOf(count)) === '') passing = count
    else refused = count
  }
  const reasonOf = (count: number) =>
    decide(textOf(count), { context: { a: true, no: false } }).reason
  expect(reasonOf(passing)).not.toMatch(/could not be evaluated|unusable/)
  expect(reasonOf(passing + 1)).toStartWith('unusable policies: ')
}

test.each(WRAPS.slice(2))('The deepest accepted policy can be evaluated: %p %p', (...wrap) =>
  expectEvaluated(Array(101).fill(wrap)),
)

test.each([1, 2, 3, 4])('So can the deepest accepted random policy, seed %i', (seed) => {
  const below = seeded(seed)
  const kinds = WRAPS.slice(0, 3 + below(WRAPS.length - 2))
  expectEvaluated(Array.from({ length: 101 }, () => kinds[below(kinds.length)] as Wrap))
})
