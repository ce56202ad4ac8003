import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { leaves } from '../../src/config/catalogue.ts'
import { describeConfig, formatRows, renderExample } from '../../src/config/index.ts'
import { renderFile } from '../../src/config/show.ts'
import { load, type Setup } from './fixture.ts'

const rowsOf = (setup: Setup = {}) => {
  const result = load(setup)
  if (!result.ok) throw new Error(JSON.stringify(result.errors))
  expect(result.warnings).toEqual([])
  return describeConfig(result.config, result.origin)
}

test('Each setting is shown as in a file, with its origin', () => {
  const rows = rowsOf({
    toml: '[clockwork]\nretry_delays = ["90s", "2h"]\n',
    env: { GATEHOUSE_SERVER_MAX_BODY: '2048KB' },
    flags: { 'server-port': '80' },
  })
  const shown = rows.map(({ key, value, origin }) => [key, value, origin])
  for (const row of [
    ['clockwork.retry_delays', ['90s', '2h'], 'file gatehouse.toml:2'],
    ['server.max_body', '2MB', 'environment GATEHOUSE_SERVER_MAX_BODY'],
    ['server.port', 80, 'flag --server-port'],
    ['metrics.enabled', false, 'default'],
    ['server.base_url', null, 'default'],
  ])
    expect(shown).toContainEqual(row as never)
  const keys = leaves.map(({ key }) => key).filter((key) => !key.startsWith('gate.providers.'))
  expect(rows.map(({ key }) => key)).toEqual(keys)
})

test('A provider is shown if it is set up, and a secret never', () => {
  const slack = '[gate.providers.slack]\nclient_id = "a"\nclient_secret = "hunter2"\n'
  const toml = `${slack}[mail]\nfrom = "a@b"\nsmtp_url = "smtp://u:hunter2@mail"`
  const rows = rowsOf({ toml })
  expect(rows.map(({ key }) => key)).toContain('gate.providers.slack.jwks_url')
  expect(JSON.stringify(rows)).not.toMatch(/hunter2|github/)
  const row = { key: 'mail.smtp_url', value: '[redacted]', origin: 'file gatehouse.toml:6' }
  expect(rows).toContainEqual(row)
  expect(rowsOf().find(({ key }) => key === 'mail.smtp_url')?.value).toBeNull()
})

test('The text is a file that gives the same configuration', () => {
  const rows = rowsOf({ toml: '[outbound]\nallow = ["nas:80", "*.lan"]\n' })
  const text = formatRows(rows)
  expect(text).toContain('outbound.allow = ["nas:80", "*.lan"]  # file gatehouse.toml:2\n')
  expect(parse(text)).toMatchObject({ server: { port: 8420 } })
  expect(rowsOf({ toml: text }).map(({ value }) => value)).toEqual(rows.map(({ value }) => value))
})

test('The exported file has what is no default, and loads once its secrets are entered', () => {
  const slack = '[gate.providers.slack]\nclient_id = "a"\nclient_secret = "hunter2"\n'
  const setup = { toml: `data_dir = "/srv/data"\n${slack}`, flags: { 'server-port': '80' } }
  const file = renderFile(rowsOf(setup))
  expect(file).toBe(
    'data_dir = "/srv/data"  # file gatehouse.toml:1\n\n' +
      '[server]\nport = 80  # flag --server-port\n\n' +
      '[gate.providers.slack]\nclient_id = "a"  # file gatehouse.toml:3\n' +
      '#client_secret = "…"  # file gatehouse.toml:4\n',
  )
  const values = (setup: Setup) => rowsOf(setup).map(({ value }) => value)
  expect(values({ toml: file.replace('#client_secret', 'client_secret') })).toEqual(values(setup))
})

/** To renew it, delete the file and run `bun src/main.ts config init gatehouse.example.toml`. */
const example = readFileSync(new URL('../../gatehouse.example.toml', import.meta.url), 'utf8')

test('The example in the repository is current, changes nothing and shows every default', () => {
  expect(example).toBe(renderExample())
  expect(rowsOf({ toml: example })).toEqual(rowsOf())
  const values = (toml?: string) =>
    rowsOf({ toml })
      .filter(({ key }) => !key.startsWith('gate.providers.'))
      .map(({ key, value }) => ({ key, value }))
  expect(values(example.replaceAll(/^#(?=\w)/gm, ''))).toEqual(values())
})
