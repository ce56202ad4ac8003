import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import { commands } from '../../src/cli/commands.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { freePort } from '../support/port.ts'

describe('help', () => {
  test('lists every command, and --help after one explains it without doing it', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)

    for (const words of [['--help'], ['-h'], ['help']]) {
      const { code, out } = await gatehouse(...words)
      expect(code).toBe(0)
      for (const { name, summary } of commands) {
        expect(out).toContain(name)
        expect(out).toContain(summary)
      }
    }
    for (const { name, options = {} } of commands) {
      const { code, out } = await gatehouse(...name.split(' '), '--help')
      expect(code).toBe(0)
      for (const option of [...Object.keys(options), 'config', 'json', 'server-port'])
        expect(out).toContain(`--${option}`)
    }
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })
})

describe('a wrong command line exits 2 and says what would be right', () => {
  const cases: [string[], string][] = [
    [['tennant', 'list'], 'did you mean tenant list?'],
    [['frobnicate'], 'unknown command frobnicate'],
    [['tenant', 'delete', 'x'], 'tenant: must be one of tenant create'],
    [['key', 'delete', 'x'], 'key: must be one of key create'],
    [['tenat', 'lst'], 'did you mean tenant list?'],
    [['exprot'], 'did you mean export?'],
    [['tenant-list'], 'did you mean tenant list?'],
    [['--data-dir', 'x', 'tennant', 'list'], 'did you mean tenant list?'],
    [['--nam', 'A', 'tenant', 'create'], 'unknown option --nam'],
    [['tenant'], 'must be one of tenant create'],
    [['tenant', 'create'], '--name is required'],
    [['tenant', 'show'], 'ID is missing'],
    [['tenant', 'show', 'a', 'b'], 'unexpected argument b'],
    [
      ['tenant', 'create', '--name', 'A', '--plan', 'gold'],
      '--plan: must be one of free, metered, unlimited',
    ],
    [['tenant', 'create', '--nam', 'A'], 'unknown option --nam; did you mean --name?'],
    [['tenant', 'set', 'x'], 'nothing to change'],
    [
      ['tenant', 'set', 'x', '--spend-cap-cents', '1.5'],
      'must be a whole number of cents, or none',
    ],
    [['tenant', 'suspend', 'x', '--reason', 'mood'], '--reason: must be one of billing, renewal'],
    [['key', 'create', '--tenant', 'x', '--engine', 'warp'], '--engine: must be one of gate'],
    [
      ['key', 'create', '--tenant', 'x', '--engine', 'gate', '--env', 'prod'],
      '--env: must be one of live, test',
    ],
    [['key', 'rotate', 'x', '--grace', 'soon'], '--grace: must be a duration'],
    [['completion', 'tcsh'], 'must be one of bash, zsh, fish'],
    [['serve', '--server-prt', '1'], 'did you mean --server-port?'],
  ]
  test.each(cases)('%p', async (argv, message) => {
    using folder = temporaryFolder()
    const { code, out, err } = await cli(folder.path)(...argv)

    expect(err).toContain(message)
    expect(err).toContain('--help')
    expect(code).toBe(2)
    expect(out).toBe('')
  })
})

test('options that every command takes may stand before its name', async () => {
  using folder = temporaryFolder()
  const gatehouse = cli(folder.path)
  await gatehouse('--data-dir', 'there', 'tenant', 'create', '--name', 'A')

  const listed = await gatehouse('--json', '--data-dir=there', 'tenant', 'list')
  expect(listed.json()).toMatchObject({ tenants: [{ name: 'A' }] })
  const { out } = await gatehouse('--data-dir', 'there', 'tenant', 'create', '--help')
  expect(out).toContain('--name')
  expect(await gatehouse('--data-dir')).toMatchObject({ code: 2 })
})

