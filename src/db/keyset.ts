import { and, asc, desc, eq, gt, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'

/** The values of the last row that was read. */
export interface Position {
  value: string | number
  seq: number
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

type Prepare<Row> = (where: SQL | undefined, orderBy: SQL[]) => Statement<Row>

const [MIN, MAX] = [-1, Number.MAX_SAFE_INTEGER]
/** Sorts after every text. */
const LAST = '\u{10ffff}'

/**
 * Reads a list in the order of one of its keys and of the row number, after a position. An index needs to
 * have both, after the columns of the other conditions: then a page costs the same wherever it
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

/**
 * Two statements, because SQLite doesn't start an index scan at a pair that has the row number: the
 * rows with the same value, of which there may be many, and those after them.
 */
function keyset<Row>(
  of: { key: SortKey; seq: SQLiteColumn; isDescending: boolean },
  prepare: Prepare<Row>,
) {
  const { key, seq, isDescending } = of
  const value = sql`${key.value}`
  const isText = key.type === 'string'
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
