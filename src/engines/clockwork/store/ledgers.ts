import { eq, inArray, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { jobCounts, skippedSlots } from '../schema.ts'

export type SkipReason = 'outage' | 'overlap'

/** What a tenant has stored, or the amounts that a change adds. */
export interface JobCounts {
  cronJobs: number
  delayedJobs: number
  bytes: number
}

/** The totals of each tenant, kept next to its jobs so that checking a limit never counts rows. */
export function createJobCountStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const values = {
    tenantId: $('tenantId'),
    cronJobs: $('cronJobs'),
    delayedJobs: $('delayedJobs'),
    bytes: $('bytes'),
  }
  const begin = orm.insert(jobCounts).values(values).prepare()
  const add = compile<CountsRow>(
    client,
    orm
      .update(jobCounts)
      .set({
        cronJobs: sql`${jobCounts.cronJobs} + ${values.cronJobs}`,
        delayedJobs: sql`${jobCounts.delayedJobs} + ${values.delayedJobs}`,
        bytes: sql`${jobCounts.bytes} + ${values.bytes}`,
      })
      .where(eq(jobCounts.tenantId, values.tenantId))
      .returning(),
  )

  return {
    /** Adds amounts, which may be negative, and returns the new totals. */
    add(tenantId: string, change: Partial<JobCounts>): JobCounts {
      const { cronJobs = 0, delayedJobs = 0, bytes = 0 } = change
      const first = { cronJobs, delayedJobs, bytes }
      const row = add.get({ tenantId, ...first })
      if (row) return { cronJobs: row.cron_jobs, delayedJobs: row.delayed_jobs, bytes: row.bytes }
      begin.run({ tenantId, ...first })
      return first
    },
  }
}

interface CountsRow {
  cron_jobs: number
  delayed_jobs: number
  bytes: number
}

export function createSkippedSlotStore({ orm }: Db) {
  const $ = sql.placeholder
  const add = orm
    .insert(skippedSlots)
    .values({ jobId: $('jobId'), day: $('day'), reason: $('reason'), count: $('count') })
    .onConflictDoUpdate({
      target: [skippedSlots.jobId, skippedSlots.day, skippedSlots.reason],
      set: { count: sql`${skippedSlots.count} + excluded.count` },
    })
    .prepare()
  const totals = orm
    .select({ reason: skippedSlots.reason, count: sql<number>`sum(${skippedSlots.count})` })
    .from(skippedSlots)
    .where(eq(skippedSlots.jobId, $('jobId')))
    .groupBy(skippedSlots.reason)
    .prepare()
  const drop = orm
    .delete(skippedSlots)
    .where(eq(skippedSlots.jobId, $('jobId')))
    .prepare()
  const removeBefore = orm
    .delete(skippedSlots)
    .where(
      inArray(
        sql`rowid`,
        orm
          .select({ rowid: sql`rowid` })
          .from(skippedSlots)
          .where(sql`${skippedSlots.day} < ${$('day')}`)
          .limit($('limit')),
      ),
    )
    .returning({ day: skippedSlots.day })
    .prepare()

  return {
    add: (jobId: string, reason: SkipReason, noticedAt: number, count: number) =>
      add.run({ jobId, reason, day: Math.floor(noticedAt / DAY_MS) * DAY_MS, count }),
    totals: (jobId: string): Record<SkipReason, number> => ({
      outage: 0,
      overlap: 0,
      ...Object.fromEntries(totals.all({ jobId }).map(({ reason, count }) => [reason, count])),
    }),
    drop: (jobId: string) => drop.run({ jobId }),
    removeBefore: (at: number, limit: number): number =>
      removeBefore.all({ day: at, limit }).length,
  }
}
