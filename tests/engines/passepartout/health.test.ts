import { describe, expect, test } from 'bun:test'
import type { TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import type { FaultFields } from '../../support/bot-api/index.ts'
import { bootFixture, type Fixture } from './fixture.ts'
import {
  bootBehindProxy,
  callsBy,
  expectNobody,
  expectSignedIn,
  MINUTE,
  pressedStart,
  rowsOf,
  SECOND,
  START,
  signIn,
  startLogin,
  turnUntil,
  watchWaits,
} from './walk.ts'

async function boot(options: TestAppOptions = {}) {
  const fixture = await bootFixture(options)
  return { ...(await withTenant(fixture)), [Symbol.asyncDispose]: fixture.stop }
}

/** A tenant, and how its bot does, as the owner is told. */
async function withTenant(fixture: Fixture) {
  const { app, actor, botApi } = fixture
  const acme = await fixture.signingTenant()
  const owner = { tenantId: acme.id, environment: 'live' } as const
  const ada = botApi.person({ first_name: 'Ada', language_code: 'en' })
  const { bots } = app.passepartout
  const polls = () => callsBy(fixture, acme.bot, 'getUpdates')
  const bot = () => bots.list(acme.id).find(({ environment }) => environment === 'live')
  const becomes = (status: string) =>
    turnUntil(
      fixture,
      () => bot()?.status === status,
      () => `${bot()?.status} in place of ${status}`,
      SECOND,
    )
  const fail = (fields: FaultFields) =>
    botApi.fail({ method: 'getUpdates', bot: acme.bot, ...fields })

  /** It can be signed in through again. */
  async function expectToWork() {
    await turnUntil(fixture, () => botApi.pollers(acme.bot) > 0, undefined, SECOND)
    const login = await signIn(fixture, acme, ada)
    expect((await login.status()).body.status).toBe('completed')
    await until(() => bot()?.status === 'ok')
    expect(bot()?.issue).toBeNull()
  }

  return {
    fixture,
    app,
    actor,
    botApi,
    acme,
    owner,
    ada,
    bots,
    polls,
    bot,
    becomes,
    fail,
    expectToWork,
  }
}

test('a bot that works is ok', async () => {
  await using here = await boot()

  expect(here.bot()).toMatchObject({ status: 'ok', issue: null, enabled: true })
  await here.expectToWork()
})

describe('a bot whose token Telegram no longer accepts', () => {
  test('is asked no more, sign-ins are refused, and a new token heals it', async () => {
    await using here = await boot()
    const { app, actor, acme, owner, bots, bot, polls, becomes, expectToWork } = here

    const token = acme.bot.revokeToken()
    await becomes('invalid_token')
    expect(bot()).toMatchObject({
      status: 'invalid_token',
      issue: 'Telegram no longer accepts the token',
      enabled: true,
    })
    const refused = await acme.live.post(START)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'bot_not_configured'])
    const before = here.botApi.callsOf('getUpdates').length
    await app.clock.advance(2 * MINUTE)
    expect(here.botApi.callsOf('getUpdates')).toHaveLength(before)
    expect(polls()).toEqual([])

    await bots.set(actor, owner, { token })
    await expectToWork()
  })

  test('what was begun before stays pending, and goes on when it is healed in time', async () => {
    await using here = await boot()
    const { fixture, actor, botApi, acme, owner, ada, bots, becomes } = here
    const login = await startLogin(fixture, acme.live)
    const question = await pressedStart(ada, acme.bot, login)

    const token = acme.bot.revokeToken()
    await becomes('invalid_token')
    await expectNobody(fixture, login)
    await bots.set(actor, owner, { token })
    await botApi.waitForPoller(acme.bot)
    const { text } = await botApi.waitForAnswer(ada.tap(question, 'Approve'))
    expect(text).toBe("You're signed in.")
    await expectSignedIn(fixture, login, ada)
  })

  test.each([401, 404])('is known by %d, once is enough', async (status) => {
    await using here = await boot()
    const { actor, owner, bots, fail, becomes, polls, app, expectToWork } = here

    fail({ status, times: 1 })
    await becomes('invalid_token')
    const before = polls().length
    await app.clock.advance(2 * MINUTE)
    expect(polls()).toHaveLength(before)
    // To be told so again after somebody has looked.
    await bots.disable(actor, owner)
    await bots.enable(actor, owner)
    await expectToWork()
  })

  test('is not known by what a proxy says of itself', async () => {
    await using here = await boot()
    const { fail, becomes, expectToWork } = here

    const fault = fail({ garbage: true, status: 401 })
    await becomes('unreachable')
    fault.end()
    await expectToWork()
  })

  test('is told from those of others', async () => {
    await using here = await boot()
    const { fixture, acme, ada, becomes } = here
    const other = await fixture.signingTenant('Other')

    acme.bot.revokeToken()
    await becomes('invalid_token')
    await turnUntil(fixture, () => fixture.botApi.pollers(other.bot) > 0)
    await expectSignedIn(fixture, await signIn(fixture, other, ada), ada)
  })
})

