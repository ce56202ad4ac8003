import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { tenantId } from '../../../platform/schema.ts'
import { SIGNALS, STATES } from './names.ts'

/** Pings that are expected again and again. A monitor is down if one doesn't arrive in time. */
export const monitors = sqliteTable(
  'monitors',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    name: text('name').notNull(),
    /** JSON array of words. */
    tags: text('tags').notNull(),
    notes: text('notes').notNull(),
    /** SHA-256 of the token in the ping URL. */
    tokenHash: text('token_hash').notNull().unique(),
    token: text('token').notNull(),
    badgeToken: text('badge_token').notNull().unique(),
    /** Either a period or a schedule. */
    periodSeconds: integer('period_seconds'),
    schedule: text('schedule'),
    timeZone: text('time_zone').notNull(),
    graceSeconds: integer('grace_seconds').notNull(),
    state: text('state', { enum: STATES }).notNull(),
    stateSince: integer('state_since').notNull(),
    lastPingAt: integer('last_ping_at'),
    lastDurationMs: integer('last_duration_ms'),
    /** Set while a run is in progress, with its run ID if it has one. */
    startedAt: integer('started_at'),
    startedRid: text('started_rid'),
    /** When the next ping is expected; null before the first one, while down and while paused. */
    expectedAt: integer('expected_at'),
    /** When the watch looks at it next: no later than its state changes without a ping. */
    dueAt: integer('due_at'),
    /** How many pings and transitions there were, which number those that are kept. */
    pingCount: integer('ping_count').notNull(),
    transitionCount: integer('transition_count').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('monitors_by_tenant').on(t.tenantId, t.seq),
    index('monitors_due').on(t.dueAt).where(sql`due_at is not null`),
    check('monitors_state', sql`${t.state} in ('new', 'up', 'late', 'down', 'paused')`),
    check('monitors_expectation', sql`(${t.periodSeconds} is null) <> (${t.schedule} is null)`),
  ],
)

/** The newest pings of each monitor: a new one takes the place of the oldest. */
export const monitorPings = sqliteTable(
  'monitor_pings',
  {
    tenantId: tenantId(),
    monitorId: text('monitor_id').notNull(),
    /** The remainder of its number. */
    place: integer('place').notNull(),
    /** Counted from 1. */
    number: integer('number').notNull(),
    signal: text('signal', { enum: SIGNALS }).notNull(),
    exitCode: integer('exit_code'),
    rid: text('rid'),
    receivedAt: integer('received_at').notNull(),
    durationMs: integer('duration_ms'),
    /** The beginning of the request body. */
    body: text('body'),
    /** The IP address of the client. */
    address: text('address'),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.monitorId, t.place] })],
)

/** Changes of state. Like pings, a new one takes the place of the oldest. */
export const monitorTransitions = sqliteTable(
  'monitor_transitions',
  {
    tenantId: tenantId(),
    monitorId: text('monitor_id').notNull(),
    place: integer('place').notNull(),
    number: integer('number').notNull(),
    from: text('from_state', { enum: STATES }).notNull(),
    to: text('to_state', { enum: STATES }).notNull(),
    at: integer('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.monitorId, t.place] }),
    index('monitor_transitions_by_time').on(t.at),
  ],
)

/** One row: when a process last watched for monitors that are due. Older means an outage. */
export const monitorWatch = sqliteTable('monitor_watch', {
  id: integer('id').primaryKey(),
  watchedAt: integer('watched_at').notNull(),
})
