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

/** The command line on a data directory with nothing in its log but what the test records. */
async function startFixture() {
  const folder = temporaryFolder()
  const gatehouse = cli(folder.path)

  async function listed(...argv: string[]) {
    const { code, out, err } = await gatehouse('audit', 'list', ...argv, '--json')
    expect([code, err]).toEqual([0, ''])
    return JSON.parse(out).entries
  }

  await gatehouse('tenant', 'create', '--name', 'Acme')
  const db = openDatabase({ dataDir: join(folder.path, 'data'), synchronous: 'normal' })
  db.client.run('DELETE FROM audit_log')
  const clock = createTestClock(START)
  const audit = createAudit({ db, clock })

  return {
    folder: folder.path,
    db,
    clock,
    audit,
    cli: gatehouse,
    listed,
    record: (entry: Partial<AuditEntry> = {}) =>
      db.commit(() => audit.record({ ...ENTRY, ...entry })),
    /** That many entries at once, a minute apart. */
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
    using fixture = await startFixture()
    await fixture.record({ detail: { host: 'example.com' } })
    await fixture.record({
      tenantId: null,
      actor: { kind: 'cli', source: 'uid 0@host' },
      action: 'key.revoked',
      object: 'key:2',
    })

    expect(await fixture.listed()).toEqual([
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
    const { out } = await fixture.cli('audit', 'list')
    const [head, first, second] = out.split('\n')
    expect(head).toMatch(/^AT +TENANT +WHO +ACTION +OBJECT +DETAIL$/)
    expect(first).toMatch(/^2026-03-01T00:00:00.000Z +- +cli uid 0@host +key.revoked +key:2$/)
    expect(second).toContain('{"host":"example.com"}')
  })

  test('what the command line itself does is in it', async () => {
    using fixture = await startFixture()
    const { out } = await fixture.cli('tenant', 'create', '--name', 'Other', '--json')
    const { id } = JSON.parse(out)

    expect(await fixture.listed('--tenant', id)).toMatchObject([
      { actor: { kind: 'cli', id: null }, action: 'tenant.created', object: `tenant:${id}` },
    ])
  })

  test('an empty log is said to be empty', async () => {
    using fixture = await startFixture()

    expect(await fixture.cli('audit', 'list')).toMatchObject({
      code: 0,
      out: 'No entries.\n',
      err: '',
    })
    expect(await fixture.listed()).toEqual([])
  })

  test('shows 50 entries, the newest first, or as many as are asked for', async () => {
    using fixture = await startFixture()
    await fixture.recordMany(60)

    const fifty = objectsOf(await fixture.listed())
    expect(fifty).toHaveLength(50)
    expect([fifty[0], fifty.at(-1)]).toEqual(['endpoint:59', 'endpoint:10'])
    expect(objectsOf(await fixture.listed('--limit', '2'))).toEqual(['endpoint:59', 'endpoint:58'])
    expect(await fixture.listed('--limit', '60')).toHaveLength(60)
    expect(await fixture.listed('--limit', '61')).toHaveLength(60)
  })

  test('finds what lies deep in a long log', async () => {
    using fixture = await startFixture()
    await fixture.record({ action: 'key.revoked', object: 'key:7' })
    await fixture.recordMany(12_000)

    expect(objectsOf(await fixture.listed('--action', 'key.'))).toEqual(['key:7'])
    expect(objectsOf(await fixture.listed('--object', 'key:'))).toEqual(['key:7'])
  })

  test.each([
    [
      ['--tenant', 'acme'],
      ['endpoint:1', 'key:1'],
    ],
    [['--tenant', 'nobody'], []],
    [
      ['--action', 'key.'],
      ['key:2', 'key:1'],
    ],
    [['--action', 'key.revoked'], ['key:2']],
    [['--action', 'revoked'], []],
    [['--actor', 'ada'], ['key:2']],
    [['--actor', 'ad'], []],
    [
      ['--object', ':1'],
      ['endpoint:1', 'key:1'],
    ],
    [['--object', 'key', '--tenant', 'acme', '--action', 'key'], ['key:1']],
  ] as [string[], string[]][])('%p shows %p', async (filter, objects) => {
    using fixture = await startFixture()
    await fixture.record({ action: 'key.created', object: 'key:1' })
    const actor = { kind: 'operator', id: 'ada' } as const
    await fixture.record({ tenantId: 'other', actor, action: 'key.revoked', object: 'key:2' })
    await fixture.record()

    expect(objectsOf(await fixture.listed(...filter))).toEqual(objects)
  })

  test('times are a lower bound that is within, and an upper one that is not', async () => {
    using fixture = await startFixture()
    for (const object of ['day:1', 'day:2', 'day:3']) {
      await fixture.record({ object })
      fixture.clock.jump(DAY)
    }
    const [second, third] = ['2026-03-02T00:00:00Z', '2026-03-03T01:00:00+01:00']

    expect(objectsOf(await fixture.listed('--since', second))).toEqual(['day:3', 'day:2'])
    expect(objectsOf(await fixture.listed('--until', third))).toEqual(['day:2', 'day:1'])
    const day = await fixture.listed('--since', second, '--until', third)
    expect(objectsOf(day)).toEqual(['day:2'])
    expect(await fixture.listed('--since', '2027-01-01T00:00:00Z')).toEqual([])
  })

  test('times hold for each entry, though the clock was set back between them', async () => {
    using fixture = await startFixture()
    await fixture.record({ object: 'late' })
    fixture.clock.jump(-DAY)
    await fixture.record({ object: 'early' })

    expect(objectsOf(await fixture.listed('--since', START))).toEqual(['late'])
    expect(objectsOf(await fixture.listed('--until', START))).toEqual(['early'])
    expect(objectsOf(await fixture.listed())).toEqual(['early', 'late'])
  })

  test('nothing in the log breaks out of its line', async () => {
    using fixture = await startFixture()
    await fixture.record({ object: 'a\nb\u001b[2J\u202ec', detail: { name: 'x\u009by' } })

    const { out } = await fixture.cli('audit', 'list')

    expect(out.trimEnd().split('\n')).toHaveLength(2)
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u)
  })
})

