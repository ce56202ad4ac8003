import { describe, expect, test } from 'bun:test'
import type { TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import { bootFixture, type Fixture } from './fixture.ts'
import {
  attemptsOf,
  bootBehindProxy,
  botRow,
  callsBy,
  DAY,
  expectNobody,
  expectSignedIn,
  heard,
  pass,
  pressedStart,
  rowsOf,
  SECOND,
  signIn,
  startLogin,
  turnUntil,
  watchWaits,
} from './walk.ts'

/** The first id that the server gives to an update. */
const FIRST = 500_000_001

async function boot(options: TestAppOptions = {}) {
  const fixture = await bootFixture(options)
  return { ...(await withTenant(fixture)), [Symbol.asyncDispose]: fixture.stop }
}

async function withTenant(fixture: Fixture) {
  const { app, actor, botApi } = fixture
  const acme = await fixture.signingTenant()
  const owner = { tenantId: acme.id, environment: 'live' } as const
  const ada = botApi.person({ first_name: 'Ada', language_code: 'en' })
  const polls = () => callsBy(fixture, acme.bot, 'getUpdates')
  const offsets = () => polls().map(({ params }) => params.offset)
  const row = () => botRow(fixture, acme.bot)

  /** The poll that is held ends and the next one is put, as happens each half minute. */
  async function nextPoll() {
    const before = polls().length
    botApi.fail({ method: 'getUpdates', bot: acme.bot, times: 1, delayMs: 0 })
    await turnUntil(fixture, () => polls().length > before)
    await until(() => botApi.pollers(acme.bot) > 0)
  }

  return { fixture, app, actor, botApi, acme, owner, ada, polls, offsets, row, nextPoll }
}

describe('a bot is asked for its messages', () => {
  test('fifty at a time, held for 25 seconds, and none but those that concern us', async () => {
    await using here = await boot()

    expect(here.polls()).toMatchObject([{ params: { limit: 50, timeout: 25 } }])
    expect(here.polls()[0]?.params.allowed_updates).toEqual(['message', 'callback_query'])
    expect(here.offsets()).toEqual([undefined])
  })

  test('from behind the last one that is on disk', async () => {
    await using here = await boot()
    const { fixture, acme, ada, offsets, row } = here

    ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot)
    await until(() => offsets().length === 2)
    expect(offsets()).toEqual([undefined, FIRST + 1])
    expect(row()).toMatchObject({ update_offset: FIRST + 1, offset_at: fixture.app.clock.now() })
  })

  test('more of them come in two answers, and each counts once', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, offsets } = here

    botApi.hold(acme.bot)
    const people = Array.from({ length: 60 }, () => botApi.person())
    for (const person of people) person.say(acme.bot, 'Hello')
    botApi.release(acme.bot)
    await heard(fixture, acme.bot)
    for (const person of people) await person.waitForMessage(acme.bot)
    expect(people.flatMap((person) => person.chat(acme.bot))).toHaveLength(60)
    await until(() => offsets().at(-1) === FIRST + 61)
    expect(offsets()).toContain(FIRST + 50)
  })

  test('and whatever else comes is passed over', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, offsets } = here

    for (const about of [{}, null, 7, 'text', [], { from: {}, chat: {} }, { text: '/start' }])
      for (const kind of ['message', 'callback_query']) botApi.deliver(acme.bot, { [kind]: about })
    await heard(fixture, acme.bot)
    await until(() => Number(offsets().at(-1)) === FIRST + 15)
    expect(callsBy(fixture, acme.bot, 'answerCallbackQuery')).toEqual([])
    expect(callsBy(fixture, acme.bot, 'sendMessage')).toHaveLength(1)
    expect(fixture.app.log.filter((line) => line.includes('Telegram update failed'))).toEqual([])
  })
})

