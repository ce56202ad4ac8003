import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Person } from '../../support/bot-api/index.ts'
import { bootFixture, type Fixture } from './fixture.ts'
import {
  attemptsOf,
  CLIENT,
  callsBy,
  expectNobody,
  expectSignedIn,
  heard,
  pressedStart,
  rowsOf,
  SECOND,
  signIn,
  startLogin,
  type Tenant,
  turnUntil,
  wrongNumber,
} from './walk.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const HELLO =
  'This bot signs you in to Acme.\nTo sign in, start in the app and follow its link to this bot.'
const WARNING = `Continue only if you just started this sign-in yourself.
Support will never ask you to approve a sign-in. If someone asks you to, they're trying to get into your account.`
const TAP_NUMBER =
  "Tap the number shown where you're signing in. If it isn't listed, the sign-in isn't yours: tap “Deny”."
const TAP_BUTTON = "Is this you? Tap “Approve”. If you're not sure, tap “Deny”."
const NUMBER = /^[1-9]\d$/

/** Time stands still here, and tenants see nothing of each other. */
let fixture: Fixture
beforeAll(async () => {
  fixture = await bootFixture()
})
afterAll(() => fixture.stop())

/** The question that somebody is asked. */
async function asked(tenant: Tenant, person: Person, body?: unknown) {
  const login = await startLogin(fixture, tenant.live, body)
  return { login, prompt: await pressedStart(person, tenant.bot, login) }
}

const someone = (language_code = 'en') =>
  fixture.botApi.person({ first_name: 'Ada', language_code })

/** What cannot be seen, ends a line, or turns text round. */
const TRICKS = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u202a-\u202e\u2066-\u2069\ufeff]/u

describe('the question tells', () => {
  test('nothing but the app and the time, where nothing else is known', async () => {
    const acme = await fixture.signingTenant()

    const { prompt, login } = await asked(acme, someone())
    expect(prompt.text).toBe(`Sign in to Acme?\n\nTime: 12:00 UTC\n\n${WARNING}\n\n${TAP_BUTTON}`)
    expect(prompt.data).toEqual([[`deny.${login.attemptId}`, `approve.${login.attemptId}`]])
  })

  test('what the app says of where it was started, and asks for the number', async () => {
    const acme = await fixture.signingTenant()

    const { prompt, login } = await asked(acme, someone(), {
      client: { label: 'Web shop', ip: '2001:db8::7', user_agent: FIREFOX },
    })
    expect(prompt.text.replaceAll('\u2060', '')).toBe(
      `Sign in to Acme?\n\nWhere: Web shop\nDevice: Firefox on Linux\nIP address: 2001:db8::7\nTime: 12:00 UTC\n\n${WARNING}\n\n${TAP_NUMBER}`,
    )
    const [numbers = [], ...rest] = prompt.buttons
    expect(rest).toEqual([['Deny']])
    expect(numbers).toHaveLength(3)
    expect(new Set(numbers).size).toBe(3)
    for (const number of numbers) expect(number).toMatch(NUMBER)
    expect(numbers).toContain(login.code)
  })

  test('no more than there is, where a client is told of that is empty', async () => {
    const acme = await fixture.signingTenant()

    const { prompt } = await asked(acme, someone(), { client: {} })
    expect(prompt.text).toBe(`Sign in to Acme?\n\nTime: 12:00 UTC\n\n${WARNING}\n\n${TAP_NUMBER}`)
  })

  test('numbers without a client, where the bot always asks for one', async () => {
    const acme = await fixture.signingTenant()
    const owner = { tenantId: acme.id, environment: 'live' } as const
    await fixture.app.passepartout.bots.set(fixture.actor, owner, { match: 'required' })

    const { prompt, login } = await asked(acme, someone())
    expect(prompt.text).toEndWith(TAP_NUMBER)
    expect(login.code).toMatch(NUMBER)
    expect(prompt.buttons[0]).toContain(login.code)
  })
})

