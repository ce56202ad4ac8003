import { expect, test } from 'bun:test'
import {
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { createChildren } from '../../../src/platform/backup/child.ts'
import { newKeyPair } from '../../../src/platform/backup/index.ts'
import { masterKeyFile } from '../../../src/platform/sealing/key-file.ts'
import {
  createHome,
  piecesOf,
  sha256,
  tenantsIn,
  twoStates,
} from '../../platform/backup/fixture.ts'
import { BINARY, until } from '../../support/binary.ts'
import { cli } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startS3Server } from '../../support/s3-server.ts'
import { PROGRAM } from '../../support/source.ts'
import { canMount } from '../resilience/support/disk.ts'
import { openInstallation } from '../resilience/support/installation.ts'

const ARCHIVE = /gatehouse-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar\.gz/

function openHome(stack: AsyncDisposableStack) {
  const installation = openInstallation(stack)
  const { cwd, dataDir } = installation
  const tenant = installation.newTenant()
  /** A command in this process that fails with these words. */
  async function refuses(line: string, words: string, code = 1, outside = {}) {
    const run = cli(cwd, { env: { GATEHOUSE_DATA_DIR: dataDir }, ...outside })
    const answer = await run(...line.split(' '))
    expect([line, answer.code, answer.err]).toEqual([line, code, expect.stringContaining(words)])
  }
  return { ...installation, tenant, refuses, file: (name: string) => join(cwd, name) }
}

const children = createChildren({
  objectStorage: { region: 'none' },
  encryptTo: [],
  workIn: tmpdir(),
})

test('A backup goes to the data directory, the configured one, a named one or a file; its command reports and records it', async () => {
  await using stack = new AsyncDisposableStack()
  const { cwd, dataDir, file, here, refuses, rows } = openHome(stack)
  const made = (await here('backup', '--json')).json()
  const content = await Bun.file(made.file).bytes()
  expect(made.file).toStartWith(join(dataDir, 'backups'))
  expect(made.file).toMatch(ARCHIVE)
  const hash = new Bun.CryptoHasher('sha256').update(content).digest('hex')
  expect(made).toMatchObject({ bytes: content.length, sha256: hash, master_key: false })
  expect(rows('SELECT origin, owner, file, bytes, error FROM backups')).toEqual([
    { origin: 'command', owner: null, error: null, file: made.file, bytes: made.bytes },
  ])

  const configured = ['--backup-directory', file('configured')] as const
  const isMissing = `directory ${file('configured')} does not exist. Mount or create it first\n`
  await refuses(`backup ${configured.join(' ')}`, isMissing)
  for (const name of ['configured', 'elsewhere', 'empty']) mkdirSync(file(name))
  await here('backup', ...configured)
  await here('backup', '--to', 'elsewhere')
  for (const name of ['configured', 'elsewhere'])
    expect(readdirSync(file(name))).toEqual([expect.stringMatching(ARCHIVE)])
  expect((await here('backup', '--to', 'a.tar.gz')).out).toStartWith(`${file('a.tar.gz')}\n`)

  writeFileSync(file('cut.tar.gz'), content.subarray(0, made.bytes >> 1))
  const { created_at, database_bytes } = made
  const checked = (await here('backup', 'check', made.file, '--json')).json()
  expect(checked).toMatchObject({ ok: true, created_at, database_bytes, master_key: false })
  const terminal = { isOutTerminal: true, isInTerminal: true }
  await refuses('backup --to a.tar.gz', 'already exists and is not overwritten\n')
  await refuses('backup --to none/a.tar.gz', 'does not exist. Mount')
  await refuses('backup --to - --json', 'both use standard output', 2)
  await refuses(`backup --data-dir ${file('empty')}`, 'no data in')
  await refuses('backup --to -', 'does not write to a terminal', 2, terminal)
  await refuses('backup check -', 'but that is a terminal', 2, terminal)
  await refuses('backup check cut.tar.gz', 'is incomplete')
  await refuses('backup check none', 'no such file')
  expect(readdirSync(file('empty'))).toEqual([])

  if (process.getuid?.() !== 0) return
  rmSync(join(dataDir, 'backups'), { recursive: true })
  for (const path of [dataDir, file('empty'), cwd]) chownSync(path, 1234, 1234)
  const owner = async (...argv: string[]) =>
    statSync((await here('backup', ...argv, '--json')).json().file).uid
  expect([await owner(), statSync(join(dataDir, 'backups')).uid]).toEqual([1234, 1234])
  expect(await owner('--backup-directory', file('empty'))).toBe(1234)
  expect(await owner('--to', 'b.tar.gz')).toBe(0)
}, 120_000)