describe('tenants and keys', () => {
  test('are created, listed, changed and ended, with one JSON object each', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    const json = async (...argv: string[]) => (await gatehouse(...argv, '--json')).json()

    const tenant = await json('tenant', 'create', '--name', 'Acme', '--plan', 'metered')
    expect(tenant).toEqual({
      id: expect.any(String),
      name: 'Acme',
      plan: 'metered',
      status: 'active',
    })
    expect(await json('tenant', 'set', tenant.id, '--spend-cap-cents', '500')).toMatchObject({
      spend_cap_cents: 500,
    })
    expect(await json('tenant', 'set', tenant.id, '--spend-cap-cents', 'none')).toMatchObject({
      spend_cap_cents: null,
    })
    expect(await json('tenant', 'suspend', tenant.id, '--reason', 'renewal')).toMatchObject({
      status: 'renewal_unpaid',
    })
    expect(await json('tenant', 'resume', tenant.id)).toMatchObject({ status: 'active' })
    expect(await json('tenant', 'list')).toMatchObject({
      tenants: [{ id: tenant.id, name: 'Acme' }],
    })

    const key = await json(
      'key',
      'create',
      '--tenant',
      tenant.id,
      '--engine',
      'relay',
      '--env',
      'test',
      '--scope',
      'relay:send',
      '--scope',
      'relay:read',
    )
    expect(key).toEqual({
      id: expect.any(String),
      key: expect.stringMatching(/^svc_relay_test_sk_/),
      engine: 'relay',
      environment: 'test',
      scopes: ['relay:send', 'relay:read'],
    })
    const fresh = await json('key', 'rotate', key.id, '--grace', '1h')
    expect(fresh.key).not.toBe(key.key)
    expect(await json('key', 'revoke', fresh.id)).toMatchObject({
      id: fresh.id,
      revoked_at: expect.any(String),
    })
    const { keys } = await json('key', 'list', '--tenant', tenant.id)
    expect(keys).toHaveLength(2)
    expect(JSON.stringify(keys)).not.toContain(key.key.slice(-43))
  })

  test('speak to people without --json', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)

    const { out } = await gatehouse('tenant', 'create', '--name', 'Acme')
    expect(out).toStartWith('Created tenant Acme (unlimited).\n')
    const id = out.trim().split('\n').at(-1) ?? ''
    expect((await gatehouse('key', 'list')).out).toBe('No keys yet.\n')
    expect(
      (await gatehouse('key', 'create', '--tenant', id, '--engine', 'clockwork')).out,
    ).toContain('not shown again')
    expect((await gatehouse('tenant', 'list')).out).toContain('Acme')
    expect((await gatehouse('tenant', 'show', id)).out).toContain('active')
  })

  test('are looked for only where there is data; looking makes none', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)

    for (const argv of [
      ['tenant', 'list'],
      ['key', 'list'],
      ['tenant', 'show', 'x'],
    ])
      expect(await gatehouse(...argv)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`no data in ${folder.path}/data`),
      })
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })

  test('of unknown ids are a failure, exit 1', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    await gatehouse('tenant', 'create', '--name', 'Acme')

    for (const argv of [
      ['tenant', 'show', 'x'],
      ['tenant', 'resume', 'x'],
      ['key', 'revoke', 'x'],
      ['key', 'create', '--tenant', 'x', '--engine', 'gate'],
    ])
      expect(await gatehouse(...argv)).toMatchObject({
        code: 1,
        err: expect.stringContaining('not found'),
      })
  })
})

describe('configuration', () => {
  test('is refused as a whole, on standard error, with exit 78; --json makes it an object', async () => {
    using folder = temporaryFolder()
    await Bun.write(
      join(folder.path, 'gatehouse.toml'),
      '[server]\nport = 99999\n[clockwork]\ntick = "7s"\n',
    )
    const gatehouse = cli(folder.path, { env: { GATEHOUSE_LOG_LEVEL: 'loud' } })

    const { code, out, err } = await gatehouse('tenant', 'list')
    expect([code, out]).toEqual([78, ''])
    for (const place of ['gatehouse.toml:2', 'gatehouse.toml:4', 'GATEHOUSE_LOG_LEVEL'])
      expect(err).toContain(place)
    expect(JSON.parse((await gatehouse('tenant', 'list', '--json')).err)).toEqual({
      error: expect.any(String),
    })

    const check = await gatehouse('config', 'check', '--json')
    expect(check.code).toBe(78)
    expect(check.json()).toMatchObject({
      ok: false,
      errors: expect.arrayContaining([expect.objectContaining({ key: 'server.port' })]),
    })
    expect((await gatehouse('version')).code).toBe(0)
  })

  test('init writes a file that check accepts, and never over another', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)

    expect((await gatehouse('config', 'init')).code).toBe(0)
    const file = join(folder.path, 'gatehouse.toml')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect((await gatehouse('config', 'check', '--json')).json()).toMatchObject({
      ok: true,
      file: expect.stringContaining('gatehouse.toml'),
      errors: [],
      warnings: [],
    })
    const before = readFileSync(file, 'utf8')
    expect(await gatehouse('config', 'init')).toMatchObject({
      code: 2,
      err: expect.stringContaining('already exists'),
    })
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect((await gatehouse('config', 'init', 'other.toml')).code).toBe(0)
  })

  test('show names the origin of each value and hides secrets', async () => {
    using folder = temporaryFolder()
    await Bun.write(join(folder.path, 'gatehouse.toml'), '[server]\nport = 9000\n')
    const gatehouse = cli(folder.path, {
      env: {
        GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: 's3cret',
        GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: 'id',
      },
    })

    const { code, out } = await gatehouse('config', 'show', '--log-level', 'debug')

    expect(code).toBe(0)
    expect(out).toContain('server.port = 9000  # file gatehouse.toml:2')
    expect(out).toContain('log.level = "debug"  # flag --log-level')
    expect(out).toContain('GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET')
    expect(out).not.toContain('s3cret')
  })

  test('check tells warnings too, and stays valid', async () => {
    using folder = temporaryFolder()
    const { code, out } = await cli(folder.path, { env: { GATEHOUSE_SERVER_PROT: '1' } })(
      'config',
      'check',
    )

    expect(code).toBe(0)
    expect(out).toContain('GATEHOUSE_SERVER_PROT')
    expect(out).toContain('The configuration is valid')
  })

  test('outbound allow entries are held against their full grammar', async () => {
    using folder = temporaryFolder()
    const { code, err } = await cli(folder.path)('serve', '--outbound-allow', '10.0.0.0/99')

    expect(code).toBe(78)
    expect(err).toContain('10.0.0.0/99')
  })
})

