import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/open.ts'
import { createReadCache } from '../../src/platform/read-cache.ts'
import { temporaryFolder } from '../support/folder.ts'

test('A cached value stays until another process commits, it is forgotten, or there is no room', async () => {
  using folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  db.client.run('CREATE TABLE notes (text TEXT) STRICT')
  const cache = createReadCache<number>(db, 3)
  cache.set('a', 1)
  await db.commit(() => db.client.run("INSERT INTO notes VALUES ('own')"))
  expect(cache.get('a')).toBe(1)
  {
    using other = new Database(db.file)
    other.run("INSERT INTO notes VALUES ('foreign')")
  }
  await new Promise((resolve) => setImmediate(resolve))
  expect(cache.get('a')).toBeUndefined()
  cache.set('a', 2)
  expect(cache.get('a')).toBe(2)
  cache.forget()
  expect(cache.get('a')).toBeUndefined()
  const keys = Array.from({ length: 100 }, (_, n) => n)
  for (const n of keys) cache.set(`${n}`, n)
  const held = keys.filter((n) => cache.get(`${n}`) !== undefined)
  expect(held.length).toBeLessThanOrEqual(3)
  expect(held).toContain(99)
  db.close()
})
