import type { Database } from 'bun:sqlite'

/** How SQLite goes about one table in a statement. */
export interface Step {
  /** As `EXPLAIN QUERY PLAN` puts it. */
  text: string
  table: string
  /** Empty without one. */
  index: string
  /** From one end towards the other. */
  isWalk: boolean
  /** By all columns of what is unique: there is one row at most. */
  isOne: boolean
  /** From one place on, by nothing that all of them have in common. */
  isRange: boolean
}

export interface Explained {
  statement: string
  steps: Step[]
  isLimited: boolean
  /** Of one tenant alone. */
  isOfTenant: boolean
  /** After it was found, and before any limit. */
  isSorted: boolean
}

const STEP =
  /^(SCAN|SEARCH) (\w+)(?: USING (?:COVERING )?(?:INDEX (\w+)|(INTEGER PRIMARY KEY)))?(?: \((.*)\))?/

/** Tells what SQLite would do for a statement, on a database as it is. */
export function explainer(client: Database) {
  const names = (sql: string) =>
    client
      .query<{ name: string }, []>(sql)
      .all()
      .map(({ name }) => name)
  const tables = new Set(names("SELECT name FROM sqlite_schema WHERE type = 'table'"))
  const widths = new Map(
    names(
      `SELECT i.name FROM sqlite_schema t, pragma_index_list(t.name) i WHERE i."unique" = 1`,
    ).map((index) => [index, names(`SELECT name FROM pragma_index_info('${index}')`).length]),
  )

  function stepOf(text: string): Step[] {
    const [, how, table = '', index = '', rowId, bounds = ''] = STEP.exec(text) ?? []
    if (!tables.has(table)) return []
    const equal = bounds.match(/=\?/g)?.length ?? 0
    // SQLite says so of the least or the greatest of all.
    const isEnd = text === `SEARCH ${table}`
    return [
      {
        text,
        table,
        index,
        isWalk: how === 'SCAN',
        isOne: isEnd || (equal > 0 && equal === (rowId ? 1 : widths.get(index))),
        isRange: equal === 0 && !isEnd,
      },
    ]
  }

  return function explain(statement: string): Explained {
    const explained = client.prepare<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${statement}`)
    const plan = explained.all().map(({ detail }) => detail)
    explained.finalize()
    const isOfSome = plan.some((step) => step.startsWith('CO-ROUTINE'))
    return {
      statement,
      steps: plan.flatMap(stepOf),
      isOfTenant: /tenant_id"? = /.test(statement),
      isLimited: /\blimit\b/i.test(statement),
      isSorted: !isOfSome && plan.some((step) => /B-TREE FOR (?!LAST)/.test(step)),
    }
  }
}
