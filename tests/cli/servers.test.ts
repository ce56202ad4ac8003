import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { migrateConfigured } from '../../src/cli/open.ts'
import { migrate, migrationStatus } from '../../src/db/migrate.ts'
import { type Db, openDatabase } from '../../src/db/open.ts'
import { MAX_SILENCE_MS } from '../../src/platform/instances.ts'
import { thisProcess } from '../../src/platform/process.ts'
import { cli } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/folder.ts'

const HERE = thisProcess('0.0.1').host

/** The data of an older version, with a step to come, and the servers that wrote into it. */
function oldData(steps = migrations.slice(0, -1)) {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const db = openDatabase({ dataDir, synchronous: 'normal' })
  const backupDir = join(dataDir, 'backups')
  migrate(db.client, { migrations: steps, backupDir, appVersion: '0.0.1', now: 0 })
  return {
    path: folder.path,
    db,
    migrate: () => migrateConfigured(testConfig({ 'data-dir': dataDir }), db),
    [Symbol.dispose]() {
      db.close()
      folder[Symbol.dispose]()
    },
  }
}

const addServer = ({ client }: Db, host: string, pid: number, heartbeatAt = Date.now()) =>
  client
    .query('INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, 1)')
    .run(`${host} ${pid}`, host, pid, '0.0.1', heartbeatAt, heartbeatAt)

const pendingIn = ({ client }: Db) => migrationStatus(client, migrations).pending

test('serve migrates nothing beside a server that runs, and names it', async () => {
  using data = oldData()
  addServer(data.db, HERE, process.ppid)

  const { code, err } = await cli(data.path)('serve', '--server-port', '0')

  expect(code).toBe(1)
  expect(err).toContain(`gatehouse 0.0.1 is running on it: process ${process.ppid} on `)
  expect(err).toContain('Stop it first')
  expect(pendingIn(data.db)).toHaveLength(1)
})

test('of a server on another host the heartbeat tells, and until when', () => {
  using data = oldData()
  addServer(data.db, 'elsewhere', 1)
  expect(data.migrate).toThrow('process 1 on elsewhere')
  expect(data.migrate).toThrow('If it has crashed, try again after')
})

test('servers that are dead, silent for long, or were this very process hold up nothing', async () => {
  using data = oldData()
  const dead = Bun.spawn(['true'])
  await dead.exited
  addServer(data.db, HERE, dead.pid)
  addServer(data.db, HERE, process.pid)
  addServer(data.db, HERE, process.ppid, Date.now() - MAX_SILENCE_MS - 1)
  addServer(data.db, 'elsewhere', 1, Date.now() - MAX_SILENCE_MS - 1)
  expect(data.migrate()).toHaveLength(1)
  expect(pendingIn(data.db)).toEqual([])
})

test('without a step to come a server of the same version starts beside the other', () => {
  using data = oldData([...migrations])
  addServer(data.db, HERE, process.ppid)
  expect(data.migrate()).toEqual([])
})
