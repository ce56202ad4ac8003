import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { table } from '../../src/cli/command.ts'
import { loadCommands } from '../../src/cli/commands.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'

/** A folder with the command line in it, and a tenant unless it is empty. */
async function newHome({ env = {}, isEmpty = false } = {}) {
  const { path, [Symbol.dispose]: remove } = temporaryFolder()
  const gatehouse = cli(path, { env })
  if (!isEmpty) await gatehouse('tenant', 'create', '--name', 'Acme')
  const file = (name: string) => join(path, name)
  return {
    ...{ gatehouse, file, database: file('data/gatehouse.db'), [Symbol.dispose]: remove },
    json: async (...argv: string[]) => (await gatehouse(...argv, '--json')).json(),
    /** Starts a server and expects it to fail. */
    serve: (...more: string[]) => gatehouse('serve', '--server-port', '0', ...more),
  }
}

test('Help lists every command, and --help after a command explains it without running it', async () => {
  using home = await newHome({ isEmpty: true })
  const commands = await loadCommands()
  for (const word of ['--help', '-h', 'help']) {
    const { code, out } = await home.gatehouse(word)
    expect(code).toBe(0)
    for (const text of commands.flatMap(({ name, summary }) => [name, summary]))
      expect(out).toContain(text)
  }
  for (const { name, options = {} } of commands) {
    const { code, out } = await home.gatehouse('--data-dir', 'data', ...name.split(' '), '--help')
    expect(code).toBe(0)
    for (const option of [...Object.keys(options), 'config', 'json', 'server-port'])
      expect(out).toContain(`--${option}`)
  }
  expect(existsSync(home.file('data'))).toBe(false)
})

const MARCH = '2026-03-01T00:00:00Z'

test.each([
  ['frobnicate', 'unknown command frobnicate'],
  ['tenat lst', 'did you mean tenant list?'],
  ['exprot', 'did you mean export?'],
  ['tenant', 'must be one of tenant create'],
  ['tenant create', '--name is required'],
  ['tenant show', 'ID is missing'],
  ['tenant show a b', 'unexpected argument b'],
  ['tenant create --name A --plan gold', '--plan: must be one of free, metered, unlimited'],
  ['tenant create --nam A', 'unknown option --nam; did you mean --name?'],
  ['tenant set x', 'nothing to change'],
  ['tenant set x --spend-cap-cents 1.5', 'must be a whole number of cents, or none'],
  ['tenant suspend x --reason mood', '--reason: must be one of billing, renewal'],
  ['key create --tenant x --engine gate --env prod', '--env: must be one of live, test'],
  ['key create --tenant x --engine gate --expires soon', '--expires: must be a lifetime'],
  ['key create --tenant x', 'add --tenant and --engine, or --installation'],
  ['key create --installation --engine gate', '--engine: remove it'],
  ['key set x', 'nothing to change'],
  ['key rotate x --grace soon', '--grace: must be a duration'],
  ['completion tcsh', 'must be one of bash, zsh, fish'],
  ['serve --server-prt 1', 'did you mean --server-port?'],
  ['--data-dir', '--data-dir'],
  ['audit list --since yesterday', '--since: must be a time with date and zone'],
  ['audit list --until 2026-03-01T00:00:00', '--until: must be a time with date and zone'],
  [`audit list --since ${MARCH} --until ${MARCH}`, '--until: must be after --since'],
  ['audit list --limit 0', '--limit: must be a whole number from 1 to 10000'],
  ['audit list --limit 10001', '--limit: must be a whole number'],
  ['audit export --format xml', '--format: must be one of ndjson, csv'],
])('%s is a wrong command line: %s', async (line, message) => {
  const { code, out, err } = await cli('/nowhere')(...line.split(' '))
  expect([code, out]).toEqual([2, ''])
  for (const words of [message, '--help']) expect(err).toContain(words)
})

test('A table has columns as wide as their widest cell, and cells without control characters', () => {
  const lines = table([
    ['NAME', 'PLAN'],
    ['a\u001b[2J\r\nb\u0000', 'free'],
    ['\u202eevil\u2069\u2028', 'free'],
  ])
  expect(lines.split('\n')).toEqual(['NAME      PLAN', 'a [2J b   free', ' evil     free'])
})

