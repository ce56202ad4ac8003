import { expect, test } from 'bun:test'
import { ACCOUNT, DAY, MINUTE, mailTo, type Tenant, useConsole, WITH_MAIL } from '../fixture.ts'

const PAGE = '/identities'

const app = await useConsole()
const mailing = await useConsole({ env: WITH_MAIL })

async function withAda(at = app) {
  const acme = await at.newTenant()
  const member = await acme.as('member')
  const { password } = ACCOUNT
  const ada = await newUser(acme, 'ada', { credentials: { password: { config: { password } } } })
  const path = `${PAGE}/${ada.id}`
  const stored = async () => (await acme.gate.get(`/v1/gate/identities/${ada.id}`)).body
  return { ...acme, member, ada, path, stored, object: `identity:${ada.id}` }
}

async function newUser({ gate }: Pick<Tenant, 'gate'>, name: string, fields: object = {}) {
  const traits = { email: `${name}@example.com` }
  const answer = await gate.post('/v1/gate/identities', { schema_id: 'user', traits, ...fields })
  expect(answer.status).toBe(201)
  return answer.body as { id: string; updated_at: string }
}

async function signIn(tenantId: string, identityId: string, at = app) {
  const { session } = await at.db.commit(() =>
    at.gate.sessions.open(at.gate.people.existing(tenantId, identityId), {
      assuranceLevel: 'aal1',
      methods: [{ method: 'password', aal: 'aal1' }],
      ipAddress: '203.0.113.7',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    }),
  )
  return session.id
}

const isSignedIn = (tenantId: string, sessionId: string, at = app) =>
  at.gate.sessions.alive(tenantId, sessionId) !== undefined

test('The list finds users by id, start of the address, and state', async () => {
  const acme = await app.newTenant()
  const viewer = await acme.as('viewer')
  const ada = (await newUser(acme, 'ada')).id
  const bob = (await newUser(acme, 'bob', { state: 'inactive' })).id
  for (const [query, found] of [
    ['', [bob, ada]],
    ['?q=AD', [ada]],
    [`?q=${ada.toUpperCase()}`, [ada]],
    [`?q=${ada}&state=inactive`, []],
    ['?state=inactive', [bob]],
  ])
    expect([query, (await viewer.open(PAGE + query)).rows]).toEqual([query, found])
  await viewer.sees(PAGE, '1 active, 1 inactive', 'New users, 24 h, by hour: 2 in total')
  app.clock.jump(DAY + 60 * MINUTE)
  const { hours, isCut } = app.gate.history.frequency({ tenantId: acme.id }, 'identity.created')
  expect([hours, isCut]).toEqual([Array(24).fill(0), false])
})

test('A new user is created with password, verified address and metadata', async () => {
  const { as, gate } = await app.newTenant()
  const member = await as('member')
  const typed = { email: 'ada@example.com', password: ACCOUNT.password, verified: 'true' }
  await member.send(`${PAGE}/new`, { ...typed, metadata: '{"roles": ["admin"]}' })
  const [{ id, ...user }] = (await gate.get('/v1/gate/identities')).body.data
  expect(user).toMatchObject({
    traits: { email: 'ada@example.com' },
    metadata_public: { roles: ['admin'] },
    verifiable_addresses: [{ verified: true }],
    credentials: { password: {} },
  })
  expect(member.audited('identity.created')).toEqual([`identity:${id}`])
})

test('A user has a page with sign-in methods, sessions and history, the latest first', async () => {
  const { id: tenantId, owner, as, ada, path } = await withAda()
  app.clock.jump(1000)
  await signIn(tenantId, ada.id)
  const seen = await (await as('viewer')).open(path)
  seen.says('Active, 1 session, last on Firefox on Linux', 'Not verified', 'Password')
  seen.says('203.0.113.7').omits('<form class="inline"', 'Danger zone')
  app.clock.jump(1000)
  const { html } = await owner.press(path, 'Deactivate user')
  const history = html.slice(html.indexOf('id="history"'))
  expect(history).toMatch(/Deactivated.*Signed in with password.*Created/s)
  expect(history).toMatch(/By <bdi[^>]*>operator-\d+@example\.com/)
  expect(history).toContain('203.0.113.7')
})

