import { describe, expect, test } from 'bun:test'
import type { Person } from '../../support/bot-api/index.ts'
import { bootFixture } from './fixture.ts'
import {
  attemptsOf,
  CLIENT,
  expectNobody,
  expectSignedIn,
  MINUTE,
  pass,
  pressedStart,
  SECOND,
  signIn,
  startLogin,
  type Tenant,
  wrongNumber,
} from './walk.ts'

const COOL_DOWN = 10 * MINUTE
const REST =
  'A sign-in to Acme was recently denied here.\nTo protect you, new sign-ins are paused. You can try again from 12:11 UTC.'
const TOO_MANY = 'Too many sign-ins to Acme in a short time.\nYou can try again from 12:11 UTC.'

/** It is 12:00:30. */
async function boot() {
  const fixture = await bootFixture()
  const acme = await fixture.signingTenant()
  const ada = fixture.botApi.person({ first_name: 'Ada', language_code: 'en' })

  /** What a person is told who opens a new link, and the sign-in that it is for. */
  async function opening(tenant: Tenant = acme, person: Person = ada, body?: unknown) {
    const login = await startLogin(fixture, tenant.live, body)
    return { login, message: await pressedStart(person, tenant.bot, login) }
  }

  async function denied() {
    const { message } = await opening()
    await fixture.botApi.waitForAnswer(ada.tap(message, 'Deny'))
    await fixture.app.passepartout.idle()
  }

  return { ...fixture, fixture, acme, ada, opening, denied }
}

const isQuestion = expect.stringMatching(/^Sign in to/)

describe('whoever denied is left in peace', () => {
  test('for ten minutes, and not for longer', async () => {
    await using here = await boot()
    const { fixture, denied, opening } = here
    await denied()

    const refused = await opening()
    expect(refused.message).toMatchObject({ text: REST, buttons: [] })
    await expectNobody(fixture, refused.login)
    await pass(fixture, COOL_DOWN - SECOND)
    expect((await opening()).message.text).toBe(REST)
    await pass(fixture, SECOND)
    expect((await opening()).message.text).toEqual(isQuestion)
  })

  test('also whoever tapped a wrong number', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada, opening } = here
    const { login, message } = await opening(acme, ada, { client: CLIENT })

    await botApi.waitForAnswer(ada.tap(message, wrongNumber(message, login)))
    await fixture.app.passepartout.idle()
    expect((await opening()).message.text).toBe(REST)
  })

  test('by this bot alone, and nobody else is', async () => {
    await using here = await boot()
    const { fixture, acme, ada, denied, opening } = here
    const other = await fixture.signingTenant('Other')
    const bob = fixture.botApi.person({ first_name: 'Bob', language_code: 'en' })
    await denied()

    expect((await opening(other)).message.text).toEqual(isQuestion)
    expect((await opening(acme, bob)).message.text).toEqual(isQuestion)
    expect((await opening(acme, ada)).message.text).toBe(REST)
  })

  test('a link that was not opened for that is there for somebody else', async () => {
    await using here = await boot()
    const { fixture, acme, denied, opening } = here
    const bob = fixture.botApi.person({ language_code: 'en' })
    await denied()

    const { login } = await opening()
    expect(attemptsOf(fixture, acme).at(-1)).toMatchObject({ state: 'pending', opener_id: null })
    const question = await pressedStart(bob, acme.bot, login)
    await fixture.botApi.waitForAnswer(bob.tap(question, 'Approve'))
    await expectSignedIn(fixture, login, bob)
  })

  test('what was asked before may still be answered, and that ends no pause', async () => {
    await using here = await boot()
    const { fixture, acme, ada, botApi, denied, opening } = here
    const { login, message } = await opening()
    await denied()

    const { text } = await botApi.waitForAnswer(ada.tap(message, 'Approve'))
    expect(text).toBe("You're signed in.")
    await expectSignedIn(fixture, login, ada)
    await fixture.app.passepartout.idle()
    expect((await opening(acme)).message.text).toBe(REST)
  })
})

