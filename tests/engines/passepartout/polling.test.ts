import { describe, expect, test } from 'bun:test'
import type { TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { bootPassepartout, DAY, type Fixture, SECOND } from './fixture.ts'
import { bootBehindProxy, watchWaits } from './proxy.ts'

/** The first id that the Bot API server gives to an update. */
const FIRST = 500_000_001

/** An application of its own for each test, because most of them turn the clock. */
async function boot(options: TestAppOptions = {}) {
  const fixture = await bootPassepartout(options)
  return { ...(await withTenant(fixture)), [Symbol.asyncDispose]: fixture.stop }
}

async function withTenant(fixture: Fixture) {
  const { botApi, callsBy, turnUntil } = fixture
  const acme = await fixture.newTenant()
  const ada = botApi.person()
  const polls = () => callsBy(acme.bot, 'getUpdates')
  const offsets = () => polls().map(({ params }) => params.offset)

  /** Ada is heard, and that is confirmed. */
  async function say(times = 1) {
    const known = ada.chat(acme.bot).length
    for (let n = 0; n < times; n++) ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot, () => ada.chat(acme.bot).length === known + times)
  }

  /** Ends the held poll, as happens each half minute. */
  async function nextPoll() {
    const before = polls().length
    botApi.fail({ method: 'getUpdates', bot: acme.bot, times: 1, delayMs: 0 })
    await turnUntil(() => polls().length > before)
    await until(() => botApi.pollers(acme.bot) > 0)
  }

  async function disable() {
    await fixture.bots.disable(fixture.actor, acme.owner)
    await until(() => botApi.pollers(acme.bot) === 0)
  }

  const enable = () => fixture.bots.enable(fixture.actor, acme.owner)

  return { ...fixture, acme, ada, polls, offsets, say, nextPoll, disable, enable }
}

describe('a poll', () => {
  test('asks for 50 messages and taps, and is held for 25 seconds', async () => {
    await using here = await boot()
    const allowed_updates = ['message', 'callback_query']
    expect(here.polls()).toMatchObject([{ params: { limit: 50, timeout: 25, allowed_updates } }])
    expect(here.offsets()).toEqual([undefined])
    await here.say()
    await until(() => here.offsets().length === 2)
    expect(here.offsets()).toEqual([undefined, FIRST + 1])
    const stored = { update_offset: FIRST + 1, offset_at: here.clock.now() }
    expect(here.botRow(here.acme.bot)).toMatchObject(stored)
  })

  test('follows at once while there are more', async () => {
    await using here = await boot()
    const { acme, botApi, offsets } = here
    botApi.hold(acme.bot)
    const people = Array.from({ length: 60 }, () => botApi.person())
    for (const person of people) person.say(acme.bot, 'Hello')
    botApi.release(acme.bot)
    await here.heard(acme.bot)
    for (const person of people) expect(person.chat(acme.bot)).toHaveLength(1)
    await until(() => offsets().at(-1) === FIRST + 61)
    expect(offsets()).toContain(FIRST + 50)
  })

  test('skips other updates', async () => {
    await using here = await boot()
    const { acme, botApi, offsets } = here
    for (const about of [{}, null, 7, 'text', [], { from: {}, chat: {} }, { text: '/start' }])
      for (const kind of ['message', 'callback_query']) botApi.deliver(acme.bot, { [kind]: about })
    await here.heard(acme.bot)
    await until(() => Number(offsets().at(-1)) === FIRST + 15)
    expect(here.callsBy(acme.bot, 'answerCallbackQuery')).toEqual([])
    expect(here.callsBy(acme.bot, 'sendMessage')).toHaveLength(1)
    expect(here.app.log.filter((line) => line.includes('Telegram update failed'))).toEqual([])
  })

  test('takes updates in the order of their ids', async () => {
    await using here = await boot()
    const { acme, ada, botApi } = here
    const bob = botApi.person()
    const login = await acme.live.start()
    botApi.shuffle(acme.bot, true)
    botApi.hold(acme.bot)
    ada.follow(login.deep_link)
    bob.follow(login.deep_link)
    botApi.release(acme.bot)
    expect((await bob.waitForMessage(acme.bot)).text).toStartWith('This link was already opened')
    expect((await ada.waitForMessage(acme.bot)).buttons).toHaveLength(1)
  })
})

