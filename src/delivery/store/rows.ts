import type { attempts, deliveries } from '../schema.ts'

export type DeliveryRow = typeof deliveries.$inferSelect
export type DeliveryState = DeliveryRow['state']
export type AttemptRow = typeof attempts.$inferSelect

/** First attempts and resends stand in the first line, retries and replays in the second. */
export const LINES = { first: 0, again: 1 } as const
export type Line = (typeof LINES)[keyof typeof LINES]

/** A delivery with an attempt under way, which its attempt id names. */
export type LeasedDelivery = DeliveryRow & { attemptId: string; startedAt: number }

/** A delivery together with what it delivers. */
export type DeliveryView = DeliveryRow & { messageId: string; eventType: string }

/** The columns that change as a delivery moves on. */
export const MOVING = [
  'state',
  'line',
  'run',
  'attempts',
  'tries',
  'trigger',
  'dueAt',
  'resumeAt',
  'wanted',
  'succeededAt',
  'endedAt',
] as const

/** Where a delivery goes from here; its lease ends with the step. */
export type Step = Pick<DeliveryRow, (typeof MOVING)[number]>
