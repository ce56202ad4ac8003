import type { Engine } from '../platform/engines.ts'
import type { BreakerRules } from './health.ts'
import type { StreamName } from './stream.ts'
import type { Schedule } from './transitions.ts'

/** How the events of one engine are delivered. */
interface Policy extends Schedule, BreakerRules {
  /** The longest that an attempt may take. */
  timeoutMs: number
}

/** Each engine that publishes has one. */
export type Policies = Partial<Record<Engine, Policy>>

export type PolicyOf = (stream: StreamName) => Policy

/** Throws for a stream of an engine without a policy: nothing of it must be stored. */
export const createPolicyOf =
  (policies: Policies): PolicyOf =>
  (stream) => {
    const policy = policies[stream.split('.')[0] as Engine]
    if (!policy) throw new Error(`events of ${stream} have no policy of delivery`)
    return policy
  }
