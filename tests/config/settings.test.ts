import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { leaves } from '../../src/config/catalogue.ts'
import { type Config, PROVIDERS } from '../../src/config/index.ts'
import { configOf, errorsOf, tomlOf } from './fixture.ts'

test('Every setting has a default', () => {
  const config = configOf({})
  const prices = { freeRequests: 3000, overagePriceCents: 300, overagePer: 10_000 }
  expect(config).toMatchObject({
    dataDir: '/app/data',
    server: { host: '127.0.0.1', port: 8420, maxBodyBytes: 1_048_576, drainMs: 0 },
    brand: { prefix: 'svc', name: 'Service' },
    database: { synchronous: 'full', externalCheckpoint: false },
    outbound: { timeoutMs: 30_000, maxResponseBytes: 65_536 },
    clockwork: { tickMs: 60_000, retryDelaysMs: [60_000, 300_000], timeoutMs: 30_000 },
    gate: { webhookDelaysMs: [0, 1000, 2000] },
    relay: { idempotencyWindowMs: 86_400_000 },
    passepartout: { telegramApiRoot: 'https://api.telegram.org' },
    console: { signup: 'closed', signupPlan: 'free' },
    metering: { ...prices, defaultPlan: 'unlimited', defaultSpendCapCents: 5000 },
    metrics: { enabled: false },
  })
  expect(config.server.baseUrl).toBeUndefined()
  expect([config.server.trustedProxies, config.outbound.allow]).toEqual([[], []])
  expect(config.relay.retryDelaysMs).toHaveLength(10)
  const names = [...PROVIDERS, 'github-tenant', 'google-tenant']
  expect(Object.keys(config.gate.providers)).toEqual(names)
  expect(PROVIDERS).toHaveLength(11)
  for (const { clientId } of Object.values(config.gate.providers)) expect(clientId).toBeUndefined()
})

test('A provider for operators is set apart from the one for people, with underscores in variables', () => {
  const toml = '[gate.providers.google-tenant]\nclient_id = "a"\nclient_secret = "b"'
  const env = {
    GATEHOUSE_GATE_PROVIDERS_GITHUB_TENANT_CLIENT_ID: 'c',
    GATEHOUSE_GATE_PROVIDERS_GITHUB_TENANT_CLIENT_SECRET: 'd',
  }
  const { providers } = configOf({ toml, env }).gate
  expect(providers['google-tenant']).toMatchObject({ clientId: 'a', clientSecret: 'b' })
  expect(providers['github-tenant']).toMatchObject({ clientId: 'c', clientSecret: 'd' })
  expect([providers.google.clientId, providers.github.clientId]).toEqual([undefined, undefined])
})

test('A configuration is frozen at every depth', () => {
  const isFrozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  expect(isFrozen(configOf({}))).toBe(true)
  expect(isFrozen(configOf({ env: { GATEHOUSE_OUTBOUND_ALLOW: 'nas' } }))).toBe(true)
})

test('Settings, variables and options have unique names, and each setting a sentence of help', () => {
  const variables = leaves.flatMap(({ variable }) => [variable, `${variable}_FILE`])
  expect(new Set(variables).size).toBe(variables.length)
  expect(new Set(leaves.map(({ option }) => option)).size).toBe(leaves.length)
  expect(new Set(leaves.map(({ key }) => key)).size).toBe(leaves.length)
  for (const { key, setting } of leaves) expect(`${key} ${setting.help}`).toMatch(/ [^ ].*\.$/)
})

const valueAt = (config: Config, path: string): unknown =>
  path.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], config)

