import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { StorageError } from '../../../src/db/errors.ts'
import { openWorkFolder } from '../../../src/platform/backup/work-folder.ts'
import { openScratch } from '../../../src/platform/portable/scratch.ts'
import { thisProcess } from '../../../src/platform/process.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'
import {
  dyingIn,
  exportAcme,
  exportOf,
  fileOf,
  idNumber,
  importInto,
  type Line,
  OTHER,
  ofKind,
  rowsIn,
  withPeople,
} from './fixture.ts'

const acme = await exportAcme()
const { lines } = acme
const TEXT = fileOf(lines)
const indexOf = (kind: string) => lines.findIndex((line) => line.kind === kind)

/** The file with a change of the first line of a kind. */
const changed = (kind: string, changes: object): string =>
  fileOf(lines.with(indexOf(kind), { ...lines[indexOf(kind)], ...changes }))

const withLine = (at: number, line: Line): string => fileOf(lines.toSpliced(at, 0, line))
const without = (at: number): string => fileOf(lines.toSpliced(at, 1))

const tenantsOf = ({ platform }: TestApp) => platform.tenants.list().map(({ id }) => id)

describe('A file that is not a whole export is refused, and nothing is stored', () => {
  let home: TestApp
  beforeAll(async () => {
    home = await bootTestApp()
  })
  afterAll(() => home.stop())

  const HEADER = TEXT.split('\n')[0]
  const MAX_LINE = 4_194_304
  /** The second line has this many bytes, its end included. */
  const lineOf = (bytes: number) => `${HEADER}\n{"kind":"${'x'.repeat(bytes - 12)}"}\n`
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const EDITED = 'the file has changed since the export'
  const A_TIME = 'must be a time'

  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'the file is empty'],
    ['no JSON', 'hello\n', 'line 1: must be JSON in UTF-8'],
    ['other JSON', '{"a":1}\n', 'line 1: the file is not a tenant export'],
    ['no object', `${HEADER}\n[1]\n`, 'line 2: must be a JSON object'],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d, 10), 'line 1: must be JSON in UTF-8'],
    ['endless nesting', `${'['.repeat(1_000_000)}\n`, 'line 1: must be JSON in UTF-8'],
    ['a cut line', TEXT.slice(0, -40), 'line 15: the file ends in the middle of this line'],
    ['a cut end', TEXT.replace(/\n[^\n]+\n$/, '\n'), 'the file is incomplete'],
    ['a missing line', TEXT.split('\n').toSpliced(9, 1).join('\n'), EDITED],
    ['an edited line', TEXT.replaceAll('ada@', 'adb@'), EDITED],
    ['more lines', `${TEXT}{}\n`, 'line 15: the file has more lines after its last line'],
    ['a line of over 4 MB', lineOf(MAX_LINE + 1), `line 2: must have at most ${MAX_LINE} bytes`],
    ['a kind of 4 MB', lineOf(MAX_LINE), 'is not a known kind'],
    ['a later format', changed('gatehouse.export', { format: 2 }), 'line 1: the file has format 2'],
    ['a later schema', changed('gatehouse.export', { schema: '9999_x' }), 'which is newer'],
    ['a header with more', changed('gatehouse.export', { evil: 1 }), 'line 1: header.evil: '],
    [
      'an impossible key prefix',
      changed('gatehouse.export', { key_prefix: '\u001b[2Ksvc' }),
      'line 1: header.key_prefix: ',
    ],
    [
      'an unknown kind',
      changed('cron_job', { kind: 'session' }),
      'line 10: session: is not a known',
    ],
    [
      'a kind that is no text',
      changed('cron_job', { kind: { toString: 1 } }),
      'kind: must be a string',
    ],
    [
      'an unknown field',
      changed('identity', { is_admin: true }),
      'line 3: identity.is_admin: is not',
    ],
    [
      'a field of the prototype',
      TEXT.replace('"kind":"identity"', '"kind":"identity","__proto__":{}'),
      'line 3: identity.__proto__: is not a known field',
    ],
    ['a wrong type', changed('identity', { id: 5 }), 'line 3: identity.id: must be a string'],
    ['a null', changed('cron_job', { url: null }), 'cron_job.url: must be a string'],
    [
      'another word',
      changed('identity', { state: 'gone' }),
      'identity.state: must be one of active',
    ],
    ['no date', changed('identity', { created_at: '2026-02-30T00:00:00.000Z' }), A_TIME],
    ['1969', changed('identity', { created_at: '1969-12-31T23:59:59.999Z' }), A_TIME],
    ['the year 10000', changed('identity', { updated_at: '+010000-01-01T00:00:00.000Z' }), A_TIME],
    [
      'a late time in a secret',
      changed('endpoint', { secrets: [{ secret, expiresAt: 1e15 }] }),
      'line 9: endpoint.secrets.0.expiresAt: ',
    ],
    ['a blank name', changed('tenant', { name: ' ' }), 'line 2: tenant.name: must have at least'],
    ['a long name', changed('tenant', { name: 'x'.repeat(201) }), 'line 2: tenant.name: must have'],
    [
      'a hostile name',
      changed('tenant', { name: 'A\u001b[2K' }),
      'line 2: tenant.name: must be one',
    ],
    ['a padded name', changed('tenant', { name: ' Acme' }), 'line 2: tenant.name: must not start'],
    ['half a character', changed('identity', { schema_id: '\ud800' }), 'must be valid Unicode'],
    ['no address', changed('identity', { traits: {} }), 'identity.traits.email: is required'],
    [
      'an address that is not normalized',
      changed('identity', { traits: { email: 'ADA@example.com' } }),
      'line 3: identity.traits.email: must be in the normalized form',
    ],
    ['no schedule', changed('cron_job', { schedule: 'daily' }), 'line 10: cron_job.schedule: must'],
    ['no HTTP URL', changed('cron_job', { url: 'file:///etc/passwd' }), 'cron_job.url: must be an'],
    [
      'a bad header',
      changed('cron_job', { headers: { 'a b': 'c' } }),
      'cron_job.headers: must have',
    ],
    [
      'a header that is no text',
      changed('cron_job', { headers: { a: 1 } }),
      'cron_job.headers.a: ',
    ],
    ['an ended job', changed('delayed_job', { status: 'success' }), 'delayed_job.status: must be'],
    [
      'a key without its environment',
      changed('api_key', { engine: 'gate', environment: null }),
      'line 12: api_key.environment: must be set for gate keys',
    ],
    [
      'another tenant’s row',
      changed('identity', { tenant_id: OTHER }),
      'line 3: identity: belongs to',
    ],
    ['another tenant', changed('tenant', { id: OTHER }), 'line 2: tenant: belongs to a different'],
    [
      'an address twice',
      changed('identity', { traits: { email: 'bob@example.com' } }),
      'line 4: identity.email: is already used by another identity',
    ],
    [
      'an orphan',
      changed('address', { identity_id: idNumber(1) }),
      'line 6: address: refers to a row',
    ],
    ['a line twice', withLine(3, lines[2]), 'line 4: identity: is in the file twice'],
    ['a key early', withLine(2, lines.at(-2)), 'line 4: identity: must come before api_key'],
    ['no tenant', without(1), 'line 2: identity: must come after the tenant'],
    ['two tenants', withLine(1, lines[1]), 'line 3: tenant: must have at most 1 row'],
    ['a header alone', fileOf([lines[0], lines.at(-1)]), 'line 2: the file has no tenant'],
  ])('%s', async (_, text, message) => {
    await expect(importInto(home, text)).rejects.toThrow(message)
    expect([tenantsOf(home), rowsIn(home, 'imports')]).toEqual([[], []])
  })

  test('more endpoints of a stream than a tenant may have', async () => {
    const at = indexOf('endpoint')
    const many = Array.from({ length: 1001 }, (_, n) => ({ ...lines[at], id: idNumber(n) }))
    const refused = importInto(home, fileOf(lines.toSpliced(at, 1, ...many)))
    await expect(refused).rejects.toThrow('line 1009: endpoint: must have at most 1000 rows')
  })

  test('a document that is nested too deeply', async () => {
    const deep = `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`
    const [{ id, tenant_id, created_at, updated_at }] = ofKind(lines, 'identity')
    const subject = { provider: 'google', subject: '1', tokens: 'here' }
    const row = { tenant_id, identity_id: id, created_at, updated_at }
    const text = withLine(indexOf('endpoint'), { kind: 'social_link', ...subject, ...row })
    const refused = importInto(home, text.replace('"here"', deep))
    await expect(refused).rejects.toThrow('social_link.tokens: is nested too deeply')
  })

  test.each([
    ['kind', { kind: '\u001b[2J\u202ekind\n' }],
    ['field', { '\u001b]0;title\u0007': 1 }],
    ['key of a document', { headers: { '\u009b2J': 1 } }],
  ])('and the message prints no control character of a %s', async (_, changes) => {
    const { message } = await importInto(home, changed('cron_job', changes)).catch((it) => it)
    expect(message).toStartWith('line ')
    expect(message).not.toMatch(/[\p{Cc}\u202e]/u)
  })

  test('and so is a file for which the disk has no room', async () => {
    using folder = temporaryFolder()
    const openFull = () => {
      const scratch = openScratch({ dataDir: folder.path, migrations, now: 0 })
      scratch.client.run('PRAGMA max_page_count = 1')
      return scratch
    }
    const file = fileOf(withPeople(lines, 2000))
    const error = await importInto(home, file, { openScratch: openFull }).catch((it) => it)
    expect(error).toBeInstanceOf(StorageError)
    expect(error.message).toBe('the disk is full')
    expect(tenantsOf(home)).toEqual([])
  })
})

