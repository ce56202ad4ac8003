import { describe, expect, test } from 'bun:test'
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

/** `audit <verb>` on a data directory whose log has only what the test records. */
async function newLog() {
  const folder = temporaryFolder()
  const gatehouse = cli(folder.path)
  await gatehouse('tenant', 'create', '--name', 'Acme')
  const db = openDatabase({ dataDir: join(folder.path, 'data'), synchronous: 'normal' })
  db.client.run('DELETE FROM audit_log')
  const clock = createTestClock(START)
  const audit = createAudit({ db, clock })
  const listed = async (...argv: string[]) =>
    (await gatehouse('audit', 'list', ...argv, '--json')).json().entries
  return {
    folder: folder.path,
    db,
    clock,
    audit,
    cli: gatehouse,
    listed,
    objects: async (...argv: string[]) => objectsOf(await listed(...argv)),
    exported: (...argv: string[]) => gatehouse('audit', 'export', ...argv),
    record: (entry: Partial<AuditEntry> = {}) =>
      db.commit(() => audit.record({ ...ENTRY, ...entry })),
    /** Records many entries in one commit, a minute apart. */
    recordMany: (count: number) =>
      db.commit(() => {
        for (let n = 0; n < count; n++) {
          clock.jump(60_000)
          audit.record({ ...ENTRY, object: `endpoint:${n}` })
        }
      }),
    [Symbol.dispose]: () => {
      db.close()
      folder[Symbol.dispose]()
    },
  }
}

const objectsOf = (entries: { object: string }[]) => entries.map(({ object }) => object)

describe('audit list', () => {
  test('shows who did what, to what, when and from where', async () => {
    using log = await newLog()
    expect((await log.cli('audit', 'list')).out).toBe('No entries.\n')
    await log.record({ detail: { host: 'example.com' } })
    const byCli = { tenantId: null, actor: { kind: 'cli', source: 'uid 0@host' } } as const
    await log.record({ ...byCli, action: 'key.revoked', object: 'key:2' })

    expect(await log.listed()).toEqual([
      {
        at: START,
        tenant_id: null,
        actor: { kind: 'cli', id: null, source: 'uid 0@host' },
        action: 'key.revoked',
        object: 'key:2',
        detail: {},
      },
      {
        at: START,
        tenant_id: 'acme',
        actor: { kind: 'key', id: 'key-1', source: null },
        action: 'endpoint.created',
        object: 'endpoint:1',
        detail: { host: 'example.com' },
      },
    ])
    const [head, first, second] = (await log.cli('audit', 'list')).out.split('\n')
    expect(head).toMatch(/^AT +TENANT +WHO +ACTION +OBJECT +DETAIL$/)
    expect(first).toMatch(/^2026-03-01T00:00:00.000Z +- +cli uid 0@host +key.revoked +key:2$/)
    expect(second).toContain('{"host":"example.com"}')
  })

  test('shows what the command line itself does', async () => {
    using log = await newLog()
    const { id } = (await log.cli('tenant', 'create', '--name', 'Other', '--json')).json()
    const created = { actor: { kind: 'cli', id: null }, action: 'tenant.created' }
    const object = `tenant:${id}`
    expect(await log.listed('--tenant', id)).toMatchObject([{ ...created, object }])
  })

  test('shows the newest 50 entries, or as many as --limit says', async () => {
    using log = await newLog()
    await log.recordMany(60)
    const fifty = await log.objects()
    expect([fifty.length, fifty[0], fifty.at(-1)]).toEqual([50, 'endpoint:59', 'endpoint:10'])
    expect(await log.objects('--limit', '2')).toEqual(['endpoint:59', 'endpoint:58'])
    for (const limit of ['60', '61', '10000'])
      expect(await log.listed('--limit', limit)).toHaveLength(60)
  })

  test('finds rare entries deep in a long log, which a page reads in slices', async () => {
    using log = await newLog()
    await log.record({ action: 'key.revoked', object: 'key:7' })
    await log.recordMany(6000)
    expect(await log.objects('--action', 'key.')).toEqual(['key:7'])
    expect(await log.objects('--object', 'key:')).toEqual(['key:7'])

    const filter = { action: 'key.', limit: 10 }
    const first = log.audit.list(filter)
    expect(first.entries).toEqual([])
    const second = log.audit.list({ ...filter, before: first.next })
    expect([objectsOf(second.entries), second.next]).toEqual([['key:7'], undefined])
  })

  test('filters by tenant, action, actor and object', async () => {
    using log = await newLog()
    await log.record({ action: 'key.created', object: 'key:1' })
    const actor = { kind: 'operator', id: 'ada' } as const
    await log.record({ tenantId: 'other', actor, action: 'key.revoked', object: 'key:2' })
    await log.record()
    for (const [filter, objects] of [
      ['--tenant acme', ['endpoint:1', 'key:1']],
      ['--tenant nobody', []],
      ['--action key.', ['key:2', 'key:1']],
      ['--action key.revoked', ['key:2']],
      ['--action revoked', []],
      ['--actor ada', ['key:2']],
      ['--actor ad', []],
      ['--object :1', ['endpoint:1', 'key:1']],
      ['--object key --tenant acme --action key', ['key:1']],
    ] as const)
      expect([filter, await log.objects(...filter.split(' '))]).toEqual([filter, [...objects]])
  })

  test('includes --since and excludes --until, also after the clock was set back', async () => {
    using log = await newLog()
    for (const object of ['day:1', 'day:2', 'day:3']) {
      await log.record({ object })
      log.clock.jump(DAY)
    }
    log.clock.jump(-4 * DAY)
    await log.record({ object: 'day:0' })
    const second = ['--since', '2026-03-02T00:00:00Z']
    const third = ['--until', '2026-03-03T01:00:00+01:00']
    expect(await log.objects(...second)).toEqual(['day:3', 'day:2'])
    expect(await log.objects(...third)).toEqual(['day:0', 'day:2', 'day:1'])
    expect(await log.objects(...second, ...third)).toEqual(['day:2'])
    expect(await log.objects('--since', '2027-01-01T00:00:00Z')).toEqual([])
  })

  test('keeps each entry on its line', async () => {
    using log = await newLog()
    await log.record({ object: 'a\nb\u001b[2J\u202ec', detail: { name: 'x\u009by' } })
    const { out } = await log.cli('audit', 'list')
    expect(out.trimEnd().split('\n')).toHaveLength(2)
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  })
})