test('A backup works with an older schema, which cannot record it', async () => {
  using folder = temporaryFolder()
  const db = openDatabase({ dataDir: join(folder.path, 'data'), synchronous: 'normal' })
  const before = migrations.filter(({ id }) => id < '0004_operations')
  migrate(db.client, { migrations: before, backupDir: '', appVersion: 'test', now: 0 })
  db.close()
  const gatehouse = cli(folder.path)
  expect((await gatehouse('backup', '--to', 'old.tar.gz')).code).toBe(0)
  expect((await gatehouse('backup', 'check', 'old.tar.gz')).code).toBe(0)
})

test('A restore brings the backup back and reports what is overdue; it is refused for other files, and repeated if interrupted', async () => {
  await using stack = new AsyncDisposableStack()
  const { change, dataDir, done, file, inShell, newTenant, refuses, rows, run, tenant } =
    openHome(stack)
  const tenants = () => rows<{ id: string }>('SELECT id FROM tenants').map(({ id }) => id)
  change(
    `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, due_at, attempt, state, host)
     VALUES (?, 'delayed', 'j', 'manual', 0, 0, 1, 'ready', 'h')`,
    tenant,
  )
  const { created_at } = (await done('backup', '--to', 'a.tar.gz', '--json')).json()
  newTenant()
  await refuses('restore none.tar.gz', `${file('none.tar.gz')}: no such file`)
  await refuses('restore data', `${file('data')} is a directory`)
  await refuses('restore data/gatehouse.db', `${file('data/gatehouse.db')} is not a backup`)
  expect((await done('restore', 'a.tar.gz', '--json')).json()).toMatchObject({
    ...{ data_dir: dataDir, created_at, installation: null },
    previous: expect.stringMatching(/data\/before-restore-[\dTZ-]+$/),
    overdue: { runs: 1, deliveries: 0, mails: 0 },
  })
  expect(tenants()).toEqual([tenant])
  expect(rows("SELECT object FROM audit_log WHERE action = 'backup.restored'")).toHaveLength(1)

  const by = { host: 'there', pid: 1, at: 0 }
  const marker = { previous: 'before-restore-2026-01-01T00-00-00Z', files: [], by }
  writeFileSync(join(dataDir, 'restore.unfinished'), JSON.stringify(marker))
  for (const line of ['tenant list', 'backup', 'tenant create --name B'])
    await refuses(line, 'run `restore` again with the same file')
  expect((await run('doctor')).out).toContain('was interrupted')
  const { out } = await done('restore', 'a.tar.gz')
  expect(out).toContain('Overdue: clockwork runs: 1, deliveries: 0, mails: 0.')
  expect(out).toContain('`serve --paused` holds them')
  expect(tenants()).toEqual([tenant])

  const pipe = '"$GATEHOUSE" backup --to - | "$GATEHOUSE" restore - --data-dir copy'
  expect(await inShell(pipe)).toBe(0)
  expect((await cli(file('.'))('tenant', 'list', '--data-dir', 'copy')).out).toContain(tenant)
}, 120_000)

