import { expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { breathe } from '../../clockwork/support.ts'
import { copyMessage, rest } from '../../relay/fixture.ts'
import {
  AUTHORIZE,
  auditOf,
  bootGate,
  type Fixture,
  ID,
  IDENTITIES,
  type Json,
  mintToken,
  personPath,
  rowsOf,
  SECOND,
  SESSIONS,
  TOKENS,
  tablesWith,
  told,
  typesTold,
} from '../fixture.ts'
import { connect, nextCode, recoveryCodes } from '../sign-in/flows/acts.ts'
import { newBrowser } from '../sign-in/flows/browser.ts'
import { flowParty, flowsOf, PASSWORD, pathOf } from '../sign-in/flows/fixture.ts'

// Every test boots its own application, because it looks into all rows of all tables.

const EMAIL = 'forgotten@example.com'

async function remove({ api }: Pick<Fixture, 'api'>, person: Json) {
  const { status, body } = await api.delete(personPath(person))
  expect({ status, body }).toEqual({ status: 204, body: '' })
}

const openErasures = ({ app }: Pick<Fixture, 'app'>) =>
  rowsOf(app, 'gate_erasures').filter(({ completed_at }) => completed_at === null)

/** An identity with data in every table. */
async function createKnown(fixture: Fixture, email = EMAIL) {
  const person = await fixture.createIdentity({
    traits: { email, custom_data: { alias: `alias of ${email}` } },
    metadata_public: { contact: email },
    credentials: { password: { config: { password: 'x' } } },
  })
  const { token, session } = await fixture.openSession(person)
  const { access_token } = await mintToken(fixture.app, fixture.key, { subject: person.id })
  const resent = await fixture.api.post(personPath(person, '/resend-verification'))
  expect(resent).toMatchObject({ status: 202 })
  const resource = `identity:${person.id}`
  const question = { subject: person.id, action: 'identity.read', resource }
  expect((await fixture.api.post(AUTHORIZE, question)).body.allowed).toBe(true)
  await rest(fixture.app)
  return { person, token, session, access_token, question }
}

test('A deleted identity is gone from every route', async () => {
  await using fixture = await bootGate()
  const { api } = fixture
  const { person, token, session, access_token, question } = await createKnown(fixture)
  await remove(fixture, person)
  for (const [method, tail, body] of [
    ['get', ''],
    ['patch', '', [{ op: 'add', path: '/metadata_public/x', value: 1 }]],
    ['delete', ''],
    ['patch', '/state', { state: 'active' }],
    ['get', '/metadata'],
    ['patch', '/metadata', { x: 1 }],
    ['get', '/sessions'],
    ['delete', '/sessions'],
    ['post', '/resend-verification'],
  ] as const)
    expect(await api[method](personPath(person, tail), body)).toMatchObject({ status: 404 })
  expect(await api.delete(`${SESSIONS}/${session.id}`)).toMatchObject({ status: 404 })
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  const introspected = await api.post(`${TOKENS}/introspect`, { access_token })
  expect(introspected).toMatchObject({ status: 200, body: { active: false } })
  for (const query of ['', `?email=${EMAIL}`, '?search=forgotten'])
    expect((await api.get(IDENTITIES + query)).body.data).toEqual([])
  expect((await api.post(AUTHORIZE, question)).body.allowed).toBe(false)

  const next = await fixture.createIdentity({ traits: { email: EMAIL } })
  const verifiable_addresses = [{ verified: false, status: 'pending' }]
  expect(next).toMatchObject({ metadata_public: {}, credentials: {}, verifiable_addresses })
  expect(next.traits).not.toHaveProperty('custom_data')
  expect((await api.get(personPath(next, '/sessions'))).body).toEqual([])
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
})

test('Four deletions at once delete and report an identity once, without its data', async () => {
  await using fixture = await bootGate()
  await using target = await startTarget()
  const { api, acme, now } = fixture
  const person = await fixture.createIdentity({ traits: { email: EMAIL } })
  await fixture.createWebhook(target.url)
  const answers = await Promise.all([1, 2, 3, 4].map(() => api.delete(personPath(person))))
  await rest(fixture.app)
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404])
  expect(told(target)).toEqual([
    {
      ...{ event_id: ID, event_type: 'identity.deleted', tenant_id: acme.id, created_at: now() },
      data: { identity_id: person.id, payload: {} },
    },
  ])
  const row = { actor_kind: 'key', actor_id: expect.any(String), detail: {} }
  expect(auditOf(fixture.app, `identity:${person.id}`)).toEqual([
    { action: 'identity.created', ...row },
    { action: 'identity.deleted', ...row },
  ])
})

