import { DAY_MS } from '../../../platform/durations.ts'

/** Monitors per tenant. Their list is not paged. */
export const MONITORS_PER_TENANT = 1000

/** In seconds: from a minute to a year, leap days included. */
export const MIN_SECONDS = 60
export const MAX_SECONDS = 366 * 86_400

/** An hour, unless given. */
export const USUAL_GRACE_SECONDS = 3600

export const MAX_NOTES_LENGTH = 2000
export const MAX_TAGS = 20
export const MAX_TAG_LENGTH = 50

/** Pings of one monitor in a minute. */
export const PINGS_PER_MINUTE = 60

/** Requests with an unknown token in a minute, per client address. */
export const UNKNOWN_PER_MINUTE = 60

/** Tokens whose monitor is kept in memory, each some 300 bytes. */
export const KNOWN_PLACES = 50_000

/** Pings that are kept of each monitor. */
export const KEPT_PINGS = 100

/** Bytes that are kept of the body of a ping. */
export const KEPT_BODY_BYTES = 10_000

/** Transitions that are kept of each monitor, and for how long. */
export const KEPT_TRANSITIONS = 1000
export const TRANSITIONS_KEPT_MS = 90 * DAY_MS
