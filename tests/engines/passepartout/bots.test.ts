import { describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { openDatabase } from '../../../src/db/open.ts'
import { createBots } from '../../../src/engines/passepartout/bots.ts'
import { createOfflineBots } from '../../../src/engines/passepartout/index.ts'
import { createStore } from '../../../src/engines/passepartout/store/index.ts'
import { createTelegram } from '../../../src/engines/passepartout/telegram/client.ts'
import { createOwnership } from '../../../src/engines/passepartout/telegram/ownership.ts'
import {
  isOurWebhook,
  isTelegramItself,
  webhookObjection,
} from '../../../src/engines/passepartout/telegram/webhook-url.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { AppError } from '../../../src/platform/errors.ts'
import { until } from '../../support/binary.ts'
import { testConfig } from '../../support/config.ts'
import { type Json, START, usePassepartout } from './fixture.ts'

const FOREIGN = 'https://bots.example/hook/of-secrets'

const fixture = await usePassepartout()
const { actor, app, bots, botApi, callsBy, clock } = fixture
const store = createStore(app.db)

/** A tenant whose live bot is set to be used as `transport` says, but not enabled. */
async function configured(transport: 'polling' | 'webhook' = 'polling', webhook?: string) {
  const tenant = await fixture.newTenantWithoutBots()
  const { id, owner } = tenant
  const bot = botApi.bot()
  if (webhook !== undefined) bot.ownedByWebhook(webhook)
  const set = (change: Parameters<(typeof bots)['set']>[2]) => bots.set(actor, owner, change)
  await set({ token: bot.token, transport })
  const entries = `select * from audit_log where tenant_id = ? and action like 'bot.%' order by seq`
  const audited = (): Json[] => app.db.client.query(entries).all(id)
  return {
    ...{ ...tenant, bot, set, audited },
    enable: (options?: Parameters<(typeof bots)['enable']>[2]) =>
      bots.enable(actor, owner, options),
    disable: () => bots.disable(actor, owner),
    remove: () => bots.remove(actor, owner),
    row: () => store.bots.find(id, 'live') ?? expect.unreachable(),
  }
}

/** The same, in use. */
async function enabled(transport: 'polling' | 'webhook' = 'polling') {
  const tenant = await configured(transport)
  await tenant.enable()
  if (transport === 'webhook') await until(() => tenant.bot.webhook !== undefined)
  else await botApi.waitForPoller(tenant.bot)
  return tenant
}

const secretOf = (token: string) => token.slice(token.indexOf(':') + 1)

const refusalOf = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => expect.unreachable('was not refused'),
    (error) => (error instanceof AppError ? error : Promise.reject(error)),
  )

test('Each change is audited, without the token', async () => {
  const { audited, bot, set, ...tenant } = await configured()
  await set({ match: 'required', transport: 'webhook' })
  await tenant.enable()
  await tenant.disable()
  await tenant.remove()
  const known = { environment: 'live', username: bot.username }
  const object = `passepartout:bot:${tenant.row().id}`
  for (const row of audited()) expect(row).toMatchObject({ object, actor_kind: 'cli' })
  expect(audited().map(({ action, detail }) => [action, JSON.parse(detail)])).toEqual([
    ['bot.changed', { ...known, transport: 'polling', is_new_token: true }],
    ['bot.changed', { ...known, match: 'required', transport: 'webhook', is_new_token: false }],
    ['bot.enabled', known],
    ['bot.disabled', known],
    ['bot.removed', known],
  ])
  expect(JSON.stringify(audited())).not.toContain(secretOf(bot.token))
  expect(bots.list(tenant.id)).toMatchObject([{ username: null, token: null }])
})

test('A token is sealed for its bot, and refused if malformed before Telegram is asked', async () => {
  const [mine, other] = [await configured(), await configured()]
  expect(JSON.stringify(store.bots.all())).not.toContain(secretOf(mine.bot.token))
  expect(() => bots.apiOf({ ...other.row(), token: mine.row().token })).toThrow()
  expect((await bots.apiOf(mine.row()).getMe()).username).toBe(mine.bot.username)
  const calls = botApi.calls.length
  for (const token of ['', 'nonsense', '123456', 'abc:def', '1:a/../b'])
    expect(await refusalOf(mine.set({ token }))).toMatchObject({ field: 'token', rule: 'format' })
  expect(botApi.calls).toHaveLength(calls)
  const unknown = `${mine.bot.id}:${'x'.repeat(35)}`
  expect(await refusalOf(mine.set({ token: unknown }))).toMatchObject({ field: 'token' })
})

