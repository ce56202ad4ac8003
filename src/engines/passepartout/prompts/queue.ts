import type { Clock } from '../../../platform/clock.ts'
import type { DueQueue, Holders, Lane, Lease } from '../../../platform/due/queue.ts'
import { newId } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log.ts'
import { SLICE } from '../../../platform/retention.ts'
import { MessengerError, type Voice } from '../messenger.ts'
import type { LoginEvents } from '../metrics.ts'
import type { AttemptRow } from '../store/attempts.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import type { LeasedPrompt } from '../store/prompts.ts'
import { wantedOf } from './wanted.ts'
import type { PromptWording } from './wording.ts'

/** One message that is being sent or changed, under lease. */
interface Turn extends Lane {
  prompt: LeasedPrompt
}

type Outcome =
  /** The chat shows the question, by this message. */
  | { shows: string }
  /** There is nothing more to be done about the message. */
  | { shows: null }
  | { failed: MessengerError }

/** A messenger takes some thirty messages a second of a bot. */
const LIMITS = { total: 64, perTenant: 16, perTarget: 8, perLane: 8, isShared: true }
/** Two calls of ten seconds are more than ever happen in one turn. */
const LONGEST_MS = 20_000

const BACKOFF_MS = [1000, 2000, 5000, 15_000, 30_000]
/** Nothing that a message could still say is of use to anybody then. */
const GIVE_UP_AFTER_MS = 70 * 60_000

/** Messages that put the question, and are changed to how it ended: for the due loop. */
export function createPromptQueue(parts: {
  store: Store
  clock: Clock
  log: Log
  wording: PromptWording
  /** Undefined for a bot that cannot speak. */
  voiceOf: (bot: BotRow) => Voice | undefined
  events: LoginEvents
}): DueQueue<Turn, Outcome> {
  const { store, clock, log, wording, voiceOf, events } = parts
  const { prompts } = store

  const promote = (now: number): boolean => prompts.promote(now, SLICE) === SLICE

  const claim = (lane: Lane, limit: number, lease: Lease): Turn[] =>
    prompts.claim(lane, limit, newId, lease).map((prompt) => ({ ...lane, prompt }))

  async function perform({ prompt }: Turn, signal: AbortSignal): Promise<Outcome> {
    const attempt = store.attempts.find(prompt.tenantId, prompt.attemptId)
    const bot = store.bots.byId(prompt.botId)
    const voice = bot && voiceOf(bot)
    if (!attempt || !voice) return { shows: null }
    try {
      return await show(prompt, attempt, { voice, mayAsk: bot.isEnabled, signal })
    } catch (error) {
      if (error instanceof MessengerError) return { failed: error }
      throw error
    }
  }

  /** A bot that is out of use puts no question; what it has put is changed all the same. */
  async function show(
    { chatId, messageId }: LeasedPrompt,
    attempt: AttemptRow,
    { voice, mayAsk, signal }: { voice: Voice; mayAsk: boolean; signal: AbortSignal },
  ): Promise<Outcome> {
    const wanted = wantedOf(attempt, clock.now())
    if (wanted === 'question') {
      if (messageId !== null || !mayAsk) return { shows: messageId }
      return { shows: await voice.say(chatId, wording.question(attempt), signal) }
    }
    if (messageId !== null)
      await voice.edit(chatId, messageId, wording.outcome(attempt, wanted), signal)
    return { shows: null }
  }

  const broken = (): Outcome => ({
    failed: new MessengerError('unavailable', 'this server could not; its log says why'),
  })

  function settle({ prompt }: Turn, outcome: Outcome): number | undefined {
    if ('failed' in outcome) return settleFailure(prompt, outcome.failed)
    if (outcome.shows === null) return void prompts.remove(prompt)
    return wait(prompt, outcome.shows)
  }

  /** Until it expires, or at once if it has ended meanwhile. */
  function wait(prompt: LeasedPrompt, messageId: string): number | undefined {
    const attempt = store.attempts.find(prompt.tenantId, prompt.attemptId)
    if (!attempt) return void prompts.remove(prompt)
    const now = clock.now()
    const isOver = wantedOf(attempt, now) !== 'question'
    const dueAt = isOver ? now : attempt.expiresAt
    prompts.rearm(prompt, { state: isOver ? 'ready' : 'waiting', messageId, tries: 0, dueAt })
    return dueAt
  }

  function settleFailure(prompt: LeasedPrompt, error: MessengerError): number | undefined {
    events.callFailed(error.reason)
    const dueAt = retryAt(prompt, error)
    if (dueAt === undefined) {
      log.info('sign-in message not delivered', {
        ...namesOf(prompt),
        reason: error.message,
      })
      return void prompts.remove(prompt)
    }
    const { messageId, tries } = prompt
    prompts.rearm(prompt, { state: 'waiting', messageId, tries, dueAt })
    return dueAt
  }

  /** Undefined where to try again is of no use, or comes too late for anybody. */
  function retryAt(prompt: LeasedPrompt, { reason, retryAfterMs = 0 }: MessengerError) {
    if (reason !== 'unavailable' && reason !== 'rate_limited') return undefined
    const now = clock.now()
    if (now - prompt.createdAt > GIVE_UP_AFTER_MS) return undefined
    const backoff = BACKOFF_MS[Math.min(prompt.tries, BACKOFF_MS.length) - 1] ?? 0
    return now + Math.max(backoff, retryAfterMs)
  }

  const hasLost = (holders: Holders): boolean => prompts.lost(holders, 1).length > 0

  /** Whether the message was sent nobody knows: to ask twice is better than not at all. */
  function reclaim(holders: Holders) {
    for (const prompt of prompts.lost(holders, SLICE))
      prompts.rearm(prompt, { ...prompt, state: 'ready', dueAt: holders.now })
  }

  return {
    name: 'prompts',
    limits: LIMITS,
    longestMs: LONGEST_MS,
    nextDueAt: prompts.firstWaitingAt,
    promote,
    nextLane: prompts.nextLane,
    claim,
    perform,
    broken,
    settle,
    hasLost,
    reclaim,
  }
}

const namesOf = ({ botId, attemptId, tries }: LeasedPrompt) => ({ botId, attemptId, tries })
