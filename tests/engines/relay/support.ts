import type { TestApp } from '../../support/app.ts'

export const MESSAGES = '/v1/relay/messages'
export const ENDPOINTS = '/v1/relay/endpoints'
export const DELIVERIES = '/v1/relay/deliveries'
export const EVENT_TYPES = '/v1/relay/event-types'

export const SECOND = 1000
export const HALF_MINUTE = 30 * SECOND
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** The time at which tests begin. */
export const START = Date.parse('2026-03-01T12:00:30.000Z')

export const ACTOR = { kind: 'cli', source: 'test' } as const

/** An id that nothing has. */
export const UNKNOWN_ID = '01890000-0000-7000-8000-000000000000'

/** One number of one table, for what the API does not show. */
export const count = ({ db }: Pick<TestApp, 'db'>, from: string): number =>
  (db.client.query(`select count(*) as n from ${from}`).get() as { n: number }).n
