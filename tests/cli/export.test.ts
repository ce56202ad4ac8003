import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mintToken } from '../engines/gate/fixture.ts'
import { bootFlows, type FlowFixture } from '../engines/gate/sign-in/flows/fixture.ts'
import { bootPassepartout } from '../engines/passepartout/fixture.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startTarget } from '../support/target.ts'

/** A tenant with a key, in a data directory of its own. */
async function furnished(folder: string) {
  const gatehouse = cli(folder)
  const json = async (...argv: string[]) => JSON.parse((await gatehouse(...argv, '--json')).out)
  const { id } = await json('tenant', 'create', '--name', 'Acme')
  await json('key', 'create', '--tenant', id, '--engine', 'relay')
  return { gatehouse, id: id as string, json }
}

describe('a tenant', () => {
  test('goes to a new file that nobody else can read, and from there to another place', async () => {
    using here = temporaryFolder()
    using there = temporaryFolder()
    const { gatehouse, id } = await furnished(here.path)
    const file = join(there.path, 'acme.ndjson')

    const exported = await gatehouse('export', '--tenant', id, '--to', file, '--json')
    expect(exported).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(exported.out)).toEqual({
      tenant: id,
      file,
      counts: expect.objectContaining({ tenant: 1, api_key: 1, identity: 0 }),
      left_out: { running_delayed_jobs: 0 },
      warnings: [expect.stringContaining('unencrypted secrets')],
      duration_ms: expect.any(Number),
    })
    expect(statSync(file).mode & 0o777).toBe(0o600)

    const elsewhere = cli(there.path)
    const imported = await elsewhere('import', 'acme.ndjson', '--json')
    expect(imported).toMatchObject({ code: 0, err: '' })
    expect(JSON.parse(imported.out)).toEqual({
      tenant: id,
      counts: expect.objectContaining({ tenant: 1, api_key: 1 }),
      left_out: { recovery_codes: 0 },
      already_there: 0,
      overdue_delayed_jobs: 0,
      duration_ms: expect.any(Number),
    })
    expect((await elsewhere('tenant', 'list')).out).toContain(id)
    expect(
      readdirSync(join(there.path, 'data')).filter((name) => name.startsWith('import')),
    ).toEqual([])
    expect(await elsewhere('import', 'acme.ndjson')).toMatchObject({
      code: 1,
      err: expect.stringContaining('already exists'),
    })
  })

  test('is the whole of standard output, with the report beside it', async () => {
    using folder = temporaryFolder()
    const { gatehouse, id } = await furnished(folder.path)

    const { code, out, err } = await gatehouse('export', '--tenant', id, '--json')
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(code).toBe(0)
    expect(lines.map(({ kind }) => kind)).toEqual(['gatehouse.export', 'tenant', 'api_key', 'end'])
    expect(lines[0]).toMatchObject({ format: 1, tenant: id, key_prefix: 'svc' })
    expect(JSON.parse(err)).toMatchObject({ tenant: id, left_out: {}, counts: { tenant: 1 } })
    const plain = await gatehouse('export', '--tenant', id, '--to', '-')
    expect(plain.out.split('\n')).toHaveLength(5)
    expect(plain.err).toContain('unencrypted secrets')
    expect(plain.err).toContain('Exported tenant Acme')
    expect(existsSync(join(folder.path, '-'))).toBe(false)
  })

  test('is not shown on a terminal, where secrets do not belong', async () => {
    using folder = temporaryFolder()
    const { id } = await furnished(folder.path)

    const atTerminal = cli(folder.path, { isOutTerminal: true })
    const shown = await atTerminal('export', '--tenant', id)
    expect(shown).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--to') })
    const filed = await atTerminal('export', '--tenant', id, '--to', 'file')
    expect(filed).toMatchObject({ code: 0 })
  })

  test('in a directory has a file named after it and the time', async () => {
    using folder = temporaryFolder()
    const { gatehouse, id } = await furnished(folder.path)
    mkdirSync(join(folder.path, 'safe'))

    const { code } = await gatehouse('export', '--tenant', id, '--to', 'safe')
    expect(code).toBe(0)
    const [name, ...more] = readdirSync(join(folder.path, 'safe'))
    expect(name).toStartWith(`gatehouse-${id}-20`)
    expect(name).toEndWith('Z.ndjson')
    expect(more).toEqual([])
  })

  test('of a damaged database is refused in a sentence, and leaves no file', async () => {
    using folder = temporaryFolder()
    const { gatehouse, id } = await furnished(folder.path)
    const file = join(folder.path, 'data', 'gatehouse.db')
    using db = new Database(file)
    db.run('PRAGMA wal_checkpoint(TRUNCATE)')
    const [[page = 0] = [], [size = 0] = []] = [
      "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_gate_settings_1'",
      'PRAGMA page_size',
    ].flatMap((sql) => db.query<unknown, []>(sql).values() as number[][])
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.fill(0xff, (page - 1) * size, page * size))

    expect(await gatehouse('export', '--tenant', id, '--to', 'acme.ndjson')).toMatchObject({
      code: 1,
      err: expect.stringContaining('the database file is damaged\n'),
    })
    expect(readdirSync(folder.path)).toEqual(['data'])
  })

  test('is never written over a file, nor left half a file', async () => {
    using folder = temporaryFolder()
    const { gatehouse, id } = await furnished(folder.path)
    writeFileSync(join(folder.path, 'taken'), 'mine')

    expect(await gatehouse('export', '--tenant', id, '--to', 'taken')).toMatchObject({
      code: 1,
      err: expect.stringContaining('already exists and is not overwritten'),
    })
    expect(readFileSync(join(folder.path, 'taken'), 'utf8')).toBe('mine')
    expect(readdirSync(folder.path).toSorted()).toEqual(['data', 'taken'])
    expect(await gatehouse('export', '--tenant', id, '--to', 'no/such/folder')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no such file or directory'),
    })
  })

  test('leaves a row in the audit log of either place', async () => {
    using folder = temporaryFolder()
    const { gatehouse, id } = await furnished(folder.path)
    await gatehouse('export', '--tenant', id, '--to', 'acme.ndjson')
    const other = (...argv: string[]) => gatehouse(...argv, '--data-dir', 'other')
    await other('import', 'acme.ndjson')

    const actions = async (list: typeof gatehouse) =>
      JSON.parse((await list('audit', 'list', '--json')).out).entries.map(
        ({ action }: { action: string }) => action,
      )
    expect(await actions(gatehouse)).toContain('tenant.exported')
    expect(await actions(other)).toEqual(['tenant.imported'])
  })

  test('is refused where there is none, and with both kinds of people', async () => {
    using folder = temporaryFolder()
    const { gatehouse, id } = await furnished(folder.path)
    const refused: [string[], number, string][] = [
      [['export'], 2, '--tenant is required'],
      [['export', '--tenant', 'x'], 1, 'tenant not found'],
      [['export', '--tenant', id, '--identity', 'x'], 1, 'identity not found'],
      [['export', '--tenant', id, '--person', 'x'], 1, 'user not found'],
      [
        ['export', '--tenant', id, '--identity', 'x', '--person', 'y'],
        2,
        'either --identity or --person',
      ],
      [['import'], 2, 'FILE is missing'],
      [['import', 'nothing.ndjson'], 1, 'no such file'],
      [['import', '.'], 1, 'is not a file'],
    ]
    for (const [argv, code, message] of refused)
      expect(await gatehouse(...argv)).toMatchObject({
        code,
        out: '',
        err: expect.stringContaining(message),
      })
  })

  test('shows on a terminal how far it is', async () => {
    using folder = temporaryFolder()
    const { id } = await furnished(folder.path)
    const { err } = await cli(folder.path, { isWatched: true })('export', '--tenant', id)
    expect(err).toContain('Exporting 1 lines')
  })

  test('with keys of another prefix is told to be so', async () => {
    using folder = temporaryFolder()
    const { gatehouse, id } = await furnished(folder.path)
    await gatehouse('export', '--tenant', id, '--to', 'acme.ndjson')
    const { out } = await gatehouse(
      'import',
      'acme.ndjson',
      '--data-dir',
      'other',
      '--brand-prefix',
      'new',
    )
    expect(out).toContain('Its API keys start with svc')
  })
})

