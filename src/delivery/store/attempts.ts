import { and, asc, eq, sql } from 'drizzle-orm'
import { compile } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { rowOf } from '../../db/placeholders.ts'
import { attempts } from '../schema.ts'
import type { AttemptRow } from './rows.ts'

export function createAttemptStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const insert = compile(client, orm.insert(attempts).values(rowOf(attempts)))
  const trim = orm
    .delete(attempts)
    .where(
      sql`${attempts.seq} in (select seq from attempts where delivery_seq = ${$('deliverySeq')}
        order by seq desc limit -1 offset ${$('kept')})`,
    )
    .prepare()
  const removeOfMessage = orm
    .delete(attempts)
    .where(
      sql`${attempts.seq} in (select a.seq from deliveries d join attempts a on a.delivery_seq = d.seq
        where d.message_seq = ${$('messageSeq')} limit ${$('limit')})`,
    )
    .returning({ seq: attempts.seq })
    .prepare()
  const ofDelivery = orm
    .select()
    .from(attempts)
    .where(and(eq(attempts.tenantId, $('tenantId')), eq(attempts.deliverySeq, $('deliverySeq'))))
    .orderBy(asc(attempts.seq))
    .prepare()

  return {
    insert: (row: Omit<AttemptRow, 'seq'>) => insert.run(row),
    /** Deletes all but the most recent `kept` attempts. */
    trim: (deliverySeq: number, kept: number) => void trim.run({ deliverySeq, kept }),
    /** Deletes up to `limit` attempts of a message's deliveries and returns how many. */
    removeOfMessage: (messageSeq: number, limit: number): number =>
      removeOfMessage.all({ messageSeq, limit }).length,
    /** Oldest first. */
    ofDelivery: (tenantId: string, deliverySeq: number): AttemptRow[] =>
      ofDelivery.all({ tenantId, deliverySeq }),
  }
}
