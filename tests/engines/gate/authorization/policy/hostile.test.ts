import { expect, test } from 'bun:test'
import { MAX_LEVELS } from '../../../../../src/engines/gate/authorization/policy/cost.ts'
import { seeded } from '../../identities/documents/support.ts'
import { check, decide, holds, permitWhen, refusal } from './support.ts'

// Texts at the limits of size are in tests/slow/resilience/hostile-policies.test.ts.

const SIZE = 32_768
const policy = (condition: string) => `permit(principal,action,resource)when{${condition}};`
const chain = (part: string, operator: string, parts: number) =>
  Array(parts).fill(part).join(operator)

test.each([
  policy(`${'if true then '.repeat(1300)}true${' else false'.repeat(1300)}`),
  policy(`${'1+'.repeat(4000)}1==1`),
])('A text deeper than the stack is refused: %#', (text) => {
  expect(refusal(text)).toBe('policies: is nested too deeply')
})

test('Open brackets are counted whatever is around them', () => {
  const parts = ['[', '{a:', '([', '(]', 'if (', '"x"[', '"("(', '"\\"("(', '"\\\\"(', '//"\n(']
  for (const part of [...parts, '//(\r[']) {
    expect(refusal(policy(part.repeat(101)))).toEndWith('more than 100 brackets are open here')
    expect(refusal(policy(part.repeat(49)))).not.toContain('brackets')
  }
})

test('Up to 100 brackets may be open at once, not counting strings, comments and words', () => {
  const within = (count: number) => policy(`${'('.repeat(count)}true${')'.repeat(count)}`)
  const tooMany = 'more than 100 brackets are open here'
  expect(check(within(99))).toHaveLength(1)
  expect(refusal(within(100))).toBe(`policies: line 1, column 138: ${tooMany}`)
  const late = `// 日本 ((\r\n${policy('\n"é("==('.repeat(100))}`
  expect(refusal(late)).toBe(`policies: line 102, column 7: ${tooMany}`)
  const closed = '([{a:1}.a].contains(1))&&'.repeat(40)
  const quoted = `"${'('.repeat(900)}\\"${'['.repeat(120)}\\\\"!="" //${'['.repeat(200)}\n`
  expect(check(policy(closed + quoted))).toHaveLength(1)
  expect(check(policy(chain('context has constructor.toString', '||', 60)))).toHaveLength(1)
})

test('8192 words and symbols, 1024 backslashes and 250 semicolons are the most', () => {
  for (const part of ['a ', '9 ', 'a9.', '""', '==', ',', '?a ', 'é', ',,//\r']) {
    const text = part.repeat(Math.floor(SIZE / Buffer.byteLength(part)))
    expect(refusal(text)).toEndWith('more than 8192 words and symbols')
  }
  // A set of n items takes 2 n + 2, as a comma at the end counts, too.
  const set = (items: number) => policy(`[${'1,'.repeat(items)}]==[]`)
  const most = (8192 - 17) >> 1
  expect(check(set(most))).toHaveLength(1)
  expect(refusal(set(most + 1))).toMatch(/line 1, column 82\d\d: more than 8192 words and symbols$/)
  const escapes = (count: number) => policy(`["${'\\n'.repeat(count)}"]==[]`)
  expect(check(escapes(1024))).toHaveLength(1)
  expect(refusal(escapes(1025))).toBe('policies: line 1, column 40: more than 1024 backslashes')
  expect(refusal('x;'.repeat(251))).toBe('policies: must be at most 250 policies')
  expect(refusal(`${'x;'.repeat(250)}";;;" //;;;`)).toContain('unexpected token')
})

/** Each is exactly as deep as allowed. */
test.each([
  chain('context.no', '||', MAX_LEVELS - 1),
  `!(${chain('!context.no', '&&', MAX_LEVELS - 4)})`,
  `1${'+context.n'.repeat(MAX_LEVELS - 3)} == 1`,
  chain('ip(context.ip).isInRange(ip("10.0.0.0/8"))', '||', MAX_LEVELS - 3),
  `${'!context.no } when { '.repeat(MAX_LEVELS - 3)}context.no`,
])('The deepest allowed chain can be evaluated: %#', (condition) => {
  const context = { no: false, n: 2, ip: '1.2.3.4' }
  expect(holds(condition, { context })).toBe(false)
})

type Wrap = readonly [before: string, after: string]

