import { describe, expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { CODE, HOUR, MINUTE, openMail, SECOND, type World } from './support.ts'

const DAY = 24 * HOUR
const ADA = 'ada@example.com'
const REASON = 'nobody here has this address'

type Fields = Parameters<World['letterTo']>[1]

/** Resolves with its id once the mail is written down. */
const withhold = ({ db, mail, clock, letterTo }: World, fields?: Fields, recipient = ADA) =>
  db.commit(() => mail.withhold(letterTo(recipient, fields), REASON, clock.now()))

const rowOf = ({ db }: World, id: string) =>
  db.client.query<Record<string, unknown>, [string]>('SELECT * FROM mails WHERE id = ?').get(id)

describe('a mail that is withheld', () => {
  test('is over at once, shows in the outbox why, and has no body', async () => {
    using folder = temporaryFolder()
    await using world = await openMail({ dataDir: folder.path })
    const tenantId = world.tenant('acme')

    const id = await withhold(world, { tenantId, kind: 'recovery' })

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
      createdAt: world.clock.now(),
      endedAt: world.clock.now(),
    }
    expect(world.mail.outbox.list({ tenantId }, { limit: 10 })).toMatchObject([shown])
    expect(world.mail.outbox.read({ tenantId }, id)).toMatchObject({ ...shown, body: null })
    expect(rowOf(world, id)).toMatchObject({ body: null, lease_owner: null, attempt_id: null })
  })

  test('goes with its commit, and not without', async () => {
    using folder = temporaryFolder()
    await using world = await openMail({ dataDir: folder.path })
    const { db, mail, clock, letterTo } = world

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
    await using world = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    const id = await withhold(world)
    await world.send('grace@example.com')
    for (let hours = 0; hours < 3; hours++) await world.clock.advance(HOUR)

    expect(server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
    expect(server.connections.count).toBe(1)
    expect(world.read(id)).toMatchObject({ state: 'failed', tries: 0 })
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

    await using world = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    await world.mail.idle()

    expect(server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
    expect(world.read(id)).toMatchObject({ state: 'failed', lastError: `withheld: ${REASON}` })
  })

  test('is neither sent nor given up, for whoever counts or reads the log', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using world = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    await world.send('grace@example.com')
    const [before, lines] = [world.metrics.render(), world.log.length]

    await withhold(world)
    await world.mail.idle()

    expect(before).toContain('mails_total{result="sent"} 1')
    expect(world.metrics.render()).toBe(before)
    expect(world.log.slice(lines)).toEqual([])
  })

  test('leaves nothing of its body, neither in clear nor sealed', async () => {
    using folder = temporaryFolder()
    await using world = await openMail({ dataDir: folder.path })
    const id = await withhold(world)

    const row = JSON.stringify(rowOf(world, id))

    expect(row).toContain(ADA)
    expect(row).not.toContain(CODE)
    expect(row).not.toContain('s1.')
  })

  test('takes the work of one that is posted: its body is sealed just as often', async () => {
    using folder = temporaryFolder()
    await using world = await openMail({ dataDir: folder.path })
    const { db, mail, clock, letterTo } = world
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
    await using world = await openMail({ dataDir: folder.path })
    const { clock, mail } = world
    const ask = () => mail.allowance(null, ADA, clock.now())

    await withhold(world)
    const atOnce = ask()
    await clock.advance(30 * SECOND)
    const later = ask()
    await world.send(ADA)
    await clock.advance(MINUTE)
    for (let n = 0; n < 3; n++) {
      await withhold(world)
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
    await using world = await openMail({ dataDir: folder.path })
    const { clock, mail } = world
    const [acme, globex] = ['acme', 'globex'].map(world.tenant) as [string, string]

    await withhold(world, { tenantId: acme })

    expect(mail.allowance(acme, ADA, clock.now()).allowed).toBe(false)
    expect(mail.allowance(acme, 'bob@example.com', clock.now()).allowed).toBe(true)
    expect(mail.allowance(globex, ADA, clock.now()).allowed).toBe(true)
    expect(mail.allowance(null, ADA, clock.now()).allowed).toBe(true)
  })

  test('whoever the mails are about, or nobody', async () => {
    using folder = temporaryFolder()
    await using world = await openMail({ dataDir: folder.path })
    const { clock, mail } = world
    const tenantId = world.tenant('acme')
    const abouts = [null, 'ada', null, 'grace', 'ada']

    for (const about of abouts) {
      expect(mail.allowance(tenantId, ADA, clock.now())).toEqual({ allowed: true })
      await withhold(world, { tenantId, about })
      await clock.advance(MINUTE)
    }

    expect(mail.allowance(tenantId, ADA, clock.now())).toEqual({
      allowed: false,
      retryAfterMs: HOUR - 5 * MINUTE,
    })
  })

  test('even when all that was about somebody is erased', async () => {
    using folder = temporaryFolder()
    await using world = await openMail({ dataDir: folder.path })
    const { clock, db, mail } = world
    const tenantId = world.tenant('acme')
    const id = await withhold(world, { tenantId, about: 'ada', subject: 'To Ada' })
    const erase = () => db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))

    expect(await erase()).toBe(1)

    const blank = { about: null, recipient: null, subject: null, lastError: null }
    expect(world.read(id)).toMatchObject({ ...blank, state: 'failed' })
    expect(mail.allowance(tenantId, ADA, clock.now()).allowed).toBe(false)
  })
})

describe('what was withheld goes', () => {
  test('with whoever it was about, once it counts no more', async () => {
    using folder = temporaryFolder()
    await using world = await openMail({ dataDir: folder.path })
    const { clock, db, mail } = world
    const tenantId = world.tenant('acme')
    const theirs = await withhold(world, { tenantId, about: 'ada' })
    const nobodys = await withhold(world, { tenantId })
    await clock.advance(HOUR)

    expect(await db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))).toBe(1)

    expect(world.read(theirs)).toBeUndefined()
    expect(world.read(nobodys)?.recipient).toBe(ADA)
  })

  test('when retention.mails is over, however long its code would have been good', async () => {
    using folder = temporaryFolder()
    await using world = await openMail({ dataDir: folder.path })
    const id = await withhold(world, { expiresAt: world.clock.now() + 60 * DAY })

    world.clock.jump(30 * DAY)
    await world.retention.sweep()
    const kept = world.read(id)
    world.clock.jump(1)
    await world.retention.sweep()

    expect(kept?.id).toBe(id)
    expect(world.read(id)).toBeUndefined()
  })
})

test('a subject, posted or withheld, is one line that reads in its own direction', async () => {
  using folder = temporaryFolder()
  await using world = await openMail({ dataDir: folder.path })
  const subject = ' Sign in at Acme\r\nBcc: eve@example.com\u2028and \u202egro.live\u2069 \ud83d'

  const posted = await world.send(ADA, { subject })
  const withheld = await withhold(world, { subject })

  const line = 'Sign in at Acme Bcc: eve@example.com and  gro.live  \ufffd'
  expect([posted, withheld].map((id) => world.read(id)?.subject)).toEqual([line, line])
})
