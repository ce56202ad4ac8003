import type { Db } from '../db/open.ts'
import type { Actor, Audit } from '../platform/audit/index.ts'
import type { Clock } from '../platform/clock.ts'
import { conflict, fail, notFound } from '../platform/errors.ts'
import { requireActive } from './paused.ts'
import type { Store } from './store/index.ts'
import type { DeliveryView } from './store/rows.ts'
import type { Stream } from './stream.ts'
import { cancelled, newRun, resendNow, stepOf } from './transitions.ts'
import type { Wake } from './wake.ts'

/** Actions of people on a single delivery. */
export function createByHand(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: Store
  wake: Wake
}) {
  const { db, clock, audit, store, wake } = parts

  /**
   * Resends immediately, in any state and even with an open breaker. A pending retry schedule
   * continues unchanged if the resend fails; an ended delivery starts over.
   */
  const resend = (stream: Stream, actor: Actor, id: string): Promise<DeliveryView> =>
    db.commitFor(stream.tenantId, () => {
      const delivery = existing(stream, id)
      requireActive(store.endpoints.ofTenant(delivery.tenantId, delivery.endpointId), 'resend')
      if (delivery.state === 'leased') store.deliveries.want(delivery.seq, 'resend')
      else store.queue.move(delivery.seq, sentAgain(delivery, clock.now()))
      wake.ready()
      record(stream, actor, 'delivery.resent', id)
      return existing(stream, id)
    })

  /** An attempt in progress can't be recalled: it may still succeed, but is not retried. */
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

  function cancelNow(delivery: DeliveryView) {
    const now = clock.now()
    store.queue.move(delivery.seq, cancelled(delivery, now))
    store.hours.add(delivery.endpointId, now, { cancelled: 1 })
  }

  return { resend, cancel }
}

const sentAgain = (delivery: DeliveryView, now: number) =>
  delivery.endedAt === null
    ? resendNow(stepOf(delivery), now)
    : newRun(stepOf(delivery), 'resend', now)
