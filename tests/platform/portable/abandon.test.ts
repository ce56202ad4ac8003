import { beforeEach, describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { PORTABLE } from '../../../src/cli/portable.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { abandonImport } from '../../../src/platform/portable/abandon.ts'
import { bootTestApp, type TestApp, useApp } from '../../support/app.ts'
import { cli } from '../../support/cli.ts'
import { ACTOR, dyingIn, exportAcme, exportOf, importInto, rowsIn } from './fixture.ts'
import { contentOf, fileOf, withPeople } from './lines.ts'

const acme = await exportAcme()
/** One slice: the first commit stores everything, keys too. */
const SMALL = fileOf(acme.lines)
/** More than one slice of people. */
const LARGE = fileOf(withPeople(acme.lines, 501))

const home = await useApp()
const own = await home.tenant('Own')
let before: Record<string, number>
beforeEach(() => {
  before = rowsByTable()
})

async function interruptIn(atCommit: number, file = SMALL) {
  const imported = importInto(home, file, { db: dyingIn(atCommit, home) })
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
  test('deletes what is stored, and nothing of others', async () => {
    const content = contentOf(exportOf(home, own.id))
    await interruptIn(4, LARGE)
    const counts = await abandon()
    expect(counts).toMatchObject({ tenant: 1, identity: 504, address: 504, endpoint: 1 })
    expect(counts).toMatchObject({ api_key: 3, cron_job: 1, delayed_job: 1, bot: 0 })
    const audited = 'select tenant_id, action, object, detail from audit_log order by seq desc'
    expect(home.db.client.query(audited).get()).toEqual({
      ...{ tenant_id: acme.id, action: 'tenant.import_abandoned', object: `tenant:${acme.id}` },
      detail: JSON.stringify({ counts }),
    })
    expect(rowsByTable()).toEqual(before)
    expect(home.db.client.query('pragma foreign_key_check').all()).toEqual([])
    expect(contentOf(exportOf(home, own.id))).toEqual(content)
  })

  test('deletes what its jobs did meanwhile', async () => {
    await interruptIn(2)
    await home.clock.advance(6 * 60_000)
    expect(rowsIn(home, 'executions').length).toBeGreaterThan(0)
    await abandon()
    expect(rowsByTable()).toEqual(before)
  })

  test('is refused for a complete import, a tenant of this installation and none', async () => {
    for (const id of [own.id, acme.id])
      await expect(abandon(id)).rejects.toThrow('this tenant was not imported')
    await using other = await bootTestApp()
    await importInto(other, SMALL)
    await expect(abandon(acme.id, other.db)).rejects.toThrow('the import of this tenant is already')
    expect(contentOf(exportOf(other, acme.id))).toEqual(contentOf(acme.lines))
  })

  test.each([2, 12])('goes on after it died in commit %p, and no file can', async (atCommit) => {
    await interruptIn(2)
    await expect(abandon(acme.id, dyingIn(atCommit, home))).rejects.toThrow('killed')
    expect(home.platform.tenants.exists(acme.id)).toBe(true)
    await expect(importInto(home, SMALL)).rejects.toThrow(`tenant ${acme.id} is being removed`)
    await abandon()
    expect(rowsByTable()).toEqual(before)
  })

  test('ends an import that is still running', async () => {
    let commits = 0
    const commit: TestApp['db']['commit'] = async (work) => {
      if (++commits === 2) await abandon()
      return home.db.commit(work)
    }
    const imported = importInto(home, LARGE, { db: { ...home.db, commit } })
    await expect(imported).rejects.toThrow(`the import of tenant ${acme.id} was abandoned`)
    expect(rowsByTable()).toEqual(before)
  })
})

test('The command line abandons an import, and says how where it refuses an interrupted one', async () => {
  const dir = dirname(home.db.file)
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
