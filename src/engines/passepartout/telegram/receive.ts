import { StorageError } from '../../../db/errors.ts'
import type { Db } from '../../../db/open.ts'
import type { Branding } from '../../../platform/branding/index.ts'
import { createBuckets } from '../../../platform/buckets.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import type { Siblings } from '../../../platform/siblings.ts'
import type { Conversation, Reaction } from '../conversation.ts'
import { languageOf } from '../language.ts'
import { ANSWERS_PER_BOT, MAX_ANSWERS, REPLIES_PER_BOT, REPLIES_PER_CHAT } from '../limits.ts'
import { type ChatUpdate, type MessengerClient, MessengerError } from '../messenger.ts'
import type { LoginEvents } from '../metrics.ts'
import { wantedOf } from '../prompts/wanted.ts'
import type { PromptWording } from '../prompts/wording.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import { createTexts } from '../texts/index.ts'
import type { Update } from './updates.ts'

type Callback = Extract<ChatUpdate, { kind: 'tapped' }>
type Reply = NonNullable<Reaction['reply']>

export type Receive = ReturnType<typeof createReceive>

/** Resolves once changes are committed, exactly once per update. Replies are best effort. */
export function createReceive(parts: {
  db: Db
  clock: Clock
  log: Log
  store: Store
  conversation: Conversation
  wording: PromptWording
  branding: Pick<Branding, 'nameOf'>
  events: LoginEvents
  messengerOf: (bot: BotRow) => MessengerClient | undefined
  /** Called when an attempt changed, to update its message and to wake waiting requests. */
  onMove: (attemptId: string) => void
  siblings: Siblings
}) {
  const { db, clock, log, store, conversation, wording, branding, events, messengerOf, onMove } =
    parts
  const { siblings } = parts
  const ofChat = createBuckets({
    clock,
    perMinute: REPLIES_PER_CHAT,
    shared: { siblings, limit: 'replies to a chat' },
  })
  const ofBot = createBuckets({
    clock,
    perMinute: REPLIES_PER_BOT,
    shared: { siblings, limit: 'replies of a bot' },
  })
  const inProgress = new Map<string, number>()
  let total = 0

  /** Rejects with `StorageError` if nothing was stored; the update then was not received. */
  async function receive(bot: BotRow, { id, update }: Update): Promise<void> {
    if (!update) return
    try {
      // The reaction is an effect: an update that is delivered again once it is stored gets none.
      const reaction = await db.commitFor(
        bot.tenantId,
        () =>
          store.updates.isNew(bot.id, id, clock.now()) ? conversation.hear(bot, update) : null,
        'effect',
      )
      if (reaction) react(bot, update, reaction)
    } catch (error) {
      if (error instanceof StorageError) throw error
      // Skips the update, because delivering it again would fail again and block later ones.
      log.error('Telegram update failed', { botId: bot.id, error: String(error) })
    }
  }

  function react(bot: BotRow, update: ChatUpdate, reaction: Reaction) {
    if (reaction.happened) events.happened(reaction.happened)
    if (reaction.attemptId !== undefined) onMove(reaction.attemptId)
    if (!mayAnswer(bot, update, reaction)) return
    count(bot, 1)
    void answer(bot, update, reaction)
      .catch((error: unknown) => {
        const reason = error instanceof MessengerError ? error.reason : 'broken'
        events.callFailed(reason)
        log.debug('bot reply failed', { botId: bot.id, reason })
      })
      .finally(() => count(bot, -1))
  }

  function count({ id }: BotRow, n: number) {
    total += n
    const now = (inProgress.get(id) ?? 0) + n
    if (now === 0) inProgress.delete(id)
    else inProgress.set(id, now)
  }

  /** Limits replies: strangers must not exhaust the bot's rate limit, which prompts need too. */
  function mayAnswer(
    bot: BotRow,
    { kind, person }: ChatUpdate,
    { reply, attemptId }: Reaction,
  ): boolean {
    if (!hasRoom(bot)) return false
    if (kind === 'tapped') return attemptId !== undefined || isWithinLimits(bot, person.id)
    return reply !== undefined && isWithinLimits(bot, person.id)
  }

  /** A bot takes at most half of the remaining capacity, in case its messenger doesn't respond. */
  function hasRoom({ id }: BotRow): boolean {
    const own = inProgress.get(id) ?? 0
    return own < Math.min(ANSWERS_PER_BOT, (MAX_ANSWERS - (total - own)) / 2)
  }

  const isWithinLimits = ({ id }: BotRow, chatId: string): boolean =>
    ofChat.take(`${id} ${chatId}`) === 0 && ofBot.take(id) === 0

  async function answer(bot: BotRow, update: ChatUpdate, reaction: Reaction) {
    const messenger = messengerOf(bot)
    if (!messenger) return
    if (update.kind === 'tapped') await answerCallback(messenger, update, reaction)
    else if (reaction.reply) await reply(messenger, bot, update, reaction.reply)
  }

  /**
   * Answers a callback. Updates its message here if its id was never stored because the process that
   * sent it stopped.
   */
  async function answerCallback(
    messenger: MessengerClient,
    callback: Callback,
    { notice = 'over', late }: Reaction,
  ) {
    const { person, messageId, callbackId } = callback
    const shown = late && wantedOf(late, clock.now())
    if (messageId !== null && late && shown && shown !== 'question')
      await messenger.edit(person.id, messageId, wording.outcome(late, shown)).catch(() => {})
    await messenger.answerCallback(
      callbackId,
      createTexts(languageOf(person.languageCode)).notice(notice),
    )
  }

  async function reply(
    messenger: MessengerClient,
    bot: BotRow,
    { person }: ChatUpdate,
    said: Reply,
  ) {
    const app = branding.nameOf(bot.tenantId)
    const text = createTexts(languageOf(person.languageCode)).reply(said.kind, { app, ...said })
    await messenger.say(person.id, { text, buttons: [] })
  }

  return receive
}
