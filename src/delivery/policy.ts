import type { Config } from '../config/index.ts'
import type { Engine } from '../platform/engines.ts'
import type { BreakerRules } from './health.ts'
import type { Manner } from './send.ts'
import type { StreamName } from './stream.ts'
import type { Schedule } from './transitions.ts'

/** How the events of one engine are delivered. */
export interface Policy extends Schedule, Manner {
  /** The wait before the first attempt. */
  firstDelayMs: number
  /** Null: however often an endpoint fails, it is called for the next delivery as for the first. */
  breaker: BreakerRules | null
}

/** Each engine that publishes has one. */
type Policies = Partial<Record<Engine, Policy>>

export type PolicyOf = (stream: StreamName) => Policy

/** Of a retry's delay: receivers that fail together are not called together. */
const RELAY_JITTER = 0.2
const GATE_TIMEOUT_MS = 10_000

/**
 * Events of the relay are pressed on their receivers for days, with regard for how these are.
 * Those of gate are tried a few times in quick succession.
 */
export function policiesOf({ relay, gate }: Pick<Config, 'relay' | 'gate'>, random: () => number) {
  const [firstDelayMs = 0, ...retryDelaysMs] = gate.webhookDelaysMs
  return {
    relay: {
      firstDelayMs: 0,
      retryDelaysMs: relay.retryDelaysMs,
      jitter: RELAY_JITTER,
      random,
      timeoutMs: relay.timeoutMs,
      heedsReceiver: true,
      breaker: { breakerFailures: relay.breakerFailures },
    },
    gate: {
      firstDelayMs,
      retryDelaysMs,
      jitter: 0,
      random,
      timeoutMs: GATE_TIMEOUT_MS,
      heedsReceiver: false,
      breaker: null,
    },
  } satisfies Policies
}

/** Throws for a stream of an engine without a policy: nothing of it must be stored. */
export const createPolicyOf =
  (policies: Policies): PolicyOf =>
  (stream) => {
    const policy = policies[stream.split('.')[0] as Engine]
    if (!policy) throw new Error(`events of ${stream} have no policy of delivery`)
    return policy
  }
