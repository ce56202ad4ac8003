import { describe, expect, test } from 'bun:test'
import { domainOf, mailServerOf, senderOf } from '../../../src/platform/mail/server.ts'

describe('the server is read from its URL', () => {
  test.each([
    ['smtp://mail', { host: 'mail', port: 587, secure: false, requireTLS: false }],
    ['smtp://mail:2525', { host: 'mail', port: 2525, secure: false, requireTLS: false }],
    ['smtps://mail', { host: 'mail', port: 465, secure: true, requireTLS: false }],
    ['SMTP://[::1]:25/', { host: '::1', port: 25, secure: false, requireTLS: false }],
  ])('%s', (url, server) => {
    expect(mailServerOf(url)).toEqual(server)
  })

  test('a name and a password are decoded', () => {
    expect(mailServerOf('smtps://ada%40x:a%2Fb%23c%25@mail').auth).toEqual({
      user: 'ada@x',
      pass: 'a/b#c%',
    })
  })

  test.each([
    ['smtp://u:p@mail.example.org', true],
    ['smtp://u:p@10.0.0.7', true],
    ['smtp://u:p@localhost.example.org', true],
    ['smtp://u:p@127.0.0.1.example.org', true],
    ['smtp://u:p@localhost', false],
    ['smtp://u:p@127.3.2.1:25', false],
    ['smtp://u:p@[::1]', false],
    ['smtps://u:p@mail.example.org', false],
    ['smtp://mail.example.org', false],
  ])('%s asks for TLS first: %p', (url, requireTLS) => {
    expect(mailServerOf(url).requireTLS).toBe(requireTLS)
  })
})

describe('the sender is read from its address', () => {
  test.each([
    ['Gatehouse <gate@example.org>', { name: 'Gatehouse', address: 'gate@example.org' }],
    ['"Gate House" <gate@example.org>', { name: 'Gate House', address: 'gate@example.org' }],
    ['<gate@example.org>', { name: 'Acme', address: 'gate@example.org' }],
    ['gate@example.org', { name: 'Acme', address: 'gate@example.org' }],
  ])('%s', (from, sender) => {
    expect(senderOf(from, 'Acme')).toEqual(sender)
  })

  test.each([
    ['gate@example.org', 'example.org'],
    ['gate@bücher.example', 'xn--bcher-kva.example'],
    ['gate@[10.0.0.1', 'localhost'],
  ])('ids of mails from %s end in %s', (address, domain) => {
    expect(domainOf({ name: '', address })).toBe(domain)
  })
})
