import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { migrate, migrationStatus } from '../../../src/db/migrate.ts'
import { databaseFile, openDatabase } from '../../../src/db/open.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ROOT } from '../../support/source.ts'
import { numbers } from './support/api.ts'
import { openInstallation } from './support/installation.ts'

/** Gatehouse beside a replicator that makes the checkpoints, as in docs/litestream.md. */

const read = (path: string) => Bun.file(join(ROOT, path)).text()
const logOf = (database: string): Buffer =>
  existsSync(`${database}-wal`) ? readFileSync(`${database}-wal`) : Buffer.alloc(0)

/** Whether the log still has all that it had, so that a replicator can go on, and more than that. */
const hasGrown = (before: Buffer, after: Buffer) =>
  before.length > 0 &&
  after.length > before.length &&
  after.subarray(0, before.length).equals(before)

test('The example replicates the database of the unit, and the page and compose have its path', async () => {
  const example = Bun.YAML.parse(await read('docs/examples/litestream.yml'))
  const path = databaseFile('/var/lib/gatehouse')
  const secret = expect.stringMatching(/^\$\{[A-Z_]+\}$/)
  const replica = { 'access-key-id': secret, 'secret-access-key': secret }
  expect(example).toMatchObject({ dbs: [{ path, replica }], snapshot: {} })
  const page = await read('docs/litestream.md')
  for (const words of [`path: ${path}\n`, '`master.key` is not in the replica'])
    expect(page).toContain(words)
  const compose = await read('docs/examples/compose.litestream.yaml')
  const mounted = databaseFile('/data')
  for (const words of [
    `restore -if-db-not-exists -if-replica-exists ${mounted}\n`,
    `path: ${mounted}`,
    'GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: "true"',
  ])
    expect(compose).toContain(words)
})

test('With external_checkpoint the log is continued beside a server and its commands, and over its end', async () => {
  await using stack = new AsyncDisposableStack()
  const settings = { GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: 'true' }
  const { database, done, serve } = openInstallation(stack, { settings })
  const create = (name: string) => done('tenant', 'create', '--name', name)
  const server = await serve()
  await create('A')
  const first = logOf(database)
  await done('doctor')
  expect(logOf(database).equals(first)).toBe(true)
  await create('B')
  const second = logOf(database)
  expect(hasGrown(first, second)).toBe(true)
  expect(await server.terminate()).toBe(0)
  const third = logOf(database)
  expect(hasGrown(second, third)).toBe(true)
  await create('C')
  expect(hasGrown(third, logOf(database))).toBe(true)
}, 120_000)

test('The log is continued after a process that does not close the database, and under a replicator that reads', async () => {
  using folder = temporaryFolder()
  const dataDir = folder.path
  const database = databaseFile(dataDir)
  const listeners = process.listenerCount('exit')
  async function write(sql: string, externalCheckpoint = true) {
    const db = openDatabase({ dataDir, synchronous: 'normal', externalCheckpoint })
    await db.commit(() => void db.client.run(sql))
    db.close()
    // A closed database is not closed again as the process ends.
    expect(process.listenerCount('exit')).toBe(listeners)
  }
  await write('CREATE TABLE t (a); INSERT INTO t VALUES (1)')
  const first = logOf(database)
  const script = `const { openDatabase } = await import('./src/db/open.ts')
    const options = { synchronous: 'normal', externalCheckpoint: true }
    const db = openDatabase({ dataDir: process.argv[1], ...options })
    await db.commit(() => void db.client.run('INSERT INTO t VALUES (2)'))
    process.exit(1)`
  const leaves = Bun.spawn([process.execPath, '-e', script, dataDir], { cwd: ROOT })
  expect(await leaves.exited).toBe(1)
  const second = logOf(database)
  expect(hasGrown(first, second)).toBe(true)
  {
    using replicator = new Database(database, { readonly: true })
    replicator.run('BEGIN')
    replicator.query('SELECT count(*) FROM t').get()
    await write('INSERT INTO t VALUES (3)')
    expect(hasGrown(second, logOf(database))).toBe(true)
  }
  await write('INSERT INTO t VALUES (4)')
  using alone = new Database(`file://${database}?immutable=1`, 0x01 | 0x40)
  expect(alone.query('SELECT a FROM t').values().flat()).toEqual([1, 2, 3, 4])
  await write('INSERT INTO t VALUES (5)', false)
  expect(logOf(database)).toHaveLength(0)
})

test('While the server writes, the log is left to the replicator with external_checkpoint alone', async () => {
  async function logAfterWrites(externalCheckpoint: boolean) {
    using folder = temporaryFolder()
    const db = openDatabase({ dataDir: folder.path, synchronous: 'normal', externalCheckpoint })
    using replicator = new Database(db.file)
    replicator.query('SELECT count(*) FROM sqlite_schema').get()
    await db.commit(() => void db.client.run('CREATE TABLE t (a BLOB)'))
    for (const _ of numbers(20))
      await db.commit(() => void db.client.run('INSERT INTO t VALUES (randomblob(1000000))'))
    const { length } = logOf(db.file)
    db.close()
    return length
  }
  expect(await logAfterWrites(true)).toBeGreaterThan(20_000_000)
  expect(await logAfterWrites(false)).toBeLessThan(10_000_000)
})

test('Tables of a replicator do not disturb migrations', () => {
  using folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'normal', externalCheckpoint: true })
  const options = { backupDir: folder.path, appVersion: '0.0.0', now: 0 }
  migrate(db.client, { ...options, migrations: migrations.slice(0, 1) })
  db.client.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)')
  expect(migrate(db.client, { ...options, migrations })).toHaveLength(migrations.length - 1)
  expect(migrationStatus(db.client, migrations).pending).toEqual([])
  db.close()
})
