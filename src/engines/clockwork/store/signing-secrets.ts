import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { excludedOf } from '../../../db/placeholders.ts'
import { jobSigningSecrets } from '../schema.ts'

export function createSigningSecretStore({ orm }: Db) {
  const $ = sql.placeholder
  const find = orm
    .select({ secrets: jobSigningSecrets.secrets })
    .from(jobSigningSecrets)
    .where(eq(jobSigningSecrets.tenantId, $('tenantId')))
    .prepare()
  const save = orm
    .insert(jobSigningSecrets)
    .values({ tenantId: $('tenantId'), secrets: $('secrets'), updatedAt: $('now') })
    .onConflictDoUpdate({
      target: jobSigningSecrets.tenantId,
      set: excludedOf(jobSigningSecrets, 'tenantId'),
    })
    .prepare()

  return {
    /** Sealed. */
    find: (tenantId: string): string | undefined => find.get({ tenantId })?.secrets,
    save: (tenantId: string, secrets: string, now: number) => save.run({ tenantId, secrets, now }),
  }
}
