import { and, desc, eq, gt, lte, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { mails } from '../../schema.ts'
import type { MailState, NewMail } from './rows.ts'

/** SQL to store, count and erase mails; the tenant null is the installation. */
export function createMailStore({ orm }: Db) {
  const $ = sql.placeholder
  const state = (name: MailState): SQL => sql`${mails.state} = ${sql.raw(`'${name}'`)}`
  const slice = (where: string): SQL =>
    sql`${mails.seq} in (select seq from mails where ${sql.raw(where)} limit ${$('limit')})`

  const insert = orm
    .insert(mails)
    .values({
      ...rowOf(mails, 'leaseOwner', 'leaseUntil', 'attemptId', 'startedAt', 'tries', 'dueAt'),
      tries: 0,
      dueAt: $('createdAt'),
    })
    .prepare()
  const recent = orm
    .select({ at: mails.createdAt })
    .from(mails)
    .where(
      and(
        eq(mails.recipientHash, $('recipientHash')),
        sql`(${$('kind')} is null or ${mails.kind} = ${$('kind')})`,
        gt(mails.createdAt, $('since')),
        lte(mails.createdAt, $('now')),
      ),
    )
    .orderBy(desc(mails.createdAt))
    .limit($('limit'))
    .prepare()
  const sent = orm
    .select({ at: mails.createdAt })
    .from(mails)
    .where(
      and(
        eq(mails.recipientHash, $('recipientHash')),
        gt(mails.createdAt, $('since')),
        lte(mails.createdAt, $('now')),
        sql`ifnull(${mails.lastError}, '') not like ${$('except')}`,
      ),
    )
    .limit($('limit'))
    .prepare()
  const release = orm
    .update(mails)
    .set({ state: 'ready', dueAt: sql`${$('now')}` })
    .where(slice(`state = 'kept'`))
    .returning({ seq: mails.seq })
    .prepare()
  const keep = (from: 'ready' | 'waiting') =>
    orm
      .update(mails)
      .set({ state: 'kept' })
      .where(slice(`state = '${from}'`))
      .returning({ seq: mails.seq })
      .prepare()
  const kept = { ready: keep('ready'), waiting: keep('waiting') }
  const expire = orm
    .update(mails)
    .set({
      state: 'failed',
      body: null,
      lastError: sql`${$('lastError')}`,
      endedAt: sql`${$('now')}`,
    })
    .where(
      sql`${mails.seq} in (select seq from mails where ${state('kept')}
        and expires_at <= ${$('now')} limit ${$('limit')})`,
    )
    .returning({ seq: mails.seq })
    .prepare()
  const removeBefore = orm
    .delete(mails)
    .where(
      sql`${mails.seq} in (select seq from mails where created_at < ${$('before')}
        and (ended_at is not null or expires_at <= ${$('now')})
        order by created_at limit ${$('limit')})`,
    )
    .returning({ seq: mails.seq })
    .prepare()
  const removeAbout = orm
    .delete(mails)
    .where(
      sql`${mails.seq} in (select seq from mails where tenant_id = ${$('tenantId')}
        and about = ${$('about')} and created_at <= ${$('until')} limit ${$('limit')})`,
    )
    .returning({ seq: mails.seq })
    .prepare()
  const blank = (condition: SQL) =>
    orm
      .update(mails)
      .set({
        about: null,
        recipient: null,
        subject: null,
        body: null,
        lastError: null,
        state: sql`iif(${mails.endedAt} is null, 'failed', ${mails.state})`,
        endedAt: sql`coalesce(${mails.endedAt}, ${$('now')})`,
        leaseOwner: null,
        leaseUntil: null,
        attemptId: null,
        startedAt: null,
      })
      .where(condition)
      .returning({ seq: mails.seq })
      .prepare()
  const blankAbout = blank(
    sql`${mails.seq} in (select seq from mails where tenant_id = ${$('tenantId')}
      and about = ${$('about')} limit ${$('limit')})`,
  )
  const blankTo = blank(
    sql`${mails.seq} in (select seq from mails where recipient_hash = ${$('recipientHash')}
      and recipient is not null limit ${$('limit')})`,
  )

  return {
    insert: (mail: NewMail) => insert.run(mail),
    /**
     * When the latest mails were posted or withheld, newest first. Ignores those dated in the
     * future after the clock was set back, which would block the address until then.
     */
    recent: (
      recipientHash: string,
      { kind = null, since, now }: { kind?: string | null; since: number; now: number },
      limit: number,
    ): number[] => recent.all({ recipientHash, kind, since, now, limit }).map(({ at }) => at),
    countSent: (
      recipientHash: string,
      { except, since, now }: { except: string; since: number; now: number },
      limit: number,
    ): number => sent.all({ recipientHash, except: `${except}%`, since, now, limit }).length,
    /** Makes up to `limit` kept mails ready and returns their number. */
    release: (now: number, limit: number): number => release.all({ now, limit }).length,
    /** The reverse of `release`, used if the mail server was removed from the configuration. */
    keep: (from: 'ready' | 'waiting', limit: number): number => kept[from].all({ limit }).length,
    /** Fails up to `limit` kept mails that have expired, and returns their number. */
    expire: (lastError: string, now: number, limit: number): number =>
      expire.all({ lastError, now, limit }).length,
    removeBefore: (before: number, now: number, limit: number): number =>
      removeBefore.all({ before, now, limit }).length,
    /** Deletes up to `limit` mails about a subject posted by `until`, and returns their number. */
    removeAbout: (tenantId: string, about: string, until: number, limit: number): number =>
      removeAbout.all({ tenantId, about, until, limit }).length,
    /** Erases personal data in up to `limit` mails. Unsent ones fail; attempts lose their lease. */
    blankAbout: (tenantId: string, about: string, now: number, limit: number): number =>
      blankAbout.all({ tenantId, about, now, limit }).length,
    /** The same as `blankAbout` for mails to an address. */
    blankTo: (recipientHash: string, now: number, limit: number): number =>
      blankTo.all({ recipientHash, now, limit }).length,
  }
}
