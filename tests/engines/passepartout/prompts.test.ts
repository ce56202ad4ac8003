import { describe, expect, test } from 'bun:test'
import type { TestApp } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import type { Call, FaultFields } from '../../support/bot-api/index.ts'
import { bootFixture } from './fixture.ts'
import {
  attemptsOf,
  callsBy,
  expectNobody,
  expectSignedIn,
  heard,
  LIFETIME,
  type Login,
  pass,
  pressedStart,
  rowsOf,
  SECOND,
  startLogin,
  turnUntil,
} from './walk.ts'

const APPROVED = /^You signed in to Acme/
const EXPIRED = /^This sign-in to Acme has expired/
const QUESTION = /^Sign in to Acme\?/

/** Turns the clock although something is under way that only ends by it. */
async function patiently({ clock }: TestApp, turn: () => Promise<void>) {
  const { settled } = clock
  clock.settled = async () => {}
  await turn()
  clock.settled = settled
}

/** A tenant, and somebody who has spoken to its bot before. */
async function boot() {
  const fixture = await bootFixture()
  const { app, botApi } = fixture
  const acme = await fixture.signingTenant()
  const owner = { tenantId: acme.id, environment: 'live' } as const
  const ada = botApi.person({ first_name: 'Ada', language_code: 'en' })
  const fail = (fields: FaultFields) => botApi.fail({ bot: acme.bot, ...fields })

  const calls = (method: string) => callsBy(fixture, acme.bot, method)
  const ended = (method: string) => calls(method).filter(({ status }) => status !== undefined)

  /** Resolves when a call has ended for the `count`th time, and what came of it is on disk. */
  async function called(method: string, count: number) {
    await until(
      () => ended(method).length >= count,
      () => `${count} calls of ${method}`,
      4_000,
    )
    await app.passepartout.idle()
    expect(calls(method)).toHaveLength(count)
  }

  /** The `count`th call comes after `ms`, and not before. */
  async function calledAfter(ms: number, method: string, count: number) {
    await app.clock.advance(ms - 1)
    await app.passepartout.idle()
    expect(calls(method)).toHaveLength(count - 1)
    await app.clock.advance(1)
    await called(method, count)
  }

  const started = () => startLogin(fixture, acme.live)

  async function asked() {
    const login = await started()
    return { login, prompt: await pressedStart(ada, acme.bot, login) }
  }

  async function approved() {
    const { login, prompt } = await asked()
    await botApi.waitForAnswer(ada.tap(prompt, 'Approve'))
    return { login, prompt }
  }

  /** There is nothing that would be sent or changed some time. */
  async function expectNothingLeft() {
    await app.passepartout.idle()
    expect(rowsOf(app, 'prompts')).toEqual([])
  }

  /** Answers by the last message, which then says so, and nothing is left. */
  async function expectToWork(login: Login) {
    const last = ada.lastMessage(acme.bot)
    if (!last) throw new Error('there is no question')
    expect(last.text).toMatch(QUESTION)
    const { text } = await botApi.waitForAnswer(ada.tap(last, 'Approve'))
    expect(text).toBe("You're signed in.")
    await expectSignedIn(fixture, login, ada)
    await ada.waitForMessage(acme.bot, (message) => APPROVED.test(message.text))
    await expectNothingLeft()
  }

  return {
    ...fixture,
    fixture,
    acme,
    owner,
    ada,
    fail,
    calls,
    called,
    calledAfter,
    started,
    asked,
    approved,
    expectNothingLeft,
    expectToWork,
  }
}

