import { type TProperties, type TUnsafe, Type } from '@sinclair/typebox'
import { t } from 'elysia'

/**
 * A body may hold more than we take, such as an object as it was read; an answer may not. For a
 * query, the kit refuses what the schema does not name.
 */
export const lenient = <P extends TProperties>(properties: P) =>
  t.Object(properties, { additionalProperties: true })

/** One of some words. The framework's own would fill in the first where none is given. */
export const oneOf = <const Words extends [string, ...string[]] | readonly string[]>(
  words: Words,
  options: { description?: string } = {},
) => {
  const { default: _, ...schema } = t.UnionEnum(words as unknown as [string, ...string[]], options)
  return schema as unknown as TUnsafe<Words[number]>
}

/** The same, or null. */
export const oneOfOrNull = <const Words extends readonly string[]>(
  words: Words,
  options: { description?: string } = {},
) => oneOf([...words, null] as unknown as Words, options) as TUnsafe<Words[number] | null>

/** A time as we answer it. */
export const Timestamp = t.String({ examples: ['2026-01-31T12:00:00.000Z'] })
export const OptionalTimestamp = t.Nullable(Timestamp)

/** A time as we are given it; `expected` is what an error message says of what does not fit. */
export const Moment = t.String({
  expected: 'a time like 2026-01-31T12:00:00Z',
  examples: ['2026-01-31T12:00:00Z'],
})

/** Where somebody wants to be called; whether that may be is for the guard of calls to say. */
export const Url = t.String({
  expected: 'an http or https URL',
  examples: ['https://example.com/hook'],
})

export const Count = Type.Integer({ minimum: 0 })

/** Headers as they went over the wire, or will. */
export const HeaderMap = t.Record(t.String(), t.String())

/** How many milliseconds each part of a call took. */
export const Timings = t.Nullable(t.Record(t.String(), Type.Number()))
