import { sql } from 'drizzle-orm'
import {
  check,
  index,
  integer,
  primaryKey,
  type SQLiteColumn,
  sqliteTable,
  text,
} from 'drizzle-orm/sqlite-core'
import { ENGINES } from './engines.ts'

export const tenants = sqliteTable(
  'tenants',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    plan: text('plan', { enum: ['free', 'metered', 'unlimited'] }).notNull(),
    status: text('status', { enum: ['active', 'suspended', 'renewal_unpaid'] }).notNull(),
    spendCapCents: integer('spend_cap_cents'),
    /** IANA zone of the times in the console. */
    timeZone: text('time_zone').notNull().default('UTC'),
    /** Set while the tenant is being deleted: it no longer exists for anyone. */
    deletionStartedAt: integer('deletion_started_at'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    check('tenants_plan', sql`${t.plan} in ('free', 'metered', 'unlimited')`),
    check('tenants_status', sql`${t.status} in ('active', 'suspended', 'renewal_unpaid')`),
    index('tenants_by_name').on(sql`lower(${t.name})`, t.id),
    index('tenants_in_deletion').on(t.id).where(sql`deletion_started_at is not null`),
  ],
)

/** The tenant column of tables with tenants' data. */
export const tenantId = () =>
  text('tenant_id')
    .notNull()
    .references(() => tenants.id, { onDelete: 'cascade' })

/** The end of keys that don't expire: the latest date that there is. */
export const NEVER = 8_640_000_000_000_000

/**
 * What sorts keys: the hint of a key without a name, 0 for an unused key, `NEVER` for a key that doesn't
 * expire. No commas: drizzle-kit would split an index there.
 */
export const keyOrder = (
  t: Record<'name' | 'hint' | 'lastUsedAt' | 'expiresAt', SQLiteColumn>,
) => ({
  name: sql<string>`lower(case when ${t.name} is null then ${t.hint} else ${t.name} end)`,
  used: sql<number>`case when ${t.lastUsedAt} is null then 0 else ${t.lastUsedAt} end`,
  expires: sql<number>`case when ${t.expiresAt} is null then ${sql.raw(`${NEVER}`)} else ${t.expiresAt} end`,
})

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text('id').primaryKey(),
    tenantId: tenantId(),
    name: text('name'),
    note: text('note'),
    /** JSON array of engine names, at least one. */
    engines: text('engines').notNull().default('[]'),
    /** Null for a key of clockwork alone, which has no environments. */
    environment: text('environment', { enum: ['live', 'test'] }),
    /** JSON array of scope names. */
    scopes: text('scopes').notNull(),
    /** SHA-256 of the whole key, hexadecimal. */
    hash: text('hash').notNull().unique(),
    /** The first and last four characters of the secret, by which users recognize keys. */
    hint: text('hint').notNull(),
    createdAt: integer('created_at').notNull(),
    creatorKind: text('creator_kind', {
      enum: ['cli', 'key', 'operator', 'person', 'system', 'import'],
    }),
    creatorId: text('creator_id'),
    lastUsedAt: integer('last_used_at'),
    /** When the key stops working: its expiry, or the end of the grace period after a rotation. */
    expiresAt: integer('expires_at'),
    /** Rotation gives the new key this lifetime; null if the key never expires or has a fixed end. */
    lifetimeMs: integer('lifetime_ms'),
    revokedAt: integer('revoked_at'),
    /** The key that replaced this one at rotation. */
    replacedBy: text('replaced_by'),
  },
  (t) => [
    index('api_keys_by_tenant').on(t.tenantId, t.createdAt, t.id),
    index('api_keys_by_name').on(t.tenantId, keyOrder(t).name, t.id),
    index('api_keys_by_use').on(t.tenantId, keyOrder(t).used, t.id),
    index('api_keys_by_end').on(t.tenantId, keyOrder(t).expires, t.id),
    index('api_keys_by_expiry')
      .on(t.tenantId, t.expiresAt)
      .where(sql`expires_at is not null and revoked_at is null and replaced_by is null`),
  ],
)