describe('a question that could not be sent', () => {
  test('that Telegram limits is sent when Telegram said, and not before', async () => {
    await using here = await boot()
    const { ada, fail, started, called, calledAfter, expectToWork } = here
    const login = await started()

    fail({ method: 'sendMessage', retryAfter: 20, times: 1 })
    ada.follow(login.link)
    await called('sendMessage', 1)
    await calledAfter(20 * SECOND, 'sendMessage', 2)
    await expectToWork(login)
  })

  test('is not sent sooner than usual, however soon Telegram says', async () => {
    await using here = await boot()
    const { ada, fail, started, called, calledAfter, expectToWork } = here
    const login = await started()

    fail({ method: 'sendMessage', retryAfter: 0.01, times: 1 })
    ada.follow(login.link)
    await called('sendMessage', 1)
    await calledAfter(SECOND, 'sendMessage', 2)
    await expectToWork(login)
  })

  test('is sent again after 1, 2, 5, 15 and then each 30 seconds', async () => {
    await using here = await boot()
    const { fixture, ada, acme, fail, started, called, calledAfter, expectToWork } = here
    const login = await started()

    fail({ method: 'sendMessage', status: 502, times: 7 })
    ada.follow(login.link)
    await called('sendMessage', 1)
    for (const [n, seconds] of [1, 2, 5, 15, 30, 30, 30].entries())
      await calledAfter(seconds * SECOND, 'sendMessage', n + 2)
    expect(ada.chat(acme.bot)).toHaveLength(1)
    // The poll that was held has timed out meanwhile.
    await turnUntil(fixture, () => fixture.botApi.pollers(acme.bot) > 0)
    await expectToWork(login)
  })

  test.each<[string, FaultFields]>([
    ['the connection is cut', { drop: true }],
    ['a page comes in place of an answer', { garbage: true }],
    ['a page comes with an error', { garbage: true, status: 503 }],
    ['a proxy refuses in words of its own', { garbage: true, status: 403 }],
    ['Telegram is in trouble', { status: 500 }],
  ])('as %s is sent once more', async (_why, fault) => {
    await using here = await boot()
    const { acme, ada, fail, started, called, calledAfter, expectToWork } = here
    const login = await started()

    fail({ method: 'sendMessage', ...fault, times: 1 })
    ada.follow(login.link)
    await called('sendMessage', 1)
    expect(ada.chat(acme.bot)).toEqual([])
    await calledAfter(SECOND, 'sendMessage', 2)
    await expectToWork(login)
    expect(ada.chat(acme.bot)).toHaveLength(1)
  })

  test.each<[string, FaultFields]>([
    ['cut', { drop: true }],
    ['garbage', { garbage: true }],
  ])('as far as anybody knows, since the answer was %s, is put twice', async (_what, fault) => {
    await using here = await boot()
    const { acme, ada, fail, started, called, calledAfter, botApi, expectToWork } = here
    const login = await started()

    fail({ method: 'sendMessage', ...fault, worksAnyway: true, times: 1 })
    ada.follow(login.link)
    await called('sendMessage', 1)
    await calledAfter(SECOND, 'sendMessage', 2)
    await expectToWork(login)
    const [stale, last] = ada.chat(acme.bot)
    expect(last?.text).toMatch(APPROVED)
    if (!stale) throw new Error('there is no first question')
    const late = await botApi.waitForAnswer(ada.tap(stale, 'Deny'))
    expect(late.text).toBe('This sign-in has already been answered.')
    // Nobody knew of this one, and now it asks no more either.
    await until(() => ada.chat(acme.bot).every(({ buttons }) => buttons.length === 0))
    expect(ada.chat(acme.bot)[0]?.text).toMatch(APPROVED)
  })

  test('within ten seconds is sent once more', async () => {
    await using here = await boot()
    const { app, acme, ada, fail, started, botApi, calls, expectToWork } = here
    const login = await started()

    fail({ method: 'sendMessage', delayMs: 60_000, times: 1 })
    ada.follow(login.link)
    await botApi.waitForCall('sendMessage')
    await patiently(app, () => app.clock.advance(10 * SECOND))
    await app.passepartout.idle()
    await app.clock.advance(SECOND)
    await ada.waitForMessage(acme.bot)
    expect(calls('sendMessage')).toHaveLength(2)
    await expectToWork(login)
  })

  test('to somebody who has blocked the bot is given up, and put anew when they come back', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada, started, called, expectNothingLeft, expectToWork } = here
    const login = await started()

    botApi.hold(acme.bot)
    ada.follow(login.link)
    ada.block(acme.bot)
    botApi.release(acme.bot)
    await called('sendMessage', 1)
    expect(here.calls('sendMessage')[0]?.status).toBe(403)
    await expectNothingLeft()
    await expectNobody(fixture, login)
    expect(attemptsOf(fixture, acme)).toMatchObject([{ state: 'opened' }])

    await pressedStart(ada, acme.bot, login)
    await expectToWork(login)
  })

  test('and is not heeded before it expires is never sent', async () => {
    await using here = await boot()
    const { fixture, ada, acme, fail, started, called, calls, expectNothingLeft } = here
    const login = await started()

    fail({ method: 'sendMessage', retryAfter: 3000, times: 1 })
    ada.follow(login.link)
    await called('sendMessage', 1)
    await pass(fixture, LIFETIME)
    await expectNobody(fixture, login, 'nonce_expired')
    await pass(fixture, 3000 * SECOND)
    await turnUntil(fixture, () => rowsOf(fixture.app, 'prompts').length === 0)
    expect(calls('sendMessage')).toHaveLength(1)
    expect(ada.chat(acme.bot)).toEqual([])
    await expectNothingLeft()
  })

  test.each([400, 401, 404, 409])('by a refusal with %d is given up', async (status) => {
    await using here = await boot()
    const { fixture, ada, fail, started, called, expectNothingLeft } = here
    const login = await started()

    fail({ method: 'sendMessage', status, times: 1 })
    ada.follow(login.link)
    await called('sendMessage', 1)
    await expectNothingLeft()
    await expectNobody(fixture, login)
    expect(fixture.app.log.some((line) => line.includes('sign-in message not delivered'))).toBe(
      true,
    )
  })

  test('for a long time by one bot keeps no other waiting', async () => {
    await using here = await boot()
    const { fixture, app, botApi, ada, calls, fail, started } = here
    const other = await fixture.signingTenant('Other')
    const bob = botApi.person()

    fail({ method: 'sendMessage', delayMs: 60_000 })
    ada.follow((await started()).link)
    await botApi.waitForCall('sendMessage')
    await pressedStart(bob, other.bot, await startLogin(fixture, other.live))
    expect(calls('sendMessage')).toMatchObject([{ status: undefined }])
    await patiently(app, () => app.clock.advance(10 * SECOND))
  })
})