test.each([
  ['list --since yesterday', '--since: must be a time with date and zone'],
  ['list --until 2026-03-01T00:00:00', '--until: must be a time with date and zone'],
  ['export --since 2026-02-30T00:00:00Z', '--since: must be a time with date and zone'],
  [`list --since ${START} --until ${START}`, '--until: must be after --since'],
  ['list --limit 0', '--limit: must be a whole number from 1 to 10000'],
  ['list --limit 1e2', '--limit: must be a whole number'],
  ['list --limit 10001', '--limit: must be a whole number'],
  ['export --format xml', '--format: must be one of ndjson, csv'],
  ['export --limit 5', 'unknown option --limit'],
])('audit %s is a wrong command line: %s', async (line, message) => {
  const { code, out, err } = await cli('/nowhere')('audit', ...line.split(' '))
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(message)
})

describe('audit export', () => {
  test('writes one object per line, oldest first, with the filters of the list', async () => {
    using log = await newLog()
    await log.recordMany(1201)
    const { code, out, err } = await log.exported()
    const entries = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, err, entries.length]).toEqual([0, '1201 entries.\n', 1201])
    expect(entries.toReversed().slice(0, 50)).toEqual(await log.listed())
    const report = await log.exported('--json', '--to', '-')
    expect(JSON.parse(report.err)).toEqual({ entries: 1201, duration_ms: expect.any(Number) })

    await log.record({ tenantId: 'other', action: 'key.revoked', object: 'key:1' })
    const other = await log.exported('--tenant', 'other', '--action', 'key')
    expect(other.json()).toMatchObject({ tenant_id: 'other', object: 'key:1' })
    expect(await log.exported('--actor', 'nobody')).toMatchObject({ out: '', err: '0 entries.\n' })
  })

  test('writes a new file that only its owner can read, named in a directory after the time', async () => {
    using log = await newLog()
    await log.record()
    const { json } = await log.exported('--to', 'log.ndjson', '--json')
    const file = join(log.folder, 'log.ndjson')
    expect(json()).toEqual({ entries: 1, file, duration_ms: expect.any(Number) })
    expect(JSON.parse(readFileSync(file, 'utf8')).object).toBe('endpoint:1')
    expect(statSync(file).mode & 0o777).toBe(0o600)

    mkdirSync(join(log.folder, 'logs'))
    for (const format of ['csv', 'ndjson']) await log.exported('--to', 'logs', '--format', format)
    const names = readdirSync(join(log.folder, 'logs')).map((name) => name.replaceAll(/\d/g, '0'))
    const stamped = (format: string) => `gatehouse-audit-0000-00-00T00-00-00Z.${format}`
    expect(names.toSorted()).toEqual([stamped('csv'), stamped('ndjson')])
    const nowhere = await log.exported('--to', 'nowhere/')
    expect([nowhere.code, nowhere.err]).toEqual([1, expect.stringContaining('does not exist.')])
  })

  test('keeps existing files, and leaves no part of a file when it fails', async () => {
    using log = await newLog()
    await log.record()
    const file = join(log.folder, 'log')
    await Bun.write(file, 'mine')
    const err = `${file} already exists and is not overwritten\n`
    expect(await log.exported('--to', file)).toMatchObject({ code: 1, err })
    expect(readFileSync(file, 'utf8')).toBe('mine')
    log.db.client.run("UPDATE audit_log SET detail = 'no JSON'")
    await expect(log.exported('--to', 'new')).rejects.toThrow()
    expect(readdirSync(log.folder).toSorted()).toEqual(['data', 'log'])
  })

  test('as CSV has a header and quoted cells, none of them a formula', async () => {
    using log = await newLog()
    await log.record({ object: 'a,"b"\nc', detail: { n: 1 } })
    const csv = async () => (await log.exported('--format', 'csv')).out
    expect(await csv()).toBe(
      'at,tenant_id,actor_kind,actor_id,actor_source,action,object,detail\r\n' +
        `${START},acme,key,key-1,,endpoint.created,"a,""b""\nc","{""n"":1}"\r\n`,
    )
    for (const object of ['a;b', 'a\tb']) {
      await log.record({ object })
      expect(await csv()).toContain(`,"${object}",`)
    }
    for (const object of ['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx']) {
      await log.record({ object })
      const cell = (await csv()).split('endpoint.created,').at(-1)?.split(',{}')[0]
      expect(cell?.replaceAll('"', '')).toBe(`'${object}`)
    }
  })

  test('ends on a server that keeps recording', async () => {
    using log = await newLog()
    await log.recordMany(1000)
    let count = 0
    for (const entries of log.audit.oldestFirst({})) {
      count += entries.length
      log.db.client.transaction(() => log.audit.record(ENTRY))()
    }
    expect(count).toBe(1000)
  })
})

