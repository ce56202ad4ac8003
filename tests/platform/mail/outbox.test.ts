import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CODE, DAY, HOUR, MINUTE, newMail, newMailAndServer, opened, openMail } from './support.ts'

const ADA = 'ada@example.com'
const REASON = 'nobody here has this address'

const shared = await opened(newMail())
const { clock, db, letterTo, mail, read, retention, send } = shared
const { outbox } = mail
let tenants = 0
const newTenant = () => shared.tenant(`tenant-${tenants++}`)

type Fields = Parameters<typeof letterTo>[1]
const withhold = (fields?: Fields, { db, mail, clock, letterTo } = shared) =>
  db.commit(() => mail.withhold(letterTo(ADA, fields), REASON, clock.now()))

test('Without a mail server, a mail is kept and can be read, until it has expired', async () => {
  const tenantId = newTenant()
  const expiresAt = clock.now() + MINUTE
  const id = await send(ADA, { tenantId, about: 'ada', expiresAt })
  expect(mail.hasServer).toBe(false)
  expect(outbox.read({ tenantId }, id)).toMatchObject({
    ...{ state: 'kept', tries: 0, kind: 'verification', recipient: ADA },
    ...{ subject: 'Confirm your address', about: 'ada' },
    body: { text: `Your code is ${CODE}.`, html: `<p>Your code is <b>${CODE}</b>.</p>` },
  })
  const long = await send(ADA, { expiresAt: expiresAt + 1 })
  await clock.advance(MINUTE)
  await retention.sweep()
  expect(read(id)).toMatchObject({ state: 'failed', body: null })
  expect(read(long)?.body?.text).toContain(CODE)
})

test('The outbox lists the mails of a tenant, of the installation or of all, newest first, by page', async () => {
  await using own = await newMail()
  const { outbox } = own.mail
  const [acme, globex] = ['acme', 'globex'].map(own.tenant) as [string, string]
  const ids: string[] = []
  for (const tenantId of [acme, null, acme, globex]) ids.push(await own.send(ADA, { tenantId }))
  const [a1, installation, a2, g1] = ids as [string, string, string, string]
  const list = (...args: Parameters<typeof outbox.list>) => outbox.list(...args).map(({ id }) => id)
  const [first] = outbox.list({ tenantId: acme }, { limit: 1 })
  expect(list('all', { limit: 10 })).toEqual([g1, a2, installation, a1])
  expect(list({ tenantId: null }, { limit: 10 })).toEqual([installation])
  expect(first?.id).toBe(a2)
  expect(list({ tenantId: acme }, { limit: 10, before: first?.seq })).toEqual([a1])
  expect(list('all', { limit: 2, before: first?.seq })).toEqual([installation, a1])
  for (const id of [installation, g1]) expect(outbox.read({ tenantId: acme }, id)).toBeUndefined()
  expect(outbox.read({ tenantId: null }, g1)).toBeUndefined()
  expect(outbox.read({ tenantId: null }, installation)?.id).toBe(installation)
  expect(own.read('nothing')).toBeUndefined()
  own.db.client.run('DELETE FROM tenants WHERE id = ?', [globex])
  expect(own.read(g1)).toBeUndefined()
})

test('The outbox shows no body that was moved from another mail', async () => {
  const [from, to] = [await send(ADA), await send('eve@example.com')]
  const body = '(SELECT body FROM mails WHERE id = ?)'
  db.client.run(`UPDATE mails SET body = ${body} WHERE id = ?`, [from, to])
  expect(read(to)).toMatchObject({ recipient: 'eve@example.com', body: null })
  expect(read(from)?.body?.text).toContain(CODE)
})

