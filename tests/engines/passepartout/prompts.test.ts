import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import type { FaultFields } from '../../support/bot-api/index.ts'
import { LIFETIME, type Login, MINUTE, SECOND, usePassepartout } from './fixture.ts'

const APPROVED = { text: expect.stringMatching(/^You signed in to Acme/), buttons: [], edits: 1 }
const EXPIRED = { text: expect.stringMatching(/^This sign-in to Acme has expired/), edits: 1 }

const fixture = await usePassepartout()
const { actor, app, botApi, bots, clock, expectNobody, expectSignedIn, pass, tap } = fixture

/** A tenant with a bot, and a person who signs in with it. */
async function newChat() {
  const acme = await fixture.newTenant()
  const ada = botApi.person()
  const calls = (method: string) => fixture.callsBy(acme.bot, method)
  const chat = () => ada.chat(acme.bot)
  const prompts = () => fixture.rows('prompts', `where tenant_id = '${acme.id}'`)

  /** Calls of the method go wrong, once unless told otherwise. */
  const fail = (method: string, fields: FaultFields) =>
    botApi.fail({ bot: acme.bot, method, times: 1, ...fields })

  /** Resolves when a call has ended for the `count`th time and its result is stored. */
  async function called(method: string, count: number) {
    await until(() => calls(method).filter(({ status }) => status !== undefined).length >= count)
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

  /** Sends a question that is under way until the returned function is called. */
  async function sending(login: Login) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = calls('sendMessage').length
    fail('sendMessage', { until: promise })
    ada.follow(login.deep_link)
    await until(() => calls('sendMessage').length > before)
    return resolve
  }

  /** Nothing is left to be sent or changed. */
  async function expectNothingLeft() {
    await app.passepartout.idle()
    expect(prompts()).toEqual([])
  }

  /** The last question can be answered, and then shows the outcome. */
  async function expectToWork(login: Login) {
    await tap(ada, chat().at(-1) ?? expect.unreachable(), 'Approve')
    await expectSignedIn(login, ada)
    await until(() => chat().at(-1)?.text.startsWith('You signed in') ?? false)
    await expectNothingLeft()
  }

  return {
    ...{ ...acme, ada, calls, chat, prompts, fail, called, calledAfter, follow, ask },
    ...{ sending, expectNothingLeft, expectToWork },
  }
}

/** Turns the clock although something is under way that ends only by that. */
async function impatiently(turn: () => Promise<void>) {
  const { settled } = clock
  clock.settled = async () => {}
  await turn()
  clock.settled = settled
}

const LOST = { garbage: true, worksAnyway: true } as const
const SOON = { retryAfter: 0.01 }

test.each<[string, FaultFields, FaultFields, waitMs: number]>([
  ['a cut connection', { drop: true }, { drop: true }, SECOND],
  ['an error or a lost answer', { status: 500 }, LOST, SECOND],
  ['a rate limit', { retryAfter: 20 }, { retryAfter: 20 }, 20 * SECOND],
  ['a rate limit shorter than a second', SOON, SOON, SECOND],
])('A question is sent later after %s, and so is its outcome', async (_, question, outcome, ms) => {
  await using here = await newChat()
  here.fail('sendMessage', question)
  const login = await here.follow()
  await here.called('sendMessage', 1)
  expect(here.chat()).toEqual([])
  await here.calledAfter(ms, 'sendMessage', 2)
  here.fail('editMessageText', outcome)
  await tap(here.ada, here.chat()[0] ?? expect.unreachable(), 'Approve')
  await here.called('editMessageText', 1)
  await expectSignedIn(login, here.ada)
  await here.calledAfter(ms, 'editMessageText', 2)
  expect(here.chat()).toMatchObject([APPROVED])
  await here.expectNothingLeft()
})

test('A question that could not be sent is sent again after 1, 2, 5, 15 and then every 30 seconds', async () => {
  await using here = await newChat()
  here.fail('sendMessage', { status: 502, times: 6 })
  const login = await here.follow()
  await here.called('sendMessage', 1)
  for (const [n, seconds] of [1, 2, 5, 15, 30, 30].entries())
    await here.calledAfter(seconds * SECOND, 'sendMessage', n + 2)
  // The poll that was held has timed out meanwhile.
  await fixture.turnUntil(() => botApi.pollers(here.bot) > 0)
  await here.expectToWork(login)
})

test('A question is sent twice if the answer was lost, and both show the outcome', async () => {
  await using here = await newChat()
  here.fail('sendMessage', { drop: true, worksAnyway: true })
  const login = await here.follow()
  await here.called('sendMessage', 1)
  await here.calledAfter(SECOND, 'sendMessage', 2)
  await here.expectToWork(login)
  // The id of the first one is not known until it is tapped.
  await tap(here.ada, here.chat()[0] ?? expect.unreachable(), 'Deny')
  expect(here.chat()).toMatchObject([APPROVED, APPROVED])
})

