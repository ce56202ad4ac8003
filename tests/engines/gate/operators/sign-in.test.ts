import { describe, expect, spyOn, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import type { Json } from '../fixture.ts'
import { complains, refuses } from '../sign-in/flows/acts.ts'
import { node, nodeNames, pathOf, totpAt } from '../sign-in/flows/fixture.ts'
import {
  BASE,
  bootOperators,
  CLI,
  DEVICE,
  OPEN,
  type OperatorFixture,
  PASSWORD,
  useOperators,
  WITH_MAIL,
} from './fixture.ts'

const fixture = await useOperators({ env: WITH_MAIL })
const open = await useOperators({ flags: OPEN, env: WITH_MAIL })
const { gateOperators, gate, begin } = fixture

const STEP = 30_000

/** Signs in with a password, in a new browser. */
async function signIn(email: string, password = PASSWORD) {
  const browser = fixture.browser()
  return fixture.signedIn(await browser.signIn(await begin('login'), email, password))
}

const settingsOf = async (token: string) =>
  fixture.flowAt(await begin('settings', { sessionToken: token }), token)

/** Sets up an authenticator in the settings, and returns its secret. */
async function enrol(token: string): Promise<string> {
  const flow = await settingsOf(token)
  const { secret } = node(flow, 'totp_secret_key').attributes.text.context
  const totp_code = totpAt(secret, fixture.clock.now())
  const answer = await fixture.send(flow, { method: 'totp', totp_code }, token)
  expect(answer).toMatchObject({ status: 200, body: { state: 'success' } })
  fixture.clock.jump(STEP)
  return secret
}

test('An operator signs in with a password, and the code of the page works once', async () => {
  const { id, email } = await fixture.operator({ displayName: 'Ada Berg', locale: 'de' })
  const browser = fixture.browser()
  const url = await begin('login', { language: 'de' })
  const form = await browser.visit(url)
  for (const text of ['Gatehouse', 'Mit Passwort anmelden']) expect(form.html).toContain(text)
  expect((await browser.signIn(url, email, 'wrong horse battery')).status).toBe(422)
  const page = await browser.signIn(url, email, PASSWORD)
  const { token, session } = await fixture.signedIn(page)
  expect(token).toStartWith('gat_st_')
  expect(session.identity).toMatchObject({
    ...{ id, schema_id: 'operator', schema_url: `${BASE}/public/gate/schemas/operator` },
    traits: { email, display_name: 'Ada Berg', locale: 'de', tenant_id: SYSTEM_TENANT_ID },
  })
  expect(gate.sessions.authenticated(token, SYSTEM_TENANT_ID).id).toBe(session.id)
  const { flow = '', code = '' } = Object.fromEntries(new URL(page.location).searchParams)
  const invalid = expect.objectContaining({ kind: 'invalid', field: 'code' })
  await expect(gateOperators.exchange({ flow, code })).rejects.toThrow(invalid)
  const notFound = expect.objectContaining({ kind: 'not_found' })
  await expect(gateOperators.exchange({ flow: 'x', code: 'x' })).rejects.toThrow(notFound)
})

test('An operator signs in with an email code if emails can be sent', async () => {
  const { email } = await fixture.operator({ password: undefined })
  const browser = fixture.browser()
  const page = await browser.visit(await begin('login'))
  const asked = await browser.press(page, ['method', 'code'], { identifier: email })
  const typed = { code: fixture.codeFor(email) }
  const done = await browser.press(await browser.follow(asked), ['method', 'code'], typed)
  const { session } = await fixture.signedIn(done)
  expect(session.authentication_methods).toMatchObject([{ method: 'code' }])
  expect(fixture.sentTo(email)[0]?.body?.text).toContain('Gatehouse')
})

test('A second factor is required once set up, also after a link, until it is removed', async () => {
  const person = await fixture.operator()
  const { id, email } = person
  const levelOf = ({ session }: { session: Json }) => session.authenticator_assurance_level
  const first = await signIn(email)
  expect(levelOf(first)).toBe('aal1')
  const secret = await enrol(first.token)
  const codeAfter = (ms: number) => ({ totp_code: totpAt(secret, fixture.clock.now() + ms) })

  const browser = fixture.browser()
  const form = await browser.follow(await browser.signIn(await begin('login'), email, PASSWORD))
  const refused = await browser.press(form, ['method', 'totp'], codeAfter(100 * STEP))
  expect(refused.status).toBe(422)
  const done = await browser.press(form, ['method', 'totp'], codeAfter(0))
  expect(levelOf(await fixture.signedIn(done))).toBe('aal2')

  fixture.clock.jump(STEP)
  const { token } = await fixture.app.db.commit(() => gateOperators.open(person, DEVICE))
  const { sessions } = gate
  expect(sessions.owes(sessions.authenticated(token, SYSTEM_TENANT_ID))).toBe(true)
  const other = fixture.browser()
  const url = await begin('login', { sessionToken: token, requestedAal: 'aal2' })
  const shown = await other.press(await other.visit(url), ['method', 'totp'], codeAfter(0))
  expect(levelOf(await fixture.signedIn(shown))).toBe('aal2')

  await gateOperators.removeSecondFactor(CLI, id)
  expect(levelOf(await signIn(email))).toBe('aal1')
})

test('Settings need a session, and change the name but not the language', async () => {
  const refused = expect.objectContaining({ kind: 'unauthenticated' })
  await expect(begin('settings')).rejects.toThrow(refused)
  const { id, email } = await fixture.operator({ displayName: 'Ada', locale: 'de' })
  const { token } = await signIn(email)
  const browser = fixture.browser()
  for (const [name, traits] of [
    [' Ada Berg ', { email, display_name: 'Ada Berg', locale: 'de' }],
    [' ', { email, locale: 'de' }],
  ] as const) {
    const page = await browser.visit(await begin('settings', { sessionToken: token }))
    const typed = { 'traits.display_name': name }
    expect((await browser.press(page, ['method', 'profile'], typed)).status).toBe(303)
    const row = fixture.people().find((one) => one.id === id)
    expect(JSON.parse(row?.traits)).toEqual(traits)
  }
  for (const [traits, message, ...field] of <[Json, number, string?][]>[
    [{ display_name: 'x'.repeat(201) }, 4000017, 'traits.display_name'],
    [{ display_name: 'Ada\u202egreB' }, 4000004, 'traits.display_name'],
    [{ custom_data: {} }, 4000001],
    [{ locale: 'deutsch' }, 4000001],
  ]) {
    const fields = { method: 'profile', traits: { email, ...traits } }
    const answer = await fixture.send(await settingsOf(token), fields, token)
    expect(answer).toMatchObject(complains(message, ...(field as [string])))
  }
})

test('Operators and users have schemas and forms of their own', async () => {
  for (const [schema, names] of [
    ['operator', ['email', 'tenant_id', 'display_name', 'locale']],
    ['user', ['email', 'tenant_id', 'custom_data']],
  ] as const) {
    const { body } = await fixture.app.raw(`/public/gate/schemas/${schema}`)
    expect(body.title).toBe(schema)
    expect(Object.keys(body.properties.traits.properties)).toEqual([...names])
  }
  const tenant = await fixture.tenant()
  const flow = await tenant.start('registration')
  const form = ['default:traits.email', 'password:password', 'password:method=password']
  expect(nodeNames(flow)).toEqual(form)
  const traits = { email: 'ada@example.com', display_name: 'Ada' }
  const answer = await tenant.send(flow, { method: 'password', password: PASSWORD, traits })
  expect(answer).toMatchObject(complains(4000001))
  const { identity, session_token: token } = await tenant.register('ada@example.com')
  expect(identity.schema_id).toBe('user')
  expect(nodeNames(await tenant.settings(token))).not.toContain('profile:traits.display_name')
})

describe('Sign-up', () => {
  const EMAIL = 'newcomer@example.com'

  async function register(own: OperatorFixture, typed: Record<string, string>) {
    const browser = own.browser()
    const form = await browser.visit(await own.begin('registration'))
    return browser.press(form, ['method', 'password'], typed)
  }

  test('when open, creates an operator with a name, and the language of the form', async () => {
    const browser = open.browser()
    const login = await browser.visit(await open.begin('login', { language: 'de' }))
    const link = login.links.find((url) => url.includes('/registration?from=')) ?? ''
    const form = await browser.follow(await browser.visit(link))
    const typed = { 'traits.email': EMAIL, 'traits.display_name': 'Ada Berg', password: PASSWORD }
    const done = await browser.press(form, ['method', 'password'], typed)
    const { identity } = (await open.signedIn(done)).session
    const traits = { email: EMAIL, display_name: 'Ada Berg', locale: 'de' }
    expect(identity).toMatchObject({ schema_id: 'operator', traits })

    const other = { 'traits.email': 'second@example.com', password: PASSWORD }
    const second = await open.signedIn(await register(open, other))
    const plain = { email: 'second@example.com', locale: 'en', tenant_id: SYSTEM_TENANT_ID }
    expect<object>(second.session.identity.traits).toEqual(plain)
  })

  test('with an email code keeps the name that was typed before', async () => {
    const email = 'coded@example.com'
    const browser = open.browser()
    const form = await browser.visit(await open.begin('registration'))
    const typed = { 'traits.email': email, 'traits.display_name': 'Ada Berg' }
    const sent = await browser.follow(await browser.press(form, ['method', 'code'], typed))
    const code = { code: open.codeFor(email) }
    const { session } = await open.signedIn(await browser.press(sent, ['method', 'code'], code))
    expect(session.identity).toMatchObject({
      traits: { display_name: 'Ada Berg' },
      verifiable_addresses: [{ verified: true }],
    })
  })

  test('shows errors with what was typed, and gives a tenant in the same commit', async () => {
    await using own = await bootOperators({ flags: OPEN })
    const typed = { 'traits.email': EMAIL, 'traits.display_name': '<script>alert(1)</script>' }
    const page = await register(own, { ...typed, password: 'password1' })
    expect(page.status).toBe(422)
    expect(page.forms[0]?.fields).toMatchObject(typed)
    const send = async () => {
      const flow = await own.flowAt(await own.begin('registration'))
      return own.send(flow, { method: 'password', traits: { email: EMAIL }, password: PASSWORD })
    }
    const add = spyOn(own.platform.tenants, 'add').mockImplementation(() => {
      throw new Error('no tenant for them')
    })
    expect((await send()).status).toBe(500)
    expect(own.people()).toEqual([])
    add.mockRestore()
    const before = own.platform.tenants.list().length
    expect((await send()).status).toBe(200)
    await own.operator()
    await (await own.tenant()).register(EMAIL)
    expect(own.platform.tenants.list()).toHaveLength(before + 2)
  })

  test('when closed, is linked nowhere and not found, unlike that of tenants', async () => {
    const browser = fixture.browser()
    const url = await begin('login')
    const { links } = await browser.visit(url)
    expect(links.some((link) => link.includes('registration'))).toBe(false)
    expect(links.some((link) => link.includes('/recovery?from='))).toBe(true)
    const from = new URL(url).searchParams.get('flow')
    const page = await browser.visit(url.replace(/login\?.*/, `registration?from=${from}`))
    const unknown = await browser.visit(url.replace(/login\?.*/, 'registration?from=nothing'))
    expect([page.status, page.text]).toEqual([404, unknown.text])
    const notFound = expect.objectContaining({ kind: 'not_found' })
    await expect(begin('registration')).rejects.toThrow(notFound)

    const tenant = await fixture.tenant()
    const hosted = await fixture.browser().visit((await tenant.start('login')).hosted_url)
    const link = hosted.links.find((one) => one.includes('/registration?from=')) ?? ''
    expect((await fixture.browser().visit(link)).status).toBe(303)
    const { identity } = await tenant.register(EMAIL)
    expect(identity.traits).toEqual({ email: EMAIL, tenant_id: tenant.id })
  })

  test('when closed, cannot be completed with an open form, or with codes', async () => {
    const before = fixture.people()
    const flow = await fixture.flowAt(await begin('login'))
    // As if it had been started before sign-up was closed.
    fixture.app.db.client.run("update gate_flows set kind = 'registration' where id = ?", [flow.id])
    flow.ui.action = flow.ui.action.replace('/login', '/registration')
    const fields = { method: 'password', traits: { email: EMAIL }, password: PASSWORD }
    const refused = refuses(404, 'flow_not_found')
    expect(await fixture.send(flow, fields)).toMatchObject(refused)
    const headers = { accept: 'application/json' }
    expect(await fixture.app.raw(pathOf(flow.ui.action), { headers })).toMatchObject(refused)

    const login = await fixture.flowAt(await begin('login'))
    await fixture.send(login, { method: 'code', identifier: EMAIL })
    const recovery = await fixture.flowAt(await begin('recovery'))
    await fixture.send(recovery, { method: 'code', email: EMAIL })
    const wrong = await fixture.send(login, { method: 'code', code: '000000' })
    expect(wrong).toMatchObject(complains(4010008, 'code'))
    expect([fixture.people(), fixture.sentTo(EMAIL)]).toEqual([before, []])
  })
})
