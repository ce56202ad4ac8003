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
import { bootFixture, type Fixture } from './fixture.ts'

const START = '/v1/passepartout/login/start'
const ELSEWHERE = 'https://bots.example/hook/of-secrets'

type Office = Fixture['app']['passepartout']['bots']

/** A fixture with one tenant that has no bot yet. */
async function bootEmpty() {
  const fixture = await bootFixture()
  const { app, actor } = fixture
  const { bots } = app.passepartout
  const store = createStore(app.db)
  const tenant = await app.tenant()
  const owner = ownerOf(tenant.id)
  return {
    ...fixture,
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
    await using fixture = await bootEmpty()
    const { bots, actor, owner } = fixture
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token })
    await fixture.set({ match: 'required', transport: 'webhook' })
    await fixture.set({ transport: 'polling' })
    await fixture.enable()
    await bots.disable(actor, owner)
    await bots.remove(actor, owner)

    const rows = fixture.audited()

    const object = `passepartout:bot:${fixture.row().id}`
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
    await using fixture = await bootEmpty()
    const other = await fixture.app.tenant('Other')
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token }, ownerOf(other.id))

    expect(await refusalOf(fixture.set({ token: bot.token }))).toMatchObject({ code: 'bot_in_use' })
    expect(await refusalOf(fixture.set({ token: '' }))).toMatchObject({ kind: 'invalid' })
    expect(await refusalOf(fixture.enable())).toMatchObject({ code: 'bot_not_configured' })

    expect(fixture.audited()).toEqual([])
    expect(fixture.rows()).toMatchObject([{ tenantId: other.id }])
  })
})

describe('a token', () => {
  test('lies in the row sealed, for this bot alone', async () => {
    await using fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token })
    const other = await fixture.app.tenant('Other')
    await fixture.set({ token: fixture.botApi.bot().token }, ownerOf(other.id))

    expect(JSON.stringify(fixture.rows())).not.toContain(secretOf(bot.token))
    const moved = { ...fixture.row(ownerOf(other.id)), token: fixture.row().token }
    expect(() => fixture.bots.apiOf(moved)).toThrow()
    expect((await fixture.bots.apiOf(fixture.row()).getMe()).username).toBe(bot.username)
  })

  test('that replaces another of the same bot keeps where it has read to, and who people are', async () => {
    await using fixture = await bootFixture()
    const acme = await fixture.signingTenant()
    const ada = fixture.botApi.person()
    const { bots } = fixture.app.passepartout
    const find = () => createStore(fixture.app.db).bots.find(acme.id, 'live')
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
    const lastPoll = () => fixture.botApi.callsOf('getUpdates').at(-1)
    const isHeld = () => lastPoll()?.status === undefined
    await until(() => isHeld() && lastPoll()?.params.offset === find()?.updateOffset)
    const offset = find()?.updateOffset
    expect(offset).toBeNumber()
    const token = acme.bot.revokeToken()

    await bots.set(fixture.actor, ownerOf(acme.id), { token })

    expect(find()).toMatchObject({ updateOffset: offset, isEnabled: true, health: 'ok' })
    await fixture.botApi.waitForPoller(acme.bot)
    expect(lastPoll()).toMatchObject({ token, params: { offset } })
    expect((await signIn()).id).toBe(before.id)

    await bots.set(fixture.actor, ownerOf(acme.id), { token: fixture.botApi.bot().token })
    expect(find()?.updateOffset).toBeNull()
  })

  test('that Telegram accepts no longer ends sign-ins; a new one takes them up again', async () => {
    await using fixture = await bootFixture()
    const acme = await fixture.signingTenant()
    const token = acme.bot.revokeToken()
    await until(async () => (await acme.live.post(START)).status === 409)
    expect((await acme.live.post(START)).body.error).toMatchObject({ code: 'bot_not_configured' })
    expect(fixture.app.passepartout.bots.list(acme.id)).toMatchObject([
      { environment: 'live', status: 'invalid_token', issue: expect.any(String) },
      { environment: 'test', status: 'ok' },
    ])

    await fixture.app.passepartout.bots.set(fixture.actor, ownerOf(acme.id), { token })

    expect((await acme.live.post(START)).status).toBe(200)
    await fixture.botApi.waitForPoller(acme.bot)
  })
})

