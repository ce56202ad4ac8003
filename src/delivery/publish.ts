import { newId } from '../platform/ids.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { EndpointCache, Subscriber } from './endpoint-cache.ts'
import type { Policy, PolicyOf } from './policy.ts'
import type { Store } from './store/index.ts'
import { LINES } from './store/rows.ts'
import type { Stream } from './stream.ts'
import type { Wake } from './wake.ts'

export interface Event {
  /** A new one, unless its publisher has one for it already. */
  id?: string | undefined
  type: string
  /** JSON text: what subscribers get to see, spelled like this. */
  payload: string
  channels: string[]
  idempotencyKey?: string | undefined
  /** Whom it is about, where it has to go with them. */
  about?: string | undefined
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
  endpointCache: EndpointCache
  circuitBreaker: CircuitBreaker
  wake: Wake
  policyOf: PolicyOf
}) {
  const { store, endpointCache, circuitBreaker, wake, policyOf } = parts

  function publish(stream: Stream, event: Event, now: number): Published {
    // Refuses a stream that nobody could deliver, before anything of it is stored.
    const policy = policyOf(stream.name)
    const published = accept(stream, event, now)
    for (const subscriber of endpointCache.subscribersOf(stream)) {
      if (subscriber.verdict(event.type, event.channels) === 'matches')
        insertDelivery(stream, published.seq, subscriber, policy, now)
    }
    return published
  }

  /** Only keeps the message: nobody is told of it. */
  function accept(stream: Stream, event: Event, now: number): Published {
    const { id = newId() } = event
    const seq = store.messages.insert({
      id,
      tenantId: stream.tenantId,
      stream: stream.name,
      type: event.type,
      channels: event.channels.length === 0 ? null : JSON.stringify(event.channels),
      payload: event.payload,
      idempotencyKey: event.idempotencyKey ?? null,
      about: event.about ?? null,
      acceptedAt: now,
    })
    return { id, seq }
  }

  function insertDelivery(
    stream: Stream,
    messageSeq: number,
    to: Subscriber,
    policy: Policy,
    now: number,
  ) {
    const state = firstState(stream.tenantId, to, policy)
    const dueAt = now + policy.firstDelayMs
    if (state === 'ready') wake.ready()
    if (state === 'waiting') wake.waiting(dueAt)
    store.deliveries.insert({
      id: newId(),
      tenantId: stream.tenantId,
      stream: stream.name,
      messageSeq,
      endpointId: to.id,
      format: to.format,
      state,
      line: LINES.first,
      trigger: 'schedule',
      dueAt,
      createdAt: now,
      endedAt: null,
    })
  }

  /** Looked up for those that seem paused: what is held by mistake would wait for nobody. */
  function firstState(tenantId: string, { id, isActive }: Subscriber, { firstDelayMs }: Policy) {
    if (!isActive && !store.endpoints.isActive(tenantId, id)) return 'held'
    if (circuitBreaker.isHoldingBack(id)) return 'held'
    return firstDelayMs > 0 ? 'waiting' : 'ready'
  }

  return { publish, accept }
}
