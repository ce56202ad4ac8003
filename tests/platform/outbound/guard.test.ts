import { expect, test } from 'bun:test'
import { AppError } from '../../../src/platform/errors.ts'
import { whatForbids } from '../../../src/platform/outbound/addresses.ts'
import { parseAllowList } from '../../../src/platform/outbound/index.ts'
import { answer } from './behaviors.ts'
import { failure, get, loopback, reply, startTarget } from './fixture.ts'

const { checkUrl } = loopback({ allow: [] })

function refusal(url: string): string {
  try {
    checkUrl(url)
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return error.message
    throw error
  }
  throw new Error(`accepted: ${url}`)
}

const REFUSED = `
  must start with http or https | ftp://example.com/ file:///etc/passwd ws://example.com/ unix:/var/x.sock
  must start with http or https | javascript:alert(1) data:text/plain,hi
  url: must be an absolute http or https URL | example.com //example.com /path http:// http:///
  url: must be an absolute http or https URL | https://? http://foo.1/ http://256.1.1.1/ http://1.2.3.4.5/
  url: must be an absolute http or https URL | http://[fe80::1%25eth0]/
  credentials | http://user:secret@example.com/ http://user@example.com/ http://:secret@example.com/
  credentials | http://@example.com/ http://:@example.com/ http:@example.com/ http://a.example@10.0.0.1/
  credentials | https:\\\\@example.com/
  loopback | http://127.0.0.1/ http://127.0.0.1:8080/ http://127.1/ http://127.0.0.1./ http:127.0.0.1
  loopback | http://2130706433/ http://0x7f.1/ http://0x7f000001/ http://0177.0.0.1/ http:///127.0.0.1/
  loopback | http://%31%32%37.0.0.1/ http://①②⑦.⓪.⓪.①/ http://０x7f.１/ http://127。0。0。1/
  loopback | HTTP://127.0.0.1/ http://[::1]/ http://[0:0:0:0:0:0:0:1]:80/ http:\\\\127.0.0.1\\
  unspecified | http://0/ http://0.0.0.0/ http://[::]/
  10.0.0.5 is a private address | http://10.0.0.5/ http://167772165/
  private | http://172.16.0.1/ http://192.168.1.1/ http://[fd12:3456::1]/
  link-local | http://169.254.169.254/latest/ http://0xa9fea9fe/ http://[fe80::1]/
  metadata | http://168.63.129.16/
  wraps an IPv4 | http://[::ffff:127.0.0.1]/ http://[::ffff:8.8.8.8]/ http://[::127.0.0.1]/
  wraps an IPv4 | http://[64:ff9b::10.0.0.1]/ http://[2002:7f00:1::]/
  single-label | http://a\\@127.0.0.1/ http://intranet/ http://intranet./ http://com/ http://loc_al:8080/
  single-label | http://xn--bcher-kva/
  loopback hostname | http://localhost/ http://LOCALHOST:3000/ http://localhost./ http://app.localhost/
  loopback hostname | http://loc\u00adal\u200bhost/ http://𝓵ocalhost/
  empty label | http://example..com/ http://.example.com/ http://127.0.0.1../ http://a.b../
  too long | http://${'a'.repeat(64)}.example/ http://${'a.'.repeat(130)}example/
  port 0 | http://example.com:0/
  at most 8192 characters | https://example.com/${'a'.repeat(9000)}`

test('A URL that is not public HTTP is refused, and the message names the rule', () => {
  for (const line of REFUSED.trim().split('\n')) {
    const [rule = '', urls = ''] = line.trim().split(' | ')
    for (const url of urls.split(' ')) expect(refusal(url), url).toContain(rule)
  }
  expect(refusal('')).toContain('url: must be an absolute http or https URL')
  expect(refusal('ht\ntp:/\t/@example.com/')).toContain('credentials')
  expect(refusal('\t http://127.0\n.0.1/')).toContain('loopback')
})

