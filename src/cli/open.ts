import { SQLiteError } from 'bun:sqlite'
import { accessSync, constants } from 'node:fs'
import { hostname } from 'node:os'
import { migrations } from '../../drizzle/index.ts'
import type { Config } from '../config/index.ts'
import { createAdmins } from '../console/operators/admins.ts'
import { createGrantees } from '../console/operators/grantees.ts'
import { createLinks } from '../console/operators/links.ts'
import { createMemberships } from '../console/operators/memberships.ts'
import { createProvisioning } from '../console/operators/provisioning.ts'
import { createOperatorStore } from '../console/operators/store/index.ts'
import { isSystemError, StorageError } from '../db/errors.ts'
import { migrate, migrationStatus, SchemaError } from '../db/migrate.ts'
import { type Db, databaseExists, databaseFile, openDatabase } from '../db/open.ts'
import { createOfflineOperators } from '../engines/gate/operators/offline.ts'
import { type Bots, createOfflineBots } from '../engines/passepartout/index.ts'
import { readServerState } from '../failover/data-directory.ts'
import { baseUrlOf } from '../http/urls.ts'
import { createAlerts } from '../platform/alerts/index.ts'
import { type Actor, type Audit, createAudit } from '../platform/audit/index.ts'
import { ownDirectory } from '../platform/backup/index.ts'
import { type Clock, systemClock } from '../platform/clock.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { createKeys } from '../platform/keys/index.ts'
import { createOfflineUsage } from '../platform/metering/index.ts'
import { openSnapshot, type Snapshot } from '../platform/portable/snapshot.ts'
import { thisProcess } from '../platform/process.ts'
import { createSealing, type Sealing } from '../platform/sealing/index.ts'
import { openKeyRing } from '../platform/sealing/open-key-ring.ts'
import { createTenants } from '../platform/tenants.ts'
import { VERSION } from '../platform/version.ts'
import { readOnlyDatabase } from './doctor/read-database.ts'
import { sentenceOf } from './sentences.ts'
import { refuseBesideServer } from './servers.ts'

/** Opens the database of a configuration. Throws `conflict` on a server that is not the active one. */
export function openConfigured(config: Config): Db {
  const { dataDir, database } = config
  refuseInactive(config)
  try {
    return openDatabase({ dataDir, ...database })
  } catch (error) {
    if (error instanceof StorageError || isSystemError(error)) throw error
    const where = isReadOnly(dataDir) ? ' (its file system is read-only)' : ''
    throw new StorageError(`${databaseFile(dataDir)}: ${sentenceOf(error)}${where}`, {
      cause: error,
    })
  }
}

/** What is written to the database of a server that has stepped down reaches no other one. */
function refuseInactive({ dataDir, replication }: Config) {
  if (replication.role === 'single') return
  const state = readServerState(dataDir)
  if (!state || (databaseExists(dataDir) && !state.isReleased)) return
  throw conflict(
    'this server is not active. Use the active one, which `gatehouse replication status` names',
  )
}

