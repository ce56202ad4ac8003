import { beforeAll, describe, expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { createAuthority, createIdentity, type Identity } from '../outbound/certificates.ts'
import { openMail, SECOND, startOddServer } from './support.ts'

let authority: Identity
let trusted: Identity
let elsewhere: Identity
let selfSigned: Identity

beforeAll(async () => {
  authority = await createAuthority()
  trusted = await createIdentity({ authority, ip: '127.0.0.1' })
  elsewhere = await createIdentity({ authority, name: 'mail.example.test' })
  selfSigned = await createIdentity({ ip: '127.0.0.1' })
})

describe('what arrives', () => {
  test('is what was posted: both parts, names in any script, one recipient', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    await fixture.send('ada@example.com', {
      subject: 'Bestätige deine Adresse – 确认',
      text: 'Grüße aus Zürich ✓\nsecond line',
      html: '<p>Grüße aus <b>Zürich</b> ✓</p>',
    })

    const [mail] = server.received
    expect(server.received).toHaveLength(1)
    expect(mail).toMatchObject({ from: 'gate@example.org', to: ['ada@example.com'] })
    expect(mail?.parsed).toMatchObject({
      subject: 'Bestätige deine Adresse – 确认',
      text: 'Grüße aus Zürich ✓\nsecond line',
      html: '<p>Grüße aus <b>Zürich</b> ✓</p>',
      date: new Date('2026-03-01T12:00:00Z'),
    })
    expect(mail?.parsed.from?.value).toEqual([{ name: 'Gatehouse', address: 'gate@example.org' }])
  })

  test('says that a machine wrote it, and nothing of the software', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    await fixture.send()

    const headers = server.received[0]?.parsed.headers
    expect(headers?.get('auto-submitted')).toBe('auto-generated')
    expect(headers?.has('x-mailer')).toBe(false)
  })

  test('is signed with the name of the brand where the sender has none', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    const from = 'gate@example.org'
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url, from })

    await fixture.send()

    expect(server.received[0]?.parsed.from?.value).toEqual([
      { name: 'Service', address: 'gate@example.org' },
    ])
  })

  test('is the same byte for byte at every try, under an id of its own', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    server.refuses('data', 451, 'too busy')
    const id = await fixture.send()
    server.recovers()

    await fixture.clock.advance(10 * SECOND)

    expect(server.sources).toHaveLength(2)
    expect(server.sources[1]).toBe(server.sources[0] ?? '')
    expect(server.received[0]?.parsed.messageId).toBe(`<${id}@example.org>`)
  })
})

describe('nobody can slip in a header or a recipient', () => {
  test('a line break in a subject becomes a blank', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    await fixture.send('ada@example.com', { subject: 'Hello\r\nBcc: eve@example.com\u2028x' })

    const [mail] = server.received
    expect(mail?.to).toEqual(['ada@example.com'])
    expect(mail?.parsed.subject).toBe('Hello Bcc: eve@example.com x')
    expect(mail?.parsed.headers.has('bcc')).toBe(false)
  })

  test.each([
    'ada@example.com, eve@example.com',
    'Ada <ada@example.com>, eve@example.com',
    'ada@example.com\r\nRCPT TO:<eve@example.com>',
    'ada@example.com> <eve@example.com',
    'not an address',
    '',
  ])('%j is no address, and nobody is written to', async (recipient) => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    const id = await fixture.send(recipient)

    expect(server.received).toEqual([])
    expect(fixture.read(id)).toMatchObject({ state: 'failed', tries: 1 })
  })
})

