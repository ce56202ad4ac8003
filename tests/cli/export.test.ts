import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mintToken } from '../engines/gate/fixture.ts'
import { bootFlows } from '../engines/gate/sign-in/flows/fixture.ts'
import { bootPassepartout, type Json } from '../engines/passepartout/fixture.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startTarget } from '../support/target.ts'

/** A tenant with an API key, in a data directory of its own. */
async function newHome() {
  const { path, [Symbol.dispose]: remove } = temporaryFolder()
  const gatehouse = cli(path)
  const { id } = (await gatehouse('tenant', 'create', '--name', 'Acme', '--json')).json()
  await gatehouse('key', 'create', '--tenant', id, '--engine', 'relay')
  return {
    ...{ path, id: id as string, gatehouse, [Symbol.dispose]: remove },
    file: (name: string) => join(path, name),
    /** Into another data directory. */
    elsewhere: (...argv: string[]) => gatehouse(...argv, '--data-dir', 'other'),
    exported: (...more: string[]) => gatehouse('export', '--tenant', id, ...more),
  }
}

const actionsIn = async (gatehouse: ReturnType<typeof cli>, ...more: string[]) =>
  (await gatehouse('audit', 'list', '--json', ...more))
    .json()
    .entries.map(({ action }: Json) => action)

test('A tenant is exported to a new file for its owner alone, and imported elsewhere, both audited', async () => {
  using home = await newHome()
  const file = home.file('acme.ndjson')
  const exported = await home.exported('--to', 'acme.ndjson', '--json')
  expect([exported.code, exported.err]).toEqual([0, ''])
  const report = { tenant: home.id, duration_ms: expect.any(Number) }
  const warnings = [expect.stringContaining('unencrypted secrets')]
  const counts = expect.objectContaining({ tenant: 1, api_key: 1, identity: 0 })
  const leftOut = { left_out: { running_delayed_jobs: 0 } }
  expect(exported.json()).toEqual({ ...report, file, counts, ...leftOut, warnings })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const imported = await home.elsewhere('import', 'acme.ndjson', '--json')
  expect([imported.code, imported.err]).toEqual([0, ''])
  const none = { left_out: { recovery_codes: 0 }, already_there: 0, overdue_delayed_jobs: 0 }
  expect(imported.json()).toEqual({ ...report, counts, ...none })
  expect((await home.elsewhere('tenant', 'list')).out).toContain(home.id)
  const isLeft = (name: string) => name.startsWith('import')
  expect(readdirSync(home.file('other')).filter(isLeft)).toEqual([])
  const again = await home.elsewhere('import', 'acme.ndjson')
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('already exists')])
  expect(await actionsIn(home.gatehouse)).toContain('tenant.exported')
  expect(await actionsIn(home.elsewhere)).toEqual(['tenant.imported'])
})

test('A tenant is imported with a hint at the prefix of its API keys, if it has any', async () => {
  using home = await newHome()
  const empty = (await home.gatehouse('tenant', 'create', '--name', 'Empty', '--json')).json()
  await home.exported('--to', 'acme.ndjson')
  await home.gatehouse('export', '--tenant', empty.id, '--to', 'empty.ndjson')
  const imported = (file: string) => home.elsewhere('import', file, '--brand-prefix', 'new')
  expect((await imported('acme.ndjson')).out).toContain('Its API keys start with svc')
  expect((await imported('empty.ndjson')).out).not.toContain('API keys start')
})

test('A tenant is written to standard output but not on a terminal, with the report on standard error', async () => {
  using home = await newHome()
  const { code, out, err } = await home.exported('--json')
  const lines = out.trimEnd().split('\n')
  const [head, ...rest] = lines.map((line) => JSON.parse(line))
  expect(code).toBe(0)
  expect(head).toMatchObject({ kind: 'gatehouse.export', format: 1, tenant: home.id })
  expect([head.key_prefix, ...rest.map(({ kind }) => kind)]).toEqual([
    'svc',
    'tenant',
    'api_key',
    'end',
  ])
  expect(JSON.parse(err)).toMatchObject({ tenant: home.id, left_out: {}, counts: { tenant: 1 } })
  const plain = await home.exported('--to', '-')
  expect(plain.out.split('\n')).toHaveLength(5)
  for (const words of ['unencrypted secrets', 'Exported tenant Acme'])
    expect(plain.err).toContain(words)
  expect(existsSync(home.file('-'))).toBe(false)
  const terminal = cli(home.path, { isOutTerminal: true, isWatched: true })
  const refused = await terminal('export', '--tenant', home.id)
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--to') })
  const progress = expect.stringContaining('Exporting 1 lines')
  const shown = await terminal('export', '--tenant', home.id, '--to', 'file')
  expect(shown).toMatchObject({ code: 0, err: progress })
})