describe('what Telegram brings again', () => {
  test('is not done again', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada } = here
    const login = await signIn(fixture, acme, ada)

    botApi.redeliver(acme.bot, 2)
    botApi.redeliver(acme.bot, 1)
    await heard(fixture, acme.bot)
    await expectSignedIn(fixture, login, ada)
    expect(attemptsOf(fixture, acme)).toMatchObject([{ prompts: 1 }])
  })

  test('twice in one answer is done once', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada } = here
    ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot)

    botApi.hold(acme.bot)
    botApi.redeliver(acme.bot)
    botApi.redeliver(acme.bot)
    ada.say(acme.bot, 'Hello again')
    botApi.release(acme.bot)
    await heard(fixture, acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(2)
  })

  test('after the bot was off is not done again either', async () => {
    await using here = await boot()
    const { fixture, app, actor, owner, botApi, acme, ada, offsets } = here
    const login = await signIn(fixture, acme, ada)

    await app.passepartout.bots.disable(actor, owner)
    await until(() => botApi.pollers(acme.bot) === 0)
    const before = offsets().length
    botApi.redeliver(acme.bot, 2)
    await app.passepartout.bots.enable(actor, owner)
    await heard(fixture, acme.bot)
    expect(offsets()[before]).toBe(FIRST + 2)
    await expectSignedIn(fixture, login, ada)
    expect(attemptsOf(fixture, acme)).toMatchObject([{ prompts: 1 }])
  })
})

test('what comes in no order is heard in its own', async () => {
  await using here = await boot()
  const { fixture, botApi, acme, ada, offsets } = here
  const bob = botApi.person({ language_code: 'en' })
  const login = await startLogin(fixture, acme.live)

  botApi.shuffle(acme.bot, true)
  botApi.hold(acme.bot)
  ada.follow(login.link)
  bob.follow(login.link)
  botApi.release(acme.bot)
  const question = await ada.waitForMessage(acme.bot)
  expect((await bob.waitForMessage(acme.bot)).text).toStartWith('This link was already opened')
  await until(() => offsets().at(-1) === FIRST + 2)
  await botApi.waitForAnswer(ada.tap(question, 'Approve'))
  await expectSignedIn(fixture, login, ada)
})

describe('ids that begin anew', () => {
  test('far above', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada, offsets } = here
    ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot)

    botApi.nextUpdateId(acme.bot, 900_000_000)
    await signIn(fixture, acme, ada)
    await until(() => offsets().at(-1) === 900_000_002)
  })

  test('far below, after a quiet week', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada, offsets, nextPoll } = here
    ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot)
    await until(() => offsets().at(-1) === FIRST + 1)

    await pass(fixture, 8 * DAY)
    botApi.nextUpdateId(acme.bot, 1_000)
    await nextPoll()
    const login = await signIn(fixture, acme, ada)
    await expectSignedIn(fixture, login, ada)
    await until(() => offsets().at(-1) === 1_002)
  })

  test('a little below, after a quiet week in which the bot was asked all the time', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada, offsets, nextPoll } = here
    for (let n = 0; n < 5; n++) ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot, () => ada.chat(acme.bot).length === 5)
    await until(() => offsets().at(-1) === FIRST + 5)

    await pass(fixture, 8 * DAY)
    await nextPoll()
    expect(offsets().at(-1)).toBeUndefined()
    botApi.nextUpdateId(acme.bot, FIRST - 3)
    const login = await startLogin(fixture, acme.live)
    await pressedStart(ada, acme.bot, login)
  })

  test.each([
    [5 * DAY, FIRST + 1],
    [7 * DAY, undefined],
  ])('are reckoned with after %d ms in which the bot was off', async (ms, offset) => {
    await using here = await boot()
    const { fixture, app, actor, owner, botApi, acme, ada, offsets } = here
    ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot)
    await until(() => offsets().at(-1) === FIRST + 1)

    await app.passepartout.bots.disable(actor, owner)
    await until(() => botApi.pollers(acme.bot) === 0)
    const before = offsets().length
    await pass(fixture, ms)
    await app.passepartout.bots.enable(actor, owner)
    await until(() => offsets().length > before)
    expect(offsets().at(-1)).toBe(offset)
  })

  test('as those of another bot that takes the place of the former', async () => {
    await using here = await boot()
    const { fixture, app, actor, owner, botApi, acme, ada } = here
    await signIn(fixture, acme, ada)

    const next = botApi.bot({ name: 'Next' })
    await app.passepartout.bots.set(actor, owner, { token: next.token })
    await botApi.waitForPoller(next)
    expect(callsBy(fixture, next, 'getUpdates')[0]?.params.offset).toBeUndefined()
    // Both number their updates from the same one on.
    const login = await signIn(fixture, { ...acme, bot: next }, ada)
    expect((await login.status()).body.status).toBe('completed')
  })
})

