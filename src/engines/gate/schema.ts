import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { tenantId } from '../../platform/schema.ts'

/** For rows deleted together with another row; the cascade of a foreign key needs an index. */
const ofTenant = () => text('tenant_id').notNull()
const environment = () => text('environment', { enum: ['live', 'test'] }).notNull()

/** Identities, each of one tenant. */
export const gateIdentities = sqliteTable(
  'gate_identities',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    schemaId: text('schema_id').notNull(),
    state: text('state', { enum: ['active', 'inactive'] }).notNull(),
    stateChangedAt: integer('state_changed_at').notNull(),
    /** The normalized form of the address in `traits`; unique within the tenant. */
    email: text('email').notNull(),
    /** JSON object; the tenant id is added when it is presented. */
    traits: text('traits').notNull(),
    /** JSON object. */
    metadataPublic: text('metadata_public').notNull(),
    /** Sessions of an earlier generation are void, so increasing it ends all of them at once. */
    sessionGeneration: integer('session_generation').notNull(),
    /** The same for access tokens whose subject is the identity. */
    tokenGeneration: integer('token_generation').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** 0 for never, which is the earliest in the order of an index. */
    lastSignInAt: integer('last_sign_in_at').notNull().default(0),
  },
  (t) => [
    uniqueIndex('gate_identities_by_email').on(t.tenantId, t.email),
    index('gate_identities_by_tenant').on(t.tenantId, t.seq),
    index('gate_identities_by_state').on(t.tenantId, t.state, t.seq),
    index('gate_identities_by_state_and_email').on(t.tenantId, t.state, t.email),
    index('gate_identities_by_creation').on(t.tenantId, t.createdAt, t.seq),
    index('gate_identities_by_state_and_creation').on(t.tenantId, t.state, t.createdAt, t.seq),
    index('gate_identities_by_sign_in').on(t.tenantId, t.lastSignInAt, t.seq),
    index('gate_identities_by_state_and_sign_in').on(t.tenantId, t.state, t.lastSignInAt, t.seq),
  ],
)

/**
 * What the search index has of each identity, by its `seq`: removing an entry takes the same terms.
 * No foreign key: a cascade would leave the terms in the index.
 */
export const gateSearchEntries = sqliteTable('gate_search_entries', {
  seq: integer('seq').primaryKey(),
  /** Begins the terms of a tenant. */
  scope: text('scope').notNull(),
  state: text('state', { enum: ['active', 'inactive'] }).notNull(),
  /** Email and name, folded. */
  text: text('text').notNull(),
})

const identityId = () =>
  text('identity_id')
    .notNull()
    .references(() => gateIdentities.id, { onDelete: 'cascade' })

/** The address of an identity, and whether it is verified. */
export const gateAddresses = sqliteTable('gate_addresses', {
  id: text('id').primaryKey(),
  tenantId: ofTenant(),
  identityId: identityId().unique(),
  value: text('value').notNull(),
  /** `sent` once a code was sent. */
  status: text('status', { enum: ['pending', 'sent', 'completed'] }).notNull(),
  verifiedAt: integer('verified_at'),
  createdAt: integer('created_at').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** Credentials of identities. */
export const gateCredentials = sqliteTable(
  'gate_credentials',
  {
    tenantId: ofTenant(),
    identityId: identityId(),
    type: text('type', { enum: ['password', 'totp', 'lookup_secret'] }).notNull(),
    /** JSON object with the secrets; never presented. */
    config: text('config').notNull(),
    version: integer('version').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.identityId, t.type] })],
)

/** Sessions of identities. */
export const gateSessions = sqliteTable(
  'gate_sessions',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: ofTenant(),
    identityId: identityId(),
    /** SHA-256 of the token, hexadecimal. */
    tokenHash: text('token_hash').notNull().unique(),
    /** Generation of the identity when the session began; see `session_generation`. */
    generation: integer('generation').notNull(),
    assuranceLevel: text('assurance_level', { enum: ['aal1', 'aal2'] }).notNull(),
    /** JSON array of the authentication methods, with their times. */
    methods: text('methods').notNull(),
    authenticatedAt: integer('authenticated_at').notNull(),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
    /** Last use to the minute; null if the tenant has no idle timeout. */
    lastSeenAt: integer('last_seen_at'),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
  },
  (t) => [
    index('gate_sessions_by_identity').on(t.identityId, t.generation, t.seq),
    index('gate_sessions_by_expiry').on(t.expiresAt),
  ],
)

