import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import type { FaultFields } from '../../support/bot-api/index.ts'
import { bootPassepartout, MINUTE, SECOND, START, tablesWith, usePassepartout } from './fixture.ts'

const shared = await usePassepartout({ jitter: 0.5 })

/** A tenant, and the state of its bot as the console shows it. */
async function newBot() {
  const { actor, app, bots, botApi, turnUntil } = shared
  const acme = await shared.newTenant()
  const ada = botApi.person()
  const from = app.log.length
  const polls = () => shared.callsBy(acme.bot, 'getUpdates')
  const bot = () => bots.list(acme.id).find(({ environment }) => environment === 'live')
  const becomes = (status: string) => turnUntil(() => bot()?.status === status, SECOND)
  const fail = (fields: FaultFields) =>
    botApi.fail({ method: 'getUpdates', bot: acme.bot, ...fields })
  const logged = (words: string) => app.log.slice(from).filter((line) => line.includes(words))
  const enable = () => bots.enable(actor, acme.owner)
  const disable = () => bots.disable(actor, acme.owner)

  /** Sign-ins work again. */
  async function expectToWork() {
    await turnUntil(() => botApi.pollers(acme.bot) > 0, SECOND)
    await shared.signIn(acme, ada)
    await until(() => bot()?.status === 'ok')
    expect(bot()).toMatchObject({ issue: null, enabled: true })
  }

  return { acme, ada, polls, bot, becomes, fail, logged, enable, disable, expectToWork }
}

test('A bot whose token Telegram no longer accepts is not polled; its sign-ins are refused or wait until a new token is set', async () => {
  const { actor, botApi, bots, callsBy, clock } = shared
  const { acme, ada, becomes, bot, ...here } = await newBot()
  await using _ = acme
  const { login, question } = await shared.ask(acme, ada)
  const revoked = { token: acme.bot.token }
  const token = acme.bot.revokeToken()
  await becomes('invalid_token')
  expect(bot()).toMatchObject({ issue: expect.stringContaining('token'), enabled: true })
  expect((await acme.live.post(START)).body.error.code).toBe('bot_not_configured')
  await shared.expectNobody(login)
  const before = callsBy(revoked, 'getUpdates').length
  await clock.advance(MINUTE)
  expect([callsBy(revoked, 'getUpdates').length, here.polls().length]).toEqual([before, 0])
  await bots.set(actor, acme.owner, { token })
  await botApi.waitForPoller(acme.bot)
  await shared.tap(ada, question, 'Approve')
  await shared.expectSignedIn(login, ada)

  // One such answer is enough, until the bot is enabled again.
  here.fail({ status: 404, times: 1 })
  await becomes('invalid_token')
  const polls = here.polls().length
  await clock.advance(MINUTE)
  expect(here.polls()).toHaveLength(polls)
  await here.disable()
  await here.enable()
  await here.expectToWork()
})

test('A bot with a foreign webhook is in conflict, also soon after a change, and leaves the webhook alone', async () => {
  const { acme, ...here } = await newBot()
  await using _ = acme
  const url = 'https://elsewhere.example/hook'
  acme.bot.ownedByWebhook(url)
  await here.becomes('conflict')
  expect(here.bot()?.issue).toContain('webhook')
  await shared.bots.set(shared.actor, acme.owner, { match: 'optional' })
  expect(here.bot()).toMatchObject({ status: 'ok', issue: null })
  await here.becomes('conflict')
  expect([shared.callsBy(acme.bot, 'deleteWebhook'), acme.bot.webhook?.url]).toEqual([[], url])
  await fetch(`${shared.botApi.url}/bot${acme.bot.token}/deleteWebhook`)
  await here.expectToWork()
})

test.each<[string, FaultFields, status: string]>([
  ['a cut connection', { drop: true }, 'unreachable'],
  ['a rate limit', { retryAfter: 2 }, 'unreachable'],
  ['a refusal', { status: 400 }, 'unreachable'],
  ['another program that polls', { status: 409 }, 'conflict'],
])(
  'A bot that cannot receive because of %s is reported after the third time, once, and recovers',
  async (_, fields, status) => {
    const { acme, ada, bot, ...here } = await newBot()
    await using _acme = acme
    const fault = here.fail(fields)
    await shared.turnUntil(() => fault.hits() >= 2)
    expect(bot()?.status).toBe('ok')
    await here.becomes(status)
    expect(fault.hits()).toBeGreaterThanOrEqual(3)
    expect(bot()?.issue).toStartWith('getUpdates: ')
    const login = await acme.live.start()
    ada.follow(login.deep_link)
    fault.end()
    await here.expectToWork()
    expect(ada.chat(acme.bot)).toHaveLength(2)
    expect(here.logged('bot does not work')).toHaveLength(1)
    expect(here.logged('bot works again')).toHaveLength(1)
  },
)

