import { describe, expect, test } from 'bun:test'
import { leaves } from '../../src/config/catalogue.ts'
import { type Config, PROVIDERS } from '../../src/config/index.ts'
import { configOf, errorsOf } from './support.ts'

test('nothing has to be set', () => {
  const config = configOf({})

  expect(config.dataDir).toBe('/app/data')
  expect(config.server).toEqual({
    host: '127.0.0.1',
    port: 8420,
    baseUrl: undefined,
    trustedProxies: [],
    maxBodyBytes: 1_048_576,
    drainMs: 0,
  })
  expect(config.brand).toEqual({ prefix: 'svc', name: 'Service' })
  expect(config.database).toEqual({ synchronous: 'full', externalCheckpoint: false })
  expect(config.outbound).toEqual({ allow: [], timeoutMs: 30_000, maxResponseBytes: 65_536 })
  expect(config.clockwork).toEqual({
    tickMs: 60_000,
    retryDelaysMs: [60_000, 300_000],
    timeoutMs: 30_000,
  })
  expect(config.gate.webhookDelaysMs).toEqual([0, 1000, 2000])
  expect(config.relay.retryDelaysMs).toHaveLength(10)
  expect(config.relay.idempotencyWindowMs).toBe(86_400_000)
  expect(config.passepartout.telegramApiRoot).toBe('https://api.telegram.org')
  expect(config.console).toEqual({ signup: 'closed', signupPlan: 'free' })
  expect(config.metrics.enabled).toBe(false)
})

test('a plan, a price and a cap are there from the start', () => {
  expect(configOf({}).metering).toEqual({
    freeRequests: 3000,
    overagePriceCents: 300,
    overagePer: 10_000,
    defaultPlan: 'unlimited',
    defaultSpendCapCents: 5000,
  })
})

test('all eleven providers are there, and two for operators, off until they have a client', () => {
  const { providers } = configOf({}).gate

  expect(Object.keys(providers)).toEqual([...PROVIDERS, 'github-tenant', 'google-tenant'])
  expect(PROVIDERS).toHaveLength(11)
  for (const { clientId } of Object.values(providers)) expect(clientId).toBeUndefined()
})

test('a provider for operators is set like the others: its dash is an underscore in variables', () => {
  const inFile = '[gate.providers.google-tenant]\nclient_id = "a"\nclient_secret = "b"'
  const variables = {
    GATEHOUSE_GATE_PROVIDERS_GITHUB_TENANT_CLIENT_ID: 'c',
    GATEHOUSE_GATE_PROVIDERS_GITHUB_TENANT_CLIENT_SECRET: 'd',
  }

  const { providers } = configOf({ toml: inFile, env: variables }).gate
  expect(providers['google-tenant']).toMatchObject({ clientId: 'a', clientSecret: 'b' })
  expect(providers['github-tenant']).toMatchObject({ clientId: 'c', clientSecret: 'd' })
  expect(providers.google.clientId).toBeUndefined()
  expect(providers.github.clientId).toBeUndefined()
})

test('half a provider for operators is refused, and so is what apple alone has', () => {
  const half = '[gate.providers.github-tenant]\nclient_id = "a"'
  expect(errorsOf({ toml: half })).toEqual([expect.stringContaining('also set client_secret')])
  const signed = '[gate.providers.google-tenant]\nteam_id = "a"'
  expect(errorsOf({ toml: signed })).toEqual([
    expect.stringContaining('only apple uses this: remove it'),
  ])
})

test('a configuration is frozen to the bottom', () => {
  const isFrozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozen))

  expect(isFrozen(configOf({}))).toBe(true)
  expect(isFrozen(configOf({ env: { GATEHOUSE_OUTBOUND_ALLOW: 'nas' } }))).toBe(true)
})

test('the names of settings, variables and options are unique, also with _FILE at the end', () => {
  const variables = leaves.flatMap(({ variable }) => [variable, `${variable}_FILE`])

  expect(new Set(variables).size).toBe(variables.length)
  expect(new Set(leaves.map(({ option }) => option)).size).toBe(leaves.length)
  expect(new Set(leaves.map(({ key }) => key)).size).toBe(leaves.length)
})

