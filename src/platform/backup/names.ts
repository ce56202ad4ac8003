import { DATA_NAMES } from '../../db/names.ts'
import { stampOf } from '../clock.ts'
import { ENCRYPTED } from './encryption.ts'

/** The files in an archive, in this order, so that readers know what to expect. */
export const ENTRIES = {
  manifest: 'manifest.json',
  database: DATA_NAMES.database,
  key: DATA_NAMES.key,
}

/** The key is moved first, because that can fail. An old log would corrupt the new database. */
export const DATA_FILES = [
  ENTRIES.key,
  ENTRIES.database,
  `${ENTRIES.database}-wal`,
  `${ENTRIES.database}-shm`,
]

/** The file name of a backup that began at `ms`; names sort by age. */
export const archiveName = (ms: number, isEncrypted = false): string =>
  `gatehouse-${stampOf(ms)}.tar.gz${isEncrypted ? ENCRYPTED : ''}`

/** Whether a file has the name of a backup. Other files are never treated as backups. */
export const isArchiveName = (name: string): boolean =>
  /^gatehouse-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar\.gz(\.age)?$/.test(name)

/** The folder to which a restore at `ms` moves the previous files. */
export const beforeRestore = (ms: number): string => `before-restore-${stampOf(ms)}`
