import { AppError } from '../../../../../src/platform/errors.ts'

/** The same numbers on each run, so a test that fails once fails always. */
export function seeded(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** The error for invalid input, or undefined if there is none. Other errors are thrown on. */
export function refusalOf(work: () => unknown): AppError | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return error
    throw error
  }
}

/** The broken rule after its field, such as `path format`. */
export function ruleOf(work: () => unknown): string | undefined {
  const refusal = refusalOf(work)
  return refusal && [refusal.field, refusal.rule].filter(Boolean).join(' ')
}

/** Makes every attempt to change the value throw, at any depth. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen)
  return Object.freeze(value)
}

/** `[[…[0]…]]` */
export const nested = (levels: number): string => `${'['.repeat(levels)}0${']'.repeat(levels)}`
