import { invalid } from '../platform/errors.ts'
import { isOperational } from './operational.ts'

/** Decides which messages an endpoint receives. */
export interface Filter {
  /** Types and patterns such as `user.*`; null for all. */
  eventTypes: readonly string[] | null
  /** If not empty, a message that names channels must name one of these. Empty for all. */
  channels: readonly string[]
}

/** The filter from the columns of an endpoint, which hold JSON. */
export const filterOf = ({
  eventTypes,
  channels,
}: {
  eventTypes: string | null
  channels: string
}) => ({
  eventTypes: eventTypes === null ? null : (JSON.parse(eventTypes) as string[]),
  channels: JSON.parse(channels) as string[],
})

interface Addressed {
  type: string
  channels: readonly string[]
  isOperational: boolean
}

/** What a filter compares, from the columns of a message, which hold JSON. */
export const addressOf = ({
  type,
  channels,
  about,
}: {
  type: string
  channels: string | null
  about: string | null
}): Addressed => ({
  type,
  channels: channels === null ? [] : (JSON.parse(channels) as string[]),
  isOperational: isOperational({ about }),
})

/** Whether a message matches an endpoint, or the first reason why it doesn't. */
export type MatchResult = 'matches' | 'event_type' | 'channels'

export type CompiledFilter = (message: Addressed) => MatchResult

/** The maximum length of a pattern, equal to that of a type. */
const MAX_TYPE_LENGTH = 256

const TYPE = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
const CHANNEL = /^[A-Za-z0-9_.:-]{1,128}$/

/** Matches a single message. To match many, compile the filter. */
export const matchOf = (filter: Filter, message: Addressed): MatchResult =>
  compileFilter(filter)(message)

/** Compiles a filter, because each message may be matched against a thousand of them. */
export function compileFilter({ eventTypes, channels }: Filter): CompiledFilter {
  const hearsType = typeTest(eventTypes)
  if (channels.length === 0) return (message) => (hearsType(message) ? 'matches' : 'event_type')
  const heard = new Set(channels)
  return (message) => {
    if (!hearsType(message)) return 'event_type'
    const { channels: named } = message
    const fits = named.length === 0 || named.some((channel) => heard.has(channel))
    return fits ? 'matches' : 'channels'
  }
}

/** Operational events are only for endpoints that name their type: others may be a customer's. */
function typeTest(patterns: readonly string[] | null): (message: Addressed) => boolean {
  if (patterns === null) return (message) => !message.isOperational
  const named = namedTest(patterns.filter((pattern) => pattern !== '*'))
  if (!patterns.includes('*')) return ({ type }) => named(type)
  return (message) => !message.isOperational || named(message.type)
}

function namedTest(patterns: readonly string[]): (type: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('.*')))
  // Includes the dot: `user.` is a prefix of neither `user` nor `users.created`.
  const prefixes = patterns
    .filter((pattern) => pattern.endsWith('.*'))
    .map((pattern) => pattern.slice(0, -1))
  if (prefixes.length === 0) return (type) => exact.has(type)
  return (type) => exact.has(type) || prefixes.some((prefix) => type.startsWith(prefix))
}

/** Throws `invalid`, naming `field`, unless `text` is a valid message type. */
export function checkEventType(text: string, field: string): void {
  checkTypeLength(text, field)
  if (!TYPE.test(text)) {
    throw invalid('must be words of letters, digits, _ and - separated by dots', {
      field,
      rule: 'format',
    })
  }
}

/** Throws `invalid`, naming `field`, unless `text` is a type, a pattern (`user.*`) or `*`. */
export function checkTypePattern(text: string, field: string): void {
  if (text === '*') return
  checkTypeLength(text, field)
  if (!TYPE.test(text.replace(/\.\*$/, ''))) {
    throw invalid('must be a type like user.created, a pattern like user.*, or *', {
      field,
      rule: 'format',
    })
  }
}

function checkTypeLength(text: string, field: string) {
  if (text.length > MAX_TYPE_LENGTH) {
    throw invalid(`must have at most ${MAX_TYPE_LENGTH} characters`, { field, rule: 'too_long' })
  }
}

/** Throws `invalid`, naming `field`, for an invalid channel. Channels need no registration. */
export function checkChannel(text: string, field: string): void {
  if (!CHANNEL.test(text)) {
    throw invalid('must be 1 to 128 letters, digits or _ . : -', { field, rule: 'format' })
  }
}
