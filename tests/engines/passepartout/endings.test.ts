import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { BotMessage, Person } from '../../support/bot-api/index.ts'
import { bootFixture, type Fixture } from './fixture.ts'
import {
  attemptsOf,
  botRow,
  CLIENT,
  callsBy,
  expectNobody,
  expectSignedIn,
  heard,
  LIFETIME,
  type Login,
  MINUTE,
  pass,
  pressedStart,
  rowsOf,
  SECOND,
  START,
  startLogin,
  statusOf,
  type Tenant,
  turnUntil,
  wrongNumber,
} from './walk.ts'

const BEGIN_AGAIN = 'To sign in, go back to the app and start again.'
const EXPIRED = `This sign-in to Acme has expired.\n${BEGIN_AGAIN}`
const DENIED =
  "You denied a sign-in to Acme at 12:00 UTC.\nNo one was signed in. You don't need to do anything else."
const MISMATCHED =
  'Wrong number. The sign-in to Acme was denied.\nIf it was you, go back to the app and start again.'
const APPROVED = 'You signed in to Acme at 12:00 UTC.\nGo back to the app.'
const OVER = 'This sign-in has already been answered.'
const NOT_YOURS = 'This sign-in belongs to someone else.'

/** For those whose time stands still; tenants see nothing of each other. */
let shared: Fixture
beforeAll(async () => {
  shared = await bootFixture()
})
afterAll(() => shared.stop())

const boot = () => newcomers(shared)

/** For those who turn the clock. */
async function bootOwn() {
  const fixture = await bootFixture()
  return { ...(await newcomers(fixture)), [Symbol.asyncDispose]: fixture.stop }
}

/** A tenant, two people, and what they see and do. */
async function newcomers(fixture: Fixture) {
  const acme = await fixture.signingTenant()
  const ada = fixture.botApi.person({ first_name: 'Ada', language_code: 'en' })
  const bob = fixture.botApi.person({ first_name: 'Bob', language_code: 'en' })

  /** A sign-in that Ada has opened. */
  async function opened(body?: unknown) {
    const login = await startLogin(fixture, acme.live, body)
    const prompt = await pressedStart(ada, acme.bot, login)
    return { login, prompt }
  }

  /** The moment's notice that a tap was answered with, once what it did is done. */
  async function notice(person: Person, message: BotMessage, button: string | number) {
    const answer = await fixture.botApi.waitForAnswer(person.tap(message, button))
    await fixture.app.passepartout.idle()
    return answer.text
  }

  async function forged(person: Person, message: BotMessage, data: string) {
    const answer = await fixture.botApi.waitForAnswer(person.tapData(message, data))
    await fixture.app.passepartout.idle()
    return answer.text
  }

  /** What somebody reads in the chat with the bot. */
  const reads = (person: Person, { bot }: Tenant = acme) => person.chat(bot).map(({ text }) => text)

  const { app, actor, botApi } = fixture
  return { fixture, app, actor, botApi, acme, ada, bob, opened, notice, forged, reads }
}

describe('who presses Start and does no more signs nobody in', () => {
  test('the question stands until it expires, and then says so', async () => {
    await using here = await bootOwn()
    const { fixture, acme, ada, opened, reads } = here
    const { login, prompt } = await opened()

    expect(prompt.buttons).toEqual([['Deny', 'Approve']])
    await expectNobody(fixture, login)
    await pass(fixture, LIFETIME - SECOND)
    await expectNobody(fixture, login)
    expect(ada.lastMessage(acme.bot)?.buttons).toEqual([['Deny', 'Approve']])
    await pass(fixture, SECOND)
    await expectNobody(fixture, login, 'nonce_expired')
    await turnUntil(fixture, () => reads(ada).includes(EXPIRED))
    expect(ada.chat(acme.bot)).toMatchObject([{ text: EXPIRED, buttons: [], edits: 1 }])
    await expectNobody(fixture, login, 'nonce_expired')
  })

  test('a tap that comes too late is told so', async () => {
    await using here = await bootOwn()
    const { fixture, app, ada, opened, notice, reads } = here
    const { login, prompt } = await opened()

    app.clock.jump(LIFETIME)
    expect(await notice(ada, prompt, 'Approve')).toBe('This sign-in has expired. Start again.')
    await expectNobody(fixture, login, 'nonce_expired')
    await turnUntil(fixture, () => reads(ada).includes(EXPIRED))
    await expectNobody(fixture, login, 'nonce_expired')
  })

  test('a link that expired is told so, and asks nothing', async () => {
    await using here = await bootOwn()
    const { fixture, app, acme, ada, reads } = here
    const login = await startLogin(fixture, acme.live)

    app.clock.jump(LIFETIME)
    await pressedStart(ada, acme.bot, login)
    expect(reads(ada)).toEqual([`This link has expired.\n${BEGIN_AGAIN}`])
    await expectNobody(fixture, login, 'nonce_expired')
  })
})