describe('what is not understood is a usage error that names the option', () => {
  test.each([
    [['list', '--since', 'yesterday'], '--since: must be a time with date and zone'],
    [['list', '--until', '2026-03-01T00:00:00'], '--until: must be a time with date and zone'],
    [['export', '--since', '2026-02-30T00:00:00Z'], '--since: must be a time with date and zone'],
    [['list', '--since', START, '--until', START], '--until: must be after --since'],
    [['list', '--limit', '0'], '--limit: must be a whole number from 1 to 10000'],
    [['list', '--limit', '1e2'], '--limit: must be a whole number'],
    [['list', '--limit', '10001'], '--limit: must be a whole number'],
    [['export', '--format', 'xml'], '--format: must be one of ndjson, csv'],
    [['export', '--limit', '5'], 'unknown option --limit'],
  ] as [string[], string][])('%p', async (argv, words) => {
    using fixture = await startFixture()
    const { code, out, err } = await fixture.cli('audit', ...argv)
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain(words)
  })
})

describe('audit export', () => {
  test('writes an object a line, oldest first, and how many on standard error', async () => {
    using fixture = await startFixture()
    await fixture.recordMany(1201)

    const { code, out, err } = await fixture.cli('audit', 'export')

    const entries = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect([code, err]).toEqual([0, '1201 entries.\n'])
    expect(entries).toHaveLength(1201)
    expect([entries[0].object, entries.at(-1).object]).toEqual(['endpoint:0', 'endpoint:1200'])
    expect(entries.toReversed().slice(0, 50)).toEqual(await fixture.listed())
    const { err: report } = await fixture.cli('audit', 'export', '--json', '--to', '-')
    expect(JSON.parse(report)).toEqual({ entries: 1201, duration_ms: expect.any(Number) })
  })

  test('takes the filters of the list', async () => {
    using fixture = await startFixture()
    await fixture.recordMany(600)
    await fixture.record({ tenantId: 'other', action: 'key.revoked', object: 'key:1' })

    const { out } = await fixture.cli('audit', 'export', '--tenant', 'other', '--action', 'key')

    expect(JSON.parse(out)).toMatchObject({ tenant_id: 'other', object: 'key:1' })
    const none = await fixture.cli('audit', 'export', '--actor', 'nobody')
    expect([none.out, none.err]).toEqual(['', '0 entries.\n'])
  })

  test('into a new file that only its owner reads', async () => {
    using fixture = await startFixture()
    await fixture.record()
    const file = join(fixture.folder, 'log.ndjson')

    const { code, out } = await fixture.cli('audit', 'export', '--to', 'log.ndjson', '--json')

    const duration_ms = expect.any(Number)
    expect([code, JSON.parse(out)]).toEqual([0, { entries: 1, file, duration_ms }])
    expect(JSON.parse(readFileSync(file, 'utf8')).object).toBe('endpoint:1')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('into a directory, named after the time', async () => {
    using fixture = await startFixture()
    await fixture.record()
    mkdirSync(join(fixture.folder, 'logs'))

    for (const format of ['ndjson', 'csv'])
      await fixture.cli('audit', 'export', '--to', 'logs', '--format', format)

    const names = readdirSync(join(fixture.folder, 'logs'))
    expect(names).toHaveLength(2)
    const stamp = '\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\dZ'
    for (const format of ['ndjson', 'csv'])
      expect(names).toContainEqual(
        expect.stringMatching(new RegExp(`^gatehouse-audit-${stamp}\\.${format}$`)),
      )
    expect(await fixture.cli('audit', 'export', '--to', 'nowhere/')).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not exist. Is it mounted?'),
    })
  })

  test('never over a file that is there', async () => {
    using fixture = await startFixture()
    const file = join(fixture.folder, 'precious')
    await Bun.write(file, 'mine')

    const { code, err } = await fixture.cli('audit', 'export', '--to', file)

    expect(code).toBe(1)
    expect(err).toBe(`${file} already exists and is not overwritten\n`)
    expect(readFileSync(file, 'utf8')).toBe('mine')
  })

  test('leaves no part of a file behind when it fails', async () => {
    using fixture = await startFixture()
    await fixture.record()
    fixture.db.client.run("UPDATE audit_log SET detail = 'no JSON'")

    const result = fixture.cli('audit', 'export', '--to', 'log')

    await expect(result).rejects.toThrow()
    expect(readdirSync(fixture.folder)).toEqual(['data'])
  })

  test('as CSV with a header, and cells that hold what divides them', async () => {
    using fixture = await startFixture()
    await fixture.record({ object: 'a,"b"\nc', detail: { n: 1 } })

    const { out } = await fixture.cli('audit', 'export', '--format', 'csv')

    expect(out).toBe(
      'at,tenant_id,actor_kind,actor_id,actor_source,action,object,detail\r\n' +
        `${START},acme,key,key-1,,endpoint.created,"a,""b""\nc","{""n"":1}"\r\n`,
    )
  })

  test.each(['a;b', 'a\tb'])(
    'CSV cells hold what divides them for programs of other countries: %j',
    async (object) => {
      using fixture = await startFixture()
      await fixture.record({ object })

      const { out } = await fixture.cli('audit', 'export', '--format', 'csv')

      expect(out).toContain(`,"${object}",`)
    },
  )

  test.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx'])(
    'CSV cells are no formulas of a spreadsheet: %j',
    async (object) => {
      using fixture = await startFixture()
      await fixture.record({ object })

      const { out } = await fixture.cli('audit', 'export', '--format', 'csv')

      const cell = out.slice(out.indexOf('endpoint.created,') + 17, out.indexOf(',{}'))
      expect(cell.replaceAll('"', '')).toBe(`'${object}`)
    },
  )

  test('ends on a server that goes on recording', async () => {
    using fixture = await startFixture()
    await fixture.recordMany(1000)
    let count = 0

    for (const entries of fixture.audit.oldestFirst({})) {
      count += entries.length
      fixture.db.client.transaction(() => fixture.audit.record(ENTRY))()
    }

    expect(count).toBe(1000)
  })
})

