import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { excludedOf, rowOf } from '../../../db/placeholders.ts'
import { gateSettings as settings } from '../schema.ts'

export type SettingsRow = typeof settings.$inferSelect

export function createSettingsStore({ orm }: Db) {
  const $ = sql.placeholder
  const put = orm
    .insert(settings)
    .values(rowOf(settings))
    .onConflictDoUpdate({ target: settings.tenantId, set: excludedOf(settings, 'tenantId') })
    .prepare()
  const find = orm
    .select()
    .from(settings)
    .where(eq(settings.tenantId, $('tenantId')))
    .prepare()

  return {
    put: (row: SettingsRow) => void put.run({ ...row }),
    find: (tenantId: string): SettingsRow | undefined => find.get({ tenantId }),
  }
}
