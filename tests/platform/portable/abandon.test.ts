import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { PORTABLE } from '../../../src/cli/portable.ts'
import type { createCommit } from '../../../src/db/commit.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { abandonImport } from '../../../src/platform/portable/abandon.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { cli } from '../../support/cli.ts'
import { ACTOR, contentOf, exportOf, fileOf, importInto, type Line, withPeople } from './fixture.ts'

let old: TestApp
let lines: Line[]
let acme: Awaited<ReturnType<TestApp['tenant']>>
beforeAll(async () => {
  old = await bootTestApp()
  acme = await old.tenant('Acme')
  const gate = old.client((await acme.key('gate', 'live')).key)
  await gate.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email: 'ada@example.com' },
    credentials: { password: { config: { password: 'correct horse battery' } } },
  })
  await acme.api.post('/v1/clockwork/jobs', {
    name: 'nightly',
    schedule: '5 12 * * *',
    url: 'https://example.com/',
  })
  await acme.api.post('/v1/clockwork/delayed', {
    name: 'later',
    run_at: '2026-03-02T12:00:00Z',
    url: 'https://example.com/',
  })
  const relay = old.client((await acme.key('relay', 'live')).key)
  await relay.post('/v1/relay/endpoints', { url: 'https://example.com/' })
  lines = withPeople(exportOf(old, acme.id), 700)
})
afterAll(() => old.stop())

let home: TestApp
beforeEach(async () => {
  home = await bootTestApp()
})
afterEach(() => home.stop())

type Commit = ReturnType<typeof createCommit>['commit']

/** Dies in the commit of this number. */
function dying(atCommit: number): TestApp['db'] {
  let commits = 0
  const commit: Commit = (work) => {
    if (++commits === atCommit) throw new Error('killed')
    return home.db.commit(work)
  }
  return { ...home.db, commit }
}

/** Dies before its last commit: all that there is stands there, keys too. */
const LAST = 4

async function cutShort(atCommit: number) {
  await expect(importInto(home, fileOf(lines), { db: dying(atCommit) })).rejects.toThrow('killed')
}

const abandon = (tenantId = acme.id, db = home.db) =>
  abandonImport({
    db,
    audit: createAudit({ db, clock: home.clock }),
    actor: ACTOR,
    portable: PORTABLE,
    tenantId,
  })

const rowsIn = (table: string) => home.db.client.query(`select * from ${table}`).all()

/** Every table but those of the installation, with how many rows are there. */
function rowsByTable(): Record<string, number> {
  const names = home.db.client
    .query<{ name: string }, []>(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not in
        ('audit_log', 'instances', 'master_keys', 'installation', 'gatehouse_migrations')`,
    )
    .all()
  return Object.fromEntries(
    names.map(({ name }) => [name, rowsIn(name).length] as const).filter(([, count]) => count > 0),
  )
}

describe('an import that was cut short is taken back', () => {
  test.each([2, LAST])('with all that there is of it, from before commit %p', async (atCommit) => {
    const before = rowsByTable()
    await cutShort(atCommit)
    // The installation, and what is there of this one so far.
    expect(rowsIn('tenants')).toHaveLength(2)

    await abandon()

    expect(rowsByTable()).toEqual(before)
    expect(home.db.client.query('pragma foreign_key_check').all()).toEqual([])
  })

  test('and says how many rows of each kind there were, also in the audit log', async () => {
    await cutShort(LAST)
    const counts = await abandon()
    expect(counts).toMatchObject({
      tenant: 1,
      identity: 701,
      address: 701,
      credential: 1,
      endpoint: 1,
      cron_job: 1,
      delayed_job: 1,
      api_key: 3,
      bot: 0,
    })
    expect(
      home.db.client
        .query('select tenant_id, action, object, detail from audit_log order by seq desc limit 1')
        .get(),
    ).toEqual({
      tenant_id: acme.id,
      action: 'tenant.import_abandoned',
      object: `tenant:${acme.id}`,
      detail: JSON.stringify({ counts }),
    })
  })

  test('with what has come of it meanwhile', async () => {
    const before = rowsByTable()
    await cutShort(LAST)
    await home.clock.advance(6 * 60_000)
    expect(rowsIn('executions').length).toBeGreaterThan(0)

    await abandon()

    expect(rowsByTable()).toEqual(before)
  })

  test('and can be begun anew, with another file', async () => {
    await cutShort(2)
    await abandon()
    const other = exportOf(old, acme.id)
    expect(await importInto(home, fileOf(other))).toMatchObject({ alreadyThere: 0 })
    expect(contentOf(exportOf(home, acme.id))).toEqual(contentOf(other))
  })

  test('and leaves every other tenant as it is', async () => {
    const own = await home.tenant('Own')
    const gate = home.client((await own.key('gate', 'live')).key)
    await gate.post('/v1/gate/identities', {
      schema_id: 'user',
      traits: { email: 'ada@example.com' },
    })
    const before = contentOf(exportOf(home, own.id))
    await cutShort(LAST)
    await abandon()
    expect(contentOf(exportOf(home, own.id))).toEqual(before)
  })
})

describe('nothing is taken away', () => {
  test('of a tenant whose import is complete', async () => {
    await importInto(home, fileOf(lines))
    const before = contentOf(exportOf(home, acme.id))
    await expect(abandon()).rejects.toThrow('the import of this tenant is already complete')
    expect(contentOf(exportOf(home, acme.id))).toEqual(before)
  })

  test('of a tenant that was made here, or of none', async () => {
    const own = await home.tenant('Own')
    await expect(abandon(own.id)).rejects.toThrow('this tenant was not imported')
    await expect(abandon(acme.id)).rejects.toThrow('this tenant was not imported')
    expect(home.platform.tenants.exists(own.id)).toBe(true)
  })
})

describe('taking back that was itself cut short', () => {
  test.each([2, 4, 12])('goes on when it is asked for again, from commit %p', async (atCommit) => {
    const before = rowsByTable()
    await cutShort(LAST)
    await expect(abandon(acme.id, dying(atCommit))).rejects.toThrow('killed')
    expect(home.platform.tenants.exists(acme.id)).toBe(true)
    await abandon()
    expect(rowsByTable()).toEqual(before)
  })

  test('cannot be completed by the file any more, which says what to do', async () => {
    await cutShort(2)
    await expect(abandon(acme.id, dying(4))).rejects.toThrow('killed')
    await expect(importInto(home, fileOf(lines))).rejects.toThrow(
      `tenant ${acme.id} is being removed. Wait until \`import --abandon\` has finished`,
    )
  })
})