test('every setting has a sentence of help', () => {
  for (const { key, setting } of leaves) expect(`${key} ${setting.help}`).toMatch(/ [^ ].*\.$/)
})

/** `port = 1` under `server` as a document. */
const toml = (key: string, value: string) => {
  const [table, word] = [key.split('.').slice(0, -1).join('.'), key.split('.').at(-1)]
  return table === '' ? `${word} = ${value}` : `[${table}]\n${word} = ${value}`
}

const valueAt = (config: Config, path: string): unknown =>
  path.split('.').reduce<unknown>((node, name) => (node as Record<string, unknown>)[name], config)

describe('a setting within its bounds is taken', () => {
  test.each<[string, string, string, unknown]>([
    ['data_dir', '"/var/lib/gatehouse"', 'dataDir', '/var/lib/gatehouse'],
    ['data_dir', '"state"', 'dataDir', '/app/state'],
    ['server.host', '"0.0.0.0"', 'server.host', '0.0.0.0'],
    ['server.host', '"::"', 'server.host', '::'],
    ['server.host', '"gate.internal"', 'server.host', 'gate.internal'],
    ['server.port', '0', 'server.port', 0],
    ['server.port', '65535', 'server.port', 65_535],
    ['server.base_url', '"https://id.example.org/"', 'server.baseUrl', 'https://id.example.org'],
    ['server.base_url', '"http://h:81/a/b/"', 'server.baseUrl', 'http://h:81/a/b'],
    ['server.base_url', '""', 'server.baseUrl', undefined],
    [
      'server.trusted_proxies',
      '["10.0.0.0/8", "::1", "fd00::/8", "192.0.2.1"]',
      'server.trustedProxies',
      ['10.0.0.0/8', '::1', 'fd00::/8', '192.0.2.1'],
    ],
    ['server.max_body', '"100MB"', 'server.maxBodyBytes', 104_857_600],
    ['server.drain', '"5m"', 'server.drainMs', 300_000],
    ['brand.prefix', '"acme9"', 'brand.prefix', 'acme9'],
    ['brand.name', '"Acme-Cloud"', 'brand.name', 'Acme-Cloud'],
    ['database.synchronous', '"normal"', 'database.synchronous', 'normal'],
    ['database.external_checkpoint', 'true', 'database.externalCheckpoint', true],
    ['outbound.allow', '["*.lan", "[fd00::7]:443"]', 'outbound.allow', ['*.lan', '[fd00::7]:443']],
    ['outbound.max_response', '"1KB"', 'outbound.maxResponseBytes', 1024],
    ['metering.default_plan', '"metered"', 'metering.defaultPlan', 'metered'],
    ['console.signup_plan', '"unlimited"', 'console.signupPlan', 'unlimited'],
    ['metering.free_requests', '0', 'metering.freeRequests', 0],
    ['gate.session_lifetime', '"30d"', 'gate.sessionLifetimeMs', 2_592_000_000],
    ['gate.password.min_length', '12', 'gate.password.minLength', 12],
    ['gate.password.memory', '"64MB"', 'gate.password.memoryBytes', 67_108_864],
    ['clockwork.tick', '"100ms"', 'clockwork.tickMs', 100],
    ['clockwork.tick', '"1s"', 'clockwork.tickMs', 1000],
    ['clockwork.tick', '"15m"', 'clockwork.tickMs', 900_000],
    ['clockwork.tick', '"1h"', 'clockwork.tickMs', 3_600_000],
    ['clockwork.timeout', '"15m"', 'clockwork.timeoutMs', 900_000],
    ['clockwork.retry_delays', '[]', 'clockwork.retryDelaysMs', []],
    [
      'clockwork.retry_delays',
      `[${'"1s", '.repeat(20)}]`,
      'clockwork.retryDelaysMs',
      Array(20).fill(1000),
    ],
    ['relay.breaker_failures', '1', 'relay.breakerFailures', 1],
    [
      'passepartout.telegram_api_root',
      '"http://127.0.0.1:8081"',
      'passepartout.telegramApiRoot',
      'http://127.0.0.1:8081',
    ],
    ['console.signup', '"open"', 'console.signup', 'open'],
    ['log.format', '"json"', 'log.format', 'json'],
    ['backup.directory', '"../out"', 'backup.directory', '/out'],
    ['metrics.enabled', 'true', 'metrics.enabled', true],
    [
      'gate.providers.gitlab.issuer',
      '"https://git.example.org/"',
      'gate.providers.gitlab.issuer',
      'https://git.example.org/',
    ],
    [
      'gate.providers.microsoft.authorize_url',
      '"https://login.example.org/authorize?p=policy"',
      'gate.providers.microsoft.authorizeUrl',
      'https://login.example.org/authorize?p=policy',
    ],
  ])('%s = %s', (key, written, path, value) => {
    expect(valueAt(configOf({ toml: toml(key, written) }), path)).toEqual(value)
  })
})

