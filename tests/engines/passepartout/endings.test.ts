import { expect, test } from 'bun:test'
import { createTexts } from '../../../src/engines/passepartout/texts/index.ts'
import type { Person } from '../../support/bot-api/index.ts'
import {
  CLIENT,
  LIFETIME,
  type Login,
  MINUTE,
  SECOND,
  START,
  type Tenant,
  usePassepartout,
  wrongNumber,
} from './fixture.ts'

const texts = createTexts('en')
const AT = { app: 'Acme', at: Date.parse('2026-03-01T12:00:30Z') }
const outcome = (kind: Parameters<typeof texts.outcome>[0]) => texts.outcome(kind, AT)
const reply = (kind: Parameters<typeof texts.reply>[0]) => texts.reply(kind, AT)
const SIGNED_IN = texts.notice('approved')
const OVER = texts.notice('over')
const DENY_OR_APPROVE = [['Deny', 'Approve']]

const fixture = await usePassepartout()
const { actor, ask, botApi, bots, clock } = fixture
const { expectNobody, expectSignedIn, heard, newTenant, open, pass, tap, turnUntil } = fixture

/** A tenant, two people, and a sign-in that Ada has opened. */
async function opened(client?: object) {
  const acme = await newTenant()
  const [ada, bob] = [botApi.person(), botApi.person({ first_name: 'Bob' })]
  const { login, question } = await ask(acme, ada, client)
  const reads = (person: Person) =>
    person.chat(acme.bot).map(({ text }) => text.replace(/\d\d:\d\d UTC/, '12:00 UTC'))
  return { ...acme, acme, ada, bob, login, question, reads }
}

test('A question stands until it expires, which late taps and links are told, too', async () => {
  await using here = await opened()
  const { ada, bob, bot, login, question, reads } = here
  const unopened = await here.live.start()
  expect(question.buttons).toEqual(DENY_OR_APPROVE)
  await pass(LIFETIME - SECOND)
  await expectNobody(login)
  expect(ada.lastMessage(bot)?.buttons).toEqual(DENY_OR_APPROVE)
  clock.jump(SECOND)
  expect(await tap(ada, question, 'Approve')).toBe(texts.notice('expired'))
  await turnUntil(() => reads(ada).includes(outcome('expired')))
  expect(ada.chat(bot)).toMatchObject([{ buttons: [], edits: 1 }])
  await open(bot, bob, unopened)
  expect(reads(bob)).toEqual([reply('expired_link')])
  for (const each of [login, unopened]) await expectNobody(each, 'nonce_expired')
})

const WRONG: [string, object | undefined, 'denied' | 'mismatched', string][] = [
  ['Deny', undefined, 'denied', 'Deny'],
  ['Deny beside numbers', CLIENT, 'denied', 'Deny'],
  ['a wrong number', CLIENT, 'mismatched', 'wrong'],
  ['approval without a number', CLIENT, 'mismatched', 'approve.'],
  ['a number that no question has', CLIENT, 'mismatched', '07.'],
  ['a number that was not asked for', undefined, 'mismatched', '42.'],
]

test.each(WRONG)(
  'A wrong answer ends the sign-in for good: %s',
  async (_, client, kind, choice) => {
    await using here = await opened(client)
    const { ada, login, question, reads } = here
    const button = choice === 'wrong' ? wrongNumber(question, login) : choice
    const data = { data: choice + login.attemptId }
    expect(await tap(ada, question, choice.endsWith('.') ? data : button)).toBe(texts.notice(kind))
    expect(await tap(ada, question, client ? login.match_code : 'Approve')).toBe(OVER)
    await pass(LIFETIME + MINUTE)
    await expectNobody(login, 'login_denied')
    expect(reads(ada)).toEqual([outcome(kind)])
    expect(ada.chat(here.bot)).toMatchObject([{ buttons: [], edits: 1 }])
  },
)

test.each(['Approve', 'Deny'])(
  'Only the person who opened the link first is asked, and after %s the link does nothing',
  async (button) => {
    await using here = await opened()
    const { ada, bob, bot, login, question, reads } = here
    await open(bot, bob, login)
    expect(reads(bob)).toEqual([reply('taken_link')])
    await expectNobody(login)
    await tap(ada, question, button)
    for (const other of ['Deny', 'Approve']) expect(await tap(ada, question, other)).toBe(OVER)
    expect(reads(ada)).toEqual([outcome(button === 'Approve' ? 'approved' : 'denied')])
    for (const person of [ada, bob]) {
      await open(bot, person, login)
      expect(reads(person).at(-1)).toBe(reply('answered_link'))
    }
    if (button === 'Approve') await expectSignedIn(login, ada)
    else await expectNobody(login, 'login_denied')
  },
)

