/**
 * The scheduler looks at its work once a tick, and ticks fall on whole multiples of their
 * length since the epoch: with 60 s, on whole minutes.
 */
export interface Tick {
  /** The last tick at or before `ms`. */
  floor(ms: number): number
  /** The first tick at or after `ms`. */
  ceil(ms: number): number
}

export const createTick = (lengthMs: number): Tick => ({
  floor: (ms) => Math.floor(ms / lengthMs) * lengthMs,
  ceil: (ms) => Math.ceil(ms / lengthMs) * lengthMs,
})
