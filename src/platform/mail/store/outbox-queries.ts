import { and, asc, count, desc, eq, ne, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { createSeqFrom } from '../../../db/seq-from.ts'
import { END, type Window } from '../../scan.ts'
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
  /** Undefined for mails of all tenants and of the installation, null for those of the installation. */
  owner: string | null | undefined
  /** Undefined for all states. */
  states?: readonly MailState[] | undefined
  /** A prefix of the recipient's address. */
  recipient?: string | undefined
}

/** A part of the outbox, of which up to `most` mails are searched. */
type MailScan = Window & { most: number }

/** Sorts after every character in an address. */
const LAST = '\u{10ffff}'

/** SQL for the outbox in the console and on the command line. */
export function createOutboxQueries({ orm, client }: Db) {
  const $ = sql.placeholder
  const byId = eq(mails.id, $('id'))
  const isWithin = sql`${mails.seq} between ${$('after')} + 1 and ${$('before')} - 1`
  const listIn = (direction: typeof asc, which: SQL | undefined) => {
    const inOrder = () =>
      orm.select(SUMMARY).from(mails).where(and(which, isWithin)).orderBy(direction(mails.seq))
    const found = inOrder().limit($('most')).as('found')
    return {
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
      edge: inOrder().limit(1).offset($('most')).prepare(),
    }
  }
  const listsOf = (which?: SQL) => [listIn(asc, which), listIn(desc, which)]
  const isFailed = sql`${mails.state} = 'failed'`
  const [all, ofOwner, failed] = [
    listsOf(),
    listsOf(sql`${mails.tenantId} is ${$('tenantId')}`),
    listsOf(isFailed),
  ]

  /** The statements that read the fewest rows for a search, and the values of all of them. */
  function searchOf({ owner, states, recipient }: Sought, scan: MailScan) {
    const { before = END, after = 0, isAscending } = scan
    const isOfFailed = owner === undefined && states?.join() === 'failed'
    const lists = owner === undefined ? (isOfFailed ? failed : all) : ofOwner
    return {
      ...lists[isAscending ? 0 : 1],
      values: {
        ...{ ...scan, before, after, tenantId: owner },
        states: states ? JSON.stringify(states) : null,
        from: recipient ?? null,
        to: recipient === undefined ? null : recipient + LAST,
      },
    }
  }

  const some = orm
    .select({ seq: mails.seq })
    .from(mails)
    .where(isFailed)
    .limit($('most'))
    .as('some')
  const failedCounted = orm.select({ count: count() }).from(some).prepare()
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
    /** Up to `limit` matching mails among the next `most`, newest first unless ascending. */
    seek: (sought: Sought, scan: MailScan): MailSummary[] => {
      const { sought: statement, values } = searchOf(sought, scan)
      return statement?.all(values) ?? []
    },
    /** The `seq` of the first mail after the next `most`. */
    edge: (sought: Sought, scan: MailScan): number | undefined => {
      const { edge, values } = searchOf(sought, scan)
      return edge?.get(values)?.seq
    },
    countFailed: (most: number): number => failedCounted.get({ most })?.count ?? 0,
    /** The `seq` of the first mail from a time on. */
    seqFrom: createSeqFrom(client, 'mails', 'created_at'),
    find: (id: string): (MailSummary & Pick<MailRow, 'body'>) | undefined => find.get({ id }),
    /** Makes a mail ready that waits for a retry; false for other mails. */
    hasten: (id: string, now: number): boolean => hasten.get({ id, now }) !== undefined,
    /** Deletes a mail; false if it is being sent. */
    remove: (id: string): boolean => remove.get({ id }) !== undefined,
  }
}
