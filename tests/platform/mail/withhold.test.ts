import { describe, expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { CODE, type Fixture, HOUR, MINUTE, openMail, SECOND } from './support.ts'

const DAY = 24 * HOUR
const ADA = 'ada@example.com'
const REASON = 'nobody here has this address'

type Fields = Parameters<Fixture['letterTo']>[1]

/** Resolves with its id once the mail is written down. */
const withhold = ({ db, mail, clock, letterTo }: Fixture, fields?: Fields, recipient = ADA) =>
  db.commit(() => mail.withhold(letterTo(recipient, fields), REASON, clock.now()))

const rowOf = ({ db }: Fixture, id: string) =>
  db.client.query<Record<string, unknown>, [string]>('SELECT * FROM mails WHERE id = ?').get(id)

describe('a mail that is withheld', () => {
  test('is over at once, shows in the outbox why, and has no body', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const tenantId = fixture.tenant('acme')

    const id = await withhold(fixture, { tenantId, kind: 'recovery' })

    const shown = {
      id,
      tenantId,
      about: null,
      kind: 'recovery',
      recipient: ADA,
      subject: 'Confirm your address',
      state: 'failed',
      tries: 0,
      lastError: `withheld: ${REASON}`,
      createdAt: fixture.clock.now(),
      endedAt: fixture.clock.now(),
    }
    expect(fixture.mail.outbox.list({ tenantId }, { limit: 10 })).toMatchObject([shown])
    expect(fixture.mail.outbox.read({ tenantId }, id)).toMatchObject({ ...shown, body: null })
    expect(rowOf(fixture, id)).toMatchObject({ body: null, lease_owner: null, attempt_id: null })
  })

  test('goes with its commit, and not without', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { db, mail, clock, letterTo } = fixture

    const failing = db.commit(() => {
      mail.withhold(letterTo(ADA), REASON, clock.now())
      throw new Error('the rest went wrong')
    })

    await expect(failing).rejects.toThrow('the rest went wrong')
    expect(mail.outbox.list('all', { limit: 10 })).toEqual([])
    expect(mail.allowance(null, ADA, clock.now())).toEqual({ allowed: true })
  })

  test('never goes to the server, whatever time passes', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    const id = await withhold(fixture)
    await fixture.send('grace@example.com')
    for (let hours = 0; hours < 3; hours++) await fixture.clock.advance(HOUR)

    expect(server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
    expect(server.connections.count).toBe(1)
    expect(fixture.read(id)).toMatchObject({ state: 'failed', tries: 0 })
  })

  test('nor when there is a server later, unlike one that was posted', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    let id: string
    {
      await using before = await openMail({ dataDir: folder.path })
      id = await withhold(before)
      await before.send('grace@example.com')
    }

    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    await fixture.mail.idle()

    expect(server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
    expect(fixture.read(id)).toMatchObject({ state: 'failed', lastError: `withheld: ${REASON}` })
  })

  test('is neither sent nor given up, for whoever counts or reads the log', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    await fixture.send('grace@example.com')
    const [before, lines] = [fixture.metrics.render(), fixture.log.length]

    await withhold(fixture)
    await fixture.mail.idle()

    expect(before).toContain('mails_total{result="sent"} 1')
    expect(fixture.metrics.render()).toBe(before)
    expect(fixture.log.slice(lines)).toEqual([])
  })

  test('leaves nothing of its body, neither in clear nor sealed', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const id = await withhold(fixture)

    const row = JSON.stringify(rowOf(fixture, id))

    expect(row).toContain(ADA)
    expect(row).not.toContain(CODE)
    expect(row).not.toContain('s1.')
  })

  test('takes the work of one that is posted: its body is sealed just as often', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { db, mail, clock, letterTo } = fixture
    let reads = 0
    const letter = letterTo(ADA)
    const watched = {
      ...letter,
      get html() {
        reads++
        return letter.html
      },
    }

    await db.commit(() => mail.withhold(watched, REASON, clock.now()))
    const once = reads
    await db.commit(() => mail.post(watched, clock.now()))

    expect(once).toBeGreaterThan(0)
    expect(reads).toBe(2 * once)
  })
})

