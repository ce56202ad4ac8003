/** Returns a random number from 0 up to but not including 1, evenly distributed. */
export type Random = () => number

/** For jitter and the like; tests replace it. Predictable: secrets and ids use `node:crypto`. */
export const random: Random = () => Math.random()
