import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mailPages } from '../../../src/console/pages/admin/mail.ts'
import type { NewMail } from '../../../src/platform/mail/index.ts'
import { MAX_SCANNED } from '../../../src/platform/mail/outbox.ts'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import {
  type AdminFixture,
  alone,
  audited,
  bootAdmin,
  HOSTILE,
  isEscaped,
  textOf,
} from './admin-fixture.ts'

const PATH = '/console/admin/mail'

let fixture: AdminFixture
beforeAll(async () => {
  fixture = await bootAdmin()
})
afterAll(() => fixture.app.stop())

const letterTo = (recipient: string, of: Partial<NewMail> = {}): NewMail => ({
  tenantId: null,
  about: null,
  kind: 'verification',
  recipient,
  subject: 'Your code',
  text: 'The code is 482913.',
  html: '<p>The code is <b>482913</b>.</p>',
  expiresAt: Date.parse('2027-01-01'),
  ...of,
})

const post = (letter: NewMail, { app } = fixture): Promise<string> =>
  app.db.commit(() => app.mail.post(letter, app.clock.now()))

describe('the outbox', () => {
  test('says that nothing was written yet', async () => {
    const fresh = await bootAdmin()
    await using _ = fresh.app
    const text = textOf(await fresh.open(PATH))
    expect(text).toContain('No emails yet')
    expect(text).toContain('No mail server is configured. Emails are held here')
  })

  test('lists mails of tenants and of the installation', async () => {
    const { id } = await fixture.app.tenant('Sender Ltd')
    await post(letterTo('of-tenant@example.com', { tenantId: id }))
    await post(letterTo('of-nobody@example.com', { kind: 'invitation' }))
    const text = textOf(await fixture.open(PATH))
    expect(text).toMatch(/of-tenant@example.com Kind verification Tenant Sender Ltd Held/)
    expect(text).toMatch(/of-nobody@example.com Kind invitation Tenant Installation Held/)

    const own = textOf(await fixture.open(`${PATH}?tenant=${id}`))
    expect(own).toContain('of-tenant@example.com')
    expect(own).not.toContain('of-nobody@example.com')
    expect((await fixture.open(`${PATH}?tenant=nobody`)).status).toBe(404)
  })

  test('is narrowed to what became of mails', async () => {
    const { app } = fixture
    await post(letterTo('kept@example.com'))
    await app.db.commit(() =>
      app.mail.withhold(letterTo('withheld@example.com'), 'too many', app.clock.now()),
    )
    const failed = textOf(await fixture.open(`${PATH}?state=failed`))
    expect(failed).toContain('withheld@example.com')
    expect(failed).toContain('withheld: too many')
    expect(failed).not.toContain('kept@example.com')
    expect(textOf(await fixture.open(`${PATH}?state=kept`))).toContain('kept@example.com')
    expect(textOf(await fixture.open(`${PATH}?state=sent`))).toContain('No matching emails')
  })

  test('goes on page by page, each mail once', async () => {
    const { app, open } = await bootAdmin()
    await using _ = app
    await app.db.commit(() => {
      for (let n = 0; n < 120; n++) app.mail.post(letterTo(`many-${n}.@example.com`), n)
    })
    const seen: string[] = []
    let path: string | undefined = `${PATH}?state=kept`
    for (let n = 0; path !== undefined && n < 5; n++) {
      const { body } = await open(path)
      seen.push(...(body.match(/>many-\d+\.@/g) ?? []))
      path = /rel="next" href="([^"]+)"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
    }
    expect([seen.length, new Set(seen).size]).toEqual([120, 120])
  })

  test('looks for rare ones slice by slice, and says how to look further back', async () => {
    const { app, open } = await bootAdmin()
    await using _ = app
    await app.db.commit(() =>
      app.mail.withhold(letterTo('rare@example.com'), 'first of all', app.clock.now()),
    )
    app.db.client.run(
      `INSERT INTO mails (id, kind, recipient, recipient_hash, state, tries, due_at, expires_at, created_at)
       SELECT 'usual-' || value, 'verification', 'usual@example.com', '', 'sent', 1, 0, 0, 0
       FROM (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT ?)
             SELECT value FROM n)`,
      [MAX_SCANNED],
    )
    const page = await open(`${PATH}?state=failed`)
    expect(textOf(page)).toContain('No matches among the newest emails')
    const [, href = ''] = /href="([^"]*cursor=[^"]*)"/.exec(page.body) ?? []
    expect(textOf(await open(href.replaceAll('&amp;', '&')))).toContain('rare@example.com')
  })

  test('is searched by the beginning of an address, within a state and a tenant', async () => {
    const { id: tenantId } = await fixture.app.tenant('Searched')
    await post(letterTo('looked.for@example.com', { tenantId }))
    await post(letterTo('looked.at@example.com'))
    const shown = async (query: string) =>
      textOf(await fixture.open(`${PATH}?${query}`)).match(/looked\.\w+/g) ?? []
    expect(await shown('q=Looked')).toEqual(['looked.at', 'looked.for'])
    expect(await shown('q=looked.a')).toEqual(['looked.at'])
    expect(await shown(`q=looked&tenant=${tenantId}`)).toEqual(['looked.for'])
    expect(await shown('q=looked&state=sent')).toEqual([])
    expect(await shown('q=example.com')).toEqual([])
  })

  test('refuses a cursor that it has not given out', async () => {
    expect((await fixture.open(`${PATH}?cursor=made-up`)).status).toBe(400)
  })
})

