import { describe, expect, test } from 'bun:test'
import { MAX_LEVELS } from '../../../../../src/engines/gate/authorization/policy/cost.ts'
import type { JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import { check, decide, holds, person, refusalOf } from './support.ts'

const SIZE = 32_768
const EVERYTHING = 'permit (principal, action, resource);'
const policy = (condition: string) => `permit(principal,action,resource)when{${condition}};`
const ROOM = SIZE - policy('').length

/** Words and signs, if anything too many. */
const tokensIn = (text: string) => text.match(/\w+|[^\w\s]/g)?.length ?? 1

/** How often there is room for it, and what is left for the engine to refuse. */
const times = (part: string, room = ROOM) =>
  Math.floor(Math.min(room / part.length, 8100 / tokensIn(part)))

/** As many times as there is room for. */
const fill = (part: string, separator: string, rest = '') =>
  policy(
    Array(times(part + separator, ROOM - rest.length))
      .fill(part)
      .join(separator) + rest,
  )
const nest = (open: string, core: string, close: string, rest = '') => {
  const times = Math.floor((ROOM - (core + rest).length) / (open + close).length)
  return policy(open.repeat(times) + core + close.repeat(times) + rest)
}
/** Spread over as many policies as there may be. */
const spread = (part: string, separator: string) => {
  const each = policy(
    Array(Math.ceil(100 / part.length))
      .fill(part)
      .join(separator),
  )
  return each.repeat(Math.min(250, times(each, SIZE)))
}

/** Constants that are no plain values, as many as go into a text twice. */
const constants = (text: (list: string) => string) =>
  text(Array.from({ length: 900 }, (_, n) => `[${n}]`).join(','))

const deep = (levels: number, core: number): unknown =>
  levels === 0 ? core : [deep(levels - 1, core)]
const numbers = (count: number, levels: number) =>
  Array.from({ length: count }, (_, n) => deep(levels, n))

/** As much to look at as a question may bring. */
const LARGE = {
  context: { set: numbers(430, 5), s: 'a'.repeat(1000) } as JsonObject,
  principal: person({
    roles: Array.from({ length: 100 }, (_, n) => `role ${n}`),
    metadata: { set: numbers(700, 5), s: 'a'.repeat(4000) } as JsonObject,
  }),
}

/**
 * Seconds where it takes tenths, so that a busy machine does not fail it: what this is to find
 * takes minutes, or never ends.
 */
const MAX_LENGTH = 5000

const TEXTS: Record<string, string> = {
  parentheses: nest('(', 'true', ')'),
  sets: nest('[', '1', ']', '==1'),
  records: nest('{a:', '1', '}', '==1'),
  negations: policy('!'.repeat(8000)),
  'minus signs': policy(`${'-'.repeat(8000)}1==1`),
  conditionals: nest('if true then ', 'true', ' else false'),
  'conditionals in conditions': nest('if ', 'true', ' then true else false'),
  attributes: policy(`context${'.a'.repeat(4000)}`),
  calls: policy(`context.a${'.isEmpty()'.repeat(2000)}`),
  'calls in calls': nest('ip(', '"::"', ')', '.isIpv4()'),
  'a chain of and': fill('true', '&&'),
  'a chain of or': fill('context.n==1', '||'),
  'a chain of in': fill('principal in context.e', '||'),
  'a sum': fill('1', '+', '==1'),
  'a product': fill('context.n', '*1*', '*1==1'),
  'a path of has': policy(`context has ${Array(4000).fill('a').join('.')}`),
  'nothing but mistakes': 'permit(;'.repeat(4000),
  'an open string': policy(`"${'a'.repeat(30_000)}`),
  'an open bracket': `permit${'('.repeat(32_000)}`,
  'a long comment': `//${'/'.repeat(32_000)}`,
  'a long string': policy(`"${'\\u{1F600}'.repeat(1000)}" == context.s`),
  'a long name': `permit(principal==${'a::'.repeat(4000)}a::"x",action,resource);`,
  'many annotations': `${Array.from({ length: 1600 }, (_, n) => `@a${n}("")`).join('')}${EVERYTHING}`,
  'a large set': policy(
    `[${numbers(2000, 1)
      .map((n) => JSON.stringify(n))
      .join(',')}].contains(context.set)`,
  ),
  'many actions': `permit(principal,action in [${Array(2000).fill('Action::"a"').join(',')}],resource);`,
  'nothing but commas': `permit(principal,action,resource)when{${'['.repeat(95)}${','.repeat(8000)}`,
  'a set of numbers': policy(`[${'1,'.repeat(4000)}]==[]`),
  'wrong escapes': policy(`"${'\\q'.repeat(1000)}" == ""`),
  'wrong escapes without end': policy(`"${'\\q'.repeat(16_000)}" == ""`),
  'many small policies': 'permit(principal,action,resource);'.repeat(250),
  'long patterns': policy(`context.s like "*${'a'.repeat(30_000)}b"`),
  'a long constant and a long pattern': policy(
    `"${'a'.repeat(21_000)}" like "*${'a'.repeat(11_000)}b"`,
  ),
  'patterns of stars': policy(`context.s like "${'*a'.repeat(15_000)}b"`),
  'many patterns': spread(`principal.metadata.s like "*${'a'.repeat(20)}b"`, '||'),
  'sets in sets': spread('principal.metadata.set.containsAll(principal.metadata.set)', '&&'),
  'sets that share nothing': spread('principal.metadata.set.containsAny(context.set)', '||'),
  'sets made of sets': policy(
    `[${Array(1300).fill('principal.metadata.set').join(',')}].isEmpty()`,
  ),
  'large values that are equal': spread('[context]==[context]', '&&'),
  'records of large values': spread('{pattern:context.set}!={pattern:principal.metadata}', '&&'),
  'long errors': spread('decimal(principal.metadata.s)==decimal("1.0")', '||'),
  'constant sets': policy(constants((list) => `[${list}].containsAll([${list}])`)),
  'constant sets that share nothing': policy(
    constants((list) => `[${list}].containsAny([${list.replaceAll('[', '[-')}])`),
  ),
  'a large constant record': policy(
    `{${constants((list) => list.replaceAll(/\[(\d+)\]/g, 'a$1:1'))}}=={}`,
  ),
  'addresses without end': spread('ip("192.0.2.1").isInRange(ip("10.0.0.0/8"))', '||'),
  'conditions without end': `permit(principal,action,resource)${'when{1==1}'.repeat(1300)};`,
  'exceptions without end': `permit(principal,action,resource)${'unless{context.no}'.repeat(1300)};`,
  'numbers out of range': policy('9223372036854775807 * 9223372036854775807 == 1'),
}

describe('a text made to be too much', () => {
  test.each(Object.keys(TEXTS))(
    '%p is refused or answered, soon, and the next one as ever',
    (name) => {
      const text = TEXTS[name] as string
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(SIZE)
      const begun = performance.now()

      const answer = decide(text, LARGE)

      expect(answer.reason).not.toBe('the policies could not be evaluated; access is denied')
      expect(performance.now() - begun).toBeLessThan(MAX_LENGTH)
      expect(decide(EVERYTHING).allowed).toBe(true)
      expect(check(EVERYTHING)).toHaveLength(1)
    },
  )

  test.each([
    ['conditionals', nest('if true then ', 'true', ' else false')],
    ['a sum', policy(`${'1+'.repeat(4000)}1==1`)],
    ['attributes', policy(`context${'.a'.repeat(4000)}`)],
  ])('%s deeper than the stack goes are refused', (_, text) => {
    expect(refusalOf(() => check(text))).toBe('policies: is nested too deeply')
  })
})

describe('a text is looked over before it is parsed', () => {
  const flawOf = (text: string) => refusalOf(() => check(text))

  test('100 brackets may be open, and not one more', () => {
    const within = (count: number) => policy(`${'('.repeat(count)}true${')'.repeat(count)}`)

    expect(check(within(99))).toHaveLength(1)
    expect(flawOf(within(100))).toBe(
      'policies: line 1, column 138: more than 100 brackets are open here',
    )
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
  ])('that they are not closed, or badly, makes no difference: %j', (part) => {
    expect(flawOf(policy(part.repeat(101)))).toEndWith('more than 100 brackets are open here')
    expect(flawOf(policy(part.repeat(49)))).not.toContain('brackets')
  })

  test('says where the last bracket is, in lines and columns', () => {
    expect(flawOf(`// 日本 ((\r\n${policy('\n"é("==('.repeat(100))}`)).toBe(
      'policies: line 102, column 7: more than 100 brackets are open here',
    )
  })

  test('brackets that close again, or stand in texts and comments, are none too many', () => {
    const text = policy(
      `${'([{a:1}.a].contains(1))&&'.repeat(40)}"${'('.repeat(900)}\\"${'['.repeat(120)}\\\\"!="" //${'['.repeat(200)}\n`,
    )

    expect(check(text)).toHaveLength(1)
  })

  test('a word is no bracket, whatever objects have of themselves by that name', () => {
    const text = policy(Array(60).fill('context has constructor.toString').join('||'))

    expect(check(text)).toHaveLength(1)
  })

  test('8192 words and signs, and not one more', () => {
    // A set of n items is 2 n + 2 of them, a comma at the end being one as well.
    const set = (items: number) => policy(`[${'1,'.repeat(items)}]==[]`)
    const most = (8192 - 17) >> 1

    expect(check(set(most))).toHaveLength(1)
    expect(flawOf(set(most + 1))).toMatch(
      /^policies: line 1, column 82\d\d: more than 8192 words and symbols$/,
    )
  })

  test.each(['a ', '9 ', 'a9.', '""', '==', '::', ',', '!', '@', '&&', '?a ', 'é', ',,//\r'])(
    'it does not matter which: %j',
    (part) => {
      const text = part.repeat(Math.floor(SIZE / Buffer.byteLength(part)))

      expect(flawOf(text)).toEndWith('more than 8192 words and symbols')
    },
  )

  test('1024 backslashes, and not one more', () => {
    const text = (pairs: number) => policy(`["${'\\n'.repeat(pairs)}"]==[]`)

    expect(check(text(1024))).toHaveLength(1)
    expect(flawOf(text(1025))).toBe('policies: line 1, column 40: more than 1024 backslashes')
  })

  test('policies are counted by their ends, also when they are none', () => {
    expect(flawOf('x;'.repeat(251))).toBe('policies: must be at most 250 policies')
    expect(flawOf(`${'x;'.repeat(250)}";;;" //;;;`)).toContain('unexpected token')
  })
})

describe('the most that is allowed can be evaluated', () => {
  const levels = MAX_LEVELS
  const chain = (part: string, operator: string, parts: number) =>
    Array(parts).fill(part).join(operator)
  const CONTEXT = { no: false, n: 2, s: [1], ip: '1.2.3.4' }

  /** Each is exactly as deep as allowed. */
  const MAX_DEPTH: Record<string, string> = {
    or: chain('context.no', '||', levels - 1),
    and: `!(${chain('!context.no', '&&', levels - 4)})`,
    sum: `1${'+context.n'.repeat(levels - 3)} == 1`,
    conditionals: `${'if context.no then true else '.repeat(levels - 2)}context.no`,
    calls: `${chain('ip(context.ip).isInRange(ip("10.0.0.0/8"))', '||', levels - 3)}`,
    sets: `${'[ '.repeat(60)}context.n${' ]'.repeat(60)} == context.s`,
    'groups of groups': `${'(context.no || '.repeat(levels - 2)}context.no${')'.repeat(levels - 2)}`,
    conditions: `${'!context.no } when { '.repeat(levels - 3)}context.no`,
    records: `${'{a:'.repeat(48)}context.no${'}.a'.repeat(48)}`,
  }

  test.each(Object.keys(MAX_DEPTH))('levels of %s', (name) => {
    expect(holds(MAX_DEPTH[name] as string, { context: CONTEXT })).toBe(false)
  })

  test('levels, and not one more', () => {
    const message = `policies: line 1, column 1: has more than ${levels} levels; each part of a chain of && or || and each when or unless counts as one. Use a set, or several policies`

    expect(check(policy(chain('true', '||', levels)))).toHaveLength(1)
    expect(refusalOf(() => check(policy(chain('true', '||', levels + 1))))).toBe(message)
    expect(check(policy(`${'true}unless{'.repeat(levels - 1)}true`))).toHaveLength(1)
    expect(refusalOf(() => check(policy(`${'true}when{'.repeat(levels)}true`)))).toBe(message)
  })

  test('large values compared: 100 times in all, and not once more', () => {
    const compare = 'context.a == context.b'
    const texts = [policy(chain(compare, '||', 70)), policy(chain(compare, '||', 30))]

    expect(check(texts.join('\n'))).toHaveLength(2)
    expect(refusalOf(() => check([...texts, policy(compare)].join('\n')))).toBe(
      'policies: line 3, column 1: the policies up to this one compare values of unknown size or put them into sets more than 100 times',
    )
  })

  test.each([
    'context != principal.metadata',
    'context.a.containsAll(context.b)',
    '["a"].containsAny(context.a)',
    '[principal.metadata].isEmpty()',
    '{"pattern": [context]} == {"left": 1}',
    '(if [context].isEmpty() then true else false)',
    'ip([context]).isLoopback()',
    '!([context].contains(1))',
  ])('and so is each of these counted, wherever it stands: %s', (condition) => {
    const texts = Array(10).fill(policy(chain(condition, '||', 10)))

    expect(check(texts.join(''))).toHaveLength(10)
    expect(refusalOf(() => check([...texts, policy(condition)].join('')))).toContain(
      'more than 100',
    )
  })

  test.each([
    'principal == resource',
    'context.owner == "alice"',
    'context.owner == principal.id',
    'principal.roles.containsAny(["a", "b"])',
    'context.tags.contains(principal.metadata.team)',
    '[principal, resource, Role::"a"].contains(resource)',
    'resource.tenant != principal.tenant',
    'context.n > principal.metadata.n',
    'principal.email like "*@example.com"',
  ])('what is cheap may be said in every policy: %s', (condition) => {
    expect(check(policy(condition).repeat(250))).toHaveLength(250)
  })

  test.each(['"aaa" like "*a"', 'context.no || {a: ["b"]}.a like "*a"', '!("a" + "b" like "*")'])(
    'a pattern held against a constant is refused: %s',
    (condition) => {
      expect(refusalOf(() => check(`${policy('true')}\n${policy(condition)}`))).toBe(
        'policies: line 2, column 1: like needs a variable before it: with a constant, the result never changes',
      )
    },
  )

  test('patterns: 512 characters in all, of which each has 4 before its first, and not one more', () => {
    const like = (length: number) => policy(`context.s like "${'a'.repeat(length)}"`)
    const message =
      'policies: line 2, column 1: the patterns after like up to this policy have more than 512 characters, counting 4 extra for each'

    expect(check(like(484) + like(20))).toHaveLength(2)
    expect(refusalOf(() => check(`${like(484)}\n${like(21)}`))).toBe(message)
    expect(check(like(0).repeat(128))).toHaveLength(128)
    expect(refusalOf(() => check(`${like(0).repeat(128)}\n${like(0)}`))).toBe(message)
  })

  test('a text: 1024 characters, and not one more, wherever it stands', () => {
    const either = (length: number) =>
      policy(`(if context.no then context.s else "${'a'.repeat(length)}") like "*b"`)

    expect(check(either(1024))).toHaveLength(1)
    expect(refusalOf(() => check(either(1025)))).toBe(
      'policies: line 1, column 1: strings must have at most 1024 characters',
    )
    expect(refusalOf(() => check(policy(`[{a: "${'a'.repeat(1025)}"}] == []`)))).toContain(
      'strings must have at most 1024 characters',
    )
  })
})
