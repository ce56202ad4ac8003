import type { Engine, Environment } from '../platform/engines.ts'

/** Events of one engine and environment; what is in one stream never meets another. */
export type StreamName = `${Engine}.${Environment}`

/** One tenant's events of one engine and environment. */
export interface Stream {
  tenantId: string
  name: StreamName
}
