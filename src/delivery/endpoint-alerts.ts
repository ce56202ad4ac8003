import type { Alerts } from '../platform/alerts/index.ts'
import { DAY_MS } from '../platform/durations.ts'
import type { Health } from './health.ts'
import type { Sent } from './send.ts'
import type { DisabledReason, EndpointRow } from './store/endpoints.ts'

export type EndpointAlerts = ReturnType<typeof createEndpointAlerts>

type Endpoint = Pick<EndpointRow, 'tenantId' | 'id' | 'stream' | 'url' | 'description'>

/** Alerts about endpoints and webhooks, which run within the commits that change their state. */
export function createEndpointAlerts({ alerts }: { alerts: Alerts }) {
  const subjectOf = (endpointId: string) => `endpoint:${endpointId}`

  const ofEndpoint = (endpoint: Endpoint) => ({
    tenantId: endpoint.tenantId,
    subject: subjectOf(endpoint.id),
    name: nameOf(endpoint),
    path: pathOf(endpoint),
  })

  /** The circuit breaker is open: deliveries are held until a trial succeeds. */
  const failing = (endpoint: Endpoint, { failures }: Health, sent: Sent) =>
    alerts.open({
      ...ofEndpoint(endpoint),
      kind: 'endpoint.failing',
      text: `${failures} attempts in a row failed, the last one with: ${reasonOf(sent)}. Deliveries are held and retried.`,
    })

  /** Gatehouse disabled the endpoint, which says more than that it fails. */
  function disabled(endpoint: Endpoint, reason: DisabledReason) {
    alerts.close(endpoint.tenantId, subjectOf(endpoint.id), ['endpoint.failing'])
    const why = reason === 'gone' ? 'It returned 410 Gone' : 'It failed for too long'
    const text = `${why}. Deliveries are held until you resume it.`
    alerts.open({ ...ofEndpoint(endpoint), kind: 'endpoint.disabled', text })
  }

  /** A delivery failed for good. */
  const exhausted = (endpoint: Endpoint, attempts: number, sent: Sent) =>
    alerts.open({
      ...ofEndpoint(endpoint),
      kind: 'message.exhausted',
      text: `A delivery failed after ${attempts} attempts, the last one with: ${reasonOf(sent)}. You can resend it.`,
      closesAfterMs: DAY_MS,
    })

  const recovered = (tenantId: string, endpointId: string) =>
    alerts.resolve({ tenantId, kind: 'endpoint.failing', subject: subjectOf(endpointId) })

  /** An operator or key has resumed the endpoint. */
  const resumed = (tenantId: string, endpointId: string) =>
    alerts.resolve({ tenantId, kind: 'endpoint.disabled', subject: subjectOf(endpointId) })

  /** The endpoint was paused or deleted on purpose. */
  const ended = (tenantId: string, endpointId: string) =>
    alerts.close(tenantId, subjectOf(endpointId))

  return { failing, disabled, exhausted, recovered, resumed, ended }
}

/** The path of a URL is often a secret, so that only the host is told. */
const nameOf = ({ description, url }: Endpoint): string =>
  description.trim() || (URL.parse(url)?.host ?? 'unknown')

function pathOf({ stream, id }: Endpoint): string {
  const [engine, environment] = stream.split('.')
  return engine === 'gate' ? `/webhooks/${id}` : `/${environment}/endpoints/${id}`
}

const reasonOf = ({ error, response }: Sent): string =>
  error?.message ?? (response ? `status ${response.status}` : 'no response')
