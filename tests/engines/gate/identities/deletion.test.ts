import { describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { breathe } from '../../clockwork/support.ts'
import { rest } from '../../relay/fixture.ts'
import { copyMessage } from '../../relay/management.ts'
import {
  AUTHORIZE,
  bootParty,
  IDENTITIES,
  type Json,
  mintToken,
  SESSIONS,
  TOKENS,
} from '../fixture.ts'
import { connect, nextCode, recoveryCodes } from '../sign-in/flows/acts.ts'
import { newBrowser } from '../sign-in/flows/browser.ts'
import { csrfOf, type FlowFixture, flowsOf, PASSWORD, pathOf } from '../sign-in/flows/fixture.ts'
import {
  auditOf,
  bootPeople,
  type Fixture,
  ID,
  personPath,
  rowsOf,
  SECOND,
  START,
  tablesWith,
  told,
  typesTold,
} from './people.ts'

const EMAIL = 'forgotten@example.com'

async function remove({ api }: Pick<Fixture, 'api'>, person: Json) {
  const { status, body } = await api.delete(personPath(person))
  expect({ status, body }).toEqual({ status: 204, body: '' })
}

/** Deletions of which something is left to do. */
const openErasures = ({ app }: Pick<Fixture, 'app'>) =>
  rowsOf(app, 'gate_erasures').filter(({ completed_at }) => completed_at === null)

/** A person of whom there is something in every place that there can be. */
async function known(fixture: Fixture, email = EMAIL) {
  const person = await fixture.createIdentity({
    traits: { email, custom_data: { alias: `alias of ${email}` } },
    metadata_public: { contact: email },
    credentials: { password: { config: { password: 'x' } } },
  })
  const { token, session } = await fixture.openSession(person)
  const { access_token } = await mintToken(fixture.app, fixture.key, { subject: person.id })
  expect(await fixture.api.post(personPath(person, '/resend-verification'))).toMatchObject({
    status: 202,
  })
  expect(
    await fixture.api.post(AUTHORIZE, {
      subject: person.id,
      action: 'identity.read',
      resource: `identity:${person.id}`,
    }),
  ).toMatchObject({ status: 200, body: { allowed: true } })
  await rest(fixture.app)
  return { person, token, session, access_token }
}

describe('a deleted person', () => {
  test('is gone from every route', async () => {
    await using fixture = await bootPeople()
    const { person, token, session, access_token } = await known(fixture)

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
      expect(await fixture.api[method](personPath(person, tail), body)).toMatchObject({
        status: 404,
        body: { error: 'identity not found' },
      })
    expect(await fixture.api.delete(`${SESSIONS}/${session.id}`)).toMatchObject({ status: 404 })
    expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
    const introspected = await fixture.api.post(`${TOKENS}/introspect`, { access_token })
    expect(introspected).toMatchObject({ status: 200, body: { active: false } })
    for (const query of ['', `?email=${EMAIL}`, '?search=forgotten'])
      expect((await fixture.api.get(IDENTITIES + query)).body.data).toEqual([])
    const question = { subject: person.id, action: 'identity.read', resource: 'identity:x' }
    expect((await fixture.api.post(AUTHORIZE, question)).body.allowed).toBe(false)
  })

  test('is told to webhooks by the id alone, and noted in the audit log', async () => {
    await using fixture = await bootPeople()
    await using target = await startTarget()
    const person = await fixture.createIdentity({ traits: { email: EMAIL } })
    await fixture.createWebhook(target.url)

    await remove(fixture, person)
    await rest(fixture.app)

    expect(told(target)).toEqual([
      {
        event_id: ID,
        event_type: 'identity.deleted',
        tenant_id: fixture.acme.id,
        created_at: START,
        data: { identity_id: person.id, payload: {} },
      },
    ])
    expect(auditOf(fixture.app, `identity:${person.id}`)).toEqual([
      expect.objectContaining({ action: 'identity.created', detail: {} }),
      { action: 'identity.deleted', actor_kind: 'key', actor_id: expect.any(String), detail: {} },
    ])
  })

  test('leaves no address anywhere, and the id where it has to be answered for alone', async () => {
    await using fixture = await bootPeople()
    // A receiver that says everything back: what it answers is in the log of deliveries.
    await using target = await startTarget(({ body }) => new Response(body))
    await fixture.createWebhook(target.url)
    const { person } = await known(fixture)
    await fixture.setState(person, 'inactive')
    await rest(fixture.app)
    const before = tablesWith(fixture.app, EMAIL)
    const places = ['gate_identities', 'gate_addresses', 'gate_codes', 'mails', 'messages']
    for (const table of [...places, 'attempts']) expect(before).toHaveProperty(table)
    expect(tablesWith(fixture.app, person.id)).toHaveProperty('gate_access_tokens')

    await remove(fixture, person)
    await rest(fixture.app)

    expect(tablesWith(fixture.app, EMAIL)).toEqual({})
    expect(tablesWith(fixture.app, 'forgotten')).toEqual({})
    expect(tablesWith(fixture.app, person.id)).toEqual({
      audit_log: expect.any(Number),
      gate_decisions: 1,
      gate_erasures: 1,
      messages: 1,
      attempts: 1,
    })
    expect(openErasures(fixture)).toEqual([])
    expect(rowsOf(fixture.app, 'messages').map(({ type }) => type)).toEqual(['identity.deleted'])
    expect(rowsOf(fixture.app, 'deliveries')).toHaveLength(1)
    for (const table of ['gate_sessions', 'gate_credentials', 'gate_flows', 'gate_codes'])
      expect(rowsOf(fixture.app, table)).toEqual([])
    const details = auditOf(fixture.app, `identity:${person.id}`).map(({ detail }) => detail)
    expect(details).toContainEqual({ state: 'inactive' })
  })

  test('takes nobody along, of this tenant or another', async () => {
    await using fixture = await bootPeople()
    const { person } = await known(fixture)
    const other = await known(fixture, 'kept@example.com')
    const globex = await fixture.party()
    const same = await globex.createIdentity({ traits: { email: EMAIL } })
    const before = tablesWith(fixture.app, other.person.id)
    const addresses = tablesWith(fixture.app, 'kept@example.com')

    await remove(fixture, person)

    expect(await fixture.readIdentity(other.person)).toMatchObject({ id: other.person.id })
    expect(await fixture.whoami(other.token)).toMatchObject({ status: 200 })
    expect(await globex.readIdentity(same)).toEqual(same)
    expect(tablesWith(fixture.app, other.person.id)).toEqual(before)
    expect(tablesWith(fixture.app, 'kept@example.com')).toEqual(addresses)
    expect(tablesWith(fixture.app, person.id)).not.toHaveProperty('mails')
  })

  test('makes room for the next one with the address, who inherits nothing', async () => {
    await using fixture = await bootPeople()
    const { person, token } = await known(fixture)
    await remove(fixture, person)

    const next = await fixture.createIdentity({ traits: { email: EMAIL } })

    expect(next.id).not.toBe(person.id)
    expect(next).toMatchObject({
      metadata_public: {},
      credentials: {},
      verifiable_addresses: [{ verified: false, status: 'pending' }],
    })
    expect(next.traits).not.toHaveProperty('custom_data')
    expect((await fixture.api.get(personPath(next, '/sessions'))).body).toEqual([])
    expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  })

  test('of several who ask for it at once, one deletes them', async () => {
    await using fixture = await bootPeople()
    await using target = await startTarget()
    const person = await fixture.createIdentity()
    await fixture.createWebhook(target.url)

    const answers = await Promise.all(
      Array.from({ length: 4 }, () => fixture.api.delete(personPath(person))),
    )
    await rest(fixture.app)

    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404])
    expect(typesTold(target)).toEqual(['identity.deleted'])
  })

  test('of whom there is more than goes at once is gone after the next clean-up', async () => {
    await using fixture = await bootPeople()
    const person = await fixture.createIdentity({ traits: { email: EMAIL } })
    copyMessage(fixture.app, rowsOf(fixture.app, 'messages')[0], 1200)
    const left = () => tablesWith(fixture.app, EMAIL).messages ?? 0
    expect(left()).toBe(1201)

    await remove(fixture, person)
    const { length: first } = openErasures(fixture)
    const after = left()
    await sweepThrough(fixture)

    expect(first).toBe(1)
    expect(after).toBeGreaterThan(0)
    expect(after).toBeLessThan(1201)
    expect(tablesWith(fixture.app, EMAIL)).toEqual({})
    expect(openErasures(fixture)).toEqual([])
  })
})

