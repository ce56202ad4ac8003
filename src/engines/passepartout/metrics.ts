import type { Metrics } from '../../platform/metrics.ts'

/** What becomes of a sign-in. */
export type LoginEvent = 'started' | 'opened' | 'approved' | 'denied' | 'mismatched' | 'turned_away'

/** Whoever counts. */
export interface LoginEvents {
  happened(what: LoginEvent): void
  /** A call to a messenger that came to nothing. */
  callFailed(reason: string): void
}

export function createLoginMetrics(
  metrics: Metrics,
  gauges: { receiving: () => number; waiting: () => number },
): LoginEvents {
  const logins = metrics.counter('logins_total', 'Messenger sign-ins, by what happened.')
  const failures = metrics.counter(
    'messenger_failures_total',
    'Calls to messengers that failed, by reason.',
  )
  metrics.gauge('bots_receiving', 'Bots whose messages this process receives.', () => [
    { value: gauges.receiving() },
  ])
  metrics.gauge('logins_held', 'Questions for a status that wait for news.', () => [
    { value: gauges.waiting() },
  ])
  return {
    happened: (what) => logins.add({ what }),
    callFailed: (reason) => failures.add({ reason }),
  }
}