test('A tenant or an id that exists already is refused', async () => {
  await using home = await bootTestApp()
  await importInto(home, TEXT)
  const own = await home.tenant('Own')
  for (const file of [TEXT, fileOf(exportOf(home, own.id))])
    await expect(importInto(home, file)).rejects.toThrow('already exists')

  const before = exportOf(home, acme.id).slice(1, -1)
  const others = JSON.parse(JSON.stringify(lines).replaceAll(acme.id, OTHER)) as Line[]
  for (const kind of ['api_key', 'identity', 'cron_job']) {
    const [taken] = ofKind(lines, kind)
    const only = others.filter(
      (line) => ['gatehouse.export', 'tenant', 'end'].includes(line.kind) || line.id === taken.id,
    )
    const message = `line 3: ${kind}.id: is already used by another ${kind}`
    await expect(importInto(home, fileOf(only))).rejects.toThrow(message)
  }
  expect(exportOf(home, acme.id).slice(1, -1)).toEqual(before)
  expect(tenantsOf(home).toSorted()).toEqual([acme.id, own.id].toSorted())
})

test('Months of usage and a suspension are imported', async () => {
  await using old = await bootTestApp()
  await using home = await bootTestApp()
  const { id } = await old.tenant('Metered')
  const counted = [id, '2026-02', 1200, 200, 35, 80, 50, 3, 10]
  old.db.client.run('insert into usage_months values (?, ?, ?, ?, ?, ?, ?, ?, ?)', counted)
  await old.platform.tenants.suspend({ kind: 'cli' }, id, 'renewal')
  await importInto(home, fileOf(exportOf(old, id)))
  expect(home.db.client.query('select * from usage_months').values()).toEqual([counted])
  expect(home.platform.tenants.find(id).status).toBe('renewal_unpaid')
})

