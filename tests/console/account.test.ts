import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createStore } from '../../src/engines/gate/store.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { type NewOperator, newOperator } from '../support/operator.ts'
import { ACCOUNT, audited, servedApp } from './console-fixture.ts'

const PASSWORD = 'correct horse battery'
const NOBODYS = '01900000-0000-7000-8000-000000000000'
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

let app: TestApp
beforeAll(async () => {
  app = await bootTestApp()
})
afterAll(() => app.stop())

/** Somebody at the console, in a session of their own. */
async function at(options: NewOperator = {}) {
  const operator = await newOperator(app, options)
  const session = await operator.signIn()
  return { ...operator, ...session, ...doorsOf(session) }
}

const doorsOf = ({ headers }: { headers: Record<string, string> }) => ({
  see: (path = '') => app.raw(`/console/account${path}`, { headers }),
  send: (path: string) =>
    app.raw(`/console/account${path}`, { method: 'POST', headers, body: new URLSearchParams() }),
})

const locationOf = ({ headers }: { headers: Headers }) => headers.get('location')

const sessionsOf = (id: string) =>
  app.gate.gateOperators.sessions.list(id).map((session) => session.id)

/** How a session was opened, as if from a browser. */
const openedFrom = (sessionId: string, userAgent: string | null, address: string | null) =>
  app.db.client
    .query('UPDATE gate_sessions SET user_agent = ?, ip_address = ? WHERE id = ?')
    .run(userAgent, address, sessionId)

describe('the account', () => {
  test('is there for everybody who is signed in, wherever they act', async () => {
    const { id: tenantId } = await app.tenant()
    const people: NewOperator[] = [
      { roles: { [tenantId]: 'owner' } },
      { roles: { [tenantId]: 'member' } },
      { roles: { [tenantId]: 'viewer' } },
      { isAdmin: true },
      {},
    ]
    for (const options of people) {
      const somebody = await at(options)
      const { status, body } = await somebody.see()
      expect([status, body.includes(somebody.email)]).toEqual([200, true])
    }
  })

  test.each([
    ['GET', ''],
    ['POST', '/settings'],
    ['POST', '/end-others'],
    ['POST', `/sessions/${NOBODYS}/end`],
  ])('is for no stranger: %s %s', async (method, path) => {
    const url = `/console/account${path}`
    expect((await app.raw(url, { method })).status).toBe(401)
    const { headers } = await at()
    const foreign = { ...headers, 'sec-fetch-site': 'cross-site' }
    if (method === 'POST')
      expect((await app.raw(url, { method, headers: foreign })).status).toBe(403)
  })

  test('says how somebody got in, and what else is open', async () => {
    const operator = await newOperator(app)
    const first = await operator.signIn()
    expect((await doorsOf(first).see()).body).toContain(' with password. No other sessions.')
    await operator.signIn()
    expect((await doorsOf(first).see()).body).toContain('1 other session.')
    await operator.enrol()
    await operator.showSecondFactor(first.id)
    expect((await doorsOf(first).see()).body).toContain(' with password and authenticator app.')
  })

  test('lists the places to act in, with the role, and marks the one at hand', async () => {
    const [acme, other] = [await app.tenant('Acme'), await app.tenant('Other')]
    const somebody = await at({
      isAdmin: true,
      roles: { [acme.id]: 'owner', [other.id]: 'viewer' },
    })
    const { body } = await somebody.see()
    expect(body).toContain(`<input type="hidden" name="to" value="${other.id}"/>`)
    expect(body).toContain('<input type="hidden" name="to" value="installation"/>')
    expect(body).not.toContain(`<input type="hidden" name="to" value="${acme.id}"/>`)
    await somebody.actIn(null)
    const elsewhere = (await somebody.see()).body
    expect(elsewhere).not.toContain('name="to" value="installation"/>')
  })

  test('of somebody who belongs nowhere says what to do', async () => {
    expect((await (await at()).see()).body).toContain('not on a team yet')
  })
})

