import { and, asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import { compile } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { createSeqFrom } from '../../db/seq-from.ts'
import { END, type Scan, type Window } from '../../platform/scan.ts'
import { deliveries, messages } from '../schema.ts'
import type { Stream } from '../stream.ts'
import type { DeliveryRow, DeliveryView } from './rows.ts'

type NewDelivery = Pick<
  DeliveryRow,
  | 'id'
  | 'tenantId'
  | 'stream'
  | 'messageSeq'
  | 'endpointId'
  | 'format'
  | 'state'
  | 'queue'
  | 'trigger'
  | 'dueAt'
  | 'createdAt'
  | 'endedAt'
>

/** Deliveries as the API and the console query them. */
export function createDeliveryStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const inStream = and(eq(deliveries.tenantId, $('tenantId')), eq(deliveries.stream, $('stream')))

  const insert = compile(
    client,
    orm
      .insert(deliveries)
      .values({
        id: $('id'),
        tenantId: $('tenantId'),
        stream: $('stream'),
        messageSeq: $('messageSeq'),
        endpointId: $('endpointId'),
        format: $('format'),
        state: $('state'),
        queue: $('queue'),
        run: 1,
        attempts: 0,
        tries: 0,
        trigger: $('trigger'),
        dueAt: $('dueAt'),
        createdAt: $('createdAt'),
        endedAt: $('endedAt'),
      }),
  )
  const select = (where: SQL | undefined) =>
    orm
      .select({ delivery: deliveries, messageId: messages.id, eventType: messages.type })
      .from(deliveries)
      .innerJoin(messages, eq(messages.seq, deliveries.messageSeq))
      .where(where)
  const scan = (where: SQL | undefined) => {
    const [oldest, newest] = [asc, desc].map((direction) =>
      select(
        and(
          inStream,
          where,
          sql`${deliveries.seq} > ${$('after')}`,
          sql`${deliveries.seq} < ${$('before')}`,
        ),
      )
        .orderBy(direction(deliveries.seq))
        .limit($('limit'))
        .prepare(),
    )
    return ({ tenantId, name }: Stream, window: Window, values: object = {}): DeliveryView[] => {
      const { before = END, after = 0, limit, isAscending } = window
      const statement = isAscending ? oldest : newest
      return views(
        statement?.all({ ...values, tenantId, stream: name, before, after, limit }) ?? [],
      )
    }
  }

  const find = select(and(inStream, eq(deliveries.id, $('id')))).prepare()
  /** The plus sign keeps SQLite from scanning the whole stream in its order. */
  const ofMessage = select(
    and(
      eq(deliveries.messageSeq, $('messageSeq')),
      sql`+${deliveries.tenantId} = ${$('tenantId')}`,
      eq(deliveries.stream, $('stream')),
      sql`${deliveries.seq} < ${$('before')}`,
    ),
  )
    .orderBy(desc(deliveries.seq))
    .limit($('limit'))
    .prepare()
  const all = scan(undefined)
  const ofEndpoint = scan(eq(deliveries.endpointId, $('endpointId')))
  const failed = scan(sql`${deliveries.state} = 'failed'`)
  const someFailed = orm
    .select({ endpointId: deliveries.endpointId })
    .from(deliveries)
    .where(
      and(
        inStream,
        sql`${deliveries.state} = 'failed'`,
        sql`${deliveries.seq} > ${$('after')}`,
        sql`${deliveries.seq} < ${$('before')}`,
      ),
    )
    .limit($('most'))
    .as('some')
  const countFailed = orm
    .select({
      all: sql<number>`count(*)`,
      own: sql<number>`count(*) filter (where endpoint_id = ${$('endpointId')})`,
    })
    .from(someFailed)
    .prepare()
  const toEndpoint = orm
    .select()
    .from(deliveries)
    .where(
      and(
        eq(deliveries.messageSeq, $('messageSeq')),
        eq(deliveries.endpointId, $('endpointId')),
        eq(deliveries.tenantId, $('tenantId')),
      ),
    )
    .prepare()
  const want = orm
    .update(deliveries)
    .set({ wanted: sql`${$('wanted')}` })
    .where(eq(deliveries.seq, $('seq')))
    .prepare()
  const removeOfMessage = orm
    .delete(deliveries)
    .where(
      sql`${deliveries.seq} in (select seq from deliveries
        where message_seq = ${$('messageSeq')} limit ${$('limit')})`,
    )
    .returning({ endpointId: deliveries.endpointId, endedAt: deliveries.endedAt })
    .prepare()

  return {
    insert: (row: NewDelivery) => insert.run(row),
    find: ({ tenantId, name }: Stream, id: string): DeliveryView | undefined =>
      views(find.all({ tenantId, stream: name, id }))[0],
    ofMessage: (
      { tenantId, name }: Stream,
      messageSeq: number,
      { before = END, limit }: Scan,
    ): DeliveryView[] =>
      views(ofMessage.all({ tenantId, stream: name, messageSeq, before, limit })),
    all: (stream: Stream, window: Window) => all(stream, window),
    failed: (stream: Stream, window: Window) => failed(stream, window),
    /**
     * The number of failed deliveries in a range, to one endpoint if given, counted up to `most` of all
     * endpoints. Undefined if these may not be all of the endpoint's.
     */
    failedCount(
      { tenantId, name }: Stream,
      { after = 0, before = END }: Pick<Window, 'after' | 'before'>,
      { endpointId, most }: { endpointId?: string | undefined; most: number },
    ): number | undefined {
      const values = { tenantId, stream: name, after, before, most, endpointId: endpointId ?? '' }
      const { all = 0, own = 0 } = countFailed.get(values) ?? {}
      if (endpointId === undefined) return all
      return all < most ? own : undefined
    },
    ofEndpoint: (stream: Stream, endpointId: string, window: Window) =>
      ofEndpoint(stream, window, { endpointId }),
    /** The number of the first delivery that was created from a time on. */
    seqFrom: createSeqFrom(client, 'deliveries', 'created_at'),
    /** The delivery of a message to an endpoint. */
    toEndpoint: (
      tenantId: string,
      messageSeq: number,
      endpointId: string,
    ): DeliveryRow | undefined => toEndpoint.get({ tenantId, messageSeq, endpointId }),
    /** Requests an action during an attempt. It is taken unless the attempt succeeds. */
    want: (seq: number, wanted: 'resend' | 'cancel') => void want.run({ seq, wanted }),
    /** Deletes up to `limit` deliveries of a message, with their attempts. */
    removeOfMessage: (
      messageSeq: number,
      limit: number,
    ): Pick<DeliveryRow, 'endpointId' | 'endedAt'>[] => removeOfMessage.all({ messageSeq, limit }),
  }
}

const views = (
  rows: { delivery: DeliveryRow; messageId: string; eventType: string }[],
): DeliveryView[] =>
  rows.map(({ delivery, messageId, eventType }) => ({ ...delivery, messageId, eventType }))
