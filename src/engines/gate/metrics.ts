import type { Metrics } from '../../platform/metrics.ts'

/** What is decided, for whoever counts. */
export interface AuthorizationEvents {
  decided(isAllowed: boolean): void
}

export function createAuthorizationMetrics(metrics: Metrics): AuthorizationEvents {
  const decisions = metrics.counter(
    'gate_decisions_total',
    'Authorization questions answered, by their answer.',
  )
  const allowed = decisions.with({ answer: 'allowed' })
  const denied = decisions.with({ answer: 'denied' })
  return { decided: (isAllowed) => (isAllowed ? allowed : denied).add() }
}
