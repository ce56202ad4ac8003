import { describe, expect, test } from 'bun:test'
import { isoTime } from '../../../src/platform/clock.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import {
  type Fixture,
  HOUR,
  MINUTE,
  openMail,
  SECOND,
  startHesitantServer,
  startOddServer,
} from './support.ts'

const DAY = 24 * HOUR

describe('a mail', () => {
  test('goes out with the commit that posts it, and not without', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const { db, mail, clock, letterTo } = fixture

    const failing = db.commit(() => {
      mail.post(letterTo('eve@example.com'), clock.now())
      throw new Error('the rest went wrong')
    })
    await expect(failing).rejects.toThrow('the rest went wrong')
    await fixture.send('ada@example.com')

    expect(server.received.map(({ to }) => to)).toEqual([['ada@example.com']])
  })

  test('that was sent has no body any more', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    const id = await fixture.send()

    expect(fixture.read(id)).toMatchObject({
      state: 'sent',
      body: null,
      endedAt: fixture.clock.now(),
    })
  })

  test('is tried after 10 s, 1 min, 5 min, 30 min, and then every hour until it expires', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    server.refuses('rcpt', 450, 'try later')
    const start = fixture.clock.now()
    const tries = [0]

    const id = await fixture.send('ada@example.com', { expiresAt: start + 4 * HOUR })
    for (let mail = fixture.read(id); mail?.state === 'waiting'; mail = fixture.read(id)) {
      await fixture.clock.advanceTo(mail.dueAt - 1)
      expect(server.connections.count).toBe(tries.length)
      await fixture.clock.advanceTo(mail.dueAt)
      tries.push(mail.dueAt - start)
      expect(server.connections.count).toBe(tries.length)
    }

    const waits = tries.slice(1).map((at, index) => at - (tries[index] ?? 0))
    expect(waits.map((ms) => ms / SECOND)).toEqual([10, 60, 300, 1800, 3600, 3600, 3600])
    expect(fixture.read(id)).toMatchObject({ state: 'failed', tries: 8, body: null })
    expect(fixture.read(id)?.lastError).toContain('450 try later')
  })

  test('is given up at the try after which there is no time for another', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    server.refuses('rcpt', 450, 'try later')

    const late = await fixture.send('a@example.com', {
      expiresAt: fixture.clock.now() + 10 * SECOND,
    })
    const early = await fixture.send('b@example.com', {
      expiresAt: fixture.clock.now() + 10 * SECOND + 1,
    })

    expect(fixture.read(late)?.state).toBe('failed')
    expect(fixture.read(early)?.state).toBe('waiting')
  })

  test('that comes too late is not sent', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

    const { db, mail, clock, letterTo } = fixture
    const late = letterTo('ada@example.com', { expiresAt: clock.now() })
    const [good = '', ...ids] = await db.commit(() => [
      mail.post(letterTo('grace@example.com'), clock.now()),
      ...Array.from({ length: 20 }, () => mail.post(late, clock.now())),
    ])
    await mail.idle()

    for (const id of ids)
      expect(fixture.read(id)).toMatchObject({
        state: 'failed',
        tries: 0,
        body: null,
        lastError: 'expired before it was sent',
        endedAt: fixture.clock.now(),
      })
    expect(fixture.read(good)?.state).toBe('sent')
    expect(server.connections.count).toBe(1)
  })

  test('that cannot be opened is given up, and the next one goes out', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const { db, mail, clock, letterTo } = fixture

    const broken = await db.commit(() => {
      const id = mail.post(letterTo('ada@example.com'), clock.now())
      db.client.run("UPDATE mails SET body = 's1.000000000000.AAAA' WHERE id = ?", [id])
      return id
    })
    const good = await fixture.send('grace@example.com')

    expect(fixture.read(broken)).toMatchObject({ state: 'failed' })
    expect(fixture.read(broken)?.lastError).toContain('cannot be decrypted')
    expect(fixture.read(good)?.state).toBe('sent')
  })

  test('that is deleted while it is sent stays deleted', async () => {
    using folder = temporaryFolder()
    await using server = await startOddServer(() => {})
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const arrived = server.arrived()
    const tenantId = fixture.tenant('acme')
    const id = await fixture.post('ada@example.com', {
      ...{ tenantId, about: 'ada' },
      expiresAt: fixture.clock.now() + DAY,
    })
    await arrived
    fixture.clock.jump(HOUR)

    const erased = await fixture.db.commit(() => fixture.mail.eraseAbout(tenantId, 'ada', 10))
    server.hangUp()
    await fixture.mail.idle()

    expect(erased).toBe(1)
    expect(fixture.read(id)).toBeUndefined()
  })

  test.each([
    ['is refused for good', '550 no Ada here'],
    ['is put off', '450 Ada is busy'],
    ['is taken', '250 taken'],
  ])('whose person goes while it %s names nobody afterwards', async (_what, answer) => {
    using folder = temporaryFolder()
    await using server = await startHesitantServer(answer)
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const tenantId = fixture.tenant('acme')
    const id = await fixture.post('ada@example.com', { tenantId, about: 'ada' })
    await server.asked
    const underWay = fixture.read(id)?.state

    const erased = await fixture.db.commit(() => fixture.mail.eraseAbout(tenantId, 'ada', 10))
    server.goOn()
    await fixture.mail.idle()
    await fixture.clock.advance(HOUR)

    expect([underWay, erased]).toEqual(['leased', 1])
    expect(fixture.read(id)).toMatchObject({
      ...{ state: 'failed', tries: 1, about: null, body: null },
      ...{ recipient: null, subject: null, lastError: null },
    })
    expect(server.connections()).toBe(1)
    expect(fixture.log.join()).not.toMatch(/\bada\b/i)
  })

  test('whose person goes before it was sent is not sent any more', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    const id = await erasedWhileKept(folder.path)

    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    await fixture.mail.idle()

    expect(fixture.read(id)).toMatchObject({ state: 'failed', tries: 0 })
    expect(server.connections.count).toBe(0)
  })

  async function erasedWhileKept(dataDir: string) {
    await using fixture = await openMail({ dataDir })
    const tenantId = fixture.tenant('acme')
    const id = await fixture.send('ada@example.com', { tenantId, about: 'ada' })
    await fixture.db.commit(() => fixture.mail.eraseAbout(tenantId, 'ada', 10))
    return id
  }
})

