import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatErrors, loadConfig, settingFlags } from '../../src/config/index.ts'
import { temporaryFolder } from '../support/folder.ts'
import { absent, configOf, errorsOf, load, originsOf, type Setup } from './fixture.ts'

const port = (number: number) => `[server]\nport = ${number}\n`
const A_PORT = 'must be a whole number from 0 to 65535'

describe('The file', () => {
  const env = { GATEHOUSE_CONFIG: '/env.toml' }
  const system = { '/etc/gatehouse/gatehouse.toml': port(4) }
  const files = {
    '/app/flag.toml': port(1),
    '/env.toml': port(2),
    '/app/gatehouse.toml': port(3),
    ...system,
  }
  test.each<[number, string | undefined, Setup]>([
    [1, 'flag.toml', { files, env, flags: { config: 'flag.toml' } }],
    [2, '/env.toml', { files, env }],
    [3, 'gatehouse.toml', { files }],
    [3, 'gatehouse.toml', { files, env: { GATEHOUSE_CONFIG: '' } }],
    [4, '/etc/gatehouse/gatehouse.toml', { files: system }],
    [8420, undefined, {}],
    [8420, undefined, { readFile: () => absent('ENOTDIR') }],
  ])('is the first of option, variable, working directory and /etc: %d', (number, file, setup) => {
    const result = load(setup)
    expect(result).toMatchObject({ ok: true, config: { server: { port: number } }, warnings: [] })
    expect(result.file).toBe(file as string)
  })

  test.each<[Setup, string]>([
    [{ flags: { config: 'x.toml' }, toml: '' }, '--config: cannot read x.toml: no such file'],
    [{ env: { GATEHOUSE_CONFIG: '/x' } }, 'GATEHOUSE_CONFIG: cannot read /x: no such file'],
  ])('must be readable if it is named: %j', (setup, error) => {
    expect(errorsOf(setup)).toEqual([error])
    const [denied] = errorsOf({ readFile: () => absent('EACCES') })
    expect(denied).toBe('gatehouse.toml: cannot read gatehouse.toml: permission denied')
  })

  test('is read from disk as UTF-8, with a byte order mark and Windows line ends, too', () => {
    using folder = temporaryFolder()
    const from = (config: string) => {
      const result = loadConfig({ flags: { config }, env: {}, cwd: folder.path })
      return result.ok ? result.config.mail.from : formatErrors(result.errors)
    }
    writeFileSync(
      join(folder.path, 'good.toml'),
      '\ufeff[mail]\r\nfrom = "Pförtner <gate@example.org>"\r\n',
    )
    writeFileSync(join(folder.path, 'latin.toml'), Buffer.from('# caf\xe9', 'latin1'))
    expect(from('good.toml')).toBe('Pförtner <gate@example.org>')
    expect(from('latin.toml')).toBe('--config: cannot read latin.toml: it is not UTF-8 text\n')
    expect(from('.')).toBe('--config: cannot read .: it is a directory\n')
    expect(from('a\u0000b')).toStartWith('--config: cannot read a\u0000b: ')
  })
})

describe('An option wins over a variable, a variable over the file, the file over the default', () => {
  const flags = { 'server-port': '1' }
  const env = { GATEHOUSE_SERVER_PORT: '2' }
  const toml = `# mine\n${port(3)}`

  test.each<[number, string, string, Setup]>([
    [1, 'flag', '--server-port', { flags, env, toml }],
    [2, 'environment', 'GATEHOUSE_SERVER_PORT', { env, toml }],
    [3, 'file', 'gatehouse.toml:3', { toml, flags: { 'server-port': undefined } }],
    [8420, 'default', '', {}],
  ])('%d from %s %s', (number, source, at, setup) => {
    expect(configOf(setup).server.port).toBe(number)
    expect(originsOf(setup).get('server.port')).toEqual({ source, at } as never)
    const others = [...originsOf(setup)].filter(([key]) => key !== 'server.port')
    expect(new Set(others.map(([, { source }]) => source))).toEqual(new Set(['default']))
  })

  test('and the overridden value is checked too', () => {
    expect(errorsOf({ flags, toml: port(99_999) })).toHaveLength(1)
  })
})

test('An option is named after its setting, and exists for all but secrets', () => {
  const flags = { 'data-dir': '/data', 'clockwork-retry-delays': '1s,2s', config: undefined }
  expect(configOf({ flags })).toMatchObject({
    dataDir: '/data',
    clockwork: { retryDelaysMs: [1000, 2000] },
  })
  const names = settingFlags.map(({ name }) => name)
  expect(names).toContain('server-port')
  expect(names).toContain('gate-providers-github-client-id')
  expect(names.filter((name) => /secret|smtp/.test(name))).toEqual([])
})

test.each([
  ['server-port', 'x', A_PORT],
  ['server-prot', '1', 'unknown option; did you mean --server-port?'],
  ['constructor', '2', 'unknown option'],
  ['mail-smtp-url', 'smtp://u:p@mail', 'unknown option'],
])('An option is refused: --%s %s', (name, value, problem) => {
  expect(errorsOf({ flags: { [name]: value } })).toEqual([`--${name}: ${problem}`])
})

