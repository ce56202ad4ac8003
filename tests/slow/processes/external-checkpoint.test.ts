import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile, openDatabase } from '../../../src/db/open.ts'
import { until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'

const ROOT = join(import.meta.dir, '../../..')

function createInstallation() {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const log = () => {
    const file = `${databaseFile(dataDir)}-wal`
    return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  }
  const open = (externalCheckpoint = true) =>
    openDatabase({ dataDir, synchronous: 'normal', externalCheckpoint })
  /** Starts a process of its own: much of what empties a log happens as one ends. */
  const start = (...argv: string[]) => {
    const options = ['--data-dir', dataDir, '--database-external-checkpoint=true']
    const command = [process.execPath, 'src/main.ts', ...argv, ...options]
    return Bun.spawn(command, { cwd: ROOT, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' })
  }
  const run = async (...argv: string[]) => {
    const child = start(...argv)
    const out = await new Response(child.stdout).text()
    expect([argv[0], await child.exited]).toEqual([argv[0], 0])
    return out
  }
  return { dataDir, log, open, start, run, [Symbol.dispose]: folder[Symbol.dispose] }
}

/** Whether the log still has all that it had, so that a replicator can go on, and more than that. */
const hasGrown = (before: Buffer, after: Buffer) =>
  before.length > 0 &&
  after.length > before.length &&
  after.subarray(0, before.length).equals(before)

describe('With external_checkpoint the log is continued', () => {
  test('beside a server and its commands, over its end and the next start', async () => {
    using installation = createInstallation()
    const { log, run } = installation
    const create = (name: string) => run('tenant', 'create', '--name', name)
    const server = installation.start('serve', '--server-port', '0', '--log-format', 'json')
    const out = { text: '' }
    void (async () => {
      for await (const part of server.stdout) out.text += new TextDecoder().decode(part)
    })()
    await until(() => out.text.includes('"listening"'))
    await create('A')
    const first = log()
    await run('doctor')
    expect(log().equals(first)).toBe(true)
    await create('B')
    const second = log()
    expect(hasGrown(first, second)).toBe(true)

    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    const third = log()
    expect(hasGrown(second, third)).toBe(true)
    await create('C')
    expect(hasGrown(third, log())).toBe(true)
    expect(await run('tenant', 'list')).toContain('C')
  }, 30_000)

  test('after a process that ends without closing the database', async () => {
    using installation = createInstallation()
    const { log, open, dataDir } = installation
    const db = open()
    await db.commit(() => void db.client.run('CREATE TABLE s (a)'))
    db.close()
    const before = log()
    const script = `const { openDatabase } = await import('./src/db/open.ts')
      const options = { synchronous: 'normal', externalCheckpoint: true }
      const db = openDatabase({ dataDir: process.argv[1], ...options })
      await db.commit(() => void db.client.run('CREATE TABLE t (a)'))
      process.exit(1)`
    const leaves = Bun.spawn([process.execPath, '-e', script, dataDir], { cwd: ROOT })
    expect(await leaves.exited).toBe(1)
    expect(hasGrown(before, log())).toBe(true)
  }, 30_000)

  test('under a replicator that reads, and the database file has everything at the end', async () => {
    using installation = createInstallation()
    const write = async (sql: string) => {
      const db = installation.open()
      await db.commit(() => void db.client.run(sql))
      db.close()
    }
    await write('CREATE TABLE t (a); INSERT INTO t VALUES (1)')
    const before = installation.log()
    {
      using replicator = new Database(databaseFile(installation.dataDir), { readonly: true })
      replicator.run('BEGIN')
      replicator.query('SELECT count(*) FROM t').get()
      await write('INSERT INTO t VALUES (2)')
      expect(hasGrown(before, installation.log())).toBe(true)
    }
    await write('INSERT INTO t VALUES (3)')
    const url = `file://${databaseFile(installation.dataDir)}?immutable=1`
    using alone = new Database(url, 0x01 | 0x40)
    expect(alone.query('SELECT a FROM t').values().flat()).toEqual([1, 2, 3])
  })
})

test('Without it the log is gone when the last process ends', async () => {
  using installation = createInstallation()
  const db = installation.open(false)
  await db.commit(() => void db.client.run('CREATE TABLE t (a)'))
  db.close()
  expect(installation.log()).toHaveLength(0)
})

test('A closed database is not closed again as the process ends', () => {
  using installation = createInstallation()
  const count = process.listenerCount('exit')
  const db = installation.open()
  expect(process.listenerCount('exit')).toBe(count + 1)
  db.close()
  expect(process.listenerCount('exit')).toBe(count)
})
