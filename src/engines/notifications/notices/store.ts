import { and, desc, eq, gt, lt, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { createQueueTable } from '../../../platform/due/queue-table.ts'
import { END, type Scan } from '../../../platform/scan.ts'
import { notices } from '../schema.ts'

export type NoticeRow = typeof notices.$inferSelect
export type LeasedNotice = NoticeRow & { attemptId: string }

/** The kind of a notice that sums up others. */
export const SUMMARY = 'alerts.summary'

/** All SQL on notices; the tenant null is the installation. */
export function createNoticeStore(db: Db) {
  const { orm } = db
  const $ = sql.placeholder
  const mine = sql`${notices.tenantId} is ${$('tenantId')}`
  const ofChannel = and(
    mine,
    eq(notices.channelId, $('channelId')),
    gt(notices.createdAt, $('since')),
  )
  const { stillLeased, unleased, ...queue } = createQueueTable(db, notices, {
    target: 'channelId',
    leaseId: 'attemptId',
    leaseSets: ['tries'],
  })

  const insert = orm
    .insert(notices)
    .values(rowOf(notices, 'leaseOwner', 'leaseUntil', 'attemptId'))
    .prepare()
  const finish = orm
    .update(notices)
    .set({
      state: sql`${$('state')}`,
      lastError: sql`${$('lastError')}`,
      endedAt: sql`${$('endedAt')}`,
      ...unleased,
    })
    .where(stillLeased)
    .returning({ seq: notices.seq })
    .prepare()
  const rearm = orm
    .update(notices)
    .set({
      state: 'waiting',
      dueAt: sql`${$('dueAt')}`,
      lastError: sql`${$('lastError')}`,
      ...unleased,
    })
    .where(stillLeased)
    .returning({ seq: notices.seq })
    .prepare()
  const recent = orm
    .select({ at: notices.createdAt })
    .from(notices)
    .where(ofChannel)
    .orderBy(desc(notices.createdAt))
    .limit($('limit'))
    .prepare()
  const summary = orm
    .select()
    .from(notices)
    .where(
      and(
        ofChannel,
        eq(notices.kind, SUMMARY),
        sql`${notices.state} = 'waiting'`,
        eq(notices.tries, 0),
      ),
    )
    .limit(1)
    .prepare()
  const rewrite = orm
    .update(notices)
    .set({ title: sql`${$('title')}`, content: sql`${$('content')}` })
    .where(eq(notices.seq, $('seq')))
    .prepare()
  const list = orm
    .select()
    .from(notices)
    .where(and(mine, lt(notices.seq, $('before'))))
    .orderBy(desc(notices.seq))
    .limit($('limit'))
    .prepare()
  const removeBefore = orm
    .delete(notices)
    .where(
      sql`${notices.seq} in (select seq from notices where created_at < ${$('before')}
        order by created_at limit ${$('limit')})`,
    )
    .returning({ seq: notices.seq })
    .prepare()

  return {
    ...queue,
    lease: queue.lease as (...parts: Parameters<typeof queue.lease>) => LeasedNotice | undefined,
    lost: queue.lost as (...parts: Parameters<typeof queue.lost>) => LeasedNotice[],
    insert: (row: Omit<NoticeRow, 'seq' | 'leaseOwner' | 'leaseUntil' | 'attemptId'>) =>
      void insert.run(row),
    /** Ends a notice; false if the lease was lost. */
    finish: (
      { seq, attemptId }: LeasedNotice,
      end: { state: 'sent' | 'failed'; lastError: string | null; endedAt: number },
    ): boolean => finish.get({ seq, attemptId, ...end }) !== undefined,
    /** Makes a notice wait for its next attempt; false if the lease was lost. */
    rearm: (
      { seq, attemptId }: LeasedNotice,
      wait: { dueAt: number; lastError: string },
    ): boolean => rearm.get({ seq, attemptId, ...wait }) !== undefined,
    /** When the latest notices of a channel were created, newest first. */
    recent: (tenantId: string | null, channelId: string, since: number, limit: number): number[] =>
      recent.all({ tenantId, channelId, since, limit }).map(({ at }) => at),
    /** The notice that sums up further ones and hasn't been sent. */
    summary: (tenantId: string | null, channelId: string, since: number): NoticeRow | undefined =>
      summary.get({ tenantId, channelId, since }),
    rewrite: (seq: number, title: string, content: string) =>
      void rewrite.run({ seq, title, content }),
    /** Newest first. */
    list: (tenantId: string | null, { before = END, limit }: Scan): NoticeRow[] =>
      list.all({ tenantId, before, limit }),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
