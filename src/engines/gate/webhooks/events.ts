import type { Delivery } from '../../../delivery/index.ts'
import type { Stream } from '../../../delivery/stream.ts'
import { isoTime } from '../../../platform/clock.ts'
import { newId } from '../../../platform/ids.ts'

/** Event types that webhooks can subscribe to: contract/gate, events. */
export const EVENT_TYPES = [
  'identity.created',
  'identity.deleted',
  'identity.login',
  'identity.password_changed',
  'identity.email_verified',
  'identity.state_changed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** An event about an identity. */
interface GateEvent {
  type: EventType
  identityId: string
  payload: Record<string, string>
}

/** Identities and webhooks are shared by both environments, so there is one stream per tenant. */
export const webhookStream = (tenantId: string): Stream => ({ tenantId, name: 'gate.live' })

/** The event body as delivered to webhooks: contract/gate, envelope. */
export function eventOf(
  tenantId: string,
  { type, identityId, payload }: GateEvent,
  now: number,
): { id: string; type: EventType; payload: string } {
  const id = newId()
  const envelope = {
    event_id: id,
    event_type: type,
    tenant_id: tenantId,
    created_at: isoTime(now),
    data: { identity_id: identityId, payload },
  }
  return { id, type, payload: JSON.stringify(envelope) }
}

export type Events = ReturnType<typeof createEvents>

/** Publishes events to the tenant's webhooks within the commit of the change that they report. */
export const createEvents =
  ({ delivery }: { delivery: Delivery }) =>
  (tenantId: string, event: GateEvent, now: number) => {
    delivery.publish(
      webhookStream(tenantId),
      { ...eventOf(tenantId, event, now), channels: [], about: event.identityId },
      now,
    )
  }