describe('names of strangers are shown without their tricks:', () => {
  const HOSTILE = 'Acme\u202e\n\nApproved https://evil.example @evil_bot /start\u200b #go'

  test('of the tenant, in the question, the outcome and the greeting', async () => {
    const acme = await fixture.signingTenant(HOSTILE)
    const ada = someone()

    const { prompt } = await asked(acme, ada)
    await fixture.botApi.waitForAnswer(ada.tap(prompt, 'Approve'))
    await ada.waitForMessage(acme.bot, ({ buttons }) => buttons.length === 0)
    ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot, ({ text }) => text.startsWith('This bot'))
    for (const { text } of [prompt, ...ada.chat(acme.bot)]) {
      expect(text.replaceAll('\n', '')).not.toMatch(TRICKS)
      expect(text).not.toMatch(/:\/\/\w|\.\w|@\w|\/\w|#\w/)
      expect(text).toContain('Acme Approved')
    }
    expect(prompt.text.split('\n')[0]).toStartWith('Sign in to Acme Approved')
  })

  test('of the place, which has one line and no more', async () => {
    const acme = await fixture.signingTenant()

    const { prompt } = await asked(acme, someone(), {
      client: { label: 'Shop\nDevice: yours\u2028\u202eIP\u2029 evil.example', ip: '203.0.113.7' },
    })
    const lines = prompt.text.split('\n')
    expect(lines.filter((line) => line.startsWith('Device'))).toEqual([])
    expect(lines.filter((line) => line.startsWith('Where: Shop Device'))).toHaveLength(1)
    expect(prompt.text.replaceAll('\n', '')).not.toMatch(TRICKS)
    expect(prompt.text).not.toContain('evil.example')
  })

  test.each(['Approve now: https://evil.example', '<b>Firefix</b>', '\u202exoferiF', ''])(
    'of the device %j, which is none that is known',
    async (user_agent) => {
      const acme = await fixture.signingTenant()

      const { prompt } = await asked(acme, someone(), { client: { user_agent } })
      expect(prompt.text).toBe(`Sign in to Acme?\n\nTime: 12:00 UTC\n\n${WARNING}\n\n${TAP_NUMBER}`)
    },
  )

  test('of the device, which is called by its own name', async () => {
    const acme = await fixture.signingTenant()

    const { prompt } = await asked(acme, someone(), {
      client: { user_agent: `\u202e${FIREFOX}\nIP address: yours https://evil.example` },
    })
    expect(prompt.text.split('\n').slice(2, 4)).toEqual([
      'Device: Firefox on Linux',
      'Time: 12:00 UTC',
    ])
  })

  test('of the person, as the app is told of them', async () => {
    const acme = await fixture.signingTenant()
    const mallory = fixture.botApi.person({
      first_name: '\u202eyrollaM\u0000\n<script>',
      last_name: '\u200b\u2066 ',
      username: 'mallory_1',
      language_code: '"><img>',
    })

    const login = await signIn(fixture, acme, mallory)
    const { user } = (await login.status()).body
    expect(user).toMatchObject({
      first_name: 'yrollaM <script>',
      last_name: null,
      username: 'mallory_1',
      language_code: null,
    })
  })
})

