import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { temporaryFolder } from './folder.ts'

/** Shared by all processes of a run; another schema has another name. */
const TEMPLATE = join(
  tmpdir(),
  'gatehouse-templates',
  `${Bun.hash(migrations.map(({ sql }) => sql).join('\n')).toString(36)}.db`,
)

/** Puts a database with the present schema, and nothing in it, into a data directory. */
export function addMigratedDatabase(dataDir: string) {
  if (!existsSync(TEMPLATE)) makeTemplate()
  copyFileSync(TEMPLATE, databaseFile(dataDir))
}

function makeTemplate() {
  using folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'normal' })
  const backupDir = join(folder.path, 'backups')
  migrate(db.client, { migrations, backupDir, appVersion: 'test', now: 0 })
  db.close()
  mkdirSync(dirname(TEMPLATE), { recursive: true })
  renameSync(db.file, TEMPLATE)
}
