import { Database, SQLiteError } from 'bun:sqlite'
import { join } from 'node:path'
import { StorageError } from '../../db/errors.ts'
import { type Migration, migrate, migrationStatus, SchemaError } from '../../db/migrate.ts'
import { invalid } from '../errors.ts'
import { type KeyFile, MasterKeyError, readMasterKey } from '../sealing/key-file.ts'
import { misfit } from '../sealing/open-key-ring.ts'
import { actorsIn, installationOf, masterKeysOf, schemaOf, shapeOf } from './contents.ts'
import { reading } from './database-file.ts'
import type { Manifest } from './manifest.ts'
import { ENTRIES } from './names.ts'

/**
 * Returns the ids of the master keys that the database needs. Throws if it is damaged, incomplete
 * or newer than this executable, or if the archive has a key that doesn't open it.
 */
export function examine(
  folder: string,
  manifest: Manifest,
  migrations: readonly Migration[],
): string[] {
  const known = withDatabase(join(folder, ENTRIES.database), (client) => {
    const { pending } = migrationStatus(client, migrations)
    refuseActors(client)
    refuseOtherShape(
      client,
      migrations.filter(({ id }) => !pending.includes(id)),
    )
    refuseUnsound(client)
    refuseOtherThanDescribed(client, manifest)
    return masterKeysOf(client)
  })
  if (!known.every((id) => /^[0-9a-f]{12}$/.test(id)))
    throw damaged('its database lists an invalid master key id')
  if (manifest.master_key) refuseMisfit(folder, known)
  return known
}

/** Errors name the archive, because the unpacked file no longer exists when they are shown. */
function withDatabase<T>(file: string, work: (client: Database) => T): T {
  try {
    return reading(file, work)
  } catch (error) {
    if (error instanceof SchemaError) throw new SchemaError(printable(error.message))
    throw isUnreadable(error) ? damaged('its database cannot be read') : error
  }
}

function isUnreadable(error: unknown): boolean {
  const cause = error instanceof StorageError ? error.cause : error
  if (cause instanceof StorageError) return isUnreadable(cause)
  return cause instanceof SQLiteError && /^SQLITE_(CORRUPT|NOTADB|ERROR)/.test(cause.code ?? '')
}

/** Throws for views, virtual tables and triggers, which would run while a server uses the data. */
function refuseActors(client: Database) {
  const [found] = actorsIn(client)
  if (found)
    throw damaged(
      `its database contains something that Gatehouse never creates: ${printable(`${found.type} ${found.name}`)}`,
    )
}

/** Throws if a table or index is missing or different; additional ones are allowed. */
function refuseOtherShape(client: Database, steps: readonly Migration[]) {
  const found = shapeOf(client)
  for (const [name, columns] of shapeAfter(steps))
    if (found.get(name) !== columns)
      throw damaged(`its database lacks the ${name}, or has a different one`)
}

function shapeAfter(migrations: readonly Migration[]): Map<string, string> {
  const client = new Database(':memory:')
  try {
    migrate(client, { migrations, backupDir: '', appVersion: '', now: 0 })
    return shapeOf(client)
  } finally {
    client.close()
  }
}

function refuseUnsound(client: Database) {
  const [found] = client.query<{ integrity_check: string }, []>('PRAGMA integrity_check(1)').all()
  if (found?.integrity_check !== 'ok') throw damagedDatabase(printable(found?.integrity_check))
  const [dangling] = client
    .query<{ table: string; parent: string }, []>('PRAGMA foreign_key_check')
    .all()
  if (dangling)
    throw damagedDatabase(
      printable(`${dangling.table} refers to missing rows of ${dangling.parent}`),
    )
}

/** Throws if the manifest, from which `backup check` reports, describes another database. */
function refuseOtherThanDescribed(client: Database, { schema, installation }: Manifest) {
  const found = { schema: schemaOf(client), installation: installationOf(client) }
  if (!Bun.deepEquals(found, { schema, installation }))
    throw damaged('its manifest describes a different database')
}

function refuseMisfit(folder: string, known: string[]) {
  const key = keyIn(folder)
  if (misfit({ dataDir: folder, key, known }))
    throw invalid(
      `the master key in the archive (${key?.id}) does not match its database, ` +
        `which was sealed with ${known.join(' or ')}`,
      { rule: 'mismatch' },
    )
}

/** Errors name the archive, as for the database. */
function keyIn(folder: string): KeyFile | undefined {
  try {
    return readMasterKey(folder)
  } catch (error) {
    throw error instanceof MasterKeyError ? damaged('its master key is not valid') : error
  }
}

const damaged = (what: string) => invalid(`the archive is damaged: ${what}`, { rule: 'damaged' })

const damagedDatabase = (what: string) =>
  invalid(`the database in the archive is damaged: ${what}`, { rule: 'damaged' })

/** Removes terminal control characters, because the archive may come from another party. */
const printable = (text = ''): string => text.slice(0, 500).replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
