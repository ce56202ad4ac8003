import type { Clock } from './clock.ts'
import { sha256 } from './crypto.ts'
import { HOUR_MS, MINUTE_MS } from './durations.ts'

export type Buckets = ReturnType<typeof createBuckets>

/** Parts of the window by which buckets are sorted. */
const SLOTS = 60

/** So many tokens, a whole number, at first and at most; as many flow in again each minute or hour. */
type Rate = { perMinute: number } | { perHour: number }

/**
 * A bucket of tokens for each key, refilled evenly at the given rate. In the memory of this process
 * alone.
 *
 * Buckets that are full again are forgotten within a sixtieth of the window. At `most` that are not, the fullest
 * are forgotten for a newcomer, which gives back the fewest tokens. An empty one is therefore the
 * last to go: to get rid of it takes `most` other keys that have been emptied as far within the
 * same window. No newcomer is ever refused, so that nobody can shut others out with many keys.
 */
export function createBuckets({
  clock,
  most = 100_000,
  nameOf = sha256,
  ...rate
}: {
  clock: Clock
  most?: number
  /** Else a digest: keys may be as long as a stranger likes, or parts of texts that would be kept. */
  nameOf?: (key: string) => string
} & Rate) {
  const [tokens, windowMs] =
    'perMinute' in rate ? [rate.perMinute, MINUTE_MS] : [rate.perHour, HOUR_MS]
  const slotMs = windowMs / SLOTS
  /**
   * Time is counted in ticks, of which `tokens` make a millisecond. A token then takes as many of
   * them as the window has milliseconds, and whole numbers lose nothing in rounding.
   */
  const ticks = (ms: number) => ms * tokens
  const TOKEN = windowMs

  /** When a bucket will be full, in ticks: all there is to know of it. Full ones are not here. */
  const fullAt = new Map<string, number>()
  /** The keys by the slot in which they will be full: at most 62 of those. */
  const bySlot = new Map<number, Set<string>>()
  let swept = 0

  /** Takes a token and returns 0; where there is none, the milliseconds until the next. */
  function take(key: string): number {
    const name = nameOf(key)
    const now = sweptNow()
    const emptied = fullTime(name, now) + TOKEN
    const waitMs = waitFor(emptied, now)
    if (waitMs > 0) return waitMs

    const before = fullAt.get(name)
    if (before === undefined && fullAt.size >= most) forgetFullest()
    // Of a busy key many tokens are taken within the same slot, where it stays in its place.
    if (before !== undefined && slotOf(before) === slotOf(emptied)) fullAt.set(name, emptied)
    else {
      forget(name)
      remember(name, emptied)
    }
    return 0
  }

  /** What `take` would return, without taking. */
  function peek(key: string): number {
    const now = sweptNow()
    return waitFor(fullTime(nameOf(key), now) + TOKEN, now)
  }

  /** How many tokens there are, and the milliseconds until there are all of them again. */
  function look(key: string): { left: number; fullInMs: number } {
    const now = sweptNow()
    const full = fullTime(nameOf(key), now)
    return {
      left: Math.floor((ticks(now + windowMs) - full) / TOKEN),
      fullInMs: Math.ceil((full - ticks(now)) / tokens),
    }
  }

  /** Puts back a token that was taken. A full bucket gets no fuller. */
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

  /** No bucket may be more than a window from being full. */
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

  /** A hundredth at a time: to find the first of a set from which many were deleted is slow. */
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
    look,
    give,
    /** How many buckets are remembered. */
    size: () => fullAt.size,
  }
}