test('Public addresses and names of the public DNS are accepted', () => {
  const accepted = `http://8.8.8.8/ https://1.1.1.1:8443/ http://[2606:4700::1111]/
    http://9.9.9.9./ https://example.com/ https://bücher.example/ http://target.test/
    http://nope.invalid/ http://_dmarc.example.com/ http://nas.lan/ http://db.internal/
    http://example.com:22/ http://127.0.0.1.example.com/ http://example.com/@user
    http://example.com/?mail=a@b http://example.com#@`
  for (const url of accepted.split(/\s+/)) expect(checkUrl(url).url.href, url).toBeString()
})

test.each([
  ['https://example.com.:443/b', 'example.com:443'],
  ['https://[2606:4700:0::1111]/', '[2606:4700::1111]:443'],
])('The lane of %s is %s', (url, host) => expect(checkUrl(url).host).toBe(host))

const forbids = (address: string) => whatForbids(address, 443, parseAllowList([]), false)

/** Networks that are not public, by the word that names them. */
const FORBIDDEN = {
  unspecified: '0.0.0.0-0.255.255.255 ::',
  private:
    '10.0.0.0-10.255.255.255 172.16.0.0-172.31.255.255 192.168.0.0-192.168.255.255 fc00::-fdff:ffff::',
  shared: '100.64.0.0-100.127.255.255',
  loopback: '127.0.0.0-127.255.255.255 ::1 ::1%lo',
  'link-local': '169.254.0.0-169.254.255.255 fe80::-febf:ffff:: fe80::1%eth0',
  reserved: `192.0.0.0-192.0.0.255 192.0.2.0-192.0.2.255 192.31.196.0-192.31.196.255
    192.52.193.0-192.52.193.255 192.88.99.0-192.88.99.255 192.175.48.0-192.175.48.255
    198.18.0.0-198.19.255.255 198.51.100.0-198.51.100.255 203.0.113.0-203.0.113.255 240.0.0.0-255.255.255.254
    2001::-2001:1ff:ffff:: 2001:db8::-2001:db8:ffff:: 2620:4f:8000::-2620:4f:8000:ffff::
    3fff::-3fff:fff:ffff:: fec0::-feff:ffff::`,
  multicast: '224.0.0.0-239.255.255.255 ff00::-ffff:ffff::',
  broadcast: '255.255.255.255',
  wraps: `::2-::7f00:1 ::ffff:0.0.0.0-::ffff:255.255.255.255 64:ff9b::-64:ff9b::ffff:ffff
    64:ff9b:1::-64:ff9b:1:ffff:ffff:ffff:ffff:ffff 2002::-2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff`,
  public: '1::-1fff:ffff:: 100::-100:0:0:1::1 200::-400:: 4000::-fbff:ffff::',
  metadata: `169.254.169.254 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254
    fe80::a9fe:a9fe-fe80::a9fe:a9fe%eth0`,
}

test('Networks that are not public are forbidden from their first to their last address', () => {
  for (const [word, networks] of Object.entries(FORBIDDEN))
    for (const address of networks.split(/-|\s+/)) expect(forbids(address), address).toContain(word)
})

const PUBLIC = `1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  168.63.129.15 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 198.17.255.255 198.20.0.0
  223.255.255.255 2001:200:: 2001:4860:4860::8888 2003::1 2a00:1450::1 3ffe::1`

test('The addresses beside them are allowed, and text that is no address is forbidden', () => {
  for (const address of PUBLIC.split(/\s+/)) expect(forbids(address), address).toBeUndefined()
  for (const text of ['', 'example.com', '1.2.3', '01.2.3.4', '0x7f.1', '[::1]'])
    expect(forbids(text), text).toBe('not an IP address')
})

const opens = (entry: string, url: string) => {
  try {
    loopback({ allow: [entry] }).checkUrl(url)
    return true
  } catch {
    return false
  }
}

