import { expect, test } from 'bun:test'
import { createStore } from '../../src/engines/gate/store.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { ACCOUNT, pagesOf, SYSTEM, UNKNOWN_ID, useConsole } from './fixture.ts'

const PAGE = '/account'
const CHROME =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36'

const app = await useConsole()
const { gateOperators } = app.gate

const sessionsOf = (id: string) => gateOperators.sessions.list(id).map((session) => session.id)

const openedFrom = (sessionId: string, userAgent: string) =>
  app.db.client
    .query("UPDATE gate_sessions SET user_agent = ?, ip_address = '192.0.2.7' WHERE id = ?")
    .run(userAgent, sessionId)

test('Sign-in methods are changed on the pages of gate, which lead back', async () => {
  const operator = newHttpBrowser()
  const form = await operator.visit(await app.setUpUrl())
  await operator.press(form, 'Create account and tenant', { ...ACCOUNT, tenant: 'Acme' })
  const account = await operator.visit(`${app.url}/console/account`)
  const settings = await operator.press(account, 'Edit sign-in settings')
  expect([settings.status, settings.html]).toEqual([200, expect.stringContaining(ACCOUNT.email)])
  expect((await operator.follow(settings, '/console/account')).url).toBe(account.url)
  const { send } = await app.signIn()
  for (const [section, hash] of [
    ['password', '#section-password'],
    ['totp', '#section-totp'],
    ['elsewhere', ''],
  ] as const) {
    const { location } = await send(`${PAGE}/settings`, { section })
    expect(new URL(location ?? '').hash).toBe(hash)
  }
})

test('The page says how the operator signed in, and where else', async () => {
  const operator = await app.signIn()
  const first = await operator.open(PAGE)
  first.says('with password. No other sessions.', operator.email, 'not on a team yet')
  const second = await app.sessionOf(operator)
  openedFrom(second.sessionId, CHROME)
  await operator.enrol()
  await operator.showSecondFactor(operator.sessionId)
  const page = await operator.open(PAGE)
  page.says(' with password and authenticator app.', '1 other session.', 'Chrome on Linux')
  page.says('192.0.2.7', `/sessions/${second.sessionId}/end`)
  page.omits(`/sessions/${operator.sessionId}/end`)
  expect(page.html).toMatch(/Unknown device(?:(?!<tr).)*This session/)
})

test('Sign-in methods are listed without their secrets', async () => {
  const { password } = ACCOUNT
  const account = { email: 'ways@example.com', displayName: 'Ada', password, isVerified: true }
  const { id } = await gateOperators.create(SYSTEM, account)
  const opened = { method: 'link', ipAddress: null, userAgent: null } as const
  const { token } = await app.db.commit(() => gateOperators.open({ id }, opened))
  const { open } = pagesOf(app, `identity_session=${token}`)
  expect((await open(PAGE)).text).toMatch(/Password Set up Added now.*Not set up/)
  const at = app.clock.now()
  const codes = [1, null, null, null].map((usedAt, n) => ({ hash: `hash-${n}`, usedAt }))
  const of = { tenantId: SYSTEM_TENANT_ID, identityId: id, createdAt: at, updatedAt: at }
  await app.db.commit(() => {
    const { credentials, socialLinks } = createStore(app.db)
    const config = JSON.stringify({ codes })
    credentials.put({ ...of, version: 0, type: 'lookup_secret', config })
    socialLinks.insert({ ...of, provider: 'github-tenant', subject: '583231', tokens: null })
  })
  const page = await open(PAGE)
  page.says('3 of 4 left', 'GitHub Linked').omits('hash-', '583231', '$argon2')
  expect(page.rows).toEqual(expect.arrayContaining(['password', 'totp', 'lookup_secret']))
})

test('Sessions are signed out one by one, or all but the current one', async () => {
  const operator = await app.signIn()
  const others = [await app.sessionOf(operator), await app.sessionOf(operator)]
  const [other, foreign] = [await app.sessionOf(operator), await app.signIn()]
  const end = (id: string) => operator.send(`${PAGE}/sessions/${id}/end`)
  ;(await operator.follow(await end(other.sessionId))).says('Session signed out.')
  expect((await other.open(PAGE)).location).toContain('/login')
  expect(operator.audited('session.revoked')).toEqual([`session:${other.sessionId}`])
  for (const id of [foreign.sessionId, UNKNOWN_ID, 'x']) expect((await end(id)).status).toBe(404)
  expect([sessionsOf(foreign.id).length, sessionsOf(operator.id).length]).toEqual([1, 3])
  const page = await operator.press(PAGE, 'Sign out other sessions')
  page.says('Other sessions signed out.').omits('Sign out other sessions')
  expect(sessionsOf(operator.id)).toEqual([operator.sessionId])
  for (const { open } of others) expect((await open(PAGE)).location).toContain('/login')
  expect(operator.audited('sessions.revoked')).toEqual([`identity:${operator.id}`])
  const own = await end(operator.sessionId)
  expect(own.headers.get('set-cookie')).toContain('identity_session=; ')
  expect(sessionsOf(operator.id)).toEqual([])
})
