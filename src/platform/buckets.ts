import type { Clock } from './clock.ts'
import { sha256 } from './crypto.ts'

export type Buckets = ReturnType<typeof createBuckets>

const SECOND = 1000
const MINUTE = 60 * SECOND

/**
 * A bucket of tokens for each key: `perMinute` of them, a whole number, at first and at most, and
 * as many flow in again each minute, evenly. In the memory of this process alone.
 *
 * Buckets that are full again are forgotten within a second. At `most` that are not, the fullest
 * are forgotten for a newcomer, which gives back the fewest tokens. An empty one is therefore the
 * last to go: to get rid of it takes `most` other keys that have been emptied as far within the
 * same minute. No newcomer is ever refused, so that nobody can shut others out with many keys.
 */
export function createBuckets({
  clock,
  perMinute,
  most = 100_000,
  nameOf = sha256,
}: {
  clock: Clock
  perMinute: number
  most?: number
  /** Else a digest: keys may be as long as a stranger likes, or parts of texts that would be kept. */
  nameOf?: (key: string) => string
}) {
  /**
   * Time is counted in ticks, of which `perMinute` make a millisecond. A token then takes 60,000
   * of them at every rate, and whole numbers lose nothing in rounding.
   */
  const ticks = (ms: number) => ms * perMinute
  const TOKEN = MINUTE

  /** When a bucket will be full, in ticks: all there is to know of it. Full ones are not here. */
  const fullAt = new Map<string, number>()
  /** The keys by the second in which they will be full: at most 62 of those. */
  const bySecond = new Map<number, Set<string>>()
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
    // Of a busy key many tokens are taken within the same second, where it stays in its place.
    if (before !== undefined && secondOf(before) === secondOf(emptied)) fullAt.set(name, emptied)
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
      left: Math.floor((ticks(now + MINUTE) - full) / TOKEN),
      fullInMs: Math.ceil((full - ticks(now)) / perMinute),
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
    forgetFull(Math.floor(now / SECOND))
    return now
  }

  const fullTime = (name: string, now: number) => Math.max(fullAt.get(name) ?? 0, ticks(now))

  /** No bucket may be more than a minute from being full. */
  const waitFor = (emptied: number, now: number): number =>
    Math.max(Math.ceil((emptied - ticks(now + MINUTE)) / perMinute), 0)

  const secondOf = (full: number): number => Math.ceil(full / ticks(SECOND))

  function remember(name: string, full: number) {
    const second = secondOf(full)
    const names = bySecond.get(second)
    if (names) names.add(name)
    else bySecond.set(second, new Set([name]))
    fullAt.set(name, full)
  }

  function forget(name: string) {
    const full = fullAt.get(name)
    if (full === undefined) return
    fullAt.delete(name)
    const second = secondOf(full)
    const names = bySecond.get(second)
    names?.delete(name)
    if (names?.size === 0) bySecond.delete(second)
  }

  function forgetFull(second: number) {
    if (second === swept) return
    swept = second
    for (const [each, names] of bySecond) {
      if (each > second) continue
      for (const name of names) fullAt.delete(name)
      bySecond.delete(each)
    }
  }

  /** A hundredth at a time: to find the first of a set from which many were deleted is slow. */
  function forgetFullest() {
    const names = bySecond.get(Math.min(...bySecond.keys())) ?? []
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