/** In the middle of everything that somebody can be in the middle of. */
async function busy() {
  const people = await bootPeople()
  const flows = flowsOf(people.app, { tenantId: people.acme.id, ...people })
  const fixture: FlowFixture = { ...people, ...flows }
  await fixture.security({ mfa_enabled: true, passwordless_enabled: true })
  const { session_token: token, identity } = await fixture.register(EMAIL)
  const secret = await fixture.enrol(token)
  await recoveryCodes(fixture, token)
  await connect(fixture, identity, 'github', `subject of ${EMAIL}`)
  const headers = { 'x-session-token': token }

  const byMail = async (kind: string, field: string, header = {}, query = '') => {
    fixture.clock.jump(31 * SECOND)
    const flow = await fixture.start(kind, header, query)
    await fixture.sendWell(flow, { method: 'code', [field]: EMAIL })
    return { flow, code: fixture.codeFor(EMAIL) }
  }
  const mailed = {
    login: await byMail('login', 'identifier'),
    recovery: await byMail('recovery', 'email'),
    verification: await byMail('verification', 'email'),
  }
  const done = await fixture.tryPassword(EMAIL)
  const owing: string = done.body.continue_with.at(-1).redirect_browser_to
  const settings = await fixture.settings(token)
  const refresh = await fixture.start('login', headers, '?refresh=true')
  const second = (await fixture.read(owing)).body
  return { fixture, identity, secret, mailed, second, settings, refresh, headers }
}