test('A question that hangs is sent again after ten seconds, and delays no other bot', async () => {
  await using here = await newChat()
  await using other = await fixture.newTenant('Other')
  here.fail('sendMessage', { delayMs: 60_000 })
  const login = await here.follow()
  await until(() => here.calls('sendMessage').length === 1)
  expect((await fixture.ask(other, here.ada)).question.buttons).toHaveLength(1)
  expect(here.calls('sendMessage')).toMatchObject([{ status: undefined }])
  await impatiently(() => clock.advance(10 * SECOND))
  await app.passepartout.idle()
  await clock.advance(SECOND)
  await here.ada.waitForMessage(here.bot)
  expect(here.calls('sendMessage')).toHaveLength(2)
  await here.expectToWork(login)
})

test('A question is not sent after its sign-in has expired, or its bot was disabled', async () => {
  await using here = await newChat()
  here.fail('sendMessage', { retryAfter: 3000 })
  const login = await here.follow()
  await here.called('sendMessage', 1)
  await pass(LIFETIME)
  await expectNobody(login, 'nonce_expired')
  await pass(3000 * SECOND)
  await fixture.turnUntil(() => here.prompts().length === 0)
  await here.called('sendMessage', 1)
  here.fail('sendMessage', { status: 502 })
  await here.follow()
  await here.called('sendMessage', 2)
  await bots.disable(actor, here.owner)
  await clock.advance(SECOND)
  await here.called('sendMessage', 2)
  expect(here.chat()).toEqual([])
  await here.expectNothingLeft()
})

test('A message that Telegram refuses is given up, be it a question or its outcome', async () => {
  await using here = await newChat()
  const from = app.log.length
  for (const [n, status] of [400, 401, 409].entries()) {
    here.fail('sendMessage', { status })
    const login = await here.follow()
    await here.called('sendMessage', n + 1)
    await here.expectNothingLeft()
    await expectNobody(login)
  }
  expect(app.log.slice(from).join()).toContain('sign-in message not delivered')
  const bob = botApi.person()
  const { login, question } = await here.ask(bob)
  here.fail('editMessageText', { status: 403 })
  await tap(bob, question, 'Approve')
  await here.called('editMessageText', 1)
  await here.expectNothingLeft()
  await expectSignedIn(login, bob)
})

test('An answered question shows the outcome of its own person, also when its bot is disabled', async () => {
  await using here = await newChat()
  const bob = botApi.person({ first_name: 'Bob', language_code: 'de' })
  const own = await here.ask(bob)
  const { login, question } = await here.ask()
  here.fail('editMessageText', { status: 502 })
  await tap(here.ada, question, 'Approve')
  await here.called('editMessageText', 1)
  await tap(bob, own.question, 'Ablehnen')
  await bots.disable(actor, here.owner)
  await clock.advance(SECOND)
  await here.called('editMessageText', 3)
  expect(here.chat()).toMatchObject([APPROVED])
  expect(bob.chat(here.bot)).toMatchObject([{ text: expect.stringMatching(/^Du hast/) }])
  await expectSignedIn(login, here.ada)
  expect((await own.login.status()).body.error.code).toBe('login_denied')
  await here.expectNothingLeft()
})

test('A question that is still being sent shows the outcome at once when another one was answered', async () => {
  await using here = await newChat()
  const { login, question } = await here.ask()
  const arrives = await here.sending(login)
  await botApi.waitForAnswer(here.ada.tap(question, 'Approve'))
  arrives()
  await until(() => here.chat().length === 2 && here.chat().every(({ edits }) => edits === 1))
  expect(here.chat()).toMatchObject([APPROVED, APPROVED])
  await here.expectNothingLeft()
})

test('A question that is still being sent says that it has expired, also when its bot is disabled', async () => {
  await using here = await newChat()
  const login = await here.live.start()
  const arrives = await here.sending(login)
  await bots.disable(actor, here.owner)
  clock.jump(LIFETIME)
  arrives()
  await until(() => here.chat()[0]?.edits === 1)
  await expectNobody(login, 'nonce_expired')
  expect(here.chat()).toMatchObject([EXPIRED])
  await here.expectNothingLeft()
})

test('An expired question is left alone after an hour without Telegram, and not before', async () => {
  await using here = await newChat()
  await here.ask()
  const fault = here.fail('editMessageText', { status: 502, times: 99 })
  await pass(LIFETIME)
  await fixture.turnUntil(() => fault.hits() >= 2)
  await pass(64 * MINUTE)
  expect(here.prompts()).toHaveLength(1)
  await pass(2 * MINUTE)
  await fixture.turnUntil(() => here.prompts().length === 0)
  const before = fault.hits()
  await pass(10 * MINUTE)
  expect(fault.hits()).toBe(before)
})

test('While the disk takes nothing, a question that was sent is not sent again', async () => {
  await using here = await newChat()
  const from = app.log.length
  const says = (text: string) => app.log.slice(from).some((line) => line.includes(text))
  const login = await here.live.start()
  const arrives = await here.sending(login)
  app.db.client.run('PRAGMA query_only = ON')
  arrives()
  await here.ada.waitForMessage(here.bot)
  await until(() => says('due loop could not'))
  app.db.client.run('PRAGMA query_only = OFF')
  await impatiently(() => fixture.turnUntil(() => says('due loop works again')))
  expect(here.calls('sendMessage')).toHaveLength(1)
  await here.expectToWork(login)
})
