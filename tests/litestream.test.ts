import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../drizzle/index.ts'
import { migrate, migrationStatus } from '../src/db/migrate.ts'
import { databaseFile, openDatabase } from '../src/db/open.ts'
import { until } from './support/binary.ts'
import { temporaryFolder } from './support/folder.ts'
import { freePort } from './support/port.ts'

/** Gatehouse beside a replicator that decides on checkpoints, as docs/litestream.md has it. */

const ROOT = join(import.meta.dir, '..')
const read = (path: string) => Bun.file(join(ROOT, path)).text()

interface LitestreamFile {
  dbs: { path: string; 'busy-timeout': string; replica: Record<string, string> }[]
  snapshot: Record<string, string>
}

describe('docs/examples/litestream.yml', async () => {
  const file = Bun.YAML.parse(await read('docs/examples/litestream.yml')) as LitestreamFile
  const [db] = file.dbs

  test('replicates the database of the unit, and nothing else', async () => {
    expect(await read('docs/gatehouse.service')).toContain('StateDirectory=gatehouse\n')
    expect(file.dbs.map(({ path }) => path)).toEqual([databaseFile('/var/lib/gatehouse')])
  })

  test('has settings of Litestream 0.5, which knows one replica a database', () => {
    expect(Object.keys(file).sort()).toEqual(['dbs', 'snapshot'])
    expect(Object.keys(db ?? {}).sort()).toEqual(['busy-timeout', 'path', 'replica'])
    expect(Object.keys(file.snapshot).sort()).toEqual(['interval', 'retention'])
  })

  test('holds no secret, and the page shows the same path and says what is missing in a replica', async () => {
    for (const name of ['access-key-id', 'secret-access-key'])
      expect(db?.replica[name]).toMatch(/^\$\{[A-Z_]+\}$/)
    const page = await read('docs/litestream.md')
    expect(page).toContain(`path: ${db?.path}\n`)
    expect(page).toContain('`master.key` is not in the replica')
    expect(page).toContain('Never restore over an existing file')
  })

  test('is what compose restores from, at the place of the image', async () => {
    const compose = await read('docs/examples/compose.litestream.yaml')
    expect(compose).toContain(
      `restore -if-db-not-exists -if-replica-exists ${databaseFile('/data')}\n`,
    )
    expect(compose).toContain(`path: ${databaseFile('/data')}`)
    expect(compose).toContain('GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: "true"')
  })
})

describe('with external_checkpoint', () => {
  /** Writes something while another program has the database open; answers the size of the log after the end. */
  async function logAfterClosing(externalCheckpoint: boolean): Promise<number> {
    using folder = temporaryFolder()
    const db = openDatabase({ dataDir: folder.path, synchronous: 'normal', externalCheckpoint })
    using replicator = new Database(db.file)
    replicator.query('SELECT count(*) FROM sqlite_schema').get()
    await db.commit(() => void db.client.run('CREATE TABLE t (a TEXT)'))
    db.close()
    return statSync(`${db.file}-wal`).size
  }

  test('the log is left to the replicator at the end, and emptied without', async () => {
    expect(await logAfterClosing(true)).toBeGreaterThan(0)
    expect(await logAfterClosing(false)).toBe(0)
  })

  test('the log is left to it while the server writes, and kept short without', async () => {
    const grown = async (externalCheckpoint: boolean) => {
      using folder = temporaryFolder()
      const db = openDatabase({ dataDir: folder.path, synchronous: 'normal', externalCheckpoint })
      await db.commit(() => void db.client.run('CREATE TABLE t (a BLOB)'))
      for (let round = 0; round < 20; round++)
        await db.commit(() => void db.client.run('INSERT INTO t VALUES (randomblob(1000000))'))
      const { size } = statSync(`${db.file}-wal`)
      db.close()
      return size
    }
    expect(await grown(true)).toBeGreaterThan(20_000_000)
    expect(await grown(false)).toBeLessThan(10_000_000)
  })
})