describe('a question that has been answered', () => {
  test.each<[string, FaultFields]>([
    ['cut', { drop: true }],
    ['garbage', { garbage: true }],
    ['an error', { status: 502 }],
    ['that there were too many', { retryAfter: 1 }],
  ])('is changed later, where the answer to that is %s', async (_what, fault) => {
    await using here = await boot()
    const { fixture, acme, ada, fail, approved, called, calledAfter, expectNothingLeft } = here

    fail({ method: 'editMessageText', ...fault, times: 1 })
    const { login } = await approved()
    await called('editMessageText', 1)
    await expectSignedIn(fixture, login, ada)
    expect(ada.lastMessage(acme.bot)?.text).toMatch(QUESTION)
    await calledAfter(SECOND, 'editMessageText', 2)
    expect(ada.lastMessage(acme.bot)).toMatchObject({
      text: expect.stringMatching(APPROVED),
      buttons: [],
    })
    await expectNothingLeft()
  })

  test('waits as long as Telegram says', async () => {
    await using here = await boot()
    const { fail, approved, called, calledAfter, expectNothingLeft } = here

    fail({ method: 'editMessageText', retryAfter: 25, times: 1 })
    await approved()
    await called('editMessageText', 1)
    await calledAfter(25 * SECOND, 'editMessageText', 2)
    await expectNothingLeft()
  })

  test('has been changed already, though nobody knew: that is well', async () => {
    await using here = await boot()
    const { acme, ada, fail, approved, called, calledAfter, calls, expectNothingLeft } = here

    fail({ method: 'editMessageText', garbage: true, worksAnyway: true, times: 1 })
    await approved()
    await called('editMessageText', 1)
    await calledAfter(SECOND, 'editMessageText', 2)
    expect(calls('editMessageText')[1]?.status).toBe(400)
    expect(ada.chat(acme.bot)).toMatchObject([{ text: expect.stringMatching(APPROVED), edits: 1 }])
    await expectNothingLeft()
  })

  test.each([400, 403])('stays as it is where a change is refused with %d', async (status) => {
    await using here = await boot()
    const { fixture, ada, fail, approved, called, expectNothingLeft } = here

    fail({ method: 'editMessageText', status, times: 1 })
    const { login } = await approved()
    await called('editMessageText', 1)
    await expectNothingLeft()
    await expectSignedIn(fixture, login, ada)
  })

  test('by whoever has blocked the bot meanwhile stays as it is', async () => {
    await using here = await boot()
    const { botApi, acme, ada, asked, called, expectNothingLeft } = here
    const { prompt } = await asked()

    botApi.hold(acme.bot)
    ada.tap(prompt, 'Deny')
    ada.block(acme.bot)
    botApi.release(acme.bot)
    await called('editMessageText', 1)
    await expectNothingLeft()
  })
})