test('The code is in no file of the database', async () => {
  await using own = await newMailAndServer()
  own.server.refuses('data', 451, `remember ${CODE}`)
  await using quiet = await openMail({ dataDir: own.dataDir, pid: 2, othersRun: true })
  await own.send(ADA)
  await quiet.send('grace@example.com')
  const files = readdirSync(own.dataDir, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
  expect(files.filter((text) => text.includes('grace@example.com'))).not.toEqual([])
  expect(files.filter((text) => text.includes(CODE))).toEqual([])
})

test('Retention deletes ended mails in slices, after 30 days', async () => {
  await using own = await newMailAndServer()
  const [rule] = own.mail.retention
  const start = own.clock.now()
  const old = [await own.send(), await own.send(), await own.send()]
  own.clock.jump(1)
  const young = await own.send(ADA, { expiresAt: start + 2 * HOUR })
  const deleted = (now: number) => own.db.commit(() => rule?.deleteSlice(now, 2))
  expect(await deleted(start + 30 * DAY)).toBe(0)
  for (const count of [2, 1, 0]) expect(await deleted(start + 30 * DAY + 1)).toBe(count)
  expect(old.map(own.read)).toEqual([undefined, undefined, undefined])
  expect(own.read(young)?.id).toBe(young)
})

test('Retention keeps a mail that may still be sent', async () => {
  const id = await send(ADA, { expiresAt: clock.now() + 60 * DAY })
  clock.jump(40 * DAY)
  await retention.sweep()
  expect(read(id)?.body?.text).toContain(CODE)
  clock.jump(20 * DAY)
  await retention.sweep()
  expect(read(id)).toBeUndefined()
})

test('Erasing the mails about a person deletes those of one tenant in slices, and no others', async () => {
  const [acme, globex] = [newTenant(), newTenant()]
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.push(await send(ADA, { tenantId: acme, about: 'ada' }))
  const others = [
    await send('bob@example.com', { tenantId: acme, about: 'bob' }),
    await send(ADA, { tenantId: globex, about: 'ada' }),
    await send(ADA, { tenantId: acme }),
  ]
  const before = others.map(read)
  clock.jump(HOUR)
  const erase = () => db.commit(() => mail.eraseAbout(acme, 'ada', 2))
  expect([await erase(), await erase(), await erase()]).toEqual([2, 1, 0])
  expect(ids.map(read)).toEqual([undefined, undefined, undefined])
  expect(others.map(read)).toEqual(before)
})

test('Erasing the mails about a person leaves anonymous rows of those that still count against their address', async () => {
  await using own = await newMailAndServer()
  const { clock, server } = own
  const tenantId = own.tenant('acme')
  const expiresAt = clock.now() + 60 * DAY
  const post = () => own.send(ADA, { tenantId, about: 'ada', subject: 'To Ada', expiresAt })
  const old = await post()
  clock.jump(1)
  const sent = await post()
  server.refuses('rcpt', 550, 'Ada is unknown')
  const failed = await post()
  server.refuses('rcpt', 450, 'Ada is busy')
  const waiting = await post()
  clock.jump(HOUR - 1)
  const endedAt = [sent, failed].map((id) => own.read(id)?.endedAt)
  const erase = () => own.db.commit(() => own.mail.eraseAbout(tenantId, 'ada', 3))
  expect([await erase(), await erase(), await erase()]).toEqual([3, 1, 0])
  const blank = { about: null, recipient: null, subject: null, body: null, lastError: null }
  expect(own.read(old)).toBeUndefined()
  expect(own.read(sent)).toMatchObject({ ...blank, state: 'sent', endedAt: endedAt[0] })
  expect(own.read(failed)).toMatchObject({ ...blank, state: 'failed', endedAt: endedAt[1] })
  expect(own.read(waiting)).toMatchObject({ ...blank, state: 'failed', endedAt: clock.now() })
  const rows = JSON.stringify(own.db.client.query('SELECT * FROM mails').all())
  expect(rows).not.toMatch(/\bada\b/i)
  clock.jump(30 * DAY - HOUR + 1)
  await own.retention.sweep()
  expect(own.read(waiting)?.id).toBe(waiting)
  clock.jump(HOUR)
  await own.retention.sweep()
  expect([sent, failed, waiting].map(own.read)).toEqual([undefined, undefined, undefined])
})

test('A withheld mail has ended in the outbox with its reason, and has no body', async () => {
  const tenantId = newTenant()
  const id = await withhold({ tenantId, kind: 'recovery' })
  const shown = {
    ...{ id, tenantId, about: null, kind: 'recovery', recipient: ADA },
    ...{ subject: 'Confirm your address', state: 'failed', tries: 0 },
    ...{ lastError: `withheld: ${REASON}`, createdAt: clock.now(), endedAt: clock.now() },
  }
  expect(outbox.list({ tenantId }, { limit: 10 })).toMatchObject([shown])
  expect(outbox.read({ tenantId }, id)).toMatchObject({ ...shown, body: null })
  const row = db.client.query('SELECT * FROM mails WHERE id = ?').get(id)
  expect(row).toMatchObject({ body: null, lease_owner: null, attempt_id: null })
  expect(JSON.stringify(row)).not.toMatch(new RegExp(`${CODE}|s1\\.`))
})

test('A withheld mail is gone with its commit', async () => {
  const address = 'gone@example.com'
  const failing = db.commit(() => {
    mail.withhold(letterTo(address), REASON, clock.now())
    throw new Error('the rest went wrong')
  })
  await expect(failing).rejects.toThrow('the rest went wrong')
  expect(mail.allowance(null, address, clock.now())).toEqual({ allowed: true })
})

test('A withheld mail is neither sent, nor counted, nor logged', async () => {
  await using own = await newMailAndServer()
  await own.send('grace@example.com')
  const [before, lines] = [own.metrics.render(), own.log.length]
  const id = await withhold({}, own)
  await own.clock.advance(2 * HOUR)
  expect(own.server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
  expect(own.server.connections.count).toBe(1)
  expect(own.read(id)).toMatchObject({ state: 'failed', tries: 0 })
  expect(before).toContain('mails_total{result="sent"} 1')
  expect(own.metrics.render()).toBe(before)
  expect(own.log.slice(lines)).toEqual([])
})

test('A withheld mail takes the work of a posted one: its body is sealed as often', async () => {
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

test('A withheld mail is deleted with its person an hour later, or by retention', async () => {
  const tenantId = newTenant()
  const theirs = await withhold({ tenantId, about: 'ada' })
  const other = await withhold({ tenantId, expiresAt: clock.now() + 60 * DAY })
  await clock.advance(HOUR)
  expect(await db.commit(() => mail.eraseAbout(tenantId, 'ada', 10))).toBe(1)
  expect(read(theirs)).toBeUndefined()
  clock.jump(30 * DAY - HOUR)
  await retention.sweep()
  expect(read(other)?.recipient).toBe(ADA)
  clock.jump(1)
  await retention.sweep()
  expect(read(other)).toBeUndefined()
})

test('A subject is one line in one direction, of at most 200 characters', async () => {
  const subject = ' Sign in at Acme\r\nBcc: eve@example.com\u2028and \u202egro.live\u2069 \ud83d'
  const ids = [await send(ADA, { subject }), await withhold({ subject })]
  const line = 'Sign in at Acme Bcc: eve@example.com and  gro.live  \ufffd'
  expect(ids.map((id) => read(id)?.subject)).toEqual([line, line])
  const long = await withhold({ subject: '𝒜'.repeat(201) })
  expect(read(long)?.subject).toBe('𝒜'.repeat(200))
})
