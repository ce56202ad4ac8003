import { beforeEach, describe, expect, test } from 'bun:test'
import type { SMTPServerOptions } from 'smtp-server'
import { domainOf, mailServerOf, senderOf } from '../../../src/platform/mail/server.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { createAuthority, createIdentity, type Identity } from '../outbound/certificates.ts'
import { CODE, newMail, newMailAndServer, opened, SECOND, startOddServer } from './support.ts'

const authority = await createAuthority()
const shared = await opened(newMailAndServer())
const { clock, log, read, send, server } = shared
beforeEach(() => {
  server.recovers()
  for (const seen of [log, server.received, server.sources]) seen.length = 0
})

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
  ['<gate@bücher.example>', 'Acme', 'gate@bücher.example', 'xn--bcher-kva.example'],
  ['gate@[10.0.0.1', 'Acme', 'gate@[10.0.0.1', 'localhost'],
])('The sender is read from %s', (from, name, address, domain) => {
  expect(senderOf(from, 'Acme')).toEqual({ name, address })
  expect(domainOf({ name, address })).toBe(domain)
})

/** A server with these options, and the mail that was sent to `url` of its port. */
async function sent(options: SMTPServerOptions, url: (port: number) => string) {
  await using server = await startMailServer(options)
  await using fixture = await newMail({ smtpUrl: url(server.port), ca: [authority.cert] })
  const mail = fixture.read(await fixture.send())
  const { received, connections } = server
  return { mail, log: fixture.log.join(), received, connections }
}

test('A sent mail has both parts, names in any script, and one recipient', async () => {
  const letter = {
    subject: 'Bestätige deine Adresse – 确认',
    text: 'Grüße aus Zürich ✓\nsecond line',
    html: '<p>Grüße aus <b>Zürich</b> ✓</p>',
  }
  await send('ada@example.com', letter)
  const [mail, ...more] = server.received
  expect(more).toEqual([])
  expect(mail).toMatchObject({ from: 'gate@example.org', to: ['ada@example.com'] })
  expect(mail?.parsed).toMatchObject({ ...letter, date: new Date(clock.now()) })
  expect(mail?.parsed.from?.value).toEqual([{ name: 'Gatehouse', address: 'gate@example.org' }])
  expect(mail?.parsed.headers.get('auto-submitted')).toBe('auto-generated')
  expect(mail?.parsed.headers.has('x-mailer')).toBe(false)
  await using nameless = await newMailAndServer({ from: 'gate@example.org' })
  await nameless.send()
  const value = [{ name: 'Service', address: 'gate@example.org' }]
  expect(nameless.server.received[0]?.parsed.from).toMatchObject({ value })
})

test('A sent mail has no header or recipient from its subject or address', async () => {
  await send('ada@example.com', { subject: 'Hello\r\nBcc: eve@example.com\u2028\u202ex' })
  const [mail] = server.received
  expect(mail?.to).toEqual(['ada@example.com'])
  expect(mail?.parsed.subject).toMatch(/^Hello Bcc: eve@example\.com +x$/)
  expect(mail?.parsed.headers.has('bcc')).toBe(false)
  await send('ada@example.com', { subject: 'For =?utf-8?Q?www=2Eevil=2Eexample?= now' })
  expect(server.received.pop()?.parsed.subject).toBe('For = ?utf-8?Q?www=2Eevil=2Eexample?= now')
  for (const recipient of [
    'ada@example.com, eve@example.com',
    'ada@example.com\r\nRCPT TO:<eve@example.com>',
    'ada@example.com> <eve@example.com',
    '',
  ])
    expect(read(await send(recipient))).toMatchObject({ state: 'failed', tries: 1 })
  expect(server.received).toHaveLength(1)
})

const LOGIN = { disabledCommands: ['STARTTLS'], allowInsecureAuth: true }

test('A password signs in; a wrong one makes mails wait, and is shown nowhere', async () => {
  const onAuth: SMTPServerOptions['onAuth'] = ({ username, password = '' }, _session, done) => {
    if (password === 'p@ss/wörd') return done(null, { user: username })
    const quoted = `535 ${password} ${btoa(`\0u\0${password}`)} is wrong`
    done(Object.assign(new Error(quoted), { responseCode: 535 }))
  }
  const { received } = await sent(
    { ...LOGIN, authOptional: false, onAuth },
    (port) => `smtp://gate%40example.org:p%40ss%2Fw%C3%B6rd@127.0.0.1:${port}`,
  )
  expect(received[0]?.user).toBe('gate@example.org')
  const url = (port: number) => `smtp://u:hunter2hunter2@127.0.0.1:${port}`
  const { mail, log } = await sent({ ...LOGIN, onAuth }, url)
  expect(mail).toMatchObject({ state: 'waiting', tries: 1 })
  expect(mail?.lastError).toContain('[hidden] [hidden] is wrong')
  expect(log).toContain('is wrong')
  expect(log).not.toContain('hunter2')
})

test('A password is sent in clear to this machine alone, and required although the server asks for none', async () => {
  let asked = 0
  const onAuth: SMTPServerOptions['onAuth'] = ({ username }, _session, done) => {
    asked++
    done(null, { user: username })
  }
  const elsewhere = await sent({ ...LOGIN, onAuth }, (port) => `smtp://u:p@0.0.0.0:${port}`)
  expect([elsewhere.connections.count, asked, elsewhere.mail?.state]).toEqual([1, 0, 'waiting'])
  expect(elsewhere.mail?.lastError).toContain('STARTTLS')
  const { mail, received } = await sent({}, (port) => `smtp://u:p@127.0.0.1:${port}`)
  expect([mail?.state, received]).toEqual(['waiting', []])
})

