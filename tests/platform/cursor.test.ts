import { expect, test } from 'bun:test'
import { checkDigits } from '../../src/platform/crypto.ts'
import { createCursor, page } from '../../src/platform/cursor.ts'

const byNumber = createCursor('things')
const byTimeAndId = createCursor('things', ['number', 'string'])

/** A cursor as somebody makes it who has read our source. */
const forged = (text: string, list = 'things') => {
  const encoded = Buffer.from(text).toString('base64url')
  return encoded + checkDigits(`${list}\n${encoded}`)
}

test('a position comes back as it was, in characters that need no escape in a URL', () => {
  for (const position of [0, 1, -5, 1.5, 1_795_264_079_647, Number.MAX_SAFE_INTEGER]) {
    expect(byNumber.encode(position)).toMatch(/^[\w-]+$/)
    expect(byNumber.decode(byNumber.encode(position))).toBe(position)
  }
  for (const id of ['', 'a', '01993e5c-7b1e', 'ä?&=\n"漢😀']) {
    expect(byTimeAndId.encode([7, id])).toMatch(/^[\w-]+$/)
    expect(byTimeAndId.decode(byTimeAndId.encode([7, id]))).toEqual([7, id])
  }
  expect(createCursor('names', 'string').decode(createCursor('names', 'string').encode('b'))).toBe(
    'b',
  )
})

test('one that is cut short, changed or of another list is refused', () => {
  const cursor = byNumber.encode(1_795_264_079_647)
  const changed = [...cursor].map((character, at) =>
    [cursor.slice(0, at), character === 'A' ? 'B' : 'A', cursor.slice(at + 1)].join(''),
  )
  const cut = [...cursor].flatMap((_, at) => [cursor.slice(0, at), cursor.slice(at + 1)])
  const others = [
    createCursor('thing').encode(1),
    createCursor('other').encode(1),
    `${cursor}=`,
    `${cursor} `,
    ` ${cursor}`,
    `${cursor}${cursor}`,
    cursor.toUpperCase(),
    '000000',
    'undefined',
    'x'.repeat(100_000),
    '😀'.repeat(10),
  ]

  for (const text of [...changed, ...cut, ...others])
    expect(() => byNumber.decode(text), text.slice(0, 50)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'invalid_request',
        message: 'cursor: must be a cursor from this list',
      }),
    )
})

test('so is a made-up one with the right check digits and no position of the list', () => {
  expect(byNumber.decode(forged('5'))).toBe(5)
  for (const text of ['"5"', 'null', '[5]', '{}', '1e999', '5x', '', '\u0000', 'true'])
    expect(() => byNumber.decode(forged(text)), text).toThrow('must be a cursor from this list')
  for (const text of ['5', '[]', '[5]', '[5,5]', '["a",5]', '[5,"a",1]', '[5,null]', '{"0":5}'])
    expect(() => byTimeAndId.decode(forged(text)), text).toThrow('must be a cursor from this list')
})

test('a page is cut off its rows, and the row beyond it is the reason for a cursor', () => {
  const cursorOf = (row: number) => `after ${row}`

  expect(page([], 2, cursorOf)).toEqual({ data: [], has_more: false, next_cursor: null })
  expect(page([1], 2, cursorOf)).toEqual({ data: [1], has_more: false, next_cursor: null })
  expect(page([1, 2], 2, cursorOf)).toEqual({ data: [1, 2], has_more: false, next_cursor: null })
  expect(page([1, 2, 3], 2, cursorOf)).toEqual({
    data: [1, 2],
    has_more: true,
    next_cursor: 'after 2',
  })
})