describe('sign-ins go through a bot', () => {
  test('once it is enabled, and no longer once it is disabled or removed', async () => {
    await using fixture = await bootEmpty()
    const { bots, actor, owner, tenant } = fixture
    const live = fixture.app.client((await tenant.key('passepartout', 'live')).key)
    const start = async () => {
      const { status, body } = await live.post(START)
      return status === 200 ? 200 : [status, body.error.code]
    }
    const REFUSED = [409, 'bot_not_configured']
    const bot = fixture.botApi.bot()

    expect(await start()).toEqual(REFUSED)
    await fixture.set({ token: bot.token })
    expect(await start()).toEqual(REFUSED)
    await fixture.enable()
    expect(await start()).toBe(200)
    await bots.disable(actor, owner)
    expect(await start()).toEqual(REFUSED)
    await fixture.enable()
    expect(await start()).toBe(200)
    await bots.remove(actor, owner)
    expect(await start()).toEqual(REFUSED)
    await fixture.set({ token: bot.token })
    expect(await start()).toEqual(REFUSED)
  })

  test('of their own environment alone', async () => {
    await using fixture = await bootEmpty()
    await fixture.set({ token: fixture.botApi.bot().token })
    await fixture.enable()
    const test = fixture.app.client((await fixture.tenant.key('passepartout', 'test')).key)

    expect((await test.post(START)).status).toBe(409)
    await fixture.bots.enable(fixture.actor, ownerOf(fixture.tenant.id, 'test'))
    expect((await test.post(START)).status).toBe(200)
  })

  test('which is polled from when it is enabled, until it is disabled', async () => {
    await using fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token })
    expect(fixture.botApi.callsOf('getUpdates')).toEqual([])
    await fixture.enable()
    await fixture.botApi.waitForPoller(bot)
    await fixture.bots.disable(fixture.actor, fixture.owner)
    await until(() => fixture.botApi.pollers(bot) === 0)
  })
})

describe('nothing changes', () => {
  test.each(['getMe', 'getWebhookInfo'])(
    'when Telegram is too slow to set (%s)',
    async (method) => {
      await using fixture = await bootEmpty()
      const bot = fixture.botApi.bot()
      using _fault = fixture.botApi.fail({ method, delayMs: 60_000 })

      const refusal = refusalOf(fixture.set({ token: bot.token }))
      await fixture.botApi.waitForCall(method)
      await fixture.app.clock.advance(10_000)

      expect(await refusal).toMatchObject({
        code: 'messenger_unavailable',
        message: expect.stringContaining('did not respond completely in time'),
      })
      expect(fixture.rows()).toEqual([])
      expect(fixture.audited()).toEqual([])
    },
  )

  test('when Telegram is too slow to enable', async () => {
    await using fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token })
    const before = fixture.rows()
    using fault = fixture.botApi.fail({ method: 'getWebhookInfo', delayMs: 60_000 })

    const refusal = refusalOf(fixture.enable())
    await until(() => fault.hits() > 0)
    await fixture.app.clock.advance(10_000)

    expect(await refusal).toMatchObject({ code: 'messenger_unavailable' })
    expect(fixture.rows()).toEqual(before)
  })

  test('when the webhook of another system cannot be taken away', async () => {
    await using fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    bot.ownedByWebhook(ELSEWHERE)
    await fixture.set({ token: bot.token })
    using _fault = fixture.botApi.fail({ method: 'deleteWebhook', status: 500 })

    const refusal = await refusalOf(fixture.enable({ takeOver: true }))

    expect(refusal).toMatchObject({ code: 'messenger_unavailable' })
    expect(fixture.row()).toMatchObject({ isEnabled: false })
    expect(fixture.audited().map(({ action }) => action)).toEqual(['bot.changed'])
  })

  test('when the token of a bot that is in use is refused: it goes on as it was', async () => {
    await using fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token })
    await fixture.enable()
    await fixture.botApi.waitForPoller(bot)
    const before = fixture.rows()

    expect(await refusalOf(fixture.set({ token: '1:AAFnone' }))).toMatchObject({ kind: 'invalid' })
    expect(fixture.rows()).toEqual(before)
  })
})

