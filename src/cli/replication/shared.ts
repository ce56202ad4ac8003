import type { Config } from '../../config/index.ts'
import { sleep, systemClock } from '../../platform/clock.ts'
import { conflict } from '../../platform/errors.ts'
import type { Lease } from '../../platform/replication/lease.ts'
import { openSharedFolder, type SharedFolder } from '../../platform/replication/pair.ts'

/** The folder that the servers of this configuration share. Throws `conflict` without one. */
export function sharedFolderOf(config: Config): SharedFolder {
  if (config.replication.to === undefined)
    throw conflict(
      'this server shares its data with no other one. Set [replication] role = "auto" and to',
    )
  return openSharedFolder(config)
}

export type LeaseState = Lease['state'] | 'expired'

/** Whether the lease is being renewed. It is looked at twice, because clocks of machines differ. */
export async function leaseState(
  folder: SharedFolder,
  { state, renewal, ttlMs }: Lease,
): Promise<LeaseState> {
  if (state === 'released') return state
  const until = systemClock.monotonic() + ttlMs
  while (systemClock.monotonic() < until) {
    await sleep(systemClock, Math.min(500, ttlMs / 10))
    const now = (await folder.leases.read())?.lease
    if (now?.renewal !== renewal) return now?.state ?? 'expired'
  }
  return 'expired'
}
