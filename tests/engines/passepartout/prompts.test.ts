import { describe, expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import type { Call, FaultFields } from '../../support/bot-api/index.ts'
import { bootPassepartout, LIFETIME, type Login, MINUTE, SECOND } from './fixture.ts'

const APPROVED = expect.stringMatching(/^You signed in to Acme/)
const EXPIRED = expect.stringMatching(/^This sign-in to Acme has expired/)

/** An application of its own for each test, because the clock is turned and all prompts counted. */
async function boot() {
  const fixture = await bootPassepartout()
  const { app, botApi, callsBy, clock } = fixture
  const acme = await fixture.newTenant()
  const ada = botApi.person()
  const calls = (method: string) => callsBy(acme.bot, method)
  const ended = (method: string) => calls(method).filter(({ status }) => status !== undefined)
  const chat = () => ada.chat(acme.bot)

  /** Calls of the method go wrong, once unless told otherwise. */
  const fail = (method: string, fields: FaultFields) =>
    botApi.fail({ bot: acme.bot, method, times: 1, ...fields })

  /** Resolves when a call has ended for the `count`th time and its result is stored. */
  async function called(method: string, count: number) {
    await until(() => ended(method).length >= count)
    await app.passepartout.idle()
    expect(calls(method)).toHaveLength(count)
  }

  /** The `count`th call comes after `ms`, and not before. */
  async function calledAfter(ms: number, method: string, count: number) {
    await clock.advance(ms - 1)
    await app.passepartout.idle()
    expect(calls(method)).toHaveLength(count - 1)
    await clock.advance(1)
    await called(method, count)
  }

  /** Follows the link of a new sign-in; the question may not arrive. */
  async function follow() {
    const login = await acme.live.start()
    ada.follow(login.deep_link)
    return login
  }

  const ask = (person = ada) => fixture.ask(acme, person)

  async function approve() {
    const { login, question } = await ask()
    await botApi.waitForAnswer(ada.tap(question, 'Approve'))
    return { login, question }
  }

  /** Nothing is left to be sent or changed. */
  async function expectNothingLeft() {
    await app.passepartout.idle()
    expect(fixture.rows('prompts')).toEqual([])
  }

  /** The last question can be answered, and then shows the outcome. */
  async function expectToWork(login: Login) {
    await fixture.tap(ada, chat().at(-1) ?? expect.unreachable(), 'Approve')
    await fixture.expectSignedIn(login, ada)
    await until(() => chat().at(-1)?.text.startsWith('You signed in') ?? false)
    await expectNothingLeft()
  }

  return {
    ...{ ...fixture, acme, ada, calls, chat, fail, called, calledAfter, follow, ask, approve },
    ...{ expectNothingLeft, expectToWork },
  }
}

type Booted = Awaited<ReturnType<typeof boot>>

/** Turns the clock although something is under way that ends only by that. */
async function impatiently({ clock }: Booted, turn: () => Promise<void>) {
  const { settled } = clock
  clock.settled = async () => {}
  await turn()
  clock.settled = settled
}

describe('a question that could not be sent', () => {
  test.each<[string, FaultFields, waitMs: number]>([
    ['a cut connection', { drop: true }, SECOND],
    ['a page', { garbage: true }, SECOND],
    ['a page with an error', { garbage: true, status: 503 }, SECOND],
    ['the refusal of a proxy', { garbage: true, status: 403 }, SECOND],
    ['an error', { status: 500 }, SECOND],
    ['a rate limit of 20 s', { retryAfter: 20 }, 20 * SECOND],
    ['a rate limit shorter than usual', { retryAfter: 0.01 }, SECOND],
  ])('because of %s is sent again', async (_, fault, waitMs) => {
    await using here = await boot()
    here.fail('sendMessage', fault)
    const login = await here.follow()
    await here.called('sendMessage', 1)
    expect(here.chat()).toEqual([])
    await here.calledAfter(waitMs, 'sendMessage', 2)
    await here.expectToWork(login)
    expect(here.chat()).toHaveLength(1)
  })

  test('is sent again after 1, 2, 5, 15 and then each 30 seconds', async () => {
    await using here = await boot()
    here.fail('sendMessage', { status: 502, times: 7 })
    const login = await here.follow()
    await here.called('sendMessage', 1)
    for (const [n, seconds] of [1, 2, 5, 15, 30, 30, 30].entries())
      await here.calledAfter(seconds * SECOND, 'sendMessage', n + 2)
    // The poll that was held has timed out meanwhile.
    await here.turnUntil(() => here.botApi.pollers(here.acme.bot) > 0)
    await here.expectToWork(login)
  })

  test.each<FaultFields>([{ drop: true }, { garbage: true }])(
    'as far as is known (%j) is sent twice',
    async (fault) => {
      await using here = await boot()
      here.fail('sendMessage', { ...fault, worksAnyway: true })
      const login = await here.follow()
      await here.called('sendMessage', 1)
      await here.calledAfter(SECOND, 'sendMessage', 2)
      await here.expectToWork(login)
      const [stale] = here.chat()
      await here.tap(here.ada, stale ?? expect.unreachable(), 'Deny')
      const shown = { text: APPROVED, buttons: [] }
      expect(here.chat()).toMatchObject([shown, shown])
    },
  )

  test('within ten seconds is sent again', async () => {
    await using here = await boot()
    here.fail('sendMessage', { delayMs: 60_000 })
    const login = await here.follow()
    await here.botApi.waitForCall('sendMessage')
    await impatiently(here, () => here.clock.advance(10 * SECOND))
    await here.app.passepartout.idle()
    await here.clock.advance(SECOND)
    await here.ada.waitForMessage(here.acme.bot)
    expect(here.calls('sendMessage')).toHaveLength(2)
    await here.expectToWork(login)
  })

  test('before the sign-in expires is never sent', async () => {
    await using here = await boot()
    here.fail('sendMessage', { retryAfter: 3000 })
    const login = await here.follow()
    await here.called('sendMessage', 1)
    await here.pass(LIFETIME)
    await here.expectNobody(login, 'nonce_expired')
    await here.pass(3000 * SECOND)
    await here.turnUntil(() => here.rows('prompts').length === 0)
    expect(here.calls('sendMessage')).toHaveLength(1)
    expect(here.chat()).toEqual([])
  })

  test.each([400, 401, 404, 409])('because of a refusal with %d is given up', async (status) => {
    await using here = await boot()
    here.fail('sendMessage', { status })
    const login = await here.follow()
    await here.called('sendMessage', 1)
    await here.expectNothingLeft()
    await here.expectNobody(login)
    expect(here.app.log.join()).toContain('sign-in message not delivered')
  })

  test('to a person who has blocked the bot is sent when they press Start again', async () => {
    await using here = await boot()
    const { acme, ada, botApi } = here
    botApi.hold(acme.bot)
    const login = await here.follow()
    ada.block(acme.bot)
    botApi.release(acme.bot)
    await here.called('sendMessage', 1)
    await here.expectNothingLeft()
    expect(here.attemptsOf(acme)).toMatchObject([{ state: 'opened' }])
    await here.open(acme.bot, ada, login)
    await here.expectToWork(login)
  })

  test('by one bot delays no other', async () => {
    await using here = await boot()
    const other = await here.newTenant('Other')
    here.fail('sendMessage', { delayMs: 60_000 })
    await here.follow()
    await here.botApi.waitForCall('sendMessage')
    const login = await other.live.start()
    expect((await here.open(other.bot, here.ada, login)).buttons).toHaveLength(1)
    expect(here.calls('sendMessage')).toMatchObject([{ status: undefined }])
    await impatiently(here, () => here.clock.advance(10 * SECOND))
  })
})

describe('an answered question', () => {
  test.each<[string, FaultFields, waitMs: number]>([
    ['a cut connection', { drop: true }, SECOND],
    ['a page', { garbage: true }, SECOND],
    ['an error', { status: 502 }, SECOND],
    ['a rate limit', { retryAfter: 25 }, 25 * SECOND],
    ['a lost answer', { garbage: true, worksAnyway: true }, SECOND],
  ])('shows its outcome later after %s', async (_, fault, waitMs) => {
    await using here = await boot()
    here.fail('editMessageText', fault)
    const { login } = await here.approve()
    await here.called('editMessageText', 1)
    await here.expectSignedIn(login, here.ada)
    await here.calledAfter(waitMs, 'editMessageText', 2)
    expect(here.chat()).toMatchObject([{ text: APPROVED, buttons: [], edits: 1 }])
    await here.expectNothingLeft()
  })

  test.each([400, 403])('stays as it is after a refusal with %d', async (status) => {
    await using here = await boot()
    here.fail('editMessageText', { status })
    const { login } = await here.approve()
    await here.called('editMessageText', 1)
    await here.expectNothingLeft()
    await here.expectSignedIn(login, here.ada)
  })

  test('shows the outcome of its own person', async () => {
    await using here = await boot()
    const bob = here.botApi.person({ first_name: 'Bob', language_code: 'de' })
    const { login } = await here.approve()
    const own = await here.ask(bob)
    await here.tap(bob, own.question, 'Ablehnen')
    expect(here.chat()).toMatchObject([{ text: APPROVED }])
    const denied = expect.stringMatching(/^Du hast/)
    expect(bob.chat(here.acme.bot)).toMatchObject([{ text: denied }])
    await here.expectSignedIn(login, here.ada)
    expect((await own.login.status()).body.error.code).toBe('login_denied')
  })
})

describe('a question that is still being sent', () => {
  const isUnderWay = ({ status }: Call) => status === undefined

  async function sending(here: Booted, login: Login) {
    here.fail('sendMessage', { delayMs: 150 })
    here.ada.follow(login.deep_link)
    await here.botApi.waitForCall('sendMessage', isUnderWay)
  }

  test('when another one is answered shows the outcome at once', async () => {
    await using here = await boot()
    const { login, question } = await here.ask()
    await sending(here, login)
    await here.botApi.waitForAnswer(here.ada.tap(question, 'Approve'))
    expect(here.chat()).toHaveLength(1)
    await until(() => here.chat().length === 2 && here.chat().every(({ edits }) => edits === 1))
    expect(here.chat()).toMatchObject(Array(2).fill({ text: APPROVED, buttons: [] }))
    await here.expectSignedIn(login, here.ada)
    await here.expectNothingLeft()
  })

  test('when it expires, says so at once', async () => {
    await using here = await boot()
    const login = await here.acme.live.start()
    await sending(here, login)
    here.clock.jump(LIFETIME)
    await until(() => here.chat()[0]?.edits === 1)
    expect(here.chat()).toMatchObject([{ text: EXPIRED }])
    await here.expectNobody(login, 'nonce_expired')
    await here.expectNothingLeft()
  })

  test('when its bot is disabled, says in the end that it has expired', async () => {
    await using here = await boot()
    await sending(here, await here.acme.live.start())
    await here.bots.disable(here.actor, here.acme.owner)
    await here.ada.waitForMessage(here.acme.bot)
    await here.pass(LIFETIME)
    await until(() => here.chat()[0]?.edits === 1)
    expect(here.chat()).toMatchObject([{ text: EXPIRED }])
    await here.expectNothingLeft()
  })
})

describe('an expired question', () => {
  test('says so once, in each of its messages', async () => {
    await using here = await boot()
    const { login } = await here.ask()
    await here.open(here.acme.bot, here.ada, login)
    await here.pass(LIFETIME)
    await here.called('editMessageText', 2)
    const shown = { text: EXPIRED, buttons: [], edits: 1 }
    expect(here.chat()).toMatchObject([shown, shown])
    await here.expectNothingLeft()
  })

  test('is left alone after an hour without Telegram, and not before', async () => {
    await using here = await boot()
    await here.ask()
    const fault = here.fail('editMessageText', { status: 502, times: 99 })
    await here.pass(LIFETIME)
    await here.turnUntil(() => fault.hits() >= 2)
    await here.pass(64 * MINUTE)
    expect(here.rows('prompts')).toHaveLength(1)
    await here.pass(2 * MINUTE)
    await here.turnUntil(() => here.rows('prompts').length === 0)
    const before = fault.hits()
    await here.pass(10 * MINUTE)
    expect(fault.hits()).toBe(before)
  })
})

describe('a bot that is out of use', () => {
  test.each(['disable', 'remove'] as const)('by %s sends no question', async (verb) => {
    await using here = await boot()
    here.fail('sendMessage', { status: 502 })
    const login = await here.follow()
    await here.called('sendMessage', 1)
    await here.bots[verb](here.actor, here.acme.owner)
    await here.clock.advance(SECOND)
    await here.called('sendMessage', 1)
    expect(here.chat()).toEqual([])
    await here.expectNobody(login)
    await here.expectNothingLeft()
  })

  test('still shows the outcome in its questions', async () => {
    await using here = await boot()
    here.fail('editMessageText', { status: 502 })
    await here.approve()
    await here.called('editMessageText', 1)
    await here.bots.disable(here.actor, here.acme.owner)
    await here.clock.advance(SECOND)
    await here.called('editMessageText', 2)
    expect(here.chat()).toMatchObject([{ text: APPROVED }])
    await here.expectNothingLeft()
  })
})

describe('while the disk takes nothing', () => {
  const lock = ({ app }: Booted) => app.db.client.run('PRAGMA query_only = ON')
  const unlock = ({ app }: Booted) => app.db.client.run('PRAGMA query_only = OFF')
  const says = ({ app }: Booted, text: string) => app.log.some((line) => line.includes(text))

  test('a question that was sent is not sent again', async () => {
    await using here = await boot()
    here.fail('sendMessage', { delayMs: 100 })
    const login = await here.follow()
    await here.botApi.waitForCall('sendMessage', ({ status }) => status === undefined)
    lock(here)
    await here.ada.waitForMessage(here.acme.bot)
    await until(() => says(here, 'due loop could not'))
    unlock(here)
    await impatiently(here, () => here.turnUntil(() => says(here, 'due loop works again')))
    expect(here.calls('sendMessage')).toHaveLength(1)
    await here.expectToWork(login)
  })

  test('a tap signs no one in, and counts afterwards', async () => {
    await using here = await boot()
    const { ada, botApi, calls, turnUntil } = here
    const { login, question } = await here.ask()
    await here.app.passepartout.idle()
    const polls = calls('getUpdates').length
    lock(here)
    const tapped = ada.tap(question, 'Approve')
    // It comes again as long as it is not stored.
    await turnUntil(() => calls('getUpdates').length >= polls + 3)
    expect(botApi.answersTo(tapped)).toEqual([])
    await here.expectNobody(login)
    unlock(here)
    await turnUntil(() => botApi.answersTo(tapped).length > 0)
    await here.expectSignedIn(login, ada)
    await until(() => here.chat()[0]?.edits === 1)
    await here.expectNothingLeft()
  })
})
