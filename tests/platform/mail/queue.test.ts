import { describe, expect, test } from 'bun:test'
import { isoTime } from '../../../src/platform/clock.ts'
import { nextTryAt } from '../../../src/platform/mail/retry.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { startMailServer } from '../../support/mail-server.ts'
import {
  CODE,
  DAY,
  type Fixture,
  HOUR,
  MINUTE,
  newMail,
  newMailAndServer,
  openMail,
  SECOND,
  startHesitantServer,
  startOddServer,
} from './support.ts'

const EXPIRED = 'expired before it was sent'

/** Mail with a server that never answers. */
async function newMailAndSilence() {
  const server = await startOddServer(() => {})
  const fixture = await newMail({ smtpUrl: server.url })
  async function stop() {
    await fixture.stop()
    await server[Symbol.asyncDispose]()
  }
  return { ...fixture, server, [Symbol.asyncDispose]: stop }
}

test.each([
  [1, 10 * SECOND],
  [2, MINUTE],
  [3, 5 * MINUTE],
  [4, 30 * MINUTE],
  [5, HOUR],
  [9, HOUR],
])('after try %d the next one is due in %d ms, unless the mail expires before', (tries, ms) => {
  expect(nextTryAt({ tries, endedAt: 7, expiresAt: 8 + ms })).toBe(7 + ms)
  expect(nextTryAt({ tries, endedAt: 7, expiresAt: 7 + ms })).toBeUndefined()
})

describe('a mail', () => {
  test('goes out with the commit that posts it, and then has no body', async () => {
    await using fixture = await newMailAndServer()
    const { db, mail, clock, letterTo, server } = fixture
    const failing = db.commit(() => {
      mail.post(letterTo('eve@example.com'), clock.now())
      throw new Error('the rest went wrong')
    })
    await expect(failing).rejects.toThrow('the rest went wrong')
    const id = await fixture.send('ada@example.com')
    expect(server.received.map(({ to }) => to)).toEqual([['ada@example.com']])
    expect(fixture.read(id)).toMatchObject({ state: 'sent', body: null, endedAt: clock.now() })
  })

  test('is tried again when it is due, until it expires', async () => {
    await using fixture = await newMailAndServer()
    const { clock, read, server } = fixture
    server.refuses('rcpt', 450, 'try later')
    const id = await fixture.send('ada@example.com', { expiresAt: clock.now() + 20 * MINUTE })
    for (let mail = read(id); mail?.state === 'waiting'; mail = read(id)) {
      await clock.advanceTo(mail.dueAt - 1)
      expect(server.connections.count).toBe(mail.tries)
      await clock.advanceTo(mail.dueAt)
      expect(server.connections.count).toBe(mail.tries + 1)
    }
    expect(read(id)).toMatchObject({ state: 'failed', tries: 4, body: null })
    expect(read(id)?.lastError).toContain('450 try later')
  })

  test('that has expired is not sent', async () => {
    await using fixture = await newMailAndServer()
    const { db, mail, clock, letterTo, read } = fixture
    const late = letterTo('ada@example.com', { expiresAt: clock.now() })
    const [good = '', ...ids] = await db.commit(() => [
      mail.post(letterTo('grace@example.com'), clock.now()),
      ...Array.from({ length: 20 }, () => mail.post(late, clock.now())),
    ])
    await mail.idle()
    const failed = { state: 'failed', tries: 0, body: null, endedAt: clock.now() }
    for (const id of ids) expect(read(id)).toMatchObject({ ...failed, lastError: EXPIRED })
    expect(read(good)?.state).toBe('sent')
    expect(fixture.server.connections.count).toBe(1)
  })

  test('that cannot be decrypted fails, and the next one goes out', async () => {
    await using fixture = await newMailAndServer()
    const { db, mail, clock, letterTo, read } = fixture
    const broken = await db.commit(() => {
      const id = mail.post(letterTo('ada@example.com'), clock.now())
      db.client.run("UPDATE mails SET body = 's1.000000000000.AAAA' WHERE id = ?", [id])
      return id
    })
    const good = await fixture.send('grace@example.com')
    expect(read(broken)?.state).toBe('failed')
    expect(read(broken)?.lastError).toContain('cannot be decrypted')
    expect(read(good)?.state).toBe('sent')
  })
})

