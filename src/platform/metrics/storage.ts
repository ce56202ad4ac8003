import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { logOf } from '../../db/read-only.ts'
import { instances } from '../schema.ts'
import type { Metrics } from './index.ts'

const COMMIT_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5] as const
const WORKS = [1, 2, 5, 10, 25, 50, 100, 500] as const

/** Metrics of the database, its disk and the processes that share it. */
export function createStorageMetrics(metrics: Metrics, db: Db) {
  metrics.gauge('database_size_bytes', 'Size of the database file.', () => [
    { value: sizeOf(db.file) },
  ])
  metrics.gauge('wal_size_bytes', 'Size of the write-ahead log of the database.', () => [
    { value: sizeOf(logOf(db.file)) },
  ])
  metrics.gauge('database_free_disk_bytes', 'Free space on the disk of the database.', () => [
    { value: roomAt(dirname(db.file)) },
  ])
  const alive = db.orm.select({ count: sql<number>`count(*)` }).from(instances).prepare()
  metrics.gauge('instances_alive', 'Live processes on this data directory.', () => [
    { value: alive.get()?.count ?? 0 },
  ])
  const duration = metrics.histogram(
    'commit_duration_seconds',
    'Duration of transactions, including the wait for the disk.',
    COMMIT_SECONDS,
  )
  const works = metrics.histogram('commit_works', 'Writes per transaction.', WORKS)
  const failures = metrics.counter(
    'storage_failures_total',
    'Writes that failed in the disk or database.',
  )
  const [inSeconds, inWorks, lost] = [duration.with({}), works.with({}), failures.with({})]
  db.observe({
    committed(count, ms) {
      inSeconds.observe(ms / 1000)
      inWorks.observe(count)
    },
    failed: (count) => lost.add(count),
  })
}

/** The free space for accounts without root privileges; some free space is reserved for root. */
function roomAt(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

const sizeOf = (file: string): number => Bun.file(file).size
