import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { gateSessions } from '../../../engines/gate/schema.ts'
import { consolePlaces } from '../../schema.ts'

type PlaceRow = typeof consolePlaces.$inferSelect

/** Selected tenants of sessions. */
export function createPlaceStore({ orm }: Db) {
  const $ = sql.placeholder
  const place = orm
    .select()
    .from(consolePlaces)
    .where(eq(consolePlaces.sessionId, $('sessionId')))
    .prepare()
  const putPlace = orm
    .insert(consolePlaces)
    .values({ sessionId: $('sessionId'), tenantId: $('tenantId') })
    .onConflictDoUpdate({
      target: consolePlaces.sessionId,
      set: { tenantId: sql`excluded.tenant_id` },
    })
    .prepare()
  const settle = orm
    .insert(consolePlaces)
    .select(
      orm
        .select({ sessionId: gateSessions.id, tenantId: sql`${$('tenantId')}`.as('tenant_id') })
        .from(gateSessions)
        .where(and(eq(gateSessions.identityId, $('operatorId')), isNull(gateSessions.revokedAt))),
    )
    .onConflictDoNothing()
    .prepare()

  return {
    place: (sessionId: string): PlaceRow | undefined => place.get({ sessionId }),
    putPlace: (row: PlaceRow) => void putPlace.run(row),
    /** Stores a selection for all sessions of an operator that have none. */
    settlePlaces: (operatorId: string, tenantId: string | null) =>
      void settle.run({ operatorId, tenantId }),
  }
}
