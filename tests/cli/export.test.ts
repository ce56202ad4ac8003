import { Database } from 'bun:sqlite'
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mintToken } from '../engines/gate/fixture.ts'
import { bootFlows } from '../engines/gate/sign-in/flows/fixture.ts'
import { type Json, START } from '../engines/passepartout/fixture.ts'
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
  expect(readdirSync(home.file('other')).filter((name) => name.startsWith('import'))).toEqual([])
  const again = await home.elsewhere('import', 'acme.ndjson')
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('already exists')])
  expect(await actionsIn(home.gatehouse)).toContain('tenant.exported')
  expect(await actionsIn(home.elsewhere)).toEqual(['tenant.imported'])
})

test('A tenant is written to standard output but not on a terminal, with the report on standard error', async () => {
  using home = await newHome()
  const { code, out, err } = await home.exported('--json')
  const [head, ...rest] = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(code).toBe(0)
  const known = { kind: 'gatehouse.export', format: 1, tenant: home.id, key_prefix: 'svc' }
  expect(head).toMatchObject(known)
  expect(rest.map(({ kind }) => kind)).toEqual(['tenant', 'api_key', 'end'])
  expect(JSON.parse(err)).toMatchObject({ tenant: home.id, left_out: {}, counts: { tenant: 1 } })
  const plain = await home.exported('--to', '-')
  expect(plain.out.split('\n')).toHaveLength(5)
  for (const words of ['unencrypted secrets', 'Exported tenant Acme'])
    expect(plain.err).toContain(words)
  const terminal = cli(home.path, { isOutTerminal: true, isWatched: true })
  const refused = await terminal('export', '--tenant', home.id)
  expect(refused).toMatchObject({ code: 2, out: '', err: expect.stringContaining('--to') })
  const shown = await terminal('export', '--tenant', home.id, '--to', 'file')
  expect(shown).toMatchObject({ code: 0, err: expect.stringContaining('Exporting 1 lines') })

  const imported = (name: string) => home.elsewhere('import', name, '--brand-prefix', 'new')
  expect((await imported('file')).out).toContain('Its API keys start with svc')
  const empty = (await home.gatehouse('tenant', 'create', '--name', 'Empty', '--json')).json()
  await home.gatehouse('export', '--tenant', empty.id, '--to', 'empty')
  expect((await imported('empty')).out).not.toContain('API keys start')
})

