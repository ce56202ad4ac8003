import { newId } from '../platform/ids.ts'
import type { Directory, Subscriber } from './directory.ts'
import type { PolicyOf } from './policy.ts'
import type { Recovery } from './recovery.ts'
import type { Store } from './store/index.ts'
import { LINES } from './store/rows.ts'
import type { Stream } from './stream.ts'
import type { Wake } from './wake.ts'

export interface Event {
  type: string
  /** JSON text: what subscribers get to see, spelled like this. */
  payload: string
  channels: string[]
  idempotencyKey?: string | undefined
}

/** Where a message went into the order of all. */
interface Published {
  id: string
  seq: number
}

/**
 * Takes an event in, inside the caller's commit: the message and one delivery for each endpoint
 * that it is for are stored together with whatever the event reports, or not at all.
 */
export function createPublish(parts: {
  store: Store
  directory: Directory
  recovery: Recovery
  wake: Wake
  policyOf: PolicyOf
}) {
  const { store, directory, recovery, wake, policyOf } = parts

  function publish(stream: Stream, event: Event, now: number): Published {
    // Refuses a stream that nobody could deliver, before anything of it is stored.
    policyOf(stream.name)
    const published = accept(stream, event, now)
    for (const subscriber of directory.subscribersOf(stream)) {
      if (subscriber.verdict(event.type, event.channels) === 'matches')
        insertDelivery(stream, published.seq, subscriber, now)
    }
    return published
  }

  /** Only keeps the message: nobody is told of it. */
  function accept(stream: Stream, event: Event, now: number): Published {
    const id = newId()
    const seq = store.messages.insert({
      id,
      tenantId: stream.tenantId,
      stream: stream.name,
      type: event.type,
      channels: event.channels.length === 0 ? null : JSON.stringify(event.channels),
      payload: event.payload,
      idempotencyKey: event.idempotencyKey ?? null,
      acceptedAt: now,
    })
    return { id, seq }
  }

  function insertDelivery(stream: Stream, messageSeq: number, to: Subscriber, now: number) {
    const isTaken = takesDeliveries(stream, to)
    if (isTaken) wake.ready()
    store.deliveries.insert({
      id: newId(),
      tenantId: stream.tenantId,
      stream: stream.name,
      messageSeq,
      endpointId: to.id,
      format: to.format,
      state: isTaken ? 'ready' : 'held',
      line: LINES.first,
      trigger: 'schedule',
      dueAt: now,
      createdAt: now,
    })
  }

  /** Looked up for those that seem paused: what is held by mistake would wait for nobody. */
  const takesDeliveries = ({ tenantId }: Stream, { id, isActive }: Subscriber): boolean =>
    (isActive || store.endpoints.isActive(tenantId, id)) && !recovery.isHoldingBack(id)

  return { publish, accept }
}