describe('many mails', () => {
  test('all go out, eight at a time, and of one tenant half of what others leave', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const { db, mail, clock, letterTo } = fixture
    const tenants = ['a', 'b', 'c'].map(fixture.tenant)

    await db.commit(() => {
      for (const tenantId of [null, ...tenants])
        for (let n = 0; n < 10; n++)
          mail.post(letterTo(`u${n}@example.com`, { tenantId }), clock.now())
    })
    const leased = () =>
      db.client
        .query<{ tenant: string; count: number }, []>(
          "SELECT coalesce(tenant_id, '') AS tenant, count(*) AS count FROM mails WHERE state = 'leased' GROUP BY 1",
        )
        .all()
    await db.commit(() => undefined)
    const underWay = leased()
    await mail.idle()

    expect(underWay).toEqual([
      { tenant: '', count: 4 },
      { tenant: 'a', count: 2 },
      { tenant: 'b', count: 1 },
      { tenant: 'c', count: 1 },
    ])
    expect(server.received).toHaveLength(40)
  })

  test('of two tenants that the server never takes do not keep those of another waiting', async () => {
    using folder = temporaryFolder()
    await using hanging = await startOddServer(() => {})
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: hanging.url })
    const { db, mail, clock, letterTo } = fixture
    const [loud, louder, quiet] = ['loud', 'louder', 'quiet'].map(fixture.tenant)

    await db.commit(() => {
      for (const tenantId of [loud, louder])
        for (let n = 0; n < 50; n++)
          mail.post(letterTo(`u${n}@example.com`, { tenantId }), clock.now())
    })
    await fixture.advanceWaiting(0)
    const id = await fixture.post('ada@example.com', { tenantId: quiet })
    await fixture.advanceWaiting(0)

    expect(fixture.read(id)?.state).toBe('leased')
  })
})

