import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Environment } from '../../platform/engines.ts'
import { conflict, fail, invalid, notFound } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { createReadCache } from '../../platform/read-cache.ts'
import type { Sealing } from '../../platform/sealing/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
import type { Owner } from './owner.ts'
import { type Bot, presentBot } from './present-bot.ts'
import { botToken } from './sealed.ts'
import type { BotRow } from './store/bots.ts'
import type { Store } from './store/index.ts'
import type { BotApi } from './telegram/client.ts'
import type { BotIdentity, Ownership } from './telegram/ownership.ts'

const REMEMBERED_BOTS = 1000
const { purpose: PURPOSE, place: placeOf } = botToken

interface BotChange {
  /** As BotFather gave it; only for the live environment. */
  token?: string | undefined
  match?: BotRow['match'] | undefined
  transport?: BotRow['transport'] | undefined
}

/** A bot, and what whoever set it should know. */
export interface BotOutcome {
  bot: Bot
  warnings: string[]
}

export type Bots = ReturnType<typeof createBots>

/**
 * The bots of tenants: one in each environment. The live one speaks through Telegram; that of the
 * sandbox is built in. Each change leaves an audit row.
 */
export function createBots(parts: {
  db: Db
  clock: Clock
  audit: Audit
  sealing: Sealing
  store: Store
  tenants: Pick<Tenants, 'exists'>
  /** The Bot API, as the bot of a token. */
  connect: (token: string) => BotApi
  ownership: Ownership
  /** After the commit of a change. */
  onChange?: (() => void) | undefined
}) {
  const { db, clock, audit, sealing, store, tenants, connect, ownership } = parts
  const remembered = createReadCache<BotRow>(db, REMEMBERED_BOTS)

  /** The bot that sign-ins go through. Throws `conflict` where there is none to go through. */
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

  /**
   * Makes the bot, or changes it. A new token takes effect at once, and people stay who they are:
   * with another bot of Telegram, what the one before had begun comes to nothing.
   */
  async function set(
    actor: Actor,
    { tenantId, environment }: Owner,
    change: BotChange,
  ): Promise<BotOutcome> {
    requireTenant(tenantId)
    if (environment === 'test') requireNothingOfTelegram(change)
    const known = store.bots.find(tenantId, environment)
    if (environment === 'live' && !known?.token && change.token === undefined)
      throw invalid('is required, as BotFather shows it', { field: 'token', rule: 'required' })
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

  /** Another bot has a row of its own: its chats, messages and updates are others. */
  function identified(before: BotRow, { token }: BotChange, identity: BotIdentity | undefined) {
    if (!identity || token === undefined) return {}
    const isOther = identity.platformBotId !== before.platformBotId
    const id = isOther ? newId() : before.id
    return {
      ...identity,
      id,
      token: sealing.seal(PURPOSE, placeOf({ id }), token),
      ...(isOther && { updateOffset: null, leaseOwner: null }),
    }
  }

  function requireUnused(platformBotId: string, id: string) {
    const other = store.bots.byPlatform('telegram', platformBotId)
    if (other && other.id !== id)
      throw conflict('this bot is used elsewhere on this server. Create another one', {
        rule: 'taken',
        code: 'bot_in_use',
      })
  }

  /**
   * From now on sign-ins go through it. What another system receives is only taken over if
   * `takeOver` says so: that system would hear nothing any more.
   */
  async function enable(
    actor: Actor,
    { tenantId, environment }: Owner,
    { takeOver = false }: { takeOver?: boolean } = {},
  ): Promise<BotOutcome> {
    requireTenant(tenantId)
    const found = store.bots.find(tenantId, environment)
    if (environment === 'live' && !found?.token)
      throw notConfigured('there is no live bot yet. Set its token first')
    const warnings = found?.token ? await ownership.clearWay(found, apiOf(found), { takeOver }) : []
    const bot = await db.commitFor(tenantId, () => {
      const before = store.bots.find(tenantId, environment) ?? fresh(tenantId, environment)
      if (!isSetUp(before)) throw notConfigured('the live bot was deleted. Set its token first')
      record(actor, 'bot.enabled', before)
      return save(before.id, { ...before, isEnabled: true })
    })
    parts.onChange?.()
    return { bot: presentBot(bot), warnings }
  }

  /** From now on there are no sign-ins through it, and it falls silent. */
  const disable = (actor: Actor, owner: Owner): Promise<Bot> =>
    retire(actor, owner, 'bot.disabled', { isEnabled: false })

  /** Forgets the token, so that the bot can be used elsewhere. */
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

  /** Telegram would go on knocking. It is a courtesy: whatever comes is refused anyway. */
  async function silence(bot: BotRow) {
    if (bot.transport !== 'webhook' || bot.token === null) return
    try {
      const api = apiOf(bot)
      const { url } = await api.getWebhookInfo()
      const isInUseAgain = store.bots.byId(bot.id)?.isEnabled
      if (ownership.isOurs(url, bot) && !isInUseAgain) await api.deleteWebhook()
    } catch {
      // Nor is it of any use where the token is none, or cannot be opened.
    }
  }

  function list(tenantId?: string): Bot[] {
    if (tenantId === undefined) return store.bots.all().map(presentBot)
    requireTenant(tenantId)
    return store.bots.ofTenant(tenantId).map(presentBot)
  }

  /** Speaks as the bot. Throws where it has no token. */
  const apiOf = ({ id, token }: BotRow): BotApi =>
    connect(sealing.open(PURPOSE, placeOf({ id }), token ?? fail(notFound('the bot has no token'))))

  const existing = ({ tenantId, environment }: Owner): BotRow =>
    store.bots.find(tenantId, environment) ?? fail(notFound(`there is no ${environment} bot`))

  function requireTenant(tenantId: string) {
    if (!tenants.exists(tenantId)) throw notFound('tenant not found')
  }

  function fresh(tenantId: string, environment: Environment): BotRow {
    const platform = environment === 'test' ? 'sandbox' : 'telegram'
    return store.bots.insert({ id: newId(), tenantId, environment, platform }, clock.now())
  }

  /** Whoever receives its messages goes by the revision. */
  function save(id: string, bot: BotRow): BotRow {
    remembered.forget()
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
    throw invalid('the bot of the test environment is built in, without token and transport', {
      rule: 'not_allowed',
    })
}

const onlyGiven = ({ match, transport }: BotChange) => ({
  ...(match !== undefined && { match }),
  ...(transport !== undefined && { transport }),
})
