import type { Endpoint } from '../../../delivery/endpoint-cache.ts'
import type { Delivery } from '../../../delivery/index.ts'
import type { LatestDelivery } from '../../../delivery/store/endpoint-summaries.ts'
import type { HourRow } from '../../../delivery/store/hours.ts'
import { createDeliveryLog, type DeliveryLog } from '../../../http/delivery-log/deliveries.ts'
import type {
  Delivery as DeliveryObject,
  Rotated,
  Rotation,
  TestResult,
} from '../../../http/delivery-log/model.ts'
import { presentTest, statusOf } from '../../../http/delivery-log/present.ts'
import { rotateSecret } from '../../../http/delivery-log/rotation.ts'
import type { Caller } from '../../../platform/caller.ts'
import { type Clock, isoTime } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import { invalid } from '../../../platform/errors.ts'
import { newId } from '../../../platform/ids.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import { EVENT_TYPES, type EventType, eventOf, webhookStream } from './events.ts'
import type { CreatedWebhook, NewWebhook, TestRequest, Webhook, WebhookChange } from './model.ts'

export type Webhooks = ReturnType<typeof createWebhooks>

const HOURS = 24

/** The attempts of one hour, identified by its start. */
interface Hour {
  hour: string
  succeeded: number
  failed: number
}

/** The newest delivery to a webhook. */
export type Latest = Pick<DeliveryObject, 'status' | 'created_at'>

const streamOf = ({ tenantId }: Caller) => webhookStream(tenantId)

const cursorsOf = ({ tenantId }: Caller) => createCursor(`gate deliveries of ${tenantId}`)

/** Webhook endpoints for identity events: contract/gate, settings and events. */
export function createWebhooks(parts: { delivery: Delivery; clock: Clock; metering: Metering }) {
  const { delivery, clock, metering } = parts
  const { endpoints } = delivery

  /** All endpoints, oldest first. */
  const list = (caller: Caller): { webhooks: Webhook[] } => ({
    webhooks: endpoints.all(streamOf(caller)).map(present),
  })

  async function create(caller: Caller, input: NewWebhook): Promise<CreatedWebhook> {
    const { url, secret } = input
    const created = await endpoints.create(streamOf(caller), caller.actor, {
      ...fieldsOf(input),
      url,
      format: 'raw',
      ...(secret !== undefined && { secret }),
    })
    return { ...present(created), secret: created.secrets[0]?.secret ?? '' }
  }

  async function update(caller: Caller, id: string, input: WebhookChange): Promise<Webhook> {
    if ('secret' in input)
      throw invalid('cannot be changed here. To replace it, use rotate-secret', {
        field: 'secret',
        rule: 'read_only',
      })
    return present(await endpoints.update(streamOf(caller), caller.actor, id, fieldsOf(input)))
  }

  /** Sends or discards what was held since the webhook was paused. */
  async function resume(caller: Caller, id: string, held: 'drain' | 'discard'): Promise<Webhook> {
    const change = { isActive: true, held }
    return present(await endpoints.update(streamOf(caller), caller.actor, id, change))
  }

  const remove = (caller: Caller, id: string): Promise<void> =>
    endpoints.remove(streamOf(caller), caller.actor, id)

  const rotate = (caller: Caller, id: string, input: Rotation | null): Promise<Rotated> =>
    rotateSecret(endpoints, streamOf(caller), caller, id, input)

  /** Sends a test event without an identity, with every field of a real one. */
  async function test(caller: Caller, id: string, input: TestRequest | null): Promise<TestResult> {
    const endpoint = endpoints.open(streamOf(caller), id)
    metering.reserve(caller)
    const type = input?.event_type ?? 'identity.created'
    const about = { type, identityId: newId(), payload: SAMPLES[type] }
    const event = eventOf(caller.tenantId, about, clock.now())
    const { sent } = await delivery.testEvent(endpoint, event)
    return presentTest(sent, event.payload)
  }

  /** Attempts per hour of the last day; hours without attempts are omitted. */
  function hours(caller: Caller, id: string): Hour[] {
    endpoints.get(streamOf(caller), id)
    return delivery.hours.between(id, firstHour(), clock.now() + 1).map(presentHour)
  }

  /** The attempts of the last day at all webhooks, and the newest delivery to each, by webhook. */
  function recent(caller: Caller) {
    const stream = streamOf(caller)
    const { daySums, latest } = delivery.endpointSummaries
    return {
      days: new Map(daySums(stream, firstHour()).map((row) => [row.endpointId, presentHour(row)])),
      latest: new Map(latest(stream).map((row) => [row.endpointId, presentLatest(row)])),
    }
  }

  const firstHour = (): number => clock.now() - (clock.now() % HOUR_MS) - (HOURS - 1) * HOUR_MS

  const log: DeliveryLog = createDeliveryLog({ delivery, metering, streamOf, cursorsOf })

  return { list, create, update, resume, remove, rotate, test, hours, recent, log }
}

const presentHour = ({ hour, succeeded, failed }: HourRow): Hour => ({
  hour: isoTime(hour),
  succeeded,
  failed,
})

const presentLatest = (row: LatestDelivery): Latest => ({
  status: statusOf(row),
  created_at: isoTime(row.createdAt),
})

const present = ({ id, url, eventTypes, isActive, createdAt }: Endpoint): Webhook => ({
  id,
  url,
  events: (eventTypes as EventType[] | null) ?? [...EVENT_TYPES],
  active: isActive,
  created_at: isoTime(createdAt),
})

/** Only the given fields. A new endpoint without a list of events receives all of them. */
const fieldsOf = ({ url, events, active }: WebhookChange) => ({
  ...(url !== undefined && { url }),
  ...(events !== undefined && { eventTypes: [...new Set(events)] }),
  ...(active !== undefined && { isActive: active }),
})

const EMAIL = 'test@example.com'
const SAMPLES: Record<EventType, Record<string, string>> = {
  'identity.created': { email: EMAIL, method: 'password' },
  'identity.deleted': {},
  'identity.login': { email: EMAIL },
  'identity.password_changed': { method: 'password' },
  'identity.email_verified': {},
  'identity.state_changed': { state: 'inactive' },
}