test('Tenants and keys are created, listed, changed and ended, with one JSON object each', async () => {
  using home = await newHome({ isEmpty: true })
  const { json } = home
  const tenant = await json('tenant', 'create', '--name', 'Acme', '--plan', 'metered')
  const { id } = tenant
  const known = { name: 'Acme', plan: 'metered', status: 'active' }
  expect(tenant).toEqual({ ...known, id: expect.any(String) })
  // Options of every command may stand before its name.
  expect((await home.gatehouse('--json', 'tenant', 'show', id)).json()).toMatchObject(known)
  const setCap = (cents: string) => json('tenant', 'set', id, '--spend-cap-cents', cents)
  expect(await setCap('500')).toMatchObject({ spend_cap_cents: 500 })
  expect(await setCap('none')).toMatchObject({ spend_cap_cents: null })
  const suspended = await json('tenant', 'suspend', id, '--reason', 'renewal')
  expect(suspended).toMatchObject({ status: 'renewal_unpaid' })
  expect(await json('tenant', 'resume', id)).toMatchObject({ status: 'active' })
  expect(await json('tenant', 'list')).toMatchObject({ tenants: [{ id, name: 'Acme' }] })
  const spare = await json('tenant', 'create', '--name', 'Spare')
  const wrong = await home.gatehouse('tenant', 'delete', spare.id, '--name', 'Acme')
  expect(wrong.err).toContain('must be the name of the tenant')
  await json('tenant', 'delete', spare.id, '--name', 'Spare')
  expect((await json('tenant', 'list')).tenants).toHaveLength(1)

  const granted = { engines: ['relay'], environment: 'test', scopes: ['relay:send', 'relay:read'] }
  const scopes = granted.scopes.flatMap((scope) => ['--scope', scope])
  const of = ['--tenant', id, '--engine', 'relay', '--env', 'test']
  const key = await json('key', 'create', ...of, ...scopes)
  const secret = expect.stringMatching(/^svc_relay_test_sk_/)
  expect(key).toEqual({
    ...{ id: expect.any(String), key: secret, ...granted },
    ...{ name: null, expires_at: null },
  })
  const fresh = await json('key', 'rotate', key.id, '--grace', '1h')
  expect(fresh.key).not.toBe(key.key)
  const changed = await json('key', 'set', key.id, '--name', 'Shop', '--note', '')
  expect(changed).toMatchObject({ name: 'Shop', note: null })
  const both = [
    '--engine',
    'gate',
    '--engine',
    'relay',
    '--expires',
    '2099-01-31',
    '--name',
    'Both',
  ]
  expect((await home.gatehouse('key', 'create', '--tenant', id, ...both)).err).toContain('10 years')
  const revoked = { id: fresh.id, revoked_at: expect.any(String) }
  expect(await json('key', 'revoke', fresh.id)).toMatchObject(revoked)
  const { keys } = await json('key', 'list', '--tenant', id)
  expect(keys).toHaveLength(2)
  expect(JSON.stringify(keys)).not.toContain(key.key.slice(-43))
})

test('A key of the installation is created before any other data, and changed by its ID', async () => {
  using home = await newHome({ isEmpty: true })
  const { json } = home
  const scope = ['--scope', 'installation:read']
  const key = await json('key', 'create', '--installation', ...scope, '--expires', '90d')
  expect(key).toMatchObject({
    key: expect.stringMatching(/^svc_installation_/),
    engines: ['installation'],
    scopes: ['installation:read'],
    expires_at: expect.any(String),
  })
  expect((await home.gatehouse('key', 'list')).out).toMatch(`${key.id}  -       `)
  expect((await json('tenant', 'list')).tenants).toEqual([])
  expect(await json('key', 'set', key.id, '--name', 'CI')).toMatchObject({ name: 'CI' })
  expect(await json('key', 'rotate', key.id)).toMatchObject({ scopes: ['installation:read'] })
  expect(await json('key', 'revoke', key.id)).toMatchObject({ revoked_at: expect.any(String) })
})

test('Tenants and keys are told in words without --json, and looked for without creating data', async () => {
  using home = await newHome({ isEmpty: true })
  const said = async (line: string, code: number, words: string) => {
    const { out, err, ...ended } = await home.gatehouse(...line.split(' '))
    expect([line, ended.code, out + err]).toEqual([line, code, expect.stringContaining(words)])
    return out
  }
  const signIn = 'operator login-link --email a@b.example'
  const create = `operator create --email a@b.example --tenant ${SYSTEM_TENANT_ID} --role owner`
  for (const line of ['tenant list', 'key list', 'tenant show x', 'bot list', signIn, create])
    await said(line, 1, `no data in ${home.file('data')}`)
  expect(existsSync(home.file('data'))).toBe(false)
  const out = await said('tenant create --name Acme', 0, 'Created tenant Acme (unlimited).\n')
  const id = out.trim().split('\n').at(-1)
  await said('key list', 0, 'No keys yet.\n')
  await said(`key create --tenant ${id} --engine clockwork`, 0, 'not shown again')
  await said('tenant list', 0, 'Acme')
  await said(`tenant show ${id}`, 0, 'active')
  for (const line of ['tenant show x', 'tenant resume x', 'key revoke x'])
    await said(line, 1, 'not found')
})