describe('a bot whose messages somebody else receives', () => {
  test('by polling as well gives way, tells of it after the third time, and heals', async () => {
    await using here = await boot({ jitter: 0.5 })
    const { fixture, app, fail, polls, bot, expectToWork } = here
    const waits = watchWaits(app)

    const fault = fail({
      status: 409,
      description: 'Conflict: terminated by other getUpdates request',
    })
    await turnUntil(fixture, () => fault.hits() === 1)
    for (const [n, ms] of [1100, 2200].entries()) {
      await waits(ms)
      expect(bot()?.status).toBe('ok')
      await app.clock.advance(ms)
      await until(() => fault.hits() === n + 2)
    }
    await waits(4400)
    expect(bot()).toMatchObject({
      status: 'conflict',
      issue: expect.stringContaining('other getUpdates'),
    })
    expect(polls().length).toBeLessThan(8)
    fault.end()
    await expectToWork()
  })

  test('by one poll in between is not talked about', async () => {
    await using here = await boot()
    const { fixture, app, botApi, acme, expectToWork } = here

    const rival = fetch(`${botApi.url}/bot${acme.bot.token}/getUpdates?timeout=50`)
    await turnUntil(fixture, () =>
      callsBy(fixture, acme.bot, 'getUpdates').some(({ status }) => status === 409),
    )
    await turnUntil(fixture, () => callsBy(fixture, acme.bot, 'getUpdates').length >= 3)
    await rival
    await expectToWork()
    expect(app.log.filter((line) => line.includes('bot does not work'))).toEqual([])
  })

  test('by another program that polls all the time', async () => {
    await using here = await boot()
    const { botApi, acme, becomes, expectToWork } = here
    const url = `${botApi.url}/bot${acme.bot.token}/getUpdates?timeout=50`
    const leaving = new AbortController()

    async function rival() {
      while (!leaving.signal.aborted)
        await fetch(url, { signal: leaving.signal }).then((answer) => answer.text())
    }
    const gone = rival().catch(() => {})
    await becomes('conflict')
    leaving.abort()
    await gone
    await until(() => botApi.pollers(acme.bot) === 0)
    await expectToWork()
  })

  test('by a webhook that was set later: it stays theirs', async () => {
    await using here = await boot()
    const { botApi, acme, bot, becomes, expectToWork } = here

    acme.bot.ownedByWebhook('https://elsewhere.example/hook')
    await becomes('conflict')
    expect(bot()?.issue).toContain('webhook')
    expect(botApi.callsOf('deleteWebhook')).toEqual([])
    expect(acme.bot.webhook?.url).toBe('https://elsewhere.example/hook')
    // They let go of it.
    await fetch(`${botApi.url}/bot${acme.bot.token}/deleteWebhook`)
    await expectToWork()
  })

  test('still takes sign-ins: whatever came before is not lost', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, ada, fail, becomes } = here

    const fault = fail({ status: 409 })
    await becomes('conflict')
    const login = await startLogin(fixture, acme.live)
    ada.follow(login.link)
    fault.end()
    await turnUntil(fixture, () => ada.chat(acme.bot).length > 0, undefined, SECOND)
    const question = await ada.waitForMessage(acme.bot)
    await botApi.waitForAnswer(ada.tap(question, 'Approve'))
    await expectSignedIn(fixture, login, ada)
  })

  test('who were ourselves, by a webhook that was left over, is polled after that is gone', async () => {
    await using here = await boot()
    const { fixture, actor, owner, botApi, acme, bots, expectToWork } = here
    await bots.set(actor, owner, { transport: 'webhook' })
    await botApi.waitForCall('setWebhook')
    await until(() => acme.bot.webhook !== undefined)
    const url = acme.bot.webhook?.url ?? ''
    expect(url).toContain('/v1/passepartout/telegram/')

    await bots.set(actor, owner, { transport: 'polling' })
    await turnUntil(fixture, () => acme.bot.webhook === undefined)
    expect(botApi.callsOf('deleteWebhook')).toMatchObject([
      { params: { drop_pending_updates: false } },
    ])
    await expectToWork()
  })
})

