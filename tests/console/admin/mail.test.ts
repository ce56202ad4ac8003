import { describe, expect, test } from 'bun:test'
import { MAX_SCANNED } from '../../../src/platform/mail/outbox.ts'
import { audited, bootConsole, useConsole, WITH_MAIL } from '../fixture.ts'
import { letter } from '../one-of-each.ts'

const PAGE = '/console/admin/mail'

const app = await useConsole()
const admin = await app.newAdmin()

const letterTo = (recipient: string, fields: object = {}) => ({
  ...letter(null),
  recipient,
  ...fields,
})

const post = (recipient: string, fields: object = {}, { db, mail, clock } = app) =>
  db.commit(() => mail.post(letterTo(recipient, fields), clock.now()))

const withhold = (recipient: string, reason: string, { db, mail, clock } = app) =>
  db.commit(() => mail.withhold(letterTo(recipient), reason, clock.now()))

const recipientsIn = (html: string) => html.match(/(?<=>)[\w.-]+@[\w.]+(?=<\/bdi><\/a>)/g) ?? []

describe('The outbox', () => {
  test('finds emails by state, tenant, and start of the address', async () => {
    await using own = await bootConsole()
    const { open } = await own.newAdmin()
    const empty = await open(PAGE)
    for (const words of ['No emails yet', 'No mail server is configured. Emails are held here'])
      expect(empty.text).toContain(words)
    const { id: tenantId } = await own.tenant('Sender Ltd')
    await post('user@example.com', { tenantId }, own)
    await post('used@example.com', { kind: 'invitation' }, own)
    await withhold('withheld@example.com', 'too many', own)
    const { text } = await open(PAGE)
    expect(text).toMatch(/user@example.com Kind verification Tenant Sender Ltd Held/)
    expect(text).toMatch(/used@example.com Kind invitation Tenant Installation Held/)
    const [user, used, withheld] = ['user', 'used', 'withheld'].map((name) => `${name}@example.com`)
    for (const [query, found] of [
      [`tenant=${tenantId}`, [user]],
      ['state=failed', [withheld]],
      ['state=kept', [used, user]],
      ['state=sent', []],
      ['q=USE', [used, user]],
      ['q=used', [used]],
      [`q=us&tenant=${tenantId}`, [user]],
      ['q=use&state=sent', []],
      ['q=example.com', []],
    ])
      expect([query, recipientsIn((await open(`${PAGE}?${query}`)).html)]).toEqual([query, found])
    expect((await open(`${PAGE}?state=failed`)).text).toContain('withheld: too many')
    expect((await open(`${PAGE}?state=sent`)).text).toContain('No matching emails')
    expect((await open(`${PAGE}?tenant=none`)).status).toBe(404)
    expect((await open(`${PAGE}?cursor=made-up`)).status).toBe(400)
  })

  test('shows each email once, page by page', async () => {
    await using own = await bootConsole()
    const { open } = await own.newAdmin()
    await own.db.commit(() => {
      for (let n = 0; n < 120; n++) own.mail.post(letterTo(`many-${n}@example.com`), n)
    })
    const seen: string[] = []
    for (let path = `${PAGE}?state=kept`; path !== ''; ) {
      const { html, next } = await open(path)
      seen.push(...recipientsIn(html))
      path = next
    }
    expect([seen.length, new Set(seen).size]).toEqual([120, 120])
  })

  test('searches a large outbox in parts, and says how to search older emails', async () => {
    await using own = await bootConsole()
    const { open } = await own.newAdmin()
    await withhold('rare@example.com', 'first of all', own)
    own.db.client.run(
      `INSERT INTO mails (id, kind, recipient, recipient_hash, state, tries, due_at, expires_at, created_at)
       SELECT 'usual-' || value, 'verification', 'usual@example.com', '', 'sent', 1, 0, 0, 0
       FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT ?)
             SELECT value FROM n)`,
      [MAX_SCANNED],
    )
    const { text, html } = await open(`${PAGE}?state=failed`)
    expect(text).toContain('No matches among the newest emails')
    const [, href = ''] = /href="([^"]*cursor=[^"]*)"/.exec(html) ?? []
    expect((await open(href.replaceAll('&amp;', '&'))).text).toContain('rare@example.com')
  })
})

describe('The page of an email', () => {
  test('shows its text, without markup, where no server sends it', async () => {
    const { id: tenantId } = await app.tenant('Linked')
    const { text, html } = await admin.open(`${PAGE}/${await post('a@example.com', { tenantId })}`)
    expect(text).toContain('The code is 482913.')
    expect(html).not.toContain('<b>482913</b>')
    expect(html).toContain(`href="/console/admin/tenants/${tenantId}"`)
  })

  test('shows no text where a server sends it, or after it was withheld', async () => {
    await using mailing = await bootConsole({ env: WITH_MAIL })
    const { open } = await mailing.newAdmin()
    expect((await open(PAGE)).text).toContain('No emails queued')
    const { text } = await open(`${PAGE}/${await post('private@example.com', {}, mailing)}`)
    expect(text).toContain('Only the recipient can read it.')
    expect(text).not.toContain('482913')
    const withheld = await admin.open(`${PAGE}/${await withhold('b@example.com', 'unknown')}`)
    for (const words of ['The content was erased', 'withheld: unknown'])
      expect(withheld.text).toContain(words)
  })
})

describe('An email', () => {
  const stateOf = (id: string) => app.mail.outbox.read('all', id)?.state as string
  const inState = async (state: string) => {
    const id = await post(`${state}@example.com`)
    app.db.client.run('UPDATE mails SET state = ? WHERE id = ?', [state, id])
    return { id, path: `${PAGE}/${id}` }
  }

  test('that waits for a retry is sent now', async () => {
    const { id, path } = await inState('waiting')
    expect((await admin.open(path)).text).toContain('Send now')
    const sent = await admin.send(`${path}/send`)
    expect((await admin.follow(sent)).text).toContain('Email queued to be sent now.')
    expect([stateOf(id), admin.audited('mail.hastened')]).toEqual(['ready', [`mail:${id}`]])
  })

  test.each(['kept', 'ready', 'leased', 'sent', 'failed'])('that is %s is not', async (state) => {
    const { id, path } = await inState(state)
    expect((await admin.open(path)).text).not.toContain('Send now')
    expect([(await admin.send(`${path}/send`)).status, stateOf(id)]).toEqual([409, state])
  })

  test('is deleted, unless it is being sent; the audit log has no address', async () => {
    const { id: tenantId } = await app.tenant('Owner of it')
    const id = await post('deleted@example.com', { tenantId })
    const deleted = await admin.send(`${PAGE}/${id}/delete`)
    expect((await admin.follow(deleted)).text).toContain('Email deleted.')
    expect((await admin.open(`${PAGE}/${id}`)).status).toBe(404)
    expect(admin.audited('mail.deleted')).toEqual([`mail:${id}`])
    expect(JSON.stringify(audited(app, 'mail.deleted'))).not.toContain('deleted@example.com')

    const { path } = await inState('leased')
    expect((await admin.open(path)).text).not.toContain('Delete email')
    expect((await admin.send(`${path}/delete`)).status).toBe(409)
  })
})
