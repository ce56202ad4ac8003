import { afterAll, beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/open.ts'
import { type AuditEntry, createAudit } from '../../src/platform/audit/index.ts'
import { createAuditStore } from '../../src/platform/audit/store.ts'
import { cli } from '../support/cli.ts'
import { createTestClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/folder.ts'
import { plansOf } from '../support/plans.ts'

const DAY = 24 * 60 * 60_000
const START = '2026-03-01T00:00:00.000Z'

const ENTRY: AuditEntry = {
  tenantId: 'acme',
  actor: { kind: 'key', id: 'key-1' },
  action: 'endpoint.created',
  object: 'endpoint:1',
}

const { path: folder, [Symbol.dispose]: remove } = temporaryFolder()
const gatehouse = cli(folder)
await gatehouse('tenant', 'create', '--name', 'Acme')
const db = openDatabase({ dataDir: join(folder, 'data'), synchronous: 'normal' })
let clock = createTestClock(START)
let audit = createAudit({ db, clock })

beforeEach(() => {
  db.client.run('DELETE FROM audit_log')
  clock = createTestClock(START)
  audit = createAudit({ db, clock })
})
afterAll(() => {
  db.close()
  remove()
})

const record = (entry: Partial<AuditEntry> = {}) =>
  db.commit(() => audit.record({ ...ENTRY, ...entry }))

const recordMany = (count: number) =>
  db.commit(() => {
    for (let n = 0; n < count; n++) {
      clock.jump(60_000)
      audit.record({ ...ENTRY, object: `endpoint:${n}` })
    }
  })

const listed = async (...argv: string[]) =>
  (await gatehouse('audit', 'list', ...argv, '--json')).json().entries
const exported = (...argv: string[]) => gatehouse('audit', 'export', ...argv)
const objects = async (...argv: string[]): Promise<string[]> =>
  (await listed(...argv)).map((entry: AuditEntry) => entry.object)

test('audit list shows who did what, to what, when and from where, each on one line', async () => {
  expect((await gatehouse('audit', 'list')).out).toBe('No entries.\n')
  await record({ detail: { host: 'example.com' } })
  const actor = { kind: 'cli', source: 'uid 0@host' } as const
  await record({ tenantId: null, actor, action: 'key.revoked', object: 'key:2' })
  const { action, object } = ENTRY
  const byCli = { at: START, tenant_id: null, actor: { ...actor, id: null }, detail: {} }
  const byKey = { at: START, tenant_id: 'acme', actor: { kind: 'key', id: 'key-1', source: null } }
  expect(await listed()).toEqual([
    { ...byCli, action: 'key.revoked', object: 'key:2' },
    { ...byKey, action, object, detail: { host: 'example.com' } },
  ])
  const [head, first, second] = (await gatehouse('audit', 'list')).out.split('\n')
  expect(head).toMatch(/^AT +TENANT +WHO +ACTION +OBJECT +DETAIL$/)
  expect(first).toMatch(/^2026-03-01T00:00:00.000Z +- +cli uid 0@host +key.revoked +key:2$/)
  expect(second).toContain('{"host":"example.com"}')

  await record({ object: 'a\nb\u001b[2J\u202ec', detail: { name: 'x\u009by' } })
  const { out } = await gatehouse('audit', 'list')
  expect(out.trimEnd().split('\n')).toHaveLength(4)
  expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
})

test('audit list shows the newest 50 entries or up to 10,000, and finds rare ones deep in the log', async () => {
  await record({ action: 'key.revoked', object: 'key:7' })
  await recordMany(6000)
  const fifty = await objects()
  expect([fifty.length, fifty[0], fifty.at(-1)]).toEqual([50, 'endpoint:5999', 'endpoint:5950'])
  expect(await objects('--limit', '2')).toEqual(['endpoint:5999', 'endpoint:5998'])
  expect(await listed('--limit', '10000')).toHaveLength(6001)
  expect(await objects('--action', 'key.')).toEqual(['key:7'])
  expect(await objects('--object', 'key:')).toEqual(['key:7'])
})

test('audit list filters by tenant, action, actor and object', async () => {
  await record({ action: 'key.created', object: 'key:1' })
  const actor = { kind: 'operator', id: 'ada' } as const
  await record({ tenantId: 'other', actor, action: 'key.revoked', object: 'key:2' })
  await record()
  for (const [filter, found] of [
    ['--tenant acme', 'endpoint:1 key:1'],
    ['--action key.', 'key:2 key:1'],
    ['--action revoked', ''],
    ['--actor ada', 'key:2'],
    ['--actor ad', ''],
    ['--object :1', 'endpoint:1 key:1'],
    ['--object key --tenant acme --action key', 'key:1'],
  ] as const)
    expect([filter, (await objects(...filter.split(' '))).join(' ')]).toEqual([filter, found])
})

test('audit list includes --since and excludes --until, also after the clock was set back', async () => {
  for (const object of ['day:1', 'day:2', 'day:3']) {
    await record({ object })
    clock.jump(DAY)
  }
  clock.jump(-4 * DAY)
  await record({ object: 'day:0' })
  const since = ['--since', '2026-03-02T00:00:00Z']
  const until = ['--until', '2026-03-03T01:00:00+01:00']
  expect(await objects(...since)).toEqual(['day:3', 'day:2'])
  expect(await objects(...until)).toEqual(['day:0', 'day:2', 'day:1'])
  expect(await objects(...since, ...until)).toEqual(['day:2'])
})

test('audit export writes one object per line, oldest first, with the filters of the list', async () => {
  await recordMany(1201)
  const { code, out, err } = await exported()
  const lines = out.trimEnd().split('\n')
  const entries = lines.map((line) => JSON.parse(line))
  expect([code, err, entries.length]).toEqual([0, '1201 entries.\n', 1201])
  expect(entries.toReversed().slice(0, 50)).toEqual(await listed())
  const report = await exported('--json', '--to', '-')
  expect(JSON.parse(report.err)).toEqual({ entries: 1201, duration_ms: expect.any(Number) })
  await record({ tenantId: 'other', action: 'key.revoked', object: 'key:1' })
  const other = await exported('--tenant', 'other', '--action', 'key')
  expect(other.json()).toMatchObject({ tenant_id: 'other', object: 'key:1' })
  expect(await exported('--actor', 'nobody')).toMatchObject({ out: '', err: '0 entries.\n' })
  // It ends on a server that keeps recording.
  let count = 0
  for (const slice of audit.oldestFirst({})) {
    count += slice.length
    db.client.transaction(() => audit.record(ENTRY))()
  }
  expect(count).toBe(1202)
})

test('audit export writes a new file that only its owner can read, named after the time, and keeps others', async () => {
  await record()
  const file = join(folder, 'log.ndjson')
  const { json } = await exported('--to', 'log.ndjson', '--json')
  expect(json()).toEqual({ entries: 1, file, duration_ms: expect.any(Number) })
  expect(JSON.parse(readFileSync(file, 'utf8')).object).toBe('endpoint:1')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await record()
  const err = `${file} already exists and is not overwritten\n`
  expect(await exported('--to', file)).toMatchObject({ code: 1, err })
  expect(JSON.parse(readFileSync(file, 'utf8')).object).toBe('endpoint:1')
  mkdirSync(join(folder, 'logs'))
  for (const format of ['csv', 'ndjson']) await exported('--to', 'logs', '--format', format)
  const names = readdirSync(join(folder, 'logs')).map((name) => name.replaceAll(/\d/g, '0'))
  const stamp = 'gatehouse-audit-0000-00-00T00-00-00Z'
  expect(names.toSorted()).toEqual([`${stamp}.csv`, `${stamp}.ndjson`])
  const nowhere = await exported('--to', 'nowhere/')
  expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('does not exist.')])
  db.client.run("UPDATE audit_log SET detail = 'no JSON'")
  await expect(exported('--to', 'new')).rejects.toThrow()
  expect(readdirSync(folder).toSorted()).toEqual(['data', 'log.ndjson', 'logs'])
})

