import { describe, expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { asc, eq } from 'drizzle-orm'
import { openDatabase } from '../../../src/db/open.ts'
import { createBots } from '../../../src/engines/passepartout/bots.ts'
import { createOfflineBots } from '../../../src/engines/passepartout/index.ts'
import type { BotRow } from '../../../src/engines/passepartout/store/bots.ts'
import { createStore } from '../../../src/engines/passepartout/store/index.ts'
import { createTelegram } from '../../../src/engines/passepartout/telegram/client.ts'
import { createOwnership } from '../../../src/engines/passepartout/telegram/ownership.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { AppError } from '../../../src/platform/errors.ts'
import { auditLog } from '../../../src/platform/schema.ts'
import { createSealing } from '../../../src/platform/sealing/index.ts'
import { openKeyRing } from '../../../src/platform/sealing/open-key-ring.ts'
import { until } from '../../support/binary.ts'
import { testConfig } from '../../support/config.ts'
import { bootWorld, type World } from './fixture.ts'

const START = '/v1/passepartout/login/start'
const ELSEWHERE = 'https://bots.example/hook/of-secrets'

type Office = World['app']['passepartout']['bots']

/** A world with one tenant that has no bot yet. */
async function bootEmpty() {
  const world = await bootWorld()
  const { app, actor } = world
  const { bots } = app.passepartout
  const store = createStore(app.db)
  const tenant = await app.tenant()
  const owner = ownerOf(tenant.id)
  return {
    ...world,
    bots,
    tenant,
    owner,
    row: (of = owner): BotRow => {
      const row = store.bots.find(of.tenantId, of.environment)
      if (!row) throw new Error(`there is no ${of.environment} bot`)
      return row
    },
    rows: () => store.bots.all(),
    set: (change: Parameters<Office['set']>[2], of = owner) => bots.set(actor, of, change),
    enable: (options?: Parameters<Office['enable']>[2]) => bots.enable(actor, owner, options),
    audited: () =>
      app.db.orm
        .select()
        .from(auditLog)
        .where(eq(auditLog.tenantId, tenant.id))
        .orderBy(asc(auditLog.seq))
        .all()
        .filter(({ action }) => action.startsWith('bot.')),
  }
}

const ownerOf = (tenantId: string, environment: 'live' | 'test' = 'live') => ({
  tenantId,
  environment,
})

const secretOf = (token: string) => token.slice(token.indexOf(':') + 1)

async function refusalOf(work: Promise<unknown>): Promise<AppError> {
  const error = await work.then(
    () => expect.unreachable('was not refused'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof AppError)) throw error
  return error
}

describe('audit', () => {
  test('each change says who did what to which bot, and holds no secret', async () => {
    await using world = await bootEmpty()
    const { bots, actor, owner } = world
    const bot = world.botApi.bot()
    await world.set({ token: bot.token })
    await world.set({ match: 'required', transport: 'webhook' })
    await world.set({ transport: 'polling' })
    await world.enable()
    await bots.disable(actor, owner)
    await bots.remove(actor, owner)

    const rows = world.audited()

    const object = `passepartout:bot:${world.row().id}`
    for (const row of rows) expect(row).toMatchObject({ object, actorKind: 'cli', source: 'test' })
    const known = { environment: 'live', username: bot.username }
    expect(rows.map(({ action, detail }) => [action, JSON.parse(detail)])).toEqual([
      ['bot.changed', { ...known, is_new_token: true }],
      ['bot.changed', { ...known, match: 'required', transport: 'webhook', is_new_token: false }],
      ['bot.changed', { ...known, transport: 'polling', is_new_token: false }],
      ['bot.enabled', known],
      ['bot.disabled', known],
      ['bot.removed', known],
    ])
    expect(JSON.stringify(rows)).not.toContain(secretOf(bot.token))
  })

  test('a refusal leaves no row, neither of the log nor of the bot', async () => {
    await using world = await bootEmpty()
    const other = await world.app.tenant('Other')
    const bot = world.botApi.bot()
    await world.set({ token: bot.token }, ownerOf(other.id))

    expect(await refusalOf(world.set({ token: bot.token }))).toMatchObject({ code: 'bot_in_use' })
    expect(await refusalOf(world.set({ token: '' }))).toMatchObject({ kind: 'invalid' })
    expect(await refusalOf(world.enable())).toMatchObject({ code: 'bot_not_configured' })

    expect(world.audited()).toEqual([])
    expect(world.rows()).toMatchObject([{ tenantId: other.id }])
  })
})

describe('a token', () => {
  test('lies in the row sealed, for this bot alone', async () => {
    await using world = await bootEmpty()
    const bot = world.botApi.bot()
    await world.set({ token: bot.token })
    const other = await world.app.tenant('Other')
    await world.set({ token: world.botApi.bot().token }, ownerOf(other.id))

    expect(JSON.stringify(world.rows())).not.toContain(secretOf(bot.token))
    const moved = { ...world.row(ownerOf(other.id)), token: world.row().token }
    expect(() => world.bots.apiOf(moved)).toThrow()
    expect((await world.bots.apiOf(world.row()).getMe()).username).toBe(bot.username)
  })

  test('that replaces another of the same bot keeps where it has read to, and who people are', async () => {
    await using world = await bootWorld()
    const acme = await world.signingTenant()
    const ada = world.botApi.person()
    const { bots } = world.app.passepartout
    const find = () => createStore(world.app.db).bots.find(acme.id, 'live')
    const signIn = async () => {
      const { body } = await acme.live.post(START)
      ada.follow(body.deep_link)
      const question = await ada.waitForMessage(
        acme.bot,
        ({ buttons, data }) => buttons.length > 0 && !known.has(data.join()),
      )
      known.add(question.data.join())
      ada.tap(question, 'Approve')
      const statusPath = `/v1/passepartout/login/status?nonce=${body.nonce}`
      await until(async () => (await acme.live.get(statusPath)).body.status === 'completed')
      return (await acme.live.get(statusPath)).body.user
    }
    const known = new Set<string>()
    const before = await signIn()
    const lastPoll = () => world.botApi.callsOf('getUpdates').at(-1)
    const isHeld = () => lastPoll()?.status === undefined
    await until(() => isHeld() && lastPoll()?.params.offset === find()?.updateOffset)
    const offset = find()?.updateOffset
    expect(offset).toBeNumber()
    const token = acme.bot.revokeToken()

    await bots.set(world.actor, ownerOf(acme.id), { token })

    expect(find()).toMatchObject({ updateOffset: offset, isEnabled: true, health: 'ok' })
    await world.botApi.waitForPoller(acme.bot)
    expect(lastPoll()).toMatchObject({ token, params: { offset } })
    expect((await signIn()).id).toBe(before.id)

    await bots.set(world.actor, ownerOf(acme.id), { token: world.botApi.bot().token })
    expect(find()?.updateOffset).toBeNull()
  })

  test('that Telegram accepts no longer ends sign-ins; a new one takes them up again', async () => {
    await using world = await bootWorld()
    const acme = await world.signingTenant()
    const token = acme.bot.revokeToken()
    await until(async () => (await acme.live.post(START)).status === 409)
    expect((await acme.live.post(START)).body.error).toMatchObject({ code: 'bot_not_configured' })
    expect(world.app.passepartout.bots.list(acme.id)).toMatchObject([
      { environment: 'live', status: 'invalid_token', issue: expect.any(String) },
      { environment: 'test', status: 'ok' },
    ])

    await world.app.passepartout.bots.set(world.actor, ownerOf(acme.id), { token })

    expect((await acme.live.post(START)).status).toBe(200)
    await world.botApi.waitForPoller(acme.bot)
  })
})

describe('sign-ins go through a bot', () => {
  test('once it is enabled, and no longer once it is disabled or removed', async () => {
    await using world = await bootEmpty()
    const { bots, actor, owner, tenant } = world
    const live = world.app.client((await tenant.key('passepartout', 'live')).key)
    const start = async () => {
      const { status, body } = await live.post(START)
      return status === 200 ? 200 : [status, body.error.code]
    }
    const REFUSED = [409, 'bot_not_configured']
    const bot = world.botApi.bot()

    expect(await start()).toEqual(REFUSED)
    await world.set({ token: bot.token })
    expect(await start()).toEqual(REFUSED)
    await world.enable()
    expect(await start()).toBe(200)
    await bots.disable(actor, owner)
    expect(await start()).toEqual(REFUSED)
    await world.enable()
    expect(await start()).toBe(200)
    await bots.remove(actor, owner)
    expect(await start()).toEqual(REFUSED)
    await world.set({ token: bot.token })
    expect(await start()).toEqual(REFUSED)
  })

  test('of their own environment alone', async () => {
    await using world = await bootEmpty()
    await world.set({ token: world.botApi.bot().token })
    await world.enable()
    const test = world.app.client((await world.tenant.key('passepartout', 'test')).key)

    expect((await test.post(START)).status).toBe(409)
    await world.bots.enable(world.actor, ownerOf(world.tenant.id, 'test'))
    expect((await test.post(START)).status).toBe(200)
  })

  test('which is polled from when it is enabled, until it is disabled', async () => {
    await using world = await bootEmpty()
    const bot = world.botApi.bot()
    await world.set({ token: bot.token })
    expect(world.botApi.callsOf('getUpdates')).toEqual([])
    await world.enable()
    await world.botApi.waitForPoller(bot)
    await world.bots.disable(world.actor, world.owner)
    await until(() => world.botApi.pollers(bot) === 0)
  })
})

describe('nothing changes', () => {
  test.each(['getMe', 'getWebhookInfo'])(
    'when Telegram is too slow to set (%s)',
    async (method) => {
      await using world = await bootEmpty()
      const bot = world.botApi.bot()
      using _fault = world.botApi.fail({ method, delayMs: 60_000 })

      const refusal = refusalOf(world.set({ token: bot.token }))
      await world.botApi.waitForCall(method)
      await world.app.clock.advance(10_000)

      expect(await refusal).toMatchObject({
        code: 'messenger_unavailable',
        message: expect.stringContaining('gave no complete answer in time'),
      })
      expect(world.rows()).toEqual([])
      expect(world.audited()).toEqual([])
    },
  )

  test('when Telegram is too slow to enable', async () => {
    await using world = await bootEmpty()
    const bot = world.botApi.bot()
    await world.set({ token: bot.token })
    const before = world.rows()
    using fault = world.botApi.fail({ method: 'getWebhookInfo', delayMs: 60_000 })

    const refusal = refusalOf(world.enable())
    await until(() => fault.hits() > 0)
    await world.app.clock.advance(10_000)

    expect(await refusal).toMatchObject({ code: 'messenger_unavailable' })
    expect(world.rows()).toEqual(before)
  })

  test('when the webhook of another system cannot be taken away', async () => {
    await using world = await bootEmpty()
    const bot = world.botApi.bot()
    bot.ownedByWebhook(ELSEWHERE)
    await world.set({ token: bot.token })
    using _fault = world.botApi.fail({ method: 'deleteWebhook', status: 500 })

    const refusal = await refusalOf(world.enable({ takeOver: true }))

    expect(refusal).toMatchObject({ code: 'messenger_unavailable' })
    expect(world.row()).toMatchObject({ isEnabled: false })
    expect(world.audited().map(({ action }) => action)).toEqual(['bot.changed'])
  })

  test('when the token of a bot that is in use is refused: it goes on as it was', async () => {
    await using world = await bootEmpty()
    const bot = world.botApi.bot()
    await world.set({ token: bot.token })
    await world.enable()
    await world.botApi.waitForPoller(bot)
    const before = world.rows()

    expect(await refusalOf(world.set({ token: '1:AAFnone' }))).toMatchObject({ kind: 'invalid' })
    expect(world.rows()).toEqual(before)
  })
})

describe('a bot is not enabled', () => {
  test('that was removed while it was asked about', async () => {
    await using world = await bootEmpty()
    await world.set({ token: world.botApi.bot().token })
    const asked = world.botApi.callsOf('getWebhookInfo').length
    using _fault = world.botApi.fail({ method: 'getWebhookInfo', delayMs: 300, times: 1 })

    const refusal = refusalOf(world.enable())
    await until(() => world.botApi.callsOf('getWebhookInfo').length > asked)
    await world.bots.remove(world.actor, world.owner)

    expect(await refusal).toMatchObject({ code: 'bot_not_configured' })
    expect(world.row()).toMatchObject({ isEnabled: false, token: null })
  })
})

describe('two at once', () => {
  test('set the bot of one tenant: it is one bot, whole', async () => {
    await using world = await bootEmpty()
    const candidates = [world.botApi.bot(), world.botApi.bot()]

    await Promise.all(candidates.map(({ token }) => world.set({ token })))

    expect(world.rows()).toHaveLength(1)
    const { platformBotId, username } = world.row()
    const kept = candidates.find(({ id }) => `${id}` === platformBotId)
    expect(username).toBe(kept?.username ?? 'one of the two')
    expect((await world.bots.apiOf(world.row()).getMe()).username).toBe(username ?? '')
    expect(world.audited()).toHaveLength(2)
  })

  test('set one bot for two tenants: one is refused', async () => {
    await using world = await bootEmpty()
    const other = await world.app.tenant('Other')
    const { token } = world.botApi.bot()

    const outcomes = await Promise.allSettled([
      world.set({ token }),
      world.set({ token }, ownerOf(other.id)),
    ])

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(world.rows()).toHaveLength(1)
  })

  test('change different things of a bot: both hold', async () => {
    await using world = await bootEmpty()
    const bot = world.botApi.bot()
    await world.set({ token: bot.token })

    await Promise.all([
      world.set({ match: 'required' }),
      world.set({ token: bot.token }),
      world.set({ transport: 'webhook' }),
      world.enable(),
    ])

    expect(world.row()).toMatchObject({ match: 'required', transport: 'webhook', isEnabled: true })
  })
})

describe('a bot that Telegram calls by a webhook', () => {
  /** One that is enabled, once Telegram knows where to call. */
  async function called() {
    const world = await bootEmpty()
    const bot = world.botApi.bot()
    await world.set({ token: bot.token, transport: 'webhook' })
    expect(bot.webhook).toBeUndefined()
    await world.enable()
    await until(() => bot.webhook !== undefined)
    return { ...world, bot }
  }

  test('is told where, with a secret, and what to bring', async () => {
    await using world = await called()

    expect(world.botApi.callsOf('setWebhook')).toMatchObject([
      {
        status: 200,
        params: {
          url: expect.stringMatching(
            new RegExp(`^http://.*/v1/passepartout/telegram/${world.row().id}$`),
          ),
          secret_token: expect.stringMatching(/^[\w-]{32,256}$/),
          allowed_updates: ['message', 'callback_query'],
          drop_pending_updates: false,
        },
      },
    ])
    expect(world.botApi.callsOf('getUpdates')).toEqual([])
    expect(JSON.stringify(world.rows())).not.toContain(world.bot.webhook?.secret)
    expect(JSON.stringify(world.audited())).not.toContain(world.bot.webhook?.secret)
  })

  test('is told another secret after a change', async () => {
    await using world = await called()
    const before = world.bot.webhook?.secret

    await world.set({ match: 'required' })

    await until(() => world.bot.webhook?.secret !== before)
  })

  test('is no longer called once it is polled', async () => {
    await using world = await called()

    await world.set({ transport: 'polling' })

    await world.botApi.waitForCall('deleteWebhook')
    await until(() => world.bot.webhook === undefined)
    await until(async () => {
      await world.app.clock.advance(1000)
      return world.botApi.pollers(world.bot) === 1
    })
    expect(world.row()).toMatchObject({ health: 'ok' })
  })

  test.each(['disable', 'remove'] as const)('nor after %s', async (verb) => {
    await using world = await called()

    await world.bots[verb](world.actor, world.owner)

    expect(world.bot.webhook).toBeUndefined()
  })

  test.each(['disable', 'remove'] as const)('%s succeeds while Telegram does not', async (verb) => {
    await using world = await called()
    using _fault = world.botApi.fail({ status: 500 })

    expect(await world.bots[verb](world.actor, world.owner)).toMatchObject({ enabled: false })
    expect(world.row()).toMatchObject({ isEnabled: false })
  })

  test('keeps the webhook of another system that was never taken over', async () => {
    await using world = await bootEmpty()
    const bot = world.botApi.bot()
    bot.ownedByWebhook(ELSEWHERE)
    await world.set({ token: bot.token, transport: 'webhook' })

    await world.bots.disable(world.actor, world.owner)
    await world.bots.remove(world.actor, world.owner)

    expect(bot.webhook?.url).toBe(ELSEWHERE)
  })
})

describe('a webhook of ours', () => {
  test('is no warning, and no reason not to enable', async () => {
    await using world = await bootEmpty()
    const bot = world.botApi.bot()
    await world.set({ token: bot.token, transport: 'webhook' })
    await world.enable()
    await until(() => bot.webhook !== undefined)

    expect((await world.set({ token: bot.token })).warnings).toEqual([])
    expect((await world.enable()).warnings).toEqual([])
    expect(world.botApi.callsOf('deleteWebhook')).toEqual([])
  })
})

describe('Telegram calls https on its own ports', () => {
  /** The office as it is with Telegram itself, or with a Bot API server of one's own. */
  function officeAt(world: World, baseUrl: string, isOwnServer: boolean): Office {
    const { db, clock, audit, sealing, tenants } = world.app.platform
    const connect = createTelegram({ clock, apiRoot: world.botApi.url })
    const store = createStore(db)
    const ownership = createOwnership({ connect, baseUrl: () => baseUrl, isOwnServer })
    return createBots({ db, clock, audit, sealing, store, tenants, connect, ownership })
  }

  async function enableAt(baseUrl: string, isOwnServer: boolean) {
    await using world = await bootEmpty()
    const office = officeAt(world, baseUrl, isOwnServer)
    const { token } = world.botApi.bot()
    await office.set(world.actor, world.owner, { token, transport: 'webhook' })
    return await office.enable(world.actor, world.owner).then(
      ({ bot }) => bot.enabled,
      ({ kind, message }: AppError) => `${kind} ${message}`,
    )
  }

  const good = ['', ':443', ':80', ':88', ':8443'].map((port) => `https://gate.example${port}`)
  test.each([...good, 'https://gate.example/below'])('%s is one that it calls', async (baseUrl) => {
    expect(await enableAt(baseUrl, false)).toBe(true)
  })

  const bad = ['http://gate.example', 'http://gate.example:443', 'https://gate.example:444']
  test.each(bad)('%s is none, and the bot stays as it is', async (baseUrl) => {
    expect(await enableAt(baseUrl, false)).toMatch(/^invalid transport: must be polling: /)
  })

  test.each(bad)('a Bot API server of one’s own calls %s', async (baseUrl) => {
    expect(await enableAt(baseUrl, true)).toBe(true)
  })

  test('a bot that is in use is not changed to one that it cannot call', async () => {
    await using world = await bootEmpty()
    const office = officeAt(world, 'http://gate.example', false)
    await office.set(world.actor, world.owner, { token: world.botApi.bot().token })
    await office.enable(world.actor, world.owner)

    const refusal = await refusalOf(office.set(world.actor, world.owner, { transport: 'webhook' }))

    expect(refusal).toMatchObject({ kind: 'invalid', message: expect.stringContaining('poll') })
    expect(world.row()).toMatchObject({ transport: 'polling', isEnabled: true })
  })
})

describe('a running application', () => {
  /** What a command of its own process does, beside it on the same data directory. */
  async function beside(world: World) {
    const dataDir = dirname(world.app.db.client.filename)
    const db = openDatabase({ dataDir, synchronous: 'full' })
    const { clock, tenants } = world.app.platform
    const audit = createAudit({ db, clock })
    const sealing = createSealing(await openKeyRing({ db, clock, dataDir }))
    const config = testConfig({ 'passepartout-telegram-api-root': world.botApi.url })
    const parts = { db, clock, audit, sealing, tenants }
    return {
      bots: createOfflineBots(parts, config, () => 'http://127.0.0.1:8080'),
      [Symbol.dispose]: () => db.close(),
    }
  }

  test('notices what another process changes, at the next call and at the next look', async () => {
    await using world = await bootEmpty()
    using other = await beside(world)
    const { actor, owner, tenant } = world
    const live = world.app.client((await tenant.key('passepartout', 'live')).key)
    const status = async () => (await live.post(START)).status
    const bot = world.botApi.bot()
    const look = () => world.app.clock.advance(1000)

    expect(await status()).toBe(409)
    await other.bots.set(actor, owner, { token: bot.token })
    await other.bots.enable(actor, owner)
    expect(await status()).toBe(200)
    await look()
    await world.botApi.waitForPoller(bot)

    await other.bots.set(actor, owner, { match: 'required' })
    expect((await live.post(START)).body).toHaveProperty('match_code')

    const next = world.botApi.bot()
    await other.bots.set(actor, owner, { token: next.token })
    expect((await live.post(START)).body.deep_link).toContain(`/${next.username}?start=`)
    await look()
    await world.botApi.waitForPoller(next)
    await until(() => world.botApi.pollers(bot) === 0)

    await other.bots.disable(actor, owner)
    expect(await status()).toBe(409)
    await look()
    await until(() => world.botApi.pollers(next) === 0)

    await other.bots.remove(actor, owner)
    expect(world.bots.list(tenant.id)).toMatchObject([{ status: 'not_configured' }])
  })

  test('and its rival: a bot set there is refused here', async () => {
    await using world = await bootEmpty()
    using other = await beside(world)
    const rival = await world.app.tenant('Rival')
    const { token } = world.botApi.bot()

    await other.bots.set(world.actor, ownerOf(rival.id), { token })

    expect(await refusalOf(world.set({ token }))).toMatchObject({ code: 'bot_in_use' })
  })
})

describe('a token that is set in the place of another', () => {
  test('of a bot that was removed is the same bot again, and what was begun goes on', async () => {
    await using world = await bootEmpty()
    const { token } = world.botApi.bot()
    await world.set({ token })
    const before = world.row()

    await world.bots.remove(world.actor, world.owner)
    expect(world.bots.list(world.owner.tenantId)).toMatchObject([{ username: null, token: null }])
    await world.set({ token })

    expect(world.row()).toMatchObject({ id: before.id, username: before.username })
  })

  test('of another bot that others receive is refused while one is in use', async () => {
    await using world = await bootEmpty()
    await world.set({ token: world.botApi.bot().token })
    await world.enable()
    const other = world.botApi.bot()
    other.ownedByWebhook('https://bots.example/hook')

    const refusal = await refusalOf(world.set({ token: other.token }))

    expect(refusal).toMatchObject({ code: 'bot_in_use' })
    expect(refusal.message).toContain('bots.example')
    expect(world.row()).toMatchObject({ isEnabled: true })
  })

  test('that cannot be one is refused before Telegram is asked', async () => {
    await using world = await bootEmpty()

    for (const token of ['', 'nonsense', '123456', 'abc:def', '1:a/../b'])
      expect((await refusalOf(world.set({ token }))).message).toStartWith('token: must be what')

    expect(world.botApi.calls).toEqual([])
  })
})
