import type { Clock } from '../../../platform/clock.ts'
import { isSame } from '../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import { fail, unauthenticated } from '../../../platform/errors.ts'
import type { Random } from '../../../platform/random.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import { MessengerError } from '../messenger.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import { backoffMs } from './backoff.ts'
import type { BotApi, WebhookInfo } from './client.ts'
import type { Health } from './health.ts'
import type { Introduction } from './introduction.ts'
import type { Receive } from './receive.ts'
import type { Receiver } from './receiver.ts'
import { createRounds } from './rounds.ts'
import { readUpdate } from './updates.ts'
import { isOurWebhook, webhookUrl } from './webhook-url.ts'

/** Time between webhook checks; shorter at first, because a user may be waiting. */
const CHECK_INTERVAL_MS = 10 * MINUTE_MS
const FIRST_CHECK_INTERVAL_MS = 30_000
const FIRST_CHECKS = 10

/** Sent by Telegram with each update. Derived from the revision, so nothing is stored. */
export const webhookSecret = (sealing: Sealing, { id, revision }: BotRow): string =>
  sealing.fingerprint('bot webhooks', `${id} ${revision}`)

/** Registers the webhook of a bot, and checks periodically that it is still set. */
export function createWebhookMonitor(parts: {
  bot: BotRow
  api: BotApi
  clock: Clock
  random: Random
  sealing: Sealing
  health: Health
  /** Refreshes the bot's name. */
  introduction: Introduction
  baseUrl: () => string
}): Receiver {
  const { bot, api, clock, random, sealing, health, introduction, baseUrl } = parts
  let isSet = false
  let checks = 0
  let failures = 0

  async function round(signal: AbortSignal): Promise<number | 'end'> {
    try {
      await introduction(signal)
      await ensure(signal)
      failures = 0
      health.well()
      return ++checks > FIRST_CHECKS ? CHECK_INTERVAL_MS : FIRST_CHECK_INTERVAL_MS
    } catch (error) {
      failures += 1
      if (signal.aborted || (await health.ill(error, failures)) === 'end') return 'end'
      return backoffMs(failures, error, random)
    }
  }

  /** Telegram does not reveal the secret, so a webhook set by another program is set again. */
  async function ensure(signal: AbortSignal) {
    const url = webhookUrl(baseUrl(), bot.id)
    const info = await api.getWebhookInfo(signal)
    if (info.url === url && isSet) return requireCalls(info)
    if (info.url !== '' && !isOurWebhook(info.url, bot.id, baseUrl()))
      throw new MessengerError('conflict', 'another system receives its messages by webhook')
    await api.setWebhook({ url, secret: webhookSecret(sealing, bot) }, signal)
    isSet = true
  }

  return createRounds(clock, round)
}

/** Throws if updates are pending and could not be delivered. */
function requireCalls({ pending, lastError }: WebhookInfo) {
  if (pending > 0 && lastError !== null)
    throw new MessengerError('unavailable', `Telegram cannot reach the webhook: ${lastError}`)
}

export type Webhook = ReturnType<typeof createWebhook>

/** The endpoint that Telegram calls. */
export function createWebhook(parts: { store: Store; sealing: Sealing; receive: Receive }) {
  const { store, sealing, receive } = parts

  /**
   * The bot that an update is for. Throws `unauthenticated`, without revealing whether the bot
   * exists.
   */
  function admit(botId: string, secret: string | null): BotRow {
    const bot = store.bots.byId(botId)
    const isMeant = bot?.isEnabled && bot.token !== null && bot.transport === 'webhook'
    if (!isMeant || secret === null) throw NOBODY
    return isSame(secret, webhookSecret(sealing, bot)) ? bot : fail(NOBODY)
  }

  /** Resolves once the update is committed; until then, Telegram delivers it again. */
  async function take(bot: BotRow, body: unknown): Promise<void> {
    const update = readUpdate(body)
    if (update) await receive(bot, update)
  }

  return { admit, take }
}

const NOBODY = unauthenticated('unknown webhook, or wrong secret')