describe('a question that is still being sent', () => {
  const SLOW = { method: 'sendMessage', delayMs: 150, times: 1 } as const
  /** It is not over when the test goes on. */
  const isUnderWay = ({ status }: Call) => status === undefined

  test('while another one is answered is changed right after', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada, fail, asked, expectNothingLeft } = here
    const { login, prompt } = await asked()

    fail(SLOW)
    ada.follow(login.link)
    await botApi.waitForCall('sendMessage', isUnderWay)
    await botApi.waitForAnswer(ada.tap(prompt, 'Approve'))
    expect(ada.chat(acme.bot)).toHaveLength(1)
    await ada.waitForMessage(
      acme.bot,
      ({ message_id, text }) => message_id !== prompt.message_id && APPROVED.test(text),
    )
    await expectSignedIn(fixture, login, ada)
    expect(ada.chat(acme.bot)).toMatchObject(
      Array(2).fill({ text: expect.stringMatching(APPROVED), buttons: [], edits: 1 }),
    )
    await expectNothingLeft()
  })

  test('when it expires is changed right after', async () => {
    await using here = await boot()
    const { fixture, app, botApi, acme, ada, fail, started, expectNothingLeft } = here
    const login = await started()

    fail(SLOW)
    ada.follow(login.link)
    await botApi.waitForCall('sendMessage', isUnderWay)
    app.clock.jump(LIFETIME)
    await ada.waitForMessage(acme.bot, ({ text }) => EXPIRED.test(text))
    await expectNobody(fixture, login, 'nonce_expired')
    await expectNothingLeft()
  })

  test('when its bot is disabled says in the end that it has expired', async () => {
    await using here = await boot()
    const { fixture, app, actor, owner, botApi, acme, ada, fail, started, expectNothingLeft } = here
    const login = await started()

    fail(SLOW)
    ada.follow(login.link)
    await botApi.waitForCall('sendMessage', isUnderWay)
    await app.passepartout.bots.disable(actor, owner)
    await ada.waitForMessage(acme.bot)
    await pass(fixture, LIFETIME)
    await expectNobody(fixture, login, 'nonce_expired')
    await ada.waitForMessage(acme.bot, ({ text }) => EXPIRED.test(text))
    await expectNothingLeft()
  })
})

describe('a question that nobody answers', () => {
  test('says that it has expired, once', async () => {
    await using here = await boot()
    const { fixture, acme, ada, asked, called, expectNothingLeft } = here
    const { login } = await asked()
    await pressedStart(ada, acme.bot, login)

    await pass(fixture, LIFETIME)
    await called('editMessageText', 2)
    expect(ada.chat(acme.bot)).toMatchObject(
      Array(2).fill({ text: expect.stringMatching(EXPIRED), buttons: [], edits: 1 }),
    )
    await expectNobody(fixture, login, 'nonce_expired')
    await expectNothingLeft()
  })

  test('says so later, where Telegram cannot be reached then', async () => {
    await using here = await boot()
    const { fixture, acme, ada, fail, asked, expectNothingLeft } = here
    await asked()

    const fault = fail({ method: 'editMessageText', status: 502 })
    await pass(fixture, LIFETIME)
    await turnUntil(fixture, () => fault.hits() >= 2)
    fault.end()
    await turnUntil(fixture, () => EXPIRED.test(ada.lastMessage(acme.bot)?.text ?? ''))
    await expectNothingLeft()
  })

  test('is left alone after an hour in which Telegram could not be reached', async () => {
    await using here = await boot()
    const { fixture, fail, asked, calls, expectNothingLeft } = here
    await asked()

    const fault = fail({ method: 'editMessageText', status: 502 })
    await pass(fixture, LIFETIME)
    await turnUntil(fixture, () => fault.hits() >= 2)
    await pass(fixture, 3600 * SECOND)
    await pass(fixture, 600 * SECOND)
    await turnUntil(fixture, () => rowsOf(fixture.app, 'prompts').length === 0)
    fault.end()
    const before = calls('editMessageText').length
    await pass(fixture, 600 * SECOND)
    expect(calls('editMessageText')).toHaveLength(before)
    await expectNothingLeft()
  })
})

