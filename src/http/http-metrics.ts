import type { Metrics } from '../platform/metrics.ts'

export interface ObservedRequest {
  /** The route's template, never the path as sent: paths are without number. */
  route: string
  method: string
  status: number
  durationMs: number
}

export type HttpMetrics = ReturnType<typeof createHttpMetrics>

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5] as const
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export function createHttpMetrics(metrics: Metrics) {
  const requests = metrics.counter('http_requests_total', 'Answered requests.')
  const durations = metrics.histogram(
    'http_request_duration_seconds',
    'Time from the request to the answer.',
    SECONDS,
  )

  function observe({ route, method, status, durationMs }: ObservedRequest) {
    const known = KNOWN_METHODS.has(method) ? method : 'other'
    requests.add({ route, method: known, status: `${status}` })
    durations.observe({ route }, durationMs / 1000)
  }

  return { observe }
}
