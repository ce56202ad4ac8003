import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import fs from 'node:fs'
import { join } from 'node:path'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { logOf, openForReading, openUnchanging } from '../../src/db/read-only.ts'
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

/** An open database with `a` in its file and `b` only in its log. */
function createWithLog() {
  const folder = temporaryFolder()
  const file = join(folder.path, 'some.db')
  const writer = new Database(file)
  for (const sql of [
    'PRAGMA journal_mode = WAL',
    'CREATE TABLE t (x TEXT)',
    "INSERT INTO t VALUES ('a')",
    'PRAGMA wal_checkpoint(TRUNCATE)',
    "INSERT INTO t VALUES ('b')",
  ])
    writer.run(sql)
  const dispose = () => {
    writer.close()
    folder[Symbol.dispose]()
  }
  return { path: folder.path, file, writer, [Symbol.dispose]: dispose }
}

const rowsIn = (client: Database) => client.query('SELECT x FROM t').values().flat()

test('A database is read with its log beside its writer, and takes no write', () => {
  using fixture = createWithLog()
  const { client, isWithoutLog } = openForReading(fixture.file)
  using _ = client
  expect([rowsIn(client), isWithoutLog]).toEqual([['a', 'b'], false])
  fixture.writer.run("INSERT INTO t VALUES ('c')")
  expect(rowsIn(client)).toEqual(['a', 'b', 'c'])
  expect(() => client.run("INSERT INTO t VALUES ('d')")).toThrow('readonly')
  // One that does not change is read without its log and gets none.
  const copy = join(fixture.path, 'quiet #1?.db')
  fs.copyFileSync(fixture.file, copy)
  for (const file of [fixture.file, copy]) {
    using unchanging = openUnchanging(file)
    expect(rowsIn(unchanging)).toEqual(['a'])
  }
  expect(fs.existsSync(logOf(copy))).toBe(false)
})

test('A database whose log cannot be opened is refused, unless its file is enough', () => {
  using fixture = createWithLog()
  const copy = join(fixture.path, 'copy.db')
  fs.copyFileSync(fixture.file, copy)
  fs.writeFileSync(logOf(copy), 'x'.repeat(100))
  fs.symlinkSync('/nowhere/at/all', `${copy}-shm`)
  expect(() => openForReading(copy, { doesFileAlone: () => false })).toThrow('unable to open')
  const { client, isWithoutLog } = openForReading(copy, { doesFileAlone: () => true })
  using _ = client
  expect([rowsIn(client), isWithoutLog]).toEqual([['a'], true])
})

test('A missing file or one that is no database is refused, and nothing is created', () => {
  using fixture = createWithLog()
  const other = join(fixture.path, 'other')
  fs.writeFileSync(other, 'no database'.repeat(100))
  const before = fs.readdirSync(fixture.path)
  expect(() => openForReading(join(fixture.path, 'none.db'))).toThrow('unable to open')
  expect(fs.readdirSync(fixture.path)).toEqual(before)
  expect(() => openForReading(other, { doesFileAlone: () => true })).toThrow('not a database')
})