/** What a tenant shows to its users on sign-in pages and in emails. */
export const branding = sqliteTable('branding', {
  tenantId: tenantId().primaryKey(),
  /** Null for the name of the tenant. */
  displayName: text('display_name'),
  /** Such as `#2f6f5e`; null for the color of Gatehouse. */
  accent: text('accent'),
  supportUrl: text('support_url'),
  termsUrl: text('terms_url'),
  privacyUrl: text('privacy_url'),
  /** The name in the From header of emails; null for the installation's. */
  senderName: text('sender_name'),
  updatedAt: integer('updated_at').notNull(),
})

/** The logos of a tenant, for light and for dark pages. */
export const brandingLogos = sqliteTable(
  'branding_logos',
  {
    tenantId: tenantId(),
    theme: text('theme', { enum: ['light', 'dark'] }).notNull(),
    type: text('type', { enum: ['image/png', 'image/jpeg', 'image/webp'] }).notNull(),
    width: integer('width').notNull(),
    height: integer('height').notNull(),
    /** SHA-256 of the image, hexadecimal: part of its address. */
    hash: text('hash').notNull(),
    /** The image, base64. */
    data: text('data').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.theme] })],
)

/** The audit log, to which rows are only added. */
export const auditLog = sqliteTable(
  'audit_log',
  {
    seq: integer('seq').primaryKey(),
    at: integer('at').notNull(),
    tenantId: text('tenant_id'),
    actorKind: text('actor_kind', {
      enum: ['cli', 'key', 'operator', 'person', 'system'],
    }).notNull(),
    actorId: text('actor_id'),
    action: text('action').notNull(),
    object: text('object').notNull(),
    /** The client address of a request, or the account and host of a command line. */
    source: text('source'),
    /** A JSON object with the changes; never contains a secret. */
    detail: text('detail').notNull(),
  },
  (t) => [
    index('audit_log_by_tenant').on(t.tenantId, t.seq),
    index('audit_log_by_object').on(t.tenantId, t.object, t.seq),
    index('audit_log_by_time').on(t.at),
  ],
)

/** The processes on this data directory; one whose heartbeat stops is dead. */
export const instances = sqliteTable('instances', {
  id: text('id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  version: text('version').notNull(),
  startedAt: integer('started_at').notNull(),
  heartbeatAt: integer('heartbeat_at').notNull(),
  beat: integer('beat').notNull(),
})

/** The keys that sealed texts in this database, to detect a missing or wrong key. */
export const masterKeys = sqliteTable('master_keys', {
  /** The prefix of texts sealed with this key; reveals nothing about the key. */
  id: text('id').primaryKey(),
  createdAt: integer('created_at').notNull(),
})

/** The mail outbox. Without a mail server, it keeps mails that can't be sent. */
export const mails = sqliteTable(
  'mails',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    /** The tenant that sends the mail; null for the installation. */
    tenantId: text('tenant_id').references(() => tenants.id, { onDelete: 'cascade' }),
    /** The subject of the mail, such as an identity, whose deletion erases the mail. */
    about: text('about'),
    /** The purpose of the mail, such as `verification`. */
    kind: text('kind').notNull(),
    /** Null after the mail was erased, like the subject. */
    recipient: text('recipient'),
    /** A keyed hash of tenant and recipient, by which mails to an address are counted. */
    recipientHash: text('recipient_hash').notNull(),
    subject: text('subject'),
    /** JSON with text and HTML, sealed because it has codes; null once sent or failed. */
    body: text('body'),
    /** `kept` without a mail server; `waiting`, `ready` and `leased` as in the due loop. */
    state: text('state', {
      enum: ['kept', 'waiting', 'ready', 'leased', 'sent', 'failed'],
    }).notNull(),
    tries: integer('tries').notNull(),
    dueAt: integer('due_at').notNull(),
    /** After this time, the mail is useless and is not sent. */
    expiresAt: integer('expires_at').notNull(),
    leaseOwner: text('lease_owner'),
    leaseUntil: integer('lease_until'),
    attemptId: text('attempt_id'),
    startedAt: integer('started_at'),
    lastError: text('last_error'),
    createdAt: integer('created_at').notNull(),
    endedAt: integer('ended_at'),
  },
  (t) => [
    index('mails_by_tenant').on(t.tenantId, t.seq),
    index('mails_by_recipient').on(t.recipientHash, t.createdAt),
    index('mails_about').on(t.tenantId, t.about).where(sql`about is not null`),
    index('mails_by_time').on(t.createdAt),
    index('mails_kept').on(t.expiresAt).where(sql`state = 'kept'`),
    index('mails_waiting').on(t.dueAt).where(sql`state = 'waiting'`),
    index('mails_ready').on(t.tenantId, t.dueAt, t.seq).where(sql`state = 'ready'`),
    index('mails_failed').on(t.state, t.seq).where(sql`state = 'failed'`),
    index('mails_leased').on(t.leaseUntil).where(sql`state = 'leased'`),
  ],
)