const A_LIST_OF_DELAYS = 'a list of up to 20 items, each a duration from 0s to 30d'
const A_TICK =
  'a duration from 100ms to 1h that divides a minute evenly, or an hour in whole minutes'
const A_MAIL_SERVER = 'must be a URL such as smtp://user:password@host:587'

describe('a setting out of its bounds is refused, and the complaint says what is expected', () => {
  test.each<[string, string, string]>([
    ['data_dir', '""', 'must be a path'],
    ['data_dir', '7', 'must be a path'],
    ['server.host', '""', 'must be an IP address or host name, such as 127.0.0.1'],
    ['server.host', '"http://localhost"', 'must be an IP address or host name, such as 127.0.0.1'],
    ['server.port', '-1', 'must be a whole number from 0 to 65535'],
    ['server.port', '65536', 'must be a whole number from 0 to 65535'],
    ['server.port', '80.5', 'must be a whole number from 0 to 65535'],
    ['server.port', 'nan', 'must be a whole number from 0 to 65535'],
    ['server.port', 'inf', 'must be a whole number from 0 to 65535'],
    ['server.port', '"8420"', 'must be a whole number from 0 to 65535'],
    ['server.port', '1979-05-27', 'must be a whole number from 0 to 65535'],
    ['server.port', '[80]', 'must be a whole number from 0 to 65535'],
    ['server.port', '{ number = 80 }', 'must be a whole number from 0 to 65535'],
    [
      'server.base_url',
      '"id.example.org"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.base_url',
      '"ftp://example.org"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.base_url',
      '"https://example.org/?"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.base_url',
      '"https://example.org/#a"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.base_url',
      '"https://me@example.org"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.base_url',
      '"https:\\\\\\\\example.org"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.base_url',
      '" https://example.org"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.base_url',
      '"https://"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.base_url',
      '"https://exa\\nmple.org"',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    [
      'server.trusted_proxies',
      '"10.0.0.1"',
      'must be a list of up to 100 items, each an IP address or network, such as 10.0.0.0/8',
    ],
    [
      'server.trusted_proxies',
      '["::1", "10.0.0.0/33"]',
      'item 2: must be an IP address or network, such as 10.0.0.0/8',
    ],
    [
      'server.trusted_proxies',
      '["10.0.0/8"]',
      'item 1: must be an IP address or network, such as 10.0.0.0/8',
    ],
    [
      'server.trusted_proxies',
      '["fe80::1%eth0"]',
      'item 1: must be an IP address or network, such as 10.0.0.0/8',
    ],
    [
      'server.trusted_proxies',
      '["proxy"]',
      'item 1: must be an IP address or network, such as 10.0.0.0/8',
    ],
    ['server.max_body', '"1B"', 'must be a size from 1KB to 100MB'],
    ['server.max_body', '"101MB"', 'must be a size from 1KB to 100MB'],
    ['server.max_body', '1048576', 'must be a size from 1KB to 100MB'],
    ['server.drain', '"6m"', 'must be a duration from 0s to 5m'],
    ['server.drain', '30', 'must be a duration from 0s to 5m'],
    [
      'brand.prefix',
      '"Svc"',
      'must be a lowercase letter and up to 15 lowercase letters or digits',
    ],
    [
      'brand.prefix',
      '"9svc"',
      'must be a lowercase letter and up to 15 lowercase letters or digits',
    ],
    [
      'brand.prefix',
      '"a_b"',
      'must be a lowercase letter and up to 15 lowercase letters or digits',
    ],
    [
      'brand.prefix',
      '"abcdefghijklmnopq"',
      'must be a lowercase letter and up to 15 lowercase letters or digits',
    ],
    ['brand.name', '""', 'must be a word of up to 32 letters, digits and hyphens'],
    ['brand.name', '"My Service"', 'must be a word of up to 32 letters, digits and hyphens'],
    ['brand.name', '"A\\r\\nX: y"', 'must be a word of up to 32 letters, digits and hyphens'],
    ['brand.name', '"Service\\n"', 'must be a word of up to 32 letters, digits and hyphens'],
    ['brand.name', '"Dienst\\u00e9"', 'must be a word of up to 32 letters, digits and hyphens'],
    ['database.synchronous', '"off"', 'must be "full" or "normal"'],
    ['database.external_checkpoint', '"true"', 'must be true or false'],
    ['database.external_checkpoint', '1', 'must be true or false'],
    [
      'outbound.allow',
      '["a b"]',
      'item 1: must be a host name, *.suffix, IP address or network, with or without a port',
    ],
    ['metering.overage_per', '0', 'must be a whole number from 1 to 1000000000'],
    ['metering.overage_price_cents', '2.5', 'must be a whole number from 0 to 1000000000'],
    ['metering.default_plan', '"gold"', 'must be "free", "metered" or "unlimited"'],
    ['console.signup_plan', '"gold"', 'must be "free", "metered" or "unlimited"'],
    ['limits.requests_per_minute', '0', 'must be a whole number from 1 to 10000000'],
    ['gate.webhook_delays', '[]', 'must be a list of 1 to 20 items, each a duration from 0s to 1h'],
    ['gate.password.min_length', '4', 'must be a whole number from 8 to 128'],
    ['gate.password.memory', '"1KB"', 'must be a size from 8MB to 1GB'],
    ['clockwork.tick', '"50ms"', `must be ${A_TICK}`],
    ['clockwork.tick', '"7s"', `must be ${A_TICK}`],
    ['clockwork.tick', '"90s"', `must be ${A_TICK}`],
    ['clockwork.tick', '"7m"', `must be ${A_TICK}`],
    ['clockwork.tick', '"2h"', `must be ${A_TICK}`],
    ['clockwork.tick', '"0s"', `must be ${A_TICK}`],
    ['clockwork.timeout', '"999ms"', 'must be a duration from 1s to 15m'],
    ['clockwork.timeout', '"901s"', 'must be a duration from 1s to 15m'],
    ['clockwork.retry_delays', `[${'"1s", '.repeat(21)}]`, `must be ${A_LIST_OF_DELAYS}`],
    ['clockwork.retry_delays', '["1m", 5]', 'item 2: must be a duration from 0s to 30d'],
    ['relay.retry_delays', '"5s"', `must be ${A_LIST_OF_DELAYS}`],
    [
      'passepartout.telegram_api_root',
      '""',
      'must be an http or https URL without a query, such as https://gatehouse.example.org',
    ],
    ['log.level', '"trace"', 'must be "debug", "info", "warn" or "error"'],
    ['log.format', '"xml"', 'must be "auto", "text" or "json"'],
    [
      'mail.from',
      '"nobody"',
      'must be an email address, such as Gatehouse <gatehouse@example.org>',
    ],
    [
      'mail.from',
      '"a@b\\r\\nBcc: c@d"',
      'must be an email address, such as Gatehouse <gatehouse@example.org>',
    ],
    ['mail.smtp_url', '"http://mail"', A_MAIL_SERVER],
    ['mail.smtp_url', '"smtp://u:1234#5@mail"', A_MAIL_SERVER],
    ['mail.smtp_url', '"smtp://u:1234/5@mail"', A_MAIL_SERVER],
    ['mail.smtp_url', '"smtp://u:1%zz@mail"', A_MAIL_SERVER],
    ['mail.smtp_url', '"smtp://u@mail"', A_MAIL_SERVER],
    ['mail.smtp_url', '"smtp://mail?tls.rejectUnauthorized=false"', A_MAIL_SERVER],
    ['gate.providers.github.client_id', '"a\\nb"', 'must be 1 to 500 characters on one line'],
    ['gate.providers.github.token_url', '"/token"', 'must be an http or https URL'],
    ['gate.providers.apple.private_key', '"secret"', 'must be a P-256 private key in PEM format'],
  ])('%s = %s', (key, written, complaint) => {
    const table = key.split('.').slice(0, -1).join('.')
    const label = table === '' ? key : `[${table}] ${key.split('.').at(-1)}`
    const line = table === '' ? 1 : 2

    expect(errorsOf({ toml: toml(key, written) })).toEqual([
      `gatehouse.toml:${line}: ${label}: ${complaint}`,
    ])
  })
})

describe('settings that go together are set together', () => {
  const cases: [string, string, string[]][] = [
    [
      'mail has a sender',
      '[mail]\nsmtp_url = "smtp://mail"',
      ['gatehouse.toml:2: [mail] smtp_url: also set from, the sender of all emails'],
    ],
    [
      'a client has a secret',
      '[gate.providers.github]\nclient_id = "a"',
      ['gatehouse.toml:2: [gate.providers.github] client_id: also set client_secret'],
    ],
    [
      'a secret has a client',
      '[gate.providers.slack]\nclient_secret = "a"',
      ['gatehouse.toml:2: [gate.providers.slack] client_secret: also set client_id'],
    ],
    [
      'a client of Apple has what it signs with',
      '[gate.providers.apple]\nclient_id = "a"\nkey_id = "b"',
      ['gatehouse.toml:2: [gate.providers.apple] client_id: also set team_id, private_key'],
    ],
    [
      'a client of Apple has no secret of its own',
      '[gate.providers.apple]\nclient_id = "a"\nclient_secret = "b"',
      [
        'gatehouse.toml:3: [gate.providers.apple] client_secret: set team_id, key_id, private_key instead',
      ],
    ],
    [
      'nobody else signs',
      '[gate.providers.github]\nclient_id = "a"\nclient_secret = "b"\nteam_id = "c"',
      ['gatehouse.toml:4: [gate.providers.github] team_id: only apple uses this: remove it'],
    ],
    [
      'a code does not outlive its flow',
      '[gate]\nflow_lifetime = "5m"',
      [
        'gatehouse.toml:2: [gate] flow_lifetime: code_lifetime must not be longer than flow_lifetime',
      ],
    ],
  ]

  test.each(cases)('%s', (_, toml, complaints) => {
    expect(errorsOf({ toml })).toEqual(complaints)
  })

  test('wherever they are set', () => {
    const env = { GATEHOUSE_MAIL_FROM: 'Gatehouse <gate@example.org>' }

    const { mail } = configOf({ env, toml: '[mail]\nsmtp_url = "smtps://u:p@mail:465"' })

    expect(mail).toEqual({ smtpUrl: 'smtps://u:p@mail:465', from: 'Gatehouse <gate@example.org>' })
  })

  test('the complaint is about the one that was set', () => {
    expect(errorsOf({ env: { GATEHOUSE_GATE_PROVIDERS_SLACK_CLIENT_ID: 'a' } })).toEqual([
      'GATEHOUSE_GATE_PROVIDERS_SLACK_CLIENT_ID: also set client_secret',
    ])
  })

  test('nothing is said about a pair of which one is refused anyway', () => {
    expect(errorsOf({ toml: '[mail]\nsmtp_url = "smtp://mail"\nfrom = "x"' })).toHaveLength(1)
  })
})
