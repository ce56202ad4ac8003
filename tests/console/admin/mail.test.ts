import { expect, test } from 'bun:test'
import { MAX_SCANNED } from '../../../src/platform/mail/outbox.ts'
import { audited, bootConsole, useConsole, WITH_MAIL } from '../fixture.ts'
import { letter } from '../one-of-each.ts'

const PAGE = '/installation/mail'

const app = await useConsole()
const admin = await app.newAdmin()

const letterTo = (recipient: string, fields: object = {}) => ({
  ...letter(null),
  recipient,
  ...fields,
})
const post = (recipient: string, fields: object = {}, { db, mail, clock } = app) =>
  db.commit(() => mail.post(letterTo(recipient, fields), clock.now()))
const withhold = (recipient: string, reason: string) =>
  app.db.commit(() => app.mail.withhold(letterTo(recipient), reason, app.clock.now()))
const recipientsIn = (html: string) => html.match(/(?<=>)[\w.-]+@[\w.]+(?=<\/bdi><\/a>)/g) ?? []

test('The outbox finds emails by state, tenant, and start of the address', async () => {
  const empty = await admin.open(PAGE)
  empty.says('No emails yet', 'No mail server is configured. Emails are held here')
  const { id: tenantId } = await app.tenant('Sender Ltd')
  await post('user@example.com', { tenantId })
  await post('used@example.com', { kind: 'invitation' })
  await withhold('withheld@example.com', 'too many')
  const { text } = await admin.open(PAGE)
  expect(text).toMatch(/user@example.com Kind verification Tenant Sender Ltd Held/)
  const [user, used, withheld] = ['user', 'used', 'withheld'].map((name) => `${name}@example.com`)
  for (const [query, found] of [
    [`tenant=${tenantId}`, [user]],
    ['state=failed', [withheld]],
    ['state=kept', [used, user]],
    ['state=sent', []],
    ['q=USE', [used, user]],
    [`q=us&tenant=${tenantId}`, [user]],
    ['q=use&state=sent', []],
    ['q=example.com', []],
  ])
    expect([query, recipientsIn((await admin.open(`${PAGE}?${query}`)).html)]).toEqual([
      query,
      found,
    ])
  await admin.sees(`${PAGE}?state=failed`, 'withheld: too many')
  await admin.sees(`${PAGE}?state=sent`, 'No matching emails')
  expect((await admin.open(`${PAGE}?tenant=none`)).status).toBe(404)
  expect((await admin.open(`${PAGE}?cursor=made-up`)).status).toBe(400)
})

test('A large outbox has pages and is searched in parts', async () => {
  await app.db.commit(() => {
    for (let n = 0; n < 60; n++)
      app.mail.post(letterTo(`many-${n}@example.com`, { kind: 'invitation' }), n)
  })
  const seen: string[] = []
  for (let path = `${PAGE}?state=kept&q=many`; path !== ''; ) {
    const { html, next } = await admin.open(path)
    seen.push(...recipientsIn(html))
    path = next
  }
  expect([seen.length, new Set(seen).size]).toEqual([60, 60])
  app.db.client.run(
    `INSERT INTO mails (id, kind, recipient, recipient_hash, state, tries, due_at, expires_at, created_at)
     SELECT 'usual-' || value, 'verification', 'usual@example.com', '', 'sent', 1, 0, 0, 0
     FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT ?)
           SELECT value FROM n)`,
    [MAX_SCANNED],
  )
  for (const query of ['q=withheld', 'q=withheld&state=failed&tenant=installation']) {
    const page = await admin.sees(`${PAGE}?${query}`, 'Only some of the emails have been searched.')
    const further = page.links.find((path) => path.includes('cursor=')) ?? ''
    await admin.sees(further, 'withheld@example.com')
  }
  // Failed emails are found without a search, and first.
  const { text } = await admin.sees(`${PAGE}?state=failed`, 'withheld@example.com')
  expect(text).toMatch(/Failed ?1 All Held/)
})

