import type { Database } from 'bun:sqlite'
import {
  SQLiteDeleteBase,
  SQLiteInsertBase,
  SQLiteSelectBase,
  SQLiteUpdateBase,
} from 'drizzle-orm/sqlite-core'

/**
 * SQLite looks at bound values while it plans a statement that has an order or a limit, and plans
 * it anew whenever they are bound again: that costs up to forty times the statement itself. It
 * does not look into an expression, and a plus sign changes neither a value nor its type.
 */
export function plannedOnce(client: Database): Database {
  const prepare = client.prepare.bind(client)
  client.prepare = ((sql: string, ...rest: []) =>
    prepare(withoutBareParameters(sql), ...rest)) as Database['prepare']
  return client
}

const withoutBareParameters = (sql: string) =>
  sql.replace(/'[^']*'|"[^"]*"|\?/g, (part) => (part === '?' ? '+?' : part))

type Prepared = Record<(typeof METHODS)[number], (values?: Record<string, unknown>) => unknown>

/** All that a prepared statement of Drizzle is asked for. */
const METHODS = ['run', 'all', 'get', 'values'] as const

/**
 * Statements that Drizzle prepares are written, and compiled by SQLite, with their first use. Stores
 * prepare hundreds of them at the start; a command uses a few, a small installation not many more.
 */
export function prepareLate() {
  for (const { prototype } of [
    SQLiteSelectBase,
    SQLiteInsertBase,
    SQLiteUpdateBase,
    SQLiteDeleteBase,
  ]) {
    const prepare: () => Prepared = prototype.prepare
    prototype.prepare = function (this: unknown) {
      let prepared: Prepared | undefined
      const methods = METHODS.map((method) => [
        method,
        (values?: Record<string, unknown>) => {
          prepared ??= prepare.call(this)
          return prepared[method](values)
        },
      ])
      return Object.fromEntries(methods)
    }
  }
}
