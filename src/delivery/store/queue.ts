import { and, eq, sql } from 'drizzle-orm'
import { compile, named } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { createQueueTable } from '../../platform/due/queue-table.ts'
import { deliveries } from '../schema.ts'
import { DELIVERY_QUEUES, type DeliveryQueue, type LeasedDelivery, type Step } from './rows.ts'

/** What the due loops read and write: the two queues of deliveries, and single deliveries. */
export function createQueueStore(db: Db) {
  const { orm, client } = db
  const $ = sql.placeholder
  const queueOf = (queue: DeliveryQueue) =>
    createQueueTable(db, deliveries, {
      target: 'endpointId',
      leaseId: 'attemptId',
      leaseSets: ['startedAt'],
      filter: eq(deliveries.queue, DELIVERY_QUEUES[queue]),
    })
  const [first, again] = [queueOf('first'), queueOf('again')]
  const { stillLeased, unleased } = first

  const wantedOf = compile<Pick<LeasedDelivery, 'wanted'>>(
    client,
    orm
      .select(named({ wanted: deliveries.wanted }))
      .from(deliveries)
      .where(stillLeased),
  )
  const leasedOf = orm
    .select({ count: sql<number>`count(*)` })
    .from(deliveries)
    .where(and(sql`${deliveries.state} = 'leased'`, eq(deliveries.endpointId, $('endpointId'))))
    .prepare()
  const move = compile(
    client,
    orm
      .update(deliveries)
      .set({
        state: sql`${$('state')}`,
        queue: sql`${$('queue')}`,
        run: sql`${$('run')}`,
        attempts: sql`${$('attempts')}`,
        tries: sql`${$('tries')}`,
        trigger: sql`${$('trigger')}`,
        dueAt: sql`${$('dueAt')}`,
        resumeAt: sql`${$('resumeAt')}`,
        wanted: sql`${$('wanted')}`,
        succeededAt: sql`${$('succeededAt')}`,
        endedAt: sql`${$('endedAt')}`,
        ...unleased,
        startedAt: null,
      })
      .where(eq(deliveries.seq, $('seq'))),
  )

  return {
    first,
    again,
    /** The delivery as it is now, or undefined if the lease is void. Nothing else changes during a lease. */
    leased: (delivery: LeasedDelivery): LeasedDelivery | undefined => {
      const { seq, attemptId } = delivery
      const now = wantedOf.get({ seq, attemptId })
      return now && { ...delivery, ...now }
    },
    /** Attempts in progress at an endpoint, across all processes. */
    leasedOf: (endpointId: string): number => leasedOf.get({ endpointId })?.count ?? 0,
    move: (seq: number, step: Step) => move.run({ seq, ...step }),
  }
}
