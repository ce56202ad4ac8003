import { MINUTE_MS } from '../../platform/durations.ts'

/** Recommended polling interval for apps, in seconds. */
export const POLL_INTERVAL = 3

/** Maximum duration that a status request is held, in seconds. */
export const MAX_WAIT_SECONDS = 25

/** Minimum time to collect the token after an approval in the last moment. */
export const COLLECT_MS = MINUTE_MS

/** Maximum length of the client's user agent, in characters. */
export const MAX_USER_AGENT_LENGTH = 512
export const MAX_LABEL_LENGTH = 60

/** Maximum number of prompts per attempt; a chat may have been cleared. */
export const MAX_PROMPTS = 3

/** Sign-ins that a user may open with a bot in the window without approving them. */
export const MAX_UNAPPROVED = 3
export const UNAPPROVED_WINDOW_MS = 10 * MINUTE_MS

/** How long a user is not prompted again after denying a sign-in. */
export const COOL_DOWN_MS = 10 * MINUTE_MS

/** Replies per minute, except prompts: per chat and in total (a third of the bot's limit). */
export const REPLIES_PER_CHAT = 6
export const REPLIES_PER_BOT = 600

/** Concurrent replies per bot and in total. Further updates are not answered. */
export const ANSWERS_PER_BOT = 64
export const MAX_ANSWERS = 256

/** How long updates are remembered: twice as long as messengers redeliver unconfirmed ones. */
export const UPDATES_KEPT_MS = 48 * 60 * MINUTE_MS
