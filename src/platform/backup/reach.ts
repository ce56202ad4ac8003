import type { Clock } from '../clock.ts'

/** Does something with a file that may lie on a mount that is gone, which would answer never. */
export type Reach = <T>(file: string, work: () => Promise<T>) => Promise<T>

const MAX_MS = 5000

/**
 * Waits so long and no longer. As long as one call hangs, no other is begun: each would keep one of
 * the few threads that the process has for files.
 */
export function createReach(clock: Pick<Clock, 'after'>): Reach {
  let isHanging = false

  return async (file, work) => {
    if (isHanging) throw silent(file)
    const timeUp = Promise.withResolvers<never>()
    const cancel = clock.after(MAX_MS, () => timeUp.reject(silent(file)))
    isHanging = true
    const done = work().finally(() => {
      isHanging = false
    })
    try {
      return await Promise.race([done, timeUp.promise])
    } finally {
      cancel()
    }
  }
}

const silent = (file: string) => new Error(`${file} does not answer: is its mount still there?`)
