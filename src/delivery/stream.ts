import type { Engine, Environment } from '../platform/engines.ts'

/** The events of one engine and environment. Streams are fully separate. */
export type StreamName = `${Engine}.${Environment}`

/** One tenant's events of one engine and environment. */
export type Stream = { tenantId: string; name: StreamName }
