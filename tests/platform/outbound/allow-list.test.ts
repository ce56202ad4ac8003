import { describe, expect, test } from 'bun:test'
import { parseAllowList } from '../../../src/platform/outbound/index.ts'
import { answer, failure, get, loopback, reply, startTarget } from './support.ts'

const opens = (allow: string[], url: string) => {
  try {
    loopback({ allow }).checkUrl(url)
    return true
  } catch {
    return false
  }
}

describe('an entry opens what it names and nothing beside it', () => {
  test.each([
    ['192.168.0.0/16', 'http://192.168.4.4/', 'http://10.0.0.1/'],
    ['10.0.0.7', 'http://10.0.0.7/', 'http://10.0.0.8/'],
    ['10.0.0.7:8123', 'http://10.0.0.7:8123/', 'http://10.0.0.7/'],
    ['10.0.0.0/8:8123', 'http://10.9.9.9:8123/', 'http://10.9.9.9:8124/'],
    ['127.0.0.0/8', 'http://127.0.0.1/', 'http://[::1]/'],
    ['::1', 'http://[::1]:3000/', 'http://127.0.0.1:3000/'],
    ['fd00::/8', 'http://[fd12::1]/', 'http://[fc12::1]/'],
    ['[fd00::7]:443', 'https://[fd00::7]/', 'http://[fd00::7]/'],
    ['[fd00::/8]:443', 'https://[fd00::8]/', 'http://[fd00::8]/'],
    ['homeassistant', 'http://homeassistant:8123/', 'http://assistant/'],
    ['HomeAssistant.', 'http://homeassistant/', 'http://homeassistant2/'],
    ['my_service:3000', 'http://my_service:3000/', 'http://my_service/'],
    ['localhost', 'http://localhost/', 'http://app.localhost/'],
    ['*.localhost', 'http://app.localhost/', 'http://localhost/'],
    ['64:ff9b::/96', 'http://[64:ff9b::808:808]/', 'http://[64:ff9b:1::808:808]/'],
  ])('%s', (entry, inside, outside) => {
    expect(opens([entry], inside)).toBe(true)
    expect(opens([entry], outside)).toBe(false)
  })
})

describe('the most specific network decides', () => {
  test.each([
    ['0.0.0.0/0', 'http://127.0.0.1/', false],
    ['10.0.0.0/7', 'http://10.0.0.1/', false],
    ['10.0.0.0/8', 'http://10.0.0.1/', true],
    ['::/0', 'http://[::1]/', false],
    ['::/0', 'http://[4000::1]/', true],
    ['169.254.0.0/16', 'http://169.254.1.1/', true],
    ['169.254.0.0/16', 'http://169.254.169.254/', false],
    ['169.254.169.254', 'http://169.254.169.254/', true],
    ['100.64.0.0/10', 'http://100.101.102.103/', true],
    ['100.64.0.0/10', 'http://100.100.100.200/', false],
  ])('%s and %s: %p', (entry, url, opened) => expect(opens([entry], url)).toBe(opened))
})

describe('a name on the list', () => {
  const resolving = (allow: string[], ...addresses: string[]) =>
    loopback({
      allow,
      resolve: async () =>
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    })

  test('may lead to a loopback or private address', async () => {
    const target = await startTarget(answer('home'))

    const outbound = resolving(['homeassistant', '*.lan'], '127.0.0.1')

    expect(reply(await outbound.send(get(`http://homeassistant:${target.port}/`))).text).toBe(
      'home',
    )
    expect(reply(await outbound.send(get(`http://nas.lan:${target.port}/`))).text).toBe('home')
  })

  test('may have a link-local address beside, as mDNS names do', async () => {
    const target = await startTarget(answer('home'))

    const outbound = resolving(['nas.local'], 'fe80::1%eth0', '127.0.0.1')

    expect(reply(await outbound.send(get(`http://nas.local:${target.port}/`))).text).toBe('home')
  })

  test('opens no port that its entry does not name', async () => {
    const outbound = resolving(['nas.lan:8123'], '127.0.0.1')

    const { reason, message } = failure(await outbound.send(get('http://nas.lan:8124/')))

    expect(reason).toBe('refused')
    expect(message).toBe(
      'URL must be publicly reachable, but nas.lan resolves to 127.0.0.1, a loopback address. To allow it, start Gatehouse with --outbound-allow nas.lan:8124',
    )
  })

  test('never leads to cloud metadata or a wrapped address', async () => {
    for (const address of ['169.254.169.254', '100.100.100.200', '::ffff:7f00:1', '0.0.0.0']) {
      const { reason } = failure(await resolving(['nas.lan'], address).send(get('http://nas.lan/')))
      expect(reason).toBe('refused')
    }
  })

  test('does not open its neighbours', async () => {
    const { message } = failure(
      await resolving(['*.lan'], '127.0.0.1').send(get('http://evil.example/')),
    )
    expect(message).toContain('evil.example resolves to 127.0.0.1')
  })
})

test.each([
  ['', 'must be a host'],
  ['*', 'must be a host'],
  ['*.', 'must be a host'],
  ['http://nas.lan', 'not a URL'],
  ['10.0.0.0/33', 'is not an IP address or CIDR'],
  ['10.0.0.0/', 'is not an IP address or CIDR'],
  ['10.0.0.0/8/8', 'is not an IP address or CIDR'],
  ['10.0.0', 'is not an IP address or CIDR'],
  ['10.0.0.256', 'is not an IP address or CIDR'],
  ['fd00::/129', 'is not an IP address or CIDR'],
  ['fe80::1%eth0', 'is not an IP address or CIDR'],
  ['nas/24', 'is not an IP address or CIDR'],
  ['nas:0', '0 is not a port'],
  ['nas:65536', '65536 is not a port'],
  ['nas:http', 'http is not a port'],
  ['nas:', 'not a port'],
  ['na s', 'na s is not a host name'],
  ['-nas.lan', 'not a host name'],
  ['a.*.lan', 'not a host name'],
  ['nas..lan', 'not a host name'],
])('the entry %p is refused: %s', (entry, problem) => {
  expect(() => parseAllowList([entry])).toThrow(problem)
  expect(() => parseAllowList(['10.0.0.0/8', entry])).toThrow(`"${entry}"`)
})