describe('An interrupted import', () => {
  const whole = fileOf(withPeople(lines, 600))

  async function interrupted(atCommit: number, file = whole) {
    const home = await bootTestApp()
    const imported = importInto(home, file, { db: dyingIn(atCommit, home) })
    await expect(imported).rejects.toThrow('killed')
    return home
  }

  test.each([2, 3])('is completed by the same file, from commit %p', async (atCommit) => {
    await using home = await interrupted(atCommit)
    expect(home.platform.tenants.find(acme.id).status).toBe('suspended')
    const api = home.client(acme.secret)
    expect(await api.get('/v1/clockwork/jobs')).toMatchObject({ status: 401 })

    const { alreadyThere } = await importInto(home, whole)

    expect(alreadyThere).toBe((atCommit - 1) * 500)
    expect(home.platform.tenants.find(acme.id).status).toBe('active')
    expect(await api.get('/v1/clockwork/jobs')).toMatchObject({ status: 200 })
    await using fresh = await bootTestApp()
    await importInto(fresh, whole)
    expect(exportOf(home, acme.id).slice(1, -1)).toEqual(exportOf(fresh, acme.id).slice(1, -1))
    expect(rowsIn(home, 'job_counts')).toEqual(rowsIn(fresh, 'job_counts'))
  })

  test('accepts no other file and no change of the tenant', async () => {
    await using home = await interrupted(2)
    await expect(importInto(home, TEXT)).rejects.toThrow(
      /was interrupted. To complete it, import the same file again \(SHA-256 [0-9a-f]{64}\)/,
    )
    const { resume, suspend, change } = home.platform.tenants
    const message = 'the import of this tenant was interrupted'
    await expect(resume({ kind: 'cli' }, acme.id)).rejects.toThrow(message)
    await expect(suspend({ kind: 'cli' }, acme.id, 'billing')).rejects.toThrow(message)
    await expect(change({ kind: 'cli' }, acme.id, { name: 'Ours' })).rejects.toThrow(message)
  })

  test('has no jobs while anything but keys is missing', async () => {
    const [endpoint] = ofKind(lines, 'endpoint')
    const more = Array.from({ length: 600 }, (_, n) => ({ ...endpoint, id: idNumber(n) }))
    const file = fileOf(lines.toSpliced(lines.indexOf(endpoint), 0, ...more))
    await using home = await interrupted(2, file)
    for (const table of ['cron_jobs', 'delayed_jobs', 'runs'])
      expect(rowsIn(home, table)).toEqual([])
    await importInto(home, file)
    expect(rowsIn(home, 'runs')).toMatchObject([{ state: 'waiting' }])
  })

  test('in its first commit leaves nothing', async () => {
    await using home = await interrupted(1)
    expect(tenantsOf(home)).toEqual([])
    expect(await importInto(home, whole)).toMatchObject({ alreadyThere: 0 })
  })
})

