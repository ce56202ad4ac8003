import { asc, eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { fingerprintKeys, masterKeys } from '../schema.ts'
import type { FingerprintPurpose } from './fingerprint-purposes.ts'

/** SQL on the master keys that the database was used with, and on the stored fingerprint keys. */
export function createMasterKeyStore({ orm }: Db) {
  const all = orm
    .select({ id: masterKeys.id })
    .from(masterKeys)
    .orderBy(asc(masterKeys.id))
    .prepare()
  const findFingerprintKey = orm
    .select({ key: fingerprintKeys.key })
    .from(fingerprintKeys)
    .where(eq(fingerprintKeys.purpose, sql.placeholder('purpose')))
    .prepare()

  return {
    ids: (): string[] => all.all().map(({ id }) => id),
    add: (id: string, createdAt: number) =>
      void orm.insert(masterKeys).values({ id, createdAt }).run(),
    remove: (ids: string[]) => void orm.delete(masterKeys).where(inArray(masterKeys.id, ids)).run(),
    /** The sealed fingerprint key. */
    fingerprintKey: (purpose: FingerprintPurpose): string | undefined =>
      findFingerprintKey.get({ purpose })?.key,
    addFingerprintKey: (purpose: FingerprintPurpose, key: string) =>
      void orm.insert(fingerprintKeys).values({ purpose, key }).run(),
    removeFingerprintKey: (purpose: FingerprintPurpose) =>
      void orm.delete(fingerprintKeys).where(eq(fingerprintKeys.purpose, purpose)).run(),
  }
}

export function knownMasterKeys({ client, orm }: Db): string[] {
  const isMade = client.query("SELECT 1 FROM sqlite_schema WHERE name = 'master_keys'").get()
  if (!isMade) return []
  const rows = orm.select({ id: masterKeys.id }).from(masterKeys).orderBy(asc(masterKeys.id)).all()
  return rows.map(({ id }) => id)
}