describe('nothing is confirmed before it is on disk:', () => {
  test('what could not be stored is asked for again, and then counts once', async () => {
    await using here = await boot()
    const { fixture, app, botApi, acme, ada, offsets, row } = here
    const login = await startLogin(fixture, acme.live)
    const before = row().update_offset ?? undefined

    app.db.client.run('PRAGMA query_only = ON')
    ada.follow(login.link)
    await turnUntil(fixture, () => offsets().length >= 4)
    expect(new Set(offsets())).toEqual(new Set([before]))
    expect(ada.chat(acme.bot)).toEqual([])
    app.db.client.run('PRAGMA query_only = OFF')
    await expectNobody(fixture, login)
    await turnUntil(fixture, () => ada.chat(acme.bot).length > 0)
    await until(() => offsets().at(-1) === FIRST + 1)
    expect(ada.chat(acme.bot)).toHaveLength(1)
    const question = await ada.waitForMessage(acme.bot)
    await botApi.waitForAnswer(ada.tap(question, 'Approve'))
    await expectSignedIn(fixture, login, ada)
  })

  test('asks once a second while the disk takes nothing', async () => {
    await using here = await boot()
    const { app, acme, ada, polls } = here
    app.clock.settled = async () => {}
    const before = polls().length

    app.db.client.run('PRAGMA query_only = ON')
    ada.say(acme.bot, 'Hello')
    let seconds = 0
    await until(async () => {
      await app.clock.advance(SECOND)
      seconds++
      return polls().length >= before + 7
    })
    app.db.client.run('PRAGMA query_only = OFF')
    // The one under way when it began, and one for each second since then at most.
    expect(polls().length - before).toBeLessThanOrEqual(seconds + 1)
  })
})

describe('a poll that is held ends', () => {
  test.each(['disable', 'remove'] as const)('when somebody tells to %s the bot', async (verb) => {
    await using here = await boot()
    const { app, actor, owner, botApi, acme, polls } = here

    expect(botApi.pollers(acme.bot)).toBe(1)
    await app.passepartout.bots[verb](actor, owner)
    await until(() => botApi.pollers(acme.bot) === 0)
    const before = polls().length
    await app.clock.advance(30 * SECOND)
    expect(polls()).toHaveLength(before)
  })

  test('when the bot is changed, and one poll takes its place', async () => {
    await using here = await boot()
    const { fixture, app, actor, owner, acme, ada, polls } = here

    for (const match of ['required', 'optional', 'required'] as const) {
      const before = polls().length
      await app.passepartout.bots.set(actor, owner, { match })
      await until(() => polls().length > before)
    }
    await until(() => polls().filter(({ status }) => status === undefined).length >= 1)
    ada.say(acme.bot, 'Hello')
    await heard(fixture, acme.bot)
    expect(ada.chat(acme.bot)).toHaveLength(1)
    expect(polls().filter(({ status }) => status === 409)).toEqual([])
  })

  test('when the bot is off and on again, as often as that may be', async () => {
    await using here = await boot()
    const { fixture, app, actor, owner, botApi, acme, ada, polls } = here
    const { bots } = app.passepartout

    for (let n = 0; n < 5; n++) {
      await bots.disable(actor, owner)
      await bots.enable(actor, owner)
    }
    await bots.remove(actor, owner)
    await bots.set(actor, owner, { token: acme.bot.token })
    await bots.enable(actor, owner)
    await until(() => botApi.pollers(acme.bot) === 1)
    const login = await signIn(fixture, acme, ada)
    await expectSignedIn(fixture, login, ada)
    expect(polls().filter(({ status }) => status === 409)).toEqual([])
    expect(rowsOf(app, 'bots', 'where token is not null')).toMatchObject([{ health: 'ok' }])
  })

  test('when the application stops, at once and for good', async () => {
    const fixture = await bootFixture()
    const acme = await fixture.signingTenant()

    await fixture.app.stop()
    await until(() => fixture.botApi.pollers(acme.bot) === 0)
    await fixture.botApi[Symbol.asyncDispose]()
  })
})

