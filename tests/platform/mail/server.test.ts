import { expect, test } from 'bun:test'
import { domainOf, mailServerOf, senderOf } from '../../../src/platform/mail/server.ts'

test.each([
  ['smtp://mail', { host: 'mail', port: 587, secure: false, requireTLS: false }],
  ['smtps://mail', { host: 'mail', port: 465, secure: true, requireTLS: false }],
  ['SMTP://[::1]:25/', { host: '::1', port: 25, secure: false, requireTLS: false }],
])('The server is read from %s', (url, server) => {
  expect(mailServerOf(url)).toEqual(server)
})

test.each([
  ['smtp://ada%40x:a%2Fb%23c%25@mail.example.org', true],
  ['smtp://u:p@10.0.0.7', true],
  ['smtp://u:p@localhost.example.org', true],
  ['smtp://u:p@127.0.0.1.example.org', true],
  ['smtp://u:p@localhost', false],
  ['smtp://u:p@127.3.2.1:25', false],
  ['smtp://u:p@[::1]', false],
  ['smtps://u:p@mail.example.org', false],
])('%s asks for TLS first: %p', (url, requireTLS) => {
  const server = mailServerOf(url)
  expect(server.requireTLS).toBe(requireTLS)
  const auth = url.includes('%') ? { user: 'ada@x', pass: 'a/b#c%' } : { user: 'u', pass: 'p' }
  expect(server.auth).toEqual(auth)
})

test.each([
  ['Gatehouse <gate@example.org>', 'Gatehouse', 'gate@example.org', 'example.org'],
  ['"Gate House" <gate@example.org>', 'Gate House', 'gate@example.org', 'example.org'],
  ['<gate@bücher.example>', 'Acme', 'gate@bücher.example', 'xn--bcher-kva.example'],
  ['gate@[10.0.0.1', 'Acme', 'gate@[10.0.0.1', 'localhost'],
])('The sender is read from %s', (from, name, address, domain) => {
  expect(senderOf(from, 'Acme')).toEqual({ name, address })
  expect(domainOf({ name, address })).toBe(domain)
})
