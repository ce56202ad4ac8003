import { and, asc, desc, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/** The values of the last row that was read. */
export interface Position {
  value: string | number
  /** The row's number, or its ID if rows have no number. */
  seq: string | number
}

/** A column or expression by which a list is sorted. It is never null. */
export interface SortKey {
  value: SQLiteColumn | SQL
  type: 'number' | 'string'
}

export interface Order<By extends string> {
  by: By
  isDescending: boolean
}

/** A part of a list, after a position. `since` and `until` limit the key that sorts. */
export interface Range {
  after?: Position | undefined
  since?: string | number | undefined
  until?: string | number | undefined
  limit: number
}

interface Statement<Row> {
  all: (values: Record<string, unknown>) => Row[]
}

type Prepare<Row> = (where: SQL | undefined, orderBy: SQL[]) => Statement<Row>

/** Sort before and after every stored value. */
const ENDS = { number: [-1, Number.MAX_SAFE_INTEGER], string: ['', '\u{10ffff}'] } as const

/**
 * Reads a list in the order of one of its keys and of the row number or ID, after a position. An index needs
 * to have both, after the columns of the other conditions: then a page costs the same wherever it
 * begins. `prepare` makes a statement with the condition, the order and a `limit`.
 */
export function sortable<By extends string, Row>(
  of: { keys: Readonly<Record<By, SortKey>>; seq: SQLiteColumn },
  prepare: Prepare<Row>,
) {
  const lists = Object.entries<SortKey>(of.keys).flatMap(([by, key]) =>
    [true, false].map((isDescending) => {
      const read = keyset({ key, seq: of.seq, isDescending }, prepare)
      return [`${by} ${isDescending}`, read] as const
    }),
  )
  const listBy = new Map(lists)
  return ({ by, isDescending }: Order<By>, values: object, range: Range): Row[] =>
    listBy.get(`${by} ${isDescending}`)?.(values, range) ?? []
}

/** The range of texts that begin with another. */
export const beginningWith = (text: string) => ({ since: text, until: text + ENDS.string[1] })

/** As `lower()` of SQLite, which folds ASCII alone. */
export const folded = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * Reads a list in one order. Two statements, because SQLite doesn't start an index scan at a pair of values: the
 * rows with the same value, of which there may be many, and those after them.
 */
export function keyset<Row>(
  of: { key: SortKey; seq: SQLiteColumn; isDescending: boolean },
  prepare: Prepare<Row>,
) {
  const { key, seq, isDescending } = of
  const value = sql`${key.value}`
  const [first, last] = ENDS[key.type]
  const [beforeAll] = ENDS[seq.dataType === 'string' ? 'string' : 'number']
  const [beyond, direction] = isDescending ? [lt, desc] : [gt, asc]
  const $ = sql.placeholder
  const end = (isDescending ? gte : lt)(value, $('end'))
  const same = prepare(and(eq(value, $('value')), beyond(seq, $('seq'))), [direction(seq)])
  const rest = prepare(and(beyond(value, $('value')), end), [direction(value), direction(seq)])

  return (values: object, range: Range): Row[] => {
    const { since = first, until = last, limit } = range
    const [start, stop] = isDescending ? [until, since] : [since, until]
    // The start of a range is the position before its first row, so that a scan begins there.
    const after = range.after ?? { value: start, seq: beforeAll }
    const all = { ...values, ...after, end: stop }
    const found = same.all({ ...all, limit })
    const left = limit - found.length
    return left === 0 ? found : [...found, ...rest.all({ ...all, limit: left })]
  }
}
