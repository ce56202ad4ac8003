/** In bytes as sent. */
export const MAX_PAYLOAD_BYTES = 262_144

/** Channels that a message or an endpoint may name. */
export const MAX_CHANNELS = 10

/** Types and patterns that an endpoint may list. */
export const MAX_EVENT_TYPES = 100

/** Event types that the catalog records. Messages of any further type are still accepted. */
export const EVENT_TYPES_SEEN = 2000
