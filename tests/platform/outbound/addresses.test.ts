import { expect, test } from 'bun:test'
import { whatForbids } from '../../../src/platform/outbound/addresses.ts'
import { parseAllowList } from '../../../src/platform/outbound/allow-list.ts'

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

test('The addresses beside them are allowed', () => {
  for (const address of PUBLIC.split(/\s+/)) expect(forbids(address), address).toBeUndefined()
})

test('Text that is no address is forbidden', () => {
  for (const text of ['', 'example.com', '1.2.3', '01.2.3.4', '0x7f.1', '[::1]'])
    expect(forbids(text), text).toBe('not an IP address')
})
