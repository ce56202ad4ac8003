import type { Order, Position, SortKey } from '../db/keyset.ts'
import { checkDigits } from './crypto.ts'
import { invalid } from './errors.ts'

type Part = 'number' | 'string'
type ValueOf<P> = P extends 'number' ? number : string
type PositionOf<Shape> = Shape extends Part
  ? ValueOf<Shape>
  : { [Index in keyof Shape]: ValueOf<Shape[Index]> }

const DIGITS = 6

/**
 * Cursors of one list, which encode where a page ended in URL-safe characters. Check digits over
 * the name of the list and the position detect cursors that are truncated, invented or of another
 * list. Cursors are not secret: a position only leads to the caller's own rows.
 *
 * `shape` is the type of a position: one value, or one for each column by which the list is sorted.
 */
export function createCursor<const Shape extends Part | readonly Part[] = 'number'>(
  list: string,
  shape: Shape = 'number' as Shape,
) {
  type Position = PositionOf<Shape>
  const digitsOf = (text: string) => checkDigits(`${list}\n${text}`)

  function encode(position: Position): string {
    const text = Buffer.from(JSON.stringify(position)).toString('base64url')
    return text + digitsOf(text)
  }

  /** Anyone can compute the check digits, so the position is also validated. Throws `invalid`. */
  function decode(cursor: string): Position {
    const text = cursor.slice(0, -DIGITS)
    if (text === '' || digitsOf(text) !== cursor.slice(-DIGITS)) throw foreign()
    const position = parse(Buffer.from(text, 'base64url').toString())
    if (!fits(position, shape)) throw foreign()
    return position as Position
  }

  /** The position where a page begins; undefined for the first page. */
  const positionOf = (cursor: string | undefined): Position | undefined =>
    cursor === undefined ? undefined : decode(cursor)

  return { encode, decode, positionOf }
}

const foreign = () =>
  invalid('must be a cursor from this list', {
    field: 'cursor',
    rule: 'format',
    code: 'invalid_request',
  })

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw foreign()
  }
}

function fits(value: unknown, shape: Part | readonly Part[]): boolean {
  if (shape === 'number') return Number.isFinite(value)
  if (shape === 'string') return typeof value === 'string'
  return (
    Array.isArray(value) &&
    value.length === shape.length &&
    shape.every((part, index) => fits(value[index], part as Part))
  )
}

/** A page of a list in the form of the API. */
export interface Page<Item> {
  data: Item[]
  has_more: boolean
  /** Null on the last page. */
  next_cursor: string | null
}

/** Builds a page from up to `limit + 1` rows; the additional row only shows that there are more. */
export function page<Row>(
  rows: readonly Row[],
  limit: number,
  cursorOf: (last: Row) => string,
): Page<Row> {
  const data = rows.slice(0, limit)
  const last = rows.length > limit ? data.at(-1) : undefined
  return {
    data,
    has_more: last !== undefined,
    next_cursor: last === undefined ? null : cursorOf(last),
  }
}

/** Builds a page of a list in one of its orders. A cursor has the sorted value of the last row, and its number. */
export function sortedPage<By extends string, Row extends { seq: number }>(
  of: {
    list: string
    keys: Readonly<Record<By, SortKey>>
    keyOf: Readonly<Record<By, (row: Row) => string | number>>
  },
  { by, isDescending, cursor, limit }: Order<By> & { cursor?: string | undefined; limit: number },
  read: (range: { after: Position | undefined; limit: number }) => Row[],
): Page<Row> {
  const shape = [of.keys[by].type, 'number'] as const
  const cursors = createCursor(`${of.list} by ${by} ${isDescending}`, shape)
  const [value, seq] = cursors.positionOf(cursor) ?? []
  const after = value === undefined || seq === undefined ? undefined : { value, seq }
  const rows = read({ after, limit: limit + 1 })
  return page(rows, limit, (row) => cursors.encode([of.keyOf[by](row), row.seq]))
}