test('A token of the same bot continues where that was, even after it was removed; one of another begins anew', async () => {
  const { bot, row, set, ...tenant } = await enabled()
  const ada = botApi.person()
  ada.say(bot, 'Hello')
  await ada.waitForMessage(bot)
  const lastPoll = () => callsBy(bot, 'getUpdates').at(-1)
  await until(() => row().updateOffset !== null && lastPoll()?.status === undefined)
  const { id, updateOffset } = row()
  const token = bot.revokeToken()
  await set({ token })
  await botApi.waitForPoller(bot)
  expect(lastPoll()?.params.offset).toBe(updateOffset)
  expect(row()).toMatchObject({ id, updateOffset, isEnabled: true, health: 'ok' })
  await tenant.remove()
  await set({ token })
  expect(row()).toMatchObject({ id, updateOffset, isEnabled: false })

  const hooked = await enabled('webhook')
  const former = hooked.row().id
  await hooked.set({ token: botApi.bot().token })
  expect(hooked.row().id).not.toBe(former)
  expect(hooked.row()).toMatchObject({ updateOffset: null, isEnabled: true })
  expect(hooked.bot.webhook).toBeUndefined()
})

test('A token of a bot that another tenant or system uses is refused', async () => {
  const [mine, other] = [await enabled(), await configured()]
  const before = [mine.row(), mine.audited()]
  const inUse = { code: 'bot_in_use' }
  expect(await refusalOf(mine.set({ token: other.bot.token }))).toMatchObject(inUse)
  await other.disable()
  expect(await refusalOf(mine.set({ token: other.bot.revokeToken() }))).toMatchObject(inUse)
  const foreign = botApi.bot()
  foreign.ownedByWebhook(FOREIGN)
  const message = expect.stringContaining('bots.example')
  const refusal = await refusalOf(mine.set({ token: foreign.token }))
  expect(refusal).toMatchObject({ ...inUse, message })
  expect([mine.row(), mine.audited()]).toEqual(before)
  await other.remove()
  await mine.set({ token: other.bot.token })
})

test('Nothing changes when the webhook of another system cannot be removed', async () => {
  const { bot, enable, row } = await configured('polling', FOREIGN)
  expect(await refusalOf(enable())).toMatchObject({ code: 'bot_in_use' })
  const fault = botApi.fail({ method: 'deleteWebhook', bot, status: 500 })
  const refusal = await refusalOf(enable({ takeOver: true }))
  expect(refusal).toMatchObject({ code: 'messenger_unavailable' })
  expect(row()).toMatchObject({ isEnabled: false })
  fault.end()
  const { warnings } = await enable({ takeOver: true })
  expect(warnings).toEqual([expect.stringContaining('bots.example')])
  expect(bot.webhook).toBeUndefined()
})

test('Nothing changes when the bot is removed while Telegram is asked about it', async () => {
  const { bot, enable, remove, row } = await configured()
  const { promise, resolve } = Promise.withResolvers<void>()
  const fault = botApi.fail({ method: 'getWebhookInfo', bot, until: promise, times: 1 })
  const refusal = refusalOf(enable())
  await until(() => fault.hits() === 1)
  await remove()
  resolve()
  expect(await refusal).toMatchObject({ code: 'bot_not_configured' })
  expect(row()).toMatchObject({ isEnabled: false, token: null })
})

test('Of two changes at once both hold, but of the token one wins', async () => {
  const { bot, enable, id, row, set } = await configured()
  const changes = [{ match: 'required' }, { token: bot.token }, { transport: 'webhook' }] as const
  await Promise.all([...changes.map(set), enable()])
  expect(row()).toMatchObject({ match: 'required', transport: 'webhook', isEnabled: true })
  const candidates = [botApi.bot(), botApi.bot()]
  await Promise.all(candidates.map(({ token }) => set({ token })))
  expect(bots.list(id)).toHaveLength(1)
  expect(candidates.map(({ username }) => username)).toContain(row().username as string)
  expect((await bots.apiOf(row()).getMe()).username).toBe(row().username as string)
})

