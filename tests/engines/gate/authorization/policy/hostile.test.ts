import { expect, test } from 'bun:test'
import { MAX_LEVELS } from '../../../../../src/engines/gate/authorization/policy/cost.ts'
import type { JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import { check, decide, holds, PERMIT, permitWhen, person, refusal } from './support.ts'

const SIZE = 32_768
const policy = (condition: string) => `permit(principal,action,resource)when{${condition}};`
const ROOM = SIZE - policy('').length
const chain = (part: string, operator: string, parts: number) =>
  Array(parts).fill(part).join(operator)

/** How often there is room for a part in a text, and in its words and symbols. */
const times = (part: string, room = ROOM) =>
  Math.floor(Math.min(room / part.length, 8100 / (part.match(/\w+|[^\w\s]/g)?.length ?? 1)))
const fill = (part: string, operator: string) =>
  policy(chain(part, operator, times(part + operator)))
const nest = (open: string, core: string, close: string, rest = '') => {
  const levels = Math.floor((ROOM - (core + rest).length) / (open + close).length)
  return policy(open.repeat(levels) + core + close.repeat(levels) + rest)
}
/** Spread over as many policies as are allowed. */
const spread = (part: string, operator: string) => {
  const each = policy(chain(part, operator, Math.ceil(100 / part.length)))
  return each.repeat(Math.min(250, times(each, SIZE)))
}
const deep = (levels: number, core: number): unknown =>
  levels === 0 ? core : [deep(levels - 1, core)]
const numbers = (count: number, levels: number) =>
  Array.from({ length: count }, (_, n) => deep(levels, n))
const CONSTANTS = numbers(900, 1).map((one) => JSON.stringify(one))

/** The largest question. */
const LARGE = {
  context: { set: numbers(430, 5), s: 'a'.repeat(1000) } as JsonObject,
  principal: person({
    roles: Array.from({ length: 100 }, (_, n) => `role ${n}`),
    metadata: { set: numbers(700, 5), s: 'a'.repeat(4000) } as JsonObject,
  }),
}

test.each(
  Object.entries({
    parentheses: nest('(', 'true', ')'),
    sets: nest('[', '1', ']', '==1'),
    records: nest('{a:', '1', '}', '==1'),
    negations: policy('!'.repeat(8000)),
    'minus signs': policy(`${'-'.repeat(8000)}1==1`),
    'conditionals in conditions': nest('if ', 'true', ' then true else false'),
    calls: policy(`context.a${'.isEmpty()'.repeat(2000)}`),
    'calls in calls': nest('ip(', '"::"', ')', '.isIpv4()'),
    'a chain of in': fill('principal in context.e', '||'),
    'a product': policy(`${'context.n*1*'.repeat(1000)}1==1`),
    'a path of has': policy(`context has ${chain('a', '.', 4000)}`),
    'nothing but mistakes': 'permit(;'.repeat(4000),
    'an open string': policy(`"${'a'.repeat(30_000)}`),
    'an open bracket': `permit${'('.repeat(32_000)}`,
    'a long comment': `//${'/'.repeat(32_000)}`,
    'a long string': policy(`"${'\\u{1F600}'.repeat(1000)}" == context.s`),
    'a long name': `permit(principal==${'a::'.repeat(4000)}a::"x",action,resource);`,
    'many annotations': `${Array.from({ length: 1600 }, (_, n) => `@a${n}("")`).join('')}${PERMIT}`,
    'many actions': PERMIT.replace('action', `action in [${chain('Action::"a"', ',', 1500)}]`),
    'a large set': policy(`[${CONSTANTS}].contains(context.set)`),
    'nothing but commas': policy(`${'['.repeat(95)}${','.repeat(8000)}`),
    'wrong escapes': policy(`"${'\\q'.repeat(1000)}" == ""`),
    'endless wrong escapes': policy(`"${'\\q'.repeat(16_000)}" == ""`),
    'long patterns': policy(`context.s like "*${'a'.repeat(30_000)}b"`),
    'patterns of stars': policy(`context.s like "${'*a'.repeat(15_000)}b"`),
    'many patterns': spread(`principal.metadata.s like "*${'a'.repeat(20)}b"`, '||'),
    'sets in sets': spread('principal.metadata.set.containsAll(principal.metadata.set)', '&&'),
    'sets that share nothing': spread('principal.metadata.set.containsAny(context.set)', '||'),
    'sets of sets': policy(`[${chain('principal.metadata.set', ',', 1300)}].isEmpty()`),
    'large equal values': spread('[context]==[context]', '&&'),
    'large records': spread('{pattern:context.set}!={pattern:principal.metadata}', '&&'),
    'long errors': spread('decimal(principal.metadata.s)==decimal("1.0")', '||'),
    'constant sets': policy(`[${CONSTANTS}].containsAll([${CONSTANTS}])`),
    'a constant record': policy(`{${CONSTANTS.map((_, n) => `a${n}:1`)}}=={}`),
    'many conditions': `permit(principal,action,resource)${'unless{context.no}'.repeat(1300)};`,
    'numbers out of range': policy('9223372036854775807 * 9223372036854775807 == 1'),
  }),
)('A text made of %s is refused or decided quickly, and so is the next one', (_, text) => {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(SIZE)
  const begun = performance.now()
  const { reason } = decide(text, LARGE)
  expect(reason).not.toBe('the policies could not be evaluated; access is denied')
  // It takes tenths of a second; an attack that works takes minutes, or never ends.
  expect(performance.now() - begun).toBeLessThan(5000)
  expect(decide(PERMIT).allowed).toBe(true)
})

test.each([
  nest('if true then ', 'true', ' else false'),
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
