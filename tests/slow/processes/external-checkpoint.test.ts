import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { databaseFile, openDatabase } from '../../../src/db/open.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ROOT } from '../../support/source.ts'
import { openInstallation } from '../resilience/support/installation.ts'

function logOf(database: string): Buffer {
  const file = `${database}-wal`
  return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
}

/** Whether the log still has all that it had, so that a replicator can go on, and more than that. */
const hasGrown = (before: Buffer, after: Buffer) =>
  before.length > 0 &&
  after.length > before.length &&
  after.subarray(0, before.length).equals(before)

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
  expect((await done('tenant', 'list')).out).toContain('C')
}, 120_000)

test('It is continued after a process that does not close the database, and under a replicator that reads', async () => {
  using folder = temporaryFolder()
  const dataDir = folder.path
  const database = databaseFile(dataDir)
  const count = process.listenerCount('exit')
  async function write(sql: string) {
    const db = openDatabase({ dataDir, synchronous: 'normal', externalCheckpoint: true })
    expect(process.listenerCount('exit')).toBe(count + 1)
    await db.commit(() => void db.client.run(sql))
    db.close()
    // A closed database is not closed again as the process ends.
    expect(process.listenerCount('exit')).toBe(count)
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

  const plain = openDatabase({ dataDir, synchronous: 'normal' })
  await plain.commit(() => void plain.client.run('INSERT INTO t VALUES (5)'))
  plain.close()
  expect(logOf(database)).toHaveLength(0)
})
