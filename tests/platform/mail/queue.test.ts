import { expect, test } from 'bun:test'
import { nextTryAt } from '../../../src/platform/mail/retry.ts'
import { createStore } from '../../../src/platform/mail/store/index.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { plansOf } from '../../support/plans.ts'
import {
  CODE,
  HOUR,
  MINUTE,
  newMail,
  newMailAndServer,
  newMailAndSilence,
  openMail,
  SECOND,
} from './support.ts'

const EXPIRED = 'expired before it was sent'

test.each([
  [1, 10 * SECOND],
  [5, HOUR],
  [9, HOUR],
])('After try %d the next one is due in %d ms, unless the mail expires before', (tries, ms) => {
  expect(nextTryAt({ tries, endedAt: 7, expiresAt: 8 + ms })).toBe(7 + ms)
  expect(nextTryAt({ tries, endedAt: 7, expiresAt: 7 + ms })).toBeUndefined()
})

test('A mail goes out with the commit that posts it, unless it has expired, and then has no body', async () => {
  await using fixture = await newMailAndServer()
  const { db, mail, clock, letterTo, read, server } = fixture
  const failing = db.commit(() => {
    mail.post(letterTo('eve@example.com'), clock.now())
    throw new Error('the rest went wrong')
  })
  await expect(failing).rejects.toThrow('the rest went wrong')
  const late = letterTo('ada@example.com', { expiresAt: clock.now() })
  const [broken = '', good = '', ...ids] = await db.commit(() => [
    mail.post(letterTo('ada@example.com'), clock.now()),
    mail.post(letterTo('grace@example.com'), clock.now()),
    ...Array.from({ length: 20 }, () => mail.post(late, clock.now())),
  ])
  db.client.run("UPDATE mails SET body = 's1.000000000000.AAAA' WHERE id = ?", [broken])
  await mail.idle()
  const ended = { body: null, endedAt: clock.now() }
  expect(server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
  expect(read(good)).toMatchObject({ ...ended, state: 'sent' })
  const expired = { ...ended, state: 'failed', tries: 0, lastError: EXPIRED }
  for (const id of ids) expect(read(id)).toMatchObject(expired)
  expect(read(broken)?.state).toBe('failed')
  expect(read(broken)?.lastError).toContain('cannot be decrypted')
  expect(server.connections.count).toBe(1)
})

test('A mail is tried again when it is due, until it expires', async () => {
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

test.each([
  [550, 'no Ada here'],
  [450, 'Ada is busy'],
  [250, 'taken'],
])(
  'A mail whose person is erased before the answer %d %s has no name',
  async (responseCode, answer) => {
    const [asked, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await using server = await startMailServer({
      onRcptTo: async (_address, _session, done) => {
        asked.resolve()
        await told.promise
        done(responseCode === 250 ? null : Object.assign(new Error(answer), { responseCode }))
      },
    })
    await using fixture = await newMail({ smtpUrl: server.url })
    const { db, mail, read } = fixture
    const tenantId = fixture.tenant('acme')
    const id = await fixture.post('ada@example.com', { tenantId, about: 'ada' })
    await asked.promise
    expect(read(id)?.state).toBe('leased')
    expect(await db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))).toBe(1)
    told.resolve()
    await mail.idle()
    await fixture.clock.advance(HOUR)
    const blank = { about: null, body: null, recipient: null, subject: null, lastError: null }
    expect(read(id)).toMatchObject({ ...blank, state: 'failed', tries: 1 })
    expect(server.connections.count).toBe(1)
    expect(fixture.log.join()).not.toMatch(/\bada\b/i)
  },
)

test('Mails go out eight at a time, a tenant having half of what others leave', async () => {
  await using fixture = await newMailAndServer()
  const { db, mail, clock, letterTo } = fixture
  const tenants = [null, ...['a', 'b', 'c'].map(fixture.tenant)]
  await db.commit(() => {
    for (const tenantId of tenants)
      for (let n = 0; n < 5; n++)
        mail.post(letterTo(`u${n}@example.com`, { tenantId }), clock.now())
  })
  await db.commit(() => undefined)
  const leased = `SELECT count(*) FROM mails WHERE state = 'leased' GROUP BY coalesce(tenant_id, '')`
  expect(db.client.query(leased).values()).toEqual([[4], [2], [1], [1]])
  await mail.idle()
  expect(fixture.server.received).toHaveLength(20)
})

test('A mail that a process is sending is sent by another once it is dead, which can change nothing any more', async () => {
  await using dead = await newMailAndSilence()
  await using server = await startMailServer()
  const arrived = dead.server.arrived()
  const id = await dead.post()
  await arrived
  const { dataDir } = dead
  const options = { dataDir, smtpUrl: server.url, pid: 2 }
  {
    await using beside = await openMail({ ...options, othersRun: true })
    expect(beside.read(id)).toMatchObject({ state: 'leased', tries: 1 })
    expect(server.received).toEqual([])
  }
  await using next = await openMail(options)
  const interrupted = next.read(id)
  expect(interrupted).toMatchObject({ state: 'waiting', tries: 1 })
  expect(interrupted?.lastError).toContain('stopped before the mail server responded')
  await next.clock.advance(10 * SECOND)
  dead.server.hangUp()
  await dead.mail.idle()
  expect(next.read(id)).toMatchObject({ state: 'sent', tries: 2 })
  expect(server.received.map(({ parsed }) => parsed.messageId)).toEqual([`<${id}@example.org>`])
})

test('Mails of a dead process, and those that were to be sent, are kept without a mail server', async () => {
  await using dead = await newMailAndSilence()
  const arrived = dead.server.arrived()
  const leased = await dead.post()
  await arrived
  await using next = await openMail({ dataDir: dead.dataDir, pid: 2 })
  expect(next.read(leased)).toMatchObject({ state: 'kept', tries: 1 })
  await using stopped = await newMailAndServer()
  stopped.server.refuses('connect', 421, 'closing')
  const waiting = await stopped.send('ada@example.com')
  await stopped.mail.stop(0)
  const ready = await stopped.post('grace@example.com')
  await using later = await openMail({ dataDir: stopped.dataDir, pid: 2 })
  expect([waiting, ready].map((id) => later.read(id)?.state)).toEqual(['kept', 'kept'])
  expect(later.read(waiting)?.body?.text).toContain(CODE)
})

test('After a restart with a mail server, kept mails go out unless they have expired', async () => {
  await using before = await newMail()
  await using server = await startMailServer()
  const { clock, db, letterTo, mail, send, dataDir } = before
  const tenantId = before.tenant('acme')
  const erased = await send('ada@example.com', { tenantId, about: 'ada' })
  await db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))
  const late = await send('ada@example.com', { expiresAt: clock.now() + MINUTE })
  const good = await send('grace@example.com')
  const letter = letterTo('eve@example.com')
  const withheld = await db.commit(() => mail.withhold(letter, '', clock.now()))
  const start = '2026-03-01T12:30:00.000Z'
  await using fixture = await openMail({ dataDir, smtpUrl: server.url, start, pid: 2 })
  await fixture.mail.idle()
  expect(server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
  expect(fixture.read(good)?.state).toBe('sent')
  expect(fixture.read(late)).toMatchObject({ state: 'failed', body: null, lastError: EXPIRED })
  for (const id of [erased, withheld])
    expect(fixture.read(id)).toMatchObject({ state: 'failed', tries: 0 })
})

test('A mail server that is added or removed while the program runs takes effect at the next check', async () => {
  await using fixture = await newMail()
  await using server = await startMailServer()
  const { clock, read, send, setServer, mail } = fixture
  const kept = await send('ada@example.com')
  const late = await send('ada@example.com', { expiresAt: clock.now() + SECOND })
  setServer(server.url)
  expect(mail.hasServer).toBe(true)
  await clock.advance(5 * SECOND)
  expect([kept, late].map((id) => read(id)?.state)).toEqual(['sent', 'failed'])
  server.refuses('connect', 421, 'closing')
  const waiting = await send('grace@example.com')
  expect(read(waiting)?.state).toBe('waiting')
  setServer(undefined)
  await clock.advance(5 * SECOND)
  expect(read(waiting)).toMatchObject({ state: 'kept', tries: 1 })
  expect(read(await send('eve@example.com'))?.state).toBe('kept')
  expect(server.received.map(({ to }) => to)).toEqual([['ada@example.com']])
})

test('A mail whose commit is lost as it fails is counted and logged the next time', async () => {
  await using fixture = await newMailAndServer()
  const { clock, db, read, metrics } = fixture
  const failed = () => /mails_total{result="failed"} (\d+)/.exec(metrics.render())?.[1]
  const logged = () => fixture.log.filter((line) => line.includes('mail not delivered')).length
  const reference = 'REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED'
  db.client.run('CREATE TABLE parents (id INTEGER PRIMARY KEY)')
  db.client.run(`CREATE TABLE orphans (parent INTEGER ${reference})`)
  db.client.run(`CREATE TRIGGER orphaned AFTER UPDATE ON mails WHEN new.state = 'failed'
      BEGIN INSERT INTO orphans VALUES (1); END`)
  const id = await fixture.send('ada@example.com', { expiresAt: clock.now() })
  expect([read(id)?.state, failed(), logged()]).toEqual(['ready', '0', 0])
  expect(metrics.render()).toContain('gatehouse_mails_open{state="ready"} 1\n')
  db.client.run('DROP TRIGGER orphaned')
  await clock.advance(SECOND)
  expect([read(id)?.state, failed(), logged()]).toEqual(['failed', '1', 1])
})

const { plans, planWith } = await plansOf(createStore)

const WITHIN = 'created_at>? AND created_at<?'

test('Frequent statements read no mails but those they need, and sort nothing', () => {
  const scans = plans.filter(({ plan }) => plan.some((step) => /^SCAN mails(?! USING)/.test(step)))
  // At start and, without a server for mail, once a minute: those that are kept.
  const rare = scans.filter(({ statement }) => statement.includes("= 'kept'"))
  expect(scans.filter((plan) => !rare.includes(plan))).toEqual([])
  expect(rare.length).toBeLessThanOrEqual(2)
  expect(plans.filter(({ plan }) => plan.join().includes('TEMP B-TREE'))).toEqual([])
})

test.each([
  [["= 'ready'", 'order by "mails"."due_at"'], 'mails_ready (tenant_id=?)'],
  [['> ', "= 'ready'", 'order by "mails"."tenant_id"'], 'mails_ready ((tenant_id,due_at)>(?,?))'],
  [['"due_at" <= '], 'mails_waiting (due_at<?)'],
  [['json_each'], 'mails_leased'],
  [['"recipient_hash" = '], `mails_by_recipient (recipient_hash=? AND ${WITHIN})`],
  [['delete', 'about = '], 'mails_about (tenant_id=? AND about=?)'],
  [['update', 'about = '], 'mails_about (tenant_id=? AND about=?)'],
  [['created_at < '], 'mails_by_time (created_at<?)'],
] as const)('The statement with %j uses %s', (parts, index) => {
  expect(planWith(...parts)).toContain(index)
})

test('A mail server that defers five mails in a row is an alert of the installation, until it accepts one', async () => {
  await using fixture = await newMailAndServer()
  const { alerts, clock, send, server } = fixture
  const open = () => alerts.page(null, 'open', { limit: 9 })
  server.refuses('rcpt', 450, 'try later')
  for (let n = 0; n < 4; n++) await send(`ada${n}@example.com`)
  expect(open()).toEqual([])
  server.refuses('rcpt', 550, 'no such user')
  await send('nobody@example.com')
  server.refuses('rcpt', 450, 'try later')
  for (let n = 0; n < 4; n++) await send(`bob${n}@example.com`)
  expect(open()).toEqual([])
  await send('eve@example.com')
  const text = expect.stringContaining('450 try later')
  expect(open()).toMatchObject([
    { kind: 'mail.failing', severity: 'critical', path: '/mail', text },
  ])
  server.recovers()
  await clock.advance(MINUTE)
  expect(open()).toEqual([])
})