const GITLAB = 'gate.providers.gitlab'
const TELEGRAM = 'passepartout.'
test.each<[string, string, string, unknown]>([
  ['data_dir', '"/var/lib/gatehouse"', 'dataDir', '/var/lib/gatehouse'],
  ['server.port', '0', 'server.port', 0],
  ['server.port', '65535', 'server.port', 65_535],
  ['server.processes', '4', 'server.processes', 4],
  ['server.processes', '"auto"', 'server.processes', 'auto'],
  ['server.base_url', '"https://id.example.org/"', 'server.baseUrl', 'https://id.example.org'],
  ['server.base_url', '""', 'server.baseUrl', undefined],
  ['server.trusted_proxies', '["::1", "fd00::/8"]', 'server.trustedProxies', ['::1', 'fd00::/8']],
  ['server.max_body', '"100MB"', 'server.maxBodyBytes', 104_857_600],
  ['server.drain', '"5m"', 'server.drainMs', 300_000],
  ['database.external_checkpoint', 'true', 'database.externalCheckpoint', true],
  ['outbound.allow', '["*.lan", "[fd00::7]:443"]', 'outbound.allow', ['*.lan', '[fd00::7]:443']],
  ['outbound.max_response', '"1KB"', 'outbound.maxResponseBytes', 1024],
  ['clockwork.tick', '"100ms"', 'clockwork.tickMs', 100],
  ['clockwork.tick', '"1h"', 'clockwork.tickMs', 3_600_000],
  ['clockwork.retry_delays', '[]', 'clockwork.retryDelaysMs', []],
  ['relay.retry_delays', `[${'"1s", '.repeat(20)}]`, 'relay.retryDelaysMs', Array(20).fill(1000)],
  [`${TELEGRAM}telegram_api_root`, '"http://h:81"', `${TELEGRAM}telegramApiRoot`, 'http://h:81'],
  ['backup.directory', '"../out"', 'backup.directory', '/out'],
  [`${GITLAB}.authorize_url`, '"https://l.ms/?p=x"', `${GITLAB}.authorizeUrl`, 'https://l.ms/?p=x'],
])('%s = %s is accepted', (key, written, path, value) => {
  expect(valueAt(configOf({ toml: tomlOf(key, written) }), path)).toEqual(value)
})

/** A setting, its rule and refused values; `·` stands for a blank within a value. */
const REFUSED = `
  data_dir | must be a path | "" 7 "a\\u0000b"
  server.host | must be an IP address or host name, such as | "" "http://localhost" "a\\u0000b"
  server.port | must be a whole number from 0 to 65535 |
      -1 65536 80.5 nan inf 1e400 9007199254740991 "8420" 1979-05-27 [80] {number=80}
  server.base_url | must be an http or https URL without a query |
      "id.example.org" "ftp://example.org" "https://example.org/?" "https://example.org/#a"
      "https://me@example.org" "https:\\\\\\\\example.org" "·https://example.org" "https://"
      "https://exa\\nmple.org"
  server.trusted_proxies | must be a list of up to 100 items, each an IP address or | "10.0.0.1"
  server.trusted_proxies | item 2: must be an IP address or network | ["::1","10.0.0.0/33"]
  server.trusted_proxies | item 1: must be an IP address or network |
      ["10.0.0/8"] ["fe80::1%eth0"] ["proxy"]
  server.processes | must be a whole number from 1 to 64, or "auto" | 0 65 "all" "2"
  server.max_body | must be a size from 1KB to | "1B" "101MB" 1048576 "99999999999999999999GB"
  server.drain | must be a duration from 0s to 5m | "6m" 30
  brand.prefix | must be a lowercase letter and up to 15 | "Svc" "9svc" "a_b" "abcdefghijklmnopq"
  brand.name | must be a word of up to 32 letters, digits and hyphens |
      "" "My·Service" "A\\r\\nX:·y" "Service\\n" "Dienst\\u00e9"
  database.synchronous | must be "full" or "normal" | "off"
  outbound.allow | item 1: must be a host name, *.suffix, IP address or | ["a·b"] ["a\\u0000b"]
  metering.overage_per | must be a whole number from 1 to 1000000000 | 0
  metering.overage_price_cents | must be a whole number from 0 to 1000000000 | 2.5
  metering.default_plan | must be "free", "metered" or "unlimited" | "gold"
  limits.requests_per_minute | must be a whole number from 1 to 10000000 | 0
  gate.webhook_delays | must be a list of 1 to 20 items, each a duration from 0s to 1h | []
  gate.password.min_length | must be a whole number from 8 to 128 | 4
  gate.password.memory | must be a size from 8MB to 1GB | "1KB"
  clockwork.tick | must be a duration from 100ms to 1h that divides a minute evenly, or an hour in whole minutes |
      "50ms" "7s" "90s" "7m" "2h" "0s"
  clockwork.timeout | must be a duration from 1s to 15m | "999ms" "901s"
  clockwork.retry_delays | must be a list of up to 20 items, each a duration from 0s to 30d |
      [${'"1s",'.repeat(21)}] "5s"
  clockwork.retry_delays | item 2: must be a duration from 0s to 30d | ["1m",5]
  passepartout.telegram_api_root | must be an http or https URL without a query | ""
  log.level | must be "debug", "info", "warn" or "error" | "trace"
  mail.from | must be an email address, such as | "nobody" "a@b\\r\\nBcc:·c@d" "a\\u0000@b"
  mail.smtp_url | must be a URL such as smtp://user:password@host:587 |
      "http://mail" "smtp://u:1234#5@mail" "smtp://u:1234/5@mail" "smtp://u:1%zz@mail" "smtp://u@mail"
      "smtp://mail?tls.rejectUnauthorized=false"
  gate.providers.github.client_id | must be 1 to 500 characters on one line | "a\\nb"
  gate.providers.github.token_url | must be an http or https URL | "/token"`.split(/\n {2}(?=\S)/)

