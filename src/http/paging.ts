import type { TProperties } from '@sinclair/typebox'
import { type TSchema, t } from 'elysia'
import { queryNumber } from './query-number.ts'

const USUAL = 20
const MAX = 100

const Limit = queryNumber({
  name: 'limit',
  rule: 'a whole number of at least 1',
  digits: /^0*[1-9][0-9]*$/,
  most: MAX,
  schema: {
    minimum: 1,
    default: USUAL,
    description: `Items per page. Values above ${MAX} count as ${MAX}.`,
  },
})

/** Optional for clients, although the handler always gets a number. */
const OptionalLimit = t.Optional(Limit) as unknown as typeof Limit

const Cursor = t.Optional(
  t.String({ description: '`next_cursor` of the previous page. Omit it for the first page.' }),
)

/** The query of a paged list. */
export const pageQuery = <Filters extends TProperties>(filters: Filters) =>
  t.Object({ ...filters, limit: OptionalLimit, cursor: Cursor }, { additionalProperties: true })

/** The response of a paged list. */
export const PageOf = <Item extends TSchema>(item: Item) =>
  t.Object({ data: t.Array(item), has_more: t.Boolean(), next_cursor: t.Nullable(t.String()) })