test('The secret of a token is in no log line, table, answer or error, whatever fails', async () => {
  const { actor, app, botApi, bots, callsBy, turnUntil } = shared
  const { acme, ada, becomes } = await newBot()
  const { bot, owner } = acme
  const former = bot.token
  const told: unknown[] = []
  const attempt = async (work: Promise<unknown>) => void told.push(await work.catch((e) => e))
  const look = async () => {
    told.push(bots.list(), (await acme.live.post(START)).body, (await app.raw('/metrics')).body)
  }
  const { question } = await shared.ask(acme, ada)

  // Refusals that quote the request, as proxies do.
  const quoted = encodeURIComponent(bot.token)
  const description = `Bad /bot${quoted}/x of ${bot.token} by ${bot.token.split(':')[1]}`
  for (const status of [409, 500]) {
    using _ = botApi.fail({ bot, method: 'getUpdates', status, description })
    using _set = botApi.fail({ bot, method: 'deleteWebhook', status, description })
    await becomes(status === 409 ? 'conflict' : 'unreachable')
    await attempt(bots.set(actor, owner, { match: 'optional' }))
    await look()
  }
  for (const method of ['getUpdates', 'sendMessage', 'editMessageText', 'answerCallbackQuery'])
    for (const fault of [{ status: 502, description }, { drop: true }] as const)
      botApi.fail({ method, bot, times: 1, ...fault })
  await turnUntil(() => botApi.pollers(bot) > 0, SECOND)
  ada.tap(question, 'Approve')
  ada.say(bot, 'Hello')
  await turnUntil(() => callsBy(bot, 'editMessageText').length >= 3, SECOND)

  bot.ownedByWebhook(`https://elsewhere.example/${bot.token}`)
  await becomes('conflict')
  await attempt(bots.enable(actor, owner))
  await attempt(bots.set(actor, owner, { token: bot.token }))
  await look()
  await attempt(bots.enable(actor, owner, { takeOver: true }))
  bot.revokeToken()
  await becomes('invalid_token')
  await attempt(bots.set(actor, owner, { token: `${bot.id}:${'x'.repeat(35)}` }))
  await attempt(bots.set(actor, owner, { token: bot.token }))
  await look()
  await attempt(bots.remove(actor, owner))
  const texts = [...app.log, ...told.map((each) => Bun.inspect(each, { depth: 9 }))].join('\n')
  for (const token of [former, bot.token]) {
    const [, secret = ''] = token.split(':')
    expect(texts.includes(secret)).toBe(false)
    expect(tablesWith(shared, secret)).toEqual([])
  }
})

test('A webhook that Telegram cannot call is reported within a minute, with the reason', async () => {
  const { acme, ada, bot } = await newBot()
  await shared.bots.set(shared.actor, acme.owner, { transport: 'webhook' })
  await until(() => acme.bot.webhook !== undefined)
  const latest = shared.clock.now() + MINUTE
  ada.say(acme.bot, 'Hello')
  Object.assign(acme.bot.webhook ?? {}, { lastError: 'Connection refused' })
  await shared.turnUntil(() => bot()?.status === 'unreachable', 5 * SECOND)
  expect(bot()?.issue).toContain('cannot reach the webhook: Connection refused')
  expect(shared.clock.now()).toBeLessThanOrEqual(latest)
  await shared.bots.disable(shared.actor, acme.owner)
})

test('A bot that was renamed is linked to by its new name once it is enabled again', async () => {
  const { acme, ...here } = await newBot()
  await using _ = acme
  acme.bot.rename('acme_renamed_bot')
  await here.disable()
  await here.enable()
  await until(() => here.bot()?.username === 'acme_renamed_bot')
  expect((await acme.live.start()).deep_link).toStartWith('https://t.me/acme_renamed_bot?')
})

test('A call that hangs delays neither other bots nor the stop of the server', async () => {
  const { actor, app, bots, botApi, newTenant } = await bootPassepartout()
  const { bot, owner } = await newTenant()
  const hang = botApi.fail({ method: 'getWebhookInfo', bot, delayMs: 60_000 })
  await bots.set(actor, owner, { transport: 'webhook' })
  await until(() => hang.hits() === 1)
  await bots.set(actor, owner, { transport: 'polling' })
  const { bot: other } = await newTenant('Other')
  await botApi.waitForPoller(bot)
  await bots.set(actor, owner, { transport: 'webhook' })
  await until(() => hang.hits() === 2)
  await app.stop()
  await until(() => botApi.pollers(other) === 0)
  await botApi[Symbol.asyncDispose]()
})

test('64 replies of a bot are under way at most, however many strangers write', async () => {
  const { botApi, callsBy } = shared
  const { acme, polls } = await newBot()
  await using _ = acme
  const { promise, resolve } = Promise.withResolvers<void>()
  botApi.fail({ method: 'sendMessage', bot: acme.bot, until: promise })
  for (let n = 0; n < 70; n++) botApi.person().say(acme.bot, 'Hello')
  await until(() => callsBy(acme.bot, 'sendMessage').length >= 64)
  await until(() => Number(polls().at(-1)?.params.offset ?? 0) > 500_000_070)
  expect(callsBy(acme.bot, 'sendMessage')).toHaveLength(64)
  resolve()
})

test('A bot that receives nothing is an alert of its tenant, until it works or is disabled', async () => {
  const { acme, ...here } = await newBot()
  await using _ = acme
  const { alerts } = shared.app.platform
  const open = () => alerts.page(acme.id, 'open', { limit: 9 })
  const alert = { kind: 'bot.failing', subject: 'bot:live', path: '/live/bots' }
  {
    using _fault = here.fail({ drop: true })
    await here.becomes('unreachable')
    expect(open()).toMatchObject([{ ...alert, text: expect.stringContaining('cannot be reached') }])
  }
  await here.expectToWork()
  expect(open()).toEqual([])
  acme.bot.revokeToken()
  await here.becomes('invalid_token')
  expect(open()).toMatchObject([alert])
  await here.disable()
  expect(open()).toEqual([])
  const told = { state: 'resolved', told: 'resolved', dueAt: null }
  expect(alerts.page(acme.id, 'resolved', { limit: 9 })).toMatchObject([told])
})