describe('a bot that is out of use', () => {
  test.each(['disable', 'remove'] as const)(
    'as somebody told to %s it puts no question',
    async (verb) => {
      await using here = await boot()
      const { fixture, app, actor, owner, ada, acme, fail, started, called, expectNothingLeft } =
        here
      const login = await started()

      fail({ method: 'sendMessage', status: 502, times: 1 })
      ada.follow(login.link)
      await called('sendMessage', 1)
      await app.passepartout.bots[verb](actor, owner)
      await app.clock.advance(SECOND)
      await called('sendMessage', 1)
      expect(ada.chat(acme.bot)).toEqual([])
      await expectNobody(fixture, login)
      await expectNothingLeft()
    },
  )

  test('still says of a question how it ended', async () => {
    await using here = await boot()
    const { fixture, app, actor, owner, ada, acme, fail, approved, called, expectNothingLeft } =
      here

    fail({ method: 'editMessageText', status: 502, times: 1 })
    const { login } = await approved()
    await called('editMessageText', 1)
    await app.passepartout.bots.disable(actor, owner)
    await app.clock.advance(SECOND)
    await called('editMessageText', 2)
    expect(ada.lastMessage(acme.bot)?.text).toMatch(APPROVED)
    await expectSignedIn(fixture, login, ada)
    await expectNothingLeft()
  })
})

describe('while the disk takes nothing', () => {
  const lock = ({ db }: TestApp) => db.client.run('PRAGMA query_only = ON')
  const unlock = ({ db }: TestApp) => db.client.run('PRAGMA query_only = OFF')
  const says = ({ log }: TestApp, text: string) => log.some((line) => line.includes(text))

  test('a question that was sent is not sent again, and is changed in the end', async () => {
    await using here = await boot()
    const { fixture, app, botApi, ada, acme, fail, started, calls, expectToWork } = here
    const login = await started()

    fail({ method: 'sendMessage', delayMs: 100, times: 1 })
    ada.follow(login.link)
    await botApi.waitForCall('sendMessage', ({ status }) => status === undefined)
    lock(app)
    await ada.waitForMessage(acme.bot)
    await until(() => says(app, 'due loop could not'))
    unlock(app)
    await patiently(app, () => turnUntil(fixture, () => says(app, 'due loop works again')))
    expect(calls('sendMessage')).toHaveLength(1)
    await expectToWork(login)
  })

  test('nobody is signed in, and what they tapped counts once it does', async () => {
    await using here = await boot()
    const { fixture, app, botApi, ada, acme, asked, expectNothingLeft } = here
    const { login, prompt } = await asked()

    await app.passepartout.idle()
    const polls = callsBy(fixture, acme.bot, 'getUpdates').length
    lock(app)
    const tap = ada.tap(prompt, 'Approve')
    // It comes again, as long as it is not on disk.
    await turnUntil(fixture, () => callsBy(fixture, acme.bot, 'getUpdates').length >= polls + 3)
    expect(botApi.answersTo(tap)).toEqual([])
    await expectNobody(fixture, login)
    unlock(app)
    await turnUntil(fixture, () => botApi.answersTo(tap).length > 0)
    expect(botApi.answersTo(tap)).toMatchObject([{ text: "You're signed in." }])
    await expectSignedIn(fixture, login, ada)
    await ada.waitForMessage(acme.bot, ({ text }) => APPROVED.test(text))
    await expectNothingLeft()
  })
})

test('of two people whom a bot asks, each reads of their own', async () => {
  await using here = await boot()
  const { fixture, botApi, ada, acme, asked, expectNothingLeft } = here
  const bob = botApi.person({ first_name: 'Bob', language_code: 'de' })
  const { login, prompt } = await asked()
  const own = await startLogin(fixture, acme.live)
  const question = await pressedStart(bob, acme.bot, own)

  await botApi.waitForAnswer(bob.tap(question, 'Ablehnen'))
  await botApi.waitForAnswer(ada.tap(prompt, 'Approve'))
  await heard(fixture, acme.bot)
  expect(ada.chat(acme.bot)).toMatchObject([{ text: expect.stringMatching(APPROVED) }])
  expect(bob.chat(acme.bot)).toMatchObject([{ text: expect.stringMatching(/^Du hast/) }])
  await expectSignedIn(fixture, login, ada)
  expect((await own.status()).body.error.code).toBe('login_denied')
  await expectNothingLeft()
})
