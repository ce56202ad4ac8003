import type { Database } from 'bun:sqlite'
import { databaseFile } from '../../db/open.ts'
import { reading, rowsOf } from './database-file.ts'
import type { Manifest } from './manifest.ts'

/** What a database tells of itself, at whatever step its schema is. */
export const installationOf = (client: Database): string | null =>
  rowsOf<{ id: string }>(client, 'installation', 'SELECT id FROM installation LIMIT 1')[0]?.id ??
  null

export const schemaOf = (client: Database): Manifest['schema'] =>
  rowsOf(client, '_migrations', 'SELECT id, hash FROM _migrations ORDER BY id')

/** Ids of the master keys that it was used with. */
export const masterKeysOf = (client: Database): string[] =>
  rowsOf<{ id: string }>(client, 'master_keys', 'SELECT id FROM master_keys').map(({ id }) => id)

/** Whether a data directory knows already of a backup into this file. */
export const isRecorded = (dataDir: string, file: string): boolean =>
  reading(databaseFile(dataDir), (client) =>
    rowsOf(client, 'backups', 'SELECT 1 FROM backups WHERE file = ?', file),
  ).length > 0
