import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { tenants } from '../schema.ts'
import { type AlertKind, SEVERITIES } from './kinds.ts'

/** Conditions that last, one row per kind and subject. Times are in milliseconds since the epoch. */
export const alerts = sqliteTable(
  'alerts',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    /** Null for the installation. */
    tenantId: text('tenant_id').references(() => tenants.id, { onDelete: 'cascade' }),
    kind: text('kind').$type<AlertKind>().notNull(),
    /** Such as `job:<id>`. */
    subject: text('subject').notNull(),
    /** The name of the subject. */
    name: text('name').notNull(),
    severity: text('severity', { enum: SEVERITIES }).notNull(),
    /** Why, in a sentence of plain text. */
    text: text('text').notNull(),
    /** The page of the console, below the tenant or the installation. */
    path: text('path').notNull(),
    state: text('state', { enum: ['open', 'resolved'] }).notNull(),
    openedAt: integer('opened_at').notNull(),
    /** When it occurred last. */
    lastAt: integer('last_at').notNull(),
    /** How often it has occurred since it opened. */
    count: integer('count').notNull(),
    resolvedAt: integer('resolved_at'),
    /** Set for a condition without a recovery: it closes this long after it occurred last. */
    closesAfterMs: integer('closes_after_ms'),
    mutedUntil: integer('muted_until'),
    /** What was announced last. */
    told: text('told', { enum: ['none', 'opened', 'resolved'] }).notNull(),
    toldAt: integer('told_at'),
    /** When something has to be announced; null if there is nothing. */
    dueAt: integer('due_at'),
  },
  (t) => [
    uniqueIndex('alerts_of_subject').on(t.tenantId, t.subject, t.kind),
    index('alerts_by_state').on(t.tenantId, t.state, t.openedAt),
    index('alerts_due').on(t.dueAt).where(sql`due_at is not null`),
    index('alerts_resolved').on(t.resolvedAt).where(sql`resolved_at is not null`),
  ],
)