describe('the ways in', () => {
  const rowOf = ({ body }: { body: string }, id: string) =>
    (new RegExp(`<tr id="row-${id}".*?</tr>`, 's').exec(body)?.[0] ?? '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ')

  test('are listed with what they are since when, and none of their secrets', async () => {
    const { gateOperators } = app.gate
    const { id } = await gateOperators.create(
      { kind: 'system' },
      { email: 'ways@example.com', displayName: 'Ada', password: PASSWORD, isVerified: true },
    )
    const { token } = await app.db.commit(() =>
      gateOperators.open({ id }, { method: 'link', ipAddress: null, userAgent: null }),
    )
    const page = () =>
      app.raw('/console/account', { headers: { cookie: `identity_session=${token}` } })
    const before = await page()
    expect(rowOf(before, 'password')).toContain('Password Set up Added now')
    expect(rowOf(before, 'totp')).toContain('Not set up')
    expect(rowOf(before, 'lookup_secret')).toBe('')

    const at = app.clock.now()
    const codes = [1, null, null, null].map((usedAt, n) => ({ hash: `hash-${n}`, usedAt }))
    const kept = {
      tenantId: SYSTEM_TENANT_ID,
      identityId: id,
      version: 0,
      createdAt: at,
      updatedAt: at,
    }
    await app.db.commit(() => {
      const { credentials, socialLinks } = createStore(app.db)
      credentials.put({ ...kept, type: 'lookup_secret', config: JSON.stringify({ codes }) })
      const account = {
        tenantId: SYSTEM_TENANT_ID,
        identityId: id,
        subject: '583231',
        tokens: null,
      }
      socialLinks.insert({ ...account, provider: 'github-tenant', createdAt: at, updatedAt: at })
    })
    const after = await page()
    expect(rowOf(after, 'lookup_secret')).toContain('3 of 4 left')
    expect(rowOf(after, 'github-tenant')).toContain('GitHub Linked')
    for (const secret of ['hash-', '583231', '$argon2']) expect(after.body).not.toContain(secret)
  })

  test.each([
    ['password', '#section-password'],
    ['totp', '#section-totp'],
    ['elsewhere', ''],
  ])('lead to where each is changed: %s', async (section, fragment) => {
    const { headers } = await at()
    const body = new URLSearchParams({ section })
    const answer = await app.raw('/console/account/settings', { method: 'POST', headers, body })
    expect(answer.status).toBe(303)
    expect(new URL(locationOf(answer) ?? '').hash).toBe(fragment)
  })
})