test.each([
  ['10.0.0.7', 'http://10.0.0.7/', 'http://10.0.0.8/'],
  ['10.0.0.7:8123', 'http://10.0.0.7:8123/', 'http://10.0.0.7/'],
  ['::1', 'http://[::1]:3000/', 'http://127.0.0.1:3000/'],
  ['fd00::/8', 'http://[fd12::1]/', 'http://[fc12::1]/'],
  ['[fd00::/8]:443', 'https://[fd00::8]/', 'http://[fd00::8]/'],
  ['homeassistant', 'http://homeassistant:8123/', 'http://assistant/'],
  ['HomeAssistant.', 'http://homeassistant/', 'http://homeassistant2/'],
  ['localhost', 'http://localhost/', 'http://app.localhost/'],
  ['*.localhost', 'http://app.localhost/', 'http://localhost/'],
  ['64:ff9b::/96', 'http://[64:ff9b::808:808]/', 'http://[64:ff9b:1::808:808]/'],
  // The most specific network decides.
  ['10.0.0.0/8', 'http://10.0.0.1/', 'http://127.0.0.1/'],
  ['169.254.0.0/16', 'http://169.254.1.1/', 'http://169.254.169.254/'],
  ['169.254.169.254', 'http://169.254.169.254/', 'http://169.254.1.1/'],
  ['0.0.0.0/0', 'http://8.8.8.8/', 'http://127.0.0.1/'],
  ['10.0.0.0/7', 'http://11.0.0.1/', 'http://10.0.0.1/'],
])('The entry %s opens %s and not %s', (entry, inside, outside) => {
  expect([opens(entry, inside), opens(entry, outside)]).toEqual([true, false])
})

const resolving = (allow: string[], ...addresses: string[]) =>
  loopback({
    allow,
    resolve: async () =>
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  })

test('A name on the list may resolve to a private address, also one of multicast DNS', async () => {
  const { port } = await startTarget(answer('home'))
  const multicast = resolving(['nas.local'], 'fe80::1%eth0', '127.0.0.1')
  for (const { send } of [multicast, resolving(['*.local'], '127.0.0.1')])
    expect(reply(await send(get(`http://nas.local:${port}/`))).text).toBe('home')
})

test('A name on the list opens neither other ports nor other names, and leads to no metadata', async () => {
  const { send } = resolving(['nas.lan:8123', '*.local'], '127.0.0.1')
  const { reason, message } = failure(await send(get('http://nas.lan:8124/')))
  expect(reason).toBe('refused')
  expect(message).toContain('nas.lan resolves to 127.0.0.1, a loopback address')
  expect(message).toContain('allow = ["nas.lan:8124"] under [outbound] in gatehouse.toml')
  expect(message).toContain('GATEHOUSE_OUTBOUND_ALLOW=nas.lan:8124')
  expect(failure(await send(get('http://evil.example/'))).reason).toBe('refused')
  for (const address of ['169.254.169.254', '100.100.100.200', '::ffff:7f00:1']) {
    const result = await resolving(['nas.lan'], address).send(get('http://nas.lan/'))
    expect(failure(result).reason).toBe('refused')
  }
})

test('Entries that name no host, network or port are refused', () => {
  const invalid = `* *. http://nas.lan 10.0.0.0/33 10.0.0.0/ 10.0.0.0/8/8 10.0.0 10.0.0.256 fd00::/129
    fe80::1%eth0 nas/24 nas:0 nas:65536 nas:http nas: -nas.lan a.*.lan nas..lan`
  for (const entry of ['', 'na s', ...invalid.split(/\s+/)])
    expect(() => parseAllowList(['10.0.0.0/8', entry]), entry).toThrow(`"${entry}"`)
  expect(() => loopback({ allow: ['10.0.0.0/99'] })).toThrow('10.0.0.0/99')
  expect(parseAllowList([]).hasName('localhost', 80)).toBe(false)
})
