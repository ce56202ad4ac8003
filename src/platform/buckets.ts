import type { Clock } from './clock.ts'
import { sha256 } from './crypto.ts'
import { HOUR_MS, MINUTE_MS } from './durations.ts'

export type Buckets = ReturnType<typeof createBuckets>

/** The number of slots by which buckets are sorted, per window. */
const SLOTS = 60

/** The capacity of a bucket, a whole number of tokens; as many are refilled each minute or hour. */
type Rate = { perMinute: number } | { perHour: number }

/**
 * Token buckets by key, refilled evenly at the given rate, in the memory of this process only.
 *
 * A full bucket is forgotten within a sixtieth of the window. If `most` buckets are not full, the
 * fullest are forgotten for a new key, because they lose the fewest tokens. An empty bucket is
 * therefore forgotten last: that takes `most` other keys that were emptied as far within the same
 * window. New keys are never refused, so a client with many keys can't lock others out.
 */
export function createBuckets({
  clock,
  most = 100_000,
  nameOf = sha256,
  ...rate
}: {
  clock: Clock
  most?: number
  /** The stored name; by default a SHA-256 digest, because keys can be long or confidential. */
  nameOf?: (key: string) => string
} & Rate) {
  const [tokens, windowMs] =
    'perMinute' in rate ? [rate.perMinute, MINUTE_MS] : [rate.perHour, HOUR_MS]
  const slotMs = windowMs / SLOTS
  /** A token takes as many ticks as the window has milliseconds, so nothing needs rounding. */
  const ticks = (ms: number) => ms * tokens
  const TOKEN = windowMs

  /** When each bucket will be full, in ticks, which is its whole state. Full ones are left out. */
  const fullAt = new Map<string, number>()
  /** The keys by the slot in which they will be full; at most 62 slots. */
  const bySlot = new Map<number, Set<string>>()
  let swept = 0

  /** Takes a token and returns 0; without a token, returns the milliseconds until the next one. */
  function take(key: string): number {
    const name = nameOf(key)
    const now = sweptNow()
    const emptied = fullTime(name, now) + TOKEN
    const waitMs = waitFor(emptied, now)
    if (waitMs > 0) return waitMs

    const before = fullAt.get(name)
    if (before === undefined && fullAt.size >= most) forgetFullest()
    // A busy key takes many tokens within one slot and stays in its place.
    if (before !== undefined && slotOf(before) === slotOf(emptied)) fullAt.set(name, emptied)
    else {
      forget(name)
      remember(name, emptied)
    }
    return 0
  }

  /** Returns what `take` would return, without taking a token. */
  function peek(key: string): number {
    const now = sweptNow()
    return waitFor(fullTime(nameOf(key), now) + TOKEN, now)
  }

  /** Returns the number of tokens and the milliseconds until the bucket is full. */
  function levelOf(key: string): { left: number; fullInMs: number } {
    const now = sweptNow()
    const full = fullTime(nameOf(key), now)
    return {
      left: Math.floor((ticks(now + windowMs) - full) / TOKEN),
      fullInMs: Math.ceil((full - ticks(now)) / tokens),
    }
  }

  /** Puts back a token; a full bucket stays full. */
  function give(key: string) {
    const name = nameOf(key)
    const now = sweptNow()
    const filled = fullTime(name, now) - TOKEN
    forget(name)
    if (filled > ticks(now)) remember(name, filled)
  }

  function sweptNow(): number {
    const now = Math.floor(clock.monotonic())
    forgetFull(Math.floor(now / slotMs))
    return now
  }

  const fullTime = (name: string, now: number) => Math.max(fullAt.get(name) ?? 0, ticks(now))

  /** Milliseconds until a token can be taken, after which the bucket would be full at `emptied`. */
  const waitFor = (emptied: number, now: number): number =>
    Math.max(Math.ceil((emptied - ticks(now + windowMs)) / tokens), 0)

  const slotOf = (full: number): number => Math.ceil(full / ticks(slotMs))

  function remember(name: string, full: number) {
    const slot = slotOf(full)
    const names = bySlot.get(slot)
    if (names) names.add(name)
    else bySlot.set(slot, new Set([name]))
    fullAt.set(name, full)
  }

  function forget(name: string) {
    const full = fullAt.get(name)
    if (full === undefined) return
    fullAt.delete(name)
    const slot = slotOf(full)
    const names = bySlot.get(slot)
    names?.delete(name)
    if (names?.size === 0) bySlot.delete(slot)
  }

  function forgetFull(slot: number) {
    if (slot === swept) return
    swept = slot
    for (const [each, names] of bySlot) {
      if (each > slot) continue
      for (const name of names) fullAt.delete(name)
      bySlot.delete(each)
    }
  }

  /** Forgets a hundredth at a time, because a set's first entry is slow to find after deletions. */
  function forgetFullest() {
    const names = bySlot.get(Math.min(...bySlot.keys())) ?? []
    let left = Math.ceil(most / 100)
    for (const name of names) {
      if (left-- === 0) break
      forget(name)
    }
  }

  return {
    take,
    peek,
    levelOf,
    give,
    /** The number of remembered buckets. */
    size: () => fullAt.size,
  }
}
