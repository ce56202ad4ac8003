import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { chownSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { migrate } from '../../src/db/migrate.ts'
import { openDatabase } from '../../src/db/open.ts'
import { until } from '../support/binary.ts'
import { cli } from '../support/cli.ts'
import { createTestClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/folder.ts'
import { PROGRAM, ROOT, runProgram } from '../support/source.ts'

const ARCHIVE = /gatehouse-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar\.gz/

/** The command line in a folder of its own, in whose data directory there is one tenant. */
async function createHome(env: Record<string, string> = {}) {
  const folder = temporaryFolder()
  const cwd = folder.path
  const gatehouse = cli(cwd, { env })
  /** By a process of its own: one that is still there has the database open, as `cli` leaves it. */
  const apart = (...args: string[]) => runProgram({ cwd, args, env })
  const addTenant = (name: string) => apart('tenant', 'create', '--name', name)
  const tenants = async (): Promise<string[]> =>
    (await gatehouse('tenant', 'list', '--json'))
      .json()
      .tenants.map(({ name }: { name: string }) => name)
  const database = () => new Database(join(cwd, 'data', 'gatehouse.db'))
  await addTenant('before')
  return {
    cwd,
    gatehouse,
    apart,
    addTenant,
    tenants,
    database,
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

describe('backup', () => {
  test('goes to the data directory, says what it made and writes it down', async () => {
    using home = await createHome()

    const { code, json } = await home.gatehouse('backup', '--json')

    expect(code).toBe(0)
    const answer = json()
    expect(answer).toEqual({
      file: expect.stringMatching(ARCHIVE),
      created_at: expect.any(String),
      bytes: statSync(answer.file).size,
      sha256: new Bun.CryptoHasher('sha256')
        .update(await Bun.file(answer.file).bytes())
        .digest('hex'),
      database_bytes: expect.any(Number),
      master_key: false,
      duration_ms: expect.any(Number),
    })
    expect(answer.file).toStartWith(join(home.cwd, 'data', 'backups'))
    using db = home.database()
    expect(db.query('SELECT origin, owner, file, bytes, error FROM backups').all()).toEqual([
      { origin: 'command', owner: null, file: answer.file, bytes: answer.bytes, error: null },
    ])
  }, 30_000)

  test('goes to the configured directory, to one that is named, or into a file', async () => {
    using folder = temporaryFolder()
    const configured = join(folder.path, 'configured')
    using home = await createHome({ GATEHOUSE_BACKUP_DIRECTORY: configured })
    expect(await home.gatehouse('backup')).toMatchObject({
      code: 1,
      err: `directory ${configured} does not exist. Mount or create it first\n`,
    })
    mkdirSync(configured)
    mkdirSync(join(home.cwd, 'elsewhere'))

    await home.gatehouse('backup')
    await home.gatehouse('backup', '--to', 'elsewhere')
    const { out } = await home.gatehouse('backup', '--to', 'one.tar.gz')

    expect(readdirSync(configured)).toEqual([expect.stringMatching(ARCHIVE)])
    expect(readdirSync(join(home.cwd, 'elsewhere'))).toEqual([expect.stringMatching(ARCHIVE)])
    expect(out).toStartWith(`${join(home.cwd, 'one.tar.gz')}\n`)
  }, 30_000)

  test('says what is in the way', async () => {
    using home = await createHome()
    using empty = temporaryFolder()
    writeFileSync(join(home.cwd, 'taken'), '')

    const said = async (...argv: string[]) => (await home.gatehouse('backup', ...argv)).err
    expect(await said('--to', 'taken')).toBe(
      `${join(home.cwd, 'taken')} already exists and is not overwritten\n`,
    )
    expect(await said('--to', 'none/a.tar.gz')).toContain('does not exist. Mount')
    expect(await said('--to', '-', '--json')).toContain('both use standard output')
    expect(await said('--data-dir', empty.path)).toContain('no data in')
    const atTerminal = cli(home.cwd, { isOutTerminal: true, isInTerminal: true })
    expect(await atTerminal('backup', '--to', '-')).toMatchObject({
      code: 2,
      err: expect.stringContaining('does not write to a terminal'),
    })
    expect(await atTerminal('backup', 'check', '-')).toMatchObject({
      code: 2,
      err: expect.stringContaining('but that is a terminal'),
    })
    expect(readdirSync(empty.path)).toEqual([])
  })

  test('takes a database whose schema is older, which cannot note it', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    const dataDir = join(folder.path, 'data')
    const db = openDatabase({ dataDir, synchronous: 'normal' })
    const before = migrations.filter(({ id }) => id < '0004_operations')
    migrate(db.client, { migrations: before, backupDir: '', appVersion: 'test', now: 0 })
    db.close()

    const { code, json } = await gatehouse('backup', '--to', 'old.tar.gz', '--json')

    expect(code).toBe(0)
    expect((await gatehouse('backup', 'check', json().file)).code).toBe(0)
  })
})

test('backup check tells what an archive is, or what is wrong with it', async () => {
  using home = await createHome()
  const { json } = await home.gatehouse('backup', '--to', 'a.tar.gz', '--json')
  const { created_at, database_bytes, bytes } = json()
  writeFileSync(
    join(home.cwd, 'cut.tar.gz'),
    (await Bun.file(join(home.cwd, 'a.tar.gz')).bytes()).subarray(0, bytes >> 1),
  )

  const checked = (await home.gatehouse('backup', 'check', 'a.tar.gz', '--json')).json()
  expect(checked).toMatchObject({ ok: true, created_at, database_bytes, master_key: false })
  const cut = await home.gatehouse('backup', 'check', 'cut.tar.gz')
  expect(cut).toMatchObject({ code: 1, err: expect.stringContaining('is incomplete') })
  expect((await home.gatehouse('backup', 'check', 'none')).err).toContain('no such file')
})

describe('restore', () => {
  test('brings back what was backed up and says what was there before and what is due', async () => {
    using home = await createHome()
    const made = (await home.apart('backup', '--to', 'a.tar.gz', '--json')).json()
    await home.addTenant('after')

    const { code, json } = await home.apart('restore', 'a.tar.gz', '--json')

    expect(code).toBe(0)
    expect(json()).toEqual({
      data_dir: join(home.cwd, 'data'),
      created_at: made.created_at,
      app_version: expect.any(String),
      installation: null,
      previous: expect.stringMatching(/data\/before-restore-[\dTZ-]+$/),
      overdue: { runs: 0, deliveries: 0, mails: 0 },
    })
    expect(await home.tenants()).toEqual(['before'])
  }, 30_000)

  test('says for people what goes out at the next start, and how to hold it', async () => {
    using home = await createHome()
    {
      using db = home.database()
      const { id } = db.query<{ id: string }, []>('SELECT id FROM tenants').get() ?? { id: '' }
      db.query(
        `INSERT INTO runs (tenant_id, job_kind, job_id, trigger, slot_at, due_at, attempt, state, host)
         VALUES (?, 'delayed', 'j', 'manual', 0, 0, 1, 'ready', 'h')`,
      ).run(id)
    }
    await home.apart('backup', '--to', 'a.tar.gz')

    const { out } = await home.apart('restore', 'a.tar.gz')

    expect(out).toContain('Overdue: clockwork runs: 1, deliveries: 0, mails: 0.')
    expect(out).toContain('`serve --paused` holds them')
  })

  test('is refused while a server runs, and says which; a file that is none to restore is told before that', async () => {
    using home = await createHome()
    await home.apart('backup', '--to', 'a.tar.gz')
    {
      using db = home.database()
      const since = createTestClock('2026-11-22T05:12:38Z').now()
      db.query("INSERT INTO instances VALUES ('i', 'other', 7, '1.0', ?, ?, 0)").run(
        since,
        Date.now(),
      )
    }

    const { code, err } = await home.apart('restore', 'a.tar.gz')

    expect(code).toBe(1)
    expect(err).toStartWith(
      `gatehouse 1.0 is running on ${join(home.cwd, 'data')}: process 7 on other, ` +
        'since 2026-11-22T05:12:38.000Z. Stop it first. If it has crashed, try again after ',
    )

    for (const [file, reason] of [
      ['none.tar.gz', ': no such file'],
      ['data', ' is a directory'],
      ['data/gatehouse.db', ' is not a backup'],
    ] as const)
      expect(await home.gatehouse('restore', file)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`${join(home.cwd, file)}${reason}`),
      })
  }, 30_000)

  test('that was cut short lets no command make a fresh database', async () => {
    using home = await createHome()
    await home.apart('backup', '--to', 'a.tar.gz')
    const marker = join(home.cwd, 'data', 'restore.unfinished')
    const by = { host: 'there', pid: 1, at: 0 }
    writeFileSync(
      marker,
      JSON.stringify({ previous: 'before-restore-2026-01-01T00-00-00Z', files: [], by }),
    )

    for (const argv of [['tenant', 'list'], ['backup'], ['tenant', 'create', '--name', 'B']])
      expect(await home.gatehouse(...argv)).toMatchObject({
        code: 1,
        err: expect.stringContaining('run `restore` again with the same file'),
      })
    expect((await home.gatehouse('doctor')).out).toContain('was interrupted')
    expect(await home.apart('restore', 'a.tar.gz')).toMatchObject({ code: 0, err: '' })
    expect(await home.tenants()).toEqual(['before'])
  })
})

test('an archive goes from one data directory to another through a pipe', async () => {
  using home = await createHome()
  const cwd = ROOT
  const from = Bun.spawn(
    [...PROGRAM, 'backup', '--to', '-', '--data-dir', join(home.cwd, 'data')],
    { cwd, env: {}, stdout: 'pipe' },
  )
  const to = Bun.spawn([...PROGRAM, 'restore', '-', '--data-dir', join(home.cwd, 'copy')], {
    cwd,
    env: {},
    stdin: from.stdout,
    stdout: 'pipe',
  })

  expect(await Promise.all([from.exited, to.exited])).toEqual([0, 0])
  const list = await home.gatehouse('tenant', 'list', '--data-dir', join(home.cwd, 'copy'))
  expect(list.out).toContain('before')
})

describe('a command that somebody ends leaves nothing of its work behind', () => {
  const works = (folder: string) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('.gatehouse')) : []

  /** Begins one that waits for its other end, and ends it once it is at work in `folder`. */
  async function ended(argv: string[], folder: string, signal: NodeJS.Signals) {
    const child = Bun.spawn([...PROGRAM, ...argv], {
      cwd: ROOT,
      env: { TMPDIR: folder },
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    await until(() => works(folder).length > 0)
    child.kill(signal)
    return await child.exited
  }

  test('backup', async () => {
    using home = await createHome()
    {
      using db = home.database()
      db.run('CREATE TABLE large (x); INSERT INTO large VALUES (randomblob(4000000))')
    }
    const dataDir = join(home.cwd, 'data')
    const folder = join(dataDir, 'backups')

    const code = await ended(['backup', '--to', '-', '--data-dir', dataDir], folder, 'SIGINT')

    expect({ code, works: works(folder) }).toEqual({ code: 130, works: [] })
  })

  test('backup check', async () => {
    using folder = temporaryFolder()

    const code = await ended(['backup', 'check', '-'], folder.path, 'SIGHUP')

    expect({ code, works: works(folder.path) }).toEqual({ code: 129, works: [] })
  })

  test('restore, and no directory that is new', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'new')

    const code = await ended(['restore', '-', '--data-dir', dataDir], dataDir, 'SIGTERM')

    expect({ code, left: readdirSync(folder.path) }).toEqual({ code: 143, left: [] })
  })
})

test.skipIf(process.getuid?.() !== 0)(
  'root makes a backup for the owner of the directory that backups go to, and of no other',
  async () => {
    using folder = temporaryFolder()
    const configured = join(folder.path, 'configured')
    mkdirSync(configured)
    using home = await createHome()
    const data = join(home.cwd, 'data')
    for (const path of [data, configured, home.cwd]) chownSync(path, 1234, 1234)
    const owner = async (...argv: string[]) => {
      const { json } = await home.gatehouse('backup', ...argv, '--json')
      return statSync(json().file).uid
    }

    expect(await owner()).toBe(1234)
    expect(statSync(join(data, 'backups')).uid).toBe(1234)
    expect(await owner('--backup-directory', configured)).toBe(1234)
    expect(await owner('--to', 'a.tar.gz')).toBe(0)
  },
)
