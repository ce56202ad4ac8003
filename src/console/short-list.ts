import type { ListPosition } from '../../views/ui/pager.tsx'
import type { Sorting } from '../../views/ui/sorting.ts'
import { type Page, page } from '../platform/cursor.ts'

/** Lists with few enough rows to be sorted in memory. */

type Value = number | string

const { compare } = new Intl.Collator('en', { numeric: true })

/** Rows in an order. The other direction turns all of them around, also those with an equal value. */
export function sortRows<By extends string, Row>(
  rows: readonly Row[],
  { by, isDescending }: Sorting<By>,
  keyOf: Readonly<Record<By, (row: Row) => Value>>,
): Row[] {
  const valued = rows.map((row) => ({ row, value: keyOf[by](row) }))
  const sorted = valued
    .toSorted((one, other) =>
      typeof one.value === 'string'
        ? compare(one.value, `${other.value}`)
        : one.value - Number(other.value),
    )
    .map(({ row }) => row)
  return isDescending ? sorted.toReversed() : sorted
}

/** The page after a row, whose ID is the cursor; the first page for a row that is gone. */
export function pageOfRows<Row extends { id: string }>(
  rows: readonly Row[],
  { cursor }: ListPosition,
  limit: number,
): Page<Row> {
  const from = rows.findIndex(({ id }) => id === cursor) + 1
  return page(rows.slice(from, from + limit + 1), limit, ({ id }) => id)
}
