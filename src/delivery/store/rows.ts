import type { attempts, deliveries } from '../schema.ts'

export type DeliveryRow = typeof deliveries.$inferSelect
export type AttemptRow = typeof attempts.$inferSelect

/** The two queues: `first` has first attempts and resends, `again` has retries and replays. */
export const DELIVERY_QUEUES = { first: 0, again: 1 } as const
export type DeliveryQueue = keyof typeof DELIVERY_QUEUES

/** A delivery with an attempt in progress, identified by its attempt id. */
export type LeasedDelivery = DeliveryRow & { attemptId: string; startedAt: number }

/** A delivery with the id and type of its message. */
export type DeliveryView = DeliveryRow & { messageId: string; eventType: string }

/** The columns that change during a delivery. */
export const MOVING = [
  'state',
  'queue',
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

/** The next state of a delivery. Its lease ends with the step. */
export type Step = Pick<DeliveryRow, (typeof MOVING)[number]>
