import { afterAll, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import {
  AUTHORIZE,
  auditOf,
  bodyOf,
  ID,
  IDENTITIES,
  type Json,
  mintToken,
  personPath,
  plain,
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
import { asked } from '../sign-in/flows/code-fixture.ts'
import { bootFlows, flowParty, PASSWORD, pathOf, UNHURRIED } from '../sign-in/flows/fixture.ts'

// Each test has addresses of its own, and looks for them in all rows of all tables.
const fixture = await bootFlows({ flags: UNHURRIED })
afterAll(fixture.app.stop)
const { api, app, clock } = fixture

async function remove(person: Json) {
  expect(await bodyOf(api.delete(personPath(person)), 204)).toBe('')
}

const isErased = ({ id }: Json): boolean =>
  rowsOf(app, 'gate_erasures').some((row) => row.identity_id === id && row.completed_at !== null)

/** A webhook of the tenant until the end of the scope. */
async function subscribe(...answer: Parameters<typeof startTarget>) {
  const target = startTarget(...answer)
  const { id } = await fixture.createWebhook(target.url)
  const stop = async () => {
    await api.delete(`/v1/gate/settings/webhooks/${id}`)
    await target.stop()
  }
  return { ...target, [Symbol.asyncDispose]: stop }
}

/** An identity with data in every table. */
async function createKnown(email: string) {
  const person = await fixture.createIdentity({
    traits: { email, custom_data: { alias: `alias of ${email}` } },
    metadata_public: { contact: email },
    credentials: { password: { config: { password: 'x' } } },
  })
  const { token, session } = await fixture.openSession(person)
  const { access_token } = await mintToken(app, fixture.key, { subject: person.id })
  const resent = await api.post(personPath(person, '/resend-verification'))
  expect(resent).toMatchObject({ status: 202 })
  const resource = `identity:${person.id}`
  const question = { subject: person.id, action: 'identity.read', resource }
  expect((await api.post(AUTHORIZE, question)).body.allowed).toBe(true)
  await rest(app)
  return { person, token, session, access_token, question }
}

test('A deleted identity is gone from every route', async () => {
  const email = 'gone@example.com'
  const { person, token, session, access_token, question } = await createKnown(email)
  await remove(person)
  for (const { status } of [
    await api.get(personPath(person)),
    await api.delete(personPath(person)),
    await api.patch(personPath(person, '/state'), { state: 'active' }),
    await api.get(personPath(person, '/sessions')),
    await api.post(personPath(person, '/resend-verification')),
    await api.delete(`${SESSIONS}/${session.id}`),
  ])
    expect(status).toBe(404)
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  const introspected = await api.post(`${TOKENS}/introspect`, { access_token })
  expect(introspected).toMatchObject({ status: 200, body: { active: false } })
  for (const query of ['', `?email=${email}`, '?search=gone'])
    expect((await api.get(IDENTITIES + query)).body.data).toEqual([])
  expect((await api.post(AUTHORIZE, question)).body.allowed).toBe(false)

  const next = await fixture.createIdentity({ traits: { email } })
  const verifiable_addresses = [{ verified: false, status: 'pending' }]
  expect(next).toMatchObject({ metadata_public: {}, credentials: {}, verifiable_addresses })
  expect(next.traits).not.toHaveProperty('custom_data')
  expect((await api.get(personPath(next, '/sessions'))).body).toEqual([])
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
})

test('Four deletions at once delete and report an identity once, without its data', async () => {
  await using target = await subscribe()
  const person = await fixture.createIdentity()
  const answers = await Promise.all([1, 2, 3, 4].map(() => api.delete(personPath(person))))
  await rest(app)
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404])
  const envelope = { event_id: ID, tenant_id: fixture.acme.id, created_at: fixture.now() }
  const data = { identity_id: person.id, payload: {} }
  expect(told(target)[1]).toEqual({ ...envelope, event_type: 'identity.deleted', data })
  expect(target.requests).toHaveLength(2)
  const row = { actor_kind: 'key', actor_id: expect.any(String), detail: {} }
  expect(auditOf(app, `identity:${person.id}`)).toEqual([
    { action: 'identity.created', ...row },
    { action: 'identity.deleted', ...row },
  ])
})

