import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { is, Param, Placeholder, type SQL } from 'drizzle-orm'

type Values = Record<string, SQLQueryBindings>

interface Query {
  toSQL(): { sql: string; params: unknown[] }
}

/**
 * Compiles a statement built by Drizzle to run directly in SQLite, without the mapping in between,
 * for the few statements that every request pays for. Values are passed by placeholder name in
 * SQLite's types (a boolean is 1 or 0), and a row has the column names as its keys.
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

/**
 * Returns a function that reads one parameter. Drizzle wraps a placeholder that stands for a
 * column's value.
 */
function readerOf(param: unknown): (values: Values) => SQLQueryBindings {
  const inner = is(param, Param) ? (param.value as SQL) : param
  if (!is(inner, Placeholder)) return () => inner as SQLQueryBindings
  const { name } = inner
  return (values) => values[name] as SQLQueryBindings
}
