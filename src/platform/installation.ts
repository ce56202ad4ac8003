import type { Db } from '../db/open.ts'
import type { Clock } from './clock.ts'
import { sha256 } from './crypto.ts'
import { newId } from './ids.ts'
import { installation } from './schema.ts'

/** Enough to tell installations apart; says nothing of the id, which is in backups and exports. */
const MARK_DIGITS = 16

/** The id that goes wherever copies of this database go; none before its first start. */
export const installationOf = ({ orm }: Pick<Db, 'orm'>): string | undefined =>
  orm.select({ id: installation.id }).from(installation).limit(1).get()?.id

/** Names a database that has no name yet, once, whoever asks first. */
export async function nameInstallation({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  if (installationOf(db)) return
  await db.commit(() => {
    // Another process may have been quicker.
    if (installationOf(db)) return
    db.orm.insert(installation).values({ id: newId(), createdAt: clock.now() }).run()
  })
}

/** What `GET /healthz` shows of it, so that an address can be known to lead here. */
export const markOf = (id: string): string => sha256(id).slice(0, MARK_DIGITS)
