import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { logOf, openForReading, openUnchanging } from '../../src/db/read-only.ts'
import { temporaryFolder } from '../support/folder.ts'

/** An open database with `a` in its file and `b` only in its log. */
function createFixture() {
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
  using fixture = createFixture()
  const { client, isWithoutLog } = openForReading(fixture.file)
  using _ = client
  expect([rowsIn(client), isWithoutLog]).toEqual([['a', 'b'], false])
  fixture.writer.run("INSERT INTO t VALUES ('c')")
  expect(rowsIn(client)).toEqual(['a', 'b', 'c'])
  expect(() => client.run("INSERT INTO t VALUES ('d')")).toThrow('readonly')
})

test('A database whose log cannot be opened is refused, unless its file is enough', () => {
  using fixture = createFixture()
  const copy = join(fixture.path, 'copy.db')
  copyFileSync(fixture.file, copy)
  writeFileSync(logOf(copy), 'x'.repeat(100))
  symlinkSync('/nowhere/at/all', `${copy}-shm`)
  expect(() => openForReading(copy)).toThrow('unable to open')
  expect(() => openForReading(copy, { doesFileAlone: () => false })).toThrow('unable to open')
  const { client, isWithoutLog } = openForReading(copy, { doesFileAlone: () => true })
  using _ = client
  expect([rowsIn(client), isWithoutLog]).toEqual([['a'], true])
})

test('A missing file or one that is no database is refused, and nothing is created', () => {
  using fixture = createFixture()
  const other = join(fixture.path, 'other')
  writeFileSync(other, 'no database'.repeat(100))
  const before = readdirSync(fixture.path)
  expect(() => openForReading(join(fixture.path, 'none.db'))).toThrow('unable to open')
  expect(readdirSync(fixture.path)).toEqual(before)
  expect(() => openForReading(other, { doesFileAlone: () => true })).toThrow('not a database')
})

test('A file that does not change is read without its log and gets none', () => {
  using fixture = createFixture()
  const copy = join(fixture.path, 'quiet #1?.db')
  copyFileSync(fixture.file, copy)
  for (const file of [fixture.file, copy]) {
    using client = openUnchanging(file)
    expect(rowsIn(client)).toEqual(['a'])
  }
  expect(existsSync(logOf(copy))).toBe(false)
})