describe('three sign-ins that were opened and not approved are enough', () => {
  test('for ten minutes from the first', async () => {
    await using here = await boot()
    const { fixture, opening } = here

    for (let n = 0; n < 3; n++) expect((await opening()).message.text).toEqual(isQuestion)
    const refused = await opening()
    expect(refused.message).toMatchObject({ text: TOO_MANY, buttons: [] })
    await expectNobody(fixture, refused.login)
    await pass(fixture, COOL_DOWN - SECOND)
    expect((await opening()).message.text).toBe(TOO_MANY)
    await pass(fixture, SECOND)
    expect((await opening()).message.text).toEqual(isQuestion)
  })

  test('each makes room when its own ten minutes are over', async () => {
    await using here = await boot()
    const { fixture, opening } = here

    for (let n = 0; n < 3; n++) {
      await opening()
      await pass(fixture, MINUTE)
    }
    await pass(fixture, COOL_DOWN - 3 * MINUTE)
    expect((await opening()).message.text).toEqual(isQuestion)
    // The second one was opened a minute after the first.
    expect((await opening()).message.text).toContain('try again from 12:12 UTC')
    await pass(fixture, MINUTE)
    expect((await opening()).message.text).toEqual(isQuestion)
  })

  test('also those that have expired count', async () => {
    await using here = await boot()
    const { fixture, opening } = here

    for (let n = 0; n < 3; n++) await opening()
    await pass(fixture, 6 * MINUTE)
    expect((await opening()).message.text).toBe(TOO_MANY)
  })

  test('those that were approved do not count', async () => {
    await using here = await boot()
    const { fixture, acme, ada, opening } = here

    for (let n = 0; n < 5; n++) await signIn(fixture, acme, ada)
    for (let n = 0; n < 3; n++) expect((await opening()).message.text).toEqual(isQuestion)
    expect((await opening()).message.text).toBe(TOO_MANY)
  })

  test('one that is then approved makes room', async () => {
    await using here = await boot()
    const { fixture, ada, botApi, opening } = here

    const { message } = await opening()
    for (let n = 0; n < 2; n++) await opening()
    await botApi.waitForAnswer(ada.tap(message, 'Approve'))
    await fixture.app.passepartout.idle()
    expect((await opening()).message.text).toEqual(isQuestion)
  })

  test('who presses Start again has opened no more than before', async () => {
    await using here = await boot()
    const { acme, ada, opening } = here

    const { login } = await opening()
    for (let n = 0; n < 2; n++) await pressedStart(ada, acme.bot, login)
    for (let n = 0; n < 2; n++) expect((await opening()).message.text).toEqual(isQuestion)
    expect((await opening()).message.text).toBe(TOO_MANY)
  })

  test('of this bot and this person alone', async () => {
    await using here = await boot()
    const { fixture, acme, opening } = here
    const other = await fixture.signingTenant('Other')
    const bob = fixture.botApi.person({ language_code: 'en' })

    for (let n = 0; n < 4; n++) await opening()
    expect((await opening(other)).message.text).toEqual(isQuestion)
    expect((await opening(acme, bob)).message.text).toEqual(isQuestion)
  })
})

test('the sandbox is for trying things out: nobody is ever turned away', async () => {
  await using here = await boot()
  const { fixture, app, acme } = here
  const say = (path: string, choice: string) =>
    app.raw(path, { method: 'POST', body: new URLSearchParams({ choice, person: 'ada' }) })

  for (let n = 0; n < 5; n++) {
    const login = await startLogin(fixture, acme.test)
    const { pathname } = new URL(login.link)
    expect((await say(pathname, 'start')).status).toBe(303)
    expect((await say(pathname, 'deny')).status).toBe(303)
    await expectNobody(fixture, login, 'login_denied')
  }
  const login = await startLogin(fixture, acme.test)
  expect((await say(new URL(login.link).pathname, 'approve')).status).toBe(303)
  expect((await login.status()).body).toMatchObject({
    status: 'completed',
    user: { platform: 'sandbox' },
  })
})
