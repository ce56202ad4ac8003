import type { Db } from '../../../db/open.ts'
import type { Branding } from '../../../platform/branding/index.ts'
import type { Clock } from '../../../platform/clock.ts'
import { sha256 } from '../../../platform/crypto.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { callbackData, readCallbackData } from '../callback-data.ts'
import type { Conversation, Reaction } from '../conversation.ts'
import { type Language, languageOf } from '../language.ts'
import type { Button, Person } from '../messenger.ts'
import type { LoginEvents } from '../metrics.ts'
import { wantedOf } from '../prompts/wanted.ts'
import type { PromptWording } from '../prompts/wording.ts'
import type { AttemptRow } from '../store/attempts.ts'
import type { BotRow } from '../store/bots.ts'
import type { Store } from '../store/index.ts'
import { createTexts } from '../texts/index.ts'
import type { SandboxButton, SandboxPage } from './pages.ts'
import { SANDBOX_PEOPLE } from './people.ts'

/** The URL of the test bot's page. */
export const sandboxLink = (baseUrl: string, payload: string): string =>
  `${baseUrl}/sandbox/passepartout/${payload}`

export type Sandbox = ReturnType<typeof createSandbox>

/** The test bot, a page in place of a messenger. Viewing changes nothing; Start is an answer. */
export function createSandbox(parts: {
  db: Db
  clock: Clock
  store: Store
  branding: Pick<Branding, 'nameOf'>
  conversation: Conversation
  wording: PromptWording
  events: LoginEvents
  onMove: (attemptId: string) => void
}) {
  const { db, clock, store, branding, conversation, wording, events, onMove } = parts

  /** The current state of the chat. */
  function show(payload: string, language: Language): SandboxPage {
    const found = behind(payload)
    return found ? chatAbout(found, language) : nowhere(language)
  }

  /**
   * Handles a tapped button, or only Start. Returns the chat if the bot replies; otherwise
   * undefined, and the chat has to be read again.
   */
  async function answer(
    payload: string,
    { choice, person: name }: { choice?: unknown; person?: unknown },
    language: Language,
  ): Promise<SandboxPage | undefined> {
    const found = behind(payload)
    if (!found) return nowhere(language)
    const person = personCalled(name, found.attempt)
    requireChoice(choice)
    const reactions = await db.commitFor(found.attempt.tenantId, () =>
      act(found, payload, choice, person),
    )
    for (const { happened } of reactions) if (happened) events.happened(happened)
    onMove(found.attempt.id)
    const reply = reactions.find((reaction) => reaction.reply)?.reply
    if (!reply) return undefined
    const app = branding.nameOf(found.bot.tenantId)
    const text = createTexts(languageOf(person.languageCode)).reply(reply.kind, { app })
    const page = chatAbout(found, language, person)
    return { ...page, status: 409, chat: [...page.chat, { from: 'bot', text }] }
  }

  /** Inside a commit. Presses Start first, unless the user already did. */
  function act(
    { bot, attempt }: Found,
    payload: string,
    choice: string,
    person: Person,
  ): Reaction[] {
    const isOpen = attempt.state === 'opened' && attempt.openerId === person.id
    const started = isOpen ? {} : conversation.hear(bot, { kind: 'started', person, payload })
    if (started.reply || choice === START) return [started]
    const callback = { messageId: null, callbackId: '', data: callbackData(choice, attempt.id) }
    return [started, conversation.hear(bot, { kind: 'tapped', person, ...callback })]
  }

  /** Undefined if the link is unknown, or its bot is not enabled. */
  function behind(payload: string): Found | undefined {
    const attempt = store.attempts.byLink(sha256(payload))
    if (!attempt) return undefined
    const bot = store.bots.byId(attempt.botId)
    return bot?.platform === 'sandbox' && bot.isEnabled ? { bot, attempt } : undefined
  }

  function chatAbout(
    { attempt }: Found,
    language: Language,
    chosen = personCalled(attempt.openerId ?? undefined, attempt),
  ): SandboxPage {
    const shown = wantedOf(attempt, clock.now())
    const spoken = attempt.openerId === null ? languageOf(chosen.languageCode) : attempt.language
    const inLanguage = { ...attempt, language: spoken }
    const isOver = shown !== 'question'
    const said = isOver ? wording.outcome(inLanguage, shown) : wording.question(inLanguage)
    return {
      status: 200,
      language,
      tenantName: branding.nameOf(attempt.tenantId),
      people: isOver ? [] : peopleWith(chosen),
      chat: [
        { from: 'person', text: '/start' },
        { from: 'bot', text: said.text },
      ],
      buttons: said.buttons.map((row) => row.map(asButton)),
      canPressStart: !isOver && attempt.openerId === null,
      outcome: isOver ? OUTCOMES[shown] : null,
    }
  }

  return { show, answer }
}

interface Found {
  bot: BotRow
  attempt: AttemptRow
}

const START = 'start'
const CHOICE = /^(start|approve|deny|\d{2})$/

function requireChoice(choice: unknown): asserts choice is string {
  if (typeof choice !== 'string' || !CHOICE.test(choice))
    throw invalid('must be start, approve, deny, or the number that is shown', {
      field: 'choice',
      rule: 'format',
    })
}

/** The named test user; by default the one who opened the link, or the first. */
function personCalled(name: unknown, { openerId }: AttemptRow): Person {
  const wanted = name ?? openerId ?? SANDBOX_PEOPLE[0].id
  const person = SANDBOX_PEOPLE.find(({ id }) => id === wanted)
  return person ?? fail(invalid(`must be one of ${NAMES}`, { field: 'person', rule: 'choice' }))
}

const NAMES = SANDBOX_PEOPLE.map(({ id }) => id).join(', ')

const peopleWith = (chosen: Person): SandboxPage['people'] =>
  SANDBOX_PEOPLE.map(({ id, firstName, lastName }) => ({
    id,
    name: `${firstName} ${lastName}`,
    isChosen: id === chosen.id,
  }))

function asButton({ label, data }: Button): SandboxButton {
  const choice = readCallbackData(data)?.choice ?? ''
  return { label, choice, weight: choice === 'approve' || choice === 'deny' ? choice : 'number' }
}

const OUTCOMES = {
  approved: 'approved',
  denied: 'denied',
  mismatched: 'denied',
  expired: 'expired',
} as const

const nowhere = (language: Language): SandboxPage => ({
  status: 404,
  language,
  tenantName: null,
  people: [],
  chat: [],
  buttons: [],
  canPressStart: false,
  outcome: 'unknown',
})
