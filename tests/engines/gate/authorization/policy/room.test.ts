import { describe, expect, test } from 'bun:test'
import { createPdp } from '../../../../../src/engines/gate/authorization/policy/pdp.ts'
import { refusalOf, seeded } from '../../identities/documents/support.ts'
import { question, TENANT } from './support.ts'

/** Each goes around an expression; repeated ones are chosen more often. */
const WRAPS: readonly [before: string, after: string][] = [
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

const policy = (condition: string) => `permit (principal, action, resource) when { ${condition} };`

const wrapped = (wraps: readonly (readonly [string, string])[]) =>
  policy(wraps.reduceRight((inner, [before, after]) => before + inner + after, 'context.no'))

/** The largest number of them that the check accepts. */
function mostOf(wraps: readonly (readonly [string, string])[], passes: (text: string) => boolean) {
  let [passing, refused] = [0, wraps.length]
  while (refused - passing > 1) {
    const count = (passing + refused) >> 1
    if (passes(wrapped(wraps.slice(0, count)))) passing = count
    else refused = count
  }
  return passing
}

describe('The deepest accepted policies can be evaluated', () => {
  const pdp = createPdp()
  let version = 0
  const passes = (text: string) => refusalOf(() => pdp.check(text)) === undefined
  const reasonOf = (text: string) =>
    pdp.decide(question({ context: { a: true, no: false } }), {
      tenantId: TENANT,
      version: ++version,
      text,
    }).reason

  function expectEvaluated(wraps: readonly (readonly [string, string])[]) {
    const most = mostOf(wraps, passes)
    expect(most).toBeGreaterThan(40)
    expect(reasonOf(wrapped(wraps.slice(0, most)))).not.toContain('could not be evaluated')
    expect(reasonOf(wrapped(wraps.slice(0, most + 1)))).toStartWith('unusable policies: ')
  }

  test.each(WRAPS.slice(2))('within %p %p only', (before, after) => {
    expectEvaluated(Array(400).fill([before, after]))
  })

  test.each(Array.from({ length: 24 }, (_, seed) => seed))('at random, seed %i', (seed) => {
    const below = seeded(seed)
    const kinds = WRAPS.slice(0, 3 + below(WRAPS.length - 2))
    expectEvaluated(
      Array.from({ length: 400 }, () => kinds[below(kinds.length)] as [string, string]),
    )
  })
})
