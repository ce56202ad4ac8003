import { describe, expect, test } from 'bun:test'
import { parseAllowList } from '../../../src/platform/outbound/index.ts'
import { answer, failure, get, loopback, reply, startTarget } from './fixture.ts'

const opens = (entry: string, url: string) => {
  try {
    loopback({ allow: [entry] }).checkUrl(url)
    return true
  } catch {
    return false
  }
}

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
  // The most specific network decides.
  ['10.0.0.0/8', 'http://10.0.0.1/', 'http://127.0.0.1/'],
  ['::/0', 'http://[4000::1]/', 'http://[::1]/'],
  ['169.254.0.0/16', 'http://169.254.1.1/', 'http://169.254.169.254/'],
  ['169.254.169.254', 'http://169.254.169.254/', 'http://169.254.1.1/'],
  ['100.64.0.0/10', 'http://100.101.102.103/', 'http://100.100.100.200/'],
  ['0.0.0.0/0', 'http://8.8.8.8/', 'http://127.0.0.1/'],
  ['10.0.0.0/7', 'http://11.0.0.1/', 'http://10.0.0.1/'],
])('The entry %s opens %s and not %s', (entry, inside, outside) => {
  expect([opens(entry, inside), opens(entry, outside)]).toEqual([true, false])
})

describe('A name on the list', () => {
  const resolving = (allow: string[], ...addresses: string[]) =>
    loopback({
      allow,
      resolve: async () =>
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    })

  test.each([
    ['homeassistant', 'homeassistant', ['127.0.0.1']],
    ['*.lan', 'nas.lan', ['127.0.0.1']],
    // As names of multicast DNS do.
    ['nas.local', 'nas.local', ['fe80::1%eth0', '127.0.0.1']],
  ])('may resolve to a private address: %s', async (entry, host, addresses) => {
    const { port } = await startTarget(answer('home'))
    const result = await resolving([entry], ...addresses).send(get(`http://${host}:${port}/`))
    expect(reply(result).text).toBe('home')
  })

  test('opens neither other ports nor other names', async () => {
    const outbound = resolving(['nas.lan:8123', '*.local'], '127.0.0.1')
    const { reason, message } = failure(await outbound.send(get('http://nas.lan:8124/')))
    expect(reason).toBe('refused')
    expect(message).toBe(
      'URL must be publicly reachable, but nas.lan resolves to 127.0.0.1, a loopback address. To allow it, start Gatehouse with --outbound-allow nas.lan:8124',
    )
    expect(failure(await outbound.send(get('http://evil.example/'))).reason).toBe('refused')
  })

  test.each(['169.254.169.254', '100.100.100.200', '::ffff:7f00:1'])(
    'never leads to %s',
    async (address) => {
      const result = await resolving(['nas.lan'], address).send(get('http://nas.lan/'))
      expect(failure(result).reason).toBe('refused')
    },
  )
})

test('Entries that name no host, network or port are refused', () => {
  const invalid = `* *. http://nas.lan 10.0.0.0/33 10.0.0.0/ 10.0.0.0/8/8 10.0.0 10.0.0.256 fd00::/129
    fe80::1%eth0 nas/24 nas:0 nas:65536 nas:http nas: -nas.lan a.*.lan nas..lan`
  for (const entry of ['', 'na s', ...invalid.split(/\s+/)])
    expect(() => parseAllowList(['10.0.0.0/8', entry]), entry).toThrow(`"${entry}"`)
  expect(() => loopback({ allow: ['10.0.0.0/99'] })).toThrow('10.0.0.0/99')
  expect(parseAllowList([]).hasName('localhost', 80)).toBe(false)
})