describe('A bot with a webhook', () => {
  test('is set up with a secret, another one with each change, and the updates that are needed', async () => {
    const { audited, bot, enable, row, set } = await enabled('webhook')
    const url = expect.stringMatching(new RegExp(`/v1/passepartout/telegram/${row().id}$`))
    const secret_token = expect.stringMatching(/^[\w-]{32,256}$/)
    const allowed_updates = ['message', 'callback_query']
    const params = { url, secret_token, allowed_updates, drop_pending_updates: false }
    expect(callsBy(bot, 'setWebhook')).toMatchObject([{ params }])
    expect(callsBy(bot, 'getUpdates')).toEqual([])
    const secret = bot.webhook?.secret
    expect(JSON.stringify([row(), audited()])).not.toContain(`${secret}`)
    expect((await set({ token: bot.token })).warnings).toEqual([])
    expect((await enable()).warnings).toEqual([])
    expect(callsBy(bot, 'deleteWebhook')).toEqual([])
    await until(() => bot.webhook?.secret !== secret)
    await set({ transport: 'polling' })
    await fixture.turnUntil(() => botApi.pollers(bot) === 1)
    expect(bot.webhook).toBeUndefined()
    expect(row()).toMatchObject({ health: 'ok' })
  })

  test.each(['disable', 'remove'] as const)('loses it by %s, and no other', async (verb) => {
    const { bot, ...mine } = await enabled('webhook')
    await mine[verb]()
    expect(bot.webhook).toBeUndefined()
    const foreign = await configured('webhook', FOREIGN)
    await foreign[verb]()
    expect(foreign.bot.webhook?.url).toBe(FOREIGN)
    const unreachable = await enabled('webhook')
    using _fault = botApi.fail({ bot: unreachable.bot, status: 500 })
    expect(await unreachable[verb]()).toMatchObject({ enabled: false })
  })
})

test('A webhook is called by Telegram over HTTPS on its ports, and is ours with the id of the bot', () => {
  for (const rest of ['', ':443', ':80', ':88', ':8443', '/below'])
    expect(webhookObjection(`https://gate.example${rest}`, false)).toBeUndefined()
  for (const url of [
    'http://gate.example',
    'http://gate.example:443',
    'https://gate.example:444',
  ]) {
    expect(webhookObjection(url, false)).toBeDefined()
    expect(webhookObjection(url, true)).toBeUndefined()
  }
  for (const [url, botId, isOurs] of [
    ['https://gate.example/v1/passepartout/telegram/b1', 'b1', true],
    ['https://old.example/v1/passepartout/telegram/b1', 'b1', true],
    ['https://gate.example/v1/passepartout/telegram/other', 'b1', true],
    ['https://old.example/v1/passepartout/telegram/b1', undefined, false],
    ['https://old.example/v1/passepartout/telegram/b2', 'b1', false],
    ['nonsense', 'b1', false],
  ] as const)
    expect([url, isOurWebhook(url, botId, 'https://gate.example')]).toEqual([url, isOurs])
})

test('A webhook that Telegram cannot call is refused, for a bot in use at once', async () => {
  expect(isTelegramItself('https://api.telegram.org')).toBe(true)
  expect(isTelegramItself('http://127.0.0.1:8081')).toBe(false)
  const connect = createTelegram({ clock, apiRoot: botApi.url })
  const baseUrl = () => 'http://gate.example'
  const ownership = createOwnership({ connect, baseUrl, isOwnServer: false })
  const strict = createBots({ ...app.platform, clock, store, connect, ownership })
  const refused = { field: 'transport', rule: 'not_allowed' }
  const disabled = await configured('webhook')
  expect(await refusalOf(strict.enable(actor, disabled.owner))).toMatchObject(refused)
  const { owner, row } = await enabled()
  const change = strict.set(actor, owner, { transport: 'webhook' })
  expect(await refusalOf(change)).toMatchObject(refused)
  expect(row()).toMatchObject({ transport: 'polling', isEnabled: true })
})

test('A running server notices changes of another process', async () => {
  const db = openDatabase({ dataDir: dirname(app.db.file), synchronous: 'full' })
  const config = testConfig({ 'passepartout-telegram-api-root': botApi.url })
  const parts = { ...app.platform, db, clock, audit: createAudit({ db, clock }) }
  const other = createOfflineBots(parts, config, () => 'http://127.0.0.1:8080')
  const { live, owner } = await fixture.newTenantWithoutBots()
  const [bot, next] = [botApi.bot(), botApi.bot()]
  const status = async () => (await live.post(START)).status

  await other.set(actor, owner, { token: bot.token })
  expect(await status()).toBe(409)
  await other.enable(actor, owner)
  expect(await status()).toBe(200)
  await clock.advance(1000)
  await botApi.waitForPoller(bot)
  await other.set(actor, owner, { token: next.token })
  expect((await live.start()).deep_link).toContain(`/${next.username}?start=`)
  await clock.advance(1000)
  await botApi.waitForPoller(next)
  await until(() => botApi.pollers(bot) === 0)
  await other.disable(actor, owner)
  expect(await status()).toBe(409)
  await clock.advance(1000)
  await until(() => botApi.pollers(next) === 0)
  db.close()
})
