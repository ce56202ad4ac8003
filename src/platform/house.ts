import { eq } from 'drizzle-orm'
import type { Db } from '../db/open.ts'
import type { Clock } from './clock.ts'
import { tenants } from './schema.ts'

/**
 * The tenant whose people are the operators: it comes with every installation, so that they sign in
 * by what everybody else signs in by. No key, list or export knows it.
 */
export const HOUSE_ID = '00000000-0000-7000-8000-000000000000'

/** What operators are told that they sign in to. */
const NAME = 'Gatehouse'

/** Makes it where it is not there yet. */
export async function openHouse({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const isThere = () => db.orm.select().from(tenants).where(eq(tenants.id, HOUSE_ID)).get()
  if (isThere()) return
  await db.commit(() => {
    const now = clock.now()
    db.orm
      .insert(tenants)
      .values({
        id: HOUSE_ID,
        name: NAME,
        plan: 'unlimited',
        status: 'active',
        createdAt: now,
        updatedAt: now,
      })
      .onConflictDoNothing()
      .run()
  })
}
