import { and, asc, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { excludedOf, rowOf } from '../../../db/placeholders.ts'
import { gateCredentials as credentials } from '../schema.ts'

export type CredentialRow = typeof credentials.$inferSelect
/** The presentable part of a credential. */
export type CredentialHead = Omit<CredentialRow, 'config' | 'tenantId'>

/** The columns without secrets. */
export const HEAD = {
  identityId: credentials.identityId,
  type: credentials.type,
  version: credentials.version,
  createdAt: credentials.createdAt,
  updatedAt: credentials.updatedAt,
}

export function createCredentialStore({ orm }: Db) {
  const $ = sql.placeholder
  const put = orm
    .insert(credentials)
    .values(rowOf(credentials))
    .onConflictDoUpdate({
      target: [credentials.identityId, credentials.type],
      set: excludedOf(credentials, 'tenantId', 'identityId', 'type', 'createdAt'),
    })
    .prepare()
  const ofIdentity = and(
    eq(credentials.tenantId, $('tenantId')),
    eq(credentials.identityId, $('identityId')),
  )
  const ofType = and(ofIdentity, eq(credentials.type, $('type')))
  const find = orm.select().from(credentials).where(ofType).prepare()
  const remove = orm.delete(credentials).where(ofType).prepare()
  const removeAll = orm.delete(credentials).where(ofIdentity).prepare()
  const heads = orm
    .select(HEAD)
    .from(credentials)
    .where(ofIdentity)
    .orderBy(asc(credentials.type))
    .prepare()

  return {
    /** Replaces the credential of the same type, keeping its time of creation. */
    put: (row: CredentialRow) => void put.run({ ...row }),
    find: (
      tenantId: string,
      identityId: string,
      type: CredentialRow['type'],
    ): CredentialRow | undefined => find.get({ tenantId, identityId, type }),
    remove: (tenantId: string, identityId: string, type: CredentialRow['type']) =>
      void remove.run({ tenantId, identityId, type }),
    removeAll: (tenantId: string, identityId: string) =>
      void removeAll.run({ tenantId, identityId }),
    /** Without secrets. */
    headsOf: (tenantId: string, identityId: string): CredentialHead[] =>
      heads.all({ tenantId, identityId }),
  }
}
