import { hostname } from 'node:os'
import { join } from 'node:path'
import { migrations } from '../../drizzle/index.ts'
import type { Config } from '../config/index.ts'
import { asStorageError, StorageError } from '../db/errors.ts'
import { migrate, migrationStatus, SchemaError } from '../db/migrate.ts'
import { type Db, databaseExists, databaseFile, openDatabase } from '../db/open.ts'
import { type Bots, createBotOffice } from '../engines/passepartout/index.ts'
import { baseUrlOf } from '../http/urls.ts'
import { type Actor, createAudit } from '../platform/audit.ts'
import { systemClock } from '../platform/clock.ts'
import { notFound } from '../platform/errors.ts'
import { createKeys } from '../platform/keys.ts'
import { openMasterKey } from '../platform/master-key-store.ts'
import { createSealing } from '../platform/sealing.ts'
import { createTenants } from '../platform/tenants.ts'
import { VERSION } from '../platform/version.ts'

export function openConfigured({ dataDir, database }: Config): Db {
  try {
    return openDatabase({ dataDir, ...database })
  } catch (error) {
    throw new StorageError(`${databaseFile(dataDir)}: ${messageOf(asStorageError(error))}`)
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

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
    return await work({
      tenants,
      keys,
      bots: async () => {
        const masterKey = await openMasterKey({ db, clock, dataDir: config.dataDir })
        const sealing = createSealing(masterKey)
        const baseUrl = () => baseUrlOf(config.server)
        return createBotOffice({ db, clock, audit, sealing, tenants }, config, baseUrl)
      },
      actor: { kind: 'cli', source: whoAmI() },
    })
  } finally {
    await db.drain()
    db.close()
  }
}

/** The account by its number: its name follows the environment, which anybody can set. */
const whoAmI = (): string => `uid ${process.getuid?.() ?? 'unknown'}@${hostname()}`
