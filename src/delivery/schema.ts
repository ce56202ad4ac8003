import { sql } from 'drizzle-orm'
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import { tenantId } from '../platform/schema.ts'
import { FORMATS } from './formats.ts'
import type { StreamName } from './stream.ts'
import { DELIVERY_TRIGGERS } from './triggers.ts'

const stream = () => text('stream').$type<StreamName>().notNull()

/** Events as they were accepted. Their order is that of `seq`. */
export const messages = sqliteTable(
  'messages',
  {
    /** Never given twice: filters and cursors go by it, also when all rows are gone. */
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    stream: stream(),
    type: text('type').notNull(),
    /** JSON array of the channels it names; null when it names none. */
    channels: text('channels'),
    /** JSON text, as its producer spelled it. */
    payload: text('payload').notNull(),
    idempotencyKey: text('idempotency_key'),
    /** Whoever it is about, where it has to go with them. */
    about: text('about'),
    acceptedAt: integer('accepted_at').notNull(),
  },
  (t) => [
    index('messages_by_stream').on(t.tenantId, t.stream, t.seq),
    index('messages_by_type').on(t.tenantId, t.stream, t.type, t.seq),
    index('messages_by_time').on(t.acceptedAt),
    index('messages_about').on(t.tenantId, t.about).where(sql`about is not null`),
  ],
)

/** Who is told of events. */
export const endpoints = sqliteTable(
  'endpoints',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    stream: stream(),
    url: text('url').notNull(),
    description: text('description').notNull(),
    /** JSON array of types and patterns; null for all. */
    eventTypes: text('event_types'),
    /** JSON array; empty for all. */
    channels: text('channels').notNull(),
    format: text('format', { enum: FORMATS }).notNull(),
    /** JSON object of its own headers, sealed. */
    headers: text('headers').notNull(),
    /** JSON array of signing secrets, sealed. */
    secrets: text('secrets').notNull(),
    isActive: integer('is_active', { mode: 'boolean' }).notNull(),
    disabledReason: text('disabled_reason', { enum: ['manual', 'gone', 'failing'] }),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** Set while what is left of it is cleared away; nobody sees it any more. */
    deletedAt: integer('deleted_at'),
  },
  (t) => [
    index('endpoints_by_stream').on(t.tenantId, t.stream, t.seq),
    index('endpoints_deleted').on(t.deletedAt).where(sql`deleted_at is not null`),
  ],
)

/** What an endpoint listened to, and since when: says why an old message did not reach it. */
export const endpointFilters = sqliteTable(
  'endpoint_filters',
  {
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => endpoints.id, { onDelete: 'cascade' }),
    /** Holds for messages behind this one, until the next filter of the endpoint. */
    afterSeq: integer('after_seq').notNull(),
    eventTypes: text('event_types'),
    channels: text('channels').notNull(),
  },
  (t) => [primaryKey({ columns: [t.endpointId, t.afterSeq] })],
)

/** How calls to an endpoint have been going: a row once something went wrong. */
export const endpointHealth = sqliteTable(
  'endpoint_health',
  {
    endpointId: text('endpoint_id')
      .primaryKey()
      .references(() => endpoints.id, { onDelete: 'cascade' }),
    /** Goes with its endpoint: a cascade of its own would look for it without an index. */
    tenantId: text('tenant_id').notNull(),
    /** Failed attempts in a row. */
    failures: integer('failures').notNull(),
    /** The breaker is open until then: no attempt is made. */
    openUntil: integer('open_until'),
    /** How often it has opened without a full recovery in between. */
    trips: integer('trips').notNull(),
    /** Attempts that may be under way at once while it recovers; null for the usual number. */
    window: integer('window'),
    /** Time of the first failed attempt since the last success, and how many there were. */
    failingSince: integer('failing_since'),
    failedAttempts: integer('failed_attempts').notNull(),
    /** Held deliveries are being let go, some at a time. */
    isReleasing: integer('is_releasing', { mode: 'boolean' }).notNull(),
  },
  (t) => [
    index('endpoint_health_open').on(t.openUntil).where(sql`open_until is not null`),
    index('endpoint_health_releasing').on(t.endpointId).where(sql`is_releasing = 1`),
  ],
)

const DELIVERY_STATES = [
  'waiting',
  'ready',
  'leased',
  'held',
  'succeeded',
  'failed',
  'cancelled',
] as const

/**
 * One message on its way to one endpoint. Its state is where it stands in the due loop:
 * `waiting` for its time, `ready` in line, `leased` by the process that sends it, `held`
 * while its endpoint takes nothing; the others are ends.
 */
