import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Db } from '../../db/open.ts'
import { openForReading } from '../../db/read-only.ts'

export type Snapshot = ReturnType<typeof openSnapshot>

/** Uses its own connection, because an open transaction would block writes on a shared one. */
export function openSnapshot({ file }: Pick<Db, 'file'>) {
  const { client } = openForReading(file)
  client.run('BEGIN')
  // SQLite starts the snapshot with the first read.
  client.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  return { client, orm: drizzle(client), [Symbol.dispose]: () => client.close() }
}
