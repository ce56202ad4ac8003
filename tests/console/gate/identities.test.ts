import { describe, expect, test } from 'bun:test'
import { DAY, MINUTE, type Tenant, useConsole } from '../fixture.ts'

const PAGE = '/console/identities'

const app = await useConsole()

/** A tenant with a user who has a password. */
async function withAda() {
  const acme = await app.newTenant()
  const member = await acme.as('member')
  const ada = await newUser(acme, 'ada', {
    credentials: { password: { config: { password: 'correct horse battery' } } },
  })
  const path = `${PAGE}/${ada.id}`
  const stored = async () => (await acme.gate.get(`/v1/gate/identities/${ada.id}`)).body
  return { ...acme, member, ada, path, stored, object: `identity:${ada.id}` }
}

async function newUser({ gate }: Pick<Tenant, 'gate'>, name: string, fields: object = {}) {
  const traits = { email: `${name}@example.com` }
  const body = { schema_id: 'user', traits, ...fields }
  const answer = await gate.post('/v1/gate/identities', body)
  expect(answer.status).toBe(201)
  return answer.body as { id: string; updated_at: string }
}

/** A session of a user; answers with its id. */
async function signIn(tenantId: string, identityId: string) {
  const { session } = await app.db.commit(() =>
    app.gate.sessions.open(app.gate.people.existing(tenantId, identityId), {
      assuranceLevel: 'aal1',
      methods: [{ method: 'password', aal: 'aal1' }],
      ipAddress: '203.0.113.7',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    }),
  )
  return session.id
}

const isSignedIn = (tenantId: string, sessionId: string) =>
  app.gate.sessions.alive(tenantId, sessionId) !== undefined

describe('The list of users', () => {
  test('finds them by id, start of the address, and state', async () => {
    const acme = await app.newTenant()
    const { owner } = acme
    const viewer = await acme.as('viewer')
    expect((await owner.open(PAGE)).text).toContain('Create user')
    const empty = await viewer.open(PAGE)
    expect(empty.text).toContain('No users yet')
    expect(empty.text).not.toContain('Create user')
    const ada = (await newUser(acme, 'ada')).id
    const bob = (await newUser(acme, 'bob', { state: 'inactive' })).id
    for (const [query, found] of [
      ['', [bob, ada]],
      ['?q=AD', [ada]],
      [`?q=${ada.toUpperCase()}`, [ada]],
      [`?q=${ada}&state=inactive`, []],
      ['?state=inactive', [bob]],
      ['?q=zoe', []],
    ])
      expect([query, (await viewer.open(PAGE + query)).rows]).toEqual([query, found])
    expect((await viewer.open(PAGE)).text).toContain('1 active, 1 inactive')
    const wrong = await viewer.open(`${PAGE}?cursor=nonsense`)
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('ust be a cursor')])
  })

  test('has 50 on a page and keeps the filter', async () => {
    const acme = await app.newTenant()
    const ids: string[] = []
    for (let n = 0; n < 51; n++) ids.unshift((await newUser(acme, `p${n}`)).id)
    const first = await acme.owner.open(`${PAGE}?state=active`)
    expect([first.rows, first.next]).toEqual([
      ids.slice(0, 50),
      expect.stringContaining('state=active'),
    ])
    const second = await acme.owner.open(first.next)
    expect([second.rows, second.prev]).toEqual([ids.slice(50), `${PAGE}?state=active`])
  })

  test('counts new users of the last day by hour', async () => {
    const acme = await app.newTenant()
    for (const name of ['ada', 'bob']) await newUser(acme, name)
    expect((await acme.owner.open(PAGE)).html).toContain('New users, 24 h, by hour: 2 in total')
    app.clock.jump(DAY + 60 * MINUTE)
    const { id: tenantId } = acme
    expect(app.gate.history.frequency({ tenantId }, 'identity.created')).toEqual({
      hours: Array(24).fill(0),
      isCut: false,
    })
  })
})

describe('A new user', () => {
  test('is created with password, verified address and metadata', async () => {
    const { as, gate } = await app.newTenant()
    const member = await as('member')
    const created = await member.send(PAGE, {
      email: 'ada@example.com',
      password: 'correct horse battery',
      verified: 'true',
      metadata: '{"roles": ["admin"]}',
    })
    const { data } = (await gate.get('/v1/gate/identities')).body
    expect(data).toMatchObject([
      {
        traits: { email: 'ada@example.com' },
        metadata_public: { roles: ['admin'] },
        verifiable_addresses: [{ verified: true }],
        credentials: { password: {} },
      },
    ])
    expect([created.status, created.location]).toEqual([303, `${PAGE}/${data[0].id}?done=created`])
    expect(member.audited('identity.created')).toEqual([`identity:${data[0].id}`])
  })

  test.each([
    ['email', { email: 'no address' }],
    ['email', { email: 'taken@example.com' }],
    ['password', { password: 'x'.repeat(10_000) }],
    ['metadata', { metadata: '{"a": ' }],
    ['metadata', { metadata: '[<script>]' }],
    ['metadata', { metadata: '[]' }],
    ['metadata', { metadata: '{"n": 12345678901234567890}' }],
    ['metadata', { metadata: '{"__proto__": 1}' }],
  ])('is refused with an error beside %s, and keeps the other fields', async (name, fields) => {
    const acme = await app.newTenant()
    await newUser(acme, 'taken')
    const typed = { email: 'a@example.com', ...fields }
    const { status, wrong, html } = await acme.owner.send(PAGE, typed)
    expect([status, wrong]).toEqual([422, [name]])
    expect(html).toContain(`value="${typed.email}"`)
    expect((await acme.gate.get('/v1/gate/identities')).body.data).toHaveLength(1)
  })
})

