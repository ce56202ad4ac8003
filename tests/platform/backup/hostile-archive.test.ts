import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { migrations } from '../../../drizzle/index.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { databaseFile } from '../../../src/db/open.ts'
import { checkArchive, makeBackup } from '../../../src/platform/backup/index.ts'
import { temporaryFolder } from '../../support/folder.ts'
import {
  createHome,
  fingerprint,
  hurried,
  type Piece,
  PROCESS,
  packed,
  piecesOf,
  restore,
  sha256,
} from './fixture.ts'

const as = (name: string, body: string | Uint8Array): Piece => ({
  header: { name },
  body: Buffer.from(body),
})

/** An archive with another manifest, and a database changed by `work` that it describes. */
async function archiveWith(
  home: ReturnType<typeof createHome>,
  change: object,
  work: (client: Database) => void = () => {},
): Promise<Uint8Array> {
  const { file } = await home.backUp(`${crypto.randomUUID()}.tar.gz`)
  const [manifest, database, ...rest] = await piecesOf(file)
  const copy = join(home.path, 'spoiled.db')
  writeFileSync(copy, database?.body ?? '')
  const client = new Database(copy)
  work(client)
  client.close()
  return repacked(manifest, readFileSync(copy), change, rest)
}

function repacked(
  manifest: Piece | undefined,
  body: Uint8Array,
  change: object,
  rest: readonly Piece[],
): Promise<Uint8Array> {
  const described = {
    ...JSON.parse(`${manifest?.body}`),
    database: { bytes: body.length, sha256: sha256(body) },
    ...change,
  }
  return packed([as('manifest.json', JSON.stringify(described)), as('gatehouse.db', body), ...rest])
}

const check = (archive: Uint8Array, workIn: string) =>
  checkArchive({
    open: () => Readable.from([archive]),
    workIn,
    migrations,
    clock: hurried,
    process: PROCESS,
  })

/** What is said of an archive, by the check as by the restore, which touches nothing. */
async function refusalOf(home: ReturnType<typeof createHome>, archive: Uint8Array) {
  using folder = temporaryFolder()
  const refusal = await check(archive, folder.path).catch(String)
  home.db.close()
  const before = fingerprint(home.dataDir)
  expect(await restore(home.dataDir, archive).catch(String)).toBe(`${refusal}`)
  expect(fingerprint(home.dataDir)).toEqual(before)
  return `${refusal}`
}

const ESCAPE = '\u001b]0;pwned\u0007\u009b2J'

describe('nothing in an archive speaks to a terminal', () => {
  test.each([
    ['the version that made it', { app_version: `0.1${ESCAPE}` }],
    ['its installation', { installation: `i${ESCAPE}` }],
    ['a step of its schema', { schema: [{ id: `0000${ESCAPE}`, hash: '0'.repeat(64) }] }],
    ['its master key', { master_key: { id: ESCAPE, sha256: '0'.repeat(64) } }],
  ])('from its manifest: %s', async (_, change) => {
    using home = createHome()

    expect(await refusalOf(home, await archiveWith(home, change))).toContain(
      'the archive is not a Gatehouse backup: its manifest cannot be read',
    )
  })

  test.each([
    ['a later step', 'INSERT INTO _migrations VALUES (?1, ?1, 0, ?1)', 'newer than this'],
    ['a master key', 'UPDATE master_keys SET id = ?1', 'lists an invalid master key id'],
  ])('from its database: %s', async (_, sql, said) => {
    using home = createHome()
    const spoil = (client: Database) => void client.query(sql).run(`9${ESCAPE}`)

    const refusal = await refusalOf(home, await archiveWith(home, {}, spoil))

    expect(refusal).toContain(said)
    expect(refusal).not.toMatch(/\p{Cc}/u)
  })

  test('from its schema', async () => {
    using home = createHome()
    const spoil = (client: Database) => client.run(`CREATE VIEW "x${ESCAPE}" AS SELECT 1`)

    const refusal = await refusalOf(home, await archiveWith(home, {}, spoil))

    expect(refusal).toEndWith('contains something that Gatehouse never creates: view x]0;pwned2J')
  })
})

describe('an archive whose database cannot be served is refused', () => {
  test.each([
    ['a table less', 'DROP TABLE backups', 'lacks the table backups'],
    ['a column less', 'ALTER TABLE backups DROP COLUMN bytes', 'lacks the table backups'],
    ['an index less', 'DROP INDEX backups_by_time', 'lacks the index backups_by_time of backups'],
    [
      'another index under this name',
      'DROP INDEX backups_by_time; CREATE UNIQUE INDEX backups_by_time ON backups (started_at)',
      'its database lacks the index backups_by_time of backups, or has a different one',
    ],
    [
      'a view in the place of a table',
      'DROP TABLE backups; CREATE VIEW backups AS SELECT 1',
      'contains something that Gatehouse never creates: view backups',
    ],
    [
      'a trigger',
      'CREATE TRIGGER t AFTER INSERT ON tenants BEGIN DELETE FROM tenants; END',
      'contains something that Gatehouse never creates: trigger t',
    ],
    [
      'a virtual table',
      'CREATE VIRTUAL TABLE v USING fts5(x)',
      'contains something that Gatehouse never creates: table v',
    ],
    [
      'a ledger of other columns',
      'DROP TABLE _migrations; CREATE TABLE _migrations (x)',
      'cannot be read',
    ],
  ])('%s', async (_, sql, said) => {
    using home = createHome()

    const refusal = await refusalOf(home, await archiveWith(home, {}, (client) => client.run(sql)))

    expect(refusal).toContain('the archive is damaged: its database ')
    expect(refusal).toContain(said)
  })

  test.each(['no database', 'a database that ends in the middle'])('%s', async (kind) => {
    using home = createHome()
    const [manifest, database, ...rest] = await piecesOf((await home.backUp('a.tar.gz')).file)
    const body = database?.body ?? new Uint8Array()
    const spoiled = kind === 'no database' ? Buffer.from('hello') : body.subarray(0, 6000)

    const refusal = await refusalOf(home, await repacked(manifest, spoiled, {}, rest))

    expect(refusal).toEndWith('the archive is damaged: its database cannot be read')
    expect(refusal).not.toContain('gatehouse-work')
  })
})

test('tables of a replicator and of the planner are in nobody’s way', async () => {
  using home = createHome()
  const archive = await archiveWith(home, {}, (client) => {
    client.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)')
    client.run('CREATE TABLE _litestream_lock (id INTEGER)')
    client.run('ANALYZE')
  })

  expect(await check(archive, home.path)).toMatchObject({ app_version: '1.2.3' })
})

test('an archive of every earlier step is sound, and so is one of a database before the first', async () => {
  using folder = temporaryFolder()
  for (let count = -1; count < migrations.length; count++) {
    const dataDir = join(folder.path, `data-${count}`)
    const to = { file: join(folder.path, `${count}.tar.gz`) }
    mkdirSync(dataDir)
    const client = new Database(databaseFile(dataDir))
    const steps = { backupDir: dataDir, appVersion: '1', now: 0 }
    if (count < 0) client.run('PRAGMA user_version = 0')
    else migrate(client, { migrations: migrations.slice(0, count), ...steps })
    client.close()
    await makeBackup({ dataDir, to, withKey: false, clock: hurried, process: PROCESS })

    const { schema } = await check(readFileSync(to.file), folder.path)

    expect(schema).toHaveLength(Math.max(count, 0))
  }
})
