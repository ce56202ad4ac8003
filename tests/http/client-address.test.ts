import { expect, test } from 'bun:test'
import { createClientAddress } from '../../src/http/client-address.ts'

const PROXIES = ['10.0.0.0/8', '127.0.0.0/8', '::1', '2001:db8::1']

const addressOf = (peer: string | null, forwarded?: string, proxies = PROXIES) => {
  const headers: Record<string, string> = { 'x-real-ip': '6.6.6.6', forwarded: 'for=6.6.6.6' }
  if (forwarded !== undefined) headers['x-forwarded-for'] = forwarded
  const server = peer === null ? null : { requestIP: () => ({ address: peer }) }
  return createClientAddress(proxies)(new Request('http://localhost/', { headers }), server)
}

test('Without trusted proxies, or from another peer, the peer is the client', () => {
  expect(addressOf('10.0.0.1', '1.2.3.4', [])).toBe('10.0.0.1')
  expect(addressOf(null, undefined, [])).toBeUndefined()
  expect(addressOf('9.9.9.9', '1.2.3.4')).toBe('9.9.9.9')
})

test.each<[peer: string, forwarded: string | undefined, client: string]>([
  ['10.0.0.1', '1.2.3.4', '1.2.3.4'],
  ['10.0.0.1', '6.6.6.6, 1.2.3.4, 10.0.0.2', '1.2.3.4'],
  ['2001:db8::1', '2001:db8::5', '2001:db8::5'],
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.1'],
  ['10.0.0.1', undefined, '10.0.0.1'],
  ['10.0.0.1', '', '10.0.0.1'],
  ['10.0.0.1', '6.6.6.6, ,', '10.0.0.1'],
  ['::ffff:10.0.0.1', '1.2.3.4', '1.2.3.4'],
  ['10.0.0.1', '1.2.3.4, ::ffff:a00:1', '1.2.3.4'],
  ['10.0.0.1', '1.2.3.4, 0:0:0:0:0:0:0:1', '1.2.3.4'],
  // Only looks like a proxy.
  ['10.0.0.1', '1.2.3.4, 010.0.0.1', '010.0.0.1'],
  // A port is no part of an address.
  ['10.0.0.1', '6.6.6.6, 1.2.3.4:5678, 10.0.0.2:443', '1.2.3.4'],
  ['10.0.0.1', '[2001:db8::5]:99', '2001:db8::5'],
])('Behind the trusted proxy %s, the client of %j is %s', (peer, forwarded, client) => {
  expect(addressOf(peer, forwarded)).toBe(client)
})
