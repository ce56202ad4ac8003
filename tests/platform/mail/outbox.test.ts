import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CODE,
  DAY,
  HOUR,
  MINUTE,
  newMail,
  newMailAndServer,
  opened,
  openMail,
  SECOND,
} from './support.ts'

const ADA = 'ada@example.com'
const REASON = 'nobody here has this address'

const shared = await opened(newMail())
const { clock, db, letterTo, mail, read, retention, send } = shared
const { outbox } = mail
let tenants = 0
const newTenant = () => shared.tenant(`tenant-${tenants++}`)

type Fields = Parameters<typeof letterTo>[1]
const withhold = (fields?: Fields, { db, mail, clock, letterTo } = shared, to = ADA) =>
  db.commit(() => mail.withhold(letterTo(to, fields), REASON, clock.now()))

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
  const long = await send(ADA, { expiresAt: clock.now() + 60 * DAY })
  await clock.advance(MINUTE)
  await retention.sweep()
  expect(read(id)).toMatchObject({ state: 'failed', body: null })
  clock.jump(40 * DAY)
  await retention.sweep()
  expect(read(long)?.body?.text).toContain(CODE)
  clock.jump(20 * DAY)
  await retention.sweep()
  expect(read(long)).toBeUndefined()
})

test('The outbox lists the mails of a tenant, of the installation or of all, newest first, by page', async () => {
  await using own = await newMail()
  const { outbox } = own.mail
  const [acme, globex] = ['acme', 'globex'].map(own.tenant) as [string, string]
  const send = (tenantId: string | null) => own.send(ADA, { tenantId })
  const [a1, ofAll, a2, g1] = [
    await send(acme),
    await send(null),
    await send(acme),
    await send(globex),
  ]
  const list = (...args: Parameters<typeof outbox.list>) =>
    outbox.list(...args).data.map(({ id }) => id)
  const cursor = outbox.list({ tenantId: acme }, { limit: 1 }).next_cursor ?? ''
  expect(list('all', { limit: 10 })).toEqual([g1, a2, ofAll, a1])
  expect(list({ tenantId: null }, { limit: 10 })).toEqual([ofAll])
  expect(list({ tenantId: acme }, { limit: 10, cursor })).toEqual([a1])
  expect(list('all', { limit: 2, cursor })).toEqual([ofAll, a1])
  for (const id of [ofAll, g1]) expect(outbox.read({ tenantId: acme }, id)).toBeUndefined()
  expect(outbox.read({ tenantId: null }, g1)).toBeUndefined()
  expect(outbox.read({ tenantId: null }, ofAll)?.id).toBe(ofAll)
  own.db.client.run('DELETE FROM tenants WHERE id = ?', [globex])
  expect([g1, 'nothing'].map(own.read)).toEqual([undefined, undefined])
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

test('Erasing the mails about a person leaves those of others, and anonymous rows of what still counts', async () => {
  await using own = await newMailAndServer()
  const { clock, server } = own
  const [tenantId, globex] = [own.tenant('acme'), own.tenant('globex')]
  const expiresAt = clock.now() + 60 * DAY
  const post = (fields?: Fields) =>
    own.send(ADA, { tenantId, about: 'ada', subject: 'To Ada', expiresAt, ...fields })
  const others = [
    await post({ about: 'bob' }),
    await post({ tenantId: globex }),
    await post({ about: null }),
  ]
  const before = others.map(own.read)
  const old = [await post(), await post()]
  clock.jump(1)
  const sent = await post()
  server.refuses('rcpt', 550, 'Ada is unknown')
  const failed = await post()
  server.refuses('rcpt', 450, 'Ada is busy')
  const waiting = await post()
  clock.jump(HOUR - 1)
  const endedAt = [sent, failed].map((id) => own.read(id)?.endedAt)
  const erase = () => own.db.commit(() => own.mail.eraseAbout(tenantId, 'ada', 3))
  expect([await erase(), await erase(), await erase()]).toEqual([3, 2, 0])
  const blank = { about: null, recipient: null, subject: null, body: null, lastError: null }
  expect(old.map(own.read)).toEqual([undefined, undefined])
  expect(own.read(sent)).toMatchObject({ ...blank, state: 'sent', endedAt: endedAt[0] })
  expect(own.read(failed)).toMatchObject({ ...blank, state: 'failed', endedAt: endedAt[1] })
  expect(own.read(waiting)).toMatchObject({ ...blank, state: 'failed', endedAt: clock.now() })
  const rows = 'SELECT * FROM mails WHERE id IN (?, ?, ?)'
  expect(JSON.stringify(own.db.client.query(rows).all(sent, failed, waiting))).not.toMatch(
    /\bada\b/i,
  )
  expect(others.map(own.read)).toEqual(before)
  clock.jump(30 * DAY - HOUR + 1)
  await own.retention.sweep()
  expect(own.read(waiting)?.id).toBe(waiting)
  clock.jump(HOUR)
  await own.retention.sweep()
  expect([sent, failed, waiting].map(own.read)).toEqual([undefined, undefined, undefined])
})

test('A withheld mail has ended in the outbox without a body, until its person is erased', async () => {
  const tenantId = newTenant()
  const about = 'ada'
  const theirs = await withhold({ tenantId, about, kind: 'recovery' })
  const shown = {
    ...{ id: theirs, tenantId, about, kind: 'recovery', recipient: ADA, state: 'failed', tries: 0 },
    ...{ lastError: `withheld: ${REASON}`, createdAt: clock.now(), endedAt: clock.now() },
  }
  expect(outbox.list({ tenantId }, { limit: 10 }).data).toMatchObject([shown])
  expect(outbox.read({ tenantId }, theirs)).toMatchObject({ ...shown, body: null })
  const row = db.client.query('SELECT * FROM mails WHERE id = ?').get(theirs)
  expect(row).toMatchObject({ body: null, lease_owner: null, attempt_id: null })
  expect(JSON.stringify(row)).not.toMatch(new RegExp(`${CODE}|s1\\.`))
  await clock.advance(HOUR)
  expect(await db.commit(() => mail.eraseAbout(tenantId, about, 10))).toBe(1)
  expect(read(theirs)).toBeUndefined()
})

test('A withheld mail is neither sent, nor counted, nor logged, and is gone with its commit', async () => {
  await using own = await newMailAndServer()
  await own.send('grace@example.com')
  const [before, lines] = [own.metrics.render(), own.log.length]
  const id = await withhold({}, own)
  await own.clock.advance(2 * HOUR)
  expect(own.server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
  expect(own.read(id)).toMatchObject({ state: 'failed', tries: 0 })
  expect(before).toContain('mails_total{result="sent"} 1')
  expect([own.metrics.render(), ...own.log.slice(lines)]).toEqual([before])
  const address = 'gone@example.com'
  const failing = own.db.commit(() => {
    own.mail.withhold(own.letterTo(address), REASON, own.clock.now())
    throw new Error('the rest went wrong')
  })
  await expect(failing).rejects.toThrow('the rest went wrong')
  expect(own.mail.allowance(null, address, own.clock.now())).toEqual({ allowed: true })
})

test('A withheld mail takes the work of a posted one: its body is sealed as often', async () => {
  let reads = 0
  const watched = letterTo(ADA)
  Object.defineProperty(watched, 'html', { get: () => `read ${reads++} times`, enumerable: true })
  await db.commit(() => mail.withhold(watched, REASON, clock.now()))
  const once = reads
  await db.commit(() => mail.post(watched, clock.now()))
  expect(once).toBeGreaterThan(0)
  expect(reads).toBe(2 * once)
})

const ALLOWED = { allowed: true } as const
const refused = (retryAfterMs: number) => ({ allowed: false, retryAfterMs }) as const

let count = 0
/** An address, and what it may get now. */
function newAddress(tenantId: string | null = null) {
  const address = `ada-${count++}@example.com`
  const ask = () => mail.allowance(tenantId, address, clock.now())
  const send = (fields = {}) => shared.send(address, { tenantId, ...fields })
  const withheld = (fields = {}) => withhold({ tenantId, ...fields }, shared, address)
  return { address, ask, send, withhold: withheld }
}

describe.each(['send', 'withhold'] as const)('An address (%s) gets', (how) => {
  test('one mail in 30 seconds, from each tenant', async () => {
    const [acme, globex] = [newTenant(), newTenant()]
    const { address, ask, ...ada } = newAddress(acme)
    expect(ask()).toEqual(ALLOWED)
    await ada[how]()
    expect(ask()).toEqual(refused(30 * SECOND))
    const allowed = (tenantId: string | null, to = address) =>
      mail.allowance(tenantId, to, clock.now()).allowed
    expect([allowed(acme), allowed(globex), allowed(null)]).toEqual([false, true, true])
    expect(allowed(acme, 'bob@example.com')).toBe(true)
    await clock.advance(30 * SECOND - 1)
    expect(ask()).toEqual(refused(1))
    await clock.advance(1)
    expect(ask()).toEqual(ALLOWED)
  })

  test('five mails an hour, of any kind and about any person, erased or not', async () => {
    const tenantId = newTenant()
    const { ask, ...ada } = newAddress(tenantId)
    for (const [n, kind] of ['verification', 'recovery', 'sign-in', 'recovery', 'x'].entries()) {
      expect(ask()).toEqual(ALLOWED)
      const about = n === 0 ? null : `person ${n}`
      await ada[n === 2 ? 'send' : how]({ kind, about })
      if (about !== null) await db.commit(() => mail.eraseAbout(tenantId, about, 10))
      expect(ask().allowed).toBe(false)
      await clock.advance(MINUTE)
    }
    expect(ask()).toEqual(refused(HOUR - 5 * MINUTE))
    await clock.advance(HOUR - 5 * MINUTE)
    expect(ask()).toEqual(ALLOWED)
    await ada[how]()
    await clock.advance(30 * SECOND)
    expect(ask()).toEqual(refused(30 * SECOND))
  })
})

test('An address is stored as a hash of its own for each tenant and installation', async () => {
  await using other = await newMail()
  const { address } = newAddress()
  async function hashOf(tenantId: string | null, { db, send } = shared) {
    const row = db.client.query('SELECT recipient_hash FROM mails WHERE id = ?')
    return row.values(await send(address, { tenantId })).flat()[0] as string
  }
  const acme = newTenant()
  const hashes = [await hashOf(acme), await hashOf(null, other)]
  for (const tenantId of [null, shared.tenant('null')]) hashes.push(await hashOf(tenantId))
  for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(new Set(hashes).size).toBe(4)
  expect(await hashOf(acme)).toBe(`${hashes[0]}`)
})

test('Of mails posted at once, each counts for the next', async () => {
  const { address } = newAddress()
  const postIfAllowed = () =>
    db.commit(() => {
      const { allowed } = mail.allowance(null, address, clock.now())
      if (allowed) mail.post(letterTo(address), clock.now())
      return allowed
    })
  const answers = await Promise.all([postIfAllowed(), postIfAllowed(), postIfAllowed()])
  expect(answers).toEqual([true, false, false])
})

test('A subject is one line in one direction, of at most 200 characters', async () => {
  const subject = ' Sign in at Acme\r\nBcc: eve@example.com\u2028and \u202egro.live\u2069 \ud83d'
  const ids = [await send(ADA, { subject }), await withhold({ subject })]
  const line = 'Sign in at Acme Bcc: eve@example.com and  gro.live  \ufffd'
  expect(ids.map((id) => read(id)?.subject)).toEqual([line, line])
  const long = await withhold({ subject: '𝒜'.repeat(201) })
  expect(read(long)?.subject).toBe('𝒜'.repeat(200))
})