describe('a bot that cannot be reached', () => {
  test.each<[string, FaultFields]>([
    ['an error', { status: 500 }],
    ['cut', { drop: true }],
    ['a page', { garbage: true }],
    ['that there are too many', { retryAfter: 2 }],
    ['a refusal', { status: 400 }],
  ])('as the answer is %s is told of after the third time, and heals', async (_what, fault) => {
    await using here = await boot()
    const { fixture, app, acme, fail, bot, becomes, expectToWork } = here

    const wrong = fail(fault)
    await turnUntil(fixture, () => wrong.hits() >= 2)
    expect(bot()?.status).toBe('ok')
    await becomes('unreachable')
    expect(wrong.hits()).toBeGreaterThanOrEqual(3)
    expect(bot()?.issue).toStartWith('getUpdates: ')
    expect(bot()?.issue).not.toContain(acme.bot.token.split(':')[1])
    expect((await acme.live.post(START)).status).toBe(200)
    wrong.end()
    await expectToWork()

    const told = app.log.filter((line) => line.includes('bot does not work'))
    const healed = app.log.filter((line) => line.includes('bot works again'))
    expect([told.length, healed.length]).toEqual([1, 1])
  })

  test('since nobody listens is told so, by the name of the host alone', async () => {
    await using here = await boot()
    const { fixture, botApi, acme, bot, becomes } = here

    await botApi[Symbol.asyncDispose]()
    await becomes('unreachable')
    expect(bot()?.issue).toMatch(/^getUpdates: 127\.0\.0\.1:\d+ cannot be reached/)
    expect(bot()?.issue).not.toContain(acme.bot.token.split(':')[1])
    expect(fixture.app.log.join('\n')).not.toContain(acme.bot.token.split(':')[1])
  })

  test('from one trouble into the next is told of both', async () => {
    await using here = await boot()
    const { fail, becomes, bot, expectToWork } = here

    const first = fail({ status: 502 })
    await becomes('unreachable')
    const second = fail({ status: 409 })
    first.end()
    await becomes('conflict')
    expect(bot()?.issue).toContain('Conflict')
    second.end()
    await expectToWork()
  })

  test('is looked at anew when it was changed', async () => {
    await using here = await boot()
    const { actor, owner, bots, bot, fail, becomes, expectToWork } = here

    const fault = fail({ status: 502 })
    await becomes('unreachable')
    await bots.set(actor, owner, { match: 'required' })
    expect(bot()).toMatchObject({ status: 'ok', issue: null })
    await becomes('unreachable')
    await bots.set(actor, owner, { match: 'optional' })
    fault.end()
    await expectToWork()
  })
})

describe('the secret of a token', () => {
  const CALLS = ['getUpdates', 'sendMessage', 'editMessageText', 'answerCallbackQuery']

  test('is in no log line, no table, no answer and no error, whatever goes wrong', async () => {
    /** What answers quote whatever they were asked, as proxies do. */
    let quoting: { status: number } | undefined
    await using fixture = await bootBehindProxy(bootFixture, (method, request) => {
      if (!quoting || method === 'getWebhookInfo' || method === 'getMe') return undefined
      const [, token = ''] = /\/bot([^/]+)/.exec(decodeURIComponent(request.url)) ?? []
      const description = `Bad ${request.url} of ${token} by ${token.split(':')[1]}`
      return {
        status: quoting.status,
        body: JSON.stringify({ ok: false, error_code: quoting.status, description }),
      }
    })
    const here = await withTenant(fixture)
    const { app, actor, botApi, acme, owner, ada, bots, bot, becomes } = here
    const tokens = [acme.bot.token]
    const told: unknown[] = []
    const tell = async (work: Promise<unknown>) => void told.push(await work.catch((e) => e))
    const look = async () => {
      told.push(bots.list(), (await acme.live.post(START)).body, (await app.raw('/metrics')).body)
      told.push((await app.raw('/v1/passepartout/telegram/x', { method: 'POST' })).body)
    }

    const login = await signIn(fixture, acme, ada)
    told.push((await login.status()).body)
    const question = await pressedStart(ada, acme.bot, await startLogin(fixture, acme.live))

    for (const status of [400, 403, 409, 500]) {
      quoting = { status }
      botApi.fail({ method: 'getUpdates', bot: acme.bot, delayMs: 0, times: 1 })
      await becomes(status === 409 ? 'conflict' : 'unreachable')
      await tell(bots.set(actor, owner, { match: 'optional' }))
      await look()
    }
    quoting = undefined
    for (const method of CALLS)
      for (const fault of [{ status: 502 }, { garbage: true }, { drop: true }] as const)
        botApi.fail({ method, bot: acme.bot, times: 1, ...fault })
    await turnUntil(fixture, () => botApi.pollers(acme.bot) > 0, undefined, SECOND)
    ada.tap(question, 'Approve')
    ada.say(acme.bot, 'Hello')
    await turnUntil(fixture, () => botApi.callsOf('editMessageText').length >= 4, undefined, SECOND)
    await look()

    acme.bot.ownedByWebhook(`https://elsewhere.example/${acme.bot.token}`)
    await becomes('conflict')
    await tell(bots.enable(actor, owner))
    await tell(bots.set(actor, owner, { token: acme.bot.token }))
    await look()
    await tell(bots.enable(actor, owner, { takeOver: true }))

    tokens.push(acme.bot.revokeToken())
    await becomes('invalid_token')
    await tell(bots.set(actor, owner, { token: `${acme.bot.id}:${'x'.repeat(35)}` }))
    await tell(bots.set(actor, owner, { token: acme.bot.token }))
    await look()
    await tell(bots.disable(actor, owner))
    await tell(bots.remove(actor, owner))
    await look()
    await app.passepartout.idle()

    const texts = [app.log.join('\n'), errorsAndAll(told), ...tablesOf(fixture)]
    for (const token of tokens) {
      const secret = token.split(':')[1] ?? ''
      for (const text of texts) expect(text.includes(secret)).toBe(false)
    }
    expect(bot()?.token).toBeNull()
  })
})

