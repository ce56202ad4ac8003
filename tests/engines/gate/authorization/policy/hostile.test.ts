import { expect, test } from 'bun:test'
import { MAX_LEVELS } from '../../../../../src/engines/gate/authorization/policy/cost.ts'
import { check, holds, permitWhen, refusal } from './support.ts'

// Texts at the limits of size are in tests/slow/resilience/hostile-policies.test.ts.

const SIZE = 32_768
const policy = (condition: string) => `permit(principal,action,resource)when{${condition}};`
const chain = (part: string, operator: string, parts: number) =>
  Array(parts).fill(part).join(operator)

test.each([
  policy(`${'if true then '.repeat(1300)}true${' else false'.repeat(1300)}`),
  policy(`${'1+'.repeat(4000)}1==1`),
  policy(`context${'.a'.repeat(4000)}`),
])('A text deeper than the stack is refused: %#', (text) => {
  expect(refusal(text)).toBe('policies: is nested too deeply')
})

test.each([
  '[',
  '{a:',
  '([',
  '(]',
  'if (',
  '"x"[',
  '"("(',
  '"\\"("(',
  '"\\\\"(',
  '//"\n(',
  '//(\r[',
])('Open brackets are counted whatever is around them: %j', (part) => {
  expect(refusal(policy(part.repeat(101)))).toEndWith('more than 100 brackets are open here')
  expect(refusal(policy(part.repeat(49)))).not.toContain('brackets')
})

test('Up to 100 brackets may be open at once, not counting strings, comments and words', () => {
  const within = (count: number) => policy(`${'('.repeat(count)}true${')'.repeat(count)}`)
  const tooMany = 'more than 100 brackets are open here'
  expect(check(within(99))).toHaveLength(1)
  expect(refusal(within(100))).toBe(`policies: line 1, column 138: ${tooMany}`)
  expect(refusal(`// 日本 ((\r\n${policy('\n"é("==('.repeat(100))}`)).toBe(
    `policies: line 102, column 7: ${tooMany}`,
  )
  const closed = '([{a:1}.a].contains(1))&&'.repeat(40)
  const quoted = `"${'('.repeat(900)}\\"${'['.repeat(120)}\\\\"!="" //${'['.repeat(200)}\n`
  expect(check(policy(closed + quoted))).toHaveLength(1)
  expect(check(policy(chain('context has constructor.toString', '||', 60)))).toHaveLength(1)
})

test.each(['a ', '9 ', 'a9.', '""', '==', '::', ',', '!', '@', '&&', '?a ', 'é', ',,//\r'])(
  'A text has at most 8192 words and symbols, of any kind: %j',
  (part) => {
    const text = part.repeat(Math.floor(SIZE / Buffer.byteLength(part)))
    expect(refusal(text)).toEndWith('more than 8192 words and symbols')
  },
)

test('8192 words and symbols, 1024 backslashes and 250 semicolons are the most', () => {
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
test.each(
  Object.entries({
    or: chain('context.no', '||', MAX_LEVELS - 1),
    and: `!(${chain('!context.no', '&&', MAX_LEVELS - 4)})`,
    sum: `1${'+context.n'.repeat(MAX_LEVELS - 3)} == 1`,
    conditionals: `${'if context.no then true else '.repeat(MAX_LEVELS - 2)}context.no`,
    calls: chain('ip(context.ip).isInRange(ip("10.0.0.0/8"))', '||', MAX_LEVELS - 3),
    sets: `${'[ '.repeat(60)}context.n${' ]'.repeat(60)} == context.s`,
    groups: `${'(context.no || '.repeat(MAX_LEVELS - 2)}context.no${')'.repeat(MAX_LEVELS - 2)}`,
    conditions: `${'!context.no } when { '.repeat(MAX_LEVELS - 3)}context.no`,
    records: `${'{a:'.repeat(48)}context.no${'}.a'.repeat(48)}`,
  }),
)('The deepest allowed %s can be evaluated', (_, condition) => {
  const context = { no: false, n: 2, s: [1], ip: '1.2.3.4' }
  expect(holds(condition, { context })).toBe(false)
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
  for (const some of [cheap.slice(0, 5), cheap.slice(5)])
    expect(check(some.map((one) => policy(chain(one, '||', 51)).repeat(2)).join(''))).not.toEqual(
      [],
    )
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
})

test.each(['"aaa" like "*a"', 'context.no || {a: ["b"]}.a like "*a"', '!("a" + "b" like "*")'])(
  'A pattern for a constant is refused: %s',
  (condition) => {
    expect(refusal(`${permitWhen('true')}\n${policy(condition)}`)).toBe(
      'policies: line 2, column 1: like needs a variable before it: with a constant, the result never changes',
    )
  },
)