describe('an import that goes on while it is taken back', () => {
  test.each([2, 3, LAST])('ends without a tenant, in commit %p', async (atCommit) => {
    const before = rowsByTable()
    let commits = 0
    const commit: Commit = async (work) => {
      if (++commits === atCommit) await abandon()
      return home.db.commit(work)
    }
    await expect(importInto(home, fileOf(lines), { db: { ...home.db, commit } })).rejects.toThrow(
      `the import of tenant ${acme.id} was abandoned`,
    )
    expect(rowsByTable()).toEqual(before)
  })
})

describe('on the command line', () => {
  const gatehouse = (...argv: string[]) => {
    const dir = dirname(home.db.file)
    return cli(dir)(...argv, '--data-dir', dir)
  }

  test('it is told what was deleted, for people and for programs', async () => {
    await cutShort(LAST)
    const { code, out, err } = await gatehouse('import', '--abandon', acme.id)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toStartWith(`Abandoned the import of tenant ${acme.id}. Deleted:\n`)
    expect(out).toContain('     701  identity\n')

    await cutShort(2)
    const told = await gatehouse('import', '--abandon', acme.id, '--json')
    expect(told.json()).toEqual({
      tenant: acme.id,
      deleted: expect.objectContaining({ tenant: 1, identity: 499, api_key: 0 }),
      duration_ms: expect.any(Number),
    })
  })

  test('either a file or a tenant is asked for', async () => {
    expect(await gatehouse('import')).toMatchObject({
      code: 2,
      err: expect.stringContaining('import: FILE is missing'),
    })
    expect(await gatehouse('import', 'acme.ndjson', '--abandon', acme.id)).toMatchObject({
      code: 2,
      err: expect.stringContaining('import: use either FILE or --abandon, not both'),
    })
  })

  test('whatever refuses a half-imported tenant says how to take it back', async () => {
    await cutShort(2)
    const sentence =
      'the import of this tenant was interrupted: import the same file again, or undo it with `import --abandon`\n'
    for (const argv of [
      ['tenant', 'resume', acme.id],
      ['tenant', 'set', acme.id, '--name', 'Ours'],
      ['export', '--tenant', acme.id],
      ['key', 'create', '--tenant', acme.id, '--engine', 'relay'],
    ])
      expect(await gatehouse(...argv)).toEqual(
        expect.objectContaining({ code: 1, out: '', err: sentence }),
      )
  })
})
