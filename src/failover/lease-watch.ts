import { bootMs } from '../platform/boot-clock.ts'
import { systemClock } from '../platform/clock.ts'
import { newId } from '../platform/ids.ts'
import type { Lease, LeaseStore, StoredLease } from '../platform/replication/lease.ts'
import { VERSION } from '../platform/version.ts'
import { NEWEST_SCHEMA, type Taken } from './tenure.ts'

/** What a server that doesn't hold the lease sees of it. */
export interface Sight {
  stored: StoredLease | undefined
  /** Whether nothing has changed for the whole time to live, so that its holder has stopped. */
  isExpired: boolean
}

export type LeaseWatch = ReturnType<typeof createLeaseWatch>

/**
 * Watches a lease that another server holds. A holder's time to live counts from when a change of
 * the object was seen, on the clock of this machine: no clocks are compared.
 */
export function createLeaseWatch(parts: {
  store: LeaseStore
  me: Lease['server']
  ttlMs: number
  acknowledge: Lease['acknowledge']
}) {
  const { store, me, ttlMs, acknowledge } = parts
  let seen: { etag: string; atMs: number } | undefined

  async function look(): Promise<Sight> {
    const stored = await store.read()
    if (!stored) return { stored, isExpired: false }
    if (seen?.etag !== stored.etag) seen = { etag: stored.etag, atMs: bootMs() }
    return { stored, isExpired: bootMs() - seen.atMs >= stored.lease.ttlMs }
  }

  /**
   * Takes a lease that is free as the next generation, or the first one. Undefined if another server
   * was faster. Its path is still the one to restore from.
   */
  async function take(
    free: StoredLease | undefined,
    cause: Lease['cause'],
  ): Promise<Taken | undefined> {
    const sentMs = bootMs()
    const now = systemClock.now()
    const before = free?.lease
    const generation = (before?.generation ?? 0) + 1
    const lease: Lease = {
      format: 1,
      generation,
      server: me,
      version: VERSION,
      schema: before?.schema ?? NEWEST_SCHEMA,
      nonce: newId(),
      renewal: 0,
      ttlMs,
      acknowledge,
      state: 'held',
      path: before?.path ?? newPath(1),
      bases: before?.bases ?? [],
      obsolete: before ? obsoleteAfter(before) : [],
      ...((cause === 'expiry' || cause === 'handover') && { next: newPath(generation) }),
      since: now,
      renewedAt: now,
      cause,
      ...(before && { from: before.server }),
      ...(before?.keyId && { keyId: before.keyId }),
    }
    const stored = await store.writeSurely(lease, free ? { etag: free.etag } : 'absent')
    return stored && { ...stored, sentMs }
  }

  return { look, take }
}

/** A server that did not complete its takeover leaves a path that no server reads. */
const obsoleteAfter = ({ obsolete, path, next = path }: Lease): string[] =>
  next === path ? obsolete : [...obsolete, next]

/** A path of Litestream for a generation. No two servers ever write to the same one. */
export const newPath = (generation: number): string =>
  `generations/${generation.toString().padStart(8, '0')}-${newId().slice(-8)}`
