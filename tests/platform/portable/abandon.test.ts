import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { PORTABLE } from '../../../src/cli/portable.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { abandonImport } from '../../../src/platform/portable/abandon.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { cli } from '../../support/cli.ts'
import {
  ACTOR,
  contentOf,
  dyingIn,
  exportAcme,
  exportOf,
  fileOf,
  importInto,
  rowsIn,
  withPeople,
} from './fixture.ts'

const acme = await exportAcme()
const TEXT = fileOf(withPeople(acme.lines, 700))

// Every test counts the rows of all tables.
let home: TestApp
let before: Record<string, number>
beforeEach(async () => {
  home = await bootTestApp()
  before = rowsByTable()
})
afterEach(() => home.stop())

/** The last commit: everything is stored by then, keys too. */
const LAST = 4

async function interruptIn(atCommit: number) {
  const imported = importInto(home, TEXT, { db: dyingIn(atCommit, home) })
  await expect(imported).rejects.toThrow('killed')
}

const abandon = (tenantId = acme.id, db = home.db) => {
  const audit = createAudit({ db, clock: home.clock })
  return abandonImport({ db, audit, actor: ACTOR, portable: PORTABLE, tenantId })
}

/** How many rows each table has, except those of the installation. */
function rowsByTable(): Record<string, number> {
  const names = home.db.client.query<{ name: string }, []>(
    `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name not in
      ('audit_log', 'instances', 'master_keys', 'installation', 'gatehouse_migrations')`,
  )
  const counts = names.all().map(({ name }) => [name, rowsIn(home, name).length] as const)
  return Object.fromEntries(counts.filter(([, count]) => count > 0))
}

describe('Abandoning an interrupted import', () => {
  test.each([2, LAST])('deletes everything that it stored before commit %p', async (atCommit) => {
    await interruptIn(atCommit)
    expect(rowsIn(home, 'tenants')).toHaveLength(2)
    await abandon()
    expect(rowsByTable()).toEqual(before)
    expect(home.db.client.query('pragma foreign_key_check').all()).toEqual([])
    const other = acme.lines
    expect(await importInto(home, fileOf(other))).toMatchObject({ alreadyThere: 0 })
    expect(contentOf(exportOf(home, acme.id))).toEqual(contentOf(other))
  })

  test('deletes what its jobs did meanwhile', async () => {
    await interruptIn(LAST)
    await home.clock.advance(6 * 60_000)
    expect(rowsIn(home, 'executions').length).toBeGreaterThan(0)
    await abandon()
    expect(rowsByTable()).toEqual(before)
  })

  test('returns and audits the number of rows of each kind', async () => {
    await interruptIn(LAST)
    const counts = await abandon()
    expect(counts).toMatchObject({
      tenant: 1,
      identity: 703,
      address: 703,
      endpoint: 1,
      api_key: 3,
    })
    expect(counts).toMatchObject({ cron_job: 1, delayed_job: 1, bot: 0 })
    const audited = 'select tenant_id, action, object, detail from audit_log order by seq desc'
    expect(home.db.client.query(audited).get()).toEqual({
      tenant_id: acme.id,
      action: 'tenant.import_abandoned',
      object: `tenant:${acme.id}`,
      detail: JSON.stringify({ counts }),
    })
  })

  test('leaves other tenants alone', async () => {
    const own = await home.tenant('Own')
    const gate = home.client((await own.key('gate', 'live')).key)
    const traits = { email: 'ada@example.com' }
    await gate.post('/v1/gate/identities', { schema_id: 'user', traits })
    const content = contentOf(exportOf(home, own.id))
    await interruptIn(LAST)
    await abandon()
    expect(contentOf(exportOf(home, own.id))).toEqual(content)
  })

  test('is refused for a complete import, a tenant of this installation and none', async () => {
    const own = await home.tenant('Own')
    for (const id of [own.id, acme.id])
      await expect(abandon(id)).rejects.toThrow('this tenant was not imported')
    await importInto(home, TEXT)
    const content = contentOf(exportOf(home, acme.id))
    await expect(abandon()).rejects.toThrow('the import of this tenant is already complete')
    expect(contentOf(exportOf(home, acme.id))).toEqual(content)
    expect(home.platform.tenants.exists(own.id)).toBe(true)
  })

  test.each([2, 4, 12])('goes on after it died in commit %p, and no file can', async (atCommit) => {
    await interruptIn(LAST)
    await expect(abandon(acme.id, dyingIn(atCommit, home))).rejects.toThrow('killed')
    expect(home.platform.tenants.exists(acme.id)).toBe(true)
    await expect(importInto(home, TEXT)).rejects.toThrow(`tenant ${acme.id} is being removed`)
    await abandon()
    expect(rowsByTable()).toEqual(before)
  })

  test.each([2, 3, LAST])(
    'ends an import that is still running, in commit %p',
    async (atCommit) => {
      let commits = 0
      const commit: TestApp['db']['commit'] = async (work) => {
        if (++commits === atCommit) await abandon()
        return home.db.commit(work)
      }
      await expect(importInto(home, TEXT, { db: { ...home.db, commit } })).rejects.toThrow(
        `the import of tenant ${acme.id} was abandoned`,
      )
      expect(rowsByTable()).toEqual(before)
    },
  )
})

describe('On the command line', () => {
  const gatehouse = (...argv: string[]) => {
    const dir = dirname(home.db.file)
    return cli(dir)(...argv, '--data-dir', dir)
  }

  test('the deleted rows are shown, as text and as JSON', async () => {
    await interruptIn(LAST)
    const { code, out, err } = await gatehouse('import', '--abandon', acme.id)
    expect([code, err]).toEqual([0, ''])
    expect(out).toStartWith(`Abandoned the import of tenant ${acme.id}. Deleted:\n`)
    expect(out).toContain('     703  identity\n')

    await interruptIn(2)
    expect((await gatehouse('import', '--abandon', acme.id, '--json')).json()).toEqual({
      tenant: acme.id,
      deleted: expect.objectContaining({ tenant: 1, identity: 499, api_key: 0 }),
      duration_ms: expect.any(Number),
    })
  })

  test('an import needs either a file or a tenant to abandon', async () => {
    const both = await gatehouse('import', 'acme.ndjson', '--abandon', acme.id)
    for (const { code } of [await gatehouse('import'), both]) expect(code).toBe(2)
  })

  test('every command that refuses an interrupted import says how to undo it', async () => {
    await interruptIn(2)
    for (const argv of [
      ['tenant', 'resume', acme.id],
      ['tenant', 'set', acme.id, '--name', 'Ours'],
      ['export', '--tenant', acme.id],
      ['key', 'create', '--tenant', acme.id, '--engine', 'relay'],
    ]) {
      const { code, out, err } = await gatehouse(...argv)
      expect([code, out]).toEqual([1, ''])
      expect(err).toContain('undo it with `import --abandon`')
    }
  })
})