describe('Of a file that changes after its check, only checked lines are stored', () => {
  /** Imports a file that is exchanged as soon as it has been checked. */
  async function importSwapped(home: TestApp, before: Line[], after: Line[]) {
    using folder = temporaryFolder()
    const file = join(folder.path, 'acme.ndjson')
    writeFileSync(file, fileOf(before))
    const swapping = () => {
      const scratch = openScratch({ dataDir: folder.path, migrations, now: 0 })
      const close = () => {
        scratch.close()
        writeFileSync(file, fileOf(after))
      }
      return { ...scratch, close }
    }
    await importInto(home, '', { file, openScratch: swapping })
  }
  const CHANGED = 'the file changed during the import'

  test('so that no credential for another tenant comes in, and no scope in the last line', async () => {
    await using home = await bootTestApp()
    const victims = await home.tenant('Victims')
    const api = home.client((await victims.key('gate', 'live')).key)
    const traits = { email: 'victim@example.com' }
    const { body: victim } = await api.post('/v1/gate/identities', { schema_id: 'user', traits })
    const time = '2026-03-01T12:00:00.000Z'
    const foreign = {
      kind: 'credential',
      tenant_id: acme.id,
      identity_id: victim.id,
      type: 'password',
      config: { hashed_password: await Bun.password.hash('known to the attacker') },
      version: 0,
      created_at: time,
      updated_at: time,
    }
    const evil = lines.toSpliced(indexOf('endpoint'), 0, foreign)
    await expect(importInto(home, fileOf(evil))).rejects.toThrow('credential: refers to a row')
    await expect(importSwapped(home, lines, evil)).rejects.toThrow(CHANGED)
    expect(rowsIn(home, 'gate_credentials')).toEqual([])

    const last = { ...lines.at(-2), scopes: ['relay:anything'] }
    await expect(importSwapped(home, lines, lines.with(-2, last))).rejects.toThrow(CHANGED)
    const keys = home.platform.keys.list(acme.id)
    expect([keys, tenantsOf(home)]).toEqual([[], [victims.id]])
  })

  test('and the unchanged file completes the import', async () => {
    await using home = await bootTestApp()
    const before = withPeople(lines, 1200)
    const admin = { metadata_public: { roles: ['admin'] } }
    const after = before.map((line) =>
      line.kind === 'identity' && line.id === idNumber(700) ? { ...line, ...admin } : line,
    )
    await expect(importSwapped(home, before, after)).rejects.toThrow(CHANGED)
    expect(rowsIn(home, 'gate_identities')).toHaveLength(499)
    await expect(importInto(home, fileOf(after))).rejects.toThrow('was interrupted')
    await importInto(home, fileOf(before))
    expect(rowsIn(home, 'gate_identities')).toHaveLength(1203)
  })
})

test('The database for the check has no name, and nothing is left of it, not by a killed process', () => {
  using folder = temporaryFolder()
  const dead = { ...thisProcess('test'), pid: 2 ** 22 + 1 }
  const left = openWorkFolder({ parent: folder.path, process: dead, now: Date.now() })
  writeFileSync(join(left.path, 'gatehouse.db'), 'half a database')

  const scratch = openScratch({ dataDir: folder.path, migrations, now: Date.now() })
  expect(readdirSync(folder.path)).toEqual([])
  expect(scratch.client.query('select * from tenants').all()).toEqual([])
  scratch.close()
  const broken = [{ id: '0000_broken', sql: 'no such statement' }]
  expect(() => openScratch({ dataDir: folder.path, migrations: broken, now: 0 })).toThrow()
  expect(readdirSync(folder.path)).toEqual([])
})