test('tables of a replicator do not upset the schema', () => {
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

/** Only when asked for, with the path of an executable of Litestream 0.5: `TEST_LITESTREAM=/usr/bin/litestream`. */
const LITESTREAM = process.env.TEST_LITESTREAM

test.skipIf(!LITESTREAM)(
  'what was answered and synced is there after everything was killed, deleted and restored',
  async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const replica = join(folder.path, 'replica')
    const socket = join(folder.path, 'socket')
    const config = join(folder.path, 'litestream.yml')
    await Bun.write(
      config,
      [
        `socket: { enabled: true, path: ${socket} }`,
        `dbs: [{ path: ${databaseFile(dataDir)}, busy-timeout: 5s, replica: { path: ${replica} } }]`,
      ].join('\n'),
    )
    const options = ['--data-dir', dataDir, '--database-external-checkpoint=true']
    const gatehouse = (...words: string[]) => [
      process.execPath,
      'src/main.ts',
      ...words,
      ...options,
    ]
    const answer = (command: string[]) => {
      const { stdout, stderr, exitCode } = Bun.spawnSync(command, { cwd: ROOT })
      if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stdout}${stderr}`)
      return `${stdout}`
    }
    const litestream = (...words: string[]) => [LITESTREAM as string, ...words]

    /** Serves until the scope ends, which is as a power cut would end it. */
    async function serve() {
      const port = freePort()
      const server = Bun.spawn(gatehouse('serve', '--server-port', `${port}`), {
        cwd: ROOT,
        stdout: 'ignore',
        stderr: 'ignore',
      })
      const url = `http://127.0.0.1:${port}`
      await until(() =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      )
      const kill = async () => {
        server.kill('SIGKILL')
        await server.exited
      }
      return { url, kill, [Symbol.asyncDispose]: kill }
    }

    const tenant = JSON.parse(answer(gatehouse('tenant', 'create', '--name', 'Acme', '--json'))).id
    const { key } = JSON.parse(
      answer(gatehouse('key', 'create', '--tenant', tenant, '--engine', 'relay', '--json')),
    )
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const ids: string[] = []
    {
      await using server = await serve()
      await using replicator = Bun.spawn(litestream('replicate', '-config', config), {
        stdout: 'ignore',
        stderr: 'ignore',
      })
      await until(() => existsSync(socket) && existsSync(replica))
      for (let number = 0; number < 200; number++) {
        const sent = await fetch(`${server.url}/v1/relay/messages`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ event_type: 'invoice.paid', payload: { number } }),
        })
        expect(sent.status).toBe(202)
        ids.push(((await sent.json()) as { id: string }).id)
      }
      answer(litestream('sync', '-wait', '-socket', socket, databaseFile(dataDir)))
      await server.kill()
      replicator.kill('SIGKILL')
      await replicator.exited
    }
    copyFileSync(join(dataDir, 'master.key'), join(folder.path, 'master.key'))
    rmSync(dataDir, { recursive: true })
    mkdirSync(dataDir, { mode: 0o700 })
    answer(
      litestream('restore', '-config', config, '-integrity-check', 'full', databaseFile(dataDir)),
    )
    copyFileSync(join(folder.path, 'master.key'), join(dataDir, 'master.key'))

    await using server = await serve()
    const found = ids.map((id) =>
      fetch(`${server.url}/v1/relay/messages/${id}`, { headers }).then(({ status }) => status),
    )
    expect(new Set(await Promise.all(found))).toEqual(new Set([200]))
    const findings = JSON.parse(answer(gatehouse('doctor', '--json'))).findings
    expect(findings).toContainEqual(expect.objectContaining({ check: 'integrity', result: 'ok' }))
    expect(findings).toContainEqual(expect.objectContaining({ check: 'master key', result: 'ok' }))
  },
  120_000,
)