test('a port in use and a folder that cannot be made are told in a sentence, exit 1', async () => {
  using folder = temporaryFolder()
  const gatehouse = cli(folder.path)
  const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })

  const busy = await gatehouse('serve', '--server-port', `${taken.port}`)
  expect(busy.code).toBe(1)
  expect(busy.err).toContain(`${taken.port}`)
  const nowhere = await gatehouse('tenant', 'create', '--name', 'A', '--data-dir', '/proc/nowhere')
  expect(nowhere.code).toBe(1)
  expect(nowhere.err).toContain('/proc/nowhere')
  for (const { err } of [busy, nowhere]) expect(err).not.toMatch(/^ +at /m)
  await taken.stop(true)
})

test('where nobody can listen, the address and the setting are named', async () => {
  using folder = temporaryFolder()
  for (const host of ['192.0.2.1', 'nowhere.invalid']) {
    const { code, err } = await cli(folder.path)('serve', '--server-host', host)
    expect(code).toBe(1)
    expect(err).toContain(host)
    expect(err).toContain('Set [server] host')
  }
})

describe('doctor and migrate status', () => {
  test('before the first start there is a warning of the place, and everything to apply', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)

    expect(await gatehouse('doctor')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/data does not exist.*--data-dir.*--config[\s\S]*\n1 warning\n$/),
    })
    expect((await gatehouse('migrate', 'status', '--json')).json()).toMatchObject({
      applied: [],
      pending: migrations.map(({ id }) => id),
    })
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })

  test('afterwards the schema is up to date and the file sound', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    await gatehouse('tenant', 'create', '--name', 'Acme')

    expect((await gatehouse('doctor', '--json')).json()).toMatchObject({ ok: true })
    expect((await gatehouse('migrate', 'status', '--json')).json()).toMatchObject({ pending: [] })
  })

  test('a directory that others can read, and certificate checks switched off, are warned of', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path, { env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
    await gatehouse('tenant', 'create', '--name', 'Acme')
    const { exited } = Bun.spawn(['chmod', '755', join(folder.path, 'data')])
    await exited

    const { code, out } = await gatehouse('doctor')

    expect(code).toBe(0)
    expect(out).toContain('chmod 700')
    expect(out).toContain('NODE_TLS_REJECT_UNAUTHORIZED')
  })

  test('a damaged database and one of a newer version are problems, exit 1', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    await gatehouse('tenant', 'create', '--name', 'Acme')
    const file = join(folder.path, 'data', 'gatehouse.db')
    const { Database } = await import('bun:sqlite')
    const db = new Database(file)
    db.run("INSERT INTO _migrations VALUES ('9999_future', 'x', 0, '9.9.9')")
    db.close()

    expect(await gatehouse('doctor')).toMatchObject({
      code: 1,
      out: expect.stringContaining('gatehouse 9.9.9'),
    })
    expect(await gatehouse('serve', '--server-port', '0')).toMatchObject({
      code: 1,
      err: expect.stringContaining('newer than this executable'),
    })

    await Bun.write(file, 'this is not a database, and long enough to be read as a header of one')
    expect(await gatehouse('doctor')).toMatchObject({ code: 1 })
    expect(await gatehouse('tenant', 'list')).toMatchObject({
      code: 1,
      err: expect.stringContaining('damaged'),
    })
  })
})

test('a start that fails ends the process, and nothing answers any more', async () => {
  using folder = temporaryFolder()
  const gatehouse = cli(folder.path)
  await gatehouse('tenant', 'create', '--name', 'Acme')
  const { Database } = await import('bun:sqlite')
  const db = new Database(join(folder.path, 'data', 'gatehouse.db'))
  db.run('CREATE TRIGGER full BEFORE INSERT ON instances BEGIN SELECT RAISE(ABORT, "no room"); END')
  db.close()
  const port = freePort()

  const started = gatehouse('serve', '--server-port', `${port}`)

  await expect(started).rejects.toThrow('no room')
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
})