test('A tenant gets a file named after it and the time in a directory, never over another file', async () => {
  using home = await newHome()
  mkdirSync(home.file('safe'))
  await home.exported('--to', 'safe')
  const name = expect.stringMatching(new RegExp(`^gatehouse-${home.id}-20.*Z\\.ndjson$`))
  expect(readdirSync(home.file('safe'))).toEqual([name])
  writeFileSync(home.file('taken'), 'mine')
  for (const [to, words] of [
    ['taken', 'already exists and is not overwritten'],
    ['no/such/folder', 'no such file or directory'],
  ] as const) {
    const { code, err } = await home.exported('--to', to)
    expect([code, err]).toEqual([1, expect.stringContaining(words)])
  }
  expect(readFileSync(home.file('taken'), 'utf8')).toBe('mine')

  // A damaged database is not exported, and leaves no file.
  const file = home.file('data/gatehouse.db')
  using db = new Database(file)
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  const number = (sql: string) => db.query<unknown, []>(sql).values()[0]?.[0] as number
  const index = "name = 'sqlite_autoindex_gate_settings_1'"
  const page = number(`SELECT rootpage FROM sqlite_schema WHERE ${index}`)
  const size = number('PRAGMA page_size')
  writeFileSync(file, readFileSync(file).fill(0xff, (page - 1) * size, page * size))
  const { code, err } = await home.exported('--to', 'acme.ndjson')
  expect([code, err]).toEqual([1, expect.stringContaining('the database file is damaged\n')])
  expect(readdirSync(home.path).toSorted()).toEqual(['data', 'safe', 'taken'])
})

test('A tenant that is named wrongly fails with a sentence', async () => {
  using home = await newHome()
  for (const [line, code, message] of [
    ['export', 2, '--tenant is required'],
    ['export --tenant x', 1, 'tenant not found'],
    ['export --tenant ID --identity x', 1, 'identity not found'],
    ['export --tenant ID --person x', 1, 'user not found'],
    ['export --tenant ID --identity x --person y', 2, 'either --identity or --person'],
    ['import', 2, 'FILE is missing'],
    ['import nothing.ndjson', 1, 'no such file'],
    ['import .', 1, 'is not a file'],
  ] as const) {
    const answer = await home.gatehouse(...line.replace('ID', home.id).split(' '))
    expect([line, answer.code, answer.out]).toEqual([line, code, ''])
    expect(answer.err).toContain(message)
  }
})

