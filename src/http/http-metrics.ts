import type { Metrics } from '../platform/metrics/index.ts'

export interface ObservedRequest {
  /** The route's template; the paths as sent are too many. */
  route: string
  method: string
  status: number
  durationMs: number
}

export type HttpMetrics = ReturnType<typeof createHttpMetrics>

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5] as const
/** Exported from the start, so that `rate()` counts the first event of each. */
const REFUSALS = [
  'rate_limited',
  'allowance_exhausted',
  'spend_cap_reached',
  'account_suspended',
  'renewal_unpaid',
  'unavailable',
]
const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export function createHttpMetrics(metrics: Metrics) {
  const requests = metrics.counter('http_requests_total', 'HTTP requests.')
  const durations = metrics.histogram('http_request_duration_seconds', 'Response time.', SECONDS)

  const refusals = metrics.counter(
    'refusals_total',
    'Errors because of limits, billing or storage, by error code; without flow pages and forms.',
  )

  const byCode = new Map(REFUSALS.map((code) => [code, refusals.with({ code })]))

  const series = new Map<string, ReturnType<typeof seriesOf>>()

  function seriesOf(route: string, method: string, status: number) {
    const known = KNOWN_METHODS.has(method) ? method : 'other'
    return {
      count: requests.with({ route, method: known, status: `${status}` }),
      time: durations.with({ route }),
    }
  }

  /** Unknown methods count as `other`, which keeps the number of series small. */
  function observe({ route, method, status, durationMs }: ObservedRequest) {
    const name = `${status} ${KNOWN_METHODS.has(method) ? method : 'other'} ${route}`
    const found = series.get(name) ?? seriesOf(route, method, status)
    series.set(name, found)
    found.count.add()
    found.time.observe(durationMs / 1000)
  }

  const refused = (code: string) => (byCode.get(code) ?? refusals.with({ code })).add()

  return { observe, refused }
}
