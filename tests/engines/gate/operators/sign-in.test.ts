import { describe, expect, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { complains } from '../sign-in/flows/acts.ts'
import { node, nodeNames, totpAt } from '../sign-in/flows/fixture.ts'
import {
  BASE,
  bootOperators,
  CLI,
  NAME,
  OPEN,
  type OperatorFixture,
  PASSWORD,
  WITH_MAIL,
} from './fixture.ts'

const NEW_PASSWORD = 'seven green bicycles'
const STEP = 30_000

/** Signs somebody in by the password, in a browser of their own. */
async function comeIn(fixture: OperatorFixture, email: string, password = PASSWORD) {
  const browser = fixture.browser()
  return fixture.signedIn(await browser.signIn(await fixture.begin('login'), email, password))
}

/** An authenticator, set up in the settings: its secret. */
async function enrol(
  { begin, flowAt, send, clock }: OperatorFixture,
  token: string,
): Promise<string> {
  const flow = await flowAt(await begin('settings', { sessionToken: token }), token)
  const { secret } = node(flow, 'totp_secret_key').attributes.text.context
  const answer = await send(flow, { method: 'totp', totp_code: totpAt(secret, clock.now()) }, token)
  expect(answer).toMatchObject({ status: 200, body: { state: 'success' } })
  return secret
}

describe('an operator signs in on the hosted pages', () => {
  test('by password, and gets the session of an operator', async () => {
    await using fixture = await bootOperators()
    const { id, email } = await fixture.operator({ displayName: 'Ada Berg', locale: 'de' })

    const { token, session } = await comeIn(fixture, email)

    expect(token).toStartWith('gat_st_')
    expect(session.identity).toMatchObject({
      id,
      schema_id: 'operator',
      schema_url: `${BASE}/public/gate/schemas/operator`,
      traits: { email, display_name: 'Ada Berg', locale: 'de', tenant_id: SYSTEM_TENANT_ID },
    })
    expect(fixture.gate.sessions.authenticated(token, SYSTEM_TENANT_ID).id).toBe(session.id)
  })

  test('a wrong password is told on the page, and what was brought back counts once', async () => {
    await using fixture = await bootOperators()
    const { email } = await fixture.operator()
    const browser = fixture.browser()

    const url = await fixture.begin('login')
    const wrong = await browser.signIn(url, email, 'wrong horse battery')
    expect([wrong.status, wrong.text.includes('Incorrect')]).toEqual([422, true])

    const right = await browser.signIn(url, email, PASSWORD)
    await fixture.signedIn(right)
    const { flow = '', code = '' } = Object.fromEntries(new URL(right.location).searchParams)
    expect(fixture.gateOperators.exchange({ flow, code })).rejects.toThrow(
      'code: is wrong, used, or expired',
    )
    expect(fixture.gateOperators.exchange({ flow: 'x', code: 'x' })).rejects.toThrow(
      'flow not found',
    )
  })

  test('the page carries the name of the installation, in the language that was asked for', async () => {
    await using fixture = await bootOperators()
    const page = await fixture.browser().visit(await fixture.begin('login', { language: 'de' }))
    expect(page.html).toContain(NAME)
    expect(page.html).toContain('Mit Passwort anmelden')
  })

  test('by a code from a mail, where mails go out', async () => {
    await using fixture = await bootOperators({ env: WITH_MAIL })
    const { email } = await fixture.operator({ password: undefined })
    const browser = fixture.browser()

    const page = await browser.visit(await fixture.begin('login'))
    const asked = await browser.press(page, ['method', 'code'], { identifier: email })
    const typed = { code: fixture.codeFor(email) }
    const { session } = await fixture.signedIn(
      await browser.press(await browser.follow(asked), ['method', 'code'], typed),
    )

    expect(session.authentication_methods).toMatchObject([{ method: 'code' }])
    expect(fixture.sentTo(email)[0]?.body?.text).toContain(NAME)
  })

  test('and by none, where no mails go out', async () => {
    await using fixture = await bootOperators()
    const flow = await fixture.flowAt(await fixture.begin('login'))
    expect(nodeNames(flow)).not.toContain('code:method=code')
  })
})

describe('the second factor', () => {
  test('is asked of whoever has set one up, and of nobody else', async () => {
    await using fixture = await bootOperators()
    const { email } = await fixture.operator()
    const first = await comeIn(fixture, email)
    const secret = await enrol(fixture, first.token)
    fixture.clock.jump(STEP)

    const browser = fixture.browser()
    const asked = await browser.signIn(await fixture.begin('login'), email, PASSWORD)
    const form = await browser.follow(asked)
    const typed = { totp_code: totpAt(secret, fixture.clock.now()) }
    const { session } = await fixture.signedIn(await browser.press(form, ['method', 'totp'], typed))

    expect(first.session.authenticator_assurance_level).toBe('aal1')
    expect(session.authenticator_assurance_level).toBe('aal2')
  })

  test('a code that is not right lets nobody in', async () => {
    await using fixture = await bootOperators()
    const { email } = await fixture.operator()
    const secret = await enrol(fixture, (await comeIn(fixture, email)).token)
    fixture.clock.jump(STEP)

    const browser = fixture.browser()
    const asked = await browser.signIn(await fixture.begin('login'), email, PASSWORD)
    const far = totpAt(secret, fixture.clock.now() + 100 * STEP)
    const form = await browser.follow(asked)
    const refused = await browser.press(form, ['method', 'totp'], { totp_code: far })
    expect(refused.status).toBe(422)
  })

  test('is owed by whoever comes by a link, until it is shown', async () => {
    await using fixture = await bootOperators()
    const person = await fixture.operator()
    const secret = await enrol(fixture, (await comeIn(fixture, person.email)).token)
    fixture.clock.jump(STEP)

    const device = { method: 'link', ipAddress: '192.0.2.7', userAgent: 'test' } as const
    const { token } = await fixture.app.db.commit(() => fixture.gateOperators.open(person, device))
    const owes = () =>
      fixture.gate.sessions.owes(fixture.gate.sessions.authenticated(token, SYSTEM_TENANT_ID))
    expect(owes()).toBe(true)

    const browser = fixture.browser()
    const url = await fixture.begin('login', { sessionToken: token, requestedAal: 'aal2' })
    const typed = { totp_code: totpAt(secret, fixture.clock.now()) }
    const shown = await browser.press(await browser.visit(url), ['method', 'totp'], typed)
    const { session } = await fixture.signedIn(shown)
    expect(session.authenticator_assurance_level).toBe('aal2')
  })

  test('is taken away from whoever has lost it, and signing in needs none then', async () => {
    await using fixture = await bootOperators()
    const { id, email } = await fixture.operator()
    await enrol(fixture, (await comeIn(fixture, email)).token)

    await fixture.gateOperators.removeSecondFactor(CLI, id)

    const { session } = await comeIn(fixture, email)
    expect(session.authenticator_assurance_level).toBe('aal1')
  })
})

describe('recovery', () => {
  test('leads by a mailed code to a new password, which signs in', async () => {
    await using fixture = await bootOperators({ env: WITH_MAIL })
    const { email } = await fixture.operator()
    const before = await comeIn(fixture, email)
    const browser = fixture.browser()

    const page = await browser.visit(await fixture.begin('recovery'))
    const asked = await browser.press(page, ['method', 'code'], { email })
    const typed = { code: fixture.codeFor(email) }
    const form = await browser.follow(asked)
    const settings = await browser.follow(await browser.press(form, ['method', 'code'], typed))
    const changed = await browser.press(settings, ['method', 'password'], {
      password: NEW_PASSWORD,
    })
    expect(changed.status).toBe(303)

    expect(() => fixture.gate.sessions.authenticated(before.token, SYSTEM_TENANT_ID)).toThrow(
      'has ended',
    )
    expect((await comeIn(fixture, email, NEW_PASSWORD)).session.identity.traits.email).toBe(email)
  })

  test('of an address that nobody has sends nothing, and does not say so', async () => {
    await using fixture = await bootOperators({ env: WITH_MAIL })
    const browser = fixture.browser()
    const page = await browser.visit(await fixture.begin('recovery'))
    const asked = await browser.press(page, ['method', 'code'], { email: 'nobody@example.com' })
    expect(asked.status).toBe(303)
    expect(fixture.sentTo('nobody@example.com')).toEqual([])
  })
})

describe('settings', () => {
  test('are for whoever is signed in alone', async () => {
    await using fixture = await bootOperators()
    expect(fixture.begin('settings')).rejects.toThrow('missing session token')
  })

  test('keep the name that is typed in, and the language that was there', async () => {
    await using fixture = await bootOperators()
    const { id, email } = await fixture.operator({ displayName: 'Ada', locale: 'de' })
    const { token } = await comeIn(fixture, email)
    const browser = fixture.browser()

    const page = await browser.visit(await fixture.begin('settings', { sessionToken: token }))
    const typed = { 'traits.display_name': ' Ada Berg ' }
    const done = await browser.press(page, ['method', 'profile'], typed)

    expect(done.status).toBe(303)
    const row = fixture.people().find((one) => one.id === id)
    expect(JSON.parse(row.traits)).toEqual({ email, display_name: 'Ada Berg', locale: 'de' })
  })

  test('an empty name takes it away', async () => {
    await using fixture = await bootOperators()
    const { email } = await fixture.operator()
    const { token } = await comeIn(fixture, email)
    const browser = fixture.browser()

    const page = await browser.visit(await fixture.begin('settings', { sessionToken: token }))
    await browser.press(page, ['method', 'profile'], { 'traits.display_name': ' ' })

    expect(JSON.parse(fixture.people()[0].traits)).toEqual({ email })
  })

  test.each([
    ['x'.repeat(201), 4000017],
    ['Ada\u202egreB', 4000004],
    ['Ada\nBerg', 4000004],
  ])('the name %p is refused beside its field', async (name, message) => {
    await using fixture = await bootOperators()
    const { email } = await fixture.operator()
    const { token } = await comeIn(fixture, email)

    const flow = await fixture.flowAt(
      await fixture.begin('settings', { sessionToken: token }),
      token,
    )
    const fields = { method: 'profile', traits: { email, display_name: name } }
    const answer = await fixture.send(flow, fields, token)

    expect(answer).toMatchObject(complains(message, 'traits.display_name'))
  })

  test('a trait that operators have not is refused, and so is a language that is none', async () => {
    await using fixture = await bootOperators()
    const { email } = await fixture.operator()
    const { token } = await comeIn(fixture, email)
    for (const traits of [{ custom_data: {} }, { locale: 'deutsch' }]) {
      const url = await fixture.begin('settings', { sessionToken: token })
      const flow = await fixture.flowAt(url, token)
      const fields = { method: 'profile', traits: { email, ...traits } }
      const answer = await fixture.send(flow, fields, token)
      expect(answer).toMatchObject(complains(4000001))
    }
  })
})

test('the schema of operators is there for everybody, and that of people is as it was', async () => {
  await using fixture = await bootOperators()
  const { body } = await fixture.app.raw('/public/gate/schemas/operator')
  expect(body.title).toBe('operator')
  expect(Object.keys(body.properties.traits.properties)).toEqual([
    'email',
    'tenant_id',
    'display_name',
    'locale',
  ])
  const user = await fixture.app.raw('/public/gate/schemas/user')
  expect(Object.keys(user.body.properties.traits.properties)).toEqual([
    'email',
    'tenant_id',
    'custom_data',
  ])
})

test('the forms of tenants ask for no name, and take none', async () => {
  await using fixture = await bootOperators({ flags: OPEN })
  const tenant = await fixture.tenant()
  const flow = await tenant.start('registration')
  expect(nodeNames(flow)).toEqual([
    'default:traits.email',
    'password:password',
    'password:method=password',
  ])

  const traits = { email: 'ada@example.com', display_name: 'Ada' }
  const answer = await tenant.send(flow, { method: 'password', password: PASSWORD, traits })
  expect(answer).toMatchObject(complains(4000001))

  const { identity, session_token: token } = await tenant.register('ada@example.com')
  expect(identity.schema_id).toBe('user')
  expect(nodeNames(await tenant.settings(token))).not.toContain('profile:traits.display_name')
})
