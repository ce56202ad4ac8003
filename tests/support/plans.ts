import {
  SQLiteDeleteBase,
  SQLiteInsertBase,
  SQLiteSelectBase,
  SQLiteUpdateBase,
} from 'drizzle-orm/sqlite-core'
import type { Db } from '../../src/db/open.ts'
import { bootTestApp, type TestApp } from './app.ts'

/** How SQLite goes about each statement that the stores prepare, on an empty database. */
export async function plansOf(...createStores: ((db: Db) => unknown)[]) {
  await using app = await bootTestApp()
  const plans = statementsOf(app, createStores).map((statement) => ({
    statement,
    plan: planOf(app, statement),
  }))

  /** The plan of the first statement that has all these parts. */
  const planWith = (...parts: string[]): string =>
    plans
      .find(({ statement }) => parts.every((part) => statement.includes(part)))
      ?.plan.join('; ') ?? `no statement with ${parts.join(' and ')}`

  return { plans, planWith }
}

/** Also those that are written and compiled with their first use otherwise. */
function statementsOf({ db }: TestApp, createStores: ((db: Db) => unknown)[]): string[] {
  const { client } = db
  const statements: string[] = []
  const compile = client.prepare
  client.prepare = (statement: string) => {
    statements.push(statement)
    return compile.call(client, statement) as never
  }
  const undo = BUILDERS.map(({ prototype }) => {
    const { prepare, toSQL } = prototype
    prototype.prepare = function (this: { toSQL(): unknown }) {
      this.toSQL()
      return prepare.call(this)
    }
    prototype.toSQL = function (this: unknown) {
      const query = toSQL.call(this)
      statements.push(query.sql)
      return query
    }
    return () => {
      prototype.prepare = prepare
      prototype.toSQL = toSQL
    }
  })
  for (const createStore of createStores) createStore(db)
  for (const back of undo) back()
  client.prepare = compile
  return statements
}

const BUILDERS = [SQLiteSelectBase, SQLiteInsertBase, SQLiteUpdateBase, SQLiteDeleteBase]

function planOf({ db }: TestApp, statement: string): string[] {
  const explain = db.client.prepare(`explain query plan ${statement}`)
  const steps = explain.all() as { detail: string }[]
  explain.finalize()
  return steps.map(({ detail }) => detail)
}
