import { statSync } from 'node:fs'
import { migrations } from '../../../drizzle/index.ts'
import { logOf } from '../../db/look.ts'
import { migrationStatus } from '../../db/migrate.ts'
import type { Db } from '../../db/open.ts'
import { adviceOn, type Finding, ok, problem, RESTORE, warning } from './finding.ts'
import type { Looked } from './look.ts'
import { MB, megabytes } from './words.ts'

/** Some seconds of reading on a slow disk. */
const LARGEST_CHECKED_BYTES = 512 * MB
const LARGEST_LOG_BYTES = 256 * MB
const MUCH_ROOM_BYTES = 256 * MB

/** Undefined when all is as this executable wants it, so that its tables may be read. */
export function schemaTrouble({ client }: Db): Finding | undefined {
  try {
    const { pending } = migrationStatus(client, migrations)
    return pending.length === 0
      ? undefined
      : warning('schema', `${pending.length} to apply at the next start`)
  } catch (error) {
    return problem('schema', adviceOn(error))
  }
}

/** What is in the file, and whether all of it still can be read. */
export function integrity({ db, isWithoutLog }: Looked): Finding[] {
  const log = isWithoutLog
    ? [
        warning(
          'database',
          'read without its log, which cannot be opened: the last writes are not seen',
        ),
      ]
    : []
  const { size } = statSync(db.file)
  if (size > LARGEST_CHECKED_BYTES)
    return [
      ...log,
      ok(
        'integrity',
        `not checked, as ${megabytes(size)} take long: sqlite3 ${db.file} 'PRAGMA quick_check'`,
      ),
    ]
  return [...log, soundness(db), ...references(db)]
}

function soundness({ client }: Db): Finding {
  try {
    const [first] = client.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').all()
    return first?.quick_check === 'ok'
      ? ok('integrity', 'the database file is sound')
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
          `a row of ${broken.table} refers to one of ${broken.parent} that is not there: ${RESTORE}`,
        ),
      ]
    : []
}

/** The log is brought into the database all the time, unless somebody reads and never ends. */
export function sizes({ db }: Looked, externalCheckpoint: boolean): Finding[] {
  const log = statSync(logOf(db.file), { throwIfNoEntry: false })?.size ?? 0
  return [judgeLog(log, externalCheckpoint), ...roomWithin(db)]
}

export function judgeLog(bytes: number, externalCheckpoint: boolean): Finding {
  if (bytes <= LARGEST_LOG_BYTES) return ok('log', `${megabytes(bytes)} beside the database`)
  const cause = externalCheckpoint
    ? 'is the replicator running, for which [database] external_checkpoint is set?'
    : 'another program keeps the database open: end it, or restart the server'
  return warning('log', `${megabytes(bytes)} not yet in the database; ${cause}`)
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
      `${megabytes(free)} of ${megabytes(all)} are free and used again; to give them back, ` +
        `stop the server and sqlite3 ${file} VACUUM`,
    ),
  ]
}