test('A deletion leaves the address nowhere, the id where it must be provable, and all of others', async () => {
  const [email, kept] = ['forgotten@example.com', 'kept@example.com']
  // It answers with the request, so that the delivery log contains the address, too.
  await using _ = await subscribe(({ body }) => new Response(body))
  const globex = await flowParty(app)
  const same = await globex.createIdentity({ traits: { email: email.toUpperCase() } })
  const other = await createKnown(kept)
  // A flow and a mail from before there was an identity.
  await asked(fixture, 'recovery', email)
  expect(tablesWith(app, email)).toHaveProperty('gate_flows')
  const { person } = await createKnown(email)
  await fixture.setState(person, 'inactive')
  await rest(app)
  const ofOther = () => [other.person.id, kept].map((text) => tablesWith(app, text))
  const before = tablesWith(app, email)
  const beforeOfOther = ofOther()
  const tables = ['gate_identities', 'gate_addresses', 'gate_codes', 'mails', 'messages']
  for (const table of [...tables, 'attempts']) expect(before).toHaveProperty(table)
  expect(tablesWith(app, person.id)).toHaveProperty('gate_access_tokens')
  await remove(person)
  await rest(app)

  // That of the other tenant.
  expect(tablesWith(app, email)).toEqual({ gate_identities: 1, gate_addresses: 1, messages: 1 })
  expect(tablesWith(app, person.id)).toEqual({
    ...{ audit_log: expect.any(Number), gate_decisions: 1, gate_erasures: 1 },
    ...{ messages: 1, attempts: 1 },
  })
  expect(isErased(person)).toBe(true)
  expect(ofOther()).toEqual(beforeOfOther)
  expect(await fixture.whoami(other.token)).toMatchObject({ status: 200 })
  expect(await globex.readIdentity(same)).toEqual(same)
})

