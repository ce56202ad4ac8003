import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { migrate, migrationStatus } from '../../../src/db/migrate.ts'
import { databaseFile, openDatabase } from '../../../src/db/open.ts'
import { until } from '../../support/binary.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { freePort } from '../../support/port.ts'

/** Gatehouse beside a replicator that makes the checkpoints, as in docs/litestream.md. */

const ROOT = join(import.meta.dir, '../../..')
const read = (path: string) => Bun.file(join(ROOT, path)).text()

interface LitestreamFile {
  dbs: { path: string; 'busy-timeout': string; replica: Record<string, string> }[]
  snapshot: Record<string, string>
}

describe('docs/examples/litestream.yml', async () => {
  const file = Bun.YAML.parse(await read('docs/examples/litestream.yml')) as LitestreamFile
  const [db] = file.dbs

  test('replicates the database of the unit with settings of Litestream 0.5, and has no secret', async () => {
    expect(await read('docs/gatehouse.service')).toContain('StateDirectory=gatehouse\n')
    expect(file.dbs.map(({ path }) => path)).toEqual([databaseFile('/var/lib/gatehouse')])
    expect(Object.keys(file).sort()).toEqual(['dbs', 'snapshot'])
    expect(Object.keys(db ?? {}).sort()).toEqual(['busy-timeout', 'path', 'replica'])
    expect(Object.keys(file.snapshot).sort()).toEqual(['interval', 'retention'])
    for (const name of ['access-key-id', 'secret-access-key'])
      expect(db?.replica[name]).toMatch(/^\$\{[A-Z_]+\}$/)
  })

  test('is explained by the page, with its dangers', async () => {
    const page = await read('docs/litestream.md')
    expect(page).toContain(`path: ${db?.path}\n`)
    expect(page).toContain('`master.key` is not in the replica')
    expect(page).toContain('Never restore over an existing file')
  })

  test('has the path that compose restores from in the image', async () => {
    const compose = await read('docs/examples/compose.litestream.yaml')
    expect(compose).toContain(
      `restore -if-db-not-exists -if-replica-exists ${databaseFile('/data')}\n`,
    )
    expect(compose).toContain(`path: ${databaseFile('/data')}`)
    expect(compose).toContain('GATEHOUSE_DATABASE_EXTERNAL_CHECKPOINT: "true"')
  })
})

describe('The log is left to the replicator', () => {
  /** Lets a database work and returns the size of its log. */
  async function logAfter(
    externalCheckpoint: boolean,
    work: (db: ReturnType<typeof openDatabase>) => Promise<void>,
  ) {
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

  test('when the database is closed, with external_checkpoint alone', async () => {
    const close: Parameters<typeof logAfter>[1] = async ({ close }) => close()
    expect(await logAfter(true, close)).toBeGreaterThan(0)
    expect(await logAfter(false, close)).toBe(0)
  })

  test('while the server writes, with external_checkpoint alone', async () => {
    const write: Parameters<typeof logAfter>[1] = async ({ client, commit }) => {
      for (let round = 0; round < 20; round++)
        await commit(() => void client.run('INSERT INTO t VALUES (randomblob(1000000))'))
    }
    expect(await logAfter(true, write)).toBeGreaterThan(20_000_000)
    expect(await logAfter(false, write)).toBeLessThan(10_000_000)
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

    /** Serves until the scope ends, and is killed then. */
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
