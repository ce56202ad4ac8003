import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { migrations } from '../../../drizzle/index.ts'
import { migrate } from '../../../src/db/migrate.ts'
import { databaseFile } from '../../../src/db/open.ts'
import { checkArchive, makeBackup } from '../../../src/platform/backup/index.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type Piece, packed, piece, piecesOf, sha256 } from './archive.ts'
import { createHome, fingerprint, hurried, PROCESS, restore } from './fixture.ts'

const home = createHome()
afterAll(() => home[Symbol.dispose]())
home.addTenant('needle')
const { file } = await home.backUp('a.tar.gz')
home.db.close()
const before = fingerprint(home.path)
const ARCHIVE = readFileSync(file)
const [MANIFEST, DATABASE, KEY] = (await piecesOf(file)) as [Piece, Piece, Piece]

const manifest = (changes: object): Piece =>
  piece('manifest.json', JSON.stringify({ ...JSON.parse(`${MANIFEST.body}`), ...changes }))

const withManifest = (changes: object): Piece[] => [manifest(changes), DATABASE, KEY]

/** Another database, with a manifest that describes it. */
const withBody = (body: Uint8Array): Piece[] => [
  manifest({ database: { bytes: body.length, sha256: sha256(body) } }),
  piece('gatehouse.db', body),
  KEY,
]

function withSql(sql: string, ...values: string[]): Piece[] {
  using folder = temporaryFolder()
  const copy = join(folder.path, 'copy.db')
  writeFileSync(copy, DATABASE.body)
  const client = new Database(copy)
  if (values.length > 0) client.query(sql).run(...values)
  else client.run(sql)
  client.close()
  return withBody(readFileSync(copy))
}

const withKey = (text: string, isNamed: boolean): Piece[] => {
  const named = { master_key: { id: 'other', sha256: sha256(Buffer.from(text)) } }
  return [isNamed ? manifest(named) : MANIFEST, DATABASE, piece('master.key', text)]
}

/** One byte of an indexed name differs from its index. */
function withDamagedIndex() {
  const body = Buffer.from(DATABASE.body)
  body.write('noodle', body.indexOf('needle'))
  return withBody(body)
}

const flipped = (body: Uint8Array) => {
  const copy = Buffer.from(body)
  copy[copy.length >> 1] = (copy[copy.length >> 1] ?? 0) ^ 1
  return copy
}

const link = { name: 'master.key', type: 'symlink', linkname: '/etc/passwd' } as const
const LINK: Piece = { header: link, body: Buffer.alloc(0) }

const check = (archive: Uint8Array, workIn: string) => {
  const open = () => Readable.from([archive])
  return checkArchive({ open, workIn, migrations, clock: hurried, process: PROCESS })
}

/** The message with which the check refuses an archive. */
const refusalOf = async (archive: Uint8Array) => {
  using folder = temporaryFolder()
  return await check(archive, folder.path).then(() => 'accepted', String)
}

const FOREIGN = `gatehouse-master-key-1:${Buffer.alloc(32, 7).toString('base64')}\n`
const HASH = '0'.repeat(64)
const ESCAPE = '\u001b]0;pwned\u0007\u009b2J'

