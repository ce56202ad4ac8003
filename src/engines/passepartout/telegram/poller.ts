import type { Db } from '../../../db/open.ts'
import type { Clock } from '../../../platform/clock.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import type { Random } from '../../../platform/random.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import { backoffMs } from './backoff.ts'
import type { BotApi } from './client.ts'
import type { Health } from './health.ts'
import type { Introduction } from './introduction.ts'
import type { Receive } from './receive.ts'
import type { Receiver } from './receiver.ts'
import { createRounds } from './rounds.ts'
import { readUpdate, type Update } from './updates.ts'
import { isOurWebhook } from './webhook-url.ts'

/** The number of updates with long messages that fit into the largest accepted response. */
const BATCH = 50
const HOLD_SECONDS = 25
/** Minimum duration of a poll without updates, to limit the rate of requests. */
const MIN_HOLD_MS = 1000
const STORAGE_RETRY_MS = 1000

/** After a quiet week Telegram restarts the numbering of updates, possibly at a lower number. */
const OFFSET_GOOD_MS = 6 * DAY_MS

/** Long-polls a bot. Each request confirms earlier updates, so all must be committed before it. */
export function createPoller(parts: {
  bot: BotRow
  api: BotApi
  self: string
  db: Db
  clock: Clock
  random: Random
  store: Store
  receive: Receive
  health: Health
  baseUrl: () => string
  /** Refreshes the bot's name. */
  introduction: Introduction
}): Receiver {
  const { bot, api, self, db, clock, random, store, receive, health, baseUrl, introduction } = parts
  let [offset, offsetAt] = [bot.updateOffset, bot.offsetAt]
  let failures = 0

  async function round(signal: AbortSignal): Promise<number | 'end'> {
    try {
      await introduction(signal)
      const askedAt = clock.monotonic()
      const updates = await ask(signal)
      failures = 0
      health.well()
      if (updates.length > 0) return await take(updates)
      return MIN_HOLD_MS - (clock.monotonic() - askedAt)
    } catch (error) {
      return signal.aborted ? 'end' : await afterFailure(error, signal)
    }
  }

  async function ask(signal: AbortSignal): Promise<Update[]> {
    const raw = await api.getUpdates({
      ...(isGood(offset, offsetAt) && { offset }),
      limit: BATCH,
      holdSeconds: HOLD_SECONDS,
      signal,
    })
    return raw.flatMap((each) => readUpdate(each) ?? []).sort((a, b) => a.id - b.id)
  }

  /** Unstored updates are delivered again; stored ones are then recognized. */
  async function take(updates: Update[]): Promise<number | 'end'> {
    if (!hasLease()) return 'end'
    const taken = await Promise.allSettled(updates.map((update) => receive(bot, update)))
    if (taken.some(({ status }) => status === 'rejected')) return STORAGE_RETRY_MS
    const next = Math.max(...updates.map(({ id }) => id)) + 1
    try {
      await db.commitFor(bot.tenantId, () =>
        store.bots.advance(bot, { self, offset: next, now: clock.now() }),
      )
    } catch {
      return STORAGE_RETRY_MS
    }
    const pauseMs = next === offset ? MIN_HOLD_MS : 0
    ;[offset, offsetAt] = [next, clock.now()]
    return pauseMs
  }

  const isGood = (known: number | null, at: number | null): known is number =>
    known !== null && at !== null && clock.now() - at < OFFSET_GOOD_MS

  /** Another process may have taken the lease of one that was suspended for too long. */
  function hasLease(): boolean {
    const now = store.bots.byId(bot.id)
    return now?.leaseOwner === self && now.revision === bot.revision
  }

  async function afterFailure(error: unknown, signal: AbortSignal): Promise<number | 'end'> {
    failures += 1
    if ((await health.ill(error, failures)) === 'end') return 'end'
    if (health.isConflict(error)) await removeOurWebhook(signal)
    return backoffMs(failures, error, random)
  }

  /** Removes only a webhook from an earlier configuration; `health` reports a foreign one. */
  async function removeOurWebhook(signal: AbortSignal) {
    try {
      const { url } = await api.getWebhookInfo(signal)
      if (isOurWebhook(url, bot.id, baseUrl())) await api.deleteWebhook(signal)
    } catch {
      // The next round fails for the same reason and reports it.
    }
  }

  return createRounds(clock, round)
}
