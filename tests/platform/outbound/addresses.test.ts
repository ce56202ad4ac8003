import { expect, test } from 'bun:test'
import { whatForbids } from '../../../src/platform/outbound/addresses.ts'
import { parseAllowList } from '../../../src/platform/outbound/allow-list.ts'

const forbids = (address: string) => whatForbids(address, 443, parseAllowList([]), false)

/** First and last address of each network, and the word that names it. */
const FORBIDDEN = `
  0.0.0.0          0.255.255.255                             unspecified
  10.0.0.0         10.255.255.255                            private
  100.64.0.0       100.127.255.255                           shared
  127.0.0.0        127.255.255.255                           loopback
  169.254.0.0      169.254.255.255                           link-local
  172.16.0.0       172.31.255.255                            private
  192.0.0.0        192.0.0.255                               reserved
  192.0.2.0        192.0.2.255                               reserved
  192.31.196.0     192.31.196.255                            reserved
  192.52.193.0     192.52.193.255                            reserved
  192.88.99.0      192.88.99.255                             reserved
  192.168.0.0      192.168.255.255                           private
  192.175.48.0     192.175.48.255                            reserved
  198.18.0.0       198.19.255.255                            reserved
  198.51.100.0     198.51.100.255                            reserved
  203.0.113.0      203.0.113.255                             reserved
  224.0.0.0        239.255.255.255                           multicast
  240.0.0.0        255.255.255.254                           reserved
  255.255.255.255  255.255.255.255                           broadcast
  ::               ::                                        unspecified
  ::1              ::1                                       loopback
  ::1%lo           ::1%lo                                    loopback
  ::2              ::7f00:1                                  wraps
  ::ffff:0.0.0.0   ::ffff:255.255.255.255                    wraps
  64:ff9b::        64:ff9b::ffff:ffff                        wraps
  64:ff9b:1::      64:ff9b:1:ffff:ffff:ffff:ffff:ffff        wraps
  2002::           2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff   wraps
  1::              1fff:ffff::                               public
  100::            100:0:0:1::1                              public
  200::            400::                                     public
  4000::           fbff:ffff::                               public
  2001::           2001:1ff:ffff::                           reserved
  2001:db8::       2001:db8:ffff::                           reserved
  2620:4f:8000::   2620:4f:8000:ffff::                       reserved
  3fff::           3fff:fff:ffff::                           reserved
  fc00::           fdff:ffff::                               private
  fe80::           febf:ffff::                               link-local
  fe80::1%eth0     fe80::1%eth0                              link-local
  fec0::           feff:ffff::                               reserved
  ff00::           ffff:ffff::                               multicast
  169.254.169.254  169.254.169.254                           metadata
  100.100.100.200  100.100.100.200                           metadata
  168.63.129.16    168.63.129.16                             metadata
  192.0.0.192      192.0.0.192                               metadata
  fd00:ec2::254    fd00:ec2::254                             metadata
  fd20:ce::254     fd20:ce::254                              metadata
  fe80::a9fe:a9fe  fe80::a9fe:a9fe%eth0                      metadata`

test('Networks that are not public are forbidden from their first to their last address', () => {
  for (const row of FORBIDDEN.trim().split('\n')) {
    const [first = '', last = '', word = ''] = row.trim().split(/\s+/)
    for (const address of [first, last]) expect(forbids(address), address).toContain(word)
  }
})

const PUBLIC = `1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  168.63.129.15 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 198.17.255.255 198.20.0.0
  223.255.255.255 2001:200:: 2001:4860:4860::8888 2003::1 2a00:1450::1 3ffe::1`

test('The addresses beside them are allowed', () => {
  for (const address of PUBLIC.split(/\s+/)) expect(forbids(address), address).toBeUndefined()
})

test('Text that is no address is forbidden', () => {
  for (const text of ['', 'example.com', '1.2.3', '01.2.3.4', '0x7f.1', '[::1]'])
    expect(forbids(text), text).toBe('not an IP address')
})
