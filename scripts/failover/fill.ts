import { Database } from 'bun:sqlite'
import { join } from 'node:path'

const ROW_BYTES = 4096
const MB = 1_000_000
const BATCH_MB = 100

/** Makes a database about as large as given, by rows of text that compress as events do. */
export function fill(dataDir: string, sizeMb: number) {
  using db = new Database(join(dataDir, 'gatehouse.db'), { strict: true })
  db.run('CREATE TABLE rig_filler (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT')
  const insert = db.prepare(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
    INSERT INTO rig_filler (text)
    SELECT hex(randomblob(600)) || replace(hex(zeroblob(60)), '00', '{"currency":"EUR","total":129.9,"quantity":1}')
    FROM numbers`)
  for (let done = 0; done < sizeMb; done += BATCH_MB)
    insert.run(Math.round((Math.min(BATCH_MB, sizeMb - done) * MB) / ROW_BYTES))
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
}