test('A deletion leaves the address nowhere, the id where it must be provable, and all of others', async () => {
  await using fixture = await bootGate()
  const { app } = fixture
  // It answers with the request, so that the delivery log contains the address, too.
  await using target = await startTarget(({ body }) => new Response(body))
  const globex = await fixture.newTenant()
  const same = await globex.createIdentity({ traits: { email: EMAIL.toUpperCase() } })
  const kept = 'kept@example.com'
  const other = await createKnown(fixture, kept)
  await fixture.createWebhook(target.url)
  const { person } = await createKnown(fixture)
  await fixture.setState(person, 'inactive')
  await rest(app)
  const ofOther = () => [other.person.id, kept].map((text) => tablesWith(app, text))
  const before = tablesWith(app, EMAIL)
  const beforeOfOther = ofOther()
  const tables = ['gate_identities', 'gate_addresses', 'gate_codes', 'mails', 'messages']
  for (const table of [...tables, 'attempts']) expect(before).toHaveProperty(table)
  expect(tablesWith(app, person.id)).toHaveProperty('gate_access_tokens')
  await remove(fixture, person)
  await rest(app)

  // That of the other tenant.
  expect(tablesWith(app, EMAIL)).toEqual({ gate_identities: 1, gate_addresses: 1, messages: 1 })
  expect(tablesWith(app, person.id)).toEqual({
    ...{ audit_log: expect.any(Number), gate_decisions: 1, gate_erasures: 1 },
    ...{ messages: 1, attempts: 1 },
  })
  expect(openErasures(fixture)).toEqual([])
  expect(rowsOf(app, 'deliveries')).toHaveLength(1)
  expect(ofOther()).toEqual(beforeOfOther)
  expect(await fixture.whoami(other.token)).toMatchObject({ status: 200 })
  expect(await globex.readIdentity(same)).toEqual(same)
})

test('A deletion with more data than one slice is completed by the next retention run', async () => {
  await using fixture = await bootGate()
  const { app } = fixture
  const person = await fixture.createIdentity({ traits: { email: EMAIL } })
  copyMessage(app, rowsOf(app, 'messages')[0], 1200)
  const left = () => tablesWith(app, EMAIL).messages ?? 0
  expect(left()).toBe(1201)
  await remove(fixture, person)
  expect(openErasures(fixture)).toHaveLength(1)
  expect(left()).toBeGreaterThan(0)
  expect(left()).toBeLessThan(1201)

  await sweepThrough(fixture)
  expect(tablesWith(app, EMAIL)).toEqual({})
  expect(openErasures(fixture)).toEqual([])
})

/** Runs retention, which pauses between its slices. */
async function sweepThrough({ app, clock }: Fixture) {
  let isDone = false
  const sweep = app.platform.retention.sweep().finally(() => {
    isDone = true
  })
  while (!isDone) {
    await clock.advance(20)
    await breathe(app)
  }
  await sweep
}

/** An identity with every kind of unfinished flow. */
async function bootBusy() {
  const gate = await bootGate()
  const fixture = { ...gate, ...flowsOf(gate.app, { tenantId: gate.acme.id, ...gate }) }
  await fixture.security({ mfa_enabled: true, passwordless_enabled: true })
  const { session_token: token, identity } = await fixture.register(EMAIL)
  const secret = await fixture.enrol(token)
  await recoveryCodes(fixture, token)
  await connect(fixture, identity, 'github', `subject of ${EMAIL}`)
  const headers = { 'x-session-token': token }

  const byMail = async (kind: string, field: string) => {
    fixture.clock.jump(31 * SECOND)
    const flow = await fixture.start(kind)
    await fixture.sendWell(flow, { method: 'code', [field]: EMAIL })
    return { flow, code: fixture.codeFor(EMAIL) }
  }
  const mailed = [
    await byMail('login', 'identifier'),
    await byMail('recovery', 'email'),
    await byMail('verification', 'email'),
  ]
  const done = await fixture.tryPassword(EMAIL)
  const settings = await fixture.settings(token)
  const refresh = await fixture.start('login', headers, '?refresh=true')
  const second = (await fixture.read(done.body.continue_with.at(-1).redirect_browser_to)).body
  return { ...fixture, identity, secret, mailed, second, settings, refresh, headers }
}

