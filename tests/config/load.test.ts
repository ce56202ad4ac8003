import { describe, expect, test } from 'bun:test'
import { settingFlags } from '../../src/config/index.ts'
import { absent, configOf, errorsOf, load, originsOf } from './support.ts'

const port = (number: number) => `[server]\nport = ${number}\n`

describe('the file is the first of', () => {
  const env = { GATEHOUSE_CONFIG: '/env.toml' }
  const files = {
    '/app/flag.toml': port(1),
    '/env.toml': port(2),
    '/app/gatehouse.toml': port(3),
    '/etc/gatehouse/gatehouse.toml': port(4),
  }
  const { '/app/gatehouse.toml': _, ...filesElsewhere } = files

  test('the one named by --config, from the working directory', () => {
    const result = load({ files, env, flags: { config: 'flag.toml' } })

    expect(result).toMatchObject({ ok: true, file: 'flag.toml', config: { server: { port: 1 } } })
  })

  test('the one named by GATEHOUSE_CONFIG', () => {
    expect(configOf({ files, env }).server.port).toBe(2)
  })

  test('gatehouse.toml in the working directory', () => {
    expect(configOf({ files }).server.port).toBe(3)
    expect(configOf({ files, env: { GATEHOUSE_CONFIG: '' } }).server.port).toBe(3)
  })

  test('/etc/gatehouse/gatehouse.toml', () => {
    const result = load({ files: filesElsewhere })

    expect(result).toMatchObject({
      file: '/etc/gatehouse/gatehouse.toml',
      config: { server: { port: 4 } },
    })
  })

  test('none', () => {
    const result = load({})

    expect(result).toMatchObject({ ok: true, config: { server: { port: 8420 } }, warnings: [] })
    expect(result.file).toBeUndefined()
  })
})

describe('a file that is named must be there', () => {
  test('by --config', () => {
    expect(errorsOf({ flags: { config: 'x.toml' }, toml: '' })).toEqual([
      '--config: cannot read x.toml: no such file',
    ])
  })

  test('by GATEHOUSE_CONFIG', () => {
    expect(errorsOf({ env: { GATEHOUSE_CONFIG: '/x.toml' }, toml: '' })).toEqual([
      'GATEHOUSE_CONFIG: cannot read /x.toml: no such file',
    ])
  })

  test('a file in a usual place that cannot be read is not passed over', () => {
    expect(errorsOf({ readFile: () => absent('EACCES') })).toEqual([
      'gatehouse.toml: cannot read gatehouse.toml: permission denied',
    ])
  })
})

describe('an option wins over a variable, a variable over the file, the file over the default', () => {
  const flags = { 'server-port': '1' }
  const env = { GATEHOUSE_SERVER_PORT: '2' }
  const toml = `# mine\n${port(3)}`

  test.each([
    [1, 'flag', '--server-port', { flags, env, toml }],
    [2, 'environment', 'GATEHOUSE_SERVER_PORT', { env, toml }],
    [2, 'environment', 'GATEHOUSE_SERVER_PORT', { env }],
    [3, 'file', 'gatehouse.toml:3', { toml }],
    [8420, 'default', '', {}],
  ])('%d from %s %s', (number, source, at, setup) => {
    expect(configOf(setup).server.port).toBe(number)
    expect(originsOf(setup).get('server.port')).toEqual({ source, at } as never)
  })

  test('every setting has an origin', () => {
    const origins = originsOf({ toml })

    expect(origins.get('gate.providers.apple.issuer')).toEqual({ source: 'default', at: '' })
    expect([...origins.values()].filter(({ source }) => source === 'file')).toHaveLength(1)
  })

  test('what is overruled is checked all the same', () => {
    expect(errorsOf({ flags, toml: port(99_999) })).toHaveLength(1)
  })
})

