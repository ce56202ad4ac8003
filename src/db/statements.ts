import type { Database } from 'bun:sqlite'
import type { Query } from 'drizzle-orm'
import {
  SQLiteDeleteBase,
  SQLiteInsertBase,
  SQLiteSelectBase,
  SQLiteUpdateBase,
} from 'drizzle-orm/sqlite-core'

/**
 * Prevents SQLite from planning a statement again for every set of values. SQLite looks at bound
 * values when it plans a statement with an order or a limit, and plans it again whenever they
 * change, at up to forty times the cost of the statement itself. It doesn't look into expressions,
 * and a plus sign changes neither a value nor its type.
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

/** The methods of a prepared Drizzle statement that are used. */
const METHODS = ['run', 'all', 'get', 'values'] as const

/**
 * Makes Drizzle write and SQLite compile a statement on its first use. Stores prepare hundreds of
 * statements at start; a command uses a few, and a small installation not many more.
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
      const prepared = late(() => prepare.call(this))
      const methods = METHODS.map((method) => [
        method,
        (values?: Record<string, unknown>) => prepared()[method](values),
      ])
      return Object.fromEntries(methods)
    }
    const toSQL: () => Query = prototype.toSQL
    prototype.toSQL = function (this: unknown): Query {
      const query = late(() => toSQL.call(this))
      return {
        get sql() {
          return query().sql
        },
        get params() {
          return query().params
        },
      }
    }
  }
}

/** Makes a value on its first use, and then lets go of what it was made from. */
export function late<T>(make: () => T): () => T {
  let pending: (() => T) | undefined = make
  let value: T
  return () => {
    if (pending) {
      value = pending()
      pending = undefined
    }
    return value
  }
}
