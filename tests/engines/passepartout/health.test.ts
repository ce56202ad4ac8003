import { describe, expect, test } from 'bun:test'
import type { TestAppOptions } from '../../support/app.ts'
import { until } from '../../support/binary.ts'
import type { FaultFields } from '../../support/bot-api/index.ts'
import { bootPassepartout, type Fixture, MINUTE, SECOND, START, tablesWith } from './fixture.ts'
import { bootBehindProxy, watchWaits } from './proxy.ts'

/** An application of its own for each test, because the clock is turned until a bot fails. */
async function boot(options: TestAppOptions = {}) {
  const fixture = await bootPassepartout(options)
  return { ...(await withTenant(fixture)), [Symbol.asyncDispose]: fixture.stop }
}

/** A tenant, and the state of its bot as the console shows it. */
async function withTenant(fixture: Fixture) {
  const { bots, botApi, callsBy, turnUntil } = fixture
  const acme = await fixture.newTenant()
  const ada = botApi.person()
  const polls = () => callsBy(acme.bot, 'getUpdates')
  const bot = () => bots.list(acme.id).find(({ environment }) => environment === 'live')
  const becomes = (status: string) => turnUntil(() => bot()?.status === status, SECOND)
  const fail = (fields: FaultFields) =>
    botApi.fail({ method: 'getUpdates', bot: acme.bot, ...fields })

  /** Sign-ins work again. */
  async function expectToWork() {
    await turnUntil(() => botApi.pollers(acme.bot) > 0, SECOND)
    await fixture.signIn(acme, ada)
    await until(() => bot()?.status === 'ok')
    expect(bot()).toMatchObject({ issue: null, enabled: true })
  }

  return { ...fixture, acme, ada, polls, bot, becomes, fail, expectToWork }
}

describe('a bot whose token Telegram no longer accepts', () => {
  test('is not polled; its sign-ins are refused or wait until a new token is set', async () => {
    await using here = await boot()
    const { acme, ada, ask, becomes, bot, expectNobody, polls } = here
    const other = await here.newTenant('Other')
    const { login, question } = await ask(acme, ada)
    const revoked = acme.bot.token
    const token = acme.bot.revokeToken()
    await becomes('invalid_token')
    expect(bot()).toMatchObject({ issue: expect.stringContaining('token'), enabled: true })
    expect((await acme.live.post(START)).body.error.code).toBe('bot_not_configured')
    await expectNobody(login)
    const asBefore = () => here.callsBy({ ...acme.bot, token: revoked }, 'getUpdates').length
    const before = asBefore()
    await here.clock.advance(MINUTE)
    expect([asBefore(), polls().length]).toEqual([before, 0])
    await here.turnUntil(() => here.botApi.pollers(other.bot) > 0)
    await here.signIn(other, ada)

    await here.bots.set(here.actor, acme.owner, { token })
    await here.botApi.waitForPoller(acme.bot)
    await here.tap(ada, question, 'Approve')
    await here.expectSignedIn(login, ada)
    await here.expectToWork()
  })

  test.each([401, 404])(
    'is known by one answer with %d, until it is enabled again',
    async (status) => {
      await using here = await boot()
      here.fail({ status, times: 1 })
      await here.becomes('invalid_token')
      const before = here.polls().length
      await here.clock.advance(2 * MINUTE)
      expect(here.polls()).toHaveLength(before)
      await here.bots.disable(here.actor, here.acme.owner)
      await here.bots.enable(here.actor, here.acme.owner)
      await here.expectToWork()
    },
  )

  test('is not known by the page of a proxy', async () => {
    await using here = await boot()
    const fault = here.fail({ garbage: true, status: 401 })
    await here.becomes('unreachable')
    fault.end()
    await here.expectToWork()
  })
})

