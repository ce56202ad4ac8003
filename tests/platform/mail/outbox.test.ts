import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { CODE, HOUR, MINUTE, openMail } from './support.ts'

const DAY = 24 * HOUR

describe('without a server for mail', () => {
  test('a mail is kept, and can be read in the outbox', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const tenantId = fixture.tenant('acme')

    const id = await fixture.send('ada@example.com', { tenantId, about: 'ada' })

    expect(fixture.mail.hasServer).toBe(false)
    expect(fixture.mail.outbox.read({ tenantId }, id)).toMatchObject({
      state: 'kept',
      tries: 0,
      kind: 'verification',
      recipient: 'ada@example.com',
      subject: 'Confirm your address',
      about: 'ada',
      body: { text: `Your code is ${CODE}.`, html: `<p>Your code is <b>${CODE}</b>.</p>` },
    })
  })

  test('a mail that has expired loses its body within a minute or two', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const short = await fixture.send('ada@example.com', { expiresAt: fixture.clock.now() + MINUTE })
    const long = await fixture.send('ada@example.com', { expiresAt: fixture.clock.now() + HOUR })

    await fixture.clock.advance(MINUTE)
    await fixture.retention.sweep()

    expect(fixture.read(short)).toMatchObject({ state: 'failed', body: null })
    expect(fixture.read(long)?.body?.text).toContain(CODE)
  })
})

describe('the outbox', () => {
  test('lists the newest first, page by page, of one tenant, of the instance or of all', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { outbox } = fixture.mail
    const [acme, globex] = ['acme', 'globex'].map(fixture.tenant) as [string, string]
    const a1 = await fixture.send('1@example.com', { tenantId: acme })
    const own = await fixture.send('2@example.com')
    const a2 = await fixture.send('3@example.com', { tenantId: acme })
    const g1 = await fixture.send('4@example.com', { tenantId: globex })
    const idsOf = (...scan: Parameters<typeof outbox.list>) =>
      outbox.list(...scan).map(({ id }) => id)

    const [first] = outbox.list({ tenantId: acme }, { limit: 1 })

    expect(idsOf('all', { limit: 10 })).toEqual([g1, a2, own, a1])
    expect(idsOf({ tenantId: null }, { limit: 10 })).toEqual([own])
    expect(first?.id).toBe(a2)
    expect(idsOf({ tenantId: acme }, { limit: 10, before: first?.seq })).toEqual([a1])
    expect(idsOf('all', { limit: 2, before: first?.seq })).toEqual([own, a1])
  })

  test('shows a tenant no mail of another, nor of the instance', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { outbox } = fixture.mail
    const tenantId = fixture.tenant('acme')
    const own = await fixture.send('ada@example.com')
    const theirs = await fixture.send('ada@example.com', { tenantId: fixture.tenant('globex') })

    expect(outbox.read({ tenantId }, own)).toBeUndefined()
    expect(outbox.read({ tenantId }, theirs)).toBeUndefined()
    expect(outbox.read({ tenantId: null }, theirs)).toBeUndefined()
    expect(outbox.read({ tenantId: null }, own)?.id).toBe(own)
    expect(outbox.read('all', 'nothing')).toBeUndefined()
  })

  test('shows what it can of a mail whose body was moved from another row', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const from = await fixture.send('ada@example.com')
    const to = await fixture.send('eve@example.com')

    fixture.db.client.run(
      'UPDATE mails SET body = (SELECT body FROM mails WHERE id = ?) WHERE id = ?',
      [from, to],
    )

    expect(fixture.read(to)).toMatchObject({ recipient: 'eve@example.com', body: null })
    expect(fixture.read(from)?.body?.text).toContain(CODE)
  })
})

test('the code is nowhere in the files of the database', async () => {
  using folder = temporaryFolder()
  await using server = await startMailServer()
  server.refuses('data', 451, `remember ${CODE}`)
  await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
  await using quiet = await openMail({ dataDir: folder.path, pid: 2, othersRun: true })
  await fixture.send('ada@example.com')
  await quiet.send('grace@example.com')

  const files = readdirSync(folder.path, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => ({ name, text: readFileSync(join(parentPath, name), 'latin1') }))
  const namesWith = (part: string) =>
    files.filter(({ text }) => text.includes(part)).map(({ name }) => name)

  expect(namesWith('grace@example.com')).not.toEqual([])
  expect(namesWith(CODE)).toEqual([])
})