/** Attempts of identities to sign in. */
export const gateSignIns = sqliteTable(
  'gate_sign_ins',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    tenantId: ofTenant(),
    identityId: identityId(),
    at: integer('at').notNull(),
    isSuccess: integer('is_success', { mode: 'boolean' }).notNull(),
    method: text('method').notNull(),
    /** Of a social login. */
    provider: text('provider'),
    /** Null for a success. */
    reason: text('reason', { enum: ['wrong', 'inactive'] }),
    ipAddress: text('ip_address'),
    userAgent: text('user_agent'),
  },
  (t) => [
    index('gate_sign_ins_by_identity').on(t.identityId, t.seq),
    index('gate_sign_ins_by_time').on(t.at),
  ],
)

/** Short-lived tokens issued for an API key. */
export const gateAccessTokens = sqliteTable(
  'gate_access_tokens',
  {
    seq: integer('seq').primaryKey(),
    tenantId: tenantId(),
    environment: environment(),
    /** SHA-256 of the token, hexadecimal. */
    hash: text('hash').notNull().unique(),
    /** The key that issued the token. Revoking the key revokes the token. */
    keyId: text('key_id').notNull(),
    subject: text('subject').notNull(),
    /** Generation of a subject that is an identity; null for any other subject. */
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

/** Authorization decisions with everything they were based on. */
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
    /** JSON array of the deciding policies. */
    policies: text('policies').notNull(),
    /** Version of the tenant's policies; 0 is the starter set. */
    policiesVersion: integer('policies_version').notNull(),
  },
  (t) => [
    index('gate_decisions_by_result').on(t.tenantId, t.isAllowed, t.seq),
    index('gate_decisions_by_subject_and_result').on(t.tenantId, t.subject, t.isAllowed, t.seq),
    index('gate_decisions_by_time').on(t.at),
  ],
)

/** Settings of a tenant; defaults apply without a row. */
export const gateSettings = sqliteTable('gate_settings', {
  tenantId: tenantId().primaryKey(),
  isPasswordlessEnabled: integer('is_passwordless_enabled', { mode: 'boolean' }).notNull(),
  isMfaEnabled: integer('is_mfa_enabled', { mode: 'boolean' }).notNull(),
  /** JSON array of the enabled providers. */
  providers: text('providers').notNull(),
  /** JSON array of the allowed return URLs; empty to allow any. */
  returnUrls: text('return_urls').notNull(),
  /** Cedar policies; null for the starter set. */
  policies: text('policies'),
  /** Increases with each change of the policies. */
  policiesVersion: integer('policies_version').notNull(),
  policiesUpdatedAt: integer('policies_updated_at'),
  /** Null for that of the installation. */
  sessionLifetimeMs: integer('session_lifetime_ms'),
  /** A session that is not used for this long ends; null for never. */
  sessionIdleMs: integer('session_idle_ms'),
  /** When `sessionIdleMs` was set: sessions begun before count as used at this time. */
  sessionIdleSetAt: integer('session_idle_set_at'),
  /** Null for that of the installation. */
  passwordMinLength: integer('password_min_length'),
})

/** Subjects and introductions of emails that a tenant has changed. */
export const gateMailTexts = sqliteTable(
  'gate_mail_texts',
  {
    tenantId: tenantId(),
    /** The kind of email, such as `verification`. */
    mail: text('mail').notNull(),
    language: text('language', { enum: ['en', 'de'] }).notNull(),
    /** Null for the default subject. */
    subject: text('subject'),
    /** Plain text, with empty lines between paragraphs; null for the default introduction. */
    intro: text('intro'),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.mail, t.language] })],
)