describe('an update that comes again counts once', () => {
  test('in one answer, in several, and after the bot was disabled', async () => {
    await using here = await boot()
    const { acme, ada, botApi, offsets } = here
    const login = await here.signIn(acme, ada)
    botApi.hold(acme.bot)
    for (const count of [2, 1, 1]) botApi.redeliver(acme.bot, count)
    botApi.release(acme.bot)
    await here.heard(acme.bot)
    await here.disable()
    const before = offsets().length
    const next = offsets().at(-1)
    botApi.redeliver(acme.bot, 2)
    await here.enable()
    await here.heard(acme.bot)
    expect(offsets()[before]).toBe(next)
    await here.expectSignedIn(login, ada)
    expect(here.attemptsOf(acme)).toMatchObject([{ prompts: 1 }])
    expect(ada.chat(acme.bot)).toMatchObject([{ edits: 1 }])
  })
})

describe('ids of updates begin anew', () => {
  test('far above', async () => {
    await using here = await boot()
    await here.say()
    here.botApi.nextUpdateId(here.acme.bot, 900_000_000)
    await here.signIn(here.acme, here.ada)
    await until(() => here.offsets().at(-1) === 900_000_002)
  })

  test.each([1000, FIRST - 3])('below, at %d, after a quiet week of polling', async (id) => {
    await using here = await boot()
    await here.say(5)
    await until(() => here.offsets().at(-1) === FIRST + 5)
    await here.pass(8 * DAY)
    await here.nextPoll()
    expect(here.offsets().at(-1)).toBeUndefined()
    here.botApi.nextUpdateId(here.acme.bot, id)
    await here.signIn(here.acme, here.ada)
    await until(() => here.offsets().at(-1) === id + 2)
  })

  test.each([
    [6 * DAY - SECOND, FIRST + 1],
    [6 * DAY, undefined],
  ])('after %d ms in which the bot was disabled', async (ms, offset) => {
    await using here = await boot()
    await here.say()
    await until(() => here.offsets().at(-1) === FIRST + 1)
    await here.disable()
    const before = here.offsets().length
    here.clock.jump(ms)
    await here.enable()
    await until(() => here.offsets().length > before)
    expect(here.offsets().at(-1)).toBe(offset)
  })
})

describe('while the disk takes nothing', () => {
  test('updates are not confirmed, asked for once a second, and count once in the end', async () => {
    await using here = await boot()
    const { acme, ada, app, clock, offsets, polls } = here
    const login = await acme.live.start()
    const [before, offset] = [polls().length, here.botRow(acme.bot).update_offset ?? undefined]
    app.db.client.run('PRAGMA query_only = ON')
    ada.follow(login.deep_link)
    clock.settled = async () => {}
    let seconds = 0
    await until(async () => {
      await clock.advance(SECOND)
      seconds++
      return polls().length >= before + 7
    })
    // The one under way when it began, and at most one for each second since then.
    expect(polls().length - before).toBeLessThanOrEqual(seconds + 1)
    expect(new Set(offsets())).toEqual(new Set([offset]))
    expect(ada.chat(acme.bot)).toEqual([])
    app.db.client.run('PRAGMA query_only = OFF')
    await here.expectNobody(login)
    await here.turnUntil(() => ada.chat(acme.bot).length > 0)
    await until(() => offsets().at(-1) === FIRST + 1)
    await here.tap(ada, await ada.waitForMessage(acme.bot), 'Approve')
    await here.expectSignedIn(login, ada)
    expect(ada.chat(acme.bot)).toHaveLength(1)
  })
})

test('an offset that cannot be stored is asked for again, once a second', async () => {
  await using here = await boot()
  const { acme, ada, app, clock, offsets } = here
  app.db.client.run(`CREATE TRIGGER refuse BEFORE UPDATE OF update_offset ON passepartout_bots
    BEGIN SELECT raise(abort, 'no'); END`)
  ada.say(acme.bot, 'Hello')
  await ada.waitForMessage(acme.bot)
  await app.db.drain()
  expect(offsets()).toEqual([undefined])
  await clock.advance(SECOND)
  await until(() => offsets().length === 2)
  app.db.client.run('DROP TRIGGER refuse')
  await here.turnUntil(() => offsets().at(-1) === FIRST + 1)
  expect(offsets()[1]).toBeUndefined()
  expect(ada.chat(acme.bot)).toHaveLength(1)
})

