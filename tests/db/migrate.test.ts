import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { type Migration, migrate, migrationStatus, SchemaError } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { temporaryFolder } from '../support/folder.ts'

const START: Migration = {
  id: '0000_start',
  sql: `CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE children (parent_id INTEGER REFERENCES parents(id) ON DELETE CASCADE) STRICT;`,
}
const REBUILD: Migration = {
  id: '0001_rebuild',
  sql: `CREATE TABLE parents_new (id INTEGER PRIMARY KEY, name TEXT) STRICT;
        INSERT INTO parents_new (id) SELECT id FROM parents;
        DROP TABLE parents;
        ALTER TABLE parents_new RENAME TO parents;`,
}

function open() {
  const folder = temporaryFolder()
  const { client, close } = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  const backupDir = join(folder.path, 'backups')
  let now = Date.parse('2026-01-01T00:00:00Z')
  const run = (steps: readonly Migration[], appVersion = '1.0.0') => {
    now += 1000
    return migrate(client, { migrations: steps, backupDir, appVersion, now })
  }
  const dispose = () => {
    close()
    folder[Symbol.dispose]()
  }
  return { client, backupDir, run, [Symbol.dispose]: dispose }
}

/** A database of the first step with a parent and its child. */
function openWithRows() {
  const database = open()
  database.run([START])
  database.client.run('INSERT INTO parents VALUES (42); INSERT INTO children VALUES (42)')
  return database
}

test('Steps run once, in order, and keep rows that refer to a rebuilt table', () => {
  using database = openWithRows()
  expect(database.run([START, REBUILD])).toEqual(['0001_rebuild'])
  expect(database.run([START, REBUILD])).toEqual([])
  expect(migrationStatus(database.client, [START, REBUILD]).pending).toEqual([])
  expect(database.client.query('SELECT * FROM children').all()).toEqual([{ parent_id: 42 }])
  expect(database.client.query('PRAGMA foreign_keys').get()).toEqual({ foreign_keys: 1 })
  using empty = open()
  expect(empty.run([START, REBUILD])).toEqual(['0000_start', '0001_rebuild'])
})

test('A step that fails or leaves dangling references changes nothing', () => {
  using database = openWithRows()
  const broken = { id: '0001_x', sql: 'CREATE TABLE half (id INTEGER) STRICT; SELECT nonsense;' }
  const dangling = { id: '0001_y', sql: 'DELETE FROM parents;' }
  expect(() => database.run([START, broken])).toThrow()
  expect(() => database.run([START, dangling])).toThrow(SchemaError)
  const half = "SELECT 1 FROM sqlite_schema WHERE name = 'half'"
  expect(database.client.query(half).get()).toBeNull()
  expect(database.client.query('SELECT * FROM parents').all()).toEqual([{ id: 42 }])
  expect(database.run([START, REBUILD])).toEqual(['0001_rebuild'])
})

test('A database of a newer version or of edited steps is refused', () => {
  using database = open()
  database.run([START, REBUILD], '9.9.9')
  expect(() => database.run([START])).toThrow(/gatehouse 9\.9\.9.*0001_rebuild/)
  const edited = { ...START, sql: `${START.sql} ` }
  expect(() => database.run([edited, REBUILD])).toThrow(/0000_start differs/)
})

test('A database with data is copied before a migration; three copies and foreign files stay', () => {
  using database = openWithRows()
  const { backupDir } = database
  expect(() => readdirSync(backupDir)).toThrow()
  const others = ['before-restore-2020-01-01T00-00-00Z', 'before-folder.db', 'before-notes.txt']
  for (const name of others.slice(0, 2)) mkdirSync(join(backupDir, name), { recursive: true })
  writeFileSync(join(backupDir, 'before-notes.txt'), '')
  const steps = [START]
  for (let n = 1; n <= 5; n++) {
    steps.push({ id: `000${n}_more`, sql: `CREATE TABLE t${n} (id INTEGER) STRICT;` })
    database.run(steps)
  }

  const left = readdirSync(backupDir).sort()
  const [oldest = '', , newest = '', ...more] = left.filter((name) => !others.includes(name))
  expect([left.length - others.length, more]).toEqual([3, []])
  expect(oldest).toStartWith('before-0003_more-')
  expect(statSync(join(backupDir, newest)).mode & 0o777).toBe(0o600)
  using copy = new Database(join(backupDir, newest), { readonly: true })
  expect(copy.query('SELECT id FROM parents').all()).toEqual([{ id: 42 }])
})

test('Every table of the product is STRICT', () => {
  using database = open()
  database.run(migrations)
  const tables = database.client.query<{ name: string; strict: number }, []>(
    `SELECT name, strict FROM pragma_table_list
      WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`,
  )
  expect(tables.all().length).toBeGreaterThan(8)
  expect(tables.all().filter(({ strict }) => !strict)).toEqual([])
})
