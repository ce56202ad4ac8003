import { expect, test } from 'bun:test'
import { createClientAddress } from '../../src/http/client-address.ts'

const from = (peer: string) => ({ requestIP: () => ({ address: peer }) })
const forwarded = (value?: string) =>
  new Request('http://localhost/', {
    headers: value === undefined ? {} : { 'x-forwarded-for': value },
  })

test('without trusted proxies the peer is the client', () => {
  const addressOf = createClientAddress([])

  expect(addressOf(forwarded('1.2.3.4'), from('10.0.0.1'))).toBe('10.0.0.1')
  expect(addressOf(forwarded(), null)).toBeUndefined()
})

test('behind trusted proxies the client is the right-most address that is not one of them', () => {
  const addressOf = createClientAddress(['10.0.0.0/8', '2001:db8::1'])

  expect(addressOf(forwarded('1.2.3.4'), from('10.0.0.1'))).toBe('1.2.3.4')
  expect(addressOf(forwarded('6.6.6.6, 1.2.3.4, 10.0.0.2'), from('10.0.0.1'))).toBe('1.2.3.4')
  expect(addressOf(forwarded('2001:db8::5'), from('2001:db8::1'))).toBe('2001:db8::5')
  expect(addressOf(forwarded('10.0.0.3, 10.0.0.2'), from('10.0.0.1'))).toBe('10.0.0.1')
  expect(addressOf(forwarded(), from('10.0.0.1'))).toBe('10.0.0.1')
})

test('a peer that is not a trusted proxy is not believed', () => {
  const addressOf = createClientAddress(['10.0.0.0/8'])

  expect(addressOf(forwarded('1.2.3.4'), from('9.9.9.9'))).toBe('9.9.9.9')
})

test('an IPv4 proxy is known in its IPv6 dress too', () => {
  const addressOf = createClientAddress(['10.0.0.0/8'])

  expect(addressOf(forwarded('1.2.3.4'), from('::ffff:10.0.0.1'))).toBe('1.2.3.4')
})

test('a port that a proxy has written down is no part of an address', () => {
  const addressOf = createClientAddress(['10.0.0.0/8'])
  const peer = from('10.0.0.1')

  expect(addressOf(forwarded('6.6.6.6, 1.2.3.4:5678, 10.0.0.2:443'), peer)).toBe('1.2.3.4')
  expect(addressOf(forwarded('[2001:db8::5]:99'), peer)).toBe('2001:db8::5')
})
