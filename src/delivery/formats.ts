import { isoTime } from '../platform/clock.ts'

export const FORMATS = ['standard', 'raw', 'cloudevents'] as const
export type Format = (typeof FORMATS)[number]

/** The data of a message that every format includes. */
export interface Message {
  id: string
  tenantId: string
  type: string
  /** Milliseconds since the epoch. */
  acceptedAt: number
  /** JSON text exactly as the producer sent it. */
  payload: string
}

/**
 * Depends only on data stored at acceptance, so every attempt sends the same bytes. The payload is
 * inserted as text, because reparsing would turn `1.0` into `1` and change large numbers.
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

/** A JSON object of these fields with `data` as the last. */
const withData = (fields: Record<string, string>, payload: string): string =>
  `${JSON.stringify(fields).slice(0, -1)},"data":${payload}}`
