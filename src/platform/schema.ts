import { sql } from 'drizzle-orm'
import { check, index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'

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
    actorKind: text('actor_kind', { enum: ['cli', 'key', 'operator', 'system'] }).notNull(),
    actorId: text('actor_id'),
    action: text('action').notNull(),
    object: text('object').notNull(),
    /** Client address of a request, or the account and host of a command line. */
    source: text('source'),
    /** JSON object with what changed; never a secret. */
    detail: text('detail').notNull(),
  },
  (t) => [index('audit_log_by_tenant').on(t.tenantId, t.seq), index('audit_log_by_time').on(t.at)],
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