test('Deleting an identity ends its flows without a server error, and no flow of other tenants', async () => {
  await using fixture = await bootBusy()
  const { app, identity, secret, mailed, second, settings, refresh, headers } = fixture
  const other = await flowParty(app)
  await other.register(EMAIL)
  fixture.clock.jump(31 * SECOND)
  const recovery = await other.start('recovery')
  await other.sendWell(recovery, { method: 'code', email: EMAIL })
  const tables = ['gate_credentials', 'gate_social_links', 'gate_codes', 'gate_flows']
  for (const table of tables) expect(tablesWith(app, identity.id)).toHaveProperty(table)
  const browser = newBrowser(app)
  const page = await browser.visit(settings.hosted_url)
  await remove(fixture, identity)
  await rest(app)

  for (const table of [...tables, 'gate_sessions'])
    expect(tablesWith(app, identity.id)).not.toHaveProperty(table)
  expect(openErasures(fixture)).toEqual([])
  for (const { hosted_url } of [settings, second, refresh]) {
    expect(await app.raw(pathOf(hosted_url), { headers })).toMatchObject({ status: 404 })
    expect(await browser.visit(hosted_url)).toMatchObject({ status: 404, forms: [] })
  }
  const pressed = await browser.press(page, ['method', 'password'], { password: 'a new word' })
  expect(pressed.status).toBe(404)
  const password = { method: 'password', password: PASSWORD }
  const totp = { method: 'totp', totp_code: nextCode(fixture, secret) }
  for (const [flow, fields] of [
    [settings, password],
    [second, totp],
    [refresh, password],
  ])
    expect(await fixture.send(flow, fields, headers)).toMatchObject({ status: 404 })
  for (const { flow, code } of mailed) {
    const { status } = await fixture.send(flow, { method: 'code', code })
    expect([404, 422]).toContain(status)
  }
  expect(await fixture.tryPassword(EMAIL)).toMatchObject({ status: 422 })
  expect(app.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
  const recovered = await other.sendWell(recovery, { method: 'code', code: other.codeFor(EMAIL) })
  expect(recovered.state).toBe('passed_challenge')
})

test("A deleted identity's code can't be exchanged for a session", async () => {
  await using gate = await bootGate()
  const fixture = { ...gate, ...flowsOf(gate.app, { tenantId: gate.acme.id, ...gate }) }
  const headers = { 'x-return-to': 'https://app.example.com/' }
  const { hosted_url, id } = await fixture.start('registration', headers)
  const browser = newBrowser(gate.app)
  const typed = { 'traits.email': EMAIL, password: PASSWORD }
  const page = await browser.visit(hosted_url)
  const { location } = await browser.press(page, ['method', 'password'], typed)
  const code = new URL(location).searchParams.get('code')
  const [fresh] = (await gate.api.get(`${IDENTITIES}?email=${EMAIL}`)).body.data
  await remove(gate, fresh)
  const answer = await gate.api.post(`${SESSIONS}/exchange`, { flow: id, code })
  expect([400, 404]).toContain(answer.status)
  expect(Object.keys(answer.body)).toEqual(['error'])
})

test.each([
  ['has been delivered', SECOND, 3],
  ['has failed', 3 * SECOND, 4],
])('A pending event of a deleted identity is erased once it %s', async (outcome, ms, requests) => {
  await using fixture = await bootGate()
  const isCreated = (body: string) => JSON.parse(body).event_type === 'identity.created'
  await using target = startTarget(
    ({ body }) => new Response('', { status: isCreated(body) ? 503 : 200 }),
  )
  const { app, clock } = fixture
  await fixture.createWebhook(target.url)
  const person = await fixture.createIdentity({ traits: { email: EMAIL } })
  await rest(app)
  await remove(fixture, person)
  await rest(app)
  expect(typesTold(target)).toEqual(['identity.created', 'identity.deleted'])
  expect(tablesWith(app, EMAIL)).toEqual({ messages: 1 })
  await app.platform.retention.sweep()
  expect(openErasures(fixture)).toHaveLength(1)

  if (outcome === 'has been delivered') target.answers(() => new Response())
  await clock.advance(ms)
  await rest(app)
  expect(target.requests).toHaveLength(requests)
  expect(told(target)[2]).toEqual(told(target)[0])
  await app.platform.retention.sweep()
  expect(tablesWith(app, EMAIL)).toEqual({})
  expect(rowsOf(app, 'messages').map(({ type }) => type)).toEqual(['identity.deleted'])
  expect(openErasures(fixture)).toEqual([])
})

test('Retention completes an erasure that a crash interrupted', async () => {
  await using fixture = await bootGate()
  await using target = await startTarget()
  const { app, acme } = fixture
  await fixture.createWebhook(target.url)
  const { person, token, access_token } = await createKnown(fixture)
  const { client } = app.db
  await app.db.commit(() => {
    client.run('delete from gate_identities where id = ?', [person.id])
    const columns = 'identity_id, tenant_id, requested_at'
    client.run(`insert into gate_erasures (${columns}) values (?, ?, 0)`, [person.id, acme.id])
  })
  expect(Object.keys(tablesWith(app, EMAIL)).sort()).toEqual(['mails', 'messages'])
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  const introspected = await fixture.api.post(`${TOKENS}/introspect`, { access_token })
  expect(introspected.body.active).toBe(false)

  await app.platform.retention.sweep()
  expect(tablesWith(app, EMAIL)).toEqual({})
  expect(tablesWith(app, person.id)).not.toHaveProperty('gate_access_tokens')
  expect(openErasures(fixture)).toEqual([])
})