test('A tenant gets a file named after it and the time in a directory; a damaged database is not exported', async () => {
  using home = await newHome()
  mkdirSync(home.file('safe'))
  await home.exported('--to', 'safe')
  const name = expect.stringMatching(new RegExp(`^gatehouse-${home.id}-20.*Z\\.ndjson$`))
  expect(readdirSync(home.file('safe'))).toEqual([name])
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
  expect(readdirSync(home.path).toSorted()).toEqual(['data', 'safe'])
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

test('A restore is recorded in the audit log that it brings back', async () => {
  using home = await newHome()
  await home.gatehouse('backup', '--to', 'a.tar.gz')
  expect(await home.elsewhere('restore', 'a.tar.gz')).toMatchObject({ code: 0, err: '' })
  const [last, ...before] = await actionsIn(home.elsewhere)
  expect([last, before.at(-1)]).toEqual(['backup.restored', 'tenant.created'])
})

describe('The data about one person', async () => {
  const fixture = await bootFlows()
  const { acme, app } = fixture
  const target = await startTarget()
  await fixture.security({ mfa_enabled: true })
  await fixture.createWebhook(target.url)
  afterAll(async () => {
    await app.stop()
    await target.stop()
  })
  const dir = dirname(app.db.file)
  const of = ({ id }: { id: string }, option = '--identity', tenant = acme.id) => [
    ...['export', '--data-dir', dir, '--tenant', tenant, option, id],
  ]

  test('is one object with everything but secrets and other people', async () => {
    const email = 'ada@example.com'
    const { session_token, identity } = await fixture.register(email)
    const secret = await fixture.enrol(session_token)
    await fixture.register('bob@example.com')
    await mintToken(app, fixture.key, { subject: identity.id })
    const resource = { type: 'Document', id: 'd-1' }
    const question = { subject: identity.id, action: 'read', resource }
    await fixture.api.post('/v1/gate/authorize', question)
    await fixture.clock.advance(5000)

    const { code, out, err, json } = await cli(dir)(...of(identity))
    expect([code, err]).toEqual([0, expect.stringContaining('Exported the data about')])
    for (const hidden of [secret, 'argon2', 'bob@example.com', session_token])
      expect(out).not.toContain(hidden)
    const data = json()
    for (const [list, one] of [
      [data.mails, { kind: 'welcome' }],
      [data.webhook_deliveries, { type: 'identity.created' }],
      [data.audit, { action: 'identity.created' }],
    ])
      expect(list).toContainEqual(expect.objectContaining(one))
    expect(data).toMatchObject({
      kind: 'gatehouse.person',
      tenant: acme.id,
      identity: { id: identity.id, traits: { email }, metadata_public: {} },
      addresses: [{ value: email, verified_at: null }],
      credentials: { password: { type: 'password', identifiers: [email] }, totp: { type: 'totp' } },
      sessions: [{ is_ended: false, issued_at: expect.any(String) }],
      access_tokens: [{ expires_at: expect.any(String) }],
      note: expect.stringContaining('--person'),
    })
    const other = await app.tenant('Other')
    const elsewhere = await cli(dir)(...of(identity, '--identity', other.id))
    expect(elsewhere).toMatchObject({ code: 1, out: '', err: 'identity not found\n' })
  })

  test('may be printed on a terminal or written to a file, once the audit log has the export', async () => {
    const email = 'early@example.com'
    // An email to the address from before the account is part of it.
    await fixture.send(await fixture.start('recovery'), { method: 'code', email })
    const identity = await fixture.createIdentity({ traits: { email } })
    const { code, json } = await cli(dir, { isOutTerminal: true })(...of(identity))
    expect(code).toBe(0)
    expect(json().mails).toMatchObject([{ recipient: email }])
    using folder = temporaryFolder()
    const isThere = () => readdirSync(folder.path).some((name) => name.endsWith('.json'))
    const busy = new Database(app.db.file)
    busy.run('BEGIN IMMEDIATE')
    const writing = cli(folder.path)(...of(identity), '--to', '.', '--json')
    await Bun.sleep(30)
    expect(isThere()).toBe(false)
    busy.run('COMMIT')
    busy.close()
    const written = await writing
    expect([written.err, isThere()]).toEqual(['', true])
    const file = expect.stringContaining(join(folder.path, `gatehouse-${identity.id}-20`))
    const report = { tenant: acme.id, object: `identity:${identity.id}`, file }
    expect(written.json()).toEqual({ ...report, warnings: [], duration_ms: expect.any(Number) })
    const exports = ['--data-dir', dir, '--object', identity.id, '--action', 'person.exported']
    expect(await actionsIn(cli(dir), ...exports)).toHaveLength(2)
  })

  test('of a messenger account has its sign-ins alone', async () => {
    const owner = { tenantId: acme.id, environment: 'test' } as const
    await app.passepartout.bots.enable({ kind: 'cli' }, owner)
    const api = app.client((await acme.key('passepartout', 'test')).key)
    for (const person of ['grace', 'ada']) {
      const { deep_link } = (await api.post(START)).body
      const body = new URLSearchParams({ choice: 'approve', person })
      await app.raw(new URL(deep_link).pathname, { method: 'POST', body })
    }
    const people = app.db.client.query('SELECT id FROM passepartout_people')
    const [grace] = people.all() as [{ id: string }]
    const { json } = await cli(dir)(...of(grace, '--person'))
    const person = { id: grace.id, platform: 'sandbox', first_name: 'Grace' }
    const rest = { sign_ins: [{ state: 'approved' }], access_tokens: [{ revoked_at: null }] }
    expect(json()).toMatchObject({ person, ...rest })
  })
})
