import type { Metrics } from '../../platform/metrics/index.ts'

const LOGIN_EVENTS = [
  'started',
  'opened',
  'approved',
  'denied',
  'mismatched',
  'turned_away',
] as const

/** What happened to a sign-in. */
export type LoginEvent = (typeof LOGIN_EVENTS)[number]

/** The reasons of a `MessengerError`, and `broken` for errors of Gatehouse. */
const FAILURES = [
  'unauthorized',
  'forbidden',
  'conflict',
  'rate_limited',
  'refused',
  'unavailable',
  'broken',
] as const

/** Counts messenger sign-ins and failed calls. */
export interface LoginEvents {
  happened(what: LoginEvent): void
  /** A call to a messenger has failed. */
  callFailed(reason: string): void
}

export function createLoginMetrics(
  metrics: Metrics,
  gauges: { receiving: () => number; waiting: () => number },
): LoginEvents {
  const logins = metrics.counter('logins_total', 'Messenger sign-ins by event.')
  const failures = metrics.counter(
    'messenger_failures_total',
    'Failed calls to messengers by reason.',
  )
  for (const what of LOGIN_EVENTS) logins.with({ what })
  for (const reason of FAILURES) failures.with({ reason })
  metrics.gauge(
    'bots_receiving',
    'Bots whose messages the server receives.',
    () => [{ value: gauges.receiving() }],
    'sum',
  )
  metrics.gauge(
    'logins_held',
    'Status requests held until the sign-in changes.',
    () => [{ value: gauges.waiting() }],
    'sum',
  )
  return {
    happened: (what) => logins.add({ what }),
    callFailed: (reason) => failures.add({ reason }),
  }
}
