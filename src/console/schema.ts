import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { gateIdentities, gateSessions } from '../engines/gate/schema.ts'
import { tenantId, tenants } from '../platform/schema.ts'

/** Operators are people of the house tenant (`platform/house.ts`). */
const operatorId = () =>
  text('operator_id')
    .notNull()
    .references(() => gateIdentities.id, { onDelete: 'cascade' })

const role = () => text('role', { enum: ['owner', 'member', 'viewer'] }).notNull()

/** Who runs which tenant, and how much of it. */
export const consoleMemberships = sqliteTable(
  'console_memberships',
  {
    tenantId: tenantId(),
    operatorId: operatorId(),
    role: role(),
    createdAt: integer('created_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.operatorId, t.tenantId] }),
    index('console_memberships_by_tenant').on(t.tenantId, t.createdAt),
  ],
)

/** Who runs the installation: tenants, plans, backups, the outbox of mails. */
export const consoleAdmins = sqliteTable('console_admins', {
  operatorId: operatorId().primaryKey(),
  createdAt: integer('created_at').notNull(),
})

/** Where a session acts, once its operator has chosen: in a tenant, or for the installation. */
export const consolePlaces = sqliteTable(
  'console_places',
  {
    sessionId: text('session_id')
      .primaryKey()
      .references(() => gateSessions.id, { onDelete: 'cascade' }),
    /** Null for the installation. */
    tenantId: text('tenant_id').references(() => tenants.id, { onDelete: 'cascade' }),
  },
  (t) => [index('console_places_by_tenant').on(t.tenantId)],
)

/** Mails that ask somebody to join a tenant, until they have. */
export const consoleInvitations = sqliteTable(
  'console_invitations',
  {
    id: text('id').primaryKey(),
    tenantId: tenantId(),
    /** Normalised. */
    email: text('email').notNull(),
    role: role(),
    /** SHA-256 of what is in the link, hexadecimal. */
    tokenHash: text('token_hash').notNull().unique(),
    /** Whether the link went to the mailbox and was shown to no one: using it verifies the address. */
    isMailed: integer('is_mailed', { mode: 'boolean' }).notNull().default(false),
    invitedBy: text('invited_by').notNull(),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    uniqueIndex('console_invitations_by_email').on(t.tenantId, t.email),
    index('console_invitations_by_expiry').on(t.expiresAt),
  ],
)

/** Links that let somebody in once: to set the installation up, or back in. */
export const consoleLinks = sqliteTable(
  'console_links',
  {
    /** SHA-256 of what is in the link, hexadecimal. */
    tokenHash: text('token_hash').primaryKey(),
    /** Null while there is no operator: whoever opens it becomes the first one. */
    operatorId: text('operator_id').references(() => gateIdentities.id, { onDelete: 'cascade' }),
    /** The address that the link was mailed to; null for a link that was shown or printed. */
    mailedTo: text('mailed_to'),
    createdAt: integer('created_at').notNull(),
    expiresAt: integer('expires_at').notNull(),
  },
  (t) => [
    index('console_links_by_operator').on(t.operatorId),
    index('console_links_by_expiry').on(t.expiresAt),
  ],
)
