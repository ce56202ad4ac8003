import { eq, inArray, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { jobCounts, skippedSlots } from '../schema.ts'

export type SkipReason = 'outage' | 'overlap'
export type CountedNoun = 'cronJobs' | 'delayedJobs'

export type JobCountStore = ReturnType<typeof createJobCountStore>

/** How many jobs each tenant has, kept beside them so that no limit ever counts rows. */
export function createJobCountStore({ orm }: Db) {
  const $ = sql.placeholder
  const addTo = (noun: CountedNoun) =>
    orm
      .insert(jobCounts)
      .values({ tenantId: $('tenantId'), cronJobs: 0, delayedJobs: 0, [noun]: $('n') })
      .onConflictDoUpdate({
        target: jobCounts.tenantId,
        set: { [noun]: sql`${jobCounts[noun]} + ${$('n')}` },
      })
      .returning({ count: jobCounts[noun] })
      .prepare()
  const statements = { cronJobs: addTo('cronJobs'), delayedJobs: addTo('delayedJobs') }

  return {
    /** Adds `n`, which may be negative, and says how many there are now. */
    add: (tenantId: string, noun: CountedNoun, n: number): number =>
      statements[noun].get({ tenantId, n }).count,
  }
}

export type SkippedSlotStore = ReturnType<typeof createSkippedSlotStore>

const DAY_MS = 86_400_000

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
