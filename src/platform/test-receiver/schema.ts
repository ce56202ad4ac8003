import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { tenantId } from '../schema.ts'

/** Requests that a tenant's test receivers got, of which the newest are kept for a day. */
export const testRequests = sqliteTable(
  'test_requests',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    tenantId: tenantId(),
    /** The name of the receiver, such as `jobs`. */
    receiver: text('receiver').notNull(),
    method: text('method').notNull(),
    /** JSON object. */
    headers: text('headers').notNull(),
    /** The beginning of the body. */
    body: text('body').notNull(),
    /** The size of the whole body, in bytes. */
    bodyBytes: integer('body_bytes').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    index('test_requests_by_receiver').on(t.tenantId, t.receiver, t.seq),
    index('test_requests_by_time').on(t.createdAt),
  ],
)
