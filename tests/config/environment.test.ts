import { expect, test } from 'bun:test'
import { configOf, errorsOf, originsOf, warningsOf } from './fixture.ts'

test('A variable sets any kind of setting', () => {
  const github = 'GATEHOUSE_GATE_PROVIDERS_GITHUB'
  const config = configOf({
    toml: '[server]\nbase_url = "https://example.org"',
    env: {
      GATEHOUSE_DATA_DIR: '/data',
      GATEHOUSE_SERVER_BASE_URL: '',
      GATEHOUSE_SERVER_MAX_BODY: '64KB',
      GATEHOUSE_SERVER_TRUSTED_PROXIES: '10.0.0.0/8,::1',
      GATEHOUSE_METRICS_ENABLED: 'true',
      GATEHOUSE_CLOCKWORK_TICK: '1s',
      GATEHOUSE_CLOCKWORK_RETRY_DELAYS: '',
      [`${github}_CLIENT_ID`]: 'abc',
      [`${github}_CLIENT_SECRET`]: 'a, b',
    },
  })
  const trustedProxies = ['10.0.0.0/8', '::1']
  expect(config).toMatchObject({
    dataDir: '/data',
    server: { maxBodyBytes: 65_536, baseUrl: undefined, trustedProxies },
    metrics: { enabled: true },
    clockwork: { tickMs: 1000, retryDelaysMs: [] },
    gate: { providers: { github: { clientId: 'abc', clientSecret: 'a, b' } } },
  })
})

const A_PORT = 'must be a whole number from 0 to 65535'
test.each([
  ['SERVER_PORT', '', A_PORT],
  ['SERVER_PORT', '0x50', A_PORT],
  ['METRICS_ENABLED', 'constructor', 'must be true or false'],
  ['CLOCKWORK_RETRY_DELAYS', '1m,,5m', 'item 2: must be a duration from 0s to 30d'],
])('A value out of bounds is refused: %s=%j', (name, value, problem) => {
  const variable = `GATEHOUSE_${name}`
  expect(errorsOf({ env: { [variable]: value } })).toEqual([`${variable}: ${problem}`])
})

test('A variable that ends in _FILE names a file with one value, and excludes the variable itself', () => {
  const name = 'GATEHOUSE_SERVER_PORT_FILE'
  const env = { [name]: '/run/port' }
  for (const text of ['80', '80\n', '80\r\n']) {
    const setup = { env, files: { '/run/port': text } }
    expect(configOf(setup).server.port).toBe(80)
    expect(originsOf(setup).get('server.port')).toEqual({ source: 'environment', at: name })
  }
  expect(errorsOf({ env })).toEqual([`${name}: cannot read /run/port: no such file`])
  const errorOf = (text: string) => errorsOf({ env, files: { '/run/port': text } })
  expect(errorOf('80\n\n')).toEqual([`${name}: ${A_PORT}`])
  expect(errorOf('')).toEqual([`${name}: /run/port is empty`])
  const error = `GATEHOUSE_SERVER_PORT: ${name} is also set: remove one of them`
  for (const value of ['80', ''])
    expect(errorsOf({ env: { ...env, GATEHOUSE_SERVER_PORT: value } })).toEqual([error])
})

test('An unknown variable with our prefix is a warning, with the nearest name', () => {
  const env = { GATEHOUSE_SERVER_PROT: '80', GATEHOUSE_LOG_LEVEL: 'warn' }
  expect(configOf({ env }).log.level).toBe('warn')
  expect(warningsOf({ env })).toEqual([
    'GATEHOUSE_SERVER_PROT: unknown variable; did you mean GATEHOUSE_SERVER_PORT?',
  ])
  // As an orchestrator sets it.
  const injected = 'GATEHOUSE_SERVICE_PORT_HTTP_PROTOCOL_VERSION'
  expect(warningsOf({ env: { [injected]: '80' } })).toEqual([`${injected}: unknown variable`])
  expect(warningsOf({ env: { gatehouse_server_port: '1', GATEHOUSE: 'x' } })).toEqual([])
  expect(warningsOf({ env: { GATEHOUSE_X: '1', GATEHOUSE_SERVER_PORT: 'x' } })).toHaveLength(1)
})
