import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import type { Holders, Lease } from '../../due/queue.ts'
import { mails } from '../../schema.ts'
import type { LeasedMail, MailRow, MailState } from './rows.ts'

/** Counting stops here, because a long count over a large backlog would block other work. */
const MAX_COUNTED = 10_000

/** SQL for the due loop. It covers all tenants and the installation, whose tenant is null. */
export function createQueueStore({ orm }: Db) {
  const $ = sql.placeholder
  const state = (name: MailState): SQL => sql`${mails.state} = ${sql.raw(`'${name}'`)}`
  const bySeq = eq(mails.seq, $('seq'))
  const ofTenant = sql`${mails.tenantId} is ${$('tenantId')}`
  /** Matches nothing once the lease was taken back, because each attempt has a new id. */
  const held = and(bySeq, eq(mails.attemptId, $('attemptId')))
  const unleased = { leaseOwner: null, leaseUntil: null, attemptId: null, startedAt: null }

  const firstWaiting = orm
    .select({ at: mails.dueAt })
    .from(mails)
    .where(state('waiting'))
    .orderBy(asc(mails.dueAt))
    .limit(1)
    .prepare()
  const promote = orm
    .update(mails)
    .set({ state: 'ready' })
    .where(
      sql`${mails.seq} in (select seq from mails where state = 'waiting'
        and due_at <= ${$('now')} order by due_at limit ${$('limit')})`,
    )
    .returning({ seq: mails.seq })
    .prepare()
  const firstOfInstance = orm
    .select({ seq: mails.seq })
    .from(mails)
    .where(and(state('ready'), isNull(mails.tenantId)))
    .limit(1)
    .prepare()
  const nextTenant = orm
    .select({ tenantId: mails.tenantId })
    .from(mails)
    .where(and(state('ready'), sql`${mails.tenantId} > ${$('after')}`))
    .orderBy(asc(mails.tenantId))
    .limit(1)
    .prepare()
  const ready = orm
    .select()
    .from(mails)
    .where(and(state('ready'), ofTenant))
    .orderBy(asc(mails.dueAt), asc(mails.seq))
    .limit($('limit'))
    .prepare()
  const lease = orm
    .update(mails)
    .set({
      state: 'leased',
      tries: sql`${mails.tries} + 1`,
      leaseOwner: sql`${$('owner')}`,
      leaseUntil: sql`${$('until')}`,
      attemptId: sql`${$('attemptId')}`,
      startedAt: sql`${$('startedAt')}`,
    })
    .where(and(bySeq, state('ready')))
    .returning()
    .prepare()
  const finish = orm
    .update(mails)
    .set({
      state: sql`${$('state')}`,
      body: null,
      lastError: sql`${$('lastError')}`,
      endedAt: sql`${$('endedAt')}`,
      ...unleased,
    })
    .where(held)
    .returning({ seq: mails.seq })
    .prepare()
  const rearm = orm
    .update(mails)
    .set({
      state: sql`${$('state')}`,
      dueAt: sql`${$('dueAt')}`,
      lastError: sql`${$('lastError')}`,
      ...unleased,
    })
    .where(held)
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
    .where(and(bySeq, state('ready')))
    .prepare()
  const lost = orm
    .select()
    .from(mails)
    .where(
      and(
        state('leased'),
        sql`(${mails.leaseOwner} not in (select value from json_each(${$('alive')}))
          or (${mails.leaseUntil} < ${$('now')} and ${mails.leaseOwner} <> ${$('self')}))`,
      ),
    )
    .limit($('limit'))
    .prepare()
  const counted = (name: 'ready' | 'waiting') =>
    orm
      .select({ count: sql<number>`count(*)` })
      .from(
        orm.select({ seq: mails.seq }).from(mails).where(state(name)).limit(MAX_COUNTED).as('some'),
      )
      .prepare()
  const counts = { ready: counted('ready'), waiting: counted('waiting') }

  return {
    firstWaitingAt: (): number | undefined => firstWaiting.get()?.at,
    /** Makes up to `limit` waiting mails ready and returns their number. */
    promote: (now: number, limit: number): number => promote.all({ now, limit }).length,
    instanceHasReady: (): boolean => firstOfInstance.get() !== undefined,
    nextTenant: (after: string): string | undefined =>
      nextTenant.get({ after })?.tenantId ?? undefined,
    /** Ready mails, oldest first. */
    ready: (tenantId: string | null, limit: number): MailRow[] => ready.all({ tenantId, limit }),
    lease: (seq: number, attempt: { attemptId: string; startedAt: number }, lease_: Lease) =>
      lease.get({ seq, ...attempt, ...lease_ }) as LeasedMail | undefined,
    /** Finishes a mail and erases its body; false if the lease was lost. */
    finish: (
      { seq, attemptId }: LeasedMail,
      end: { state: 'sent' | 'failed'; lastError: string | null; endedAt: number },
    ): boolean => finish.get({ seq, attemptId, ...end }) !== undefined,
    /** Makes a mail wait for its next attempt or for a mail server; false if the lease was lost. */
    rearm: (
      { seq, attemptId }: LeasedMail,
      wait: { state: 'waiting' | 'kept'; dueAt: number; lastError: string },
    ): boolean => rearm.get({ seq, attemptId, ...wait }) !== undefined,
    /** Fails a ready mail without an attempt. */
    giveUp: (seq: number, lastError: string, endedAt: number) =>
      giveUp.run({ seq, lastError, endedAt }),
    lost: ({ self, alive, now }: Holders, limit: number): LeasedMail[] =>
      lost.all({ self, alive: JSON.stringify(alive), now, limit }) as LeasedMail[],
    /** The number of ready or waiting mails, counted up to 10,000. */
    count: (name: 'ready' | 'waiting'): number => counts[name].get()?.count ?? 0,
  }
}
