import { describe, expect, test } from 'bun:test'
import { whatForbids } from '../../../src/platform/outbound/addresses.ts'
import { parseAllowList } from '../../../src/platform/outbound/allow-list.ts'

const nothing = parseAllowList([])
const forbids = (address: string) => whatForbids(address, 443, nothing, false)

describe('addresses that are not public are forbidden, to their last one', () => {
  test.each([
    ['0.0.0.0', '0.255.255.255', 'unspecified'],
    ['10.0.0.0', '10.255.255.255', 'private'],
    ['100.64.0.0', '100.127.255.255', 'shared'],
    ['127.0.0.0', '127.255.255.255', 'loopback'],
    ['169.254.0.0', '169.254.255.255', 'link-local'],
    ['172.16.0.0', '172.31.255.255', 'private'],
    ['192.0.0.0', '192.0.0.255', 'reserved'],
    ['192.0.2.0', '192.0.2.255', 'reserved'],
    ['192.31.196.0', '192.31.196.255', 'reserved'],
    ['192.52.193.0', '192.52.193.255', 'reserved'],
    ['192.88.99.0', '192.88.99.255', 'reserved'],
    ['192.168.0.0', '192.168.255.255', 'private'],
    ['192.175.48.0', '192.175.48.255', 'reserved'],
    ['198.18.0.0', '198.19.255.255', 'reserved'],
    ['198.51.100.0', '198.51.100.255', 'reserved'],
    ['203.0.113.0', '203.0.113.255', 'reserved'],
    ['224.0.0.0', '239.255.255.255', 'multicast'],
    ['240.0.0.0', '255.255.255.254', 'reserved'],
    ['255.255.255.255', '255.255.255.255', 'broadcast'],
    ['::', '::', 'unspecified'],
    ['::1', '::1', 'loopback'],
    ['::2', '::7f00:1', 'wraps an IPv4'],
    ['::ffff:0.0.0.0', '::ffff:255.255.255.255', 'wraps an IPv4'],
    ['64:ff9b::', '64:ff9b::ffff:ffff', 'wraps an IPv4'],
    ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'wraps an IPv4'],
    ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'wraps an IPv4'],
    ['1::', '1fff:ffff::', 'not a public'],
    ['100::', '100:0:0:1::1', 'not a public'],
    ['200::', '400::', 'not a public'],
    ['4000::', 'fbff:ffff::', 'not a public'],
    ['2001::', '2001:1ff:ffff::', 'reserved'],
    ['2001:db8::', '2001:db8:ffff::', 'reserved'],
    ['2620:4f:8000::', '2620:4f:8000:ffff::', 'reserved'],
    ['3fff::', '3fff:fff:ffff::', 'reserved'],
    ['fc00::', 'fdff:ffff::', 'private'],
    ['fe80::', 'febf:ffff::', 'link-local'],
    ['fec0::', 'feff:ffff::', 'reserved'],
    ['ff00::', 'ffff:ffff::', 'multicast'],
  ])('%s to %s: %s', (first, last, rule) => {
    expect(forbids(first)).toContain(rule)
    expect(forbids(last)).toContain(rule)
  })

  test.each([
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fd00:ec2::254',
    'fd20:ce::254',
    'fe80::a9fe:a9fe',
    'fe80::a9fe:a9fe%eth0',
  ])('%s is told apart as cloud metadata', (address) => {
    expect(forbids(address)).toContain('metadata')
  })
})

test.each([
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2001:200::',
  '2001:4860:4860::8888',
  '2003::1',
  '2a00:1450::1',
  '3ffe::1',
])('%s is public', (address) => expect(forbids(address)).toBeUndefined())

test('a zone does not hide an address', () => {
  expect(forbids('fe80::1%eth0')).toContain('link-local')
  expect(forbids('::1%lo')).toContain('loopback')
})

test.each(['', 'example.com', '1.2.3', '01.2.3.4', '0x7f.1', '[::1]'])(
  '%p is no address to dial',
  (text) => expect(forbids(text)).toBe('not an IP address'),
)