export const deliveries = sqliteTable(
  'deliveries',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    stream: stream(),
    messageSeq: integer('message_seq')
      .notNull()
      .references(() => messages.seq, { onDelete: 'cascade' }),
    /** Outlives the endpoint. */
    endpointId: text('endpoint_id').notNull(),
    /** As the endpoint had it when the message came: all attempts send the same bytes. */
    format: text('format', { enum: FORMATS }).notNull(),
    state: text('state', { enum: DELIVERY_STATES }).notNull(),
    /** 0 for first attempts and resends, 1 for retries and replays; see queue.ts. */
    line: integer('line').notNull(),
    /** Goes up with each resend or replay of an ended delivery. */
    run: integer('run').notNull(),
    /** Attempts made, of all runs. */
    attempts: integer('attempts').notNull(),
    /** Attempts of this run that count for its schedule. */
    tries: integer('tries').notNull(),
    /** What the coming attempt is made for. */
    trigger: text('trigger', { enum: DELIVERY_TRIGGERS }).notNull(),
    dueAt: integer('due_at').notNull(),
    /** Where the schedule goes on when a resend in between fails. */
    resumeAt: integer('resume_at'),
    /** What was asked for while an attempt was under way. */
    wanted: text('wanted', { enum: ['resend', 'cancel'] }),
    leaseOwner: text('lease_owner'),
    leaseUntil: integer('lease_until'),
    /** Attempt under way. A result is stored only while this still names it. */
    attemptId: text('attempt_id'),
    startedAt: integer('started_at'),
    createdAt: integer('created_at').notNull(),
    /** When it first arrived, whatever came of it afterwards. */
    succeededAt: integer('succeeded_at'),
    endedAt: integer('ended_at'),
  },
  (t) => [
    uniqueIndex('deliveries_by_message').on(t.messageSeq, t.endpointId),
    index('deliveries_by_endpoint').on(t.endpointId, t.seq),
    index('deliveries_by_stream').on(t.tenantId, t.stream, t.seq),
    index('deliveries_waiting').on(t.line, t.dueAt).where(sql`state = 'waiting'`),
    index('deliveries_waiting_by_endpoint').on(t.endpointId, t.dueAt).where(sql`state = 'waiting'`),
    index('deliveries_ready')
      .on(t.line, t.tenantId, t.endpointId, t.dueAt, t.seq)
      .where(sql`state = 'ready'`),
    index('deliveries_leased').on(t.endpointId).where(sql`state = 'leased'`),
    index('deliveries_held').on(t.endpointId, t.dueAt, t.seq).where(sql`state = 'held'`),
    index('deliveries_failed').on(t.tenantId, t.stream, t.seq).where(sql`state = 'failed'`),
    check(
      'deliveries_state',
      sql`${t.state} in ('waiting', 'ready', 'leased', 'held', 'succeeded', 'failed', 'cancelled')`,
    ),
  ],
)

/** The flight recorder: every attempt as it went over the wire. */
export const attempts = sqliteTable(
  'attempts',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    /** Goes with its delivery: a cascade of its own would look for it without an index. */
    tenantId: text('tenant_id').notNull(),
    deliverySeq: integer('delivery_seq')
      .notNull()
      .references(() => deliveries.seq, { onDelete: 'cascade' }),
    run: integer('run').notNull(),
    /** Of all attempts at the delivery, from 1. */
    number: integer('number').notNull(),
    trigger: text('trigger', { enum: DELIVERY_TRIGGERS }).notNull(),
    status: text('status', { enum: ['succeeded', 'failed', 'interrupted'] }).notNull(),
    startedAt: integer('started_at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    url: text('url'),
    /** JSON object; sensitive values masked. */
    requestHeaders: text('request_headers'),
    /** Address that was dialled. */
    address: text('address'),
    /** JSON object of milliseconds per phase. */
    timings: text('timings'),
    responseStatus: integer('response_status'),
    /** JSON array of pairs. */
    responseHeaders: text('response_headers'),
    responseBody: text('response_body'),
    errorCode: text('error_code'),
    errorMessage: text('error_message'),
    nextAttemptAt: integer('next_attempt_at'),
  },
  (t) => [index('attempts_by_delivery').on(t.deliverySeq, t.seq)],
)

/** How an endpoint did, hour by hour: outlives the deliveries that were counted. */
export const endpointHours = sqliteTable(
  'endpoint_hours',
  {
    endpointId: text('endpoint_id').notNull(),
    /** First millisecond of the UTC hour. */
    hour: integer('hour').notNull(),
    /** Attempts by what came of them. */
    succeeded: integer('succeeded').notNull(),
    failed: integer('failed').notNull(),
    /** Deliveries that came to an end without success. */
    exhausted: integer('exhausted').notNull(),
    cancelled: integer('cancelled').notNull(),
    /** Of all attempts together, and of the slowest. */
    durationMs: integer('duration_ms').notNull(),
    slowestMs: integer('slowest_ms').notNull(),
    /** Attempts that took up to so many milliseconds. */
    upTo100: integer('up_to_100').notNull(),
    upTo300: integer('up_to_300').notNull(),
    upTo1000: integer('up_to_1000').notNull(),
    upTo3000: integer('up_to_3000').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.endpointId, t.hour] }),
    index('endpoint_hours_by_time').on(t.hour),
  ],
)