test.each(['smtp', 'smtps'])('Over %s, certificates are verified', async (scheme) => {
  const sentTo = (identity: Identity, login = '') =>
    sent(
      { ...identity, secure: scheme === 'smtps', disabledCommands: ['AUTH'] },
      (port) => `${scheme}://${login}127.0.0.1:${port}`,
    )
  const trusted = await sentTo(await createIdentity({ authority, ip: '127.0.0.1' }))
  expect(trusted.received[0]?.isSecure).toBe(true)
  for (const options of [{ ip: '127.0.0.1' }, { authority, name: 'mail.example.test' }]) {
    const { mail, received } = await sentTo(await createIdentity(options), 'u:p@')
    expect(received).toEqual([])
    expect(mail).toMatchObject({ state: 'waiting', tries: 1 })
    expect(mail?.lastError).toMatch(/certificate|altnames/i)
  }
})

describe('A server that', () => {
  test.each([
    ['rcpt', 450, 'waiting'],
    ['data', 451, 'waiting'],
    ['connect', 554, 'waiting'],
    ['mail', 550, 'waiting'],
    ['rcpt', 550, 'failed'],
    ['data', 554, 'failed'],
  ] as const)('refuses at %s with %d leaves the mail %s', async (step, code, state) => {
    server.refuses(step, code, 'not now')
    const id = await send()
    const refused = read(id)
    expect(refused).toMatchObject({ state, tries: 1 })
    expect(refused?.lastError).toContain(`${code} not now`)
    const message = state === 'waiting' ? 'mail will be retried' : 'mail not delivered'
    expect(log.join()).toContain(message)
    server.recovers()
    await clock.advance(10 * SECOND)
    const later = state === 'waiting' ? { state: 'sent', tries: 2, lastError: null } : refused
    expect(read(id)).toMatchObject({ ...later, body: null })
    expect(server.received).toHaveLength(state === 'waiting' ? 1 : 0)
    // Each try has the same bytes, and the id of the mail.
    expect(new Set(server.sources).size).toBeLessThan(2)
    for (const { parsed } of server.received) expect(parsed.messageId).toBe(`<${id}@example.org>`)
  })

  test('quotes a mail is not quoted with its code', async () => {
    const link = `https://gate.example.org/verify?flow=1&code=${CODE}`
    server.refuses('data', 554, `spam: ${link} and ${CODE} ${'and so on '.repeat(50)}`)
    const id = await send('ada@example.com', { text: `${CODE}\n\n${link}\n` })
    const reason = read(id)?.lastError ?? ''
    expect(reason).toContain('554 spam: [hidden] and [hidden] and so on')
    expect(reason.length).toBeLessThanOrEqual(300)
    expect(log.join()).not.toContain(CODE)
  })

  test.each([
    ['data', 'ada@example.com', 'ADA@Example.COM'],
    ['rcpt', 'ada.+*(x@example.com', '"Ada.+*(x"@example.com'],
    ['rcpt', 'ada@bücher.example', 'Ada@xn--BCHER-kva.example'],
  ] as const)('quotes the address at %s is not quoted with %s', async (step, to, quoted) => {
    server.refuses(step, 450, `<${quoted}>: not now`)
    const id = await send(to)
    expect(read(id)?.lastError).toContain('450 <[hidden]>: not now')
    server.refuses(step, 550, `<${quoted}>: never`)
    await clock.advance(10 * SECOND)
    expect(read(id)).toMatchObject({ recipient: to, state: 'failed' })
    expect(read(id)?.lastError).toContain('550 <[hidden]>: never')
    expect(log.join()).toContain('550 <[hidden]>: never')
    expect(log.join()).not.toMatch(/\bada\b|b(ü|u)?cher/i)
  })

  test('is gone, hangs up or speaks no SMTP is asked again', async () => {
    const gone = await startOddServer(() => {})
    await gone[Symbol.asyncDispose]()
    await using hangingUp = await startOddServer((socket) => socket.destroy())
    await using web = await startOddServer((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n'))
    for (const { url } of [gone, hangingUp, web]) {
      await using fixture = await newMail({ smtpUrl: url })
      const mail = fixture.read(await fixture.send())
      expect(mail).toMatchObject({ state: 'waiting', tries: 1 })
      expect(mail?.lastError).toMatch(url === gone.url ? /ECONNREFUSED/ : /\S/)
    }
  })

  test.each([30, 0])('never answers has 30 s, or until Gatehouse stops: %d s', async (seconds) => {
    await using server = await startOddServer(() => {})
    await using fixture = await newMail({ smtpUrl: server.url })
    const arrived = server.arrived()
    const id = await fixture.post()
    await arrived
    if (seconds > 0) await fixture.advanceWaiting(30 * SECOND - 1)
    expect(fixture.read(id)?.state).toBe('leased')
    const stopped = seconds === 0 && fixture.mail.stop(0)
    await fixture.advanceWaiting(1)
    await fixture.mail.idle()
    await stopped
    const mail = fixture.read(id)
    expect(mail).toMatchObject({ state: 'waiting', tries: 1 })
    expect(mail?.lastError).toContain(seconds > 0 ? 'within 30 seconds' : 'Gatehouse stopped')
  })
})