test('A user is signed out of one session or of all, and loses a password or a linked account', async () => {
  const { member, ada, path, object, stored, ...acme } = await withAda()
  const { id: tenantId } = acme
  const bob = await newUser(acme, 'bob')
  const [first, second] = [await signIn(tenantId, ada.id), await signIn(tenantId, ada.id)]
  const ofBob = await signIn(tenantId, bob.id)
  const alive = () => [first, second, ofBob].map((id) => isSignedIn(tenantId, id))
  await member.send(`${path}/sessions/${first}/revoke`)
  expect(alive()).toEqual([false, true, true])
  expect((await member.send(`${path}/sessions/${ofBob}/revoke`)).status).toBe(404)
  const all = await member.send(`${path}/sessions/revoke-all`)
  ;(await member.follow(all)).says('All sessions ended.')
  expect(alive()).toEqual([false, false, true])
  expect(member.audited('session.revoked')).toEqual([`session:${first}`])
  expect(member.audited('sessions.revoked')).toEqual([object])

  const link = app.db.client.query('INSERT INTO gate_social_links VALUES (?, ?, ?, ?, NULL, 1, 1)')
  for (const provider of ['github', 'google']) link.run(tenantId, provider, ada.id, ada.id)
  await member.sees(path, 'GitHub')
  await member.send(`${path}/accounts/github/remove`)
  expect((await stored()).credentials.oidc.identifiers).toEqual([`google:${ada.id}`])
  await member.send(`${path}/accounts/google/remove`)
  await member.send(`${path}/credentials/password/remove`)
  expect((await stored()).credentials).toEqual({})
  expect(member.audited('identity.credential_removed')).toEqual([object, object, object])
  expect((await member.send(`${path}/credentials/none/remove`)).status).toBe(400)
  expect((await member.send(`${path}/accounts/toString/remove`)).status).toBe(404)
})

test('A user is deactivated with all sessions, activated, and deleted by owners', async () => {
  const { owner, member, ada, path, id: tenantId, stored, object } = await withAda()
  const session = await signIn(tenantId, ada.id)
  ;(await member.open(path)).omits('Email code')
  const inactive = await member.press(path, 'Deactivate user')
  inactive.says('Inactive. This user can').omits('Send recovery email')
  expect((await member.send(`${path}/recover`)).status).toBe(400)
  await member.press(path, 'Activate user')
  expect([(await stored()).state, isSignedIn(tenantId, session)]).toEqual(['active', false])
  expect(member.audited('identity.state_changed')).toEqual([object, object])
  ;(await owner.press(path, 'Delete user')).says('User deleted.')
  expect((await owner.open(path)).status).toBe(404)
  expect(owner.audited('identity.deleted')).toEqual([object])
})