describe('an answer that is not the right one ends the sign-in:', () => {
  test('a wrong number', async () => {
    const here = await boot()
    const { fixture, acme, ada, opened, notice } = here
    const { login, prompt } = await opened({ client: CLIENT })

    expect(prompt.buttons).toEqual([
      [expect.any(String), expect.any(String), expect.any(String)],
      ['Deny'],
    ])
    expect(prompt.buttons[0]).toContain(login.code)
    expect(await notice(ada, prompt, wrongNumber(prompt, login))).toBe(
      'Wrong number. Sign-in denied.',
    )
    await expectNobody(fixture, login, 'login_denied')
    expect(ada.chat(acme.bot)).toMatchObject([{ text: MISMATCHED, buttons: [] }])
  })

  test.each([undefined, { client: CLIENT }])('Deny, to a start with %j', async (body) => {
    await using here = await bootOwn()
    const { fixture, acme, ada, opened, notice } = here
    const { login, prompt } = await opened(body)

    expect(await notice(ada, prompt, 'Deny')).toBe('Sign-in denied.')
    await expectNobody(fixture, login, 'login_denied')
    expect(ada.chat(acme.bot)).toMatchObject([{ text: DENIED, buttons: [] }])
    await pass(fixture, LIFETIME + MINUTE)
    await expectNobody(fixture, login, 'login_denied')
    expect(ada.chat(acme.bot)).toMatchObject([{ text: DENIED, buttons: [], edits: 1 }])
  })
})

describe('whoever opens a link second is not asked:', () => {
  test('before it was answered, and the first one completes', async () => {
    const here = await boot()
    const { fixture, acme, ada, bob, opened, notice, reads } = here
    const { login, prompt } = await opened()

    await pressedStart(bob, acme.bot, login)
    expect(reads(bob)).toEqual([
      `This link was already opened by someone else, so it doesn't work for you.\n${BEGIN_AGAIN}`,
    ])
    await expectNobody(fixture, login)
    expect(await notice(ada, prompt, 'Approve')).toBe("You're signed in.")
    await expectSignedIn(fixture, login, ada)
    expect(reads(ada)).toEqual([APPROVED])
  })

  test.each(['Approve', 'Deny'])('after the first one tapped %s', async (answer) => {
    const here = await boot()
    const { fixture, acme, ada, bob, opened, notice, reads } = here
    const { login, prompt } = await opened()
    await notice(ada, prompt, answer)

    await pressedStart(bob, acme.bot, login)
    expect(reads(bob)).toEqual([`This sign-in has ended.\n${BEGIN_AGAIN}`])
    if (answer === 'Approve') await expectSignedIn(fixture, login, ada)
    else await expectNobody(fixture, login, 'login_denied')
  })

  test('two at once: one of them is asked', async () => {
    const here = await boot()
    const { fixture, botApi, acme, ada, bob, reads } = here
    const login = await startLogin(fixture, acme.live)

    botApi.hold(acme.bot)
    ada.follow(login.link)
    bob.follow(login.link)
    botApi.release(acme.bot)
    await heard(fixture, acme.bot)
    await Promise.all([ada, bob].map((one) => one.waitForMessage(acme.bot)))
    expect(ada.chat(acme.bot)).toMatchObject([{ buttons: [['Deny', 'Approve']] }])
    expect(reads(bob)).toEqual([expect.stringContaining('was already opened by someone else')])
  })
})

