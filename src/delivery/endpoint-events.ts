import type { Clock } from '../platform/clock.ts'
import type { Health } from './health.ts'
import { aboutEndpoint, isOperational, type Tell } from './operational.ts'
import type { Sent } from './send.ts'
import type { DisabledReason, EndpointRow } from './store/endpoints.ts'
import { hourOf } from './store/hours.ts'
import type { Store } from './store/index.ts'
import type { LeasedDelivery } from './store/rows.ts'

export type EndpointEvents = ReturnType<typeof createEndpointEvents>

export type Endpoint = Pick<EndpointRow, 'tenantId' | 'id' | 'stream' | 'url' | 'description'>
/** The delivery whose attempt changed an endpoint. */
export type Cause = Pick<LeasedDelivery, 'id' | 'tenantId' | 'messageSeq'>

const STATES = ['endpoint.failing', 'endpoint.disabled', 'endpoint.recovered']

/** Operational events about endpoints and webhooks, which are part of the commits that change their state. */
export function createEndpointEvents(parts: { store: Store; clock: Clock; tell: Tell }) {
  const { store, clock, tell } = parts

  /**
   * The message that a cause delivers; undefined if it is an operational event, because no operational
   * event may lead to another one. Otherwise endpoints that tell of each other would never stop.
   */
  function messageOf({ tenantId, messageSeq }: Cause) {
    const message = store.messages.atSeq(tenantId, messageSeq)
    return message && !isOperational(message) ? message : undefined
  }

  const lastOf = ({ tenantId, id }: Endpoint, types: readonly string[]) =>
    store.messages.lastAbout(tenantId, aboutEndpoint(id), types)

  const isReportedToFail = (endpoint: Endpoint): boolean =>
    lastOf(endpoint, STATES)?.type === 'endpoint.failing'

  /** The breaker opened. If operational events opened it first, the next failure of another message is reported. */
  const failing = (
    endpoint: Endpoint,
    { cause, sent, health, isNew }: { cause: Cause; sent: Sent; health: Health; isNew: boolean },
  ) =>
    tellState(endpoint, 'failing', () =>
      messageOf(cause) && (isNew || !isReportedToFail(endpoint))
        ? { attempts: health.failures, ...errorOf(sent) }
        : undefined,
    )

  const disabled = (
    endpoint: Endpoint,
    ended: { cause: Cause; sent: Sent; health: Health; reason: DisabledReason },
  ) =>
    tellState(endpoint, 'disabled', () => {
      const { cause, sent, health, reason: disabled_reason } = ended
      if (!messageOf(cause)) return undefined
      return { disabled_reason, attempts: health.failures, ...errorOf(sent) }
    })

  /** A delivery succeeded again. That of an operational event may end a failure that was reported. */
  const recovered = (endpoint: Endpoint, cause: Cause) =>
    tellState(endpoint, 'recovered', () =>
      messageOf(cause) || isReportedToFail(endpoint) ? { previous_state: 'failing' } : undefined,
    )

  /** A person or key has resumed a disabled endpoint. */
  const resumed = (endpoint: Endpoint) =>
    tellState(endpoint, 'recovered', () => ({ previous_state: 'disabled' }))

  /** A delivery failed for good. Told once per endpoint and hour, with the number since the last time. */
  const exhausted = (
    endpoint: Endpoint,
    { cause, sent, attempts }: { cause: Cause; sent: Sent; attempts: number },
  ) =>
    tell({
      tenantId: endpoint.tenantId,
      type: 'message.exhausted',
      about: aboutEndpoint(endpoint.id),
      path: deliveryPathOf(endpoint, cause.id),
      fields() {
        const last = lastOf(endpoint, ['message.exhausted'])
        if (last && last.acceptedAt >= hourOf(clock.now())) return undefined
        const message = messageOf(cause)
        if (!message) return undefined
        return {
          message_id: message.id,
          event_type: message.type,
          delivery_id: cause.id,
          ...subjectOf(endpoint),
          attempts,
          ...errorOf(sent),
          count: last ? countSince(endpoint, last.acceptedAt) : 1,
        }
      },
    })

  /** The one that `last` reported is counted in its hour, too. */
  const countSince = ({ id }: Endpoint, last: number): number =>
    Math.max(store.hours.exhaustedSince(id, last) - 1, 1)

  const tellState = (
    endpoint: Endpoint,
    state: 'failing' | 'disabled' | 'recovered',
    reason: () => Record<string, unknown> | undefined,
  ) =>
    tell({
      tenantId: endpoint.tenantId,
      type: `endpoint.${state}`,
      about: aboutEndpoint(endpoint.id),
      path: pathOf(endpoint),
      fields() {
        const why = reason()
        return why && { ...subjectOf(endpoint), ...why }
      },
    })

  return { failing, disabled, recovered, resumed, exhausted }
}

const subjectOf = (endpoint: Endpoint) => ({
  endpoint_id: endpoint.id,
  kind: isWebhook(endpoint) ? 'webhook' : 'endpoint',
  name: nameOf(endpoint),
})

/** Without texts, which may contain what a receiver sent. */
const errorOf = ({ error, response }: Sent) => ({
  error_code: error?.code ?? null,
  response_status: response?.status ?? null,
})

/** Whether an endpoint is a webhook of user events. */
const isWebhook = ({ stream }: Endpoint): boolean => stream.startsWith('gate.')

/** The path of a URL is often a secret, so only the host is reported. */
export const nameOf = ({ description, url }: Endpoint): string =>
  description.trim() || (URL.parse(url)?.host ?? 'unknown')

/** The page of an endpoint, below its tenant. */
export function pathOf(endpoint: Endpoint): string {
  const [, environment] = endpoint.stream.split('.')
  return isWebhook(endpoint)
    ? `/webhooks/${endpoint.id}`
    : `/${environment}/endpoints/${endpoint.id}`
}

function deliveryPathOf(endpoint: Endpoint, id: string): string {
  const [, environment] = endpoint.stream.split('.')
  return isWebhook(endpoint)
    ? `${pathOf(endpoint)}/deliveries/${id}`
    : `/${environment}/deliveries/${id}`
}
