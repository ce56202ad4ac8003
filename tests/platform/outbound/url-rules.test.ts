import { describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/platform/errors.ts'
import { loopback } from './support.ts'

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

describe('only http and https are fetched', () => {
  test.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'gopher://example.com/',
    'ws://example.com/',
    'javascript:alert(1)',
    'data:text/plain,hi',
    'unix:/var/run/docker.sock',
  ])('%p is refused', (url) =>
    expect(refusal(url)).toMatch(/must start with http or https, not \w+/),
  )

  test.each(['', 'example.com', '//example.com', '/path', 'http://', 'http:///', 'https://?'])(
    '%p is no URL',
    (url) => expect(refusal(url)).toContain('url: must be an absolute http or https URL'),
  )

  test('an over-long URL is refused', () => {
    expect(refusal(`https://example.com/${'a'.repeat(9000)}`)).toContain(
      'url: must have at most 8192 characters',
    )
  })
})

describe('credentials in the URL are refused, also empty ones', () => {
  test.each([
    'http://user:secret@example.com/',
    'http://user@example.com/',
    'http://:secret@example.com/',
    'http://@example.com/',
    'http://:@example.com/',
    'https:\\\\@example.com/',
    'http:@example.com/',
    'ht\ntp:/\t/@example.com/',
    'http://good.example@10.0.0.1/',
  ])('%p', (url) => expect(refusal(url)).toContain('credentials'))

  test.each(['http://example.com/@user', 'http://example.com/?mail=a@b', 'http://example.com#@'])(
    'an @ behind the host is fine: %p',
    (url) => expect(checkUrl(url).host).toBe('example.com:80'),
  )
})

describe('every spelling of a loopback or private address is refused', () => {
  test.each([
    ['http://127.0.0.1/', 'loopback'],
    ['http://127.0.0.1:8080/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://127.0.0.1./', 'loopback'],
    ['http://2130706433/', 'loopback'],
    ['http://0x7f.1/', 'loopback'],
    ['http://0x7f000001/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://%31%32%37.0.0.1/', 'loopback'],
    ['http://①②⑦.⓪.⓪.①/', 'loopback'],
    ['http://０x7f.１/', 'loopback'],
    ['http://127。0。0。1/', 'loopback'],
    ['http:\\\\127.0.0.1\\', 'loopback'],
    ['http:///127.0.0.1/', 'loopback'],
    ['http:127.0.0.1', 'loopback'],
    ['\t http://127.0\n.0.1/', 'loopback'],
    ['HTTP://127.0.0.1/', 'loopback'],
    ['http://[::1]/', 'loopback'],
    ['http://[0:0:0:0:0:0:0:1]:80/', 'loopback'],
    ['http://0/', 'unspecified'],
    ['http://0.0.0.0/', 'unspecified'],
    ['http://[::]/', 'unspecified'],
    ['http://10.0.0.5/', '10.0.0.5 is a private address'],
    ['http://167772165/', '10.0.0.5 is a private address'],
    ['http://172.16.0.1/', 'private'],
    ['http://192.168.1.1/', 'private'],
    ['http://[fd12:3456::1]/', 'private'],
    ['http://169.254.169.254/latest/meta-data/', 'link-local'],
    ['http://0xa9fea9fe/', 'link-local'],
    ['http://[fe80::1]/', 'link-local'],
    ['http://168.63.129.16/', 'metadata'],
    ['http://[::ffff:127.0.0.1]/', 'wraps an IPv4'],
    ['http://[::ffff:8.8.8.8]/', 'wraps an IPv4'],
    ['http://[::127.0.0.1]/', 'wraps an IPv4'],
    ['http://[64:ff9b::10.0.0.1]/', 'wraps an IPv4'],
    ['http://[2002:7f00:1::]/', 'wraps an IPv4'],
    ['http://a\\@127.0.0.1/', 'single-label'],
  ])('%p: %s', (url, rule) => expect(refusal(url)).toContain(rule))

  test.each([
    'http://foo.1/',
    'http://256.1.1.1/',
    'http://1.2.3.4.5/',
    'http://[fe80::1%25eth0]/',
  ])('%p is no URL', (url) =>
    expect(refusal(url)).toContain('url: must be an absolute http or https URL'),
  )

  test.each([
    'http://8.8.8.8/',
    'https://1.1.1.1:8443/',
    'http://[2606:4700::1111]/',
    'http://9.9.9.9./',
  ])('a public address is fine: %p', (url) => expect(checkUrl(url).url.href).toBeString())
})

describe('hosts must be names that the public DNS can have', () => {
  test.each([
    'http://intranet/',
    'http://intranet./',
    'http://com/',
    'http://xn--bcher-kva/',
    'http://loc_al:8080/',
  ])('a single label is refused: %p', (url) => expect(refusal(url)).toContain('single-label'))

  test.each([
    'http://localhost/',
    'http://LOCALHOST:3000/',
    'http://localhost./',
    'http://app.localhost/',
    'http://loc\u00adal\u200bhost/',
    'http://𝓵ocalhost/',
  ])('a loopback name is refused: %p', (url) => expect(refusal(url)).toContain('loopback hostname'))

  test.each([
    'http://example..com/',
    'http://.example.com/',
    'http://127.0.0.1../',
    'http://a.b../',
  ])('an empty label is refused: %p', (url) => expect(refusal(url)).toContain('empty label'))

  test('labels over 63 and names over 253 characters are refused', () => {
    expect(refusal(`http://${'a'.repeat(64)}.example/`)).toContain('too long')
    expect(refusal(`http://${'a.'.repeat(130)}example/`)).toContain('too long')
  })

  test('port 0 is refused', () => expect(refusal('http://example.com:0/')).toContain('port 0'))

  test.each([
    'https://example.com/',
    'https://bücher.example/',
    'http://target.test/',
    'http://nope.invalid/',
    'http://_dmarc.example.com/',
    'http://nas.lan/',
    'http://db.internal/',
    'http://example.com:22/',
    'http://127.0.0.1.example.com/',
  ])('any other name waits for its look-up: %p', (url) => {
    expect(checkUrl(url).url.href).toBeString()
  })
})

describe('the lane key is one spelling of host and port', () => {
  test.each([
    ['https://Example.COM/a', 'example.com:443'],
    ['https://example.com.:443/b', 'example.com:443'],
    ['http://example.com', 'example.com:80'],
    ['http://example.com:8080/', 'example.com:8080'],
    ['https://8.8.8.8/', '8.8.8.8:443'],
    ['https://[2606:4700:0::1111]/', '[2606:4700::1111]:443'],
  ])('%s is %s', (url, host) => expect(checkUrl(url).host).toBe(host))
})
