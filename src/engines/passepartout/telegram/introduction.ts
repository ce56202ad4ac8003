import type { Db } from '../../../db/open.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import type { BotApi } from './client.ts'

export type Introduction = (signal: AbortSignal) => Promise<void>

/** Reads the bot's name once: after a rename, links would lead nowhere or to another bot. */
export function createIntroduction(parts: {
  bot: BotRow
  api: BotApi
  db: Db
  store: Store
  onChange: () => void
}): Introduction {
  const { bot, api, db, store, onChange } = parts
  let isKnown = false

  return async (signal) => {
    if (isKnown) return
    const { username, name } = await api.getMe(signal)
    if (username !== bot.username || name !== bot.name) {
      await db.commitFor(bot.tenantId, () => store.bots.rename(bot, { username, name }))
      onChange()
    }
    isKnown = true
  }
}
