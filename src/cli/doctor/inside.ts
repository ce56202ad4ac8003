import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import { botsInTrouble } from '../../engines/passepartout/index.ts'
import { createBackupStore } from '../../platform/backup/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { installationOf, markOf } from '../../platform/installation.ts'
import { thisProcess } from '../../platform/process.ts'
import { VERSION } from '../../platform/version.ts'
import { backupFindings } from './backups.ts'
import { judgeClock } from './clock.ts'
import { integrity, schemaTrouble, sizes } from './database.ts'
import { adviceOn, examined, type Finding, ok, problem, warning } from './finding.ts'
import { type Looked, readDatabase } from './look.ts'
import { masterKey } from './master-key.ts'
import { outbox } from './outbox.ts'
import type { Unreachable } from './places.ts'
import { judgeLeases, judgeProcesses, overdueWork, processesIn } from './processes.ts'
import { sealedSecrets } from './sealed.ts'
import { createStore } from './store.ts'

/** What a look into the database tells, by where it is shown. */
export interface Inside {
  database?: Finding[]
  backups?: Finding[]
  clock?: Finding[]
  work?: Finding[]
  mails?: Finding[]
  isServerAlive?: boolean
  /** What this installation shows of its id; unknown before its first start. */
  mark?: string | undefined
}

/** Opens the database, looks and closes it again. */
export const lookInside = (config: Config, { paths }: Unreachable): Promise<Inside> =>
  readDatabase(config.dataDir, async (looked) => {
    const trouble = schemaTrouble(looked.db)
    const { lastWriteAt, ...tables } = trouble ? {} : await whatWorks(looked.db, config, paths)
    const database = [
      trouble ?? ok('schema', 'up to date'),
      ...(await examined('integrity', () => integrity(looked))),
      ...(await examined('log', () => sizes(looked, config.database.externalCheckpoint))),
      ...(await examined('master key', () => masterKey(config, looked.db))),
      ...(trouble ? [] : await examined('sealed secrets', () => sealedSecrets(config, looked.db))),
    ]
    return { ...tables, database, clock: await clockOf(looked, lastWriteAt) }
  })

/** One key that was put here before the database is looked at all the same. */
export const withoutDatabase = (config: Config): Promise<Finding[]> =>
  examined('master key', () => masterKey(config))

/** A table that cannot be read keeps nobody from looking at the file as a whole. */
async function whatWorks(...of: Parameters<typeof tablesOf>): ReturnType<typeof tablesOf> {
  try {
    return await tablesOf(...of)
  } catch (error) {
    return { work: [problem('tables', adviceOn(error))] }
  }
}

/** Only with the tables that this executable knows. */
async function tablesOf(
  db: Db,
  config: Config,
  unreachable: ReadonlySet<string>,
): Promise<Inside & { lastWriteAt?: number }> {
  const now = systemClock.now()
  const id = installationOf(db)
  const store = createStore(db)
  const processes = processesIn(store.instances(), thisProcess(VERSION), now)
  const hasMailServer = config.mail.smtpUrl !== undefined
  return {
    isServerAlive: processes.alive.length > 0,
    mark: id && markOf(id),
    lastWriteAt: store.lastWriteAt(),
    backups: await examined('backups', () =>
      backupFindings(createBackupStore(db), store.madeAt() ?? now, config, unreachable, now),
    ),
    work: [
      ...(await examined('server', () => judgeProcesses(processes, VERSION))),
      ...(await examined('leases', () => judgeLeases(store.leases(), processes, now))),
      ...(await examined('due work', () => overdueWork(store, processes, now))),
      ...(await examined('bots', () => bots(db))),
    ],
    mails: await examined('mails', () => outbox(store, hasMailServer, now)),
  }
}

const clockOf = ({ db }: Looked, lastWriteAt = 0): Promise<Finding[]> =>
  examined('clock', () => [
    judgeClock(systemClock.now(), Math.max(lastWriteAt, lastMigrationAt(db))),
  ])

/** Asked past the store, as it is there in every version of the schema. */
function lastMigrationAt({ client }: Db): number {
  const isMade = client.query("SELECT 1 FROM sqlite_schema WHERE name = '_migrations'").get()
  if (!isMade) return 0
  const newest = 'SELECT max(applied_at) AS at FROM _migrations'
  return client.query<{ at: number | null }, []>(newest).get()?.at ?? 0
}

/** Those that people sign in with and that do not receive; nothing where there are none. */
const bots = (db: Db): Finding[] =>
  botsInTrouble(db).map(({ tenant_id, username, trouble }) =>
    warning('bots', `@${username} of tenant ${tenant_id}: ${trouble}`),
  )
