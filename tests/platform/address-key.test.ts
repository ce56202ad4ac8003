import { expect, test } from 'bun:test'
import { addressKey } from '../../src/platform/address-key.ts'

test.each([
  ['IPv4', '203.0.113.7', '203.0.113.7'],
  ['IPv4 with a port', '203.0.113.7:49152', '203.0.113.7'],
  ['IPv4 wrapped in IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
  ['the same in hexadecimal', '::FFFF:cb00:7107', '203.0.113.7'],
  ['the same in full', '0:0:0:0:0:ffff:cb00:7107', '203.0.113.7'],
  ['the same with a port', '[::ffff:203.0.113.7]:443', '203.0.113.7'],
  ['IPv6 in full', '2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['IPv6 in capitals', '2001:DB8:1:2:FFFF:FFFF:FFFF:FFFF', '2001:db8:1:2::/64'],
  ['IPv6 with zeros left out at the end', '2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['IPv6 with zeros left out in its middle', '2001:db8::6', '2001:db8:0:0::/64'],
  ['IPv6 with zeros left out before its fourth group', '2001::2:3:4:5:6', '2001:0:0:2::/64'],
  ['IPv6 with an end like IPv4', '2001:db8:1:2::203.0.113.7', '2001:db8:1:2::/64'],
  ['the same without zeros left out', '1:2:3:4:5:6:203.0.113.7', '1:2:3:4::/64'],
  ['IPv6 of which the last group is zero', '1:2:3:4:5:6:7::', '1:2:3:4::/64'],
  ['IPv6 of which the first group is zero', '::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ['all zeros', '::', '0:0:0:0::/64'],
  ['IPv6 with brackets', '[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
  ['IPv6 with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['the loopback of IPv6', '::1', '0:0:0:0::/64'],
  ['what only looks wrapped', '::1:ffff:cb00:7107', '0:0:0:0::/64'],
])('%s', (_, address, key) => {
  expect(addressKey(address)).toBe(key)
})

test('two addresses of one /64 are one, and of two are two', () => {
  expect(addressKey('2001:db8:1:2::1')).toBe(addressKey('2001:db8:1:2:ffff::1'))
  expect(addressKey('2001:db8:1:2::1')).not.toBe(addressKey('2001:db8:1:3::1'))
})

test.each([
  undefined,
  '',
  'unknown',
  '_hidden',
  '203.0.113',
  '203.0.113.256',
  '203.0.113.7:',
  '2001:db8:::1',
  '[2001:db8::1',
  '12345::',
  '::1/64',
  'x'.repeat(100_000),
  '['.repeat(100_000),
])('whoever has no address is counted with all who have none: %p', (address) => {
  expect(addressKey(address)).toBe('unknown')
})