test('The page of an email shows its text only where no server sends it', async () => {
  const { id: tenantId } = await app.tenant('Linked')
  const page = await admin.open(`${PAGE}/${await post('a@example.com', { tenantId })}`)
  page.says('The code is 482913.').omits('<b>482913</b>')
  expect(page.links).toContain(`/installation/tenants/${tenantId}`)
  const withheld = await admin.open(`${PAGE}/${await withhold('b@example.com', 'unknown')}`)
  withheld.says('The content was erased', 'withheld: unknown')
  await using mailing = await bootConsole({ env: WITH_MAIL })
  const { open } = await mailing.newAdmin()
  ;(await open(PAGE)).says('No emails queued')
  const sent = await open(`${PAGE}/${await post('private@example.com', {}, mailing)}`)
  sent.says('Only the recipient can read it.').omits('482913')
})

const stateOf = (id: string) => app.mail.outbox.read('all', id)?.state as string
const inState = async (state: string) => {
  const id = await post(`${state}@example.com`)
  app.db.client.run('UPDATE mails SET state = ? WHERE id = ?', [state, id])
  return { id, path: `${PAGE}/${id}` }
}

test('Only an email that waits for a retry is sent now', async () => {
  const { id, path } = await inState('waiting')
  ;(await admin.press(path, 'Send now')).says('Email queued to be sent now.')
  expect([stateOf(id), admin.audited('mail.hastened')]).toEqual(['ready', [`mail:${id}`]])
  for (const state of ['kept', 'ready', 'leased', 'sent', 'failed']) {
    const { id, path } = await inState(state)
    ;(await admin.open(path)).omits('Send now')
    expect([(await admin.send(`${path}/send`)).status, stateOf(id)]).toEqual([409, state])
  }
})

test('An email is deleted unless it is being sent; the audit log has no address', async () => {
  const id = await post('deleted@example.com', { tenantId: (await app.tenant()).id })
  ;(await admin.press(`${PAGE}/${id}`, 'Delete email')).says('Email deleted.')
  expect((await admin.open(`${PAGE}/${id}`)).status).toBe(404)
  expect(admin.audited('mail.deleted')).toEqual([`mail:${id}`])
  expect(JSON.stringify(audited(app, 'mail.deleted'))).not.toContain('deleted@example.com')
  const { path } = await inState('leased')
  ;(await admin.open(path)).omits('Delete email')
  expect((await admin.send(`${path}/delete`)).status).toBe(409)
})

test('Selected emails are sent now or deleted, each by its own rule, with an entry that names nobody', async () => {
  const [waiting, sent, leased] = [
    await inState('waiting'),
    await inState('sent'),
    await inState('leased'),
  ]
  const ids = [waiting, sent, leased].map(({ id }) => ['ids[]', id])
  const hastened = admin.audited('mail.hastened').length
  ;(await admin.send(`${PAGE}/selected/send`, ids)).says('1 email queued to be sent now.')
  expect([waiting, sent, leased].map(({ id }) => stateOf(id))).toEqual(['ready', 'sent', 'leased'])
  ;(await admin.send(`${PAGE}/selected/delete`, ids)).says('2 emails deleted. 1 email not deleted:')
  expect([waiting, sent, leased].map(({ id }) => stateOf(id))).toEqual([
    undefined,
    undefined,
    'leased',
  ] as never)
  expect(admin.audited('mail.hastened').slice(hastened)).toEqual([`mail:${waiting.id}`])
  expect(admin.audited('mail.deleted').slice(-2)).toEqual(
    [waiting, sent].map(({ id }) => `mail:${id}`),
  )
  const { owner } = await app.newTenant()
  for (const verb of ['send', 'delete'])
    expect((await owner.send(`${PAGE}/selected/${verb}`, ids)).status).toBe(403)
})
