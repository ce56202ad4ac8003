import { and, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { excludedOf, rowOf } from '../../../db/placeholders.ts'
import type { Environment } from '../../../platform/engines.ts'
import { relayIdempotencyKeys as keys } from '../schema.ts'

type IdempotencyRow = typeof keys.$inferSelect

export function createIdempotencyStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const find = orm
    .select()
    .from(keys)
    .where(
      and(
        eq(keys.tenantId, $('tenantId')),
        eq(keys.environment, $('environment')),
        eq(keys.key, $('key')),
      ),
    )
    .prepare()
  const put = compile(
    client,
    orm
      .insert(keys)
      .values(rowOf(keys))
      .onConflictDoUpdate({
        target: [keys.tenantId, keys.environment, keys.key],
        set: excludedOf(keys, 'tenantId', 'environment', 'key'),
      }),
  )
  const removeExpired = orm
    .delete(keys)
    .where(
      sql`rowid in (select rowid from relay_idempotency_keys where expires_at <= ${$('now')}
        order by expires_at limit ${$('limit')})`,
    )
    .returning({ key: keys.key })
    .prepare()

  return {
    find: (tenantId: string, environment: Environment, key: string): IdempotencyRow | undefined =>
      find.get({ tenantId, environment, key }),
    /** Replaces an expired key. */
    put: (row: IdempotencyRow) => put.run(row),
    removeExpired: (now: number, limit: number): number => removeExpired.all({ now, limit }).length,
  }
}
