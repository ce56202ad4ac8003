import type { Delivery } from '../../delivery/index.ts'
import type { Stream } from '../../delivery/stream.ts'
import { isoTime } from '../../platform/clock.ts'
import { newId } from '../../platform/ids.ts'

/** What webhooks can be told of: contract/gate, events. */
export const EVENT_TYPES = [
  'identity.created',
  'identity.deleted',
  'identity.login',
  'identity.password_changed',
  'identity.email_verified',
  'identity.state_changed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** Something that has happened to a person. */
interface GateEvent {
  type: EventType
  identityId: string
  payload: Record<string, string>
}

/** People are the same whichever environment a key is for, and so are the webhooks. */
export const webhookStream = (tenantId: string): Stream => ({ tenantId, name: 'gate.live' })

/** The event as webhooks get it: contract/gate, envelope. */
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

/** Tells the tenant's webhooks, from within the commit of the change that an event reports. */
export const createEvents =
  ({ delivery }: { delivery: Delivery }) =>
  (tenantId: string, event: GateEvent, now: number) => {
    delivery.publish(
      webhookStream(tenantId),
      { ...eventOf(tenantId, event, now), channels: [], about: event.identityId },
      now,
    )
  }
