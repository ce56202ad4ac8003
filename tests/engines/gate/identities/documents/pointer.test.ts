import { expect, test } from 'bun:test'
import {
  isPointer,
  readPointer,
  shortened,
  showPointer,
} from '../../../../../src/engines/gate/identities/documents/pointer.ts'

const POINTERS: [text: string, tokens: string[]][] = [
  ['', []],
  ['/foo', ['foo']],
  ['/foo/0', ['foo', '0']],
  ['/', ['']],
  ['/a~1b', ['a/b']],
  ['/c%d', ['c%d']],
  ['/e^f', ['e^f']],
  ['/g|h', ['g|h']],
  ['/i\\j', ['i\\j']],
  ['/k"l', ['k"l']],
  ['/ ', [' ']],
  ['/m~0n', ['m~n']],
  ['/~01', ['~1']],
  ['/~10', ['/0']],
  ['/~00~11', ['~0/1']],
  ['//', ['', '']],
  ['/a//b/', ['a', '', 'b', '']],
  ['/é/\u{1f600}', ['é', '\u{1f600}']],
]

test.each(POINTERS)('%p is read and written again', (text, tokens) => {
  expect(isPointer(text)).toBe(true)
  expect(readPointer(text)).toEqual(tokens)
  expect(showPointer(tokens)).toBe(text)
})

test.each(['foo', 'foo/bar', ' /foo', '#/foo', '/a~', '/~', '/a~2b', '/a/~x', '/~~0', '~0'])(
  '%p is none',
  (text) => expect(isPointer(text)).toBe(false),
)

test('in messages a long one is cut off', () => {
  expect(showPointer(['a'.repeat(300)])).toBe(`/${'a'.repeat(199)}…`)
  expect(shortened('a'.repeat(200))).toBe('a'.repeat(200))
})