describe('A user', () => {
  test('has a page with sign-in methods, sessions and history, the latest first', async () => {
    const { id: tenantId, owner, as, ada, path } = await withAda()
    app.clock.jump(1000)
    await signIn(tenantId, ada.id)
    const seen = await (await as('viewer')).open(path)
    for (const words of [
      'Active, 1 session, last on Firefox on Linux',
      'Not verified',
      'Password',
      '203.0.113.7',
    ])
      expect(seen.text).toContain(words)
    expect(seen.html).not.toContain('<form class="inline"')
    expect(seen.text).not.toContain('Danger zone')

    app.clock.jump(1000)
    await owner.send(`${path}/deactivate`)
    const { html } = await owner.open(path)
    const history = html.slice(html.indexOf('id="history"'))
    expect(history).toMatch(/Deactivated.*Signed in with password.*Created/s)
    expect(history).toMatch(/By <bdi[^>]*>operator-\d+@example\.com/)
    expect(history).toContain('203.0.113.7')
  })

  test('is signed out of one session or of all', async () => {
    const { member, ada, path, object, ...acme } = await withAda()
    const tenantId = acme.id
    const bob = await newUser(acme, 'bob')
    const [first, second] = [await signIn(tenantId, ada.id), await signIn(tenantId, ada.id)]
    const ofBob = await signIn(tenantId, bob.id)
    const alive = () => [first, second, ofBob].map((id) => isSignedIn(tenantId, id))
    const { location } = await member.send(`${path}/sessions/${first}/revoke`)
    expect([location, alive()]).toEqual([`${path}?done=session`, [false, true, true]])
    expect((await member.send(`${path}/sessions/${ofBob}/revoke`)).status).toBe(404)
    await member.send(`${path}/sessions/revoke`)
    expect(alive()).toEqual([false, false, true])
    expect(member.audited('session.revoked')).toEqual([`session:${first}`])
    expect(member.audited('sessions.revoked')).toEqual([object])
    const cy = await newUser(acme, 'cy')
    expect((await member.open(`${PAGE}/${cy.id}`)).text).not.toContain('Signed in with')
  })

  test('loses a password or a linked account', async () => {
    const { member, ada, path, id: tenantId, stored, object } = await withAda()
    const link = app.db.client.query(
      'INSERT INTO gate_social_links VALUES (?, ?, ?, ?, NULL, 1, 1)',
    )
    link.run(tenantId, 'github', `${ada.id}-1`, ada.id)
    link.run(tenantId, 'google', `${ada.id}-2`, ada.id)
    const { text } = await member.open(path)
    for (const words of ['GitHub', `${ada.id}-1`]) expect(text).toContain(words)
    const removed = await member.send(`${path}/accounts/github/remove`)
    expect(removed.location).toBe(`${path}?done=credential`)
    expect((await stored()).credentials.oidc.identifiers).toEqual([`google:${ada.id}-2`])
    await member.send(`${path}/accounts/google/remove`)
    await member.send(`${path}/credentials/password/remove`)
    expect((await stored()).credentials).toEqual({})
    expect(member.audited('identity.credential_removed')).toEqual([object, object, object])
    expect((await member.open(path)).text).toContain('No sign-in methods yet')
    expect((await member.send(`${path}/credentials/none/remove`)).status).toBe(400)
    expect((await member.send(`${path}/accounts/toString/remove`)).status).toBe(404)
  })

  test('is deactivated with all sessions, and activated', async () => {
    const { member, ada, path, id: tenantId, stored, object } = await withAda()
    const session = await signIn(tenantId, ada.id)
    await member.send(`${path}/deactivate`)
    const inactive = await member.open(path)
    expect(inactive.text).toContain('Inactive. This user can')
    expect(inactive.text).not.toContain('Send recovery email')
    expect((await member.send(`${path}/recover`)).status).toBe(400)
    await member.send(`${path}/activate`)
    expect([(await stored()).state, isSignedIn(tenantId, session)]).toEqual(['active', false])
    expect(member.audited('identity.state_changed')).toEqual([object, object])
  })

  test('is deleted by owners', async () => {
    const { owner, member, path, object } = await withAda()
    expect((await member.open(path)).text).not.toContain('Delete user')
    const deleted = await owner.send(`${path}/delete`)
    expect(deleted.location).toBe(`${PAGE}?done=deleted`)
    expect((await owner.open(path)).status).toBe(404)
    expect((await owner.follow(deleted)).text).toContain('User deleted.')
    expect(owner.audited('identity.deleted')).toEqual([object])
  })

  test('gets new metadata unless it is wrong or has changed since the page was opened', async () => {
    const { member, gate, ada, path, stored, object } = await withAda()
    const fields = { metadata: '{"plan": "pro"}', seen: ada.updated_at }
    const wrong = await member.send(`${path}/metadata`, { ...fields, metadata: '{"plan": pro}' })
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('Must be JSON')])
    expect(wrong.html).toContain('{&quot;plan&quot;: pro}')
    app.clock.jump(1000)
    await gate.patch(`/v1/gate/identities/${ada.id}/metadata`, { theirs: true })
    const late = await member.send(`${path}/metadata`, fields)
    expect([late.status, late.text]).toEqual([422, expect.stringContaining('Has changed since')])
    const [, seen = ''] = /name="seen" value="([^"]+)"/.exec(late.html) ?? []
    const saved = await member.send(`${path}/metadata`, { ...fields, seen })
    expect(saved.location).toBe(`${path}?done=metadata`)
    expect((await stored()).metadata_public).toEqual({ plan: 'pro' })
    expect(member.audited('identity.updated')).toEqual([object])
  })
})

