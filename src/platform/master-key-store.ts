import type { Db } from '../db/open.ts'
import type { Clock } from './clock.ts'
import { loadMasterKey, type MasterKey, MasterKeyError, readMasterKey } from './master-key.ts'
import { masterKeys } from './schema.ts'

/**
 * The key of a data directory, held against the database in it. One that has known another key
 * takes no new one: what it holds would stay closed for good, and nobody would be told.
 */
export async function openMasterKey(parts: {
  db: Db
  clock: Clock
  dataDir: string
}): Promise<MasterKey> {
  const { db, clock, dataDir } = parts

  function refuseMisfit(key: MasterKey | undefined) {
    const objection = misfit({ dataDir, key, known: knownMasterKeys(db) })
    if (objection) throw new MasterKeyError(objection)
  }

  /** Unless another process has been quicker. */
  function remember({ id }: MasterKey) {
    if (knownMasterKeys(db).length > 0) return
    db.orm.insert(masterKeys).values({ id, createdAt: clock.now() }).run()
  }

  refuseMisfit(readMasterKey(dataDir))
  const key = loadMasterKey(dataDir)
  if (knownMasterKeys(db).length === 0) await db.commit(() => remember(key))
  refuseMisfit(key)
  return key
}

/** Ids of the keys that this database has been used with; none before its table is made. */
export function knownMasterKeys({ client, orm }: Db): string[] {
  const isMade = client.query("SELECT 1 FROM sqlite_schema WHERE name = 'master_keys'").get()
  if (!isMade) return []
  const rows = orm.select({ id: masterKeys.id }).from(masterKeys).all()
  return rows.map(({ id }) => id)
}

/** Why a database that knows some keys cannot do with this one, if it cannot. */
export function misfit(parts: {
  dataDir: string
  key: MasterKey | undefined
  known: readonly string[]
}): string | undefined {
  const { dataDir, key, known } = parts
  if (known.length === 0 || (key && known.includes(key.id))) return undefined
  const needed = known.join(' or ')
  return key
    ? `master.key in ${dataDir} is not the key that sealed what is in the database ` +
        `(it is ${key.id} and has to be ${needed}); put back the one from the backup`
    : `master.key is missing in ${dataDir}, and what is in the database was sealed with it ` +
        `(${needed}); put back the one from the backup`
}
