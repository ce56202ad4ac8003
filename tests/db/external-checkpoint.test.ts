import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { until } from '../support/binary.ts'
import { temporaryFolder } from '../support/folder.ts'

/** Processes of their own: much of what empties a log happens as one ends. */

const ROOT = join(import.meta.dir, '..', '..')

function startInstallation({ externalCheckpoint = true } = {}) {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const program = (...argv: string[]) =>
    Bun.spawn(
      [
        process.execPath,
        'src/main.ts',
        ...argv,
        '--data-dir',
        dataDir,
        `--database-external-checkpoint=${externalCheckpoint}`,
      ],
      { cwd: ROOT, stdin: 'ignore', stdout: 'pipe', stderr: 'ignore' },
    )

  /** Runs a command to its end. */
  async function cli(...argv: string[]): Promise<string> {
    const child = program(...argv)
    const out = await new Response(child.stdout).text()
    expect([argv[0], await child.exited]).toEqual([argv[0], 0])
    return out
  }

  async function serve() {
    const child = program('serve', '--server-port', '0', '--log-format', 'json')
    const out = { text: '' }
    void (async () => {
      for await (const part of child.stdout) out.text += new TextDecoder().decode(part)
    })()
    await until(() => out.text.includes('"listening"'))
    return child
  }

  const log = () => {
    const file = `${databaseFile(dataDir)}-wal`
    return existsSync(file) ? readFileSync(file) : Buffer.alloc(0)
  }
  const create = (name: string) => cli('tenant', 'create', '--name', name)
  return { dataDir, program, cli, create, serve, log, [Symbol.dispose]: folder[Symbol.dispose] }
}

/** Whether all that was in the log is still where it was, so that a replicator can go on there. */
const goesOn = (before: Buffer, after: Buffer) =>
  before.length > 0 && after.subarray(0, before.length).equals(before)

describe('with external_checkpoint the log goes on', () => {
  test('beside a server, whatever commands come and go', async () => {
    using installation = startInstallation()
    const server = await installation.serve()
    await installation.create('A')
    const before = installation.log()
    await installation.cli('tenant', 'list')
    await installation.cli('doctor')
    expect(installation.log().equals(before)).toBe(true)
    await installation.create('B')
    expect(goesOn(before, installation.log())).toBe(true)
    expect(installation.log().length).toBeGreaterThan(before.length)
    server.kill('SIGKILL')
    await server.exited
  }, 30_000)

  test('at the end of the last process and at the start of the next', async () => {
    using installation = startInstallation()
    const server = await installation.serve()
    await installation.create('A')
    const before = installation.log()
    server.kill('SIGTERM')
    expect(await server.exited).toBe(0)
    const between = installation.log()
    expect(goesOn(before, between)).toBe(true)
    await installation.create('B')
    expect(goesOn(between, installation.log())).toBe(true)
    expect(installation.log().length).toBeGreaterThan(between.length)
    expect(await installation.cli('tenant', 'list')).toContain('B')
  }, 30_000)

  test('when a process ends without having closed the database', async () => {
    using installation = startInstallation()
    await installation.create('A')
    const before = installation.log()
    const leaves = Bun.spawn(
      [
        process.execPath,
        '-e',
        `const { openDatabase } = await import('./src/db/open.ts')
         const options = { synchronous: 'normal', externalCheckpoint: true }
         const db = openDatabase({ dataDir: process.argv[1], ...options })
         await db.commit(() => void db.client.run('CREATE TABLE t (a)'))
         process.exit(1)`,
        installation.dataDir,
      ],
      { cwd: ROOT, stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
    )
    expect(await leaves.exited).toBe(1)
    expect(goesOn(before, installation.log())).toBe(true)
    expect(installation.log().length).toBeGreaterThan(before.length)
  }, 30_000)

  test('under a replicator that reads, and the database file has everything at the end', async () => {
    using installation = startInstallation()
    await installation.create('A')
    const before = installation.log()
    {
      using replicator = new Database(databaseFile(installation.dataDir), { readonly: true })
      replicator.run('BEGIN')
      replicator.query('SELECT count(*) FROM tenants').get()
      await installation.create('B')
      expect(goesOn(before, installation.log())).toBe(true)
    }
    await installation.create('C')
    const url = `file://${databaseFile(installation.dataDir)}?immutable=1`
    using alone = new Database(url, 0x01 | 0x40)
    expect(alone.query('SELECT count(*) AS count FROM tenants').get()).toEqual({ count: 3 })
  }, 30_000)
})

test('without it the log is gone at the end of the last process', async () => {
  using installation = startInstallation({ externalCheckpoint: false })
  await installation.create('A')
  expect(installation.log()).toHaveLength(0)
})

test('a database that was closed is not closed again as the process ends', async () => {
  using folder = temporaryFolder()
  const count = process.listenerCount('exit')
  const db = openDatabase({ dataDir: folder.path, synchronous: 'normal', externalCheckpoint: true })
  expect(process.listenerCount('exit')).toBe(count + 1)
  db.close()
  expect(process.listenerCount('exit')).toBe(count)
})