test('Email and custom data change by the rules of the API, and a new address is unverified', async () => {
  const { member, as, id: tenantId, gate, ada, path, stored, object } = await withAda()
  await gate.post('/v1/gate/identities', { schema_id: 'user', traits: { email: 'bo@example.com' } })
  const save = (email: string, custom_data = '', seen = ada.updated_at) =>
    member.send(`${path}/profile`, { email, custom_data, seen })
  const { email } = (await stored()).traits
  for (const [address, data, field] of [
    ['no address', '', 'email'],
    ['bo@example.com', '', 'email'],
    [email, '[]', 'custom_data'],
    [email, '{"a": ', 'custom_data'],
    [email, '{"__proto__": 1}', 'custom_data'],
  ] as const) {
    const { status, wrong } = await save(address, data)
    expect([address, data, status, wrong]).toEqual([address, data, 422, [field]])
  }
  ;(await save(email, '', 'earlier')).says('Has changed since')
  app.clock.jump(1000)
  const moved = await member.follow(await save('ADA@Example.org', '{"name": "Ada Berg"}'))
  moved.says('The new email address is not verified yet.')
  const { traits, verifiable_addresses: addresses, updated_at } = await stored()
  expect(traits).toEqual({
    email: 'ada@example.org',
    custom_data: { name: 'Ada Berg' },
    tenant_id: tenantId,
  })
  expect(addresses).toMatchObject([{ value: 'ada@example.org', verified: false }])
  app.clock.jump(1000)
  const cleared = await member.follow(await save('ada@example.org', '', updated_at))
  cleared.says('Profile saved.').omits('not verified yet')
  expect((await stored()).traits.custom_data).toBeUndefined()
  expect(member.audited('identity.updated')).toEqual([object, object])
  const viewer = await as('viewer')
  ;(await viewer.open(path)).omits('Save profile')
  expect((await viewer.send(`${path}/profile`, { email })).status).toBe(403)
})

test('The page of a user has the latest sign-ins, and a page of their own has all', async () => {
  const { member, id: tenantId, ada, path } = await withAda()
  const attempt = {
    method: 'password',
    ipAddress: '203.0.113.7',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  }
  const person = { tenantId, id: ada.id }
  for (let n = 0; n < 60; n++) app.gate.signIns.failed(person, attempt, 'wrong')
  await app.db.commitFor(tenantId, () => app.gate.signIns.succeeded(person, attempt))
  const shown = await member.sees(path, 'Signed in', 'Password, incorrect', 'Firefox on Linux')
  expect(shown.html).toContain('/sign-ins"')
  const first = await member.sees(`${path}/sign-ins`, '203.0.113.7')
  const rest = await member.open(first.next)
  expect([first.rows.length, rest.rows.length]).toEqual([50, 11])
  expect(first.text).toMatch(/Failed ?60 All Signed in/)
  const ascending = await member.open(`${path}/sign-ins?sort=time`)
  const all = [...first.rows, ...rest.rows].toReversed()
  expect([...ascending.rows, ...(await member.open(ascending.next)).rows]).toEqual(all)
  expect((await member.open(`${path}/sign-ins?result=succeeded`)).rows).toEqual(all.slice(-1))
  expect((await member.open(`${path}/sign-ins?cursor=made-up`)).status).toBe(400)
})

test('The activity of a user has a page of its own, with each entry once and in a range of time', async () => {
  const { member, id: tenantId, ada, path, gate } = await withAda()
  const start = app.clock.now()
  const minutes = (count: number) => new Date(start + count * MINUTE).toISOString()
  for (let n = 0; n < 130; n++) {
    app.clock.jump(MINUTE)
    if (n % 2 === 0) await signIn(tenantId, ada.id)
    else await gate.patch(`/v1/gate/identities/${ada.id}/metadata`, { n })
  }
  const timesIn = ({ html }: { html: string }) =>
    [...html.matchAll(/<div class="eventaside">.*?datetime="([^"]+)"/gs)].map(([, at]) => at)
  const pages = [await member.open(`${path}/activity`)]
  for (let next = pages[0]?.next; next; next = pages.at(-1)?.next)
    pages.push(await member.open(next))
  const all = pages.flatMap(timesIn)
  const expected = Array.from({ length: 130 }, (_, n) => minutes(130 - n))
  expect(all).toEqual([...expected, minutes(0)])
  const range = `since=${minutes(10)}&until=${minutes(13)}`
  expect(timesIn(await member.open(`${path}/activity?${range}`))).toEqual(expected.slice(118, 121))
  const { html } = await member.open(`${path}/activity/export?format=ndjson&${range}`)
  const rows = html.trim().split('\n')
  expect(rows.map((row) => JSON.parse(row))).toMatchObject([
    { at: minutes(12), event: 'identity.updated', actor_kind: 'key' },
    { at: minutes(11), event: 'signed_in', actor_kind: 'person', source: '203.0.113.7' },
    { at: minutes(10), event: 'identity.updated' },
  ])
})