const setting = (near: string) => `unknown setting; did you mean ${near}?`
const table = (near: string) => `unknown table; did you mean [${near}]?`
const GITHUB = 'gate.providers.github'
test.each([
  ['[server]\nprot = 1', `2: [server] prot: ${setting('port')}`],
  ['dat_dir = "x"', `1: dat_dir: ${setting('data_dir')}`],
  ['server = { prot = 1 }', `1: [server] prot: ${setting('port')}`],
  ['[server]\nsignup = "open"', `2: [server] signup: ${setting('[console] signup')}`],
  // Several tables have it.
  ['timeout = "1s"', '1: timeout: unknown setting'],
  // Only a secret may be in a file.
  ['[server]\nport_file = "x"', '2: [server] port_file: unknown setting'],
  ['\n[servr]\nport = 1', `2: [servr]: ${table('server')}`],
  ['[[servr]]\n[[servr]]', `1: [servr]: ${table('server')}`],
  ['[gate.pasword]\nqueue = 1', `1: [gate.pasword]: ${table('gate.password')}`],
  [`[${GITHUB}]\nclientid = "a"`, `2: [${GITHUB}] clientid: ${setting('client_id')}`],
  ['"\\u001b[31m" = 1', '1: "\\u001b[31m": unknown setting'],
  ['__proto__ = 1', '1: __proto__: unknown setting'],
  ['[__proto__.polluted]', '1: [__proto__]: unknown table'],
  ['server.__proto__.port = 1', '1: [server.__proto__]: unknown table'],
])('An unknown name in a file is refused with its line and the nearest name: %j', (toml, error) => {
  expect(errorsOf({ toml })).toEqual([`gatehouse.toml:${error}`])
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test('A setting as table or a table as setting is refused', () => {
  expect(errorsOf({ toml: 'server = 1\n[data_dir]\nx = 1\n[[gate]]' })).toEqual([
    'gatehouse.toml:1: [server]: must be a table',
    'gatehouse.toml:2: data_dir: must be a path',
    'gatehouse.toml:4: [gate]: must be a table',
  ])
})

test.each([
  ['a = 1\na = 2', 2, 1],
  ['[log]\nlevel = "\u0000"', 2, 10],
  ['a = 99999999999999999999', 1, 5],
])('Invalid TOML is refused with its place: %j', (toml, line, column) => {
  const errors = errorsOf({ toml })
  expect(errors).toHaveLength(1)
  expect(errors[0]).toStartWith(`gatehouse.toml:${line}: not valid TOML: `)
  expect(errors[0]).toEndWith(`(column ${column})`)
})

test('The error of an invalid file is the only one and quotes no secret of it', () => {
  const toml = '[mail]\nsmtp_url = "smtp://u:hunter2@mail" x'
  const [error, ...others] = errorsOf({ env: { GATEHOUSE_MAIL_SMTP_URL: 'smtp://mail' }, toml })
  expect(others).toEqual([])
  expect(error).not.toContain('hunter2')
})

test('All errors are reported at once and name their setting for programs', () => {
  const toml = '[server]\nport = 70000\nmax_body = "1PB"\n\n[relai]\n\n[log]\nlevel = 5\n'
  const env = { GATEHOUSE_METRICS_ENABLED: 'yes', GATEHOUSE_DATA_DIR_FILE: '/nowhere' }
  const setup = { toml, env, flags: { 'brand-prefix': 'A' } }
  expect(errorsOf(setup)).toEqual([
    '--brand-prefix: must be a lowercase letter and up to 15 lowercase letters or digits',
    'GATEHOUSE_DATA_DIR_FILE: cannot read /nowhere: no such file',
    'GATEHOUSE_METRICS_ENABLED: must be true or false',
    `gatehouse.toml:2: [server] port: ${A_PORT}`,
    'gatehouse.toml:3: [server] max_body: must be a size from 1KB to 100MB',
    'gatehouse.toml:5: [relai]: unknown table; did you mean [relay]?',
    'gatehouse.toml:8: [log] level: must be "debug", "info", "warn" or "error"',
  ])
  const error = expect.objectContaining({ at: 'gatehouse.toml:2', key: 'server.port' })
  expect(load(setup)).toMatchObject({ ok: false, errors: expect.arrayContaining([error]) })
})

const SECRET = `[${GITHUB}]\nclient_id = "a"\nclient_secret_file = "secrets/github"\n`
const withText = (text: string) => ({ toml: SECRET, files: { '/app/secrets/github': text } })

test('A secret in a file of its own is read from the working directory, without the line break at its end', () => {
  const setup = withText('s3cret \r\n')
  expect(configOf(setup).gate.providers.github.clientSecret).toBe('s3cret ')
  const origin = { source: 'file', at: 'gatehouse.toml:3' } as const
  expect(originsOf(setup).get(`${GITHUB}.client_secret`)).toEqual(origin)
  const also = 'client_secret_file: client_secret is also set: remove one of them'
  for (const [wrong, error] of [
    [{ toml: SECRET }, 'client_secret_file: cannot read secrets/github: no such file'],
    [withText('\n'), 'client_secret_file: secrets/github is empty'],
    [withText('a\nb\n'), 'client_secret: must be 1 to 4000 characters on one line'],
    [{ toml: `${SECRET}client_secret = "b"` }, also],
    [{ toml: SECRET.replace('"secrets/github"', '1') }, 'client_secret_file: must be a path'],
  ] as const)
    expect(errorsOf(wrong)).toEqual([`gatehouse.toml:3: [${GITHUB}] ${error}`])
})
