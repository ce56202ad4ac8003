import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { tenantId } from '../../platform/schema.ts'

/** What a tenant wants to do first, and whether its checklist is dismissed. */
export const consoleChecklists = sqliteTable('console_checklists', {
  tenantId: tenantId().primaryKey(),
  /** JSON array of goals. */
  goals: text('goals').notNull(),
  dismissedAt: integer('dismissed_at'),
})
