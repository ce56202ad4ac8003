import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { SEVERITIES } from '../../platform/alerts/kinds.ts'
import { tenants } from '../../platform/schema.ts'
import { CHANNEL_TYPES } from './channel-types.ts'

/** Null for the installation. */
const tenantId = () => text('tenant_id').references(() => tenants.id, { onDelete: 'cascade' })

/** Where a tenant, or the installation, wants to be notified of alerts. */
export const notificationChannels = sqliteTable(
  'notification_channels',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    name: text('name').notNull(),
    type: text('type', { enum: CHANNEL_TYPES }).notNull(),
    /** Sealed JSON, because it has URLs and tokens by which anyone could post. */
    settings: text('settings').notNull(),
    /** Where it leads, without a secret. */
    hint: text('hint').notNull(),
    /** JSON array of kinds of alerts; null for all. */
    kinds: text('kinds'),
    minSeverity: text('min_severity', { enum: SEVERITIES }).notNull(),
    isActive: integer('is_active', { mode: 'boolean' }).notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** The last attempt, and why it failed if it did. */
    lastAt: integer('last_at'),
    lastError: text('last_error'),
  },
  (t) => [index('notification_channels_by_tenant').on(t.tenantId, t.seq)],
)

/** One row for each announcement and channel: the queue, and then the log. */
export const notices = sqliteTable(
  'notices',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    /** `owners` for the built-in channel. Kept when the channel is deleted. */
    channelId: text('channel_id').notNull(),
    channelName: text('channel_name').notNull(),
    event: text('event', { enum: ['opened', 'resolved', 'reminder', 'test'] }).notNull(),
    kind: text('kind').notNull(),
    severity: text('severity', { enum: SEVERITIES }).notNull(),
    title: text('title').notNull(),
    /** JSON of the content, except for the address of the console. */
    content: text('content').notNull(),
    /** `waiting`, `ready` and `leased` as in the due loop. */
    state: text('state', { enum: ['waiting', 'ready', 'leased', 'sent', 'failed'] }).notNull(),
    tries: integer('tries').notNull(),
    dueAt: integer('due_at').notNull(),
    leaseOwner: text('lease_owner'),
    leaseUntil: integer('lease_until'),
    attemptId: text('attempt_id'),
    lastError: text('last_error'),
    createdAt: integer('created_at').notNull(),
    endedAt: integer('ended_at'),
  },
  (t) => [
    index('notices_by_tenant').on(t.tenantId, t.seq),
    index('notices_by_channel').on(t.tenantId, t.channelId, t.createdAt),
    index('notices_by_time').on(t.createdAt),
    index('notices_waiting').on(t.dueAt).where(sql`state = 'waiting'`),
    index('notices_ready').on(t.tenantId, t.channelId, t.dueAt, t.seq).where(sql`state = 'ready'`),
    index('notices_leased').on(t.leaseUntil).where(sql`state = 'leased'`),
  ],
)
