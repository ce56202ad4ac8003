import { accessSync, constants } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import type { Config } from '../config/index.ts'
import { asStorageError, messageOf, StorageError } from '../db/errors.ts'
import { migrate, migrationStatus, SchemaError } from '../db/migrate.ts'
import { type Db, databaseExists, databaseFile, openDatabase } from '../db/open.ts'
import { type Bots, createBotOffice } from '../engines/passepartout/index.ts'
import { baseUrlOf } from '../http/urls.ts'
import { type Actor, type Audit, createAudit } from '../platform/audit/index.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { notFound } from '../platform/errors.ts'
import { createKeys } from '../platform/keys.ts'
import { createUsageOffice } from '../platform/metering/index.ts'
import { createSealing, type Sealing } from '../platform/sealing/index.ts'
import { openKeyRing } from '../platform/sealing/open-key-ring.ts'
import { createTenants } from '../platform/tenants.ts'
import { VERSION } from '../platform/version.ts'

export function openConfigured({ dataDir, database }: Config): Db {
  try {
    return openDatabase({ dataDir, ...database })
  } catch (error) {
    if (error instanceof StorageError) throw error
    const where = isReadOnly(dataDir) ? ' (its file system is read-only)' : ''
    throw new StorageError(`${databaseFile(dataDir)}: ${messageOf(asStorageError(error))}${where}`)
  }
}

function isReadOnly(dataDir: string): boolean {
  try {
    accessSync(dataDir, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
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
  db: Db
  clock: Clock
  audit: Audit
  tenants: ReturnType<typeof createTenants>
  keys: ReturnType<typeof createKeys>
  usage: ReturnType<typeof createUsageOffice>
  /** Opened when asked for: it takes the master key. */
  sealing: () => Promise<Sealing>
  /** Opened when asked for: it takes the master key. */
  bots: () => Promise<Bots>
  actor: Actor
}

/**
 * For commands that act on a data directory that is there, beside a running server or
 * without one. Nothing is made in a folder where somebody merely looks.
 */
export async function withOffices<T>(config: Config, work: Work<T>): Promise<T> {
  if (!databaseExists(config.dataDir))
    throw notFound(`there is no data in ${config.dataDir}; --data-dir names another place`)
  return withNewOffices(config, work)
}

type Work<T> = (offices: Offices) => T | Promise<T>

/**
 * The same, but sets up a directory that is new. One with data is not migrated here: a server
 * of an older version may be running on it.
 */
export async function withNewOffices<T>(config: Config, work: Work<T>): Promise<T> {
  const db = openConfigured(config)
  try {
    const { applied, pending } = migrationStatus(db.client, migrations)
    if (applied.length > 0 && pending.length > 0)
      throw new SchemaError('the database has to be migrated first: start `serve` once')
    migrateConfigured(config, db)
    const clock = systemClock
    const audit = createAudit({ db, clock })
    const keys = createKeys({ db, clock, audit, prefix: config.brand.prefix })
    const tenants = createTenants({ db, clock, audit, onChange: keys.forget })
    const sealing = async () =>
      createSealing(await openKeyRing({ db, clock, dataDir: config.dataDir }))
    return await work({
      db,
      clock,
      audit,
      tenants,
      keys,
      usage: createUsageOffice({ db, clock, config: config.metering }),
      sealing,
      bots: async () =>
        createBotOffice({ db, clock, audit, sealing: await sealing(), tenants }, config, () =>
          baseUrlOf(config.server),
        ),
      actor: cliActor(),
    })
  } finally {
    await db.drain()
    db.close()
  }
}

/** The account by its number: its name follows the environment, which anybody can set. */
export const cliActor = (): Actor => ({
  kind: 'cli',
  source: `uid ${process.getuid?.() ?? 'unknown'}@${hostname()}`,
})