describe('after a failure the bot is left alone', () => {
  const HALF = { jitter: 0.5 }

  test('for twice as long each time, up to a minute, and a tenth by chance', async () => {
    await using here = await boot(HALF)
    const { fixture, app, botApi, acme, ada, polls } = here
    const waits = watchWaits(app)

    const fault = botApi.fail({ method: 'getUpdates', bot: acme.bot, status: 502 })
    await turnUntil(fixture, () => fault.hits() === 1)
    for (const [n, ms] of [1100, 2200, 4400, 8800, 17_600, 35_200, 66_000, 66_000].entries()) {
      await waits(ms)
      expect(fault.hits()).toBe(n + 1)
      await app.clock.advance(ms)
      await until(() => fault.hits() === n + 2)
    }
    fault.end()
    await waits(66_000)
    ada.say(acme.bot, 'Hello')
    await app.clock.advance(66_000)
    await ada.waitForMessage(acme.bot)

    // All is forgotten and forgiven.
    await until(() => botApi.pollers(acme.bot) === 1)
    const next = botApi.fail({ method: 'getUpdates', bot: acme.bot, status: 502, times: 1 })
    await turnUntil(fixture, () => next.hits() === 1)
    const before = polls().length
    await waits(1100)
    await app.clock.advance(1100)
    await until(() => polls().length > before)
  })

  test('for as long as Telegram says, if that is longer', async () => {
    await using here = await boot(HALF)
    const { fixture, app, botApi, acme, polls } = here
    const waits = watchWaits(app)

    const fault = botApi.fail({ method: 'getUpdates', bot: acme.bot, retryAfter: 93, times: 2 })
    await turnUntil(fixture, () => fault.hits() === 1)
    await waits(93_000)
    const before = polls().length
    await app.clock.advance(92 * SECOND)
    expect(polls()).toHaveLength(before)
    await app.clock.advance(SECOND)
    await until(() => fault.hits() === 2)
    await waits(93_000)
    await app.clock.advance(93 * SECOND)
    await botApi.waitForPoller(acme.bot)
  })

  test('by one bot no other is kept waiting', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada } = here
    const other = await fixture.signingTenant('Other')

    const fault = botApi.fail({ method: 'getUpdates', bot: acme.bot, status: 502 })
    await turnUntil(fixture, () => fault.hits() >= 2)
    await turnUntil(fixture, () => botApi.pollers(other.bot) > 0)
    const login = await signIn(fixture, other, ada)
    await expectSignedIn(fixture, login, ada)
  })
})