describe('a process that dies while it sends', () => {
  test('loses the mail to another, which sends it, and can change nothing any more', async () => {
    using folder = temporaryFolder()
    await using hanging = await startOddServer(() => {})
    await using server = await startMailServer()
    await using dead = await openMail({ dataDir: folder.path, smtpUrl: hanging.url })
    const arrived = hanging.arrived()
    const id = await dead.post()
    await arrived

    await using next = await openMail({ dataDir: folder.path, smtpUrl: server.url, pid: 2 })
    const interrupted = next.read(id)
    await next.clock.advance(10 * SECOND)
    hanging.hangUp()
    await dead.mail.idle()

    expect(interrupted).toMatchObject({ state: 'waiting', tries: 1 })
    expect(interrupted?.lastError).toContain('stopped before the mail server responded')
    expect(next.read(id)).toMatchObject({ state: 'sent', tries: 2 })
    expect(server.received.map(({ parsed }) => parsed.messageId)).toEqual([`<${id}@example.org>`])
  })

  test('keeps it while it is alive', async () => {
    using folder = temporaryFolder()
    await using hanging = await startOddServer(() => {})
    await using server = await startMailServer()
    await using busy = await openMail({ dataDir: folder.path, smtpUrl: hanging.url })
    const arrived = hanging.arrived()
    const id = await busy.post()
    await arrived

    const options = { dataDir: folder.path, smtpUrl: server.url, pid: 2, othersRun: true }
    await using next = await openMail(options)

    expect(next.read(id)).toMatchObject({ state: 'leased', tries: 1 })
    expect(server.received).toEqual([])
  })
})

describe('a server for mail', () => {
  test('that is configured later gets what was kept and has not expired', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    const { dataDir, good, late } = await kept(folder.path)

    await using fixture = await openMail({
      dataDir,
      smtpUrl: server.url,
      start: '2026-03-01T12:30:00.000Z',
    })
    await fixture.mail.idle()

    expect(server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
    expect(fixture.read(good)?.state).toBe('sent')
    expect(fixture.read(late)).toMatchObject({
      state: 'failed',
      body: null,
      lastError: 'expired before it was sent',
    })
  })

  test('that is taken away leaves what was to be sent in the outbox', async () => {
    using folder = temporaryFolder()
    const dataDir = folder.path
    const ids = await waiting(dataDir)

    await using fixture = await openMail({ dataDir })

    for (const id of ids) expect(fixture.read(id)).toMatchObject({ state: 'kept' })
    expect(fixture.read(ids[0] ?? '')?.body?.text).toContain('481516')
  })

  test('that is taken away from a process that died leaves that in the outbox as well', async () => {
    using folder = temporaryFolder()
    await using hanging = await startOddServer(() => {})
    await using dead = await openMail({ dataDir: folder.path, smtpUrl: hanging.url })
    const arrived = hanging.arrived()
    const id = await dead.post()
    await arrived

    await using fixture = await openMail({ dataDir: folder.path, pid: 2 })

    expect(fixture.read(id)).toMatchObject({ state: 'kept', tries: 1 })
  })

  async function kept(dataDir: string) {
    await using fixture = await openMail({ dataDir })
    const late = await fixture.send('ada@example.com', { expiresAt: fixture.clock.now() + MINUTE })
    const good = await fixture.send('grace@example.com')
    return { dataDir, late, good }
  }

  async function waiting(dataDir: string) {
    await using refusing = await startOddServer((socket) => socket.destroy())
    await using fixture = await openMail({ dataDir, smtpUrl: refusing.url })
    const first = await fixture.send('ada@example.com')
    await fixture.mail.stop(0)
    const second = await fixture.post('grace@example.com')
    return [first, second]
  }
})