describe('a password', () => {
  test('signs in', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      authOptional: false,
      onAuth: ({ username, password }, _session, done) =>
        password === 'p@ss/wörd' ? done(null, { user: username }) : done(new Error('no')),
    })
    const smtpUrl = `smtp://gate%40example.org:p%40ss%2Fw%C3%B6rd@127.0.0.1:${server.port}`
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl })

    await fixture.send()

    expect(server.received[0]?.user).toBe('gate@example.org')
  })

  test('that is wrong makes mails wait, and is told to nobody', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ password }, _session, done) =>
        done(
          Object.assign(new Error(`535 ${password} ${btoa(`\0u\0${password}`)} is wrong`), {
            responseCode: 535,
          }),
        ),
    })
    const smtpUrl = `smtp://u:hunter2hunter2@127.0.0.1:${server.port}`
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl })

    const mail = fixture.read(await fixture.send())

    expect(mail).toMatchObject({ state: 'waiting', tries: 1 })
    expect(mail?.lastError).toContain('[hidden] [hidden] is wrong')
    expect(fixture.log.join()).toContain('is wrong')
    expect(fixture.log.join()).not.toContain('hunter2')
  })

  test('is sent in clear to this machine alone', async () => {
    using folder = temporaryFolder()
    let asked = 0
    await using server = await startMailServer({
      disabledCommands: ['STARTTLS'],
      allowInsecureAuth: true,
      onAuth: ({ username }, _session, done) => {
        asked++
        done(null, { user: username })
      },
    })
    const smtpUrl = `smtp://u:p@0.0.0.0:${server.port}`
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl })

    const mail = fixture.read(await fixture.send())

    expect(server.connections.count).toBe(1)
    expect(asked).toBe(0)
    expect(mail?.state).toBe('waiting')
    expect(mail?.lastError).toContain('STARTTLS')
  })

  test('is not passed over because the server asks for none', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    const smtpUrl = `smtp://u:p@127.0.0.1:${server.port}`
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl })

    const mail = fixture.read(await fixture.send())

    expect(mail?.state).toBe('waiting')
    expect(server.received).toEqual([])
  })
})

describe('TLS', () => {
  test.each(['smtp', 'smtps'])('%s: a certificate that is vouched for is taken', async (scheme) => {
    using folder = temporaryFolder()
    await using server = await startTls(scheme, trusted)
    await using fixture = await openMail({
      dataDir: folder.path,
      smtpUrl: `${scheme}://127.0.0.1:${server.port}`,
      ca: [authority.cert],
    })

    await fixture.send()

    expect(server.received[0]?.isSecure).toBe(true)
  })

  const refused = [
    ['nobody vouches for', () => selfSigned],
    ['is for another name', () => elsewhere],
  ] as const
  const cases = ['smtp', 'smtps'].flatMap((scheme) =>
    refused.map(([what, identity]) => [scheme, what, identity] as const),
  )
  test.each(cases)('%s: a certificate that %s is not', async (scheme, _what, identity) => {
    using folder = temporaryFolder()
    await using server = await startTls(scheme, identity())
    await using fixture = await openMail({
      dataDir: folder.path,
      smtpUrl: `${scheme}://u:p@127.0.0.1:${server.port}`,
      ca: [authority.cert],
    })

    const mail = fixture.read(await fixture.send())

    expect(server.received).toEqual([])
    expect(mail).toMatchObject({ state: 'waiting', tries: 1 })
    expect(mail?.lastError).toMatch(/certificate|altnames/i)
  })

  const startTls = (scheme: string, identity: Identity) =>
    startMailServer({ ...identity, secure: scheme === 'smtps', disabledCommands: ['AUTH'] })
})

