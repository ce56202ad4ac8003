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
  ['https://Example.COM/a', 'example.com:443'],
  ['https://example.com.:443/b', 'example.com:443'],
  ['http://example.com:8080/', 'example.com:8080'],
  ['https://[2606:4700:0::1111]/', '[2606:4700::1111]:443'],
])('The lane of %s is %s', (url, host) => expect(checkUrl(url).host).toBe(host))
