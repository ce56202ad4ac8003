import { migrations } from '../../drizzle/index.ts'
import { messageOf } from '../db/errors.ts'
import { bootMs } from '../platform/boot-clock.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import { unavailable } from '../platform/errors.ts'
import type { Fence } from '../platform/fence.ts'
import type { Log } from '../platform/log.ts'
import {
  heldUntil,
  type Lease,
  type LeaseStore,
  type StoredLease,
} from '../platform/replication/lease.ts'

/** Renewals per time to live, and attempts while they fail. */
const RENEWALS = 3
const RETRIES = 20

/** What the database has once this version has started to serve. */
export const NEWEST_SCHEMA = migrations.at(-1)?.id ?? ''

/** What a holder can change in its lease. */
export type LeaseChange = Partial<
  Pick<
    Lease,
    'path' | 'bases' | 'obsolete' | 'txid' | 'uploadedAt' | 'keyId' | 'lossMs' | 'state' | 'schema'
  >
>

/** A lease that was taken by a request sent at `sentMs` of `bootMs`. */
export interface Taken extends StoredLease {
  sentMs: number
}

export type Tenure = ReturnType<typeof holdLease>

/**
 * Holds a lease: renews it three times per time to live, and tells the fence until when it is surely
 * held. A server that can't renew it stops serving, but goes on if it can later and no other server
 * has taken the lease meanwhile.
 */
export function holdLease(parts: { store: LeaseStore; fence: Fence; log: Log; taken: Taken }) {
  const { store, fence, log } = parts
  let { lease, etag } = parts.taken
  let lastRenewal = lease.renewal
  let heldUntilMs = heldUntil(parts.taken.sentMs, lease)
  let change: LeaseChange = {}
  let waiting: PromiseWithResolvers<void>[] = []
  let wake = () => {}
  let problem: string | undefined
  let isOver = false
  let isLost = false
  const lost = Promise.withResolvers<void>()
  const handover = Promise.withResolvers<void>()

  fence.extend(heldUntilMs)
  const running = run()

  async function run() {
    while (!isOver) {
      const waitMs = lease.ttlMs / (problem === undefined ? RENEWALS : RETRIES)
      if (waiting.length === 0 || problem !== undefined) await woken(waitMs)
      if (!isOver) await attempt()
    }
  }

  async function woken(ms: number) {
    const woke = Promise.withResolvers<void>()
    wake = woke.resolve
    await Promise.race([sleep(systemClock, ms), woke.promise])
  }

  async function attempt() {
    try {
      await renew()
      if (isLost) return
      if (problem !== undefined) log.info('the lease is renewed again')
      problem = undefined
    } catch (error) {
      const reason = messageOf(error)
      if (problem === undefined) log.warn('the lease cannot be renewed', { reason })
      problem = reason
    }
  }

  /** Throws if the outcome is unknown. */
  async function renew() {
    const included = waiting
    waiting = []
    try {
      await write()
      if (isLost) return
      for (const one of included) one.resolve()
    } catch (error) {
      waiting = [...included, ...waiting]
      throw error
    }
  }

  async function write(isFirst = true) {
    const sentMs = bootMs()
    // Never the same twice, so that a write which arrives late is not taken for a newer one.
    lastRenewal++
    const next = { ...lease, ...change, renewal: lastRenewal, renewedAt: systemClock.now() }
    const stored = await store.writeSurely(next, { etag })
    if (!stored) return lookAgain(isFirst)
    adopt(stored)
    heldUntilMs = heldUntil(sentMs, lease)
    if (change.state !== 'released') fence.extend(heldUntilMs)
  }

  /** What is there is a request to hand over, a write of ours that arrived late, or another lease. */
  async function lookAgain(isFirst: boolean): Promise<void> {
    const found = await store.read()
    if (found && hasFollowed(found.lease)) return
    if (found?.lease.nonce !== lease.nonce) return lose(found)
    adopt(found)
    if (!isFirst) throw unavailable(`${store.url} can be read, but not written`)
    return write(false)
  }

  /** Whether another server took what was given up, before the response to that arrived. */
  const hasFollowed = ({ generation, cause }: Lease) =>
    change.state === 'released' && cause === 'handover' && generation === lease.generation + 1

  function adopt(stored: StoredLease) {
    ;({ lease, etag } = stored)
    if (lease.handover) handover.resolve()
  }

  function lose(found: StoredLease | undefined) {
    isOver = true
    isLost = true
    fence.close()
    const { generation, server } = found?.lease ?? {}
    log.error('another server has taken the lease', { generation, server: server?.name })
    lost.resolve()
  }

  /** Changes the lease. Resolves once that is in the bucket; never if the lease is lost. */
  function update(more: LeaseChange): Promise<void> {
    change = { ...change, ...more }
    const done = Promise.withResolvers<void>()
    waiting.push(done)
    wake()
    return done.promise
  }

  /**
   * Gives the lease up, and renews it no more. Returns whether that is in the bucket; if not, the lease
   * expires.
   */
  async function release(): Promise<boolean> {
    fence.close()
    const isReleased = await Promise.race([
      update({ state: 'released' }).then(() => true),
      lost.promise.then(() => false),
      sleep(systemClock, lease.ttlMs).then(() => false),
    ])
    await abandon()
    return isReleased
  }

  /** Renews the lease no more, so that it expires. */
  async function abandon() {
    isOver = true
    wake()
    await running
    fence.close()
  }

  return {
    lease: () => lease,
    /** Why the lease can't be renewed; undefined if it can. */
    problem: () => problem,
    heldUntilMs: () => heldUntilMs,
    update,
    /** Includes a change in the next renewal. */
    note: (more: LeaseChange) => {
      change = { ...change, ...more }
    },
    release,
    abandon,
    /** Resolves when another server has taken the lease. */
    lost: lost.promise,
    /** Resolves when the server is asked to step down. */
    handover: handover.promise,
  }
}