test('audit export as CSV has a header and quoted cells, none of them a formula', async () => {
  await record({ object: 'a,"b"\nc', detail: { n: 1 } })
  const csv = async () => (await exported('--format', 'csv')).out
  expect(await csv()).toBe(
    'at,tenant_id,actor_kind,actor_id,actor_source,action,object,detail\r\n' +
      `${START},acme,key,key-1,,endpoint.created,"a,""b""\nc","{""n"":1}"\r\n`,
  )
  const formulas = ['=1+1', '＝1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx']
  for (const object of ['a;b', ...formulas]) await record({ object })
  const text = await csv()
  expect(text).toContain(',"a;b",')
  const cells = text.split('endpoint.created,').slice(-formulas.length)
  expect(cells.map((cell) => cell.split(',{}')[0]?.replaceAll('"', ''))).toEqual(
    formulas.map((formula) => `'${formula}`),
  )
})

test('The audit log is changed by no source, and only its retention deletes rows', async () => {
  const source = join(import.meta.dir, '..', '..', 'src')
  const touching: string[] = []
  for await (const name of new Bun.Glob('**/*.ts').scan(source)) {
    const text = readFileSync(join(source, name), 'utf8')
    if (/(update|delete)\(auditLog\)|(update|delete from|replace into) "?audit_log/i.test(text))
      touching.push(name)
  }
  expect(touching).toEqual(['platform/audit/store.ts'])
  const store = readFileSync(join(source, 'platform', 'audit', 'store.ts'), 'utf8')
  expect(store.match(/\.(update|delete)\(auditLog\)/g)).toEqual(['.delete(auditLog)'])
})

test('The audit log is read by its indexes, without scanning or sorting', async () => {
  const { plans, planWith } = await plansOf(createAuditStore)
  const ofTenant = '"audit_log"."tenant_id" = ? and "audit_log"."seq"'
  const newest = ['desc limit ?', 'where ("audit_log"."seq" <= ?']
  expect(planWith(...newest)).toContain('USING INTEGER PRIMARY KEY')
  for (const order of ['asc', 'desc'])
    expect(planWith(ofTenant, order)).toContain('audit_log_by_tenant (tenant_id=? AND')
  expect(planWith('object" = ?')).toContain('audit_log_by_object (tenant_id=? AND object=? AND')
  const byTime = 'USING COVERING INDEX audit_log_by_time'
  expect(planWith('min(+')).toContain(`${byTime} (at>? AND at<?)`)
  expect(planWith('delete from')).toContain(`${byTime} (at<?)`)
  const slow = plans.filter(({ plan }) => plan.some((step) => /^SCAN|B-TREE/.test(step)))
  expect(slow).toEqual([])
})
