import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { createQueueTable } from '../../../platform/due/queue-table.ts'
import { runs } from '../schema.ts'

export type RunRow = typeof runs.$inferSelect

export type NewRun = Pick<
  RunRow,
  'tenantId' | 'jobKind' | 'jobId' | 'trigger' | 'slotAt' | 'dueAt' | 'state' | 'host'
>

/** A run with an attempt in progress, identified by its execution id. */
export type LeasedRun = RunRow & { executionId: string }

/** Open runs. */
export function createRunStore(db: Db) {
  const { orm, client } = db
  const $ = sql.placeholder
  const ofJob = and(eq(runs.tenantId, $('tenantId')), eq(runs.jobId, $('jobId')))
  const { stillLeased, unleased, ...queue } = createQueueTable(db, runs, {
    target: 'host',
    leaseId: 'executionId',
  })

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
  const finish = compile(client, orm.delete(runs).where(stillLeased))
  const rearm = compile(
    client,
    orm
      .update(runs)
      .set({
        state: 'waiting',
        dueAt: sql`${$('dueAt')}`,
        attempt: sql`${runs.attempt} + 1`,
        ...unleased,
      })
      .where(stillLeased),
  )
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

  return {
    ...queue,
    /** Does nothing if the slot already has an open run, as after the clock was set back. */
    insert: (run: NewRun) => insert.run(run),
    /** Ends the run; false if the lease is void. */
    finish: ({ seq, executionId }: LeasedRun): boolean =>
      finish.run({ seq, executionId }).changes > 0,
    /** Lets the run wait for its next attempt; false if the lease is void. */
    rearm: ({ seq, executionId }: LeasedRun, dueAt: number): boolean =>
      rearm.run({ seq, executionId, dueAt }).changes > 0,
    /** The number of runs of a job that are ready or leased. */
    inFlight: (tenantId: string, jobId: string): number =>
      inFlight.get({ tenantId, jobId })?.count ?? 0,
    /** Stores the current request in the job's open runs, so that an edit doesn't change it. */
    keepRequest: (tenantId: string, jobId: string, request: string) =>
      keepRequest.run({ tenantId, jobId, request }),
    dropUnstarted: (tenantId: string, jobId: string) => dropUnstarted.run({ tenantId, jobId }),
    drop: (tenantId: string, jobId: string) => drop.run({ tenantId, jobId }),
  }
}
