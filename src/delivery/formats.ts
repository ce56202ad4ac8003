import { isoTime } from '../platform/clock.ts'

export const FORMATS = ['standard', 'raw', 'cloudevents'] as const
export type Format = (typeof FORMATS)[number]

/** What every format says about a message, each in its own way. */
export interface Message {
  id: string
  tenantId: string
  type: string
  /** Milliseconds since the epoch. */
  acceptedAt: number
  /** JSON text exactly as the producer spelled it. */
  payload: string
}

/**
 * The body of a request. It follows from what was stored on acceptance alone, so every attempt
 * sends the same bytes. The payload is spliced in as text: parsed and written again, `1.0` would
 * become `1`, and large numbers others.
 */
export function bodyOf(format: Format, message: Message): string {
  return BODIES[format](message)
}

export const contentTypeOf = (format: Format): string =>
  format === 'cloudevents' ? 'application/cloudevents+json' : 'application/json'

const BODIES: Record<Format, (message: Message) => string> = {
  raw: ({ payload }) => payload,
  standard: ({ type, acceptedAt, payload }) =>
    withData({ type, timestamp: isoTime(acceptedAt) }, payload),
  cloudevents: ({ id, tenantId, type, acceptedAt, payload }) =>
    withData(
      {
        specversion: '1.0',
        id,
        source: `urn:uuid:${tenantId}`,
        type,
        time: isoTime(acceptedAt),
        datacontenttype: 'application/json',
      },
      payload,
    ),
}

/** An object of these fields and, last, `data`. */
const withData = (fields: Record<string, string>, payload: string): string =>
  `${JSON.stringify(fields).slice(0, -1)},"data":${payload}}`
