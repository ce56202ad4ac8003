import { describe, expect, test } from 'bun:test'
import { CODE, DAY, type Fixture, HOUR, newMail, newMailAndServer, useMail } from './support.ts'

const ADA = 'ada@example.com'
const REASON = 'nobody here has this address'

type Fields = Parameters<Fixture['letterTo']>[1]
type Opened = Pick<Fixture, 'db' | 'mail' | 'clock' | 'letterTo'>

const withhold = ({ db, mail, clock, letterTo }: Opened, fields?: Fields) =>
  db.commit(() => mail.withhold(letterTo(ADA, fields), REASON, clock.now()))

const fixture = await useMail()
const { clock, db, letterTo, mail, read, send } = fixture

describe('a withheld mail', () => {
  test('has ended in the outbox with its reason, and has no body', async () => {
    const tenantId = fixture.tenant('acme')
    const id = await withhold(fixture, { tenantId, kind: 'recovery' })
    const shown = {
      ...{ id, tenantId, about: null, kind: 'recovery', recipient: ADA },
      ...{ subject: 'Confirm your address', state: 'failed', tries: 0 },
      ...{ lastError: `withheld: ${REASON}`, createdAt: clock.now(), endedAt: clock.now() },
    }
    expect(mail.outbox.list({ tenantId }, { limit: 10 })).toMatchObject([shown])
    expect(mail.outbox.read({ tenantId }, id)).toMatchObject({ ...shown, body: null })
    const row = db.client.query('SELECT * FROM mails WHERE id = ?').get(id)
    expect(row).toMatchObject({ body: null, lease_owner: null, attempt_id: null })
    expect(JSON.stringify(row)).not.toMatch(new RegExp(`${CODE}|s1\\.`))
  })

  test('is gone with its commit', async () => {
    const address = 'gone@example.com'
    const failing = db.commit(() => {
      mail.withhold(letterTo(address), REASON, clock.now())
      throw new Error('the rest went wrong')
    })
    await expect(failing).rejects.toThrow('the rest went wrong')
    expect(mail.allowance(null, address, clock.now())).toEqual({ allowed: true })
  })

  test('is neither sent, nor counted, nor logged', async () => {
    await using own = await newMailAndServer()
    await own.send('grace@example.com')
    const [before, lines] = [own.metrics.render(), own.log.length]
    const id = await withhold(own)
    for (let hours = 0; hours < 3; hours++) await own.clock.advance(HOUR)
    expect(own.server.received.map(({ to }) => to)).toEqual([['grace@example.com']])
    expect(own.server.connections.count).toBe(1)
    expect(own.read(id)).toMatchObject({ state: 'failed', tries: 0 })
    expect(before).toContain('mails_total{result="sent"} 1')
    expect(own.metrics.render()).toBe(before)
    expect(own.log.slice(lines)).toEqual([])
  })

  test('takes the work of a posted one: its body is sealed as often', async () => {
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

  test('is deleted with its person an hour later, or by retention', async () => {
    await using own = await newMail()
    const tenantId = own.tenant('acme')
    const theirs = await withhold(own, { tenantId, about: 'ada' })
    const expiresAt = own.clock.now() + 60 * DAY
    const other = await withhold(own, { tenantId, expiresAt })
    await own.clock.advance(HOUR)
    expect(await own.db.commit(() => own.mail.eraseAbout(tenantId, 'ada', 10))).toBe(1)
    expect(own.read(theirs)).toBeUndefined()
    own.clock.jump(30 * DAY - HOUR)
    await own.retention.sweep()
    expect(own.read(other)?.recipient).toBe(ADA)
    own.clock.jump(1)
    await own.retention.sweep()
    expect(own.read(other)).toBeUndefined()
  })
})

test('a subject is one line in one direction', async () => {
  const subject = ' Sign in at Acme\r\nBcc: eve@example.com\u2028and \u202egro.live\u2069 \ud83d'
  const ids = [await send(ADA, { subject }), await withhold(fixture, { subject })]
  const line = 'Sign in at Acme Bcc: eve@example.com and  gro.live  \ufffd'
  expect(ids.map((id) => read(id)?.subject)).toEqual([line, line])
})
