import type { SQLQueryBindings } from 'bun:sqlite'
import { and, eq, getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Snapshot } from './snapshot.ts'
import type { PortableTable, Row, Value } from './table.ts'

/** Reads a tenant's rows of a table one by one, without loading all of them into memory. */
export function* rowsOf(
  snapshot: Snapshot,
  portable: PortableTable,
  tenantId: string,
): Generator<Row> {
  const columns = Object.entries(getTableColumns(portable.table))
  const { sql: text, params } = selection(snapshot, portable, tenantId)
  const statement = snapshot.client.prepare<Record<string, Value>, SQLQueryBindings[]>(text)
  for (const raw of statement.iterate(...(params as SQLQueryBindings[])))
    yield Object.fromEntries(
      columns.map(([key, column]) => {
        const value = raw[column.name] ?? null
        return [key, value === null ? null : (column.mapFromDriverValue(value) as Value)]
      }),
    )
}

/** The number of rows that stay behind and that the report counts. */
export function countStaying(
  { orm }: Snapshot,
  { table, staying }: PortableTable,
  tenantId: string,
): number {
  const rows = orm
    .select({ count: sql<number>`count(*)` })
    .from(table)
    .where(and(eq(tenantColumn(table), tenantId), staying?.rows))
    .get()
  return rows?.count ?? 0
}

function selection({ orm }: Snapshot, portable: PortableTable, tenantId: string) {
  const { table, order, only, through } = portable
  const columns = getTableColumns(table)
  const inOrder = order.map((key) => column(columns, key))
  const isMine = and(eq(tenantColumn(table), tenantId), only)
  const fields = orm.select(columns)
  if (!through)
    return fields
      .from(table)
      .where(isMine)
      .orderBy(...inOrder)
      .toSQL()
  // SQLite processes the tables of a cross join in the given order.
  return fields
    .from(through.table)
    .crossJoin(table)
    .where(and(eq(through.tenant, tenantId), through.on, isMine))
    .orderBy(through.order, ...inOrder)
    .toSQL()
}

export const TENANT = 'tenant_id'

/** The column with the tenant's id; for the table of tenants, its primary key. */
export function tenantColumn(table: PortableTable['table']): SQLiteColumn {
  const columns = Object.values(getTableColumns(table))
  const found =
    columns.find(({ name }) => name === TENANT) ?? columns.find(({ primary }) => primary)
  if (!found) throw new Error('a table without a tenant')
  return found
}

function column(columns: Record<string, SQLiteColumn>, key: string): SQLiteColumn {
  const found = columns[key]
  if (!found) throw new Error(`there is no column ${key}`)
  return found
}

/** The property name of a column in the schema. */
export const keyOf = (table: PortableTable['table'], { name }: SQLiteColumn): string =>
  Object.entries(getTableColumns(table)).find(([, column]) => column.name === name)?.[0] ?? name
