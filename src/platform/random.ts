/** Returns a random number from 0 up to but not including 1, evenly distributed. */
export type Random = () => number

/**
 * The source of random numbers for jitter and similar uses; tests replace it. The numbers are
 * predictable, so secrets and ids use `node:crypto` instead.
 */
export const random: Random = () => Math.random()