test('Of two taps in one batch the first counts, in whatever order they come', async () => {
  for (const isShuffled of [false, true]) {
    await using here = await opened()
    const { ada, bot, question } = here
    botApi.hold(bot)
    const taps = [ada.tap(question, 'Approve'), ada.tap(question, 'Deny')]
    botApi.shuffle(bot, isShuffled)
    botApi.release(bot)
    const notices = await Promise.all(taps.map((each) => botApi.waitForAnswer(each)))
    expect(notices.map(({ text }) => text)).toEqual([SIGNED_IN, OVER])
    await expectSignedIn(here.login, ada)
  }
})

test('A forged tap does nothing to the sign-in of another person, bot or environment, or one that is not opened', async () => {
  await using here = await opened()
  await using other = await newTenant('Other')
  const { acme, ada, bob, login, question } = here
  const own = await ask(acme, bob)
  const unopened = await acme.live.start()
  const elsewhere = await ask(other, ada)
  const sandboxed = await acme.test.start()
  await fixture.choose(sandboxed, 'start')
  for (const choice of ['approve', 'deny']) {
    const data = ({ attemptId }: Login) => ({ data: `${choice}.${attemptId}` })
    expect(await tap(bob, own.question, data(login))).toBe(texts.notice('not_yours'))
    for (const [message, target] of [
      [question, unopened],
      [question, sandboxed],
      [elsewhere.question, login],
      [elsewhere.question, sandboxed],
    ] as const)
      expect(await tap(ada, message, data(target))).toBe(OVER)
  }
  for (const each of [login, own.login, unopened, elsewhere.login, sandboxed])
    await expectNobody(each)
  await tap(ada, question, 'Approve')
  await expectSignedIn(login, ada)
})

test('A forged tap does nothing with data that no button has, or on a forwarded message', async () => {
  await using here = await opened()
  const { ada, bob, bot, login, question } = here
  const id = login.attemptId
  const taps = [
    ...['approve', id, `approve.${id} `, ` approve.${id}`, `APPROVE.${id}`, `opened.${id}`],
    ...[`approve.${id.toUpperCase()}`, `approve.${id}.${id.slice(0, 5)}`, `approve\n.${id}`],
    ...[`approve.' or '1'='1`, `approve.${'0'.repeat(36)}`, `deny.approve.${id}`, '\0'],
  ].map((data) => ada.tapData(question, data.slice(0, 64)))
  await heard(bot)
  const told = taps.flatMap((each) => botApi.answersTo(each).map(({ text }) => text))
  expect(new Set(told)).toEqual(new Set([OVER]))
  bob.say(bot, 'Hello')
  const message = { message_id: 1, date: 1, chat: { id: bob.id, type: 'private' } }
  const from = { id: bob.id, is_bot: false, first_name: 'Bob' }
  botApi.deliver(bot, { callback_query: { id: '1', from, message, data: `approve.${id}` } })
  for (const button of ['Approve', 'Deny']) bob.tap(question, button)
  await heard(bot)
  await expectNobody(login)
  expect(ada.lastMessage(bot)).toMatchObject({ buttons: DENY_OR_APPROVE, edits: 0 })
  expect(await tap(ada, question, 'Approve')).toBe(SIGNED_IN)
  await expectSignedIn(login, ada)
})

test('A link works unchanged, and only with its own bot', async () => {
  await using acme = await newTenant()
  await using other = await newTenant('Other')
  const login = await acme.live.start()
  const { payload } = login
  const flipped = `${payload.startsWith('A') ? 'B' : 'A'}${payload.slice(1)}`
  const sandboxed = await acme.test.start()
  for (const [bot, wrong] of [
    [other.bot, payload],
    ...[flipped, payload.slice(0, -1), `${payload}A`, payload.toLowerCase(), login.nonce]
      .concat(login.attemptId, sandboxed.payload)
      .map((each) => [acme.bot, each] as const),
  ] as const) {
    const eve = botApi.person()
    eve.start(bot, wrong)
    expect([wrong, (await eve.waitForMessage(bot)).text]).toEqual([wrong, reply('unknown_link')])
  }
  await expectNobody(login)
  const ada = botApi.person()
  await tap(ada, await open(acme.bot, ada, login), 'Approve')
  await expectSignedIn(login, ada)
})

