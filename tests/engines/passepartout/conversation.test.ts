import { describe, expect, test } from 'bun:test'
import { languageOf } from '../../../src/engines/passepartout/language.ts'
import { createTexts } from '../../../src/engines/passepartout/texts/index.ts'
import { bootPassepartout, CLIENT, SECOND, usePassepartout, wrongNumber } from './fixture.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const NUMBER = /^[1-9]\d$/
const english = createTexts('en')
const HELLO = english.reply('hello', { app: 'Acme' })
/** What is invisible, ends a line or changes the direction of text. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u202a-\u202e\u2066-\u2069\ufeff]/u

const fixture = await usePassepartout()
const { ask, botApi, expectNobody, expectSignedIn, heard, newTenant, open, signIn, tap } = fixture

/** A tenant, and a person who has opened a sign-in. */
async function asked(client?: object, name?: string, language_code?: string) {
  const acme = await newTenant(name)
  const ada = botApi.person({ language_code })
  return { acme, ada, ...(await ask(acme, ada, client)) }
}

/** Lines of the question that tell of the sign-in. */
const factsOf = (text: string) => text.replaceAll('\u2060', '').split('\n\n')[1]?.split('\n')

describe('the question', () => {
  test('of a start without a client tells the time alone and has two buttons', async () => {
    const { login, question } = await asked()
    expect(question.text).toStartWith('Sign in to Acme?\n')
    expect(factsOf(question.text)).toEqual([expect.stringMatching(/^Time: 12:0\d UTC$/)])
    expect(question.buttons).toEqual([['Deny', 'Approve']])
    expect(question.data).toEqual([[`deny.${login.attemptId}`, `approve.${login.attemptId}`]])
  })

  test('tells what the app knows of the client, and asks for the number', async () => {
    const client = { label: 'Web shop', ip: '2001:db8::7', user_agent: FIREFOX }
    const { login, question } = await asked(client)
    const facts = ['Where: Web shop', 'Device: Firefox on Linux', 'IP address: 2001:db8::7']
    expect(factsOf(question.text)?.slice(0, 3)).toEqual(facts)
    const [numbers = [], ...rest] = question.buttons
    expect(rest).toEqual([['Deny']])
    expect(new Set(numbers).size).toBe(3)
    for (const number of [...numbers, login.match_code]) expect(number).toMatch(NUMBER)
    expect(numbers).toContain(login.match_code)
  })

  test('asks for the number for an empty client, and where the bot requires it', async () => {
    const { acme, ada, ...empty } = await asked({})
    expect(factsOf(empty.question.text)).toHaveLength(1)
    await fixture.bots.set(fixture.actor, acme.owner, { match: 'required' })
    for (const { login, question } of [empty, await ask(acme, ada)])
      expect(question.buttons[0]).toContain(login.match_code)
  })

  test('shows foreign names on one line each, without their links', async () => {
    const hostile = 'Acme\u202e\n\nApproved https://evil.example @evil_bot /start\u200b #go'
    const client = {
      label: 'Shop\nDevice: yours\u2028\u202eIP\u2029 evil.example',
      user_agent: `\u202e${FIREFOX}\nIP address: yours https://evil.example`,
    }
    const { acme, ada, login, question } = await asked(client, hostile)
    await tap(ada, question, login.match_code)
    ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot, ({ text }) => text.startsWith('This bot'))
    const where = expect.stringMatching(/^Where: Shop Device: yours/)
    expect(factsOf(question.text)?.slice(0, 2)).toEqual([where, 'Device: Firefox on Linux'])
    for (const { text } of [question, ...ada.chat(acme.bot)]) {
      expect(text.replaceAll('\n', '')).not.toMatch(UNSAFE)
      expect(text).not.toMatch(/:\/\/\w|\.\w|@\w|\/\w|#\w/)
      expect(text).toContain('Acme Approved')
    }
  })

  test.each(['Approve now: https://evil.example', '<b>Firefix</b>', '\u202exoferiF', ''])(
    'does not show the unknown device %j',
    async (user_agent) => {
      const { question } = await asked({ user_agent })
      expect(factsOf(question.text)).toHaveLength(1)
    },
  )
})

test('the app is told safe names of a person', async () => {
  const mallory = botApi.person({
    first_name: '\u202eyrollaM\u0000\n<script>',
    last_name: '\u200b\u2066 ',
    username: 'mallory_1',
    language_code: '"><img>',
  })
  const { user } = await signIn(await newTenant(), mallory)
  const names = { first_name: 'yrollaM <script>', last_name: null, username: 'mallory_1' }
  expect(user).toMatchObject({ ...names, language_code: null })
})

describe('the bot speaks the language of the person', () => {
  test.each([
    ...['de', 'de-AT', 'DE'].map((code) => [code, 'de'] as const),
    ...['en-GB', 'fr', 'del', null].map((code) => [code, 'en'] as const),
  ])('%s is answered in %s', (code, language) => {
    expect(languageOf(code)).toBe(language)
  })

  test('in questions, notices, outcomes and replies', async () => {
    const german = createTexts('de')
    const { acme, ada, login, question } = await asked(undefined, 'Acme', 'de-AT')
    expect(question.text).toStartWith('Bei Acme anmelden?\n')
    expect(question.buttons).toEqual([['Ablehnen', 'Bestätigen']])
    const english = await open(acme.bot, botApi.person({ language_code: 'fr' }), login)
    expect(english.text).toStartWith('This link was already opened')
    expect(await tap(ada, question, 'Bestätigen')).toBe(german.notice('approved'))
    expect(ada.lastMessage(acme.bot)?.text).toStartWith('Du hast dich um')
    ada.say(acme.bot, 'Hallo')
    await ada.waitForMessage(acme.bot, ({ text }) => text.startsWith('Dieser Bot'))
  })
})