test('Metadata is saved unless it is wrong or has changed since the page was opened', async () => {
  const { member, gate, ada, path, stored, object } = await withAda()
  const save = (metadata: string, seen = ada.updated_at) =>
    member.send(`${path}/metadata`, { metadata, seen })
  const wrong = (await save('{"plan": pro}')).says('Must be JSON', '{&quot;plan&quot;: pro}')
  app.clock.jump(1000)
  await gate.patch(`/v1/gate/identities/${ada.id}/metadata`, { theirs: true })
  const late = (await save('{"plan": "pro"}')).says('Has changed since')
  expect([wrong.status, late.status]).toEqual([422, 422])
  await save('{"plan": "pro"}', /name="seen" value="([^"]+)"/.exec(late.html)?.[1])
  expect((await stored()).metadata_public).toEqual({ plan: 'pro' })
  expect(member.audited('identity.updated')).toEqual([object])
})

test('An email for recovery has a code that ends all sessions; one for verification is sent until it is verified', async () => {
  const { member, gate, ada, path, object, ...acme } = await withAda(mailing)
  const session = await signIn(acme.id, ada.id, mailing)
  const page = await member.press(path, 'Send recovery email')
  expect(member.audited('identity.recovery_sent')).toEqual([object])
  const [link = ''] = /^https?:\S+$/m.exec(mailTo(mailing, 'ada@example.com')) ?? []
  page.omits(link)
  const { flow, code } = Object.fromEntries(new URL(link).searchParams)
  const submitted = { method: 'code', code }
  const { status } = await gate.post(`/v1/gate/auth/recovery/submit?flow=${flow}`, submitted)
  expect([status, isSignedIn(acme.id, session, mailing)]).toEqual([200, false])

  const verified = [{ value: 'bob@example.com', verified: true }]
  const bob = await newUser({ gate }, 'bob', { verifiable_addresses: verified })
  const cy = `${PAGE}/${(await newUser({ gate }, 'cy')).id}`
  await member.press(cy, 'Send verification email')
  expect(member.audited('verification.sent')).toHaveLength(1)
  ;(await member.open(`${PAGE}/${bob.id}`)).omits('Send verification email')
  expect((await member.send(`${PAGE}/${bob.id}/verify`)).status).toBe(400)
})

test('Without a mail server no email is offered, and the page says what to do instead', async () => {
  const { member, id, path } = await withAda()
  const page = await member.open(path)
  page.omits('Send recovery email', 'Send verification email', 'with a code that is emailed')
  page.says(
    "Recovery emails can't be sent yet. Ask an admin of the installation",
    'Until then, users',
  )
  page.says("Verification emails can't be sent yet.")
  ;(await member.open(`${PAGE}/new`))
    .says('can only use social login', 'Ask an admin')
    .omits('with an email code or social login')
  const admin = await app.signIn({ isAdmin: true, roles: { [id]: 'owner' } })
  expect((await admin.open(path)).html).toContain('/mail-server">Set up the mail server')
})

