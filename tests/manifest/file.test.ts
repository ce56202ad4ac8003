import { describe, expect, test } from 'bun:test'
import { parseManifest, printManifest } from '../../src/manifest/file.ts'
import { AppError } from '../../src/platform/errors.ts'

const read = (text: string, variables: Record<string, string> | undefined = {}) =>
  parseManifest(text, variables)

test.each<[string, Record<string, unknown>]>([
  ['texts of several lines', { policies: 'permit (\n  a == "b\\n"\n);\n' }],
  ['texts that look like the end of one', { policies: 'a\n"""\nb', jobs: [{ body: 'a\n"' }] }],
  ['control characters, blanks and line breaks', { jobs: [{ body: ' \t\r\n\u0001\\n\n ' }] }],
  ['what looks like a variable', { jobs: [{ body: `\${HOME} $\${HOME}` }] }],
  [
    'tables in lists',
    { jobs: [{ name: 'a', retry: { backoff: { factor: 1.5 } } }, { name: 'b' }] },
  ],
  ['keys with dots', { jobs: [{ headers: { 'x.a': 'b', 'x y': '' } }] }],
])('A printed manifest with %s is read as it was', (_, manifest) => {
  for (const format of ['toml', 'json'] as const)
    expect(read(printManifest(manifest, format)).manifest).toEqual(manifest)
})

test('Policies are printed line by line, and null is left out', () => {
  expect(printManifest({ policies: 'permit (\n  a == "b"\n);\n', a: null })).toBe(
    'policies = """\npermit (\n  a == "b"\n);\n"""\n',
  )
})

test('Variables are replaced in every text, and dates are texts', () => {
  const text = `a = ["\${A}-\${B}", "$\${A}", 1]\n[b]\nd = 2027-01-31\nc = ""`
  expect(read(text, { A: 'x', B: '' }).manifest).toEqual({
    a: ['x-', `\${A}`, 1],
    b: { d: '2027-01-31', c: '' },
  })
  expect(read(`{"a": "\${A}"}`, { A: '"' }).manifest).toEqual({ a: '"' })
})

describe('A mistake is reported with its line', () => {
  test.each<[string, string, string]>([
    ['of the syntax', 'a = 1\na = 2', 'line 2, column 1: not valid TOML'],
    ['of the syntax in JSON', '{"a"', 'must be JSON (Expected'],
    ['of depth', `{"a": ${'['.repeat(100_000)}`, 'must not be nested deeper than 64 levels'],
    ['of half a character', '{"a": "\\ud800"}', 'must not contain half a surrogate pair'],
    ['of a variable that every object has', `a = "\${constructor}"`, 'a: line 1, column 1: needs'],
    [
      'of a variable',
      `[[jobs]]\nname = "a"\nurl = "\${URL}"`,
      'jobs.0.url: line 3, column 1: needs',
    ],
  ])('%s', (_, text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  test('of a variable where there are none', () => {
    expect(() => parseManifest(`a = "\${URL}"`)).toThrow('which only the command line replaces')
  })

  test('of a field, or else of what it is in', () => {
    const { located } = read('[[jobs]]\nname = "a"\n[[jobs]]\nname = "b"\n')
    const error = located(
      new AppError('invalid', [
        { field: 'jobs.1.name', problem: 'no' },
        { field: 'jobs.1.url', problem: 'no' },
        { field: 'other', problem: 'no' },
      ]),
    )
    expect(error.message.split('\n')).toEqual([
      'jobs.1.name: line 4, column 1: no',
      'jobs.1.url: line 3, column 1: no',
      'other: no',
    ])
  })
})
