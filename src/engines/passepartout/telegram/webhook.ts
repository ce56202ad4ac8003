import type { Clock } from '../../../platform/clock.ts'
import { isSame } from '../../../platform/crypto.ts'
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

/** Between two looks at whether Telegram still calls here; the first ones come soon, as somebody waits. */
const LOOK_MS = 10 * 60_000
const FIRST_LOOK_MS = 30_000
const FIRST_LOOKS = 10

/**
 * What Telegram shows with each update, so that nobody else can bring any: another one with each
 * revision of the bot, and nothing that would have to be kept.
 */
export const webhookSecret = (sealing: Sealing, { id, revision }: BotRow): string =>
  sealing.fingerprint('bot webhooks', `${id} ${revision}`)

/** Has Telegram bring the messages of a bot, and looks from time to time whether it still does. */
export function createWebhookKeeper(parts: {
  bot: BotRow
  api: BotApi
  clock: Clock
  random: Random
  sealing: Sealing
  health: Health
  /** Learns what the bot is called now. */
  introduction: Introduction
  baseUrl: () => string
}): Receiver {
  const { bot, api, clock, random, sealing, health, introduction, baseUrl } = parts
  let isSet = false
  let looks = 0
  let failures = 0

  async function round(signal: AbortSignal): Promise<number | 'end'> {
    try {
      await introduction(signal)
      await ensure(signal)
      failures = 0
      health.well()
      return ++looks > FIRST_LOOKS ? LOOK_MS : FIRST_LOOK_MS
    } catch (error) {
      failures += 1
      if (signal.aborted || (await health.ill(error, failures)) === 'end') return 'end'
      return backoffMs(failures, error, random)
    }
  }

  /** The secret is not told: what was set before us is set anew. */
  async function ensure(signal: AbortSignal) {
    const url = webhookUrl(baseUrl(), bot.id)
    const info = await api.getWebhookInfo(signal)
    if (info.url === url && isSet) return requireCalls(info)
    if (info.url !== '' && !isOurWebhook(info.url, bot.id, baseUrl()))
      throw new MessengerError('conflict', 'its messages go to a webhook elsewhere')
    await api.setWebhook({ url, secret: webhookSecret(sealing, bot) }, signal)
    isSet = true
  }

  return createRounds(clock, round)
}

/** What waits, and could not be brought, nobody here would ever hear of. */
function requireCalls({ pending, lastError }: WebhookInfo) {
  if (pending > 0 && lastError !== null)
    throw new MessengerError('unavailable', `Telegram cannot call here: ${lastError}`)
}

export type Webhook = ReturnType<typeof createWebhook>

/** The door at which Telegram knocks. */
export function createWebhook(parts: { store: Store; sealing: Sealing; receive: Receive }) {
  const { store, sealing, receive } = parts

  /** The bot that is knocked for. Throws `unauthenticated`, without telling whether there is one. */
  function admit(botId: string, secret: string | null): BotRow {
    const bot = store.bots.byId(botId)
    const isMeant = bot?.isEnabled && bot.token !== null && bot.transport === 'webhook'
    if (!isMeant || secret === null) throw NOBODY
    return isSame(secret, webhookSecret(sealing, bot)) ? bot : fail(NOBODY)
  }

  /** Resolves once it is on disk: until then, Telegram brings it again. */
  async function take(bot: BotRow, body: unknown): Promise<void> {
    const update = readUpdate(body)
    if (update) await receive(bot, update)
  }

  return { admit, take }
}

const NOBODY = unauthenticated('unknown webhook, or wrong secret')