describe('the page of a mail', () => {
  test('shows the letter as text where nobody sends it, and none of its markup', async () => {
    const { id: tenantId } = await fixture.app.tenant('Linked')
    const id = await post(letterTo('reader@example.com', { tenantId }))
    const page = await fixture.open(`${PATH}/${id}`)
    expect(textOf(page)).toContain('The code is 482913.')
    expect(page.body).not.toContain('<b>482913</b>')
    expect(page.body).toContain(`href="/console/admin/tenants/${tenantId}"`)
  })

  test('shows no letter where a server sends it', async () => {
    const { outbox } = fixture.app.mail
    const { platform } = fixture.app
    const sending = alone(fixture, (common) =>
      mailPages({ ...platform, ...common, mail: { outbox, hasServer: true } }),
    )
    const id = await post(letterTo('private@example.com'))
    const page = await sending(`${PATH}/${id}`)
    expect(textOf(page)).toContain('Only the recipient can read it.')
    expect(page.body).not.toContain('482913')
    expect(textOf(await sending(PATH))).toContain('No emails queued')
  })

  test('says that the letter of one that is over is erased', async () => {
    const { app } = fixture
    const id = await app.db.commit(() =>
      app.mail.withhold(letterTo('over@example.com'), 'nobody has it', app.clock.now()),
    )
    const text = textOf(await fixture.open(`${PATH}/${id}`))
    expect(text).toContain('The content was erased')
    expect(text).toContain('withheld: nobody has it')
  })

  test.each(HOSTILE)('holds a letter with a subject %s', async (_, subject) => {
    const { id: tenantId } = await fixture.app.tenant(subject)
    const id = await post(letterTo('hostile@example.com', { subject, text: subject, tenantId }))
    for (const path of [PATH, `${PATH}?tenant=${tenantId}`, `${PATH}/${id}`]) {
      const page = await fixture.open(path)
      expect([page.status, isEscaped(page)]).toEqual([200, true])
    }
  })
})

describe('one mail', () => {
  const stateOf = (id: string) => fixture.app.mail.outbox.read('all', id)?.state
  const inState = (id: string, state: string) =>
    fixture.app.db.client.run('UPDATE mails SET state = ? WHERE id = ?', [state, id])
  const byAdmin = (id: string) => ({
    actor_kind: 'operator',
    actor_id: fixture.admin.id,
    tenant_id: SYSTEM_TENANT_ID,
    object: `mail:${id}`,
  })

  test('that waits for a retry is sent now, and that is noted', async () => {
    const id = await post(letterTo('waits@example.com'))
    inState(id, 'waiting')
    expect((await fixture.open(`${PATH}/${id}`)).body).toContain('Send now')
    const answer = await fixture.send(`${PATH}/${id}/send`)
    expect(textOf(await fixture.follow(answer))).toContain('Email queued to be sent now.')
    expect(stateOf(id)).toBe('ready')
    expect(audited(fixture.app, 'mail.hastened').at(-1)).toMatchObject(byAdmin(id))
  })

  test.each(['kept', 'ready', 'leased', 'sent', 'failed'])(
    'that is %s is not to be hurried',
    async (state) => {
      const id = await post(letterTo('stays@example.com'))
      inState(id, state)
      expect((await fixture.open(`${PATH}/${id}`)).body).not.toContain('Send now')
      expect((await fixture.send(`${PATH}/${id}/send`)).status).toBe(409)
      expect(stateOf(id)).toBe(state as never)
    },
  )

  test('is deleted, and noted without the address', async () => {
    const { id: tenantId } = await fixture.app.tenant('Owner of it')
    const id = await post(letterTo('deleted@example.com', { tenantId }))
    const answer = await fixture.send(`${PATH}/${id}/delete`)
    expect(textOf(await fixture.follow(answer))).toContain('Email deleted.')
    expect((await fixture.open(`${PATH}/${id}`)).status).toBe(404)
    const row = audited(fixture.app, 'mail.deleted').at(-1)
    expect(row).toMatchObject(byAdmin(id))
    expect(row?.detail).not.toContain('deleted@example.com')
  })

  test('is not deleted while it is being sent', async () => {
    const id = await post(letterTo('busy@example.com'))
    inState(id, 'leased')
    expect((await fixture.open(`${PATH}/${id}`)).body).not.toContain('Delete email')
    expect((await fixture.send(`${PATH}/${id}/delete`)).status).toBe(409)
    expect(stateOf(id)).toBe('leased')
  })
})
