import { and, asc, eq, sql } from 'drizzle-orm'
import { compile } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { attempts } from '../schema.ts'
import type { AttemptRow } from './rows.ts'

export function createAttemptStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const insert = compile(
    client,
    orm.insert(attempts).values({
      id: $('id'),
      tenantId: $('tenantId'),
      deliverySeq: $('deliverySeq'),
      run: $('run'),
      number: $('number'),
      trigger: $('trigger'),
      status: $('status'),
      startedAt: $('startedAt'),
      durationMs: $('durationMs'),
      url: $('url'),
      requestHeaders: $('requestHeaders'),
      address: $('address'),
      timings: $('timings'),
      responseStatus: $('responseStatus'),
      responseHeaders: $('responseHeaders'),
      responseBody: $('responseBody'),
      errorCode: $('errorCode'),
      errorMessage: $('errorMessage'),
      nextAttemptAt: $('nextAttemptAt'),
    }),
  )
  const ofDelivery = orm
    .select()
    .from(attempts)
    .where(and(eq(attempts.tenantId, $('tenantId')), eq(attempts.deliverySeq, $('deliverySeq'))))
    .orderBy(asc(attempts.seq))
    .prepare()

  return {
    insert: (row: Omit<AttemptRow, 'seq'>) => insert.run(row),
    /** Oldest first. */
    ofDelivery: (tenantId: string, deliverySeq: number): AttemptRow[] =>
      ofDelivery.all({ tenantId, deliverySeq }),
  }
}
