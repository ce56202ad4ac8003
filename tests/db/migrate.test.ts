import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { type Migration, migrate, migrationStatus, SchemaError } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { temporaryFolder } from '../support/folder.ts'

const STEPS: Migration[] = [
  {
    id: '0000_start',
    sql: `CREATE TABLE parents (id INTEGER PRIMARY KEY) STRICT;
          CREATE TABLE children (parent_id INTEGER REFERENCES parents(id) ON DELETE CASCADE) STRICT;`,
  },
  {
    id: '0001_rebuild',
    sql: `CREATE TABLE parents_new (id INTEGER PRIMARY KEY, name TEXT) STRICT;
          INSERT INTO parents_new (id) SELECT id FROM parents;
          DROP TABLE parents;
          ALTER TABLE parents_new RENAME TO parents;`,
  },
]

function open() {
  const folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'full' })
  const backupDir = join(folder.path, 'backups')
  let now = Date.parse('2026-01-01T00:00:00Z')
  const run = (steps: readonly Migration[], appVersion = '1.0.0') => {
    now += 1000
    return migrate(db.client, { migrations: steps, backupDir, appVersion, now })
  }
  return {
    client: db.client,
    backupDir,
    run,
    [Symbol.dispose]: () => {
      db.close()
      folder[Symbol.dispose]()
    },
  }
}

test('steps run once, in order', () => {
  using database = open()

  expect(database.run(STEPS)).toEqual(['0000_start', '0001_rebuild'])
  expect(database.run(STEPS)).toEqual([])
  expect(migrationStatus(database.client, STEPS).pending).toEqual([])
})

test('rebuilding a table keeps the rows that refer to it', () => {
  using database = open()
  database.run(STEPS.slice(0, 1))
  database.client.run('INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)')

  database.run(STEPS)

  expect(database.client.query('SELECT * FROM children').all()).toEqual([{ parent_id: 1 }])
  expect(database.client.query('PRAGMA foreign_keys').get()).toEqual({ foreign_keys: 1 })
})

test('a step that fails leaves nothing of itself behind', () => {
  using database = open()
  database.run(STEPS.slice(0, 1))
  const broken = {
    id: '0001_broken',
    sql: 'CREATE TABLE half (id INTEGER) STRICT; SELECT nonsense;',
  }

  expect(() => database.run([...STEPS.slice(0, 1), broken])).toThrow()

  expect(database.client.query("SELECT 1 FROM sqlite_schema WHERE name = 'half'").get()).toBeNull()
  expect(database.run(STEPS)).toEqual(['0001_rebuild'])
})

test('a step that would leave dangling references is refused', () => {
  using database = open()
  database.run(STEPS.slice(0, 1))
  database.client.run('INSERT INTO parents VALUES (1); INSERT INTO children VALUES (1)')

  expect(() =>
    database.run([...STEPS.slice(0, 1), { id: '0001_drop', sql: 'DELETE FROM parents;' }]),
  ).toThrow(SchemaError)
  expect(database.client.query('SELECT * FROM parents').all()).toEqual([{ id: 1 }])
})

test('a database of a newer version is refused by name', () => {
  using database = open()
  database.run(STEPS, '9.9.9')

  expect(() => database.run(STEPS.slice(0, 1))).toThrow(/gatehouse 9\.9\.9.*0001_rebuild/)
})

test('an edited step is refused', () => {
  using database = open()
  database.run(STEPS)
  const edited = STEPS.map((step) => ({ ...step, sql: `${step.sql} ` }))

  expect(() => database.run(edited)).toThrow(/0000_start differs/)
})

test('a database with data is copied before it is migrated; the newest three copies stay', () => {
  using database = open()
  const steps = [...STEPS]
  database.run(steps.slice(0, 1))
  expect(() => readdirSync(database.backupDir)).toThrow()
  database.client.run('INSERT INTO parents VALUES (42)')

  for (let n = 1; n <= 5; n++) {
    steps.push({ id: `000${n + 1}_more`, sql: `CREATE TABLE t${n} (id INTEGER) STRICT;` })
    database.run(steps)
  }

  const copies = readdirSync(database.backupDir).sort()
  expect(copies).toHaveLength(3)
  expect(copies[0]).toStartWith('before-0004_more-')
  const newest = join(database.backupDir, copies[2] as string)
  expect(statSync(newest).mode & 0o777).toBe(0o600)
  const copy = new Database(newest, { readonly: true })
  expect(copy.query('SELECT id FROM parents').all()).toEqual([{ id: 42 }])
  copy.close()
})

test('copies make way for copies alone: what lies there besides stays', () => {
  using database = open()
  const steps = STEPS.slice(0, 1)
  database.run(steps)
  database.client.run('INSERT INTO parents VALUES (42)')
  const others = ['before-restore-2020-01-01T00-00-00Z', 'before-folder.db', 'before-notes.txt']
  for (const name of others.slice(0, 2))
    mkdirSync(join(database.backupDir, name), { recursive: true })
  writeFileSync(join(database.backupDir, 'before-notes.txt'), '')

  for (let n = 1; n <= 5; n++) {
    steps.push({ id: `000${n + 1}_more`, sql: `CREATE TABLE t${n} (id INTEGER) STRICT;` })
    database.run(steps)
  }

  const left = readdirSync(database.backupDir)
  expect(left).toEqual(expect.arrayContaining(others))
  expect(left).toHaveLength(3 + others.length)
})

test('every table of the product is STRICT', () => {
  using database = open()
  database.run(migrations)
  const tables = database.client
    .query<{ name: string; strict: number }, []>(
      "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all()

  expect(tables.length).toBeGreaterThan(8)
  expect(tables.filter(({ strict }) => !strict)).toEqual([])
})
