import type { Config } from '../../config/index.ts'
import { createObjectStorage, within } from '../object-storage/index.ts'
import type { Lease } from './lease.ts'
import { createLeaseStore } from './lease.ts'
import { createReports, type Report } from './reports.ts'

/** What the active server knows of the servers that share its data. */
export interface PairState {
  lease: Pick<
    Lease,
    'generation' | 'server' | 'since' | 'cause' | 'from' | 'lossMs' | 'ttlMs' | 'txid'
  >
  /** Why the lease can't be renewed; undefined if it can. */
  problem: string | undefined
  standbys: Report[]
  /** When a standby was last ready, or this server became active. */
  standbyAt: number
  /** Folders with databases that this server set aside. */
  setAside: string[]
}

/** Requests for a lease are given up after this part of its time to live. */
const REQUESTS = 4

/** The objects that servers share, in the folder `[replication] to`. */
export function openSharedFolder({ replication, s3 }: Pick<Config, 'replication' | 's3'>) {
  const { to = '', ttlMs } = replication
  const storage = createObjectStorage(s3, within(ttlMs / REQUESTS))
  return {
    to,
    storage,
    leases: createLeaseStore({ storage, to }),
    reports: createReports({ storage, to }),
  }
}

export type SharedFolder = ReturnType<typeof openSharedFolder>

/** Whether a report is so old that its server has stopped. It is written once per time to live. */
export const isStale = ({ reportedAt }: Report, now: number, ttlMs: number): boolean =>
  now - reportedAt > 3 * ttlMs

/** A standby that is further behind could take over, but not within seconds. */
const MAX_LAG_MS = 60_000

/** Why a standby can't take over; undefined if it can. */
export function reasonAgainst(report: Report, now: number, ttlMs: number): string | undefined {
  if (isStale(report, now, ttlMs)) return 'it has not reported lately'
  if (report.isReady && report.lagMs > MAX_LAG_MS)
    return `its copy is ${Math.round(report.lagMs / 1000)} s behind`
  return report.isReady ? undefined : (report.reason ?? 'it does not say why')
}
