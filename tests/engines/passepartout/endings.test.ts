import { describe, expect, test } from 'bun:test'
import { createTexts } from '../../../src/engines/passepartout/texts/index.ts'
import type { Person } from '../../support/bot-api/index.ts'
import {
  bootPassepartout,
  CLIENT,
  type Fixture,
  LIFETIME,
  type Login,
  MINUTE,
  SECOND,
  START,
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

const shared = await usePassepartout()

/** A tenant, two people, and a sign-in that Ada has opened. */
async function opened(client?: object, fixture: Fixture = shared) {
  const acme = await fixture.newTenant()
  const [ada, bob] = [fixture.botApi.person(), fixture.botApi.person({ first_name: 'Bob' })]
  const { login, question } = await fixture.ask(acme, ada, client)
  const reads = (person: Person) =>
    person.chat(acme.bot).map(({ text }) => text.replace(/\d\d:\d\d UTC/, '12:00 UTC'))
  return { acme, ada, bob, login, question, reads }
}

describe('a sign-in that is only opened signs no one in', () => {
  test('its question stands until it expires, and then says so', async () => {
    await using own = await bootPassepartout()
    const { acme, ada, login, question, reads } = await opened(undefined, own)
    expect(question.buttons).toEqual(DENY_OR_APPROVE)
    await own.pass(LIFETIME - SECOND)
    await own.expectNobody(login)
    expect(ada.lastMessage(acme.bot)?.buttons).toEqual(DENY_OR_APPROVE)
    await own.pass(SECOND)
    await own.expectNobody(login, 'nonce_expired')
    await own.turnUntil(() => reads(ada).includes(outcome('expired')))
    expect(ada.chat(acme.bot)).toMatchObject([{ buttons: [], edits: 1 }])
  })

  test('a tap or a link that comes too late is told so', async () => {
    await using own = await bootPassepartout()
    const { acme, ada, bob, login, question, reads } = await opened(undefined, own)
    const unopened = await acme.live.start()
    own.clock.jump(LIFETIME)
    expect(await own.tap(ada, question, 'Approve')).toBe(texts.notice('expired'))
    await own.turnUntil(() => reads(ada).includes(outcome('expired')))
    await own.open(acme.bot, bob, unopened)
    expect(reads(bob)).toEqual([reply('expired_link')])
    for (const each of [login, unopened]) await own.expectNobody(each, 'nonce_expired')
  })
})

describe('a wrong answer ends the sign-in', () => {
  const { expectNobody, tap } = shared

  test('a wrong number, after which the right one is too late', async () => {
    const { ada, login, question, reads } = await opened(CLIENT)
    const notice = await tap(ada, question, wrongNumber(question, login))
    expect(notice).toBe(texts.notice('mismatched'))
    expect(await tap(ada, question, login.match_code)).toBe(OVER)
    await expectNobody(login, 'login_denied')
    expect(reads(ada)).toEqual([outcome('mismatched')])
  })

  test.each([undefined, CLIENT])('Deny, to a start with %j, for good', async (client) => {
    await using own = await bootPassepartout()
    const { acme, ada, login, question, reads } = await opened(client, own)
    expect(await own.tap(ada, question, 'Deny')).toBe(texts.notice('denied'))
    await own.pass(LIFETIME + MINUTE)
    await own.expectNobody(login, 'login_denied')
    expect(reads(ada)).toEqual([outcome('denied')])
    expect(ada.chat(acme.bot)).toMatchObject([{ buttons: [], edits: 1 }])
  })

  test.each([
    ['approve', CLIENT],
    ['00', CLIENT],
    // No question has a number with a leading zero.
    ['07', CLIENT],
    ['42', undefined],
  ])('the forged choice %s to a start with %j', async (choice, client) => {
    const { ada, login, question, reads } = await opened(client)
    await tap(ada, question, { data: `${choice}.${login.attemptId}` })
    await expectNobody(login, 'login_denied')
    expect(reads(ada)).toEqual([outcome('mismatched')])
  })
})

describe('only the person who opened the link first is asked', () => {
  const { botApi, expectNobody, expectSignedIn, heard, open, tap } = shared

  test('the second one is told so, and the first completes', async () => {
    const { acme, ada, bob, login, question, reads } = await opened()
    await open(acme.bot, bob, login)
    expect(reads(bob)).toEqual([reply('taken_link')])
    await expectNobody(login)
    expect(await tap(ada, question, 'Approve')).toBe(SIGNED_IN)
    await expectSignedIn(login, ada)
    expect(reads(ada)).toEqual([outcome('approved')])
  })

  test.each(['Approve', 'Deny'])('after %s the link does nothing, for either', async (button) => {
    const { acme, ada, bob, login, question, reads } = await opened()
    await tap(ada, question, button)
    for (const person of [ada, bob]) {
      await open(acme.bot, person, login)
      expect(reads(person).at(-1)).toBe(reply('answered_link'))
    }
    if (button === 'Approve') await expectSignedIn(login, ada)
    else await expectNobody(login, 'login_denied')
  })

  test('of two at once one is asked', async () => {
    const { acme, ada, bob, reads } = await opened()
    const login = await acme.live.start()
    botApi.hold(acme.bot)
    ada.follow(login.deep_link)
    bob.follow(login.deep_link)
    botApi.release(acme.bot)
    await heard(acme.bot)
    const question = await ada.waitForMessage(acme.bot, ({ data }) =>
      data.join().includes(login.attemptId),
    )
    expect(question.buttons).toEqual(DENY_OR_APPROVE)
    expect(reads(bob)).toEqual([reply('taken_link')])
  })
})

test('updates from groups and bots are ignored', async () => {
  const { attemptsOf, botApi, callsBy, expectNobody, heard } = shared
  const { acme, ada, bob, login } = await opened()
  const unopened = await acme.live.start()
  const group = bob.startInGroup(acme.bot, unopened.payload)
  const taps = [
    { is_bot: false, chat: { id: group, type: 'supergroup' }, data: unopened.attemptId },
    { is_bot: true, chat: { id: ada.id, type: 'private' }, data: login.attemptId },
  ]
  for (const { is_bot, chat, data } of taps)
    botApi.deliver(acme.bot, {
      callback_query: {
        id: '1',
        from: { id: ada.id, is_bot, first_name: 'Ada' },
        message: { message_id: 1, date: 1, chat },
        data: `approve.${data}`,
      },
    })
  await heard(acme.bot)
  for (const each of [login, unopened]) await expectNobody(each)
  expect(botApi.messages(acme.bot, group)).toEqual([])
  expect(attemptsOf(acme)[1]).toMatchObject({ state: 'pending', opener_id: null })
  expect(callsBy(acme.bot, 'answerCallbackQuery')).toEqual([])
})

describe('an update that comes again has no second effect', () => {
  const { attemptsOf, botApi, expectNobody, expectSignedIn, heard, tap } = shared

  test('a press of Start', async () => {
    const { acme, ada } = await opened()
    botApi.redeliver(acme.bot)
    await heard(acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(1)
    expect(attemptsOf(acme)).toMatchObject([{ prompts: 1 }])
  })

  test.each(['Approve', 'Deny'])('a tap on %s, and a second tap is told so', async (button) => {
    const { acme, ada, login, question } = await opened()
    await tap(ada, question, button)
    const { body } = await login.status()
    botApi.redeliver(acme.bot, 2)
    await heard(acme.bot)
    for (const other of ['Deny', 'Approve']) expect(await tap(ada, question, other)).toBe(OVER)
    if (button === 'Approve') {
      expect((await login.status()).body).toEqual(body)
      await expectSignedIn(login, ada)
    } else await expectNobody(login, 'login_denied')
    expect(ada.chat(acme.bot)).toMatchObject([{ edits: 1 }])
  })

  test('two taps in one batch: the first counts, in whatever order they come', async () => {
    for (const isShuffled of [false, true]) {
      const { acme, ada, login, question } = await opened()
      botApi.hold(acme.bot)
      const taps = [ada.tap(question, 'Approve'), ada.tap(question, 'Deny')]
      botApi.shuffle(acme.bot, isShuffled)
      botApi.release(acme.bot)
      const notices = await Promise.all(taps.map((each) => botApi.waitForAnswer(each)))
      expect(notices.map(({ text }) => text)).toEqual([SIGNED_IN, OVER])
      await expectSignedIn(login, ada)
    }
  })

  test('a tap that came by polling and comes by webhook, or twice by webhook', async () => {
    const { actor, app, botRow, bots, rows } = shared
    const { acme, ada, login, question } = await opened()
    await tap(ada, question, 'Approve')
    const { body } = await login.status()
    botApi.hold(acme.bot)
    await bots.set(actor, acme.owner, { transport: 'webhook' })
    const isOfBot = ({ token }: { token: string }) => token === acme.bot.token
    const { params } = await botApi.waitForCall('setWebhook', isOfBot)
    const { id } = botRow(acme.bot)
    const push = (update_id: number) =>
      app.raw(`/v1/passepartout/telegram/${id}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-telegram-bot-api-secret-token': String(params.secret_token),
        },
        body: JSON.stringify({
          update_id,
          callback_query: {
            id: '1',
            from: { id: ada.id, is_bot: false, first_name: 'Ada' },
            message: { message_id: 1, date: 1, chat: { id: ada.id, type: 'private' } },
            data: `approve.${login.attemptId}`,
          },
        }),
      })
    const last = rows('updates', `where bot_id = '${id}' order by update_id desc`)[0].update_id
    const answers = await Promise.all([last, last, last + 1, last + 1].map(push))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await login.status()).body).toEqual(body)
    await expectSignedIn(login, ada)
  })
})

describe('a forged tap does nothing', () => {
  const { app, ask, attemptsOf, botApi, choose, expectNobody, expectSignedIn, heard, tap } = shared

  test('to a sign-in that another person has opened, or no one', async () => {
    const { acme, ada, bob, login, question } = await opened()
    const own = await ask(acme, bob)
    const unopened = await acme.live.start()
    for (const choice of ['approve', 'deny']) {
      const notice = await tap(bob, own.question, { data: `${choice}.${login.attemptId}` })
      expect(notice).toBe(texts.notice('not_yours'))
      const data = `${choice}.${unopened.attemptId}`
      expect(await tap(ada, question, { data })).toBe(OVER)
    }
    for (const each of [login, own.login, unopened]) await expectNobody(each)
    expect(attemptsOf(acme).map(({ state }) => state)).toEqual(['opened', 'opened', 'pending'])
    await tap(ada, question, 'Approve')
    await expectSignedIn(login, ada)
  })

  test.each(['approve', 'deny'])('of %s through another bot, or in the sandbox', async (choice) => {
    const { acme, ada, login, question } = await opened()
    const other = await shared.newTenant('Other')
    const elsewhere = await ask(other, ada)
    const sandboxed = await acme.test.start()
    await choose(sandboxed, 'start')
    for (const [message, { attemptId }] of [
      [elsewhere.question, login],
      [elsewhere.question, sandboxed],
      [question, sandboxed],
    ] as const)
      expect(await tap(ada, message, { data: `${choice}.${attemptId}` })).toBe(OVER)
    for (const each of [login, elsewhere.login, sandboxed]) await expectNobody(each)
  })

  test('with data that no button has', async () => {
    const { acme, ada, login, question } = await opened()
    const id = login.attemptId
    const taps = [
      ...['approve', id, `approve.${id} `, ` approve.${id}`, `APPROVE.${id}`, `approved.${id}`],
      ...[`approve.${id.toUpperCase()}`, `approve.${id}.${id.slice(0, 5)}`, `opened.${id}`],
      ...[`approve.${id.replaceAll('-', '_')}`, `approve\n.${id}`, `deny.approve.${id}`],
      ...[`approve.' or '1'='1`, `approve.${'0'.repeat(36)}`, '{"choice":"approve"}', '\0', '∞.∞'],
    ].map((data) => ada.tapData(question, data.slice(0, 64)))
    await heard(acme.bot)
    await expectNobody(login)
    const told = taps.flatMap((each) => botApi.answersTo(each).map(({ text }) => text))
    expect(new Set(told)).toEqual(new Set([OVER]))
    await tap(ada, question, 'Approve')
    await expectSignedIn(login, ada)
  })

  test('on a forwarded message', async () => {
    const { acme, ada, bob, login, question } = await opened()
    bob.say(acme.bot, 'Hello')
    await bob.waitForMessage(acme.bot)
    botApi.deliver(acme.bot, {
      callback_query: {
        id: '1',
        from: { id: bob.id, is_bot: false, first_name: 'Bob' },
        message: {
          message_id: question.message_id,
          date: 1,
          chat: { id: bob.id, type: 'private' },
        },
        data: `approve.${login.attemptId}`,
      },
    })
    bob.tap(question, 'Approve')
    bob.tap(question, 'Deny')
    await heard(acme.bot)
    await app.passepartout.idle()
    await expectNobody(login)
    expect(ada.lastMessage(acme.bot)).toMatchObject({ buttons: DENY_OR_APPROVE, edits: 0 })
    expect(await tap(ada, question, 'Approve')).toBe(SIGNED_IN)
  })
})

describe('a link works unchanged, with its own bot', () => {
  const { attemptsOf, expectNobody, expectSignedIn, newTenant, open, tap } = shared
  const flipped = (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`

  test('not with the bot of another tenant; with its own it goes on working', async () => {
    const [acme, other] = [await newTenant(), await newTenant('Other')]
    const ada = shared.botApi.person()
    const login = await acme.live.start()
    ada.start(other.bot, login.payload)
    expect((await ada.waitForMessage(other.bot)).text).toBe(reply('unknown_link'))
    await expectNobody(login)
    await tap(ada, await open(acme.bot, ada, login), 'Approve')
    await expectSignedIn(login, ada)
    const { status, body } = await acme.live.status(login.payload)
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  })

  const payloads: [string, (login: Login) => string][] = [
    ['with one other character', ({ payload }) => flipped(payload)],
    ['without its last character', ({ payload }) => payload.slice(0, -1)],
    ['with one character more', ({ payload }) => `${payload}A`],
    ['in lower case', ({ payload }) => payload.toLowerCase()],
    ['that is the nonce', ({ nonce }) => nonce],
    ['that is the id of the attempt', ({ attemptId }) => attemptId],
  ]
  test('not with another payload', async () => {
    const acme = await newTenant()
    const login = await acme.live.start()
    const sandboxed = await acme.test.start()
    const wrong = payloads.map(([what, of]) => [what, of(login)] as const)
    for (const [what, payload] of [...wrong, ['of the sandbox', sandboxed.payload] as const]) {
      const ada = shared.botApi.person()
      ada.start(acme.bot, payload)
      const { text } = await ada.waitForMessage(acme.bot)
      expect([what, text]).toEqual([what, reply('unknown_link')])
    }
    await expectNobody(login)
    expect(attemptsOf(acme)[0]).toMatchObject({ state: 'pending' })
  })
})

describe('the sign-in of a bot that is disabled meanwhile', () => {
  test('stays pending until it expires', async () => {
    await using own = await bootPassepartout()
    const { acme, ada, login, question } = await opened(undefined, own)
    await own.bots.disable(own.actor, acme.owner)
    await own.turnUntil(() => own.botApi.pollers(acme.bot) === 0)
    const tapped = ada.tap(question, 'Approve')
    await own.pass(10 * SECOND)
    await own.expectNobody(login)
    expect((await acme.live.post(START)).body.error.code).toBe('bot_not_configured')
    await own.pass(LIFETIME)
    await own.bots.enable(own.actor, acme.owner)
    expect((await own.botApi.waitForAnswer(tapped)).text).toBe(texts.notice('expired'))
    await own.expectNobody(login, 'nonce_expired')
  })

  test('is completed by a tap that waited until the bot was enabled again', async () => {
    const { actor, botApi, bots, expectSignedIn, turnUntil } = shared
    const { acme, ada, login, question } = await opened()
    await bots.disable(actor, acme.owner)
    await turnUntil(() => botApi.pollers(acme.bot) === 0)
    const tapped = ada.tap(question, 'Approve')
    await bots.enable(actor, acme.owner)
    expect((await botApi.waitForAnswer(tapped)).text).toBe(SIGNED_IN)
    await expectSignedIn(login, ada)
  })
})
