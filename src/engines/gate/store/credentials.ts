import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { gateCredentials as credentials } from '../schema.ts'

export type CredentialRow = typeof credentials.$inferSelect
/** What may be shown of a credential. */
export type CredentialHead = Omit<CredentialRow, 'config' | 'tenantId'>

export function createCredentialStore({ orm }: Db) {
  const $ = sql.placeholder
  const insert = orm
    .insert(credentials)
    .values({
      tenantId: $('tenantId'),
      identityId: $('identityId'),
      type: $('type'),
      config: $('config'),
      version: $('version'),
      createdAt: $('createdAt'),
      updatedAt: $('updatedAt'),
    })
    .prepare()
  const heads = orm
    .select({
      identityId: credentials.identityId,
      type: credentials.type,
      version: credentials.version,
      createdAt: credentials.createdAt,
      updatedAt: credentials.updatedAt,
    })
    .from(credentials)
    .where(
      and(eq(credentials.tenantId, $('tenantId')), eq(credentials.identityId, $('identityId'))),
    )
    .orderBy(asc(credentials.type))
    .prepare()

  return {
    insert: (row: CredentialRow) => void insert.run({ ...row }),
    /** Without their secrets, which no reader gets. */
    headsOf: (tenantId: string, identityId: string): CredentialHead[] =>
      heads.all({ tenantId, identityId }),
  }
}
