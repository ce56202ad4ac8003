import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatErrors, loadConfig } from '../../src/config/index.ts'
import { absent, configOf, errorsOf } from './support.ts'

describe('a file that is not TOML is refused with its line', () => {
  test.each<[string, string, string]>([
    [
      'a key twice',
      'a = 1\na = 2',
      '2: not valid TOML: trying to redefine an already defined table or value (column 1)',
    ],
    [
      'a table twice',
      '[log]\n[brand]\n[log]',
      '3: not valid TOML: trying to redefine an already defined table or value (column 2)',
    ],
    [
      'a NUL byte',
      '[log]\nlevel = "\u0000"',
      '2: not valid TOML: control characters are not allowed in strings (column 10)',
    ],
    [
      'a number too large',
      'a = 99999999999999999999',
      '1: not valid TOML: integer value cannot be represented losslessly (column 5)',
    ],
    ['a text without an end', 'a = "x', '1: not valid TOML: unfinished string (column 5)'],
  ])('%s', (_, toml, complaint) => {
    expect(errorsOf({ toml })).toEqual([`gatehouse.toml:${complaint}`])
  })

  test('without quoting the file, in which there may be secrets', () => {
    const toml = '[mail]\nsmtp_url = "smtp://u:hunter2@mail" x'

    expect(errorsOf({ toml }).join()).not.toContain('hunter2')
  })

  test('and nothing is concluded from what it does not say', () => {
    const env = { GATEHOUSE_MAIL_SMTP_URL: 'smtp://mail' }

    expect(errorsOf({ env, toml: '[mail]\nfrom = "a@b' })).toHaveLength(1)
  })
})

describe('keys that mean something to JavaScript mean nothing here', () => {
  test.each<[string, string]>([
    ['__proto__ = 1', '__proto__: unknown setting'],
    ['[__proto__]\nport = 1', '[__proto__]: unknown table'],
    ['[__proto__.polluted]', '[__proto__]: unknown table'],
    ['constructor = 1', 'constructor: unknown setting'],
    ['toString = 1', 'toString: unknown setting'],
    ['server.__proto__.port = 1', '[server.__proto__]: unknown table'],
  ])('%j', (toml, complaint) => {
    expect(errorsOf({ toml })).toEqual([`gatehouse.toml:1: ${complaint}`])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  test('nor do they as options', () => {
    const flags = JSON.parse('{ "__proto__": "1", "constructor": "2" }')

    expect(errorsOf({ flags })).toContain('--constructor: unknown option')
  })
})

describe('values that no setting should hold are refused', () => {
  test.each<[string, string]>([
    ['[server]\nport = 1e400', '[server] port: must be a whole number from 0 to 65535'],
    ['[server]\nport = 9007199254740991', '[server] port: must be a whole number from 0 to 65535'],
    [
      '[server]\nhost = "a\\u0000b"',
      '[server] host: must be an IP address or host name, such as 127.0.0.1',
    ],
    [
      '[server]\nmax_body = "99999999999999999999GB"',
      '[server] max_body: must be a size from 1KB to 100MB',
    ],
    ['\ndata_dir = "a\\u0000b"', 'data_dir: must be a path'],
    [
      '[mail]\nfrom = "a\\u0000@b"',
      '[mail] from: must be an email address, such as Gatehouse <gatehouse@example.org>',
    ],
    [
      '[outbound]\nallow = ["a\\u0000b"]',
      '[outbound] allow: item 1: must be a host name, *.suffix, IP address or network, with or without a port',
    ],
  ])('%j', (toml, complaint) => {
    expect(errorsOf({ toml })).toEqual([`gatehouse.toml:2: ${complaint}`])
  })
})

test('Windows line ends and a byte order mark are no obstacle', () => {
  const toml = '\ufeff[server]\r\nport = 81\r\nhost = 5\r\n'

  expect(errorsOf({ toml })).toEqual([
    'gatehouse.toml:3: [server] host: must be an IP address or host name, such as 127.0.0.1',
  ])
  expect(configOf({ toml: '\ufeff[server]\r\nport = 81\r\n' }).server.port).toBe(81)
})

test('a file that vanishes under a path that is no directory is absent', () => {
  expect(configOf({ readFile: () => absent('ENOTDIR') }).server.port).toBe(8420)
})

describe('on a real disk', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'gatehouse-config-'))
  afterAll(() => rmSync(cwd, { recursive: true }))
  const complaints = (config: string) => {
    const result = loadConfig({ flags: { config }, env: {}, cwd })
    return result.ok ? 'none' : formatErrors(result.errors)
  }

  test('a file is read as UTF-8', () => {
    writeFileSync(join(cwd, 'good.toml'), '\ufeff[mail]\nfrom = "Pförtner <gate@example.org>"\n')

    const result = loadConfig({ flags: { config: 'good.toml' }, env: {}, cwd })

    expect(result).toMatchObject({ config: { mail: { from: 'Pförtner <gate@example.org>' } } })
  })

  test('a directory is no file', () => {
    expect(complaints('.')).toBe('--config: cannot read .: it is a directory\n')
  })

  test('bytes that are not UTF-8 are refused', () => {
    writeFileSync(join(cwd, 'latin.toml'), Buffer.from('# caf\xe9', 'latin1'))

    expect(complaints('latin.toml')).toBe(
      '--config: cannot read latin.toml: it is not UTF-8 text\n',
    )
  })

  test('a path with a NUL byte is refused', () => {
    expect(complaints('a\u0000b')).toStartWith('--config: cannot read a\u0000b: ')
  })
})