describe('what goes', () => {
  test('is what is older than retention.mails and over, a slice at a time', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const { mail, db, clock } = fixture
    const [rule] = mail.retention
    const start = clock.now()
    const old = [await fixture.send(), await fixture.send(), await fixture.send()]
    clock.jump(1)
    const young = await fixture.send('ada@example.com', { expiresAt: start + 2 * HOUR })
    const deleted = (now: number, limit: number) =>
      db.commit(() => rule?.deleteSlice(now, limit) ?? 0)

    expect(mail.retention).toHaveLength(1)
    expect(await deleted(start + 30 * DAY, 2)).toBe(0)
    expect(await deleted(start + 30 * DAY + 1, 2)).toBe(2)
    expect(await deleted(start + 30 * DAY + 1, 2)).toBe(1)
    expect(old.map(fixture.read)).toEqual([undefined, undefined, undefined])
    expect(fixture.read(young)?.id).toBe(young)
  })

  test('is not what may still be sent, however old it is', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const id = await fixture.send('ada@example.com', { expiresAt: fixture.clock.now() + 60 * DAY })

    fixture.clock.jump(40 * DAY)
    await fixture.retention.sweep()
    const kept = fixture.read(id)
    fixture.clock.jump(20 * DAY)
    await fixture.retention.sweep()

    expect(kept?.body?.text).toContain(CODE)
    expect(fixture.read(id)).toBeUndefined()
  })

  test('is all that is about somebody, of one tenant, a slice at a time', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { mail, db, clock } = fixture
    const [acme, globex] = ['acme', 'globex'].map(fixture.tenant) as [string, string]
    for (let n = 0; n < 3; n++)
      await fixture.send('ada@example.com', { tenantId: acme, about: 'ada' })
    const others = [
      await fixture.send('bob@example.com', { tenantId: acme, about: 'bob' }),
      await fixture.send('ada@example.com', { tenantId: globex, about: 'ada' }),
      await fixture.send('ada@example.com', { tenantId: acme }),
    ]
    const before = others.map(fixture.read)
    clock.jump(HOUR)
    const erase = () => db.commit(() => mail.eraseAbout(acme, 'ada', 2))

    expect([await erase(), await erase(), await erase()]).toEqual([2, 1, 0])
    expect(mail.outbox.list('all', { limit: 10 }).map(({ id }) => id)).toEqual(others.toReversed())
    expect(others.map(fixture.read)).toEqual(before)
  })

  test('leaves of a mail about somebody a row that names nobody, as long as it counts', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const { mail, db, clock } = fixture
    const tenantId = fixture.tenant('acme')
    const letter = { tenantId, about: 'ada', subject: 'To Ada', expiresAt: clock.now() + DAY }
    const old = await fixture.send('ada@example.com', letter)
    clock.jump(1)
    const sent = await fixture.send('ada@example.com', letter)
    server.refuses('rcpt', 550, 'Ada is unknown')
    const failed = await fixture.send('ada@example.com', letter)
    server.refuses('rcpt', 450, 'Ada is busy')
    const waiting = await fixture.send('ada@example.com', letter)
    clock.jump(HOUR - 1)
    const endedAt = [sent, failed].map((id) => fixture.read(id)?.endedAt)
    const erase = (limit: number) => db.commit(() => mail.eraseAbout(tenantId, 'ada', limit))

    expect([await erase(3), await erase(3), await erase(3)]).toEqual([3, 1, 0])

    const blank = { about: null, recipient: null, subject: null, body: null, lastError: null }
    expect(fixture.read(old)).toBeUndefined()
    expect(fixture.read(sent)).toMatchObject({ ...blank, state: 'sent', endedAt: endedAt[0] })
    expect(fixture.read(failed)).toMatchObject({ ...blank, state: 'failed', endedAt: endedAt[1] })
    expect(fixture.read(waiting)).toMatchObject({ ...blank, state: 'failed', endedAt: clock.now() })
    expect(mail.outbox.list({ tenantId }, { limit: 10 }).map(({ id }) => id)).toEqual([
      waiting,
      failed,
      sent,
    ])
    expect(JSON.stringify(db.client.query('SELECT * FROM mails').all())).not.toMatch(/\bada\b/i)
  })

  test('is what was left of a mail about somebody, in its time', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const tenantId = fixture.tenant('acme')
    const expiresAt = fixture.clock.now() + 60 * DAY
    const id = await fixture.send('ada@example.com', { tenantId, about: 'ada', expiresAt })
    await fixture.db.commit(() => fixture.mail.eraseAbout(tenantId, 'ada', 10))

    fixture.clock.jump(30 * DAY)
    await fixture.retention.sweep()
    const kept = fixture.read(id)
    fixture.clock.jump(1)
    await fixture.retention.sweep()

    expect(kept?.id).toBe(id)
    expect(fixture.read(id)).toBeUndefined()
  })

  test('is all of a tenant that goes', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const id = await fixture.send('ada@example.com', { tenantId: fixture.tenant('acme') })

    fixture.db.client.run("DELETE FROM tenants WHERE id = 'acme'")

    expect(fixture.read(id)).toBeUndefined()
  })
})
