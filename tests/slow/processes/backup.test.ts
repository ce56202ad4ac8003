import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { openDatabase } from '../../../src/db/open.ts'
import { until } from '../../support/binary.ts'
import { cli } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { PROGRAM, runProgram } from '../../support/source.ts'

const ARCHIVE = /gatehouse-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar\.gz/

/** A data directory with one tenant; `run` leaves no database open, unlike `gatehouse`. */
async function newHome(env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  const cwd = folder.path
  const gatehouse = cli(cwd, { env })
  const run = (...args: string[]) => runProgram({ cwd, args, env })
  await run('tenant', 'create', '--name', 'before')
  return {
    cwd,
    dataDir: join(cwd, 'data'),
    file: (name: string) => join(cwd, name),
    gatehouse,
    run,
    tenants: async (): Promise<string[]> => {
      const { tenants } = (await gatehouse('tenant', 'list', '--json')).json()
      return tenants.map(({ name }: { name: string }) => name)
    },
    database: () => new Database(join(cwd, 'data', 'gatehouse.db')),
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

describe('backup', () => {
  test('goes to the data directory, reports what it made and records it', async () => {
    using home = await newHome()
    const { code, json } = await home.gatehouse('backup', '--json')
    expect(code).toBe(0)
    const { file, bytes } = json()
    const content = await Bun.file(file).bytes()
    expect(file).toStartWith(join(home.dataDir, 'backups'))
    expect(json()).toEqual({
      file: expect.stringMatching(ARCHIVE),
      created_at: expect.any(String),
      bytes: content.length,
      sha256: new Bun.CryptoHasher('sha256').update(content).digest('hex'),
      database_bytes: expect.any(Number),
      master_key: false,
      duration_ms: expect.any(Number),
    })
    using db = home.database()
    expect(db.query('SELECT origin, owner, file, bytes, error FROM backups').all()).toEqual([
      { origin: 'command', owner: null, file, bytes, error: null },
    ])
  })

  test('goes to the configured directory, to a named one, or into a file', async () => {
    using folder = temporaryFolder()
    const configured = join(folder.path, 'configured')
    using home = await newHome({ GATEHOUSE_BACKUP_DIRECTORY: configured })
    const err = `directory ${configured} does not exist. Mount or create it first\n`
    expect(await home.gatehouse('backup')).toMatchObject({ code: 1, err })
    for (const path of [configured, home.file('elsewhere')]) mkdirSync(path)

    await home.gatehouse('backup')
    await home.gatehouse('backup', '--to', 'elsewhere')
    const { out } = await home.gatehouse('backup', '--to', 'one.tar.gz')
    for (const path of [configured, home.file('elsewhere')])
      expect(readdirSync(path)).toEqual([expect.stringMatching(ARCHIVE)])
    expect(out).toStartWith(`${home.file('one.tar.gz')}\n`)
  })

  test('is refused where there is no data, no place, a file or a terminal', async () => {
    using home = await newHome()
    using empty = temporaryFolder()
    writeFileSync(home.file('taken'), '')
    const terminal = { isOutTerminal: true, isInTerminal: true }
    for (const [argv, code, words, outside] of [
      ['--to taken', 1, `${home.file('taken')} already exists and is not overwritten\n`],
      ['--to none/a.tar.gz', 1, 'does not exist. Mount'],
      ['--to - --json', 2, 'both use standard output'],
      [`--data-dir ${empty.path}`, 1, 'no data in'],
      ['--to -', 2, 'does not write to a terminal', terminal],
      ['check -', 2, 'but that is a terminal', terminal],
    ] as const) {
      const answer = await cli(home.cwd, outside)('backup', ...argv.split(' '))
      expect([argv, answer.code, answer.err]).toEqual([argv, code, expect.stringContaining(words)])
    }
    expect(readdirSync(empty.path)).toEqual([])
  })

  test('works with an older schema, which cannot record it', async () => {
    using folder = temporaryFolder()
    const db = openDatabase({ dataDir: join(folder.path, 'data'), synchronous: 'normal' })
    const before = migrations.filter(({ id }) => id < '0004_operations')
    migrate(db.client, { migrations: before, backupDir: '', appVersion: 'test', now: 0 })
    db.close()
    const gatehouse = cli(folder.path)
    expect((await gatehouse('backup', '--to', 'old.tar.gz')).code).toBe(0)
    expect((await gatehouse('backup', 'check', 'old.tar.gz')).code).toBe(0)
  })

  test('check tells what an archive is, or what is wrong with it', async () => {
    using home = await newHome()
    const made = (await home.gatehouse('backup', '--to', 'a.tar.gz', '--json')).json()
    const content = await Bun.file(home.file('a.tar.gz')).bytes()
    writeFileSync(home.file('cut.tar.gz'), content.subarray(0, made.bytes >> 1))
    const { created_at, database_bytes } = made
    const checked = (await home.gatehouse('backup', 'check', 'a.tar.gz', '--json')).json()
    expect(checked).toMatchObject({ ok: true, created_at, database_bytes, master_key: false })
    for (const [name, words] of [
      ['cut.tar.gz', 'is incomplete'],
      ['none', 'no such file'],
    ] as const) {
      const { code, err } = await home.gatehouse('backup', 'check', name)
      expect([code, err]).toEqual([1, expect.stringContaining(words)])
    }
  })

  test.skipIf(process.getuid?.() !== 0)(
    'by root belongs to the owner of its directory',
    async () => {
      using home = await newHome()
      const configured = home.file('configured')
      mkdirSync(configured)
      for (const path of [home.dataDir, configured, home.cwd]) chownSync(path, 1234, 1234)
      const owner = async (...argv: string[]) =>
        statSync((await home.gatehouse('backup', ...argv, '--json')).json().file).uid
      expect(await owner()).toBe(1234)
      expect(statSync(join(home.dataDir, 'backups')).uid).toBe(1234)
      expect(await owner('--backup-directory', configured)).toBe(1234)
      expect(await owner('--to', 'a.tar.gz')).toBe(0)
    },
  )
})

describe('restore', () => {
  test('brings the backup back, and says what it moved away and what is overdue', async () => {
    using home = await newHome()
    {
      using db = home.database()
      db.run(
        `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, due_at, attempt, state, host)
         SELECT id, 'delayed', 'j', 'manual', 0, 0, 1, 'ready', 'h' FROM tenants`,
      )
    }
    const made = (await home.run('backup', '--to', 'a.tar.gz', '--json')).json()
    await home.run('tenant', 'create', '--name', 'after')

    const { code, json } = await home.run('restore', 'a.tar.gz', '--json')
    expect([code, json()]).toEqual([
      0,
      {
        data_dir: home.dataDir,
        created_at: made.created_at,
        app_version: expect.any(String),
        installation: null,
        previous: expect.stringMatching(/data\/before-restore-[\dTZ-]+$/),
        overdue: { runs: 1, deliveries: 0, mails: 0 },
      },
    ])
    expect(await home.tenants()).toEqual(['before'])

    const { out } = await home.run('restore', 'a.tar.gz', '--data-dir', 'copy')
    expect(out).toContain('Overdue: clockwork runs: 1, deliveries: 0, mails: 0.')
    expect(out).toContain('`serve --paused` holds them')
  })

  test('is refused for files that are no backup, and while a server runs', async () => {
    using home = await newHome()
    await home.run('backup', '--to', 'a.tar.gz')
    {
      using db = home.database()
      const since = Date.parse('2026-11-22T05:12:38Z')
      const server = "INSERT INTO instances VALUES ('i', 'other', 7, '1.0', ?, ?, 0)"
      db.query(server).run(since, Date.now())
    }
    const { code, err } = await home.run('restore', 'a.tar.gz')
    expect(code).toBe(1)
    expect(err).toStartWith(
      `gatehouse 1.0 is running on ${home.dataDir}: process 7 on other, ` +
        'since 2026-11-22T05:12:38.000Z. Stop it first. If it has crashed, try again after ',
    )
    for (const [file, reason] of [
      ['none.tar.gz', ': no such file'],
      ['data', ' is a directory'],
      ['data/gatehouse.db', ' is not a backup'],
    ] as const) {
      const answer = await home.gatehouse('restore', file)
      const words = `${home.file(file)}${reason}`
      expect([answer.code, answer.err]).toEqual([1, expect.stringContaining(words)])
    }
  })

  test('that was interrupted is repeated before any other command', async () => {
    using home = await newHome()
    await home.run('backup', '--to', 'a.tar.gz')
    const by = { host: 'there', pid: 1, at: 0 }
    const marker = { previous: 'before-restore-2026-01-01T00-00-00Z', files: [], by }
    writeFileSync(join(home.dataDir, 'restore.unfinished'), JSON.stringify(marker))
    for (const argv of [['tenant', 'list'], ['backup'], ['tenant', 'create', '--name', 'B']]) {
      const { code, err } = await home.gatehouse(...argv)
      const words = 'run `restore` again with the same file'
      expect([code, err]).toEqual([1, expect.stringContaining(words)])
    }
    expect((await home.gatehouse('doctor')).out).toContain('was interrupted')
    expect(await home.run('restore', 'a.tar.gz')).toMatchObject({ code: 0, err: '' })
    expect(await home.tenants()).toEqual(['before'])
  })
})

test('an archive goes from one data directory to another through a pipe', async () => {
  using home = await newHome()
  const script = '"$@" backup --to - | "$@" restore - --data-dir copy'
  const shell = ['bash', '-c', `set -o pipefail; ${script}`, 'bash', ...PROGRAM]
  expect(await Bun.spawn(shell, { cwd: home.cwd, stdout: 'ignore' }).exited).toBe(0)
  expect((await home.gatehouse('tenant', 'list', '--data-dir', 'copy')).out).toContain('before')
})

describe('a signal leaves nothing behind of', () => {
  const workIn = (folder: string) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('.gatehouse')) : []

  /** Starts a command that waits for its other end, and ends it while it works in `folder`. */
  async function ended(argv: string[], folder: string, signal: NodeJS.Signals) {
    const child = Bun.spawn([...PROGRAM, ...argv], {
      cwd: tmpdir(),
      env: { TMPDIR: folder },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    await until(() => workIn(folder).length > 0)
    child.kill(signal)
    return await child.exited
  }

  test('backup', async () => {
    using home = await newHome()
    {
      using db = home.database()
      db.run('CREATE TABLE large (x); INSERT INTO large VALUES (randomblob(4000000))')
    }
    const folder = join(home.dataDir, 'backups')
    mkdirSync(folder)
    const argv = ['backup', '--to', '-', '--data-dir', home.dataDir]
    expect(await ended(argv, folder, 'SIGINT')).toBe(130)
    expect(workIn(folder)).toEqual([])
  })

  test('backup check', async () => {
    using folder = temporaryFolder()
    expect(await ended(['backup', 'check', '-'], folder.path, 'SIGHUP')).toBe(129)
    expect(workIn(folder.path)).toEqual([])
  })

  test('restore, not even a new directory', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'new')
    expect(await ended(['restore', '-', '--data-dir', dataDir], dataDir, 'SIGTERM')).toBe(143)
    expect(readdirSync(folder.path)).toEqual([])
  })
})
