import { DATA_NAMES } from '../../db/names.ts'
import { stampOf } from '../clock.ts'

/** What an archive holds, in this order: who reads it knows what to expect before it comes. */
export const ENTRIES = {
  manifest: 'manifest.json',
  database: DATA_NAMES.database,
  key: DATA_NAMES.key,
}

/**
 * What a data directory is made of. A log that outlived its database would spoil the next one. The
 * key first: if it cannot be moved, nothing has been yet.
 */
export const DATA_FILES = [
  ENTRIES.key,
  ENTRIES.database,
  `${ENTRIES.database}-wal`,
  `${ENTRIES.database}-shm`,
]

/** The name of a backup that began at `ms`; names sort by age. */
export const archiveName = (ms: number): string => `gatehouse-${stampOf(ms)}.tar.gz`

/** Whether a file bears the name of a backup, so that nothing else is ever taken for one. */
export const isArchiveName = (name: string): boolean =>
  /^gatehouse-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.tar\.gz$/.test(name)

/** The folder where a restore puts what was there before. */
export const beforeRestore = (ms: number): string => `before-restore-${stampOf(ms)}`