describe('a mail whose person is erased', () => {
  test.each(['550 no Ada here', '450 Ada is busy', '250 taken'])(
    'while the server answers %s names no one afterwards',
    async (answer) => {
      await using server = await startHesitantServer(answer)
      await using fixture = await newMail({ smtpUrl: server.url })
      const { db, mail, read } = fixture
      const tenantId = fixture.tenant('acme')
      const id = await fixture.post('ada@example.com', { tenantId, about: 'ada' })
      await server.asked
      expect(read(id)?.state).toBe('leased')
      expect(await db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))).toBe(1)
      server.goOn()
      await mail.idle()
      await fixture.clock.advance(HOUR)
      const blank = { about: null, body: null, recipient: null, subject: null, lastError: null }
      expect(read(id)).toMatchObject({ ...blank, state: 'failed', tries: 1 })
      expect(server.connections()).toBe(1)
      expect(fixture.log.join()).not.toMatch(/\bada\b/i)
    },
  )

  test('while it is sent stays deleted, if it counts no more', async () => {
    await using fixture = await newMailAndSilence()
    const { clock, db, mail, server } = fixture
    const arrived = server.arrived()
    const about = { tenantId: fixture.tenant('acme'), about: 'ada' }
    const expiresAt = clock.now() + DAY
    const id = await fixture.post('ada@example.com', { ...about, expiresAt })
    await arrived
    clock.jump(HOUR)
    expect(await db.commit(() => mail.eraseAbout(about.tenantId, 'ada', 10))).toBe(1)
    server.hangUp()
    await mail.idle()
    expect(fixture.read(id)).toBeUndefined()
  })
})

