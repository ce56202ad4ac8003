import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { bootPassepartout, DAY, SECOND, usePassepartout } from './fixture.ts'

/** The first id that the Bot API server gives to an update. */
const FIRST = 500_000_001

const fixture = await usePassepartout({ jitter: 0.5 })
const { actor, app, botApi, bots, clock, turnUntil, watchWaits } = fixture

/** A tenant whose bot is polled, and a person. */
async function newBot() {
  const acme = await fixture.newTenant()
  const { bot } = acme
  const ada = botApi.person()
  const polls = () => fixture.callsBy(bot, 'getUpdates')
  const offsets = () => polls().map(({ params }) => params.offset)
  const offsetIs = (offset?: number) => until(() => offsets().at(-1) === offset)
  const fail = (fields: object) => botApi.fail({ method: 'getUpdates', bot, ...fields })

  /** Ada is heard. */
  async function say(times = 1) {
    const known = ada.chat(bot).length
    for (let n = 0; n < times; n++) ada.say(bot, 'Hello')
    await ada.waitForMessage(bot, () => ada.chat(bot).length === known + times)
  }

  async function disable() {
    await bots.disable(actor, acme.owner)
    await until(() => botApi.pollers(bot) === 0)
  }

  const enable = () => bots.enable(actor, acme.owner)
  return { ...acme, acme, ada, polls, offsets, offsetIs, fail, say, disable, enable }
}

test('A poll asks for 50 messages and taps, is held for 25 seconds, and confirms what is stored', async () => {
  await using here = await newBot()
  const allowed_updates = ['message', 'callback_query']
  expect(here.polls()).toMatchObject([{ params: { limit: 50, timeout: 25, allowed_updates } }])
  expect(here.offsets()).toEqual([undefined])
  await here.say()
  await until(() => here.offsets().length === 2)
  expect(here.offsets()).toEqual([undefined, FIRST + 1])
  const stored = { update_offset: FIRST + 1, offset_at: clock.now() }
  expect(fixture.botRow(here.bot)).toMatchObject(stored)
})

test('A poll follows at once while there are more, skips other updates and takes them by their ids', async () => {
  await using here = await newBot()
  const { ada, bot, offsets } = here
  const bob = botApi.person()
  botApi.hold(bot)
  for (const about of [{}, null, 7, 'text', [], { from: {}, chat: {} }, { text: '/start' }])
    for (const kind of ['message', 'callback_query']) botApi.deliver(bot, { [kind]: about })
  for (let n = 0; n < 40; n++) botApi.deliver(bot, { message: {} })
  botApi.release(bot)
  await here.offsetIs(FIRST + 54)
  expect(offsets()).toContain(FIRST + 50)
  for (const method of ['sendMessage', 'answerCallbackQuery'])
    expect(fixture.callsBy(bot, method)).toEqual([])
  expect(app.log.filter((line) => line.includes('Telegram update failed'))).toEqual([])
  const login = await here.live.start()
  botApi.shuffle(bot, true)
  botApi.hold(bot)
  ada.follow(login.deep_link)
  bob.follow(login.deep_link)
  botApi.release(bot)
  expect((await bob.waitForMessage(bot)).text).toStartWith('This link was already opened')
  expect((await ada.waitForMessage(bot)).buttons).toHaveLength(1)
})

test('An update that comes again, in one answer or several or after a pause, counts once', async () => {
  await using here = await newBot()
  const { ada, bot, offsets } = here
  const login = await fixture.signIn(here.acme, ada)
  botApi.hold(bot)
  for (const count of [2, 1, 1]) botApi.redeliver(bot, count)
  botApi.release(bot)
  await fixture.heard(bot)
  await here.disable()
  const before = offsets().length
  const { update_offset } = fixture.botRow(bot)
  botApi.redeliver(bot, 2)
  await here.enable()
  await fixture.heard(bot)
  expect(offsets()[before]).toBe(update_offset)
  await fixture.expectSignedIn(login, ada)
  expect(fixture.attemptsOf(here)).toMatchObject([{ prompts: 1 }])
  expect(ada.chat(bot)).toMatchObject([{ edits: 1 }])
})

test('Ids of updates may restart far above, or below after a quiet week, or six days without polls', async () => {
  await using here = await newBot()
  await here.say()
  botApi.nextUpdateId(here.bot, 900_000_000)
  await fixture.signIn(here.acme, here.ada)
  await here.offsetIs(900_000_002)
  await fixture.pass(8 * DAY)
  // Ends the held poll, as happens each half minute.
  here.fail({ times: 1, delayMs: 0 })
  await turnUntil(() => here.offsets().at(-1) === undefined)
  botApi.nextUpdateId(here.bot, 899_999_990)
  await fixture.signIn(here.acme, here.ada)
  await here.offsetIs(899_999_992)
  for (const [ms, offset] of [
    [6 * DAY - SECOND, 899_999_992],
    [6 * DAY, undefined],
  ] as const) {
    await here.disable()
    const before = here.offsets().length
    clock.jump(ms)
    await here.enable()
    await until(() => here.offsets().length > before)
    expect(here.offsets().at(-1)).toBe(offset)
  }
})