test('of a batch that a full disk takes in part, each update counts once in the end', async () => {
  await using here = await boot()
  const { acme, app, botApi, callsBy, clock } = here
  const people = Array.from({ length: 40 }, () => botApi.person())
  const asked = await Promise.all(people.map((person) => here.ask(acme, person)))
  const approved = () => here.rows('attempts', `where state = 'approved'`).length
  const { client } = app.db
  const { page_count } = client.query('PRAGMA page_count').get() as { page_count: number }
  client.run(`PRAGMA max_page_count = ${page_count}`)
  clock.settled = () => new Promise(setImmediate)
  const before = callsBy(acme.bot, 'getUpdates').length

  botApi.hold(acme.bot)
  const taps = people.map((person, n) => person.tap(asked[n]?.question ?? expect.unreachable(), 1))
  botApi.release(acme.bot)
  await here.turnUntil(() => callsBy(acme.bot, 'getUpdates').length >= before + 3, SECOND)
  const offsets = callsBy(acme.bot, 'getUpdates')
    .slice(before)
    .map(({ params }) => params.offset)
  expect(new Set(offsets).size).toBe(1)
  const answers = () => taps.flatMap((tap) => botApi.answersTo(tap))
  await until(() => answers().length === approved())
  expect(approved()).toBeLessThan(people.length)

  client.run('PRAGMA max_page_count = 1000000')
  await here.turnUntil(() => approved() === people.length && answers().length === 40, SECOND)
  expect(here.rows('tokens')).toHaveLength(people.length)
})

describe('a held poll ends', () => {
  test.each(['disable', 'remove'] as const)('with %s, and none follows', async (verb) => {
    await using here = await boot()
    const { acme, botApi, polls } = here
    await here.bots[verb](here.actor, acme.owner)
    await until(() => botApi.pollers(acme.bot) === 0)
    const before = polls().length
    await here.clock.advance(30 * SECOND)
    expect(polls()).toHaveLength(before)
  })

  test('with each change, and exactly one follows', async () => {
    await using here = await boot()
    const { acme, actor, ada, bots, botApi, polls } = here
    for (const match of ['required', 'optional', 'required', 'optional'] as const) {
      const before = polls().length
      await bots.set(actor, acme.owner, { match })
      await until(() => polls().length > before)
    }
    for (let n = 0; n < 5; n++) {
      await bots.disable(actor, acme.owner)
      await bots.enable(actor, acme.owner)
    }
    await bots.remove(actor, acme.owner)
    await bots.set(actor, acme.owner, { token: acme.bot.token })
    await bots.enable(actor, acme.owner)
    await until(() => botApi.pollers(acme.bot) === 1)
    await here.signIn(acme, ada)
    expect(polls().filter(({ status }) => status === 409)).toEqual([])
    expect(here.botRow(acme.bot)).toMatchObject({ health: 'ok' })
  })

  test('with the application', async () => {
    const { app, botApi, newTenant } = await bootPassepartout()
    const { bot } = await newTenant()
    await app.stop()
    await until(() => botApi.pollers(bot) === 0)
    await botApi[Symbol.asyncDispose]()
  })
})

