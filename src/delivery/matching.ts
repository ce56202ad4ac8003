import { invalid } from '../platform/errors.ts'

/** Which messages an endpoint wants. */
export interface Filter {
  /** Types and patterns such as `user.*`; null stands for all. */
  eventTypes: readonly string[] | null
  /** With some, a message that names channels has to name one of them; none stands for all. */
  channels: readonly string[]
}

/** The filter in the columns of an endpoint, which hold JSON. */
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
}

/** Whether a message reaches an endpoint, or else the first reason why it does not. */
export type MatchResult = 'matches' | 'event_type' | 'channels'

export type CompiledFilter = (type: string, channels: readonly string[]) => MatchResult

/** As long as the longest type, and still matches every type that there can be below it. */
const MAX_TYPE_LENGTH = 256

const TYPE = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/
const CHANNEL = /^[A-Za-z0-9_.:-]{1,128}$/

/** For one question; whoever asks about many messages compiles the filter. */
export const matchOf = (filter: Filter, { type, channels }: Addressed): MatchResult =>
  compileFilter(filter)(type, channels)

/** A filter made ready to be asked for every message: a thousand may be asked about each. */
export function compileFilter({ eventTypes, channels }: Filter): CompiledFilter {
  const hearsType = typeTest(eventTypes)
  if (channels.length === 0) return (type) => (hearsType(type) ? 'matches' : 'event_type')
  const heard = new Set(channels)
  return (type, named) => {
    if (!hearsType(type)) return 'event_type'
    const fits = named.length === 0 || named.some((channel) => heard.has(channel))
    return fits ? 'matches' : 'channels'
  }
}

/**
 * What a tenant is told about itself. An endpoint may belong to one of its customers: these reach
 * those alone that name them.
 */
const OWN_AFFAIRS = new Set(['usage.threshold'])

function typeTest(patterns: readonly string[] | null): (type: string) => boolean {
  if (patterns === null) return (type) => !OWN_AFFAIRS.has(type)
  const named = namedTest(patterns.filter((pattern) => pattern !== '*'))
  return patterns.includes('*') ? (type) => !OWN_AFFAIRS.has(type) || named(type) : named
}

function namedTest(patterns: readonly string[]): (type: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('.*')))
  // With their dot: `user.` begins neither `user` nor `users.created`.
  const prefixes = patterns
    .filter((pattern) => pattern.endsWith('.*'))
    .map((pattern) => pattern.slice(0, -1))
  if (prefixes.length === 0) return (type) => exact.has(type)
  return (type) => exact.has(type) || prefixes.some((prefix) => type.startsWith(prefix))
}

/** Throws `invalid`, in terms of `field`, unless `text` can be the type of a message. */
export function checkEventType(text: string, field: string): void {
  checkTypeLength(text, field)
  if (!TYPE.test(text)) {
    throw invalid('must be words of letters, digits, _ and - separated by dots', {
      field,
      rule: 'format',
    })
  }
}

/** Likewise for what an endpoint may list: a type, `user.*` for all below it, or `*`. */
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

/** Likewise for a channel, which exists once somebody names it. */
export function checkChannel(text: string, field: string): void {
  if (!CHANNEL.test(text)) {
    throw invalid('must be 1 to 128 letters, digits or _ . : -', { field, rule: 'format' })
  }
}