describe('the bot speaks', () => {
  test.each([
    [
      'de',
      'Bei Acme anmelden?',
      'Bestätigen',
      'Ablehnen',
      'Du bist angemeldet.',
      'Du hast dich um',
    ],
    [
      'de-AT',
      'Bei Acme anmelden?',
      'Bestätigen',
      'Ablehnen',
      'Du bist angemeldet.',
      'Du hast dich',
    ],
    [
      'DE',
      'Bei Acme anmelden?',
      'Bestätigen',
      'Ablehnen',
      'Du bist angemeldet.',
      'Du hast dich um',
    ],
    ['en-GB', 'Sign in to Acme?', 'Approve', 'Deny', "You're signed in.", 'You signed in to Acme'],
    ['fr', 'Sign in to Acme?', 'Approve', 'Deny', "You're signed in.", 'You signed in to Acme'],
    ['del', 'Sign in to Acme?', 'Approve', 'Deny', "You're signed in.", 'You signed in to Acme'],
  ])('to somebody whose app is in %s', async (code, question, approve, deny, notice, outcome) => {
    const acme = await fixture.signingTenant()
    const ada = someone(code)

    const { prompt } = await asked(acme, ada)
    expect(prompt.text).toStartWith(`${question}\n`)
    expect(prompt.buttons).toEqual([[deny, approve]])
    const answer = await fixture.botApi.waitForAnswer(ada.tap(prompt, approve))
    expect(answer).toEqual({ text: notice, isAlert: expect.any(Boolean) })
    const shown = await ada.waitForMessage(acme.bot, ({ buttons }) => buttons.length === 0)
    expect(shown.text).toStartWith(outcome)
  })

  test('English to somebody whose app does not say', async () => {
    const acme = await fixture.signingTenant()
    const { prompt } = await asked(acme, fixture.botApi.person({ language_code: undefined }))
    expect(prompt.buttons).toEqual([['Deny', 'Approve']])
  })

  test('German where a link does not work, to whoever opened it', async () => {
    const acme = await fixture.signingTenant()
    const [ada, jan] = [someone('en'), someone('de')]
    const { login } = await asked(acme, ada)

    jan.say(acme.bot, 'Hallo')
    await jan.waitForMessage(acme.bot, ({ text }) => text.startsWith('Dieser Bot'))
    const taken = await pressedStart(jan, acme.bot, login)
    expect(taken.text).toContain('beginne von vorn')
    expect(attemptsOf(fixture, acme)).toMatchObject([{ language: 'en' }])
  })
})