describe('sessions', () => {
  test('are listed by device and place, this one marked', async () => {
    const operator = await newOperator(app)
    const [first, second] = [await operator.signIn(), await operator.signIn()]
    openedFrom(first.id, CHROME, '192.0.2.7')
    const { body } = await doorsOf(first).see()
    expect(body).toMatch(/Chrome on Linux(?:(?!<tr).)*This session(?:(?!<tr).)*<tr/)
    expect(body).toContain('192.0.2.7')
    expect(body).toContain('Unknown device')
    expect(body).toContain(`/console/account/sessions/${second.id}/end`)
    expect(body).not.toContain(`/console/account/sessions/${first.id}/end`)
  })

  test('never show what a device says of itself', async () => {
    const somebody = await at()
    for (const hostile of ['<script>alert(1)</script>', '\u202eevil', 'x'.repeat(10_000)]) {
      openedFrom(somebody.id, hostile, '192.0.2.7')
      const { status, body } = await doorsOf(somebody).see()
      expect(status).toBe(200)
      expect(body).not.toContain(hostile)
      expect(body).toContain('Unknown device')
    }
  })

  test('end one by one, and are refused at once', async () => {
    const operator = await newOperator(app)
    const [first, second] = [await operator.signIn(), await operator.signIn()]
    const answer = await doorsOf(first).send(`/sessions/${second.id}/end`)
    expect(locationOf(answer)).toBe('/console/account?done=ended')
    expect((await doorsOf(second).see()).status).toBe(401)
    expect((await doorsOf(first).see('?done=ended')).body).toContain('Session signed out.')
    expect(audited(app, 'session.revoked').at(-1)).toMatchObject({
      actor_kind: 'operator',
      actor_id: operator.id,
      object: `session:${second.id}`,
    })
  })

  test('of oneself end at the door', async () => {
    const operator = await newOperator(app)
    const session = await operator.signIn()
    const answer = await doorsOf(session).send(`/sessions/${session.id}/end`)
    expect(locationOf(answer)).toBe('/console/login')
    expect(answer.headers.get('set-cookie')).toContain('identity_session=; ')
    expect(sessionsOf(operator.id)).toEqual([])
  })

  test('of others are nobody’s', async () => {
    const [operator, other] = [await newOperator(app), await newOperator(app)]
    const [own, theirs] = [await operator.signIn(), await other.signIn()]
    for (const id of [theirs.id, NOBODYS, 'x'])
      expect((await doorsOf(own).send(`/sessions/${id}/end`)).status).toBe(404)
    expect(sessionsOf(other.id)).toEqual([theirs.id])
  })

  test('end all but this one', async () => {
    const operator = await newOperator(app)
    const [kept] = [await operator.signIn(), await operator.signIn(), await operator.signIn()]
    const answer = await doorsOf(kept).send('/end-others')
    expect(locationOf(answer)).toBe('/console/account?done=others')
    expect(sessionsOf(operator.id)).toEqual([kept.id])
    const page = await doorsOf(kept).see('?done=others')
    expect(page.body).toContain('Other sessions signed out.')
    expect(page.body).not.toContain('Sign out other sessions')
    expect(audited(app, 'sessions.revoked').at(-1)).toMatchObject({
      actor_id: operator.id,
      object: `identity:${operator.id}`,
    })
  })
})

test.each([
  ['markup', '<script>alert(1)</script>', '&lt;script>alert(1)&lt;/script>'],
  ['marks that turn lines round', 'Ada \u202egnp.exe', 'title="Ada \u202egnp.exe"'],
  ['many letters', 'y'.repeat(10_000), `title="${'y'.repeat(10_000)}"`],
])('names of %s are text and whole', async (_, name, shown) => {
  const { id: tenantId } = await app.tenant(name)
  const operator = await newOperator(app, { roles: { [tenantId]: 'owner' } })
  app.db.client
    .query('UPDATE gate_identities SET traits = ? WHERE id = ?')
    .run(JSON.stringify({ email: operator.email, display_name: name }), operator.id)
  const { status, body } = await doorsOf(await operator.signIn()).see()
  expect(status).toBe(200)
  expect(body).not.toContain('<script>alert')
  expect(body).toContain(shown)
})

test('the ways in are changed on the pages of gate, which lead back', async () => {
  await using served = await servedApp()
  const operator = newHttpBrowser()
  const form = await operator.visit(await served.setUpUrl())
  await operator.press(form, 'Create account and tenant', { ...ACCOUNT, tenant: 'Acme' })
  const account = await operator.visit(`${served.url}/console/account`)
  const settings = await operator.press(account, 'Edit sign-in settings')
  expect(settings.status).toBe(200)
  expect(new URL(settings.url).pathname).toContain('settings')
  expect(settings.html).toContain(ACCOUNT.email)
  const back = await operator.follow(settings, '/console/account')
  expect([back.status, new URL(back.url).pathname]).toEqual([200, '/console/account'])
})

test('somebody signs out here, and acts elsewhere from here', async () => {
  await using served = await servedApp()
  const operator = newHttpBrowser()
  const form = await operator.visit(await served.setUpUrl())
  await operator.press(form, 'Create account and tenant', { ...ACCOUNT, tenant: 'Acme' })
  const account = await operator.visit(`${served.url}/console/account`)
  await operator.press(account, 'Switch to Installation')
  const there = await operator.visit(`${served.url}/console/account`)
  expect(there.text).toContain('Current')
  await operator.press(there, 'Sign out')
  const after = await operator.visit(`${served.url}/console/account`)
  expect(new URL(after.url).pathname).not.toBe('/console/account')
  expect(after.text).not.toContain('Sessions')
})
