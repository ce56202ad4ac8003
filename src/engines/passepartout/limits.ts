import { MINUTE_MS } from '../../platform/durations.ts'

/** Between two questions about an attempt, in seconds: what apps are asked to keep to. */
export const POLL_INTERVAL = 3

/** The longest that a question about an attempt is held, in seconds. */
export const LONGEST_WAIT = 25

/** What is approved in the last moment can be collected for so long. */
export const COLLECT_MS = MINUTE_MS

/** Of what an app says of where a sign-in was started, in characters. */
export const LONGEST_USER_AGENT = 512
export const LONGEST_LABEL = 60

/** How often the question of one attempt is put: a chat may have been cleared. */
export const MOST_PROMPTS = 3

/** Sign-ins that one person may open with one bot and not approve, within the time. */
export const MOST_UNAPPROVED = 3
export const UNAPPROVED_WINDOW_MS = 10 * MINUTE_MS

/** Whoever denies is left in peace for so long. */
export const COOL_DOWN_MS = 10 * MINUTE_MS

/** What a bot says a minute besides its questions: in one chat, and in all, at a third of its pace. */
export const REPLIES_PER_CHAT = 6
export const REPLIES_PER_BOT = 600

/** Calls for such answers at once: of one bot, and in all. What comes beyond it is not answered. */
export const ANSWERS_PER_BOT = 64
export const MOST_ANSWERS = 256

/** Messengers bring what was not confirmed for a day; twice that is remembered. */
export const UPDATES_KEPT_MS = 48 * 60 * MINUTE_MS
