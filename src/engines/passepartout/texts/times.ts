import { MINUTE_MS } from '../../../platform/durations.ts'

/** When something was, such as `14:02 UTC`. A bot does not know the time zone of a chat. */
export const shownTime = (ms: number): string => `${new Date(ms).toISOString().slice(11, 16)} UTC`

/** From when on something is possible: the full minute after `ms`, so that nobody comes too soon. */
export const shownStart = (ms: number): string => shownTime(Math.ceil(ms / MINUTE_MS) * MINUTE_MS)
