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

/** Accepted events, ordered by `seq`. */
export const messages = sqliteTable(
  'messages',
  {
    /** Never reused, even if all rows are deleted, because filters and cursors refer to it. */
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    stream: stream(),
    type: text('type').notNull(),
    /** JSON array of channels; null if the message names none. */
    channels: text('channels'),
    /** JSON text exactly as the producer sent it. */
    payload: text('payload').notNull(),
    idempotencyKey: text('idempotency_key'),
    /** The person it is about, if it must be deleted with their data, or the subject of an operational event. */
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

/** Endpoints that receive events. */
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
    /** JSON object of custom headers, sealed. */
    headers: text('headers').notNull(),
    /** JSON array of signing secrets, sealed. */
    secrets: text('secrets').notNull(),
    isActive: integer('is_active', { mode: 'boolean' }).notNull(),
    disabledReason: text('disabled_reason', { enum: ['manual', 'gone', 'failing'] }),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** Set while the remaining data is being deleted; the endpoint is already invisible. */
    deletedAt: integer('deleted_at'),
  },
  (t) => [
    index('endpoints_by_stream').on(t.tenantId, t.stream, t.seq),
    index('endpoints_deleted').on(t.deletedAt).where(sql`deleted_at is not null`),
  ],
)

/** The past filters of an endpoint, which explain why an old message was not delivered to it. */
export const endpointFilters = sqliteTable(
  'endpoint_filters',
  {
    endpointId: text('endpoint_id')
      .notNull()
      .references(() => endpoints.id, { onDelete: 'cascade' }),
    /** Applies to messages after this one, until the next filter of the endpoint. */
    afterSeq: integer('after_seq').notNull(),
    eventTypes: text('event_types'),
    channels: text('channels').notNull(),
  },
  (t) => [primaryKey({ columns: [t.endpointId, t.afterSeq] })],
)

/** The health of an endpoint. A row exists only after a first failure. */
export const endpointHealth = sqliteTable(
  'endpoint_health',
  {
    endpointId: text('endpoint_id')
      .primaryKey()
      .references(() => endpoints.id, { onDelete: 'cascade' }),
    /** No foreign key: deleted with its endpoint; a cascade would search without an index. */
    tenantId: text('tenant_id').notNull(),
    /** Consecutive failed attempts. */
    failures: integer('failures').notNull(),
    /** The breaker is open until this time. */
    openUntil: integer('open_until'),
    /** How often the breaker has opened without a full recovery in between. */
    trips: integer('trips').notNull(),
    /** Concurrent attempts allowed during recovery; null for the usual limit. */
    window: integer('window'),
    /** Time of the first failed attempt since the last success, and how many failed since. */
    failingSince: integer('failing_since'),
    failedAttempts: integer('failed_attempts').notNull(),
    /** True while held deliveries are being released gradually. */
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
 * One message to one endpoint. States: `waiting` for its time, `ready` in the queue, `leased` by
 * the process that sends it, or `held` while its endpoint takes nothing. All others are final.
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
    /** Remains when the endpoint is deleted. */
    endpointId: text('endpoint_id').notNull(),
    /** The endpoint's format at acceptance, so that all attempts send the same bytes. */
    format: text('format', { enum: FORMATS }).notNull(),
    state: text('state', { enum: DELIVERY_STATES }).notNull(),
    /** The queue: 0 for first attempts and resends, 1 for retries and replays; see queue.ts. */
    queue: integer('line').notNull(),
    /** Increases with each resend or replay of an ended delivery. */
    run: integer('run').notNull(),
    /** Attempts in all runs. */
    attempts: integer('attempts').notNull(),
    /** Attempts in this run that count towards its retry schedule. */
    tries: integer('tries').notNull(),
    /** The reason for the next attempt. */
    trigger: text('trigger', { enum: DELIVERY_TRIGGERS }).notNull(),
    dueAt: integer('due_at').notNull(),
    /** When the retry schedule continues if a resend fails. */
    resumeAt: integer('resume_at'),
    /** The action requested while an attempt was in progress. */
    wanted: text('wanted', { enum: ['resend', 'cancel'] }),
    leaseOwner: text('lease_owner'),
    leaseUntil: integer('lease_until'),
    /** The attempt in progress. A result is stored only while this id matches. */
    attemptId: text('attempt_id'),
    startedAt: integer('started_at'),
    createdAt: integer('created_at').notNull(),
    /** Time of the first success, even if a later resend failed. */
    succeededAt: integer('succeeded_at'),
    endedAt: integer('ended_at'),
  },
  (t) => [
    uniqueIndex('deliveries_by_message').on(t.messageSeq, t.endpointId),
    index('deliveries_by_endpoint').on(t.endpointId, t.seq),
    index('deliveries_by_stream').on(t.tenantId, t.stream, t.seq),
    index('deliveries_waiting').on(t.queue, t.dueAt).where(sql`state = 'waiting'`),
    index('deliveries_waiting_by_endpoint').on(t.endpointId, t.dueAt).where(sql`state = 'waiting'`),
    index('deliveries_ready')
      .on(t.queue, t.tenantId, t.endpointId, t.dueAt, t.seq)
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

/** Every attempt, as sent and received. */
export const attempts = sqliteTable(
  'attempts',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull(),
    /** No foreign key: deleted with its delivery; a cascade would search without an index. */
    tenantId: text('tenant_id').notNull(),
    deliverySeq: integer('delivery_seq')
      .notNull()
      .references(() => deliveries.seq, { onDelete: 'cascade' }),
    run: integer('run').notNull(),
    /** Counts all attempts at the delivery, from 1. */
    number: integer('number').notNull(),
    trigger: text('trigger', { enum: DELIVERY_TRIGGERS }).notNull(),
    status: text('status', { enum: ['succeeded', 'failed', 'interrupted'] }).notNull(),
    startedAt: integer('started_at').notNull(),
    durationMs: integer('duration_ms').notNull(),
    url: text('url'),
    /** JSON object; sensitive values masked. */
    requestHeaders: text('request_headers'),
    /** The IP address that was called. */
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

/** Attempts per endpoint and hour. The counts outlive the deliveries. */
export const endpointHours = sqliteTable(
  'endpoint_hours',
  {
    endpointId: text('endpoint_id').notNull(),
    /** First millisecond of the UTC hour. */
    hour: integer('hour').notNull(),
    /** Attempts by result. */
    succeeded: integer('succeeded').notNull(),
    failed: integer('failed').notNull(),
    /** Deliveries that ended without success. */
    exhausted: integer('exhausted').notNull(),
    cancelled: integer('cancelled').notNull(),
    /** Total of all attempts, and the slowest. */
    durationMs: integer('duration_ms').notNull(),
    slowestMs: integer('slowest_ms').notNull(),
    /** Attempts that took up to this many milliseconds. */
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
