import { SealError } from '../../platform/sealing/index.ts'
import type { MessengerClient } from './messenger.ts'
import type { BotRow } from './store/bots.ts'
import type { Store } from './store/index.ts'

/** Sends plain text to any chat that the live bot of a tenant may write to. Rejects with a reason for users. */
export const createSendByBot =
  (parts: { store: Store; messengerOf: (bot: BotRow) => MessengerClient | undefined }) =>
  async (tenantId: string, chatId: string, text: string, signal: AbortSignal): Promise<void> => {
    const messenger = messengerOf(parts, tenantId)
    if (!messenger) throw new Error('no Telegram bot is set up')
    await messenger.say(chatId, { text, buttons: [] }, signal)
  }

function messengerOf(
  { store, messengerOf }: Parameters<typeof createSendByBot>[0],
  tenantId: string,
): MessengerClient | undefined {
  const bot = store.bots.find(tenantId, 'live')
  try {
    return bot && messengerOf(bot)
  } catch (error) {
    if (error instanceof SealError) throw new Error('the token of the bot cannot be decrypted')
    throw error
  }
}
