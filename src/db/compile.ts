import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { is, Param, Placeholder, type SQL } from 'drizzle-orm'

type Values = Record<string, SQLQueryBindings>

interface Query {
  toSQL(): { sql: string; params: unknown[] }
}

/**
 * A statement that Drizzle writes and SQLite runs, without the mapping in between: for those
 * few that every request pays for. Values go in by the names of their placeholders and as
 * SQLite takes them (a boolean is 1 or 0); a row comes out under the names of its columns.
 */
export function compile<Row>(client: Database, query: Query) {
  const { sql, params } = query.toSQL()
  const statement = client.prepare<Row, SQLQueryBindings[]>(sql)
  const readers = params.map(readerOf)
  const bind = (values: Values) => readers.map((read) => read(values))

  return {
    run: (values: Values) => statement.run(...bind(values)),
    get: (values: Values): Row | undefined => statement.get(...bind(values)) ?? undefined,
  }
}

/** Drizzle wraps a placeholder that stands for a column's value. */
function readerOf(param: unknown): (values: Values) => SQLQueryBindings {
  const inner = is(param, Param) ? (param.value as SQL) : param
  if (!is(inner, Placeholder)) return () => inner as SQLQueryBindings
  const { name } = inner
  return (values) => values[name] as SQLQueryBindings
}
