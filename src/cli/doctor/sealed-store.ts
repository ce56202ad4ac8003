import type { SQLQueryBindings } from 'bun:sqlite'
import { getTableName } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import type { SealedColumn } from '../../platform/sealing/column.ts'

/** Rows per read, so that reads of large tables stay short beside a server's writes. */
const SLICE = 1000

/** How many values of a sealed column start with none of `prefixes`, until `isTimeUp`. */
export function countBesides(
  { client }: Pick<Db, 'client'>,
  { column, property }: SealedColumn,
  prefixes: readonly string[],
  isTimeUp: () => boolean,
): number {
  const whole = quoted(column.name)
  const text = property === undefined ? whole : `json_extract(${whole}, '$.${property}')`
  const isHeld = prefixes.map(
    (_, index) => `substr(text, 1, length($held${index})) = $held${index}`,
  )
  const slice = client.prepare<{ last: number | null; closed: number | null }, SQLQueryBindings[]>(
    `SELECT max("row") AS last, sum(text IS NOT NULL AND NOT (${isHeld.join(' OR ')})) AS closed
      FROM (SELECT rowid AS "row", ${text} AS text FROM ${quoted(getTableName(column.table))}
        WHERE rowid > $after ORDER BY rowid LIMIT ${SLICE})`,
  )
  const held = Object.fromEntries(prefixes.map((prefix, index) => [`held${index}`, prefix]))
  let count = 0
  for (let after = 0; ; ) {
    const { last = null, closed } = slice.get({ ...held, after }) ?? { closed: 0 }
    count += closed ?? 0
    if (last === null || isTimeUp()) return count
    after = last
  }
}

const quoted = (name: string) => `"${name}"`
