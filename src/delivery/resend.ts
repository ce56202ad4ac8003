import type { Db } from '../db/open.ts'
import type { Clock } from '../platform/clock.ts'
import { conflict, fail, notFound } from '../platform/errors.ts'
import type { Directory } from './directory.ts'
import type { Store } from './store/index.ts'
import type { DeliveryView } from './store/rows.ts'
import type { Stream } from './stream.ts'
import { newRun, resendNow, stepOf } from './transitions.ts'
import type { Wake } from './wake.ts'

/**
 * Sends a delivery now, whatever state it is in. One that waits keeps its schedule, whose turn
 * comes again should this fail; one that has ended starts over. The breaker does not stop it.
 */
export function createResend(parts: {
  db: Db
  clock: Clock
  store: Store
  directory: Directory
  wake: Wake
}) {
  const { db, clock, store, directory, wake } = parts

  return (stream: Stream, id: string): Promise<DeliveryView> =>
    db.commit(() => {
      const delivery = existing(stream, id)
      requireActive(delivery)
      if (delivery.state === 'leased') store.deliveries.wantResend(delivery.seq)
      else store.line.move(delivery.seq, sentAgain(delivery, clock.now()))
      wake.ready()
      return existing(stream, id)
    })

  function existing(stream: Stream, id: string): DeliveryView {
    return store.deliveries.find(stream, id) ?? fail(notFound('delivery not found'))
  }

  function requireActive({ tenantId, endpointId }: DeliveryView) {
    const endpoint = directory.find(tenantId, endpointId)
    if (!endpoint) throw conflict('the endpoint of this delivery has been deleted')
    if (!endpoint.isActive)
      throw conflict('the endpoint is not active; switch it on and its held deliveries go out')
  }
}

const sentAgain = (delivery: DeliveryView, now: number) =>
  delivery.endedAt === null
    ? resendNow(stepOf(delivery), now)
    : newRun(stepOf(delivery), 'resend', now)
