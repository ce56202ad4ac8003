import { withWrites } from '../../../db/no-writes.ts'
import type { Db } from '../../../db/open.ts'
import { addressKey } from '../../../platform/address-key.ts'
import { createBuckets } from '../../../platform/buckets.ts'
import type { Clock } from '../../../platform/clock.ts'
import { isMinted, sha256 } from '../../../platform/crypto.ts'
import { notFound } from '../../../platform/errors.ts'
import type { Siblings } from '../../../platform/siblings.ts'
import { KNOWN_PLACES, PINGS_PER_MINUTE, UNKNOWN_PER_MINUTE } from './limits.ts'
import type { Said } from './signal.ts'
import { afterPing, type Standing } from './states.ts'
import type { PingedMonitor, Store } from './store.ts'
import type { Transitions } from './transitions.ts'

/** A ping as it was received. */
export interface Received extends Said {
  rid: string | null
  body: string | null
  /** IP address of the client. */
  address: string | undefined
}

type Place = Pick<PingedMonitor, 'tenantId' | 'id'>

export type Pings = ReturnType<typeof createPings>

/** Receives pings: the token of a monitor is enough, so an unknown one is answered like no route. */
export function createPings(parts: {
  db: Db
  clock: Clock
  store: Store
  transitions: Transitions
  /** Announces a due time to the loop. */
  expect: (at: number) => void
  siblings: Siblings
}) {
  const { db, clock, store, transitions, expect, siblings } = parts
  const perMonitor = createBuckets({
    clock,
    perMinute: PINGS_PER_MINUTE,
    nameOf: (monitorId) => monitorId,
    shared: { siblings, limit: 'pings of a monitor' },
  })
  const perAddress = createBuckets({
    clock,
    perMinute: UNKNOWN_PER_MINUTE,
    nameOf: (address) => address,
    shared: { siblings, limit: 'unknown ping URLs of an address' },
  })

  /** Where tokens led, which decides the lane and the limit; the commit looks again. */
  const places = new Map<string, Place>()

  function placeOf(hash: string): Place | undefined {
    const known = places.get(hash)
    if (known) return known
    const found = store.monitors.byToken(hash)
    if (!found) return undefined
    if (places.size >= KNOWN_PLACES) places.clear()
    const place = { tenantId: found.tenantId, id: found.id }
    places.set(hash, place)
    return place
  }

  /** Throws `not_found`, or `rate_limited` for a client that asks for many: they may be guesses. */
  function refuseUnknown(address: string | undefined): never {
    const problem = `more than ${UNKNOWN_PER_MINUTE} unknown URLs a minute from your address`
    perAddress.admit(addressKey(address), problem)
    throw UNKNOWN
  }

  /** Resolves when the ping is on disk. A HEAD is a ping, too. */
  async function receive(token: string, ping: Received): Promise<void> {
    if (!isMinted(token)) refuseUnknown(ping.address)
    const hash = sha256(token)
    const { tenantId, id } = placeOf(hash) ?? refuseUnknown(ping.address)
    perMonitor.admit(id, `more than ${PINGS_PER_MINUTE} pings a minute`)
    const row = await withWrites(() =>
      db.commitFor(tenantId, () => {
        const monitor = store.monitors.byToken(hash)
        return monitor && stored(monitor, ping)
      }),
    )
    if (row?.dueAt) expect(row.dueAt)
    if (row) return
    places.delete(hash)
    refuseUnknown(ping.address)
  }

  function stored(monitor: PingedMonitor, ping: Received): PingedMonitor {
    const now = clock.now()
    const row = moved(monitor, afterPing(monitor, ping, now), now)
    row.pingCount++
    store.monitors.move(row)
    store.pings.put({
      tenantId: row.tenantId,
      monitorId: row.id,
      number: row.pingCount,
      signal: ping.signal,
      exitCode: ping.exitCode,
      rid: ping.rid,
      receivedAt: now,
      durationMs: durationOf(monitor, row, ping, now),
      body: ping.body,
      address: ping.address ?? null,
    })
    return row
  }

  /** Most pings change no state and need only a part of the monitor. */
  function moved(monitor: PingedMonitor, standing: Standing, now: number): PingedMonitor {
    const whole =
      standing.state !== monitor.state && store.monitors.find(monitor.tenantId, monitor.id)
    return whole ? transitions.moved(whole, standing, now) : { ...monitor, ...standing }
  }

  /** Of several runs at once, only the last to start is part of the monitor; others are looked up. */
  function durationOf(
    old: PingedMonitor,
    row: PingedMonitor,
    { signal, rid }: Received,
    now: number,
  ) {
    if (signal === 'start' || signal === 'log') return null
    if (row.lastDurationMs !== null || rid === null) return row.lastDurationMs
    const startedAt = store.pings.startOf(old.tenantId, old.id, rid)
    return startedAt === undefined ? null : Math.max(now - startedAt, 0)
  }

  return { receive, refuseUnknown }
}

const UNKNOWN = notFound('no monitor has this URL; copy it from the page of the monitor')
