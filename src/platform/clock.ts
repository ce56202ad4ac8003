/** The only source of time; tests replace it. */
export interface Clock {
  /** Milliseconds since the epoch, UTC. May jump when the machine's clock is set. */
  now(): number
  /** Milliseconds that never go backwards, for durations and deadlines. */
  monotonic(): number
  /** Calls `fn` once after `ms` milliseconds. Returns a function that cancels the call. */
  after(ms: number, fn: () => void): () => void
}

/** `setTimeout` fires immediately for delays that don't fit in 31 bits. */
const MAX_TIMER_MS = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after: (ms, fn) => {
    const timer = setTimeout(fn, Math.min(Math.max(ms, 0), MAX_TIMER_MS))
    return () => clearTimeout(timer)
  },
}

/** Resolves after `ms` milliseconds of `clock`. */
export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve))

/** ISO 8601 in UTC with milliseconds, the form of every timestamp in the API. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()

/** A time for file names: to the second, without colons, which some file systems reject. */
export const stampOf = (ms: number): string => `${isoTime(ms).slice(0, 19).replaceAll(':', '-')}Z`

/** ISO 8601 in UTC with milliseconds; null for null. */
export const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms))
