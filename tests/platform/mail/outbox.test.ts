import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CODE, DAY, HOUR, MINUTE, newMail, newMailAndServer, openMail, useMail } from './support.ts'

const shared = await useMail()
const { db, mail, read, send } = shared
let tenants = 0
const newTenant = () => shared.tenant(`tenant-${tenants++}`)

describe('without a mail server', () => {
  test('a mail is kept and can be read', async () => {
    const tenantId = newTenant()
    const id = await send('ada@example.com', { tenantId, about: 'ada' })
    expect(mail.hasServer).toBe(false)
    expect(mail.outbox.read({ tenantId }, id)).toMatchObject({
      ...{ state: 'kept', tries: 0, kind: 'verification', recipient: 'ada@example.com' },
      ...{ subject: 'Confirm your address', about: 'ada' },
      body: { text: `Your code is ${CODE}.`, html: `<p>Your code is <b>${CODE}</b>.</p>` },
    })
  })

  test('a mail loses its body once it has expired, and not before', async () => {
    const expiresAt = shared.clock.now() + MINUTE
    const short = await send('ada@example.com', { expiresAt })
    const long = await send('ada@example.com', { expiresAt: expiresAt + 1 })
    await shared.clock.advance(MINUTE)
    await shared.retention.sweep()
    expect(read(short)).toMatchObject({ state: 'failed', body: null })
    expect(read(long)?.body?.text).toContain(CODE)
  })
})

describe('the outbox', () => {
  test('lists the mails of a tenant, of the installation or of all, newest first, by page', async () => {
    await using own = await newMail()
    const { outbox } = own.mail
    const [acme, globex] = ['acme', 'globex'].map(own.tenant) as [string, string]
    const ids: string[] = []
    for (const tenantId of [acme, null, acme, globex])
      ids.push(await own.send('ada@example.com', { tenantId }))
    const [a1, installation, a2, g1] = ids as [string, string, string, string]
    const list = (...args: Parameters<typeof outbox.list>) =>
      outbox.list(...args).map(({ id }) => id)
    const [first] = outbox.list({ tenantId: acme }, { limit: 1 })
    expect(list('all', { limit: 10 })).toEqual([g1, a2, installation, a1])
    expect(list({ tenantId: null }, { limit: 10 })).toEqual([installation])
    expect(first?.id).toBe(a2)
    expect(list({ tenantId: acme }, { limit: 10, before: first?.seq })).toEqual([a1])
    expect(list('all', { limit: 2, before: first?.seq })).toEqual([installation, a1])
  })

  test('shows a tenant no mail of others', async () => {
    const [acme, globex] = [newTenant(), newTenant()]
    const own = await send()
    const theirs = await send('ada@example.com', { tenantId: globex })
    for (const id of [own, theirs]) expect(mail.outbox.read({ tenantId: acme }, id)).toBeUndefined()
    expect(mail.outbox.read({ tenantId: null }, theirs)).toBeUndefined()
    expect(mail.outbox.read({ tenantId: null }, own)?.id).toBe(own)
    expect(read('nothing')).toBeUndefined()
  })

  test('shows no body that was moved from another mail', async () => {
    const [from, to] = [await send('ada@example.com'), await send('eve@example.com')]
    const body = '(SELECT body FROM mails WHERE id = ?)'
    db.client.run(`UPDATE mails SET body = ${body} WHERE id = ?`, [from, to])
    expect(read(to)).toMatchObject({ recipient: 'eve@example.com', body: null })
    expect(read(from)?.body?.text).toContain(CODE)
  })
})

test('the code is in no file of the database', async () => {
  await using own = await newMailAndServer()
  own.server.refuses('data', 451, `remember ${CODE}`)
  await using quiet = await openMail({ dataDir: own.dataDir, pid: 2, othersRun: true })
  await own.send('ada@example.com')
  await quiet.send('grace@example.com')
  const files = readdirSync(own.dataDir, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'))
  expect(files.filter((text) => text.includes('grace@example.com'))).not.toEqual([])
  expect(files.filter((text) => text.includes(CODE))).toEqual([])
})

describe('retention', () => {
  test('deletes ended mails in slices, after 30 days', async () => {
    await using own = await newMailAndServer()
    const { clock } = own
    const [rule] = own.mail.retention
    const start = clock.now()
    const old = [await own.send(), await own.send(), await own.send()]
    clock.jump(1)
    const young = await own.send('ada@example.com', { expiresAt: start + 2 * HOUR })
    const deleted = (now: number) => own.db.commit(() => rule?.deleteSlice(now, 2))
    expect(await deleted(start + 30 * DAY)).toBe(0)
    for (const count of [2, 1, 0]) expect(await deleted(start + 30 * DAY + 1)).toBe(count)
    expect(old.map(own.read)).toEqual([undefined, undefined, undefined])
    expect(own.read(young)?.id).toBe(young)
  })

  test('keeps a mail that may still be sent', async () => {
    await using own = await newMail()
    const id = await own.send('ada@example.com', { expiresAt: own.clock.now() + 60 * DAY })
    own.clock.jump(40 * DAY)
    await own.retention.sweep()
    expect(own.read(id)?.body?.text).toContain(CODE)
    own.clock.jump(20 * DAY)
    await own.retention.sweep()
    expect(own.read(id)).toBeUndefined()
  })
})

describe('erasing the mails about a person', () => {
  test('deletes those of one tenant in slices, and no others', async () => {
    const [acme, globex] = [newTenant(), newTenant()]
    const mine = { tenantId: acme, about: 'ada' }
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.push(await send('ada@example.com', mine))
    const others = [
      await send('bob@example.com', { tenantId: acme, about: 'bob' }),
      await send('ada@example.com', { tenantId: globex, about: 'ada' }),
      await send('ada@example.com', { tenantId: acme }),
    ]
    const before = others.map(read)
    shared.clock.jump(HOUR)
    const erase = () => db.commit(() => mail.eraseAbout(acme, 'ada', 2))
    expect([await erase(), await erase(), await erase()]).toEqual([2, 1, 0])
    expect(ids.map(read)).toEqual([undefined, undefined, undefined])
    expect(others.map(read)).toEqual(before)
  })

  test('leaves anonymous rows of those that still count against their address', async () => {
    await using own = await newMailAndServer()
    const { clock, server } = own
    const tenantId = own.tenant('acme')
    const expiresAt = clock.now() + 60 * DAY
    const post = () =>
      own.send('ada@example.com', { tenantId, about: 'ada', subject: 'To Ada', expiresAt })
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
})

test('the mails of a deleted tenant are deleted', async () => {
  const tenantId = newTenant()
  const id = await send('ada@example.com', { tenantId })
  db.client.run('DELETE FROM tenants WHERE id = ?', [tenantId])
  expect(read(id)).toBeUndefined()
})