const errorsAndAll = (told: unknown[]): string =>
  told
    .map((each) => (each instanceof Error ? `${each.stack} ${each.cause}` : JSON.stringify(each)))
    .join('\n')

/** Each table as text. */
function tablesOf({ app: { db } }: Pick<Fixture, 'app'>): string[] {
  const tables = db.client
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
  expect(tables.length).toBeGreaterThan(10)
  return tables.map(({ name }) =>
    JSON.stringify(
      db.client
        .query<Record<string, unknown>, []>(`SELECT * FROM "${name}"`)
        .all()
        .map((row) =>
          Object.values(row).map((value) =>
            value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
          ),
        ),
    ),
  )
}

test('a bot that Telegram cannot call is told of within a minute, and of why', async () => {
  await using here = await boot({ flags: { 'server-port': '1' } })
  const { fixture, actor, botApi, acme, owner, ada, bots, bot } = here
  await bots.set(actor, owner, { transport: 'webhook' })
  await until(() => acme.bot.webhook !== undefined)
  const since = fixture.app.clock.now()

  ada.say(acme.bot, 'Hello')
  const info = `${botApi.url}/bot${acme.bot.token}/getWebhookInfo`
  await until(async () => (await (await fetch(info)).text()).includes('last_error_message'))
  await here.becomes('unreachable')

  expect(bot()?.issue).toContain('cannot reach the webhook')
  expect(fixture.app.clock.now() - since).toBeLessThanOrEqual(MINUTE)
})

test('a bot that was renamed is linked to by its new name once it is received anew', async () => {
  await using here = await boot()
  const { actor, acme, owner, bots, bot, expectToWork } = here

  acme.bot.rename('acme_renamed_bot')
  await bots.disable(actor, owner)
  await bots.enable(actor, owner)
  await until(() => bot()?.username === 'acme_renamed_bot')

  expect((await acme.live.post(START)).body.deep_link).toStartWith('https://t.me/acme_renamed_bot?')
  await expectToWork()
})

test('a call of one bot that hangs keeps up no other bot, and not the end of the server', async () => {
  const fixture = await bootFixture()
  const { app, actor, botApi } = fixture
  const slow = await fixture.signingTenant('Slow')
  const owner = { tenantId: slow.id, environment: 'live' } as const
  const hang = botApi.fail({ method: 'getWebhookInfo', bot: slow.bot, delayMs: 60_000 })
  await app.passepartout.bots.set(actor, owner, { transport: 'webhook' })
  await until(() => hang.hits() === 1)
  await app.passepartout.bots.set(actor, owner, { transport: 'polling' })

  await fixture.signingTenant('Other')
  await botApi.waitForPoller(slow.bot)
  await app.passepartout.bots.set(actor, owner, { transport: 'webhook' })
  await until(() => hang.hits() === 2)
  await app.stop()

  await botApi[Symbol.asyncDispose]()
})

test('however many strangers write to a bot whose messenger hangs, 64 calls are under way', async () => {
  await using here = await boot()
  const { fixture, botApi, acme, polls } = here
  botApi.fail({ method: 'sendMessage', bot: acme.bot, delayMs: 60_000 })
  const strangers = Array.from({ length: 100 }, () => botApi.person())

  const before = Number(polls().at(-1)?.params.offset ?? 0)
  for (const person of strangers) person.say(acme.bot, 'Hello')
  await until(() => rowsOf(fixture.app, 'updates').length >= 100)
  await until(() => callsBy(fixture, acme.bot, 'sendMessage').length >= 64)
  await until(() => Number(polls().at(-1)?.params.offset ?? 0) > before)

  expect(callsBy(fixture, acme.bot, 'sendMessage')).toHaveLength(64)
})