describe('a bot whose messages go elsewhere', () => {
  test('waits, is in conflict after the third time, and recovers', async () => {
    await using here = await boot({ jitter: 0.5 })
    const { acme, ada, bot, clock, fail } = here
    const waits = watchWaits(here.app)
    const fault = fail({ status: 409, description: 'Conflict: terminated by other getUpdates' })
    await here.turnUntil(() => fault.hits() === 1)
    for (const [n, ms] of [1100, 2200].entries()) {
      await waits(ms)
      expect(bot()?.status).toBe('ok')
      await clock.advance(ms)
      await until(() => fault.hits() === n + 2)
    }
    await waits(4400)
    const issue = expect.stringContaining('other getUpdates')
    expect(bot()).toMatchObject({ status: 'conflict', issue })
    const login = await acme.live.start()
    ada.follow(login.deep_link)
    fault.end()
    await here.turnUntil(() => ada.chat(acme.bot).length > 0, SECOND)
    await here.tap(ada, await ada.waitForMessage(acme.bot), 'Approve')
    await here.expectSignedIn(login, ada)
  })

  test('to one foreign poll is not reported', async () => {
    await using here = await boot()
    const { acme, botApi, polls } = here
    const rival = fetch(`${botApi.url}/bot${acme.bot.token}/getUpdates?timeout=50`)
    await here.turnUntil(() => polls().some(({ status }) => status === 409))
    await here.turnUntil(() => polls().length >= 3)
    await rival
    await here.expectToWork()
    expect(here.app.log.filter((line) => line.includes('bot does not work'))).toEqual([])
  })

  test('to a program that polls all the time is in conflict', async () => {
    await using here = await boot()
    const { acme, botApi } = here
    const url = `${botApi.url}/bot${acme.bot.token}/getUpdates?timeout=50`
    const leaving = new AbortController()
    async function rival() {
      while (!leaving.signal.aborted)
        await fetch(url, { signal: leaving.signal }).then((answer) => answer.text())
    }
    const gone = rival().catch(() => {})
    await here.becomes('conflict')
    leaving.abort()
    await gone
    await until(() => botApi.pollers(acme.bot) === 0)
    await here.expectToWork()
  })

  test('to a foreign webhook is in conflict, and leaves the webhook alone', async () => {
    await using here = await boot()
    const { acme, botApi } = here
    acme.bot.ownedByWebhook('https://elsewhere.example/hook')
    await here.becomes('conflict')
    expect(here.bot()?.issue).toContain('webhook')
    expect(botApi.callsOf('deleteWebhook')).toEqual([])
    expect(acme.bot.webhook?.url).toBe('https://elsewhere.example/hook')
    await fetch(`${botApi.url}/bot${acme.bot.token}/deleteWebhook`)
    await here.expectToWork()
  })
})

describe('a bot that cannot be reached', () => {
  test.each<[string, FaultFields]>([
    ['an error', { status: 500 }],
    ['a cut connection', { drop: true }],
    ['a page', { garbage: true }],
    ['a rate limit', { retryAfter: 2 }],
    ['a refusal', { status: 400 }],
  ])('because of %s is reported after the third time, once, and recovers', async (_, fields) => {
    await using here = await boot()
    const { acme, app, bot } = here
    const fault = here.fail(fields)
    await here.turnUntil(() => fault.hits() >= 2)
    expect(bot()?.status).toBe('ok')
    await here.becomes('unreachable')
    expect(fault.hits()).toBeGreaterThanOrEqual(3)
    expect(bot()?.issue).toStartWith('getUpdates: ')
    expect((await acme.live.post(START)).status).toBe(200)
    fault.end()
    await here.expectToWork()
    const told = ['bot does not work', 'bot works again'].map(
      (text) => app.log.filter((line) => line.includes(text)).length,
    )
    expect(told).toEqual([1, 1])
  })

  test('because no server listens is reported with the host alone', async () => {
    await using here = await boot()
    await here.botApi[Symbol.asyncDispose]()
    await here.becomes('unreachable')
    expect(here.bot()?.issue).toMatch(/^getUpdates: 127\.0\.0\.1:\d+ cannot be reached/)
    const [, secret = ''] = here.acme.bot.token.split(':')
    expect([here.bot()?.issue, ...here.app.log].join()).not.toContain(secret)
  })

  test('shows its current problem, and none right after a change', async () => {
    await using here = await boot()
    const first = here.fail({ status: 502 })
    await here.becomes('unreachable')
    const second = here.fail({ status: 409 })
    first.end()
    await here.becomes('conflict')
    expect(here.bot()?.issue).toContain('Conflict')
    await here.bots.set(here.actor, here.acme.owner, { match: 'optional' })
    expect(here.bot()).toMatchObject({ status: 'ok', issue: null })
    await here.becomes('conflict')
    second.end()
    await here.expectToWork()
  })
})

