import type { Database, SQLQueryBindings, Statement } from 'bun:sqlite'

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

/**
 * The connection as Drizzle is to see it: what it prepares at the start is compiled by SQLite with
 * its first use. A command uses a few of some hundred statements, a small installation not many more.
 */
export const preparedLate = (client: Database): Database =>
  Object.create(client, { prepare: { value: (sql: string) => lateStatement(client, sql) } })

type Bound = SQLQueryBindings[]

/** All of a statement that Drizzle asks for. */
function lateStatement(
  client: Database,
  sql: string,
): Pick<Statement<unknown, Bound>, 'run' | 'all' | 'values'> {
  let prepared: Statement<unknown, Bound> | undefined
  const statement = () => {
    prepared ??= client.prepare<unknown, Bound>(sql)
    return prepared
  }
  return {
    run: (...values) => statement().run(...values),
    all: (...values) => statement().all(...values),
    values: (...values) => statement().values(...values),
  }
}
