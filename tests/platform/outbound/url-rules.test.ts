import { expect, test } from 'bun:test'
import { AppError } from '../../../src/platform/errors.ts'
import { loopback } from './fixture.ts'

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

const urls = (text: string) => text.trim().split(/\s+/)

const REFUSED: [rule: string, urls: string[]][] = [
  [
    'must start with http or https',
    urls(`ftp://example.com/ file:///etc/passwd gopher://example.com/ ws://example.com/
      javascript:alert(1) data:text/plain,hi unix:/var/run/docker.sock`),
  ],
  [
    'url: must be an absolute http or https URL',
    ['', ...urls('example.com //example.com /path http:// http:/// https://? http://foo.1/')],
  ],
  [
    'url: must be an absolute http or https URL',
    urls('http://256.1.1.1/ http://1.2.3.4.5/ http://[fe80::1%25eth0]/'),
  ],
  ['at most 8192 characters', [`https://example.com/${'a'.repeat(9000)}`]],
  [
    'credentials',
    [
      ...urls(`http://user:secret@example.com/ http://user@example.com/ http://:secret@example.com/
        http://@example.com/ http://:@example.com/ http:@example.com/ http://good.example@10.0.0.1/`),
      'https:\\\\@example.com/',
      'ht\ntp:/\t/@example.com/',
    ],
  ],
  [
    'loopback',
    [
      ...urls(`http://127.0.0.1/ http://127.0.0.1:8080/ http://127.1/ http://127.0.0.1./
        http://2130706433/ http://0x7f.1/ http://0x7f000001/ http://0177.0.0.1/
        http://%31%32%37.0.0.1/ http://①②⑦.⓪.⓪.①/ http://０x7f.１/ http://127。0。0。1/
        http:///127.0.0.1/ http:127.0.0.1 HTTP://127.0.0.1/ http://[::1]/
        http://[0:0:0:0:0:0:0:1]:80/`),
      'http:\\\\127.0.0.1\\',
      '\t http://127.0\n.0.1/',
    ],
  ],
  ['unspecified', urls('http://0/ http://0.0.0.0/ http://[::]/')],
  ['10.0.0.5 is a private address', urls('http://10.0.0.5/ http://167772165/')],
  ['private', urls('http://172.16.0.1/ http://192.168.1.1/ http://[fd12:3456::1]/')],
  ['link-local', urls('http://169.254.169.254/latest/ http://0xa9fea9fe/ http://[fe80::1]/')],
  ['metadata', ['http://168.63.129.16/']],
  [
    'wraps an IPv4',
    urls(`http://[::ffff:127.0.0.1]/ http://[::ffff:8.8.8.8]/ http://[::127.0.0.1]/
      http://[64:ff9b::10.0.0.1]/ http://[2002:7f00:1::]/`),
  ],
  [
    'single-label',
    urls(`http://a\\@127.0.0.1/ http://intranet/ http://intranet./ http://com/
      http://xn--bcher-kva/ http://loc_al:8080/`),
  ],
  [
    'loopback hostname',
    urls(`http://localhost/ http://LOCALHOST:3000/ http://localhost./ http://app.localhost/
      http://loc\u00adal\u200bhost/ http://𝓵ocalhost/`),
  ],
  [
    'empty label',
    urls('http://example..com/ http://.example.com/ http://127.0.0.1../ http://a.b../'),
  ],
  ['too long', [`http://${'a'.repeat(64)}.example/`, `http://${'a.'.repeat(130)}example/`]],
  ['port 0', ['http://example.com:0/']],
]

test.each(REFUSED)('A URL is refused: %s', (rule, list) => {
  for (const url of list) expect(refusal(url), url).toContain(rule)
})

test('Public addresses and names of the public DNS are accepted', () => {
  const accepted = urls(`http://8.8.8.8/ https://1.1.1.1:8443/ http://[2606:4700::1111]/
    http://9.9.9.9./ https://example.com/ https://bücher.example/ http://target.test/
    http://nope.invalid/ http://_dmarc.example.com/ http://nas.lan/ http://db.internal/
    http://example.com:22/ http://127.0.0.1.example.com/ http://example.com/@user
    http://example.com/?mail=a@b http://example.com#@`)
  for (const url of accepted) expect(checkUrl(url).url.href, url).toBeString()
})

test.each([
  ['https://Example.COM/a', 'example.com:443'],
  ['https://example.com.:443/b', 'example.com:443'],
  ['http://example.com', 'example.com:80'],
  ['http://example.com:8080/', 'example.com:8080'],
  ['https://8.8.8.8/', '8.8.8.8:443'],
  ['https://[2606:4700:0::1111]/', '[2606:4700::1111]:443'],
])('The lane of %s is %s', (url, host) => expect(checkUrl(url).host).toBe(host))
