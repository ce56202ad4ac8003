import { and, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { gateAccessTokens as tokens } from '../schema.ts'

type AccessTokenRow = typeof tokens.$inferSelect
type NewAccessTokenRow = Omit<AccessTokenRow, 'seq' | 'revokedAt'>

/** The tokens that a key can see. */
export type TokenOwner = Pick<AccessTokenRow, 'tenantId' | 'environment'>

/** A token that is not revoked, as SQLite returns it. */
export interface UnrevokedToken {
  subject: string
  /** Generation of the identity when the token was issued; null for a service. */
  generation: number | null
  scopes: string
  expires_at: number
  key_id: string
}

export function createAccessTokenStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const insert = compile(client, orm.insert(tokens).values(rowOf(tokens)))
  const isOwn = and(
    eq(tokens.tenantId, $('tenantId')),
    eq(tokens.environment, $('environment')),
    eq(tokens.hash, $('hash')),
    sql`${tokens.revokedAt} is null`,
  )
  const find = compile<UnrevokedToken>(
    client,
    orm
      .select({
        subject: tokens.subject,
        generation: tokens.generation,
        scopes: tokens.scopes,
        expiresAt: tokens.expiresAt,
        keyId: tokens.keyId,
      })
      .from(tokens)
      .where(isOwn),
  )
  const revoke = orm
    .update(tokens)
    .set({ revokedAt: sql`${$('now')}` })
    .where(isOwn)
    .returning({ subject: tokens.subject })
    .prepare()
  const removeExpired = orm
    .delete(tokens)
    .where(
      sql`seq in (select seq from gate_access_tokens where expires_at < ${$('before')}
        order by expires_at limit ${$('limit')})`,
    )
    .returning({ seq: tokens.seq })
    .prepare()
  const removeOfSubject = orm
    .delete(tokens)
    .where(
      sql`seq in (select seq from gate_access_tokens where tenant_id = ${$('tenantId')}
        and subject = ${$('subject')} limit ${$('limit')})`,
    )
    .returning({ seq: tokens.seq })
    .prepare()

  return {
    insert: (row: NewAccessTokenRow) => void insert.run({ ...row, revokedAt: null }),
    find: (owner: TokenOwner, hash: string): UnrevokedToken | undefined =>
      find.get({ ...owner, hash }),
    /** Revokes a token and returns its subject; undefined if it was already revoked. */
    revoke: (owner: TokenOwner, hash: string, now: number): string | undefined =>
      revoke.get({ ...owner, hash, now })?.subject,
    removeExpired: (before: number, limit: number): number =>
      removeExpired.all({ before, limit }).length,
    removeOfSubject: (tenantId: string, subject: string, limit: number): number =>
      removeOfSubject.all({ tenantId, subject, limit }).length,
  }
}
