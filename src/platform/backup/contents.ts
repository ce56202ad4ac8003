import type { Database } from 'bun:sqlite'
import { databaseFile } from '../../db/open.ts'
import { reading, rowsOf } from './database-file.ts'
import type { Manifest } from './manifest.ts'

/** The id of the installation, or null; works with every version of the schema. */
export const installationOf = (client: Database): string | null =>
  rowsOf<{ id: string }>(client, 'installation', 'SELECT id FROM installation LIMIT 1')[0]?.id ??
  null

export const schemaOf = (client: Database): Manifest['schema'] =>
  rowsOf(client, '_migrations', 'SELECT id, hash FROM _migrations ORDER BY id')

/** Columns of each table and index, not their SQL, which SQLite versions may store differently. */
export function shapeOf(client: Database): Map<string, string> {
  const shape = new Map<string, string>()
  for (const sql of [COLUMNS_OF_TABLES, COLUMNS_OF_INDEXES])
    for (const { name, part } of client.query<{ name: string; part: string }, []>(sql).all())
      shape.set(name, `${shape.get(name) ?? ''} ${part}`)
  return shape
}

const COLUMNS_OF_TABLES = `
  SELECT 'table ' || t.name AS name, c.name || ':' || c.type || c."notnull" || c.pk || c.hidden AS part
  FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c
  WHERE t.type = 'table' AND t.name <> '_migrations'
  ORDER BY t.name, c.name`

const COLUMNS_OF_INDEXES = `
  SELECT 'index ' || i.name || ' of ' || i.tbl_name AS name,
    coalesce(c.name, '?') || ':' || c."desc" || l."unique" || l.partial AS part
  FROM sqlite_schema AS i, pragma_index_list(i.tbl_name) AS l, pragma_index_xinfo(i.name) AS c
  WHERE i.type = 'index' AND i.tbl_name <> '_migrations' AND l.name = i.name AND c.key
  ORDER BY i.name, c.seqno`

/** Triggers, views and virtual tables. Gatehouse creates only the search index, which no backup has. */
export const actorsIn = (client: Database): { type: string; name: string }[] =>
  client
    .query<{ type: string; name: string }, []>(
      "SELECT type, name FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR rootpage = 0",
    )
    .all()

/** The ids of the master keys that the database was used with. */
export const masterKeysOf = (client: Database): string[] =>
  rowsOf<{ id: string }>(client, 'master_keys', 'SELECT id FROM master_keys').map(({ id }) => id)

/** Whether the database of a data directory has a record of a backup to this file. */
export const isRecorded = (dataDir: string, file: string): boolean =>
  reading(databaseFile(dataDir), (client) =>
    rowsOf(client, 'backups', 'SELECT 1 FROM backups WHERE file = ?', file),
  ).length > 0