test('pages read the whole log, each with the cursor of the one before', async () => {
  using log = await newLog()
  await log.recordMany(25)
  const pages: string[][] = []
  let before: number | undefined
  do {
    const { entries, next } = log.audit.list({ limit: 10, before })
    pages.push(objectsOf(entries))
    before = next
  } while (before !== undefined)
  expect(pages.map(({ length }) => length)).toEqual([10, 10, 5])
  expect(pages.flat()).toEqual(Array.from({ length: 25 }, (_, n) => `endpoint:${24 - n}`))
})

describe('the log', () => {
  test('is changed by no source, and only its retention deletes rows', async () => {
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

  test('loses rows past their retention, and no others', async () => {
    using log = await newLog()
    await log.record({ object: 'old' })
    log.clock.jump(10 * DAY)
    await log.record({ object: 'new' })
    const { deleteSlice } = log.audit.retention(10 * DAY)
    const deleted = () => log.db.commit(() => deleteSlice(log.clock.now(), 500))
    expect(await deleted()).toBe(0)
    log.clock.jump(1)
    expect(await deleted()).toBe(1)
    expect(await log.objects()).toEqual(['new'])
  })

  test('is read by its indexes, without scanning or sorting', async () => {
    const { plans, planWith } = await plansOf(createAuditStore)
    const ofTenant = '"audit_log"."tenant_id" = ? and "audit_log"."seq"'
    const newest = ['desc limit ?', 'where ("audit_log"."seq" <= ?']
    expect(planWith(...newest)).toContain('USING INTEGER PRIMARY KEY')
    for (const order of ['asc', 'desc'])
      expect(planWith(ofTenant, order)).toContain('audit_log_by_tenant (tenant_id=? AND')
    const byObject = 'audit_log_by_object (tenant_id=? AND object=?)'
    expect(planWith('object" = ?')).toContain(byObject)
    const byTime = 'USING COVERING INDEX audit_log_by_time'
    expect(planWith('min(+')).toContain(`${byTime} (at>? AND at<?)`)
    expect(planWith('delete from')).toContain(`${byTime} (at<?)`)
    const slow = plans.filter(({ plan }) => plan.some((step) => /^SCAN|B-TREE/.test(step)))
    expect(slow).toEqual([])
  })
})
