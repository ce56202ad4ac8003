import { sql } from 'drizzle-orm'
import { check, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core'

export const tenants = sqliteTable(
  'tenants',
  {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    plan: text('plan', { enum: ['free', 'metered', 'unlimited'] }).notNull(),
    status: text('status', { enum: ['active', 'suspended', 'renewal_unpaid'] }).notNull(),
    spendCapCents: integer('spend_cap_cents'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    check('tenants_plan', sql`${t.plan} in ('free', 'metered', 'unlimited')`),
    check('tenants_status', sql`${t.status} in ('active', 'suspended', 'renewal_unpaid')`),
    index('tenants_by_name').on(sql`lower(${t.name})`, t.id),
  ],
)

/** The column of every table that holds what a tenant owns. */
export const tenantId = () =>
  text('tenant_id')
    .notNull()
    .references(() => tenants.id, { onDelete: 'cascade' })

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: text('id').primaryKey(),
    tenantId: tenantId(),
    engine: text('engine', { enum: ['gate', 'clockwork', 'passepartout', 'relay'] }).notNull(),
    /** Null for clockwork, whose keys have no environment. */
    environment: text('environment', { enum: ['live', 'test'] }),
    /** JSON array of scope names. */
    scopes: text('scopes').notNull(),
    /** SHA-256 of the whole key, hexadecimal. */
    hash: text('hash').notNull().unique(),
    /** First and last four characters of the secret, for people to tell keys apart. */
    hint: text('hint').notNull(),
    createdAt: integer('created_at').notNull(),
    lastUsedAt: integer('last_used_at'),
    /** End of the grace period after a rotation. */
    expiresAt: integer('expires_at'),
    revokedAt: integer('revoked_at'),
    /** The key that took over at the rotation. */
    replacedBy: text('replaced_by'),
  },
  (t) => [index('api_keys_by_tenant').on(t.tenantId, t.createdAt)],
)

/** Append-only: who did what to which object, from where. */
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
    /** Client address of a request, or the account and host of a command line. */
    source: text('source'),
    /** JSON object with what changed; never a secret. */
    detail: text('detail').notNull(),
  },
  (t) => [
    index('audit_log_by_tenant').on(t.tenantId, t.seq),
    index('audit_log_by_object').on(t.tenantId, t.object, t.seq),
    index('audit_log_by_time').on(t.at),
  ],
)

/** Processes that run on this data directory; a beat that stands still means a dead one. */
export const instances = sqliteTable('instances', {
  id: text('id').primaryKey(),
  host: text('host').notNull(),
  pid: integer('pid').notNull(),
  version: text('version').notNull(),
  startedAt: integer('started_at').notNull(),
  heartbeatAt: integer('heartbeat_at').notNull(),
  beat: integer('beat').notNull(),
})

/** Master keys that have sealed something here: a data directory that lost its key is told so. */
export const masterKeys = sqliteTable('master_keys', {
  /** Begins the sealed texts of this key; says nothing about it. */
  id: text('id').primaryKey(),
  createdAt: integer('created_at').notNull(),
})

/** Mails on their way, and those that went; without a server for mail, those that nobody sends. */
export const mails = sqliteTable(
  'mails',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    /** Whose matter it is; null for that of the instance. */
    tenantId: text('tenant_id').references(() => tenants.id, { onDelete: 'cascade' }),
    /** Whoever it is about: goes with them. */
    about: text('about'),
    /** What it is for, such as `verification`. */
    kind: text('kind').notNull(),
    /** Null, like the subject, once the mail outlives whoever it was about. */
    recipient: text('recipient'),
    /** A sealed fingerprint of tenant and recipient, by which mails to one address are counted. */
    recipientHash: text('recipient_hash').notNull(),
    subject: text('subject'),
    /** JSON of text and HTML, sealed: they hold codes. Null once it was sent or given up. */
    body: text('body'),
    /** `kept` while there is no server to send it by; `waiting`, `ready` and `leased` as in the due loop. */
    state: text('state', {
      enum: ['kept', 'waiting', 'ready', 'leased', 'sent', 'failed'],
    }).notNull(),
    tries: integer('tries').notNull(),
    dueAt: integer('due_at').notNull(),
    /** From then on it is of no use to anybody. */
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
    index('mails_leased').on(t.leaseUntil).where(sql`state = 'leased'`),
  ],
)

/** Requests with a key, by the day of UTC: for pictures. */
export const usageDays = sqliteTable(
  'usage_days',
  {
    tenantId: tenantId(),
    /** As `2026-01-31`. */
    day: text('day').notNull(),
    engine: text('engine', { enum: ['gate', 'clockwork', 'passepartout', 'relay'] }).notNull(),
    /** Clockwork, whose keys have none, counts as live. */
    environment: text('environment', { enum: ['live', 'test'] }).notNull(),
    requests: integer('requests').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.day, t.engine, t.environment] }),
    index('usage_days_by_day').on(t.day),
  ],
)

/** Requests with a key, by the month of UTC: for the allowance and the bill. */
export const usageMonths = sqliteTable(
  'usage_months',
  {
    tenantId: tenantId(),
    /** As `2026-01`. */
    month: text('month').notNull(),
    requests: integer('requests').notNull(),
    /** Those among them that cost something. */
    billed: integer('billed').notNull(),
    /** What these cost, each by the price when it was counted; the cent that is begun is not in it. */
    costCents: integer('cost_cents').notNull(),
    /** What there is of that cent, in parts of which `costPer` make one. */
    costRest: integer('cost_rest').notNull().default(0),
    costPer: integer('cost_per').notNull().default(1),
    /** The highest share of the allowance that was told, in percent; 0 for none. */
    allowanceTold: integer('allowance_told').notNull(),
    /** The same of the spend cap. */
    spendCapTold: integer('spend_cap_told').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.month] }),
    index('usage_months_by_month').on(t.month),
  ],
)

/** One row: what tells this database from every other, wherever its copies go. */
export const installation = sqliteTable('installation', {
  id: text('id').primaryKey(),
  createdAt: integer('created_at').notNull(),
})

/** Backups that were made or tried; the one under way has no end. */
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
    /** Why there is none. */
    error: text('error'),
  },
  (t) => [index('backups_by_time').on(t.startedAt)],
)

/** Tenants that were brought from elsewhere; one without an end was cut short. */
export const imports = sqliteTable('imports', {
  tenantId: text('tenant_id').primaryKey(),
  /** SHA-256 of the file, hexadecimal: only the same file can go on where it stopped. */
  fileHash: text('file_hash').notNull(),
  startedAt: integer('started_at').notNull(),
  endedAt: integer('ended_at'),
})

/** Keys of fingerprints from before the master key was replaced: what they made stays known. */
export const fingerprintKeys = sqliteTable('fingerprint_keys', {
  purpose: text('purpose').primaryKey(),
  /** Sealed, base64url. */
  key: text('key').notNull(),
})
