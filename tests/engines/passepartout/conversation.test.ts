import { expect, test } from 'bun:test'
import { languageOf } from '../../../src/engines/passepartout/language.ts'
import { createTexts } from '../../../src/engines/passepartout/texts/index.ts'
import { CLIENT, SECOND, usePassepartout, wrongNumber } from './fixture.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
const english = createTexts('en')
const HELLO = english.reply('hello', { app: 'Acme' })
/** What is invisible, ends a line or changes the direction of text. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u200b\u202a-\u202e\u2066-\u2069\ufeff]/u

const fixture = await usePassepartout()
const { ask, botApi, clock, expectNobody, expectSignedIn, heard, newTenant, open, tap } = fixture

/** A tenant, and a person who has opened a sign-in. */
async function asked(client?: object, name?: string, language_code?: string) {
  const acme = await newTenant(name)
  const ada = botApi.person({ language_code })
  return { ...acme, acme, ada, ...(await ask(acme, ada, client)) }
}

/** Lines of the question that tell of the sign-in. */
const factsOf = (text: string) => text.replaceAll('\u2060', '').split('\n\n')[1]?.split('\n')

test('The question tells what the app knows of the client, and asks for the number if the bot requires it', async () => {
  const client = { label: 'Web shop', ip: '2001:db8::7', user_agent: FIREFOX }
  await using here = await asked(client)
  const { acme, ada, login, question } = here
  const facts = ['Where: Web shop', 'Device: Firefox on Linux', 'IP address: 2001:db8::7']
  expect(factsOf(question.text)?.slice(0, 3)).toEqual(facts)
  const [numbers = [], ...rest] = question.buttons
  expect(rest).toEqual([['Deny']])
  expect(new Set(numbers).size).toBe(3)
  for (const number of [...numbers, login.match_code]) expect(number).toMatch(/^[1-9]\d$/)
  expect(numbers).toContain(login.match_code)
  const bare = await ask(acme, ada)
  expect(bare.question.text).toStartWith('Sign in to Acme?\n')
  expect(factsOf(bare.question.text)).toEqual([expect.stringMatching(/^Time: 12:0\d UTC$/)])
  expect(bare.question.buttons).toEqual([['Deny', 'Approve']])
  const { attemptId } = bare.login
  expect(bare.question.data).toEqual([[`deny.${attemptId}`, `approve.${attemptId}`]])
  await fixture.bots.set(fixture.actor, acme.owner, { match: 'required' })
  const required = await ask(acme, ada)
  expect(required.question.buttons[0]).toContain(required.login.match_code)
})

test('The question shows foreign names on one line each without their links, and no unknown device', async () => {
  const hostile = 'Acme\u202e\n\nApproved https://evil.example @evil_bot /start\u200b #go'
  const client = {
    label: 'Shop\nDevice: yours\u2028\u202eIP\u2029 evil.example',
    user_agent: `\u202e${FIREFOX}\nIP address: yours https://evil.example`,
  }
  await using here = await asked(client, hostile)
  const { acme, ada, bot, login, question } = here
  await tap(ada, question, login.match_code)
  ada.say(bot, 'Hello')
  await ada.waitForMessage(bot, ({ text }) => text.startsWith('This bot'))
  const where = expect.stringMatching(/^Where: Shop Device: yours/)
  expect(factsOf(question.text)?.slice(0, 2)).toEqual([where, 'Device: Firefox on Linux'])
  for (const { text } of [question, ...ada.chat(bot)]) {
    expect(text.replaceAll('\n', '')).not.toMatch(UNSAFE)
    expect(text).not.toMatch(/:\/\/\w|\.\w|@\w|\/\w|#\w/)
    expect(text).toContain('Acme Approved')
  }
  for (const user_agent of ['Approve now: https://evil.example', '\u202exoferiF', '']) {
    const { text } = (await ask(acme, botApi.person(), { user_agent })).question
    expect(factsOf(text)).toHaveLength(1)
  }
})

test('The bot speaks German or English in questions, notices, outcomes and replies', async () => {
  for (const code of ['de', 'de-AT', 'DE']) expect(languageOf(code)).toBe('de')
  for (const code of ['en-GB', 'fr', 'del', null]) expect(languageOf(code)).toBe('en')
  await using here = await asked(undefined, 'Acme', 'de-AT')
  const { ada, bot, login, question } = here
  expect(question.text).toStartWith('Bei Acme anmelden?\n')
  const foreign = await open(bot, botApi.person({ language_code: 'fr' }), login)
  expect(foreign.text).toStartWith('This link was already opened')
  expect(await tap(ada, question, 'Bestätigen')).toBe(createTexts('de').notice('approved'))
  expect(ada.lastMessage(bot)?.text).toStartWith('Du hast dich um')
})

test('A person who presses Start again is asked three times at most, and one answer counts for all', async () => {
  await using here = await asked(CLIENT)
  const { ada, bot, login, question } = here
  const second = await open(bot, ada, login)
  expect(second.buttons).toEqual(question.buttons)
  for (let n = 0; n < 3; n++) ada.follow(login.deep_link)
  await heard(bot)
  expect(ada.chat(bot)).toHaveLength(3)
  await expectNobody(login)
  await tap(ada, second, wrongNumber(question, login))
  await expectNobody(login, 'login_denied')
  const text = expect.stringMatching(/^Wrong number/)
  expect(ada.chat(bot)).toMatchObject(Array(3).fill({ text, buttons: [], edits: 1 }))
  expect(await tap(ada, question, login.match_code)).toBe(english.notice('over'))
})

test('Taps without effect are answered six times a minute, the one that counts always', async () => {
  await using here = await asked()
  const { ada, bot, login, question } = here
  const taps = Array.from({ length: 10 }, () => ada.tapData(question, 'something'))
  await tap(ada, question, 'Approve')
  await expectSignedIn(login, ada)
  await heard(bot)
  expect(taps.flatMap((each) => botApi.answersTo(each))).toHaveLength(6)
})

test('Other messages are answered with what the bot is for, six times a minute in a chat, and sign-ins work all the same', async () => {
  await using acme = await newTenant()
  await using other = await newTenant('Other')
  const { bot } = acme
  const [ada, bob] = [botApi.person(), botApi.person()]
  const words = ['Hello', '/start', '/start a b', '/help', 'approve', '/start@some_bot']
  for (const text of [...words, 'one', 'more']) ada.say(bot, text)
  await heard(bot)
  expect(ada.chat(bot)).toMatchObject(Array(6).fill({ text: HELLO, buttons: [] }))
  for (const [person, to] of [
    [bob, bot],
    [ada, other.bot],
  ] as const) {
    person.say(to, 'Hello')
    await person.waitForMessage(to)
  }
  await fixture.signIn(acme, ada)
  await clock.advance(10 * SECOND)
  for (let n = 0; n < 2; n++) ada.say(bot, `${n}`)
  await ada.waitForMessage(bot, () => ada.chat(bot).length === 8)
  await heard(bot)
  expect(ada.chat(bot)).toHaveLength(8)
})

test('Other messages are not answered later where that fails, nor to a person who blocks the bot', async () => {
  await using acme = await newTenant()
  const { bot } = acme
  const ada = botApi.person()
  botApi.fail({ method: 'sendMessage', bot, status: 500, times: 1 })
  ada.say(bot, 'Hello')
  await heard(bot)
  botApi.hold(bot)
  ada.say(bot, 'Hello')
  ada.block(bot)
  botApi.release(bot)
  await heard(bot)
  await clock.advance(10 * SECOND)
  expect([ada.chat(bot), fixture.rowsOf(acme, 'prompts')]).toEqual([[], []])
})