describe('an option', () => {
  test('is named after its setting', () => {
    const flags = { 'data-dir': '/data', 'clockwork-retry-delays': '1s,2s', config: undefined }

    const config = configOf({ flags })

    expect(config.dataDir).toBe('/data')
    expect(config.clockwork.retryDelaysMs).toEqual([1000, 2000])
  })

  test('that is not given changes nothing', () => {
    expect(configOf({ flags: { 'server-port': undefined } }).server.port).toBe(8420)
  })

  test('out of bounds is refused by its name', () => {
    expect(errorsOf({ flags: { 'server-port': 'x' } })).toEqual([
      '--server-port: must be a whole number from 0 to 65535',
    ])
  })

  test('that nobody knows is refused with a hint', () => {
    expect(errorsOf({ flags: { 'server-prot': '1', colour: 'red' } })).toEqual([
      '--server-prot: unknown option; did you mean --server-port?',
      '--colour: unknown option',
    ])
  })

  test('is there for every setting but the secrets', () => {
    const names = settingFlags.map(({ name }) => name)

    expect(names).toContain('server-port')
    expect(names).toContain('gate-providers-github-client-id')
    expect(names.filter((name) => /secret|smtp/.test(name))).toEqual([])
  })

  test('never carries a secret', () => {
    expect(errorsOf({ flags: { 'mail-smtp-url': 'smtp://u:p@mail' } })).toEqual([
      '--mail-smtp-url: unknown option',
    ])
  })
})

describe('what is unknown in a file is refused with its line and the nearest name', () => {
  test.each<[string, string, string]>([
    [
      'a setting',
      '[server]\nprot = 1',
      'gatehouse.toml:2: [server] prot: unknown setting; did you mean port?',
    ],
    [
      'a setting at the top',
      'dat_dir = "x"',
      'gatehouse.toml:1: dat_dir: unknown setting; did you mean data_dir?',
    ],
    [
      'a setting in a dotted key',
      'server.prot = 1',
      'gatehouse.toml:1: [server] prot: unknown setting; did you mean port?',
    ],
    [
      'a setting in an inline table',
      'server = { prot = 1 }',
      'gatehouse.toml:1: [server] prot: unknown setting; did you mean port?',
    ],
    [
      'a setting under another heading',
      '[server]\nsignup = "open"',
      'gatehouse.toml:2: [server] signup: unknown setting; did you mean [console] signup?',
    ],
    [
      'a setting that several tables have',
      'timeout = "1s"',
      'gatehouse.toml:1: timeout: unknown setting',
    ],
    [
      'a setting like none',
      '[server]\n\ncolour = 1',
      'gatehouse.toml:3: [server] colour: unknown setting',
    ],
    [
      'the name of a file with a secret',
      '[mail]\nsmtp_url_fil = "x"',
      'gatehouse.toml:2: [mail] smtp_url_fil: unknown setting; did you mean smtp_url_file?',
    ],
    [
      'a file for what is no secret',
      '[server]\nport_file = "x"',
      'gatehouse.toml:2: [server] port_file: unknown setting',
    ],
    [
      'a table',
      '\n[servr]\nport = 1',
      'gatehouse.toml:2: [servr]: unknown table; did you mean [server]?',
    ],
    ['a table like none', '[colours]', 'gatehouse.toml:1: [colours]: unknown table'],
    [
      'a list of tables',
      '[[servr]]\n[[servr]]',
      'gatehouse.toml:1: [servr]: unknown table; did you mean [server]?',
    ],
    [
      'a deeper table',
      '[gate.pasword]\nqueue = 1',
      'gatehouse.toml:1: [gate.pasword]: unknown table; did you mean [gate.password]?',
    ],
    [
      'a provider',
      '[gate.providers.githab]',
      'gatehouse.toml:1: [gate.providers.githab]: unknown table; did you mean [gate.providers.github]?',
    ],
    [
      'a setting of a provider',
      '[gate.providers.github]\nclientid = "a"',
      'gatehouse.toml:2: [gate.providers.github] clientid: unknown setting; did you mean client_id?',
    ],
    ['a quoted key', '"server.port" = 1', 'gatehouse.toml:1: "server.port": unknown setting'],
    [
      'a key with control characters',
      '"\\u001b[31m" = 1',
      'gatehouse.toml:1: "\\u001b[31m": unknown setting',
    ],
  ])('%s', (_, toml, complaint) => {
    expect(errorsOf({ toml })).toEqual([complaint])
  })

  test('a table is no setting and a setting no table', () => {
    expect(errorsOf({ toml: 'server = 1\n[data_dir]\nx = 1\n[[gate]]' })).toEqual([
      'gatehouse.toml:1: [server]: must be a table',
      'gatehouse.toml:2: data_dir: must be a path',
      'gatehouse.toml:4: [gate]: must be a table',
    ])
  })
})

