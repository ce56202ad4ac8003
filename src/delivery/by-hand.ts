import type { Db } from '../db/open.ts'
import type { Actor, Audit } from '../platform/audit/index.ts'
import type { Clock } from '../platform/clock.ts'
import { conflict, fail, notFound } from '../platform/errors.ts'
import type { Store } from './store/index.ts'
import type { DeliveryView } from './store/rows.ts'
import type { Stream } from './stream.ts'
import { cancelled, newRun, resendNow, stepOf } from './transitions.ts'
import type { Wake } from './wake.ts'

/** What somebody does with a single delivery. */
export function createByHand(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: Store
  wake: Wake
}) {
  const { db, clock, audit, store, wake } = parts

  /**
   * Sends a delivery now, whatever state it is in. One that waits keeps its schedule, whose turn
   * comes again should this fail; one that has ended starts over. The breaker does not stop it.
   */
  const resend = (stream: Stream, actor: Actor, id: string): Promise<DeliveryView> =>
    db.commitFor(stream.tenantId, () => {
      const delivery = existing(stream, id)
      requireActiveEndpoint(delivery)
      if (delivery.state === 'leased') store.deliveries.want(delivery.seq, 'resend')
      else store.line.move(delivery.seq, sentAgain(delivery, clock.now()))
      wake.ready()
      record(stream, actor, 'delivery.resent', id)
      return existing(stream, id)
    })

  /**
   * Gives a delivery up. What is under way cannot be called back: it may still succeed, but is
   * not tried again.
   */
  const cancel = (stream: Stream, actor: Actor, id: string): Promise<DeliveryView> =>
    db.commitFor(stream.tenantId, () => {
      const delivery = existing(stream, id)
      if (delivery.endedAt !== null)
        throw conflict(`only an open delivery can be cancelled; this one is ${delivery.state}`)
      if (delivery.state === 'leased') store.deliveries.want(delivery.seq, 'cancel')
      else cancelNow(delivery)
      record(stream, actor, 'delivery.cancelled', id)
      return existing(stream, id)
    })

  const record = ({ tenantId }: Stream, actor: Actor, action: string, id: string) =>
    audit.record({ tenantId, actor, action, object: `delivery:${id}` })

  function existing(stream: Stream, id: string): DeliveryView {
    return store.deliveries.find(stream, id) ?? fail(notFound('delivery not found'))
  }

  function requireActiveEndpoint({ tenantId, endpointId }: DeliveryView) {
    const endpoint = store.endpoints.ofTenant(tenantId, endpointId)
    if (!endpoint) throw conflict('the endpoint of this delivery has been deleted')
    if (!endpoint.isActive)
      throw conflict('the endpoint is not active; activate it before a resend')
  }

  function cancelNow(delivery: DeliveryView) {
    const now = clock.now()
    store.line.move(delivery.seq, cancelled(delivery, now))
    store.hours.add(delivery.endpointId, now, { cancelled: 1 })
  }

  return { resend, cancel }
}

const sentAgain = (delivery: DeliveryView, now: number) =>
  delivery.endedAt === null
    ? resendNow(stepOf(delivery), now)
    : newRun(stepOf(delivery), 'resend', now)