describe('what is no good answer counts as a failure, and heals:', () => {
  const ok = (result: unknown) => ({ body: JSON.stringify({ ok: true, result }) })
  const endless = () => ({
    body: new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode('{"ok":true,"result":[')),
    }),
  })
  const pouring = () => ({
    body: new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(1_000_000).fill(32)),
    }),
  })

  test.each<[string, () => { status?: number; body?: BodyInit }]>([
    ['a page', () => ({ body: '<html>' })],
    ['a page with an error', () => ({ status: 503, body: '<html>' })],
    ['nothing', () => ({})],
    ['no content', () => ({ status: 204 })],
    ['JSON of another kind', () => ({ body: '[]' })],
    ['no more than a number', () => ({ body: '7' })],
    ['JSON that breaks off', () => ({ body: '{"ok":true,"result":[{"upd' })],
    ['updates that are no list', () => ok({ update_id: 1 })],
    ['ok without a result', () => ({ body: '{"ok":true}' })],
    ['not ok, and not why', () => ({ body: '{"ok":false}' })],
    ['more than is read', pouring],
    ['an answer without an end', endless],
    ['a redirect', () => ({ status: 302 })],
    ['an error of ours', () => ({ status: 400, body: '{"ok":false,"description":"Bad Request"}' })],
  ])('%s', async (_what, wrong) => {
    let hits = 0
    let isWrong = false
    await using fixture = await bootBehindProxy(
      bootFixture,
      (method) => {
        if (method !== 'getUpdates' || !isWrong) return undefined
        hits++
        return wrong()
      },
      { jitter: 0.5 },
    )
    const { app, botApi, acme, ada } = await withTenant(fixture)
    const waits = watchWaits(app)

    isWrong = true
    ada.say(acme.bot, 'Hello')
    await ada.waitForMessage(acme.bot)
    await until(() => hits === 1)
    // The longest that an answer is waited for.
    if (wrong === endless) await app.clock.advance(35 * SECOND)
    await waits(1100)
    expect(hits).toBe(1)
    isWrong = false
    ada.say(acme.bot, 'Hello again')
    await app.clock.advance(1100)
    await ada.waitForMessage(acme.bot, () => ada.chat(acme.bot).length === 2)
    expect(botApi.callsOf('deleteWebhook')).toEqual([])
    expect(botRow(fixture, acme.bot)).toMatchObject({ health: 'ok' })
  })

  const known = { update_id: FIRST, poll: {} }

  test.each([
    ['nothing', []],
    ['the same update, whatever is confirmed', [known]],
    ['nothing that is an update', [null, 7, 'x', {}, { update_id: '7' }, { update_id: 1.5 }]],
  ])('a server that answers at once with %s is asked once a second', async (_what, result) => {
    let hits = 0
    await using fixture = await bootBehindProxy(bootFixture, (method) => {
      if (method !== 'getUpdates' || hits < 0) return undefined
      hits++
      return ok(result)
    })
    const { app } = fixture
    const tenant = await app.tenant()
    const bot = fixture.botApi.bot()
    const owner = { tenantId: tenant.id, environment: 'live' } as const
    const waits = watchWaits(app)

    await app.passepartout.bots.set(fixture.actor, owner, { token: bot.token })
    await app.passepartout.bots.enable(fixture.actor, owner)
    await until(() => hits > 0)
    for (let n = 1; n <= 8; n++) {
      // Who looks for changed bots waits as long, from the first turn of the clock on.
      await waits(SECOND, n === 1 ? 1 : 2)
      await app.clock.advance(SECOND)
      await until(() => hits > n)
    }
    // The first answer may be news, and what follows it is asked for at once.
    expect(hits).toBeLessThan(12)
  })

  test('an update that breaks all rules keeps back none that comes behind it', async () => {
    let extra: unknown[] = [null, { update_id: 1, message: { text: 7 } }, [], { update_id: {} }]
    await using fixture = await bootBehindProxy(bootFixture, async (method, request) => {
      if (method !== 'getUpdates' || extra.length === 0) return undefined
      const result = [...extra, update]
      extra = []
      await request.text()
      return ok(result)
    })
    const ada = fixture.botApi.person({ first_name: 'Ada' })
    const update = {
      update_id: 2,
      message: {
        message_id: 1,
        date: 1,
        from: { id: ada.id, is_bot: false, first_name: 'Ada' },
        chat: { id: ada.id, type: 'private' },
        text: 'Hello',
      },
    }
    const acme = await fixture.signingTenant()
    await until(() => callsBy(fixture, acme.bot, 'getUpdates').length > 0)
    expect(callsBy(fixture, acme.bot, 'getUpdates')[0]?.params.offset).toBe(3)
  })
})

test('a connection that is cut is no reason to lose anything', async () => {
  await using here = await boot({ jitter: 0.5 })
  const { fixture, app, botApi, acme, ada, polls } = here
  const waits = watchWaits(app)

  const fault = botApi.fail({
    method: 'getUpdates',
    bot: acme.bot,
    drop: true,
    worksAnyway: true,
    times: 1,
  })
  ada.say(acme.bot, 'Hello')
  await turnUntil(fixture, () => fault.hits() === 1)
  await waits(1100)
  await app.clock.advance(1100)
  await ada.waitForMessage(acme.bot)
  await heard(fixture, acme.bot)
  expect(ada.chat(acme.bot)).toHaveLength(1)
  expect(polls().some(({ status }) => status === 0)).toBe(true)
})