test('The tap to a bot that is disabled meanwhile waits until it is enabled again, or expires', async () => {
  await using here = await opened()
  const { acme, ada, bob, bot, login } = here
  const own = await ask(acme, bob)
  const disable = async () => {
    await bots.disable(actor, here.owner)
    await turnUntil(() => botApi.pollers(bot) === 0)
  }
  await disable()
  const tapped = ada.tap(here.question, 'Approve')
  await pass(10 * SECOND)
  await expectNobody(login)
  expect((await here.live.post(START)).body.error.code).toBe('bot_not_configured')
  await bots.enable(actor, here.owner)
  expect((await botApi.waitForAnswer(tapped)).text).toBe(SIGNED_IN)
  await expectSignedIn(login, ada)
  await disable()
  const late = bob.tap(own.question, 'Approve')
  await pass(LIFETIME)
  await bots.enable(actor, here.owner)
  expect((await botApi.waitForAnswer(late)).text).toBe(texts.notice('expired'))
  expect((await own.login.status()).body.error.code).toBe('nonce_expired')
})

const COOL_DOWN = 10 * MINUTE
const QUESTION = /^Sign in to/

/** A tenant and a person. */
async function newPerson() {
  const acme = await newTenant()
  const ada = botApi.person()

  /** What a person is told who opens a new link. */
  const told = async (tenant: Tenant = acme, person = ada) =>
    (await ask(tenant, person)).question.text
  return { ...acme, acme, ada, told }
}

const clockAt = (ms: number) => new Date(clock.now() + ms + 59_999).toISOString().slice(11, 16)
/** The reply that names the minute after so many milliseconds from now. */
const paused = (ms: number) => new RegExp(`denied here[\\s\\S]*paused[\\s\\S]*${clockAt(ms)} UTC`)
const tooMany = (ms: number) => new RegExp(`^Too many sign-ins to Acme[\\s\\S]*${clockAt(ms)} UTC`)

test('A person who chose a wrong number is not asked again by this bot for ten minutes, but others are', async () => {
  await using here = await newPerson()
  await using other = await newTenant('Other')
  const { acme, ada, bot, told } = here
  const earlier = await ask(acme, ada)
  const wrong = await ask(acme, ada, CLIENT)
  await tap(ada, wrong.question, wrongNumber(wrong.question, wrong.login))
  const refusal = paused(COOL_DOWN)
  const { login, question } = await ask(acme, ada)
  expect(question).toMatchObject({ text: expect.stringMatching(refusal), buttons: [] })
  await expectNobody(login)
  expect(fixture.attemptsOf(acme)[2]).toMatchObject({ state: 'pending', opener_id: null })
  expect(await told(other)).toMatch(QUESTION)
  const bob = botApi.person()
  await tap(bob, await open(bot, bob, login), 'Approve')
  await expectSignedIn(login, bob)
  // An earlier question may still be answered, which doesn't end the pause.
  await tap(ada, earlier.question, 'Approve')
  expect((await earlier.login.status()).body).toMatchObject({ status: 'completed' })
  clock.jump(COOL_DOWN - SECOND)
  expect(await told()).toMatch(refusal)
  clock.jump(SECOND)
  expect(await told()).toMatch(QUESTION)
})

test('A person may open three sign-ins of a bot in ten minutes, and each makes room when its own are over', async () => {
  await using here = await newPerson()
  await using other = await newTenant('Other')
  const { acme, told } = here
  for (let n = 0; n < 3; n++) {
    expect(await told()).toMatch(QUESTION)
    clock.jump(MINUTE)
  }
  const refusal = tooMany(COOL_DOWN - 3 * MINUTE)
  const { login, question } = await ask(acme, here.ada)
  expect(question).toMatchObject({ text: expect.stringMatching(refusal), buttons: [] })
  await expectNobody(login)
  expect(await told(other)).toMatch(QUESTION)
  expect(await told(acme, botApi.person())).toMatch(QUESTION)
  clock.jump(COOL_DOWN - 3 * MINUTE - SECOND)
  expect(await told()).toMatch(refusal)
  clock.jump(SECOND)
  expect(await told()).toMatch(QUESTION)
  expect(await told()).toMatch(tooMany(MINUTE))
  clock.jump(MINUTE)
  expect(await told()).toMatch(QUESTION)
})

test('Of the three sign-ins in ten minutes, approved ones do not count, nor a second press of Start', async () => {
  await using here = await newPerson()
  const { acme, ada, told } = here
  for (let n = 0; n < 4; n++) await fixture.signIn(acme, ada)
  const { login, question } = await ask(acme, ada)
  await open(here.bot, ada, login)
  for (let n = 0; n < 2; n++) expect(await told()).toMatch(QUESTION)
  expect(await told()).toMatch(tooMany(COOL_DOWN))
  await tap(ada, question, 'Approve')
  expect(await told()).toMatch(QUESTION)
})
