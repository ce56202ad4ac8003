import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import type { Config } from '../config/index.ts'
import { asStorageError } from '../db/errors.ts'
import { migrate, migrationStatus, SchemaError } from '../db/migrate.ts'
import { type Db, openDatabase } from '../db/open.ts'
import { type Actor, createAudit } from '../platform/audit.ts'
import { systemClock } from '../platform/clock.ts'
import { createKeys } from '../platform/keys.ts'
import { createTenants } from '../platform/tenants.ts'
import { VERSION } from '../platform/version.ts'

export const openConfigured = ({ dataDir, database }: Config): Db => {
  try {
    return openDatabase({ dataDir, ...database })
  } catch (error) {
    throw asStorageError(error)
  }
}

/** Brings the schema up to date; a database with data is copied first. */
export const migrateConfigured = ({ dataDir }: Config, db: Db): string[] =>
  migrate(db.client, {
    migrations,
    backupDir: join(dataDir, 'backups'),
    appVersion: VERSION,
    now: systemClock.now(),
  })

export interface Offices {
  tenants: ReturnType<typeof createTenants>
  keys: ReturnType<typeof createKeys>
  actor: Actor
}

/**
 * For commands that act on the data directory, beside a running server or without one. A new
 * directory is set up; one with data is not migrated under a server that may be running.
 */
export async function withOffices<T>(
  config: Config,
  work: (offices: Offices) => T | Promise<T>,
): Promise<T> {
  const db = openConfigured(config)
  try {
    const { applied, pending } = migrationStatus(db.client, migrations)
    if (applied.length > 0 && pending.length > 0)
      throw new SchemaError('the database has to be migrated first: start `serve` once')
    migrateConfigured(config, db)
    const clock = systemClock
    const audit = createAudit({ db, clock })
    return await work({
      tenants: createTenants({ db, clock, audit }),
      keys: createKeys({ db, clock, audit, prefix: config.brand.prefix }),
      actor: { kind: 'cli', source: whoAmI() },
    })
  } finally {
    await db.drain()
    db.close()
  }
}

/** In a container the user may have no name. */
function whoAmI(): string {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return `${process.getuid?.() ?? 'unknown'}@${hostname()}`
  }
}
