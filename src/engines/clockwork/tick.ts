/** Work is checked on multiples of the tick's length since the epoch: whole minutes for 60 s. */
export interface Tick {
  /** The last tick at or before `ms`. */
  floor(ms: number): number
  /** The first tick at or after `ms`. */
  ceil(ms: number): number
  /** The tick that started something at `ms`, or `ms` itself if it started between two ticks. */
  origin(ms: number): number
}

/** The share of a tick within which work counts as started by it: 5 s of a minute. */
const LATEST = 1 / 12

export function createTick(lengthMs: number): Tick {
  const floor = (ms: number) => Math.floor(ms / lengthMs) * lengthMs
  return {
    floor,
    ceil: (ms) => Math.ceil(ms / lengthMs) * lengthMs,
    origin: (ms) => (ms - floor(ms) <= lengthMs * LATEST ? floor(ms) : ms),
  }
}
