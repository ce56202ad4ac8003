import { describe, expect, test } from 'bun:test'
import { check, refusalOf } from './support.ts'

const policy = (condition: string, name?: string) =>
  `${name === undefined ? '' : `@id(${JSON.stringify(name)}) `}permit (principal, action, resource) when { ${condition} };`

const refusal = (text: string) => refusalOf(() => check(text))

describe('a text of policies', () => {
  test('is read as a list of them, in its own order and words', () => {
    const texts = Array.from({ length: 12 }, (_, n) =>
      policy(`context.n == ${n} // ü`.replace('// ü', '')),
    )
    texts[3] = '@id("night shift")\nforbid (\n  principal, // everybody\n  action,\n  resource\n);'
    const policies = check(`// first\r\n${texts.join('\r\n')}\n// last`)

    expect(policies.map(({ text }) => text)).toEqual(texts)
    expect(policies.map(({ name }) => name)).toEqual([
      'policy 1',
      'policy 2',
      'policy 3',
      'night shift',
      ...Array.from({ length: 8 }, (_, n) => `policy ${n + 5}`),
    ])
    expect(policies.map(({ effect }) => effect).indexOf('forbid')).toBe(3)
  })

  test('may be empty', () => {
    expect(check('')).toEqual([])
    expect(check(' // nothing\n')).toEqual([])
  })

  test('is refused with the line and the column of each mistake, the first one first', () => {
    const text = [
      'permit (principal, action, resource) when { ) };',
      'permit (principal, action, resource) when { context. };',
      '',
      '  permit (principal, foo, action, resource) when { [1,,2] };',
    ].join('\n')

    expect(refusal(text).split('\n')).toEqual([
      expect.stringMatching(/^policies: line 1, column 45: unexpected token `\)`/),
      expect.stringMatching(
        /^policies: line 2, column 54: unexpected token `}`, expected identifier$/,
      ),
      expect.stringMatching(/^policies: line 4, column 55: unexpected token `,`/),
    ])
  })

  test('is refused for mistakes of meaning in the same way', () => {
    expect(
      refusal(`${policy('true')}\n permit (principal, action) when { foo };`).split('\n'),
    ).toEqual([
      'policies: line 2, column 27: this policy is missing the `resource` variable in the scope',
      expect.stringContaining('policies: line 2, column 36: invalid variable: foo'),
    ])
  })

  test('counts columns in characters, not in bytes', () => {
    expect(refusal(`${policy('"日本😀" == )')}`)).toContain(
      'line 1, column 54: unexpected token `)`',
    )
  })

  test('is refused with twenty mistakes at most, and the number of the others', () => {
    const lines = refusal('permit (;\n'.repeat(30)).split('\n')

    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toMatch(/^policies: and \d+ more$/)
  })

  test('is refused in few words, however long what is wrong is', () => {
    const problem = refusal(policy(`${'context'.repeat(1000)}.a`))

    expect(problem).toStartWith('policies: line 1, column 45: ')
    expect(problem.length).toBeLessThan(400)
  })

  test('is refused when two policies have one name, an empty one, or one that shows badly', () => {
    const text = [
      policy('true', 'a'),
      policy('true', 'policy 4'),
      `  ${policy('true', 'a')}`,
      policy('true'),
      policy('true', ' '),
      `@id ${policy('true')}`,
      policy('true', 'x'.repeat(101)),
      `@id("a\\nb") ${policy('true')}`,
      policy('true', '__proto__'),
      policy('true', 'constructor'),
    ].join('\n')

    expect(refusal(text).split('\n')).toEqual([
      'policies: line 3, column 3: the name "a" is already used at line 1, column 1',
      'policies: line 4, column 1: the name "policy 4" is already used at line 2, column 1',
      'policies: line 5, column 1: @id must not be empty',
      'policies: line 6, column 1: @id must not be empty',
      'policies: line 7, column 1: @id must have at most 100 characters',
      'policies: line 8, column 1: @id must not contain control characters',
    ])
  })

  test('may use names that objects have of themselves', () => {
    const names = ['__proto__', 'constructor', 'toString']
    const text = names.map((name) => policy('true', name)).join('')

    expect(check(text).map(({ name }) => name)).toEqual(names)
  })

  test('is refused with templates, at their place', () => {
    expect(
      refusal(`${policy('true')}\n\n permit (principal == ?principal, action, resource);`),
    ).toBe(
      'policies: line 3, column 2: templates with ?principal or ?resource are not supported; name the entity',
    )
  })

  test('is refused beyond 250 policies and beyond 32 KB', () => {
    const short = 'permit(principal,action,resource);'

    expect(check(short.repeat(250))).toHaveLength(250)
    expect(refusal(short.repeat(251))).toBe('policies: must be at most 250 policies')
    expect(check(`//${'é'.repeat(16_383)}`)).toEqual([])
    expect(refusal(`//${'é'.repeat(16_383)}x`)).toBe('policies: must be at most 32 KB')
  })

  test('is refused when it is not Unicode text', () => {
    expect(refusal(policy('"\ud800" == ""'))).toBe('policies: must be valid Unicode')
  })
})
