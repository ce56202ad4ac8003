import { expect, test } from 'bun:test'
import { parse } from 'smol-toml'
import { leaves } from '../../src/config/catalogue.ts'
import { describeConfig, formatRows } from '../../src/config/index.ts'
import { load, type Setup } from './support.ts'

const rowsOf = (setup: Setup) => {
  const result = load(setup)
  if (!result.ok) throw new Error(JSON.stringify(result.errors))
  return describeConfig(result.config, result.origin)
}

test('each setting is shown as a file would have it, with where it comes from', () => {
  const rows = rowsOf({
    toml: '[clockwork]\nretry_delays = ["90s", "2h"]\n',
    env: { GATEHOUSE_SERVER_MAX_BODY: '2048KB' },
    flags: { 'server-port': '80' },
  })

  expect(rows).toContainEqual({
    key: 'clockwork.retry_delays',
    value: ['90s', '2h'],
    origin: 'file gatehouse.toml:2',
  })
  expect(rows).toContainEqual({
    key: 'server.max_body',
    value: '2MB',
    origin: 'environment GATEHOUSE_SERVER_MAX_BODY',
  })
  expect(rows).toContainEqual({ key: 'server.port', value: 80, origin: 'flag --server-port' })
  expect(rows).toContainEqual({ key: 'metrics.enabled', value: false, origin: 'default' })
  expect(rows).toContainEqual({ key: 'server.base_url', value: null, origin: 'default' })
})

test('the order is that of the file', () => {
  const shown = rowsOf({}).map(({ key }) => key)

  const rest = leaves.map(({ key }) => key).filter((key) => !key.startsWith('gate.providers.'))
  expect(shown).toEqual(rest)
  expect(shown[0]).toBe('data_dir')
})

test('only providers that somebody set up are shown, those whole', () => {
  const toml = '[gate.providers.slack]\nclient_id = "a"\nclient_secret = "b"'

  const keys = rowsOf({ toml }).map(({ key }) => key)

  expect(keys).toContain('gate.providers.slack.jwks_url')
  expect(keys.join()).not.toContain('github')
})

test('a secret is never shown, but that it is set', () => {
  const toml =
    '[gate.providers.slack]\nclient_id = "a"\nclient_secret = "hunter2"\n' +
    '[mail]\nfrom = "a@b"\nsmtp_url = "smtp://u:hunter2@mail"'

  const rows = rowsOf({ toml })

  expect(JSON.stringify(rows)).not.toContain('hunter2')
  expect(rows).toContainEqual({
    key: 'mail.smtp_url',
    value: '[redacted]',
    origin: 'file gatehouse.toml:6',
  })
  expect(rowsOf({}).find(({ key }) => key === 'mail.smtp_url')?.value).toBeNull()
})

test('as text it is a file that gives the same configuration', () => {
  const rows = rowsOf({ toml: '[outbound]\nallow = ["nas:80", "*.lan"]\n' })

  const text = formatRows(rows)

  expect(text).toContain('outbound.allow = ["nas:80", "*.lan"]  # file gatehouse.toml:2\n')
  expect(parse(text)).toMatchObject({ server: { port: 8420 } })
  expect(rowsOf({ toml: text }).map(({ value }) => value)).toEqual(rows.map(({ value }) => value))
})
