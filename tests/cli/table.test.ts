import { expect, test } from 'bun:test'
import { table } from '../../src/cli/command.ts'

test('columns are as wide as their widest cell', () => {
  expect(
    table([
      ['ID', 'NAME'],
      ['1', 'Acme'],
      ['22', 'B'],
    ]),
  ).toBe('ID  NAME\n1   Acme\n22  B')
})

test('whatever a cell holds, it stays in its line and gives a terminal no orders', () => {
  const lines = table([
    ['NAME', 'PLAN'],
    ['a\u001b[2J\r\nb\u0000', 'free'],
    ['\u202eevil\u2069\u2028', 'free'],
  ])
  expect(lines).not.toMatch(/[^\P{Cc}\n]|[\u2028\u202e\u2069]/u)
  expect(lines.split('\n')).toEqual(['NAME      PLAN', 'a [2J b   free', ' evil     free'])
})