test('The configuration is refused as a whole, with exit 78; --json makes it an object', async () => {
  using home = await newHome({ env: { GATEHOUSE_LOG_LEVEL: 'loud' }, isEmpty: true })
  const mistakes = '[server]\nport = 99999\n[clockwork]\ntick = "7s"\n'
  await Bun.write(home.file('gatehouse.toml'), mistakes)
  const { code, out, err } = await home.gatehouse('tenant', 'list')
  expect([code, out]).toEqual([78, ''])
  for (const place of ['gatehouse.toml:2', 'gatehouse.toml:4', 'GATEHOUSE_LOG_LEVEL'])
    expect(err).toContain(place)
  const json = await home.gatehouse('tenant', 'list', '--json')
  expect(JSON.parse(json.err)).toEqual({ error: expect.any(String) })
  const check = await home.gatehouse('config', 'check', '--json')
  expect(check.code).toBe(78)
  const errors = expect.arrayContaining([expect.objectContaining({ key: 'server.port' })])
  expect(check.json()).toMatchObject({ ok: false, errors })
  expect((await home.gatehouse('version')).code).toBe(0)
  expect(await home.serve('--outbound-allow', '10.0.0.0/99')).toMatchObject({ code: 78 })
})

test('The configuration is written by init for its owner alone, accepted by check, and never overwritten', async () => {
  using home = await newHome({ isEmpty: true })
  const file = home.file('gatehouse.toml')
  expect(await home.gatehouse('config', 'init')).toMatchObject({ code: 0, err: '' })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const valid = { ok: true, file: expect.stringContaining('.toml'), errors: [], warnings: [] }
  expect(await home.json('config', 'check')).toMatchObject(valid)
  await Bun.write(file, 'mine')
  const again = await home.gatehouse('config', 'init')
  expect([again.code, again.err]).toEqual([2, expect.stringContaining(`${file} already exists`)])
  expect(readFileSync(file, 'utf8')).toBe('mine')
  const nowhere = home.file('none/a.toml')
  const err = `${nowhere}: no such file or directory\n`
  expect(await home.gatehouse('config', 'init', nowhere)).toMatchObject({ code: 1, err })
})

test('The configuration is shown with the origin of each value, and checked with warnings', async () => {
  using home = await newHome({ env: { GATEHOUSE_SERVER_PROT: '1' }, isEmpty: true })
  await Bun.write(home.file('gatehouse.toml'), '[server]\nport = 9000\n')
  const { code, out } = await home.gatehouse('config', 'show', '--log-level', 'debug')
  expect(code).toBe(0)
  expect(out).toContain('server.port = 9000  # file gatehouse.toml:2')
  expect(out).toContain('log.level = "debug"  # flag --log-level')
  const check = await home.gatehouse('config', 'check')
  expect(check.code).toBe(0)
  for (const words of ['GATEHOUSE_SERVER_PROT', 'The configuration is valid'])
    expect(check.out).toContain(words)
})

test('A server that cannot start says so in a sentence, and its port closes', async () => {
  using home = await newHome()
  const nowhere = '/proc/nowhere'
  for (const [argv, words] of [
    [['tenant', 'create', '--name', 'A', '--data-dir', nowhere], nowhere],
    [
      ['serve', '--server-host', '203.0.113.9'],
      'of 203.0.113.9 (address not available). Set [server]',
    ],
  ] as const) {
    const { code, err } = await home.gatehouse(...argv)
    expect([code, err]).toEqual([1, expect.stringContaining(words)])
    expect(err).not.toMatch(/^ +at /m)
  }
  using db = new Database(home.database)
  db.run('CREATE TRIGGER full BEFORE INSERT ON instances BEGIN SELECT RAISE(ABORT, "no room"); END')
  const free = `${freePort()}`
  await expect(home.gatehouse('serve', '--server-port', free)).rejects.toThrow('no room')
  await expect(fetch(`http://127.0.0.1:${free}/healthz`)).rejects.toThrow()
})

