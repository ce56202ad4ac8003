import { describe, expect, test } from 'bun:test'
import { configOf, errorsOf, originsOf, warningsOf } from './support.ts'

describe('every kind of setting can be given in a variable', () => {
  test('numbers, switches, words, durations, sizes and paths', () => {
    const config = configOf({
      env: {
        GATEHOUSE_DATA_DIR: '/data',
        GATEHOUSE_SERVER_HOST: '0.0.0.0',
        GATEHOUSE_SERVER_PORT: '80',
        GATEHOUSE_SERVER_MAX_BODY: '64KB',
        GATEHOUSE_METRICS_ENABLED: 'true',
        GATEHOUSE_CONSOLE_SIGNUP: 'open',
        GATEHOUSE_GATE_PASSWORD_MIN_LENGTH: '10',
        GATEHOUSE_CLOCKWORK_TICK: '1s',
      },
    })

    expect(config.dataDir).toBe('/data')
    expect(config.server).toMatchObject({ host: '0.0.0.0', port: 80, maxBodyBytes: 65_536 })
    expect(config.metrics.enabled).toBe(true)
    expect(config.console.signup).toBe('open')
    expect(config.gate.password.minLength).toBe(10)
    expect(config.clockwork.tickMs).toBe(1000)
  })

  test('lists, separated by commas', () => {
    const config = configOf({
      env: {
        GATEHOUSE_SERVER_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
        GATEHOUSE_RELAY_RETRY_DELAYS: '1s',
        GATEHOUSE_CLOCKWORK_RETRY_DELAYS: '',
      },
    })

    expect(config.server.trustedProxies).toEqual(['10.0.0.0/8', '::1'])
    expect(config.relay.retryDelaysMs).toEqual([1000])
    expect(config.clockwork.retryDelaysMs).toEqual([])
  })

  test('providers, secrets included', () => {
    const { github } = configOf({
      env: {
        GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: 'abc',
        GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: 'a, b',
        GATEHOUSE_GATE_PROVIDERS_GITHUB_BASE_URL: 'https://git.example.org/',
      },
    }).gate.providers

    expect(github).toMatchObject({
      clientId: 'abc',
      clientSecret: 'a, b',
      baseUrl: 'https://git.example.org',
    })
  })

  test('an empty variable unsets what may be unset', () => {
    const toml = '[server]\nbase_url = "https://example.org"'

    const config = configOf({ toml, env: { GATEHOUSE_SERVER_BASE_URL: '' } })

    expect(config.server.baseUrl).toBeUndefined()
  })
})

describe('a variable out of bounds is refused by its name', () => {
  test.each([
    ['GATEHOUSE_SERVER_PORT', '', 'must be a whole number from 0 to 65535'],
    ['GATEHOUSE_SERVER_PORT', '0x50', 'must be a whole number from 0 to 65535'],
    ['GATEHOUSE_SERVER_PORT', '80 ', 'must be a whole number from 0 to 65535'],
    ['GATEHOUSE_SERVER_PORT', '1e3', 'must be a whole number from 0 to 65535'],
    ['GATEHOUSE_SERVER_PORT', '99999999999999999999', 'must be a whole number from 0 to 65535'],
    ['GATEHOUSE_METRICS_ENABLED', '1', 'must be true or false'],
    ['GATEHOUSE_METRICS_ENABLED', 'constructor', 'must be true or false'],
    ['GATEHOUSE_CLOCKWORK_RETRY_DELAYS', '1m,,5m', 'item 2: must be a duration from 0s to 30d'],
  ])('%s=%j', (name, value, complaint) => {
    expect(errorsOf({ env: { [name]: value } })).toEqual([`${name}: ${complaint}`])
  })
})

describe('a variable that ends in _FILE names a file with the value', () => {
  const env = { GATEHOUSE_SERVER_PORT_FILE: '/run/port' }

  test.each([['80'], ['80\n'], ['80\r\n']])('%j', (text) => {
    expect(configOf({ env, files: { '/run/port': text } }).server.port).toBe(80)
  })

  test('and is the origin then', () => {
    const origins = originsOf({ env, files: { '/run/port': '80' } })

    expect(origins.get('server.port')).toEqual({
      source: 'environment',
      at: 'GATEHOUSE_SERVER_PORT_FILE',
    })
  })

  test('of which only one line break is not part of it', () => {
    expect(errorsOf({ env, files: { '/run/port': '80\n\n' } })).toEqual([
      'GATEHOUSE_SERVER_PORT_FILE: must be a whole number from 0 to 65535',
    ])
  })

  test('which must be there and hold something', () => {
    expect(errorsOf({ env })).toEqual([
      'GATEHOUSE_SERVER_PORT_FILE: cannot read /run/port: no such file',
    ])
    expect(errorsOf({ env, files: { '/run/port': '' } })).toEqual([
      'GATEHOUSE_SERVER_PORT_FILE: /run/port is empty',
    ])
  })

  test('but not beside the variable itself, be that empty', () => {
    const complaint =
      'GATEHOUSE_SERVER_PORT: GATEHOUSE_SERVER_PORT_FILE is also set: remove one of them'

    expect(errorsOf({ env: { ...env, GATEHOUSE_SERVER_PORT: '80' } })).toEqual([complaint])
    expect(errorsOf({ env: { ...env, GATEHOUSE_SERVER_PORT: '' } })).toEqual([complaint])
  })
})

describe('an unknown variable with our prefix is worth a warning', () => {
  test('with the nearest name', () => {
    const env = { GATEHOUSE_SERVER_PROT: '80', GATEHOUSE_LOG_LEVEL: 'warn' }

    expect(configOf({ env }).log.level).toBe('warn')
    expect(warningsOf({ env })).toEqual([
      'GATEHOUSE_SERVER_PROT: unknown variable; did you mean GATEHOUSE_SERVER_PORT?',
    ])
  })

  test('and no more than that, whatever an orchestrator injects', () => {
    const env = { GATEHOUSE_SERVICE_PORT_HTTP_PROTOCOL_VERSION: '80' }

    expect(warningsOf({ env })).toEqual([
      'GATEHOUSE_SERVICE_PORT_HTTP_PROTOCOL_VERSION: unknown variable',
    ])
  })

  test('and none at all without the prefix', () => {
    expect(
      warningsOf({ env: { PATH: '/bin', gatehouse_server_port: '1', GATEHOUSE: 'x' } }),
    ).toEqual([])
  })

  test('also beside errors', () => {
    expect(warningsOf({ env: { GATEHOUSE_X: '1', GATEHOUSE_SERVER_PORT: 'x' } })).toHaveLength(1)
  })
})
