import { and, desc, eq, lt, ne, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { END, type Scan } from '../../scan.ts'
import { mails } from '../../schema.ts'
import type { MailRow, MailState } from './rows.ts'

/** The columns in lists: all except the body and the state of leases. */
export type MailSummary = Pick<MailRow, keyof typeof SUMMARY>

const SUMMARY = {
  seq: mails.seq,
  id: mails.id,
  tenantId: mails.tenantId,
  about: mails.about,
  kind: mails.kind,
  recipient: mails.recipient,
  subject: mails.subject,
  state: mails.state,
  tries: mails.tries,
  dueAt: mails.dueAt,
  expiresAt: mails.expiresAt,
  lastError: mails.lastError,
  createdAt: mails.createdAt,
  endedAt: mails.endedAt,
}

/** The filter of a search. */
export interface Sought {
  /** Undefined for all states. */
  states?: readonly MailState[] | undefined
  /** A prefix of the recipient's address. */
  recipient?: string | undefined
}

/** The owner: undefined for all, null for the installation. */
type Owner = string | null | undefined

/** Sorts after every character in an address. */
const LAST = '\u{10ffff}'

/** SQL for the outbox in the console and on the command line, newest first. */
export function createOutboxQueries({ orm }: Db) {
  const $ = sql.placeholder
  const byId = eq(mails.id, $('id'))
  const lists = (mine?: SQL) => {
    const newest = () =>
      orm
        .select(SUMMARY)
        .from(mails)
        .where(and(mine, lt(mails.seq, $('before'))))
        .orderBy(desc(mails.seq))
    const found = newest().limit($('most')).as('newest')
    return {
      all: newest().limit($('limit')).prepare(),
      // Has no ORDER BY of its own, so that it stops early; the inner query is already ordered.
      sought: orm
        .select()
        .from(found)
        .where(
          and(
            sql`(${$('states')} is null or ${found.state} in (select value from json_each(${$('states')})))`,
            sql`(${$('from')} is null or ${found.recipient} between ${$('from')} and ${$('to')})`,
          ),
        )
        .limit($('limit'))
        .prepare(),
      edge: orm
        .select({ seq: mails.seq })
        .from(mails)
        .where(and(mine, lt(mails.seq, $('before'))))
        .orderBy(desc(mails.seq))
        .limit(1)
        .offset($('most'))
        .prepare(),
    }
  }
  const [everybodys, ones] = [lists(), lists(sql`${mails.tenantId} is ${$('tenantId')}`)]
  const listsOf = (owner: Owner) =>
    owner === undefined ? { ...everybodys, mine: {} } : { ...ones, mine: { tenantId: owner } }

  const find = orm
    .select({ ...SUMMARY, body: mails.body })
    .from(mails)
    .where(byId)
    .prepare()
  const hasten = orm
    .update(mails)
    .set({ state: 'ready', dueAt: sql`${$('now')}` })
    .where(and(byId, eq(mails.state, 'waiting')))
    .returning({ seq: mails.seq })
    .prepare()
  const remove = orm
    .delete(mails)
    .where(and(byId, ne(mails.state, 'leased')))
    .returning({ seq: mails.seq })
    .prepare()

  return {
    list: (owner: Owner, { before = END, limit }: Scan): MailSummary[] => {
      const { all, mine } = listsOf(owner)
      return all.all({ ...mine, before, limit })
    },
    /** Up to `limit` matching mails among the next `most`. */
    seek: (
      owner: Owner,
      { states, recipient }: Sought,
      { before = END, limit, most }: Scan & { most: number },
    ): MailSummary[] => {
      const { sought, mine } = listsOf(owner)
      return sought.all({
        ...mine,
        before,
        most,
        limit,
        states: states ? JSON.stringify(states) : null,
        from: recipient ?? null,
        to: recipient === undefined ? null : recipient + LAST,
      })
    },
    /** The `seq` of the first mail after the next `most`. */
    edge: (owner: Owner, { before = END, most }: { before?: number | undefined; most: number }) => {
      const { edge, mine } = listsOf(owner)
      return edge.get({ ...mine, before, most })?.seq
    },
    find: (id: string): (MailSummary & Pick<MailRow, 'body'>) | undefined => find.get({ id }),
    /** Makes a mail ready that waits for a retry; false for other mails. */
    hasten: (id: string, now: number): boolean => hasten.get({ id, now }) !== undefined,
    /** Deletes a mail; false if it is being sent. */
    remove: (id: string): boolean => remove.get({ id }) !== undefined,
  }
}