describe('a bot is not enabled', () => {
  test('that was removed while it was asked about', async () => {
    await using fixture = await bootEmpty()
    await fixture.set({ token: fixture.botApi.bot().token })
    const asked = fixture.botApi.callsOf('getWebhookInfo').length
    using _fault = fixture.botApi.fail({ method: 'getWebhookInfo', delayMs: 300, times: 1 })

    const refusal = refusalOf(fixture.enable())
    await until(() => fixture.botApi.callsOf('getWebhookInfo').length > asked)
    await fixture.bots.remove(fixture.actor, fixture.owner)

    expect(await refusal).toMatchObject({ code: 'bot_not_configured' })
    expect(fixture.row()).toMatchObject({ isEnabled: false, token: null })
  })
})

describe('two at once', () => {
  test('set the bot of one tenant: it is one bot, whole', async () => {
    await using fixture = await bootEmpty()
    const candidates = [fixture.botApi.bot(), fixture.botApi.bot()]

    await Promise.all(candidates.map(({ token }) => fixture.set({ token })))

    expect(fixture.rows()).toHaveLength(1)
    const { platformBotId, username } = fixture.row()
    const kept = candidates.find(({ id }) => `${id}` === platformBotId)
    expect(username).toBe(kept?.username ?? 'one of the two')
    expect((await fixture.bots.apiOf(fixture.row()).getMe()).username).toBe(username ?? '')
    expect(fixture.audited()).toHaveLength(2)
  })

  test('set one bot for two tenants: one is refused', async () => {
    await using fixture = await bootEmpty()
    const other = await fixture.app.tenant('Other')
    const { token } = fixture.botApi.bot()

    const outcomes = await Promise.allSettled([
      fixture.set({ token }),
      fixture.set({ token }, ownerOf(other.id)),
    ])

    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(fixture.rows()).toHaveLength(1)
  })

  test('change different things of a bot: both hold', async () => {
    await using fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token })

    await Promise.all([
      fixture.set({ match: 'required' }),
      fixture.set({ token: bot.token }),
      fixture.set({ transport: 'webhook' }),
      fixture.enable(),
    ])

    expect(fixture.row()).toMatchObject({
      match: 'required',
      transport: 'webhook',
      isEnabled: true,
    })
  })
})

