import { Type } from '@sinclair/typebox'
import { t } from 'elysia'

/** A status, or a class of them such as `5xx`. Numbers may be written as text. */
export type StatusPattern = number | string

const NOT_A_STATUS = 'a status such as 404 or a class such as "5xx"'

export const StatusPatterns = t.Array(
  t.Union([
    Type.Integer({ minimum: 100, maximum: 599 }),
    t.String({ pattern: '^[1-5](xx|[0-9][0-9])$', expected: NOT_A_STATUS }),
  ]),
  { minItems: 1, maxItems: 20, expected: 'a list of 1 to 20 statuses such as ["5xx", 429]' },
)

export const matchesStatus = (patterns: readonly StatusPattern[], status: number): boolean =>
  patterns.some((pattern) => {
    const text = `${pattern}`
    return text.endsWith('xx') ? text.startsWith(`${status}`.charAt(0)) : text === `${status}`
  })
