import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { tenantId } from '../../platform/schema.ts'

/** Of rows that go with another one: a cascade of its own would need an index to find them. */
const ofTenant = () => text('tenant_id').notNull()
const environment = () => text('environment', { enum: ['live', 'test'] }).notNull()

/** People, each known to one tenant. */
export const gateIdentities = sqliteTable(
  'gate_identities',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    schemaId: text('schema_id').notNull(),
    state: text('state', { enum: ['active', 'inactive'] }).notNull(),
    stateChangedAt: integer('state_changed_at').notNull(),
    /** As `traits` has it: normalised, and one person's alone within the tenant. */
    email: text('email').notNull(),
    /** JSON object; the id of the tenant is added when it is shown. */
    traits: text('traits').notNull(),
    /** JSON object. */
    metadataPublic: text('metadata_public').notNull(),
    /** Sessions of an earlier generation have ended: one step ends them all. */
    sessionGeneration: integer('session_generation').notNull(),
    /** The same for access tokens of which the person is the subject. */
    tokenGeneration: integer('token_generation').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    uniqueIndex('gate_identities_by_email').on(t.tenantId, t.email),
    index('gate_identities_by_tenant').on(t.tenantId, t.seq),
    index('gate_identities_by_state').on(t.tenantId, t.state, t.seq),
    index('gate_identities_by_state_and_email').on(t.tenantId, t.state, t.email),
  ],
)

const identityId = () =>
  text('identity_id')
    .notNull()
    .references(() => gateIdentities.id, { onDelete: 'cascade' })

/** Where a person can be reached, and whether that has been proven. */
export const gateAddresses = sqliteTable('gate_addresses', {
  id: text('id').primaryKey(),
  tenantId: ofTenant(),
  identityId: identityId().unique(),
  value: text('value').notNull(),
  /** `sent` once a code has gone out. */
  status: text('status', { enum: ['pending', 'sent', 'completed'] }).notNull(),
  verifiedAt: integer('verified_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** What a person can sign in with. */
export const gateCredentials = sqliteTable(
  'gate_credentials',
  {
    tenantId: ofTenant(),
    identityId: identityId(),
    type: text('type', { enum: ['password'] }).notNull(),
    /** JSON object with what is secret about it; never shown. */
    config: text('config').notNull(),
    version: integer('version').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.identityId, t.type] })],
)

/** Sign-ins that last. */
export const gateSessions = sqliteTable(
  'gate_sessions',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: ofTenant(),
    identityId: identityId(),
    /** SHA-256 of the token, hexadecimal. */
    tokenHash: text('token_hash').notNull().unique(),
    /** That of the identity when it began; see there. */
    generation: integer('generation').notNull(),
    assuranceLevel: text('assurance_level', { enum: ['aal1', 'aal2'] }).notNull(),
    /** JSON array of the methods that were used, with their times. */
    methods: text('methods').notNull(),
    authenticatedAt: integer('authenticated_at').notNull(),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
  },
  (t) => [
    index('gate_sessions_by_identity').on(t.identityId, t.generation, t.seq),
    index('gate_sessions_by_expiry').on(t.expiresAt),
  ],
)

/** Short-lived tokens that a key was exchanged for. */
export const gateAccessTokens = sqliteTable(
  'gate_access_tokens',
  {
    seq: integer('seq').primaryKey(),
    tenantId: tenantId(),
    environment: environment(),
    /** SHA-256 of the token, hexadecimal. */
    hash: text('hash').notNull().unique(),
    /** The key that it was made with; it dies with a key that is revoked. */
    keyId: text('key_id').notNull(),
    subject: text('subject').notNull(),
    /** Of a subject that is an identity; null for any other. */
    generation: integer('generation'),
    /** JSON array. */
    scopes: text('scopes').notNull(),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
  },
  (t) => [
    index('gate_access_tokens_by_subject').on(t.tenantId, t.subject),
    index('gate_access_tokens_by_expiry').on(t.expiresAt),
  ],
)

/** Answers to authorization questions, with all that they went by. */
export const gateDecisions = sqliteTable(
  'gate_decisions',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    environment: environment(),
    keyId: text('key_id').notNull(),
    at: integer('at').notNull(),
    subject: text('subject').notNull(),
    action: text('action').notNull(),
    resource: text('resource').notNull(),
    /** JSON object. */
    context: text('context').notNull(),
    isAllowed: integer('is_allowed', { mode: 'boolean' }).notNull(),
    reason: text('reason').notNull(),
    /** JSON array of the policies that decided. */
    policies: text('policies').notNull(),
    /** Of the tenant's policies; 0 is the starter set. */
    policiesVersion: integer('policies_version').notNull(),
  },
  (t) => [
    index('gate_decisions_by_tenant').on(t.tenantId, t.seq),
    index('gate_decisions_by_subject').on(t.tenantId, t.subject, t.seq),
    index('gate_decisions_by_time').on(t.at),
  ],
)

/** What a tenant has set; without a row everything is as it comes. */
export const gateSettings = sqliteTable('gate_settings', {
  tenantId: tenantId().primaryKey(),
  isPasswordlessEnabled: integer('is_passwordless_enabled', { mode: 'boolean' }).notNull(),
  isMfaEnabled: integer('is_mfa_enabled', { mode: 'boolean' }).notNull(),
  /** JSON array of the providers that are switched on. */
  providers: text('providers').notNull(),
  /** JSON array of where people may be sent after a flow; empty for anywhere. */
  returnUrls: text('return_urls').notNull(),
  /** Cedar; null for the starter set. */
  policies: text('policies'),
  /** Goes up with each change of the policies. */
  policiesVersion: integer('policies_version').notNull(),
  policiesUpdatedAt: integer('policies_updated_at'),
})

/** What a person is in the middle of. */
export const gateFlows = sqliteTable(
  'gate_flows',
  {
    id: text('id').primaryKey(),
    tenantId: ofTenant(),
    identityId: identityId(),
    kind: text('kind', { enum: ['verification'] }).notNull(),
    state: text('state', { enum: ['sent_email'] }).notNull(),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('gate_flows_by_identity').on(t.identityId),
    index('gate_flows_by_expiry').on(t.expiresAt),
  ],
)

/** Codes that went out by mail, each good once. */
export const gateCodes = sqliteTable(
  'gate_codes',
  {
    id: text('id').primaryKey(),
    tenantId: ofTenant(),
    identityId: identityId(),
    flowId: text('flow_id')
      .notNull()
      .references(() => gateFlows.id, { onDelete: 'cascade' }),
    /** The address that knowing the code proves. */
    address: text('address').notNull(),
    /** HMAC of the code, hexadecimal: six digits would not withstand a plain hash. */
    hash: text('hash').notNull(),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    usedAt: integer('used_at'),
  },
  (t) => [
    index('gate_codes_by_flow').on(t.flowId),
    index('gate_codes_by_identity').on(t.identityId),
  ],
)

/** People who were deleted: by their ids alone, so that nobody takes one for a name of another. */
export const gateErasures = sqliteTable(
  'gate_erasures',
  {
    identityId: text('identity_id').primaryKey(),
    tenantId: tenantId(),
    requestedAt: integer('requested_at').notNull(),
    /** Null while something of the person is still to be cleared away. */
    completedAt: integer('completed_at'),
  },
  (t) => [
    index('gate_erasures_by_tenant').on(t.tenantId),
    index('gate_erasures_open').on(t.identityId).where(sql`completed_at is null`),
    index('gate_erasures_by_time').on(t.requestedAt),
  ],
)
