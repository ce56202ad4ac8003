import type { Config } from '../../config/index.ts'
import type { Policy } from '../../delivery/policy.ts'

/** Of a retry's delay, so that receivers that fail together are not called together. */
const JITTER = 0.2

/** Messages are retried for days, and receivers decide how soon. */
export const relayPolicy = (relay: Config['relay'], random: () => number): Policy => ({
  firstDelayMs: 0,
  retryDelaysMs: relay.retryDelaysMs,
  jitter: JITTER,
  random,
  timeoutMs: relay.timeoutMs,
  heedsReceiver: true,
  breaker: { breakerFailures: relay.breakerFailures },
})
