import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { invalid } from '../platform/errors.ts'

/** Parsed digit by digit, because the framework's coercion also accepts `1e2`, ` 5` and `0x10`. */
export const queryNumber = (number: {
  name: string
  /** The error message for an invalid value: `a whole number of at least 1`. */
  rule: string
  /** Matches all valid spellings. */
  digits: RegExp
  most?: number
  schema: { minimum: number; maximum?: number; default?: number; description: string }
}) => {
  const { name, rule, digits, most = Number.MAX_SAFE_INTEGER, schema } = number

  /** Already a number if it is the default, or when the framework decodes it a second time. */
  function read(value: string | number): number {
    if (typeof value === 'number') return value
    if (!digits.test(value))
      throw invalid(`must be ${rule}`, { field: name, rule: 'range', code: 'invalid_request' })
    return Math.min(Number(value), most)
  }

  return t
    .Transform(Type.Unsafe<string | number>(Type.Any({ type: 'integer', ...schema })))
    .Decode(read)
    .Encode((value) => value)
}
