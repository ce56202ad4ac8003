import type { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { type Migration, migrationStatus } from '../../db/migrate.ts'
import { invalid } from '../errors.ts'
import { readMasterKey } from '../sealing/key-file.ts'
import { misfit } from '../sealing/open-key-ring.ts'
import { installationOf, masterKeysOf, schemaOf } from './contents.ts'
import { reading } from './database-file.ts'
import type { Manifest } from './manifest.ts'
import { ENTRIES } from './names.ts'

/**
 * Refuses an unpacked archive that this executable could not serve: a database that is damaged or
 * newer, or a key that does not open it. Returns the ids of the keys that the database needs.
 */
export function examine(
  folder: string,
  manifest: Manifest,
  migrations: readonly Migration[],
): string[] {
  const known = reading(join(folder, ENTRIES.database), (client) => {
    migrationStatus(client, migrations)
    refuseUnsound(client)
    refuseOtherThanDescribed(client, manifest)
    return masterKeysOf(client)
  })
  if (manifest.master_key) refuseMisfit(folder, known)
  return known
}

function refuseUnsound(client: Database) {
  const [found] = client.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').all()
  if (found?.integrity_check !== 'ok')
    throw invalid(`the database in the archive is damaged: ${found?.integrity_check}`)
  const [dangling] = client
    .query<{ table: string; parent: string }, []>('PRAGMA foreign_key_check')
    .all()
  if (dangling)
    throw invalid(
      `the database in the archive is damaged: ${dangling.table} refers to ${dangling.parent} that are missing`,
    )
}

/** What `backup check` tells of an archive is read from its manifest. */
function refuseOtherThanDescribed(client: Database, { schema, installation }: Manifest) {
  const found = { schema: schemaOf(client), installation: installationOf(client) }
  if (!Bun.deepEquals(found, { schema, installation }))
    throw invalid('the archive is damaged: its manifest is that of another database')
}

function refuseMisfit(folder: string, known: string[]) {
  const key = readMasterKey(folder)
  if (misfit({ dataDir: folder, key, known }))
    throw invalid(
      `the master key in the archive (${key?.id}) is not the one that its database ` +
        `was sealed with (${known.join(' or ')})`,
    )
}
