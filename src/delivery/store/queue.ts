import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import { compile } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import type { Holders, Lane, Lease } from '../../platform/due/queue.ts'
import { deliveries } from '../schema.ts'
import type { DeliveryRow, DeliveryState, LeasedDelivery, Line, Step } from './rows.ts'

/** Sorts after everything in a lane, so that the next lane is found without scanning this one. */
const END_OF_TIME = sql.raw(`${Number.MAX_SAFE_INTEGER}`)

/** Limits counting, because a backlog may have any size and a scrape must not delay requests. */
const MAX_COUNTED = 10_000

/** The due loop's access to the deliveries of one queue, across all tenants. */
export function createQueueStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const state = (name: DeliveryState): SQL => sql`${deliveries.state} = ${sql.raw(`'${name}'`)}`
  const inLine = eq(deliveries.line, $('line'))
  const bySeq = eq(deliveries.seq, $('seq'))
  /** No longer matches after the lease was taken back, because each attempt has its own id. */
  const stillLeased = and(bySeq, eq(deliveries.attemptId, $('attemptId')))

  const firstWaiting = compile<{ due_at: number }>(
    client,
    orm
      .select({ at: deliveries.dueAt })
      .from(deliveries)
      .where(and(state('waiting'), inLine))
      .orderBy(asc(deliveries.dueAt))
      .limit(1),
  )
  const promote = orm
    .update(deliveries)
    .set({ state: 'ready' })
    .where(
      sql`${deliveries.seq} in (select seq from deliveries where state = 'waiting'
        and line = ${$('line')} and due_at <= ${$('now')} order by due_at limit ${$('limit')})`,
    )
    .returning({ seq: deliveries.seq })
    .prepare()
  const nextLane = compile<{ tenant_id: string; endpoint_id: string; due_at: number }>(
    client,
    orm
      .select({ tenant: deliveries.tenantId, target: deliveries.endpointId, at: deliveries.dueAt })
      .from(deliveries)
      .where(
        and(
          state('ready'),
          inLine,
          sql`(tenant_id, endpoint_id, due_at) > (${$('tenant')}, ${$('target')}, ${END_OF_TIME})`,
        ),
      )
      .orderBy(asc(deliveries.tenantId), asc(deliveries.endpointId), asc(deliveries.dueAt))
      .limit(1),
  )
  const ready = orm
    .select()
    .from(deliveries)
    .where(
      and(
        state('ready'),
        inLine,
        eq(deliveries.tenantId, $('tenant')),
        eq(deliveries.endpointId, $('target')),
      ),
    )
    .orderBy(asc(deliveries.dueAt), asc(deliveries.seq))
    .limit($('limit'))
    .prepare()
  const lease = compile(
    client,
    orm
      .update(deliveries)
      .set({
        state: 'leased',
        leaseOwner: sql`${$('owner')}`,
        leaseUntil: sql`${$('until')}`,
        attemptId: sql`${$('attemptId')}`,
        startedAt: sql`${$('startedAt')}`,
      })
      .where(bySeq),
  )
  const leased = orm.select().from(deliveries).where(stillLeased).prepare()
  const leasedOf = orm
    .select({ count: sql<number>`count(*)` })
    .from(deliveries)
    .where(and(state('leased'), eq(deliveries.endpointId, $('endpointId'))))
    .prepare()
  const move = compile(
    client,
    orm
      .update(deliveries)
      .set({
        state: sql`${$('state')}`,
        line: sql`${$('line')}`,
        run: sql`${$('run')}`,
        attempts: sql`${$('attempts')}`,
        tries: sql`${$('tries')}`,
        trigger: sql`${$('trigger')}`,
        dueAt: sql`${$('dueAt')}`,
        resumeAt: sql`${$('resumeAt')}`,
        wanted: sql`${$('wanted')}`,
        succeededAt: sql`${$('succeededAt')}`,
        endedAt: sql`${$('endedAt')}`,
        leaseOwner: null,
        leaseUntil: null,
        attemptId: null,
        startedAt: null,
      })
      .where(bySeq),
  )
  const lost = orm
    .select()
    .from(deliveries)
    .where(
      and(
        state('leased'),
        inLine,
        sql`(${deliveries.leaseOwner} not in (select value from json_each(${$('alive')}))
          or (${deliveries.leaseUntil} < ${$('now')} and ${deliveries.leaseOwner} <> ${$('self')}))`,
      ),
    )
    .limit($('limit'))
    .prepare()
  const standing = orm
    .select({ count: sql<number>`count(*)` })
    .from(
      orm
        .select({ seq: deliveries.seq })
        .from(deliveries)
        .where(and(state('ready'), inLine))
        .limit(MAX_COUNTED)
        .as('some'),
    )
    .prepare()

  return {
    firstWaitingAt: (line: Line): number | undefined => firstWaiting.get({ line })?.due_at,
    /** Moves up to `limit` waiting deliveries that are due to the queue and returns how many. */
    promote: (line: Line, now: number, limit: number): number =>
      promote.all({ line, now, limit }).length,
    /** The lane after `after`, with the due time of its first delivery. */
    nextLane: (line: Line, after: Lane | undefined): (Lane & { dueAt: number }) | undefined => {
      const { tenant = '', target = '' } = after ?? {}
      const next = nextLane.get({ line, tenant, target })
      return next && { tenant: next.tenant_id, target: next.endpoint_id, dueAt: next.due_at }
    },
    /** Ready deliveries of a lane, oldest first. */
    ready: (line: Line, { tenant, target }: Lane, limit: number): DeliveryRow[] =>
      ready.all({ line, tenant, target, limit }),
    /** Leases a delivery that was read as ready in the same commit. */
    lease: (seq: number, attempt: { attemptId: string; startedAt: number }, lease_: Lease) =>
      lease.run({ seq, ...attempt, ...lease_ }),
    /** The delivery as it is now, or undefined if the lease is void. */
    leased: (seq: number, attemptId: string): LeasedDelivery | undefined =>
      leased.get({ seq, attemptId }) as LeasedDelivery | undefined,
    /** Attempts in progress at an endpoint, across all processes. */
    leasedOf: (endpointId: string): number => leasedOf.get({ endpointId })?.count ?? 0,
    move: (seq: number, step: Step) => move.run({ seq, ...step }),
    lost: (line: Line, { self, alive, now }: Holders, limit: number): LeasedDelivery[] =>
      lost.all({ line, self, alive: JSON.stringify(alive), now, limit }) as LeasedDelivery[],
    /** The number of deliveries in the queue, counted up to 10,000. */
    standing: (line: Line): number => standing.get({ line })?.count ?? 0,
  }
}
