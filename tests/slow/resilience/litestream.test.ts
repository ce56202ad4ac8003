import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { migrate, migrationStatus } from '../../../src/db/migrate.ts'
import { databaseFile, openDatabase } from '../../../src/db/open.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ROOT } from '../../support/source.ts'
import { numbers } from './support/api.ts'

/** Gatehouse beside a replicator that makes the checkpoints, as in docs/litestream.md. */

const read = (path: string) => Bun.file(join(ROOT, path)).text()

interface LitestreamFile {
  dbs: { path: string; 'busy-timeout': string; replica: Record<string, string> }[]
  snapshot: Record<string, string>
}

test('The example replicates the database of the unit with settings of Litestream 0.5, and the page and compose have its path', async () => {
  const file = Bun.YAML.parse(await read('docs/examples/litestream.yml')) as LitestreamFile
  const [db] = file.dbs
  expect(await read('docs/gatehouse.service')).toContain('StateDirectory=gatehouse\n')
  expect(file.dbs.map(({ path }) => path)).toEqual([databaseFile('/var/lib/gatehouse')])
  expect(Object.keys(file).sort()).toEqual(['dbs', 'snapshot'])
  expect(Object.keys(db ?? {}).sort()).toEqual(['busy-timeout', 'path', 'replica'])
  expect(Object.keys(file.snapshot).sort()).toEqual(['interval', 'retention'])
  for (const name of ['access-key-id', 'secret-access-key'])
    expect(db?.replica[name]).toMatch(/^\$\{[A-Z_]+\}$/)
  const page = await read('docs/litestream.md')
  expect(page).toContain(`path: ${db?.path}\n`)
  expect(page).toContain('`master.key` is not in the replica')
  expect(page).toContain('Never restore over an existing file')
  const compose = await read('docs/examples/compose.litestream.yaml')
  const path = databaseFile('/data')
  expect(compose).toContain(`restore -if-db-not-exists -if-replica-exists ${path}\n`)
  expect(compose).toContain(`path: ${path}`)
  expect(compose).toContain('GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: "true"')
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
    const { size } = statSync(`${db.file}-wal`)
    db.close()
    return size
  }
  expect(await logAfterWrites(true)).toBeGreaterThan(20_000_000)
  expect(await logAfterWrites(false)).toBeLessThan(10_000_000)
})

test('Tables of a replicator do not disturb migrations', () => {
  using folder = temporaryFolder()
  const db = openDatabase({ dataDir: folder.path, synchronous: 'normal', externalCheckpoint: true })
  const options = { migrations, backupDir: folder.path, appVersion: '0.0.0', now: 0 }
  migrate(db.client, { ...options, migrations: migrations.slice(0, 1) })
  db.client.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)')
  db.client.run('CREATE TABLE _litestream_lock (id INTEGER)')
  expect(migrate(db.client, options)).toEqual(migrations.slice(1).map(({ id }) => id))
  expect(migrationStatus(db.client, migrations).pending).toEqual([])
  db.close()
})