test('Deleting an identity ends its flows without a server error, and no flow of other tenants', async () => {
  const email = 'busy@example.com'
  await fixture.security({ mfa_enabled: true, passwordless_enabled: true })
  const { session_token: token, identity } = await fixture.register(email)
  const secret = await fixture.enrol(token)
  await recoveryCodes(fixture, token)
  await connect(fixture, identity, 'github', `subject of ${email}`)
  const headers = { 'x-session-token': token }
  const mailed: Json[] = []
  for (const [kind, field] of [
    ['login', 'identifier'],
    ['recovery', 'email'],
    ['verification', 'email'],
  ] as const) {
    clock.jump(31 * SECOND)
    const flow = await fixture.start(kind)
    await fixture.sendWell(flow, { method: 'code', [field]: email })
    mailed.push({ flow, code: fixture.codeFor(email) })
  }
  const done = await fixture.tryPassword(email)
  const settings = await fixture.settings(token)
  const refresh = await fixture.start('login', headers, '?refresh=true')
  const second = (await fixture.read(done.body.continue_with.at(-1).redirect_browser_to)).body

  const other = await flowParty(app)
  await other.register(email)
  clock.jump(31 * SECOND)
  const recovery = await other.start('recovery')
  await other.sendWell(recovery, { method: 'code', email })
  const tables = ['gate_credentials', 'gate_social_links', 'gate_codes', 'gate_flows']
  for (const table of tables) expect(tablesWith(app, identity.id)).toHaveProperty(table)
  const browser = newBrowser(app)
  const page = await browser.visit(settings.hosted_url)
  await remove(identity)
  await rest(app)

  for (const table of [...tables, 'gate_sessions'])
    expect(tablesWith(app, identity.id)).not.toHaveProperty(table)
  expect(isErased(identity)).toBe(true)
  const password = { method: 'password', password: PASSWORD }
  for (const [flow, fields] of [
    [settings, password],
    [second, { method: 'totp', totp_code: nextCode(fixture, secret) }],
    [refresh, password],
  ]) {
    expect(await app.raw(pathOf(flow.hosted_url), { headers })).toMatchObject({ status: 404 })
    expect(await browser.visit(flow.hosted_url)).toMatchObject({ status: 404, forms: [] })
    expect(await fixture.send(flow, fields, headers)).toMatchObject({ status: 404 })
  }
  const pressed = await browser.press(page, ['method', 'password'], { password: 'a new word' })
  expect(pressed.status).toBe(404)
  for (const { flow, code } of mailed) {
    const { status } = await fixture.send(flow, { method: 'code', code })
    expect([404, 422]).toContain(status)
  }
  expect(await fixture.tryPassword(email)).toMatchObject({ status: 422 })
  expect(app.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
  const recovered = await other.sendWell(recovery, { method: 'code', code: other.codeFor(email) })
  expect(recovered.state).toBe('passed_challenge')
})

test("A deleted identity's code can't be exchanged for a session", async () => {
  const email = 'exchanged@example.com'
  const headers = { 'x-return-to': 'https://app.example.com/' }
  const { hosted_url, id } = await fixture.start('registration', headers)
  const browser = newBrowser(app)
  const typed = { 'traits.email': email, password: PASSWORD }
  const page = await browser.visit(hosted_url)
  const { location } = await browser.press(page, ['method', 'password'], typed)
  const code = new URL(location).searchParams.get('code')
  const [fresh] = (await api.get(`${IDENTITIES}?email=${email}`)).body.data
  await remove(fresh)
  const answer = await api.post(`${SESSIONS}/exchange`, { flow: id, code })
  expect([400, 404]).toContain(answer.status)
  expect(Object.keys(answer.body)).toEqual(['error'])
})

test.each([
  ['delivered', SECOND, 3],
  ['failed', 3 * SECOND, 4],
])(
  'A pending event of a deleted identity is erased once it has %s',
  async (outcome, ms, requests) => {
    const email = `${outcome}@example.com`
    const isCreated = (body: string) => JSON.parse(body).event_type === 'identity.created'
    await using target = await subscribe(
      ({ body }) => new Response('', { status: isCreated(body) ? 503 : 200 }),
    )
    const person = await fixture.createIdentity({ traits: { email } })
    await rest(app)
    await remove(person)
    await rest(app)
    expect(typesTold(target)).toEqual(['identity.created', 'identity.deleted'])
    expect(tablesWith(app, email)).toEqual({ messages: 1 })
    await app.platform.retention.sweep()
    expect(isErased(person)).toBe(false)

    if (outcome === 'delivered') target.answers(200)
    await clock.advance(ms)
    await rest(app)
    expect(target.requests).toHaveLength(requests)
    expect(told(target)[2]).toEqual(told(target)[0])
    await app.platform.retention.sweep()
    expect(tablesWith(app, email)).toEqual({})
    expect(isErased(person)).toBe(true)
    const left = rowsOf(app, 'messages').filter(({ about }) => about === person.id)
    expect(left.map(({ type }) => type)).toEqual(['identity.deleted'])
  },
)

test('Retention completes an erasure that a crash interrupted', async () => {
  const email = 'crashed@example.com'
  await using _ = await subscribe()
  const { person, token, access_token } = await createKnown(email)
  const { client } = app.db
  await app.db.commit(() => {
    client.run('delete from gate_identities where id = ?', [person.id])
    const columns = 'identity_id, tenant_id, requested_at'
    client.run(`insert into gate_erasures (${columns}) values (?, ?, 0)`, [
      person.id,
      fixture.acme.id,
    ])
  })
  expect(Object.keys(tablesWith(app, email)).sort()).toEqual(['mails', 'messages'])
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  const introspected = await api.post(`${TOKENS}/introspect`, { access_token })
  expect(introspected.body.active).toBe(false)

  await app.platform.retention.sweep()
  expect(tablesWith(app, email)).toEqual({})
  expect(tablesWith(app, person.id)).not.toHaveProperty('gate_access_tokens')
  expect(isErased(person)).toBe(true)
})

const removeCredential = (person: Json, type: string) =>
  api.delete(personPath(person, `/credentials/${type}`))
const credentialsOf = async (person: Json) =>
  Object.keys((await fixture.readIdentity(person)).credentials)

test('Without a lost authenticator, one factor is enough again', async () => {
  const email = 'lost@example.com'
  await fixture.security({ mfa_enabled: true })
  const { session_token: token, identity } = await fixture.register(email)
  await fixture.enrol(token)
  expect((await fixture.signIn(email)).session.identity).toBeNull()
  expect(await removeCredential(identity, 'totp')).toMatchObject({ status: 204 })
  const { session } = await fixture.signIn(email)
  expect(session).toMatchObject({ identity: { id: identity.id } })
  expect(await credentialsOf(identity)).toEqual(['password'])
})

test('Each of four types of credentials is removed alone; removing it again succeeds', async () => {
  const email = 'grace@example.com'
  const { session_token: token, identity } = await fixture.register(email)
  await connect(fixture, identity, 'github', 'grace')
  expect(await credentialsOf(identity)).toEqual(['password', 'oidc'])
  for (const type of ['oidc', 'password', 'totp', 'lookup_secret'])
    for (let n = 0; n < 2; n++)
      expect(await removeCredential(identity, type)).toMatchObject({ status: 204 })
  expect(await credentialsOf(identity)).toEqual([])
  expect(await fixture.tryPassword(email)).toMatchObject({ status: 422 })
  expect(await fixture.whoami(token)).toMatchObject({ status: 200 })
  const choice = 'type: must be one of password, totp, lookup_secret, oidc'
  expect(await removeCredential(identity, 'code')).toMatchObject(plain(400, choice))
})
