import { expect } from 'bun:test'
import { builtInType } from '../../../src/engines/relay/built-in-types.ts'
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

/** Checks a payload, and the example, of a built-in type: exactly the fields of its schema, with their types. */
export function expectDescribedType(type: string, payload: Record<string, unknown>) {
  const builtIn = builtInType('live', type)
  if (!builtIn) throw new Error(`${type} is not built in`)
  const { schema, example } = builtIn
  const properties = schema.properties as Record<string, { type?: string; enum?: unknown[] }>
  for (const data of [payload, example]) {
    expect(Object.keys(data).toSorted()).toEqual((schema.required as string[]).toSorted())
    for (const [name, value] of Object.entries(data)) {
      const { enum: choices, type: types } = properties[name] ?? {}
      expect([name, choices ?? [types].flat()]).toEqual([
        name,
        expect.arrayContaining([choices ? value : typeOf(value)]),
      ])
    }
  }
}

function typeOf(value: unknown): string {
  if (Number.isInteger(value)) return 'integer'
  if (Array.isArray(value)) return 'array'
  return value === null ? 'null' : typeof value
}
