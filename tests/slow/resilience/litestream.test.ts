import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { migrate, migrationStatus } from '../../../src/db/migrate.ts'
import { databaseFile, openDatabase } from '../../../src/db/open.ts'
import { until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ROOT } from '../../support/source.ts'
import { MESSAGES, message, numbers } from './support/api.ts'
import { openInstallation } from './support/installation.ts'

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

describe('With external_checkpoint alone, the log is left to the replicator', () => {
  type Db = ReturnType<typeof openDatabase>

  /** Lets a database work and returns the size of its log. */
  async function logAfter(externalCheckpoint: boolean, work: (db: Db) => Promise<void>) {
    using folder = temporaryFolder()
    const db = openDatabase({ dataDir: folder.path, synchronous: 'normal', externalCheckpoint })
    using replicator = new Database(db.file)
    replicator.query('SELECT count(*) FROM sqlite_schema').get()
    await db.commit(() => void db.client.run('CREATE TABLE t (a BLOB)'))
    await work(db)
    const { size } = statSync(`${db.file}-wal`)
    db.close()
    return size
  }
  const close = async ({ close }: Db) => close()
  async function write({ client, commit }: Db) {
    for (const _ of numbers(20))
      await commit(() => void client.run('INSERT INTO t VALUES (randomblob(1000000))'))
  }

  test.each([
    ['when the database is closed', close, 0, 1],
    ['while the server writes', write, 20_000_000, 10_000_000],
  ] as const)('%s', async (_, work, more, less) => {
    expect(await logAfter(true, work)).toBeGreaterThan(more)
    expect(await logAfter(false, work)).toBeLessThan(less)
  })
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

/** The path of an executable of Litestream 0.5, as in `TEST_LITESTREAM=/usr/bin/litestream`. */
const LITESTREAM = process.env.TEST_LITESTREAM

test.skipIf(!LITESTREAM)(
  'Everything that was answered and synced is there after a kill, a deletion and a restore',
  async () => {
    await using stack = new AsyncDisposableStack()
    const settings = { GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: 'true' }
    const installation = openInstallation(stack, { settings })
    const { cwd, dataDir, database } = installation
    const [replica, socket, config] = ['replica', 'socket', 'litestream.yml'].map((name) =>
      join(cwd, name),
    ) as [string, string, string]
    const db = `{ path: ${database}, busy-timeout: 5s, replica: { path: ${replica} } }`
    await Bun.write(config, `socket: { enabled: true, path: ${socket} }\ndbs: [${db}]`)
    const begin = (...words: string[]) => Bun.spawn([LITESTREAM as string, ...words])
    const litestream = async (...words: string[]) =>
      expect([words, await begin(...words).exited]).toEqual([words, 0])

    const server = await installation.serve()
    const relay = installation.newClient(installation.newTenant(), 'relay')
    const replicator = begin('replicate', '-config', config)
    await until(() => existsSync(socket) && existsSync(replica))
    const ids: string[] = []
    for (const n of numbers(100))
      ids.push((await relay.make(server, 'POST', MESSAGES, message(n))).id)
    await litestream('sync', '-wait', '-socket', socket, database)
    await server.kill()
    replicator.kill('SIGKILL')
    await replicator.exited
    copyFileSync(join(dataDir, 'master.key'), join(cwd, 'master.key'))
    rmSync(dataDir, { recursive: true })
    mkdirSync(dataDir, { mode: 0o700 })
    await litestream('restore', '-config', config, '-integrity-check', 'full', database)
    copyFileSync(join(cwd, 'master.key'), join(dataDir, 'master.key'))
    await installation.serve()
    expect(installation.storedMessages().toSorted()).toEqual(ids.toSorted())
    expect(await installation.problems()).toEqual([])
  },
  120_000,
)
