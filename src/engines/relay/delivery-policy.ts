import type { Config } from '../../config/index.ts'
import type { Policy } from '../../delivery/policy.ts'

/**
 * The share of a retry's delay added at random, so that endpoints that fail together are not
 * retried together.
 */
const JITTER = 0.2

/**
 * The delivery policy of the relay. Messages are retried for days, and a receiver can request a
 * delay.
 */
export const relayPolicy = (relay: Config['relay'], random: () => number): Policy => ({
  firstDelayMs: 0,
  retryDelaysMs: relay.retryDelaysMs,
  jitter: JITTER,
  random,
  timeoutMs: relay.timeoutMs,
  heedsReceiver: true,
  breaker: { breakerFailures: relay.breakerFailures },
})