test('what could not be sent over a restart is tried when it is due', async () => {
  using folder = temporaryFolder()
  await using server = await startMailServer()
  server.refuses('connect', 421, 'closing')
  const before = { dataDir: folder.path, smtpUrl: server.url }
  const { id, dueAt } = await refused(before)
  server.recovers()

  await using fixture = await openMail({ ...before, start: isoTime(dueAt - SECOND) })
  const early = fixture.read(id)?.state
  await fixture.clock.advance(SECOND)

  expect(early).toBe('waiting')
  expect(fixture.read(id)).toMatchObject({ state: 'sent', tries: 2 })

  async function refused(options: typeof before) {
    await using fixture = await openMail(options)
    const id = await fixture.send('ada@example.com', { expiresAt: fixture.clock.now() + DAY })
    return { id, dueAt: fixture.read(id)?.dueAt ?? 0 }
  }
})

test('sent and failed mails are counted, and those that are open shown', async () => {
  using folder = temporaryFolder()
  await using server = await startMailServer()
  await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })

  await fixture.send()
  await fixture.send()
  server.refuses('rcpt', 550, 'no such user')
  await fixture.send()
  server.refuses('rcpt', 450, 'try later')
  await fixture.send()

  const lines = fixture.metrics.render().split('\n')
  expect(lines).toContain('gatehouse_mails_total{result="sent"} 2')
  expect(lines).toContain('gatehouse_mails_total{result="failed"} 1')
  expect(lines).toContain('gatehouse_mails_open{state="waiting"} 1')
  expect(lines).toContain('gatehouse_mails_open{state="ready"} 0')
})

describe('what was lost with a commit is counted and logged when it is done again', () => {
  test('a mail that was sent', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const recover = failCommits(fixture, 'sent')

    const id = await fixture.send()
    const lost = { state: fixture.read(id)?.state, sent: countOf(fixture, 'sent') }
    recover()
    await fixture.clock.advance(10 * SECOND)

    expect(lost).toEqual({ state: 'waiting', sent: 0 })
    expect(fixture.read(id)?.state).toBe('sent')
    expect(countOf(fixture, 'sent')).toBe(1)
  })

  test('a mail that had expired', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    await using fixture = await openMail({ dataDir: folder.path, smtpUrl: server.url })
    const recover = failCommits(fixture, 'failed')
    const logged = () => fixture.log.filter((line) => line.includes('mail not delivered')).length

    const id = await fixture.send('ada@example.com', { expiresAt: fixture.clock.now() })
    const lost = {
      state: fixture.read(id)?.state,
      failed: countOf(fixture, 'failed'),
      logs: logged(),
    }
    recover()
    await fixture.clock.advance(SECOND)

    expect(lost).toEqual({ state: 'ready', failed: 0, logs: 0 })
    expect(fixture.read(id)?.state).toBe('failed')
    expect(countOf(fixture, 'failed')).toBe(1)
    expect(logged()).toBe(1)
  })

  /** Until told otherwise, no commit goes through in which a mail comes into that state. */
  function failCommits({ db }: Fixture, state: 'sent' | 'failed') {
    db.client.run('CREATE TABLE parents (id INTEGER PRIMARY KEY)')
    db.client.run(
      'CREATE TABLE orphans (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)',
    )
    db.client.run(
      `CREATE TRIGGER orphaned AFTER UPDATE ON mails WHEN new.state = '${state}'
       BEGIN INSERT INTO orphans VALUES (1); END`,
    )
    return () => db.client.run('DROP TRIGGER orphaned')
  }

  const countOf = ({ metrics }: Fixture, result: string): number => {
    const start = `gatehouse_mails_total{result="${result}"} `
    const line = metrics
      .render()
      .split('\n')
      .find((text) => text.startsWith(start))
    return Number(line?.slice(start.length) ?? 0)
  }
})
