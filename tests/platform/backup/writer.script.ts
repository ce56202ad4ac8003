/** Stores one row after the other in the database of a directory and names each once it is stored. */
import { openDatabase } from '../../../src/db/open.ts'

const db = openDatabase({ dataDir: process.argv[2] ?? '', synchronous: 'full' })
const insert = db.client.prepare('INSERT INTO installation VALUES (?, ?)')
for (let n = 1; ; n++) {
  await db.commit(() => insert.run(`row-${n}`, n))
  process.stdout.write(`${n}\n`)
}
