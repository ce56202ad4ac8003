import { and, asc, desc, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/** The values of the last row that was read. */
export interface Position {
  value: string | number
  seq: number
}

/** A part of a list, after a position. `since` and `until` limit a column of times. */
export interface Range {
  after?: Position | undefined
  since?: number | undefined
  until?: number | undefined
  limit: number
}

interface Statement<Row> {
  all: (values: Record<string, unknown>) => Row[]
}

const [MIN, MAX] = [-1, Number.MAX_SAFE_INTEGER]
/** Sorts after every text. */
const LAST = '\u{10ffff}'

/**
 * Reads a list in the order of a column and of the row number, after a position. An index needs to
 * have both, after the columns of the other conditions: then a page costs the same wherever it
 * begins. `prepare` makes a statement with the condition, the order and a `limit`.
 *
 * Two statements, because SQLite doesn't start an index scan at a pair that has the row number: the
 * rows with the same value, of which there may be many, and those after them.
 */
export function keyset<Row>(
  of: { value: SQLiteColumn; seq: SQLiteColumn; isDescending: boolean },
  prepare: (where: SQL | undefined, orderBy: SQL[]) => Statement<Row>,
) {
  const { value, seq, isDescending } = of
  const isText = value.columnType === 'SQLiteText'
  const [beyond, direction] = isDescending ? [lt, desc] : [gt, asc]
  const $ = sql.placeholder
  const end = isText ? undefined : (isDescending ? gte : lt)(value, $('end'))
  const same = prepare(and(eq(value, $('value')), beyond(seq, $('seq'))), [direction(seq)])
  const rest = prepare(and(beyond(value, $('value')), end), [direction(value), direction(seq)])

  /** The start of a range is the position before its first row, so that a scan begins there. */
  function startOf({ since = MIN + 1, until = MAX }: Range): Position {
    if (isText) return { value: isDescending ? LAST : '', seq: isDescending ? MIN : MAX }
    return isDescending ? { value: until, seq: MIN } : { value: since - 1, seq: MAX }
  }

  return (values: object, range: Range): Row[] => {
    const { since = MIN, until = MAX, limit } = range
    const all = { ...values, ...(range.after ?? startOf(range)), end: isDescending ? since : until }
    const first = same.all({ ...all, limit })
    const left = limit - first.length
    return left === 0 ? first : [...first, ...rest.all({ ...all, limit: left })]
  }
}