describe('who presses Start again', () => {
  test('is asked again, three times in all, and then no more', async () => {
    const acme = await fixture.signingTenant()
    const ada = someone()
    const { login } = await asked(acme, ada)

    await pressedStart(ada, acme.bot, login)
    await pressedStart(ada, acme.bot, login)
    ada.follow(login.link)
    ada.follow(login.link)
    await heard(fixture, acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(3)
    await expectNobody(fixture, login)
  })

  test('may answer any of the questions, and all of them come to say how it ended', async () => {
    const acme = await fixture.signingTenant()
    const ada = someone()
    const { login } = await asked(acme, ada, { client: CLIENT })
    await pressedStart(ada, acme.bot, login)
    await pressedStart(ada, acme.bot, login)
    const [first, second, third] = ada.chat(acme.bot)
    if (!first || !second || !third) throw new Error('there are not three questions')
    expect([second.buttons, third.buttons]).toEqual([first.buttons, first.buttons])

    const { text } = await fixture.botApi.waitForAnswer(ada.tap(second, login.code))
    expect(text).toBe("You're signed in.")
    await expectSignedIn(fixture, login, ada)
    await fixture.app.passepartout.idle()
    expect(ada.chat(acme.bot)).toMatchObject(
      Array(3).fill({ text: expect.stringMatching(/^You signed in/), buttons: [], edits: 1 }),
    )
    const late = await fixture.botApi.waitForAnswer(ada.tap(first, login.code))
    expect(late.text).toBe('This sign-in has already been answered.')
  })

  test('and answers wrongly ends all of them', async () => {
    const acme = await fixture.signingTenant()
    const ada = someone()
    const { login, prompt } = await asked(acme, ada, { client: CLIENT })
    await pressedStart(ada, acme.bot, login)

    await fixture.botApi.waitForAnswer(ada.tap(prompt, wrongNumber(prompt, login)))
    await fixture.app.passepartout.idle()
    expect(ada.chat(acme.bot)).toMatchObject(
      Array(2).fill({ text: expect.stringMatching(/^Wrong number/), buttons: [] }),
    )
    await expectNobody(fixture, login, 'login_denied')
  })
})

test('the same person is the same user of a tenant, and another one of the next', async () => {
  const [acme, other] = [await fixture.signingTenant(), await fixture.signingTenant('Other')]
  const ada = someone()
  const userOf = async (tenant: Tenant, person: Person) =>
    (await (await signIn(fixture, tenant, person)).status()).body.user

  const first = await userOf(acme, ada)
  expect((await userOf(acme, ada)).id).toBe(first.id)
  expect((await userOf(other, ada)).id).not.toBe(first.id)
  expect((await userOf(acme, someone())).id).not.toBe(first.id)
})

test('a tap that Telegram takes no answer to counts as well', async () => {
  const acme = await fixture.signingTenant()
  const ada = someone()
  const { prompt, login } = await asked(acme, ada)

  fixture.botApi.hold(acme.bot)
  const tap = ada.tap(prompt, 'Approve')
  fixture.botApi.expireTaps()
  fixture.botApi.release(acme.bot)
  await ada.waitForMessage(acme.bot, ({ buttons }) => buttons.length === 0)
  await expectSignedIn(fixture, login, ada)
  const [call] = callsBy(fixture, acme.bot, 'answerCallbackQuery')
  expect([call?.params.callback_query_id, call?.status]).toEqual([tap.id, 400])
})

test('taps that change nothing are answered six times a minute, one that counts always', async () => {
  const acme = await fixture.signingTenant()
  const ada = someone()
  const { prompt, login } = await asked(acme, ada)

  const taps = Array.from({ length: 10 }, () => ada.tapData(prompt, 'something'))
  await fixture.botApi.waitForAnswer(ada.tap(prompt, 'Approve'))
  await expectSignedIn(fixture, login, ada)
  await fixture.app.passepartout.idle()
  await heard(fixture, acme.bot)
  expect(taps.flatMap((tap) => fixture.botApi.answersTo(tap))).toHaveLength(6)
})

describe('whoever merely speaks', () => {
  test.each(['Hello', '/start', '/help', 'approve', '/start@some_bot'])(
    'as «%s» is told what the bot is for',
    async (text) => {
      const acme = await fixture.signingTenant()
      const ada = someone()

      ada.say(acme.bot, text)
      expect(await ada.waitForMessage(acme.bot)).toMatchObject({ text: HELLO, buttons: [] })
    },
  )

  test('is answered six times a minute, whatever others say, and asked all the same', async () => {
    await using own = await bootFixture()
    const { app, botApi } = own
    const [acme, other] = [await own.signingTenant(), await own.signingTenant('Other')]
    const [ada, bob] = [botApi.person(), botApi.person()]

    for (let n = 0; n < 10; n++) ada.say(acme.bot, `${n}`)
    await ada.waitForMessage(acme.bot, () => ada.chat(acme.bot).length === 6)
    await heard(own, acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(6)
    bob.say(acme.bot, 'Hello')
    await bob.waitForMessage(acme.bot)
    ada.say(other.bot, 'Hello')
    await ada.waitForMessage(other.bot)

    const login = await startLogin(own, acme.live)
    const prompt = await pressedStart(ada, acme.bot, login)
    await botApi.waitForAnswer(ada.tap(prompt, 'Approve'))
    await expectSignedIn(own, login, ada)
    await app.passepartout.idle()

    await app.clock.advance(10 * SECOND)
    ada.say(acme.bot, 'once')
    ada.say(acme.bot, 'twice')
    await ada.waitForMessage(acme.bot, () => ada.chat(acme.bot).length === 8)
    await heard(own, acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(8)
  })

  test('and cannot be answered just now is not answered later', async () => {
    await using own = await bootFixture()
    const { botApi } = own
    const acme = await own.signingTenant()
    const ada = botApi.person()

    botApi.fail({ method: 'sendMessage', status: 500, times: 1 })
    ada.say(acme.bot, 'Hello')
    await botApi.waitForCall('sendMessage', ({ status }) => status === 500)
    await heard(own, acme.bot)
    await own.app.clock.advance(10 * SECOND)
    expect(ada.chat(acme.bot)).toEqual([])
    ada.say(acme.bot, 'Hello?')
    await turnUntil(own, () => ada.chat(acme.bot).length === 1)
    expect(rowsOf(own.app, 'prompts')).toEqual([])
  })

  test('to a bot that they block is forgotten', async () => {
    const acme = await fixture.signingTenant()
    const ada = someone()

    fixture.botApi.hold(acme.bot)
    ada.say(acme.bot, 'Hello')
    ada.block(acme.bot)
    fixture.botApi.release(acme.bot)
    await heard(fixture, acme.bot)
    expect(ada.chat(acme.bot)).toEqual([])
    ada.say(acme.bot, 'Hello again')
    expect((await ada.waitForMessage(acme.bot)).text).toBe(HELLO)
  })
})
