import { describe, expect, test } from 'bun:test'
import { createStore } from '../../src/engines/gate/store.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { ACCOUNT, pagesOf, SYSTEM, servedApp, UNKNOWN_ID, useConsole } from './fixture.ts'

const PAGE = '/console/account'
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

const app = await useConsole()

const sessionsOf = (id: string) =>
  app.gate.gateOperators.sessions.list(id).map((session) => session.id)

const openedFrom = (sessionId: string, userAgent: string, address: string) =>
  app.db.client
    .query('UPDATE gate_sessions SET user_agent = ?, ip_address = ? WHERE id = ?')
    .run(userAgent, address, sessionId)

test('The page says how the operator signed in, and where else', async () => {
  const operator = await app.signIn()
  const first = await operator.open(PAGE)
  for (const words of ['with password. No other sessions.', operator.email, 'not on a team yet'])
    expect(first.text).toContain(words)
  const second = await app.sessionOf(operator)
  openedFrom(second.sessionId, CHROME, '192.0.2.7')
  await operator.enrol()
  await operator.showSecondFactor(operator.sessionId)
  const { text, html } = await operator.open(PAGE)
  for (const words of [
    ' with password and authenticator app.',
    '1 other session.',
    'Chrome on Linux',
    '192.0.2.7',
    'Unknown device',
  ])
    expect(text).toContain(words)
  expect(html).toMatch(/Unknown device(?:(?!<tr).)*This session/)
  expect(html).toContain(`${PAGE}/sessions/${second.sessionId}/end`)
  expect(html).not.toContain(`${PAGE}/sessions/${operator.sessionId}/end`)
})

test.each(['<script>alert(1)</script>', '\u202eevil', 'x'.repeat(10_000)])(
  'A device is not shown by what it says of itself',
  async (userAgent) => {
    const operator = await app.signIn()
    openedFrom(operator.sessionId, userAgent, '192.0.2.7')
    const { text, html } = await operator.open(PAGE)
    expect([html.includes(userAgent), text.includes('Unknown device')]).toEqual([false, true])
  },
)

test('The page lists tenants and installation with the current one', async () => {
  const [acme, other] = [(await app.tenant('Acme')).id, (await app.tenant('Other')).id]
  const operator = await app.signIn({
    isAdmin: true,
    roles: { [acme]: 'owner', [other]: 'viewer' },
  })
  const choices = async () => {
    const main = (await operator.open(PAGE)).html.split('<main')[1] ?? ''
    return [...main.matchAll(/name="to" value="([^"]+)"/g)].map(([, to]) => to)
  }
  expect(await choices()).toEqual([other, 'installation'])
  await operator.actIn(null)
  expect(await choices()).toEqual([acme, other])
})

test('Sign-in methods are listed without their secrets', async () => {
  const { gateOperators } = app.gate
  const { password } = ACCOUNT
  const account = { email: 'ways@example.com', displayName: 'Ada', password, isVerified: true }
  const { id } = await gateOperators.create(SYSTEM, account)
  const device = { ipAddress: null, userAgent: null }
  const { token } = await app.db.commit(() =>
    gateOperators.open({ id }, { method: 'link', ...device }),
  )
  const { open } = pagesOf(app, `identity_session=${token}`)
  const before = (await open(PAGE)).text
  expect(before).toMatch(/Password Set up Added now/)
  expect(before).toMatch(/Not set up/)

  const at = app.clock.now()
  const codes = [1, null, null, null].map((usedAt, n) => ({ hash: `hash-${n}`, usedAt }))
  const of = { tenantId: SYSTEM_TENANT_ID, identityId: id, createdAt: at, updatedAt: at }
  await app.db.commit(() => {
    const { credentials, socialLinks } = createStore(app.db)
    const config = JSON.stringify({ codes })
    credentials.put({ ...of, version: 0, type: 'lookup_secret', config })
    socialLinks.insert({ ...of, provider: 'github-tenant', subject: '583231', tokens: null })
  })
  const { text, html, rows } = await open(PAGE)
  for (const words of ['3 of 4 left', 'GitHub Linked']) expect(text).toContain(words)
  expect(rows).toEqual(expect.arrayContaining(['password', 'totp', 'lookup_secret']))
  expect(html).not.toMatch(/hash-|583231|\$argon2/)
})

test('Sign-in methods are changed on the pages of gate, which lead back', async () => {
  await using served = await servedApp()
  const operator = newHttpBrowser()
  const form = await operator.visit(await served.setUpUrl())
  await operator.press(form, 'Create account and tenant', { ...ACCOUNT, tenant: 'Acme' })
  const account = await operator.visit(served.url + PAGE)
  const settings = await operator.press(account, 'Edit sign-in settings')
  expect([settings.status, settings.html]).toEqual([200, expect.stringContaining(ACCOUNT.email)])
  expect(new URL((await operator.follow(settings, PAGE)).url).pathname).toBe(PAGE)

  await operator.press(account, 'Switch to Installation')
  const there = await operator.visit(served.url + PAGE)
  expect(there.text).toContain('Current')
  await operator.press(there, 'Sign out')
  const after = await operator.visit(served.url + PAGE)
  expect(new URL(after.url).pathname).toBe('/auth/self-service/login')
})

test.each([
  ['password', '#section-password'],
  ['totp', '#section-totp'],
  ['elsewhere', ''],
])('The link to change %s leads to its section', async (section, hash) => {
  const { location } = await (await app.signIn()).send(`${PAGE}/settings`, { section })
  expect(new URL(location ?? '').hash).toBe(hash)
})

describe('Sessions', () => {
  test('are signed out one by one, effective immediately', async () => {
    const operator = await app.signIn()
    const [other, foreign] = [await app.sessionOf(operator), await app.signIn()]
    const end = (id: string) => operator.send(`${PAGE}/sessions/${id}/end`)
    const ended = await end(other.sessionId)
    expect(ended.location).toBe(`${PAGE}?done=ended`)
    expect((await operator.follow(ended)).text).toContain('Session signed out.')
    expect((await other.open(PAGE)).location).toContain('/console/login')
    expect(operator.audited('session.revoked')).toEqual([`session:${other.sessionId}`])
    for (const id of [foreign.sessionId, UNKNOWN_ID, 'x']) expect((await end(id)).status).toBe(404)
    expect(sessionsOf(foreign.id)).toEqual([foreign.sessionId])

    const own = await end(operator.sessionId)
    expect(own.location).toBe('/console/login')
    expect(own.headers.get('set-cookie')).toContain('identity_session=; ')
    expect(sessionsOf(operator.id)).toEqual([])
  })

  test('are signed out all at once, except the current one', async () => {
    const operator = await app.signIn()
    for (let n = 0; n < 2; n++) await app.sessionOf(operator)
    const ended = await operator.send(`${PAGE}/end-others`)
    expect(ended.location).toBe(`${PAGE}?done=others`)
    expect(sessionsOf(operator.id)).toEqual([operator.sessionId])
    const { text } = await operator.follow(ended)
    expect(text).toContain('Other sessions signed out.')
    expect(text).not.toContain('Sign out other sessions')
    expect(operator.audited('sessions.revoked')).toEqual([`identity:${operator.id}`])
  })
})