describe('A damaged or foreign archive is refused, and no file changes', () => {
  const tooMany = withManifest({ schema: Array(10_001).fill({ id: 'x', hash: HASH }) })
  const later = withSql("INSERT INTO _migrations VALUES ('9999_later', 'h', 0, '9.0.0')")
  const orphan = withSql("INSERT INTO usage_days VALUES ('none', '2026-01-01', 'gate', 'live', 0)")
  const trigger = 'CREATE TRIGGER t AFTER INSERT ON tenants BEGIN DELETE FROM tenants; END'
  const ledger = 'DROP TABLE _migrations; CREATE TABLE _migrations (x)'
  const otherIndex =
    'DROP INDEX backups_by_time; CREATE UNIQUE INDEX backups_by_time ON backups (started_at)'
  const huge = { bytes: 2 ** 52, sha256: HASH }
  const cases: [title: string, pieces: Piece[], message: string][] = [
    ['no manifest', [DATABASE, KEY], 'instead of manifest.json'],
    ['a manifest of text', [piece('manifest.json', 'hello'), DATABASE, KEY], 'manifest'],
    ['a later format', withManifest({ format: 2 }), 'format 2'],
    ['a huge manifest', [piece('manifest.json', ' '.repeat(5_000_000))], 'too large'],
    ['another schema', withManifest({ schema: [] }), 'describes a different database'],
    ['too many schema steps', tooMany, 'its manifest cannot be read'],
    ['no database', [MANIFEST], 'gatehouse.db is missing'],
    ['no key', [MANIFEST, DATABASE], 'master.key is missing'],
    ['a flipped bit', [MANIFEST, piece('gatehouse.db', flipped(DATABASE.body)), KEY], 'match'],
    ['another key', withKey(FOREIGN, false), 'does not match'],
    ['another key that is named', withKey(FOREIGN, true), 'which was sealed with'],
    ['an invalid key', withKey('hello', true), 'master key is not valid'],
    ['a database outside', [MANIFEST, piece('../gatehouse.db', 'x'), KEY], '"../gatehouse.db"'],
    ['an absolute path', [piece('/etc/passwd', 'x'), MANIFEST, DATABASE, KEY], '"/etc/passwd"'],
    ['a second database', [MANIFEST, DATABASE, KEY, DATABASE], 'is not part of a backup'],
    ['a link as key', [MANIFEST, DATABASE, LINK], 'instead of master.key'],
    ['a database larger than the disk', withManifest({ database: huge }), 'the database needs'],
    ['a later schema', later, 'migrated by gatehouse 9.0.0, which is newer'],
    ['dangling references', orphan, 'usage_days refers to missing rows of tenants'],
    ['an index without a row', withDamagedIndex(), 'database in the archive is damaged'],
    ['a cut database', withBody(DATABASE.body.subarray(0, 6000)), 'database cannot be read'],
    ['a missing column', withSql('ALTER TABLE backups DROP COLUMN bytes'), 'lacks the table back'],
    ['another index', withSql(otherIndex), 'lacks the index'],
    ['a view as table', withSql('DROP TABLE backups; CREATE VIEW backups AS SELECT 1'), 'view'],
    ['a trigger', withSql(trigger), 'never creates: trigger t'],
    ['a virtual table', withSql('CREATE VIRTUAL TABLE v USING fts5(x)'), 'never creates: table v'],
    ['another migration ledger', withSql(ledger), 'cannot be read'],
  ]
  test.each(cases)('%s', async (_, pieces, message) => {
    const refusal = await refusalOf(await packed(pieces))
    expect(refusal).toContain(message)
    expect(refusal).not.toContain('gatehouse-work')
  })

  test('bytes that are cut anywhere, or are no archive', async () => {
    for (const end of [0, 100, ARCHIVE.length >> 1, ARCHIVE.length - 5])
      expect(await refusalOf(ARCHIVE.subarray(0, end))).toContain('damaged')
    expect(await refusalOf(Buffer.from('hello'))).toContain('damaged')
  })

  test.each([
    ['a cut archive', () => ARCHIVE.subarray(0, -5)],
    ['a path outside', () => packed([MANIFEST, DATABASE, KEY, piece('../escaped', 'x')])],
    ['a trigger', () => packed(withSql(trigger))],
    ['a later schema', () => packed(later)],
  ])('by a restore like by the check: %s', async (_, make) => {
    const archive = await make()
    const refused = await restore(home.dataDir, archive).then(() => 'accepted', String)
    expect(refused).toBe(await refusalOf(archive))
    expect(fingerprint(home.path)).toEqual(before)
  })
})

const badManifest = 'manifest cannot be read'
const laterStep = 'INSERT INTO _migrations VALUES (?1, ?1, 0, ?1)'
test.each([
  ['the version', withManifest({ app_version: `0.1${ESCAPE}` }), badManifest],
  ['a key', withManifest({ master_key: { id: ESCAPE, sha256: HASH } }), badManifest],
  ['a later step', withSql(laterStep, `9${ESCAPE}`), 'newer'],
  ['a sealing key', withSql('UPDATE master_keys SET id = ?1', ESCAPE), 'invalid master key id'],
  ['a view', withSql(`CREATE VIEW "x${ESCAPE}" AS SELECT 1`), 'view x]0;pwned2J'],
])('A refusal prints no control character of %s', async (_, pieces, message) => {
  const refusal = await refusalOf(await packed(pieces))
  expect(refusal).toContain(message)
  expect(refusal).not.toMatch(/\p{Cc}/u)
})

test('An archive of an earlier schema is accepted, and one from before the first', async () => {
  using folder = temporaryFolder()
  for (const count of [-1, 0, 1, migrations.length - 1]) {
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
