import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import type { Access } from '../../http/access.ts'
import { createBuckets } from '../../platform/buckets.ts'
import { createDueLoop } from '../../platform/due/loop.ts'
import type { Platform } from '../../platform/platform.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { createBots } from './bots.ts'
import { createConversation } from './conversation.ts'
import { createLoginStart } from './login-start.ts'
import { createLoginStatus } from './login-status.ts'
import { createLoginMetrics } from './metrics.ts'
import { createPeople } from './people.ts'
import { type Bot, presentBot } from './present-bot.ts'
import { createPromptQueue } from './prompts/queue.ts'
import { createPromptWording } from './prompts/wording.ts'
import { createQueries } from './queries.ts'
import { addPassepartoutResources } from './resources.ts'
import { passepartoutRetention } from './retention.ts'
import { createRoutes } from './routes/index.ts'
import { createSandbox, sandboxLink } from './sandbox/index.ts'
import type { Pages } from './sandbox/pages.ts'
import { createSendByBot } from './send-by-bot.ts'
import { type BotRow, createBotStore } from './store/bots.ts'
import { createStore, type Store } from './store/index.ts'
import { createTelegram } from './telegram/client.ts'
import { createTelegramMessenger, telegramLink } from './telegram/index.ts'
import { createOwnership } from './telegram/ownership.ts'
import { isTelegramItself } from './telegram/webhook-url.ts'
import { createThrottle } from './throttle.ts'
import { createTokens } from './tokens.ts'
import { createWaiting } from './waiting.ts'

type BotParts = Pick<Platform, 'db' | 'clock' | 'audit' | 'alerts' | 'sealing'> & {
  tenants: Pick<Tenants, 'exists'>
}

/** Only the bots, for commands that configure them beside a running server. */
export function createOfflineBots(
  parts: BotParts,
  { passepartout: { telegramApiRoot: apiRoot } }: Pick<Config, 'passepartout'>,
  baseUrl: () => string,
  { store = createStore(parts.db), onChange }: { store?: Store; onChange?: () => void } = {},
) {
  const connect = createTelegram({ clock: parts.clock, apiRoot })
  const isOwnServer = !isTelegramItself(apiRoot)
  const ownership = createOwnership({ connect, baseUrl, isOwnServer })
  return createBots({ ...parts, store, connect, ownership, onChange })
}

/** Enabled bots whose messages are not received. */
export const botsWithIssues = (db: Db): Bot[] =>
  createBotStore(db)
    .all()
    .map(presentBot)
    .filter(({ enabled, issue }) => enabled && issue !== null)

export type { BotOutcome, Bots } from './bots.ts'
export {
  LOGIN_STATES,
  type LoginHours,
  type LoginRecord,
  type LoginState,
  MAX_COUNTED,
  type PersonRecord,
} from './queries.ts'
export type { Bot }
export type Passepartout = ReturnType<typeof createPassepartout>

/** Sign-in by messenger: a user follows a link to a bot and approves the sign-in in the chat. */
export function createPassepartout(
  platform: Platform,
  config: Pick<Config, 'passepartout' | 'limits' | 'retention' | 'server'>,
  access: Access,
  { baseUrl, pages }: { baseUrl: () => string; pages: Pages },
) {
  const { db, clock, log, audit, sealing, instances, branding, metrics, siblings } = platform
  const { nonceLifetimeMs, tokenLifetimeMs } = config.passepartout
  const store = createStore(db)
  const waiting = createWaiting({ db, clock, siblings })
  const bots = createOfflineBots(platform, config, baseUrl, {
    store,
    onChange: () => telegram.receivers.check(),
  })
  const events = createLoginMetrics(metrics, {
    receiving: () => telegram.receivers.count(),
    waiting: waiting.count,
  })
  const people = createPeople({ db, clock, audit, store })
  const tokens = createTokens({ db, clock, audit, store, lifetimeMs: tokenLifetimeMs })
  const throttle = createThrottle({ clock, store, lifetimeMs: nonceLifetimeMs })
  const conversation = createConversation({
    clock,
    audit,
    sealing,
    store,
    people,
    tokens,
    throttle,
  })
  const wording = createPromptWording({ branding })
  const telegram = createTelegramMessenger(platform, {
    store,
    bots,
    conversation,
    wording,
    events,
    baseUrl,
    onMove,
  })
  const { messengerOf } = telegram
  const queue = createPromptQueue({ store, clock, log, wording, messengerOf, events })
  const loop = createDueLoop({ queue, db, clock, log, instances })
  const loginStart = createLoginStart({
    db,
    clock,
    store,
    bots,
    events,
    starts: createBuckets({
      clock,
      perMinute: config.limits.loginStartsPerMinute,
      shared: { siblings, limit: 'login starts of an address' },
    }),
    linkTo,
    metering: platform.metering,
    lifetimeMs: nonceLifetimeMs,
  })
  const statusOf = createLoginStatus({ clock, sealing, store, people, tokens, waiting })
  const routes = createRoutes({
    loginStart,
    statusOf,
    tokens,
    people,
    webhook: telegram.webhook,
    sandbox: createSandbox({ db, clock, store, branding, conversation, wording, events, onMove }),
    pages,
    access,
    maxBody: config.server.maxBodyBytes,
  })
  platform.retention.add(...passepartoutRetention(store, config.retention, throttle))
  addPassepartoutResources(platform.resources, store)

  function linkTo(bot: BotRow, payload: string): string {
    return bot.platform === 'sandbox' ? sandboxLink(baseUrl(), payload) : telegramLink(bot, payload)
  }

  /** Wakes the message queue and the waiting requests after a change. */
  function onMove(attemptId: string) {
    loop.nudge()
    waiting.tell(attemptId)
  }

  function start() {
    loop.start()
    telegram.receivers.start()
  }

  /** Ends waiting requests first, because the server stops once they are answered. */
  async function stop(graceMs: number) {
    waiting.close()
    await Promise.all([telegram.receivers.stop(), loop.stop(graceMs)])
  }

  return {
    routes,
    bots,
    loginStart,
    people,
    queries: createQueries({ clock, store, linkTo }),
    sendByBot: createSendByBot({ store, messengerOf }),
    start,
    stop,
    idle: loop.idle,
  }
}
