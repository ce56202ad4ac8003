import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { tenantId } from '../../platform/schema.ts'

const environment = () => text('environment', { enum: ['live', 'test'] }).notNull()

/** Idempotency keys and the answer to the first message with each key. */
export const relayIdempotencyKeys = sqliteTable(
  'relay_idempotency_keys',
  {
    tenantId: tenantId(),
    environment: environment(),
    key: text('key').notNull(),
    messageId: text('message_id').notNull(),
    eventType: text('event_type').notNull(),
    acceptedAt: integer('accepted_at').notNull(),
    /** SHA-256 over type, channels and payload. Detects a different message with the same key. */
    digest: text('digest').notNull(),
    /** After this time, the key counts as unused. */
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.environment, t.key] }),
    index('relay_idempotency_keys_expired').on(t.expiresAt),
  ],
)

/** The event types seen and the shape of their payloads. */
export const relayEventTypes = sqliteTable(
  'relay_event_types',
  {
    tenantId: tenantId(),
    environment: environment(),
    name: text('name').notNull(),
    firstSeenAt: integer('first_seen_at').notNull(),
    lastSeenAt: integer('last_seen_at').notNull(),
    count: integer('count').notNull(),
    /** The last payload that changed the shape, exactly as sent; null if it is large. */
    sample: text('sample'),
    /** JSON; see shape/. */
    shape: text('shape').notNull(),
    /** JSON array of the latest changes of the shape, oldest first. */
    drift: text('drift').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.environment, t.name] }),
    index('relay_event_types_by_time').on(t.lastSeenAt),
  ],
)
