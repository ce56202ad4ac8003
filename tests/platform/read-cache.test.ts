import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { openDatabase } from '../../src/db/open.ts'
import { createReadCache } from '../../src/platform/read-cache.ts'
import { temporaryFolder } from '../support/folder.ts'

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

test('what was read is remembered until another process commits, or it is told to forget', async () => {
  using folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  db.client.run('CREATE TABLE notes (text TEXT) STRICT')
  const cache = createReadCache<number>(db, 10)

  cache.set('a', 1)
  await db.commit(() => db.client.run("INSERT INTO notes VALUES ('own')"))
  expect(cache.get('a')).toBe(1)

  const other = new Database(db.file)
  other.run("INSERT INTO notes VALUES ('foreign')")
  await nextTurn()
  expect(cache.get('a')).toBeUndefined()

  cache.set('a', 2)
  expect(cache.get('a')).toBe(2)
  cache.forget()
  expect(cache.get('a')).toBeUndefined()
  other.close()
  db.close()
})

test('it never holds more than its limit', () => {
  using folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  const cache = createReadCache<number>(db, 3)

  for (let n = 0; n < 100; n++) cache.set(`${n}`, n)

  const held = Array.from({ length: 100 }, (_, n) => cache.get(`${n}`)).filter(
    (n) => n !== undefined,
  )
  expect(held.length).toBeLessThanOrEqual(3)
  expect(held).toContain(99)
  db.close()
})