describe('a person who presses Start again', () => {
  test('is asked three times in all, and no more', async () => {
    const { acme, ada, login } = await asked()
    for (let n = 0; n < 2; n++) await open(acme.bot, ada, login)
    for (let n = 0; n < 2; n++) ada.follow(login.deep_link)
    await heard(acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(3)
    await expectNobody(login)
  })

  test.each([true, false])('answers any question for all of them, rightly: %j', async (isRight) => {
    const { acme, ada, login, question } = await asked(CLIENT)
    const second = await open(acme.bot, ada, login)
    expect(second.buttons).toEqual(question.buttons)
    const [number, text] = isRight
      ? [login.match_code, expect.stringMatching(/^You signed in/)]
      : [wrongNumber(question, login), expect.stringMatching(/^Wrong number/)]
    await tap(ada, second, number)
    if (isRight) await expectSignedIn(login, ada)
    else await expectNobody(login, 'login_denied')
    expect(ada.chat(acme.bot)).toMatchObject(Array(2).fill({ text, buttons: [], edits: 1 }))
    expect(await tap(ada, question, login.match_code)).toBe(english.notice('over'))
  })
})

test('a tap counts although Telegram accepts no answer to it', async () => {
  const { acme, ada, login, question } = await asked()
  botApi.hold(acme.bot)
  const { id } = ada.tap(question, 'Approve')
  botApi.expireTaps()
  botApi.release(acme.bot)
  await ada.waitForMessage(acme.bot, ({ buttons }) => buttons.length === 0)
  await expectSignedIn(login, ada)
  const [call] = fixture.callsBy(acme.bot, 'answerCallbackQuery')
  expect(call).toMatchObject({ status: 400, params: { callback_query_id: id } })
})

test('taps without effect are answered six times a minute, the one that counts always', async () => {
  const { acme, ada, login, question } = await asked()
  const taps = Array.from({ length: 10 }, () => ada.tapData(question, 'something'))
  await tap(ada, question, 'Approve')
  await expectSignedIn(login, ada)
  await heard(acme.bot)
  expect(taps.flatMap((each) => botApi.answersTo(each))).toHaveLength(6)
})

describe('other messages', () => {
  const words = ['Hello', '/start', '/start a b', '/help', 'approve', '/start@some_bot']
  test.each(words)('such as «%s» are answered with what the bot is for', async (text) => {
    const { bot } = await newTenant()
    const ada = botApi.person()
    ada.say(bot, text)
    expect(await ada.waitForMessage(bot)).toMatchObject({ text: HELLO, buttons: [] })
  })

  test('are answered six times a minute in a chat, and sign-ins work all the same', async () => {
    await using own = await bootPassepartout()
    const [acme, other] = [await own.newTenant(), await own.newTenant('Other')]
    const [ada, bob] = [own.botApi.person(), own.botApi.person()]
    for (let n = 0; n < 10; n++) ada.say(acme.bot, `${n}`)
    await ada.waitForMessage(acme.bot, () => ada.chat(acme.bot).length === 6)
    await own.heard(acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(6)
    bob.say(acme.bot, 'Hello')
    await bob.waitForMessage(acme.bot)
    ada.say(other.bot, 'Hello')
    await ada.waitForMessage(other.bot)
    const { login, question } = await own.ask(acme, ada)
    await own.tap(ada, question, 'Approve')
    await own.expectSignedIn(login, ada)

    await own.clock.advance(10 * SECOND)
    for (let n = 0; n < 2; n++) ada.say(acme.bot, `${n}`)
    await ada.waitForMessage(acme.bot, () => ada.chat(acme.bot).length === 8)
    await own.heard(acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(8)
  })

  test('are not answered later where that fails', async () => {
    await using own = await bootPassepartout()
    const { bot } = await own.newTenant()
    const ada = own.botApi.person()
    own.botApi.fail({ method: 'sendMessage', status: 500, times: 1 })
    ada.say(bot, 'Hello')
    await own.botApi.waitForCall('sendMessage', ({ status }) => status === 500)
    await own.heard(bot)
    await own.clock.advance(10 * SECOND)
    expect(ada.chat(bot)).toEqual([])
    ada.say(bot, 'Hello?')
    await own.turnUntil(() => ada.chat(bot).length === 1)
    expect(own.rows('prompts')).toEqual([])
  })

  test('of a person who blocks the bot are not answered', async () => {
    const { bot } = await newTenant()
    const ada = botApi.person()
    botApi.hold(bot)
    ada.say(bot, 'Hello')
    ada.block(bot)
    botApi.release(bot)
    await heard(bot)
    expect(ada.chat(bot)).toEqual([])
    ada.say(bot, 'Hello again')
    expect((await ada.waitForMessage(bot)).text).toBe(HELLO)
  })
})
