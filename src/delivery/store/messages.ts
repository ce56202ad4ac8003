import { and, asc, desc, eq, getTableColumns, sql } from 'drizzle-orm'
import { compile, named } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { rowOf } from '../../db/placeholders.ts'
import { END, type Window } from '../../platform/scan.ts'
import { messages } from '../schema.ts'
import type { Stream } from '../stream.ts'

export type MessageRow = typeof messages.$inferSelect
/** The columns of a message that lists show, without those that may be large. */
export type MessageHead = Pick<MessageRow, 'seq' | 'id' | 'type' | 'acceptedAt'>
/** The columns of a message that decide which endpoints it matches. */
export type MessageAddress = Pick<MessageRow, 'seq' | 'type' | 'channels' | 'about' | 'acceptedAt'>
/** The amount of work that deleting a message takes. */
export interface MessageSize {
  seq: number
  /** Size of the payload. */
  bytes: number
}

export function createMessageStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const inStream = and(eq(messages.tenantId, $('tenantId')), eq(messages.stream, $('stream')))
  const head = {
    seq: messages.seq,
    id: messages.id,
    type: messages.type,
    acceptedAt: messages.acceptedAt,
  }

  const insert = compile(client, orm.insert(messages).values(rowOf(messages)))
  const find = orm
    .select()
    .from(messages)
    .where(and(inStream, eq(messages.id, $('id'))))
    .prepare()
  const atSeq = compile<MessageRow>(
    client,
    orm
      .select(named(getTableColumns(messages)))
      .from(messages)
      .where(and(eq(messages.tenantId, $('tenantId')), eq(messages.seq, $('seq')))),
  )
  const inWindow = and(sql`${messages.seq} > ${$('after')}`, sql`${messages.seq} < ${$('before')}`)
  const lists = [asc, desc].map((direction) =>
    [undefined, eq(messages.type, $('type'))].map((type) =>
      orm
        .select(head)
        .from(messages)
        .where(and(inStream, type, inWindow))
        .orderBy(direction(messages.seq))
        .limit($('limit'))
        .prepare(),
    ),
  )
  const previews = orm
    .select({
      seq: messages.seq,
      start: sql<string>`substr(${messages.payload}, 1, ${$('length')})`,
    })
    .from(messages)
    .where(
      and(
        sql`+${messages.tenantId} = ${$('tenantId')}`,
        sql`${messages.seq} in (select value from json_each(${$('seqs')}))`,
      ),
    )
    .prepare()
  const between = orm
    .select({
      seq: messages.seq,
      type: messages.type,
      channels: messages.channels,
      about: messages.about,
      acceptedAt: messages.acceptedAt,
    })
    .from(messages)
    .where(
      and(inStream, sql`${messages.seq} > ${$('after')}`, sql`${messages.seq} <= ${$('upTo')}`),
    )
    .orderBy(asc(messages.seq))
    .limit($('limit'))
    .prepare()
  const countBetween = orm
    .select({ count: sql<number>`count(*)` })
    .from(
      orm
        .select({ seq: messages.seq })
        .from(messages)
        .where(
          and(inStream, sql`${messages.seq} > ${$('after')}`, sql`${messages.seq} <= ${$('upTo')}`),
        )
        .limit($('limit'))
        .as('some'),
    )
    .prepare()
  const seqAt = orm
    .select({ seq: messages.seq })
    .from(messages)
    .where(sql`${messages.acceptedAt} < ${$('at')}`)
    .orderBy(desc(messages.acceptedAt), desc(messages.seq))
    .limit(1)
    .prepare()
  const lastSeq = client.query<{ seq: number }, []>(
    "SELECT seq FROM sqlite_sequence WHERE name = 'messages'",
  )
  const size = { seq: messages.seq, bytes: sql<number>`octet_length(${messages.payload})` }
  const expired = orm
    .select(size)
    .from(messages)
    .where(sql`${messages.acceptedAt} < ${$('before')}`)
    .orderBy(asc(messages.acceptedAt))
    .limit($('limit'))
    .prepare()
  const about = and(
    eq(messages.tenantId, $('tenantId')),
    eq(messages.about, $('about')),
    sql`not exists (select 1 from json_each(${$('kept')}) where value = ${messages.type})`,
  )
  const restingAbout = orm
    .select(size)
    .from(messages)
    .where(
      and(
        about,
        sql`not exists (select 1 from deliveries d
          where d.message_seq = ${messages.seq} and d.ended_at is null and d.state <> 'held')`,
      ),
    )
    .orderBy(asc(messages.seq))
    .limit($('limit'))
    .prepare()
  const lastAbout = orm
    .select({ type: messages.type, acceptedAt: messages.acceptedAt })
    .from(messages)
    .where(
      and(
        eq(messages.tenantId, $('tenantId')),
        eq(messages.about, $('about')),
        sql`${messages.type} in (select value from json_each(${$('types')}))`,
      ),
    )
    .orderBy(desc(messages.seq))
    .limit(1)
    .prepare()
  const anyAbout = orm.select({ seq: messages.seq }).from(messages).where(about).limit(1).prepare()
  const remove = orm
    .delete(messages)
    .where(eq(messages.seq, $('seq')))
    .prepare()

  return {
    /** Returns the position of the new message in the order of all messages. */
    insert: (row: Omit<MessageRow, 'seq'>): number => Number(insert.run(row).lastInsertRowid),
    find: ({ tenantId, name }: Stream, id: string): MessageRow | undefined =>
      find.get({ tenantId, stream: name, id }),
    atSeq: (tenantId: string, seq: number): MessageRow | undefined => atSeq.get({ tenantId, seq }),
    /** Newest first unless the window is ascending. */
    list: ({ tenantId, name }: Stream, page: Window & { type?: string | undefined }) => {
      const { before = END, after = 0, isAscending = false, limit, type } = page
      const [all, ofType] = lists[isAscending ? 0 : 1] ?? []
      const statement = type === undefined ? all : ofType
      return (statement?.all({ tenantId, stream: name, before, after, limit, type }) ??
        []) as MessageHead[]
    },
    /** The beginnings of payloads, by the number of the message. */
    previews: (tenantId: string, seqs: readonly number[], length: number): Map<number, string> =>
      new Map(
        previews
          .all({ tenantId, seqs: JSON.stringify(seqs), length })
          .map(({ seq, start }) => [seq, start]),
      ),
    /** Messages between two positions in the order of all messages, oldest first. */
    between: (
      { tenantId, name }: Stream,
      range: { after: number; upTo: number; limit: number },
    ): MessageAddress[] => between.all({ tenantId, stream: name, ...range }),
    /** The number of messages between two positions, counted up to `limit`. */
    countBetween: (
      { tenantId, name }: Stream,
      range: { after: number; upTo: number; limit: number },
    ): number => countBetween.get({ tenantId, stream: name, ...range })?.count ?? 0,
    /** The position of the last message of any tenant that was accepted before `at`. */
    seqAt: (at: number): number => seqAt.get({ at })?.seq ?? 0,
    /** The position of the latest message ever, even if it is deleted. */
    lastSeq: (): number => lastSeq.get()?.seq ?? 0,
    /** Expired messages of all tenants, oldest first. */
    expired: (before: number, limit: number): MessageSize[] => expired.all({ before, limit }),
    /** Messages whose deliveries have all ended or are held, oldest first, except `keptTypes`. */
    restingAbout: (
      tenantId: string,
      about: string,
      keptTypes: readonly string[],
      limit: number,
    ): MessageSize[] =>
      restingAbout.all({ tenantId, about, kept: JSON.stringify(keptTypes), limit }),
    /** The latest message of some types about a subject. */
    lastAbout: (tenantId: string, about: string, types: readonly string[]) =>
      lastAbout.get({ tenantId, about, types: JSON.stringify(types) }),
    /** Whether there is a message about a person of a type that is not kept. */
    isAnyAbout: (tenantId: string, about: string, keptTypes: readonly string[]): boolean =>
      anyAbout.get({ tenantId, about, kept: JSON.stringify(keptTypes) }) !== undefined,
    remove: (seq: number) => remove.run({ seq }),
  }
}