describe('a list for pages', () => {
  test('is read to its end by what each page says comes next', async () => {
    using fixture = await startFixture()
    await fixture.recordMany(25)
    const seen: string[] = []
    let before: number | undefined
    do {
      const { entries, next } = fixture.audit.list({ limit: 10, before })
      expect(entries.length).toBeLessThanOrEqual(10)
      seen.push(...objectsOf(entries))
      before = next
    } while (before !== undefined)

    expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => `endpoint:${24 - n}`))
  })

  test('looks at no more than 5000 entries at once for what is rare, and says where to go on', async () => {
    using fixture = await startFixture()
    await fixture.record({ action: 'key.revoked', object: 'key:7' })
    await fixture.recordMany(6000)
    const filter = { action: 'key.', limit: 10 }

    const first = fixture.audit.list(filter)
    expect(first.entries).toEqual([])
    const second = fixture.audit.list({ ...filter, before: first.next })
    expect(objectsOf(second.entries)).toEqual(['key:7'])
    expect(second.next).toBeUndefined()
  })
})

describe('the log is append-only', () => {
  test('no source changes a row, and only its retention deletes some', async () => {
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

  test('rows past their time go, and no others', async () => {
    using fixture = await startFixture()
    await fixture.record({ object: 'old' })
    fixture.clock.jump(10 * DAY)
    await fixture.record({ object: 'new' })
    const { deleteSlice } = fixture.audit.retention(10 * DAY)

    expect(await fixture.db.commit(() => deleteSlice(fixture.clock.now(), 500))).toBe(0)
    fixture.clock.jump(1)
    expect(await fixture.db.commit(() => deleteSlice(fixture.clock.now(), 500))).toBe(1)
    expect(objectsOf(await fixture.listed())).toEqual(['new'])
  })
})

describe('reads go by an index and sort nothing', async () => {
  const { plans, planWith } = await plansOf(createAuditStore)
  const ofTenant = '"audit_log"."tenant_id" = ? and "audit_log"."seq"'

  test.each([
    ['the newest', ['desc limit ?', 'where ("audit_log"."seq" <= ?'], 'USING INTEGER PRIMARY KEY'],
    ['the newest of a tenant', [ofTenant, 'desc'], 'audit_log_by_tenant (tenant_id=? AND'],
    ['the oldest of a tenant', [ofTenant, 'asc'], 'audit_log_by_tenant (tenant_id=? AND'],
    ['the newest of a thing', ['object" = ?'], 'audit_log_by_object (tenant_id=? AND object=?)'],
    ['a period', ['min(+'], 'USING COVERING INDEX audit_log_by_time (at>? AND at<?)'],
    ['what is past its time', ['delete from'], 'USING COVERING INDEX audit_log_by_time (at<?)'],
  ])('%s', (_, parts, index) => {
    expect(planWith(...parts)).toContain(index)
  })

  test('no statement walks through the table', () => {
    const bad = plans.filter(({ plan }) => plan.some((step) => /^SCAN|B-TREE/.test(step)))
    expect(bad).toEqual([])
  })
})