describe('a bot that Telegram calls by a webhook', () => {
  /** One that is enabled, once Telegram knows where to call. */
  async function called() {
    const fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token, transport: 'webhook' })
    expect(bot.webhook).toBeUndefined()
    await fixture.enable()
    await until(() => bot.webhook !== undefined)
    return { ...fixture, bot }
  }

  test('is told where, with a secret, and what to bring', async () => {
    await using fixture = await called()

    expect(fixture.botApi.callsOf('setWebhook')).toMatchObject([
      {
        status: 200,
        params: {
          url: expect.stringMatching(
            new RegExp(`^http://.*/v1/passepartout/telegram/${fixture.row().id}$`),
          ),
          secret_token: expect.stringMatching(/^[\w-]{32,256}$/),
          allowed_updates: ['message', 'callback_query'],
          drop_pending_updates: false,
        },
      },
    ])
    expect(fixture.botApi.callsOf('getUpdates')).toEqual([])
    expect(JSON.stringify(fixture.rows())).not.toContain(fixture.bot.webhook?.secret)
    expect(JSON.stringify(fixture.audited())).not.toContain(fixture.bot.webhook?.secret)
  })

  test('is told another secret after a change', async () => {
    await using fixture = await called()
    const before = fixture.bot.webhook?.secret

    await fixture.set({ match: 'required' })

    await until(() => fixture.bot.webhook?.secret !== before)
  })

  test('is no longer called once it is polled', async () => {
    await using fixture = await called()

    await fixture.set({ transport: 'polling' })

    await fixture.botApi.waitForCall('deleteWebhook')
    await until(() => fixture.bot.webhook === undefined)
    await until(async () => {
      await fixture.app.clock.advance(1000)
      return fixture.botApi.pollers(fixture.bot) === 1
    })
    expect(fixture.row()).toMatchObject({ health: 'ok' })
  })

  test.each(['disable', 'remove'] as const)('nor after %s', async (verb) => {
    await using fixture = await called()

    await fixture.bots[verb](fixture.actor, fixture.owner)

    expect(fixture.bot.webhook).toBeUndefined()
  })

  test.each(['disable', 'remove'] as const)('%s succeeds while Telegram does not', async (verb) => {
    await using fixture = await called()
    using _fault = fixture.botApi.fail({ status: 500 })

    expect(await fixture.bots[verb](fixture.actor, fixture.owner)).toMatchObject({ enabled: false })
    expect(fixture.row()).toMatchObject({ isEnabled: false })
  })

  test('keeps the webhook of another system that was never taken over', async () => {
    await using fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    bot.ownedByWebhook(ELSEWHERE)
    await fixture.set({ token: bot.token, transport: 'webhook' })

    await fixture.bots.disable(fixture.actor, fixture.owner)
    await fixture.bots.remove(fixture.actor, fixture.owner)

    expect(bot.webhook?.url).toBe(ELSEWHERE)
  })
})

describe('a webhook of ours', () => {
  test('is no warning, and no reason not to enable', async () => {
    await using fixture = await bootEmpty()
    const bot = fixture.botApi.bot()
    await fixture.set({ token: bot.token, transport: 'webhook' })
    await fixture.enable()
    await until(() => bot.webhook !== undefined)

    expect((await fixture.set({ token: bot.token })).warnings).toEqual([])
    expect((await fixture.enable()).warnings).toEqual([])
    expect(fixture.botApi.callsOf('deleteWebhook')).toEqual([])
  })
})

describe('Telegram calls https on its own ports', () => {
  /** The office as it is with Telegram itself, or with a Bot API server of one's own. */
  function officeAt(fixture: Fixture, baseUrl: string, isOwnServer: boolean): Office {
    const { db, clock, audit, sealing, tenants } = fixture.app.platform
    const connect = createTelegram({ clock, apiRoot: fixture.botApi.url })
    const store = createStore(db)
    const ownership = createOwnership({ connect, baseUrl: () => baseUrl, isOwnServer })
    return createBots({ db, clock, audit, sealing, store, tenants, connect, ownership })
  }

  async function enableAt(baseUrl: string, isOwnServer: boolean) {
    await using fixture = await bootEmpty()
    const office = officeAt(fixture, baseUrl, isOwnServer)
    const { token } = fixture.botApi.bot()
    await office.set(fixture.actor, fixture.owner, { token, transport: 'webhook' })
    return await office.enable(fixture.actor, fixture.owner).then(
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
    await using fixture = await bootEmpty()
    const office = officeAt(fixture, 'http://gate.example', false)
    await office.set(fixture.actor, fixture.owner, { token: fixture.botApi.bot().token })
    await office.enable(fixture.actor, fixture.owner)

    const refusal = await refusalOf(
      office.set(fixture.actor, fixture.owner, { transport: 'webhook' }),
    )

    expect(refusal).toMatchObject({ kind: 'invalid', message: expect.stringContaining('poll') })
    expect(fixture.row()).toMatchObject({ transport: 'polling', isEnabled: true })
  })
})

