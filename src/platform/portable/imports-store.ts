import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { conflict } from '../errors.ts'
import { imports, tenants } from '../schema.ts'

type TenantRow = typeof tenants.$inferSelect
type ImportRow = typeof imports.$inferSelect

/** Replaces the hash of an abandoned import; no file has this hash. */
export const GIVEN_UP = 'given up'

/** SQL on imports of tenants, and on the status that activates a tenant at the end. */
export function createImportStore({ orm }: Db) {
  const $ = sql.placeholder
  const mine = eq(imports.tenantId, $('tenantId'))
  const begin = orm
    .insert(imports)
    .values({ tenantId: $('tenantId'), fileHash: $('fileHash'), startedAt: $('now') })
    .onConflictDoUpdate({
      target: imports.tenantId,
      set: {
        fileHash: sql`excluded.file_hash`,
        startedAt: sql`excluded.started_at`,
        endedAt: null,
      },
    })
    .prepare()
  const find = orm.select().from(imports).where(mine).prepare()
  const end = orm
    .update(imports)
    .set({ endedAt: sql`${$('now')}` })
    .where(and(mine, isNull(imports.endedAt), eq(imports.fileHash, $('fileHash'))))
    .returning({ tenantId: imports.tenantId })
    .prepare()
  const giveUp = orm
    .update(imports)
    .set({ fileHash: GIVEN_UP })
    .where(and(mine, isNull(imports.endedAt)))
    .prepare()
  const remove = orm.delete(imports).where(mine).prepare()
  const tenant = orm
    .select({ id: tenants.id })
    .from(tenants)
    .where(eq(tenants.id, $('tenantId')))
    .prepare()
  const setStatus = orm
    .update(tenants)
    .set({ status: sql`${$('status')}` })
    .where(eq(tenants.id, $('tenantId')))
    .prepare()

  const lookUp = (tenantId: string): ImportRow | undefined => find.get({ tenantId })

  /** Throws `conflict`: changing or exporting a partly imported tenant could lose the rest. */
  function refuseUnfinished(tenantId: string) {
    if (lookUp(tenantId)?.endedAt === null)
      throw conflict(
        'the import of this tenant was interrupted: import the same file again, or undo it with `import --abandon`',
      )
  }

  return {
    refuseUnfinished,
    begin: (tenantId: string, fileHash: string, now: number) =>
      void begin.run({ tenantId, fileHash, now }),
    find: lookUp,
    /** Completes an import; false if another process already has. */
    end: (tenantId: string, fileHash: string, now: number): boolean =>
      end.get({ tenantId, fileHash, now }) !== undefined,
    /** Marks an import as abandoned, so that no file can complete it. */
    giveUp: (tenantId: string) => void giveUp.run({ tenantId }),
    remove: (tenantId: string) => void remove.run({ tenantId }),
    hasTenant: (tenantId: string): boolean => tenant.get({ tenantId }) !== undefined,
    setStatus: (tenantId: string, status: TenantRow['status']) =>
      void setStatus.run({ tenantId, status }),
  }
}
