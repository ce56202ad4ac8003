import { beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { migrations } from '../../../drizzle/index.ts'
import { PORTABLE, PORTABLE_TABLES } from '../../../src/console/portable-tables.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { openWorkFolder } from '../../../src/platform/backup/work-folder.ts'
import { abandonImport } from '../../../src/platform/portable/abandon.ts'
import { openScratch } from '../../../src/platform/portable/scratch.ts'
import { thisProcess } from '../../../src/platform/process.ts'
import { bootTestApp, type TestApp, useApp } from '../../support/app.ts'
import { cli } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ACTOR, dyingIn, exportAcme, exportOf, importInto, rowsIn } from './fixture.ts'
import { contentOf, fileOf, idNumber, type Line, OTHER, ofKind, withPeople } from './lines.ts'

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

describe('A file that is not a whole export is refused, and nothing is stored', async () => {
  const home = await useApp()

  async function expectRefused(text: string | Uint8Array, message: string) {
    await expect(importInto(home, text)).rejects.toThrow(message)
    expect([tenantsOf(home), rowsIn(home, 'imports')]).toEqual([[], []])
  }

  const HEADER = TEXT.split('\n')[0]
  const MAX_LINE = 4_194_304
  /** The second line has this many bytes, its end included. */
  const lineOf = (bytes: number) => `${HEADER}\n{"kind":"${'x'.repeat(bytes - 12)}"}\n`
  const withPrototype = TEXT.replace('"kind":"identity"', '"kind":"identity","__proto__":{}')

  test.each<[string, string | Uint8Array, string]>([
    ['nothing', '', 'the file is empty'],
    ['other JSON', '{"a":1}\n', 'line 1: the file is not a tenant export'],
    ['no object', `${HEADER}\n[1]\n`, 'line 2: must be a JSON object'],
    ['no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d, 10), 'line 1: must be JSON in UTF-8'],
    ['endless nesting', `${'['.repeat(1_000_000)}\n`, 'line 1: must be JSON in UTF-8'],
    ['a cut line', TEXT.slice(0, -40), 'line 15: the file ends in the middle of this line'],
    ['a cut end', TEXT.replace(/\n[^\n]+\n$/, '\n'), 'the file is incomplete'],
    ['an edited line', TEXT.replaceAll('ada@', 'adb@'), 'the file has changed since the export'],
    ['more lines', `${TEXT}{}\n`, 'line 15: the file has more lines after its last line'],
    ['a line of over 4 MB', lineOf(MAX_LINE + 1), `line 2: must have at most ${MAX_LINE} bytes`],
    ['a kind of 4 MB', lineOf(MAX_LINE), 'is not a known kind'],
    ['a field of the prototype', withPrototype, 'line 3: identity.__proto__: is not a known field'],
    ['a line twice', withLine(3, lines[2]), 'line 4: identity: is in the file twice'],
    ['a key early', withLine(2, lines.at(-2)), 'line 4: identity: must come before api_key'],
    ['no tenant', without(1), 'line 2: identity: must come after the tenant'],
    ['two tenants', withLine(1, lines[1]), 'line 3: tenant: must have at most 1 row'],
  ])('%s', (_, text, message) => expectRefused(text, message))
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  test.each<[string, object, string]>([
    ['gatehouse.export', { format: 2 }, 'line 1: the file has format 2'],
    ['gatehouse.export', { schema: '9999_x' }, 'which is newer'],
    ['gatehouse.export', { key_prefix: '\u001b[2Ksvc' }, 'line 1: header.key_prefix: '],
    ['cron_job', { kind: { toString: 1 } }, 'kind: must be a string'],
    ['identity', { is_admin: true }, 'line 3: identity.is_admin: is not'],
    ['cron_job', { url: null }, 'cron_job.url: must be a string'],
    ['identity', { state: 'gone' }, 'identity.state: must be one of active'],
    ['identity', { created_at: '2026-02-30T00:00:00.000Z' }, 'must be a time'],
    ['identity', { updated_at: '+010000-01-01T00:00:00.000Z' }, 'must be a time'],
    ['endpoint', { secrets: [{ secret, expiresAt: 1e15 }] }, 'endpoint.secrets.0.expiresAt: '],
    ['tenant', { name: 'A\u001b[2K' }, 'line 2: tenant.name: must be one'],
    ['identity', { schema_id: '\ud800' }, 'must be valid Unicode'],
    ['identity', { traits: {} }, 'identity.traits.email: is required'],
    ['identity', { traits: { email: 'bob@example.com' } }, 'line 4: identity.email: is already'],
    ['cron_job', { schedule: 'daily' }, 'line 10: cron_job.schedule: must'],
    ['delayed_job', { status: 'success' }, 'delayed_job.status: must be'],
    ['api_key', { engines: ['gate'], environment: null }, 'api_key.environment: must be set'],
    ['api_key', { engines: [], scopes: [] }, 'api_key.engines: must name at least one engine'],
    ['api_key', { name: 'a\nb' }, 'api_key.name: must be one line'],
    ['api_key', { lifetime_ms: Number.MAX_SAFE_INTEGER }, 'api_key.expires: must be in the future'],
    ['identity', { tenant_id: OTHER }, 'line 3: identity: belongs to'],
    ['tenant', { id: OTHER }, 'line 2: tenant: belongs to a different'],
    ['address', { identity_id: idNumber(1) }, 'line 6: address: refers to a row'],
  ])('%s with %j: %s', (kind, changes, message) => expectRefused(changed(kind, changes), message))

  test('more endpoints of a stream than a tenant may have', async () => {
    const at = indexOf('endpoint')
    const many = Array.from({ length: 1001 }, (_, n) => ({ ...lines[at], id: idNumber(n) }))
    const text = fileOf(lines.toSpliced(at, 1, ...many))
    await expectRefused(text, 'line 1009: endpoint: must have at most 1000 rows')
  })

  test('a document that is nested too deeply', async () => {
    // What JSON.stringify throws at about 50,000 levels, after seconds.
    const check = () => {
      throw new RangeError('Maximum call stack size exceeded.')
    }
    const tables = PORTABLE_TABLES.map((it) => (it.kind === 'identity' ? { ...it, check } : it))
    const refused = importInto(home, TEXT, { tables })
    await expect(refused).rejects.toThrow('line 3: identity: is nested too deeply')
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
})

test('A tenant or an id that exists already is refused', async () => {
  await using home = await bootTestApp()
  await importInto(home, TEXT)
  const own = await home.tenant('Own')
  for (const file of [TEXT, fileOf(exportOf(home, own.id))])
    await expect(importInto(home, file)).rejects.toThrow('already exists')
  const before = contentOf(exportOf(home, acme.id))
  const others = JSON.parse(JSON.stringify(lines).replaceAll(acme.id, OTHER)) as Line[]
  for (const kind of ['api_key', 'identity', 'cron_job']) {
    const [taken] = ofKind(lines, kind)
    const only = others.filter(
      (line) => ['gatehouse.export', 'tenant', 'end'].includes(line.kind) || line.id === taken.id,
    )
    const message = `line 3: ${kind}.id: is already used by another ${kind}`
    await expect(importInto(home, fileOf(only))).rejects.toThrow(message)
  }
  expect(contentOf(exportOf(home, acme.id))).toEqual(before)
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

// Two slices: people and some of their addresses, and the rest.
const MANY = withPeople(lines, 300)

describe('An interrupted import', () => {
  const whole = fileOf(MANY)

  test.each([
    [2, 500],
    [3, MANY.length - 2],
  ])('is completed by the same file, from commit %d, and by no other', async (atCommit, stored) => {
    await using home = await bootTestApp()
    const imported = importInto(home, whole, { db: dyingIn(atCommit, home) })
    await expect(imported).rejects.toThrow('killed')
    const { find, resume, suspend, change } = home.platform.tenants
    expect(find(acme.id).status).toBe('suspended')
    const api = home.client(acme.secret)
    // A suspended tenant may read, once its keys are there.
    const status = atCommit === 2 ? 401 : 200
    expect(await api.get('/v1/clockwork/jobs')).toMatchObject({ status })
    const jobs = ['cron_jobs', 'delayed_jobs', 'runs'].flatMap((table) => rowsIn(home, table))
    expect(jobs).toHaveLength(atCommit === 2 ? 0 : 3)
    await expect(importInto(home, TEXT)).rejects.toThrow(
      /was interrupted. To complete it, import the same file again \(SHA-256 [0-9a-f]{64}\)/,
    )
    const actor = { kind: 'cli' } as const
    for (const act of [
      () => resume(actor, acme.id),
      () => suspend(actor, acme.id, 'billing'),
      () => change(actor, acme.id, { name: 'Ours' }),
    ])
      await expect(act()).rejects.toThrow('the import of this tenant was interrupted')
    expect(await importInto(home, whole)).toMatchObject({ alreadyThere: stored })
    expect(find(acme.id).status).toBe('active')
    expect(await api.get('/v1/clockwork/jobs')).toMatchObject({ status: 200 })
    expect(contentOf(exportOf(home, acme.id))).toEqual(contentOf(MANY))
    expect(rowsIn(home, 'runs')).toMatchObject([{ state: 'waiting' }])
    expect(rowsIn(home, 'job_counts')).toMatchObject([{ cron_jobs: 1, delayed_jobs: 1, bytes: 56 }])
  })
})

/** Imports a file that is exchanged as soon as it has been checked. */
async function expectRefused(home: TestApp, before: Line[], after: Line[]) {
  using folder = temporaryFolder()
  const file = join(folder.path, 'acme.ndjson')
  writeFileSync(file, fileOf(before))
  const scratch = openScratch({ dataDir: folder.path, migrations, now: 0 })
  const close = () => {
    scratch.close()
    writeFileSync(file, fileOf(after))
  }
  const imported = importInto(home, '', { file, openScratch: () => ({ ...scratch, close }) })
  await expect(imported).rejects.toThrow('the file changed during the import')
}

test('A file that changes after its check brings no credential for another tenant, and no scope', async () => {
  await using home = await bootTestApp()
  const victims = await home.tenant('Victims')
  const api = home.client((await victims.key('gate', 'live')).key)
  const traits = { email: 'victim@example.com' }
  const { body: victim } = await api.post('/v1/gate/identities', { schema_id: 'user', traits })
  const time = '2026-03-01T12:00:00.000Z'
  const hashed_password = await Bun.password.hash('known', { algorithm: 'bcrypt', cost: 4 })
  const foreign = {
    ...{ kind: 'credential', tenant_id: acme.id, identity_id: victim.id, type: 'password' },
    ...{ config: { hashed_password }, version: 0, created_at: time, updated_at: time },
  }
  const evil = lines.toSpliced(indexOf('endpoint'), 0, foreign)
  await expect(importInto(home, fileOf(evil))).rejects.toThrow('credential: refers to a row')
  await expectRefused(home, lines, evil)
  expect(rowsIn(home, 'gate_credentials')).toEqual([])
  await expectRefused(home, lines, lines.with(-2, { ...lines.at(-2), scopes: ['relay:any'] }))
  expect([home.platform.keys.list(acme.id), tenantsOf(home)]).toEqual([[], [victims.id]])
})

test('The unchanged file completes an import whose file changed after its check', async () => {
  await using home = await bootTestApp()
  const after = MANY.map((line) =>
    line.kind === 'cron_job' ? { ...line, url: 'https://evil.example/' } : line,
  )
  await expectRefused(home, MANY, after)
  const stored = rowsIn(home, 'gate_identities').length + rowsIn(home, 'gate_addresses').length
  expect(stored).toBe(499)
  await expect(importInto(home, fileOf(after))).rejects.toThrow('was interrupted')
  await importInto(home, fileOf(MANY))
  expect(contentOf(exportOf(home, acme.id))).toEqual(contentOf(MANY))
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

// More than one slice of people.
const LARGE = fileOf(withPeople(lines, 501))
const shared = await useApp()
const own = await shared.tenant('Own')

async function interruptIn(atCommit: number, file = TEXT) {
  const imported = importInto(shared, file, { db: dyingIn(atCommit, shared) })
  await expect(imported).rejects.toThrow('killed')
}

const abandon = (tenantId = acme.id, db = shared.db) => {
  const audit = createAudit({ db, clock: shared.clock })
  return abandonImport({ db, audit, actor: ACTOR, portable: PORTABLE, tenantId })
}

/** How many rows each table has, except those of the installation and the search index, which follows. */
function rowsByTable(): Record<string, number> {
  const names = shared.db.client.query<{ name: string }, []>(
    `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'
      and name not like 'gate_search%' and name not in
      ('audit_log', 'instances', 'master_keys', 'installation', 'gatehouse_migrations')`,
  )
  const counts = names.all().map(({ name }) => [name, rowsIn(shared, name).length] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

describe('Abandoning an interrupted import', () => {
  let before: Record<string, number>
  beforeEach(() => {
    before = rowsByTable()
  })

  test('deletes what is stored, and nothing of others', async () => {
    const content = contentOf(exportOf(shared, own.id))
    await interruptIn(4, LARGE)
    const counts = await abandon()
    expect(counts).toMatchObject({ tenant: 1, identity: 504, address: 504, endpoint: 1 })
    expect(counts).toMatchObject({ api_key: 3, cron_job: 1, delayed_job: 1, bot: 0 })
    const audited = 'select tenant_id, action, object, detail from audit_log order by seq desc'
    expect(shared.db.client.query(audited).get()).toEqual({
      ...{ tenant_id: acme.id, action: 'tenant.import_abandoned', object: `tenant:${acme.id}` },
      detail: JSON.stringify({ counts }),
    })
    expect(rowsByTable()).toEqual(before)
    expect(shared.db.client.query('pragma foreign_key_check').all()).toEqual([])
    expect(contentOf(exportOf(shared, own.id))).toEqual(content)
  })

  test('deletes what its jobs did meanwhile', async () => {
    await interruptIn(2)
    await shared.clock.advance(6 * 60_000)
    expect(rowsIn(shared, 'executions').length).toBeGreaterThan(0)
    await abandon()
    expect(rowsByTable()).toEqual(before)
  })

  test('is refused for a complete import, a tenant of this installation and none', async () => {
    for (const id of [own.id, acme.id])
      await expect(abandon(id)).rejects.toThrow('this tenant was not imported')
    await using other = await bootTestApp()
    await importInto(other, TEXT)
    await expect(abandon(acme.id, other.db)).rejects.toThrow('the import of this tenant is already')
    expect(contentOf(exportOf(other, acme.id))).toEqual(contentOf(acme.lines))
  })

  test.each([2, 12])('goes on after it died in commit %p, and no file can', async (atCommit) => {
    await interruptIn(2)
    await expect(abandon(acme.id, dyingIn(atCommit, shared))).rejects.toThrow('killed')
    expect(shared.platform.tenants.exists(acme.id)).toBe(true)
    await expect(importInto(shared, TEXT)).rejects.toThrow(`tenant ${acme.id} is being removed`)
    await abandon()
    expect(rowsByTable()).toEqual(before)
  })

  test('ends an import that is still running', async () => {
    let commits = 0
    const commit: TestApp['db']['commit'] = async (work) => {
      if (++commits === 2) await abandon()
      return shared.db.commit(work)
    }
    const imported = importInto(shared, LARGE, { db: { ...shared.db, commit } })
    await expect(imported).rejects.toThrow(`the import of tenant ${acme.id} was abandoned`)
    expect(rowsByTable()).toEqual(before)
  })
})

test('The command line abandons an import, and says how where it refuses an interrupted one', async () => {
  const dir = dirname(shared.db.file)
  const gatehouse = (...argv: string[]) => cli(dir)(...argv, '--data-dir', dir)
  await interruptIn(2)
  for (const argv of [
    ['tenant', 'resume', acme.id],
    ['tenant', 'set', acme.id, '--name', 'Ours'],
    ['export', '--tenant', acme.id],
    ['key', 'create', '--tenant', acme.id, '--engine', 'relay'],
  ]) {
    const refused = await gatehouse(...argv)
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toContain('undo it with `import --abandon`')
  }
  const done = await gatehouse('import', '--abandon', acme.id)
  expect(done).toMatchObject({ code: 0, err: '' })
  expect(done.out).toContain('       3  identity\n')
  await interruptIn(2)
  const deleted = expect.objectContaining({ tenant: 1, identity: 3 })
  expect((await gatehouse('import', '--abandon', acme.id, '--json')).json()).toMatchObject({
    deleted,
  })
  for (const argv of [[], ['acme.ndjson', '--abandon', acme.id]])
    expect((await gatehouse('import', ...argv)).code).toBe(2)
})