test('doctor says what it can when the database is damaged or cannot be read', async () => {
  using folder = temporaryFolder()
  const gatehouse = cli(folder.path)
  await Bun.write(join(folder.path, 'data', 'gatehouse.db'), '')
  const empty = await gatehouse('doctor', '--json')
  expect(empty.json().findings.map(({ check }: { check: string }) => check)).toContain('disk')

  await Bun.write(join(folder.path, 'data', 'gatehouse.db'), 'x'.repeat(10_000))
  const damaged = await gatehouse('doctor')
  expect(damaged.code).toBe(1)
  expect(damaged.out).toMatch(/problem +database/)
  expect(damaged.out).toMatch(/ok +disk/)
})

describe('the master key', () => {
  const MINE = join('data', 'master.key')

  /** A server that gets as far as its port, which is taken, and so makes and records the key. */
  async function startOnce(gatehouse: ReturnType<typeof cli>) {
    const taken = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    const { err } = await gatehouse('serve', '--server-port', `${taken.port}`)
    expect(err).toContain(`${taken.port}`)
    await taken.stop(true)
  }

  const keyFinding = async (gatehouse: ReturnType<typeof cli>) => {
    const { code, json } = await gatehouse('doctor', '--json')
    const findings = json().findings.filter(
      ({ check }: { check: string }) => check === 'master key',
    )
    expect(findings).toHaveLength(1)
    return { code, ...findings[0] }
  }

  test('is made by the server and not by those who administer or look', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    const file = join(folder.path, MINE)
    await gatehouse('tenant', 'create', '--name', 'Acme')

    expect(await keyFinding(gatehouse)).toMatchObject({
      code: 0,
      message: 'none yet; the next start creates it',
    })
    expect(existsSync(file)).toBe(false)
    await startOnce(gatehouse)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await keyFinding(gatehouse)).toMatchObject({
      code: 0,
      result: 'ok',
      message: expect.stringMatching(/master\.key, id [0-9a-f]{12}$/),
    })
  })

  test('is taken from others by the server; doctor only warns of them', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    const file = join(folder.path, MINE)
    await startOnce(gatehouse)
    chmodSync(file, 0o644)

    expect(await keyFinding(gatehouse)).toMatchObject({
      code: 0,
      result: 'warning',
      message: `other accounts can read ${file} (mode 644): run chmod 600 ${file}`,
    })
    expect(statSync(file).mode & 0o777).toBe(0o644)
    await startOnce(gatehouse)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('that is lost, foreign or unreadable keeps the server from starting, in a sentence, exit 1', async () => {
    using folder = temporaryFolder()
    using other = temporaryFolder()
    const gatehouse = cli(folder.path)
    const file = join(folder.path, MINE)
    await startOnce(gatehouse)
    await startOnce(cli(other.path))

    const expectRefusal = async (message: string) => {
      const { code, err } = await gatehouse('serve', '--server-port', '0')
      expect([code, err]).toEqual([1, expect.stringContaining(message)])
      expect(err.trim().split('\n')).toHaveLength(1)
      expect(await keyFinding(gatehouse)).toEqual({
        code: 1,
        check: 'master key',
        result: 'problem',
        message: err.trim(),
      })
    }

    writeFileSync(file, readFileSync(join(other.path, MINE)))
    await expectRefusal('does not match the database')
    writeFileSync(file, 'secret')
    await expectRefusal('is not a valid master key')
    rmSync(file)
    await expectRefusal('is missing in')
    expect(existsSync(file)).toBe(false)
  })

  test('is looked at before there is a database', async () => {
    using folder = temporaryFolder()
    await Bun.write(join(folder.path, MINE), 'secret')

    expect(await keyFinding(cli(folder.path))).toMatchObject({ code: 1, result: 'problem' })
  })
})

test('completion scripts name every command and are valid for their shell', async () => {
  using folder = temporaryFolder()
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await cli(folder.path)('completion', shell)
    expect(code).toBe(0)
    for (const word of ['tenant', 'create', 'rotate', 'doctor']) expect(out).toContain(word)
  }
  const { out } = await cli(folder.path)('completion', 'bash')
  const script = `${out}
    complete_words() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _gatehouse; echo "\${COMPREPLY[*]}"; }
    complete_words gatehouse te; complete_words gatehouse tenant s; complete_words gatehouse tenant create --n`
  const bash = Bun.spawnSync(['bash', '-c', script])
  expect(bash.stdout.toString()).toBe('tenant\nshow set suspend\n--name\n')
})
