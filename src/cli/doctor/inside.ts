import type { Config } from '../../config/index.ts'
import type { Db } from '../../db/open.ts'
import { botsWithIssues } from '../../engines/passepartout/index.ts'
import { createBackupStore } from '../../platform/backup/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { installationOf, markOf } from '../../platform/installation.ts'
import { processCount, thisProcess } from '../../platform/process.ts'
import { keyIdIn } from '../../platform/replication/sealed-key.ts'
import { VERSION } from '../../platform/version.ts'
import { backupFindings } from './backups.ts'
import { judgeClock } from './clock.ts'
import { integrity, schemaIssue, sizes } from './database.ts'
import type { Unreachable } from './directories.ts'
import { adviceOn, examined, type Finding, ok, problem, warning } from './finding.ts'
import { masterKey } from './master-key.ts'
import { outbox } from './outbox.ts'
import { judgeLeases, judgeProcesses, overdueWork, processesIn } from './processes.ts'
import { type OpenedDatabase, readDatabase } from './read-database.ts'
import { sealedSecrets } from './sealed.ts'
import { createStore } from './store.ts'

/** Findings from the database, by the group they are shown in. */
export interface Inside {
  database?: Finding[]
  backups?: Finding[]
  clock?: Finding[]
  work?: Finding[]
  mails?: Finding[]
  isServerAlive?: boolean
  /** The mark that this installation shows in `/healthz`; unknown before the first start. */
  mark?: string | undefined
}

/** Checks the database, opened for reading only. */
export const checkDatabase = (config: Config, { paths }: Unreachable): Promise<Inside> =>
  readDatabase(config.dataDir, async (opened) => {
    const issue = schemaIssue(opened.db)
    const { lastWriteAt, ...tables } = issue ? {} : await whatWorks(opened.db, config, paths)
    const database = [
      issue ?? ok('schema', 'up to date'),
      ...(await examined('integrity', () => integrity(opened))),
      ...(await examined('log', () => sizes(opened, config.database.externalCheckpoint))),
      ...(await examined('master key', () => masterKey(config, opened.db))),
      ...(issue ? [] : await examined('sealed secrets', () => sealedSecrets(config, opened.db))),
    ]
    return { ...tables, database, clock: await clockOf(opened, lastWriteAt) }
  })

/** Checks the master key where there is no database yet, or only a copy of another server's. */
export async function withoutDatabase(config: Config): Promise<Finding[]> {
  const key = await examined('master key', () => masterKey(config))
  if (config.replication.role === 'single') return key
  const none = ok('database', 'none here, because this server is not active')
  return keyIdIn(config.dataDir) === undefined ? [none] : [none, ...key]
}

/** Findings from the tables; an unreadable table becomes a finding. */
async function whatWorks(...of: Parameters<typeof tablesOf>): ReturnType<typeof tablesOf> {
  try {
    return await tablesOf(...of)
  } catch (error) {
    return { work: [problem('tables', adviceOn(error))] }
  }
}

/** Findings from the tables, which must have this executable's schema. */
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
      ...(await examined('server', () =>
        judgeProcesses(processes, VERSION, processCount(config.server.processes)),
      )),
      ...(await examined('leases', () => judgeLeases(store.leases(), processes, now))),
      ...(await examined('due work', () => overdueWork(store, processes, now))),
      ...(await examined('bots', () => bots(db))),
    ],
    mails: await examined('mails', () => outbox(store, hasMailServer, now)),
  }
}

const clockOf = ({ db }: OpenedDatabase, lastWriteAt = 0): Promise<Finding[]> =>
  examined('clock', () => [
    judgeClock(systemClock.now(), Math.max(lastWriteAt, lastMigrationAt(db))),
  ])

/** The time of the last migration, 0 without any; works with every schema version. */
function lastMigrationAt({ client }: Db): number {
  const isMade = client.query("SELECT 1 FROM sqlite_schema WHERE name = '_migrations'").get()
  if (!isMade) return 0
  const newest = 'SELECT max(applied_at) AS at FROM _migrations'
  return client.query<{ at: number | null }, []>(newest).get()?.at ?? 0
}

/** A warning for each enabled bot that receives nothing. */
const bots = (db: Db): Finding[] =>
  botsWithIssues(db).map(({ tenant_id, username, issue }) =>
    warning('bots', `@${username} of tenant ${tenant_id}: ${issue}`),
  )