test('doctor and migrate status warn before the first start, and are content afterwards', async () => {
  using home = await newHome({ env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, isEmpty: true })
  const { code, out } = await home.gatehouse('doctor')
  expect([code, out]).toEqual([
    0,
    expect.stringMatching(/data does not exist.*--data-dir.*--config/),
  ])
  expect(out).toContain('NODE_TLS_REJECT_UNAUTHORIZED')
  expect(out).toEndWith('\n2 warnings\n')
  const pending = migrations.map(({ id }) => id)
  expect(await home.json('migrate', 'status')).toMatchObject({ applied: [], pending })
  expect(existsSync(home.file('data'))).toBe(false)
  await home.gatehouse('tenant', 'create', '--name', 'Acme')
  expect(await home.json('migrate', 'status')).toMatchObject({ pending: [] })
  expect(await home.gatehouse('doctor')).toMatchObject({ code: 0 })
})

test('doctor reports a database of a newer version, which does not start, and a damaged one', async () => {
  using home = await newHome()
  {
    using db = new Database(home.database)
    db.run("INSERT INTO _migrations VALUES ('9999_future', 'x', 0, '9.9.9')")
  }
  const newer = await home.gatehouse('doctor')
  expect([newer.code, newer.out]).toEqual([1, expect.stringContaining('gatehouse 9.9.9')])
  const err = expect.stringContaining('newer than this executable')
  expect(await home.serve()).toMatchObject({ code: 1, err })
  await Bun.write(home.database, 'x'.repeat(10_000))
  const { code, out } = await home.gatehouse('doctor')
  expect(code).toBe(1)
  for (const line of [/problem +database/, /ok +disk/]) expect(out).toMatch(line)
  const listed = await home.gatehouse('tenant', 'list')
  expect([listed.code, listed.err]).toEqual([1, expect.stringContaining('damaged')])
})

test('The master key is created by the server alone, and keeps it from starting when lost, foreign or not valid', async () => {
  using home = await newHome()
  using other = await newHome()
  const file = home.file('data/master.key')
  async function expectFinding(code: number, result: string, message: unknown) {
    const { findings } = (await home.json('doctor')) as { findings: { check: string }[] }
    const found = findings.filter(({ check }) => check === 'master key')
    expect(found).toEqual([{ check: 'master key', result, message }] as never)
    expect(await home.gatehouse('doctor')).toMatchObject({ code })
  }
  await expectFinding(0, 'ok', 'none yet; the next start creates it')
  expect(existsSync(file)).toBe(false)
  await using taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const port = `${taken.port}`
  const err = expect.stringContaining(port)
  expect(await home.gatehouse('serve', '--server-port', port)).toMatchObject({ code: 1, err })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  await expectFinding(0, 'ok', expect.stringMatching(/master\.key, id [0-9a-f]{12}$/))
  chmodSync(file, 0o644)
  const open = `other accounts can read ${file} (mode 644): run chmod 600 ${file}`
  await expectFinding(0, 'warning', open)

  const [{ id }] = (await other.json('tenant', 'list')).tenants
  await other.gatehouse('export', '--tenant', id)
  async function expectRefusal(reason: string) {
    const refused = await home.serve()
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(reason)])
    await expectFinding(1, 'problem', refused.err.trimEnd())
  }
  writeFileSync(file, readFileSync(other.file('data/master.key')))
  await expectRefusal('does not match the database')
  writeFileSync(file, 'secret')
  await expectRefusal('is not a valid master key')
  rmSync(file)
  await expectRefusal('is missing in')
  expect(existsSync(file)).toBe(false)
})

test('Completion scripts name every command, and bash completes with its script', async () => {
  const scripts = await Promise.all(
    ['bash', 'zsh', 'fish'].map((shell) => cli('/nowhere')('completion', shell)),
  )
  for (const { code, out } of scripts) {
    expect(code).toBe(0)
    for (const word of ['tenant', 'create', 'rotate', 'doctor']) expect(out).toContain(word)
  }
  const script = `${scripts[0]?.out}
    complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _gatehouse; echo "\${COMPREPLY[*]}"; }
    complete_words gatehouse te; complete_words gatehouse tenant s; complete_words gatehouse tenant create --n`
  const { stdout } = Bun.spawnSync(['bash', '-c', script])
  expect(`${stdout}`).toBe('tenant\nshow set suspend\n--name\n')
})
