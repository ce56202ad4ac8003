import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { consolePlaces } from '../../schema.ts'

type PlaceRow = typeof consolePlaces.$inferSelect

/** Where sessions act. */
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

  return {
    place: (sessionId: string): PlaceRow | undefined => place.get({ sessionId }),
    putPlace: (row: PlaceRow) => void putPlace.run(row),
  }
}
