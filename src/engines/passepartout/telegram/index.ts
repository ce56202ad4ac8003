import type { Platform } from '../../../platform/platform.ts'
import type { Bots } from '../bots.ts'
import type { Conversation } from '../conversation.ts'
import type { LoginEvents } from '../metrics.ts'
import type { PromptWording } from '../prompts/wording.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import type { BotApi } from './client.ts'
import { createHealth } from './health.ts'
import { createIntroduction } from './introduction.ts'
import { createPoller } from './poller.ts'
import { createReceive } from './receive.ts'
import type { Receiver } from './receiver.ts'
import { createReceivers } from './receivers.ts'
import { createRounds } from './rounds.ts'
import { createWebhook, createWebhookMonitor } from './webhook.ts'

/** Delay between two attempts to store the state, in milliseconds. */
const RETRY_MS = 10_000

/** The deep link to a bot; Telegram sends the payload when the user presses Start. */
export const telegramLink = ({ username }: BotRow, payload: string): string =>
  `https://t.me/${username}?start=${payload}`

/** Everything that talks to Telegram: clients and receivers. */
export function createTelegramMessenger(
  platform: Platform,
  parts: {
    store: Store
    bots: Bots
    conversation: Conversation
    wording: PromptWording
    events: LoginEvents
    baseUrl: () => string
    onMove: (attemptId: string) => void
  },
) {
  const { db, clock, log, alerts, random, sealing, instances, branding, siblings } = platform
  const { store, bots, conversation, wording, events, baseUrl, onMove } = parts
  const messengerOf = (bot: BotRow) => (bot.token === null ? undefined : bots.apiOf(bot))
  const receive = createReceive({
    db,
    clock,
    log,
    store,
    conversation,
    wording,
    branding,
    events,
    messengerOf,
    onMove,
    siblings,
  })

  function receiverFor(bot: BotRow): Receiver {
    const health = createHealth({ bot, db, log, alerts, store, events, onChange: bots.forget })
    const api = openedApi(bot)
    // Repeats until the failure is stored.
    if (!api) return createRounds(clock, async () => ((await health.sealed()) ? 'end' : RETRY_MS))
    const introduction = createIntroduction({ bot, api, db, store, onChange: bots.forget })
    const common = { bot, api, clock, random, health, baseUrl, introduction }
    return bot.transport === 'webhook'
      ? createWebhookMonitor({ ...common, sealing })
      : createPoller({ ...common, self: instances.self, db, store, receive })
  }

  /** Undefined for a token sealed with another master key, so that it does not block other bots. */
  function openedApi(bot: BotRow): BotApi | undefined {
    try {
      return bots.apiOf(bot)
    } catch (error) {
      log.error('bot token cannot be decrypted', { botId: bot.id, error: String(error) })
      return undefined
    }
  }

  return {
    messengerOf,
    receivers: createReceivers({ db, clock, log, instances, store, receiverFor }),
    webhook: createWebhook({ store, sealing, receive }),
  }
}
