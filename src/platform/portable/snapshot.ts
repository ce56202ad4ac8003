import { drizzle } from 'drizzle-orm/bun-sqlite'
import type { Db } from '../../db/open.ts'
import { openForReading } from '../../db/read-only.ts'

export type Snapshot = ReturnType<typeof openSnapshot>

/**
 * The database as it is now, for as long as somebody takes to read it: a server goes on writing
 * beside it. A connection of its own, since a transaction would hold up the writes of another.
 */
export function openSnapshot({ file }: Pick<Db, 'file'>) {
  const { client } = openForReading(file)
  client.run('BEGIN')
  // The transaction begins with what is read first.
  client.query('SELECT 1 FROM sqlite_schema LIMIT 1').get()
  return {
    client,
    orm: drizzle(client),
    [Symbol.dispose]: () => client.close(),
  }
}