describe('after a failure the next poll', () => {
  const HALF = { jitter: 0.5 }

  test('waits twice as long each time up to a minute, and up to a fifth more', async () => {
    await using here = await boot(HALF)
    const { acme, botApi, clock, turnUntil } = here
    const waits = watchWaits(here.app)
    const failed = { method: 'getUpdates', bot: acme.bot, status: 502 }
    const fault = botApi.fail(failed)
    await turnUntil(() => fault.hits() === 1)
    for (const [n, ms] of [1100, 2200, 4400, 8800, 17_600, 35_200, 66_000, 66_000].entries()) {
      await waits(ms)
      expect(fault.hits()).toBe(n + 1)
      await clock.advance(ms)
      await until(() => fault.hits() === n + 2)
    }
    fault.end()
    await waits(66_000)
    await clock.advance(66_000)
    await until(() => botApi.pollers(acme.bot) === 1)

    const next = botApi.fail({ ...failed, times: 1 })
    await turnUntil(() => next.hits() === 1)
    await waits(1100)
    await clock.advance(1100)
    await botApi.waitForPoller(acme.bot)
  })

  test('waits as long as Telegram says, if that is longer', async () => {
    await using here = await boot(HALF)
    const { acme, botApi, clock, polls } = here
    const waits = watchWaits(here.app)
    const fault = botApi.fail({ method: 'getUpdates', bot: acme.bot, retryAfter: 93, times: 1 })
    await here.turnUntil(() => fault.hits() === 1)
    await waits(93_000)
    const before = polls().length
    await clock.advance(92 * SECOND)
    expect(polls()).toHaveLength(before)
    await clock.advance(SECOND)
    await botApi.waitForPoller(acme.bot)
  })

  test('of other bots does not wait', async () => {
    await using here = await boot()
    const { acme, botApi } = here
    const other = await here.newTenant('Other')
    const fault = botApi.fail({ method: 'getUpdates', bot: acme.bot, status: 502 })
    await here.turnUntil(() => fault.hits() >= 2)
    await here.turnUntil(() => botApi.pollers(other.bot) > 0)
    await here.signIn(other, here.ada)
  })

  test('brings what a cut connection has lost', async () => {
    await using here = await boot(HALF)
    const { acme, ada, botApi, clock, polls } = here
    const waits = watchWaits(here.app)
    const cut = { drop: true, worksAnyway: true, times: 1 } as const
    const fault = botApi.fail({ method: 'getUpdates', bot: acme.bot, ...cut })
    ada.say(acme.bot, 'Hello')
    await here.turnUntil(() => fault.hits() === 1)
    await waits(1100)
    await clock.advance(1100)
    await ada.waitForMessage(acme.bot)
    await here.heard(acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(1)
    expect(polls().some(({ status }) => status === 0)).toBe(true)
  })
})

const ok = (result: unknown) => ({ body: JSON.stringify({ ok: true, result }) })

test.each([
  ['nothing', []],
  ['the same update, whatever is confirmed', [{ update_id: FIRST, poll: {} }]],
  ['no updates', [null, 7, 'x', {}, { update_id: '7' }, { update_id: 1.5 }]],
])('a server that answers at once with %s is asked once a second', async (_, result) => {
  let hits = 0
  await using fixture = await bootBehindProxy((method) => {
    if (method !== 'getUpdates') return undefined
    hits++
    return ok(result)
  })
  const { actor, app, bots } = fixture
  const { owner } = await fixture.newTenantWithoutBots()
  const waits = watchWaits(app)
  await bots.set(actor, owner, { token: fixture.botApi.bot().token })
  await bots.enable(actor, owner)
  await until(() => hits > 0)
  for (let n = 1; n <= 8; n++) {
    // The check for changed bots waits as long, from the first turn of the clock on.
    await waits(SECOND, n === 1 ? 1 : 2)
    await app.clock.advance(SECOND)
    await until(() => hits > n)
  }
  // The first answer may be new, and is followed by a poll at once.
  expect(hits).toBeLessThan(12)
})

test('an invalid update keeps back none behind it', async () => {
  const invalid = [null, { update_id: 1, message: { text: 7 } }, [], { update_id: {} }]
  const from = { id: 5_299_999_999, is_bot: false, first_name: 'Ada' }
  const chat = { id: from.id, type: 'private' }
  const message = { message_id: 1, date: 1, from, chat, text: 'Hello' }
  let extra: unknown[] | undefined = [...invalid, { update_id: 2, message }]
  await using fixture = await bootBehindProxy(async (method, request) => {
    if (method !== 'getUpdates' || !extra) return undefined
    const result = extra
    extra = undefined
    await request.text()
    return ok(result)
  })
  const { bot } = await fixture.newTenant()
  await until(() => fixture.callsBy(bot, 'getUpdates').length > 0)
  expect(fixture.callsBy(bot, 'getUpdates')[0]?.params.offset).toBe(3)
})
