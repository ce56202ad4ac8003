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
    type: text('type', { enum: ['password', 'totp', 'lookup_secret'] }).notNull(),
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

/** What a person is in the middle of: a form that is filled in, in one step or several. */
export const gateFlows = sqliteTable(
  'gate_flows',
  {
    id: text('id').primaryKey(),
    tenantId: tenantId(),
    kind: text('kind', {
      enum: ['login', 'registration', 'recovery', 'verification', 'settings'],
    }).notNull(),
    state: text('state', {
      enum: ['choose_method', 'sent_email', 'passed_challenge', 'show_form', 'success'],
    }).notNull(),
    /** Whose it is, where that is known from the start. */
    identityId: text('identity_id').references(() => gateIdentities.id, { onDelete: 'cascade' }),
    /** The session that it acts for. */
    sessionId: text('session_id'),
    requestedAal: text('requested_aal', { enum: ['aal1', 'aal2'] }).notNull(),
    /** Somebody who is signed in shows once more who they are. */
    isRefresh: integer('is_refresh', { mode: 'boolean' }).notNull(),
    /** The method that was used last. */
    active: text('active'),
    /** Where its code went. */
    address: text('address'),
    /** Codes that were typed in, right or wrong. */
    tries: integer('tries').notNull(),
    language: text('language', { enum: ['en', 'de'] }).notNull(),
    returnTo: text('return_to'),
    /** The flow that goes on once this one is over. */
    nextFlowId: text('next_flow_id'),
    /** The flow that took the place of this one when it had expired. */
    replacedBy: text('replaced_by'),
    /** SHA-256 of what one browser alone has, which opened it first. */
    browserHash: text('browser_hash'),
    /** JSON array of what is to be said when it is looked at next. */
    notices: text('notices'),
    /** Sealed JSON: what was given in earlier steps. */
    internal: text('internal'),
    /** SHA-256 of the code that the tenant exchanges for the session. */
    exchangeHash: text('exchange_hash'),
    exchangeSessionId: text('exchange_session_id'),
    exchangeExpiresAt: integer('exchange_expires_at'),
    completedAt: integer('completed_at'),
    issuedAt: integer('issued_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('gate_flows_by_tenant').on(t.tenantId),
    index('gate_flows_by_identity').on(t.identityId),
    index('gate_flows_by_expiry').on(t.expiresAt),
    index('gate_flows_by_address').on(t.tenantId, t.address).where(sql`address is not null`),
  ],
)

const flowId = () =>
  text('flow_id')
    .notNull()
    .references(() => gateFlows.id, { onDelete: 'cascade' })

/** Codes that went out by mail, each good once. */
export const gateCodes = sqliteTable(
  'gate_codes',
  {
    id: text('id').primaryKey(),
    tenantId: ofTenant(),
    flowId: flowId(),
    /** Null where nobody has the address: such a code is as good as none. */
    identityId: text('identity_id').references(() => gateIdentities.id, { onDelete: 'cascade' }),
    /** Of the identity's sessions: what ends these ends the code. */
    generation: integer('generation'),
    /** The address that knowing the code proves. */
    address: text('address').notNull(),
    /** HMAC of the code, hexadecimal: six digits would not withstand a plain hash. */
    hash: text('hash').notNull(),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('gate_codes_by_flow').on(t.flowId),
    index('gate_codes_by_identity').on(t.identityId),
  ],
)

/** Accounts elsewhere that a person signs in with. */
export const gateSocialLinks = sqliteTable(
  'gate_social_links',
  {
    tenantId: ofTenant(),
    provider: text('provider').notNull(),
    /** Who it is at the provider. */
    subject: text('subject').notNull(),
    identityId: identityId(),
    /** Sealed JSON: the tokens that came with the link. */
    tokens: text('tokens'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.provider, t.subject] }),
    index('gate_social_links_by_identity').on(t.identityId),
  ],
)

/** Browsers that were sent to a provider and are to come back, each once. */
export const gateRoundTrips = sqliteTable(
  'gate_round_trips',
  {
    /** SHA-256 of the state that goes along, hexadecimal. */
    stateHash: text('state_hash').primaryKey(),
    tenantId: ofTenant(),
    flowId: flowId(),
    provider: text('provider').notNull(),
    /** Sealed JSON: what the answer is checked by. */
    secrets: text('secrets').notNull(),
    /** SHA-256 of what the browser has that was sent, where it is known. */
    browserHash: text('browser_hash'),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('gate_round_trips_by_flow').on(t.flowId)],
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
