import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { is, Param, Placeholder, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { late } from './statements.ts'

type Values = Record<string, SQLQueryBindings>

interface Query {
  toSQL(): { sql: string; params: unknown[] }
}

/**
 * Compiles a statement built by Drizzle to run directly in SQLite, without the mapping in between,
 * for the few statements that every request or attempt pays for. Values are passed by placeholder
 * name in SQLite's types (a boolean is 1 or 0), and a row has the column names as its keys.
 */
export function compile<Row>(client: Database, query: Query) {
  const text = query.toSQL()
  const statement = late(() => client.prepare<Row, SQLQueryBindings[]>(text.sql))
  const readers = late(() => text.params.map(readerOf))
  const bind = (values: Values) => readers().map((read) => read(values))

  return {
    run: (values: Values) => statement().run(...bind(values)),
    get: (values: Values): Row | undefined => statement().get(...bind(values)) ?? undefined,
    all: (values: Values): Row[] => statement().all(...bind(values)),
  }
}

/** Selects columns under other names, such as those of a table's properties. */
export const named = (columns: Record<string, SQLWrapper>) =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, sql`${column}`.as(name)]),
  )

/** Returns a reader of one parameter. Drizzle wraps placeholders that stand for column values. */
function readerOf(param: unknown): (values: Values) => SQLQueryBindings {
  const inner = is(param, Param) ? (param.value as SQL) : param
  if (!is(inner, Placeholder)) return () => inner as SQLQueryBindings
  const { name } = inner
  return (values) => values[name] as SQLQueryBindings
}