describe('what is kept about one person', () => {
  let fixture: FlowFixture
  let target: Awaited<ReturnType<typeof startTarget>>
  beforeAll(async () => {
    fixture = await bootFlows()
    target = await startTarget()
    await fixture.security({ mfa_enabled: true })
    await fixture.createWebhook(target.url)
  })
  afterAll(async () => {
    await fixture.app.stop()
    await target.stop()
  })

  const exported = async (db: { file: string }, ...argv: string[]) => {
    const dir = dirname(db.file)
    const { code, out, err } = await cli(dir)('export', '--data-dir', dir, ...argv)
    expect({ code, err }).toEqual({
      code: 0,
      err: expect.stringContaining('Exported the data about'),
    })
    return { text: out, data: JSON.parse(out) }
  }

  test('is one object with all that there is, and no secret', async () => {
    const { session_token, identity } = await fixture.register('ada@example.com')
    const secret = await fixture.enrol(session_token)
    await fixture.signIn('ada@example.com')
    await fixture.register('bob@example.com')
    await mintToken(fixture.app, fixture.key, { subject: identity.id })
    await fixture.api.post('/v1/gate/authorize', {
      subject: identity.id,
      action: 'read',
      resource: { type: 'Document', id: 'd-1' },
    })
    await fixture.clock.advance(5000)

    const { text, data } = await exported(
      fixture.app.db,
      ...['--tenant', fixture.acme.id, '--identity', identity.id],
    )

    expect(data).toMatchObject({
      kind: 'gatehouse.person',
      tenant: fixture.acme.id,
      identity: { id: identity.id, traits: { email: 'ada@example.com' }, metadata_public: {} },
      addresses: [{ value: 'ada@example.com', verified_at: null }],
      credentials: {
        password: { type: 'password', identifiers: ['ada@example.com'] },
        totp: { type: 'totp' },
      },
      access_tokens: [{ expires_at: expect.any(String) }],
      note: expect.stringContaining('--person'),
    })
    expect(data.sessions).toHaveLength(2)
    expect(data.sessions[0]).toMatchObject({ is_ended: false, issued_at: expect.any(String) })
    expect(data.mails.map(({ kind }: { kind: string }) => kind)).toContain('welcome')
    expect(data.webhook_deliveries.map(({ type }: { type: string }) => type)).toContain(
      'identity.created',
    )
    expect(data.audit.map(({ action }: { action: string }) => action)).toContain('identity.created')
    expect(text).not.toContain(secret)
    expect(text).not.toContain('argon2')
    expect(text).not.toContain('bob@example.com')
    expect(text).not.toContain(session_token)
  })

  test('may be looked at on a terminal, and says where it went', async () => {
    const { identity } = await fixture.register('tty@example.com')
    const dir = dirname(fixture.app.db.file)
    const about = ['--tenant', fixture.acme.id, '--identity', identity.id, '--data-dir', dir]
    const shown = await cli(dir, { isOutTerminal: true })('export', ...about)
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('tty@example.com') })

    using folder = temporaryFolder()
    const { out, err } = await cli(folder.path)('export', ...about, '--to', '.', '--json')
    expect([err, JSON.parse(out)]).toEqual([
      '',
      {
        tenant: fixture.acme.id,
        object: `identity:${identity.id}`,
        file: expect.stringContaining(join(folder.path, `gatehouse-${identity.id}-20`)),
        warnings: [],
        duration_ms: expect.any(Number),
      },
    ])
  })

  test('has mails to their address from before they were anybody', async () => {
    const flow = await fixture.start('recovery')
    await fixture.send(flow, { method: 'code', email: 'early@example.com' })
    const identity = await fixture.createIdentity({ traits: { email: 'early@example.com' } })
    const { data } = await exported(
      fixture.app.db,
      ...['--tenant', fixture.acme.id, '--identity', identity.id],
    )
    expect(data.mails).toMatchObject([{ recipient: 'early@example.com' }])
  })

  test('of another tenant is not found', async () => {
    const { identity } = await fixture.register('eve@example.com')
    const other = await fixture.app.tenant('Other')
    const dir = dirname(fixture.app.db.file)
    expect(
      await cli(dir)('export', '--data-dir', dir, '--tenant', other.id, '--identity', identity.id),
    ).toMatchObject({ code: 1, out: '', err: 'identity not found\n' })
  })

  test('who signs in by messenger is an account with its sign-ins', async () => {
    const contract = await bootPassepartout()
    const acme = await contract.newTenant()
    const ada = contract.botApi.person({ first_name: 'Ada' })
    const bob = contract.botApi.person({ first_name: 'Bob' })
    await contract.signIn(acme, ada)
    await contract.signIn(acme, bob)
    const { id } = contract.app.db.client
      .query("select id from passepartout_people where first_name = 'Ada'")
      .get() as { id: string }

    const { data } = await exported(contract.app.db, '--tenant', acme.id, '--person', id)
    expect(data).toMatchObject({
      person: { id, platform: 'telegram', first_name: 'Ada' },
      sign_ins: [{ state: 'approved' }],
      access_tokens: [{ revoked_at: null }],
    })
    expect(data.sign_ins).toHaveLength(1)
    expect(data.audit.length).toBeGreaterThan(0)
    await contract.stop()
  })
})
