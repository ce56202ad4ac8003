import { expect, test } from 'bun:test'
import { checkDigits } from '../../src/platform/crypto.ts'
import { createCursor, page } from '../../src/platform/cursor.ts'

const byNumber = createCursor('things')
const byName = createCursor('names', 'string')
const byTimeAndId = createCursor('things', ['number', 'string'])

/** A cursor of a caller who knows the check digits. */
const forged = (text: string) => {
  const encoded = Buffer.from(text).toString('base64url')
  return encoded + checkDigits(`things\n${encoded}`)
}

test('A position comes back as it was, in characters that a URL needs not escape', () => {
  for (const position of [0, 1, -5, 1.5, 1_795_264_079_647, Number.MAX_SAFE_INTEGER]) {
    expect(byNumber.encode(position)).toMatch(/^[\w-]+$/)
    expect(byNumber.decode(byNumber.encode(position))).toBe(position)
  }
  for (const id of ['', 'a', '01993e5c-7b1e', 'ä?&=\n"漢😀']) {
    expect(byTimeAndId.encode([7, id])).toMatch(/^[\w-]+$/)
    expect(byTimeAndId.decode(byTimeAndId.encode([7, id]))).toEqual([7, id])
  }
  expect(byName.decode(byName.encode('b'))).toBe('b')
})

test('A cut, changed or foreign cursor is refused', () => {
  const cursor = byNumber.encode(1_795_264_079_647)
  const edited = [...cursor].flatMap((character, at) => {
    const [before, after] = [cursor.slice(0, at), cursor.slice(at + 1)]
    return [before, after, before + (character === 'A' ? 'B' : 'A') + after]
  })
  const others = [createCursor('thing').encode(1), createCursor('other').encode(1)]
  const padded = [`${cursor}=`, `${cursor} `, ` ${cursor}`, cursor + cursor, cursor.toUpperCase()]
  const made = ['000000', 'x'.repeat(100_000), '😀'.repeat(10)]
  const error = { kind: 'invalid', code: 'invalid_request', field: 'cursor' }
  for (const text of [...edited, ...others, ...padded, ...made])
    expect(() => byNumber.decode(text), text.slice(0, 50)).toThrow(expect.objectContaining(error))
})

test('A forged cursor without a position of the list is refused', () => {
  expect(byNumber.decode(forged('5'))).toBe(5)
  for (const text of ['"5"', 'null', '[5]', '{}', '1e999', '5x', '', '\u0000', 'true'])
    expect(() => byNumber.decode(forged(text)), text).toThrow('cursor')
  for (const text of ['5', '[]', '[5]', '[5,5]', '["a",5]', '[5,"a",1]', '[5,null]', '{"0":5}'])
    expect(() => byTimeAndId.decode(forged(text)), text).toThrow('cursor')
})

test('A page has the cursor of its last row if there are more', () => {
  const pageOf = (rows: number[]) => page(rows, 2, (row) => `after ${row}`)
  expect(pageOf([1, 2])).toEqual({ data: [1, 2], has_more: false, next_cursor: null })
  expect(pageOf([1, 2, 3])).toEqual({ data: [1, 2], has_more: true, next_cursor: 'after 2' })
})
