import { expect, test } from 'bun:test'
import fs from 'node:fs'
import { join } from 'node:path'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { temporaryFolder } from '../support/folder.ts'

const open = (dataDir: string) => openDatabase({ dataDir, synchronous: 'full' })
const modeOf = (file: string) => (fs.statSync(file).mode & 0o777).toString(8)

/** Two data directories, of which the first has a database. */
function createFolders() {
  const folder = temporaryFolder()
  const [first, second] = [join(folder.path, 'a'), join(folder.path, 'b')]
  open(first).close()
  fs.mkdirSync(second)
  return { first, second, [Symbol.dispose]: folder[Symbol.dispose] }
}

test('A database has a write-ahead log, full sync, foreign keys and no query statistics', () => {
  using folder = temporaryFolder()
  const { client, close } = open(folder.path)
  const pragma = (name: string) => client.query(`PRAGMA ${name}`).values().flat()[0]
  const names = ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout']
  expect(names.map(pragma)).toEqual(['wal', 2, 1, 5000])
  client.run('CREATE TABLE people (name TEXT)')
  client.run('CREATE INDEX people_name ON people (name)')
  client.run("INSERT INTO people VALUES ('Ada'), ('Grace')")
  client.query('SELECT name FROM people WHERE name > ? ORDER BY name').all('B')
  close()
  const again = open(folder.path)
  const statistics = "SELECT name FROM sqlite_schema WHERE name LIKE '%stat%'"
  expect(again.client.query(statistics).all()).toEqual([])
  again.close()
})

test('Only the owner can read a database, also a copied one; another file keeps its mode', () => {
  using folders = createFolders()
  const { first, second } = folders
  expect(modeOf(databaseFile(first))).toBe('600')
  fs.copyFileSync(databaseFile(first), databaseFile(second))
  fs.chmodSync(databaseFile(second), 0o644)
  open(second).close()
  expect(modeOf(databaseFile(second))).toBe('600')
  fs.writeFileSync(databaseFile(second), 'no database'.repeat(100))
  fs.chmodSync(databaseFile(second), 0o644)
  expect(() => open(second)).toThrow('not a database')
  expect(modeOf(databaseFile(second))).toBe('644')
})

test('A link in place of the database is followed if it is our own, and its target keeps its mode', () => {
  using folders = createFolders()
  const { first, second } = folders
  fs.chmodSync(databaseFile(first), 0o644)
  fs.symlinkSync(databaseFile(first), databaseFile(second))
  open(second).close()
  expect(modeOf(databaseFile(first))).toBe('644')
  if (process.getuid?.() !== 0) return
  const [target, link] = [join(first, 'target'), databaseFile(second)]
  fs.rmSync(link)
  fs.symlinkSync(target, link)
  fs.lchownSync(link, 4711, 4711)
  expect(() => open(second)).toThrow('is a link that belongs to uid 4711')
  expect(fs.existsSync(target)).toBe(false)
})