describe('many mails', () => {
  test('go out eight at a time, a tenant having half of what others leave', async () => {
    await using fixture = await newMailAndServer()
    const { db, mail, clock, letterTo } = fixture
    const tenants = ['a', 'b', 'c'].map(fixture.tenant)
    await db.commit(() => {
      for (const tenantId of [null, ...tenants])
        for (let n = 0; n < 10; n++)
          mail.post(letterTo(`u${n}@example.com`, { tenantId }), clock.now())
    })
    await db.commit(() => undefined)
    const leased = db.client
      .query(
        `SELECT count(*) AS n FROM mails WHERE state = 'leased' GROUP BY coalesce(tenant_id, '')`,
      )
      .values()
    expect(leased).toEqual([[4], [2], [1], [1]])
    await mail.idle()
    expect(fixture.server.received).toHaveLength(40)
  })

  test('that the server never answers do not delay those of another tenant', async () => {
    await using fixture = await newMailAndSilence()
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

describe('a mail that a process is sending', () => {
  test('is sent by another once it is dead, which can change nothing any more', async () => {
    await using dead = await newMailAndSilence()
    await using server = await startMailServer()
    const arrived = dead.server.arrived()
    const id = await dead.post()
    await arrived
    const options = { dataDir: dead.dataDir, smtpUrl: server.url, pid: 2 }
    await using next = await openMail(options)
    expect(next.read(id)).toMatchObject({
      ...{ state: 'waiting', tries: 1 },
      lastError: expect.stringContaining('stopped before the mail server responded'),
    })
    await next.clock.advance(10 * SECOND)
    dead.server.hangUp()
    await dead.mail.idle()
    expect(next.read(id)).toMatchObject({ state: 'sent', tries: 2 })
    expect(server.received.map(({ parsed }) => parsed.messageId)).toEqual([`<${id}@example.org>`])
  })

  test('stays its own while it is alive', async () => {
    await using busy = await newMailAndSilence()
    await using server = await startMailServer()
    const arrived = busy.server.arrived()
    const id = await busy.post()
    await arrived
    const options = { dataDir: busy.dataDir, smtpUrl: server.url, pid: 2, othersRun: true }
    await using next = await openMail(options)
    expect(next.read(id)).toMatchObject({ state: 'leased', tries: 1 })
    expect(server.received).toEqual([])
  })

  test('is kept without a mail server once that process is dead', async () => {
    await using dead = await newMailAndSilence()
    const arrived = dead.server.arrived()
    const id = await dead.post()
    await arrived
    await using next = await openMail({ dataDir: dead.dataDir, pid: 2 })
    expect(next.read(id)).toMatchObject({ state: 'kept', tries: 1 })
  })
})

describe('after a restart', () => {
  /** Runs a process on the directory to its end. */
  async function before<T>(options: Parameters<typeof openMail>[0], work: (mail: Fixture) => T) {
    await using fixture = await openMail(options)
    return await work(fixture)
  }

  test('with a mail server, kept mails go out unless they have expired', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    const dataDir = folder.path
    const ids = await before({ dataDir }, async ({ clock, db, letterTo, mail, send, tenant }) => {
      const tenantId = tenant('acme')
      const erased = await send('ada@example.com', { tenantId, about: 'ada' })
      await db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))
      return {
        late: await send('ada@example.com', { expiresAt: clock.now() + MINUTE }),
        good: await send('grace@example.com'),
        erased,
        withheld: await db.commit(() =>
          mail.withhold(letterTo('eve@example.com'), '', clock.now()),
        ),
      }
    })
    await using fixture = await openMail({
      ...{ dataDir, smtpUrl: server.url },
      start: '2026-03-01T12:30:00.000Z',
    })
    await fixture.mail.idle()
    const late = { state: 'failed', body: null, lastError: EXPIRED }
    expect(server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
    expect(fixture.read(ids.good)?.state).toBe('sent')
    expect(fixture.read(ids.late)).toMatchObject(late)
    for (const id of [ids.erased, ids.withheld])
      expect(fixture.read(id)).toMatchObject({ state: 'failed', tries: 0 })
  })

  test('without a mail server, mails that were to be sent are kept', async () => {
    using folder = temporaryFolder()
    const dataDir = folder.path
    await using refusing = await startOddServer((socket) => socket.destroy())
    const ids = await before({ dataDir, smtpUrl: refusing.url }, async ({ mail, post, send }) => {
      const first = await send('ada@example.com')
      await mail.stop(0)
      return [first, await post('grace@example.com')]
    })
    await using fixture = await openMail({ dataDir })
    for (const id of ids) expect(fixture.read(id)).toMatchObject({ state: 'kept' })
    expect(fixture.read(ids[0] ?? '')?.body?.text).toContain(CODE)
  })

  test('a mail is tried when it was due', async () => {
    using folder = temporaryFolder()
    await using server = await startMailServer()
    server.refuses('connect', 421, 'closing')
    const options = { dataDir: folder.path, smtpUrl: server.url }
    const { id, dueAt } = await before(options, async ({ clock, read, send }) => {
      const id = await send('ada@example.com', { expiresAt: clock.now() + DAY })
      return { id, dueAt: read(id)?.dueAt ?? 0 }
    })
    server.recovers()
    await using fixture = await openMail({ ...options, start: isoTime(dueAt - SECOND) })
    expect(fixture.read(id)?.state).toBe('waiting')
    await fixture.clock.advance(SECOND)
    expect(fixture.read(id)).toMatchObject({ state: 'sent', tries: 2 })
  })
})

test('sent, failed and open mails are counted', async () => {
  await using fixture = await newMailAndServer()
  const { send, server } = fixture
  for (let n = 0; n < 2; n++) await send()
  server.refuses('rcpt', 550, 'no such user')
  await send()
  server.refuses('rcpt', 450, 'try later')
  await send()
  const lines = fixture.metrics.render().split('\n')
  expect(lines).toContain('gatehouse_mails_total{result="sent"} 2')
  expect(lines).toContain('gatehouse_mails_total{result="failed"} 1')
  expect(lines).toContain('gatehouse_mails_open{state="waiting"} 1')
  expect(lines).toContain('gatehouse_mails_open{state="ready"} 0')
})

test.each([
  ['sent', 'waiting', 10 * SECOND, HOUR],
  ['failed', 'ready', SECOND, 0],
] as const)(
  'a mail whose commit is lost as it becomes %s is counted and logged the next time',
  async (state, meanwhile, waitMs, lifetimeMs) => {
    await using fixture = await newMailAndServer()
    const { clock, db, read } = fixture
    const counted = () =>
      Number(
        new RegExp(`mails_total{result="${state}"} (\\d+)`).exec(fixture.metrics.render())?.[1],
      )
    const logged = () => fixture.log.filter((line) => line.includes('mail not delivered')).length
    const reference = 'REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED'
    db.client.run('CREATE TABLE parents (id INTEGER PRIMARY KEY)')
    db.client.run(`CREATE TABLE orphans (parent INTEGER ${reference})`)
    db.client.run(`CREATE TRIGGER orphaned AFTER UPDATE ON mails WHEN new.state = '${state}'
      BEGIN INSERT INTO orphans VALUES (1); END`)

    const id = await fixture.send('ada@example.com', { expiresAt: clock.now() + lifetimeMs })
    expect([read(id)?.state, counted(), logged()]).toEqual([meanwhile, 0, 0])
    db.client.run('DROP TRIGGER orphaned')
    await clock.advance(waitMs)
    expect([read(id)?.state, counted()]).toEqual([state, 1])
    expect(logged()).toBe(state === 'failed' ? 1 : 0)
  },
)