describe('a deleted person who was in the middle of something', () => {
  test('leaves nothing of it, and nothing of what they signed in with', async () => {
    const { fixture, identity } = await busy()
    await using _ = fixture
    const before = tablesWith(fixture.app, identity.id)
    for (const table of ['gate_credentials', 'gate_social_links', 'gate_flows', 'gate_codes'])
      expect(before).toHaveProperty(table)
    expect(tablesWith(fixture.app, EMAIL)).toHaveProperty('gate_flows')

    await remove(fixture, identity)
    await rest(fixture.app)

    for (const table of ['gate_credentials', 'gate_social_links', 'gate_codes', 'gate_sessions'])
      expect(rowsOf(fixture.app, table)).toEqual([])
    expect(tablesWith(fixture.app, EMAIL)).toEqual({})
    expect(tablesWith(fixture.app, identity.id)).not.toHaveProperty('gate_flows')
    expect(openErasures(fixture)).toEqual([])
  })

  test('finds it ended, and never an error of ours', async () => {
    const { fixture, identity, secret, mailed, second, settings, refresh, headers } = await busy()
    await using _ = fixture
    const browser = newBrowser(fixture.app)
    const page = await browser.visit(settings.hosted_url)

    await remove(fixture, identity)

    for (const { hosted_url } of [settings, second, refresh]) {
      expect(await fixture.app.raw(pathOf(hosted_url), { headers })).toMatchObject({ status: 404 })
      expect(await browser.visit(hosted_url)).toMatchObject({ status: 404, forms: [] })
    }
    const sent = await browser.press(page, ['method', 'password'], { password: 'a new word here' })
    expect(sent.status).toBe(404)
    const totp = { method: 'totp', totp_code: nextCode(fixture, secret) }
    const proof = { method: 'password', password: PASSWORD }
    for (const [flow, fields] of [
      [settings, proof],
      [second, totp],
      [refresh, proof],
    ] as [Json, Json][])
      expect(await fixture.send(flow, fields, headers)).toMatchObject({ status: 404 })
    for (const { flow, code } of Object.values(mailed)) {
      const { status } = await fixture.send(flow, { method: 'code', code })
      expect([404, 422]).toContain(status)
    }
    expect(await fixture.tryPassword(EMAIL)).toMatchObject({ status: 422 })
    expect(fixture.app.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  test('is told of to nobody who brings back a code for their session', async () => {
    const { fixture, identity } = await busy()
    await using _ = fixture
    const { key } = fixture
    const headers = { 'x-return-to': 'https://app.example.com/' }
    const { hosted_url, id } = await fixture.start('registration', headers)
    const browser = newBrowser(fixture.app)
    const typed = { 'traits.email': 'fresh@example.com', password: PASSWORD }
    const page = await browser.visit(hosted_url)
    const { location } = await browser.press(page, ['method', 'password'], typed)
    const code = new URL(location).searchParams.get('code')
    const [fresh] = (await fixture.api.get(`${IDENTITIES}?email=fresh@example.com`)).body.data

    await remove(fixture, fresh)

    const answer = await fixture.app.client(key).post(`${SESSIONS}/exchange`, { flow: id, code })
    expect([400, 404]).toContain(answer.status)
    expect(Object.keys(answer.body)).toEqual(['error'])
    expect(await fixture.readIdentity(identity)).toMatchObject({ id: identity.id })
  })

  test('leaves the flows of others with the same address at another tenant', async () => {
    const { fixture, identity } = await busy()
    await using _ = fixture
    const { id: tenantId, ...globex } = await bootParty(fixture.app, 'Globex')
    const other = flowsOf(fixture.app, { tenantId, ...globex })
    const { session_token } = await other.register(EMAIL)
    fixture.clock.jump(31 * SECOND)
    const recovery = await other.start('recovery')
    await other.sendWell(recovery, { method: 'code', email: EMAIL })
    const settings = await other.settings(session_token)

    await remove(fixture, identity)

    const token = { 'x-session-token': session_token }
    expect(await fixture.app.raw(pathOf(settings.ui.action), { headers: token })).toMatchObject({
      status: 200,
    })
    const code = other.codeFor(EMAIL)
    expect(csrfOf(recovery)).toBeString()
    expect((await other.sendWell(recovery, { method: 'code', code })).state).toBe(
      'passed_challenge',
    )
  })
})

/** A clean-up that rests between its slices. */
async function sweepThrough({ app, clock }: Fixture) {
  let isOver = false
  const sweep = app.platform.retention.sweep().then(() => {
    isOver = true
  })
  while (!isOver) {
    await clock.advance(20)
    await breathe(app)
  }
  await sweep
}

describe('an event that is still on its way when its person is deleted', () => {
  const bootFailing = async () => {
    const fixture = await bootPeople()
    const target = startTarget(({ body }) =>
      JSON.parse(body).event_type === 'identity.created'
        ? new Response('not now', { status: 503 })
        : new Response(),
    )
    await fixture.createWebhook(target.url)
    const person = await fixture.createIdentity({ traits: { email: EMAIL } })
    await rest(fixture.app)
    await remove(fixture, person)
    await rest(fixture.app)
    const end = () => Promise.all([target.stop(), fixture.end()])
    return { fixture, target, person, [Symbol.asyncDispose]: async () => void (await end()) }
  }

  test('is delivered first, and erased by the next clean-up', async () => {
    await using failing = await bootFailing()
    const { fixture, target, person } = failing
    expect(typesTold(target)).toEqual(['identity.created', 'identity.deleted'])
    expect(await fixture.api.get(personPath(person))).toMatchObject({ status: 404 })
    await fixture.app.platform.retention.sweep()
    expect(openErasures(fixture)).toHaveLength(1)

    target.answers(() => new Response())
    await fixture.clock.advance(SECOND)
    await rest(fixture.app)
    expect(typesTold(target)).toEqual(['identity.created', 'identity.deleted', 'identity.created'])
    expect(told(target)[2]).toEqual(told(target)[0])
    await fixture.app.platform.retention.sweep()

    expect(tablesWith(fixture.app, EMAIL)).toEqual({})
    expect(rowsOf(fixture.app, 'messages').map(({ type }) => type)).toEqual(['identity.deleted'])
    expect(openErasures(fixture)).toEqual([])
  })

  test('is erased once it is given up, too', async () => {
    await using failing = await bootFailing()
    const { fixture, target } = failing

    await fixture.clock.advance(3 * SECOND)
    await rest(fixture.app)
    expect(typesTold(target).filter((type) => type === 'identity.created')).toHaveLength(3)
    await fixture.app.platform.retention.sweep()

    expect(tablesWith(fixture.app, EMAIL)).toEqual({})
    expect(openErasures(fixture)).toEqual([])
  })

  test('is known to nothing else meanwhile', async () => {
    await using failing = await bootFailing()

    expect(tablesWith(failing.fixture.app, EMAIL)).toEqual({ messages: 1 })
  })
})

test('the clean-up within a minute takes up a deletion that a crash cut short', async () => {
  await using fixture = await bootPeople()
  await using target = await startTarget()
  await fixture.createWebhook(target.url)
  const { person, token, access_token } = await known(fixture)
  const { db } = fixture.app
  await db.commit(() => {
    db.client.run('delete from gate_identities where id = ?', [person.id])
    db.client.run(
      'insert into gate_erasures (identity_id, tenant_id, requested_at) values (?, ?, 0)',
      [person.id, fixture.acme.id],
    )
  })
  expect(Object.keys(tablesWith(fixture.app, EMAIL)).sort()).toEqual(['mails', 'messages'])
  expect(await fixture.whoami(token)).toMatchObject({ status: 401 })
  const introspected = await fixture.api.post(`${TOKENS}/introspect`, { access_token })
  expect(introspected).toMatchObject({ status: 200, body: { active: false } })

  await fixture.app.platform.retention.sweep()

  expect(tablesWith(fixture.app, EMAIL)).toEqual({})
  expect(tablesWith(fixture.app, person.id)).not.toHaveProperty('gate_access_tokens')
  expect(openErasures(fixture)).toEqual([])
})
