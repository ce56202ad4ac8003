import { MINUTE_MS } from '../../../platform/durations.ts'

/** A time such as `14:02 UTC`. Bots do not know the time zone of a chat. */
export const shownTime = (ms: number): string => `${new Date(ms).toISOString().slice(11, 16)} UTC`

/** The full minute at or after `ms`, so that a retry at the shown time is never too early. */
export const shownStart = (ms: number): string => shownTime(Math.ceil(ms / MINUTE_MS) * MINUTE_MS)
