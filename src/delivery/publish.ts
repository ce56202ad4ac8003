import { newId } from '../platform/ids.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { EndpointCache, Subscriber } from './endpoint-cache.ts'
import { isOperational } from './operational.ts'
import { firstState } from './paused.ts'
import type { Policy, PolicyOf } from './policy.ts'
import type { SelfTest } from './self-test.ts'
import type { Store } from './store/index.ts'
import { DELIVERY_QUEUES } from './store/rows.ts'
import type { Stream } from './stream.ts'
import type { Wake } from './wake.ts'

export interface Event {
  /** The id, if the publisher has already chosen one. */
  id?: string | undefined
  type: string
  /** JSON text, delivered to subscribers exactly as given. */
  payload: string
  channels: string[]
  idempotencyKey?: string | undefined
  /** The person it is about, if it must be deleted with their data, or the subject of an operational event. */
  about?: string | undefined
}

/** What decides which endpoints get an event. */
type Addressed = Pick<Event, 'type' | 'channels' | 'about'>

/** The id of a published message and its position in the order of all messages. */
interface Published {
  id: string
  seq: number
}

/** Stores message and deliveries inside the caller's commit, together with the reported change. */
export function createPublish(parts: {
  store: Store
  endpointCache: EndpointCache
  circuitBreaker: CircuitBreaker
  selfTest: SelfTest
  wake: Wake
  policyOf: PolicyOf
}) {
  const { store, endpointCache, circuitBreaker, selfTest, wake, policyOf } = parts

  function publish(stream: Stream, event: Event, now: number): Published {
    // Throws for a stream without a delivery policy before anything is stored.
    const policy = policyOf(stream.name)
    const published = accept(stream, event, now)
    for (const subscriber of subscribersOf(stream, event))
      insertDelivery(stream, published.seq, subscriber, policy, now)
    return published
  }

  /** The endpoints, active or not, that get an event. */
  const subscribersOf = (stream: Stream, event: Addressed): Subscriber[] =>
    endpointCache.subscribersOf(stream).filter(isSubscriberTo(stream, event))

  const hasSubscriber = (stream: Stream, event: Addressed): boolean =>
    endpointCache.subscribersOf(stream).some(isSubscriberTo(stream, event))

  function isSubscriberTo(stream: Stream, event: Addressed) {
    const { type, channels } = event
    const address = { type, channels, isOperational: isOperational(event) }
    const test = selfTest(stream.tenantId, event)
    return (to: Subscriber) => test(to, to.match(address)) === 'matches'
  }

  /** Stores a message without delivering it. */
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
    const state = firstState(receiverOf(stream.tenantId, to), policy)
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
      queue: DELIVERY_QUEUES.first,
      trigger: 'schedule',
      dueAt,
      createdAt: now,
      endedAt: null,
    })
  }

  /**
   * Reads the database for an endpoint that seems paused, because nothing would release a delivery
   * held by mistake.
   */
  const receiverOf = (tenantId: string, { id, isActive }: Subscriber) => ({
    isActive: isActive || store.endpoints.isActive(tenantId, id),
    isBreakerOpen: circuitBreaker.isHoldingBack(id),
  })

  return { publish, hasSubscriber, accept }
}
