import { type TProperties, type TUnsafe, Type } from '@sinclair/typebox'
import { t } from 'elysia'

/**
 * For requests: clients send back objects as read. Queries still reject unknown parameters.
 * `defaults` are only documented: the framework would fill in the `default` of a field.
 */
export const lenient = <P extends TProperties>(
  properties: P,
  options: { examples?: readonly object[]; defaults?: { [name in keyof P]?: unknown } } = {},
) => t.Object(properties, { ...options, additionalProperties: true })

/** One of several words. Unlike the framework's own type, it has no default of the first word. */
export const oneOf = <const Words extends [string, ...string[]] | readonly string[]>(
  words: Words,
  options: { description?: string; examples?: readonly unknown[] } = {},
) => {
  const { default: _, ...schema } = t.UnionEnum(words as unknown as [string, ...string[]], options)
  return schema as unknown as TUnsafe<Words[number]>
}

/** One of several words, or null. */
export const oneOfOrNull = <const Words extends readonly string[]>(
  words: Words,
  options: { description?: string; examples?: readonly unknown[] } = {},
) => oneOf([...words, null] as unknown as Words, options) as TUnsafe<Words[number] | null>

/** A time in responses. */
export const Timestamp = t.String({ examples: ['2026-01-31T12:00:00.000Z'] })
export const OptionalTimestamp = t.Nullable(Timestamp)

/** A time in requests; `expected` is what an error message says about an invalid value. */
export const Moment = t.String({
  expected: 'a time like 2026-01-31T12:00:00Z',
  examples: ['2026-01-31T12:00:00Z'],
})

/** A URL to call. The outbound guard decides whether it is allowed. */
export const Url = t.String({
  expected: 'an http or https URL',
  examples: ['https://example.com/hook'],
})

export const Count = Type.Integer({ minimum: 0 })

/** Headers as sent or received. */
export const HeaderMap = t.Record(t.String(), t.String())

/** Milliseconds of each phase of a call. */
export const Timings = t.Nullable(t.Record(t.String(), Type.Number()))
