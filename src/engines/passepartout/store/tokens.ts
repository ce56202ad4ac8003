import { and, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import type { Owner } from '../owner.ts'
import { passepartoutTokens as tokens } from '../schema.ts'

type TokenRow = typeof tokens.$inferSelect

export function createTokenStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const insert = orm.insert(tokens).values(rowOf(tokens, 'revokedAt')).prepare()
  const isOwn = and(
    eq(tokens.tenantId, $('tenantId')),
    eq(tokens.environment, $('environment')),
    eq(tokens.hash, $('hash')),
    sql`${tokens.revokedAt} is null`,
  )
  const find = compile<{ person_id: string; expires_at: number }>(
    client,
    orm
      .select({ personId: tokens.personId, expiresAt: tokens.expiresAt })
      .from(tokens)
      .where(isOwn),
  )
  const revoke = orm
    .update(tokens)
    .set({ revokedAt: sql`${$('now')}` })
    .where(isOwn)
    .returning({ personId: tokens.personId })
    .prepare()
  const removeOf = orm
    .delete(tokens)
    .where(and(eq(tokens.tenantId, $('tenantId')), eq(tokens.personId, $('personId'))))
    .prepare()
  const removeExpired = orm
    .delete(tokens)
    .where(
      sql`seq in (select seq from passepartout_tokens where expires_at < ${$('before')}
        order by expires_at limit ${$('limit')})`,
    )
    .returning({ seq: tokens.seq })
    .prepare()

  return {
    insert: (row: Omit<TokenRow, 'seq' | 'revokedAt'>) => void insert.run(row),
    /** Finds a token that is not revoked. */
    find: (owner: Owner, hash: string) => find.get({ ...owner, hash }),
    /** Revokes a token and returns its user; undefined if it was already revoked. */
    revoke: (owner: Owner, hash: string, now: number): string | undefined =>
      revoke.get({ ...owner, hash, now })?.personId,
    removeOf: (tenantId: string, personId: string) => void removeOf.run({ tenantId, personId }),
    removeExpired: (before: number, limit: number): number =>
      removeExpired.all({ before, limit }).length,
  }
}