test('the secret of a token is in no log line, table, answer or error, whatever fails', async () => {
  /** Refusals that quote the request, as proxies do. */
  let quoting: { status: number } | undefined
  await using fixture = await bootBehindProxy((method, request) => {
    if (!quoting || method === 'getWebhookInfo' || method === 'getMe') return undefined
    const [, token = ''] = /\/bot([^/]+)/.exec(decodeURIComponent(request.url)) ?? []
    const description = `Bad ${request.url} of ${token} by ${token.split(':')[1]}`
    const { status } = quoting
    return { status, body: JSON.stringify({ ok: false, error_code: status, description }) }
  })
  const here = await withTenant(fixture)
  const { acme, actor, ada, app, becomes, botApi, bots, turnUntil } = here
  const { bot, owner } = acme
  const tokens = [bot.token]
  const told: unknown[] = []
  const attempt = async (work: Promise<unknown>) => void told.push(await work.catch((e) => e))
  const look = async () => {
    told.push(bots.list(), (await acme.live.post(START)).body, (await app.raw('/metrics')).body)
    told.push((await app.raw('/v1/passepartout/telegram/x', { method: 'POST' })).body)
  }
  await here.signIn(acme, ada)
  const { question } = await here.ask(acme, ada)

  for (const status of [400, 403, 409, 500]) {
    quoting = { status }
    botApi.fail({ method: 'getUpdates', bot, delayMs: 0, times: 1 })
    await becomes(status === 409 ? 'conflict' : 'unreachable')
    await attempt(bots.set(actor, owner, { match: 'optional' }))
    await look()
  }
  quoting = undefined
  for (const method of ['getUpdates', 'sendMessage', 'editMessageText', 'answerCallbackQuery'])
    for (const fault of [{ status: 502 }, { garbage: true }, { drop: true }] as const)
      botApi.fail({ method, bot, times: 1, ...fault })
  await turnUntil(() => botApi.pollers(bot) > 0, SECOND)
  ada.tap(question, 'Approve')
  ada.say(bot, 'Hello')
  await turnUntil(() => botApi.callsOf('editMessageText').length >= 4, SECOND)
  await look()

  bot.ownedByWebhook(`https://elsewhere.example/${bot.token}`)
  await becomes('conflict')
  await attempt(bots.enable(actor, owner))
  await attempt(bots.set(actor, owner, { token: bot.token }))
  await look()
  await attempt(bots.enable(actor, owner, { takeOver: true }))

  tokens.push(bot.revokeToken())
  await becomes('invalid_token')
  await attempt(bots.set(actor, owner, { token: `${bot.id}:${'x'.repeat(35)}` }))
  await attempt(bots.set(actor, owner, { token: bot.token }))
  await look()
  await attempt(bots.remove(actor, owner))
  await look()
  await app.passepartout.idle()

  const texts = [...app.log, ...told.map((each) => Bun.inspect(each, { depth: 9 }))].join('\n')
  for (const token of tokens) {
    const [, secret = ''] = token.split(':')
    expect(texts.includes(secret)).toBe(false)
    expect(tablesWith(fixture, secret)).toEqual([])
  }
})

test('a webhook that Telegram cannot call is reported within a minute, with the reason', async () => {
  await using here = await boot({ flags: { 'server-port': '1' } })
  const { acme, ada, botApi, clock } = here
  await here.bots.set(here.actor, acme.owner, { transport: 'webhook' })
  await until(() => acme.bot.webhook !== undefined)
  const since = clock.now()
  ada.say(acme.bot, 'Hello')
  const info = `${botApi.url}/bot${acme.bot.token}/getWebhookInfo`
  await until(async () => (await (await fetch(info)).text()).includes('last_error_message'))
  await here.becomes('unreachable')
  expect(here.bot()?.issue).toContain('cannot reach the webhook')
  expect(clock.now() - since).toBeLessThanOrEqual(MINUTE)
})

test('a bot that was renamed is linked to by its new name once it is enabled again', async () => {
  await using here = await boot()
  const { acme, actor, bots } = here
  acme.bot.rename('acme_renamed_bot')
  await bots.disable(actor, acme.owner)
  await bots.enable(actor, acme.owner)
  await until(() => here.bot()?.username === 'acme_renamed_bot')
  expect((await acme.live.start()).deep_link).toStartWith('https://t.me/acme_renamed_bot?')
  await here.expectToWork()
})

test('a call that hangs delays neither other bots nor the stop of the server', async () => {
  const fixture = await bootPassepartout()
  const { actor, app, bots, botApi } = fixture
  const { bot, owner } = await fixture.newTenant()
  const hang = botApi.fail({ method: 'getWebhookInfo', bot, delayMs: 60_000 })
  await bots.set(actor, owner, { transport: 'webhook' })
  await until(() => hang.hits() === 1)
  await bots.set(actor, owner, { transport: 'polling' })
  await fixture.newTenant('Other')
  await botApi.waitForPoller(bot)
  await bots.set(actor, owner, { transport: 'webhook' })
  await until(() => hang.hits() === 2)
  await app.stop()
  await botApi[Symbol.asyncDispose]()
})

test('64 replies of a bot are under way at most, however many strangers write', async () => {
  await using here = await boot()
  const { acme, botApi, callsBy, polls, rows } = here
  botApi.fail({ method: 'sendMessage', bot: acme.bot, delayMs: 60_000 })
  const before = Number(polls().at(-1)?.params.offset ?? 0)
  for (let n = 0; n < 100; n++) botApi.person().say(acme.bot, 'Hello')
  await until(() => rows('updates').length >= 100)
  await until(() => callsBy(acme.bot, 'sendMessage').length >= 64)
  await until(() => Number(polls().at(-1)?.params.offset ?? 0) > before)
  expect(callsBy(acme.bot, 'sendMessage')).toHaveLength(64)
})
