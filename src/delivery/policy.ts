import type { Engine } from '../platform/engines.ts'
import type { BreakerRules } from './health.ts'
import type { SendOptions } from './send.ts'
import type { StreamName } from './stream.ts'
import type { Schedule } from './transitions.ts'

/** How the events of one engine are delivered. */
export interface Policy extends Schedule, SendOptions {
  /** The delay before the first attempt. */
  firstDelayMs: number
  /** Null to keep calling endpoints however often they fail. */
  breaker: BreakerRules | null
}

/** A policy for each engine that publishes events. */
export type Policies = Partial<Record<Engine, Policy>>

export type PolicyOf = (stream: StreamName) => Policy

/** Throws for a stream of an engine without a policy, before any of its events is stored. */
export const createPolicyOf =
  (policies: Policies): PolicyOf =>
  (stream) => {
    const policy = policies[stream.split('.')[0] as Engine]
    if (!policy) throw new Error(`events of ${stream} have no delivery policy`)
    return policy
  }
