import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { excludedOf, rowOf } from '../../db/placeholders.ts'
import { consoleChecklists } from './schema.ts'

export type ChecklistRow = typeof consoleChecklists.$inferSelect

/** All SQL on checklists. */
export function createChecklistStore({ orm }: Db) {
  const find = orm
    .select()
    .from(consoleChecklists)
    .where(eq(consoleChecklists.tenantId, sql.placeholder('tenantId')))
    .prepare()
  const put = orm
    .insert(consoleChecklists)
    .values(rowOf(consoleChecklists))
    .onConflictDoUpdate({
      target: consoleChecklists.tenantId,
      set: excludedOf(consoleChecklists, 'tenantId'),
    })
    .prepare()
  return {
    find: (tenantId: string): ChecklistRow | undefined => find.get({ tenantId }),
    put: (row: ChecklistRow) => void put.run(row),
  }
}
