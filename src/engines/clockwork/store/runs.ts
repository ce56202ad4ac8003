import { and, eq, isNull, ne, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { createQueueTable } from '../../../platform/due/queue-table.ts'
import { newId } from '../../../platform/ids.ts'
import { runs } from '../schema.ts'

export type RunRow = typeof runs.$inferSelect

export type NewRun = Pick<
  RunRow,
  'tenantId' | 'jobKind' | 'jobId' | 'trigger' | 'slotAt' | 'dueAt' | 'state' | 'host'
>

/** A run with an attempt in progress, identified by its execution id. */
export type LeasedRun = RunRow & { executionId: string }

export interface RunCounts {
  open: number
  queued: number
  inFlight: number
}

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
      runId: $('runId'),
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
  const counts = orm
    .select({
      open: sql<number>`count(*)`,
      queued: sql<number>`count(*) filter (where ${runs.state} = 'queued')`,
      inFlight: sql<number>`count(*) filter (where ${runs.state} in ('ready', 'leased'))`,
    })
    .from(runs)
    .where(ofJob)
    .prepare()
  const release = compile(
    client,
    orm
      .update(runs)
      .set({ state: 'waiting' })
      .where(and(ofJob, eq(runs.state, 'queued'))),
  )
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
    insert: (run: NewRun) => insert.run({ ...run, runId: newId() }),
    /** Ends the run; false if the lease is void. */
    finish: ({ seq, executionId }: LeasedRun): boolean =>
      finish.run({ seq, executionId }).changes > 0,
    /** Lets the run wait for its next attempt; false if the lease is void. */
    rearm: ({ seq, executionId }: LeasedRun, dueAt: number): boolean =>
      rearm.run({ seq, executionId, dueAt }).changes > 0,
    /** The runs of a job that haven't ended, those of them that are queued, and ready or leased. */
    counts: (tenantId: string, jobId: string): RunCounts =>
      counts.get({ tenantId, jobId }) ?? { open: 0, queued: 0, inFlight: 0 },
    /** Lets the queued run of a job start, which has been due since its slot; false if there is none. */
    release: (tenantId: string, jobId: string): boolean =>
      release.run({ tenantId, jobId }).changes > 0,
    /** Stores the current request in the job's open runs, so that an edit doesn't change it. */
    keepRequest: (tenantId: string, jobId: string, request: string) =>
      keepRequest.run({ tenantId, jobId, request }),
    dropUnstarted: (tenantId: string, jobId: string) => dropUnstarted.run({ tenantId, jobId }),
    drop: (tenantId: string, jobId: string) => drop.run({ tenantId, jobId }),
  }
}