describe('The data about one person', async () => {
  const fixture = await bootFlows()
  const target = await startTarget()
  await fixture.security({ mfa_enabled: true })
  await fixture.createWebhook(target.url)
  afterAll(async () => {
    await fixture.app.stop()
    await target.stop()
  })
  const dir = dirname(fixture.app.db.file)
  const of = (identity: { id: string }, tenant = fixture.acme.id) => [
    ...['export', '--data-dir', dir, '--tenant', tenant, '--identity', identity.id],
  ]

  test('is one object with everything but secrets and other people', async () => {
    const { session_token, identity } = await fixture.register('ada@example.com')
    const secret = await fixture.enrol(session_token)
    await fixture.signIn('ada@example.com')
    await fixture.register('bob@example.com')
    await mintToken(fixture.app, fixture.key, { subject: identity.id })
    const resource = { type: 'Document', id: 'd-1' }
    const question = { subject: identity.id, action: 'read', resource }
    await fixture.api.post('/v1/gate/authorize', question)
    await fixture.clock.advance(5000)

    const { code, out, err, json } = await cli(dir)(...of(identity))
    expect([code, err]).toEqual([0, expect.stringContaining('Exported the data about')])
    const data = json()
    const named = (list: Record<string, string>[], key: string) => list.map((one) => one[key])
    expect(data.sessions).toHaveLength(2)
    expect(data.sessions[0]).toMatchObject({ is_ended: false, issued_at: expect.any(String) })
    expect(named(data.mails, 'kind')).toContain('welcome')
    expect(named(data.webhook_deliveries, 'type')).toContain('identity.created')
    expect(named(data.audit, 'action')).toContain('identity.created')
    for (const hidden of [secret, 'argon2', 'bob@example.com', session_token])
      expect(out).not.toContain(hidden)
    const password = { type: 'password', identifiers: ['ada@example.com'] }
    expect(data).toMatchObject({
      kind: 'gatehouse.person',
      tenant: fixture.acme.id,
      identity: { id: identity.id, traits: { email: 'ada@example.com' }, metadata_public: {} },
      addresses: [{ value: 'ada@example.com', verified_at: null }],
      credentials: { password, totp: { type: 'totp' } },
      access_tokens: [{ expires_at: expect.any(String) }],
      note: expect.stringContaining('--person'),
    })
    const other = await fixture.app.tenant('Other')
    const elsewhere = await cli(dir)(...of(identity, other.id))
    expect(elsewhere).toMatchObject({ code: 1, out: '', err: 'identity not found\n' })
  })

  test('may be printed on a terminal or written to a file, once the audit log has the export', async () => {
    const { identity } = await fixture.register('tty@example.com')
    const shown = await cli(dir, { isOutTerminal: true })(...of(identity))
    expect([shown.code, shown.out]).toEqual([0, expect.stringContaining('tty@example.com')])
    using folder = temporaryFolder()
    const isThere = () => readdirSync(folder.path).some((name) => name.endsWith('.json'))
    const busy = new Database(fixture.app.db.file)
    busy.run('BEGIN IMMEDIATE')
    const writing = cli(folder.path)(...of(identity), '--to', '.', '--json')
    await Bun.sleep(30)
    expect(isThere()).toBe(false)
    busy.run('COMMIT')
    busy.close()
    const { err, json } = await writing
    expect([err, isThere()]).toEqual(['', true])
    const file = expect.stringContaining(join(folder.path, `gatehouse-${identity.id}-20`))
    const report = { tenant: fixture.acme.id, object: `identity:${identity.id}`, file }
    expect(json()).toEqual({ ...report, warnings: [], duration_ms: expect.any(Number) })
    const exports = ['--data-dir', dir, '--object', identity.id, '--action', 'person.exported']
    expect(await actionsIn(cli(dir), ...exports)).toHaveLength(2)
  })

  test('has emails to the address from before the account', async () => {
    const email = 'early@example.com'
    await fixture.send(await fixture.start('recovery'), { method: 'code', email })
    const identity = await fixture.createIdentity({ traits: { email } })
    const { json } = await cli(dir)(...of(identity))
    expect(json().mails).toMatchObject([{ recipient: email }])
  })

  test('of a messenger account has its sign-ins alone', async () => {
    await using messenger = await bootPassepartout()
    const acme = await messenger.newTenant()
    const person = (first_name: string) => messenger.botApi.person({ first_name })
    const { id } = (await messenger.signIn(acme, person('Ada'))).user
    await messenger.signIn(acme, person('Bob'))
    const there = dirname(messenger.app.db.file)
    const argv = ['export', '--data-dir', there, '--tenant', acme.id, '--person', id]
    const data = (await cli(there)(...argv)).json()
    expect([data.sign_ins.length, data.audit.length > 0]).toEqual([1, true])
    expect(data).toMatchObject({
      person: { id, platform: 'telegram', first_name: 'Ada' },
      sign_ins: [{ state: 'approved' }],
      access_tokens: [{ revoked_at: null }],
    })
  })
})

test('A restore is recorded in the audit log that it brings back', async () => {
  using home = await newHome()
  await home.gatehouse('backup', '--to', 'a.tar.gz')
  expect(await home.elsewhere('restore', 'a.tar.gz')).toMatchObject({ code: 0, err: '' })
  const [last, ...before] = await actionsIn(home.elsewhere)
  expect([last, before.at(-1)]).toEqual(['backup.restored', 'tenant.created'])
})
