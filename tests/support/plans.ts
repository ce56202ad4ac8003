import { drizzle } from 'drizzle-orm/bun-sqlite'
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

/** Also those that are compiled with their first use otherwise. */
function statementsOf({ db }: TestApp, createStores: ((db: Db) => unknown)[]): string[] {
  const { client } = db
  const prepare = client.prepare
  const statements: string[] = []
  client.prepare = (statement: string) => {
    statements.push(statement)
    return prepare.call(client, statement) as never
  }
  for (const createStore of createStores) createStore({ ...db, orm: drizzle(client) })
  client.prepare = prepare
  return statements
}

function planOf({ db }: TestApp, statement: string): string[] {
  const explain = db.client.prepare(`explain query plan ${statement}`)
  const steps = explain.all() as { detail: string }[]
  explain.finalize()
  return steps.map(({ detail }) => detail)
}
