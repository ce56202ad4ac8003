import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Migration, migrate } from '../../db/migrate.ts'
import { type Db, openDatabase } from '../../db/open.ts'
import { VERSION } from '../version.ts'

/**
 * An empty database that nobody else sees, beside the data, where there is room for it. It loses
 * its name at once: whatever becomes of this process, nothing of it is left.
 */
export function openScratch({
  dataDir,
  migrations,
}: {
  dataDir: string
  migrations: readonly Migration[]
}): Db {
  const folder = mkdtempSync(join(dataDir, 'import-'))
  try {
    const db = openDatabase({ dataDir: folder, synchronous: 'normal' })
    db.client.run('PRAGMA journal_mode = OFF')
    db.client.run('PRAGMA synchronous = OFF')
    migrate(db.client, { migrations, backupDir: folder, appVersion: VERSION, now: 0 })
    return db
  } finally {
    rmSync(folder, { recursive: true })
  }
}
