import { eq } from 'drizzle-orm'
import type { Db } from '../db/open.ts'
import type { Clock } from './clock.ts'
import { tenants } from './schema.ts'

/** Its users are the operators. Every installation has it; no key, list or export includes it. */
export const SYSTEM_TENANT_ID = '00000000-0000-7000-8000-000000000000'

/** The name that operators see when they sign in. */
const NAME = 'Gatehouse'

/** Creates the system tenant unless it exists. */
export async function openSystemTenant({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const isThere = () => db.orm.select().from(tenants).where(eq(tenants.id, SYSTEM_TENANT_ID)).get()
  if (isThere()) return
  await db.commit(() => {
    const now = clock.now()
    db.orm
      .insert(tenants)
      .values({
        id: SYSTEM_TENANT_ID,
        name: NAME,
        plan: 'unlimited',
        status: 'active',
        createdAt: now,
        updatedAt: now,
      })
      .onConflictDoNothing()
      .run()
  }, 'disk')
}
