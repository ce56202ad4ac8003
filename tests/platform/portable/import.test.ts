import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { migrations } from '../../../drizzle/index.ts'
import type { createCommit } from '../../../src/db/commit.ts'
import { StorageError } from '../../../src/db/errors.ts'
import { openScratch } from '../../../src/platform/portable/scratch.ts'
import { bootTestApp, type TestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'
import {
  exportOf,
  fileOf,
  idNumber,
  importInto,
  type Line,
  OTHER,
  ofKind,
  withPeople,
} from './fixture.ts'

let old: TestApp
let home: TestApp
let lines: Line[]
let acme: Awaited<ReturnType<TestApp['tenant']>>

beforeAll(async () => {
  old = await bootTestApp()
  acme = await old.tenant('Acme')
  const gate = old.client((await acme.key('gate', 'live')).key)
  for (const name of ['ada', 'bob', 'eve'])
    await gate.post('/v1/gate/identities', {
      schema_id: 'user',
      traits: { email: `${name}@example.com` },
    })
  await acme.api.post('/v1/clockwork/jobs', {
    name: 'nightly',
    schedule: '15 3 * * *',
    url: 'https://example.com/',
  })
  await acme.api.post('/v1/clockwork/delayed', {
    name: 'later',
    run_at: '2026-03-02T12:00:00Z',
    url: 'https://example.com/',
  })
  const relay = old.client((await acme.key('relay', 'live')).key)
  await relay.post('/v1/relay/endpoints', { url: 'https://example.com/' })
  lines = exportOf(old, acme.id)
})
afterAll(() => old.stop())

const copy = (): Line[] => structuredClone(lines)

/** All that an import could have left. */
const tenantsThere = () => home.platform.tenants.list().map(({ id }) => id)

describe('a file that is not a whole export is refused, and nothing is written', () => {
  beforeAll(async () => {
    home = await bootTestApp()
  })
  afterAll(() => home.stop())

  const indexOf = (kind: string) => lines.findIndex((line) => line.kind === kind)
  const changed = (kind: string, changes: object) => () => {
    const next = copy()
    Object.assign(next[indexOf(kind)], changes)
    return fileOf(next)
  }
  const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const DEEP = `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`

  /** Of the one stream that there is. */
  function withEndpoints(count: number): Line[] {
    const at = indexOf('endpoint')
    const many = Array.from({ length: count }, (_, n) => ({ ...lines[at], id: idNumber(n) }))
    return lines.toSpliced(at, 1, ...many)
  }

  const cases: [string, () => string | Uint8Array, string][] = [
    ['nothing', () => '', 'the file is empty'],
    ['no JSON', () => 'hello\n', 'line 1: must be JSON in UTF-8'],
    ['another format', () => '{"a":1}\n', 'line 1: the file is not a tenant export'],
    [
      'JSON that is no object',
      () => `${fileOf(lines).split('\n')[0]}\n[1]\n`,
      'line 2: must be a JSON object',
    ],
    [
      'bytes that are not UTF-8',
      () => Uint8Array.of(0x7b, 0xff, 0x7d, 10),
      'line 1: must be JSON in UTF-8',
    ],
    [
      'what is nested without end',
      () => `${'['.repeat(1_000_000)}\n`,
      'line 1: must be JSON in UTF-8',
    ],
    [
      'a line that was cut',
      () => fileOf(lines).slice(0, -40),
      'line 15: the file ends in the middle of this line',
    ],
    [
      'lines that are gone from the end',
      () => `${fileOf(lines).split('\n').slice(0, 4).join('\n')}\n`,
      'the file is incomplete: its last line is missing',
    ],
    [
      'a line that is gone from the middle',
      () => fileOf(lines).split('\n').toSpliced(9, 1).join('\n'),
      'the file has changed since the export: lines were lost or edited',
    ],
    [
      'a changed line',
      () => fileOf(lines).replaceAll('ada@example.com', 'adb@example.com'),
      'the file has changed since the export: lines were lost or edited',
    ],
    [
      'something behind the end',
      () => `${fileOf(lines)}{}\n`,
      'line 15: the file has more lines after its last line',
    ],
    [
      'a line of more than 4 MB',
      () => `${fileOf(lines).split('\n')[0]}\n{"kind":"${'x'.repeat(5_000_000)}"}\n`,
      'line 2: must have at most 4194304 bytes',
    ],
    ['a later format', changed('gatehouse.export', { format: 2 }), 'line 1: the file has format 2'],
    [
      'a later schema',
      changed('gatehouse.export', { schema: '9999_future' }),
      'which is newer than this one',
    ],
    [
      'an unknown member of the header',
      changed('gatehouse.export', { evil: 1 }),
      'line 1: header.evil: is not valid: unexpected property',
    ],
    [
      'an unknown kind',
      changed('cron_job', { kind: 'session' }),
      'line 10: session: is not a known kind',
    ],
    [
      'an unknown field',
      changed('identity', { is_admin: true }),
      'line 3: identity.is_admin: is not a known field',
    ],
    [
      'a field of the prototype',
      () => fileOf(lines).replace('"kind":"identity"', '"kind":"identity","__proto__":{}'),
      'line 3: identity.__proto__: is not a known field',
    ],
    [
      'a kind that is no text',
      changed('cron_job', { kind: { toString: 1, valueOf: 1 } }),
      'kind: must be a string',
    ],
    ['a wrong type', changed('identity', { id: 5 }), 'line 3: identity.id: must be a string'],
    [
      'null where there has to be something',
      changed('cron_job', { url: null }),
      'cron_job.url: must be a string',
    ],
    [
      'another word than those there are',
      changed('identity', { state: 'gone' }),
      'identity.state: must be one of active, inactive',
    ],
    [
      'a time that is none',
      changed('identity', { created_at: '2026-02-30T00:00:00.000Z' }),
      'identity.created_at: must be a time',
    ],
    [
      'a time before 1970',
      changed('identity', { created_at: '1969-12-31T23:59:59.999Z' }),
      'identity.created_at: must be a time',
    ],
    [
      'a time after the year 9999',
      changed('identity', { updated_at: '+010000-01-01T00:00:00.000Z' }),
      'identity.updated_at: must be a time',
    ],
    [
      'a time that far within a secret',
      changed('endpoint', { secrets: [{ secret: SECRET, expiresAt: 1e15 }] }),
      'line 9: endpoint.secrets.0.expiresAt: is not valid: expected union value',
    ],
    [
      'a tenant without a name',
      changed('tenant', { name: ' ' }),
      'line 2: tenant.name: must have at least one visible character',
    ],
    [
      'a name of a tenant that is too long',
      changed('tenant', { name: 'x'.repeat(201) }),
      'line 2: tenant.name: must have at most 200 characters',
    ],
    [
      'a name of a tenant that moves a cursor',
      changed('tenant', { name: 'Acme\u001b[2K' }),
      'line 2: tenant.name: must be one line without control characters',
    ],
    [
      'a name of a tenant with space about it',
      changed('tenant', { name: ' Acme' }),
      'line 2: tenant.name: must not start or end with a space',
    ],
    [
      'keys that no installation has',
      changed('gatehouse.export', { key_prefix: '\u001b[2Ksvc' }),
      "line 1: header.key_prefix: is not valid: expected string to match '^[a-z][a-z0-9]{0,15}$'",
    ],
    [
      'more endpoints of one stream than there ever are',
      () => fileOf(withEndpoints(1001)),
      'line 1009: endpoint: must have at most 1000 rows per stream',
    ],
    [
      'what is nested deeper than can be walked through',
      () => {
        const [{ id, tenant_id, created_at, updated_at }] = ofKind(lines, 'identity')
        const times = { created_at, updated_at }
        const tokens = 'here'
        const link = { kind: 'social_link', tenant_id, provider: 'google', subject: '1', tokens }
        const next = lines.toSpliced(indexOf('endpoint'), 0, { ...link, identity_id: id, ...times })
        return fileOf(next).replace('"here"', DEEP)
      },
      'social_link.tokens: is nested too deeply',
    ],
    [
      'half a character',
      changed('identity', { schema_id: '\ud800' }),
      'line 3: identity.schema_id: must be valid Unicode',
    ],
    [
      'traits without an address',
      changed('identity', { traits: {} }),
      'identity.traits.email: is required',
    ],
    [
      'an address in another line 3: identity.traits.email: must be in the normalized form that addresses are stored in',
      changed('identity', { traits: { email: 'ADA@example.com' } }),
      'line 3: identity.traits.email: must be in the normalized form that addresses are stored in',
    ],
    [
      'a schedule that is none',
      changed('cron_job', { schedule: 'daily' }),
      'line 10: cron_job.schedule: must have 5 fields, not 1',
    ],
    [
      'a URL that cannot be called',
      changed('cron_job', { url: 'file:///etc/passwd' }),
      'cron_job.url: must be an http or https URL',
    ],
    [
      'headers that cannot be sent',
      changed('cron_job', { headers: { 'a b': 'c' } }),
      'line 10: cron_job.headers: must have names of letters, digits and hyphens, unlike "a b"',
    ],
    [
      'headers that are no text',
      changed('cron_job', { headers: { a: 1 } }),
      'line 10: cron_job.headers.a: is not valid: expected string',
    ],
    [
      'a delayed job that has ended',
      changed('delayed_job', { status: 'success' }),
      'delayed_job.status: must be pending',
    ],
    [
      'a key without its environment',
      changed('api_key', { engine: 'gate', environment: null }),
      'line 12: api_key.environment: must be set for gate keys',
    ],
    [
      'another tenant’s row',
      changed('identity', { tenant_id: OTHER }),
      'line 3: identity: belongs to a different tenant than the file',
    ],
    [
      'another tenant than the header names',
      changed('tenant', { id: OTHER }),
      'line 2: tenant: belongs to a different tenant than the file',
    ],
    [
      'an address that two people have',
      changed('identity', { traits: { email: 'bob@example.com' } }),
      'line 4: identity.email: is already used by another identity',
    ],
    [
      'what belongs to nobody',
      changed('address', { identity_id: idNumber(1) }),
      'line 6: address: refers to a row that does not exist',
    ],
    [
      'a line twice',
      () => fileOf(copy().toSpliced(3, 0, lines[2])),
      'line 4: identity: is in the file twice',
    ],
    [
      'keys before what they open',
      () => fileOf(copy().toSpliced(2, 0, ofKind(lines, 'api_key')[0])),
      'line 4: identity: must come before api_key',
    ],
    [
      'no tenant',
      () => fileOf(copy().toSpliced(1, 1)),
      'line 2: identity: must come after the tenant',
    ],
    [
      'two tenants',
      () => fileOf(copy().toSpliced(1, 0, lines[1])),
      'line 3: tenant: must have at most 1 row',
    ],
    [
      'a tenant alone in the header',
      () => fileOf([lines[0], lines.at(-1)]),
      'line 2: the file has no tenant',
    ],
  ]

  test.each(cases)('%s', async (_, text, message) => {
    await expect(importInto(home, text())).rejects.toThrow(message)
    expect(tenantsThere()).toEqual([])
    expect(home.db.client.query('select * from imports').all()).toEqual([])
  })
})

describe('what belongs to others is not touched', () => {
  beforeEach(async () => {
    home = await bootTestApp()
  })
  afterEach(() => home.stop())

  test('a tenant that is here already is refused', async () => {
    await importInto(home, fileOf(lines))
    await expect(importInto(home, fileOf(lines))).rejects.toThrow('already exists')
    const own = await home.tenant('Own')
    const mine = exportOf(home, own.id)
    await expect(importInto(home, fileOf(mine))).rejects.toThrow('already exists')
  })

  test.each(['api_key', 'identity', 'cron_job'])(
    'an id of another tenant is refused: %s',
    async (kind) => {
      await importInto(home, fileOf(lines))
      const [taken] = ofKind(lines, kind)
      const other = JSON.parse(JSON.stringify(lines).replaceAll(acme.id, OTHER)) as Line[]
      const before = exportOf(home, acme.id)

      const only = other.filter(
        (line) => ['gatehouse.export', 'tenant', 'end'].includes(line.kind) || line.id === taken.id,
      )
      await expect(importInto(home, fileOf(only))).rejects.toThrow(
        `line 3: ${kind}.id: is already used by another ${kind}`,
      )
      expect(tenantsThere()).toEqual([acme.id])
      expect(exportOf(home, acme.id).slice(1, -1)).toEqual(before.slice(1, -1))
    },
  )
})

describe('an import that was cut short', () => {
  beforeEach(async () => {
    home = await bootTestApp()
  })
  afterEach(() => home.stop())

  const text = () => fileOf(withPeople(lines, 600))

  /** Dies in the commit of this number. */
  async function cutShort(atCommit: number, file = text()) {
    let commits = 0
    const commit: ReturnType<typeof createCommit>['commit'] = (work) => {
      if (++commits === atCommit) throw new Error('killed')
      return home.db.commit(work)
    }
    await expect(importInto(home, file, { db: { ...home.db, commit } })).rejects.toThrow('killed')
  }

  test.each([2, 3])('is completed by the same file, in commit %p', async (atCommit) => {
    await cutShort(atCommit)
    expect(home.platform.tenants.find(acme.id).status).toBe('suspended')

    const { alreadyThere } = await importInto(home, text())

    expect(alreadyThere).toBe((atCommit - 1) * 500)
    expect(home.platform.tenants.find(acme.id).status).toBe('active')
    const fresh = await bootTestApp()
    await importInto(fresh, text())
    expect(exportOf(home, acme.id).slice(1, -1)).toEqual(exportOf(fresh, acme.id).slice(1, -1))
    const counts = 'select * from job_counts'
    expect(home.db.client.query(counts).all()).toEqual(fresh.db.client.query(counts).all())
    await fresh.stop()
  })

  test('takes no other file, and says which one it waits for', async () => {
    await cutShort(2)
    await expect(importInto(home, fileOf(lines))).rejects.toThrow(
      /was interrupted. To complete it, import the same file again \(SHA-256 [0-9a-f]{64}\)/,
    )
  })

  test('opens no door before its end', async () => {
    await cutShort(2)
    expect(await home.client(acme.secret).get('/v1/clockwork/jobs')).toMatchObject({ status: 401 })
    await importInto(home, text())
    expect(await home.client(acme.secret).get('/v1/clockwork/jobs')).toMatchObject({ status: 200 })
  })

  test('cannot be woken before its end', async () => {
    await cutShort(2)
    const { resume, suspend, change } = home.platform.tenants
    const message = 'the import of this tenant was interrupted: import the same file again'
    await expect(resume({ kind: 'cli' }, acme.id)).rejects.toThrow(message)
    await expect(suspend({ kind: 'cli' }, acme.id, 'billing')).rejects.toThrow(message)
    await expect(change({ kind: 'cli' }, acme.id, { name: 'Ours' })).rejects.toThrow(message)

    await importInto(home, text())
    expect(await change({ kind: 'cli' }, acme.id, { name: 'Ours' })).toMatchObject({
      name: 'Ours',
      status: 'active',
    })
  })

  test('has no jobs that run as long as anything but keys is missing', async () => {
    const [endpoint] = ofKind(lines, 'endpoint')
    const more = Array.from({ length: 600 }, (_, n) => ({ ...endpoint, id: idNumber(n) }))
    const whole = fileOf(lines.toSpliced(lines.indexOf(endpoint), 0, ...more))
    await cutShort(2, whole)
    for (const table of ['cron_jobs', 'delayed_jobs', 'runs'])
      expect(home.db.client.query(`select * from ${table}`).all()).toEqual([])

    await importInto(home, whole)
    expect(home.db.client.query('select state from runs').all()).toEqual([{ state: 'waiting' }])
  })

  test('begins with an empty tenant only if nothing of it was kept', async () => {
    await cutShort(1)
    expect(tenantsThere()).toEqual([])
    expect(await importInto(home, text())).toMatchObject({ alreadyThere: 0 })
  })
})

describe('a disk without room for the check', () => {
  test('is told in a sentence, and nothing is written', async () => {
    const home = await bootTestApp()
    using folder = temporaryFolder()
    const openFull = () => {
      const scratch = openScratch({ dataDir: folder.path, migrations, now: 0 })
      scratch.client.run('PRAGMA max_page_count = 1')
      return scratch
    }
    const file = fileOf(withPeople(lines, 2000))

    const error = await importInto(home, file, { openScratch: openFull }).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(StorageError)
    expect(error.message).toBe('the disk is full')
    expect(home.platform.tenants.list()).toEqual([])
    await home.stop()
  })
})

describe('what a file says, in the message that refuses it', () => {
  test.each([
    ['a kind', { kind: '\u001b[2J\u202ekind\n' }],
    ['a field', { '\u001b]0;title\u0007': 1 }],
    ['a key of a document', { headers: { '\u009b2J': 1 } }],
  ])('moves no cursor: %s', async (_, changes) => {
    const home = await bootTestApp()
    const next = copy()
    Object.assign(
      next.find(({ kind }: Line) => kind === 'cron_job'),
      changes,
    )
    const { message } = await importInto(home, fileOf(next)).catch((thrown) => thrown)
    expect(message).toStartWith('line ')
    expect(message).not.toMatch(/[\p{Cc}\u202e]/u)
    await home.stop()
  })
})

describe('months of usage', () => {
  test('come as they were counted', async () => {
    const home = await bootTestApp()
    const { id } = await old.tenant('Metered')
    const counted = [id, '2026-02', 1200, 200, 35, 80, 50, 3, 10]
    old.db.client.run('insert into usage_months values (?, ?, ?, ?, ?, ?, ?, ?, ?)', counted)
    await importInto(home, fileOf(exportOf(old, id)))
    expect(home.db.client.query('select * from usage_months').values()).toEqual([counted])
    await home.stop()
  })
})

describe('a suspended tenant', () => {
  beforeEach(async () => {
    home = await bootTestApp()
  })
  afterEach(() => home.stop())

  test('is suspended where it comes to', async () => {
    const { id } = await old.tenant('Late')
    await old.platform.tenants.suspend({ kind: 'cli' }, id, 'renewal')
    await importInto(home, fileOf(exportOf(old, id)))
    expect(home.platform.tenants.find(id).status).toBe('renewal_unpaid')
  })
})
