import { sql } from 'drizzle-orm'
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { tenantId } from '../../platform/schema.ts'

const environment = () => text('environment', { enum: ['live', 'test'] }).notNull()
const platform = () => text('platform', { enum: ['telegram', 'sandbox'] }).notNull()

/** A tenant's bot per environment. Rows stay without a token, because sign-ins refer to them. */
export const passepartoutBots = sqliteTable(
  'passepartout_bots',
  {
    id: text('id').primaryKey(),
    tenantId: tenantId(),
    environment: environment(),
    platform: platform(),
    /** Kept without a token: setting the token again restores the same bot. Null in the sandbox. */
    platformBotId: text('platform_bot_id'),
    username: text('username'),
    name: text('name'),
    /** Sealed. */
    token: text('token'),
    isEnabled: integer('is_enabled', { mode: 'boolean' }).notNull(),
    match: text('match', { enum: ['optional', 'required'] }).notNull(),
    transport: text('transport', { enum: ['polling', 'webhook'] }).notNull(),
    /** Increases with each change that receivers have to react to. */
    revision: integer('revision').notNull(),
    health: text('health', { enum: ['ok', 'invalid_token', 'conflict', 'unreachable'] }).notNull(),
    /** Description of the current problem; null if there is none. */
    issue: text('trouble'),
    /** The offset of the next update, and when it was stored. */
    updateOffset: integer('update_offset'),
    offsetAt: integer('offset_at'),
    /** The process that receives the bot's messages. */
    leaseOwner: text('lease_owner'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    uniqueIndex('passepartout_bots_by_tenant').on(t.tenantId, t.environment),
    uniqueIndex('passepartout_bots_by_platform')
      .on(t.platform, t.platformBotId)
      .where(sql`token is not null`),
    index('passepartout_bots_receiving').on(t.id).where(sql`is_enabled = 1 and token is not null`),
  ],
)

/** Handled updates, because the messenger may deliver them again. */
export const passepartoutUpdates = sqliteTable(
  'passepartout_updates',
  {
    botId: text('bot_id').notNull(),
    updateId: integer('update_id').notNull(),
    at: integer('at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.botId, t.updateId] }),
    index('passepartout_updates_by_time').on(t.at),
  ],
)

/** Users who have signed in. A user keeps the same id for a tenant, regardless of name changes. */
export const passepartoutPeople = sqliteTable(
  'passepartout_people',
  {
    /** The subject of their tokens. */
    id: text('id').primaryKey(),
    tenantId: tenantId(),
    platform: platform(),
    platformUserId: text('platform_user_id').notNull(),
    username: text('username'),
    firstName: text('first_name').notNull(),
    lastName: text('last_name'),
    languageCode: text('language_code'),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    uniqueIndex('passepartout_people_by_account').on(t.tenantId, t.platform, t.platformUserId),
    index('passepartout_people_by_creation').on(t.tenantId, t.platform, t.createdAt, t.id),
    index('passepartout_people_by_sign_in').on(t.tenantId, t.platform, t.updatedAt, t.id),
    index('passepartout_people_by_username').on(t.tenantId, t.platform, t.username),
  ],
)

/** Sign-in attempts, successful or not. */
export const passepartoutAttempts = sqliteTable(
  'passepartout_attempts',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    environment: environment(),
    botId: text('bot_id').notNull(),
    /** SHA-256 of the app's nonce, and of the link's payload; hexadecimal. */
    nonceHash: text('nonce_hash').notNull().unique(),
    linkHash: text('link_hash').notNull().unique(),
    state: text('state', {
      enum: ['pending', 'opened', 'approved', 'denied', 'mismatched'],
    }).notNull(),
    /** The client that started it, as reported by the app. */
    clientIp: text('client_ip'),
    clientUserAgent: text('client_user_agent'),
    clientLabel: text('client_label'),
    /** The number that the app shows; null if none is required. */
    matchCode: text('match_code'),
    /** JSON array of the numbers that the bot offers, in order. */
    choices: text('choices'),
    /** Platform id of the user who opened it first, the only one who may answer. */
    openerId: text('opener_id'),
    language: text('language', { enum: ['en', 'de'] }).notNull(),
    /** Number of prompts sent. */
    prompts: integer('prompts').notNull(),
    personId: text('person_id'),
    /** Sealed copy of the access token, while it can be collected. */
    accessToken: text('access_token'),
    createdAt: integer('created_at').notNull(),
    openedAt: integer('opened_at'),
    endedAt: integer('ended_at'),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('passepartout_attempts_by_opener')
      .on(t.botId, t.openerId, t.openedAt)
      .where(sql`opener_id is not null`),
    index('passepartout_attempts_in_state').on(t.tenantId, t.environment, t.state),
    index('passepartout_attempts_by_expiry').on(t.expiresAt),
    index('passepartout_attempts_to_collect').on(t.expiresAt).where(sql`access_token is not null`),
  ],
)

/** Prompt messages: to be sent, or to be changed once the sign-in has ended. */
export const passepartoutPrompts = sqliteTable(
  'passepartout_prompts',
  {
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    tenantId: tenantId(),
    botId: text('bot_id').notNull(),
    attemptId: text('attempt_id').notNull(),
    chatId: text('chat_id').notNull(),
    /** Null until sent. */
    messageId: text('message_id'),
    state: text('state', { enum: ['waiting', 'ready', 'leased'] }).notNull(),
    tries: integer('tries').notNull(),
    dueAt: integer('due_at').notNull(),
    leaseOwner: text('lease_owner'),
    leaseUntil: integer('lease_until'),
    leaseId: text('lease_id'),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    index('passepartout_prompts_by_attempt').on(t.attemptId),
    index('passepartout_prompts_waiting').on(t.dueAt).where(sql`state = 'waiting'`),
    index('passepartout_prompts_ready')
      .on(t.tenantId, t.botId, t.dueAt, t.seq)
      .where(sql`state = 'ready'`),
    index('passepartout_prompts_leased').on(t.leaseUntil).where(sql`state = 'leased'`),
  ],
)

/** Access tokens of completed sign-ins. */
export const passepartoutTokens = sqliteTable(
  'passepartout_tokens',
  {
    seq: integer('seq').primaryKey(),
    tenantId: tenantId(),
    environment: environment(),
    /** SHA-256 of the token, hexadecimal. */
    hash: text('hash').notNull().unique(),
    personId: text('person_id').notNull(),
    issuedAt: integer('issued_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
    revokedAt: integer('revoked_at'),
  },
  (t) => [
    index('passepartout_tokens_by_person').on(t.tenantId, t.personId),
    index('passepartout_tokens_by_expiry').on(t.expiresAt),
  ],
)
