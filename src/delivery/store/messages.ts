import { and, asc, desc, eq, sql } from 'drizzle-orm'
import { compile } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { END, type Scan } from '../../platform/scan.ts'
import { messages } from '../schema.ts'
import type { Stream } from '../stream.ts'

export type MessageRow = typeof messages.$inferSelect
/** What a list shows of a message: all but what may be large. */
export type MessageHead = Pick<MessageRow, 'seq' | 'id' | 'type' | 'acceptedAt'>
/** What tells whom a message is for. */
export type MessageAddress = Pick<MessageRow, 'seq' | 'type' | 'channels' | 'acceptedAt'>
/** What tells how much work it is to delete a message. */
export interface MessageSize {
  seq: number
  /** Of its payload. */
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

  const insert = compile(
    client,
    orm.insert(messages).values({
      id: $('id'),
      tenantId: $('tenantId'),
      stream: $('stream'),
      type: $('type'),
      channels: $('channels'),
      payload: $('payload'),
      idempotencyKey: $('idempotencyKey'),
      about: $('about'),
      acceptedAt: $('acceptedAt'),
    }),
  )
  const find = orm
    .select()
    .from(messages)
    .where(and(inStream, eq(messages.id, $('id'))))
    .prepare()
  const atSeq = orm
    .select()
    .from(messages)
    .where(and(eq(messages.tenantId, $('tenantId')), eq(messages.seq, $('seq'))))
    .prepare()
  const list = orm
    .select(head)
    .from(messages)
    .where(and(inStream, sql`${messages.seq} < ${$('before')}`))
    .orderBy(desc(messages.seq))
    .limit($('limit'))
    .prepare()
  const listOfType = orm
    .select(head)
    .from(messages)
    .where(and(inStream, eq(messages.type, $('type')), sql`${messages.seq} < ${$('before')}`))
    .orderBy(desc(messages.seq))
    .limit($('limit'))
    .prepare()
  const between = orm
    .select({
      seq: messages.seq,
      type: messages.type,
      channels: messages.channels,
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
  const placeAt = orm
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
  const anyAbout = orm.select({ seq: messages.seq }).from(messages).where(about).limit(1).prepare()
  const remove = orm
    .delete(messages)
    .where(eq(messages.seq, $('seq')))
    .prepare()

  return {
    /** The place of the new message in the order of all. */
    insert: (row: Omit<MessageRow, 'seq'>): number => Number(insert.run(row).lastInsertRowid),
    find: ({ tenantId, name }: Stream, id: string): MessageRow | undefined =>
      find.get({ tenantId, stream: name, id }),
    atSeq: (tenantId: string, seq: number): MessageRow | undefined => atSeq.get({ tenantId, seq }),
    /** Newest first, from behind the message at `before`. */
    list: ({ tenantId, name }: Stream, page: Scan & { type?: string | undefined }) => {
      const { before = END, limit, type } = page
      const values = { tenantId, stream: name, before, limit }
      const rows = type === undefined ? list.all(values) : listOfType.all({ ...values, type })
      return rows as MessageHead[]
    },
    /** Oldest first, those between two places in the order of all. */
    between: (
      { tenantId, name }: Stream,
      places: { after: number; upTo: number; limit: number },
    ): MessageAddress[] => between.all({ tenantId, stream: name, ...places }),
    /** How many there are between two places, counted up to `limit`. */
    countBetween: (
      { tenantId, name }: Stream,
      places: { after: number; upTo: number; limit: number },
    ): number => countBetween.get({ tenantId, stream: name, ...places })?.count ?? 0,
    /** The place of the last message, of whatever tenant, that was accepted before `at`. */
    placeAt: (at: number): number => placeAt.get({ at })?.seq ?? 0,
    /** The place of the last message there has ever been, also when it is gone. */
    lastSeq: (): number => lastSeq.get()?.seq ?? 0,
    /** Of all tenants, oldest first. */
    expired: (before: number, limit: number): MessageSize[] => expired.all({ before, limit }),
    /** Those about a person with every delivery ended or held, oldest first, but for the types kept. */
    restingAbout: (
      tenantId: string,
      about: string,
      keptTypes: readonly string[],
      limit: number,
    ): MessageSize[] =>
      restingAbout.all({ tenantId, about, kept: JSON.stringify(keptTypes), limit }),
    /** Whether there is one about somebody that is not of a type kept. */
    isAnyAbout: (tenantId: string, about: string, keptTypes: readonly string[]): boolean =>
      anyAbout.get({ tenantId, about, kept: JSON.stringify(keptTypes) }) !== undefined,
    remove: (seq: number) => remove.run({ seq }),
  }
}
