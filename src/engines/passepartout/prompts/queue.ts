import type { Clock } from '../../../platform/clock.ts'
import type { DueQueue, Holders, Lane, Lease } from '../../../platform/due/queue.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import { newId } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log.ts'
import { SLICE } from '../../../platform/retention.ts'
import { type MessengerClient, MessengerError } from '../messenger.ts'
import type { LoginEvents } from '../metrics.ts'
import type { AttemptRow } from '../store/attempts.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import type { LeasedPrompt } from '../store/prompts.ts'
import { wantedOf } from './wanted.ts'
import type { PromptWording } from './wording.ts'

/** A message being sent or changed, under lease. */
interface Turn extends Lane {
  prompt: LeasedPrompt
}

type Outcome =
  /** The message that now shows the question. */
  | { shows: string }
  /** The message needs no further change. */
  | { shows: null }
  | { failed: MessengerError }

/** Telegram allows about thirty messages per second and bot. */
const LIMITS = { total: 64, perTenant: 16, perTarget: 8, perLane: 8, isShared: true }
/** Maximum duration of a turn: two calls of ten seconds. */
const MAX_MS = 20_000

const BACKOFF_MS = [1000, 2000, 5000, 15_000, 30_000]
/** Age at which a message is no longer useful. */
const GIVE_UP_AFTER_MS = 70 * MINUTE_MS

/** Work for the due loop: sends prompts, and shows the result in them once a sign-in has ended. */
export function createPromptQueue(parts: {
  store: Store
  clock: Clock
  log: Log
  wording: PromptWording
  /** Undefined for a bot that cannot send messages. */
  messengerOf: (bot: BotRow) => MessengerClient | undefined
  events: LoginEvents
}): DueQueue<Turn, Outcome> {
  const { store, clock, log, wording, messengerOf, events } = parts
  const { prompts } = store

  const promote = (now: number): boolean => prompts.promote(now, SLICE)

  const claim = (lane: Lane, limit: number, lease: Lease): Turn[] =>
    prompts.ready(lane, limit).flatMap((row) => {
      const prompt = prompts.lease(row, { leaseId: newId(), tries: row.tries + 1 }, lease)
      return prompt ? [{ ...lane, prompt }] : []
    })

  async function perform({ prompt }: Turn, signal: AbortSignal): Promise<Outcome> {
    const attempt = store.attempts.find(prompt.tenantId, prompt.attemptId)
    const bot = store.bots.byId(prompt.botId)
    const messenger = bot && messengerOf(bot)
    if (!attempt || !messenger) return { shows: null }
    try {
      return await show(prompt, attempt, { messenger, mayAsk: bot.isEnabled, signal })
    } catch (error) {
      if (error instanceof MessengerError) return { failed: error }
      throw error
    }
  }

  /** A disabled bot sends no prompts, but updates those already sent. */
  async function show(
    { chatId, messageId }: LeasedPrompt,
    attempt: AttemptRow,
    {
      messenger,
      mayAsk,
      signal,
    }: { messenger: MessengerClient; mayAsk: boolean; signal: AbortSignal },
  ): Promise<Outcome> {
    const wanted = wantedOf(attempt, clock.now())
    if (wanted === 'question') {
      if (messageId !== null || !mayAsk) return { shows: messageId }
      return { shows: await messenger.say(chatId, wording.question(attempt), signal) }
    }
    if (messageId !== null)
      await messenger.edit(chatId, messageId, wording.outcome(attempt, wanted), signal)
    return { shows: null }
  }

  const broken = (): Outcome => ({
    failed: new MessengerError('unavailable', 'Gatehouse failed; see the server log'),
  })

  function settle({ prompt }: Turn, outcome: Outcome): number | undefined {
    if ('failed' in outcome) return settleFailure(prompt, outcome.failed)
    if (outcome.shows === null) return void prompts.remove(prompt)
    return wait(prompt, outcome.shows)
  }

  /** Waits until the attempt expires; not at all if it has ended in the meantime. */
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
      log.info('sign-in message not delivered', { ...namesOf(prompt), reason: error.message })
      return void prompts.remove(prompt)
    }
    const { messageId, tries } = prompt
    prompts.rearm(prompt, { state: 'waiting', messageId, tries, dueAt })
    return dueAt
  }

  /** Undefined if a retry is useless or too late. */
  function retryAt(prompt: LeasedPrompt, { reason, retryAfterMs = 0 }: MessengerError) {
    if (reason !== 'unavailable' && reason !== 'rate_limited') return undefined
    const now = clock.now()
    if (now - prompt.createdAt > GIVE_UP_AFTER_MS) return undefined
    const backoff = BACKOFF_MS[Math.min(prompt.tries, BACKOFF_MS.length) - 1] ?? 0
    return now + Math.max(backoff, retryAfterMs)
  }

  /** Takes back prompts of stopped processes: sending one twice is better than not at all. */
  function reclaim(holders: Holders) {
    for (const prompt of prompts.lost(holders, SLICE))
      prompts.rearm(prompt, { ...prompt, state: 'ready', dueAt: holders.now })
  }

  return {
    name: 'prompts',
    limits: LIMITS,
    longestMs: MAX_MS,
    nextDueAt: prompts.firstWaitingAt,
    promote,
    nextLane: prompts.nextLane,
    claim,
    perform,
    broken,
    settle,
    hasLost: prompts.hasLost,
    reclaim,
  }
}

const namesOf = ({ botId, attemptId, tries }: LeasedPrompt) => ({ botId, attemptId, tries })
