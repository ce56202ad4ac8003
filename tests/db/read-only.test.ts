import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { logOf, openForReading, openUnchanging } from '../../src/db/read-only.ts'
import { temporaryFolder } from '../support/folder.ts'

/** A database with `a` in its file, and `b` in its log alone while it is open. */
function startFixture() {
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
  return {
    path: folder.path,
    file,
    writer,
    /** As a copy by hand that did not get all of it: its log cannot be opened. */
    copyWithBrokenLog() {
      const copy = join(folder.path, 'copy.db')
      copyFileSync(file, copy)
      writeFileSync(logOf(copy), 'x'.repeat(100))
      symlinkSync('/nowhere/at/all', `${copy}-shm`)
      return copy
    },
    [Symbol.dispose]() {
      writer.close()
      folder[Symbol.dispose]()
    },
  }
}

const rowsIn = (client: Database) =>
  client
    .query<{ x: string }, []>('SELECT x FROM t')
    .all()
    .map(({ x }) => x)

describe('a database opened for reading', () => {
  test('is seen with its log, beside whoever writes', () => {
    using fixture = startFixture()
    const { client, isWithoutLog } = openForReading(fixture.file)
    expect([rowsIn(client), isWithoutLog]).toEqual([['a', 'b'], false])
    fixture.writer.run("INSERT INTO t VALUES ('c')")
    expect(rowsIn(client)).toEqual(['a', 'b', 'c'])
    client.close()
  })

  test('takes no write', () => {
    using fixture = startFixture()
    const { client } = openForReading(fixture.file)
    expect(() => client.run("INSERT INTO t VALUES ('c')")).toThrow('readonly')
    client.close()
  })

  test('whose log cannot be opened is refused, unless the file does alone; that is told then', () => {
    using fixture = startFixture()
    const copy = fixture.copyWithBrokenLog()
    expect(() => openForReading(copy)).toThrow('unable to open')
    expect(() => openForReading(copy, { doesFileAlone: () => false })).toThrow('unable to open')
    const { client, isWithoutLog } = openForReading(copy, { doesFileAlone: () => true })
    expect([rowsIn(client), isWithoutLog]).toEqual([['a'], true])
    client.close()
  })

  test('that is not there, or is none, is refused, and nothing is made', () => {
    using fixture = startFixture()
    const before = readdirSync(fixture.path)
    expect(() => openForReading(join(fixture.path, 'none.db'))).toThrow('unable to open')
    expect(readdirSync(fixture.path)).toEqual(before)
    const other = join(fixture.path, 'other')
    writeFileSync(other, 'no database'.repeat(100))
    expect(() => openForReading(other, { doesFileAlone: () => true })).toThrow('not a database')
  })
})

test('a file that is said not to change is read without its log, and gets none', () => {
  using fixture = startFixture()
  const client = openUnchanging(fixture.file)
  expect(rowsIn(client)).toEqual(['a'])
  client.close()
  const copy = join(fixture.path, 'quiet #1?.db')
  copyFileSync(fixture.file, copy)
  const quiet = openUnchanging(copy)
  expect(rowsIn(quiet)).toEqual(['a'])
  expect(existsSync(logOf(copy))).toBe(false)
  quiet.close()
})