/** Self-service flows: a form of one or several steps. */
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
    /** The identity that the flow is about, if known from the start. */
    identityId: text('identity_id').references(() => gateIdentities.id, { onDelete: 'cascade' }),
    /** The session that the flow acts for. */
    sessionId: text('session_id'),
    requestedAal: text('requested_aal', { enum: ['aal1', 'aal2'] }).notNull(),
    /** Whether a signed-in user has to authenticate again. */
    isRefresh: integer('is_refresh', { mode: 'boolean' }).notNull(),
    /** The method used last. */
    active: text('active'),
    /** The address that the code was sent to. */
    address: text('address'),
    /** Number of codes entered, correct or not. */
    tries: integer('tries').notNull(),
    language: text('language', { enum: ['en', 'de'] }).notNull(),
    returnTo: text('return_to'),
    /** The flow that continues this one after its completion. */
    nextFlowId: text('next_flow_id'),
    /** The flow that replaced this one after it expired. */
    replacedBy: text('replaced_by'),
    /** SHA-256 of the cookie of the browser that opened the flow first. */
    browserHash: text('browser_hash'),
    /** JSON array of messages to show the next time the flow is read. */
    notices: text('notices'),
    /** Sealed JSON with the state of earlier steps. */
    internal: text('internal'),
    /** SHA-256 of the code that a tenant exchanges for the session. */
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

/** Emailed codes; each works once. */
export const gateCodes = sqliteTable(
  'gate_codes',
  {
    id: text('id').primaryKey(),
    tenantId: ofTenant(),
    flowId: flowId(),
    /** Null if no account has the address; such a code is never valid. */
    identityId: text('identity_id').references(() => gateIdentities.id, { onDelete: 'cascade' }),
    /** Session generation of the identity: ending its sessions also voids the code. */
    generation: integer('generation'),
    /** The address that the code proves. */
    address: text('address').notNull(),
    /** HMAC of the code, hexadecimal, because a plain hash of six digits could be brute-forced. */
    hash: text('hash').notNull(),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('gate_codes_by_flow').on(t.flowId),
    index('gate_codes_by_identity').on(t.identityId),
  ],
)

/** Social accounts connected to identities. */
export const gateSocialLinks = sqliteTable(
  'gate_social_links',
  {
    tenantId: ofTenant(),
    provider: text('provider').notNull(),
    /** The user's id at the provider. */
    subject: text('subject').notNull(),
    identityId: identityId(),
    /** Sealed JSON with the tokens received when the account was connected. */
    tokens: text('tokens'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.provider, t.subject] }),
    index('gate_social_links_by_identity').on(t.identityId),
  ],
)

/** Browsers that were sent to a provider; each may return once. */
export const gateOAuthStates = sqliteTable(
  'gate_round_trips',
  {
    /** SHA-256 of the OAuth state, hexadecimal. */
    stateHash: text('state_hash').primaryKey(),
    tenantId: ofTenant(),
    flowId: flowId(),
    provider: text('provider').notNull(),
    /** Sealed JSON with the values to check the response with. */
    secrets: text('secrets').notNull(),
    /** SHA-256 of the cookie of the browser that was sent, if known. */
    browserHash: text('browser_hash'),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [index('gate_round_trips_by_flow').on(t.flowId)],
)

/** Test sign-ins of admins at providers: the latest of each session at each provider. */
export const gateTestSignIns = sqliteTable(
  'gate_test_sign_ins',
  {
    /** The admin's session. */
    sessionId: text('session_id').notNull(),
    provider: text('provider').notNull(),
    /** SHA-256 of the OAuth state, hexadecimal; null once the browser is back. */
    stateHash: text('state_hash').unique(),
    /** Sealed JSON: the values to check the response with, later the result. */
    content: text('content').notNull(),
    /** When the browser left, later when it came back. */
    at: integer('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sessionId, t.provider] }),
    index('gate_test_sign_ins_by_time').on(t.at),
  ],
)

/** Ids of deleted identities, so that the id is never accepted as the name of another subject. */
export const gateErasures = sqliteTable(
  'gate_erasures',
  {
    identityId: text('identity_id').primaryKey(),
    tenantId: tenantId(),
    requestedAt: integer('requested_at').notNull(),
    /** Null while data of the identity is still to be erased. */
    completedAt: integer('completed_at'),
  },
  (t) => [
    index('gate_erasures_by_tenant').on(t.tenantId),
    index('gate_erasures_open').on(t.identityId).where(sql`completed_at is null`),
    index('gate_erasures_by_time').on(t.requestedAt),
  ],
)