test('A verified address is told that an operator replaced it, unless no email can be sent', async () => {
  for (const [at, isVerified, by, flash] of [
    [mailing, true, 'operator', 'is not verified yet.'],
    [mailing, false, 'operator', 'is not verified yet.'],
    [mailing, true, 'key', ''],
    [app, true, 'operator', 'The old address got no notice'],
    [app, false, 'operator', 'is not verified yet.'],
  ] as const) {
    const { as, ...acme } = await at.newTenant()
    const member = await as('member')
    const name = `eve-${acme.id}`
    const recipient = `${name}@example.com`
    const address = { value: recipient, verified: isVerified }
    const eve = await newUser(acme, name, { verifiable_addresses: [address] })
    const email = 'mallory@example.net'
    const path = `${PAGE}/${eve.id}`
    const saved =
      by === 'key'
        ? await acme.gate.patch(`/v1/gate/identities/${eve.id}`, [
            { op: 'replace', path: '/traits/email', value: email },
          ])
        : await member.follow(await member.send(`${path}/profile`, { email, seen: eve.updated_at }))
    if ('says' in saved) saved.says(flash)
    const isTold = at === mailing && isVerified && by === 'operator'
    const told = at.mail.outbox.list('all', { recipient, limit: 10 }).data
    expect([isVerified, by, told.length]).toEqual([isVerified, by, isTold ? 1 : 0])
    if (!isTold) continue
    expect(told[0]?.subject).toBe('Your Acme email address was changed')
    expect(mailTo(at, recipient)).toContain('An administrator changed')
    expect(mailTo(at, recipient)).not.toContain(email)
  }
})

test.each([
  [
    { display_name: 'Eve', plan: 'pro' },
    { display_name: 'Eva', plan: 'pro' },
  ],
  [undefined, { name: 'Eva' }],
  [{ plan: 'pro' }, { name: 'Eva', plan: 'pro' }],
])('The name of %j is a field of its own', async (before, after) => {
  const { as, ...acme } = await app.newTenant()
  const member = await as('member')
  const email = 'eve@example.com'
  const { body: eve } = await acme.gate.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email, ...(before && { custom_data: before }) },
  })
  const custom_data = before ? '{"plan": "pro"}' : ''
  const typed = { email, name: ' Eva ', seen: eve.updated_at }
  const twice = await member.send(`${PAGE}/${eve.id}/profile`, {
    ...typed,
    custom_data: '{"name": "x", "display_name": "x"}',
  })
  expect(twice.wrong).toEqual(['custom_data'])
  await member.send(`${PAGE}/${eve.id}/profile`, { ...typed, custom_data })
  const { body } = await acme.gate.get(`/v1/gate/identities/${eve.id}`)
  expect(body.traits.custom_data).toEqual(after)
  expect((await member.open(`${PAGE}/${eve.id}`)).html).toMatch(/name="name"[^>]*value="Eva"/)
})

test('A name in two parts is edited as custom data', async () => {
  const { as, ...acme } = await app.newTenant()
  const { body: eve } = await acme.gate.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email: 'eve@example.com', custom_data: { first_name: 'Eve', last_name: 'Moor' } },
  })
  const { html } = await (await as('member')).open(`${PAGE}/${eve.id}`)
  expect(html).not.toContain('name="name"')
  expect(html).toContain('&quot;first_name&quot;')
})

test('Emails are limited for one address, and to 100 an hour for the operators of a tenant', async () => {
  const { member, owner, path, ...acme } = await withAda()
  const mails = () => app.db.client.query('SELECT id FROM mails').all().length
  const before = mails()
  const send = async ({ send } = member, to = path) =>
    (await send(`${to}/recover`)).location?.split('.')[1] ?? ''
  const results: string[] = []
  for (let n = 0; n < 12; n++) results.push(await send())
  const sent = results.filter((result) => result === 'held').length
  expect([results[0], results.at(-1), mails() - before]).toEqual(['held', 'limited', sent])
  const newPath = async (n: number) => `${PAGE}/${(await newUser(acme, `person-${n}`)).id}`
  for (let n = sent; n < 100; n++) expect(await send(member, await newPath(n))).toBe('held')
  const late = await newPath(100)
  expect([await send(member, late), await send(owner, late)]).toEqual(['limited', 'limited'])
  expect(mails() - before).toBe(100)
  const { id } = await newUser(acme, 'ordered')
  const ordered = await acme.gate.post(`/v1/gate/identities/${id}/resend-verification`)
  expect([ordered.status, mails() - before]).toEqual([202, 101])
  app.clock.spend(MINUTE)
  expect(await send(member, late)).toBe('held')
})
