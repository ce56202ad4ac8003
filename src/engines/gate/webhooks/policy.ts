import type { Config } from '../../../config/index.ts'
import type { Policy } from '../../../delivery/policy.ts'

const TIMEOUT_MS = 10_000

/** Events of gate are tried a few times in quick succession. */
export function webhookPolicy(gate: Config['gate'], random: () => number): Policy {
  const [firstDelayMs = 0, ...retryDelaysMs] = gate.webhookDelaysMs
  return {
    firstDelayMs,
    retryDelaysMs,
    jitter: 0,
    random,
    timeoutMs: TIMEOUT_MS,
    heedsReceiver: false,
    breaker: null,
  }
}