test('a link that was answered does nothing for the one who answered it', async () => {
  const here = await boot()
  const { fixture, acme, ada, opened, notice, reads } = here
  const { login, prompt } = await opened()
  await notice(ada, prompt, 'Deny')

  await pressedStart(ada, acme.bot, login)
  expect(reads(ada)).toEqual([DENIED, `This sign-in has ended.\n${BEGIN_AGAIN}`])
  await expectNobody(fixture, login, 'login_denied')
})

describe('what does not come from one human alone with the bot is not heard:', () => {
  const human = { id: 5_300_000_000, is_bot: false, first_name: 'Ada' }
  const channel = { id: -1_001_234, type: 'channel', title: 'News' }

  test('a link that is opened in a group, and taps there', async () => {
    const here = await boot()
    const { fixture, botApi, acme, bob } = here
    const login = await startLogin(fixture, acme.live)

    const group = bob.startInGroup(acme.bot, login.payload)
    botApi.deliver(acme.bot, {
      callback_query: {
        id: '1',
        from: human,
        message: { message_id: 1, date: 1, chat: { id: group, type: 'supergroup', title: 'N' } },
        data: `approve.${login.attemptId}`,
      },
    })
    await heard(fixture, acme.bot)
    await expectNobody(fixture, login)
    expect(botApi.messages(acme.bot, group)).toEqual([])
    expect(attemptsOf(fixture, acme)).toMatchObject([{ state: 'pending', opener_id: null }])
    expect(callsBy(fixture, acme.bot, 'answerCallbackQuery')).toEqual([])
    expect(callsBy(fixture, acme.bot, 'sendMessage')).toHaveLength(1)
  })

  test.each([
    ['a post in a channel', { from: undefined, chat: channel, sender_chat: channel }],
    ['a post in a channel, with an author', { from: human, chat: channel, sender_chat: channel }],
    ['a bot', { from: { ...human, is_bot: true }, chat: { id: human.id, type: 'private' } }],
    ['nobody', { chat: { id: human.id, type: 'private' } }],
    ['somebody in the chat of somebody else', { from: human, chat: { id: 77, type: 'private' } }],
  ])('%s', async (_who, about) => {
    const here = await boot()
    const { fixture, botApi, acme } = here
    const login = await startLogin(fixture, acme.live)
    const text = `/start ${login.payload}`

    for (const kind of ['message', 'channel_post', 'edited_message', 'business_message'])
      botApi.deliver(acme.bot, { [kind]: { message_id: 1, date: 1, text, ...about } })
    await heard(fixture, acme.bot)
    await expectNobody(fixture, login)
    expect(attemptsOf(fixture, acme)).toMatchObject([{ state: 'pending', opener_id: null }])
    expect(callsBy(fixture, acme.bot, 'sendMessage')).toHaveLength(1)
  })

  test('a tap by a bot on a question that stands', async () => {
    const here = await boot()
    const { fixture, botApi, acme, ada, opened } = here
    const { login } = await opened()
    const { id, first_name } = ada

    botApi.deliver(acme.bot, {
      callback_query: {
        id: '1',
        from: { id, is_bot: true, first_name },
        message: { message_id: 1, date: 1, chat: { id, type: 'private' } },
        data: `approve.${login.attemptId}`,
      },
    })
    await heard(fixture, acme.bot)
    await expectNobody(fixture, login)
  })
})

