import type { Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { isSame, sha256 } from '../../platform/crypto.ts'
import type { Sealing } from '../../platform/sealing/index.ts'
import { readCallbackData } from './callback-data.ts'
import { languageOf } from './language.ts'
import { COLLECT_MS, MAX_PROMPTS } from './limits.ts'
import type { ChatUpdate, Person } from './messenger.ts'
import type { LoginEvent } from './metrics.ts'
import type { People } from './people.ts'
import { sealToken } from './sealed-token.ts'
import type { AttemptOutcome, AttemptRow } from './store/attempts.ts'
import type { BotRow } from './store/bots.ts'
import type { Store } from './store/index.ts'
import type { CallbackResult, ReplyKind } from './texts/wording.ts'
import type { Throttle } from './throttle.ts'
import type { Tokens } from './tokens.ts'

/** The bot's reply to an update, apart from the prompt, which is sent separately. */
export interface Reaction {
  reply?: { kind: ReplyKind; until?: number }
  notice?: CallbackResult
  /** The attempt that changed. */
  attemptId?: string
  /** The ended attempt whose message still shows the question. */
  late?: AttemptRow
  /** The event to count after the commit. */
  happened?: LoginEvent
}

export type Conversation = ReturnType<typeof createConversation>

/**
 * A sign-in from the user's side, independent of the messenger: the user opens the link, is asked,
 * and answers. Opening the link signs no one in, because links get forwarded. Only the first user
 * who opened it may answer, and a wrong answer ends it. pending -> opened -> approved | denied |
 * mismatched; and expired, depending on the time.
 */
export function createConversation(parts: {
  clock: Clock
  audit: Audit
  sealing: Sealing
  store: Store
  people: People
  tokens: Tokens
  throttle: Throttle
}) {
  const { clock, audit, sealing, store, people, tokens, throttle } = parts

  /** Applies an update, inside a commit. */
  function hear(bot: BotRow, update: ChatUpdate): Reaction {
    switch (update.kind) {
      case 'started':
        return started(bot, update.person, update.payload)
      case 'tapped':
        return tapped(bot, update.person, update.data)
      case 'spoke':
        return { reply: { kind: 'hello' } }
    }
  }

  function started(bot: BotRow, person: Person, payload: string): Reaction {
    const attempt = store.attempts.byLink(sha256(payload))
    if (!attempt || attempt.botId !== bot.id) return reply('unknown_link')
    if (attempt.state !== 'pending' && attempt.state !== 'opened') return reply('answered_link')
    if (isExpired(attempt)) return reply('expired_link')
    if (attempt.state === 'pending') return open(bot, person, attempt)
    if (attempt.openerId !== person.id) return reply('taken_link')
    return attempt.prompts < MAX_PROMPTS ? ask(bot, person, attempt) : {}
  }

  function open(bot: BotRow, person: Person, attempt: AttemptRow): Reaction {
    const refusal = bot.platform === 'sandbox' ? undefined : throttle.refusalOf(bot.id, person.id)
    if (refusal) return { reply: refusal, happened: 'turned_away' }
    store.attempts.open(attempt, {
      openerId: person.id,
      language: languageOf(person.languageCode),
      now: clock.now(),
    })
    return { ...ask(bot, person, attempt), happened: 'opened' }
  }

  /** The sandbox shows its prompt on a page, so no message is queued. */
  function ask(bot: BotRow, person: Person, { tenantId, id }: AttemptRow): Reaction {
    store.attempts.countPrompt({ tenantId, id })
    if (bot.platform !== 'sandbox')
      store.prompts.insert(
        { tenantId, botId: bot.id, attemptId: id, chatId: person.id },
        clock.now(),
      )
    return { attemptId: id }
  }

  function tapped(bot: BotRow, person: Person, data: string): Reaction {
    const callback = readCallbackData(data)
    const attempt = callback && store.attempts.find(bot.tenantId, callback.attemptId)
    if (!attempt || attempt.botId !== bot.id || attempt.state === 'pending')
      return { notice: 'over' }
    if (attempt.openerId !== person.id) return { notice: 'not_yours' }
    if (attempt.state !== 'opened') return { notice: 'over', late: attempt }
    if (isExpired(attempt)) return { notice: 'expired', late: attempt }
    const state = outcomeOf(attempt, callback.choice)
    end(bot, person, attempt, state)
    return { notice: state, attemptId: attempt.id, happened: state }
  }

  function end(bot: BotRow, person: Person, attempt: AttemptRow, state: AttemptOutcome['state']) {
    const now = clock.now()
    const isApproved = state === 'approved'
    const proof = isApproved ? proofFor(bot, person, attempt) : NO_PROOF
    const expiresAt = isApproved ? Math.max(attempt.expiresAt, now + COLLECT_MS) : attempt.expiresAt
    if (!store.attempts.end(attempt, { state, endedAt: now, expiresAt, ...proof }))
      throw new Error('the attempt has already ended')
    store.prompts.hurry(attempt.id, now)
    audit.record({
      tenantId: attempt.tenantId,
      actor: { kind: 'person', ...(proof.personId !== null && { id: proof.personId }) },
      action: `login.${state}`,
      object: `passepartout:login:${attempt.id}`,
      detail: { environment: bot.environment, bot: bot.username },
    })
  }

  /** The user who signed in, and an access token to be collected. */
  function proofFor({ platform }: BotRow, person: Person, attempt: AttemptRow) {
    const { id, tenantId, environment } = attempt
    const { id: personId } = people.recognise(tenantId, platform, person)
    const token = tokens.issue({ tenantId, environment }, personId)
    return { personId, accessToken: sealToken(sealing, id, token) }
  }

  const isExpired = ({ expiresAt }: AttemptRow): boolean => clock.now() >= expiresAt

  return { hear }
}

const reply = (kind: ReplyKind): Reaction => ({ reply: { kind } })

const NO_PROOF = { personId: null, accessToken: null }

/** If a number is required, only the correct number approves. */
function outcomeOf({ matchCode }: AttemptRow, choice: string): AttemptOutcome['state'] {
  if (choice === 'deny') return 'denied'
  return isSame(choice, matchCode ?? 'approve') ? 'approved' : 'mismatched'
}
