import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { gateSessions } from '../../../engines/gate/schema.ts'
import { consoleScopes } from '../schema.ts'

type ScopeRow = typeof consoleScopes.$inferSelect

/** Selected tenants of sessions. */
export function createScopeStore({ orm }: Db) {
  const $ = sql.placeholder
  const scope = orm
    .select()
    .from(consoleScopes)
    .where(eq(consoleScopes.sessionId, $('sessionId')))
    .prepare()
  const putScope = orm
    .insert(consoleScopes)
    .values({ sessionId: $('sessionId'), tenantId: $('tenantId') })
    .onConflictDoUpdate({
      target: consoleScopes.sessionId,
      set: { tenantId: sql`excluded.tenant_id` },
    })
    .prepare()
  const settle = orm
    .insert(consoleScopes)
    .select(
      orm
        .select({ sessionId: gateSessions.id, tenantId: sql`${$('tenantId')}`.as('tenant_id') })
        .from(gateSessions)
        .where(and(eq(gateSessions.identityId, $('operatorId')), isNull(gateSessions.revokedAt))),
    )
    .onConflictDoNothing()
    .prepare()

  return {
    scope: (sessionId: string): ScopeRow | undefined => scope.get({ sessionId }),
    putScope: (row: ScopeRow) => void putScope.run(row),
    /** Stores a selection for all sessions of an operator that have none. */
    settleScopes: (operatorId: string, tenantId: string | null) =>
      void settle.run({ operatorId, tenantId }),
  }
}