describe('a server that', () => {
  test.each([
    ['rcpt', 450, 'try later'],
    ['rcpt', 421, 'closing'],
    ['data', 451, 'too busy'],
    ['connect', 421, 'too many connections'],
    ['connect', 554, 'no service'],
    ['mail', 550, 'not with this sender'],
  ] as const)('answers %s with %d is asked again', async (step, code, message) => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    server.refuses(step, code, message)

    const id = await fixture.send()
    const first = fixture.read(id)
    server.recovers()
    await fixture.clock.advance(10 * SECOND)

    expect(first).toMatchObject({ state: 'waiting', tries: 1 })
    expect(first?.lastError).toContain(`${code} ${message}`)
    expect(fixture.read(id)).toMatchObject({ state: 'sent', tries: 2, lastError: null })
    expect(server.received).toHaveLength(1)
  })

  test.each([
    ['rcpt', 550, 'no such user'],
    ['rcpt', 553, 'mailbox name not allowed'],
    ['data', 554, 'looks like spam'],
  ] as const)('answers %s with %d is not asked again', async (step, code, message) => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    server.refuses(step, code, message)

    const id = await fixture.send()

    expect(fixture.read(id)).toMatchObject({ state: 'failed', tries: 1, body: null })
    expect(fixture.read(id)?.lastError).toContain(`${code} ${message}`)
    expect(fixture.log.join()).toContain('mail not delivered')
  })

  test('repeats what it was sent is not quoted with the code', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const link = 'https://gate.example.org/verify?flow=1&code=481516'
    server.refuses('data', 554, `spam: ${link} and 481516 ${'and so on '.repeat(50)}`)

    const mail = fixture.read(
      await fixture.send('ada@example.com', { text: `481516\n\n${link}\n` }),
    )

    expect(mail?.lastError).toContain('554 spam: [hidden] and [hidden] and so on')
    expect(mail?.lastError?.length).toBeLessThanOrEqual(300)
    expect(fixture.log.join()).not.toContain('481516')
  })

  test.each([
    ['rcpt', 'ada@example.com', 'ada@example.com'],
    ['data', 'ada@example.com', 'ADA@Example.COM'],
    ['rcpt', 'ada.+*(x@example.com', '"Ada.+*(x"@example.com'],
    ['rcpt', 'ada@bücher.example', 'Ada@xn--BCHER-kva.example'],
    ['rcpt', 'ada@xn--bcher-kva.example', 'ada@bücher.example'],
  ] as const)('quotes the address at %s is not quoted with it: %s', async (step, to, quoted) => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    server.refuses(step, 450, `<${quoted}>: not now`)
    const id = await fixture.send(to)
    const waiting = fixture.read(id)
    server.refuses(step, 550, `<${quoted}>: never`)
    await fixture.clock.advance(10 * SECOND)

    expect(waiting).toMatchObject({ recipient: to, state: 'waiting' })
    expect(waiting?.lastError).toContain('450 <[hidden]>: not now')
    expect(fixture.read(id)).toMatchObject({ recipient: to, state: 'failed' })
    expect(fixture.read(id)?.lastError).toContain('550 <[hidden]>: never')
    expect(fixture.log.join()).toContain('550 <[hidden]>: never')
    expect(fixture.log.join()).not.toMatch(/\bada\b|b(ü|u)?cher/i)
  })

  test('is not there is asked again', async () => {
    using folder = temporaryFolder()
    const { url } = await gone()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: url })

    const mail = fixture.read(await fixture.send())

    expect(mail).toMatchObject({ state: 'waiting', tries: 1 })
    expect(mail?.lastError).toContain('ECONNREFUSED')
  })

  test('hangs up is asked again', async () => {
    using folder = temporaryFolder()
    await using server = await startOddServer((socket) => socket.destroy())
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    const mail = fixture.read(await fixture.send())

    expect(mail).toMatchObject({ state: 'waiting', tries: 1 })
    expect(mail?.lastError).toBeTruthy()
  })

  test('talks no SMTP is asked again', async () => {
    using folder = temporaryFolder()
    await using server = await startOddServer((socket) =>
      socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
    )
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    expect(fixture.read(await fixture.send())).toMatchObject({ state: 'waiting', tries: 1 })
  })

  test('never answers has 30 seconds', async () => {
    using folder = temporaryFolder()
    await using server = await startOddServer(() => {})
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const arrived = server.arrived()
    const id = await fixture.post()
    await arrived

    await fixture.advanceWaiting(30 * SECOND - 1)
    const before = fixture.read(id)?.state
    await fixture.advanceWaiting(1)
    await fixture.mail.idle()

    expect(before).toBe('leased')
    expect(fixture.read(id)).toMatchObject({
      state: 'waiting',
      lastError: 'the mail server did not accept it within 30 seconds',
    })
  })

  async function gone() {
    await using server = await startOddServer(() => {})
    return { url: server.url }
  }
})

test('a server that is stopped cuts a try short, and the mail waits', async () => {
  using folder = temporaryFolder()
  await using server = await startOddServer(() => {})
  await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
  const arrived = server.arrived()
  const id = await fixture.post()
  await arrived

  const stopped = fixture.mail.stop(0)
  await fixture.advanceWaiting(0)
  await stopped

  expect(fixture.read(id)).toMatchObject({ state: 'waiting', tries: 1 })
  expect(fixture.read(id)?.lastError).toContain('Gatehouse stopped')
})