describe('what comes again happens once:', () => {
  test('the same press of Start', async () => {
    const here = await boot()
    const { fixture, botApi, acme, ada, opened } = here
    await opened()

    botApi.redeliver(acme.bot)
    await heard(fixture, acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(1)
    expect(attemptsOf(fixture, acme)).toMatchObject([{ prompts: 1 }])
  })

  test.each([
    ['Approve', undefined],
    ['Deny', 'login_denied'],
  ])('the same tap on %s', async (button, code) => {
    const here = await boot()
    const { fixture, botApi, acme, ada, opened, notice } = here
    const { login, prompt } = await opened()
    await notice(ada, prompt, button)
    const before = await login.status()

    botApi.redeliver(acme.bot, 2)
    await heard(fixture, acme.bot)
    expect(await login.status()).toMatchObject({
      status: before.status,
      body: before.body.error ? {} : before.body,
    })
    if (code === undefined) await expectSignedIn(fixture, login, ada)
    else await expectNobody(fixture, login, code)
    expect(ada.chat(acme.bot)).toMatchObject([{ edits: 1 }])
  })

  test.each([
    ['Approve', 'Approve'],
    ['Approve', 'Deny'],
  ])('%s, then %s on the same question: one token, and the second is told', async (first, then) => {
    const here = await boot()
    const { fixture, ada, opened, notice, reads } = here
    const { login, prompt } = await opened()

    expect(await notice(ada, prompt, first)).toBe("You're signed in.")
    const completed = await login.status()
    expect(await notice(ada, prompt, then)).toBe(OVER)
    expect((await login.status()).body).toEqual(completed.body)
    await expectSignedIn(fixture, login, ada)
    expect(reads(ada)).toEqual([APPROVED])
  })

  test('Approve after Deny', async () => {
    const here = await boot()
    const { fixture, ada, opened, notice, reads } = here
    const { login, prompt } = await opened()

    await notice(ada, prompt, 'Deny')
    expect(await notice(ada, prompt, 'Approve')).toBe(OVER)
    await expectNobody(fixture, login, 'login_denied')
    expect(reads(ada)).toEqual([DENIED])
  })

  test('the right number after a wrong one', async () => {
    const here = await boot()
    const { fixture, ada, opened, notice, reads } = here
    const { login, prompt } = await opened({ client: CLIENT })

    await notice(ada, prompt, wrongNumber(prompt, login))
    expect(await notice(ada, prompt, login.code)).toBe(OVER)
    await expectNobody(fixture, login, 'login_denied')
    expect(reads(ada)).toEqual([MISMATCHED])
  })
})

describe('a forged tap', () => {
  test.each([
    'approve',
    '00',
    // No question has it among its numbers: they begin at ten.
    '07',
  ])('of «%s» ends what asks for a number', async (choice) => {
    const here = await boot()
    const { fixture, ada, opened, forged, reads } = here
    const { login, prompt } = await opened({ client: CLIENT })

    expect(await forged(ada, prompt, `${choice}.${login.attemptId}`)).toBe(
      'Wrong number. Sign-in denied.',
    )
    await expectNobody(fixture, login, 'login_denied')
    expect(reads(ada)).toEqual([MISMATCHED])
  })

  test('of a number ends what asks for none', async () => {
    const here = await boot()
    const { fixture, ada, opened, forged, reads } = here
    const { login, prompt } = await opened()

    await forged(ada, prompt, `42.${login.attemptId}`)
    await expectNobody(fixture, login, 'login_denied')
    expect(reads(ada)).toEqual([MISMATCHED])
  })

  test('on what somebody else has opened does nothing', async () => {
    const here = await boot()
    const { fixture, acme, ada, bob, opened, forged, notice } = here
    const { login, prompt } = await opened()
    const own = await startLogin(fixture, acme.live)
    const ownPrompt = await pressedStart(bob, acme.bot, own)

    expect(await forged(bob, ownPrompt, `approve.${login.attemptId}`)).toBe(NOT_YOURS)
    expect(await forged(bob, ownPrompt, `deny.${login.attemptId}`)).toBe(NOT_YOURS)
    await expectNobody(fixture, login)
    await expectNobody(fixture, own)
    await notice(ada, prompt, 'Approve')
    await expectSignedIn(fixture, login, ada)
  })

  test('on what nobody has opened does nothing', async () => {
    const here = await boot()
    const { fixture, acme, ada, opened, forged } = here
    const { prompt } = await opened()
    const other = await startLogin(fixture, acme.live)

    expect(await forged(ada, prompt, `approve.${other.attemptId}`)).toBe(OVER)
    await expectNobody(fixture, other)
    expect(attemptsOf(fixture, acme)).toMatchObject([{ state: 'opened' }, { state: 'pending' }])
  })

  test.each(['approve', 'deny'])(
    'of «%s» through the bot of another tenant, or on a sign-in of the sandbox, does nothing',
    async (choice) => {
      const here = await boot()
      const { fixture, app, acme, ada, opened, forged } = here
      const { login } = await opened()
      const other = await fixture.signingTenant('Other')
      const elsewhere = await startLogin(fixture, other.live)
      const prompt = await pressedStart(ada, other.bot, elsewhere)
      const sandboxed = await startLogin(fixture, acme.test)
      await app.raw(new URL(sandboxed.link).pathname, {
        method: 'POST',
        body: new URLSearchParams({ choice: 'start', person: 'ada' }),
      })

      expect(await forged(ada, prompt, `${choice}.${login.attemptId}`)).toBe(OVER)
      expect(await forged(ada, prompt, `${choice}.${sandboxed.attemptId}`)).toBe(OVER)
      const own = ada.lastMessage(acme.bot)
      if (!own) throw new Error('there is no question')
      expect(await forged(ada, own, `${choice}.${sandboxed.attemptId}`)).toBe(OVER)
      for (const each of [login, elsewhere, sandboxed]) await expectNobody(fixture, each)
    },
  )

  test('of anything else does nothing', async () => {
    const here = await boot()
    const { fixture, botApi, acme, ada, opened, notice } = here
    const { login, prompt } = await opened()
    const id = login.attemptId

    const taps = [
      'approve',
      id,
      `approve.${id} `,
      ` approve.${id}`,
      `APPROVE.${id}`,
      `approve.${id.toUpperCase()}`,
      `approve.${id}.${id.slice(0, 5)}`,
      `approve.${id.replaceAll('-', '_')}`,
      `approve\n.${id}`,
      `approved.${id}`,
      `deny.approve.${id}`.slice(0, 64),
      `opened.${id}`,
      `approve.' or '1'='1`,
      `approve.${'0'.repeat(36)}`,
      '{"choice":"approve"}',
      '\u0000',
      '∞.∞',
    ].map((data) => ada.tapData(prompt, data))
    await heard(fixture, acme.bot)
    await expectNobody(fixture, login)
    const told = taps.flatMap((tap) => botApi.answersTo(tap).map(({ text }) => text))
    expect(new Set(told)).toEqual(new Set([OVER]))
    await notice(ada, prompt, 'Approve')
    await expectSignedIn(fixture, login, ada)
  })

  test('without data, or with more than a button can carry, does nothing', async () => {
    const here = await boot()
    const { fixture, botApi, acme, ada, opened } = here
    const { login, prompt } = await opened()
    const about = {
      from: { id: ada.id, is_bot: false, first_name: 'Ada' },
      message: { message_id: prompt.message_id, date: 1, chat: { id: ada.id, type: 'private' } },
    }

    for (const data of [undefined, null, 7, [`approve.${login.attemptId}`], 'x'.repeat(65)])
      botApi.deliver(acme.bot, { callback_query: { id: '1', ...about, data } })
    await heard(fixture, acme.bot)
    await expectNobody(fixture, login)
  })
})

test('a tap by somebody else on a message that was passed on does nothing to the sign-in', async () => {
  const here = await boot()
  const { fixture, botApi, acme, ada, bob, opened, notice } = here
  const { login, prompt } = await opened()
  bob.say(acme.bot, 'Hello')
  await bob.waitForMessage(acme.bot)

  // As it is in Bob's own chat, and as it is in that of Ada.
  botApi.deliver(acme.bot, {
    callback_query: {
      id: '1',
      from: { id: bob.id, is_bot: false, first_name: 'Bob' },
      message: { message_id: prompt.message_id, date: 1, chat: { id: bob.id, type: 'private' } },
      data: `approve.${login.attemptId}`,
    },
  })
  bob.tap(prompt, 'Approve')
  bob.tap(prompt, 'Deny')
  await heard(fixture, acme.bot)
  await expectNobody(fixture, login)
  expect(ada.lastMessage(acme.bot)).toMatchObject({ buttons: [['Deny', 'Approve']], edits: 0 })
  expect(await notice(ada, prompt, 'Approve')).toBe("You're signed in.")
  await expectSignedIn(fixture, login, ada)
})

test('keys of another tenant, and of the other environment, see nothing of it', async () => {
  const here = await boot()
  const { fixture, acme, ada, opened, notice } = here
  const other = await fixture.signingTenant('Other')
  const { login, prompt } = await opened()

  const strangers = [other.live, other.test, acme.test]
  const seen = () =>
    Promise.all(
      strangers.map(async (client) => {
        const { status, body } = await client.get(statusOf(login.nonce))
        return [status, body.error.code]
      }),
    )
  const nothing = strangers.map(() => [404, 'not_found'])
  expect(await seen()).toEqual(nothing)
  await notice(ada, prompt, 'Approve')
  expect(await seen()).toEqual(nothing)
  await expectSignedIn(fixture, login, ada)
})

test('a link that is brought to another bot does not work there, and goes on working', async () => {
  const here = await boot()
  const { fixture, acme, ada, notice, reads } = here
  const other = await fixture.signingTenant('Other')
  const login = await startLogin(fixture, acme.live)

  ada.start(other.bot, login.payload)
  await ada.waitForMessage(other.bot)
  expect(reads(ada, other)).toEqual([`This link doesn't work.\n${BEGIN_AGAIN}`])
  await expectNobody(fixture, login)
  const prompt = await pressedStart(ada, acme.bot, login)
  await notice(ada, prompt, 'Approve')
  await expectSignedIn(fixture, login, ada)
})

test('a link of the sandbox does not work with the bot of the live environment', async () => {
  const here = await boot()
  const { fixture, acme, ada, reads } = here
  const login = await startLogin(fixture, acme.test)

  ada.start(acme.bot, login.payload)
  await ada.waitForMessage(acme.bot)
  expect(reads(ada)).toEqual([`This link doesn't work.\n${BEGIN_AGAIN}`])
  await expectNobody(fixture, login)
})

describe('a payload that is not that of the link does not work:', () => {
  const flipped = (text: string) => `${text.startsWith('A') ? 'B' : 'A'}${text.slice(1)}`

  test.each<[string, (login: Login) => string]>([
    ['one character is another', ({ payload }) => flipped(payload)],
    ['the last is missing', ({ payload }) => payload.slice(0, -1)],
    ['one too many', ({ payload }) => `${payload}A`],
    ['nothing but small letters', ({ payload }) => payload.toLowerCase()],
    ['what the app asks by', ({ nonce }) => nonce],
    ['the id of the attempt', ({ attemptId }) => attemptId],
    ['nothing of the sort', () => 'login'],
  ])('%s', async (_how, mangled) => {
    const here = await boot()
    const { fixture, acme, ada, reads } = here
    const login = await startLogin(fixture, acme.live)

    ada.start(acme.bot, mangled(login))
    await ada.waitForMessage(acme.bot)
    expect(reads(ada)).toEqual([`This link doesn't work.\n${BEGIN_AGAIN}`])
    await expectNobody(fixture, login)
    expect(attemptsOf(fixture, acme)).toMatchObject([{ state: 'pending' }])
  })

  test.each<[string, (login: Login) => string]>([
    ['more words behind it', ({ payload }) => `/start ${payload} please`],
    ['two spaces in front of it', ({ payload }) => `/start  ${payload}`],
    ['a line of its own', ({ payload }) => `/start\n${payload}`],
    ['another command', ({ payload }) => `/login ${payload}`],
    ['no command', ({ payload }) => payload],
    ['no payload', () => '/start'],
  ])('%s is but something said', async (_how, text) => {
    const here = await boot()
    const { fixture, acme, ada, reads } = here
    const login = await startLogin(fixture, acme.live)

    ada.say(acme.bot, text(login))
    await ada.waitForMessage(acme.bot)
    expect(reads(ada)).toEqual([
      'This bot signs you in to Acme.\nTo sign in, start in the app and follow its link to this bot.',
    ])
    await expectNobody(fixture, login)
  })

  test('the payload is no nonce', async () => {
    const here = await boot()
    const { fixture, acme, ada, opened, notice } = here
    const { login, prompt } = await opened()
    await notice(ada, prompt, 'Approve')

    const { status, body } = await acme.live.get(statusOf(login.payload))
    expect([status, body.error.code]).toEqual([404, 'not_found'])
    await expectSignedIn(fixture, login, ada)
  })
})

describe('of two approvals at once one counts:', () => {
  test('two taps in one batch', async () => {
    const here = await boot()
    const { fixture, botApi, acme, ada, opened, reads } = here
    const { login, prompt } = await opened()

    botApi.hold(acme.bot)
    const taps = [ada.tap(prompt, 'Approve'), ada.tap(prompt, 'Approve')]
    botApi.release(acme.bot)
    const notices = await Promise.all(taps.map((tap) => botApi.waitForAnswer(tap)))
    expect(notices.map(({ text }) => text)).toEqual(["You're signed in.", OVER])
    await expectSignedIn(fixture, login, ada)
    await ada.waitForMessage(acme.bot, ({ buttons }) => buttons.length === 0)
    expect(reads(ada)).toEqual([APPROVED])
  })

  test('taps of Approve and Deny in one batch: the one that was first', async () => {
    const here = await boot()
    const { fixture, botApi, acme, ada, opened } = here
    const { login, prompt } = await opened()

    botApi.hold(acme.bot)
    const taps = [ada.tap(prompt, 'Deny'), ada.tap(prompt, 'Approve')]
    botApi.shuffle(acme.bot, true)
    botApi.release(acme.bot)
    const notices = await Promise.all(taps.map((tap) => botApi.waitForAnswer(tap)))
    expect(notices.map(({ text }) => text)).toEqual(['Sign-in denied.', OVER])
    await expectNobody(fixture, login, 'login_denied')
  })

  test('one that came by polling and then by the webhook, and two that the webhook brings', async () => {
    const here = await boot()
    const { fixture, app, actor, botApi, acme, ada, opened, notice } = here
    const { login, prompt } = await opened()
    await notice(ada, prompt, 'Approve')
    const completed = await login.status()

    // Telegram itself would bring it to the new webhook: here, the test does.
    botApi.hold(acme.bot)
    await app.passepartout.bots.set(
      actor,
      { tenantId: acme.id, environment: 'live' },
      { transport: 'webhook' },
    )
    const { params } = await botApi.waitForCall(
      'setWebhook',
      ({ token }) => token === acme.bot.token,
    )
    const id = String(botRow(fixture, acme.bot).id)
    const tap = (update_id: number) =>
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
    const last = Number(
      rowsOf(app, 'updates', `where bot_id = '${id}' order by update_id desc`)[0]?.update_id,
    )
    const answers = await Promise.all([tap(last), tap(last), tap(last + 1), tap(last + 1)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await login.status()).body).toEqual(completed.body)
    await expectSignedIn(fixture, login, ada)
  })
})

describe('a bot that is disabled in the middle of it', () => {
  test('hears no answer: the sign-in stays pending until it expires', async () => {
    await using here = await bootOwn()
    const { fixture, app, actor, botApi, acme, ada, opened } = here
    const { login, prompt } = await opened()
    const owner = { tenantId: acme.id, environment: 'live' } as const

    await app.passepartout.bots.disable(actor, owner)
    await turnUntil(fixture, () => botApi.pollers(acme.bot) === 0)
    const tap = ada.tap(prompt, 'Approve')
    await pass(fixture, 10 * SECOND)
    await expectNobody(fixture, login)
    expect((await acme.live.post(START)).body.error.code).toBe('bot_not_configured')
    expect(botApi.pollers(acme.bot)).toBe(0)

    await pass(fixture, LIFETIME)
    await expectNobody(fixture, login, 'nonce_expired')
    await app.passepartout.bots.enable(actor, owner)
    expect((await botApi.waitForAnswer(tap)).text).toBe('This sign-in has expired. Start again.')
    await expectNobody(fixture, login, 'nonce_expired')
  })

  test('hears what waited for it when it is enabled in time', async () => {
    const here = await boot()
    const { fixture, app, actor, botApi, acme, ada, opened } = here
    const { login, prompt } = await opened()
    const owner = { tenantId: acme.id, environment: 'live' } as const

    await app.passepartout.bots.disable(actor, owner)
    await turnUntil(fixture, () => botApi.pollers(acme.bot) === 0)
    const tap = ada.tap(prompt, 'Approve')
    await app.passepartout.bots.enable(actor, owner)
    expect((await botApi.waitForAnswer(tap)).text).toBe("You're signed in.")
    await expectSignedIn(fixture, login, ada)
  })
})
