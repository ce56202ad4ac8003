import { expect, test } from 'bun:test'
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { firstSteps } from '../../src/cli/first-steps.ts'
import { migrateConfigured, noteIfPossible } from '../../src/cli/open.ts'
import { sentenceOf, sentenceOnListening } from '../../src/cli/sentences.ts'
import { migrate, migrationStatus } from '../../src/db/migrate.ts'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { MAX_SILENCE_MS } from '../../src/platform/instances.ts'
import { thisProcess } from '../../src/platform/process.ts'
import { cli, testIo } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/folder.ts'

const HERE = thisProcess('0.0.1').host

/** The data of an older version, and the servers that use it. */
function oldData(steps = migrations.slice(0, -1)) {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  const db = openDatabase({ dataDir, synchronous: 'normal' })
  migrate(db.client, { migrations: steps, backupDir: dataDir, appVersion: '0.0.1', now: 0 })
  return {
    path: folder.path,
    migrate: () => migrateConfigured(testConfig({ 'data-dir': dataDir }), db),
    pending: () => migrationStatus(db.client, migrations).pending,
    addServer: (host: string, pid: number, heartbeatAt = Date.now()) =>
      db.client
        .query('INSERT INTO instances VALUES (?, ?, ?, ?, ?, ?, 1)')
        .run(`${host} ${pid}`, host, pid, '0.0.1', heartbeatAt, heartbeatAt),
    [Symbol.dispose]() {
      db.close()
      folder[Symbol.dispose]()
    },
  }
}

test('A migration is refused while a server runs, by its process here and by its heartbeat elsewhere', async () => {
  using data = oldData()
  data.addServer(HERE, process.ppid)
  const { code, err } = await cli(data.path)('serve', '--server-port', '0')
  expect(code).toBe(1)
  expect(err).toContain(`gatehouse 0.0.1 is running on it: process ${process.ppid} on `)
  expect(err).toContain('Stop it first')
  expect(data.pending()).toHaveLength(1)
  using far = oldData()
  far.addServer('elsewhere', 1)
  expect(far.migrate).toThrow('process 1 on elsewhere')
  expect(far.migrate).toThrow('If it has crashed, try again after')
})

test('A migration is made when servers are dead, silent or this process, and there is none to make', async () => {
  using data = oldData()
  const dead = Bun.spawn(['true'])
  await dead.exited
  data.addServer(HERE, dead.pid)
  data.addServer(HERE, process.pid)
  data.addServer(HERE, process.ppid, Date.now() - MAX_SILENCE_MS - 1)
  data.addServer('elsewhere', 1, Date.now() - MAX_SILENCE_MS - 1)
  expect(data.migrate()).toHaveLength(1)
  expect(data.pending()).toEqual([])
  using current = oldData([...migrations])
  current.addServer(HERE, process.ppid)
  expect(current.migrate()).toEqual([])
})

test('A note is written once if the database can take it, and only our own errors are thrown', async () => {
  using folder = temporaryFolder()
  await cli(folder.path)('tenant', 'create', '--name', 'Acme')
  const dataDir = join(folder.path, 'data')
  type Note = Parameters<typeof noteIfPossible>[1]
  const note = (work: Note) => noteIfPossible(testConfig({ 'data-dir': dataDir }), work)
  let written = 0
  const entry = { tenantId: null, actor: { kind: 'cli' }, action: 'test.done' } as const
  const write: Note['write'] = (db, audit) => {
    written++
    return db.commit(() => audit.record({ ...entry, object: 'o', detail: {} }))
  }
  await note({ write, isThere: () => true })
  expect(written).toBe(0)
  await note({ write })
  expect(written).toBe(1)

  const mistaken = () => {
    throw new TypeError('x is undefined')
  }
  await expect(note({ write: async () => mistaken() })).rejects.toThrow('x is undefined')
  await expect(note({ write, isThere: mistaken })).rejects.toThrow('x is undefined')
  const db = openDatabase({ dataDir, synchronous: 'normal' })
  db.client.run('DROP TABLE audit_log')
  db.close()
  await note({ write })
  writeFileSync(databaseFile(dataDir), 'no database')
  await note({ write })
})