describe('a running application', () => {
  /** What a command of its own process does, beside it on the same data directory. */
  async function beside(fixture: Fixture) {
    const dataDir = dirname(fixture.app.db.client.filename)
    const db = openDatabase({ dataDir, synchronous: 'full' })
    const { clock, tenants } = fixture.app.platform
    const audit = createAudit({ db, clock })
    const sealing = createSealing(await openKeyRing({ db, clock, dataDir }))
    const config = testConfig({ 'passepartout-telegram-api-root': fixture.botApi.url })
    const parts = { db, clock, audit, sealing, tenants }
    return {
      bots: createOfflineBots(parts, config, () => 'http://127.0.0.1:8080'),
      [Symbol.dispose]: () => db.close(),
    }
  }

  test('notices what another process changes, at the next call and at the next look', async () => {
    await using fixture = await bootEmpty()
    using other = await beside(fixture)
    const { actor, owner, tenant } = fixture
    const live = fixture.app.client((await tenant.key('passepartout', 'live')).key)
    const status = async () => (await live.post(START)).status
    const bot = fixture.botApi.bot()
    const look = () => fixture.app.clock.advance(1000)

    expect(await status()).toBe(409)
    await other.bots.set(actor, owner, { token: bot.token })
    await other.bots.enable(actor, owner)
    expect(await status()).toBe(200)
    await look()
    await fixture.botApi.waitForPoller(bot)

    await other.bots.set(actor, owner, { match: 'required' })
    expect((await live.post(START)).body).toHaveProperty('match_code')

    const next = fixture.botApi.bot()
    await other.bots.set(actor, owner, { token: next.token })
    expect((await live.post(START)).body.deep_link).toContain(`/${next.username}?start=`)
    await look()
    await fixture.botApi.waitForPoller(next)
    await until(() => fixture.botApi.pollers(bot) === 0)

    await other.bots.disable(actor, owner)
    expect(await status()).toBe(409)
    await look()
    await until(() => fixture.botApi.pollers(next) === 0)

    await other.bots.remove(actor, owner)
    expect(fixture.bots.list(tenant.id)).toMatchObject([{ status: 'not_configured' }])
  })

  test('and its rival: a bot set there is refused here', async () => {
    await using fixture = await bootEmpty()
    using other = await beside(fixture)
    const rival = await fixture.app.tenant('Rival')
    const { token } = fixture.botApi.bot()

    await other.bots.set(fixture.actor, ownerOf(rival.id), { token })

    expect(await refusalOf(fixture.set({ token }))).toMatchObject({ code: 'bot_in_use' })
  })
})

describe('a token that is set in the place of another', () => {
  test('of a bot that was removed is the same bot again, and what was begun goes on', async () => {
    await using fixture = await bootEmpty()
    const { token } = fixture.botApi.bot()
    await fixture.set({ token })
    const before = fixture.row()

    await fixture.bots.remove(fixture.actor, fixture.owner)
    expect(fixture.bots.list(fixture.owner.tenantId)).toMatchObject([
      { username: null, token: null },
    ])
    await fixture.set({ token })

    expect(fixture.row()).toMatchObject({ id: before.id, username: before.username })
  })

  test('of another bot that others receive is refused while one is in use', async () => {
    await using fixture = await bootEmpty()
    await fixture.set({ token: fixture.botApi.bot().token })
    await fixture.enable()
    const other = fixture.botApi.bot()
    other.ownedByWebhook('https://bots.example/hook')

    const refusal = await refusalOf(fixture.set({ token: other.token }))

    expect(refusal).toMatchObject({ code: 'bot_in_use' })
    expect(refusal.message).toContain('bots.example')
    expect(fixture.row()).toMatchObject({ isEnabled: true })
  })

  test('that cannot be one is refused before Telegram is asked', async () => {
    await using fixture = await bootEmpty()

    for (const token of ['', 'nonsense', '123456', 'abc:def', '1:a/../b'])
      expect((await refusalOf(fixture.set({ token }))).message).toStartWith(
        'token: must be the token',
      )

    expect(fixture.botApi.calls).toEqual([])
  })
})
