import { StorageError } from '../../../db/errors.ts'
import type { Db } from '../../../db/open.ts'
import { createBuckets } from '../../../platform/buckets.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Log } from '../../../platform/log.ts'
import type { Tenants } from '../../../platform/tenants.ts'
import type { Conversation, Reaction } from '../conversation.ts'
import { languageOf } from '../language.ts'
import { ANSWERS_PER_BOT, MOST_ANSWERS, REPLIES_PER_BOT, REPLIES_PER_CHAT } from '../limits.ts'
import { type Deed, MessengerError, type Voice } from '../messenger.ts'
import type { LoginEvents } from '../metrics.ts'
import { wantedOf } from '../prompts/wanted.ts'
import type { PromptWording } from '../prompts/wording.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import { createTexts } from '../texts/index.ts'
import type { Update } from './updates.ts'

type Tap = Extract<Deed, { kind: 'tapped' }>
type Reply = NonNullable<Reaction['reply']>

export type Receive = ReturnType<typeof createReceive>

/**
 * Handles the users' actions. Changes are committed when this resolves and happen once, however
 * often the messenger delivers the update. Replies are sent afterwards at best effort; a user who
 * misses one can repeat the action.
 */
export function createReceive(parts: {
  db: Db
  clock: Clock
  log: Log
  store: Store
  conversation: Conversation
  wording: PromptWording
  tenants: Pick<Tenants, 'find'>
  events: LoginEvents
  voiceOf: (bot: BotRow) => Voice | undefined
  /** Called when an attempt changed, to update its message and to wake waiting requests. */
  onMove: (attemptId: string) => void
}) {
  const { db, clock, log, store, conversation, wording, tenants, events, voiceOf, onMove } = parts
  const ofChat = createBuckets({ clock, perMinute: REPLIES_PER_CHAT })
  const ofBot = createBuckets({ clock, perMinute: REPLIES_PER_BOT })
  const underWay = new Map<string, number>()
  let total = 0

  /**
   * Rejects with `StorageError` if nothing could be stored; the update then counts as not received.
   */
  async function receive(bot: BotRow, { id, deed }: Update): Promise<void> {
    if (!deed) return
    try {
      const reaction = await db.commitFor(bot.tenantId, () =>
        store.updates.isNew(bot.id, id, clock.now()) ? conversation.hear(bot, deed) : null,
      )
      if (reaction) react(bot, deed, reaction)
    } catch (error) {
      if (error instanceof StorageError) throw error
      // Skips the update, because delivering it again would fail again and block later ones.
      log.error('Telegram update failed', { botId: bot.id, error: String(error) })
    }
  }

  function react(bot: BotRow, deed: Deed, reaction: Reaction) {
    if (reaction.happened) events.happened(reaction.happened)
    if (reaction.attemptId !== undefined) onMove(reaction.attemptId)
    if (!mayAnswer(bot, deed, reaction)) return
    count(bot, 1)
    void answer(bot, deed, reaction)
      .catch((error: unknown) => {
        const reason = error instanceof MessengerError ? error.reason : 'broken'
        events.callFailed(reason)
        log.debug('bot reply failed', { botId: bot.id, reason })
      })
      .finally(() => count(bot, -1))
  }

  function count({ id }: BotRow, n: number) {
    total += n
    const now = (underWay.get(id) ?? 0) + n
    if (now === 0) underWay.delete(id)
    else underWay.set(id, now)
  }

  /**
   * Limits replies, because strangers could otherwise exhaust the bot's rate limit, which prompts
   * need as well.
   */
  function mayAnswer(bot: BotRow, { kind, person }: Deed, { reply, attemptId }: Reaction): boolean {
    if (!hasRoom(bot)) return false
    if (kind === 'tapped') return attemptId !== undefined || isWithinLimits(bot, person.id)
    return reply !== undefined && isWithinLimits(bot, person.id)
  }

  /**
   * One bot takes at most half of the remaining capacity, in case its messenger does not respond.
   */
  function hasRoom({ id }: BotRow): boolean {
    const own = underWay.get(id) ?? 0
    return own < Math.min(ANSWERS_PER_BOT, (MOST_ANSWERS - (total - own)) / 2)
  }

  const isWithinLimits = ({ id }: BotRow, chatId: string): boolean =>
    ofChat.take(`${id} ${chatId}`) === 0 && ofBot.take(id) === 0

  async function answer(bot: BotRow, deed: Deed, reaction: Reaction) {
    const voice = voiceOf(bot)
    if (!voice) return
    if (deed.kind === 'tapped') await answerTap(voice, deed, reaction)
    else if (reaction.reply) await reply(voice, bot, deed, reaction.reply)
  }

  /**
   * Updates the message of a tap here if its id was never stored because the sending process
   * stopped.
   */
  async function answerTap(voice: Voice, tap: Tap, { notice = 'over', late }: Reaction) {
    const { person, messageId, tapId } = tap
    const shown = late && wantedOf(late, clock.now())
    if (messageId !== null && late && shown && shown !== 'question')
      await voice.edit(person.id, messageId, wording.outcome(late, shown)).catch(() => {})
    await voice.answerTap(tapId, createTexts(languageOf(person.languageCode)).notice(notice))
  }

  async function reply(voice: Voice, bot: BotRow, { person }: Deed, said: Reply) {
    const app = tenants.find(bot.tenantId).name
    const text = createTexts(languageOf(person.languageCode)).reply(said.kind, { app, ...said })
    await voice.say(person.id, { text, buttons: [] })
  }

  return receive
}
