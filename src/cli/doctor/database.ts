import { statSync } from 'node:fs'
import { migrations } from '../../../drizzle/index.ts'
import { migrationStatus } from '../../db/migrate.ts'
import type { Db } from '../../db/open.ts'
import { logOf } from '../../db/read-only.ts'
import { adviceOn, type Finding, ok, problem, RESTORE, warning } from './finding.ts'
import type { OpenedDatabase } from './read-database.ts'
import { MB, megabytes } from './words.ts'

/** The largest file that is checked: seconds of reading on a slow disk. */
const MAX_CHECKED_BYTES = 512 * MB
const MAX_LOG_BYTES = 256 * MB
const MUCH_ROOM_BYTES = 256 * MB

/** A problem with the schema; undefined if it is up to date, so that tables can be read. */
export function schemaIssue({ client }: Db): Finding | undefined {
  try {
    const { pending } = migrationStatus(client, migrations)
    return pending.length === 0
      ? undefined
      : warning('schema', `${pending.length} pending; the next start applies them`)
  } catch (error) {
    return problem('schema', adviceOn(error))
  }
}

/** Whether the database file is intact and readable. */
export function integrity({ db, isWithoutLog }: OpenedDatabase): Finding[] {
  const log = isWithoutLog
    ? [
        warning(
          'database',
          'the write-ahead log cannot be opened: the last writes are missing here',
        ),
      ]
    : []
  const { size } = statSync(db.file)
  if (size > MAX_CHECKED_BYTES)
    return [
      ...log,
      ok(
        'integrity',
        `not checked, because checking ${megabytes(size)} takes long. To check, run sqlite3 ${db.file} 'PRAGMA quick_check'`,
      ),
    ]
  return [...log, soundness(db), ...references(db)]
}

function soundness({ client }: Db): Finding {
  try {
    const [first] = client.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').all()
    return first?.quick_check === 'ok'
      ? ok('integrity', 'the database file is intact')
      : problem('integrity', `${first?.quick_check}: ${RESTORE}`)
  } catch (error) {
    return problem('integrity', adviceOn(error))
  }
}

function references({ client }: Db): Finding[] {
  const broken = client
    .query<{ table: string; parent: string }, []>('SELECT * FROM pragma_foreign_key_check LIMIT 1')
    .get()
  return broken
    ? [
        problem(
          'references',
          `a row of ${broken.table} refers to a missing row of ${broken.parent}: ${RESTORE}`,
        ),
      ]
    : []
}

/** Sizes of the log, which stays large only while a reader never ends, and of unused space. */
export function sizes({ db }: OpenedDatabase, externalCheckpoint: boolean): Finding[] {
  const log = statSync(logOf(db.file), { throwIfNoEntry: false })?.size ?? 0
  return [judgeLog(log, externalCheckpoint), ...roomWithin(db)]
}

export function judgeLog(bytes: number, externalCheckpoint: boolean): Finding {
  if (bytes <= MAX_LOG_BYTES) return ok('log', `${megabytes(bytes)} write-ahead log`)
  const cause = externalCheckpoint
    ? '[database] external_checkpoint is set: is the replicator running?'
    : 'another program keeps the database open: stop it, or restart the server'
  return warning('log', `${megabytes(bytes)} not yet in the database: ${cause}`)
}

function roomWithin({ client, file }: Db): Finding[] {
  const number = (pragma: string) =>
    Object.values(client.query<Record<string, number>, []>(`PRAGMA ${pragma}`).get() ?? {})[0] ?? 0
  const pageBytes = number('page_size')
  const free = number('freelist_count') * pageBytes
  const all = number('page_count') * pageBytes
  if (free <= MUCH_ROOM_BYTES || free < all / 2) return []
  return [
    ok(
      'room within',
      `${megabytes(free)} of ${megabytes(all)} are unused and will be reused. To shrink the file, ` +
        `stop the server and run sqlite3 ${file} VACUUM`,
    ),
  ]
}