describe('an address that is withheld from waits as if it was written to', () => {
  test('30 seconds for the next, and an hour after five, posted or withheld', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { clock, mail } = fixture
    const ask = () => mail.allowance(null, ADA, clock.now())

    await withhold(fixture)
    const atOnce = ask()
    await clock.advance(30 * SECOND)
    const later = ask()
    await fixture.send(ADA)
    await clock.advance(MINUTE)
    for (let n = 0; n < 3; n++) {
      await withhold(fixture)
      await clock.advance(MINUTE)
    }

    expect(atOnce).toEqual({ allowed: false, retryAfterMs: 30 * SECOND })
    expect(later).toEqual({ allowed: true })
    const passed = 4 * MINUTE + 30 * SECOND
    expect(ask()).toEqual({ allowed: false, retryAfterMs: HOUR - passed })
    await clock.advance(HOUR - passed)
    expect(ask()).toEqual({ allowed: true })
  })

  test('by one tenant, and no other address', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { clock, mail } = fixture
    const [acme, globex] = ['acme', 'globex'].map(fixture.tenant) as [string, string]

    await withhold(fixture, { tenantId: acme })

    expect(mail.allowance(acme, ADA, clock.now()).allowed).toBe(false)
    expect(mail.allowance(acme, 'bob@example.com', clock.now()).allowed).toBe(true)
    expect(mail.allowance(globex, ADA, clock.now()).allowed).toBe(true)
    expect(mail.allowance(null, ADA, clock.now()).allowed).toBe(true)
  })

  test('whoever the mails are about, or nobody', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { clock, mail } = fixture
    const tenantId = fixture.tenant('acme')
    const abouts = [null, 'ada', null, 'grace', 'ada']

    for (const about of abouts) {
      expect(mail.allowance(tenantId, ADA, clock.now())).toEqual({ allowed: true })
      await withhold(fixture, { tenantId, about })
      await clock.advance(MINUTE)
    }

    expect(mail.allowance(tenantId, ADA, clock.now())).toEqual({
      allowed: false,
      retryAfterMs: HOUR - 5 * MINUTE,
    })
  })

  test('even when all that was about somebody is erased', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { clock, db, mail } = fixture
    const tenantId = fixture.tenant('acme')
    const id = await withhold(fixture, { tenantId, about: 'ada', subject: 'To Ada' })
    const erase = () => db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))

    expect(await erase()).toBe(1)

    const blank = { about: null, recipient: null, subject: null, lastError: null }
    expect(fixture.read(id)).toMatchObject({ ...blank, state: 'failed' })
    expect(mail.allowance(tenantId, ADA, clock.now()).allowed).toBe(false)
  })
})

describe('what was withheld goes', () => {
  test('with whoever it was about, once it counts no more', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const { clock, db, mail } = fixture
    const tenantId = fixture.tenant('acme')
    const theirs = await withhold(fixture, { tenantId, about: 'ada' })
    const nobodys = await withhold(fixture, { tenantId })
    await clock.advance(HOUR)

    expect(await db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))).toBe(1)

    expect(fixture.read(theirs)).toBeUndefined()
    expect(fixture.read(nobodys)?.recipient).toBe(ADA)
  })

  test('when retention.mails is over, however long its code would have been good', async () => {
    using folder = temporaryFolder()
    await using fixture = await openMail({ dataDir: folder.path })
    const id = await withhold(fixture, { expiresAt: fixture.clock.now() + 60 * DAY })

    fixture.clock.jump(30 * DAY)
    await fixture.retention.sweep()
    const kept = fixture.read(id)
    fixture.clock.jump(1)
    await fixture.retention.sweep()

    expect(kept?.id).toBe(id)
    expect(fixture.read(id)).toBeUndefined()
  })
})

test('a subject, posted or withheld, is one line that reads in its own direction', async () => {
  using folder = temporaryFolder()
  await using fixture = await openMail({ dataDir: folder.path })
  const subject = ' Sign in at Acme\r\nBcc: eve@example.com\u2028and \u202egro.live\u2069 \ud83d'

  const posted = await fixture.send(ADA, { subject })
  const withheld = await withhold(fixture, { subject })

  const line = 'Sign in at Acme Bcc: eve@example.com and  gro.live  \ufffd'
  expect([posted, withheld].map((id) => fixture.read(id)?.subject)).toEqual([line, line])
})
