import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { invalid } from '../platform/errors.ts'

/**
 * A whole number of a query as the handler gets it. It is described as the number that it stands
 * for and read here, digit by digit: the framework's own coercion takes `1e2`, ` 5` and `0x10` too.
 */
export const queryNumber = (number: {
  name: string
  /** What is said of a value that does not fit: `a whole number of at least 1`. */
  rule: string
  /** All spellings that fit. */
  digits: RegExp
  most?: number
  schema: { minimum: number; maximum?: number; default?: number; description: string }
}) => {
  const { name, rule, digits, most = Number.MAX_SAFE_INTEGER, schema } = number

  /** A number comes by when the default is filled in, and again as the framework decodes twice. */
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
