import { and, desc, eq, lt, ne, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { END, type Scan } from '../../scan.ts'
import { mails } from '../../schema.ts'
import type { MailRow, MailState } from './rows.ts'

/** What a list shows: all but the body and what the loop notes. */
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
  /** All where there is none. */
  states?: readonly MailState[] | undefined
  /** The beginning of the address that it went to. */
  recipient?: string | undefined
}

/** The owner: undefined for all, null for the installation. */
type Owner = string | null | undefined

/** After every character that an address can hold. */
const LAST = '\u{10ffff}'

/** The outbox as people read it, the newest first, and what they do to one mail of it. */
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
    const looked = newest().limit($('most')).as('looked')
    return {
      all: newest().limit($('limit')).prepare(),
      // Without an order of its own it ends as soon as it has enough: those looked at have one.
      sought: orm
        .select()
        .from(looked)
        .where(
          and(
            sql`(${$('states')} is null or ${looked.state} in (select value from json_each(${$('states')})))`,
            sql`(${$('from')} is null or ${looked.recipient} between ${$('from')} and ${$('to')})`,
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
    /** Up to `limit` of those sought, among the next `most` mails. */
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
    /** The newest mail behind the next `most`. */
    edge: (owner: Owner, { before = END, most }: { before?: number | undefined; most: number }) => {
      const { edge, mine } = listsOf(owner)
      return edge.get({ ...mine, before, most })?.seq
    },
    find: (id: string): (MailSummary & Pick<MailRow, 'body'>) | undefined => find.get({ id }),
    /** Puts one that waits for a retry in line; false for any other. */
    hasten: (id: string, now: number): boolean => hasten.get({ id, now }) !== undefined,
    /** False for one that is just being sent. */
    remove: (id: string): boolean => remove.get({ id }) !== undefined,
  }
}
