import type { Alerts } from '../platform/alerts/index.ts'
import { DAY_MS } from '../platform/durations.ts'
import {
  type Cause,
  type Endpoint,
  type EndpointEvents,
  nameOf,
  pathOf,
} from './endpoint-events.ts'
import type { Health } from './health.ts'
import { aboutEndpoint } from './operational.ts'
import type { Sent } from './send.ts'
import type { DisabledReason } from './store/endpoints.ts'

export type EndpointAlerts = ReturnType<typeof createEndpointAlerts>

/** An attempt that changed the state of its endpoint. */
export interface Ended {
  cause: Cause
  sent: Sent
}

/** Alerts and events about endpoints and webhooks, which run within the commits that change their state. */
export function createEndpointAlerts(parts: { alerts: Alerts; endpointEvents: EndpointEvents }) {
  const { alerts, endpointEvents } = parts

  const ofEndpoint = (endpoint: Endpoint) => ({
    tenantId: endpoint.tenantId,
    subject: aboutEndpoint(endpoint.id),
    name: nameOf(endpoint),
    path: pathOf(endpoint),
  })

  /** The circuit breaker is open: deliveries are held until a trial succeeds. */
  function failing(endpoint: Endpoint, health: Health, ended: Ended) {
    const isNew = alerts.open({
      ...ofEndpoint(endpoint),
      kind: 'endpoint.failing',
      text: `${health.failures} attempts in a row failed, the last one with: ${reasonOf(ended.sent)}. Deliveries are held and retried.`,
    })
    endpointEvents.failing(endpoint, { ...ended, health, isNew })
  }

  /** Gatehouse disabled the endpoint, which says more than that it fails. */
  function disabled(endpoint: Endpoint, health: Health, ended: Ended, reason: DisabledReason) {
    alerts.close(endpoint.tenantId, aboutEndpoint(endpoint.id), ['endpoint.failing'])
    const why = reason === 'gone' ? 'It returned 410 Gone' : 'It failed for too long'
    const text = `${why}. Deliveries are held until you resume it.`
    alerts.open({ ...ofEndpoint(endpoint), kind: 'endpoint.disabled', text })
    endpointEvents.disabled(endpoint, { ...ended, health, reason })
  }

  /** A delivery failed for good. */
  function exhausted(endpoint: Endpoint, attempts: number, ended: Ended) {
    alerts.open({
      ...ofEndpoint(endpoint),
      kind: 'message.exhausted',
      text: `A delivery failed after ${attempts} attempts, the last one with: ${reasonOf(ended.sent)}. You can resend it.`,
      closesAfterMs: DAY_MS,
    })
    endpointEvents.exhausted(endpoint, { ...ended, attempts })
  }

  function recovered(endpoint: Endpoint, cause: Cause) {
    if (resolve(endpoint, 'endpoint.failing')) endpointEvents.recovered(endpoint, cause)
  }

  /** An operator or key has resumed the endpoint. */
  function resumed(endpoint: Endpoint) {
    if (resolve(endpoint, 'endpoint.disabled')) endpointEvents.resumed(endpoint)
  }

  const resolve = ({ tenantId, id }: Endpoint, kind: 'endpoint.failing' | 'endpoint.disabled') =>
    alerts.resolve({ tenantId, kind, subject: aboutEndpoint(id) })

  /** The endpoint was paused or deleted on purpose. */
  const ended = (tenantId: string, endpointId: string) =>
    alerts.close(tenantId, aboutEndpoint(endpointId))

  return { failing, disabled, exhausted, recovered, resumed, ended }
}

const reasonOf = ({ error, response }: Sent): string =>
  error?.message ?? (response ? `status ${response.status}` : 'no response')
