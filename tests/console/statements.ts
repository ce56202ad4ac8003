import { Database, type Statement } from 'bun:sqlite'

/** How SQLite reads one table for a statement. */
export interface Step {
  /** As `EXPLAIN QUERY PLAN` says it. */
  text: string
  table: string
  /** Empty without one. */
  index: string
  /** Reads the table from one end to the other. */
  isScan: boolean
  /** Finds one row at most. */
  isOne: boolean
  /** Reads a range without a common value. */
  isRange: boolean
}

export type Explained = ReturnType<ReturnType<typeof explainer>>

/** Records the statements that run on databases opened from now on, until disposed. */
export function watchStatements() {
  const { prepare } = Database.prototype
  let ran = new Set<string>()

  function watched(statement: Statement, sql: string): Statement {
    for (const name of ['all', 'get', 'run', 'values'] as const) {
      const run = statement[name].bind(statement)
      const recorded = (...values: Parameters<typeof run>) => {
        ran.add(sql)
        return run(...values)
      }
      Object.assign(statement, { [name]: recorded })
    }
    return statement
  }

  Database.prototype.prepare = function (this: Database, sql: string, ...rest: []) {
    return watched(prepare.call(this, sql, ...rest), sql) as never
  }
  return {
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

const STEP =
  /^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?(?:INDEX (\w+)|(INTEGER PRIMARY KEY)))?(?: \((.*)\))?/

/** Says what SQLite would do for a statement on a database. */
export function explainer(client: Database) {
  const namesIn = (sql: string) =>
    (client.query(sql).all() as { name: string }[]).map(({ name }) => name)
  const tables = new Set(namesIn("SELECT name FROM sqlite_schema WHERE type = 'table'"))
  const uniqueIndexes = namesIn(
    `SELECT i.name FROM sqlite_schema t, pragma_index_list(t.name) i WHERE i."unique" = 1`,
  )
  const widths = new Map(
    uniqueIndexes.map((index) => [
      index,
      namesIn(`SELECT name FROM pragma_index_info('${index}')`).length,
    ]),
  )

  function stepOf(text: string): Step[] {
    const [, how, table = '', index = '', rowId, bounds = ''] = STEP.exec(text) ?? []
    if (!tables.has(table)) return []
    const equal = bounds.match(/=\?/g)?.length ?? 0
    // The least or the greatest of all rows.
    const isEnd = text === `SEARCH ${table}`
    const isOne = isEnd || (equal > 0 && equal === (rowId ? 1 : widths.get(index)))
    return [{ text, table, index, isScan: how === 'SCAN', isOne, isRange: equal === 0 && !isEnd }]
  }

  return function explain(statement: string) {
    const explained = client.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${statement}`)
    const plan = explained.all().map(({ detail }) => detail)
    explained.finalize()
    const isPartial = plan.some((step) => step.startsWith('CO-ROUTINE'))
    return {
      statement,
      steps: plan.flatMap(stepOf),
      isOfTenant: /tenant_id"? = /.test(statement),
      isLimited: /\blimit\b/i.test(statement),
      /** Sorts what it has found, before any limit. */
      isSorted: !isPartial && plan.some((step) => /B-TREE FOR (?!LAST)/.test(step)),
    }
  }
}
