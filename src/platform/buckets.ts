import { type BucketMemory, createBucketMemory } from './bucket-memory.ts'
import type { Clock } from './clock.ts'
import { sha256 } from './crypto.ts'
import { HOUR_MS, MINUTE_MS } from './durations.ts'
import { rateLimited } from './errors.ts'
import { createSharedBuckets, type SharedLimit } from './shared-memory.ts'
import type { Siblings } from './siblings.ts'

export type Buckets = ReturnType<typeof createBuckets>

/** The capacity of a bucket, a whole number of tokens; as many are refilled each minute or hour. */
type Rate = { perMinute: number } | { perHour: number }

/**
 * Token buckets by key, refilled evenly at the given rate, in memory only. With `shared`, all
 * processes of the server use the same ones.
 *
 * If too many buckets are not full, the fullest are forgotten for a new key, because they lose the
 * fewest tokens. An empty bucket is therefore forgotten last: in the memory of one process, that
 * takes `most` other keys that were emptied as far within the same window. New keys are never
 * refused, so a client with many keys can't lock others out.
 */
export function createBuckets({
  clock,
  most = 100_000,
  nameOf = sha256,
  shared,
  ...rate
}: {
  clock: Clock
  most?: number
  /** The stored name; by default a SHA-256 digest, because keys can be long or confidential. */
  nameOf?: (key: string) => string
  /** The processes that keep this limit together. */
  shared?: { siblings: Siblings; limit: SharedLimit }
} & Rate) {
  const [tokens, windowMs] =
    'perMinute' in rate ? [rate.perMinute, MINUTE_MS] : [rate.perHour, HOUR_MS]
  /** A token takes as many ticks as the window has milliseconds, so nothing needs rounding. */
  const ticks = (ms: number) => ms * tokens
  const TOKEN = windowMs
  const common = shared?.siblings.memory
  const offsetMs = common?.offsetMs ?? 0
  const memory: BucketMemory =
    common && shared
      ? createSharedBuckets(common, shared.limit, ticks(windowMs))
      : createBucketMemory({ most, windowTicks: ticks(windowMs) })

  /** Takes a token and returns 0; without a token, returns the milliseconds until the next one. */
  function take(key: string): number {
    const now = nowMs()
    const emptied = opened(key, now) + TOKEN
    const waitMs = waitFor(emptied, now)
    memory.close(waitMs > 0 ? undefined : emptied, ticks(now))
    return waitMs
  }

  /** Takes a token. Throws `rate_limited` with `problem` and the time until the next one. */
  function admit(key: string, problem: string) {
    const retryAfterMs = take(key)
    if (retryAfterMs > 0) throw rateLimited(problem, { retryAfterMs })
  }

  /** Returns what `take` would return, without taking a token. */
  function peek(key: string): number {
    const now = nowMs()
    const full = opened(key, now)
    memory.close(undefined, ticks(now))
    return waitFor(full + TOKEN, now)
  }

  /** Returns the number of tokens and the milliseconds until the bucket is full. */
  function levelOf(key: string): { left: number; fullInMs: number } {
    const now = nowMs()
    const full = opened(key, now)
    memory.close(undefined, ticks(now))
    return {
      left: Math.floor((ticks(now + windowMs) - full) / TOKEN),
      fullInMs: Math.ceil((full - ticks(now)) / tokens),
    }
  }

  /** Puts back a token; a full bucket stays full. */
  function give(key: string) {
    const now = nowMs()
    const filled = opened(key, now) - TOKEN
    memory.close(filled, ticks(now))
  }

  const nowMs = () => Math.floor(clock.monotonic() + offsetMs)

  const opened = (key: string, now: number) => Math.max(memory.open(nameOf(key)), ticks(now))

  /** Milliseconds until a token can be taken, after which the bucket would be full at `emptied`. */
  const waitFor = (emptied: number, now: number): number =>
    Math.max(Math.ceil((emptied - ticks(now + windowMs)) / tokens), 0)

  return { take, admit, peek, levelOf, give, size: memory.size }
}
