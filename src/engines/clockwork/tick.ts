/**
 * The scheduler looks at its work once a tick, and ticks fall on whole multiples of their
 * length since the epoch: with 60 s, on whole minutes.
 */
export interface Tick {
  /** The last tick at or before `ms`. */
  floor(ms: number): number
  /** The first tick at or after `ms`. */
  ceil(ms: number): number
  /** The tick that set off what began at `ms`, or `ms` itself when it began between two. */
  origin(ms: number): number
}

/** Of its length, how long after a tick that which it sets off may begin: 5 s in a minute. */
const LATEST = 1 / 12

export function createTick(lengthMs: number): Tick {
  const floor = (ms: number) => Math.floor(ms / lengthMs) * lengthMs
  return {
    floor,
    ceil: (ms) => Math.ceil(ms / lengthMs) * lengthMs,
    origin: (ms) => (ms - floor(ms) <= lengthMs * LATEST ? floor(ms) : ms),
  }
}
