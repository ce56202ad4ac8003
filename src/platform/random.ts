/** A number from 0 up to, but never, 1; each as likely as the other. */
export type Random = () => number

/**
 * The only source of chance for jitter and the like. Tests replace it. Anybody can foresee what
 * it brings: secrets and ids come from `node:crypto`.
 */
export const random: Random = () => Math.random()
