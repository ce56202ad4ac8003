import { expect, test } from 'bun:test'
import { type DiffLine, diffOf } from '../../../src/console/pages/webhooks/line-diff.ts'

const SIGNS: Record<DiffLine['kind'], string> = { same: ' ', gone: '-', new: '+', 'left out': '~' }
const A_TO_G = 'a\nb\nc\nd\ne\nf\ng'

test.each([
  [A_TO_G, 'a\nb\nc\nd\nX\nf\ng', ['~…', ' c', ' d', '-e', '+X', ' f', ' g']],
  [A_TO_G, A_TO_G.replace('d\n', ''), ['~…', ' b', ' c', '-d', ' e', ' f', '~…']],
  [A_TO_G, `${A_TO_G}\nh`, ['~…', ' f', ' g', '+h']],
  ['a\nb\nc', 'b\nX\nc\na', ['-a', ' b', '+X', ' c', '+a']],
  ['', 'a', ['-', '+a']],
  ['a', '', ['-a', '+']],
  ['a\nb', 'a\nb', ['~…']],
  ['{"a":1}', '{ "a": 1 }', ['~…']],
  ['{"a":1}', '{"a":2}', [' {', '-  "a": 1', '+  "a": 2', ' }']],
])('%j and %j differ in %j', (before, after, lines) => {
  expect(diffOf(before, after).map(({ kind, text }) => SIGNS[kind] + text)).toEqual(lines)
})

test('A long difference is cut at 81 lines', () => {
  const lines = (prefix: string) => Array.from({ length: 20_000 }, (_, n) => prefix + n).join('\n')
  const cut = diffOf(lines('a'), lines('b'))
  expect([cut.length, cut.at(-1)?.kind]).toEqual([81, 'left out'])
})
