import { expect, test } from 'bun:test'
import { addressKey } from '../../src/platform/address-key.ts'

/** Each key, and the addresses that are counted as it. */
const KEYS = {
  '203.0.113.7': `203.0.113.7:49152 ::ffff:203.0.113.7 ::FFFF:cb00:7107 0:0:0:0:0:ffff:cb00:7107
    [::ffff:203.0.113.7]:443`,
  '2001:db8:1:2::/64': `2001:0db8:0001:0002:0003:0004:0005:0006 2001:DB8:1:2:FFFF:FFFF:FFFF:FFFF
    2001:db8:1:2::203.0.113.7 [2001:db8:1:2::9]`,
  '2001:db8:0:0::/64': '2001:db8::6',
  '2001:0:0:2::/64': '2001::2:3:4:5:6',
  '1:2:3:4::/64': '1:2:3:4:5:6:203.0.113.7 1:2:3:4:5:6:7::',
  '0:2:3:4::/64': '::2:3:4:5:6:7:8',
  // The last one only looks like a wrapped IPv4 address.
  '0:0:0:0::/64': ':: ::1:ffff:cb00:7107',
  'fe80:0:0:0::/64': 'fe80::1%eth0',
}
test.each(Object.entries(KEYS))('%s is the key of %s', (key, addresses) => {
  for (const address of addresses.split(/\s+/)) expect(addressKey(address), address).toBe(key)
})

test('Everything that is no address is counted together', () => {
  const texts =
    '203.0.113 203.0.113.256 203.0.113.7: 2001:db8:::1 [2001:db8::1 12345:: ::1/64 unknown'
  const hostile = [undefined, '', '_hidden', 'x'.repeat(100_000), '['.repeat(100_000)]
  for (const address of [...texts.split(' '), ...hostile])
    expect(addressKey(address), address?.slice(0, 50)).toBe('unknown')
})
