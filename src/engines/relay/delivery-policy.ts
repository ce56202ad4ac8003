import type { Config } from '../../config/index.ts'
import type { Policy } from '../../delivery/policy.ts'

/** Random share of a retry's delay, so that endpoints that fail together are retried apart. */
const JITTER = 0.2

/** Messages are retried for days, and a receiver can request a delay. */
export const relayPolicy = (relay: Config['relay'], random: () => number): Policy => ({
  firstDelayMs: 0,
  retryDelaysMs: relay.retryDelaysMs,
  jitter: JITTER,
  random,
  timeoutMs: relay.timeoutMs,
  heedsReceiver: true,
  breaker: { breakerFailures: relay.breakerFailures },
})