const system = (code: string, message: string) =>
  Object.assign(new Error(`${code}: ${message}`), { code })

test('A system error is told in a sentence, which names the account that owns a path without permission', () => {
  for (const [code, message, sentence] of [
    ['ENOSPC', 'no space left on device, write', 'the disk is full'],
    ['EROFS', "read-only file system, open '/a b/x'", '/a b/x: the file system is read-only'],
    ['ENOENT', "no such file or directory, open 'x.toml'", 'x.toml: no such file or directory'],
    ['EPIPE', 'broken pipe, write', 'broken pipe'],
    ['EFOO', 'a message of another form', 'EFOO: a message of another form'],
  ] as const)
    expect(sentenceOf(system(code, message))).toBe(sentence)
  using folder = temporaryFolder()
  const path = join(folder.path, 'none', 'x')
  const denied = sentenceOf(system('EACCES', `permission denied, mkdir '${path}'`))
  expect(denied).toStartWith(`${path}: permission denied. `)
  expect(denied).toContain('or choose another path')
  if (process.getuid?.() !== 0) return
  chownSync(folder.path, 4711, 4711)
  expect(sentenceOf(system('EACCES', `permission denied, stat '${path}'`))).toBe(
    `${path}: permission denied. ${folder.path} belongs to uid 4711, you are uid 0: ` +
      "run this as that account, with sudo -u '#4711'",
  )
})

test('A system error of listening names the setting, unless it says enough already', () => {
  const at = { host: '192.0.2.1', port: 80 }
  const on = (code: string) => sentenceOnListening(system(code, 'x'), at)
  expect(on('EADDRNOTAVAIL')).toMatch(/192\.0\.2\.1 .*\[server\] host/)
  expect(on('EACCES')).toMatch(/^port 80 .*1024 or higher.*CAP_NET_BIND_SERVICE/)
  expect(on('EADDRINUSE')).toBeUndefined()
  expect(sentenceOnListening(new TypeError('ours'), at)).toBeUndefined()
})

type Given = Partial<Parameters<typeof firstSteps>[0]> & { isWatched?: boolean }

const shown = ({ isWatched = true, ...given }: Given = {}, flags: Record<string, string> = {}) =>
  firstSteps({
    ...{ io: testIo('/', { isWatched }), config: testConfig(flags), port: 8420, uid: 0 },
    ...{ setUpToken: 'TOKEN', hasTenant: false, ...given },
  })

test('The first steps have a setup link at the address of the installation, and name the account to run as', () => {
  const local = 'works once, for 30 minutes.\n\n  http://127.0.0.1:8420/setup/TOKEN\n'
  expect(shown()).toContain(local)
  const atAddress = shown({}, { 'server-base-url': 'https://example.com/gate/' })
  expect(atAddress).toContain('\n  https://example.com/gate/setup/TOKEN\n')
  expect(atAddress).not.toContain('another address')
  expect(shown({}, { 'server-host': '0.0.0.0' })).toContain(
    'uses another address, replace\nhttp://127.0.0.1:8420 with it. To change it permanently, set [server] base_url',
  )
  expect(shown({ isWatched: false, uid: 998 })).toContain(
    "\n(as the server's account, uid 998: with sudo -u '#998', or in its container)\n\n  gatehouse",
  )
  for (const given of [{ isWatched: false }, { isWatched: false, uid: undefined }, { uid: 998 }])
    expect(shown(given)).not.toContain('(as')
})

test('The first steps show the commands for what is missing', () => {
  const operator = 'gatehouse operator create --data-dir /nowhere/data --admin --email'
  const tenant = 'gatehouse tenant create --data-dir /nowhere/data --name Acme\n'
  for (const words of ['/setup/TOKEN', tenant, 'curl http://127.0.0.1:8420/v1/clockwork/jobs'])
    expect(shown()).toContain(words)
  expect(shown({ setUpToken: undefined })).not.toContain('/setup/')
  expect(shown({ hasTenant: true })).toContain(operator)
  expect(shown({ hasTenant: true })).not.toContain('tenant create')
  expect(shown({ setUpToken: undefined, hasTenant: true })).toBe('')
})