test('all errors are told at once, those of options and variables too', () => {
  const toml = '[server]\nport = 70000\nmax_body = "1PB"\n\n[relai]\n\n[log]\nlevel = 5\n'
  const env = { GATEHOUSE_METRICS_ENABLED: 'yes', GATEHOUSE_DATA_DIR_FILE: '/nowhere' }

  expect(errorsOf({ toml, env, flags: { 'brand-prefix': 'A' } })).toEqual([
    '--brand-prefix: must be a lowercase letter and up to 15 lowercase letters or digits',
    'GATEHOUSE_DATA_DIR_FILE: cannot read /nowhere: no such file',
    'GATEHOUSE_METRICS_ENABLED: must be true or false',
    'gatehouse.toml:2: [server] port: must be a whole number from 0 to 65535',
    'gatehouse.toml:3: [server] max_body: must be a size from 1KB to 100MB',
    'gatehouse.toml:5: [relai]: unknown table; did you mean [relay]?',
    'gatehouse.toml:8: [log] level: must be "debug", "info", "warn" or "error"',
  ])
})

test('an error names its setting for programs', () => {
  const result = load({ toml: port(-1) })

  expect(result).toMatchObject({
    ok: false,
    errors: [{ at: 'gatehouse.toml:2', key: 'server.port' }],
  })
})

describe('a secret may stand in a file of its own', () => {
  const toml = '[gate.providers.github]\nclient_id = "a"\nclient_secret_file = "secrets/github"\n'

  test('which is read from the working directory, without the line break at its end', () => {
    const config = configOf({ toml, files: { '/app/secrets/github': 's3cret \r\n' } })

    expect(config.gate.providers.github.clientSecret).toBe('s3cret ')
  })

  test('and counts as set by the file', () => {
    const origins = originsOf({ toml, files: { '/app/secrets/github': 's3cret' } })

    expect(origins.get('gate.providers.github.client_secret')).toEqual({
      source: 'file',
      at: 'gatehouse.toml:3',
    })
  })

  const where = 'gatehouse.toml:3: [gate.providers.github] client_secret_file: '

  test('which must be there', () => {
    expect(errorsOf({ toml })).toEqual([`${where}cannot read secrets/github: no such file`])
  })

  test('which must hold something', () => {
    expect(errorsOf({ toml, files: { '/app/secrets/github': '\n' } })).toEqual([
      `${where}secrets/github is empty`,
    ])
  })

  test('which must hold one line', () => {
    expect(errorsOf({ toml, files: { '/app/secrets/github': 'a\nb\n' } })).toEqual([
      'gatehouse.toml:3: [gate.providers.github] client_secret: must be 1 to 4000 characters on one line',
    ])
  })

  test('but not in both places', () => {
    expect(errorsOf({ toml: `${toml}client_secret = "b"` })).toEqual([
      `${where}client_secret is also set: remove one of them`,
    ])
  })

  test('whose name is a text', () => {
    expect(errorsOf({ toml: '[mail]\nsmtp_url_file = 1' })).toEqual([
      'gatehouse.toml:2: [mail] smtp_url_file: must be a path',
    ])
  })
})
