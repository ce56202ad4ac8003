import type { Db } from '../../db/open.ts'
import type { Alerts } from '../../platform/alerts/index.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Environment } from '../../platform/engines.ts'
import { conflict, fail, invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { createReadCache } from '../../platform/read-cache.ts'
import type { Sealing } from '../../platform/sealing/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { botSubject } from './bot-alerts.ts'
import type { Owner } from './owner.ts'
import { type Bot, presentBot } from './present-bot.ts'
import { botToken } from './sealed.ts'
import type { BotRow } from './store/bots.ts'
import type { Store } from './store/index.ts'
import type { BotApi } from './telegram/client.ts'
import type { BotIdentity, Ownership } from './telegram/ownership.ts'

const REMEMBERED_BOTS = 1000
const { purpose: PURPOSE, boundTo } = botToken

interface BotChange {
  /** The bot token as issued by BotFather; only for the live environment. */
  token?: string | undefined
  match?: BotRow['match'] | undefined
  transport?: BotRow['transport'] | undefined
}

/** A bot, with notes for the operator who set it up. */
export interface BotOutcome {
  bot: Bot
  warnings: string[]
}

export type Bots = ReturnType<typeof createBots>

/** The tenants' bots: Telegram for live, the built-in one for the sandbox. Changes are audited. */
export function createBots(parts: {
  db: Db
  clock: Clock
  audit: Audit
  alerts: Pick<Alerts, 'close'>
  sealing: Sealing
  store: Store
  tenants: Pick<Tenants, 'exists'>
  /** The Bot API client for a token. */
  connect: (token: string) => BotApi
  ownership: Ownership
  /** Called after the commit of a change. */
  onChange?: (() => void) | undefined
}) {
  const { db, clock, audit, alerts, sealing, store, tenants, connect, ownership } = parts
  const remembered = createReadCache<BotRow>(db, REMEMBERED_BOTS)

  /** The bot that sign-ins use. Throws `conflict` if none is configured and enabled. */
  function inUse({ tenantId, environment }: Owner): BotRow {
    const name = `${tenantId} ${environment}`
    const bot = remembered.get(name) ?? store.bots.find(tenantId, environment)
    if (!bot || !isSetUp(bot)) throw notConfigured(`there is no ${environment} bot yet`)
    remembered.set(name, bot)
    if (!bot.isEnabled) throw notConfigured(`the ${environment} bot is not enabled`)
    if (bot.health === 'invalid_token')
      throw notConfigured('Telegram no longer accepts the token of the bot. Set a new one')
    return bot
  }

  /** A new token takes effect at once. Users are kept; a different bot fails pending sign-ins. */
  async function set(
    actor: Actor,
    { tenantId, environment }: Owner,
    change: BotChange,
  ): Promise<BotOutcome> {
    requireTenant(tenantId)
    if (environment === 'test') requireNothingOfTelegram(change)
    const known = store.bots.find(tenantId, environment)
    if (environment === 'live' && !known?.token && change.token === undefined)
      throw invalid('is required: get it from BotFather', { field: 'token', rule: 'required' })
    if (change.transport === 'webhook' && known?.isEnabled) ownership.requireReachable()
    const { identity, warnings } = await ownership.identify(change.token, known)
    const { before, bot } = await db.commitFor(tenantId, () => {
      const before = store.bots.find(tenantId, environment) ?? fresh(tenantId, environment)
      if (identity) requireUnused(identity.platformBotId, before.id)
      const after = { ...before, ...onlyGiven(change), ...identified(before, change, identity) }
      record(actor, 'bot.changed', after, { ...change, token: undefined, is_new_token: !!identity })
      return { before, bot: save(before.id, after) }
    })
    parts.onChange?.()
    if (bot.id !== before.id) await silence(before)
    return { bot: presentBot(bot), warnings }
  }

  /** A different bot gets a new row, because its chats, messages and updates are different. */
  function identified(before: BotRow, { token }: BotChange, identity: BotIdentity | undefined) {
    if (!identity || token === undefined) return {}
    const isOther = identity.platformBotId !== before.platformBotId
    const id = isOther ? newId() : before.id
    return {
      ...identity,
      id,
      token: sealing.seal(PURPOSE, boundTo({ id }), token),
      ...(isOther && { updateOffset: null, leaseOwner: null }),
    }
  }

  function requireUnused(platformBotId: string, id: string) {
    const other = store.bots.byPlatform('telegram', platformBotId)
    if (other && other.id !== id)
      throw conflict(
        'this bot is already used by another tenant or environment of this installation. Create another one',
        { rule: 'taken', code: 'bot_in_use' },
      )
  }

  /** `takeOver` is required if another system uses the bot, which would then receive nothing. */
  async function enable(
    actor: Actor,
    { tenantId, environment }: Owner,
    { takeOver = false }: { takeOver?: boolean } = {},
  ): Promise<BotOutcome> {
    requireTenant(tenantId)
    const found = store.bots.find(tenantId, environment)
    if (environment === 'live' && !found?.token)
      throw notConfigured('there is no live bot yet. Set its token first')
    const warnings = found?.token
      ? await ownership.takeOverWebhook(found, apiOf(found), { takeOver })
      : []
    const bot = await db.commitFor(tenantId, () => {
      const before = store.bots.find(tenantId, environment) ?? fresh(tenantId, environment)
      if (!isSetUp(before)) throw notConfigured('the live bot was deleted. Set its token first')
      record(actor, 'bot.enabled', before)
      return save(before.id, { ...before, isEnabled: true })
    })
    parts.onChange?.()
    return { bot: presentBot(bot), warnings }
  }

  /** Disables sign-ins by the bot; it stops sending messages. */
  const disable = (actor: Actor, owner: Owner): Promise<Bot> =>
    retire(actor, owner, 'bot.disabled', { isEnabled: false })

  /** Deletes the token, so that the bot can be used elsewhere. */
  const remove = (actor: Actor, owner: Owner): Promise<Bot> =>
    retire(actor, owner, 'bot.removed', { token: null, isEnabled: false })

  async function retire(actor: Actor, owner: Owner, action: string, change: Partial<BotRow>) {
    requireTenant(owner.tenantId)
    const { before, bot } = await db.commitFor(owner.tenantId, () => {
      const before = existing(owner)
      record(actor, action, before)
      return { before, bot: save(before.id, { ...before, ...change }) }
    })
    parts.onChange?.()
    await silence(before)
    return presentBot(bot)
  }

  /** Removes the webhook at best effort, because calls to it are refused anyway. */
  async function silence(bot: BotRow) {
    if (bot.transport !== 'webhook' || bot.token === null) return
    try {
      const api = apiOf(bot)
      const { url } = await api.getWebhookInfo()
      const isInUseAgain = store.bots.byId(bot.id)?.isEnabled
      if (ownership.isOurs(url, bot) && !isInUseAgain) await api.deleteWebhook()
    } catch {
      // Nothing to do if the token is invalid or cannot be decrypted.
    }
  }

  function list(tenantId?: string): Bot[] {
    if (tenantId === undefined) return store.bots.all().map(presentBot)
    requireTenant(tenantId)
    return store.bots.ofTenant(tenantId).map(presentBot)
  }

  /** The Bot API client of a bot. Throws if the bot has no token. */
  const apiOf = ({ id, token }: BotRow): BotApi =>
    connect(sealing.open(PURPOSE, boundTo({ id }), token ?? fail(notFound('the bot has no token'))))

  const existing = ({ tenantId, environment }: Owner): BotRow =>
    store.bots.find(tenantId, environment) ?? fail(notFound(`there is no ${environment} bot`))

  function requireTenant(tenantId: string) {
    if (!tenants.exists(tenantId)) throw notFound('tenant not found')
  }

  function fresh(tenantId: string, environment: Environment): BotRow {
    const platform = environment === 'test' ? 'sandbox' : 'telegram'
    return store.bots.insert({ id: newId(), tenantId, environment, platform }, clock.now())
  }

  /** Increases the revision, which receivers use to detect changes. */
  function save(id: string, bot: BotRow): BotRow {
    remembered.forget()
    alerts.close(bot.tenantId, botSubject(bot))
    const revision = bot.revision + 1
    const saved = store.bots.save(id, { ...bot, revision, updatedAt: clock.now() })
    return saved ?? fail(notFound('the bot was deleted'))
  }

  const record = (
    actor: Actor,
    action: string,
    bot: BotRow,
    detail: Record<string, unknown> = {},
  ) =>
    audit.record({
      tenantId: bot.tenantId,
      actor,
      action,
      object: `passepartout:bot:${bot.id}`,
      detail: { environment: bot.environment, username: bot.username, ...detail },
    })

  return { inUse, set, enable, disable, remove, list, apiOf, forget: remembered.forget }
}

const isSetUp = ({ platform, token }: BotRow): boolean => platform === 'sandbox' || token !== null

const notConfigured = (problem: string) => conflict(problem, { code: 'bot_not_configured' })

function requireNothingOfTelegram({ token, transport }: BotChange) {
  if (token !== undefined || transport !== undefined)
    throw invalid('the test bot is built in and has no token or transport', { rule: 'not_allowed' })
}

const onlyGiven = ({ match, transport }: BotChange) => ({
  ...(match !== undefined && { match }),
  ...(transport !== undefined && { transport }),
})