function isReadOnly(dataDir: string): boolean {
  try {
    accessSync(dataDir, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

/**
 * Migrates the database and returns the ids of the migrations applied; a database with data is copied
 * first. Refuses while another server runs, which may not know the new schema.
 */
export function migrateConfigured({ dataDir }: Config, db: Db): string[] {
  const now = systemClock.now()
  if (migrationStatus(db.client, migrations).pending.length > 0)
    refuseBesideServer(db, thisProcess(VERSION), now)
  const backupDir = ownDirectory(dataDir)
  return migrate(db.client, { migrations, backupDir, appVersion: VERSION, now })
}

export interface OfflineServices {
  db: Db
  clock: Clock
  audit: Audit
  tenants: ReturnType<typeof createTenants>
  keys: ReturnType<typeof createKeys>
  usage: ReturnType<typeof createOfflineUsage>
  /** Opened on demand: it needs the master key. */
  sealing: () => Promise<Sealing>
  /** Opened on demand: it needs the master key. */
  bots: () => Promise<Bots>
  /** A consistent view of the database as it is now. */
  snapshot: () => Snapshot
  /** Opened on demand: it prepares statements that other commands don't need. */
  operators: () => OperatorServices
  actor: Actor
}

type OperatorServices = ReturnType<typeof createOperatorServices>

/** Operators of the console: their accounts, roles and sign-in links. */
function createOperatorServices(
  parts: Parameters<typeof createOfflineOperators>[0],
  config: Parameters<typeof createOfflineOperators>[1],
) {
  const store = createOperatorStore(parts.db)
  const accounts = createOfflineOperators(parts, config)
  const grantees = createGrantees({ ...parts, store, gateOperators: accounts })
  const admins = createAdmins({ ...parts, store, grantees, gateOperators: accounts })
  const memberships = createMemberships({ ...parts, store, grantees })
  return {
    store,
    accounts,
    admins,
    provisioning: createProvisioning({ ...parts, store, accounts, admins, memberships, grantees }),
    links: createLinks({ ...parts, store }),
  }
}

/** Runs `work` with or without a running server. Throws `not_found` without data, creating none. */
export async function withServices<T>(config: Config, work: Work<T>): Promise<T> {
  refuseNoData(config)
  return withNewServices(config, work)
}

export function refuseNoData(config: Config) {
  const { dataDir } = config
  refuseInactive(config)
  if (!databaseExists(dataDir))
    throw notFound(`no data in ${dataDir}. Use --data-dir for another directory`)
}

/** Like `withServices`, but also works on a read-only disk, where every commit fails. */
export async function withReadableServices<T>(
  config: Config,
  warn: (text: string) => void,
  work: Work<T>,
): Promise<T> {
  refuseNoData(config)
  if (!isReadOnly(config.dataDir)) return withNewServices(config, work)
  const { db, isWithoutLog } = readOnlyDatabase(config.dataDir)
  try {
    refuseUnmigrated(db)
    if (isWithoutLog) warn('The write-ahead log cannot be opened: the last writes are missing.')
    // The disk is read-only, so the database itself is a snapshot.
    const { client, orm } = db
    const snapshot = () => ({ client, orm, [Symbol.dispose]: () => {} })
    return await work({ ...servicesOn(config, db), snapshot })
  } finally {
    db.close()
  }
}

type Work<T> = (services: OfflineServices) => T | Promise<T>

/** Creates missing data, but never migrates existing data, which an older server may be using. */
export async function withNewServices<T>(config: Config, work: Work<T>): Promise<T> {
  const db = openConfigured(config)
  try {
    refuseUnmigrated(db)
    migrateConfigured(config, db)
    return await work(servicesOn(config, db))
  } finally {
    await db.drain()
    db.close()
  }
}

export function refuseUnmigrated({ client }: Db) {
  const { applied, pending } = migrationStatus(client, migrations)
  if (applied.length > 0 && pending.length > 0)
    throw new SchemaError('the database needs a migration first: start `serve` once')
}

function servicesOn(config: Config, db: Db): OfflineServices {
  const clock = systemClock
  const audit = createAudit({ db, clock })
  const keys = createKeys({ db, clock, audit, prefix: config.brand.prefix })
  const tenants = createTenants({ db, clock, audit, onChange: keys.forget })
  const sealing = async () =>
    createSealing(await openKeyRing({ db, clock, dataDir: config.dataDir }))
  return {
    db,
    clock,
    audit,
    tenants,
    keys,
    usage: createOfflineUsage({ db, clock, config: config.metering }),
    sealing,
    bots: async () =>
      createOfflineBots(
        {
          db,
          clock,
          audit,
          alerts: createAlerts({ db, clock }),
          sealing: await sealing(),
          tenants,
        },
        config,
        () => baseUrlOf(config.server),
      ),
    snapshot: () => openSnapshot(db),
    operators: () => createOperatorServices({ db, clock, audit }, config),
    actor: cliActor(),
  }
}

interface Note {
  /** Whether the note exists already, so that nothing has to be opened. */
  isThere?: () => boolean
  write: (db: Db, audit: Audit) => Promise<void>
}

/** Ignores a full disk or a database of another version, since the work itself succeeded. */
export async function noteIfPossible(config: Config, { isThere = () => false, write }: Note) {
  try {
    if (isThere()) return
    const db = openConfigured(config)
    try {
      await write(db, createAudit({ db, clock: systemClock }))
    } finally {
      db.close()
    }
  } catch (error) {
    if (!isDirectoryFault(error)) throw error
  }
}

/** Whether an error comes from the disk or the database rather than from a bug. */
const isDirectoryFault = (error: unknown): boolean =>
  error instanceof StorageError || error instanceof SQLiteError || isSystemError(error)

/** The account by its number, because its name depends on the environment, which is easily changed. */
export const cliActor = (): Actor => ({
  kind: 'cli',
  source: `uid ${process.getuid?.() ?? 'unknown'}@${hostname()}`,
})
