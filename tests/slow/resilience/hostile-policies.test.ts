import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/engines/gate/identities/documents/json.ts'
import { decide, PERMIT, person } from '../../engines/gate/authorization/policy/support.ts'

// The exact limits are in tests/engines/gate/authorization/policy/hostile.test.ts.

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
    negations: policy('!'.repeat(8000)),
    'conditionals in conditions': nest('if ', 'true', ' then true else false'),
    calls: policy(`context.a${'.isEmpty()'.repeat(2000)}`),
    'calls in calls': nest('ip(', '"::"', ')', '.isIpv4()'),
    'a chain of in': fill('principal in context.e', '||'),
    'a product': policy(`${'context.n*1*'.repeat(1000)}1==1`),
    'a path of has': policy(`context has ${chain('a', '.', 4000)}`),
    'nothing but mistakes': 'permit(;'.repeat(4000),
    'an open string': policy(`"${'a'.repeat(30_000)}`),
    'a long comment': `//${'/'.repeat(32_000)}`,
    'a long string': policy(`"${'\\u{1F600}'.repeat(1000)}" == context.s`),
    'a long name': `permit(principal==${'a::'.repeat(4000)}a::"x",action,resource);`,
    'many annotations': `${Array.from({ length: 1600 }, (_, n) => `@a${n}("")`).join('')}${PERMIT}`,
    'many actions': PERMIT.replace('action', `action in [${chain('Action::"a"', ',', 1500)}]`),
    'a large set': policy(`[${CONSTANTS}].contains(context.set)`),
    'nothing but commas': policy(`${'['.repeat(95)}${','.repeat(8000)}`),
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
    'a constant record': policy(`{${CONSTANTS.map((_, n) => `a${n}:1`)}}=={}`),
    'many conditions': `permit(principal,action,resource)${'unless{context.no}'.repeat(1300)};`,
  }),
)('A text made of %s is refused or decided quickly, and so is the next one', (_, text) => {
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(SIZE)
  const begun = process.cpuUsage()
  const { reason } = decide(text, LARGE)
  expect(reason).not.toBe('the policies could not be evaluated; access is denied')
  // It takes tenths of a second; an attack that works takes minutes, or never ends.
  expect(process.cpuUsage(begun).user).toBeLessThan(5_000_000)
  expect(decide(PERMIT).allowed).toBe(true)
})
