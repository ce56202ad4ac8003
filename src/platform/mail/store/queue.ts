import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { createQueueTable } from '../../due/queue-table.ts'
import { mails } from '../../schema.ts'
import type { LeasedMail } from './rows.ts'

const MAX_COUNTED = 10_000

/** SQL for the due loop. It covers all tenants and the installation, whose tenant is null. */
export function createQueueStore(db: Db) {
  const { orm } = db
  const $ = sql.placeholder
  const { stillLeased, unleased, ...queue } = createQueueTable(db, mails, {
    leaseId: 'attemptId',
    leaseSets: ['startedAt', 'tries'],
  })

  const finish = orm
    .update(mails)
    .set({
      state: sql`${$('state')}`,
      body: null,
      lastError: sql`${$('lastError')}`,
      endedAt: sql`${$('endedAt')}`,
      ...unleased,
      startedAt: null,
    })
    .where(stillLeased)
    .returning({ seq: mails.seq })
    .prepare()
  const rearm = orm
    .update(mails)
    .set({
      state: sql`${$('state')}`,
      dueAt: sql`${$('dueAt')}`,
      lastError: sql`${$('lastError')}`,
      ...unleased,
      startedAt: null,
    })
    .where(stillLeased)
    .returning({ seq: mails.seq })
    .prepare()
  const giveUp = orm
    .update(mails)
    .set({
      state: 'failed',
      body: null,
      lastError: sql`${$('lastError')}`,
      endedAt: sql`${$('endedAt')}`,
    })
    .where(and(eq(mails.seq, $('seq')), sql`${mails.state} = 'ready'`))
    .prepare()
  const kept = orm
    .select({ count: sql<number>`count(*)` })
    .from(sql`(select 1 from mails where state = 'kept' limit ${sql.raw(`${MAX_COUNTED}`)})`)
    .prepare()
  const one = (state: 'kept' | 'ready' | 'waiting') =>
    orm
      .select({ seq: mails.seq })
      .from(mails)
      .where(sql`${mails.state} = ${sql.raw(`'${state}'`)}`)
      .limit(1)
      .prepare()
  const any = { kept: one('kept'), ready: one('ready'), waiting: one('waiting') }

  return {
    ...queue,
    has: (state: 'kept' | 'ready' | 'waiting'): boolean => any[state].get() !== undefined,
    keptCount: (): number => kept.get({})?.count ?? 0,
    lease: queue.lease as (...parts: Parameters<typeof queue.lease>) => LeasedMail | undefined,
    lost: queue.lost as (...parts: Parameters<typeof queue.lost>) => LeasedMail[],
    /** Finishes a mail and erases its body; false if the lease was lost. */
    finish: (
      { seq, attemptId }: LeasedMail,
      end: { state: 'sent' | 'failed'; lastError: string | null; endedAt: number },
    ): boolean => finish.get({ seq, attemptId, ...end }) !== undefined,
    /** Makes a mail wait for its next attempt; false if the lease was lost. */
    rearm: (
      { seq, attemptId }: LeasedMail,
      wait: { state: 'waiting'; dueAt: number; lastError: string },
    ): boolean => rearm.get({ seq, attemptId, ...wait }) !== undefined,
    /** Fails a ready mail without an attempt. */
    giveUp: (seq: number, lastError: string, endedAt: number) =>
      giveUp.run({ seq, lastError, endedAt }),
  }
}
