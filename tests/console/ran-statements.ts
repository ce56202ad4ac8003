import { Database, type Statement } from 'bun:sqlite'

/**
 * Keeps account of what is run on databases that are opened from now on, until disposed: the SQL
 * of each statement, as it was prepared.
 */
export function watchStatements() {
  const { prepare } = Database.prototype
  let ran = new Set<string>()

  function watched(statement: Statement, sql: string): Statement {
    for (const name of ['all', 'get', 'run', 'values'] as const) {
      const run = statement[name].bind(statement)
      Object.assign(statement, {
        [name]: (...values: Parameters<typeof run>) => {
          ran.add(sql)
          return run(...values)
        },
      })
    }
    return statement
  }

  Database.prototype.prepare = function (this: Database, sql: string, ...rest: []) {
    return watched(prepare.call(this, sql, ...rest), sql) as never
  }

  return {
    /** The statements that are run meanwhile, each once. */
    async during(work: () => Promise<unknown>): Promise<string[]> {
      ran = new Set()
      await work()
      return [...ran]
    },
    [Symbol.dispose]: () => {
      Database.prototype.prepare = prepare
    },
  }
}