describe('Emails to a user', () => {
  const mails = () => app.db.client.query('SELECT id FROM mails').all().length

  test('for recovery have a code that works once and ends all sessions', async () => {
    const { member, gate, ada, path, id: tenantId, object } = await withAda()
    const session = await signIn(tenantId, ada.id)
    expect((await member.send(`${path}/recover`)).location).toBe(`${path}?done=kept`)
    expect(member.audited('identity.recovery_sent')).toEqual([object])
    const [sent] = app.mail.outbox.list(tenantId, { limit: 10 })
    const text = app.mail.outbox.read('all', sent?.id ?? '')?.body?.text ?? ''
    const [link = ''] = /^https?:\S+$/m.exec(text) ?? []
    expect((await member.open(path)).html).not.toContain(link)
    const { searchParams } = new URL(link)
    const submit = () =>
      gate.post(`/v1/gate/auth/recovery/submit?flow=${searchParams.get('flow')}`, {
        method: 'code',
        code: searchParams.get('code'),
      })
    expect([(await submit()).status, (await submit()).status === 200]).toEqual([200, false])
    expect(isSignedIn(tenantId, session)).toBe(false)
  })

  test('for verification are offered until the address is verified', async () => {
    const { member, path, object, ...acme } = await withAda()
    expect((await member.open(path)).text).toContain('Send verification email')
    expect((await member.send(`${path}/verify`)).location).toBe(`${path}?done=kept`)
    expect(member.audited('verification.sent')).toEqual([object])
    const verified = [{ value: 'bob@example.com', verified: true }]
    const bob = await newUser(acme, 'bob', { verifiable_addresses: verified })
    const { text } = await member.open(`${PAGE}/${bob.id}`)
    expect(text).not.toContain('Send verification email')
    expect((await member.send(`${PAGE}/${bob.id}/verify`)).status).toBe(400)
  })

  test('are limited for one address', async () => {
    const { member, path } = await withAda()
    const before = mails()
    const results: string[] = []
    for (let n = 0; n < 12; n++)
      results.push((await member.send(`${path}/recover`)).location?.split('=')[1] ?? '')
    expect([results[0], results.at(-1)]).toEqual(['kept', 'enough'])
    expect(mails() - before).toBe(results.filter((result) => result === 'kept').length)
    expect((await member.open(`${path}?done=enough`)).text).toContain('too many emails')
  })

  test('are limited to 100 an hour for all operators of a tenant, not for its API keys', async () => {
    const acme = await app.newTenant()
    const [member, owner] = [await acme.as('member'), acme.owner]
    let users = 0
    const send = async ({ send }: typeof member) => {
      const { id } = await newUser(acme, `person-${users++}`)
      return (await send(`${PAGE}/${id}/recover`)).location?.split('=')[1]
    }
    const before = mails()
    for (let n = 0; n < 100; n++) expect(await send(member)).toBe('kept')
    expect([await send(member), await send(owner)]).toEqual(['enough', 'enough'])
    expect(mails() - before).toBe(100)
    const { id } = await newUser(acme, 'ordered')
    const ordered = await acme.gate.post(`/v1/gate/identities/${id}/resend-verification`)
    expect([ordered.status, mails() - before]).toEqual([202, 101])
    app.clock.spend(MINUTE)
    expect(await send(member)).toBe('kept')
  })
})