/** Requests with an API key per UTC day, for charts. */
export const usageDays = sqliteTable(
  'usage_days',
  {
    tenantId: tenantId(),
    /** Such as `2026-01-31`. */
    day: text('day').notNull(),
    engine: text('engine', { enum: ENGINES }).notNull(),
    /** Clockwork keys have no environment and count as live. */
    environment: text('environment', { enum: ['live', 'test'] }).notNull(),
    requests: integer('requests').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.day, t.engine, t.environment] }),
    index('usage_days_by_day').on(t.day),
  ],
)

/** Requests with an API key per UTC month, for allowance and billing. */
export const usageMonths = sqliteTable(
  'usage_months',
  {
    tenantId: tenantId(),
    /** Such as `2026-01`. */
    month: text('month').notNull(),
    requests: integer('requests').notNull(),
    /** The number of billed requests. */
    billed: integer('billed').notNull(),
    /** Their cost, each at the price when it was counted, without the fraction of the next cent. */
    costCents: integer('cost_cents').notNull(),
    /** The fraction of the next cent, as `costRest` / `costPer`. */
    costRest: integer('cost_rest').notNull().default(0),
    costPer: integer('cost_per').notNull().default(1),
    /** The highest share of the allowance for which a notice was sent, in percent; 0 for none. */
    allowanceNotified: integer('allowance_told').notNull(),
    /** The highest share of the spend cap for which a notice was sent, in percent; 0 for none. */
    spendCapNotified: integer('spend_cap_told').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.month] }),
    index('usage_months_by_month').on(t.month),
  ],
)

/** One row with the id of this installation, which copies of the database share. */
export const installation = sqliteTable('installation', {
  id: text('id').primaryKey(),
  createdAt: integer('created_at').notNull(),
})

/** Settings made in the console, one row per table of the configuration file. */
export const installationSettings = sqliteTable('installation_settings', {
  /** Such as `mail` or `gate.providers.google`. */
  name: text('name').primaryKey(),
  /** Sealed JSON of the values by their names in the file. */
  value: text('value').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** Finished and failed backups; one in progress has no end. */
export const backups = sqliteTable(
  'backups',
  {
    id: text('id').primaryKey(),
    origin: text('origin', { enum: ['schedule', 'command'] }).notNull(),
    /** The process that makes it, as in `instances`; null for a command. */
    owner: text('owner'),
    startedAt: integer('started_at').notNull(),
    endedAt: integer('ended_at'),
    file: text('file').notNull(),
    bytes: integer('bytes'),
    /** Why the backup failed. */
    error: text('error'),
  },
  (t) => [index('backups_by_time').on(t.startedAt)],
)

/** Imported tenants; an import without an end was interrupted. */
export const imports = sqliteTable('imports', {
  tenantId: text('tenant_id').primaryKey(),
  /** SHA-256 of the file (hexadecimal); only the same file can continue an interrupted import. */
  fileHash: text('file_hash').notNull(),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at'),
})

/** From before a rotation of the master key, so that earlier fingerprints still match. */
export const fingerprintKeys = sqliteTable('fingerprint_keys', {
  purpose: text('purpose').primaryKey(),
  /** The sealed key, base64url. */
  key: text('key').notNull(),
})
