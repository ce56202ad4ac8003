import type { Db } from '../db/open.ts'
import type { Clock } from './clock.ts'
import { sha256 } from './crypto.ts'
import { newId } from './ids.ts'
import { installation } from './schema.ts'

/** Distinguishes installations without revealing the id, which is in backups and exports. */
const MARK_DIGITS = 16

/** The installation's id, copied with its database; undefined before the first start. */
export const installationOf = ({ orm }: Pick<Db, 'orm'>): string | undefined =>
  orm.select({ id: installation.id }).from(installation).limit(1).get()?.id

/** Gives a new database its id; only the first caller does. */
export async function nameInstallation({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  if (installationOf(db)) return
  await db.commit(() => {
    // Another process may have done it first.
    if (installationOf(db)) return
    db.orm.insert(installation).values({ id: newId(), createdAt: clock.now() }).run()
  })
}

/** Lets callers of `GET /healthz` verify that an address leads to this installation. */
export const markOf = (id: string): string => sha256(id).slice(0, MARK_DIGITS)
