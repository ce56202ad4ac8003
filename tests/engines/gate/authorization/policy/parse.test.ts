import { expect, test } from 'bun:test'
import { check, permitWhen, refusal } from './support.ts'

const named = (name: string, condition = 'true') =>
  `@id(${JSON.stringify(name)}) ${permitWhen(condition)}`

const refusals = (...texts: string[]) => refusal(texts.join('\n')).split('\n')

test('A text is a list of policies, in its own order and words', () => {
  const texts = Array.from({ length: 12 }, (_, n) => permitWhen(`context.n == ${n}`))
  texts[3] = '@id("night shift")\nforbid (\n  principal, // everyone\n  action,\n  resource\n);'
  const policies = check(`// ü\r\n${texts.join('\r\n')}\n// last`)
  expect(policies.map(({ text }) => text)).toEqual(texts)
  const names = texts.map((_, n) => (n === 3 ? 'night shift' : `policy ${n + 1}`))
  expect(policies.map(({ name }) => name)).toEqual(names)
  expect(policies.map(({ effect }) => effect).indexOf('forbid')).toBe(3)
  for (const empty of ['', ' // nothing\n']) expect(check(empty)).toEqual([])
})

test('Mistakes are reported with line and column in characters, in the order of the text', () => {
  const last = '  permit (principal, foo, action, resource) when { [1,,2] };'
  expect(refusals(permitWhen(')'), permitWhen('context.'), '', last)).toEqual([
    expect.stringMatching(/^policies: line 1, column 45: unexpected token `\)`/),
    expect.stringMatching(/^policies: line 2, column 54: unexpected token `}`, expected identif/),
    expect.stringMatching(/^policies: line 4, column 55: unexpected token `,`/),
  ])
  expect(refusals(permitWhen('true'), ' permit (principal, action) when { foo };')).toEqual([
    'policies: line 2, column 27: this policy is missing the `resource` variable in the scope',
    expect.stringContaining('policies: line 2, column 36: invalid variable: foo'),
  ])
  expect(refusal(permitWhen('"日本😀" == )'))).toContain('line 1, column 54: unexpected token')
})

test('Reports are short: 20 mistakes, and no long quotes', () => {
  const many = refusals(...Array(30).fill('permit (;'))
  expect(many).toHaveLength(21)
  expect(many.at(-1)).toMatch(/^policies: and \d+ more$/)
  expect(refusal(permitWhen(`${'context'.repeat(1000)}.a`)).length).toBeLessThan(400)
})

test('Names must be unique, visible and at most 100 characters long', () => {
  expect(
    refusals(
      named('a'),
      named('policy 4'),
      `  ${named('a')}`,
      permitWhen('true'),
      named(' '),
      `@id ${permitWhen('true')}`,
      named('x'.repeat(101)),
      `@id("a\\nb") ${permitWhen('true')}`,
      named('x'.repeat(100)),
      named('__proto__'),
    ),
  ).toEqual([
    'policies: line 3, column 3: the name "a" is already used at line 1, column 1',
    'policies: line 4, column 1: the name "policy 4" is already used at line 2, column 1',
    'policies: line 5, column 1: @id must not be empty',
    'policies: line 6, column 1: @id must not be empty',
    'policies: line 7, column 1: @id must have at most 100 characters',
    'policies: line 8, column 1: @id must not contain control characters',
  ])
})

test('Templates, over 250 policies, over 32 KB and broken Unicode are refused', () => {
  const short = 'permit(principal,action,resource);'
  const template = '\n\n permit (principal == ?principal, action, resource);'
  expect(refusal(permitWhen('true') + template)).toBe(
    'policies: line 3, column 2: templates with ?principal or ?resource are not supported; name the entity',
  )
  expect(check(short.repeat(250))).toHaveLength(250)
  expect(refusal(short.repeat(251))).toBe('policies: must be at most 250 policies')
  expect(check(`//${'é'.repeat(16_383)}`)).toEqual([])
  expect(refusal(`//${'é'.repeat(16_383)}x`)).toBe('policies: must be at most 32 KB')
  expect(refusal(permitWhen('"\ud800" == ""'))).toBe('policies: must be valid Unicode')
})