/** Each goes around an expression. */
const WRAPS: readonly Wrap[] = [
  ['(', ')'],
  ['context["a"] == (', ')'],
  ['if true then (', ') else false'],
  ['!(', ')'],
  ['context.no || (', ')'],
  ['[', '].isEmpty()'],
  ['{a: ', '}.a'],
  ['principal in [', ']'],
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

test.each(WRAPS)('The deepest accepted policy can be evaluated: %p %p', (...wrap) =>
  expectEvaluated(Array(101).fill(wrap)),
)

test('So can the deepest accepted random policy', () => {
  const below = seeded(1)
  // Brackets are chosen more often.
  const all = [...Array(2).fill(WRAPS[0]), ...WRAPS]
  const kinds = all.slice(0, 3 + below(all.length - 2))
  expectEvaluated(Array.from({ length: 101 }, () => kinds[below(kinds.length)] as Wrap))
})

test('A policy has at most 100 levels', () => {
  const message =
    'policies: line 1, column 1: has more than 100 levels; each part of a chain of && or || and ' +
    'each when or unless counts as one. Use a set, or several policies'
  expect(check(policy(chain('true', '||', 100)))).toHaveLength(1)
  expect(refusal(policy(chain('true', '||', 101)))).toBe(message)
  expect(check(policy(`${'true}unless{'.repeat(99)}true`))).toHaveLength(1)
  expect(refusal(policy(`${'true}when{'.repeat(100)}true`))).toBe(message)
})

test.each([
  'context.a == context.b',
  'context != principal.metadata',
  'context.a.containsAll(context.b)',
  '["a"].containsAny(context.a)',
  '[principal.metadata].isEmpty()',
  '{"pattern": [context]} == {"left": 1}',
  '(if [context].isEmpty() then true else false)',
  'ip([context]).isLoopback()',
  '!([context].contains(1))',
])('Large values are compared at most 100 times in all: %s', (condition) => {
  const texts = [policy(chain(condition, '||', 70)), policy(chain(condition, '||', 30))]
  expect(check(texts.join('\n'))).toHaveLength(2)
  expect(refusal([...texts, policy(condition)].join('\n'))).toBe(
    'policies: line 3, column 1: the policies up to this one compare values of unknown size or ' +
      'put them into sets more than 100 times',
  )
})

test('Cheap conditions are allowed in every policy', () => {
  const cheap = [
    'principal == resource',
    'context.owner == "alice"',
    'context.owner == principal.id',
    'principal.roles.containsAny(["a", "b"])',
    'context.tags.contains(principal.metadata.team)',
    '[principal, resource, Role::"a"].contains(resource)',
    'resource.tenant != principal.tenant',
    'context.n > principal.metadata.n',
    'principal.email like "*@example.com"',
  ]
  for (const some of [cheap.slice(0, 5), cheap.slice(5)]) {
    const text = some.map((one) => policy(chain(one, '||', 51)).repeat(2)).join('')
    expect(check(text)).toHaveLength(2 * some.length)
  }
})

test('Patterns have at most 512 characters in all, and strings 1024', () => {
  const like = (length: number) => policy(`context.s like "${'a'.repeat(length)}"`)
  const tooLong =
    'policies: line 2, column 1: the patterns after like up to this policy have more than 512 ' +
    'characters, counting 4 extra for each'
  expect(check(like(484) + like(20))).toHaveLength(2)
  expect(refusal(`${like(484)}\n${like(21)}`)).toBe(tooLong)
  expect(check(like(0).repeat(128))).toHaveLength(128)
  expect(refusal(`${like(0).repeat(128)}\n${like(0)}`)).toBe(tooLong)

  const either = (length: number) =>
    policy(`(if context.no then context.s else "${'a'.repeat(length)}") like "*b"`)
  const strings = 'policies: line 1, column 1: strings must have at most 1024 characters'
  expect(check(either(1024))).toHaveLength(1)
  for (const text of [either(1025), policy(`[{a: "${'a'.repeat(1025)}"}] == []`)])
    expect(refusal(text)).toBe(strings)
  for (const constant of ['"aaa" like "*a"', 'context.no || {a: ["b"]}.a like "*a"'])
    expect(refusal(`${permitWhen('true')}\n${policy(constant)}`)).toBe(
      'policies: line 2, column 1: like needs a variable before it: with a constant, the result never changes',
    )
})
