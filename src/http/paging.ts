import { type TProperties, Type } from '@sinclair/typebox'
import { type TSchema, t } from 'elysia'
import { invalid } from '../platform/errors.ts'

const USUAL = 20
const MOST = 100

const RULE = 'a whole number of at least 1'
const DIGITS = /^0*[1-9][0-9]*$/

/**
 * A page size as the handler gets it. It is described as the number that it stands for and
 * read here, digit by digit: the framework's own coercion takes `1e2`, ` 5` and `0x10` too.
 */
const Limit = t
  .Transform(
    Type.Unsafe<string | number>(
      Type.Any({
        type: 'integer',
        minimum: 1,
        default: USUAL,
        description: `Items on a page; more than ${MOST} count as ${MOST}.`,
      }),
    ),
  )
  .Decode(readLimit)
  .Encode((limit) => limit)

/** A number comes by when the default is filled in, and again as the framework decodes twice. */
function readLimit(value: string | number): number {
  if (typeof value === 'number') return value
  if (!DIGITS.test(value)) throw invalid(`limit: expected ${RULE}`, 'invalid_request')
  return Math.min(Number(value), MOST)
}

/** Optional to the caller, while the handler always finds a number. */
const OptionalLimit = t.Optional(Limit) as unknown as typeof Limit

const Cursor = t.Optional(
  t.String({ description: '`next_cursor` of the page before; the first page without it.' }),
)

/** The query of a list that is read page by page; a parameter it does not name is ignored. */
export const pageQuery = <Filters extends TProperties>(filters: Filters) =>
  t.Object({ ...filters, limit: OptionalLimit, cursor: Cursor }, { additionalProperties: true })

/** The answer of such a list. */
export const PageOf = <Item extends TSchema>(item: Item) =>
  t.Object({
    data: t.Array(item),
    has_more: t.Boolean(),
    next_cursor: t.Nullable(t.String()),
  })
