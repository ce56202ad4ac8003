import { type Migration, migrate } from '../../db/migrate.ts'
import { type Db, openDatabase } from '../../db/open.ts'
import { openWorkFolder } from '../backup/work-folder.ts'
import { thisProcess } from '../process.ts'
import { VERSION } from '../version.ts'

/**
 * An empty temporary database in the data directory, where space is available. Its file is deleted
 * while open; if the process is killed before that, the next one removes it.
 */
export function openScratch({
  dataDir,
  migrations,
  now,
}: {
  dataDir: string
  migrations: readonly Migration[]
  now: number
}): Db {
  const work = openWorkFolder({ parent: dataDir, process: thisProcess(VERSION), now })
  try {
    const db = openDatabase({ dataDir: work.path, synchronous: 'normal' })
    db.client.run('PRAGMA journal_mode = OFF')
    db.client.run('PRAGMA synchronous = OFF')
    migrate(db.client, { migrations, backupDir: work.path, appVersion: VERSION, now: 0 })
    return db
  } finally {
    work.remove()
  }
}
