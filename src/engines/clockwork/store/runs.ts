import { and, asc, eq, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import type { Holders, Lane, Lease } from '../../../platform/due/queue.ts'
import { runs } from '../schema.ts'

export type RunRow = typeof runs.$inferSelect

export type NewRun = Pick<
  RunRow,
  'tenantId' | 'jobKind' | 'jobId' | 'trigger' | 'slotAt' | 'dueAt' | 'state' | 'host'
>

/** A run with an attempt in progress, identified by its execution id. */
export type LeasedRun = RunRow & { executionId: string }

/** Sorts after everything in a lane, so that the next lane is found without scanning this one. */
const END_OF_TIME = sql.raw(`${Number.MAX_SAFE_INTEGER}`)

/** Limits counting, because a backlog may have any size and a scrape must not delay requests. */
const MAX_COUNTED = 10_000

/** Open runs. Functions that only the loop calls cover all tenants. */
export function createRunStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const state = (name: RunRow['state']): SQL => sql`${runs.state} = ${sql.raw(`'${name}'`)}`
  const ofJob = and(eq(runs.tenantId, $('tenantId')), eq(runs.jobId, $('jobId')))
  /**
   * No longer matches after the lease was taken back, because each attempt has its own execution
   * id.
   */
  const held = and(eq(runs.seq, $('seq')), eq(runs.executionId, $('executionId')))

  const insert = orm
    .insert(runs)
    .values({
      tenantId: $('tenantId'),
      jobKind: $('jobKind'),
      jobId: $('jobId'),
      trigger: $('trigger'),
      slotAt: $('slotAt'),
      dueAt: $('dueAt'),
      attempt: 1,
      state: $('state'),
      host: $('host'),
    })
    .onConflictDoNothing()
    .prepare()
  const firstWaiting = orm
    .select({ at: runs.dueAt })
    .from(runs)
    .where(state('waiting'))
    .orderBy(asc(runs.dueAt))
    .limit(1)
    .prepare()
  const promote = orm
    .update(runs)
    .set({ state: 'ready' })
    .where(
      sql`${runs.seq} in (select seq from runs where state = 'waiting' and due_at <= ${$('cutoff')} order by due_at limit ${$('limit')})`,
    )
    .returning({ seq: runs.seq })
    .prepare()
  const nextLane = compile<{ tenant_id: string; host: string; due_at: number }>(
    client,
    orm
      .select({ tenant: runs.tenantId, target: runs.host, at: runs.dueAt })
      .from(runs)
      .where(
        and(
          state('ready'),
          sql`(tenant_id, host, due_at) > (${$('tenant')}, ${$('target')}, ${END_OF_TIME})`,
        ),
      )
      .orderBy(asc(runs.tenantId), asc(runs.host), asc(runs.dueAt))
      .limit(1),
  )
  const ready = orm
    .select()
    .from(runs)
    .where(and(state('ready'), eq(runs.tenantId, $('tenant')), eq(runs.host, $('target'))))
    .orderBy(asc(runs.dueAt), asc(runs.seq))
    .limit($('limit'))
    .prepare()
  const lease = orm
    .update(runs)
    .set({
      state: 'leased',
      leaseOwner: sql`${$('owner')}`,
      leaseUntil: sql`${$('until')}`,
      executionId: sql`${$('executionId')}`,
    })
    .where(and(eq(runs.seq, $('seq')), state('ready')))
    .returning()
    .prepare()
  const finish = orm.delete(runs).where(held).returning({ seq: runs.seq }).prepare()
  const rearm = orm
    .update(runs)
    .set({
      state: 'waiting',
      dueAt: sql`${$('dueAt')}`,
      attempt: sql`${runs.attempt} + 1`,
      leaseOwner: null,
      leaseUntil: null,
      executionId: null,
    })
    .where(held)
    .returning({ seq: runs.seq })
    .prepare()
  const lost = orm
    .select()
    .from(runs)
    .where(
      and(
        state('leased'),
        sql`(${runs.leaseOwner} not in (select value from json_each(${$('alive')}))
          or (${runs.leaseUntil} < ${$('now')} and ${runs.leaseOwner} <> ${$('self')}))`,
      ),
    )
    .limit($('limit'))
    .prepare()
  const inFlight = orm
    .select({ count: sql<number>`count(*)` })
    .from(runs)
    .where(and(ofJob, ne(runs.state, 'waiting')))
    .prepare()
  const keepRequest = orm
    .update(runs)
    .set({ request: sql`${$('request')}` })
    .where(and(ofJob, isNull(runs.request)))
    .prepare()
  const dropUnstarted = orm
    .delete(runs)
    .where(and(ofJob, ne(runs.state, 'leased')))
    .prepare()
  const drop = orm.delete(runs).where(ofJob).prepare()
  const readyCount = orm
    .select({ count: sql<number>`count(*)` })
    .from(
      orm.select({ seq: runs.seq }).from(runs).where(state('ready')).limit(MAX_COUNTED).as('some'),
    )
    .prepare()

  return {
    /** Does nothing if the slot already has an open run, as after the clock was set back. */
    insert: (run: NewRun) => insert.run(run),
    firstWaitingAt: (): number | undefined => firstWaiting.get()?.at,
    /** Moves up to `limit` waiting runs that are due to the queue and returns how many. */
    promote: (cutoff: number, limit: number): number => promote.all({ cutoff, limit }).length,
    /** The lane after `after`, with the due time of its first run. */
    nextLane: (after: Lane | undefined): (Lane & { dueAt: number }) | undefined => {
      const { tenant = '', target = '' } = after ?? {}
      const next = nextLane.get({ tenant, target })
      return next && { tenant: next.tenant_id, target: next.host, dueAt: next.due_at }
    },
    ready: (lane: Lane, limit: number): RunRow[] => ready.all({ ...lane, limit }),
    lease: (seq: number, executionId: string, { owner, until }: Lease) =>
      lease.get({ seq, executionId, owner, until }) as LeasedRun | undefined,
    /** Ends the run; false if the lease is void. */
    finish: ({ seq, executionId }: LeasedRun): boolean =>
      finish.get({ seq, executionId }) !== undefined,
    /** Lets the run wait for its next attempt; false if the lease is void. */
    rearm: ({ seq, executionId }: LeasedRun, dueAt: number): boolean =>
      rearm.get({ seq, executionId, dueAt }) !== undefined,
    lost: ({ alive, self, now }: Holders, limit: number) =>
      lost.all({ alive: JSON.stringify(alive), self, now, limit }) as LeasedRun[],
    /** The number of runs of a job that are ready or leased. */
    inFlight: (tenantId: string, jobId: string): number =>
      inFlight.get({ tenantId, jobId })?.count ?? 0,
    /** Stores the current request in the job's open runs, so that an edit doesn't change it. */
    keepRequest: (tenantId: string, jobId: string, request: string) =>
      keepRequest.run({ tenantId, jobId, request }),
    dropUnstarted: (tenantId: string, jobId: string) => dropUnstarted.run({ tenantId, jobId }),
    drop: (tenantId: string, jobId: string) => drop.run({ tenantId, jobId }),
    /** The number of runs in the queue, counted up to 10,000. */
    readyCount: (): number => readyCount.get()?.count ?? 0,
  }
}
