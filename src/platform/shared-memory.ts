import type { BucketMemory } from './bucket-memory.ts'
import { createFence, FENCE_BYTES, type Fence } from './fence.ts'

/** Every rate limit that the processes of a server keep together. Each has a region of its own. */
export const SHARED_LIMITS = [
  'requests of a key',
  'requests of a session',
  'manifests of a tenant',
  'requests to test receivers',
  'pings of a monitor',
  'unknown ping URLs of an address',
  'sign-ins of an address',
  'sign-ins of a person',
  'mails to clients of an address',
  'mails by operators',
  'login starts of an address',
  'replies to a chat',
  'replies of a bot',
  'invitations of a tenant',
  'invitations to an address',
] as const

export type SharedLimit = (typeof SHARED_LIMITS)[number]

/** Memory that several processes have open. */
export interface SharedMemory {
  bytes: ArrayBuffer
  /** Added to the monotonic clock of this process, it is the same time in all of them. */
  offsetMs: number
}

/** A bucket can be in one set only, in any of its ways. */
const SETS = 2 ** 14
const WAYS = 8
const ENTRIES = SETS * WAYS
const SEED_BYTES = 8
const REGION_BYTES = 4 * SETS + 8 * ENTRIES + 8 * ENTRIES

const FENCE_START = SEED_BYTES + SHARED_LIMITS.length * REGION_BYTES

/** The size of the memory, of which the system provides only the pages that are used. */
export const SHARED_BYTES = FENCE_START + FENCE_BYTES

/** The fence of a server that can be one of several. */
export const fenceIn = ({ bytes }: Pick<SharedMemory, 'bytes'>): Fence =>
  createFence(bytes, FENCE_START)

/** Attempts to get a lock before others may run instead. Its holder needs a few. */
const SPINS = 1000

/** Milliseconds, or a little more, before a lock counts as left behind by a killed process. */
const MAX_WAIT_MS = 200

/** Makes the place of each key unpredictable, so that no client can aim at the bucket of another. */
export const seedShared = ({ bytes }: Pick<SharedMemory, 'bytes'>) =>
  void crypto.getRandomValues(new Uint8Array(bytes, 0, SEED_BYTES))

/**
 * The buckets of one limit in shared memory: a table with a lock for each set. A name is kept as a
 * 64-bit hash; another rate, as after a reload, makes another hash. A new name takes the place of
 * the fullest bucket of its set, which is usually full.
 */
export function createSharedBuckets(
  { bytes }: SharedMemory,
  limit: SharedLimit,
  windowTicks: number,
): BucketMemory {
  const start = SEED_BYTES + SHARED_LIMITS.indexOf(limit) * REGION_BYTES
  const [common = 0n] = new BigUint64Array(bytes, 0, 1)
  const seed = common ^ BigInt(windowTicks)
  const locks = new Int32Array(bytes, start, SETS)
  const hashes = new BigUint64Array(bytes, start + 4 * SETS, ENTRIES)
  const times = new Float64Array(bytes, start + 4 * SETS + 8 * ENTRIES, ENTRIES)
  /** What a lock contains while this process holds it. */
  const own = crypto.getRandomValues(new Int32Array(1)).map((bits) => bits | 1)[0] as number
  let hash = 0n
  let set = 0
  let entry = 0

  function open(name: string): number {
    hash = Bun.hash.wyhash(name, seed)
    set = Number(hash % BigInt(SETS))
    lock()
    const first = set * WAYS
    entry = first
    for (let way = first; way < first + WAYS; way++) {
      if (hashes[way] === hash) {
        entry = way
        return times[way] as number
      }
      if ((times[way] as number) < (times[entry] as number)) entry = way
    }
    return 0
  }

  /** Changes nothing if another process has taken the lock over: it has counted since. */
  function close(full: number | undefined) {
    if (Atomics.load(locks, set) !== own) return
    if (full !== undefined) {
      hashes[entry] = hash
      times[entry] = full
    }
    Atomics.compareExchange(locks, set, own, 0)
  }

  function lock() {
    for (let attempts = 0; ; attempts++) {
      const holder = Atomics.compareExchange(locks, set, 0, own)
      if (holder === 0) return
      const isLeft = attempts >= SPINS + MAX_WAIT_MS
      if (isLeft && Atomics.compareExchange(locks, set, holder, own) === holder) return
      if (attempts >= SPINS) Bun.sleepSync(1)
    }
  }

  return { open, close, size: () => times.reduce((sum, time) => sum + (time > 0 ? 1 : 0), 0) }
}
