import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { gateIdentities, gateSessions } from '../../engines/gate/schema.ts'
import { tenantId, tenants } from '../../platform/schema.ts'

/** Operators are identities of the system tenant (`platform/system-tenant.ts`). */
const operatorId = () =>
  text('operator_id')
    .notNull()
    .references(() => gateIdentities.id, { onDelete: 'cascade' })

const role = () => text('role', { enum: ['owner', 'member', 'viewer'] }).notNull()

/** Memberships of operators in tenants. */
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

/** Admins of the installation. */
export const consoleAdmins = sqliteTable('console_admins', {
  operatorId: operatorId().primaryKey(),
  createdAt: integer('created_at').notNull(),
})

/** Tenant that a session has selected, or the installation. */
export const consoleScopes = sqliteTable(
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

/** Pending invitations. */
export const consoleInvitations = sqliteTable(
  'console_invitations',
  {
    id: text('id').primaryKey(),
    tenantId: tenantId(),
    /** Normalized. */
    email: text('email').notNull(),
    role: role(),
    /** SHA-256 of the token in the link, in hexadecimal. */
    tokenHash: text('token_hash').notNull().unique(),
    /** Whether the link was only emailed. If so, using it verifies the address. */
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

/** One-time links for set-up and sign-in. */
export const consoleLinks = sqliteTable(
  'console_links',
  {
    /** SHA-256 of the token in the link, in hexadecimal. */
    tokenHash: text('token_hash').primaryKey(),
    /** Null for set-up links, which create the first operator. */
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