test('A signal leaves nothing behind of a backup, a check or a restore', async () => {
  await using stack = new AsyncDisposableStack()
  const { change, dataDir, file } = openHome(stack)
  change('CREATE TABLE large AS SELECT randomblob(4000000)')
  for (const name of ['data/backups', 'work', 'parent']) mkdirSync(file(name))
  for (const [line, folder, signal, code] of [
    [`backup --to - --data-dir ${dataDir}`, 'data/backups', 'SIGINT', 130],
    ['backup check -', 'work', 'SIGHUP', 129],
    [`restore - --data-dir ${file('parent/new')}`, 'parent/new', 'SIGTERM', 143],
  ] as const) {
    const workIn = () =>
      existsSync(file(folder)) ? readdirSync(file(folder)).filter((it) => it.startsWith('.')) : []
    // A command that waits for its other end.
    const child = Bun.spawn([BINARY, ...line.split(' ')], {
      cwd: tmpdir(),
      env: { TMPDIR: file(folder) },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    await until(() => workIn().length > 0)
    child.kill(signal)
    expect([line, await child.exited, workIn()]).toEqual([line, code, []])
  }
  // Not even the new directory.
  expect(readdirSync(file('parent'))).toEqual([])
}, 120_000)

test('The child of a server makes the archive, leaves the log alone, and no copy when it is aborted', async () => {
  using home = createHome()
  const { client } = home.db
  client.run('PRAGMA wal_autocheckpoint = 0')
  client.run('CREATE TABLE large (x); INSERT INTO large VALUES (randomblob(4000000))')
  const file = join(home.dataDir, 'backups', 'a.tar.gz')
  const insert = "INSERT INTO backups VALUES ('b', 'schedule', 'i', 0, NULL, ?, NULL, NULL)"
  client.query(insert).run(file)
  const log = () => sha256(readFileSync(`${home.db.file}-wal`))
  const before = log()
  const controller = new AbortController()
  const make = (to: string) => children.make(home.dataDir, to, controller.signal)

  expect((await make(file)).bytes).toBe(Bun.file(file).size)
  expect((await piecesOf(file)).map(({ header }) => header.name)).toContain('master.key')
  expect(log()).toBe(before)
  const missing = join(home.path, 'mnt', 'usb')
  const refused = make(join(missing, 'a.tar.gz'))
  await expect(refused).rejects.toThrow(`directory ${missing} does not exist`)
  expect(existsSync(join(home.path, 'mnt'))).toBe(false)

  const aborted = make(join(home.path, 'a.tar.gz'))
  aborted.catch(() => {})
  const work = () => readdirSync(home.path).filter((name) => name.startsWith('.gatehouse-work'))
  await until(() => work().length > 0)
  controller.abort()
  await expect(aborted).rejects.toThrow()
  expect(work()).toEqual([])
})

test('The child of a server checks an archive, and says what is wrong with it', async () => {
  using home = createHome()
  const file = join(home.dataDir, 'backups', 'a.tar.gz')
  const { signal } = new AbortController()
  await children.make(home.dataDir, file, signal)
  const found = await children.check(file, signal)
  expect(found).toEqual({ databaseBytes: expect.any(Number), hasKey: true })
  writeFileSync(file, readFileSync(file).subarray(0, 2000))
  await expect(children.check(file, signal)).rejects.toThrow('the archive is damaged')
  expect(readdirSync(join(home.dataDir, 'backups'))).toEqual(['a.tar.gz'])
}, 120_000)

test('The child of a server uploads an archive, encrypted, and checks it where it is', async () => {
  using home = createHome()
  using s3 = startS3Server()
  const { recipient } = await newKeyPair()
  const { signal } = new AbortController()
  const url = 's3://bucket/a.tar.gz'
  const settings = { objectStorage: s3.settings, workIn: tmpdir() }
  const plain = createChildren({ ...settings, encryptTo: [] })
  expect(await plain.make(home.dataDir, url, signal)).toMatchObject({ master_key: false })
  expect(await plain.check(url, signal)).toMatchObject({ hasKey: false })
  const elsewhere = createChildren({ ...settings, encryptTo: [], workIn: '/none' })
  await expect(elsewhere.check(url, signal)).rejects.toThrow('/none')
  const sealed = createChildren({ ...settings, encryptTo: [recipient] })
  await sealed.make(home.dataDir, `${url}.age`, signal)
  await expect(sealed.check(`${url}.age`, signal)).rejects.toThrow('the backup is encrypted')
  expect([...s3.objects.keys()]).toEqual(['a.tar.gz', 'a.tar.gz.age'])
}, 120_000)

test.skipIf(!canMount)('A restore reports a mounted key before anything moves', async () => {
  using states = await twoStates()
  const { dataDir, path } = states
  const [mounted, own] = [join(path, 'mounted'), join(path, 'own')]
  copyFileSync(masterKeyFile(dataDir), mounted)
  writeFileSync(own, states.oldKey)
  const command = [...PROGRAM, 'restore', states.file, '--data-dir', dataDir]
  const restoreWith = (secret: string) => {
    const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    const mount = ['unshare', '-m', 'sh', '-c', script, 'sh', secret, masterKeyFile(dataDir)]
    return Bun.spawnSync([...mount, ...command], { env: {}, stdout: 'pipe', stderr: 'pipe' })
  }
  expect(`${restoreWith(mounted).stderr}`).toContain('replace its source with the key')
  expect(tenantsIn(dataDir)).toEqual(['after', 'before'])
  expect(readdirSync(dataDir).filter((name) => name.includes('restore'))).toEqual([])
  expect(restoreWith(own)).toMatchObject({ exitCode: 0 })
  expect(tenantsIn(dataDir)).toEqual(['before'])
})