test('While an offset cannot be stored it is asked for again, once a second', async () => {
  await using here = await newBot()
  const { ada, bot, offsets } = here
  app.db.client.run(`CREATE TRIGGER refuse BEFORE UPDATE OF update_offset ON passepartout_bots
    BEGIN SELECT raise(abort, 'no'); END`)
  const waits = watchWaits()
  await here.say()
  await waits(SECOND)
  await clock.advance(SECOND - 1)
  expect(offsets()).toEqual([undefined])
  await clock.advance(1)
  await until(() => offsets().length === 2)
  app.db.client.run('DROP TRIGGER refuse')
  await turnUntil(() => offsets().at(-1) === FIRST + 1)
  expect(offsets()[1]).toBeUndefined()
  expect(ada.chat(bot)).toHaveLength(1)
})

test('When the disk takes only a part of a batch, each update counts once in the end', async () => {
  await using own = await bootPassepartout()
  const acme = await own.newTenant()
  const people = Array.from({ length: 40 }, () => own.botApi.person())
  const asked = await Promise.all(people.map((person) => own.ask(acme, person)))
  const approved = () => own.rows('attempts', `where state = 'approved'`).length
  const offsets = () => own.callsBy(acme.bot, 'getUpdates').map(({ params }) => params.offset)
  const { client } = own.app.db
  const { page_count } = client.query('PRAGMA page_count').get() as { page_count: number }
  client.run(`PRAGMA max_page_count = ${page_count}`)
  own.clock.settled = () => new Promise(setImmediate)
  const before = offsets().length
  own.botApi.hold(acme.bot)
  const taps = people.map((person, n) => person.tap(asked[n]?.question ?? expect.unreachable(), 1))
  own.botApi.release(acme.bot)
  await own.turnUntil(() => offsets().length >= before + 3, SECOND)
  expect(new Set(offsets().slice(before)).size).toBe(1)
  const answers = () => taps.flatMap((tap) => own.botApi.answersTo(tap))
  await until(() => answers().length === approved())
  expect(approved()).toBeLessThan(people.length)
  client.run('PRAGMA max_page_count = 1000000')
  await own.turnUntil(() => approved() === people.length && answers().length === 40, SECOND)
  expect(own.rows('tokens')).toHaveLength(people.length)
})

test('A held poll ends with each change, and exactly one follows for a bot in use', async () => {
  await using here = await newBot()
  const { bot, owner, polls } = here
  const before = polls().length
  await bots.set(actor, owner, { match: 'required' })
  await until(() => polls().length > before)
  for (let n = 0; n < 3; n++) {
    await bots.disable(actor, owner)
    await here.enable()
  }
  await bots.remove(actor, owner)
  await until(() => botApi.pollers(bot) === 0)
  const removed = polls().length
  await clock.advance(30 * SECOND)
  expect(polls()).toHaveLength(removed)
  await bots.set(actor, owner, { token: bot.token })
  await here.enable()
  await until(() => botApi.pollers(bot) === 1)
  expect(polls().filter(({ status }) => status === 409)).toEqual([])
})

test('After a failure the next poll waits twice as long each time up to a minute, and up to a fifth more', async () => {
  await using here = await newBot()
  await using other = await fixture.newTenant('Other')
  const waits = watchWaits()
  const fault = here.fail({ status: 502 })
  await turnUntil(() => fault.hits() === 1)
  for (const [n, ms] of [1100, 2200, 4400, 8800, 17_600, 35_200, 66_000].entries()) {
    await waits(ms)
    expect(fault.hits()).toBe(n + 1)
    // Other bots don't wait.
    if (n === 2) await fixture.signIn(other, here.ada)
    if (n === 6) fault.end()
    await clock.advance(ms)
    if (n < 6) await until(() => fault.hits() === n + 2)
  }
  await until(() => botApi.pollers(here.bot) === 1)

  const next = here.fail({ status: 502, times: 1 })
  await turnUntil(() => next.hits() === 1)
  await waits(1100)
  await clock.advance(1100)
  await botApi.waitForPoller(here.bot)
})

test('After a failure the next poll waits as long as Telegram says, and brings what a cut connection has lost', async () => {
  await using here = await newBot()
  const { ada, bot, polls } = here
  const waits = watchWaits()
  const limited = here.fail({ retryAfter: 93, times: 1 })
  await turnUntil(() => limited.hits() === 1)
  await waits(93_000)
  const before = polls().length
  await clock.advance(92 * SECOND)
  expect(polls()).toHaveLength(before)
  await clock.advance(SECOND)
  await botApi.waitForPoller(bot)

  const cut = here.fail({ drop: true, worksAnyway: true, times: 1 })
  ada.say(bot, 'Hello')
  await turnUntil(() => cut.hits() === 1)
  await waits(1100)
  await clock.advance(1100)
  await ada.waitForMessage(bot)
  await fixture.heard(bot)
  expect(ada.chat(bot)).toHaveLength(1)
})

test('A server that answers at once without news is asked once a second', async () => {
  for (const result of [[], [{ update_id: FIRST, poll: {} }], [null, 7, {}, { update_id: '7' }]]) {
    await using here = await newBot()
    using fault = here.fail({ result })
    await turnUntil(() => fault.hits() > 0)
    const [since, before] = [clock.monotonic(), fault.hits()]
    await turnUntil(() => fault.hits() >= before + 3, 100)
    // The first answer may be new, and is followed by a poll at once.
    expect(clock.monotonic() - since).toBeGreaterThan(1.7 * SECOND)
  }
})