test.each(REFUSED.slice(1))('Values out of bounds are refused: %s', (entry) => {
  const [key = '', problem = '', values = ''] = entry.split(/ \| ?/)
  const [table, word] = [key.split('.').slice(0, -1).join('.'), key.split('.').at(-1)]
  const label = table === '' ? key : `[${table}] ${word}`
  for (const value of values.trim().split(/\s+/)) {
    const errors = errorsOf({ toml: tomlOf(key, value.replaceAll('·', ' ')) })
    const expected = expect.stringContaining(`gatehouse.toml:2: ${label}: ${problem}`)
    expect(errors, value).toEqual([expected])
  }
})

const GITHUB = '[gate.providers.github]\nclient_id = "a"'
const APPLE = '[gate.providers.apple]\nclient_id = "a"'

test.each([
  ['[mail]\nsmtp_url = "smtp://mail"', 2, 'smtp_url: also set from, the sender of all emails'],
  [GITHUB, 2, 'client_id: also set client_secret'],
  [GITHUB.replace('client_id', 'client_secret'), 2, 'client_secret: also set client_id'],
  [GITHUB.replace('hub', 'hub-tenant'), 2, 'client_id: also set client_secret'],
  [`${APPLE}\nkey_id = "b"`, 2, 'client_id: also set team_id, private_key'],
  [`${APPLE}\nclient_secret = "b"`, 3, 'client_secret: set team_id, key_id, private_key instead'],
  [`${GITHUB}\nclient_secret = "b"\nteam_id = "c"`, 4, 'team_id: only apple uses this: remove it'],
  ['[gate.providers.slack]\nteam_id = "a"', 2, 'team_id: only apple uses this: remove it'],
  [
    '[gate]\nflow_lifetime = "5m"',
    2,
    'flow_lifetime: code_lifetime must not be longer than flow_lifetime',
  ],
])('Settings that belong together are set together: %j', (toml, line, error) => {
  const [table] = toml.split('\n')
  expect(errorsOf({ toml })).toEqual([`gatehouse.toml:${line}: ${table} ${error}`])
})

test('Settings that belong together may come from different places', () => {
  const env = { GATEHOUSE_MAIL_FROM: 'Gatehouse <gate@example.org>' }
  const { mail } = configOf({ env, toml: '[mail]\nsmtp_url = "smtps://u:p@mail:465"' })
  expect(mail).toEqual({ smtpUrl: 'smtps://u:p@mail:465', from: 'Gatehouse <gate@example.org>' })
  const variable = 'GATEHOUSE_GATE_PROVIDERS_SLACK_CLIENT_ID'
  expect(errorsOf({ env: { [variable]: 'a' } })).toEqual([`${variable}: also set client_secret`])
  // One of them is invalid: that is the only error.
  expect(errorsOf({ toml: '[mail]\nsmtp_url = "smtp://mail"\nfrom = "x"' })).toHaveLength(1)
})

test('An Apple client signs with a P-256 key from the file, a file of its own or a variable, which is a secret', () => {
  const pem = { type: 'pkcs8', format: 'pem' } as const
  const pemOf = (namedCurve: string) =>
    `${generateKeyPairSync('ec', { namedCurve }).privateKey.export(pem)}`
  const key = pemOf('P-256')
  const client = `${APPLE}\nteam_id = "b"\nkey_id = "c"\n`
  const inFile = (text: string) => `${client}private_key = """\n${text}"""`
  const env = { GATEHOUSE_GATE_PROVIDERS_APPLE_PRIVATE_KEY: key.replaceAll('\n', '\\n') }
  for (const setup of [
    { toml: inFile(key) },
    { toml: `${client}private_key_file = "key.p8"`, files: { '/app/key.p8': key } },
    { toml: client, env },
  ])
    expect(configOf(setup).gate.providers.apple.privateKey).toBe(key)
  const errors = errorsOf({ toml: `${inFile(key)}\nclient_secret = "x"` })
  expect(errors.join()).not.toContain(key.split('\n')[1] as string)
  const another = `${generateKeyPairSync('ed25519').privateKey.export(pem)}`
  for (const other of [pemOf('P-384'), another, key.slice(0, 60), 'secret']) {
    const [error = ''] = errorsOf({ toml: inFile(other) })
    expect(error).toEndWith('private_key: must be a P-256 private key in PEM format')
    expect(error).not.toContain('BEGIN')
  }
})
